//! `tailcut thresholds`.

use std::path::PathBuf;

use clap::Args;
use tailcut_base::{BitRate, Bytes, Span};
use tailcut_lab::thresholds::{BandQuery, BandTable, MOST_QUEUES, ThresholdQuery, ThresholdTable};
use tailcut_sim::{Files, Problem};
use tailcut_workload::{Interpolation, SizeFile, SizeFormat, Sizes};

use crate::claims::one_of;
use crate::format::TableFormat;
use crate::page::Page;

#[derive(Args)]
pub(crate) struct ThresholdsCommand {
    /// A size distribution that ships with tailcut, such as websearch (`tailcut list workloads`)
    #[arg(long, value_name = "NAME", required_unless_present = "file", conflicts_with = "file")]
    workload: Option<String>,
    /// A file with a size distribution
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The columns of the file: tailcut, ns2 or hpcc
    #[arg(long, value_name = "FORM", default_value = "tailcut", conflicts_with = "workload")]
    columns: String,
    /// Bytes of a packet in a file of form ns2, such as 1460B
    #[arg(long, value_name = "SIZE", requires = "file", conflicts_with = "workload")]
    packet_bytes: Option<Bytes>,
    /// Where the sizes between two lines of the file lie: linear or step. If it is not given, linear, or as the mean in
    /// the file's first line says
    #[arg(long, value_name = "FORM", requires = "file", conflicts_with = "workload")]
    interpolation: Option<String>,
    /// Most queues, 1 to 8: fewer are used where another one gains nothing
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "8", conflicts_with = "hyline")]
    queues: usize,
    /// The load of the link, or several: 0.5,0.6
    #[arg(long, value_name = "LOAD", value_delimiter = ',', allow_negative_numbers = true, required = true)]
    load: Vec<f64>,
    /// The rate of the link, such as 10Gbps: mean times are given as well. With --hyline, 1Gbps if it is not given
    #[arg(long, value_name = "RATE")]
    link: Option<BitRate>,
    /// The band of HyLine's threshold in place of the thresholds of a feedback queue: larger flows ask a controller
    #[arg(long)]
    hyline: bool,
    /// With --hyline: what it costs a flow to ask
    #[arg(long, value_name = "TIME", default_value = "100us", requires = "hyline")]
    cost: Span,
    /// With --hyline: the largest share of the load that may be of flows that do not ask
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, default_value = "0.1", requires = "hyline")]
    share: f64,
    /// With --hyline: the threshold to look at
    #[arg(long, value_name = "SIZE", default_value = "1MB", requires = "hyline")]
    at: Bytes,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

impl ThresholdsCommand {
    /// What the band of HyLine is asked for.
    fn band(&self) -> Result<BandQuery, Problem> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Problem::new(format!("a share of {} leaves one of the two classes nothing", self.share))
                .help("expected a share above 0 and below 1, such as 0.1"));
        }
        if self.cost == Span::ZERO {
            return Err(Problem::new("asking for nothing is worth any wait: there is no lower bound")
                .help("expected a time, such as 100us"));
        }
        let ThresholdQuery { name, sizes, loads, link, .. } = self.query()?;
        let link = link.unwrap_or(BitRate::gbps(1));
        Ok(BandQuery { name, sizes, loads, link, cost: self.cost, share: self.share, threshold: self.at })
    }

    fn query(&self) -> Result<ThresholdQuery, Problem> {
        if !(1..=MOST_QUEUES).contains(&self.queues) {
            return Err(Problem::new(format!("there cannot be {} queues", self.queues))
                .help(format!("expected 1 to {MOST_QUEUES}, the classes of a port")));
        }
        if let Some(load) = self.load.iter().find(|&&load| !(load > 0.0 && load < 1.0)) {
            return Err(Problem::new(format!("a queue with a load of {load} has no mean time"))
                .help("expected a load above 0 and below 1, such as 0.6"));
        }
        if self.link.is_some_and(|link| link.as_bps() == 0) {
            return Err(Problem::new("a link of 0 bps serves nothing").help("expected a rate, such as 10Gbps"));
        }
        let (name, sizes) = match (&self.workload, &self.file) {
            (Some(name), _) => {
                let known: Vec<&str> = tailcut_workload::distributions().iter().map(|known| known.name).collect();
                (name.clone(), Sizes::Distribution(one_of("workload", name, &known)?.to_owned()))
            }
            (None, file) => {
                let path = file.clone().expect("one of the two is required");
                let format = match one_of("form of columns", &self.columns, &["tailcut", "ns2", "hpcc"])? {
                    "ns2" => SizeFormat::Ns2,
                    "hpcc" => SizeFormat::Hpcc,
                    _ => SizeFormat::Tailcut,
                };
                let interpolation = match &self.interpolation {
                    None => None,
                    Some(name) => match one_of("interpolation", name, &["linear", "step"])? {
                        "step" => Some(Interpolation::Step),
                        _ => Some(Interpolation::Linear),
                    },
                };
                let name = path.display().to_string();
                (name, Sizes::File(SizeFile { path, format, packet_bytes: self.packet_bytes, interpolation }))
            }
        };
        let sizes = sizes.distribution(&Files::default()).map_err(|invalid| {
            let problem = Problem::new(invalid.message);
            match invalid.help {
                Some(help) => problem.help(help),
                None => problem,
            }
        })?;
        Ok(ThresholdQuery { name, sizes, queues: self.queues, loads: self.load.clone(), link: self.link })
    }
}

pub(crate) fn thresholds(arguments: &ThresholdsCommand) -> Result<(), Problem> {
    let text = if arguments.hyline {
        let table = BandTable::new(&arguments.band()?);
        match arguments.format {
            TableFormat::Csv => table.csv(),
            TableFormat::Json => table.json(),
            TableFormat::Table => table.text(),
        }
    } else {
        let table = ThresholdTable::new(&arguments.query()?);
        match arguments.format {
            TableFormat::Csv => table.csv(),
            TableFormat::Json => table.json(),
            TableFormat::Table => table.text(),
        }
    };
    let mut out = Page::default();
    out.line(text.trim_end_matches('\n'));
    out.print();
    Ok(())
}
