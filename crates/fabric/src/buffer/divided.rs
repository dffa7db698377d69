//! Limited sub-queues: each class has a limit of its own inside that of the port; a packet that does not fit in its
//! class is dropped, or demoted to the next lower class with room.
//!
//! Rezaei, Malekpourshahraki, Vamanan: Slytherin (ICCCN 2018), section V-F: with limited sub-queues PIAS "drops or
//! demotes" packets. The sizes of the sub-queues are not printed; equal parts of the port's limit are the reading here.
//!
//! A demoted packet waits behind others of a lower class, and later packets of its flow that find room in the higher
//! class overtake it: flows arrive out of order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::{Admission, BufferPolicy, DropReason, Occupancy, Waiting};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

use crate::PortContext;
use crate::mark::Threshold;

/// What happens to a packet that does not fit in its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// It is dropped.
    #[default]
    Drop,
    /// It joins the next lower class that has room, and is dropped if none has. Later packets of its flow can overtake
    /// it.
    Demote,
}

/// How the buffer is divided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes that may wait in each class, from class 0 on, such as `["40KB", "75%"]`; without it, equal parts of the
    /// port's limit. They need not add up to the port's limit, which holds as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Vec<Threshold>>,
    /// What happens to a packet that does not fit in its class (Slytherin, section V-F: it is dropped or demoted).
    pub overflow: Overflow,
}

/// The policy.
#[derive(Debug)]
pub struct Model(Box<Limits>);

/// Behind a pointer, so that ports with other policies are no larger for it.
#[derive(Debug)]
struct Limits {
    of_class: Vec<u64>,
    overflow: Overflow,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "overflow = \"demote\""];

    fn facts(&self, facts: &mut Facts) {
        if self.overflow == Overflow::Demote {
            facts.excludes(Thing::Pauses, "a packet in another class than its own is stopped by the wrong pause");
        }
    }

    fn resolve_bdp(&mut self, bdp: u64) {
        self.limits.iter_mut().flatten().for_each(|limit| limit.resolve_bdp(bdp));
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if port.classes < 2 {
            return Err(Invalid::new("", "`divided` gives each class its part, and the port has one class")
                .help("expected `classes = 2` or more, or `buffer = \"tail-drop\"`"));
        }
        let classes = usize::from(port.classes);
        let of_class: Vec<u64> = match &config.limits {
            None => vec![port.limit / u64::from(port.classes); classes],
            Some(limits) => limits.iter().map(|limit| limit.resolve(port.limit)).collect(),
        };
        if of_class.len() != classes {
            let message = format!("{} limit(s) for a port of {classes} classes", of_class.len());
            return Err(Invalid::new("limits", message).help("expected one limit for each class, class 0 first"));
        }
        for (class, &limit) in of_class.iter().enumerate() {
            if limit < tailcut_base::MTU_BYTES {
                let message = format!("class {class} may hold {limit} B, and no packet of 1500 B ever waits in it");
                let path = if config.limits.is_some() { "limits" } else { "" };
                return Err(
                    Invalid::new(path, message).help("expected at least \"1500B\" for each class: a larger `limit`")
                );
            }
            if limit > port.limit {
                let message = format!("class {class} may hold {limit} B, and the whole port {} B", port.limit);
                return Err(Invalid::new("limits", message).help("expected no more than the `limit` of the port"));
            }
        }
        Ok(Model(Box::new(Limits { of_class, overflow: config.overflow })))
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Limits>() + self.0.of_class.capacity() * size_of::<u64>()
    }
}

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, class: u8, size: u64, _waiting: &impl Waiting) -> Admission {
        let Limits { of_class, overflow } = &*self.0;
        if o.port + size > o.limit {
            Admission::Drop(DropReason::PortFull)
        } else if o.class + size <= of_class[usize::from(class)] {
            Admission::Take
        } else if *overflow == Overflow::Demote && usize::from(class) + 1 < of_class.len() {
            Admission::Demote
        } else {
            Admission::Drop(DropReason::ClassFull)
        }
    }

    fn capacity_of_class(&self, _limit: u64, class: u8) -> u64 {
        self.0.of_class[usize::from(class)]
    }

    fn takes_into_empty(&self) -> bool {
        // No class holds less than a packet.
        true
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Bytes;

    use super::*;

    fn build(limits: Option<&[u64]>, port: PortContext) -> Result<Model, Invalid> {
        let limits = limits.map(|limits| limits.iter().map(|&bytes| Threshold::Bytes(Bytes(bytes))).collect());
        Model::build(&Config { limits, overflow: Overflow::Demote }, &port)
    }

    #[test]
    fn each_class_gets_an_equal_part_or_what_is_written() {
        let port = PortContext { limit: 10_000, classes: 4 };
        assert_eq!(build(None, port).unwrap().0.of_class, [2500; 4]);
        // The sum may be above or below the limit of the port.
        for limits in [[10_000, 1500, 9000, 10_000], [1500; 4]] {
            assert_eq!(build(Some(&limits), port).unwrap().0.of_class, limits);
        }
        let config = Config { limits: Some(vec![Threshold::Percent(50.0); 4]), overflow: Overflow::Drop };
        assert_eq!(Model::build(&config, &port).unwrap().0.of_class, [5000; 4]);
    }

    #[test]
    fn limits_that_cannot_be_are_refused() {
        let port = |limit, classes| PortContext { limit, classes };
        let refused: [(Option<&[u64]>, PortContext, &str, &str); 6] = [
            (None, port(9000, 1), "", "has one class"),
            (None, port(5999, 4), "", "class 0 may hold 1499 B"),
            (Some(&[1500, 1500]), port(9000, 3), "limits", "2 limit(s) for a port of 3 classes"),
            (Some(&[]), port(9000, 3), "limits", "0 limit(s)"),
            (Some(&[1500, 1499]), port(9000, 2), "limits", "class 1 may hold 1499 B"),
            (Some(&[1500, 9001]), port(9000, 2), "limits", "class 1 may hold 9001 B"),
        ];
        for (limits, port, path, message) in refused {
            let error = build(limits, port).unwrap_err();
            assert!(error.path == path && error.message.contains(message) && error.help.is_some(), "{error}");
        }
    }
}
