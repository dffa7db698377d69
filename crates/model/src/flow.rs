//! Flows as a workload describes them, and the table that finds their two ends.

use tailcut_base::{HostId, Instant, Span, prefetch};

/// Number of a flow in the order of its start; dense, unique in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// A traffic class of the workload (short, long, incast ...): an index into its list of names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(pub u8);

/// One incast event: the flows that answer one query; dense, in the order of the queries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryId(pub u32);

/// The query that a flow answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Query {
    /// Which one.
    pub id: QueryId,
    /// When it was asked.
    pub asked: Instant,
    /// Incast degree: how many hosts answer it.
    pub degree: u32,
    /// How many of them were asked before the one that sends this flow.
    pub nth: u32,
    /// When its last answer should be delivered, counted from `asked`.
    pub deadline: Option<Span>,
}

/// One message to deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// When the application hands it to the sender.
    pub start: Instant,
    /// Who sends it.
    pub src: HostId,
    /// Who receives it.
    pub dst: HostId,
    /// Payload in bytes; at least 1.
    pub size: u64,
    /// Its traffic class.
    pub class: ClassId,
    /// The query that it answers, if it is part of an incast.
    pub query: Option<Query>,
    /// Number of the flow among those of its class and sender: it stands for the ports of the connection.
    pub connection: u32,
    /// When it should be delivered, counted from `start`.
    pub deadline: Option<Span>,
    /// Whether it counts in the results: it arrived after the warm-up.
    pub measured: bool,
    /// The way between its hosts, which the network decides: workloads leave it as it is by default.
    pub path: PathFacts,
}

/// What a host may know of the way to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// Links from one host to the other.
    pub hops: u8,
    /// Nanoseconds that a packet without payload takes from the receiver to the sender in an idle network.
    pub header_ns: u32,
    /// Round-trip time of a full packet and its ACK in an idle network, if they come back as they go.
    pub rtt: Span,
    /// Bytes that are a bandwidth-delay product for the flow, where those of paths differ and its transport has a size
    /// that follows them; else 0.
    pub bdp: u64,
}

impl PathFacts {
    /// These facts, for a path back on which a packet without payload takes `time`.
    #[must_use]
    pub fn with_header_time(self, time: Span) -> PathFacts {
        PathFacts { header_ns: u32::try_from(time.as_ps() / 1000).unwrap_or(u32::MAX), ..self }
    }
}

const PAGE: usize = 1024;

#[derive(Clone, Copy)]
struct Ends {
    sender: u32,
    receiver: u32,
}

const NOWHERE: u32 = u32::MAX;

struct Page {
    ends: [Ends; PAGE],
    /// Ends that are still set: the page is given back when there are none.
    live: u32,
}

/// Where each active flow keeps its state: the slot of its sender on the source host and of its receiver on the
/// destination host.
///
/// Pages whose flows have all ended are given back, so that the table grows with the active flows and not with the
/// length of the run.
#[derive(Default)]
pub struct FlowTable {
    pages: Vec<Option<Box<Page>>>,
    live_pages: usize,
    peak_pages: usize,
}

impl FlowTable {
    /// An empty table.
    pub fn new() -> FlowTable {
        FlowTable::default()
    }

    /// Slot of the flow's sender on its host; `None` once the sender has ended.
    #[inline]
    pub fn sender(&self, flow: FlowId) -> Option<u32> {
        self.ends(flow).map(|e| e.sender).filter(|&slot| slot != NOWHERE)
    }

    /// Slot of the flow's receiver on its host; `None` once the receiver has ended.
    #[inline]
    pub fn receiver(&self, flow: FlowId) -> Option<u32> {
        self.ends(flow).map(|e| e.receiver).filter(|&slot| slot != NOWHERE)
    }

    /// Calls the flow's entry into the cache.
    #[inline]
    pub fn prefetch(&self, flow: FlowId) {
        if let Some(Some(page)) = self.pages.get(flow.0 as usize / PAGE) {
            prefetch(&page.ends[flow.0 as usize % PAGE]);
        }
    }

    /// Notes the slot of the flow's sender.
    pub fn set_sender(&mut self, flow: FlowId, slot: u32) {
        self.page(flow).live += 1;
        self.page(flow).ends[flow.0 as usize % PAGE].sender = slot;
    }

    /// Notes the slot of the flow's receiver.
    pub fn set_receiver(&mut self, flow: FlowId, slot: u32) {
        self.page(flow).live += 1;
        self.page(flow).ends[flow.0 as usize % PAGE].receiver = slot;
    }

    /// Forgets the flow's sender.
    pub fn clear_sender(&mut self, flow: FlowId) {
        self.page(flow).ends[flow.0 as usize % PAGE].sender = NOWHERE;
        self.release(flow);
    }

    /// Forgets the flow's receiver.
    pub fn clear_receiver(&mut self, flow: FlowId) {
        self.page(flow).ends[flow.0 as usize % PAGE].receiver = NOWHERE;
        self.release(flow);
    }

    /// Largest number of bytes that the table has held.
    pub fn heap_bytes(&self) -> usize {
        self.peak_pages * size_of::<Page>() + self.pages.capacity() * size_of::<Option<Box<Page>>>()
    }

    #[inline]
    fn ends(&self, flow: FlowId) -> Option<Ends> {
        let page = self.pages.get(flow.0 as usize / PAGE)?.as_ref()?;
        Some(page.ends[flow.0 as usize % PAGE])
    }

    fn page(&mut self, flow: FlowId) -> &mut Page {
        let at = flow.0 as usize / PAGE;
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let page = &mut self.pages[at];
        if page.is_none() {
            self.live_pages += 1;
            self.peak_pages = self.peak_pages.max(self.live_pages);
        }
        page.get_or_insert_with(|| {
            Box::new(Page { ends: [Ends { sender: NOWHERE, receiver: NOWHERE }; PAGE], live: 0 })
        })
    }

    fn release(&mut self, flow: FlowId) {
        let page = self.page(flow);
        page.live -= 1;
        if page.live == 0 {
            self.pages[flow.0 as usize / PAGE] = None;
            self.live_pages -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_flows_leave_nothing_behind() {
        let mut table = FlowTable::new();
        for i in 0..100_000 {
            let flow = FlowId(i);
            table.set_sender(flow, i);
            table.set_receiver(flow, i + 1);
            assert_eq!((table.sender(flow), table.receiver(flow)), (Some(i), Some(i + 1)));
            table.clear_receiver(flow);
            assert_eq!((table.sender(flow), table.receiver(flow)), (Some(i), None));
            table.clear_sender(flow);
        }
        assert_eq!(table.sender(FlowId(5)), None);
        assert_eq!(table.peak_pages, 1);
    }
}
