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
    /// Most bytes that would have waited if everything had been let in, to within a packet.
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
        if !idle {
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
        port.follows_burst &= match self.rearm {
            Rearm::AtOnce => false,
            Rearm::Growing => float(bytes) > least && port.gradient <= 0.0,
            Rearm::AtRest => float(bytes) > least,
        };
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
