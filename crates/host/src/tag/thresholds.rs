//! Demotion thresholds: a list, or the name of a published one.
//!
//! A published set has a row for each of several loads. Which load that is, a tag cannot know: [`Thresholds::resolve`]
//! is told by whoever holds the whole scenario, before a tag is made.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::{Around, Invalid, suggest};

/// Where a flow falls to the next class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Thresholds {
    /// In bytes, ascending, such as `["32KB", "1MB"]`.
    List(Vec<Bytes>),
    /// As published: `{ published = "websearch" }`.
    Published(Published),
}

/// The name of a published set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// A set of the public scripts of PIAS (HKUST-SING/PIAS-NS2): `websearch`, `datamining`, `hybrid`, `websearch-nsdi`
    /// or `datamining-nsdi`.
    pub published: String,
    /// The load whose row is taken, or the nearest one's: the scripts have 0.5 to 0.9. Without it, `workload.load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

impl<'de> Deserialize<'de> for Thresholds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Thresholds, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Thresholds;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of sizes, such as [\"32KB\", \"1MB\"], or { published = \"websearch\" }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Thresholds, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Thresholds::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Thresholds, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Thresholds::Published)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// One set of published thresholds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    names: Vec<String>,
    /// Where it was published.
    #[serde(rename = "source")]
    _source: String,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// None if the row is for all loads.
    load: Option<f64>,
    packets: Vec<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedTable {
    packet_bytes: u64,
    set: Vec<Set>,
}

static TABLE: LazyLock<PublishedTable> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../../data/pias-thresholds.toml")).expect("a table that ships is right")
});

/// The row of a published set for a load.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// The load that it was published for; `None` if that was all of them.
    pub load: Option<f64>,
    /// The thresholds.
    pub thresholds: Vec<Bytes>,
}

/// Names of the published sets.
pub fn published_names() -> Vec<&'static str> {
    TABLE.set.iter().flat_map(|set| &set.names).map(String::as_str).collect()
}

/// The row of the published set `name` whose load is nearest to `load`, the higher one of two; `None` if there is no
/// such set.
pub fn published(name: &str, load: f64) -> Option<PublishedRow> {
    /// Loads are decimals: 0.55 lies between 0.5 and 0.6, whatever their nearest binary fractions.
    const SAME: f64 = 1e-9;
    let set = TABLE.set.iter().find(|set| set.names.iter().any(|known| known == name))?;
    let distance = |row: &Row| row.load.map_or(0.0, |of| (of - load).abs());
    let nearest =
        set.rows.iter().reduce(|best, row| if distance(row) <= distance(best) + SAME { row } else { best })?;
    let thresholds = nearest.packets.iter().map(|packets| Bytes(packets * TABLE.packet_bytes)).collect();
    Some(PublishedRow { load: nearest.load, thresholds })
}

impl Thresholds {
    /// How many there are; none are known of a published set that is not looked up.
    pub fn count(&self) -> usize {
        match self {
            Thresholds::List(list) => list.len(),
            Thresholds::Published(_) => 0,
        }
    }

    /// Writes out thresholds that are only named, for a scenario whose workload has this load.
    ///
    /// # Errors
    /// As [`Thresholds::resolve`].
    pub fn settle(&mut self, load: Option<f64>) -> Result<(), Invalid> {
        let list = self.resolve(load)?.into_owned();
        *self = Thresholds::List(list);
        Ok(())
    }

    /// What is strange about thresholds that are resolved or given as a list.
    pub(super) fn warnings(&self, around: &Around) -> Vec<String> {
        let Thresholds::List(list) = self else { return Vec::new() };
        let mut warnings = around.strange_thresholds(list.iter().map(|threshold| threshold.0));
        if let Some(last) = list.last().filter(|last| last.0 < around.bdp) {
            warnings.push(format!(
                "the last of `thresholds`, {}, is below the bandwidth-delay product of {}: a flow that fills the longest \
                 path falls to the lowest class within a round trip",
                last.rounded(),
                Bytes(around.bdp).rounded()
            ));
        }
        warnings
    }

