//! Every case of `cargo xtask compare-ns3`, against what ns-3 gave when it was last asked.

use tailcut_validation::ns3::cases::{WIDER, bound};
use tailcut_validation::ns3::report::Compared;
use tailcut_validation::ns3::{CASES, CaseSpec, Reference, own};
use tailcut_validation::pinned;

fn compare(spec: &'static CaseSpec, scheme: &'static str) -> Compared {
    let case = pinned::load(spec, scheme).unwrap_or_else(|e| panic!("{} {scheme}: {e}", spec.name));
    let peer = Reference::read().and_then(|reference| reference.get(&case).cloned()).unwrap_or_else(|e| panic!("{e}"));
    Compared::new(&case, peer, own::run(&case))
}

/// The cases whose names begin so, each within its bound.
fn agree(prefix: &str) -> Vec<Compared> {
    let cases = CASES.iter().filter(|spec| spec.name.starts_with(prefix));
    let compared = cases.flat_map(|spec| spec.schemes.iter().map(|scheme| compare(spec, scheme)));
    let compared: Vec<Compared> = compared.collect();
    for one in &compared {
        let beyond = one.beyond(bound(one.case, one.scheme));
        assert!(beyond.is_empty(), "{}{}", one.details(), beyond.join("\n"));
    }
    assert!(!compared.is_empty(), "{prefix}");
    compared
}

#[test]
fn an_idle_network_gives_both_the_same_nanosecond() {
    for one in agree("idle-") {
        assert_eq!(one.own.fct_ns, one.peer.fct_ns, "{} {}", one.case, one.scheme);
    }
}

#[test]
fn long_flows_share_alike() {
    agree("long-");
}

#[test]
fn incast_without_loss_takes_the_same_time() {
    for one in agree("incast-").iter().filter(|one| !one.case.contains("loss")) {
        let counts = &one.own.counts;
        assert_eq!((counts.drops, counts.retransmissions, counts.timeouts), (0, 0, 0), "{} {}", one.case, one.scheme);
        if one.scheme == "tcp" {
            // Nothing is decided but the order of packets: the two are the same simulation.
            assert_eq!(one.own.fct_ns, one.peer.fct_ns, "{}", one.case);
        }
    }
}

#[test]
fn a_leaf_spine_under_web_search_agrees() {
    agree("leaf-spine-");
}

#[test]
fn wider_bounds_are_of_cases_that_exist_and_say_why() {
    for (case, scheme, bound, why) in WIDER {
        let spec = CaseSpec::find(case).unwrap_or_else(|| panic!("{case}"));
        assert!(spec.schemes.contains(scheme) && bound.mean > 0.0 && why.len() > 20, "{case} {scheme}");
    }
}
