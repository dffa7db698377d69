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
    assert_eq!((from(QuantifiedBy::Document), from(QuantifiedBy::Reader), from(QuantifiedBy::None)), (164, 42, 151));
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
        if let Expected::All(all) = &claim.expected {
            assert!(all.claims.iter().all(|id| ids.contains(id.as_str()) && *id != claim.id), "{}", claim.id);
        }
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

#[test]
fn every_claim_can_be_judged_without_evidence() {
    let mut without_runs = 0;
    for claim in &catalogue().claims {
        let judgement = judge(claim, &NoEvidence, &|_| None);
        let arithmetic = matches!(&claim.expected, Expected::Exact(exact) if exact.formula.is_some());
        if arithmetic {
            assert_ne!(judgement.verdict, Verdict::NotRun, "{}: {}", claim.id, judgement.reason);
            without_runs += 1;
        } else {
            assert_eq!(judgement.verdict, Verdict::NotRun, "{}: {}", claim.id, judgement.reason);
        }
        assert!(judgement.reason.ends_with('.') && judgement.reason.len() > 10, "{}: {}", claim.id, judgement.reason);
        assert!(!judgement.published.is_empty());
    }
    assert_eq!(without_runs, 20);
}

/// The arithmetic of the documents is right but for one of them, which does not fit its own numbers.
#[test]
fn the_arithmetic_of_the_documents_is_checked() {
    for claim in &catalogue().claims {
        if matches!(&claim.expected, Expected::Exact(exact) if exact.formula.is_some()) {
            let judgement = judge(claim, &NoEvidence, &|_| None);
            let wrong = claim.id == "hyline-topology-256-hosts";
            let expected = if wrong { Verdict::NotReproduced } else { Verdict::Reproduced };
            assert_eq!(judgement.verdict, expected, "{}: {}", claim.id, judgement.reason);
        }
    }
}

/// With made-up numbers for everything, every claim that asks for numbers gets a verdict from them or says what is missing,
/// and none panics.
#[test]
fn every_claim_can_be_judged_from_numbers() {
    let mut judged_from = 0;
    for claim in &catalogue().claims {
        let mut places = Vec::new();
        for load in [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9] {
            for workload in ["web-search", "data-mining", "hybrid", "light", "heavy"] {
                let mut place = Place::from([
                    ("load".to_owned(), Coordinate::Number(load)),
                    ("workload".to_owned(), Coordinate::Text(workload.to_owned())),
                ]);
                // A second coordinate that the claim is about, if there is one.
                if let Expected::Shape(shape) = &claim.expected {
                    for x in shape.x.as_slice().iter().filter(|x| !["time", "statistic"].contains(&x.as_str())) {
                        place.entry(x.clone()).or_insert(Coordinate::Number(load * 100.0));
                    }
                }
                places.push(place);
            }
        }
        let of = |subject: &str, place: &Place, metric: &str| {
            let base = 1.0 + subject.len() as f64 + metric.len() as f64 * number(place, "load");
            Some(vec![base, base * 1.01, base * 0.99])
        };
        let judgement = judged(claim, places, &of);
        judged_from += usize::from(judgement.verdict != Verdict::NotRun);
        assert!(judgement.reason.ends_with('.'), "{}: {}", claim.id, judgement.reason);
        if judgement.verdict != Verdict::NotRun {
            assert!(judgement.measured.is_some() || judgement.reason.contains("out of all bounds"), "{}", claim.id);
        }
    }
    assert!(judged_from > 310, "{judged_from}");
}
