//! The band of HyLine's threshold: flows of at most H bytes are sent at once, larger ones ask a controller first.
//!
//! Abbasloo, Xu, Chao, "HyLine: a Simple and Practical Flow Scheduling for Commodity Datacenters", section IV-E. A flow
//! of size H must wait for longer than asking costs, or it were better not to ask:
//!
//! T_cost <= E[W(h)] = lambda (m2(h) + h^2 (1 - F(h))) / (2 (1 - rho(h))^2),  h = H / C    (equations 3 and 4)
//!
//! which is the wait of a flow of service time h until it is served for the first time in the queue M/G/1 under
//! shortest remaining processing time (Schrage and Miller, Operations Research 1966). And what asks nobody is to be
//! little of the load: rho(h) / rho <= 0.1 (equation 5). The service time is the size over the rate of the link,
//! without headers.

use serde::Serialize;
use tailcut_base::{BitRate, Bytes, Span};
use tailcut_results::csv::{self, CsvTable};
use tailcut_results::number::{aligned, significant};
use tailcut_workload::Distribution;

/// Steps of a bisection over sizes: each halves what there was.
const HALVINGS: u32 = 100;

/// What the band is computed for.
#[derive(Clone, Debug)]
pub struct BandQuery {
    /// What the distribution is called.
    pub name: String,
    /// The sizes of the flows.
    pub sizes: Distribution,
    /// The loads, each above 0 and below 1.
    pub loads: Vec<f64>,
    /// C, the rate of the link.
    pub link: BitRate,
    /// T_cost, what it costs a flow to ask.
    pub cost: Span,
    /// The largest share of the load that may be of flows that do not ask.
    pub share: f64,
    /// H, a threshold to look at.
    pub threshold: Bytes,
}

/// The queue of one link under shortest remaining processing time.
#[derive(Clone, Copy, Debug)]
pub struct SrptQueue<'a> {
    sizes: &'a Distribution,
    load: f64,
    link: BitRate,
}

impl<'a> SrptQueue<'a> {
    /// The queue under a load.
    ///
    /// # Panics
    /// If the load is not above 0 and below 1.
    pub fn new(sizes: &'a Distribution, load: f64, link: BitRate) -> SrptQueue<'a> {
        assert!(load > 0.0 && load < 1.0, "a queue with a load of {load} has no mean wait");
        SrptQueue { sizes, load, link }
    }

    /// The share of the load that is of flows of at most so many bytes.
    pub fn share_up_to(&self, bytes: f64) -> f64 {
        1.0 - self.sizes.bytes_above(bytes)
    }

    /// Mean time in us until a flow of so many bytes is served for the first time.
    pub fn wait_us(&self, bytes: f64) -> f64 {
        let arrivals = self.load / self.sizes.mean();
        let idle = 1.0 - self.load * self.share_up_to(bytes);
        // E[min(X, h)^2] is m2(h) + h^2 (1 - F(h)).
        let wait = arrivals * self.sizes.second_moment_up_to(bytes) / (2.0 * idle * idle);
        8e6 * wait / self.link.as_bps() as f64
    }

    /// The smallest size in bytes whose flows wait at least so long on average; `None` if no flow does.
    pub fn lower(&self, cost: Span) -> Option<f64> {
        let cost = cost.as_ns_f64() / 1000.0;
        (self.wait_us(self.sizes.max()) >= cost).then(|| self.first(|bytes| self.wait_us(bytes) >= cost))
    }

    /// The largest size in bytes of flows up to which there is at most this share of the load.
    pub fn upper(&self, share: f64) -> f64 {
        self.first(|bytes| self.share_up_to(bytes) > share)
    }

    /// Where the predicate, which never holds at 0 and holds from some size on, begins to hold; the largest size if it
    /// never does.
    fn first(&self, holds: impl Fn(f64) -> bool) -> f64 {
        let (mut below, mut from) = (0.0, self.sizes.max());
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(below, from);
            if holds(middle) { from = middle } else { below = middle }
        }
        from
    }
}

