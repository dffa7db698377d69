//! Independent losses: each packet with the same probability, whatever happens to the others (Bernoulli).
//!
//! The usual assumption of the theory of TCP under loss (Mathis et al., CCR 1997), and `RateErrorModel` with packets as
//! its unit in ns-3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Stream;
use tailcut_model::seat::Loss;
use tailcut_model::{Build, Invalid, Kind, Packet, Parameters};

use super::LossContext;

/// Which packets may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Data packets; ACKs and handshakes always get through.
    Data,
    /// Packets of all kinds.
    #[default]
    All,
}

/// How much is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Probability that a packet is lost at a port of a switch: at least 0 and below 1.
    pub probability: f64,
    /// Which packets may be lost.
    #[serde(default)]
    pub of: Of,
}

/// The losses of one port.
#[derive(Debug)]
pub struct Model(Box<Draws>);

/// Behind a pointer: a generator is many times as large as what a port needs to know when nothing is lost.
#[derive(Debug)]
struct Draws {
    probability: f64,
    of: Of,
    stream: Stream,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["probability = 0.01", "probability = 0.1, of = \"all\""];
}

impl Build for Model {
    type Config = Config;
    type Context = LossContext;

    fn build(config: &Config, context: &LossContext) -> Result<Model, Invalid> {
        let Config { probability, of } = *config;
        if !(0.0..1.0).contains(&probability) {
            return Err(Invalid::new(
                "probability",
                format!("{probability} is not a share of packets that can be lost"),
            )
            .help("expected a number of at least 0 and below 1, such as 0.001"));
        }
        let stream = context.seeds.stream("port.loss", u64::from(context.port.0));
        Ok(Model(Box::new(Draws { probability, of, stream })))
    }
}

impl Loss for Model {
    fn loses(&mut self, packet: &Packet) -> bool {
        let Draws { probability, of, stream } = &mut *self.0;
        (*of == Of::All || packet.kind == Kind::DATA) && stream.unit() < *probability
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Instant, PortId, Seeds};
    use tailcut_model::FlowId;

    use super::*;

    fn model(probability: f64, of: Of, seed: u64, port: u32) -> Model {
        let context = LossContext { seeds: Seeds::new(seed), port: PortId(port) };
        Model::build(&Config { probability, of }, &context).unwrap()
    }

    fn data() -> Packet {
        Packet::data(FlowId(0), HostId(0), HostId(1), 0, 1460, 1 << 20, Instant::ZERO)
    }

    fn ack() -> Packet {
        Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), 0, Instant::ZERO)
    }

    fn losses(model: &mut Model, packet: &Packet, packets: u32) -> Vec<u32> {
        (0..packets).filter(|_| model.loses(packet)).collect()
    }

    #[test]
    fn so_many_are_lost_as_the_probability_says_and_independently() {
        let packets = 200_000;
        let lost = losses(&mut model(0.1, Of::All, 1, 0), &data(), packets);
        // Standard deviations: 134 of the count, 0.0021 of the share of losses that follow a loss.
        assert!((lost.len() as f64 - 20_000.0).abs() < 4.0 * 134.0, "{}", lost.len());
        let pairs = lost.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!((pairs as f64 / lost.len() as f64 - 0.1).abs() < 4.0 * 0.0021, "{pairs} of {}", lost.len());
        assert!(losses(&mut model(0.0, Of::All, 1, 0), &data(), packets).is_empty());
    }

    #[test]
    fn each_port_and_each_seed_draws_for_itself() {
        let of = |seed, port| losses(&mut model(0.5, Of::All, seed, port), &data(), 100);
        assert_eq!(of(1, 2), of(1, 2));
        assert!(of(1, 2) != of(1, 3) && of(1, 2) != of(2, 2));
    }

    #[test]
    fn of_data_only_no_ack_is_lost_and_none_takes_a_draw() {
        let mut alone = model(0.5, Of::Data, 1, 0);
        let mut between = model(0.5, Of::Data, 1, 0);
        for _ in 0..200 {
            assert!(!between.loses(&ack()));
            assert_eq!(alone.loses(&data()), between.loses(&data()));
        }
        assert!(!losses(&mut model(0.5, Of::All, 1, 0), &ack(), 100).is_empty());
    }

    #[test]
    fn what_is_no_probability_or_loses_everything_is_refused() {
        let context = LossContext { seeds: Seeds::new(1), port: PortId(0) };
        for probability in [-0.1, 1.0, 1.5, f64::NAN, f64::INFINITY] {
            let refused = Model::build(&Config { probability, of: Of::All }, &context).unwrap_err();
            assert_eq!(refused.path, "probability");
            assert!(refused.help.is_some());
        }
    }
}
