//! The ten forms in which the loop of a part is compiled.

/// What is known of a network when its loop is compiled.
pub(super) trait Loop {
    /// All hosts and switches are plain, and nothing is looked at closely.
    const PLAIN: bool;
    /// Whether ports of switches share memories that are patient, if all is plain; else that is asked.
    const SHARES: bool = false;
    /// Whether agents look at the packets of switches whose ports are apart, if all else is plain; else that is asked.
    const HAS_AGENTS: bool = false;
    /// Whether classes may be paused, if all else is plain; else that is asked.
    const HAS_PAUSES: bool = false;
    /// Whether delays are attributed, if they are plain; else that is asked.
    const ATTRIBUTES: bool = false;
    /// Whether there may be so many ports that what the next events touch is called into the cache.
    const MAY_BE_LARGE: bool = true;
    /// Whether the packets behind a link are called into the cache ahead of their landings.
    const FETCHES_PACKETS: bool = false;
}

/// Nothing is known.
pub(super) struct Any;

/// All is plain.
pub(super) struct Plain;

/// All is plain, with so many ports that no cache holds them.
pub(super) struct PlainLarge;

/// All is plain, with so many packets that no cache holds them.
pub(super) struct PlainDeep;

/// All is plain, but for patient memories that ports share.
pub(super) struct Sharing;

/// The same, with so many ports that no cache holds them.
pub(super) struct SharingLarge;

/// All is plain, but for agents of switches, which mind no order among ports.
pub(super) struct Advised;

/// All is plain, but for classes that may be paused, and memories beside them.
pub(super) struct Pausing;

/// All is plain, and delays are attributed.
pub(super) struct Attributed;

/// The same, with so many packets that no cache holds them and what stands beside them.
pub(super) struct AttributedDeep;

impl Loop for Any {
    const PLAIN: bool = false;
    const HAS_PAUSES: bool = true;
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
}

impl Loop for SharingLarge {
    const PLAIN: bool = true;
    const SHARES: bool = true;
}

impl Loop for Advised {
    const PLAIN: bool = true;
    const HAS_AGENTS: bool = true;
}

impl Loop for Pausing {
    const PLAIN: bool = true;
    const HAS_PAUSES: bool = true;
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
