//! The three forms in which the loop of a part is compiled.

/// What is known of a network when its loop is compiled.
pub(super) trait Loop {
    /// All hosts and switches are plain, and nothing is looked at closely.
    const PLAIN: bool;
    /// Whether delays are attributed, if they are plain; else that is asked.
    const ATTRIBUTES: bool = false;
}

/// Nothing is known.
pub(super) struct Any;

/// All is plain.
pub(super) struct Plain;

/// All is plain, and delays are attributed.
pub(super) struct Attributed;

impl Loop for Any {
    const PLAIN: bool = false;
}

impl Loop for Plain {
    const PLAIN: bool = true;
}

impl Loop for Attributed {
    const PLAIN: bool = true;
    const ATTRIBUTES: bool = true;
}
