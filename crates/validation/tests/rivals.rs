//! What the field knows of the rivals: relations that others have published.

use tailcut_validation::theory::rivals::{
    Relation, coded_l2dct_beside_dctcp, d2tcp_beside_dctcp, ictcp_beside_tcp, pfabric_beside_the_ideal,
    pias_beside_pfabric, pias_beside_pfabric_with_fifo_nics,
};

fn all_hold(relations: &[Relation]) {
    for relation in relations {
        assert!(relation.holds(), "{relation:?}");
    }
}

#[test]
fn pias_is_hardly_behind_pfabric_for_short_flows_of_data_mining() {
    all_hold(&pias_beside_pfabric(0.25));
}

#[test]
fn nics_that_serve_first_in_first_out_are_found() {
    assert!(pias_beside_pfabric_with_fifo_nics(0.2).iter().all(|relation| relation.measured > 1.05));
}

#[test]
fn pfabric_is_near_the_ideal_for_short_flows() {
    all_hold(&pfabric_beside_the_ideal(0.4));
}

#[test]
fn l2dct_and_dctcp_are_alike_for_short_flows() {
    // That of the public code, on which the relation was published.
    all_hold(&coded_l2dct_beside_dctcp(1.0));
}

/// The published three quarters fewer do not come out in the setting that is tried, where D2TCP misses as many: the
/// table of `cargo xtask theory rivals` has the quotient. Here only that both miss some, so that there is something to
/// compare.
#[test]
fn d2tcp_and_dctcp_miss_deadlines_where_answers_meet() {
    for relation in d2tcp_beside_dctcp(0.5) {
        assert!(relation.measured.is_finite() && relation.measured > 0.0, "{relation:?}");
    }
}

#[test]
fn ictcp_has_almost_no_timeouts_where_tcp_has_many() {
    all_hold(&ictcp_beside_tcp(0.5));
}
