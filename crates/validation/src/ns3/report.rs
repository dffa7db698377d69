//! What the comparison prints.

use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use super::cases::{Bound, FEWEST_JUDGED, GOAL, bound};
use super::{Agreement, Case, Summary};

/// One case, run by both.
#[derive(Debug)]
pub struct Compared {
    /// Name of the case.
    pub case: &'static str,
    /// Scheme.
    pub scheme: &'static str,
    /// What ns-3 gave.
    pub peer: Summary,
    /// What tailcut gave.
    pub own: Summary,
    /// How they agree.
    pub agreement: Agreement,
}

impl Compared {
    /// Puts two runs of a case beside each other.
    pub fn new(case: &Case, peer: Summary, own: Summary) -> Compared {
        let agreement = own.against(&peer);
        Compared { case: case.spec.name, scheme: case.scheme, peer, own, agreement }
    }

    /// What is further apart than the case may be; empty if nothing is.
    pub fn beyond(&self, bound: Bound) -> Vec<String> {
        let mut beyond = Vec::new();
        if self.own.unfinished != self.peer.unfinished {
            beyond.push(format!("{} flows unfinished, and {} in ns-3", self.own.unfinished, self.peer.unfinished));
        }
        for (class, &(flows, mean, p99)) in self.own.classes.iter().zip(&self.agreement.classes) {
            // A flow in an idle network is alone, and its time is exact.
            if flows >= FEWEST_JUDGED || flows == self.own.fct_ns.len() {
                let (name, wide) = (&class.name, 100.0 * bound.mean);
                if mean.abs() > bound.mean {
                    beyond.push(format!("mean of flows {name}: {:+.1} %, allowed {wide} %", 100.0 * mean));
                }
                if p99.abs() > bound.p99 {
                    let wide = 100.0 * bound.p99;
                    beyond.push(format!("p99 of flows {name}: {:+.1} %, allowed {wide} %", 100.0 * p99));
                }
            }
        }
        beyond
    }

    /// The case at length.
    pub fn details(&self) -> String {
        let (own, peer) = (&self.own, &self.peer);
        let mut table = new_table();
        table.set_header(["flows", "", "mean us", "ns-3", "", "p99 us", "ns-3", ""]);
        for (class, &(flows, mean, p99)) in own.classes.iter().zip(&self.agreement.classes) {
            let other = peer.classes.iter().find(|other| other.name == class.name).expect("the same flows");
            table.add_row([
                class.name.clone(),
                flows.to_string(),
                time(class.mean_us),
                time(other.mean_us),
                percent(mean),
                time(class.p99_us),
                time(other.p99_us),
                percent(p99),
            ]);
        }
        align(&mut table, 1);
        let pair = |name: &str, own: u64, peer: u64| format!("{name} {own} (ns-3: {peer})");
        let (o, p) = (&own.counts, &peer.counts);
        let counts = [
            pair("drops", o.drops, p.drops),
            pair("marks", o.marks, p.marks),
            pair("timeouts", o.timeouts, p.timeouts),
            pair("retransmissions", o.retransmissions, p.retransmissions),
            pair("packet-hops", o.packet_hops, p.packet_hops),
            format!("of ACKs in ns-3: {} drops, {} marks", p.ack_drops, p.ack_marks),
        ];
        let cpu = format!(
            "KS distance {:.3}; CPU {} (ns-3: {}), {:.0} times less",
            self.agreement.distance,
            seconds(o.cpu_seconds),
            seconds(p.cpu_seconds),
            self.agreement.cpu_ratio,
        );
        format!("{} {}\n{table}\n{}\n{cpu}\n", self.case, self.scheme, counts.join(", "))
    }
}

/// All cases, a line each.
pub fn overview(all: &[Compared]) -> String {
    let mut table = new_table();
    table.set_header([
        "case", "scheme", "flows", "mean", "p99", "KS", "drops", "ns-3", "timeouts", "ns-3", "CPU", "ns-3", "ratio", "",
    ]);
    for compared in all {
        let Compared { case, scheme, own, peer, agreement, .. } = compared;
        let judged = |&&(flows, ..): &&(usize, f64, f64)| flows >= FEWEST_JUDGED || flows == own.fct_ns.len();
        let furthest = |of: fn(&(usize, f64, f64)) -> f64| {
            let classes = agreement.classes.iter().filter(judged).map(of);
            classes.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
        };
        let verdict = match (compared.beyond(GOAL).is_empty(), compared.beyond(bound(case, scheme)).is_empty()) {
            (true, _) => "",
            (false, true) => "wider",
            (false, false) => "BEYOND",
        };
        let flows = own.classes.iter().map(|class| class.flows).sum::<usize>();
        table.add_row([
            (*case).to_owned(),
            (*scheme).to_owned(),
            flows.to_string(),
            percent(furthest(|class| class.1)),
            percent(furthest(|class| class.2)),
            format!("{:.3}", agreement.distance),
            own.counts.drops.to_string(),
            peer.counts.drops.to_string(),
            own.counts.timeouts.to_string(),
            peer.counts.timeouts.to_string(),
            seconds(own.counts.cpu_seconds),
            seconds(peer.counts.cpu_seconds),
            format!("{:.0}x", agreement.cpu_ratio),
            verdict.to_owned(),
        ]);
    }
    align(&mut table, 2);
    let (mean, p99) = (100.0 * GOAL.mean, 100.0 * GOAL.p99);
    format!(
        "{table}\nmean, p99: of the completion times, tailcut over ns-3, of the class of sizes in which they differ most\n\
         wider: further apart than the goal of {mean} % and {p99} %, docs/validation.md says why, or that it is open"
    )
}

fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Figures to the right, the first columns to the left.
fn align(table: &mut Table, left: usize) {
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}

fn time(us: f64) -> String {
    if us < 100.0 { format!("{us:.3}") } else { format!("{us:.1}") }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}
