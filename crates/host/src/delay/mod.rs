//! How long hosts take: until they send what they may send, and until they take in what has arrived.
//!
//! Without such delays hosts are clocks. Senders that are asked at one moment answer at the same picosecond, packets
//! that were lost together are sent again together, and which of them finds room is decided by their numbers. Real
//! hosts do not agree so well: interrupts, schedulers and other work come between.

use tailcut_base::{HostId, Seeds, Span};
use tailcut_model::register;

register! {
    /// How long hosts take to send and to take in packets.
    config DelayConfig, seat "host delay";
    /// The delays of one host.
    model DelaySeat, dispatch match_delay, build(DelayContext);
    /// No time at all.
    Off in off,
    /// Times that are drawn anew for each packet or burst.
    Random in random,
}

/// What the delays of a host may know when they are made.
#[derive(Clone, Copy, Debug)]
pub struct DelayContext {
    /// Where random streams come from.
    pub seeds: Seeds,
    /// The host.
    pub host: HostId,
}

/// How long a host takes. Each call draws anew.
pub trait Delay {
    /// Whether it ever takes any time.
    fn is_on(&self) -> bool;
    /// From the moment at which an idle host may send until it begins to.
    fn before_sending(&mut self) -> Span;
    /// From the arrival of a packet until the transport sees it.
    fn after_arrival(&mut self) -> Span;
    /// Whether packets that arrive while others wait for the transport are seen together with them.
    fn is_of_bursts(&self) -> bool;
}

impl Delay for DelaySeat {
    fn is_on(&self) -> bool {
        match_delay!(self, model => model.is_on())
    }
    fn before_sending(&mut self) -> Span {
        match_delay!(self, model => model.before_sending())
    }
    fn after_arrival(&mut self) -> Span {
        match_delay!(self, model => model.after_arrival())
    }
    fn is_of_bursts(&self) -> bool {
        match_delay!(self, model => model.is_of_bursts())
    }
}
