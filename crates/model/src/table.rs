//! `table!`: a table of a scenario from its seats and values.

/// Declares a table of a scenario: a struct of seats and values, each with its default.
///
/// Written are the struct with serde and JSON schema, its `Default`, and `seats` and `seats_mut`, which visit what sits
/// on the seats with the keys they have in the table.
#[macro_export]
macro_rules! table {
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident {
            values { $($(#[$value_doc:meta])* $value:ident: $value_type:ty = $value_default:expr,)* }
            seats { $($(#[$seat_doc:meta])* $seat:ident: $seat_type:ty = $seat_default:expr,)+ }
        }
    ) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Debug,
            PartialEq,
            $crate::reexport::serde::Serialize,
            $crate::reexport::serde::Deserialize,
            $crate::reexport::schemars::JsonSchema,
        )]
        #[serde(crate = "tailcut_model::reexport::serde", deny_unknown_fields, default)]
        #[schemars(crate = "tailcut_model::reexport::schemars")]
        $vis struct $name {
            $($(#[$value_doc])* pub $value: $value_type,)*
            $($(#[$seat_doc])* pub $seat: $seat_type,)+
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($value: $value_default,)* $($seat: $seat_default,)+ }
            }
        }

        impl $name {
            /// Every key of the table.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($value),)* $(stringify!($seat),)+];

            /// What sits on each seat of the table, with its key, and whether it is as it is by default.
            pub fn seats(&self) -> Vec<(&'static str, &dyn $crate::Seat, bool)> {
                let default = $name::default();
                vec![$((stringify!($seat), &self.$seat, self.$seat == default.$seat),)+]
            }

            /// As `seats`, mutable.
            pub fn seats_mut(&mut self) -> Vec<(&'static str, &mut dyn $crate::Seat)> {
                vec![$((stringify!($seat), &mut self.$seat),)+]
            }
        }
    };
}

/// The `Config` of a model without parameters; with a context, its stateless `Model` as well.
///
/// `no_parameters!(PortContext)` writes both; `no_parameters!()` leaves the model to its file; facts of the model
/// follow as `no_parameters!(PortContext, |facts| facts.reads(...))`.
#[macro_export]
macro_rules! no_parameters {
    () => {
        $crate::no_parameters!(@config |_facts| {});
    };
    (|$facts:ident| $said:expr) => {
        $crate::no_parameters!(@config |$facts| $said);
    };
    ($context:ty) => {
        $crate::no_parameters!(@config |_facts| {});
        $crate::no_parameters!(@model $context);
    };
    ($context:ty, |$facts:ident| $said:expr) => {
        $crate::no_parameters!(@config |$facts| $said);
        $crate::no_parameters!(@model $context);
    };
    (@config |$facts:ident| $said:expr) => {
        /// No parameters.
        #[derive(
            Clone,
            Debug,
            Default,
            PartialEq,
            $crate::reexport::serde::Serialize,
            $crate::reexport::serde::Deserialize,
            $crate::reexport::schemars::JsonSchema,
        )]
        #[serde(crate = "tailcut_model::reexport::serde", deny_unknown_fields)]
        #[schemars(crate = "tailcut_model::reexport::schemars")]
        pub struct Config {}

        impl $crate::Parameters for Config {
            fn facts(&self, $facts: &mut $crate::Facts) {
                $said;
            }
        }
    };
    (@model $context:ty) => {
        /// It has no state.
        #[derive(Debug)]
        pub struct Model;

        impl $crate::Build for Model {
            type Config = Config;
            type Context = $context;
            fn build(_: &Config, _: &$context) -> Result<Model, $crate::Invalid> {
                Ok(Model)
            }
        }
    };
}
