//! A flow or a port as a page: what happened over time, drawn.

use std::collections::BTreeMap;
use std::fmt::Write;

use tailcut_base::{Instant, Span};
use tailcut_report::html::{CSS, HtmlDocument, escaped};
use tailcut_results::RunInfo;

use super::occupancy::Occupancy;
use super::port::PortStory;
use super::story::{Story, bytes};
use crate::version::version;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
/// Moments at which what waits is drawn.
const MOMENTS: usize = 400;
/// Flows that have a colour of their own.
const COLOURED: usize = 6;

/// Okabe and Ito's colours, and grey for all others.
const COLOURS: [&str; COLOURED + 1] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#999999"];

/// A time that is drawn, and the moment from which its labels count.
#[derive(Clone, Copy)]
struct Time {
    from: Instant,
    until: Instant,
    zero: Instant,
}

/// A drawing with time from left to right.
struct Chart {
    height: f64,
    from: Instant,
    span: Span,
    top: f64,
    body: String,
}

impl Chart {
    /// Of values up to `top`, with the names of its axes.
    fn new(height: f64, time: Time, top: f64, label: &str, unit: impl Fn(f64) -> String) -> Chart {
        let span = time.until.saturating_since(time.from).max(Span::from_ps(1));
        let mut chart =
            Chart { height, from: time.from, span, top: if top > 0.0 { top } else { 1.0 }, body: String::new() };
        let (bottom, above) = (chart.y(0.0), chart.y(chart.top));
        let _ = write!(
            chart.body,
            "<path d=\"M{LEFT} {above:.1}V{bottom:.1}H{RIGHT}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1\"/>"
        );
        for tick in 0..=4 {
            let share = f64::from(tick) / 4.0;
            let (x, value) = (LEFT + (RIGHT - LEFT) * share, chart.top * share);
            let ns = time.from.saturating_since(time.zero).as_ns_f64() + chart.span.as_ns_f64() * share;
            // The last one must not stand beyond the drawing.
            chart.text(x, bottom + 14.0, if tick < 4 { "middle" } else { "end" }, &super::story::time(ns));
            let y = chart.y(value);
            chart.text(LEFT - 6.0, y + 4.0, "end", &unit(value));
        }
        chart.text(LEFT, 12.0, "start", label);
        chart
    }

    fn x(&self, at: Instant) -> f64 {
        let share = at.saturating_since(self.from).as_ps() as f64 / self.span.as_ps() as f64;
        LEFT + (RIGHT - LEFT) * share.min(1.0)
    }

    fn y(&self, value: f64) -> f64 {
        let (top, bottom) = (20.0, self.height - 22.0);
        bottom - (bottom - top) * (value / self.top).min(1.0)
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = escaped(text);
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"currentColor\">{text}</text>"
        );
    }

    fn dot(&mut self, at: Instant, value: f64, radius: f64, colour: &str) {
        let (x, y) = (self.x(at), self.y(value));
        let _ = write!(self.body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>");
    }

    fn cross(&mut self, at: Instant, value: f64) {
        let (x, y) = (self.x(at), self.y(value));
        let _ = write!(
            self.body,
            "<path d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\" stroke=\"#c00000\" stroke-width=\"2\"/>",
            x - 4.0,
            y - 4.0
        );
    }

    /// A line that holds each value until the next one.
    fn steps(&mut self, points: &[(Instant, f64)], colour: &str) {
        let mut path = String::new();
        for (nth, &(at, value)) in points.iter().enumerate() {
            let (x, y) = (self.x(at), self.y(value));
            let _ = if nth == 0 { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
        }
        if !path.is_empty() {
            let _ = write!(path, "H{RIGHT}");
            let _ = write!(self.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>");
        }
    }

    /// The area between two rows of values, evenly spread over the time.
    fn area(&mut self, below: &[u64], above: &[u64], colour: &str) {
        let x = |nth: usize| LEFT + (RIGHT - LEFT) * nth as f64 / (above.len() - 1).max(1) as f64;
        let mut path = String::new();
        for (nth, &value) in above.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if nth == 0 { 'M' } else { 'L' }, x(nth), self.y(value as f64));
        }
        for (nth, &value) in below.iter().enumerate().rev() {
            let _ = write!(path, "L{:.1} {:.1}", x(nth), self.y(value as f64));
        }
        let _ = write!(self.body, "<path d=\"{path}Z\" fill=\"{colour}\"/>");
    }

    fn svg(self, what: &str) -> String {
        format!(
            "<div style=\"overflow-x:auto\"><svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\" \
             style=\"width:100%;min-width:640px;height:auto\">{}</svg></div>\n",
            self.height,
            escaped(what),
            self.body
        )
    }
}

