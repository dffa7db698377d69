//! The seats of a host: transport, congestion control, send order, tag, pacing, receive window.
//!
//! A host's NIC pulls: when it is free it sends a waiting control packet, or else asks the transport for a data packet,
//! and the send order decides of which flow. A data packet therefore exists only from the moment of its transmission, and no
//! window waits in a NIC queue.
//!
//! Left out: CPU time, interrupts, segmentation offload.

pub mod congestion;
pub mod order;
pub mod pace;
pub mod receive;
pub mod tag;
pub mod transport;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::BitRate;
use tailcut_model::Invalid;

use congestion::{CongestionConfig, FlowContext};
use order::OrderConfig;
use pace::PaceConfig;
use receive::ReceiveConfig;
use tag::TagConfig;
use transport::{TransportConfig, TransportSeat};

/// The `[host]` table: what every host does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// How bytes become packets and are made sure to arrive.
    pub transport: TransportConfig,
    /// What sets the window of a flow.
    pub congestion: CongestionConfig,
    /// Which flow of the host sends next.
    pub order: OrderConfig,
    /// Which priority a data packet carries.
    pub tag: TagConfig,
    /// When the next packet of a flow may go, whatever its window says.
    pub pace: PaceConfig,
    /// How much the senders may have on its way to the host.
    pub receive: ReceiveConfig,
}

/// Hosts go with their part of the network from thread to thread, and share their configuration.
const _: () = {
    const fn assert_send<T: Send>() {}
    const fn assert_sync<T: Sync>() {}
    assert_send::<TransportSeat>();
    assert_sync::<HostConfig>();
};

impl Default for HostConfig {
    fn default() -> HostConfig {
        HostConfig {
            transport: TransportConfig::Tcp(transport::tcp::Config::default()),
            congestion: CongestionConfig::Newreno(congestion::newreno::Config::default()),
            order: OrderConfig::RoundRobin(order::round_robin::Config::default()),
            tag: TagConfig::Off(tag::off::Config::default()),
            pace: PaceConfig::Off(pace::off::Config::default()),
            receive: ReceiveConfig::Unlimited(receive::unlimited::Config::default()),
        }
    }
}

impl HostConfig {
    /// Checks what the types do not; paths are relative to the `[host]` table.
    ///
    /// # Errors
    /// If a value is out of range or seats do not go together.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.congestion.build(&FlowContext::default()).map_err(|e| e.within("congestion"))?;
        self.order.build(&()).map_err(|e| e.within("order"))?;
        self.tag.build(&()).map_err(|e| e.within("tag"))?;
        let context = HostContext::of(self.clone());
        self.pace.build(&context).map_err(|e| e.within("pace"))?;
        self.receive.build(&context).map_err(|e| e.within("receive"))?;
        context.build().map(|_| ())
    }
}

/// What the seats of one host may know when they are made.
#[derive(Clone, Debug)]
pub struct HostContext {
    /// What every host does; many hosts share it.
    pub config: Arc<HostConfig>,
    /// Rate of the host's link.
    pub nic: BitRate,
}

impl HostContext {
    /// A host by itself, with a link of 10 Gb/s.
    pub fn of(config: HostConfig) -> HostContext {
        HostContext { config: Arc::new(config), nic: BitRate::gbps(10) }
    }

    /// The transport of the host.
    ///
    /// # Errors
    /// As [`HostConfig::validate`].
    pub fn build(&self) -> Result<TransportSeat, Invalid> {
        self.config.transport.build(self).map_err(|e| e.within("transport"))
    }
}
