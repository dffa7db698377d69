//! What a workload will offer, in expectation: flows, bytes and loads.

use serde::Serialize;
use tailcut_base::{Span, wire_bytes};

use crate::config::{Degree, Gaps};
use crate::flow_list::Listed;
use crate::incast_plan::IncastPlan;
use crate::load::{HostLinks, Loads, Racks};
use crate::plan::{Ends, Generated};
use crate::source::query_gap;

/// What a workload will offer, in expectation over all seeds; lists count as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// Time that the loads are taken over: the configured duration; or the expected time until the configured number of
    /// flows has started, or until the last flow of an explicit list beside them, whichever is later; or, for explicit
    /// lists alone, the time from their first to their last start.
    pub duration: Span,
    /// Flows.
    pub flows: f64,
    /// Payload of all flows in bytes.
    pub payload_bytes: f64,
    /// Payload and headers of all flows in bytes.
    pub wire_bytes: f64,
    /// Loads, of all traffics together: those with a `share`, those with a `rate`, and explicit lists.
    pub offered: Loads,
    /// Each class, in the order of their ids.
    pub classes: Vec<ClassForecast>,
    /// Standard deviation of the payload that a run really offers, as a fraction of the expected, for Poisson arrivals;
    /// with microbursts it is larger. It is large when few flows carry most bytes: the load of such a run is not the
    /// one on its label.
    pub relative_error: f64,
    /// What was not done as written, in whole sentences.
    pub notes: Vec<String>,
}

/// What one class will offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClassForecast {
    /// Name.
    pub name: String,
    /// Flows.
    pub flows: f64,
    /// Mean payload of a flow in bytes.
    pub mean_size: f64,
    /// Mean payload and headers of a flow in bytes.
    pub mean_wire: f64,
    /// The largest payload that a flow can have, in bytes.
    pub largest_size: u64,
    /// The queries that its flows answer, if it is an incast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<QueryForecast>,
    /// The hosts that ask them, each as often as it has applications.
    #[serde(skip)]
    pub aggregators: Vec<u32>,
}

/// The queries of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueryForecast {
    /// Queries per second of all aggregators together.
    pub per_second: f64,
    /// How many hosts answer one; of applications with degrees of their own, from the smallest to the largest.
    pub degree: Degree,
}

/// Adds up a forecast.
pub(crate) struct Forecaster<'a> {
    places: &'a HostLinks,
    racks: Racks,
    /// The time in which generated traffic arrives.
    arrivals: Span,
    forecast: Forecast,
    /// Payload that leaves its rack.
    leaving: f64,
    variance: f64,
}

impl<'a> Forecaster<'a> {
    /// Generated traffic arrives for `arrivals`, and loads are taken over `duration`.
    pub(crate) fn new(places: &'a HostLinks, classes: &[String], arrivals: Span, duration: Span) -> Forecaster<'a> {
        let classes = classes.iter().map(|name| ClassForecast { name: name.clone(), ..Default::default() }).collect();
        Forecaster {
            places,
            racks: Racks::new(places),
            arrivals,
            forecast: Forecast { duration, classes, ..Forecast::default() },
            leaving: 0.0,
            variance: 0.0,
        }
    }

    /// Adds a generated traffic of this class with `per_second` events, whose first answers have the class `first`.
    pub(crate) fn add_generated(&mut self, class: usize, first: Option<usize>, plan: &Generated, per_second: f64) {
        let part = plan.window.map_or(1.0, |window| window.part_of(self.arrivals));
        let events = per_second * self.arrivals.as_secs_f64() * part;
        let (own, firsts) = plan.parts();
        for (class, part) in [(Some(class), Some(own)), (first, firsts)] {
            let (Some(class), Some(part)) = (class, part) else { continue };
            let flows = events * part.flows;
            self.count(class, flows, flows * part.mean, flows * part.mean_wire, part.largest);
        }
        self.leaving += events * plan.leaving(&self.racks);
        // The sum of a Poisson number of events has the variance (events) x (second moment of an event's bytes).
        self.variance += events * plan.second_moment();
        if let Ends::Incast(IncastPlan { degrees, gaps, aggregators, .. }) = &plan.ends {
            self.forecast.classes[class].queries = Some(QueryForecast { per_second, degree: degrees.range() });
            self.forecast.classes[class].aggregators.clone_from(aggregators);
            self.note_gaps(class, *gaps, per_second, aggregators.len());
        }
    }

    /// Notes that gaps between queries could not be as they were asked for.
    fn note_gaps(&mut self, class: usize, gaps: Gaps, per_second: f64, aggregators: usize) {
        if per_second > 0.0 && query_gap(gaps, per_second, aggregators).1 {
            let name = &self.forecast.classes[class].name;
            let mean_gap = aggregators as f64 / per_second * 1e6;
            self.forecast.notes.push(format!(
                "The gaps of `{name}` are Poisson: their mean of {mean_gap:.1} us is below the 50 us that microbursts need."
            ));
        }
    }

    /// Adds one explicit flow of this class.
    pub(crate) fn add_listed(&mut self, class: usize, flow: &Listed) {
        let (payload, wire) = (flow.size as f64, wire_bytes(flow.size) as f64);
        self.count(class, 1.0, payload, wire, flow.size);
        if self.racks.of[flow.src as usize] != self.racks.of[flow.dst as usize] {
            self.leaving += payload;
        }
    }

    /// Notes what was not done as written.
    pub(crate) fn note(&mut self, note: String) {
        self.forecast.notes.push(note);
    }

    fn count(&mut self, class: usize, flows: f64, payload: f64, wire: f64, largest: u64) {
        let forecast = &mut self.forecast;
        forecast.flows += flows;
        forecast.payload_bytes += payload;
        forecast.wire_bytes += wire;
        // Sums for now; `finish` divides them.
        let class = &mut forecast.classes[class];
        class.flows += flows;
        class.mean_size += payload;
        class.mean_wire += wire;
        class.largest_size = class.largest_size.max(largest);
    }

    pub(crate) fn finish(self) -> Forecast {
        let mut forecast = self.forecast;
        for class in &mut forecast.classes {
            if class.flows > 0.0 {
                class.mean_size /= class.flows;
                class.mean_wire /= class.flows;
            }
        }
        if forecast.payload_bytes > 0.0 {
            forecast.relative_error = self.variance.sqrt() / forecast.payload_bytes;
        }
        let seconds = forecast.duration.as_secs_f64();
        if seconds > 0.0 {
            let rate = |bytes: f64| bytes * 8.0 / seconds;
            let (payload, wire) = (rate(forecast.payload_bytes), rate(forecast.wire_bytes));
            forecast.offered = Loads::of_rates(self.places, payload, wire, rate(self.leaving));
        }
        forecast
    }
}
