//! A placement for people and for programs.

use std::fmt::Write as _;

use serde_json::json;
use tailcut_base::Bytes;
use tailcut_placement::RandomRow;
use tailcut_placement::bill::{Bill, Datacenter, subways};

use super::bills::{money, write_bill};
use super::{Placing, bill};

impl Placing {
    /// What the placement costs, with the new spines that it needs, and Subways on the same network.
    fn bills(&self) -> (Bill, Bill) {
        let racks = self.placed.site.leaves.len() as u32;
        let datacenter = Datacenter {
            leaves: racks,
            hosts_per_leaf: (self.placed.site.rack_of.len() as u32).div_ceil(racks.max(1)),
            spines: self.placed.site.spines.len() as u32,
        };
        (bill(&self.placed, &self.prices), subways(&datacenter, &self.prices))
    }

    /// For the terminal: the trace of each server, and the bill.
    pub fn text(&self) -> String {
        let servers = &self.placed.placement.servers;
        let mut out = format!(
            "{}: {} applications on {} servers, {} extra links ({}), {}\n",
            self.name,
            self.placed.site.applications.len(),
            servers.len(),
            self.placed.placement.links(),
            self.mode_name(),
            self.point
        );
        let bytes = |size: f64| Bytes(size as u64);
        let _ = writeln!(
            out,
            "alpha = {}, B_l = {}, B_s = {}, theta = {}",
            self.placed.sizing.alpha,
            bytes(self.placed.sizing.leaf_buffer),
            bytes(self.placed.sizing.spine_buffer),
            self.placed.sizing.theta
        );
        let estimate = self.placed.parameters.degree_estimate;
        if estimate != 1.0 {
            let _ = writeln!(out, "each degree d is taken for {estimate} times what it is");
        }
        for (on, ways) in servers.iter().zip(&self.placed.ways) {
            let names: Vec<&str> = on
                .applications
                .iter()
                .map(|placed| self.placed.site.applications[placed.application].name.as_str())
                .collect();
            let _ = writeln!(out, "\nhost {} in rack {}: {}", on.server.host, on.server.rack, names.join(", "));
            for placed in &on.applications {
                let of = &self.placed.site.applications[placed.application];
                let _ = writeln!(
                    out,
                    "  {}: d = {:.4}, s = {:.5} B, {:.4} of its senders in the rack, at most {:.4} at the leaf",
                    of.name, of.degree, of.size, placed.beta, placed.at_leaf
                );
            }
            for step in &on.trace {
                let _ = writeln!(out, "  {}", step.text());
            }
            let attached = self.placed.attachments.iter().filter(|attachment| attachment.host == on.server.host);
            let attached: Vec<String> =
                attached.map(|to| format!("{} to {}", to.links, self.placed.spines[to.spine].name)).collect();
            if !attached.is_empty() {
                let _ = writeln!(
                    out,
                    "  extra links: {}; left of their buffers {:.0} B, needed {:.4} of {}",
                    attached.join(", "),
                    on.spine_residual,
                    on.load,
                    on.links
                );
            }
            if !ways.extra.is_empty() {
                let _ = writeln!(out, "  of the rack over the extra links: hosts {:?}", ways.extra);
            }
            if !ways.leaf.is_empty() {
                let _ = writeln!(out, "  of other racks over the leaf: hosts {:?}", ways.leaf);
            }
        }
        if let Some(fewest) = &self.fewest {
            let _ = writeln!(
                out,
                "\nfewest links of any placement: {} on {} servers; this one has {}",
                fewest.links,
                fewest.servers,
                self.placed.placement.links()
            );
        }
        let (own, rival) = self.bills();
        out.push('\n');
        write_bill(&mut out, &own);
        write_bill(&mut out, &rival);
        let _ = writeln!(
            out,
            "prices in {}, {}; Subways costs {} times as much",
            self.prices.currency,
            self.prices.date,
            times(&rival, &own)
        );
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        out
    }

    /// For programs: one JSON object.
    pub fn json(&self) -> String {
        let (own, rival) = self.bills();
        let spine = |at: usize| &self.placed.spines[at].name;
        let attachments: Vec<serde_json::Value> = self
            .placed
            .attachments
            .iter()
            .map(|to| json!({ "host": to.host, "switch": spine(to.spine), "links": to.links }))
            .collect();
        let object = json!({
            "scenario": self.name,
            "point": self.point,
            "mode": self.mode_name(),
            "degree_estimate": self.placed.parameters.degree_estimate,
            "sizing": self.placed.sizing,
            "applications": self.placed.site.applications,
            "servers": self.placed.placement.servers,
            "links": self.placed.placement.links(),
            "attachments": attachments,
            "ways": self.placed.ways,
            "fewest": self.fewest,
            "bill": own,
            "bill_total": own.total(),
            "subways": rival,
            "subways_total": rival.total(),
            "notes": self.notes,
        });
        object.to_string() + "\n"
    }
}

fn times(rival: &Bill, own: &Bill) -> String {
    if own.total() > 0.0 {
        format!("{:.1}", rival.total() / own.total())
    } else {
        format!("{} against nothing,", money(rival.total()))
    }
}

/// The comparison of the heuristic with the fewest links, as a table for the terminal.
pub fn random_text(rows: &[RandomRow], count: usize, instances: u32) -> String {
    let mut out = format!(
        "{instances} sets of {count} applications of each kind, degrees uniform; links on average\n\
         degrees  answer  buffer  theta   alone  heuristic  fewest  as few  worst  servers  fewer after growing\n"
    );
    for row in rows {
        let (least, most) = row.case.degrees;
        let _ = writeln!(
            out,
            "{:>7}  {:>6}  {:>6} {:>6} {:>7.2} {:>10.2} {:>7.2} {:>5.1} % {:>6} {:>8.2} {:>18.1} %",
            format!("{least}-{most}"),
            Bytes(row.case.size as u64).to_string(),
            Bytes(row.case.buffer as u64).to_string(),
            row.case.theta,
            row.alone,
            row.greedy,
            row.fewest,
            row.is_fewest * 100.0,
            format!("+{}", row.worst),
            row.servers,
            row.anomalies * 100.0
        );
    }
    out
}
