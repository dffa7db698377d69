//! A host and what is around it, for the tests of transports.

use tailcut_base::{HostId, Instant};
use tailcut_model::seat::{HostCx, SenderReport, Transport, Unfinished, Wish};
use tailcut_model::{Arena, ClassId, FlowId, FlowSpec, FlowTable, Header, List, Packet, PathFacts};

use crate::transport::TransportSeat;
use crate::{HostConfig, HostContext};

/// A host, its packets, what it has wished for, and the time.
pub(super) struct Around {
    pub(super) host: TransportSeat,
    pub(super) arena: Arena,
    pub(super) flows: FlowTable,
    pub(super) control: List,
    pub(super) wishes: Vec<Wish>,
    pub(super) now: Instant,
}

/// A flow of so many bytes from host 0 to host 1.
pub(super) fn spec(size: u64) -> FlowSpec {
    FlowSpec {
        start: Instant::ZERO,
        src: HostId(0),
        dst: HostId(1),
        size,
        class: ClassId(0),
        query: None,
        connection: 9,
        deadline: None,
        measured: true,
        path: PathFacts::default(),
    }
}

impl Around {
    pub(super) fn new(config: HostConfig) -> Around {
        Around {
            host: HostContext::of(config).build().expect("a configuration of the tests"),
            arena: Arena::new(),
            flows: FlowTable::new(),
            control: List::new(),
            wishes: Vec::new(),
            now: Instant::ZERO,
        }
    }

    pub(super) fn call<R>(&mut self, call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> R) -> R {
        let Around { host, arena, flows, control, wishes, now } = self;
        let header = &mut Header::default();
        call(host, &mut HostCx { now: *now, host: HostId(0), nic: 0, arena, flows, control, wishes, header })
    }

    /// A flow starts that the host sends, or receives.
    pub(super) fn begin(&mut self, flow: u32, spec: &FlowSpec, sends: bool) {
        self.call(|host, cx| match sends {
            true => host.on_send(cx, FlowId(flow), spec),
            false => host.on_expect(cx, FlowId(flow), spec),
        });
    }

    /// A packet of the other host arrives.
    pub(super) fn receive(&mut self, packet: Packet) {
        let id = self.arena.insert(packet);
        self.call(|host, cx| host.on_packet(cx, id));
        self.arena.remove(id);
    }

    /// Takes the control packets that wait for the NIC.
    pub(super) fn take_control(&mut self) -> Vec<Packet> {
        let mut packets = Vec::new();
        while let Some(id) = self.control.pop_front(&mut self.arena) {
            packets.push(self.arena.get(id).clone());
            self.arena.remove(id);
        }
        packets
    }

    /// Fires every timer that was wished for until `until`, in order.
    pub(super) fn wait(&mut self, until: Instant) {
        loop {
            let timers = self.wishes.iter().enumerate().filter_map(|(i, wish)| match *wish {
                Wish::Timer { at, flow } if at <= until => Some((at, i, flow)),
                _ => None,
            });
            let Some((at, first, flow)) = timers.min_by_key(|&(at, i, _)| (at, i)) else { break };
            self.wishes.remove(first);
            self.now = at;
            self.call(|host, cx| host.on_timer(cx, flow));
        }
        self.now = until;
    }

    /// What the open sender of a flow reports.
    pub(super) fn report(&self, flow: u32) -> SenderReport {
        let report = |end| match end {
            Unfinished::Sender(FlowId(id), report) if id == flow => Some(report),
            _ => None,
        };
        self.host.unfinished().into_iter().find_map(report).expect("the sender is open")
    }
}
