//! One traffic of the scenario, checked: what it sends, before it is known how often.

use tailcut_base::{Instant, Span, wire_bytes};
use tailcut_model::{Files, Invalid};

use crate::builtin;
use crate::config::{
    Deadlines, FirstAnswer, FlowFile, ListedFlow, LoadBytes, ParetoSizes, SizeFile, SizeFormat, Sizes, Traffic,
};
use crate::deadlines;
use crate::demand::TrafficMatrix;
use crate::distribution::Distribution;
use crate::endpoints::Pattern;
use crate::files::load;
use crate::flow_list::{FlowList, Listed, host_help};
use crate::incast_plan::{Answers, IncastPlan, incast_plan};
use crate::load::Racks;
use crate::site::Site;
use crate::size_table::TableFormat;

/// What a traffic sends.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Generated(Box<Generated>),
    Listed(FlowList),
}

/// A traffic whose flows are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    pub(crate) amount: Amount,
    /// When it arrives, if not all the time.
    pub(crate) window: Option<Window>,
    pub(crate) sizes: Distribution,
    pub(crate) ends: Ends,
    pub(crate) deadlines: Option<Deadlines>,
}

/// From when on, and until when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) from: Span,
    pub(crate) until: Option<Span>,
}

impl Window {
    /// Whether an event of `now` counts.
    pub(crate) fn has(self, now: Instant) -> bool {
        let now = now.as_ps();
        self.from.as_ps() <= now && self.until.is_none_or(|until| now < until.as_ps())
    }

    /// The part of `duration` that it is.
    pub(crate) fn part_of(self, duration: Span) -> f64 {
        let until = self.until.map_or(duration, |until| until.min(duration)).as_ps();
        until.saturating_sub(self.from.as_ps()) as f64 / duration.as_ps().max(1) as f64
    }
}

/// How much of it there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// A fraction of the load.
    Share(f64),
    /// Events per second.
    Rate(f64),
}

/// Who sends to whom.
#[derive(Clone, Debug)]
pub(crate) enum Ends {
    Pairs(Pattern),
    Incast(IncastPlan),
}

/// The flows of one kind that an event brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// How many, on average.
    pub(crate) flows: f64,
    /// Their mean payload, and payload and headers, in bytes.
    pub(crate) mean: f64,
    pub(crate) mean_wire: f64,
    /// The largest payload that one can have, in bytes.
    pub(crate) largest: u64,
}

impl Generated {
    /// The flows of its own class that an event brings, and first answers, which have a class of their own.
    pub(crate) fn parts(&self) -> (Part, Option<Part>) {
        let (mean, mean_wire, largest) = (self.sizes.mean(), self.sizes.mean_wire(), self.sizes.max().round() as u64);
        let own = |flows| Part { flows, mean, mean_wire, largest };
        match self.first() {
            None => (own(self.flows_per_event()), None),
            Some(first) => {
                let mean_wire = wire_bytes(first.size.0) as f64;
                let first = Part { flows: 1.0, mean: first.size.0 as f64, mean_wire, largest: first.size.0 };
                (own(self.flows_per_event() - 1.0), Some(first))
            }
        }
    }

    /// Bytes that one event brings, on average: payload, or payload and headers.
    pub(crate) fn bytes_per_event(&self, bytes: LoadBytes) -> f64 {
        let (own, first) = self.parts();
        let of = |part: Part| match bytes {
            LoadBytes::Payload => part.flows * part.mean,
            LoadBytes::Wire => part.flows * part.mean_wire,
        };
        of(own) + first.map_or(0.0, of)
    }

    /// What is special about the first answers to its queries.
    pub(crate) fn first(&self) -> Option<&FirstAnswer> {
        match &self.ends {
            Ends::Pairs(_) => None,
            Ends::Incast(incast) => incast.first.as_ref(),
        }
    }

