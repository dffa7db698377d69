//! What the page of a run shows beside the statistics, and what somebody else finds out.

use std::collections::BTreeMap;

use tailcut_results::SchemeDifferences;

/// What the page shows beside the statistics. Of what is empty there is nothing on the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// The other schemes against one of them; `None` if there is one scheme alone.
    pub ratios: Option<RatiosToBaseline>,
    /// In what schemes differ from their presets and from what the scenario says of all.
    pub differences: Vec<SchemeDifferences>,
    /// Sentences about the results, each a plain text: "`tcp` and `dctcp` are the same at every point".
    pub notes: Vec<String>,
}

/// The metrics of the other schemes over those of one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct RatiosToBaseline {
    /// The scheme that the others are compared with.
    pub baseline: String,
    /// The ratios, in any order.
    pub ratios: Vec<SchemeRatio>,
}

/// A metric of a scheme over the same metric of the baseline at the same swept values.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeRatio {
    /// The scheme.
    pub scheme: String,
    /// The swept values, in the order of the axes.
    pub values: Vec<String>,
    /// The set of flows.
    pub class: String,
    /// The metric.
    pub metric: String,
    /// Its value over that of the baseline.
    pub ratio: f64,
    /// The ends of the 95 % interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// Whether it was formed seed by seed, on the same flows.
    pub paired: bool,
    /// Seeds that it rests on.
    pub seeds: usize,
}

/// The ratios to a baseline, to be found by what they are of.
pub(crate) struct RatioIndex<'a> {
    /// The scheme that the others are compared with.
    pub(crate) baseline: &'a str,
    ratios: BTreeMap<RatioKey<'a>, &'a SchemeRatio>,
}

/// A scheme, its swept values, a set of flows and a metric.
type RatioKey<'a> = (&'a str, &'a [String], &'a str, &'a str);

impl SchemeRatio {
    fn key(&self) -> RatioKey<'_> {
        (&self.scheme, &self.values, &self.class, &self.metric)
    }
}

impl Annotations {
    /// The ratios; `None` if there are none.
    pub(crate) fn ratio_index(&self) -> Option<RatioIndex<'_>> {
        let RatiosToBaseline { baseline, ratios } = self.ratios.as_ref()?;
        let ratios: BTreeMap<RatioKey<'_>, &SchemeRatio> = ratios.iter().map(|one| (one.key(), one)).collect();
        (!ratios.is_empty()).then_some(RatioIndex { baseline, ratios })
    }
}

impl RatioIndex<'_> {
    /// The ratio of a metric of a set of flows at a design point.
    pub(crate) fn get(&self, scheme: &str, values: &[String], class: &str, metric: &str) -> Option<&SchemeRatio> {
        self.ratios.get(&(scheme, values, class, metric)).copied()
    }
}
