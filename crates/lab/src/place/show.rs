//! A placement for people and for programs.

use std::fmt::Write as _;

use serde_json::json;
use tailcut_base::Bytes;
use tailcut_placement::RandomRow;
use tailcut_placement::bill::{Bill, Datacenter, NewSpines, subways, superways};

use super::Placing;
use super::bills::{money, write_bill};

impl Placing {
    /// What the placement costs, with the new spines that it needs, and Subways on the same network.
    fn bills(&self) -> (Bill, Bill) {
        let links = self.placement.links();
        let new = NewSpines::Given(self.new_spines() as u32);
        let racks = self.site.leaves.len() as u32;
        let datacenter = Datacenter {
            leaves: racks,
            hosts_per_leaf: (self.site.rack_of.len() as u32).div_ceil(racks.max(1)),
            spines: self.site.spines.len() as u32,
        };
        (superways(links, new, &self.prices), subways(&datacenter, &self.prices))
    }

    /// For the terminal: the trace of each server, and the bill.
    pub fn text(&self) -> String {
        let servers = &self.placement.servers;
        let mut out = format!(
            "{}: {} applications on {} servers, {} extra links ({}), {}\n",
            self.name,
            self.site.applications.len(),
            servers.len(),
            self.placement.links(),
            self.mode_name(),
            self.point
        );
        let bytes = |size: f64| Bytes(size as u64);
        let _ = writeln!(
            out,
            "alpha = {}, B_l = {}, B_s = {}, theta = {}",
            self.sizing.alpha,
            bytes(self.sizing.leaf_buffer),
            bytes(self.sizing.spine_buffer),
            self.sizing.theta
        );
        for (on, ways) in servers.iter().zip(&self.ways) {
            let names: Vec<&str> =
                on.applications.iter().map(|placed| self.site.applications[placed.application].name.as_str()).collect();
            let _ = writeln!(out, "\nhost {} in rack {}: {}", on.server.host, on.server.rack, names.join(", "));
            for placed in &on.applications {
                let of = &self.site.applications[placed.application];
                let _ = writeln!(
                    out,
                    "  {}: d = {:.4}, s = {:.5} B, {:.4} of its senders in the rack, at most {:.4} at the leaf",
                    of.name, of.degree, of.size, placed.beta, placed.at_leaf
                );
            }
            for step in &on.trace {
                let _ = writeln!(out, "  {}", step.text());
            }
            let attached = self.attachments.iter().filter(|attachment| attachment.host == on.server.host);
            let attached: Vec<String> =
                attached.map(|to| format!("{} to {}", to.links, self.spines[to.spine].name)).collect();
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
                self.placement.links()
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
        let spine = |at: usize| &self.spines[at].name;
        let attachments: Vec<serde_json::Value> = self
            .attachments
            .iter()
            .map(|to| json!({ "host": to.host, "switch": spine(to.spine), "links": to.links }))
            .collect();
        let object = json!({
            "scenario": self.name,
            "point": self.point,
            "mode": self.mode_name(),
            "sizing": self.sizing,
            "applications": self.site.applications,
            "servers": self.placement.servers,
            "links": self.placement.links(),
            "attachments": attachments,
            "ways": self.ways,
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
