//! How fast a flow could be in an idle network.
//!
//! Store and forward: a link passes a packet on when it has all of it. With f(k, i) for the moment at which packet k
//! has left link i, propagation not counted, and t_i(s) for the time that s bytes take on link i, rounded as the links
//! of the simulator round it:
//!
//! f(k, i) = max(f(k, i − 1), f(k − 1, i)) + t_i(s_k)
//!
//! A flow is n − 1 full packets and one with the rest. For the full ones the recursion has the solution f(k, i) =
//! Σ_{j≤i} t_j + (k − 1)·max_{j≤i} t_j, and the last one is followed link by link, so that the cost is that of the
//! links and not of the packets.

use tailcut_base::{BitRate, HEADER_BYTES, MSS_BYTES, MTU_BYTES, Span, packets};
use tailcut_model::PathFacts;

/// One link of a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hop {
    /// Its rate.
    pub rate: BitRate,
    /// Its delay, with the processing at a switch at its end.
    pub delay: Span,
}

/// The links from one host to another, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Route {
    /// The links.
    pub links: Vec<Hop>,
}

impl Route {
    /// Sum of the delays of the links.
    pub fn delay(&self) -> Span {
        self.links.iter().map(|link| link.delay).sum()
    }

    /// Time that one packet of `bytes` on the wire takes from end to end.
    pub fn packet_time(&self, bytes: u64) -> Span {
        self.delay() + self.links.iter().map(|link| link.rate.tx_time(bytes)).sum()
    }

    /// What the hosts at its ends may know of it.
    pub fn facts(&self) -> PathFacts {
        let header = self.packet_time(HEADER_BYTES);
        let rtt = self.packet_time(MTU_BYTES) + header;
        let hops = u8::try_from(self.links.len()).unwrap_or(u8::MAX);
        PathFacts { hops, rtt, ..PathFacts::default() }.with_header_time(header)
    }

    /// [`ideal_fct`] on this route.
    pub fn ideal_fct(&self, size: u64) -> Span {
        ideal_fct(&self.links, size)
    }

    /// [`fct_floor`] on this route.
    pub fn fct_floor(&self, size: u64) -> Span {
        fct_floor(&self.links, size)
    }
}

/// Transmission times on one link.
#[derive(Clone, Copy)]
struct TxTimes {
    full: Span,
    last: Span,
}

/// The transmission times on each link. Neighbours often have one rate, and a division costs more than all the rest.
fn tx_times(links: &[Hop], last_bytes: u64) -> impl Iterator<Item = TxTimes> {
    let mut known: Option<(BitRate, TxTimes)> = None;
    links.iter().map(move |link| match known {
        Some((rate, times)) if rate == link.rate => times,
        _ => {
            let times = TxTimes { full: link.rate.tx_time(MTU_BYTES), last: link.rate.tx_time(last_bytes) };
            known = Some((link.rate, times));
            times
        }
    })
}

/// Packets of a flow of `size` payload bytes before the last one, and the bytes of the last one on the wire.
fn split(size: u64) -> (u64, u64) {
    let full = packets(size) - 1;
    (full, size - full * MSS_BYTES + HEADER_BYTES)
}

/// Time from the start of a flow of `size` payload bytes to its last byte at the receiver, if it has the links to
/// itself and its packets follow each other in order: the ideal completion time that a slowdown is relative to.
///
/// It is exact to the picosecond, and no flow whose packets stay in order is faster. Where no link is slower than the
/// last one it equals the usual formula Σ p_i + Σ 8·P1/c_i + 8·(W − P1)/c_min, with P1 the bytes of the first packet
/// and W those of all packets on the wire. Otherwise the formula exceeds it, by less than the time of one packet: a
/// short last packet need not wait at the end of the route.
///
/// A flow whose packets overtake each other can be faster, because a short last packet then need not arrive last: by no
/// more than the time that this packet takes on the last link, if no link between is slower than the first or the last.
/// See [`fct_floor`].
///
/// `links` of no link give zero.
pub fn ideal_fct(links: &[Hop], size: u64) -> Span {
    let (full_packets, last_bytes) = split(size);
    let (mut delay, mut sum, mut longest, mut last_left) = (Span::ZERO, Span::ZERO, Span::ZERO, Span::ZERO);
    for (link, tx) in links.iter().zip(tx_times(links, last_bytes)) {
        delay += link.delay;
        if full_packets > 0 {
            sum += tx.full;
            longest = longest.max(tx.full);
            last_left = last_left.max(sum + longest * (full_packets - 1));
        }
        last_left += tx.last;
    }
    delay + last_left
}

