//! Incast degrees: what a sink has told, and what a sender has heard.
//!
//! A connection tells the degree in its handshake, as an option. One that stays open keeps what it was told first,
//! until the sink says by an update message that it has changed (Rezaei, PhD thesis, University of Illinois at Chicago,
//! 2021, section 3.2.1). An application, which is a class of the workload, has a connection of its own between two
//! hosts, so that incasts of two applications at one sink keep their own degrees, unless the pacer counts all that
//! answer the sink: then each query that begins or ends changes the number of all.
//!
//! Left out: a second update where the first one is lost.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Instant};
use tailcut_model::seat::Awareness;
use tailcut_model::{ClassId, FlowId, FlowSpec, Packet, QueryId};

use super::packets;

/// Degree by the other end of a connection.
type DegreeOf = BTreeMap<(ClassId, HostId), u32>;

/// What one host knows, as a sink and as a sender.
#[derive(Debug)]
pub(super) struct Degrees {
    told: DegreeOf,
    heard: DegreeOf,
    /// The queries of this host that have answers left, if all of them count together.
    active: Option<Active>,
}

/// Queries of one host that have answers left.
#[derive(Debug, Default)]
struct Active {
    /// How many answer each, and how many of these answers are left.
    queries: BTreeMap<QueryId, (u32, u32)>,
    /// The answers that are on their way.
    answers: BTreeMap<FlowId, Answer>,
}

/// One answer.
#[derive(Clone, Debug)]
struct Answer {
    query: QueryId,
    class: ClassId,
    sender: HostId,
    sink: HostId,
    connection: u32,
}

impl Active {
    /// How many hosts answer.
    fn senders(&self) -> u32 {
        self.queries.values().map(|(degree, _)| degree).sum()
    }
}

impl Degrees {
    /// Nothing is known yet; `None` if nobody wants to know.
    pub(super) fn new(awareness: Awareness) -> Option<Degrees> {
        let active = match awareness {
            Awareness::Off => return None,
            Awareness::Query => None,
            Awareness::Active => Some(Active::default()),
        };
        Some(Degrees { told: BTreeMap::new(), heard: BTreeMap::new(), active })
    }

    /// Degree that the sender of a new flow knows. The first flow of a connection has the handshake behind it; what
    /// answers no query has 1.
    pub(super) fn heard(&mut self, spec: &FlowSpec) -> u32 {
        let Some(query) = spec.query else { return 1 };
        *self.heard.entry((spec.class, spec.dst)).or_insert(query.degree)
    }

    /// The number that the sink tells now to the sender of `flow`, which answers a query of `degree` hosts, in a
    /// handshake.
    pub(super) fn at_handshake(&mut self, flow: FlowId, degree: u32) -> u32 {
        let Some(active) = &self.active else { return degree };
        let Some(answer) = active.answers.get(&flow) else { return degree };
        let senders = active.senders();
        self.told.insert((answer.class, answer.sender), senders);
        senders
    }

    /// A flow is expected. Gives the messages with which the sink tells senders that their number is another one now:
    /// that of this flow if no handshake does, and those of other queries.
    pub(super) fn expect(&mut self, flow: FlowId, spec: &FlowSpec, has_handshake: bool, now: Instant) -> Vec<Packet> {
        let Some(query) = spec.query else { return Vec::new() };
        let answer = Answer {
            query: query.id,
            class: spec.class,
            sender: spec.src,
            sink: spec.dst,
            connection: spec.connection,
        };
        let mut updates = Vec::new();
        let mut number = query.degree;
        if let Some(active) = &mut self.active {
            let is_new = !active.queries.contains_key(&query.id);
            active.queries.entry(query.id).or_insert((query.degree, query.degree));
            number = active.senders();
            if is_new {
                tell_all(&mut self.told, &active.answers, number, now, &mut updates);
            }
            active.answers.insert(flow, answer.clone());
        }
        if !has_handshake {
            // The handshake that opened the connection, before the first flow, told its degree.
            self.told.entry((answer.class, answer.sender)).or_insert(query.degree);
            updates.extend(tell(&mut self.told, flow, &answer, number, now));
        }
        updates
    }

    /// The last byte of a flow has been received: if it was the last answer of its query, fewer hosts send.
    pub(super) fn received(&mut self, flow: FlowId, now: Instant) -> Vec<Packet> {
        let mut updates = Vec::new();
        let Some(active) = &mut self.active else { return updates };
        let Some(answer) = active.answers.remove(&flow) else { return updates };
        if let Some((_, left)) = active.queries.get_mut(&answer.query) {
            *left -= 1;
            if *left == 0 {
                active.queries.remove(&answer.query);
                tell_all(&mut self.told, &active.answers, active.senders(), now, &mut updates);
            }
        }
        updates
    }

    /// An update message has come.
    pub(super) fn hear(&mut self, update: &Packet) {
        let class = u8::try_from(update.seq).expect("an update names a class");
        self.heard.insert((ClassId(class), update.src), packets::degree(update));
    }

    /// Bytes that the tables hold on to, without what lies between their entries.
    pub(super) fn heap_bytes(&self) -> usize {
        let active = self.active.as_ref().map_or(0, |active| {
            active.queries.len() * size_of::<(QueryId, (u32, u32))>()
                + active.answers.len() * size_of::<(FlowId, Answer)>()
        });
        (self.told.len() + self.heard.len()) * size_of::<((ClassId, HostId), u32)>() + active
    }
}

/// The message that tells the sender of `flow` the number, if it was told another one.
fn tell(told: &mut DegreeOf, flow: FlowId, answer: &Answer, number: u32, now: Instant) -> Option<Packet> {
    if told.insert((answer.class, answer.sender), number) == Some(number) {
        return None;
    }
    let mut update = Packet::control(packets::UPDATE, flow, answer.sink, answer.sender, u64::from(answer.class.0), now);
    update.connection = answer.connection;
    packets::set_degree(&mut update, number);
    Some(update)
}

/// The same for all answers that are on their way.
fn tell_all(
    told: &mut DegreeOf,
    answers: &BTreeMap<FlowId, Answer>,
    number: u32,
    now: Instant,
    updates: &mut Vec<Packet>,
) {
    updates.extend(answers.iter().filter_map(|(&flow, answer)| tell(told, flow, answer, number, now)));
}
