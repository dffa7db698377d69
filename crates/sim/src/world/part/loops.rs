//! The five forms in which the loop of a part is compiled.

/// What is known of a network when its loop is compiled.
pub(super) trait Loop {
    /// All hosts and switches are plain, and nothing is looked at closely.
    const PLAIN: bool;
    /// Whether ports of switches share memories that are patient, if all is plain; else that is asked.
    const SHARES: bool = false;
    /// Whether delays are attributed, if they are plain; else that is asked.
    const ATTRIBUTES: bool = false;
    /// Whether what stands beside packets is called into the cache ahead of its use, if delays are attributed.
    const FETCHES_ACCOUNTS: bool = false;
}

/// Nothing is known.
pub(super) struct Any;

/// All is plain.
pub(super) struct Plain;

/// All is plain, but for patient memories that ports share.
pub(super) struct Sharing;

/// All is plain, and delays are attributed.
pub(super) struct Attributed;

/// The same, of so many packets that no cache holds what stands beside them.
pub(super) struct AttributedLarge;

impl Loop for Any {
    const PLAIN: bool = false;
}

impl Loop for Plain {
    const PLAIN: bool = true;
}

impl Loop for Sharing {
    const PLAIN: bool = true;
    const SHARES: bool = true;
}

impl Loop for Attributed {
    const PLAIN: bool = true;
    const ATTRIBUTES: bool = true;
}

impl Loop for AttributedLarge {
    const PLAIN: bool = true;
    const ATTRIBUTES: bool = true;
    const FETCHES_ACCOUNTS: bool = true;
}
