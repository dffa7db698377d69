//! Where the completion time of a flow goes: its components, which add up to it exactly.
//!
//! `docs/guide/src/why.md` defines each of them, with a picture.

use tailcut_base::Span;

/// A component of a flow's completion time.
///
/// The numbers are positions in a [`Breakdown`]. What every packet adds to on its way stands first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Component {
    /// Bits of the flow's data are put on links.
    Transmission,
    /// They are under way on links.
    Propagation,
    /// They wait in the queue of a host's interface.
    QueueHost,
    /// They wait in a switch of the lowest tier, for a link away from its hosts.
    QueueLeafUp,
    /// They wait in a switch of the second tier, for a link up.
    QueueSpineUp,
    /// They wait in a switch of the third tier or above.
    QueueCore,
    /// They wait in a switch of the second tier, for a link down.
    QueueSpineDown,
    /// They wait in a switch of the lowest tier, for the link to a host.
    QueueLeafDown,
    /// They wait in a port or interface while a pause frame stops their class.
    Paused,
    /// The flow may send, and its host sends packets of others.
    Host,
    /// Hosts take their time before they send and after packets arrive.
    Processing,
    /// The connection is opened.
    Handshake,
    /// The window is used up until an ACK has come back.
    Window,
    /// The pacer holds the next packet.
    Pacing,
    /// The receiver has not granted the next bytes.
    Grants,
    /// A controller, or the rates that switches write, do not let the flow send.
    Permission,
    /// A packet was lost, until duplicate ACKs had it sent again.
    FastRetransmit,
    /// A packet was lost, until a timer had it sent again.
    Timeout,
    /// Every byte has been received, and the sender does not know.
    LastAck,
}

impl Component {
    /// All of them, in the order of their numbers.
    pub const ALL: [Component; 19] = [
        Component::Transmission,
        Component::Propagation,
        Component::QueueHost,
        Component::QueueLeafUp,
        Component::QueueSpineUp,
        Component::QueueCore,
        Component::QueueSpineDown,
        Component::QueueLeafDown,
        Component::Paused,
        Component::Host,
        Component::Processing,
        Component::Handshake,
        Component::Window,
        Component::Pacing,
        Component::Grants,
        Component::Permission,
        Component::FastRetransmit,
        Component::Timeout,
        Component::LastAck,
    ];