    /// Mean square of the payload that one event brings.
    pub(crate) fn second_moment(&self) -> f64 {
        let (mean, square) = (self.sizes.mean(), self.sizes.second_moment());
        let Ends::Incast(incast) = &self.ends else { return square };
        let (degree, degree_square) = (incast.degrees.mean(), incast.degrees.second_moment());
        // Of the answers whose size is drawn, and then of these with a first one of another size.
        let of = |count: f64, count_square: f64| match incast.one_size {
            true => count_square * square,
            false => count * square + (count_square - count) * mean * mean,
        };
        match incast.first.as_ref().map(|first| first.size.0 as f64) {
            None => of(degree, degree_square),
            Some(first) => {
                let others = degree - 1.0;
                of(others, degree_square - 2.0 * degree + 1.0) + 2.0 * first * others * mean + first * first
            }
        }
    }

    /// Flows that one event brings, on average.
    pub(crate) fn flows_per_event(&self) -> f64 {
        match &self.ends {
            Ends::Pairs(_) => 1.0,
            Ends::Incast(incast) => incast.degrees.mean(),
        }
    }

    /// Where the flows of its own class go, and where first answers do: the part of them for each pair of hosts.
    pub(crate) fn matrices(&self) -> (TrafficMatrix, Option<TrafficMatrix>) {
        match &self.ends {
            Ends::Pairs(pattern) => (pattern.matrix(), None),
            Ends::Incast(incast) if incast.first.is_some() => {
                (incast.matrix(Answers::Others), Some(incast.matrix(Answers::First)))
            }
            Ends::Incast(incast) => (incast.matrix(Answers::All), None),
        }
    }

    /// Payload of an event that leaves its rack, in bytes.
    pub(crate) fn leaving(&self, racks: &Racks) -> f64 {
        let ((own, first), (own_part, first_part)) = (self.matrices(), self.parts());
        let of = |matrix: &TrafficMatrix, part: Part| part.flows * part.mean * matrix.leaving(racks);
        of(&own, own_part) + first.zip(first_part).map_or(0.0, |(matrix, part)| of(&matrix, part))
    }
}

impl Plan {
    /// The plan of the traffic at `key`, number `class` in the scenario.
    pub(crate) fn new(key: &str, traffic: &Traffic, class: u64, site: &Site<'_>) -> Result<Plan, Invalid> {
        let kinds =
            [("sizes", traffic.sizes.is_some()), ("file", traffic.file.is_some()), ("list", traffic.list.is_some())];
        let given: Vec<&str> = kinds.iter().filter(|(_, is_some)| *is_some).map(|(name, _)| *name).collect();
        const FORMS: &str = "expected one of `sizes` (with `share` or `rate`), `file` and `list`";
        match given[..] {
            [] => Err(Invalid::new(key, "does not say what is sent").help(FORMS)),
            [_] => Ok(()),
            [first, second, ..] => {
                Err(Invalid::new(format!("{key}.{second}"), format!("goes not together with `{first}`")).help(FORMS))
            }
        }?;
        if let Some(sizes) = &traffic.sizes {
            return generated(key, traffic, sizes, class, site).map(|generated| Plan::Generated(Box::new(generated)));
        }
        let generator_keys = [
            ("share", traffic.share.is_some()),
            ("rate", traffic.rate.is_some()),
            ("from", traffic.from.is_some()),
            ("until", traffic.until.is_some()),
            ("endpoints", traffic.endpoints.is_some()),
            ("arrivals", traffic.arrivals.is_some()),
            ("incast", traffic.incast.is_some()),
            ("deadline", traffic.deadline.is_some()),
        ];
        if let Some((name, _)) = generator_keys.iter().find(|(_, is_some)| *is_some) {
            return Err(Invalid::new(format!("{key}.{name}"), format!("goes not together with `{}`", given[0]))
                .help("an explicit list says itself how much, when, from where to where, and until when"));
        }
        match (&traffic.file, &traffic.list) {
            (Some(file), _) => from_file(&format!("{key}.file"), file, site).map(Plan::Listed),
            (None, Some(list)) => from_list(&format!("{key}.list"), list, site.hosts).map(Plan::Listed),
            (None, None) => unreachable!("exactly one of the three is given"),
        }
    }
}

