//! Dynamic threshold: a port may hold as much as is free, times a factor.
//!
//! Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (IEEE/ACM Transactions on
//! Networking 6(2), 1998): the threshold of every queue is T = alpha * (B - Q), of a memory of B bytes in which Q wait.
//! It is looked at before the arriving packet is counted. A port above the threshold takes nothing in and evicts
//! nothing.
//!
//! The packet on the wire has left the memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory that ports share by a dynamic threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
    /// Alpha: a port may hold so many times what is free. `n` ports that are overloaded for long hold
    /// `alpha * B / (1 + n * alpha)` each (Choudhury and Hahne, section III; 1 is their example).
    #[serde(default = "one")]
    pub alpha: f64,
}

fn one() -> f64 {
    1.0
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["size = \"30KB\"", "size = \"200KB\", alpha = 0.25"];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        // What one port holds when it is alone.
        let most = self.alpha / (1.0 + self.alpha) * self.size.0 as f64;
        super::below_limit("dt", most as u64, around)
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    size: u64,
    alpha: f64,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, _: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        super::is_factor("alpha", config.alpha)?;
        Ok(Model { size: config.size.0, alpha: config.alpha })
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn listens(&self) -> bool {
        false
    }

    fn is_patient(&self) -> bool {
        true
    }

    #[inline]
    fn admit(&mut self, _: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        super::within(super::dynamic(self.alpha, pool), packet, port)
    }

    fn threshold(&self, _: Instant, _: PortUse, pool: Pool) -> u64 {
        super::dynamic(self.alpha, pool)
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::HostId;
    use tailcut_model::FlowId;

    use super::*;
    use crate::memory::testing::context;

    const B: u64 = 4_000_000;

    fn model(alpha: f64) -> Model {
        Model::build(&Config { size: Bytes(B), alpha }, &context(0)).unwrap()
    }

    /// Offers a full packet to a port; whether it was taken in.
    fn offer(model: &mut Model, ports: &mut [u64], port: usize) -> bool {
        let packet = Packet::data(FlowId(0), HostId(0), HostId(1), 0, 1460, 1460, Instant::ZERO);
        let pool = Pool { used: ports.iter().sum(), size: B };
        let port_use = PortUse { port: port as u32, bytes: ports[port], ..PortUse::default() };
        let taken = model.admit(Instant::ZERO, &packet, port_use, pool).is_ok();
        if taken {
            ports[port] += u64::from(packet.size);
        }
        taken
    }

    #[test]
    fn ports_that_are_overloaded_for_long_share_as_the_closed_form_says() {
        // Shares of the memory by alpha and the number of ports: alpha / (1 + n alpha), rounded.
        for (alpha, shares) in [
            (0.5, [0.3333, 0.25, 0.2, 0.1667, 0.1429, 0.0833]),
            (1.0, [0.5, 0.3333, 0.25, 0.2, 0.1667, 0.0909]),
            (2.0, [0.6667, 0.4, 0.2857, 0.2222, 0.1818, 0.0952]),
            (8.0, [0.8889, 0.4706, 0.32, 0.2424, 0.1951, 0.0988]),
        ] {
            for (n, share) in [1, 2, 3, 4, 5, 10].into_iter().zip(shares) {
                let (mut model, mut ports) = (model(alpha), vec![0; n]);
                while (0..n).map(|port| offer(&mut model, &mut ports, port)).filter(|&taken| taken).count() > 0 {}
                for bytes in ports {
                    let expected = share * B as f64;
                    let slack = 1500.0 * (1.0 + alpha) + 0.00005 * B as f64;
                    assert!((bytes as f64 - expected).abs() < slack, "{alpha} {n}: {bytes} for {expected}");
                }
            }
        }
    }

    #[test]
    fn a_burst_for_one_port_of_an_empty_switch_gets_half() {
        let (mut model, mut ports) = (model(1.0), vec![0; 30]);
        let taken = (0..4000).filter(|_| offer(&mut model, &mut ports, 7)).count();
        // 1333 packets are 1 999 500 B, of which 2 000 500 B are left free.
        assert_eq!((taken, ports[7]), (1333, 1_999_500));
    }

    #[test]
    fn a_port_above_the_threshold_takes_nothing_until_it_is_below_and_all_have_the_same() {
        let (mut model, mut ports) = (model(1.0), vec![0, 0, 0]);
        while offer(&mut model, &mut ports, 0) {}
        // Another port grows; the threshold falls to what is free.
        for _ in 0..400 {
            assert!(offer(&mut model, &mut ports, 1));
        }
        let free = |ports: &[u64]| B - ports.iter().sum::<u64>();
        assert!(ports[0] > free(&ports) && !offer(&mut model, &mut ports, 0));
        // It drains: it is below as soon as it and one more packet are no more than what is free.
        while ports[0] + 1500 > free(&ports) {
            assert!(!offer(&mut model, &mut ports, 0));
            ports[0] -= 1500;
        }
        assert!(offer(&mut model, &mut ports, 0));
        // A third one that is empty may grow up to the same threshold.
        let threshold = free(&ports);
        assert!(offer(&mut model, &mut ports, 2) && ports[2] < threshold);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (size, alpha, path) in [(1499, 1.0, "size"), (B, 0.0, "alpha"), (B, -1.0, "alpha"), (B, f64::NAN, "alpha")]
        {
            let refused = Model::build(&Config { size: Bytes(size), alpha }, &context(0)).unwrap_err();
            assert!(refused.path == path && refused.help.is_some(), "{refused}");
        }
    }
}
