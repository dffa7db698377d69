//! Bursts at ports: how Smartbuf sees them, and how they are recorded under a memory without an end.
//!
//! Rezaei, PhD thesis (UIC 2021), section 3.5.1 and its Algorithm 2. At each departure the gradient of the port's queue
//! is smoothed; a queue beyond a part of the memory is a burst, and one that falls below a part of its own peak is
//! over.

use tailcut_base::{BitRate, Instant};
use tailcut_model::Invalid;
use tailcut_model::seat::Burst;

use super::float;

/// Refuses what describes no burst.
pub(super) fn check(sigma: f64, beta: f64, weight: f64) -> Result<(), Invalid> {
    let refuse = |path: &str, value: f64, what: &str, help: &str| {
        Err(Invalid::new(path, format!("{value} is no {what}")).help(help))
    };
    if !(sigma > 1.0 && sigma.is_finite()) {
        return refuse(
            "sigma",
            sigma,
            "divisor of the memory that leaves a part of it",
            "expected more than 1, such as 5",
        );
    }
    if !(beta > 0.0 && beta < 1.0) {
        return refuse("beta", beta, "part of a peak", "expected a number between 0 and 1, such as 0.5");
    }
    if !(weight > 0.0 && weight <= 1.0) {
        return refuse(
            "weight",
            weight,
            "weight of a new gradient",
            "expected more than 0 and at most 1, such as 0.25",
        );
    }
    Ok(())
}

/// What is recorded of a burst's gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// The gradient when the queue was longest, of all that it was: line 16 of Algorithm 2, and the text on it.
    #[default]
    Literal,
    /// The gradient when the burst was detected: the one that is looked up.
    Detection,
    /// The largest gradient since the port was at rest.
    Max,
}

/// What may be a burst after a burst. (Algorithm 2 forgets no peak, so that nothing is one in its listing.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rearm {
    /// A queue that grows again: the thesis wants to catch "large spikes … that happen right after a temporary drop".
    #[default]
    Growing,
    /// Whatever is above `1 / sigma` of the memory: a burst of which more than that is left when it is over goes on as
    /// another one, whose gradient is below zero.
    AtOnce,
    /// A queue that was no longer than that in between.
    AtRest,
}

/// What a departure says of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing.
    None,
    /// A burst begins, with this gradient.
    Begins(f64),
    /// A burst is over.
    Ends(Ended),
    /// What was no burst is over.
    Rests,
}

/// A burst that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ended {
    /// What it is known by.
    pub(super) key: f64,
    /// The gradient now.
    pub(super) gradient: f64,
    /// Most bytes that waited.
    pub(super) peak: u64,
    /// Most bytes that would have waited meanwhile if everything had been let in, to within a packet.
    pub(super) demand: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Port {
    bytes: u64,
    at: Instant,
    gradient: f64,
    largest: f64,
    peak: u64,
    began: Option<Instant>,
    /// Whether it was above what makes a burst ever since its last one.
    follows_burst: bool,
    at_detection: f64,
    at_growth: f64,
    drops: u64,
    /// When the link would be done with all that has come.
    free_at: Instant,
    /// Most bytes that would have waited, over the same time as `peak`.
    demand: u64,
}

/// Watches the queues of the ports of a switch.
#[derive(Debug)]
pub(super) struct Bursts {
    /// Weight of a new gradient in the smoothed one.
    pub(super) weight: f64,
    /// A burst is over below this part of its peak.
    pub(super) beta: f64,
    pub(super) key: Key,
    /// Whether a burst's peak is forgotten when it is over.
    pub(super) resets: bool,
    /// What may be a burst after a burst.
    pub(super) rearm: Rearm,
    /// Whether to follow what would wait if everything were let in.
    pub(super) follows_demand: bool,
    ports: Vec<Port>,
    rates: Vec<BitRate>,
    kept: Option<Vec<Burst>>,
}