    /// The name in columns and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Component::Transmission => "transmission",
            Component::Propagation => "propagation",
            Component::QueueHost => "queue_host",
            Component::QueueLeafUp => "queue_leaf_up",
            Component::QueueSpineUp => "queue_spine_up",
            Component::QueueCore => "queue_core",
            Component::QueueSpineDown => "queue_spine_down",
            Component::QueueLeafDown => "queue_leaf_down",
            Component::Paused => "paused",
            Component::Host => "host",
            Component::Processing => "processing",
            Component::Handshake => "handshake",
            Component::Window => "window",
            Component::Pacing => "pacing",
            Component::Grants => "grants",
            Component::Permission => "permission",
            Component::FastRetransmit => "fast_retransmit",
            Component::Timeout => "timeout",
            Component::LastAck => "last_ack",
        }
    }

    /// What it is, in a few words for legends and sentences.
    pub const fn words(self) -> &'static str {
        match self {
            Component::Transmission => "transmission",
            Component::Propagation => "propagation",
            Component::QueueHost => "queue of the host's interface",
            Component::QueueLeafUp => "queue, leaf up",
            Component::QueueSpineUp => "queue, spine up",
            Component::QueueCore => "queue, core",
            Component::QueueSpineDown => "queue, spine down",
            Component::QueueLeafDown => "queue, leaf down",
            Component::Paused => "paused",
            Component::Host => "other packets of its host",
            Component::Processing => "processing in hosts",
            Component::Handshake => "handshake",
            Component::Window => "window",
            Component::Pacing => "pacer",
            Component::Grants => "grants",
            Component::Permission => "permission to send",
            Component::FastRetransmit => "fast retransmit",
            Component::Timeout => "timeout",
            Component::LastAck => "last ACK",
        }
    }

    /// What it means, in a sentence of the documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Component::Transmission => "Time in which hosts and switches put bits of its data on links.",
            Component::Propagation => "Time in which its data was under way on links.",
            Component::QueueHost => {
                "Time in the queue of a host's interface, its own or, where hosts pass packets on, another one's."
            }
            Component::QueueLeafUp => "Time in queues of switches of the lowest tier, for links away from their hosts.",
            Component::QueueSpineUp => "Time in queues of switches of the second tier, for links up.",
            Component::QueueCore => "Time in queues of switches of the third tier and above.",
            Component::QueueSpineDown => "Time in queues of switches of the second tier, for links down.",
            Component::QueueLeafDown => "Time in queues of switches of the lowest tier, for links to hosts.",
            Component::Paused => "Time in ports and interfaces while pause frames stopped its class.",
            Component::Host => "Time in which the flow could send and its host sent packets of other flows.",
            Component::Processing => "Time that hosts took before they sent and after packets had arrived.",
            Component::Handshake => "Time until the connection was open.",
            Component::Window => "Time in which the window was used up: the way back of the ACKs that it waited for.",
            Component::Pacing => "Time in which a pacer held the next packet.",
            Component::Grants => "Time until the receiver granted the next bytes, and the way of the grants.",
            Component::Permission => {
                "Time in which a controller, or the rates that switches write, did not let the flow send."
            }
            Component::FastRetransmit => {
                "Time from the first transmission of lost packets until duplicate ACKs had them sent again."
            }
            Component::Timeout => "Time from the first transmission of lost packets until a timer had them sent again.",
            Component::LastAck => "Time from the last byte until the sender knew, where that completes a flow.",
        }
    }

    /// Where data waits in a switch of tier `tier`, counted from the hosts up, for a link up or down.
    pub const fn queue(tier: usize, is_up: bool) -> Component {
        match (tier, is_up) {
            (0, true) => Component::QueueLeafUp,
            (0, false) => Component::QueueLeafDown,
            (1, true) => Component::QueueSpineUp,
            (1, false) => Component::QueueSpineDown,
            _ => Component::QueueCore,
        }
    }
}

/// The time of each [`Component`], in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Breakdown([u64; Component::ALL.len()]);

impl Breakdown {
    /// Adds to a component.
    #[inline]
    pub fn add(&mut self, component: Component, time: Span) {
        self.0[component as usize] += time.as_ps();
    }

    /// Takes away the time of a component, and returns it.
    #[inline]
    pub fn take(&mut self, component: Component) -> Span {
        Span::from_ps(std::mem::take(&mut self.0[component as usize]))
    }

    /// The same breakdown with this much time moved from one component to another.
    ///
    /// # Panics
    /// If the first one has less.
    #[must_use]
    pub fn moved(mut self, time: Span, from: Component, to: Component) -> Breakdown {
        let left = self.0[from as usize].checked_sub(time.as_ps());
        self.0[from as usize] = left.expect("no more is taken from a component than it has");
        self.add(to, time);
        self
    }

    /// The time of a component.
    #[inline]
    pub fn get(&self, component: Component) -> Span {
        Span::from_ps(self.0[component as usize])
    }

    /// The sum of all.
    pub fn total(&self) -> Span {
        Span::from_ps(self.0.iter().sum())
    }

    /// Every component with its time, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Component, Span)> {
        Component::ALL.into_iter().map(|component| (component, self.get(component)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_in_order_and_have_one_name_each() {
        for (at, component) in Component::ALL.into_iter().enumerate() {
            assert_eq!(component as usize, at);
            assert!(Component::ALL[..at].iter().all(|other| other.name() != component.name()), "{component:?}");
            assert!(component.meaning().ends_with('.'), "{component:?}");
        }
    }

    #[test]
    fn a_breakdown_adds_up() {
        let mut breakdown = Breakdown::default();
        breakdown.add(Component::Window, Span::from_ns(5));
        breakdown.add(Component::Transmission, Span::from_ns(2));
        let moved = breakdown.moved(Span::from_ns(4), Component::Window, Component::LastAck);
        assert_eq!((breakdown.total(), moved.total()), (Span::from_ns(7), Span::from_ns(7)));
        assert_eq!(moved.get(Component::Window), Span::from_ns(1));
        assert_eq!(moved.iter().map(|(_, time)| time).fold(Span::ZERO, |sum, time| sum + time), Span::from_ns(7));
    }
}
