//! Delays that are drawn: uniform, as the `overhead_` of ns-2's TCP, or exponential.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Span, Stream};
use tailcut_model::{Build, Facts, Invalid, Parameters};

use super::{Delay, DelayContext};

/// How a delay is distributed around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Evenly between zero and twice the mean (ns-2's `overhead_` is twice the mean).
    #[default]
    Uniform,
    /// Exponentially.
    Exponential,
}

/// What a delay of arrivals is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// For each packet; none overtakes another one.
    #[default]
    Packet,
    /// For the first packet; those that arrive until the host sees it are seen with it, as under one interrupt.
    Burst,
}

/// How long hosts take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the times are distributed.
    pub distribution: Distribution,
    /// Mean time from the moment at which an idle host may send until it begins to. While it sends, whatever else it
    /// may send follows without a delay of its own.
    pub send: Span,
    /// Mean time from the arrival of a packet until the transport sees it.
    pub receive: Span,
    /// What a delay of arrivals is drawn for.
    pub each: Each,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "send = \"1us\"",
        "receive = \"3us\", each = \"burst\"",
        "distribution = \"exponential\", send = \"500ns\", receive = \"2us\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
    }
}

/// The delays of one host.
#[derive(Debug)]
pub struct Model {
    config: Config,
    sending: Stream,
    arrival: Stream,
}

impl Build for Model {
    type Config = Config;
    type Context = DelayContext;

    fn build(config: &Config, context: &DelayContext) -> Result<Model, Invalid> {
        if config.send == Span::ZERO && config.receive == Span::ZERO {
            return Err(Invalid::new("send", "neither sending nor receiving takes any time")
                .help("expected a positive `send` or `receive`, such as \"1us\", or `delay = \"off\"`"));
        }
        let stream = |purpose| context.seeds.stream(purpose, u64::from(context.host.0));
        Ok(Model { config: config.clone(), sending: stream("host.delay.send"), arrival: stream("host.delay.receive") })
    }
}

impl Delay for Model {
    fn is_on(&self) -> bool {
        true
    }

    fn before_sending(&mut self) -> Span {
        draw(self.config.distribution, self.config.send, &mut self.sending)
    }

    fn after_arrival(&mut self) -> Span {
        draw(self.config.distribution, self.config.receive, &mut self.arrival)
    }

    fn is_of_bursts(&self) -> bool {
        self.config.each == Each::Burst
    }
}

fn draw(distribution: Distribution, mean: Span, stream: &mut Stream) -> Span {
    let times_mean = match distribution {
        _ if mean == Span::ZERO => return Span::ZERO,
        Distribution::Uniform => 2.0 * stream.unit(),
        Distribution::Exponential => stream.exponential(1.0),
    };
    Span::from_ps((mean.as_ps() as f64 * times_mean) as u64)
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Seeds};

    use super::*;

    fn model(config: &Config, host: u32) -> Model {
        Model::build(config, &DelayContext { seeds: Seeds::new(1), host: HostId(host) }).unwrap()
    }

    #[test]
    fn delays_have_their_mean_and_their_distribution() {
        for (distribution, square) in [(Distribution::Uniform, 4.0 / 3.0), (Distribution::Exponential, 2.0)] {
            let config =
                Config { distribution, send: Span::from_us(3), receive: Span::from_us(5), each: Each::default() };
            let mut model = model(&config, 0);
            let number = 100_000;
            let mut sums = [0.0; 3];
            for _ in 0..number {
                let (send, receive) = (model.before_sending().as_ps() as f64, model.after_arrival().as_ps() as f64);
                sums[0] += send / 3e6;
                sums[1] += receive / 5e6;
                sums[2] += (receive / 5e6).powi(2);
            }
            let [send, receive, squared] = sums.map(|sum| sum / f64::from(number));
            assert!((send - 1.0).abs() < 0.02 && (receive - 1.0).abs() < 0.02, "{distribution:?}: {send}, {receive}");
            assert!((squared / square - 1.0).abs() < 0.03, "{distribution:?}: {squared}");
        }
    }

    #[test]
    fn each_host_draws_for_itself_and_what_takes_no_time_draws_nothing() {
        let config = Config { receive: Span::from_us(1), ..Config::default() };
        let draws = |host| {
            let mut model = model(&config, host);
            (0..4).map(|_| model.after_arrival()).collect::<Vec<_>>()
        };
        assert_ne!(draws(0), draws(1));
        assert_eq!(draws(1), draws(1));
        assert_eq!(model(&config, 0).before_sending(), Span::ZERO);
        let nothing = DelayContext { seeds: Seeds::new(1), host: HostId(0) };
        assert_eq!(Model::build(&Config::default(), &nothing).unwrap_err().path, "send");
    }
}
