//! The throughput of TCP under random loss.
//!
//! PFTK is the model of Padhye, Firoiu, Towsley and Kurose (SIGCOMM 1998): TCP Reno with timeouts, equations 32 (full)
//! and 33 (approximate). It takes all packets of a round behind a lost one for lost, and leaves a round in which fewer
//! than three packets follow a lost one to the timer. The law of one over the root of p is that of Mathis, Semke,
//! Mahdavi and Ott (CCR 1997): no timeouts, one loss in each cycle of exactly 1/p packets, C = root of 3/(2b); with
//! independent losses its constant is 1.31 for b = 1 (Ott, Kemperman and Mathis, 1996).
//!
//! One flow, ACKs that are never lost, links so fast that no queue ever forms: a round trip of 10 ms that is the same
//! for all packets. What is measured is what PFTK gives: packets sent, retransmissions included, over time.

use tailcut_base::HostId;
use tailcut_base::each_on_all_cores;

use super::run::{ENDLESS, listed, run, scenario};
use super::table::{Table, figure};
use super::{Confidence, Estimate};

/// The parameters of a case: one flow, and the losses that it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// p: the share of the data packets that is lost.
    pub loss: f64,
    /// b: packets that an ACK acknowledges.
    pub acked_together: u32,
    /// The least retransmission timeout in milliseconds: T0 if that is longer than the round trip.
    pub timeout_ms: u32,
}

/// The throughput by each of the models, in packets per round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Models {
    /// PFTK, equation 32.
    pub full: f64,
    /// PFTK, equation 33.
    pub approximate: f64,
    /// Root of 3/(2bp).
    pub mathis: f64,
}

/// What was measured in simulations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Packets sent per round trip.
    pub rate: Estimate,
    /// Timeouts for each lost packet.
    pub timeouts: f64,
}

/// Idle round trip in milliseconds, but for what the packets take on the links.
const ROUND_TRIP_MS: f64 = 10.0;

