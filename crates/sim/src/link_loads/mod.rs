//! What each link is offered: one computation, which `check`, warnings, notes in results, `advise` and forecasts of
//! cost read.
//!
//! Offered are payload and headers of the flows, in expectation: of generated traffics as their patterns of endpoints
//! say, of explicit lists flow by flow. Every node passes on equal parts to all its next hops, as path choices do on
//! average. Links have their own rates. Listed failures hold from their moment to their repair, and the ways are those
//! of the time; failures that are drawn are left out. ACKs, retransmissions and what is lost on the way are not
//! counted.
//!
//! # When a link is overloaded
//!
//! The backlog of a link is taken as a fluid: the flows of lists arrive as a whole when they start, generated traffic
//! arrives at its mean rate, and the link drains both at its rate.
//!
//! - Generated traffic overloads a link on which it leaves a backlog when arrivals end: at a constant rate, if that is
//!   above the rate of the link. The backlog then grows with the length of the run. Where rates or ways change during
//!   the run (`from`, `until`, failures), a backlog that takes less than [`OUTLASTS`] of the time of arrivals to drain
//!   is a passing one.
//! - The flows of explicit lists that start within [`ROUND_TRIPS`] round trips are a burst, as an incast with its
//!   jitter is. They overload a link, beside the generated traffic of that time, if the backlog just before the last
//!   burst takes more than [`OUTLASTS`] of the time since the link was last idle to drain, if it has grown during the
//!   second half of this time, and if this time is at least [`FLOWS`] mean flows long, by the time that one takes on
//!   the link. If the flows before have more bytes than those since then, the time counts as so much longer as all
//!   have: among many flows at random some leave a backlog for a while. How long the link was idle, and when a flow
//!   without many bytes started, makes no difference. The last burst itself does not count, nor does the only one,
//!   whatever their sizes.
//!
//! An overloaded link is offered, in the time since it was last idle, so many times what it carries.

mod fluid;
mod spread;

use std::collections::BTreeMap;

use tailcut_base::{HostId, IdVec, Instant, PortId, Seeds, Span};
use tailcut_flow::Hop;
use tailcut_topology::path::PathConfig;
use tailcut_topology::{Network, Node, Router, Tier};
use tailcut_workload::{ListedBytes, Offered, Stream};

use self::fluid::{Backlog, Busy, Net};
use self::spread::{Rates, spread};
use crate::failures::Outages;
use crate::ways::Ways;

/// The part of the time of arrivals by which a backlog has to outlast them: one in twenty. Flows that arrive at random
/// at 95 % of a link's rate leave less after some hundreds of them.
const OUTLASTS: f64 = 0.05;

/// Mean flows that the time since a link was idle has to be long: with fewer, the flows share the link, and each half
/// of the time has no two of them to grow by.
const FLOWS: f64 = 4.0;

/// Round trips within which flows start together: congestion control needs one to react, and some to settle.
const ROUND_TRIPS: f64 = 10.0;

/// Links of the ways between pairs of hosts that are kept, so that they need not be looked for again.
const MOST_HOPS: usize = 1 << 22;

/// A difference of loads that is one of rounding.
const ROUNDING: f64 = 1e-9;

/// What each link is offered.
#[derive(Debug)]
pub struct LinkLoads {
    links: IdVec<PortId, LinkLoad>,
    kinds: Vec<KindLoad>,
}

/// What one link is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// Payload and headers over the whole run, in bytes.
    pub bytes: f64,
    /// What arrives as a fraction of what the link can carry in that time: of generated traffic over the time of
    /// arrivals while the link is up; of explicit lists from the first to the last start at this link, beside the
    /// generated traffic of that time, if that is longer than a mean flow takes. The larger of the two.
    pub share: f64,
    /// How many times what it carries the link is offered since it was last idle, if it is overloaded.
    pub overload: Option<f64>,
}

/// Links that begin and end alike.
#[derive(Clone, Debug, PartialEq)]
pub struct KindLoad {
    /// The busiest of them.
    pub busiest: PortId,
    /// Its name in a sentence: `link to host 3`, `link leaf0->spine1 from tier leaf to tier spine`.
    pub name: String,
    /// The share of the busiest, as in [`LinkLoad::share`].
    pub share: f64,
    /// The mean share of all of them, by what they carry.
    pub mean: f64,
    /// The one that is overloaded most, by its name, if any is, and how many times what it carries it is offered.
    pub overload: Option<(String, f64)>,
}

/// Where a link begins and ends: the tier of a switch; `None` for a host.
type Ends = (Option<Tier>, Option<Tier>);

