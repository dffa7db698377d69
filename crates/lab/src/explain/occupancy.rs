//! Who waits in a port, and when.

use std::collections::BTreeMap;

use tailcut_base::{Instant, PortId};
use tailcut_sim::model::DropReason;
use tailcut_sim::trace::{Happened, Seen, Trace};

/// A packet that waited in a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Its flow.
    pub flow: u32,
    /// Its bytes on the wire.
    pub bytes: u64,
    /// From when it waited.
    pub from: Instant,
    /// Until when: it began to leave, or was pushed out.
    pub to: Instant,
    /// Offset of its first byte, if it is data.
    pub seq: Option<u64>,
}

/// All that waited in one port, as far as it was looked at.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    /// In the order in which they came.
    pub stays: Vec<Stay>,
}

impl Occupancy {
    /// Of the port `port`.
    pub fn of(trace: &Trace, port: PortId) -> Occupancy {
        // The same bytes may wait twice, sent again: they are told apart by when they were sent. Where a host has not
        // said that yet, those that came first leave first.
        let mut open: BTreeMap<(u32, u8, u64), Vec<(Instant, usize)>> = BTreeMap::new();
        let mut stays: Vec<Stay> = Vec::new();
        for Seen { at, packet, what, .. } in trace.packets.iter().filter(|seen| seen.port == port) {
            let key = (packet.flow.0, packet.kind.number(), packet.seq);
            let mut ends = |to: Instant| {
                if let Some(copies) = open.get_mut(&key).filter(|copies| !copies.is_empty()) {
                    let own = copies.iter().position(|(sent, _)| *sent == packet.sent).unwrap_or(0);
                    stays[copies.remove(own).1].to = to;
                }
            };
            match *what {
                Happened::Queued { .. } => {
                    open.entry(key).or_default().push((packet.sent, stays.len()));
                    let seq = (packet.kind.number() == 0).then_some(packet.seq);
                    let (flow, bytes) = (packet.flow.0, u64::from(packet.size));
                    stays.push(Stay { flow, bytes, from: *at, to: Instant::MAX, seq });
                }
                Happened::Crossed { left } => ends(left),
                Happened::Dropped(DropReason::PushedOut | DropReason::LinkDown) => ends(*at),
                // It never waited.
                Happened::Dropped(_) | Happened::Made | Happened::Held { .. } => {}
            }
        }
        Occupancy { stays }
    }

    /// Bytes that wait at a moment, by flow.
    pub fn at(&self, now: Instant) -> BTreeMap<u32, u64> {
        let mut waiting = BTreeMap::new();
        for stay in self.stays.iter().filter(|stay| stay.from <= now && now < stay.to) {
            *waiting.entry(stay.flow).or_default() += stay.bytes;
        }
        waiting
    }

    /// Bytes that waited over time, by flow, summed: who filled the port, most first, in byte-seconds.
    pub fn fillers(&self, from: Instant, until: Instant) -> Vec<(u32, f64)> {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for stay in &self.stays {
            let time = stay.to.min(until).saturating_since(stay.from.max(from));
            *sums.entry(stay.flow).or_default() += stay.bytes as f64 * time.as_secs_f64();
        }
        let mut sums: Vec<(u32, f64)> = sums.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        sums
    }

    /// Bytes that wait at each of so many moments from `from` to `until`, evenly spread, by the group of each flow.
    pub fn over_time(
        &self,
        (from, until): (Instant, Instant),
        moments: usize,
        groups: usize,
        group: impl Fn(u32) -> usize,
    ) -> Vec<Vec<u64>> {
        let step = until.saturating_since(from).as_ps() / (moments.max(2) as u64 - 1);
        let mut series = vec![vec![0; moments]; groups];
        if step == 0 {
            return series;
        }
        for stay in &self.stays {
            // The first moment not before it came, and the first not before it left.
            let place = |at: Instant| (at.saturating_since(from).as_ps().div_ceil(step) as usize).min(moments);
            series[group(stay.flow)][place(stay.from)..place(stay.to).max(place(stay.from))]
                .iter_mut()
                .for_each(|bytes| *bytes += stay.bytes);
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::HostId;
    use tailcut_sim::model::{FlowId, Packet};

    use super::*;

    fn stay(flow: u32, from: u64, to: u64) -> Stay {
        Stay { flow, bytes: 100, from: Instant::from_ps(from), to: Instant::from_ps(to), seq: Some(0) }
    }

    #[test]
    fn what_waits_is_counted_from_when_it_comes_until_it_leaves() {
        let occupancy = Occupancy { stays: vec![stay(1, 0, 30), stay(2, 10, 20), stay(1, 10, 40)] };
        assert_eq!(occupancy.at(Instant::from_ps(10)), [(1, 200), (2, 100)].into());
        assert_eq!(occupancy.at(Instant::from_ps(30)), [(1, 100)].into());
        let (from, until) = (Instant::ZERO, Instant::from_ps(40));
        let series = occupancy.over_time((from, until), 5, 2, |flow| usize::from(flow == 2));
        assert_eq!(series, [vec![100, 200, 200, 100, 0], vec![0, 100, 0, 0, 0]]);
        assert_eq!(occupancy.fillers(from, until).iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn of_two_copies_of_the_same_bytes_the_one_that_is_pushed_out_ends_its_own_stay() {
        let ps = Instant::from_ps;
        let seen = |at, sent, what| {
            let packet = Packet::data(FlowId(3), HostId(0), HostId(1), 1460, 1460, 9000, ps(sent));
            Seen { at: ps(at), port: PortId(5), packet, what }
        };
        let trace = Trace {
            packets: vec![
                seen(10, 1, Happened::Queued { bytes: 1500 }),
                seen(20, 2, Happened::Queued { bytes: 3000 }),
                seen(30, 2, Happened::Dropped(DropReason::PushedOut)),
                seen(95, 1, Happened::Crossed { left: ps(90) }),
            ],
            ..Trace::default()
        };
        let stays = Occupancy::of(&trace, PortId(5)).stays;
        assert_eq!(
            stays.iter().map(|stay| (stay.from, stay.to)).collect::<Vec<_>>(),
            [(ps(10), ps(90)), (ps(20), ps(30))]
        );
    }
}