fn generated(key: &str, traffic: &Traffic, sizes: &Sizes, class: u64, site: &Site<'_>) -> Result<Generated, Invalid> {
    if site.hosts < 2 {
        let message = format!("needs two hosts to send between, and the topology has {}", site.hosts);
        return Err(Invalid::new(key, message));
    }
    let amount = match (traffic.share, traffic.rate) {
        (Some(share), None) => {
            if !(0.0..=1.0).contains(&share) {
                return Err(Invalid::new(format!("{key}.share"), format!("a share of {share} is no fraction"))
                    .help("expected 0 to 1; the shares of all traffics sum to 1"));
            }
            Amount::Share(share)
        }
        (None, Some(rate)) => {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(Invalid::new(format!("{key}.rate"), format!("a rate of {rate} is not positive"))
                    .help("expected flows per second (with `incast`: events per second)"));
            }
            Amount::Rate(rate)
        }
        (Some(_), Some(_)) => {
            return Err(Invalid::new(format!("{key}.rate"), "goes not together with `share`")
                .help("expected either a share of the load or a rate of its own"));
        }
        (None, None) => {
            return Err(Invalid::new(key, "does not say how much is sent")
                .help("expected `share` (a fraction of the load) or `rate` (flows per second)"));
        }
    };
    let window = window(key, traffic)?;
    let ends = match &traffic.incast {
        None => {
            let endpoints = traffic.endpoints.clone().unwrap_or_default();
            Ends::Pairs(Pattern::new(&format!("{key}.endpoints"), &endpoints, class, site)?)
        }
        Some(incast) => {
            for (name, is_some) in
                [("endpoints", traffic.endpoints.is_some()), ("arrivals", traffic.arrivals.is_some())]
            {
                if is_some {
                    return Err(Invalid::new(format!("{key}.{name}"), "goes not together with `incast`")
                        .help("an incast draws its own workers and has its own `gaps`"));
                }
            }
            Ends::Incast(incast_plan(&format!("{key}.incast"), incast, class, site)?)
        }
    };
    if let Some(deadlines) = &traffic.deadline {
        deadlines::check(&format!("{key}.deadline"), deadlines)?;
    }
    let sizes = distribution(&format!("{key}.sizes"), sizes, site.files)?;
    Ok(Generated { amount, window, sizes, ends, deadlines: traffic.deadline.clone() })
}

/// When a traffic arrives, if it says so.
fn window(key: &str, traffic: &Traffic) -> Result<Option<Window>, Invalid> {
    let (name, first) = match (traffic.from, traffic.until) {
        (None, None) => return Ok(None),
        (Some(from), _) => ("from", from),
        (None, Some(_)) => ("until", Span::ZERO),
    };
    if traffic.rate.is_none() {
        return Err(Invalid::new(format!("{key}.{name}"), "a share is of the load of the whole time")
            .help("expected `rate` instead of `share`"));
    }
    if let Some(until) = traffic.until
        && until <= first
    {
        let message = format!("nothing arrives between {first} and {until}");
        return Err(Invalid::new(format!("{key}.until"), message).help("expected a time after `from`"));
    }
    Ok(Some(Window { from: first, until: traffic.until }))
}

impl Sizes {
    /// The distribution that they stand for.
    ///
    /// # Errors
    /// If there is no such distribution; the path begins with `sizes`.
    pub fn distribution(&self, files: &Files) -> Result<Distribution, Invalid> {
        distribution("sizes", self, files)
    }
}

fn distribution(key: &str, sizes: &Sizes, files: &Files) -> Result<Distribution, Invalid> {
    match sizes {
        Sizes::Fixed(size) => {
            if size.0 == 0 {
                return Err(Invalid::new(format!("{key}.fixed"), "a flow of 0 B has nothing to send")
                    .help("expected at least \"1B\""));
            }
            Ok(Distribution::fixed(size.0))
        }
        Sizes::Uniform(uniform) => {
            let (min, max) = (uniform.min, uniform.max);
            if min.0 == 0 || max < min {
                let message = format!("no size is uniform between {min} and {max}");
                return Err(Invalid::new(format!("{key}.uniform"), message).help("expected 1B <= min <= max"));
            }
            Ok(Distribution::uniform(min.0, max.0))
        }
        Sizes::Pareto(pareto) => bounded_pareto(&format!("{key}.pareto"), pareto),
        Sizes::Distribution(name) => match builtin::distribution(name) {
            Some(built_in) => Ok(built_in.distribution()),
            None => Err(Invalid::new(format!("{key}.distribution"), format!("`{name}` is not a known distribution"))
                .help(builtin::unknown_help(name))),
        },
        Sizes::File(file) => from_table(&format!("{key}.file"), file, files),
    }
}