/// Rates that hold for a time.
struct Flowing {
    from: f64,
    until: f64,
    rates: Rates,
}

/// Arrivals at links over time, without those of lists.
struct Rain<'a> {
    network: &'a Network,
    outages: &'a Outages,
    flowing: Vec<Flowing>,
    /// Moments at which rates change.
    bounds: Vec<f64>,
}

/// The rates of one link.
struct AtLink<'a>(&'a Rain<'a>, PortId);

/// The load that lists offer to one link.
#[derive(Clone, Copy)]
struct Listed {
    first: f64,
    last: f64,
    bits: f64,
    flows: f64,
    backlog: Backlog,
    /// The start of the last burst.
    burst: f64,
    /// The backlog as it was just before that, and the bits that had arrived.
    before: (f64, Busy, f64),
    /// A moment, and what the backlog is then, in bits.
    probe: (f64, f64),
}

fn seconds(at: Instant) -> f64 {
    at.as_secs_f64()
}

impl LinkLoads {
    /// What the links of a network are offered, with these failures.
    pub(crate) fn of(network: &Network, outages: &Outages, offered: &Offered) -> LinkLoads {
        let rain = Rain::of(network, outages, &offered.streams);
        let mut links: IdVec<PortId, LinkLoad> = network.ports().ids().map(|port| rain.load(port)).collect();
        rain.add_lists(&offered.listed, &mut links);
        let kinds = kinds(network, &links);
        LinkLoads { links, kinds }
    }

    /// What the link behind a port is offered.
    pub fn of_port(&self, port: PortId) -> LinkLoad {
        self.links[port]
    }

    /// The links of each kind that are offered anything: those from hosts, those to hosts, those between tiers.
    pub fn kinds(&self) -> &[KindLoad] {
        &self.kinds
    }

    /// The largest share of any link.
    pub fn busiest(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.share).fold(0.0, f64::max)
    }
}