impl Bursts {
    pub(super) fn new(weight: f64, beta: f64, rates: &[BitRate]) -> Bursts {
        Bursts {
            weight,
            beta,
            key: Key::default(),
            resets: true,
            rearm: Rearm::default(),
            follows_demand: false,
            ports: vec![Port::default(); rates.len()],
            rates: rates.to_vec(),
            kept: None,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.ports)
            + size_of_val(&*self.rates)
            + self.kept.as_ref().map_or(0, |kept| kept.capacity() * size_of::<Burst>())
    }

    pub(super) fn is_in_burst(&self, port: u32) -> bool {
        self.ports[port as usize].began.is_some()
    }

    /// Whether a departure of a port in which so many bytes wait may begin a burst or end one, where one has more than
    /// `least` bytes.
    #[inline]
    pub(super) fn may_be(&self, port: u32, bytes: u64, least: f64) -> bool {
        bytes.max(self.ports[port as usize].peak) as f64 > least
    }

    pub(super) fn gradient(&self, port: u32) -> f64 {
        self.ports[port as usize].gradient
    }

    /// Something has come for a port, and was let in or not.
    #[inline(always)]
    pub(super) fn on_arrival(&mut self, now: Instant, port: u32, size: u64, is_dropped: bool) {
        if !is_dropped && !self.follows_demand {
            return;
        }
        let (rate, port) = (self.rates[port as usize], &mut self.ports[port as usize]);
        port.drops += u64::from(is_dropped);
        if !self.follows_demand {
            return;
        }
        let idle = port.free_at <= now;
        port.free_at = port.free_at.max(now) + rate.tx_time(size);
        // Bytes left of a burst that is over do not belong to the next one.
        if !idle && !port.follows_burst {
            port.demand = port.demand.max(bytes_in(rate, now, port.free_at));
        }
    }

    /// A packet has left a port, in which so many bytes wait now; a queue above `least` bytes is a burst.
    #[inline(always)]
    pub(super) fn on_dequeue(&mut self, now: Instant, number: u32, bytes: u64, least: f64) -> Step {
        let port = &mut self.ports[number as usize];
        if now > port.at {
            let change = (float(bytes) - float(port.bytes)) * 8.0;
            // Most ports are idle, and stay so.
            let new = if change == 0.0 { 0.0 } else { change / now.saturating_since(port.at).as_secs_f64() };
            port.gradient = self.weight * new + (1.0 - self.weight) * port.gradient;
            port.largest = port.largest.max(port.gradient);
        }
        (port.bytes, port.at) = (bytes, now);
        if bytes == 0 && port.peak == 0 {
            // Nothing has waited since the port was at rest.
            port.follows_burst = false;
            return Step::None;
        }
        let followed_burst = port.follows_burst;
        port.follows_burst &= match self.rearm {
            Rearm::AtOnce => false,
            Rearm::Growing => float(bytes) > least && port.gradient <= 0.0,
            Rearm::AtRest => float(bytes) > least,
        };
        if self.follows_demand && followed_burst && !port.follows_burst {
            port.demand = port.demand.max(bytes_in(self.rates[number as usize], now, port.free_at));
        }
        if bytes > port.peak && !port.follows_burst {
            (port.peak, port.at_growth) = (bytes, port.gradient);
        }
        let is_above = float(port.peak) > least;
        let is_below = float(bytes) < self.beta * float(port.peak);
        if port.began.is_none() && is_above && !is_below {
            (port.began, port.at_detection) = (Some(now), port.gradient);
            return Step::Begins(port.gradient);
        }
        if !is_below {
            return Step::None;
        }
        if port.began.is_none() && (self.resets || !is_above) {
            port.rest(now, self.rates[number as usize]);
            return Step::Rests;
        }
        let key = match self.key {
            Key::Detection => port.at_detection,
            Key::Literal => port.at_growth,
            Key::Max => port.largest,
        };
        let ended = Ended { key, gradient: port.gradient, peak: port.peak, demand: port.demand.max(port.peak) };
        Step::Ends(ended)
    }