fn bounded_pareto(key: &str, pareto: &ParetoSizes) -> Result<Distribution, Invalid> {
    let ParetoSizes { min, max, shape } = *pareto;
    if min.0 == 0 || max <= min {
        let message = format!("no size lies between {min} and {max}");
        return Err(Invalid::new(key, message).help("expected 1B <= min < max"));
    }
    // Outside these bounds the distribution is one point, or loses all digits.
    if !(1e-6..=1e3).contains(&shape) {
        return Err(Invalid::new(format!("{key}.shape"), format!("a shape of {shape} is out of range"))
            .help("expected 1e-6 to 1000; 0.1 to 2 is usual"));
    }
    Ok(Distribution::pareto(min.0, max.0, shape))
}

fn from_table(key: &str, file: &SizeFile, files: &Files) -> Result<Distribution, Invalid> {
    if let Some(bytes) = file.packet_bytes {
        if file.format != SizeFormat::Ns2 {
            return Err(Invalid::new(format!("{key}.packet_bytes"), "only files of format \"ns2\" count packets"));
        }
        if bytes.0 == 0 {
            return Err(Invalid::new(format!("{key}.packet_bytes"), "a packet has at least 1 B"));
        }
    }
    let format = match file.format {
        SizeFormat::Tailcut => TableFormat::Tailcut,
        SizeFormat::Ns2 => TableFormat::Ns2 { packet_bytes: file.packet_bytes.map(|bytes| bytes.0) },
        SizeFormat::Hpcc => TableFormat::Hpcc,
    };
    load(&format!("{key}.path"), files, &file.path, |bytes| Distribution::parse(bytes, format, file.interpolation))
}

fn from_file(key: &str, file: &FlowFile, site: &Site<'_>) -> Result<FlowList, Invalid> {
    let path_key = format!("{key}.path");
    let list = load(&path_key, site.files, &file.path, |bytes| FlowList::parse(bytes, file.format, &site.numbers()))?;
    match file.first_start {
        None => Ok(list),
        Some(at) => list.moved_to(Instant::from_ps(at.as_ps())).ok_or_else(|| {
            Invalid::new(format!("{key}.first_start"), format!("{at} moves flows beyond the end of time"))
        }),
    }
}

fn from_list(key: &str, list: &[ListedFlow], hosts: u32) -> Result<FlowList, Invalid> {
    if list.is_empty() {
        return Err(Invalid::new(key, "the list has no flow"));
    }
    let mut flows = Vec::with_capacity(list.len());
    for (i, flow) in list.iter().enumerate() {
        let wrong = |part: &str, message: String| Invalid::new(format!("{key}.{i}{part}"), message);
        for (part, host) in [(".src", flow.src), (".dst", flow.dst)] {
            if host >= hosts {
                return Err(wrong(part, format!("{host} is not a host")).help(host_help(hosts)));
            }
        }
        if flow.src == flow.dst {
            return Err(wrong("", format!("host {} sends to itself", flow.src)));
        }
        if flow.size.0 == 0 {
            return Err(wrong(".size", "a flow of 0 B has nothing to send".into()).help("expected at least \"1B\""));
        }
        flows.push(Listed {
            start: Instant::from_ps(flow.start.as_ps()),
            src: flow.src,
            dst: flow.dst,
            size: flow.size.0,
            deadline: flow.deadline,
            class: None,
        });
    }
    // A list that is written by hand need not be sorted; equal starts keep its order.
    flows.sort_by_key(|flow| flow.start);
    Ok(FlowList { flows, ..FlowList::default() })
}