/// The band at one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BandRow {
    /// The load of the link.
    pub load: f64,
    /// The lower bound in bytes; `None` if no flow waits as long as asking costs.
    pub lower_bytes: Option<f64>,
    /// The upper bound in bytes.
    pub upper_bytes: f64,
    /// Share of the flows up to the upper bound.
    pub flows_up_to_upper: f64,
    /// Mean wait in us of a flow of the size of the threshold.
    pub wait_us: f64,
    /// Share of the load of flows up to the threshold.
    pub share_up_to: f64,
    /// Whether the threshold is in the band.
    pub inside: bool,
}

impl BandRow {
    /// Whether no threshold satisfies both bounds.
    pub fn is_empty(&self) -> bool {
        self.lower_bytes.is_some_and(|lower| lower > self.upper_bytes)
    }
}

/// The band, load by load.
#[derive(Clone, Debug, PartialEq)]
pub struct BandTable {
    name: String,
    mean_bytes: f64,
    link: BitRate,
    cost: Span,
    share: f64,
    threshold: Bytes,
    rows: Vec<BandRow>,
}

impl BandTable {
    /// Computes the table.
    ///
    /// # Panics
    /// If a load is out of its range.
    pub fn new(query: &BandQuery) -> BandTable {
        BandTable {
            name: query.name.clone(),
            mean_bytes: query.sizes.mean(),
            link: query.link,
            cost: query.cost,
            share: query.share,
            threshold: query.threshold,
            rows: query.loads.iter().map(|&load| row(query, load)).collect(),
        }
    }

    /// The rows, by load.
    pub fn rows(&self) -> &[BandRow] {
        &self.rows
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{}: flows of {} B on average, a link of {}\nlower: a flow of that size waits {} on average (M/G/1, SRPT); upper: smaller flows are {} % of the load\n",
            self.name,
            significant(self.mean_bytes, 7),
            self.link,
            self.cost,
            significant(100.0 * self.share, 3),
        );
        let at = self.threshold;
        out += &format!(
            "{:<5} {:>11} {:>11}  at {at}: {:>10} {:>10}\n",
            "load", "lower kB", "upper kB", "E[W] us", "% of load"
        );
        for row in &self.rows {
            let lower = row.lower_bytes.map_or_else(|| "-".to_owned(), |bytes| aligned(bytes / 1e3, 4));
            let pad = at.to_string().len() + 4;
            out += &format!(
                "{:<5} {lower:>11} {:>11}  {:pad$} {:>10} {:>10}  {}\n",
                row.load,
                aligned(row.upper_bytes / 1e3, 4),
                "",
                aligned(row.wait_us, 4),
                aligned(100.0 * row.share_up_to, 3),
                match row.inside {
                    true => "inside",
                    false if row.is_empty() => "no band",
                    false => "outside",
                },
            );
        }
        out
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let head = [
            "workload",
            "load",
            "lower_bytes",
            "upper_bytes",
            "flows_up_to_upper",
            "threshold_bytes",
            "wait_us",
            "share_up_to",
            "inside",
        ];
        let mut table = CsvTable::new(head);
        for row in &self.rows {
            table.line([
                self.name.clone(),
                row.load.to_string(),
                csv::number(row.lower_bytes),
                csv::number(Some(row.upper_bytes)),
                csv::number(Some(row.flows_up_to_upper)),
                self.threshold.0.to_string(),
                csv::number(Some(row.wait_us)),
                csv::number(Some(row.share_up_to)),
                row.inside.to_string(),
            ]);
        }
        table.finish()
    }

    /// As JSON: an object with the name of the workload, the threshold and a list of the rows.
    ///
    /// # Panics
    /// Never: texts and numbers are JSON.
    pub fn json(&self) -> String {
        let table = serde_json::json!({
            "workload": self.name, "mean_bytes": self.mean_bytes, "threshold_bytes": self.threshold.0, "lines": self.rows,
        });
        serde_json::to_string_pretty(&table).expect("texts and numbers are JSON") + "\n"
    }
}