/// A time that no flow of `size` payload bytes can undercut on routes of these rates, whatever happens between: packets
/// may take different ways of the same length and overtake each other at switches. It is the bound for a check that a
/// run was possible; at most [`ideal_fct`].
///
/// Two facts remain. The sender's link carries the packets one after another and each for the first time in order; so
/// packet k reaches the last link no earlier than r_k, its end on the first link and its own time on the links between.
/// The receiver's link carries one packet at a time; so the packets that reach it at r_k or later take until
/// r_k + Σ_{j: r_j ≥ r_k} t(s_j). The bound is the largest of these. It is met when every packet has links of its own
/// between the first and the last.
pub fn fct_floor(links: &[Hop], size: u64) -> Span {
    if links.len() < 2 {
        return ideal_fct(links, size);
    }
    let (end, delay) = (links.len() - 1, links.iter().map(|link| link.delay).sum::<Span>());
    let (inner, mut known) = (&links[1..end], None);
    let between = |bytes: u64| {
        // Neighbours often have one rate.
        let time = |link: &Hop| match known {
            Some((rate, of, time)) if (rate, of) == (link.rate, bytes) => time,
            _ => {
                let time = link.rate.tx_time(bytes);
                known = Some((link.rate, bytes, time));
                time
            }
        };
        Some(delay + inner.iter().map(time).sum())
    };
    floor_between(links[0].rate, between, links[end].rate, size).expect("each packet takes a time between")
}

/// As [`fct_floor`], where a packet of so many bytes on the wire takes at least the time `between` from the end of its
/// first link to the beginning of its last one, with the delays of all links; `None` if no packet comes there.
pub(crate) fn floor_between(
    first: BitRate,
    mut between: impl FnMut(u64) -> Option<Span>,
    last: BitRate,
    size: u64,
) -> Option<Span> {
    let (full_packets, last_bytes) = split(size);
    let times = |of: &mut dyn FnMut(u64) -> Option<Span>| Some(TxTimes { full: of(MTU_BYTES)?, last: of(last_bytes)? });
    let between = times(&mut between)?;
    let first = times(&mut |bytes| Some(first.tx_time(bytes)))?;
    let at_last = times(&mut |bytes| Some(last.tx_time(bytes)))?;

    // When the last packet reaches the last link, and how many full packets do so no later.
    let last_ready = first.full * full_packets + first.last + between.last;
    let no_later = match last_ready.as_ps().checked_sub(between.full.as_ps()) {
        Some(ps) => (ps / first.full.as_ps()).min(full_packets),
        None => 0,
    };
    let mut floor = last_ready + at_last.last + at_last.full * (full_packets - no_later);
    // Full packets are ready at equal distances, so that the largest bound is at one end of those before the last
    // packet or at one end of those after it.
    let mut from_full = |k: u64, then_last: Span| {
        let ready = first.full * k + between.full;
        floor = floor.max(ready + at_last.full * (full_packets - k + 1) + then_last);
    };
    if no_later > 0 {
        from_full(1, at_last.last);
        from_full(no_later, at_last.last);
    }
    if no_later < full_packets {
        from_full(no_later + 1, Span::ZERO);
        from_full(full_packets, Span::ZERO);
    }
    Some(floor)
}

/// How far a flow has come on a path: all of it on which its time depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Progress {
    full_packets: u64,
    last_bytes: u64,
    /// Headers before the data, and when one of them would be here.
    headers: u64,
    header: Span,
    delay: Span,
    /// What a full packet took on all links.
    sum: Span,
    /// What it took on the slowest of them.
    longest: Span,
    /// When the last packet has left the last link, without delays.
    last_left: Span,
}