impl<'a> Rain<'a> {
    fn of(network: &'a Network, outages: &'a Outages, streams: &[Stream]) -> Rain<'a> {
        let mut together: BTreeMap<(Instant, Instant), Vec<&Stream>> = BTreeMap::new();
        for stream in streams {
            together.entry((stream.from, stream.until)).or_default().push(stream);
        }
        let mut flowing: Vec<Flowing> = Vec::new();
        for ((from, until), streams) in together {
            let mut known: BTreeMap<Option<usize>, usize> = BTreeMap::new();
            for (begin, end, router) in routes(outages) {
                let (begin, end) = (begin.max(from), end.min(until));
                if begin >= end {
                    continue;
                }
                let rates = match known.get(&router) {
                    Some(&same) => flowing[same].rates.clone(),
                    None => spread(network, router_of(network, outages, router), &streams),
                };
                known.insert(router, flowing.len());
                flowing.push(Flowing { from: seconds(begin), until: seconds(end), rates });
            }
        }
        let of_outages = outages.listed_changes().iter().map(|(at, _)| seconds(*at));
        let mut bounds: Vec<f64> = flowing.iter().flat_map(|of| [of.from, of.until]).chain(of_outages).collect();
        bounds.sort_unstable_by(f64::total_cmp);
        bounds.dedup();
        Rain { network, outages, flowing, bounds }
    }

    /// The rate of a link, and what it is offered at a moment; both zero while it is down.
    fn at(&self, port: PortId, now: f64) -> (f64, f64) {
        if !self.outages.is_empty() && self.outages.is_down(port, Instant::ZERO + Span::from_secs_f64(now)) {
            return (0.0, 0.0);
        }
        let of = self.flowing.iter().filter(|of| of.from <= now && now < of.until);
        (self.network.ports()[port].rate.as_bps() as f64, of.map(|of| of.rates[port]).sum())
    }

    /// The moment after this one at which rates change.
    fn next_bound(&self, now: f64) -> f64 {
        let next = self.bounds.partition_point(|&bound| bound <= now);
        self.bounds.get(next).copied().unwrap_or(f64::INFINITY)
    }

    /// Bits that a link can carry and bits that it is offered between two moments.
    fn sums(&self, port: PortId, from: f64, until: f64) -> (f64, f64) {
        let (mut now, mut sums) = (from, (0.0, 0.0));
        while now < until {
            let end = self.next_bound(now).min(until);
            let (carries, offered) = self.at(port, now);
            sums = (sums.0 + carries * (end - now), sums.1 + offered * (end - now));
            now = end;
        }
        sums
    }

    /// The load that generated traffic offers to a link.
    fn load(&self, port: PortId) -> LinkLoad {
        let end = self.flowing.iter().map(|of| of.until).fold(0.0, f64::max);
        let (carries, offered) = self.sums(port, 0.0, end);
        if offered <= 0.0 {
            return LinkLoad::default();
        }
        let rate = self.network.ports()[port].rate.as_bps() as f64;
        let mut backlog = Backlog::at(0.0);
        backlog.advance(end, &AtLink(self, port));
        let (lasts, busy) = (backlog.bits / rate, end - backlog.busy.since);
        let pieces = std::iter::successors(Some(0.0), |&now| Some(self.next_bound(now)));
        let mut pieces = pieces.take_while(|&now| now < end).map(|now| self.at(port, now));
        let is_steady = pieces.next().is_none_or(|first| pieces.all(|piece| piece == first));
        let is_over = lasts > busy * ROUNDING && (is_steady || lasts > OUTLASTS * end);
        LinkLoad { bytes: offered / 8.0, share: offered / carries, overload: is_over.then(|| 1.0 + lasts / busy) }
    }

    /// Adds what the flows of lists offer.
    fn add_lists(&self, flows: &[ListedBytes], links: &mut IdVec<PortId, LinkLoad>) {
        if flows.is_empty() {
            return;
        }
        let mut listed: IdVec<PortId, Option<Listed>> = links.iter().map(|_| None).collect();
        let together = ROUND_TRIPS * self.network.rtt(HostId(0), HostId(self.network.hosts() - 1)).as_secs_f64();
        self.go_through(flows, |port, start, bits, part| {
            let listed = listed[port].get_or_insert_with(|| Listed::new(start));
            listed.add(start, bits, part, together, &AtLink(self, port));
        });
        let mut probes: BTreeMap<PortId, Listed> = BTreeMap::new();
        for (port, listed) in listed.iter_enumerated() {
            let Some(listed) = listed else { continue };
            let rate = self.network.ports()[port].rate.as_bps() as f64;
            let load = &mut links[port];
            load.bytes += listed.bits / 8.0;
            let time = listed.last - listed.first;
            if time * rate * listed.flows >= listed.bits && time > 0.0 {
                let (carries, beside) = self.sums(port, listed.first, listed.last);
                if carries > 0.0 {
                    load.share = load.share.max((beside + listed.bits) / carries);
                }
            }
            let (bits, busy, arrived) = listed.before;
            let span = listed.burst - busy.since;
            // A long time at which most bytes had not arrived says nothing of how many there were later.
            let lasts = bits / rate * busy.sizes > OUTLASTS * span * arrived;
            if load.overload.is_none() && lasts && span * rate * busy.flows >= FLOWS * busy.sizes {
                let probe = (busy.since + span / 2.0, 0.0);
                probes.insert(port, Listed { probe, ..Listed::new(listed.first) });
            }
        }
        if probes.is_empty() {
            return;
        }
        // A second time, with a look at the middle of the time since each link was idle.
        self.go_through(flows, |port, start, bits, part| {
            if let Some(listed) = probes.get_mut(&port) {
                listed.add(start, bits, part, together, &AtLink(self, port));
            }
        });
        for (port, listed) in probes {
            let (bits, busy, _) = listed.before;
            if bits > listed.probe.1 {
                let rate = self.network.ports()[port].rate.as_bps() as f64;
                links[port].overload = Some(1.0 + bits / rate / (listed.burst - busy.since));
            }
        }
    }

    /// Calls `add` for each link of each flow, in the order of their starts: with its start, its size in bits, and the
    /// part of it that takes this link.
    fn go_through(&self, flows: &[ListedBytes], mut add: impl FnMut(PortId, f64, f64, f64)) {
        let network = self.network;
        let mut ways = Ways::new(network, &PathConfig::Spray(Default::default()), Seeds::new(0));
        let mut known: BTreeMap<(HostId, HostId), Vec<Hop>> = BTreeMap::new();
        let mut hops = 0;
        let mut routes = routes(self.outages).peekable();
        for flow in flows {
            while let Some((_, _, router)) = routes.next_if(|(from, _, _)| *from <= flow.start) {
                ways.change(router_of(network, self.outages, router));
                known.clear();
            }
            let way = known.entry((flow.src, flow.dst)).or_insert_with(|| {
                let mut way = Vec::new();
                ways.evenly(flow.src, flow.dst, &mut way);
                hops += way.len();
                way
            });
            let bits = flow.bytes as f64 * 8.0;
            way.iter().for_each(|hop| add(PortId(hop.link), seconds(flow.start), bits, hop.share));
            if hops > MOST_HOPS {
                known.clear();
                hops = 0;
            }
        }
    }
}

