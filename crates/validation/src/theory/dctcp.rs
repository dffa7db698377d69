//! The steady state of DCTCP: Alizadeh et al., SIGCOMM 2010, section 3.3.
//!
//! N flows with windows in step share a link of rate C; their windows are W* = (C RTT + K) / N when marking begins.
//! Then the queue goes up and down between K + N and K + N - A, with A = (1/2) root of 2 N (C RTT + K), once in
//! (1/2) root of 2 (C RTT + K) / N round trips, and alpha, which is the marked share, settles where
//! alpha^2 (1 - alpha/4) = (2 W* + 1) / (W* + 1)^2: at about root of 2/W* for small alpha.
//!
//! The paper counts packets and round trips, as here. Its round trip in C RTT is that of an idle network.

use tailcut_base::HostId;
use tailcut_base::each_on_all_cores;
use tailcut_sim::Outcome;

use super::run::{ENDLESS, Listed, listed, port, run, scenario};
use super::table::{Table, deviation, figure};

/// Bytes of a full packet.
const PACKET: f64 = 1500.0;
/// Packets per microsecond at 10 Gb/s.
const PER_US: f64 = 10_000.0 / 8.0 / PACKET;

/// A bottleneck of 10 Gb/s with long flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Number of long flows, N in the paper.
    pub flows: u32,
    /// The marking threshold in packets, K in the paper.
    pub threshold: u64,
    /// One-way delay of each link in nanoseconds; a round trip has four of them.
    pub delay_ns: u64,
}

/// What the queue and the marks do in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Largest queue, in packets.
    pub largest: f64,
    /// From the peaks of the queue to its troughs, in packets.
    pub amplitude: f64,
    /// From peak to peak, in round trips.
    pub period: f64,
    /// Marked share of the packets.
    pub alpha: f64,
    /// The same by the approximation for small alpha. A measurement has no
    /// approximation: there this is `alpha` once more.
    pub small_alpha: f64,
}

impl Setting {
    /// Packets that fit the idle round trip at the rate of the bottleneck.
    pub fn bdp(&self) -> f64 {
        self.round_trip() * PER_US
    }

    /// Round trip of an idle network in microseconds, of a full packet and its ACK.
    fn round_trip(&self) -> f64 {
        let network = scenario("dctcp", &self.text(0, 1), 1);
        network.network().rtt(HostId(0), HostId(self.flows + 2)).as_secs_f64() * 1e6
    }

    /// What the paper predicts for this setting.
    pub fn predicted(&self) -> Steady {
        let (n, k, bdp) = (f64::from(self.flows), self.threshold as f64, self.bdp());
        Steady {
            largest: k + n,
            amplitude: 0.5 * (2.0 * n * (bdp + k)).sqrt(),
            period: 0.5 * (2.0 * (bdp + k) / n).sqrt(),
            alpha: alpha_of((bdp + k) / n),
            small_alpha: (2.0 * n / (bdp + k)).sqrt(),
        }
    }

    /// The long flows, and beside the bottleneck two of a byte that begin and end the measurement.
    fn text(&self, from_ms: u64, until_ms: u64) -> String {
        let Setting { flows, threshold, delay_ns } = *self;
        // Each flow starts somewhere in the first round trip.
        let mut list: Vec<Listed> = (0..flows)
            .map(|src| (src, flows + 2, ENDLESS, u64::from(src) * 4_000 * delay_ns / u64::from(flows)))
            .collect();
        list.extend([from_ms, until_ms].map(|ms| (flows, flows + 1, 1, ms * 1_000_000_000)));
        list.sort_by_key(|flow| flow.3);
        // The hosts are faster than the bottleneck, so that a single flow too queues there and not at its own
        // interface.
        format!(
            "[topology.single-bottleneck]\nsenders = {}\nhost_link = {{ rate = \"40Gbps\", delay = \"{delay_ns}ns\" }}\n\
             receiver_link = {{ rate = \"10Gbps\", delay = \"{delay_ns}ns\" }}\n\
             [port]\nlimit = \"4MB\"\nmarker.step.threshold = \"{threshold}pkt\"\n\
             [record]\nqueue_sample = \"1.3us\"\nqueue_series = true\nqueue_histogram = true\n\
             [run]\ndrain = \"1ps\"\n[workload]\nwarmup = {}\n{}",
            flows + 2,
            f64::from(flows) / f64::from(flows + 2) + 1e-6,
            listed(&list)
        )
    }

