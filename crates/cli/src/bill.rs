//! `tailcut bill`.

use std::path::PathBuf;

use clap::Args;
use tailcut_lab::place::{self, BillQuery, BillTable};
use tailcut_placement::bill::{Datacenter, NicPrice};
use tailcut_sim::Problem;

use crate::format::TableFormat;
use crate::page::Page;

#[derive(Args)]
pub(crate) struct BillCommand {
    /// Leaf switches before anything is added
    #[arg(long, value_name = "N", default_value_t = Datacenter::THESIS.leaves)]
    leaves: u32,
    /// Servers on each of them
    #[arg(long, value_name = "N", default_value_t = Datacenter::THESIS.hosts_per_leaf)]
    hosts_per_leaf: u32,
    /// Spine switches
    #[arg(long, value_name = "N", default_value_t = Datacenter::THESIS.spines)]
    spines: u32,
    /// Shares of the servers that incast applications are on, such as 3%,5%
    #[arg(long, value_name = "PERCENT%", value_delimiter = ',', default_value = "3%,4%,5%")]
    share: Vec<String>,
    /// Numbers of extra links of each of these servers, such as 1,2,5
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    links: Vec<u32>,
    /// New spine switches, beside as many as have ports for the links
    #[arg(long, value_name = "N", default_value_t = 2)]
    new_spines: u32,
    /// Rate of a spine's link over that of a leaf's
    #[arg(long, value_name = "RATIO", default_value_t = 4.0)]
    theta: f64,
    /// A file with prices [default: those of the thesis, data/prices.toml]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// What a NIC for a spine's link costs [default: as the one for a leaf's, unless the prices say otherwise]
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    fast_nic: Option<f64>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Reads `3%` as 0.03.
fn share(text: &str) -> Result<f64, Problem> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match percent {
        Some(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err(Problem::new(format!("`{text}` is no share of the servers"))
            .help("expected above 0% and up to 100%, such as 3%")),
    }
}

impl BillCommand {
    fn query(&self) -> Result<BillQuery, Problem> {
        let mut prices = place::prices(self.prices.as_deref())?;
        if let Some(price) = self.fast_nic {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(Problem::new(format!("{price} is no price")).help("expected 0 or more"));
            }
            let rate = prices.spine_switch.rate;
            prices.fast_nic = Some(NicPrice { price, rate, source: "the command line".to_owned() });
        }
        let datacenter = Datacenter { leaves: self.leaves, hosts_per_leaf: self.hosts_per_leaf, spines: self.spines };
        let counts = [("leaves", self.leaves), ("servers on a leaf", self.hosts_per_leaf), ("spines", self.spines)];
        if let Some((what, count)) = counts.iter().find(|(_, count)| !(1..=10_000).contains(count)) {
            return Err(Problem::new(format!("there cannot be {count} {what}")).help("expected 1 to 10,000"));
        }
        if let Some(links) = self.links.iter().find(|links| !(1..=100).contains(*links)) {
            return Err(Problem::new(format!("a server cannot have {links} extra links")).help("expected 1 to 100"));
        }
        if !(self.theta >= 1.0 && self.theta <= 1000.0) {
            return Err(Problem::new(format!("a spine's link is not {} times as fast as a leaf's", self.theta))
                .help("expected at least 1"));
        }
        let shares = self.share.iter().map(|text| share(text)).collect::<Result<Vec<f64>, Problem>>()?;
        let (links, new_spines, theta) = (self.links.clone(), self.new_spines, self.theta);
        Ok(BillQuery { datacenter, shares, links, new_spines, theta, prices })
    }
}

pub(crate) fn bill(arguments: &BillCommand) -> Result<(), Problem> {
    let table = BillTable::new(&arguments.query()?);
    let text = match arguments.format {
        TableFormat::Table => table.text(),
        TableFormat::Csv => table.csv(),
        TableFormat::Json => table.json(),
    };
    let mut out = Page::default();
    out.line(text.trim_end_matches('\n'));
    out.print();
    Ok(())
}