impl Net for AtLink<'_> {
    fn net(&self, now: f64) -> (f64, f64) {
        let AtLink(rain, port) = *self;
        let (carries, offered) = rain.at(port, now);
        (offered - carries, rain.next_bound(now))
    }
}

impl Listed {
    fn new(first: f64) -> Listed {
        let backlog = Backlog::at(first);
        let before = (0.0, backlog.busy, 0.0);
        let probe = (f64::INFINITY, 0.0);
        Listed { first, last: first, bits: 0.0, flows: 0.0, backlog, burst: first, before, probe }
    }

    /// Adds a part of a flow. Those that start within the time `together` of each other are a burst.
    fn add(&mut self, start: f64, bits: f64, part: f64, together: f64, rates: &AtLink<'_>) {
        if start > self.last {
            if self.last < self.probe.0 && self.probe.0 <= start {
                self.backlog.advance(self.probe.0, rates);
                self.probe.1 = self.backlog.bits;
            }
            self.backlog.advance(start, rates);
            if start - self.burst > together {
                self.before = (self.backlog.bits, self.backlog.busy, self.bits);
                self.burst = start;
            }
            self.last = start;
        }
        self.bits += bits * part;
        self.flows += part;
        self.backlog.add(bits, part);
    }
}

/// From when until when which ways are taken: those of the network, or those of the router of this number.
fn routes(outages: &Outages) -> impl Iterator<Item = (Instant, Instant, Option<usize>)> {
    let changes: Vec<(Instant, Option<usize>)> = std::iter::once((Instant::ZERO, None))
        .chain(outages.listed_routes().map(|(at, router)| (at, Some(router))))
        .collect();
    let until: Vec<Instant> = changes.iter().skip(1).map(|(at, _)| *at).chain([Instant::MAX]).collect();
    changes
        .into_iter()
        .zip(until)
        .filter(|((from, _), until)| from < until)
        .map(|((from, router), until)| (from, until, router))
}

fn router_of<'a>(network: &'a Network, outages: &'a Outages, router: Option<usize>) -> &'a Router {
    router.map_or(network.router(), |number| outages.listed_router(number))
}

/// The links of each kind.
fn kinds(network: &Network, links: &IdVec<PortId, LinkLoad>) -> Vec<KindLoad> {
    let tier = |node: Node| match node {
        Node::Host(_) => None,
        Node::Switch(switch) => Some(network.switches()[switch].tier),
    };
    let words = |tier: Option<Tier>| match tier {
        Some(tier) => format!("tier `{}`", network.tier_name(tier)),
        None => "hosts".to_owned(),
    };
    let name = |port: PortId| {
        let spec = &network.ports()[port];
        let one = |host: HostId| network.nics(host).len() == 1;
        match (spec.owner, spec.peer) {
            (Node::Host(host), Node::Switch(_)) if one(host) => format!("link from host {}", host.0),
            (Node::Switch(_), Node::Host(host)) if one(host) => format!("link to host {}", host.0),
            (from, to) => {
                format!("link {} from {} to {}", network.port_name(port), words(tier(from)), words(tier(to)))
            }
        }
    };
    let mut of_ends: BTreeMap<Ends, Vec<PortId>> = BTreeMap::new();
    for (port, spec) in network.ports().iter_enumerated() {
        of_ends.entry((tier(spec.owner), tier(spec.peer))).or_default().push(port);
    }
    let kind = |ports: Vec<PortId>| {
        // The first of equally busy ones.
        let largest = |of: &dyn Fn(PortId) -> f64| {
            ports.iter().copied().reduce(|best, next| if of(next) > of(best) * (1.0 + ROUNDING) { next } else { best })
        };
        let busiest = largest(&|port| links[port].share)?;
        let most = largest(&|port| links[port].overload.unwrap_or(0.0))?;
        let rate = |port: PortId| network.ports()[port].rate.as_bps() as f64;
        let rates: f64 = ports.iter().map(|&port| rate(port)).sum();
        let used: f64 = ports.iter().map(|&port| links[port].share * rate(port)).sum();
        let overload = links[most].overload.map(|times| (name(most), times));
        let share = links[busiest].share;
        let kind = KindLoad { busiest, name: name(busiest), share, mean: used / rates, overload };
        (share > 0.0 || kind.overload.is_some()).then_some(kind)
    };
    of_ends.into_values().filter_map(kind).collect()
}