fn legend(entries: &[(&str, String)]) -> String {
    let entry = |(colour, text): &(&str, String)| {
        format!(
            "<span style=\"white-space:nowrap\"><span style=\"color:{colour}\">\u{25a0}</span> {}</span> ",
            escaped(text)
        )
    };
    format!("<p>{}</p>\n", entries.iter().map(entry).collect::<String>())
}

fn in_bytes(value: f64) -> String {
    bytes(value as u64)
}

/// Who waited in a port, stacked; the first of `named` is lowest.
fn queue(occupancy: &Occupancy, time: Time, named: &[(usize, String)], group: impl Fn(u32) -> usize) -> String {
    let groups = COLOURED + 1;
    let series = occupancy.over_time((time.from, time.until), MOMENTS, groups, group);
    let mut sums = vec![0; MOMENTS];
    series.iter().for_each(|one| sums.iter_mut().zip(one).for_each(|(sum, bytes)| *sum += bytes));
    let top = sums.iter().copied().max().unwrap_or(0);
    let mut chart = Chart::new(180.0, time, top as f64, "bytes that wait", in_bytes);
    let mut below = vec![0; MOMENTS];
    let mut entries = Vec::new();
    for (group, one) in series.iter().enumerate() {
        let above: Vec<u64> = below.iter().zip(one).map(|(below, bytes)| below + bytes).collect();
        if above != below {
            chart.area(&below, &above, COLOURS[group]);
            let name = named.iter().find(|(known, _)| *known == group);
            entries.push((COLOURS[group], name.map_or("others".to_owned(), |(_, name)| name.clone())));
        }
        below = above;
    }
    chart.svg("bytes that wait in the port over time") + &legend(&entries)
}

fn document(title: &str, body: &str) -> String {
    HtmlDocument { title, version: version(), styles: &[CSS], body, credits: "", scripts: "" }.html()
}

fn lines(lines: &[String]) -> String {
    let all: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    format!("<pre class=\"command\">{}</pre>\n", all.join("\n"))
}

/// The page of some flows of a point, which is `words`.
pub fn flow_page(info: &RunInfo, words: &str, stories: &[Story]) -> String {
    let mut body = format!("<h1>Why was it slow?</h1>\n<p>{}: {}</p>\n", escaped(&info.title), escaped(words));
    for story in stories {
        let _ = write!(body, "<h2>Flow {}</h2>\n{}", story.flow, lines(&story.lines()));
        let row = &story.row;
        let end = story.diagram.acknowledged.last().map(|(at, _)| *at).into_iter().chain(row.received).max();
        let last = story.diagram.sent.last().map(|(at, ..)| *at);
        let time = Time { from: row.start, until: end.or(last).unwrap_or(row.start), zero: row.start };
        let mut chart = Chart::new(320.0, time, story.size_bytes as f64, "byte of the flow", in_bytes);
        let acknowledged: Vec<(Instant, f64)> =
            story.diagram.acknowledged.iter().map(|&(at, seq)| (at, seq as f64)).collect();
        chart.steps(&acknowledged, COLOURS[2]);
        for &(at, seq, again) in &story.diagram.sent {
            chart.dot(at, seq as f64, 2.5, if again { COLOURS[5] } else { COLOURS[1] });
        }
        for &(at, seq, marked) in &story.diagram.arrived {
            chart.dot(at, seq as f64, 1.8, if marked { COLOURS[3] } else { "currentColor" });
        }
        for &(at, seq) in &story.diagram.dropped {
            chart.cross(at, seq as f64);
        }
        body += "<h3>Its packets</h3>\n";
        body += &chart.svg("time and sequence diagram of the packets of the flow");
        body += &legend(&[
            (COLOURS[1], "sent".to_owned()),
            (COLOURS[5], "sent again".to_owned()),
            ("currentColor", "received".to_owned()),
            (COLOURS[3], "received with a mark".to_owned()),
            ("#c00000", "dropped".to_owned()),
            (COLOURS[2], "acknowledged up to here".to_owned()),
        ]);
        body += &sender(story, time);
        for (_, name, occupancy) in &story.ports {
            let fillers = occupancy.fillers(time.from, time.until);
            if fillers.is_empty() {
                continue;
            }
            // The flow itself has the first colour.
            let others: Vec<u32> =
                fillers.iter().map(|(flow, _)| *flow).filter(|&flow| flow != story.flow).take(COLOURED - 1).collect();
            let mut named = vec![(0, format!("flow {}, this one", story.flow))];
            named.extend(others.iter().enumerate().map(|(nth, flow)| (nth + 1, format!("flow {flow}"))));
            let group = |flow: u32| match flow == story.flow {
                true => 0,
                false => others.iter().position(|&other| other == flow).map_or(COLOURED, |nth| nth + 1),
            };
            let svg = queue(occupancy, time, &named, group);
            let _ = write!(body, "<h3>Who waited at {}</h3>\n{svg}", escaped(name));
        }
    }
    document(&format!("Why was it slow? {words}"), &body)
}

