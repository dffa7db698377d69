//! What the calendar's keys mean: the class of the event, who scheduled it, and what it needs to know.
//!
//! At equal times the class decides, then the entity, then the rest: a NIC becomes free before packets land, packets
//! land before control events, control events come before timers of hosts, these before those of switches, then come
//! messages of the controller, what hosts take in late, and, where classes are paused, ports of switches that become
//! free and pause frames. Of landings, the order drawn for each decides before the port. An entity has at most one
//! event of a class and flow pending at a time, so no counter is needed to tell two apart; two messages of one moment
//! are alike as events, and taken in their order. The entity is numbered over the whole network, so that the order
//! does not depend on how it is cut between threads; where the entity stands in its part is told by the low half,
//! which decides nothing.

use tailcut_base::{HostId, PortId, SwitchId};
use tailcut_model::FlowId;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// An interface of a host is free, and the host has more to send by it.
    Free(HostId, u8),
    /// The first packet in flight behind a port reaches the far end.
    Land(PortId),
    /// The time in which results are measured begins.
    MeasureFrom,
    /// The next flow of the workload starts.
    NextFlow,
    /// The time in which results are measured ends.
    MeasureUntil,
    /// The queues are sampled.
    Sample,
    /// Something about the links changes: the number of the change.
    Change(u32),
    /// A timer of a flow fires at a host.
    Timer(HostId, FlowId),
    /// The agent of a switch asked to be called.
    Agent(SwitchId),
    /// A message of the controller about a flow is at a host.
    Message(HostId, FlowId),
    /// A host takes in the first packet of those that have arrived.
    Take(HostId),
    /// The port of a switch is free, and more waits there: where classes may be paused.
    Freed(PortId),
    /// The first pause frame behind a port is at the far end.
    Pause(PortId),
}

const FREE: u64 = 0;
const LAND: u64 = 1;
const CONTROL: u64 = 2;
const TIMER: u64 = 3;
const AGENT: u64 = 4;
const MESSAGE: u64 = 5;
const TAKE: u64 = 6;
const FREED: u64 = 7;
const PAUSE: u64 = 8;

const CLASS_SHIFT: u32 = 60;
const ENTITY_SHIFT: u32 = 32;
const ENTITY_MASK: u64 = (1 << (CLASS_SHIFT - ENTITY_SHIFT)) - 1;

/// Before the flows that start at the same moment.
const CHANGE: u64 = 0;
const MEASURE_FROM: u64 = 1;
const NEXT_FLOW: u64 = 2;
const MEASURE_UNTIL: u64 = 3;
const SAMPLE: u64 = 4;

impl Event {
    /// The calendar's key: 4 bits of class, 28 of entity, 32 of what the event needs to know.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        let (class, entity, low) = match self {
            Event::Free(host, nic) => (FREE, u64::from(host.0), u32::from(nic)),
            Event::Land(port) => (LAND, 0, port.0),
            Event::MeasureFrom => (CONTROL, MEASURE_FROM, 0),
            Event::NextFlow => (CONTROL, NEXT_FLOW, 0),
            Event::MeasureUntil => (CONTROL, MEASURE_UNTIL, 0),
            Event::Sample => (CONTROL, SAMPLE, 0),
            Event::Change(nth) => (CONTROL, CHANGE, nth),
            Event::Timer(host, flow) => (TIMER, u64::from(host.0), flow.0),
            Event::Agent(switch) => (AGENT, u64::from(switch.0), 0),
            Event::Message(host, flow) => (MESSAGE, u64::from(host.0), flow.0),
            Event::Take(host) => (TAKE, u64::from(host.0), 0),
            Event::Freed(port) => (FREED, u64::from(port.0), 0),
            Event::Pause(port) => (PAUSE, u64::from(port.0), 0),
        };
        debug_assert!(entity <= ENTITY_MASK, "a network has fewer than 2^28 ports");
        class << CLASS_SHIFT | entity << ENTITY_SHIFT | u64::from(low)
    }

    /// The port of a landing, by its key.
    #[inline]
    pub(crate) fn landing(key: u64) -> Option<PortId> {
        (key >> CLASS_SHIFT == LAND).then_some(PortId(key as u32))
    }

    /// The bits of the key of a landing that decide before the number of its port. They are 0 in [`Event::key`].
    pub(crate) const LANDING_ORDER: u64 = ENTITY_MASK << ENTITY_SHIFT;

    #[inline]
    pub(crate) fn of_key(key: u64) -> Event {
        if let Some(port) = Event::landing(key) {
            return Event::Land(port);
        }
        let (entity, low) = ((key >> ENTITY_SHIFT & ENTITY_MASK) as u32, key as u32);
        match key >> CLASS_SHIFT {
            FREE => Event::Free(HostId(entity), low as u8),
            TIMER => Event::Timer(HostId(entity), FlowId(low)),
            AGENT => Event::Agent(SwitchId(entity)),
            MESSAGE => Event::Message(HostId(entity), FlowId(low)),
            TAKE => Event::Take(HostId(entity)),
            FREED => Event::Freed(PortId(entity)),
            PAUSE => Event::Pause(PortId(entity)),
            _ => match u64::from(entity) {
                MEASURE_FROM => Event::MeasureFrom,
                NEXT_FLOW => Event::NextFlow,
                MEASURE_UNTIL => Event::MeasureUntil,
                SAMPLE => Event::Sample,
                entity => {
                    debug_assert_eq!(entity, CHANGE);
                    Event::Change(low)
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_class_then_entity_then_flow_and_come_back() {
        let events = [
            Event::Free(HostId(1), 0),
            Event::Free(HostId(1), 7),
            Event::Free(HostId((1 << 28) - 1), 0),
            Event::Land(PortId(0)),
            Event::Land(PortId(7)),
            Event::Change(0),
            Event::Change(9),
            Event::MeasureFrom,
            Event::NextFlow,
            Event::MeasureUntil,
            Event::Sample,
            Event::Timer(HostId(3), FlowId(1)),
            Event::Timer(HostId(3), FlowId(u32::MAX)),
            Event::Timer(HostId(4), FlowId(0)),
            Event::Agent(SwitchId(2)),
            Event::Message(HostId(0), FlowId(7)),
            Event::Take(HostId(0)),
            Event::Freed(PortId(3)),
            Event::Pause(PortId(0)),
        ];
        assert!(events.map(Event::key).is_sorted_by(|a, b| a < b));
        for event in events {
            assert_eq!(Event::of_key(event.key()), event);
        }
    }

    #[test]
    fn the_order_of_a_landing_decides_before_its_port_and_never_before_the_class() {
        let keys = [
            Event::Free(HostId((1 << 28) - 1), 7).key(),
            Event::Land(PortId(9)).key(),
            Event::Land(PortId(8)).key() | 1 << ENTITY_SHIFT,
            Event::Land(PortId(3)).key() | Event::LANDING_ORDER,
            Event::Change(0).key(),
        ];
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert_eq!(
            keys[1..4].iter().map(|&key| Event::of_key(key)).collect::<Vec<_>>(),
            [9, 8, 3].map(|port| Event::Land(PortId(port)))
        );
    }
}
