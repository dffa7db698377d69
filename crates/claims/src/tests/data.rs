//! `data/claims.toml` itself.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

#[test]
fn the_catalogue_is_whole() {
    let catalogue = catalogue();
    assert_eq!((catalogue.claims.len(), catalogue.experiments.len()), (357, 114));
    assert_eq!((catalogue.scenarios.len(), catalogue.excluded.len(), catalogue.unspecified.len()), (17, 13, 21));
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for claim in &catalogue.claims {
        counts.entry(&claim.scheme).or_default()[claim.priority as usize] += 1;
    }
    let expected = [
        ("slytherin", [6, 25, 15]),
        ("spq", [4, 70, 18]),
        ("icon", [3, 19, 5]),
        ("resqueue", [3, 15, 7]),
        ("superways", [5, 26, 9]),
        ("smartbuf", [3, 19, 8]),
        ("hyline", [4, 30, 16]),
        ("pdq", [3, 27, 8]),
        ("background", [0, 3, 6]),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    assert_eq!(catalogue.schemes(), expected.map(|(scheme, _)| scheme));
    let from = |by| catalogue.claims.iter().filter(|claim| claim.quantified_by == by).count();
    assert_eq!((from(QuantifiedBy::Document), from(QuantifiedBy::Reader), from(QuantifiedBy::None)), (165, 46, 146));
}

#[test]
fn every_reference_leads_somewhere() {
    let catalogue = catalogue();
    let ids: BTreeSet<&str> = catalogue.claims.iter().map(|claim| claim.id.as_str()).collect();
    let experiments: BTreeSet<&str> = catalogue.experiments.iter().map(|known| known.id.as_str()).collect();
    assert_eq!((ids.len(), experiments.len()), (catalogue.claims.len(), catalogue.experiments.len()), "unique");
    let scenarios: BTreeSet<&str> = catalogue.scenarios.iter().map(|known| known.id.as_str()).collect();
    assert_eq!(scenarios.len(), catalogue.scenarios.len());
    for claim in &catalogue.claims {
        assert!(catalogue.documents.contains_key(&claim.document), "{}", claim.id);
        assert!(scenarios.contains(claim.scenario.scenario.as_str()), "{}", claim.id);
        assert!(claim.experiment.iter().all(|id| experiments.contains(id.as_str())), "{}", claim.id);
        assert!(claim.conflicts_with.iter().all(|id| ids.contains(id.as_str()) && *id != claim.id), "{}", claim.id);
        assert!(claim.parts.iter().all(|id| ids.contains(id.as_str()) && *id != claim.id), "{}", claim.id);
    }
    for experiment in &catalogue.experiments {
        assert!(catalogue.documents.contains_key(&experiment.document), "{}", experiment.id);
        assert!(scenarios.contains(experiment.scenario.scenario.as_str()), "{}", experiment.id);
        assert!(experiment.claims.iter().all(|id| ids.contains(id.as_str())), "{}", experiment.id);
        assert!(experiment.same_as.iter().all(|id| experiments.contains(id.as_str())), "{}", experiment.id);
    }
    let documents = catalogue.excluded.iter().map(|known| &known.document);
    assert!(
        documents
            .chain(catalogue.scenarios.iter().map(|known| &known.document))
            .all(|key| { key == "all" || catalogue.documents.contains_key(key) })
    );
}

/// Claims that need no measurements, because the document's numbers follow from each other by arithmetic. All of them
/// do but one, which does not fit its own numbers.
#[test]
fn claims_about_arithmetic_are_judged_without_evidence_and_others_are_not() {
    let mut by_arithmetic = 0;
    for claim in &catalogue().claims {
        let judgement = judge(claim, &NoEvidence, &|_| None);
        let wrong = claim.id == "hyline-topology-256-hosts";
        if judgement.reason.contains("by the formula alone") {
            let expected = if wrong { Verdict::NotReproduced } else { Verdict::Reproduced };
            assert_eq!(judgement.verdict, expected, "{}: {}", claim.id, judgement.reason);
            by_arithmetic += 1;
        } else {
            assert_eq!(judgement.verdict, Verdict::NotRun, "{}: {}", claim.id, judgement.reason);
        }
        assert!(judgement.reason.ends_with('.') && judgement.reason.len() > 10, "{}: {}", claim.id, judgement.reason);
        assert!(!judgement.published.is_empty());
    }
    assert_eq!(by_arithmetic, 20);
}

/// The operations of the language have no limits of their own, so that a claim has to give them.
#[test]
fn every_claim_gives_the_limits_that_its_operation_reads() {
    for claim in &catalogue().claims {
        for limits in [&claim.tolerance.reproduced, &claim.tolerance.partly] {
            let given = match claim.expected {
                Expected::Value(_) | Expected::Ratio(_) => limits.low.or(limits.high),
                Expected::Order(_) => limits.min_fraction,
                Expected::Shape(_) => limits.min_spearman,
                Expected::Function(_) => continue,
            };
            assert!(given.is_some(), "{}", claim.id);
        }
    }
}

/// With made-up numbers for everything, every claim that asks for numbers gets a verdict from them or says what is
/// missing, and none panics.
#[test]
fn every_claim_can_be_judged_from_numbers() {
    let mut judged_from = 0;
    for claim in &catalogue().claims {
        let mut points = Vec::new();
        for load in [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9] {
            for workload in ["web-search", "data-mining", "hybrid", "light", "heavy"] {
                let mut point = SweepPoint::from([
                    ("load".to_owned(), Coordinate::Number(load)),
                    ("workload".to_owned(), Coordinate::Text(workload.to_owned())),
                ]);
                // A second coordinate that the claim is about, if there is one.
                if let Expected::Shape(shape) = &claim.expected {
                    for x in shape.x.as_slice() {
                        point.entry(x.clone()).or_insert(Coordinate::Number(load * 100.0));
                    }
                }
                points.push(point);
            }
        }
        let of = |subject: &str, point: &SweepPoint, metric: &str| {
            let base = 1.0 + subject.len() as f64 + metric.len() as f64 * number(point, "load");
            Some(vec![base, base * 1.01, base * 0.99])
        };
        let judgement = judged(claim, points, &of);
        judged_from += usize::from(judgement.verdict != Verdict::NotRun);
        assert!(judgement.reason.ends_with('.'), "{}: {}", claim.id, judgement.reason);
        if judgement.verdict != Verdict::NotRun {
            assert!(judgement.measured.is_some() || judgement.reason.contains("out of all bounds"), "{}", claim.id);
        }
    }
    assert!(judged_from > 310, "{judged_from}");
}
