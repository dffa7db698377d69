//! What makes a scheme that scheme, and what it merely takes where a scenario says nothing.
//!
//! A scenario's word on hosts and ports is about the surroundings of all schemes: buffers, thresholds, timers, windows.
//! It counts over a scheme's defaults and below a scheme's identity, so that a scenario which says `order = "fifo"`
//! leaves SPQ its order. Whoever wants to change what a scheme is, has to call it by its name.

use std::sync::LazyLock;

use tailcut_fabric::PortConfig;
use tailcut_host::HostConfig;

use crate::config::{Tree, for_named};

/// The seats that belong to every preset's identity, at the program's default where the preset does not speak of them:
/// what the hosts run, and the marks that they react to. The other seats are of the network, unless a preset names
/// them.
pub const SEATS_OF_A_SCHEME: [&str; 6] =
    ["host.transport", "host.congestion", "host.tag", "host.pace", "host.receive", "port.marker"];

/// A scheme, apart from any scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// What a scenario may set for all of its schemes: the lowest layer.
    pub defaults: Tree,
    /// What makes it this scheme: above everything that a scenario says of all schemes.
    pub identity: Tree,
}

impl Scheme {
    /// Nothing but what a scenario says.
    pub fn empty() -> Scheme {
        Scheme { defaults: Tree::table(), identity: Tree::table() }
    }

    /// Everything that the scheme says of itself, as one layer.
    pub fn tree(&self) -> Tree {
        Tree::layered([&self.defaults, &self.identity])
    }

    /// Takes away what the scheme says at a dotted path, and says whether it said anything there.
    pub fn take_away(&mut self, path: &str) -> bool {
        let of_identity = self.identity.remove(path).is_some();
        self.defaults.remove(path).is_some() || of_identity
    }

    /// The scheme in a scenario. `surroundings` are the layers of what is said of all schemes, the lowest first;
    /// `by_name` those of what is said of this one.
    pub fn in_scenario(&self, surroundings: &[&Tree], by_name: &[&Tree]) -> Tree {
        let around = Tree::layered(surroundings.iter().copied());
        let above: Vec<&Tree> = std::iter::once(&self.identity).chain(by_name.iter().copied()).collect();
        let named: Vec<Tree> = above.iter().map(|layer| for_named(&around, layer)).collect();
        let below = std::iter::once(&self.defaults).chain(surroundings.iter().copied());
        Tree::layered(below.chain(named.iter()).chain(above))
    }

    /// Fixes the seats of a scheme that neither layer speaks of at the program's defaults.
    pub(crate) fn with_every_seat(mut self) -> Scheme {
        // A preset's defaults may name the model whose parameters they are.
        let usual = Tree::layered([&*SEATS_BY_DEFAULT, &self.defaults]);
        let mut seats = Tree::table();
        for path in SEATS_OF_A_SCHEME {
            if self.identity.at(path).is_none() {
                let (table, seat) = path.split_once('.').expect("it is a path of two keys");
                let usual = usual.nearest(path);
                let model = usual.as_str().or(usual.entries().first().map(|(model, _)| model.as_str()));
                let model = Tree::text(model.expect("a seat names its model"));
                seats.merge(Tree::of_entries([(table, Tree::of_entries([(seat, model)]))]));
            }
        }
        self.identity = Tree::layered([&seats, &self.identity]);
        self
    }
}

/// The models that sit on the seats of a scheme by default, without their parameters.
static SEATS_BY_DEFAULT: LazyLock<Tree> = LazyLock::new(|| {
    let host = HostConfig::default();
    let port = PortConfig::default();
    let of_host = host.seats().into_iter().map(|(key, seat, _)| (key, Tree::text(&seat.model())));
    let of_port = port.seats().into_iter().map(|(key, seat, _)| (key, Tree::text(&seat.model())));
    Tree::of_entries([("host", Tree::of_entries(of_host)), ("port", Tree::of_entries(of_port))])
});
