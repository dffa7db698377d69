//! The flows that are under way.

use tailcut_base::{Instant, Span};

/// A link that a flow crosses, and how much of the flow does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Number of the link.
    pub link: u32,
    /// The part of the flow that goes over the link: 1 for a flow that takes one way, less for one that is split.
    pub share: f64,
}

/// No link.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// What happens to a flow at its next milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Nothing is left of it.
    End,
    /// It has sent so much that it enters the next step of its discipline.
    Step,
    /// It has less left than a flow before it.
    Overtake,
}

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The caller's number.
    pub(crate) id: u32,
    /// The links.
    pub(crate) hops: Vec<Hop>,
    /// Bit/s.
    pub(crate) rate: f64,
    /// What its links after the first one give it, where that one is shared evenly; its rate elsewhere.
    pub(crate) grant: f64,
    /// Bits that were left at `since`.
    pub(crate) left: f64,
    /// From when on the flow sends at its rate.
    pub(crate) since: Instant,
    /// Bits.
    pub(crate) size: f64,
    /// Bits that were left when it took the links that it has.
    pub(crate) left_before: f64,
    /// Which step of its discipline the flow is in.
    pub(crate) step: u32,
    /// The level of that step; flows of lower ones go first.
    pub(crate) level: u8,
    /// The weight of that step.
    pub(crate) weight: f64,
    /// What comes before what is left, where flows are ordered: a deadline.
    pub(crate) before_left: u64,
    /// The link that holds the flow back, where flows are served in an order.
    pub(crate) bottleneck: u32,
    /// Time in which it does not send when it may send again after it has waited.
    pub(crate) resume: Span,
    /// Whether it has waited, or still does.
    pub(crate) has_waited: bool,
    /// Its next milestone.
    pub(crate) goal: Goal,
}

impl Flow {
    /// Bits that are left at a moment that is no earlier than the last change.
    #[inline]
    pub(crate) fn left_at(&self, now: Instant) -> f64 {
        let sent = self.rate * now.saturating_since(self.since).as_ps() as f64 * 1e-12;
        (self.left - sent).max(0.0)
    }

    /// Gives it another rate from now on.
    pub(crate) fn set_rate(&mut self, now: Instant, rate: f64) {
        self.left = self.left_at(now);
        self.since = self.since.max(now);
        if self.rate == 0.0 && rate > 0.0 && self.has_waited {
            self.since = now + self.resume;
        }
        self.rate = rate;
    }

    /// When so many bits will be left; `None` if that takes forever.
    pub(crate) fn when_left(&self, left: f64) -> Option<Instant> {
        let ps = (self.left - left).max(0.0) / self.rate * 1e12;
        // At no rate it is infinite.
        (ps < (u64::MAX / 2) as f64).then(|| self.since + Span::from_ps(ps.ceil() as u64))
    }
}

/// All flows that are under way, by slot. The slot of a flow that has ended is given to another one.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    slots: Vec<Flow>,
    free: Vec<u32>,
    is_live: Vec<bool>,
}

impl Flows {
    /// A slot, with the lists of a flow that had it before.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.is_live[slot as usize] = true;
            return slot;
        }
        self.slots.push(Flow {
            id: 0,
            hops: Vec::new(),
            rate: 0.0,
            grant: 0.0,
            left: 0.0,
            since: Instant::ZERO,
            size: 0.0,
            left_before: 0.0,
            step: 0,
            level: 0,
            weight: 1.0,
            before_left: 0,
            bottleneck: NO_LINK,
            resume: Span::ZERO,
            has_waited: false,
            goal: Goal::End,
        });
        self.is_live.push(true);
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 flows at a time")
    }

    /// Gives a slot back.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.is_live[slot as usize] = false;
        self.free.push(slot);
    }

    /// The slots of the flows that are under way, ascending.
    pub(crate) fn live(&self) -> impl Iterator<Item = u32> {
        (0..self.slots.len() as u32).filter(|&slot| self.is_live[slot as usize])
    }

    /// Flows that are under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Bytes that they hold on to.
    pub(crate) fn heap_bytes(&self) -> usize {
        let hops = |flow: &Flow| flow.hops.capacity() * size_of::<Hop>();
        self.slots.capacity() * size_of::<Flow>()
            + self.slots.iter().map(hops).sum::<usize>()
            + self.free.capacity() * size_of::<u32>()
            + self.is_live.capacity()
    }
}

impl std::ops::Index<u32> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, slot: u32) -> &Flow {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Flow {
        &mut self.slots[slot as usize]
    }
}