fn row(query: &BandQuery, load: f64) -> BandRow {
    let queue = SrptQueue::new(&query.sizes, load, query.link);
    let (lower, upper, threshold) = (queue.lower(query.cost), queue.upper(query.share), query.threshold.0 as f64);
    let share_up_to = queue.share_up_to(threshold);
    BandRow {
        load,
        lower_bytes: lower,
        upper_bytes: upper,
        flows_up_to_upper: query.sizes.cdf(upper),
        wait_us: queue.wait_us(threshold),
        share_up_to,
        // Where many flows have one size, those of the upper end itself may exceed the share.
        inside: lower.is_some_and(|lower| lower <= threshold) && threshold <= upper && share_up_to <= query.share,
    }
}

#[cfg(test)]
mod tests {
    use tailcut_workload::distribution;

    use super::*;

    const LOADS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    const LINK: BitRate = BitRate::gbps(1);

    fn sizes(name: &str) -> Distribution {
        distribution(name).unwrap().distribution()
    }

    fn query(name: &str, sizes: Distribution) -> BandQuery {
        BandQuery {
            name: name.to_owned(),
            sizes,
            loads: LOADS.to_vec(),
            link: LINK,
            cost: Span::from_us(100),
            share: 0.1,
            threshold: Bytes(1_000_000),
        }
    }

    fn band(name: &str) -> BandTable {
        BandTable::new(&query(name, sizes(name)))
    }

    #[test]
    fn the_band_is_what_the_equations_give_for_the_published_workloads() {
        // Computed from the tables of sizes without this program.
        for (name, lower) in [
            ("websearch", [1114.0, 751.0, 601.0, 513.0, 454.0, 411.0, 378.0, 351.0, 329.0]),
            ("datamining", [5817.0, 3857.0, 2943.0, 2440.0, 2126.0, 1906.0, 1741.0, 1611.0, 1505.0]),
        ] {
            for (row, kilobytes) in band(name).rows().iter().zip(lower) {
                let found = row.lower_bytes.unwrap() / 1e3;
                assert!((found - kilobytes).abs() < 0.55, "{name} at {}: {found}", row.load);
            }
        }
        for (name, upper, flows, share) in
            [("websearch", 1.597e6, 0.764, 0.0521), ("datamining", 54.9e6, 0.972, 0.0040)]
        {
            for row in band(name).rows() {
                assert!((row.upper_bytes / upper - 1.0).abs() < 1e-3, "{name}: {}", row.upper_bytes);
                assert!((row.flows_up_to_upper - flows).abs() < 5e-4, "{name}: {}", row.flows_up_to_upper);
                assert!((row.share_up_to - share).abs() < 5e-5, "{name}: {}", row.share_up_to);
            }
        }
        let wait = band("websearch").rows().iter().map(|row| row.wait_us).collect::<Vec<_>>();
        assert!((wait[5] - 523.9).abs() < 0.05 && (wait[0] - 82.8).abs() < 0.05, "{wait:?}");
        // 1 MB is in the band of web search but at the lowest load, and in that of data mining at none.
        let inside = |name: &str| band(name).rows().iter().filter(|row| row.inside).count();
        assert_eq!((inside("websearch"), inside("datamining")), (8, 0));
    }

    /// Flows up to the threshold do not ask: where all have its size they are the whole load, not a tenth of it.
    #[test]
    fn a_size_that_all_flows_have_is_in_no_band() {
        for row in BandTable::new(&query("fixed", Distribution::fixed(1_000_000))).rows() {
            assert!(row.lower_bytes.is_some_and(|lower| lower < 1e6) && row.upper_bytes >= 1e6, "{}", row.load);
            assert!(row.share_up_to == 1.0 && !row.inside, "{}: {}", row.load, row.share_up_to);
        }
    }