impl Progress {
    /// A flow of `size` payload bytes, after so many packets of a header, at its beginning.
    pub(crate) fn new(size: u64, headers: u64) -> Progress {
        let (full_packets, last_bytes) = split(size);
        let [header, delay, sum, longest, last_left] = [Span::ZERO; 5];
        Progress { full_packets, last_bytes, headers, header, delay, sum, longest, last_left }
    }

    /// After one more link.
    pub(crate) fn over(mut self, link: Hop) -> Progress {
        self.delay += link.delay;
        self.header += link.delay + link.rate.tx_time(HEADER_BYTES);
        if self.full_packets > 0 {
            let full = link.rate.tx_time(MTU_BYTES);
            self.sum += full;
            self.longest = self.longest.max(full);
            self.last_left = self.last_left.max(self.sum + self.longest * (self.full_packets - 1));
        }
        self.last_left += link.rate.tx_time(self.last_bytes);
        self
    }

    /// Whether the flow is no later than `other` after any further links.
    pub(crate) fn is_no_later(&self, other: &Progress) -> bool {
        self.delay + self.last_left <= other.delay + other.last_left
            && self.delay + self.sum <= other.delay + other.sum
            && self.longest <= other.longest
            && (self.headers == 0 || self.header <= other.header)
    }

    /// The time of the flow, if this is the end of its path.
    pub(crate) fn time(&self) -> Span {
        self.delay + self.last_left + self.header * self.headers
    }

    /// A time that is not undercut if a packet as long as the last one takes at least `rest` from here on.
    pub(crate) fn with_last(&self, rest: impl FnOnce(u64) -> Option<Span>) -> Option<Span> {
        Some(self.time() + rest(self.last_bytes)?)
    }

    /// A time that is not undercut if a full packet takes at least `rest` from here on, and one as long as the last one
    /// as well on the last link; zero if there is no full packet.
    pub(crate) fn with_full(&self, rest: impl FnOnce(u64, u64) -> Option<Span>) -> Option<Span> {
        if self.full_packets == 0 {
            return Some(Span::ZERO);
        }
        let full = self.delay + self.sum + self.longest * (self.full_packets - 1);
        Some(full + self.header * self.headers + rest(MTU_BYTES, self.last_bytes)?)
    }
}

/// A flow whose packets are spread over links side by side, which each of them takes once.
pub(crate) struct Spread {
    full_packets: u64,
    last_bytes: u64,
    /// For each link what a packet takes on it, and elsewhere at least.
    links: Vec<(TxTimes, TxTimes)>,
}

impl Spread {
    /// A flow of `size` payload bytes, without links.
    pub(crate) fn new(size: u64) -> Spread {
        let (full_packets, last_bytes) = split(size);
        Spread { full_packets, last_bytes, links: Vec::new() }
    }

    /// Adds a link. A packet of so many bytes on the wire takes at least `elsewhere` beside it; `None` if none can.
    pub(crate) fn add(&mut self, rate: BitRate, elsewhere: impl Fn(u64) -> Option<Span>) {
        let times =
            |of: &dyn Fn(u64) -> Option<Span>| Some(TxTimes { full: of(MTU_BYTES)?, last: of(self.last_bytes)? });
        let own = times(&|bytes| Some(rate.tx_time(bytes)));
        self.links.extend(own.zip(times(&elsewhere)));
    }

    /// The least time in which the links can carry all packets, each link one at a time.
    pub(crate) fn least(&self) -> Span {
        let Some((own, elsewhere)) = self.links.first() else { return Span::ZERO };
        // All on the first link is enough, and so is any longer time.
        let most = own.full * self.full_packets + own.last + elsewhere.full.max(elsewhere.last);
        let (mut too_short, mut enough) = (0, most.as_ps());
        if self.are_carried_in(0) {
            return Span::ZERO;
        }
        while enough - too_short > 1 {
            let middle = too_short + (enough - too_short) / 2;
            if self.are_carried_in(middle) {
                enough = middle;
            } else {
                too_short = middle;
            }
        }
        Span::from_ps(enough)
    }

