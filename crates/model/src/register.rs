//! `register!`: a seat is one enum, and a model on it is one file and one line. `table!`: a table of a scenario is its
//! seats and values.

/// Declares a seat from its models.
///
/// Each line `Variant in module,` names a file beside the one that calls the macro. The file holds `Config`, what a
/// scenario may say of the model ([`Parameters`](crate::Parameters); serde and JSON schema, with a doc comment on each
/// parameter), and `Model`, the state of the seat ([`Build`](crate::Build)), which implements the seat's trait.
///
/// Written are the modules; the enum of configurations, tagged by the module's name in kebab case, with its entry in
/// the registry; the enum of models; how a model is built and what memory it holds; and a macro that dispatches on
/// either enum: `$dispatch!(seat, model => expression)` and `$dispatch!(config seat, config => expression)`.
///
/// - `seat "marker"` is the word for what sits there, in lists and messages.
/// - `needs [Window]` lists what every model of the seat cannot be without ([`Thing`](crate::Thing)).
/// - `custom dyn Tag` lets a program put a model of its own on the seat ([`Custom`](crate::Custom)). That is one more
///   arm of each dispatch: on the seats of a port and on the send order it would cost every simulation 2 to 6 % of its
///   instructions, and they have none.
///
/// A seat whose models are made once and leave nothing behind, such as a generator of networks, has
/// `makes Output, from(Context)` instead of `model`, and its files have a function `build`.
///
/// ```ignore
/// register! {
///     /// What a port does to the ECN field of a packet.
///     config MarkerConfig, seat "marker";
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
        $(#[$config_doc:meta])* config $config:ident, seat $word:literal $(, needs [$($thing:ident),*])?;
        $(#[$model_doc:meta])* model $model:ident, dispatch $dispatch:ident, build($context:ty)
            $(, custom dyn $custom:path)?;
        $($(#[$doc:meta])* $variant:ident in $module:ident,)+
    ) => {
        $crate::register!(@config
            [$(#[$config_doc])*] $config $word [$($($thing)*)?] [$($custom, $context)?]
            $([$(#[$doc])*] $variant $module)+
        );

        $(#[$model_doc])*
        #[derive(Debug)]
        pub enum $model {
            $($(#[$doc])* $variant($module::Model),)+
            $(
                /// A program's own.
                Custom($crate::Made<dyn $custom + Send>),
            )?
        }

        impl $config {
            /// The model that this configuration describes.
            ///
            /// # Errors
            /// If a value cannot be in this context; the path is relative to this table.
            pub fn build(&self, context: &$context) -> Result<$model, $crate::Invalid> {
                match self {
                    $($config::$variant(config) => <$module::Model as $crate::Build>::build(config, context)
                        .map($model::$variant)
                        .map_err(|invalid| invalid.within(&$crate::registry::kebab(stringify!($module)))),)+
                    $($config::Custom(custom) => custom.make(context).map(|made: $crate::Made<dyn $custom + Send>| $model::Custom(made)),)?
                }
            }
        }

        impl $model {
            /// Bytes that the model holds on to beside itself.
            #[allow(dead_code)]
            pub fn heap_bytes(&self) -> usize {
                match self {
                    $($model::$variant(model) => <$module::Model as $crate::Build>::heap_bytes(model),)+
                    $($model::Custom(made) => { let _: &$crate::Made<dyn $custom + Send> = made; 0 })?
                }
            }
        }

        $crate::register!(@dispatch $dispatch $config $model [$($custom)?] $($variant)+);
    };
    (
        $(#[$config_doc:meta])* config $config:ident, seat $word:literal;
        makes $output:ty, from($context:ty);
        $($(#[$doc:meta])* $variant:ident in $module:ident,)+
    ) => {
        $crate::register!(@config [$(#[$config_doc])*] $config $word [] [] $([$(#[$doc])*] $variant $module)+);

        impl $config {
            /// What this configuration describes.
            ///
            /// # Errors
            /// If a value cannot be; the path is relative to this table.
            pub fn build(&self, context: &$context) -> Result<$output, $crate::Invalid> {
                match self {
                    $($config::$variant(config) => $module::build(config, context)
                        .map_err(|invalid| invalid.within(&$crate::registry::kebab(stringify!($module)))),)+
                }
            }
        }
    };
    (@config [$($config_doc:tt)*] $config:ident $word:literal [$($thing:ident)*] [$($custom:path, $context:ty)?]
        $([$($doc:tt)*] $variant:ident $module:ident)+
    ) => {
        $(pub mod $module;)+

        $($config_doc)*
        #[derive(
            Clone,
            Debug,
            PartialEq,
            $crate::reexport::serde::Serialize,
            $crate::reexport::serde::Deserialize,
            $crate::reexport::schemars::JsonSchema,
        )]
        #[serde(crate = "tailcut_model::reexport::serde", rename_all = "kebab-case")]
        #[schemars(crate = "tailcut_model::reexport::schemars", extend("x-seat" = $word))]
        pub enum $config {
            $(
                $($doc)*
                #[schemars(extend("x-cases" = <$module::Config as $crate::Parameters>::CASES))]
                $variant($module::Config),
            )+
            $(
                /// A model that a program has put here; no scenario can name it.
                #[serde(skip_deserializing)]
                Custom($crate::Custom<$context, dyn $custom + Send>),
            )?
        }

        impl $crate::Seat for $config {
            fn word(&self) -> &'static str {
                $word
            }

            fn model(&self) -> String {
                match self {
                    $($config::$variant(_) => $crate::registry::kebab(stringify!($module)),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                        custom.name().to_owned()
                    })?
                }
            }

            #[allow(unused_variables)]
            fn facts(&self, facts: &mut $crate::Facts) {
                $(facts.seat_needs($crate::Thing::$thing);)*
                match self {
                    $($config::$variant(config) => $crate::Parameters::facts(config, facts),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                        custom.facts(facts);
                    })?
                }
            }

            #[allow(unused_variables)]
            fn resolve(&mut self, workload: &dyn $crate::Demand) -> Result<(), $crate::Invalid> {
                match self {
                    $($config::$variant(config) => $crate::Parameters::resolve(config, workload)
                        .map_err(|invalid| invalid.within(&$crate::registry::kebab(stringify!($module)))),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                        Ok(())
                    })?
                }
            }

            #[allow(unused_variables)]
            fn resolve_bdp(&mut self, bdp: u64) {
                match self {
                    $($config::$variant(config) => $crate::Parameters::resolve_bdp(config, bdp),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                    })?
                }
            }

            #[allow(unused_variables)]
            fn resolve_bdp_of_paths(&mut self, bdp: u64) {
                match self {
                    $($config::$variant(config) => $crate::Parameters::resolve_bdp_of_paths(config, bdp),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                    })?
                }
            }

            #[allow(unused_variables)]
            fn fits(&self, around: &$crate::Around) -> Result<(), $crate::Invalid> {
                match self {
                    $($config::$variant(config) => $crate::Parameters::fits(config, around)
                        .map_err(|invalid| invalid.within(&$crate::registry::kebab(stringify!($module)))),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                        Ok(())
                    })?
                }
            }

            #[allow(unused_variables)]
            fn warnings(&self, around: &$crate::Around) -> Vec<String> {
                match self {
                    $($config::$variant(config) => $crate::Parameters::warnings(config, around),)+
                    $($config::Custom(custom) => {
                        let _: &$crate::Custom<$context, dyn $custom + Send> = custom;
                        Vec::new()
                    })?
                }
            }
        }
    };
    (@dispatch $dispatch:ident $config:ident $model:ident [] $($variant:ident)+) => {
        #[allow(unused_macros)]
        macro_rules! $dispatch {
            (config $seat:expr, $inner:ident => $body:expr) => {
                match $seat {
                    $($config::$variant($inner) => $body,)+
                }
            };
            ($seat:expr, $inner:ident => $body:expr) => {
                match $seat {
                    $($model::$variant($inner) => $body,)+
                }
            };
        }
    };
    (@dispatch $dispatch:ident $config:ident $model:ident [$custom:path] $($variant:ident)+) => {
        #[allow(unused_macros)]
        macro_rules! $dispatch {
            (config $seat:expr, $inner:ident => $body:expr, custom => $default:expr) => {
                match $seat {
                    $($config::$variant($inner) => $body,)+
                    $config::Custom(_) => $default,
                }
            };
            ($seat:expr, $inner:ident => $body:expr) => {
                match $seat {
                    $($model::$variant($inner) => $body,)+
                    $model::Custom($inner) => $body,
                }
            };
            (registered $seat:expr, $inner:ident => $body:expr) => {
                match $seat {
                    $($model::$variant($inner) => $body,)+
                    $model::Custom(_) => unreachable!("the caller knows that it is a registered model"),
                }
            };
        }
    };
}
