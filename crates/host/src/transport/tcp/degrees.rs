//! Incast degrees of persistent connections: what a sink has told, and what a sender has heard.
//!
//! A connection tells the degree in its handshake, as an option. One that stays open keeps what it was told first,
//! until the sink says by an update message that it has changed (Rezaei, PhD thesis, University of Illinois at Chicago,
//! 2021, section 3.2.1). An application, which is a class of the workload, has a connection of its own between two
//! hosts, so that incasts of two applications at one sink keep their own degrees.
//!
//! Left out: a second update where the first one is lost.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Instant};
use tailcut_model::{ClassId, FlowId, FlowSpec, Packet};

use super::packets;

/// Degree by the other end of a connection.
type DegreeOf = BTreeMap<(ClassId, HostId), u32>;

/// What one host knows, as a sink and as a sender.
#[derive(Debug, Default)]
pub(super) struct Degrees {
    told: DegreeOf,
    heard: DegreeOf,
}

impl Degrees {
    /// The degree that the sender of a new flow knows. The first flow of a connection has the handshake behind it; what
    /// answers no query has 1.
    pub(super) fn heard(&mut self, spec: &FlowSpec) -> u32 {
        let Some(query) = spec.query else { return 1 };
        *self.heard.entry((spec.class, spec.dst)).or_insert(query.degree)
    }

    /// The message with which the sink tells the sender of a new flow that the degree is another one now, if it is.
    pub(super) fn tell(&mut self, flow: FlowId, spec: &FlowSpec, now: Instant) -> Option<Packet> {
        let query = spec.query?;
        let told = self.told.entry((spec.class, spec.src)).or_insert(query.degree);
        if *told == query.degree {
            return None;
        }
        *told = query.degree;
        let mut update = Packet::control(packets::UPDATE, flow, spec.dst, spec.src, u64::from(spec.class.0), now);
        update.connection = spec.connection;
        packets::set_degree(&mut update, query.degree);
        Some(update)
    }

    /// An update message has come.
    pub(super) fn hear(&mut self, update: &Packet) {
        let class = u8::try_from(update.seq).expect("an update names a class");
        self.heard.insert((ClassId(class), update.src), packets::degree(update));
    }

    /// Bytes that the tables hold on to, without what lies between their entries.
    pub(super) fn heap_bytes(&self) -> usize {
        (self.told.len() + self.heard.len()) * size_of::<((ClassId, HostId), u32)>()
    }
}
