//! Superways: the examples of section 3.4 of the thesis by the placement itself, the bills of section 4.4.3.3, and the
//! lengths of wires of section 3.4.3.2.

use tailcut_claims::Coordinate;
use tailcut_placement::bill::{
    Bill, Datacenter, NewLeaves, NewSpines, NicPrice, Prices, at_leaves, subways, superways,
};
use tailcut_placement::{Application, IncastServer, Layout, LeafResidual, Parameters, Server, Sizing, place};
use tailcut_workload::IconJitter;

use super::{Computed, Context, Function};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("share_of_senders_in_the_rack", share_of_senders_in_the_rack),
    ("links_and_what_they_have_left", links_and_what_they_have_left),
    ("senders_of_a_port_without_buffer", senders_of_a_port_without_buffer),
    ("residual_as_printed", residual_as_printed),
    ("senders_in_one_jitter_window", senders_in_one_jitter_window),
    ("extra_cost", extra_cost),
    ("wire_length", wire_length),
];

/// Places one application on host 0 of racks of three hosts.
fn one(application: Application, sizing: &Sizing, parameters: &Parameters) -> Result<IncastServer, String> {
    let rack_of: Vec<u32> = (0..9).map(|host| host / 3).collect();
    let server = [Server { host: 0, rack: 0 }];
    place(&[application], &server, &rack_of, sizing, parameters).servers.pop().ok_or_else(|| "it has no server".into())
}

/// An application on host 0 that these hosts answer with 1500 B.
fn application(workers: Vec<u32>) -> Application {
    let degree = workers.len() as f64;
    Application { name: "R".to_owned(), host: 0, degree, size: 1500.0, workers, is_fixed: true }
}

/// Fig. 9: S1 and S2 are in the rack of R, S3 to S6 in others.
fn share_of_senders_in_the_rack(_: &Context<'_>) -> Result<Computed, String> {
    let sizing = Sizing { alpha: 0.8, leaf_buffer: 240e3, spine_buffer: 240e3, theta: 4.0 };
    let found = one(application(vec![1, 2, 3, 4, 6, 7]), &sizing, &Parameters::default())?;
    Ok(Computed::several(found.applications.iter().map(|placed| placed.beta).collect::<Vec<f64>>()))
}

/// Section 3.4.1.1: six senders of which one fits at the leaf, so that five need 1.2 links; and the part of the links
/// that is left.
fn links_and_what_they_have_left(_: &Context<'_>) -> Result<Computed, String> {
    // 0.8 x 5 x 1500 B are 1.2 times 5000 B.
    let sizing = Sizing { alpha: 0.8, leaf_buffer: 2000.0, spine_buffer: 5000.0, theta: 1.0 };
    let found = one(application(vec![1, 2, 3, 4, 6, 7]), &sizing, &Parameters::default())?;
    Ok(Computed::several([f64::from(found.links), found.spine_residual / sizing.spine_buffer]))
}

/// Section 3.4: how many senders of 10 Gb/s a port of 40 Gb/s without a buffer carries.
fn senders_of_a_port_without_buffer(_: &Context<'_>) -> Result<Computed, String> {
    let carried = (1..=8).take_while(|senders| senders * 10 <= 40).count();
    let note =
        "as rates; of packets that arrive at the same moment all but one wait: of four packets of 1500 B, 4500 B";
    Ok(Computed { note: Some(note.to_owned()), ..Computed::one(carried as f64) })
}

/// Equation 3.9 as it is printed, where the remote senders use 0.75 of what the leaf's buffer has left.
fn residual_as_printed(_: &Context<'_>) -> Result<Computed, String> {
    let parameters = Parameters { leaf_residual: LeafResidual::AsPrinted, ..Parameters::default() };
    // No local sender; 0.8 x 5 x 1500 B are 0.75 of 8000 B.
    let sizing = Sizing { alpha: 0.8, leaf_buffer: 8000.0, spine_buffer: 8000.0, theta: 1.0 };
    let found = one(application(vec![3, 4, 5, 6, 7]), &sizing, &parameters)?;
    let note = "a fraction where the next step needs bytes: of 8000 B it should be 2000 B";
    Ok(Computed { note: Some(note.to_owned()), ..Computed::one(found.leaf_residual) })
}

/// Section 3.4.1: the share of senders that start within one mean of the jitter of the public scripts, of 72 senders,
/// the mean degree. The first of them starts long before the others.
fn senders_in_one_jitter_window(_: &Context<'_>) -> Result<Computed, String> {
    let jitter = IconJitter::default();
    let others = 71.0 / 72.0;
    let within = |window: f64| others * (1.0 - (-window / jitter.mean.as_ns_f64()).exp());
    let note = format!(
        "within 10 us, the mean of the exponential jitter of the public scripts; within one round trip of 80 us {:.3}",
        within(80e3)
    );
    Ok(Computed { note: Some(note), ..Computed::one(within(jitter.mean.as_ns_f64())) })
}

