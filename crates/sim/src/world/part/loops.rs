//! The ten forms in which the event loop of a part is compiled.
//!
//! Most networks use few of the features that the engine has. A loop that is compiled for such a network does not ask
//! for each packet whether a feature is in use. The loop for [`Any`] network asks, and gives the same results.

/// What is known of a network when its loop is compiled. In a plain network, hosts have one interface, take no time and
/// run a built-in transport; switches use none of the features below; no link fails, no route is static, and no lens
/// watches a packet. Each constant but the last three adds one feature to that.
pub(super) trait Loop {
    /// Whether the network is plain, but for the features below. If not, the loop asks for every feature.
    const PLAIN: bool;
    /// Whether ports of a switch share a memory that may be told of departures late.
    const SHARES: bool = false;
    /// Whether switches have agents that read and write headers of packets, for each port by itself.
    const HAS_AGENTS: bool = false;
    /// Whether classes may be paused by PFC.
    const HAS_PAUSES: bool = false;
    /// Whether the delays of flows are attributed to their causes.
    const ATTRIBUTES: bool = false;
    /// Whether there may be so many ports that those of the next events are prefetched into the cache.
    const MAY_BE_LARGE: bool = true;
    /// Whether the packets on a link are prefetched into the cache ahead of their landings.
    const FETCHES_PACKETS: bool = false;
    /// Whether they are where a cache holds the ports but not the packets, which is found out as the network runs.
    const MAY_BE_DEEP: bool = false;
}

/// Any network: every feature is asked for.
pub(super) struct Any;

/// A plain network.
pub(super) struct Plain;

/// A plain network with more ports than a cache holds.
pub(super) struct PlainLarge;

/// A plain network with more packets than a cache holds.
pub(super) struct PlainDeep;

/// Plain but for memories that ports share and that may be told of departures late.
pub(super) struct Sharing;

/// [`Sharing`] with more ports than a cache holds.
pub(super) struct SharingLarge;

/// Plain but for agents of switches, each of which looks at one port alone.
pub(super) struct Advised;

/// Plain but for classes that may be paused, with or without memories that ports share.
pub(super) struct Pausing;

/// Plain, and the delays of flows are attributed.
pub(super) struct Attributed;

/// [`Attributed`] with more packets than a cache holds.
pub(super) struct AttributedDeep;

impl Loop for Any {
    const PLAIN: bool = false;
    const HAS_PAUSES: bool = true;
    const MAY_BE_DEEP: bool = true;
}

impl Loop for Plain {
    const PLAIN: bool = true;
    const MAY_BE_LARGE: bool = false;
}

impl Loop for PlainLarge {
    const PLAIN: bool = true;
}

impl Loop for PlainDeep {
    const PLAIN: bool = true;
    const MAY_BE_LARGE: bool = false;
    const FETCHES_PACKETS: bool = true;
}

impl Loop for Sharing {
    const PLAIN: bool = true;
    const SHARES: bool = true;
    const MAY_BE_LARGE: bool = false;
    const MAY_BE_DEEP: bool = true;
}

impl Loop for SharingLarge {
    const PLAIN: bool = true;
    const SHARES: bool = true;
}

impl Loop for Advised {
    const PLAIN: bool = true;
    const HAS_AGENTS: bool = true;
    const MAY_BE_DEEP: bool = true;
}

impl Loop for Pausing {
    const PLAIN: bool = true;
    const HAS_PAUSES: bool = true;
    const MAY_BE_DEEP: bool = true;
}

impl Loop for Attributed {
    const PLAIN: bool = true;
    const ATTRIBUTES: bool = true;
}

impl Loop for AttributedDeep {
    const PLAIN: bool = true;
    const ATTRIBUTES: bool = true;
    const FETCHES_PACKETS: bool = true;
}
