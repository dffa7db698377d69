//! What may be on the way to a receiver: how it bounds what it grants, and incast control, which bounds what comes
//! unasked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, MSS_BYTES};
use tailcut_model::{FlowSpec, Invalid};

use super::Config;

/// What a receiver may have granted at a time. Under each of them a message has at most RTTbytes on the way, and the
/// messages with the fewest bytes left come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grants {
    /// `overcommit` times RTTbytes, of all messages together: each packet that comes lets the best message with room
    /// have another one. A message that is granted to its end leaves its place to the next one, and what of it is on
    /// the way still counts. So the degree of overcommitment limits the queue that grants can build (the protocol's
    /// draft by its author, johnousterhout/homa-rfc, which says so; it also has a limit on all that is incoming, as
    /// PlatformLab/HomaModule does, `max_incoming`).
    #[default]
    Bounded,
    /// RTTbytes of each of `overcommit` messages: one that is granted to its end keeps its place until it has all come,
    /// so that with an `overcommit` of 1 the link idles for a round trip after each message.
    UntilReceived,
    /// One packet for each data packet that comes, of whatever message, to the best of `overcommit` messages with room;
    /// a message that is granted to its end counts no more (PlatformLab/RAMCloud, `HomaTransport::dataPacketArrive`).
    /// Many messages of up to two RTTbytes then build the same queue whatever `overcommit` is.
    EachPacket,
}

/// A host that asks many others marks most of its requests, so that the answers send little unasked.
///
/// The idea is that of the paper (section 3.6). Its text could not be read, and no public code has it
/// (PlatformLab/HomaSimulation, PlatformLab/RAMCloud, PlatformLab/HomaModule), so both numbers are ours. The answers to
/// other queries that the host waits for are not counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IncastControl {
    /// So many requests of a query are not marked (ours).
    pub threshold: u32,
    /// Bytes of an answer to a marked request that are sent unasked (ours: the first parts of 400 answers, with
    /// headers, are 176 KB).
    pub unscheduled: Bytes,
}

impl Default for IncastControl {
    fn default() -> IncastControl {
        IncastControl { threshold: 4, unscheduled: Bytes(400) }
    }
}

impl Config {
    /// Bytes of a message that are sent unasked, if it has as many.
    pub(super) fn unscheduled(&self, spec: &FlowSpec) -> u64 {
        match (&self.incast, spec.query) {
            (Some(control), Some(query)) if query.nth >= control.threshold => {
                control.unscheduled.0.min(self.window_of(spec))
            }
            _ => self.window_of(spec),
        }
    }

    pub(super) fn validate_incast(&self) -> Result<(), Invalid> {
        let Some(control) = &self.incast else { return Ok(()) };
        if (1..self.window()).contains(&control.unscheduled.0) {
            return Ok(());
        }
        let message = match control.unscheduled.0 {
            0 => "an answer that sends nothing unasked is never known of".to_owned(),
            _ => format!("{} are no less than the {} B of other messages", control.unscheduled, self.window()),
        };
        let help = format!("expected 1 B to {} B, such as \"400B\"", self.window() - 1);
        Err(Invalid::new("incast.unscheduled", message).help(help))
    }
}

/// Where the packets of a message end. The first one is shorter if the unscheduled part is not of whole packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cuts {
    /// Bytes of the message.
    pub(super) size: u64,
    /// Bytes of the first packet if it is shorter; 0 if it is not.
    head: u64,
}

impl Cuts {
    /// Those of a message of `size` bytes of which the first `unscheduled` come unasked.
    pub(super) fn new(size: u64, unscheduled: u64) -> Cuts {
        Cuts { size, head: if unscheduled < size { unscheduled % MSS_BYTES } else { 0 } }
    }

    /// Bytes of the packet that begins at `seq`.
    pub(super) fn payload(self, seq: u64) -> u64 {
        if seq < self.head { self.head - seq } else { MSS_BYTES.min(self.size - seq) }
    }

    /// How many packets the bytes from the beginning of one on up to another one are in.
    pub(super) fn packets(self, from: u64, to: u64) -> u64 {
        if from < self.head && self.head < to {
            1 + (to - self.head).div_ceil(MSS_BYTES)
        } else {
            (to - from).div_ceil(MSS_BYTES)
        }
    }

    /// Where the last packet begins.
    pub(super) fn last(self) -> u64 {
        self.head + (self.size - self.head - 1) / MSS_BYTES * MSS_BYTES
    }

    /// The last end of a packet that is no later than `offset`, which lies beyond the first packet.
    pub(super) fn end_before(self, offset: u64) -> u64 {
        if offset >= self.size { self.size } else { self.head + (offset - self.head) / MSS_BYTES * MSS_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Instant;
    use tailcut_model::{Query, QueryId};

    use super::super::tests::usual;
    use super::*;
    use crate::transport::around;

    #[test]
    fn requests_beyond_the_threshold_have_short_answers() {
        let control = IncastControl { threshold: 2, unscheduled: Bytes(300) };
        let config = Config { incast: Some(control), ..usual() };
        let of = |nth, config: &Config| {
            let query = Query { id: QueryId(0), asked: Instant::ZERO, degree: 9, nth, deadline: None };
            config.unscheduled(&FlowSpec { query: Some(query), ..around::spec(50_000) })
        };
        assert_eq!([0, 1, 2, 8].map(|nth| of(nth, &config)), [10_220, 10_220, 300, 300]);
        assert_eq!(of(8, &usual()), 10_220);
        assert_eq!(config.unscheduled(&around::spec(50_000)), 10_220, "it answers no query");
    }

    #[test]
    fn incast_control_that_cannot_be_is_refused() {
        for (bytes, says) in
            [(0, "is never known of"), (10_220, "are no less than the 10220 B"), (1 << 40, "are no less")]
        {
            let control = IncastControl { unscheduled: Bytes(bytes), ..IncastControl::default() };
            let error = Config { incast: Some(control), ..usual() }.validate().unwrap_err();
            assert!(error.path == "incast.unscheduled" && error.message.contains(says), "{error}");
            assert_eq!(error.help.as_deref(), Some("expected 1 B to 10219 B, such as \"400B\""));
        }
        let least = IncastControl { threshold: 0, unscheduled: Bytes(1) };
        assert_eq!(Config { incast: Some(least), ..usual() }.validate(), Ok(()));
    }

    #[test]
    fn cuts_are_where_packets_end() {
        for (size, unscheduled) in
            [(1, 400), (400, 400), (401, 400), (1_860, 400), (30_000, 400), (30_000, 2_000), (30_000, 10_220)]
        {
            let cuts = Cuts::new(size, unscheduled);
            let mut ends = vec![0];
            while ends[ends.len() - 1] < size {
                let start = ends[ends.len() - 1];
                let payload = cuts.payload(start);
                assert!((1..=MSS_BYTES).contains(&payload));
                ends.push(start + payload);
            }
            assert_eq!(ends[ends.len() - 1], size, "{size}, {unscheduled}");
            assert!(ends.contains(&unscheduled.min(size)), "{size}, {unscheduled}: {ends:?}");
            assert_eq!(cuts.last(), ends[ends.len() - 2]);
            for (first, &from) in ends.iter().enumerate() {
                for (last, &to) in ends.iter().enumerate().skip(first) {
                    assert_eq!(cuts.packets(from, to), (last - first) as u64, "{from} to {to}");
                }
            }
            for offset in MSS_BYTES..size + 10 {
                let end = ends.iter().copied().filter(|&end| end <= offset).max();
                assert_eq!(Some(cuts.end_before(offset)), end, "{offset}");
            }
        }
    }
}
