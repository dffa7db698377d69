//! The bills of section 4.4.3.3, item by item.

use tailcut_placement::bill::{
    Bill, Datacenter, NewLeaves, NewSpines, Prices, at_leaves, break_even_nic, subways, superways,
};

fn items(bill: &Bill) -> Vec<(u32, f64, f64)> {
    bill.items.iter().map(|item| (item.count, item.each, item.total)).collect()
}

#[test]
fn subways_cost_what_the_document_computes() {
    let bill = subways(&Datacenter::THESIS, &Prices::thesis());
    assert_eq!(items(&bill), [(2304, 5.0, 11_520.0), (2304, 80.0, 184_320.0), (48, 5000.0, 240_000.0)]);
    assert_eq!(bill.total(), 435_840.0);
}

/// The document prints 28,820 where its own items sum to 29,000, and "about 9x" where they give 13.0.
#[test]
fn superways_cost_the_sum_of_their_items() {
    let (network, prices) = (Datacenter::THESIS, Prices::thesis());
    let shares = [0.03, 0.04, 0.05].map(|share| network.servers(share));
    assert_eq!(shares, [70, 93, 116]);
    let two = shares.map(|links| superways(links, NewSpines::Given(2), &prices));
    assert_eq!(items(&two[0]), [(70, 20.0, 1400.0), (70, 80.0, 5600.0), (2, 11_000.0, 22_000.0)]);
    assert_eq!(two.map(|bill| bill.total()), [29_000.0, 31_300.0, 33_600.0]);
    let ports = shares.map(|links| superways(links, NewSpines::ForPorts, &prices));
    assert_eq!(ports.each_ref().map(|bill| bill.items[2].count), [3, 3, 4]);
    assert_eq!(ports.map(|bill| bill.total()), [40_000.0, 42_300.0, 55_600.0]);
    let ratio = |total: f64| (435_840.0 / total * 10.0).round() / 10.0;
    assert_eq!([29_000.0, 31_300.0, 33_600.0, 55_600.0].map(ratio), [15.0, 13.9, 13.0, 7.8]);
}

#[test]
fn a_fast_network_card_is_paid_where_there_is_one() {
    let mut prices = Prices::thesis();
    prices.fast_nic = Some(tailcut_placement::bill::NicPrice { price: 300.0, ..prices.nic.clone() });
    assert_eq!(superways(116, NewSpines::Given(2), &prices).total(), 116.0 * 320.0 + 22_000.0);
    assert_eq!(subways(&Datacenter::THESIS, &prices).total(), 435_840.0, "its links are those of leaves");
    // At the price of breaking even both cost the same.
    let even = break_even_nic(116, NewSpines::ForPorts, &Datacenter::THESIS, &prices);
    prices.fast_nic.as_mut().unwrap().price = even;
    assert!((superways(116, NewSpines::ForPorts, &prices).total() - 435_840.0).abs() < 1e-6);
}

#[test]
fn links_to_leaves_are_theta_times_as_many() {
    let (network, prices) = (Datacenter::THESIS, Prices::thesis());
    let ports = at_leaves(116, 4.0, NewLeaves::ForPorts, &network, &prices);
    assert_eq!(items(&ports), [(464, 5.0, 2320.0), (464, 80.0, 37_120.0), (10, 5000.0, 50_000.0)]);
    let doubled = at_leaves(116, 4.0, NewLeaves::Doubled, &network, &prices);
    assert_eq!(doubled.total() - ports.total(), 38.0 * 5000.0);
}

#[test]
fn the_network_of_the_document_has_not_the_ports_for_its_links() {
    let found = Datacenter::THESIS.shortages(&Prices::thesis());
    assert_eq!(found.len(), 2);
    assert!(found[0].contains("need 72") && found[1].contains("32 ports"), "{found:?}");
    assert!(Datacenter { leaves: 20, hosts_per_leaf: 20, spines: 10 }.shortages(&Prices::thesis()).is_empty());
}

#[test]
fn prices_that_cannot_be_are_refused_at_their_key() {
    let prices = Prices::thesis();
    assert_eq!(prices.check(), Ok(()));
    let mut wrong = prices.clone();
    wrong.long_cable.price = -1.0;
    assert_eq!(wrong.check().unwrap_err().0, "long_cable.price");
    let mut wrong = prices;
    wrong.spine_switch.ports = 0;
    assert_eq!(wrong.check().unwrap_err().0, "spine_switch.ports");
}