impl Setting {
    /// The throughput that the models predict for this setting.
    pub fn predicted(&self) -> Models {
        let (p, b) = (self.loss, f64::from(self.acked_together));
        let timeout = f64::from(self.timeout_ms) / ROUND_TRIP_MS;
        let c = (2.0 + b) / (3.0 * b);
        let window = c + (8.0 * (1.0 - p) / (3.0 * b * p) + c * c).sqrt();
        let q = timeout_share(p, window);
        let backoff: f64 = 1.0 + p + (1..=5).map(|i| 2f64.powi(i) * p.powi(i + 1)).sum::<f64>();
        let full =
            ((1.0 - p) / p + window + q / (1.0 - p)) / (b / 2.0 * window + 1.0 + q * timeout * backoff / (1.0 - p));
        let timer = timeout * f64::min(1.0, 3.0 * (3.0 * b * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
        Models { full, approximate: 1.0 / ((2.0 * b * p / 3.0).sqrt() + timer), mathis: (3.0 / (2.0 * b * p)).sqrt() }
    }

    fn text(&self, ms: f64) -> String {
        let delayed = if self.acked_together > 1 {
            format!("delayed_ack = {{ every = {}, timeout = \"1ms\" }}\n", self.acked_together)
        } else {
            String::new()
        };
        format!(
            "[topology.star]\nhosts = 2\nhost_link = {{ rate = \"1Tbps\", delay = \"2.5ms\" }}\n\
             [port]\nlimit = \"1GB\"\nloss.random = {{ probability = {}, of = \"data\" }}\n\
             [host.transport.tcp]\nmin_rto = \"{}ms\"\n{delayed}[run]\ndrain = \"{ms:.3}ms\"\n{}",
            self.loss,
            self.timeout_ms,
            listed(&[(0, 1, ENDLESS, 0)])
        )
    }

    /// Packets per round trip, over runs in each of which about so many packets are lost. What was sent in the first
    /// tenth of the time is not counted.
    pub fn run(&self, losses: f64, seeds: u64) -> Seen {
        let packets = (losses / self.loss).max(losses * 20.0);
        let ms = packets / self.predicted().full * ROUND_TRIP_MS;
        let network = scenario("tcp", &self.text(1.0), 1);
        let round_trip = network.network().rtt(HostId(0), HostId(1)).as_secs_f64() * 1e3;
        let seeds: Vec<u64> = (1..=seeds).collect();
        let runs = each_on_all_cores(&seeds, |&seed| {
            // The beginning of the same run, and all of it.
            let [before, all] = [0.1 * ms, 1.1 * ms].map(|ms| {
                let row = run("tcp", &self.text(ms), seed).flows.rows().next().expect("there is a flow");
                (row.packets as f64, row.timeouts as f64, row.drops as f64)
            });
            ((all.0 - before.0) / (ms / round_trip), (all.1 - before.1) / (all.2 - before.2))
        });
        Seen {
            rate: Estimate::of(&runs.iter().map(|run| run.0).collect::<Vec<_>>()),
            timeouts: runs.iter().map(|run| run.1).sum::<f64>() / runs.len() as f64,
        }
    }
}

/// PFTK's Q: how likely a loss in a window of so many packets ends in a timeout.
fn timeout_share(p: f64, window: f64) -> f64 {
    let kept = 1.0 - p;
    let three = 1.0 - kept.powi(3);
    let q = three * (1.0 + kept.powi(3) * (1.0 - kept.powf(window - 3.0))) / (1.0 - kept.powf(window));
    q.min(1.0)
}

/// The losses of the tables.
pub const LOSSES: [f64; 7] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1];

/// The tables of `cargo xtask theory throughput`.
pub fn tables() -> Vec<Table> {
    let about = |b: u32, timeout: u32| {
        let acks = if b == 1 { "an ACK for each packet" } else { "an ACK for two packets" };
        format!(
            "TCP under random loss, {acks} (b = {b}), T0 = {timeout} ms, that is {} round trips; rates in packets per round trip",
            timeout / 10
        )
    };
    let mut tables = Vec::new();
    for (acked_together, timeout_ms) in [(1, 40), (1, 200), (2, 40), (2, 200)] {
        let columns = [
            "p",
            "seen",
            "95 %",
            "PFTK",
            "seen/PFTK",
            "approximate",
            "seen/approximate",
            "root law",
            "seen/root law",
            "timeouts per loss",
        ];
        let mut table = Table::new(about(acked_together, timeout_ms), &columns);
        for loss in LOSSES {
            let setting = Setting { loss, acked_together, timeout_ms };
            let (models, seen) = (setting.predicted(), setting.run(300.0, 16));
            let ratio = |model: f64| format!("{:.2}", seen.rate.mean / model);
            table.row(vec![
                loss.to_string(),
                figure(seen.rate.mean),
                format!("± {}", figure(seen.rate.half_width(Confidence::P95))),
                figure(models.full),
                ratio(models.full),
                figure(models.approximate),
                ratio(models.approximate),
                figure(models.mathis),
                ratio(models.mathis),
                format!("{:.3}", seen.timeouts),
            ]);
        }
        tables.push(table);
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two forms of PFTK agree where the approximation is meant to hold, and tend to the root law without timeouts.
    #[test]
    fn the_models_agree_where_they_should() {
        for b in [1, 2] {
            let models = |loss, timeout_ms| Setting { loss, acked_together: b, timeout_ms }.predicted();
            for loss in LOSSES {
                let Models { full, approximate, mathis } = models(loss, 40);
                assert!((full / approximate - 1.0).abs() < 0.25, "{loss}, {b}: {full}, {approximate}");
                assert!(approximate < mathis);
            }
            let Models { full, mathis, .. } = models(1e-8, 40);
            assert!((full / mathis - 1.0).abs() < 1e-3, "{full}, {mathis}");
        }
    }

    /// Worked out with pencil and paper: b = 1, p = 0.5, W = 1 + root of 11/3, Q = 1.
    #[test]
    fn a_case_by_hand() {
        let window = 1.0 + (8.0_f64 / 3.0 + 1.0).sqrt();
        assert_eq!(timeout_share(0.5, window), 1.0);
        let full = Setting { loss: 0.5, acked_together: 1, timeout_ms: 10 }.predicted().full;
        let backoff = 1.0 + 0.5 + 0.5 + 0.5 + 0.5 + 0.5 + 0.5;
        assert!((full - (1.0 + window + 2.0) / (window / 2.0 + 1.0 + 2.0 * backoff)).abs() < 1e-12, "{full}");
    }
}