    /// Runs it from the start on and looks at what happens between these times.
    ///
    /// # Panics
    /// If packets are dropped.
    pub fn run(&self, from_ms: u64, until_ms: u64) -> Run {
        let outcome = run("dctcp", &self.text(from_ms, until_ms), 1);
        assert_eq!(outcome.totals.drops.total(), 0, "nothing is dropped before it is marked");
        assert_eq!(outcome.measured_from.as_ps(), from_ms * 1_000_000_000);
        // Counts are those of a whole run. To get those of the measured time alone, the same scenario is run until its
        // beginning, and what that run counts is subtracted.
        let before = run("dctcp", &self.text(from_ms / 2, from_ms), 1);
        let [(packets, marks), (packets_before, marks_before)] = [&outcome, &before].map(|run| self.sums(run));
        let alpha = (marks - marks_before) / (packets - packets_before);
        let row = port(&outcome, "switch0", &format!("host{}", self.flows + 2));
        let queue = self.samples(&outcome, row.port);
        let empty = row.queue_histogram.as_ref().expect("it is recorded")[0].1.as_secs_f64();
        Run {
            setting: *self,
            alpha,
            utilisation: row.utilisation,
            empty: empty / outcome.measured.as_secs_f64(),
            queue,
        }
    }

    /// Packets sent and marked, of the long flows.
    fn sums(&self, outcome: &Outcome) -> (f64, f64) {
        let rows = outcome.flows.rows().filter(|row| row.dst == self.flows + 2);
        rows.fold((0.0, 0.0), |(packets, marks), row| (packets + row.packets as f64, marks + row.ce_marks as f64))
    }

    /// The queue in packets, every 1.3 us of the measured time.
    fn samples(&self, outcome: &Outcome, port: u32) -> Vec<f64> {
        let mut points = outcome.queue_series.iter().filter(|point| point.port == port).peekable();
        let (mut at, mut now) = (outcome.measured_from.as_ps(), 0.0);
        let until = at + outcome.measured.as_ps();
        let mut samples = Vec::new();
        loop {
            at += SAMPLE_PS;
            if at >= until {
                return samples;
            }
            while let Some(point) = points.next_if(|point| point.at.as_ps() <= at) {
                now = point.bytes as f64 / PACKET;
            }
            samples.push(now);
        }
    }
}

const SAMPLE_PS: u64 = 1_300_000;

/// What was seen of a setting.
#[derive(Clone, Debug)]
pub struct Run {
    setting: Setting,
    /// Marked share of the packets.
    pub alpha: f64,
    /// Share of the time in which the link was busy.
    pub utilisation: f64,
    /// Share of the time in which nothing waited.
    pub empty: f64,
    /// The queue in packets, every 1.3 us.
    pub queue: Vec<f64>,
}

impl Run {
    /// Mean queue in packets.
    pub fn mean(&self) -> f64 {
        self.queue.iter().sum::<f64>() / self.queue.len() as f64
    }

    /// Smallest queue in packets.
    pub fn least(&self) -> f64 {
        self.queue.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What the paper gives in closed form.
    pub fn steady(&self) -> Steady {
        let largest = self.queue.iter().copied().fold(0.0, f64::max);
        let (amplitude, samples) = swings(&self.queue);
        // A round trip is as long as an idle one and the mean queue.
        let round_trip = self.setting.round_trip() + self.mean() / PER_US;
        Steady {
            largest,
            amplitude,
            period: samples * SAMPLE_PS as f64 / 1e6 / round_trip,
            alpha: self.alpha,
            small_alpha: self.alpha,
        }
    }
}

/// The root of alpha^2 (1 - alpha/4) = (2 W + 1) / (W + 1)^2 in 0 to 1, by halving: the left side grows with alpha.
fn alpha_of(window: f64) -> f64 {
    let right = (2.0 * window + 1.0) / (window + 1.0).powi(2);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle: f64 = (low + high) / 2.0;
        if middle * middle * (1.0 - middle / 4.0) < right { low = middle } else { high = middle }
    }
    low
}

/// Mean height and length of the swings of a series, in units of the series and in samples. A swing ends when the
/// series has been in its uppermost and then in its lowest third.
fn swings(series: &[f64]) -> (f64, f64) {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(1.0 / 3.0), at(2.0 / 3.0));
    let (mut peak, mut trough) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut heights, mut began, mut falling) = (Vec::new(), Vec::new(), true);
    for (at, &value) in series.iter().enumerate() {
        if falling && value > high {
            if peak.is_finite() {
                heights.push(peak - trough);
            }
            began.push(at);
            (peak, falling) = (value, false);
        } else if !falling && value < low {
            (trough, falling) = (value, true);
        }
        if falling { trough = trough.min(value) } else { peak = peak.max(value) }
    }
    let (Some(first), Some(last)) = (began.first(), began.last()) else { return (0.0, f64::INFINITY) };
    let cycles = heights.len() as f64;
    (heights.iter().sum::<f64>() / cycles, (last - first) as f64 / cycles)
}

