//! Between which hosts the bytes of a workload go, and when: exact for every pattern, flow by flow for lists.

use tailcut_base::{HostId, Instant};

use crate::load::Racks;

/// What a workload offers, in expectation.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    /// Generated traffics.
    pub streams: Vec<Stream>,
    /// The flows of all explicit lists, by their starts.
    pub listed: Vec<ListedBytes>,
}

/// A generated traffic, or the part of one whose flows are alike.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The part of it that goes from each host to each other one; the parts sum to 1.
    pub matrix: TrafficMatrix,
    /// Payload and headers of all hosts together, in bit/s, while it arrives.
    pub bps: f64,
    /// When it begins.
    pub from: Instant,
    /// When it ends; of a number of flows the expected time.
    pub until: Instant,
}

/// A flow of an explicit list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedBytes {
    /// When it starts.
    pub start: Instant,
    /// Its sender.
    pub src: HostId,
    /// Its receiver.
    pub dst: HostId,
    /// Payload and headers.
    pub bytes: u64,
}

/// How much goes from each host to each other one, as a sum of products.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficMatrix(Vec<Product>);

/// From a sender to another host that receives goes the product of their weights; nothing goes from a host to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Hosts with their weights, ascending. A product that is taken off others has negative ones.
    pub senders: Vec<(u32, f64)>,
    /// Hosts with their weights, ascending.
    pub receivers: Vec<(u32, f64)>,
}

impl Product {
    /// The sums of the weights of senders and of receivers.
    pub fn sums(&self) -> (f64, f64) {
        let sum = |hosts: &[(u32, f64)]| hosts.iter().map(|(_, weight)| weight).sum();
        (sum(&self.senders), sum(&self.receivers))
    }

    /// The weight of a host as a sender and as a receiver.
    pub fn weights(&self, host: HostId) -> (f64, f64) {
        let of =
            |hosts: &[(u32, f64)]| hosts.binary_search_by_key(&host.0, |(host, _)| *host).map_or(0.0, |at| hosts[at].1);
        (of(&self.senders), of(&self.receivers))
    }
}

impl TrafficMatrix {
    /// Adds what goes from each of `senders` to each of `receivers` but itself. Both are ascending.
    pub(crate) fn add(&mut self, senders: Vec<(u32, f64)>, receivers: Vec<(u32, f64)>) {
        debug_assert!(senders.is_sorted_by_key(|(host, _)| *host) && receivers.is_sorted_by_key(|(host, _)| *host));
        self.0.push(Product { senders, receivers });
    }

    /// Adds what goes from one host to another.
    pub(crate) fn add_pair(&mut self, src: u32, dst: u32, amount: f64) {
        self.add(vec![(src, amount)], vec![(dst, 1.0)]);
    }

    /// The products whose sum it is.
    pub fn products(&self) -> &[Product] {
        &self.0
    }

    /// What each of `hosts` sends, and what it receives.
    pub fn sent_and_received(&self, hosts: u32) -> (Vec<f64>, Vec<f64>) {
        let (mut sent, mut received) = (vec![0.0; hosts as usize], vec![0.0; hosts as usize]);
        for product in &self.0 {
            let (all_senders, all_receivers) = product.sums();
            for &(host, weight) in &product.senders {
                sent[host as usize] += weight * (all_receivers - product.weights(HostId(host)).1);
            }
            for &(host, weight) in &product.receivers {
                received[host as usize] += weight * (all_senders - product.weights(HostId(host)).0);
            }
        }
        (sent, received)
    }

    /// The traffic from racks to others.
    pub(crate) fn leaving(&self, racks: &Racks) -> f64 {
        let mut in_rack = vec![0.0; racks.name.len()];
        let mut leaving = 0.0;
        for Product { senders, receivers } in &self.0 {
            let rack = |host: u32| racks.of[host as usize];
            receivers.iter().for_each(|&(host, weight)| in_rack[rack(host)] += weight);
            let all: f64 = receivers.iter().map(|(_, weight)| weight).sum();
            leaving += senders.iter().map(|&(host, weight)| weight * (all - in_rack[rack(host)])).sum::<f64>();
            receivers.iter().for_each(|&(host, _)| in_rack[rack(host)] = 0.0);
        }
        leaving
    }
}
