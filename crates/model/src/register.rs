//! `register!`: a seat is one enum, and a model on it is one file and one line.

/// Declares a seat from its models.
///
/// Each line `Variant in module,` names a file beside the one that calls the macro. The file holds `Config` (what a
/// scenario may say of the model; serde and JSON schema, with a doc comment on each parameter) and `Model`, the
/// state of the seat, which implements the seat's trait. Written are the modules, the enum of configurations, tagged
/// by the module's name in kebab case, and the enum of models with a macro that dispatches on it.
///
/// With `build(Context)` behind the dispatch, `Model::new(&Config, &Context) -> Result<Model, Invalid>` of each file is
/// gathered into `build` of the configuration.
///
/// ```ignore
/// register! {
///     /// What a port does to the ECN field of a packet.
///     config MarkerConfig;
///     /// The marker of one port.
///     model Marker, dispatch match_marker, build(PortContext);
///     /// Never marks.
///     Off in off,
///     /// Marks above a threshold.
///     Step in step,
/// }
/// ```
#[macro_export]
macro_rules! register {
    (
        $(#[$config_doc:meta])* config $config:ident;
        $(#[$model_doc:meta])* model $model:ident, dispatch $dispatch:ident $(, build($context:ty))?;
        $($(#[$doc:meta])* $variant:ident in $module:ident,)+
    ) => {
        $(pub mod $module;)+

        $(#[$config_doc])*
        #[derive(
            Clone,
            Debug,
            PartialEq,
            $crate::reexport::serde::Serialize,
            $crate::reexport::serde::Deserialize,
            $crate::reexport::schemars::JsonSchema,
        )]
        #[serde(crate = "tailcut_model::reexport::serde", rename_all = "kebab-case")]
        #[schemars(crate = "tailcut_model::reexport::schemars")]
        pub enum $config {
            $($(#[$doc])* $variant($module::Config),)+
        }

        $(#[$model_doc])*
        #[derive(Debug)]
        pub enum $model {
            $($(#[$doc])* $variant($module::Model),)+
        }

        $crate::register!(@build ($($context)?) $config $model $($variant $module)+);

        #[allow(unused_macros)]
        macro_rules! $dispatch {
            ($seat:expr, $inner:ident => $body:expr) => {
                match $seat {
                    $($model::$variant($inner) => $body,)+
                }
            };
        }
    };
    (@build () $config:ident $model:ident $($variant:ident $module:ident)+) => {};
    (@build ($context:ty) $config:ident $model:ident $($variant:ident $module:ident)+) => {
        impl $config {
            /// The model that this configuration describes.
            ///
            /// # Errors
            /// If a value cannot be in this context; the path is relative to this table.
            pub fn build(&self, context: &$context) -> Result<$model, $crate::Invalid> {
                match self {
                    $($config::$variant(config) => $module::Model::new(config, context)
                        .map($model::$variant)
                        .map_err(|invalid| invalid.within(&stringify!($module).replace('_', "-"))),)+
                }
            }
        }
    };
}