/// The settings of the table: a round trip of 80 us.
pub fn settings() -> Vec<Setting> {
    let thresholds = [20, 40, 65, 100];
    let flows = [1, 2, 5, 10, 20, 40];
    thresholds.iter().flat_map(|&threshold| flows.map(|flows| Setting { flows, threshold, delay_ns: 20_000 })).collect()
}

/// The least K (section 3.4): with K > C RTT / 7 the queue does not run empty, however many flows there are. A round
/// trip of 400 us, so that a seventh is not a few packets.
pub fn bound_setting(share: f64, flows: u32) -> Setting {
    let setting = Setting { flows, threshold: 1, delay_ns: 100_000 };
    Setting { threshold: (setting.bdp() * share).round() as u64, ..setting }
}

/// Shares of C RTT that are tried as K, and numbers of flows.
pub const BOUND: ([(&str, f64); 7], [u32; 6]) = (
    [
        ("1/56", 1.0 / 56.0),
        ("1/28", 1.0 / 28.0),
        ("1/14", 1.0 / 14.0),
        ("1/10", 0.1),
        ("1/7", 1.0 / 7.0),
        ("1/5", 0.2),
        ("1/3", 1.0 / 3.0),
    ],
    [1, 2, 5, 10, 20, 48],
);

fn bound() -> Table {
    let (shares, flows) = BOUND;
    let mut columns = vec!["K / C RTT".to_owned(), "K".to_owned()];
    columns.extend(flows.map(|n| format!("N = {n}")));
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "The least K: utilisation in percent, and K + N - A: the smallest queue by the formula, in packets; an idle round trip of 402 us, from 200 ms to 400 ms",
        &names,
    );
    let settings: Vec<Setting> =
        shares.iter().flat_map(|&(_, share)| flows.map(|flows| bound_setting(share, flows))).collect();
    let runs = each_on_all_cores(&settings, |setting| setting.run(200, 400));
    for ((settings, runs), (name, _)) in settings.chunks(flows.len()).zip(runs.chunks(flows.len())).zip(shares) {
        let mut cells = vec![name.to_owned(), settings[0].threshold.to_string()];
        cells.extend(settings.iter().zip(runs).map(|(setting, run)| {
            let Steady { largest, amplitude, .. } = setting.predicted();
            format!("{:.2} ({:.0})", 100.0 * run.utilisation, largest - amplitude)
        }));
        table.row(cells);
    }
    table
}

/// The tables of `cargo xtask theory dctcp`.
pub fn tables() -> Vec<Table> {
    let mut table = Table::new(
        "The queue of DCTCP: 10 Gb/s, an idle round trip of 81.9 us, from 100 ms to 300 ms; lengths in packets, times in round trips",
        &[
            "K",
            "N",
            "W*",
            "max",
            "K + N",
            "A",
            "seen",
            "off by",
            "T",
            "seen",
            "off by",
            "alpha",
            "root of 2/W*",
            "seen",
            "off by",
            "min",
        ],
    );
    let settings = settings();
    let runs = each_on_all_cores(&settings, |setting| setting.run(100, 300));
    for (setting, run) in settings.iter().zip(&runs) {
        let (expected, seen) = (setting.predicted(), run.steady());
        let pair =
            |of: fn(&Steady) -> f64| [figure(of(&expected)), figure(of(&seen)), deviation(of(&seen), of(&expected))];
        let window = (setting.bdp() + setting.threshold as f64) / f64::from(setting.flows);
        let mut cells = vec![setting.threshold.to_string(), setting.flows.to_string(), figure(window)];
        cells.extend([format!("{:.0}", seen.largest), figure(expected.largest)]);
        cells.extend(pair(|s| s.amplitude));
        cells.extend(pair(|s| s.period));
        let [expected_alpha, seen_alpha, off] = pair(|s| s.alpha);
        cells.extend([expected_alpha, figure(expected.small_alpha), seen_alpha, off]);
        cells.push(format!("{:.0}", run.least()));
        table.row(cells);
    }
    vec![table, bound()]
}