/// A number of the sweep point.
fn number(context: &Context<'_>, name: &str) -> Option<f64> {
    match context.point.get(name) {
        Some(Coordinate::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Section 4.4.3.3: what a scheme adds to a leaf-spine network of 2304 servers, in USD.
fn extra_cost(context: &Context<'_>) -> Result<Computed, String> {
    let reading = match context.point.get("bill") {
        Some(Coordinate::Text(reading)) => reading.as_str(),
        _ => return Err("the place says nothing of the bill".to_owned()),
    };
    let (network, mut prices) = (Datacenter::THESIS, Prices::thesis());
    if reading == "fast-nic" {
        // Four times the rate, four times the price.
        prices.fast_nic = Some(NicPrice { price: 4.0 * prices.nic.price, ..prices.nic.clone() });
    }
    let share = number(context, "aggregator_fraction").ok_or("the place has no share of aggregators")?;
    let links = network.servers(share) * number(context, "links_per_aggregator").unwrap_or(1.0) as u32;
    let spines = match reading {
        "spines-for-ports" => NewSpines::ForPorts,
        "no-new-spines" => NewSpines::Given(0),
        "three-spines" => NewSpines::Given(3),
        _ => NewSpines::Given(2),
    };
    let leaves = if reading == "leaves-doubled" { NewLeaves::Doubled } else { NewLeaves::ForPorts };
    let bill: Bill = match context.subject {
        "subways" => subways(&network, &prices),
        "superways" | "superways@spine" => superways(links, spines, &prices),
        // A link of a spine is four times as fast as one of a leaf.
        "superways@leaf" => at_leaves(links, 4.0, leaves, &network, &prices),
        other => return Err(format!("{other} has no bill")),
    };
    let items: Vec<String> =
        bill.items.iter().map(|item| format!("{} {} {} USD", item.count, item.what, item.total)).collect();
    let mut total = bill.total();
    if reading == "in-proportion" && context.subject.starts_with("superways") && context.subject != "superways@leaf" {
        // The bill of the document, which is of 3 % of the servers, times what more servers there are.
        total = superways(network.servers(0.03), NewSpines::Given(2), &prices).total() * share / 0.03;
    }
    Ok(Computed { note: Some(items.join(", ")), ..Computed::one(total) })
}

/// Section 3.4.3.2: the length in ft of a wire to the spines' rack across the aisle from a rack that is so many racks
/// along the row.
fn wire_length(context: &Context<'_>) -> Result<Computed, String> {
    let layout = Layout::default();
    let racks = number(context, "racks").ok_or("the place has no rack")?;
    let length = match context.subject {
        "mean, straight" => layout.mean_straight(racks),
        "mean, over the tops" => layout.mean_over_the_top(racks),
        "bottom to top, straight" => layout.straight(0.0, layout.rack_height, racks),
        "bottom to bottom, over the tops" => layout.over_the_top(0.0, 0.0, racks),
        other => return Err(format!("{other} is no way of a wire")),
    };
    Ok(Computed::one(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_claims::SweepPoint;

    fn at(function: Function, subject: &str, point: &SweepPoint) -> Vec<f64> {
        function(&Context { subject, point, scenario: "" }).unwrap().values
    }

    #[test]
    fn examples_are_what_the_document_computes_by_hand() {
        let none = SweepPoint::new();
        let close = |found: Vec<f64>, expected: &[f64]| {
            let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(found.len() == expected.len() && near, "{found:?} {expected:?}");
        };
        close(at(share_of_senders_in_the_rack, "superways", &none), &[1.0 / 3.0]);
        close(at(links_and_what_they_have_left, "superways", &none), &[2.0, 0.8]);
        close(at(senders_of_a_port_without_buffer, "superways", &none), &[4.0]);
        close(at(residual_as_printed, "superways", &none), &[0.25]);
        close(at(senders_in_one_jitter_window, "superways", &none), &[71.0 / 72.0 * (1.0 - (-1.0_f64).exp())]);
    }

    #[test]
    fn bills_are_those_of_the_share_the_links_and_the_reading() {
        let cost = |subject: &str, bill: &str, share: f64, links: f64| {
            let point = [
                ("bill".to_owned(), Coordinate::Text(bill.to_owned())),
                ("aggregator_fraction".to_owned(), Coordinate::Number(share)),
                ("links_per_aggregator".to_owned(), Coordinate::Number(links)),
            ];
            at(extra_cost, subject, &point.into())[0]
        };
        assert_eq!(cost("superways", "as-printed", 0.03, 1.0), 29_000.0);
        assert_eq!(cost("superways", "spines-for-ports", 0.05, 1.0), 55_600.0);
        assert_eq!(cost("superways", "fast-nic", 0.05, 1.0), 116.0 * 340.0 + 22_000.0);
        assert_eq!(cost("superways@spine", "no-new-spines", 0.03, 1.0), 7_000.0);
        assert_eq!(cost("superways", "three-spines", 0.05, 1.0), 44_600.0);
        assert!((cost("superways", "in-proportion", 0.05, 1.0) - 29_000.0 * 5.0 / 3.0).abs() < 1e-6);
        assert_eq!(cost("superways", "as-printed", 0.05, 5.0), 580.0 * 100.0 + 22_000.0);
        assert_eq!(cost("subways", "fast-nic", 0.04, 1.0), 435_840.0);
        assert_eq!(cost("superways@leaf", "as-printed", 0.05, 1.0), 89_440.0);
        assert_eq!(cost("superways@leaf", "leaves-doubled", 0.05, 1.0), 279_440.0);
    }

    #[test]
    fn wires_are_longer_the_farther_the_rack() {
        let length = |subject: &str, racks: f64| {
            at(wire_length, subject, &[("racks".to_owned(), Coordinate::Number(racks))].into())[0]
        };
        assert_eq!(length("mean, over the tops", 0.0), 10.5);
        assert_eq!(length("bottom to bottom, over the tops", 2.0), 21.0);
        assert_eq!(length("bottom to top, straight", 1.0), 12.5);
        assert!((length("mean, straight", 0.0) - 6.5 / 3.0 - 4.0).abs() < 1e-12);
    }
}
