//! The design of a study: which sweep points its claims speak of, and which simulations a subject means at one.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{Bytes, Span};
use tailcut_claims::{Coordinate, SweepPoint};
use tailcut_results::{Axis, scheme_called};

use crate::measure::MeasureDefinition;
use crate::study::{Study, Subject};

/// A scheme with the value of every axis.
pub(crate) type DesignPoint = (String, Vec<String>);

/// The sweep points of a study, as far as they are about some subjects.
pub(crate) struct Design<'a> {
    study: &'a Study,
    schemes: &'a [String],
    pub(crate) axes: &'a [Axis],
    pub(crate) points: Vec<SweepPoint>,
    /// For each sweep point the value of each axis, as it is written; `None` on an axis that the subjects themselves
    /// name.
    values: Vec<Vec<Option<String>>>,
}

impl<'a> Design<'a> {
    /// The sweep points of a study about `subjects` in `measures`. A swept parameter is no coordinate of them if a
    /// value of it is in the name of every subject, such as the threshold in `slytherin@25%`, or if one of the measures
    /// is its largest value.
    pub(crate) fn about<'s>(
        study: &'a Study,
        schemes: &'a [String],
        axes: &'a [Axis],
        subjects: impl IntoIterator<Item = &'s str>,
        measures: impl IntoIterator<Item = &'s MeasureDefinition>,
    ) -> Design<'a> {
        let of_each = subjects.into_iter().map(|subject| study.subject(subject).at.into_keys().collect());
        let mut named: BTreeSet<String> =
            of_each.reduce(|all: BTreeSet<String>, one| all.intersection(&one).cloned().collect()).unwrap_or_default();
        named.extend(measures.into_iter().filter_map(|measure| Some(measure.largest.as_ref()?.of.clone())));
        let mut all = vec![(SweepPoint::new(), Vec::new())];
        for axis in axes {
            if named.contains(&axis.path) {
                for (_, values) in &mut all {
                    values.push(None);
                }
                continue;
            }
            let name = study.coordinates.iter().find(|(_, path)| **path == axis.path).map(|(name, _)| name);
            let name = name.unwrap_or(&axis.path);
            let extended = |(point, values): (SweepPoint, Vec<Option<String>>)| {
                axis.values.iter().map(move |value| {
                    let (mut point, mut values) = (point.clone(), values.clone());
                    point.insert(name.clone(), coordinate(value));
                    values.push(Some(value.clone()));
                    (point, values)
                })
            };
            all = all.into_iter().flat_map(extended).collect();
        }
        let (points, values) = all.into_iter().unzip();
        Design { study, schemes, axes, points, values }
    }

    /// The scheme of a subject and the value of every axis at a sweep point: that in `fixed` if there is one, else that
    /// in the name of the subject, else that of the sweep point.
    ///
    /// # Errors
    /// If the study has no such subject, or nothing says the value of an axis.
    pub(crate) fn place(
        &self,
        subject: &str,
        point: usize,
        fixed: &BTreeMap<String, String>,
    ) -> Result<DesignPoint, String> {
        let Subject { scheme, at } = self.study.subject(subject);
        let scheme = self.scheme(&scheme).map_err(|_| format!("the study has no {subject}"))?;
        let values = self.axes.iter().zip(&self.values[point]).map(|(axis, value)| {
            let named = fixed.get(&axis.path).or_else(|| at.get(&axis.path)).or(value.as_ref());
            named.cloned().ok_or_else(|| format!("{subject} says nothing of {}", axis.path))
        });
        Ok((scheme, values.collect::<Result<_, _>>()?))
    }

    /// The name of a scheme, as the run has it.
    ///
    /// # Errors
    /// If the study does not run it.
    pub(crate) fn scheme(&self, name: &str) -> Result<String, String> {
        let found = scheme_called(self.schemes, name);
        found.cloned().ok_or_else(|| format!("the study has no {name}"))
    }
}

/// A swept value as claims write coordinates: numbers as numbers, per cent as shares, sizes in KB (1000 B), times in
/// ms.
pub(crate) fn coordinate(value: &str) -> Coordinate {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match value.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(value)
            .or_else(|| value.parse::<Bytes>().ok().map(|size| size.0 as f64 / 1e3))
            .or_else(|| value.parse::<Span>().ok().map(|span| span.as_ps() as f64 / 1e9)),
    }
    .map_or_else(|| Coordinate::Text(value.to_owned()), Coordinate::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_numbers_where_they_can_be() {
        assert_eq!(coordinate("0.4"), Coordinate::Number(0.4));
        assert_eq!(coordinate("12.5%"), Coordinate::Number(0.125));
        assert_eq!(coordinate("20KB"), Coordinate::Number(20.0));
        assert_eq!(coordinate("250us"), Coordinate::Number(0.25));
        assert_eq!(coordinate("web-search"), Coordinate::Text("web-search".to_owned()));
    }
}