    /// The burst that ended has been dealt with; `predicted` is what was expected of it.
    pub(super) fn close(
        &mut self,
        now: Instant,
        number: u32,
        ended: Ended,
        predicted: Option<u64>,
        was_granted: bool,
        entries: u32,
    ) {
        let (rate, port) = (self.rates[number as usize], &mut self.ports[number as usize]);
        if let (Some(kept), Some(began)) = (&mut self.kept, port.began) {
            kept.push(Burst {
                port: number,
                began,
                ended: now,
                gradient: ended.key,
                predicted,
                was_granted,
                peak: ended.peak,
                demand: ended.demand,
                drops: port.drops,
                entries,
            });
        }
        (port.began, port.follows_burst) = (None, true);
        if self.resets {
            port.rest(now, rate);
        }
    }

    pub(super) fn keep(&mut self) {
        (self.kept, self.follows_demand) = (Some(Vec::new()), true);
    }

    pub(super) fn take(&mut self) -> Vec<Burst> {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Port {
    /// What was is forgotten; what would wait is what waits.
    fn rest(&mut self, now: Instant, rate: BitRate) {
        (self.peak, self.largest, self.drops, self.demand) = (0, 0.0, 0, 0);
        self.free_at = now + rate.tx_time(self.bytes);
    }
}

/// Bytes that a link carries from `now` to `until`.
fn bytes_in(rate: BitRate, now: Instant, until: Instant) -> u64 {
    let ps = u128::from(until.saturating_since(now).as_ps());
    (ps * u128::from(rate.as_bps()) / 8_000_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::Span;
    use tailcut_model::Build;
    use tailcut_model::seat::Memory;

    use super::*;
    use crate::memory::testing::{Switch, context};
    use crate::memory::{smartbuf, unbounded};

    const PACKET: u64 = 1500;
    const TIME: Span = Span::from_ns(1200);

    /// What happened at a port, in the order of time.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Came(Instant),
        /// One began to leave, and so many bytes waited then.
        Left(Instant, u64),
    }

    /// Packets come in bursts, so many for each that leaves, and so many leave until the next burst.
    fn drive<M: Memory>(memory: M, bursts: &[(u32, u32, u32)]) -> (Vec<Event>, Vec<Burst>) {
        let mut switch = Switch::new(memory, 1);
        switch.memory.keep_bursts();
        let (mut events, mut is_busy) = (Vec::new(), false);
        let leave = |switch: &mut Switch<M>, events: &mut Vec<Event>, is_busy: &mut bool| {
            switch.now = switch.now + TIME;
            *is_busy = switch.waiting(0) > 0;
            switch.leave(0);
            if *is_busy {
                events.push(Event::Left(switch.now, switch.waiting(0)));
            }
        };
        for &(packets, at_a_time, departures) in bursts {
            for nth in 0..packets {
                let is_taken = switch.offer(0).is_ok();
                events.push(Event::Came(switch.now));
                if is_taken && !is_busy {
                    is_busy = true;
                    events.push(Event::Left(switch.now, switch.waiting(0)));
                }
                if nth % at_a_time == at_a_time - 1 {
                    leave(&mut switch, &mut events, &mut is_busy);
                }
            }
            (0..departures).for_each(|_| leave(&mut switch, &mut events, &mut is_busy));
        }
        (events, switch.memory.take_bursts())
    }

    /// Packets that wait at `at` if all are let in that come after `rest`, when so many waited and one had just begun
    /// to leave.
    fn waiting(rest: Option<(Instant, u64)>, came: &[Instant], at: Instant) -> u64 {
        let (from, already) = rest.unwrap_or_default();
        let mut free = if rest.is_some() { from + TIME } else { Instant::ZERO };
        let mut begins = Vec::new();
        let all = std::iter::repeat_n(from, already as usize).chain(came.iter().copied().filter(|came| *came <= at));
        for came in all {
            free = free.max(came);
            begins.push(free);
            free = free + TIME;
        }
        begins.iter().filter(|begins| **begins > at).count() as u64
    }

    /// The most that would have waited in each burst, from the words: a burst is watched from when the one before is
    /// over and the queue is short or grows again; it is over below half of its peak.
    fn demands(events: &[Event], least: f64) -> Vec<(Instant, u64)> {
        let mut found = Vec::new();
        let (mut rest, mut came) = (None, Vec::new());
        let (mut is_watched, mut has_begun, mut peak, mut demand) = (true, false, 0u64, 0u64);
        let (mut gradient, mut last) = (0.0, (Instant::ZERO, 0u64));
        for &event in events {
            match event {
                Event::Came(at) => {
                    came.push(at);
                    demand = demand.max(if is_watched { waiting(rest, &came, at) } else { 0 });
                }
                Event::Left(at, bytes) => {
                    if at > last.0 {
                        let change = (bytes as f64 - last.1 as f64) * 8.0 / at.saturating_since(last.0).as_secs_f64();
                        gradient = 0.25 * change + 0.75 * gradient;
                    }
                    last = (at, bytes);
                    if !is_watched && (bytes as f64 <= least || gradient > 0.0) {
                        (is_watched, demand) = (true, waiting(rest, &came, at));
                    }
                    peak = if is_watched { peak.max(bytes) } else { peak };
                    let is_below = (bytes as f64) < 0.5 * peak as f64;
                    has_begun |= peak as f64 > least && !is_below;
                    if is_below {
                        if has_begun {
                            found.push((at, (demand * PACKET).max(peak)));
                        }
                        is_watched &= !has_begun;
                        (rest, has_begun, peak, demand) = (Some((at, bytes / PACKET)), false, 0, 0);
                        came.clear();
                    }
                }
            }
        }
        found
    }

    fn bursts() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
        prop::collection::vec((1u32..120, 1u32..12, 0u32..90), 1..9)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Bursts that follow each other at any distance, where nothing is dropped and where much is.
        #[test]
        fn the_demand_of_a_burst_is_what_would_have_waited_in_it(bursts in bursts()) {
            let unbounded = toml::from_str("instead_of = \"150KB\"").unwrap();
            let unbounded = unbounded::Model::build(&unbounded, &context(1)).unwrap();
            let smartbuf = toml::from_str("size = \"60KB\"\nwarm = \"0s\"").unwrap();
            let smartbuf = smartbuf::Model::build(&smartbuf, &context(1)).unwrap();
            let seen = [(drive(unbounded, &bursts), 30_000.0), (drive(smartbuf, &bursts), 12_000.0)];
            for ((events, seen), least) in seen {
                let expected = demands(&events, least);
                prop_assert_eq!(seen.len(), expected.len());
                for (burst, (ended, demand)) in seen.iter().zip(expected) {
                    prop_assert_eq!(burst.ended, ended);
                    prop_assert!(burst.demand.abs_diff(demand) <= PACKET, "{:?}, not {}", burst, demand);
                    prop_assert!(burst.demand >= burst.peak);
                }
            }
        }
    }

    /// 1.2 MB come at once; a packet comes while less than half of it is left, and 150 KB when 136.5 KB are left.
    #[test]
    fn what_is_left_of_a_burst_is_no_demand_of_the_next_one() {
        let config = toml::from_str("instead_of = \"1MB\"").unwrap();
        let model = unbounded::Model::build(&config, &context(1)).unwrap();
        let (_, bursts) = drive(model, &[(800, 800, 430), (1, 2, 278), (100, 8, 400)]);
        assert_eq!(bursts.len(), 2, "{bursts:?}");
        assert!(bursts[0].demand.abs_diff(1_198_500) <= PACKET, "{bursts:?}");
        assert!(bursts[1].demand.abs_diff(bursts[1].peak) <= 8 * PACKET && bursts[1].demand < 300_000, "{bursts:?}");
    }
}