    /// The thresholds in a scenario whose workload has this load, if it has one.
    ///
    /// # Errors
    /// If there is no such published set, or no load to take its row by. The path is relative to the thresholds.
    pub fn resolve(&self, load: Option<f64>) -> Result<Cow<'_, [Bytes]>, Invalid> {
        let Published { published: name, load: own } = match self {
            Thresholds::List(list) => return Ok(Cow::Borrowed(list)),
            Thresholds::Published(published) => published,
        };
        let Some(load) = own.or(load) else {
            let message = format!("`{name}` has thresholds for several loads, and the workload has no `load`");
            return Err(Invalid::new("published", message).help("expected `load = 0.6` beside it, or `workload.load`"));
        };
        if !(load > 0.0 && load.is_finite()) {
            return Err(Invalid::new(
                if own.is_some() { "load" } else { "" },
                format!("a load of {load} is not positive"),
            )
            .help("expected a fraction, such as 0.6"));
        }
        match published(name, load) {
            Some(row) => Ok(Cow::Owned(row.thresholds)),
            None => Err(Invalid::new("published", format!("no thresholds are published for `{name}`"))
                .help(suggest(name, &published_names()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str, load: f64) -> (Option<f64>, u64) {
        let row = published(name, load).unwrap();
        (row.load, row.thresholds[0].0 / 1460)
    }

    #[test]
    fn the_row_of_the_nearest_load_is_taken() {
        for (load, of, packets) in [
            (0.1, 0.5, 1059),
            (0.5, 0.5, 1059),
            (0.54, 0.5, 1059),
            (0.55, 0.6, 956),
            (0.6, 0.6, 956),
            (0.65, 0.7, 999),
            (0.8, 0.8, 909),
            (0.85, 0.9, 759),
            (0.95, 0.9, 759),
        ] {
            assert_eq!(first("websearch", load), (Some(of), packets), "{load}");
            assert_eq!(first("hybrid", load), (Some(of), packets), "{load}");
        }
        assert_eq!(first("datamining", 0.9), (Some(0.9), 750));
        assert_eq!(first("websearch-nsdi", 0.9), (None, 46));
        assert_eq!(first("datamining-nsdi", 0.2), (None, 257));
    }

    #[test]
    fn every_row_has_seven_thresholds_that_ascend() {
        for name in published_names() {
            for tenths in 1..=9 {
                let thresholds = published(name, f64::from(tenths) / 10.0).unwrap().thresholds;
                assert!(thresholds.len() == 7 && thresholds.is_sorted_by(|a, b| a < b), "{name} {thresholds:?}");
            }
        }
    }

    #[test]
    fn a_load_of_its_own_goes_before_that_of_the_workload_and_one_of_them_is_needed() {
        let named = |load| Thresholds::Published(Published { published: "websearch".to_owned(), load });
        let first = |thresholds: Thresholds, load| thresholds.resolve(load).map(|list| list[0].0 / 1460);
        assert_eq!(first(named(None), Some(0.7)), Ok(999));
        assert_eq!(first(named(Some(0.9)), Some(0.7)), Ok(759));
        assert_eq!(first(named(None), None).unwrap_err().path, "published");
        assert_eq!(first(named(Some(-1.0)), Some(0.7)).unwrap_err().path, "load");
        assert_eq!(first(named(None), Some(f64::NAN)).unwrap_err().path, "");
        assert_eq!(Thresholds::List(vec![Bytes(3)]).resolve(None).unwrap()[..], [Bytes(3)]);
    }

    #[test]
    fn an_unknown_set_is_refused_with_the_nearest_name() {
        let wrong = Thresholds::Published(Published { published: "web-search".to_owned(), load: Some(0.5) });
        let error = wrong.resolve(None).unwrap_err();
        assert!(error.path == "published" && error.help.as_ref().unwrap().contains("`websearch`"), "{error}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Holder {
            thresholds: Thresholds,
        }
        for text in ["thresholds = [\"32KB\", \"1MB\"]\n", "[thresholds]\npublished = \"hybrid\"\nload = 0.6\n"] {
            let holder: Holder = toml::from_str(text).unwrap();
            assert_eq!(toml::from_str::<Holder>(&toml::to_string(&holder).unwrap()).unwrap(), holder);
            assert_eq!(matches!(holder.thresholds, Thresholds::List(_)), text.contains("32KB"));
        }
        let error = toml::from_str::<Holder>("thresholds = 3").unwrap_err();
        assert!(error.to_string().contains("published = \"websearch\""), "{error}");
    }
}
