//! Which simulations of a study its claims are judged by: found by judging them once with made-up numbers, and keeping
//! what was asked for.

use std::cell::RefCell;
use std::collections::BTreeSet;

use tailcut_claims::{Claim, Evidence, Sample, SweepPoint, judge};
use tailcut_lab::Plan;

use crate::design::{Design, DesignPoint};
use crate::flows::FlowQuantity;
use crate::measure::MeasureDefinition;
use crate::study::Study;

/// The plan of a study with those points alone by which these claims are judged. What is drawn may need others.
#[must_use]
pub fn only_for_claims(plan: &Plan, study: &Study, claims: &[&Claim]) -> Plan {
    let mut needed = BTreeSet::new();
    for claim in claims {
        needed.extend(needed_for(claim, plan, study, &|_| 1.0));
    }
    // What is computed from the scenario alone needs a run to stand in.
    if let (true, false, Some(first)) = (needed.is_empty(), claims.is_empty(), plan.points.first()) {
        needed.insert((first.point.scheme.clone(), first.point.values.clone()));
    }
    let mut plan = plan.clone();
    plan.points.retain(|planned| needed.contains(&(planned.point.scheme.clone(), planned.point.values.clone())));
    plan
}

/// A number for a subject at a sweep point, in whatever is measured.
pub(crate) type Made<'a> = &'a dyn Fn((&str, usize)) -> f64;

/// The design points that a claim is judged by, if it hears these numbers.
pub(crate) fn needed_for(claim: &Claim, plan: &Plan, study: &Study, value: Made<'_>) -> BTreeSet<DesignPoint> {
    let subjects = std::iter::once(&claim.subject).chain(&claim.baseline).map(String::as_str);
    let measures = claim.measures().into_iter().filter_map(|measure| study.measures.get(&measure.name()));
    let design = Design::about(study, &plan.schemes, &plan.axes, subjects, measures);
    let probe = Probe { study, design, value, asked: RefCell::default() };
    judge(claim, &probe, &|_| None);
    probe.asked.into_inner()
}

/// Evidence that is made up, and remembers what it was asked for.
struct Probe<'a> {
    study: &'a Study,
    design: Design<'a>,
    value: Made<'a>,
    asked: RefCell<BTreeSet<DesignPoint>>,
}

impl Probe<'_> {
    /// Remembers what `measure` of a subject is measured at.
    fn ask(&self, subject: &str, point: usize, measure: &MeasureDefinition) -> Result<(), String> {
        // What is computed from texts needs no simulation.
        if measure.function.is_some() {
            return Ok(());
        }
        let of = measure.largest.as_ref().map(|largest| &largest.of);
        let values = self.design.axes.iter().find(|axis| Some(&axis.path) == of).map(|axis| axis.values.as_slice());
        let mut places = vec![measure.at.clone()];
        if let (Some(of), Some(values)) = (of, values) {
            let with = |value: &String| measure.at.clone().into_iter().chain([(of.clone(), value.clone())]).collect();
            places = values.iter().map(with).collect();
        }
        for at in places {
            let place = self.design.place(subject, point, &at)?;
            if let Some(FlowQuantity::FasterThan(other)) = &measure.flows {
                self.asked.borrow_mut().insert((self.design.scheme(other)?, place.1.clone()));
            }
            self.asked.borrow_mut().insert(place);
        }
        measure.over.as_ref().map_or(Ok(()), |over| self.ask(subject, point, over))
    }
}

impl Evidence for Probe<'_> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.design.points
    }

    fn sample(&self, subject: &str, point: usize, metric: &str) -> Result<Sample, String> {
        let measure = self.study.measures.get(metric).ok_or("the study does not measure it")?;
        self.ask(subject, point, measure)?;
        Ok(Sample::exact((self.value)((subject, point))))
    }

    fn series(&self, subject: &str, point: usize, metric: &str) -> Result<Vec<(f64, f64)>, String> {
        let measure = self.study.measures.get(metric).ok_or("the study does not measure it")?;
        self.ask(subject, point, measure)?;
        let value = (self.value)((subject, point));
        Ok(vec![(0.0, value), (1.0, value)])
    }
}

#[cfg(test)]
mod tests {
    use tailcut_lab::RunArguments;

    use super::*;
    use crate::reading::Reading;
    use crate::scale::Scale;
    use crate::shipped::{self, claims_of};

    fn quick(study: &Study) -> Plan {
        study.plan(Scale::Quick, &Reading::default(), &RunArguments::default()).unwrap()
    }

    /// A claim that asks for more when it hears other numbers would be judged without what it asks for.
    #[test]
    fn no_claim_asks_for_more_than_when_everything_is_alike() {
        let falling = |(subject, point): (&str, usize)| 1.0 / (1.0 + (subject.len() % 7) as f64 + point as f64);
        let rising = |(subject, point): (&str, usize)| 1.0 + (subject.len() % 5 * (1 + point)) as f64;
        let made: [Made<'_>; 3] = [&|_| 0.0, &falling, &rising];
        for name in shipped::names() {
            let study = shipped::study(&shipped::find(name).unwrap().study).unwrap();
            let plan = quick(&study);
            for claim in claims_of(name).unwrap() {
                let asked = needed_for(claim, &plan, &study, &|_| 1.0);
                let is_planned = |(scheme, values): &DesignPoint| {
                    plan.points.iter().any(|planned| planned.point.scheme == *scheme && planned.point.values == *values)
                };
                assert!(asked.iter().all(is_planned), "{name}: {}", claim.id);
                for value in made {
                    assert!(needed_for(claim, &plan, &study, value).is_subset(&asked), "{name}: {}", claim.id);
                }
            }
        }
    }

    #[test]
    fn a_claim_about_four_of_twelve_needs_a_third_of_the_points() {
        let experiment = shipped::find("superways-schemes").unwrap();
        let study = shipped::study(&experiment.study).unwrap();
        let whole = quick(&study);
        let part = only_for_claims(&whole, &study, &claims_of(&experiment.id).unwrap());
        assert_eq!(3 * part.points.len(), whole.points.len());
        let networks = |scheme: &str| {
            let of_scheme = part.points.iter().filter(|planned| planned.point.scheme == scheme);
            of_scheme.flat_map(|planned| planned.point.values.clone()).collect::<BTreeSet<String>>()
        };
        let set = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<BTreeSet<String>>();
        assert_eq!(networks("dctcp"), set(&["0.4", "0.8", "superways"]));
        assert_eq!(networks("icon"), set(&["0.4", "0.8", "leaf-spine"]));
        assert_eq!(networks("dt"), set(&[]));
    }
}
