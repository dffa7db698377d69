//! Models that a program puts on a seat without being part of this repository.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::{Facts, Invalid};

/// How a program's own model is made, with a name for results.
///
/// A scenario's text cannot name it: a program reads a scenario and puts the model on its seat, as
/// `config.host.congestion = CongestionConfig::Custom(Custom::new("mine", |flow| ...))`.
///
/// ```
/// use tailcut_model::seat::{Priority, Tag, TagView};
/// use tailcut_model::{Custom, Facts, Thing};
///
/// /// The class of a packet by how far into its flow it is: one for each `step` bytes, up to the last of eight.
/// struct Stairs {
///     step: u64,
/// }
///
/// impl Tag for Stairs {
///     fn tag(&mut self, view: &TagView) -> Priority {
///         Priority::of_class((view.offset / self.step).min(7) as u8)
///     }
/// }
///
/// // A tag is made without a context; others are told of their flow, host or switch.
/// let stairs: Custom<(), dyn Tag + Send> =
///     Custom::new("stairs", |_| Ok(Box::new(Stairs { step: 20_000 }) as Box<_>));
/// let stairs = stairs.saying(|facts| facts.provides(Thing::Class));
///
/// let mut one = stairs.make(&())?;
/// let view = TagView { offset: 50_000, highest_sent: 50_000, acknowledged: 0, flow_bytes: 100_000 };
/// assert_eq!(one.tag(&view).class, 2);
/// let mut facts = Facts::new();
/// stairs.facts(&mut facts);
/// assert!(facts.has(Thing::Class) && !facts.has(Thing::Rank));
/// # Ok::<(), tailcut_model::Invalid>(())
/// ```
pub struct Custom<Context, T: ?Sized> {
    name: String,
    make: Arc<Make<Context, T>>,
    facts: Option<Arc<Say>>,
}

type Say = dyn Fn(&mut Facts) + Send + Sync;

type Make<Context, T> = dyn Fn(&Context) -> Result<Box<T>, Invalid> + Send + Sync;

impl<Context, T: ?Sized> Custom<Context, T> {
    /// A model of this name, made by `make` for each place: each flow, host, port or switch, as the seat's context
    /// says.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn(&Context) -> Result<Box<T>, Invalid> + Send + Sync + 'static,
    ) -> Custom<Context, T> {
        Custom { name: name.into(), make: Arc::new(make), facts: None }
    }

    /// The same model, which says of itself what it provides and needs. One that says nothing is taken to provide and
    /// need whatever others do.
    #[must_use]
    pub fn saying(self, facts: impl Fn(&mut Facts) + Send + Sync + 'static) -> Custom<Context, T> {
        Custom { facts: Some(Arc::new(facts)), ..self }
    }

    /// What it says of itself.
    pub fn facts(&self, facts: &mut Facts) {
        match &self.facts {
            Some(say) => say(facts),
            None => facts.unknown(),
        }
    }

    /// The name in results and messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One model.
    ///
    /// # Errors
    /// What the program's function refuses.
    pub fn make(&self, context: &Context) -> Result<Made<T>, Invalid> {
        (self.make)(context).map(|model| Made(Box::new(model)))
    }
}

impl<Context, T: ?Sized> Clone for Custom<Context, T> {
    fn clone(&self) -> Self {
        Custom { name: self.name.clone(), make: Arc::clone(&self.make), facts: self.facts.clone() }
    }
}

impl<Context, T: ?Sized> fmt::Debug for Custom<Context, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({:?})", self.name)
    }
}

/// Two are equal if one is a copy of the other.
impl<Context, T: ?Sized> PartialEq for Custom<Context, T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

/// As its name: a written scenario tells that a program's own model was there, and cannot be run without that program.
impl<Context, T: ?Sized> Serialize for Custom<Context, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

/// The schema allows no value: a scenario cannot name such a model.
impl<Context, T: ?Sized> JsonSchema for Custom<Context, T> {
    fn schema_name() -> Cow<'static, str> {
        "Custom".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(false)
    }
}

/// A program's own model in its place. Boxed twice, so that the seats of a port are no larger for what few programs do.
pub struct Made<T: ?Sized>(Box<Box<T>>);

impl<T: ?Sized> std::ops::Deref for Made<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> std::ops::DerefMut for Made<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: ?Sized> fmt::Debug for Made<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}
