//! Ideals of one link as schemes: they stand below every scheme of packets on the same flows.

use std::ops::ControlFlow;
use std::path::Path;

use crate::common::{bottleneck, listed, mean_fct, rows, run, scenario, tree};
use tailcut_record::Recorder;
use tailcut_sim::{EndReason, Outcome, Preset, Scenario};

fn ideal(scheme: &str, text: &str) -> Outcome {
    let scenario = scenario(scheme, text, 1);
    scenario.simulator(1).simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refused(scheme: &str, text: &str) -> String {
    Scenario::new(&tree(scheme, text), 1, Path::new(".")).unwrap_err().render(false)
}

/// Query aggregation: flows of many sizes that begin together, with deadlines of 3 to 12 ms.
fn query(flows: u32) -> String {
    let flow = |nth: u32| {
        let (size, deadline) = (2_000 + nth * 7 % 20 * 10_000, 3 + nth * 11 % 20 / 2);
        format!("{{ src = {nth}, dst = {flows}, size = \"{size}B\", start = \"0us\", deadline = \"{deadline}ms\" }}")
    };
    let list: Vec<String> = (0..flows).map(flow).collect();
    format!("{}[workload.traffic.listed]\nlist = [{}]\n", bottleneck(flows, "1Gbps", "0.1us"), list.join(", "))
}

fn met(outcome: &Outcome) -> usize {
    rows(outcome).iter().filter(|row| row.fct().is_some_and(|fct| fct <= row.deadline.unwrap())).count()
}

#[test]
fn no_scheme_is_better_than_the_ideals() {
    let text = query(20);
    let (srpt, edf, best) = (ideal("ideal-srpt", &text), ideal("ideal-edf", &text), ideal("ideal-deadlines", &text));
    assert_eq!((srpt.end, srpt.flows.len()), (EndReason::Finished, 20));
    assert!(mean_fct(&srpt) < mean_fct(&ideal("ideal-fair", &text)));
    assert!(met(&best) >= met(&edf) && met(&best) < 20, "{} {}", met(&best), met(&edf));
    for scheme in ["pdq", "pdq@sjf", "d3", "rcp", "tcp", "dctcp", "pfabric", "srpt"] {
        let outcome = run(scheme, &text, 1);
        let (fct, deadlines) = (
            rows(&outcome).iter().filter_map(|row| row.fct()).count() < 20 || mean_fct(&outcome) > mean_fct(&srpt),
            met(&outcome) <= met(&best),
        );
        assert!(fct && deadlines, "{scheme}");
    }
}

/// A flow by itself takes what it takes in an empty network, and not only its time on the slowest link.
#[test]
fn a_flow_by_itself_takes_its_ideal_time() {
    let text = format!("{}{}", bottleneck(2, "1Gbps", "50us"), listed(&[(0, 2, 1_000, 0), (1, 2, 50_000, 900_000)]));
    for scheme in ["ideal-srpt", "ideal-edf", "ideal-fair", "ideal-deadlines"] {
        let outcome = ideal(scheme, &text);
        for row in rows(&outcome) {
            assert_eq!(row.fct(), Some(row.ideal), "{scheme}");
        }
    }
}

#[test]
fn flows_that_share_no_link_have_no_ideal() {
    let text = format!("{}{}", crate::common::star(4), listed(&[(0, 1, 1_000, 0), (2, 3, 1_000, 0)]));
    let message = refused("ideal-srpt", &text);
    assert!(message.contains("no link carries all flows") && message.contains("single link"), "{message}");
    // From one host to two: its own link.
    let text = format!("{}{}", crate::common::star(4), listed(&[(0, 1, 1_000, 0), (0, 3, 1_000, 0)]));
    assert_eq!(ideal("ideal-srpt", &text).flows.len(), 2);
    let overlap = format!("{}{}", bottleneck(2, "1Gbps", "1us"), listed(&[(0, 2, 100_000, 0), (1, 2, 1_000, 10_000)]));
    let message = refused("ideal-deadlines", &overlap);
    assert!(message.contains("begin together"), "{message}");
}

/// What is registered is tried.
#[test]
fn every_scheme_without_packets_runs() {
    let text = query(5);
    let ideals = Preset::names().into_iter().filter(|name| !Preset::of_packets().any(|preset| preset.name == *name));
    let ran: Vec<usize> = ideals.map(|name| ideal(name, &text).flows.len()).collect();
    assert_eq!(ran, [5; 4]);
}
