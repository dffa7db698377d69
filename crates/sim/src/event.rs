//! What the calendar's keys mean: the class of the event, who scheduled it, and for a timer which flow.
//!
//! At equal times the class decides, then the entity, then the flow: a NIC becomes free before packets land, packets land
//! before control events, control events come before timers. An entity has at most one event of a class and flow pending at a time, so no
//! counter is needed to tell two apart.

use tailcut_base::{HostId, PortId};
use tailcut_model::FlowId;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The NIC of a host is free, and the host has more to send.
    Free(HostId),
    /// The first packet in flight behind a port reaches the far end.
    Land(PortId),
    /// The next flow of the workload starts.
    NextFlow,
    /// The queues are sampled.
    Sample,
    /// A timer of a flow fires at a host.
    Timer(HostId, FlowId),
}

const FREE: u64 = 0;
const LAND: u64 = 1;
const CONTROL: u64 = 2;
const TIMER: u64 = 3;

const CLASS_SHIFT: u32 = 60;
const ENTITY_SHIFT: u32 = 32;
const ENTITY_MASK: u64 = (1 << (CLASS_SHIFT - ENTITY_SHIFT)) - 1;

const NEXT_FLOW: u64 = 0;
const SAMPLE: u64 = 1;

impl Event {
    /// The calendar's key: 4 bits of class, 28 of entity, 32 of flow.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        let (class, entity, flow) = match self {
            Event::Free(host) => (FREE, u64::from(host.0), 0),
            Event::Land(port) => (LAND, u64::from(port.0), 0),
            Event::NextFlow => (CONTROL, NEXT_FLOW, 0),
            Event::Sample => (CONTROL, SAMPLE, 0),
            Event::Timer(host, flow) => (TIMER, u64::from(host.0), flow.0),
        };
        debug_assert!(entity <= ENTITY_MASK, "a network has fewer than 2^28 ports");
        class << CLASS_SHIFT | entity << ENTITY_SHIFT | u64::from(flow)
    }

    #[inline]
    pub(crate) fn of_key(key: u64) -> Event {
        let entity = (key >> ENTITY_SHIFT & ENTITY_MASK) as u32;
        match key >> CLASS_SHIFT {
            LAND => Event::Land(PortId(entity)),
            FREE => Event::Free(HostId(entity)),
            TIMER => Event::Timer(HostId(entity), FlowId(key as u32)),
            _ if u64::from(entity) == NEXT_FLOW => Event::NextFlow,
            _ => Event::Sample,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_class_then_entity_then_flow_and_come_back() {
        let events = [
            Event::Free(HostId(1)),
            Event::Free(HostId((1 << 28) - 1)),
            Event::Land(PortId(0)),
            Event::Land(PortId(7)),
            Event::NextFlow,
            Event::Sample,
            Event::Timer(HostId(3), FlowId(1)),
            Event::Timer(HostId(3), FlowId(u32::MAX)),
            Event::Timer(HostId(4), FlowId(0)),
        ];
        assert!(events.map(Event::key).is_sorted_by(|a, b| a < b));
        for event in events {
            assert_eq!(Event::of_key(event.key()), event);
        }
    }
}
