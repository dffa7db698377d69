//! Statistics of a run that the pages show: a selection of its `summary.csv`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tailcut_results::is_of_few;

/// One statistic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FigureRow {
    /// The scheme.
    pub(crate) scheme: String,
    /// The swept values: `PATH=VALUE; PATH=VALUE`.
    pub(crate) at: String,
    pub(crate) class: String,
    pub(crate) metric: String,
    /// The value in the unit of the metric; `None` without samples.
    pub(crate) value: Option<f64>,
    /// Ends of the 95 % interval.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// The number of values; `None` in what was stored before it was kept, whose percentiles all have intervals and are
    /// of enough.
    #[serde(default)]
    pub(crate) n: Option<u64>,
}

impl FigureRow {
    /// Whether it is a percentile of fewer values than it needs: the maximum or near it.
    pub(crate) fn is_of_few(&self) -> bool {
        self.value.is_some() && self.n.is_some_and(|n| is_of_few(&self.metric, n))
    }
}

/// Which statistic is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(crate) scheme: &'a str,
    /// Swept values by path; paths with one value need not be named.
    pub(crate) at: &'a BTreeMap<String, String>,
    pub(crate) class: &'a str,
    pub(crate) metric: &'a str,
}

/// Statistics, and which of them have been asked for.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    rows: Vec<FigureRow>,
    asked: RefCell<BTreeSet<usize>>,
}

impl Figures {
    pub(crate) fn new(rows: Vec<FigureRow>) -> Figures {
        Figures { rows, asked: RefCell::default() }
    }

    /// Reads the selection of a page.
    pub(crate) fn read(text: &str) -> Result<Figures, String> {
        let rows: Result<Vec<FigureRow>, csv::Error> =
            csv::Reader::from_reader(text.as_bytes()).deserialize().collect();
        Ok(Figures::new(rows.map_err(|error| error.to_string())?))
    }

    /// Reads the `summary.csv` of a run: the scheme, a column for each swept path, further ones with its values as
    /// numbers (`port.limit_bytes`), then the statistic.
    pub(crate) fn read_summary(text: &str) -> Result<Figures, String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().map_err(|error| error.to_string())?.clone();
        let end = head.iter().position(|name| name == "class").ok_or("no column class")?;
        let is_number_of = |name: &str, path: &str| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('_'));
        let axes: Vec<usize> =
            (1..end).filter(|&at| !(1..end).any(|other| is_number_of(&head[at], &head[other]))).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let of = |name: &str| {
                let at = head.iter().position(|known| known == name).ok_or_else(|| format!("no column {name}"))?;
                Ok::<String, String>(record[at].to_owned())
            };
            let at: Vec<String> = axes.iter().map(|&at| format!("{}={}", &head[at], &record[at])).collect();
            let number = |name: &str| Ok::<_, String>(of(name)?.parse::<f64>().ok());
            rows.push(FigureRow {
                scheme: of("scheme")?,
                at: at.join("; "),
                class: of("class")?,
                metric: of("metric")?,
                value: number("value")?,
                low: number("low")?,
                high: number("high")?,
                n: of("n")?.parse().ok(),
            });
        }
        Ok(Figures::new(rows))
    }

    /// The one statistic of this key.
    pub(crate) fn get(&self, key: &Key<'_>) -> Result<&FigureRow, String> {
        let is_at = |row: &FigureRow| {
            let here: Vec<&str> = row.at.split("; ").collect();
            key.at.iter().all(|(path, value)| here.contains(&format!("{path}={value}").as_str()))
        };
        let is_it = |row: &FigureRow| {
            row.scheme.trim_end_matches('*') == key.scheme
                && row.class == key.class
                && row.metric == key.metric
                && is_at(row)
        };
        let found: Vec<usize> = (0..self.rows.len()).filter(|&at| is_it(&self.rows[at])).collect();
        let shown = || {
            let at: Vec<String> = key.at.iter().map(|(path, value)| format!("{path}={value}")).collect();
            format!("{} of {} under {} at {}", key.metric, key.class, key.scheme, at.join(", "))
        };
        match found.as_slice() {
            [at] => {
                self.asked.borrow_mut().insert(*at);
                Ok(&self.rows[*at])
            }
            [] => Err(format!("there is no {}", shown())),
            many => Err(format!("there are {} statistics {}: name more swept values in `at`", many.len(), shown())),
        }
    }

    /// The fewest values that a metric of a set of flows is of; `None` if that is not stored.
    pub(crate) fn fewest(&self, class: &str, metric: &str) -> Option<u64> {
        let here = self.rows.iter().filter(|row| row.class == class && row.metric == metric && row.value.is_some());
        here.map(|row| row.n).min().flatten()
    }

    /// Those that have been asked for, as a text that [`Figures::read`] reads.
    pub(crate) fn asked(&self) -> Result<String, String> {
        let mut out = csv::Writer::from_writer(Vec::new());
        for &at in self.asked.borrow().iter() {
            out.serialize(&self.rows[at]).map_err(|error| error.to_string())?;
        }
        let bytes = out.into_inner().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "scheme,workload.load,port.limit,port.limit_bytes,class,metric,value,low,high,n,unit,note\n\
                           tcp,0.4,1MB,1000000,all,fct_p99,10.5,9,12,3,us,\n\
                           tcp,0.4,2MB,2000000,all,fct_p99,11,,,3,us,\n\
                           tcp,0.8,1MB,1000000,all,fct_p99,20,19,21,3,us,\n";

    #[test]
    fn a_key_finds_one_statistic_and_what_was_asked_for_can_be_kept() {
        let figures = Figures::read_summary(SUMMARY).unwrap();
        let at = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect()
        };
        let get = |figures: &Figures, at: &BTreeMap<String, String>| {
            figures.get(&Key { scheme: "tcp", at, class: "all", metric: "fct_p99" }).map(|row| (row.value, row.low))
        };
        assert_eq!(get(&figures, &at(&[("workload.load", "0.8")])), Ok((Some(20.0), Some(19.0))));
        let both = at(&[("workload.load", "0.4"), ("port.limit", "2MB")]);
        assert_eq!(get(&figures, &both), Ok((Some(11.0), None)));
        let kept = Figures::read(&figures.asked().unwrap()).unwrap();
        assert_eq!((kept.rows.len(), get(&kept, &both)), (2, Ok((Some(11.0), None))));
        let ambiguous = get(&figures, &at(&[("workload.load", "0.4")])).unwrap_err();
        assert!(ambiguous.contains("2 statistics") && ambiguous.contains("`at`"), "{ambiguous}");
        assert!(get(&figures, &at(&[("workload.load", "0.5")])).unwrap_err().starts_with("there is no fct_p99 of all"));
        assert_eq!((figures.fewest("all", "fct_p99"), figures.fewest("all", "fct_mean")), (Some(3), None));
    }
}
