//! The bills of a datacenter: Superways for shares of its servers and numbers of links, Subways, and links to leaves.

use std::fmt::Write as _;

use serde::Serialize;
use tailcut_placement::bill::{
    Bill, Datacenter, NewLeaves, NewSpines, Prices, at_leaves, break_even_nic, subways, superways,
};
use tailcut_results::csv::CsvTable;

/// What bills are asked for.
#[derive(Clone, Debug)]
pub struct BillQuery {
    /// The network before anything is added.
    pub datacenter: Datacenter,
    /// Shares of the servers that applications are on.
    pub shares: Vec<f64>,
    /// Numbers of extra links of each of these servers.
    pub links: Vec<u32>,
    /// How many new spines are bought beside as many as the ports need.
    pub new_spines: u32,
    /// Rate of a spine's link over that of a leaf's.
    pub theta: f64,
    /// What parts cost.
    pub prices: Prices,
}

/// One case of a share and a number of links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillRow {
    /// The share of the servers.
    pub share: f64,
    /// The servers.
    pub servers: u32,
    /// The links of each.
    pub links_each: u32,
    /// With the new spines that were given.
    pub given: Bill,
    /// With as many as have ports for the links.
    pub for_ports: Bill,
    /// With links to leaves, and leaves that have ports for them.
    pub at_leaves: Bill,
    /// With links to leaves, and twice as many leaves.
    pub at_doubled_leaves: Bill,
    /// What a network card of a server may cost before Superways costs as much as Subways, with spines for the ports.
    pub break_even_nic: f64,
}

/// All cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillTable {
    /// Subways of type 1 with p = 2.
    pub subways: Bill,
    /// The cases.
    pub rows: Vec<BillRow>,
    /// What the switches have no ports for.
    pub shortages: Vec<String>,
    currency: String,
    date: String,
}

/// Dollars with commas.
pub(super) fn money(amount: f64) -> String {
    let whole = format!("{:.0}", amount.abs());
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if amount < 0.0 { format!("-{out}") } else { out }
}

/// A bill, line by line.
pub(super) fn write_bill(out: &mut String, bill: &Bill) {
    let _ = writeln!(out, "{}", bill.title);
    for item in &bill.items {
        let _ =
            writeln!(out, "  {:>6} x {:>8} = {:>10}  {}", item.count, money(item.each), money(item.total), item.what);
    }
    let _ = writeln!(out, "  {:>6}   {:>8}   {:>10}  in all", "", "", money(bill.total()));
}

impl BillTable {
    /// Computes the bills.
    pub fn new(query: &BillQuery) -> BillTable {
        let BillQuery { datacenter, prices, .. } = query;
        let mut rows = Vec::new();
        for &share in &query.shares {
            let servers = datacenter.servers(share);
            for &links_each in &query.links {
                let links = servers * links_each;
                rows.push(BillRow {
                    share,
                    servers,
                    links_each,
                    given: superways(links, NewSpines::Given(query.new_spines), prices),
                    for_ports: superways(links, NewSpines::ForPorts, prices),
                    at_leaves: at_leaves(links, query.theta, NewLeaves::ForPorts, datacenter, prices),
                    at_doubled_leaves: at_leaves(links, query.theta, NewLeaves::Doubled, datacenter, prices),
                    break_even_nic: break_even_nic(links, NewSpines::ForPorts, datacenter, prices),
                });
            }
        }
        BillTable {
            subways: subways(datacenter, prices),
            rows,
            shortages: datacenter.shortages(prices),
            currency: prices.currency.clone(),
            date: prices.date.clone(),
        }
    }

    /// For the terminal: the items of the first case, and a line for each case.
    pub fn text(&self) -> String {
        let mut out = format!("prices in {}, {}\n\n", self.currency, self.date);
        write_bill(&mut out, &self.subways);
        for row in &self.rows {
            out.push('\n');
            write_bill(&mut out, &row.given);
        }
        let all = self.subways.total();
        let _ = write!(
            out,
            "\nshare  servers  links  given spines   Subways/it  spines for ports   Subways/it  links to leaves  leaves doubled  break-even NIC\n"
        );
        for row in &self.rows {
            let (given, ports) = (row.given.total(), row.for_ports.total());
            let _ = writeln!(
                out,
                "{:>4.0} % {:>7} {:>6} {:>13} {:>12.1} {:>17} {:>12.1} {:>16} {:>15} {:>15}",
                row.share * 100.0,
                row.servers,
                row.links_each,
                money(given),
                all / given,
                money(ports),
                all / ports,
                money(row.at_leaves.total()),
                money(row.at_doubled_leaves.total()),
                money(row.break_even_nic),
            );
        }
        for shortage in &self.shortages {
            let _ = writeln!(out, "note: {shortage}");
        }
        out
    }

    /// As CSV, a line for each case.
    pub fn csv(&self) -> String {
        let head = [
            "share",
            "servers",
            "links_each",
            "subways",
            "superways_given_spines",
            "superways_spines_for_ports",
            "links_to_leaves",
            "links_to_doubled_leaves",
            "break_even_nic",
        ];
        let mut table = CsvTable::new(head);
        for row in &self.rows {
            table.line([
                row.share.to_string(),
                row.servers.to_string(),
                row.links_each.to_string(),
                self.subways.total().to_string(),
                row.given.total().to_string(),
                row.for_ports.total().to_string(),
                row.at_leaves.total().to_string(),
                row.at_doubled_leaves.total().to_string(),
                row.break_even_nic.to_string(),
            ]);
        }
        table.finish()
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: texts and numbers are JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and numbers are JSON") + "\n"
    }
}
