//! The seats of a host: transport, congestion control, send order, tag, pacing, receive window, delays.
//!
//! A host's NIC pulls: when it is free it sends a waiting control packet, or else asks the transport for a data packet,
//! and the send order decides of which flow. A data packet therefore exists only from the moment of its transmission,
//! and no window waits in a NIC queue.
//!
//! Left out: segmentation offload; of CPU time and interrupts all but the delays that can be drawn for them.

pub mod congestion;
pub mod delay;
pub mod order;
pub mod pace;
pub mod receive;
pub mod tag;
pub mod transport;

use std::sync::Arc;

use tailcut_base::{BitRate, HostId, Seeds};
use tailcut_model::{Invalid, table};

use congestion::{CongestionConfig, FlowContext};
use delay::{DelayConfig, DelayContext};
use order::OrderConfig;
use pace::PaceConfig;
use receive::ReceiveConfig;
use tag::TagConfig;
use transport::{TransportConfig, TransportSeat};

table! {
    /// The `[host]` table: what every host does.
    pub struct HostConfig {
        values {}
        seats {
            /// How bytes become packets and are made sure to arrive.
            transport: TransportConfig = TransportConfig::Tcp(transport::tcp::Config::default()),
            /// What sets the window of a flow.
            congestion: CongestionConfig = CongestionConfig::Newreno(congestion::newreno::Config::default()),
            /// Which flow of the host sends next.
            order: OrderConfig = OrderConfig::RoundRobin(order::round_robin::Config::default()),
            /// Which priority a data packet carries.
            tag: TagConfig = TagConfig::Off(tag::off::Config::default()),
            /// When the next packet of a flow may go, whatever its window says.
            pace: PaceConfig = PaceConfig::Off(pace::off::Config::default()),
            /// How much the senders may have on its way to the host.
            receive: ReceiveConfig = ReceiveConfig::Unlimited(receive::unlimited::Config::default()),
            /// How long the host takes to send and to take in packets.
            delay: DelayConfig = DelayConfig::Off(delay::off::Config {}),
        }
    }
}

/// Hosts go with their part of the network from thread to thread, and share their configuration.
const _: () = {
    const fn assert_send<T: Send>() {}
    const fn assert_sync<T: Sync>() {}
    assert_send::<TransportSeat>();
    assert_sync::<HostConfig>();
};

/// What the seats of one host may know when they are made.
#[derive(Clone, Debug)]
pub struct HostContext {
    /// What every host does; many hosts share it.
    pub config: Arc<HostConfig>,
    /// Rate of the host's link; of the first, if it has several.
    pub nic: BitRate,
    /// Interfaces that the host has.
    pub nics: u8,
    /// Hosts of the network.
    pub hosts: u32,
}

impl HostContext {
    /// A host beside one other, with a link of 10 Gb/s.
    pub fn of(config: HostConfig) -> HostContext {
        HostContext { config: Arc::new(config), nic: BitRate::gbps(10), nics: 1, hosts: 2 }
    }

    /// Checks what the types do not; paths are relative to the `[host]` table.
    ///
    /// # Errors
    /// If a value is out of range for such a host or seats do not go together.
    pub fn validate(&self) -> Result<(), Invalid> {
        let config = &self.config;
        config.congestion.build(&FlowContext::default()).map_err(|e| e.within("congestion"))?;
        config.order.build(&()).map_err(|e| e.within("order"))?;
        config.tag.build(&()).map_err(|e| e.within("tag"))?;
        let delay = DelayContext { seeds: Seeds::new(0), host: HostId(0) };
        config.delay.build(&delay).map_err(|e| e.within("delay"))?;
        config.pace.build(self).map_err(|e| e.within("pace"))?;
        config.receive.build(self).map_err(|e| e.within("receive"))?;
        self.build().map(|_| ())
    }

    /// The transport of the host.
    ///
    /// # Errors
    /// As [`HostContext::validate`].
    pub fn build(&self) -> Result<TransportSeat, Invalid> {
        self.config.transport.build(self).map_err(|e| e.within("transport"))
    }
}