    /// Where a tenth of the load is below the size that waits as long as asking takes, no threshold is both.
    #[test]
    fn a_band_without_a_threshold_says_so() {
        let narrow = |share| BandTable::new(&BandQuery { share, ..query("websearch", sizes("websearch")) });
        let is_empty: Vec<bool> = narrow(0.0001).rows().iter().map(BandRow::is_empty).collect();
        assert!(is_empty[LOADS.len() - 1] && narrow(0.0001).text().contains("no band"), "{is_empty:?}");
        assert!(narrow(0.1).rows().iter().all(|row| !row.is_empty()) && !narrow(0.1).text().contains("no band"));
    }

    #[test]
    fn the_largest_flow_waits_as_for_a_whole_busy_period() {
        for name in ["websearch", "datamining", "heavy", "light"] {
            let sizes = sizes(name);
            for load in LOADS {
                let queue = SrptQueue::new(&sizes, load, LINK);
                let bytes = load * sizes.second_moment() / sizes.mean() / (2.0 * (1.0 - load).powi(2));
                let limit = 8e6 * bytes / 1e9;
                for far in [sizes.max(), 10.0 * sizes.max(), 1e15] {
                    assert!((queue.wait_us(far) / limit - 1.0).abs() < 1e-12, "{name} at {load}");
                }
            }
        }
    }

    /// A flow that is smaller than all others waits for what is served already and cannot be preempted by it, which is
    /// nothing: it preempts. Flows of one size are first come, first served among one another only.
    #[test]
    fn equal_flows_have_a_closed_form() {
        let sizes = Distribution::fixed(125_000);
        // A flow takes 1 ms. Below the atom: lambda x^2 / 2. At it: that, over (1 - rho)^2.
        let queue = SrptQueue::new(&sizes, 0.5, LINK);
        assert!((queue.wait_us(62_500.0) - 0.5 * 0.5 * 0.5 / 2.0 * 1000.0).abs() < 1e-9);
        assert!((queue.wait_us(125_000.0) - 0.5 / 2.0 / 0.25 * 1000.0).abs() < 1e-9);
        assert!((queue.upper(0.1) - 125_000.0).abs() < 1e-3, "smaller flows there are none");
        assert!(queue.lower(Span::from_ms(2)).is_none(), "nobody waits so long");
        let half = queue.lower(Span::from_ps(62_500_000)).unwrap();
        assert!((half - 62_500.0).abs() < 1e-3, "{half}");
    }

    /// The wait grows with the size and with the load, and is what equation 3 says, with sums over many flows in place
    /// of its integrals.
    #[test]
    fn the_wait_grows_and_is_the_integral() {
        for name in ["websearch", "datamining", "heavy", "light"] {
            let sizes = sizes(name);
            let n = 100_000;
            let flows: Vec<f64> = (0..n).map(|i| sizes.quantile((f64::from(i) + 0.5) / f64::from(n))).collect();
            for load in LOADS {
                let queue = SrptQueue::new(&sizes, load, LINK);
                let lambda = load / flows.iter().sum::<f64>();
                let mut last = 0.0;
                for h in (1..8).rev().map(|halvings| sizes.max() / f64::from(1 << halvings)) {
                    let up_to = || flows.iter().filter(|&&x| x <= h);
                    let m2: f64 = up_to().map(|x| x * x).sum();
                    let above = (flows.len() - up_to().count()) as f64;
                    let rho = lambda * up_to().sum::<f64>();
                    let wait = 8e-3 * lambda * (m2 + h * h * above) / (2.0 * (1.0 - rho).powi(2));
                    let found = queue.wait_us(h);
                    assert!((found / wait - 1.0).abs() < 0.01, "{name} at {load}, {h} B: {found} {wait}");
                    assert!(found > last, "{name} at {load}, {h} B");
                    assert!(found < SrptQueue::new(&sizes, load + 0.05, LINK).wait_us(h), "{name} at {load}, {h} B");
                    last = found;
                }
            }
        }
    }
}
