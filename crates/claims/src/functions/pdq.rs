//! Claims about PDQ.

use super::closed_form::by_evidence;
use super::functions;
use super::shapes::{Saturation, flat, saturates};
use super::shared::violated_at_most;
use crate::case::{Case, Outcome};
use crate::evidence::Coordinate;
use crate::expected::Aggregate;
use crate::expected::Better::{Higher, Lower};
use crate::finding::Bounds;
use crate::order::{self, Order};
use crate::ratio;
use crate::samples::{Samples, operands_of, over_baselines};

functions! {
    loss_of_three_percent,
    flat_in_hosts,
    multipath_at_light_load,
    five_subflows_suffice,
    converges_in_time,
    congestion_control,
    hop_delays,
}

/// The mean FCT if 3 % of the packets are lost, over the one if none is.
fn loss_of_three_percent(case: &Case<'_>) -> Outcome {
    let quotients = over_baselines(case.claim);
    let is_meant = |value: Option<&Coordinate>| value.is_some_and(|at| at.is(&Coordinate::Number(0.03)));
    let samples = Samples::fetch_where(case, operands_of(&quotients), case.claim.measures(), &|point| {
        is_meant(point.get("loss_rate"))
    })?;
    ratio::judge(case, &samples, &[&quotients], Aggregate::Each, false)
}

/// The ratio of PDQ's FCT to RCP's hardly depends on the number of hosts.
fn flat_in_hosts(case: &Case<'_>) -> Outcome {
    flat(case, "pdq/rcp", "hosts", 0, (1.15, 1.4))
}

/// At a light load several paths shorten FCTs and use more links.
fn multipath_at_light_load(case: &Case<'_>) -> Outcome {
    let rank: [&[&str]; 2] = [&["mp-pdq"], &["pdq"]];
    let orders = vec![Order::in_metric("mean FCT", Lower, &rank), Order::in_metric("links used", Higher, &rank)];
    order::judge(case, orders, &|_| false)
}

/// The FCT gets shorter with up to 5 subflows, and more of them gain nothing.
fn five_subflows_suffice(case: &Case<'_>) -> Outcome {
    let saturation = Saturation {
        from: 5.0,
        change_after: (0.05, 0.15),
        falls_only: false,
        gain_before: None,
        level_from: Some((Bounds::between(3.0, 6.0), Bounds::between(2.0, 8.0))),
    };
    saturates(case, "mp-pdq", "subflows", &saturation)
}

/// The flows settle within as many round trips as the longest chain of flows that wait for each other, and one more. If
/// at most one in twenty does not, the claim is partly reproduced.
fn converges_in_time(case: &Case<'_>) -> Outcome {
    violated_at_most(case, 0.0, 0.05)
}

/// Shorter queues and fewer drops than TCP, and a better utilisation than both baselines.
fn congestion_control(case: &Case<'_>) -> Outcome {
    let over_tcp: [&[&str]; 2] = [&["pdq"], &["tcp"]];
    let over_both: [&[&str]; 2] = [&["pdq"], &["tcp", "rcp"]];
    let orders = vec![
        Order::in_metric("queue length", Lower, &over_tcp),
        Order::in_metric("drops", Lower, &over_tcp),
        Order::in_metric("bottleneck utilisation", Higher, &over_both),
    ];
    order::judge(case, orders, &|_| false)
}

/// The delays of a hop, which the slides give without saying how they come about.
fn hop_delays(case: &Case<'_>) -> Outcome {
    by_evidence(case, Some((0.1, 0.25)))
}
