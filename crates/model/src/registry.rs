//! What is registered: the models of every seat, and what each of them says of itself.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::Schema;
use crate::{Facts, Invalid};

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

/// What is around a model, for its warnings.
#[derive(Clone, Debug)]
pub struct Around {
    /// Round-trip time between the hosts that are furthest apart, of a full packet and its ACK in an idle network.
    pub rtt: tailcut_base::Span,
    /// Links between these hosts.
    pub hops: u8,
    /// Bytes that the link of a host carries in that time.
    pub bdp: u64,
    /// The limit of a port, in bytes: what shares of it are shares of. Classes that are paused rather than dropped do
    /// not count against it.
    pub port_limit: u64,
    /// Bytes that may wait in a port, of all classes together. Where ports differ, in the one with the most room.
    pub port_room: u64,
    /// Bytes of one class that may wait in a port, of the class with the most room.
    pub class_room: u64,
    /// The same of the classes that are dropped when there is no room; `None` if all are paused instead.
    pub lossy_room: Option<u64>,
    /// Time that a full class of those that are dropped takes to drain into the link of a host; of all if none is.
    pub drain: tailcut_base::Span,
    /// Whether packets of one flow take several ways at a time ([`Thing::Spraying`](crate::Thing)).
    pub sprays: bool,
    /// Whether packets may be lost: links lose them or fail, or not all that is offered has room in a port.
    pub may_lose: bool,
    /// For how long flows arrive, as far as that is known.
    pub arrivals: tailcut_base::Span,
    /// How long flows have after the last arrival.
    pub run_drain: tailcut_base::Span,
    /// The classes of flows, each with the largest payload that one of its flows can have, in bytes.
    pub largest_sizes: Vec<(String, u64)>,
}

impl Around {
    /// What is strange about thresholds that tell short flows from longer ones: that no flow exceeds the smallest of
    /// them, or that the longest flows of a class exceed one by no more than a twentieth. All flows of such a class
    /// were probably meant to be below it: 32 KiB, 32,768 B, are more than "32KB", 32,000 B.
    pub fn strange_thresholds(&self, thresholds: impl IntoIterator<Item = u64>) -> Vec<String> {
        let thresholds: Vec<u64> = thresholds.into_iter().collect();
        let longest = self.largest_sizes.iter().map(|&(_, largest)| largest).max();
        if let (Some(longest), Some(&least)) = (longest, thresholds.iter().min())
            && longest <= least
        {
            return vec![format!(
                "no flow has more than {longest} B, and the threshold is {least} B: all count as short flows"
            )];
        }
        let sentence = |threshold: u64, (class, largest): &(String, u64)| {
            let is_barely = *largest > threshold && *largest <= threshold.saturating_add(threshold / 20);
            is_barely.then(|| {
                format!(
                    "flows of `{class}` have up to {largest} B, a little more than the threshold of {threshold} B: the \
                     longest of them count as longer flows"
                )
            })
        };
        let of = |threshold| self.largest_sizes.iter().filter_map(move |class| sentence(threshold, class));
        thresholds.into_iter().flat_map(of).collect()
    }

    /// What is strange about a retransmission timeout of a key that is shorter than a round trip.
    pub fn short_timeout(&self, key: &str, timeout: tailcut_base::Span) -> Option<String> {
        (timeout < self.rtt).then(|| {
            format!(
                "{key}, {timeout}, is below the round-trip time of the longest path, {}: packets are sent again before \
                 their ACK can come",
                self.rtt
            )
        })
    }

    /// Refuses a timer at `key` that expires hundreds of times before the first answer can come, and sends again each
    /// time: that is more and more packets, and nothing that anybody means.
    ///
    /// # Errors
    /// If it is shorter than a hundredth of the round-trip time.
    pub fn allows_timer(&self, key: &str, timer: tailcut_base::Span) -> Result<(), Invalid> {
        let least = tailcut_base::Span::from_ps(self.rtt.as_ps() / 100);
        if timer >= least {
            return Ok(());
        }
        let message = format!(
            "{timer} is less than a hundredth of the round-trip time of the longest path, {}: it would send again hundreds \
             of times before an answer can come",
            self.rtt
        );
        Err(Invalid::new(key, message).help(format!("expected at least {least}, and better the round-trip time")))
    }
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
