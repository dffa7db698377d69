//! Whether statistics are still computed as they were.
//!
//! The digest of a simulation says nothing of the percentiles and intervals that are made of its flows. So the
//! statistics of small runs that no simulation made are computed, and for each metric a number stands for all of them:
//! if it moves, every figure that was stored before is stale. A new metric changes none of the others.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use csv::{Reader, Writer};
use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_lab::fingerprint;
use tailcut_results::{Analysis, csv as tables};

/// How each metric is computed: a number for it, in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics(BTreeMap<String, String>);

impl Statistics {
    /// How they are computed by this program.
    ///
    /// # Errors
    /// If a temporary folder cannot be written.
    pub(crate) fn now() -> Result<&'static Statistics, String> {
        static COMPUTED: OnceLock<Result<Statistics, String>> = OnceLock::new();
        COMPUTED.get_or_init(compute).as_ref().map_err(Clone::clone)
    }

    /// A number that stands for all of them, in hexadecimal digits.
    pub(crate) fn name(&self) -> String {
        let all: String = self.0.iter().map(|(metric, number)| format!("{metric} {number}\n")).collect();
        number(&all)
    }

    /// The first metric that `now` computes in another way, or no longer has.
    pub(crate) fn changed(&self, now: &Statistics) -> Option<&str> {
        self.0.iter().find(|(metric, number)| now.0.get(*metric) != Some(number)).map(|(metric, _)| metric.as_str())
    }
}

fn number(text: &str) -> String {
    format!("{:016x}", fingerprint(text.as_bytes()))
}

fn compute() -> Result<Statistics, String> {
    // Intervals come from replications where there are several seeds, and from the flows where there is one.
    let runs = [FakeRun { flows: 400, ..USUAL }, FakeRun { seeds: 1, flows: 400, ..USUAL }];
    let mut rows: BTreeMap<String, String> = BTreeMap::new();
    for run in runs {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let info = fabricate(folder.path(), &run);
        let analysis = Analysis::of(folder.path(), &info, &|| false).map_err(|error| error.to_string())?;
        let summary = tables::summary(&info, &analysis.rows);
        let mut reader = Reader::from_reader(summary.as_bytes());
        let metric = reader.headers().ok().and_then(|head| head.iter().position(|column| column == "metric"));
        let metric = metric.ok_or("a summary has no column of metrics")?;
        for row in reader.records() {
            let row = row.map_err(|error| error.to_string())?;
            let cells: Vec<&str> = row.iter().collect();
            *rows.entry(cells[metric].to_owned()).or_default() += &format!("{}\n", cells.join(","));
        }
    }
    Ok(Statistics(rows.into_iter().map(|(metric, rows)| (metric, number(&rows))).collect()))
}

/// Reads the ways in which statistics were computed when what is stored was measured: a row for each metric of each of
/// them.
///
/// # Errors
/// If the table is not of its form.
pub(crate) fn read(text: &str) -> Result<BTreeMap<String, Statistics>, String> {
    let mut all: BTreeMap<String, Statistics> = BTreeMap::new();
    for row in Reader::from_reader(text.as_bytes()).into_deserialize() {
        let (name, metric, number): (String, String, String) = row.map_err(|error: csv::Error| error.to_string())?;
        all.entry(name).or_default().0.insert(metric, number);
    }
    match all.iter().find(|(name, statistics)| **name != statistics.name()) {
        Some((name, _)) => Err(format!("{name} does not stand for its metrics: it was edited")),
        None => Ok(all),
    }
}

/// The table that [`read`] reads.
///
/// # Errors
/// Never, but for a bug of the library that writes it.
pub(crate) fn write(all: &BTreeMap<String, Statistics>) -> Result<Vec<u8>, String> {
    let mut writer = Writer::from_writer(Vec::new());
    let head = ["statistics", "metric", "number"];
    let rows = all.iter().flat_map(|(name, of)| of.0.iter().map(move |(metric, number)| [name, metric, number]));
    let rows = rows.map(|row| row.map(String::as_str));
    std::iter::once(head)
        .chain(rows)
        .try_for_each(|row| writer.write_record(row))
        .map_err(|error| error.to_string())?;
    writer.into_inner().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(metrics: &[(&str, &str)]) -> Statistics {
        Statistics(metrics.iter().map(|&(metric, number)| (metric.to_owned(), number.to_owned())).collect())
    }

    #[test]
    fn a_new_metric_makes_nothing_stale_and_a_changed_or_lost_one_does() {
        let then = of(&[("fct_mean", "1"), ("fct_p99", "2")]);
        assert_eq!(then.changed(&of(&[("core_imbalance", "9"), ("fct_mean", "1"), ("fct_p99", "2")])), None);
        assert_eq!(then.changed(&of(&[("fct_mean", "1"), ("fct_p99", "3")])), Some("fct_p99"));
        assert_eq!(then.changed(&of(&[("fct_p99", "2")])), Some("fct_mean"));
    }

    #[test]
    fn the_table_is_read_as_it_was_written_and_an_edited_one_is_refused() {
        let now = Statistics::now().unwrap();
        assert!(now.0.contains_key("fct_p99") && now.0.len() > 50, "{now:?}");
        let all: BTreeMap<String, Statistics> =
            [now.clone(), of(&[("fct_mean", "1")])].map(|one| (one.name(), one)).into();
        let table = String::from_utf8(write(&all).unwrap()).unwrap();
        assert_eq!(read(&table).unwrap(), all);
        let edited = table.replace("fct_mean,1", "fct_mean,2");
        assert!(read(&edited).unwrap_err().contains("edited"));
    }
}
