//! What is registered: the models of every seat, and what each of them says of itself.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::Schema;
use crate::{Around, Facts, Invalid};

/// The parameters of one model: the `Config` of its file.
pub trait Parameters: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// Values of the parameters that are worth a test, each the inside of a TOML table: `threshold = "3pkt"`. Tests of
    /// whole simulations draw from them, so that a model is tested by being registered.
    const CASES: &'static [&'static str] = &[""];

    /// What the model provides to others and needs of them.
    fn facts(&self, facts: &mut Facts) {
        let _ = facts;
    }

    /// Writes out what is only named, and depends on the workload.
    ///
    /// # Errors
    /// If it cannot be; the path is relative to the model's table.
    fn resolve(&mut self, workload: &dyn Demand) -> Result<(), Invalid> {
        let _ = workload;
        Ok(())
    }

    /// Writes out sizes that are multiples of the bandwidth-delay product, which is `bdp` bytes: of its port's link,
    /// for a model of a port, and of all paths between hosts, for one of a host.
    fn resolve_bdp(&mut self, bdp: u64) {
        let _ = bdp;
    }

    /// As [`Parameters::resolve_bdp`], for a model of a host where the products of paths differ: the largest is `bdp`,
    /// and each flow has its own, [`PathFacts::bdp`](crate::PathFacts).
    fn resolve_bdp_of_paths(&mut self, bdp: u64) {
        self.resolve_bdp(bdp);
    }

    /// Refuses what cannot work in this network.
    ///
    /// # Errors
    /// If a value cannot be here; the path is relative to the model's table.
    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        let _ = around;
        Ok(())
    }

    /// What is not wrong here but probably not meant.
    fn warnings(&self, around: &Around) -> Vec<String> {
        let _ = around;
        Vec::new()
    }
}

/// The state of a model: the `Model` of its file.
pub trait Build: Sized {
    /// Its parameters.
    type Config: Parameters;
    /// What it may know of its place when it is made.
    type Context;

    /// The model with these parameters in this place.
    ///
    /// # Errors
    /// If a value cannot be there; the path is relative to the model's table.
    fn build(config: &Self::Config, context: &Self::Context) -> Result<Self, Invalid>;

    /// Bytes that the model holds on to beside itself.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// What sits on a seat, whatever it is.
pub trait Seat {
    /// The word for what sits on the seat: `marker`.
    fn word(&self) -> &'static str;
    /// The name of the model, as a scenario writes it.
    fn model(&self) -> String;
    /// As [`Parameters::facts`].
    fn facts(&self, facts: &mut Facts);
    /// As [`Parameters::resolve`], with the path relative to the seat.
    ///
    /// # Errors
    /// As [`Parameters::resolve`].
    fn resolve(&mut self, workload: &dyn Demand) -> Result<(), Invalid>;
    /// As [`Parameters::resolve_bdp`].
    fn resolve_bdp(&mut self, bdp: u64);
    /// As [`Parameters::resolve_bdp_of_paths`].
    fn resolve_bdp_of_paths(&mut self, bdp: u64);
    /// As [`Parameters::fits`], with the path relative to the seat.
    ///
    /// # Errors
    /// As [`Parameters::fits`].
    fn fits(&self, around: &Around) -> Result<(), Invalid>;
    /// As [`Parameters::warnings`].
    fn warnings(&self, around: &Around) -> Vec<String>;
}

/// What a model may ask about the traffic of its scenario.
pub trait Demand {
    /// The load, if the scenario names one.
    fn load(&self) -> Option<f64>;
    /// Share of all bytes that lie within the first `cap` bytes of their flows.
    fn part_up_to(&self, cap: u64) -> f64;
    /// The sizes of flows that split those bytes into this many equal parts.
    fn equal_parts(&self, cap: u64, parts: usize) -> Vec<u64>;
}

/// A module's name as a scenario writes it: `flow_ecmp` is `flow-ecmp`.
pub fn kebab(module: &str) -> String {
    // A module whose name is a word of Rust is written `r#static`.
    module.trim_start_matches("r#").replace('_', "-")
}

/// One registered model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEntry {
    /// Its name in a scenario.
    pub name: String,
    /// What it is, in a sentence or two.
    pub doc: String,
    /// [`Parameters::CASES`].
    pub cases: Vec<String>,
}

/// One registered seat, at one place of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatEntry {
    /// The dotted path of its key.
    pub path: String,
    /// The word for what sits there.
    pub word: String,
    /// What may sit there.
    pub models: Vec<ModelEntry>,
}

/// Every seat in the configuration `T`, found by its type: nothing is listed by hand.
pub fn seats_of<T: JsonSchema>() -> Vec<SeatEntry> {
    let schema = Schema::of::<T>();
    let mut seats = Vec::new();
    schema.root().each_table(&mut |path, node| {
        let Some(word) = node.extension("x-seat") else { return };
        let models = node.variants().into_iter().map(|variant| ModelEntry {
            cases: variant.cases(),
            name: variant.name.to_owned(),
            doc: variant.doc(),
        });
        seats.push(SeatEntry { path: path.to_owned(), word: word.to_owned(), models: models.collect() });
    });
    seats
}
