//! First come, first served: packets go in the order in which their windows allowed them.
//!
//! The same order as in a drop-free NIC queue into which every window is pushed at once (ns-2, ns-3), without the packets.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::SendOrder;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The order: runs of packets, oldest first.
#[derive(Debug, Default)]
pub struct Model(VecDeque<(u32, u32)>);

impl Model {
    pub(crate) fn new(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model::default())
    }
}

impl SendOrder for Model {
    #[inline]
    fn offer(&mut self, slot: u32, packets: u32) {
        match self.0.back_mut() {
            Some((last, count)) if *last == slot => *count += packets,
            _ => self.0.push_back((slot, packets)),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (slot, count) = self.0.front_mut()?;
        let slot = *slot;
        *count -= 1;
        if *count == 0 {
            self.0.pop_front();
        }
        Some(slot)
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn forget(&mut self, slot: u32) {
        self.0.retain(|&(other, _)| other != slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_go_in_the_order_in_which_they_opened() {
        let mut order = Model::default();
        order.offer(1, 2);
        order.offer(2, 1);
        order.offer(1, 1);
        order.offer(3, 1);
        order.forget(2);
        let sent: Vec<u32> = std::iter::from_fn(|| order.next()).collect();
        assert_eq!(sent, [1, 1, 1, 3]);
        assert!(order.is_empty());
    }
}