    /// Whether so many picoseconds may suffice.
    fn are_carried_in(&self, ps: u64) -> bool {
        let full = |own: &TxTimes, taken: Span| ps.checked_sub(taken.as_ps()).map(|left| left / own.full.as_ps());
        let all: u128 =
            self.links.iter().map(|(own, elsewhere)| u128::from(full(own, elsewhere.full).unwrap_or(0))).sum();
        // The last packet goes over one of them.
        self.links.iter().any(|(own, elsewhere)| {
            let beside = full(own, own.last + elsewhere.last.min(elsewhere.full));
            let before = full(own, elsewhere.full).unwrap_or(0);
            let is_in_time = own.last + elsewhere.last <= Span::from_ps(ps);
            beside.is_some_and(|beside| {
                is_in_time && all - u128::from(before) + u128::from(beside) >= u128::from(self.full_packets)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::wire_bytes;

    use super::*;

    /// Rates at which each byte takes a whole number of picoseconds, and some at which it does not.
    const EXACT_GBPS: [u64; 6] = [1, 2, 10, 40, 100, 400];
    const ODD_BPS: [u64; 4] = [3_000_000_000, 7_777_777_777, 10_000_000_000, 999_999_937];

    fn hop(bps: u64, delay_ps: u64) -> Hop {
        Hop { rate: BitRate::from_bps(bps).unwrap(), delay: Span::from_ps(delay_ps) }
    }

    fn gbps(rates: &[u64]) -> Vec<Hop> {
        rates.iter().map(|rate| hop(rate * 1_000_000_000, 1_000)).collect()
    }

    fn wire_sizes(size: u64) -> Vec<u64> {
        let (full, last) = split(size);
        (0..full).map(|_| MTU_BYTES).chain([last]).collect()
    }

    /// The recursion itself. `wait` is what a packet waits for before a link beside its own flow.
    fn in_order(links: &[Hop], size: u64, mut wait: impl FnMut() -> Span) -> Span {
        let mut left = vec![Span::ZERO; links.len() + 1];
        for bytes in wire_sizes(size) {
            left[0] = Span::ZERO;
            for (i, link) in links.iter().enumerate() {
                left[i + 1] = left[i].max(left[i + 1]) + wait() + link.rate.tx_time(bytes);
            }
        }
        left[links.len()] + links.iter().map(|link| link.delay).sum()
    }

    /// Every packet has links of its own between the first and the last, and waits for `wait` on the way; the last link
    /// sends what has come first.
    fn overtaking(links: &[Hop], size: u64, mut wait: impl FnMut() -> Span) -> Span {
        let (end, inner) = (links.len() - 1, 1..links.len() - 1);
        let mut left_first = Span::ZERO;
        let mut ready = Vec::new();
        for bytes in wire_sizes(size) {
            left_first += links[0].rate.tx_time(bytes);
            let between: Span = links[inner.clone()].iter().map(|link| link.rate.tx_time(bytes)).sum();
            ready.push((left_first + between + wait(), bytes));
        }
        ready.sort();
        let mut done = Span::ZERO;
        for (ready, bytes) in ready {
            done = done.max(ready) + links[end].rate.tx_time(bytes);
        }
        done + links.iter().map(|link| link.delay).sum()
    }

    fn any_links() -> impl Strategy<Value = Vec<Hop>> {
        let rate = prop_oneof![
            prop::sample::select(EXACT_GBPS.to_vec()).prop_map(|gbps| gbps * 1_000_000_000),
            prop::sample::select(ODD_BPS.to_vec()),
        ];
        prop::collection::vec((rate, 0u64..20_000_000).prop_map(|(bps, delay)| hop(bps, delay)), 2..7)
    }

    fn any_size() -> impl Strategy<Value = u64> {
        prop_oneof![1u64..5_000, 1u64..400_000, (1u64..100).prop_map(|n| n * MSS_BYTES)]
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_recursion(links in any_links(), size in any_size()) {
            prop_assert_eq!(ideal_fct(&links, size), in_order(&links, size, || Span::ZERO));
        }

        #[test]
        fn the_floor_is_met_where_every_packet_has_its_own_way(links in any_links(), size in any_size()) {
            prop_assert_eq!(fct_floor(&links, size), overtaking(&links, size, || Span::ZERO));
            prop_assert!(fct_floor(&links, size) <= ideal_fct(&links, size));
        }

        #[test]
        fn waiting_never_makes_a_flow_faster(
            links in any_links(),
            size in any_size(),
            waits in prop::collection::vec(0u64..3_000_000, 1..50),
        ) {
            let mut next = waits.iter().cycle();
            let mut wait = || Span::from_ps(*next.next().unwrap());
            prop_assert!(in_order(&links, size, &mut wait) >= ideal_fct(&links, size));
            prop_assert!(overtaking(&links, size, &mut wait) >= fct_floor(&links, size));
        }

        #[test]
        fn the_usual_formula_holds_where_the_last_link_is_the_slowest(
            mut rates in prop::collection::vec(prop::sample::select(EXACT_GBPS.to_vec()), 1..7),
            size in any_size(),
        ) {
            rates.push(*rates.iter().min().unwrap());
            let links = gbps(&rates);
            prop_assert_eq!(ideal_fct(&links, size), usual_formula(&links, size));
        }

        #[test]
        fn overtaking_gains_no_more_than_the_last_packet(
            ends in prop::collection::vec(prop::sample::select(vec![1u64, 2, 10]), 2),
            inner in prop::collection::vec(prop::sample::select(vec![10u64, 40, 100]), 0..4),
            size in any_size(),
        ) {
            let links = gbps(&[&ends[..1], &inner[..], &ends[1..]].concat());
            let last = BitRate::gbps(ends[1]).tx_time(split(size).1);
            prop_assert!(ideal_fct(&links, size) <= fct_floor(&links, size) + last);
        }

        #[test]
        fn the_usual_formula_is_never_off_by_a_packet(
            rates in prop::collection::vec(prop::sample::select(EXACT_GBPS.to_vec()), 1..7),
            size in any_size(),
        ) {
            let links = gbps(&rates);
            let slowest = BitRate::gbps(*rates.iter().min().unwrap());
            let (exact, formula) = (ideal_fct(&links, size), usual_formula(&links, size));
            prop_assert!(exact <= formula && formula < exact + slowest.tx_time(MTU_BYTES), "{exact} {formula}");
        }
    }

    fn usual_formula(links: &[Hop], size: u64) -> Span {
        let first = size.min(MSS_BYTES) + HEADER_BYTES;
        let slowest = links.iter().map(|link| link.rate).min().unwrap();
        let alone: Span = links.iter().map(|link| link.delay + link.rate.tx_time(first)).sum();
        alone + slowest.tx_time(wire_bytes(size) - first)
    }

    #[test]
    fn hand_computed_times() {
        let route = Route { links: vec![hop(10_000_000_000, 10_000_000); 4] };
        assert_eq!(route.ideal_fct(1460), Span::from_ps(44_800_000));
        // 100 packets: the last arrives 99 transmissions after the first.
        assert_eq!(route.ideal_fct(146_000), Span::from_ps(44_800_000 + 99 * 1_200_000));
        // One byte more: a packet of 41 bytes, 32.8 ns behind the last full one.
        assert_eq!(route.ideal_fct(146_001), Span::from_ps(44_800_000 + 99 * 1_200_000 + 32_800));
        assert_eq!(route.packet_time(40), Span::from_ps(40_000_000 + 4 * 32_000));
        assert_eq!(ideal_fct(&[], 1), Span::ZERO);
    }

    /// On four links of 10 Gb/s a packet of 41 bytes behind a full one is at the last link long before it, if it goes
    /// another way.
    #[test]
    fn a_short_last_packet_that_overtakes_beats_the_ideal_but_not_the_floor() {
        let links = gbps(&[10, 10, 10, 10]);
        let delay = Span::from_ps(4_000);
        assert_eq!(ideal_fct(&links, 1461), delay + Span::from_ps(4 * 1_200_000 + 32_800));
        assert_eq!(fct_floor(&links, 1461), delay + Span::from_ps(4 * 1_200_000));
        assert_eq!(overtaking(&links, 1461, || Span::ZERO), fct_floor(&links, 1461));
    }

    #[test]
    fn whole_packets_have_nothing_to_gain_from_overtaking() {
        for rates in [[10, 10, 10, 10], [10, 40, 40, 10], [1, 100, 10, 1]] {
            let links = gbps(&rates);
            for n in [1, 2, 3, 50] {
                assert_eq!(fct_floor(&links, n * MSS_BYTES), ideal_fct(&links, n * MSS_BYTES));
            }
        }
    }
}