/// How the sender of a flow stood over time: its window, its rate and its round-trip time, as far as it has them.
fn sender(story: &Story, time: Time) -> String {
    let mut body = String::new();
    let mut draw = |heading: &str, points: Vec<(Instant, f64)>, unit: fn(f64) -> String| {
        let top = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        if top > 0.0 {
            let mut chart = Chart::new(130.0, time, top, heading, unit);
            chart.steps(&points, COLOURS[1]);
            body += &chart.svg(heading);
        }
    };
    let stood = || story.senders.iter();
    draw("window", stood().filter_map(|stood| Some((stood.at, stood.look.window?))).collect(), in_bytes);
    draw("rate", stood().filter_map(|stood| Some((stood.at, stood.look.rate? as f64))).collect(), |bps| {
        format!("{:.2} Gb/s", bps / 1e9)
    });
    let rtt = stood().filter(|stood| stood.look.round_trip > Span::ZERO);
    draw("smoothed round-trip time", rtt.map(|stood| (stood.at, stood.look.round_trip.as_ns_f64())).collect(), |ns| {
        super::story::time(ns)
    });
    if body.is_empty() { body } else { format!("<h3>Its sender</h3>\n{body}") }
}

/// The page of a port: what waits in it by flow, or by class.
pub fn port_page(info: &RunInfo, words: &str, story: &PortStory, by_class: bool) -> String {
    let fillers: Vec<u32> = story.fillers.iter().map(|share| share.flow).take(COLOURED).collect();
    let classes: BTreeMap<usize, String> = info.classes.iter().cloned().enumerate().collect();
    let class = |flow: u32| usize::from(story.class_of.get(&flow).copied().unwrap_or_default()).min(COLOURED);
    let named: Vec<(usize, String)> = match by_class {
        true => classes.into_iter().collect(),
        false => fillers.iter().enumerate().map(|(nth, flow)| (nth, format!("flow {flow}"))).collect(),
    };
    let group = |flow: u32| match by_class {
        true => class(flow),
        false => fillers.iter().position(|&known| known == flow).unwrap_or(COLOURED),
    };
    let (from, until) = story.time;
    let time = Time { from, until, zero: Instant::ZERO };
    let svg = queue(&story.occupancy, time, &named, group);
    let mut drops = Chart::new(60.0, time, 1.0, "packets dropped", |_| String::new());
    for &at in &story.dropped {
        drops.cross(at, 0.5);
    }
    let drops = if story.dropped.is_empty() { String::new() } else { drops.svg("when packets were dropped") };
    let body = format!(
        "<h1>{}</h1>\n<p>{}: {}</p>\n{}{svg}{drops}",
        escaped(&story.port),
        escaped(&info.title),
        escaped(words),
        lines(&story.lines())
    );
    document(&format!("{} {words}", story.port), &body)
}
