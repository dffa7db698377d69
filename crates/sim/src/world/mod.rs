//! The world: one simulation, in one part or several.
//!
//! [`part`] holds the entities and the loop over events; [`cut`] says what is in which part; [`threads`] runs the
//! parts. Here is what is done once for the whole network, between rounds: flows are pulled from the workload, what
//! happened to them goes to the recorder, and in the end everything is added up and checked.

mod active;
mod cut;
mod diagnosis;
mod exchange;
mod part;
mod pauses;
mod threads;
mod watchdog;

use std::ops::ControlFlow;
use std::sync::Mutex;

use tailcut_base::{Instant, PortId, Span, mix64};
use tailcut_fabric::QueueHistogram;
use tailcut_model::seat::{DropReason, Unfinished};
use tailcut_model::{FlowId, FlowSpec};
use tailcut_record::{
    BurstRow, DropCounts, FlowRow, MemoryPoint, PortRow, QueuePoint, QueueSamples, QueueStatistics, Recorder,
    ThroughputBin,
};
use tailcut_topology::Node;
use tailcut_workload::{Realised, Workload};

pub use cut::Cut;

use crate::config::WindowEnd;
use crate::controller::Control;
use crate::ideals::{self, Ideals};
use crate::trace::Lens;
use crate::ways::FlowPaths;
use crate::window::Window;
use crate::{EndReason, Engine, Outcome, Scenario, Stopped};
use exchange::{FlowEvent, LogEntry, Start};
use part::Part;
use pauses::Pauses;
use threads::{Exchange, OnePart, Rounds};
use watchdog::{Silence, Standing, Watchdog};

/// Flows that are pulled from the workload at a time while one part is alone, which no lookahead binds.
const FLOWS_AHEAD: usize = 64;
/// Events of a part that is alone between two looks at the world around it.
const ROUND_EVENTS: u64 = 1 << 18;
/// Events between two calls of `progress`: some tenths of a second.
const PROGRESS_EVENTS: u64 = 1 << 20;

/// Time between two looks whether pauses wait for each other: no result depends on it but when a deadlock is seen.
const LOOK_PERIOD: Span = Span::from_us(100);

/// One simulation.
///
/// ```
/// # use std::path::Path;
/// use tailcut_sim::record::Recorder;
/// use tailcut_sim::{EndReason, Tree, Preset, Scenario, World};
///
/// let mut tree = Preset::layer("tcp")?;
/// # tree.merge(Tree::parse("two-flows.toml", r#"
/// #     topology.star = { hosts = 3, host_link = { rate = "10Gbps", delay = "1us" } }
/// #     [workload.traffic.all]
/// #     list = [{ src = 0, dst = 2, size = "1MB", start = "0us" }, { src = 1, dst = 2, size = "1MB", start = "3us" }]
/// # "#)?);
/// // Two flows of 1 MB to one host with a link of 10 Gb/s.
/// let scenario = Scenario::new(&tree, 1, Path::new("."))?;
/// let outcome = World::new(&scenario, Recorder::new()).run();
/// assert_eq!(outcome.end, EndReason::Finished);
/// let slowest = outcome.flows.rows().filter_map(|row| row.fct()).max().expect("there are flows");
/// assert!(slowest.as_secs_f64() > 2.0 * 8e6 / 10e9);
/// // Any number of threads gives the same outcome.
/// let again = World::new(&scenario, Recorder::new()).with_threads(2).run();
/// assert_eq!(again.engine.digest, outcome.engine.digest);
/// # Ok::<(), tailcut_sim::Problem>(())
/// ```
pub struct World<'s> {
    scenario: &'s Scenario,
    cut: Cut,
    coordinator: Coordinator<'s>,
    lens: Option<Lens>,
}

/// Where flows come from.
enum Flows {
    /// The workload of the scenario.
    Drawn(Box<Workload>),
    /// These, in the order of their starts, which say what their hosts know of the way.
    Given(std::vec::IntoIter<FlowSpec>),
}

/// What is done once for the whole network: the workload is pulled, and what happens to flows is recorded.
struct Coordinator<'s> {
    scenario: &'s Scenario,
    flows: Flows,
    next: Option<FlowSpec>,
    recorder: Recorder,
    realised: Realised,
    started: u32,
    last_start: Instant,
    measured_from: Option<Instant>,
    measured_until: Option<Instant>,
    window: Window,
    log: Vec<LogEntry>,
    controller: Option<Control>,
    ideals: Ideals<'s>,
    paths: FlowPaths<'s>,
    /// Whether the packets of a flow keep one path until routing changes.
    keep_paths: bool,
    /// When pauses are looked at next, if there are any.
    next_look: Option<Instant>,
    watchdog: Option<Watchdog>,
    /// Nothing happens after this, whatever is left to happen.
    until: Instant,
    /// The stage of failures that the parts know.
    stage: usize,
    /// The moment before which they know all failures; `None` if that is for good.
    failures_until: Option<Instant>,
}

/// Why no round follows.
enum Ended {
    By(EndReason),
    Stalled(Silence),
}

impl<'s> World<'s> {
    /// A scenario before its first event, to be run by one thread. Completed flows go to `recorder`.
    ///
    /// # Panics
    /// If the scenario is not one of packets.
    pub fn new(scenario: &'s Scenario, recorder: Recorder) -> World<'s> {
        World::of(scenario, recorder, Flows::Drawn(Box::new(scenario.workload())))
    }

    /// The same with these flows instead of those of the workload, in the order of their starts. Their hosts take the
    /// way for what the flows say that it is.
    pub(crate) fn of_flows(scenario: &'s Scenario, recorder: Recorder, flows: Vec<FlowSpec>) -> World<'s> {
        World::of(scenario, recorder, Flows::Given(flows.into_iter()))
    }

    fn of(scenario: &'s Scenario, recorder: Recorder, flows: Flows) -> World<'s> {
        assert!(scenario.config().fidelity.is_packet(), "the scenario is not one of packets");
        let window = Window::of(scenario.config());
        let mut coordinator = Coordinator {
            scenario,
            flows,
            next: None,
            recorder: recorder.with_completion(scenario.config().record.completion.into()),
            realised: Realised::new(&scenario.host_links()),
            started: 0,
            last_start: Instant::ZERO,
            measured_from: window.from,
            measured_until: window.ends_at(),
            window,
            log: Vec::new(),
            controller: scenario.controller(),
            ideals: Ideals::of(scenario),
            paths: FlowPaths::new(scenario),
            keep_paths: ideals::keep_paths(scenario),
            next_look: scenario.has_pfc().then_some(Instant::ZERO + LOOK_PERIOD),
            watchdog: scenario.config().run.watchdog.map(Watchdog::new),
            until: Instant::MAX,
            stage: 0,
            failures_until: scenario.outages().end_of(0),
        };
        coordinator.fetch_flow();
        World { scenario, cut: Cut::whole(scenario.network()), coordinator, lens: None }
    }

    /// The same, to be run by up to `threads` threads: as many as the network can be cut for. The outcome is the same.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> World<'s> {
        let cut = Cut::into(self.scenario.network(), threads);
        self.with_cut(cut)
    }

    /// The same, to be run by a thread for each part of this cut. The outcome is the same. A network in which something
    /// happens at a distance in no time, an ideal PFC, is not cut.
    #[must_use]
    pub fn with_cut(self, cut: Cut) -> World<'s> {
        let cut = if self.scenario.is_indivisible() { Cut::whole(self.scenario.network()) } else { cut };
        World { cut, ..self }
    }

    /// The same, looked at closely, by one thread; the outcome is the same but for its trace.
    ///
    /// # Panics
    /// If the scenario does not attribute delays.
    #[must_use]
    pub fn with_lens(self, lens: Lens) -> World<'s> {
        assert!(self.scenario.config().record.attribution, "who looks closely knows where the time goes");
        World { lens: Some(lens), cut: Cut::whole(self.scenario.network()), ..self }
    }

    /// The beginning of the same: no flow starts after this, and nothing happens.
    #[must_use]
    pub fn until(mut self, until: Instant) -> World<'s> {
        self.coordinator.until = until;
        self.coordinator.next.take_if(|spec| spec.start > until);
        self
    }

    /// Threads that will run it.
    pub fn threads(&self) -> u32 {
        self.cut.parts()
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// As [`World::run_with`], and if the recorder's sink fails.
    pub fn run(self) -> Outcome {
        self.run_with(|_| ControlFlow::Continue(())).expect("nobody stops it, and rows are kept in memory")
    }

    /// Runs until every flow is finished and nothing is in flight, or until the time to drain is over. `progress` is
    /// called now and then with the time; it may stop the run, and cannot change what happens otherwise.
    ///
    /// # Errors
    /// If `progress` stops the run, it stalls, or the recorder's sink cannot store its rows.
    ///
    /// # Panics
    /// If the world contradicts itself afterwards: packets that are neither delivered nor dropped nor held, bytes
    /// of flows that did not arrive. That is a bug, and the results would be worthless.
    pub fn run_with(self, progress: impl FnMut(Instant) -> ControlFlow<()>) -> Result<Outcome, Stopped> {
        let World { scenario, cut, mut coordinator, lens } = self;
        // Nothing comes sooner from another part, nor from the controller.
        let delay = coordinator.controller.as_ref().map(Control::delay);
        let lookahead = cut.lookahead(scenario.network()).into_iter().chain(delay).min();
        let make = |number| Part::new(scenario, &cut, number, lens.as_ref());
        let (ended, in_the_mail, mut parts) = if cut.parts() == 1 {
            let mut part = make(0);
            let mut alone = OnePart { part: &mut part, exchange: Mutex::new(Exchange::default()) };
            (coordinator.coordinate(&mut alone, &cut, lookahead, progress)?, 0, vec![part])
        } else {
            let (outcome, parts) = threads::together(cut.parts(), make, |rounds| {
                coordinator.coordinate(rounds, &cut, lookahead, progress).map(|ended| (ended, rounds.in_the_mail()))
            });
            let (ended, in_the_mail) = outcome?;
            (ended, in_the_mail, parts)
        };
        let ended = match (ended, coordinator.is_stuck(&parts)) {
            (Ended::By(EndReason::Finished), Some(silence)) => Ended::Stalled(silence),
            (ended, _) => ended,
        };
        match ended {
            Ended::By(end) => coordinator.finish(&cut, &mut parts, end, in_the_mail),
            Ended::Stalled(silence) => Err(Stopped::Stalled(Box::new(coordinator.diagnose(&mut parts, silence)))),
        }
    }
}

impl Coordinator<'_> {
    /// From round to round, until nothing is left to happen or the time to drain is over.
    fn coordinate(
        &mut self,
        rounds: &mut dyn Rounds,
        cut: &Cut,
        lookahead: Option<Span>,
        mut progress: impl FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Ended, Stopped> {
        let mut handled = 0;
        for part in 0..rounds.parts() {
            let mut exchange = rounds.exchange(part);
            (exchange.measure_from, exchange.measure_until) = (self.measured_from, self.measured_until);
        }
        loop {
            let next_event = (0..rounds.parts()).filter_map(|part| rounds.exchange(part).next).min();
            let next_start = self.next.as_ref().map(|spec| spec.start);
            let next_decision = self.controller.as_ref().and_then(Control::next);
            let next = next_event.into_iter().chain(next_start).chain(next_decision).min();
            if self.extend_failures(rounds, next) {
                continue;
            }
            if let Some(silence) = self.look_at_pauses(rounds, next).or_else(|| self.look_at_flows(rounds, next)) {
                return Ok(Ended::Stalled(silence));
            }
            let Some(now) = next else { return Ok(Ended::By(EndReason::Finished)) };
            if now > self.deadline() {
                return Ok(Ended::By(EndReason::CutOff));
            }
            let horizon = self.pull_flows(rounds, cut, lookahead.map(|lookahead| now + lookahead));
            if let Some(controller) = &mut self.controller {
                for answer in controller.run_until(horizon) {
                    rounds.exchange(cut.part_of_host(answer.to) as usize).answers.push(answer);
                }
            }
            rounds.round(horizon, ROUND_EVENTS);
            if let Some(controller) = &mut self.controller {
                for part in 0..rounds.parts() {
                    controller.take(rounds.exchange(part).told.drain(..));
                }
            }
            self.record(rounds);
            handled += (0..rounds.parts()).map(|part| std::mem::take(&mut rounds.exchange(part).handled)).sum::<u64>();
            if handled >= PROGRESS_EVENTS {
                handled = 0;
                if progress(now).is_break() {
                    return Err(Stopped::Asked);
                }
                if self.recorder.has_failed() {
                    // Why is told when the recorder is finished.
                    return Ok(Ended::By(EndReason::CutOff));
                }
            }
        }
    }

    /// Makes the next failures known to the parts if everything before them has happened and the run goes on: `next`
    /// says when something happens. Where all flows have ended, nothing fails any more but what is down is repaired.
    /// Returns whether there is more to happen now.
    fn extend_failures(&mut self, rounds: &mut dyn Rounds, next: Option<Instant>) -> bool {
        let outages = self.scenario.outages();
        let Some(known) = self.failures_until.filter(|&known| next.unwrap_or(known) >= known) else { return false };
        let last = next.unwrap_or(known);
        if next.is_some() && last > self.deadline() {
            return false;
        }
        let is_whole = |stage: usize| {
            outages.stage(stage).and_then(|stage| stage.changes().last()).is_none_or(|(at, _)| *at < known)
        };
        if next.is_none() && is_whole(self.stage) {
            return false;
        }
        let totals = self.recorder.totals();
        let has_ended = self.next.is_none() && totals.received + totals.abandoned == u64::from(self.started);
        while self.failures_until.is_some_and(|until| until <= last) {
            if has_ended || outages.stage(self.stage + 1).is_none() {
                self.failures_until = None;
            } else {
                self.stage += 1;
                self.failures_until = outages.end_of(self.stage);
            }
        }
        for part in 0..rounds.parts() {
            rounds.exchange(part).failures = Some((self.stage, self.failures_until));
        }
        // A round in which nothing happens.
        rounds.round(known, ROUND_EVENTS);
        true
    }

    /// Looks whether pauses wait for each other, if everything before the moment of the next look has happened, or
    /// nothing will any more: `next` says when something does.
    fn look_at_pauses(&mut self, rounds: &mut dyn Rounds, next: Option<Instant>) -> Option<Silence> {
        let look = self.next_look?;
        if next.is_some_and(|now| now < look && now <= self.deadline()) {
            return None;
        }
        // A round in which nothing happens: the parts tell what they know.
        (0..rounds.parts()).for_each(|part| rounds.exchange(part).look_at_pauses = true);
        rounds.round(next.map_or(look, |now| now.min(look)), ROUND_EVENTS);
        let mut pauses = Pauses::default();
        for part in 0..rounds.parts() {
            pauses.append(std::mem::take(&mut rounds.exchange(part).pauses));
        }
        if pauses.circle().is_some() {
            return Some(Silence { since: None, at: look });
        }
        if let Some(now) = next {
            let periods = now.as_ps() / LOOK_PERIOD.as_ps();
            self.next_look = Some(Instant::from_ps((periods + 1).saturating_mul(LOOK_PERIOD.as_ps())));
        }
        None
    }

    /// Looks how far flows are, if there is a watchdog and everything before its next look has happened.
    fn look_at_flows(&mut self, rounds: &mut dyn Rounds, next: Option<Instant>) -> Option<Silence> {
        let until = next.unwrap_or(Instant::MAX).min(self.deadline());
        let watchdog = self.watchdog.as_mut().filter(|watchdog| watchdog.next() <= until)?;
        (0..rounds.parts()).for_each(|part| rounds.exchange(part).look_at_flows = true);
        rounds.round(watchdog.next(), ROUND_EVENTS);
        let mut standing = Standing::default();
        (0..rounds.parts()).for_each(|part| standing.add(rounds.exchange(part).standing));
        watchdog.look(self.started, standing, until)
    }

    /// Nothing happens after this.
    fn deadline(&self) -> Instant {
        match self.next {
            Some(_) => self.until,
            None => self.until.min(self.last_start + self.scenario.config().run.drain),
        }
    }

    /// Hands out the flows that start before the `lookahead` is over; without one, the next few. Returns until when the
    /// parts may run: not beyond the next look at them.
    fn pull_flows(&mut self, rounds: &mut dyn Rounds, cut: &Cut, lookahead: Option<Instant>) -> Instant {
        let look =
            self.next_look.into_iter().chain(self.watchdog.as_ref().map(Watchdog::next)).chain(self.failures_until);
        let bound = lookahead.into_iter().chain(look).min();
        let mut pulled = 0;
        let horizon = loop {
            let Some(start) = self.next.as_ref().map(|spec| spec.start) else { break bound.unwrap_or(Instant::MAX) };
            match bound {
                Some(bound) if start >= bound => break bound,
                _ if lookahead.is_none() && pulled >= FLOWS_AHEAD => break start,
                _ => self.pull_flow(rounds, cut),
            }
            pulled += 1;
        };
        // What happens at the deadline itself is still in time.
        match self.deadline() {
            Instant::MAX => horizon,
            deadline => horizon.min(deadline + Span::from_ps(1)),
        }
    }

    /// Takes the next flow from the workload. A deadline that depends on the network is set here.
    fn fetch_flow(&mut self) {
        self.next = match &mut self.flows {
            Flows::Drawn(workload) => {
                workload.next_with_slack().map(|(spec, slack)| self.ideals.with_deadline(spec, slack))
            }
            Flows::Given(flows) => flows.next(),
        };
        self.next.take_if(|spec| spec.start > self.until);
    }

    fn pull_flow(&mut self, rounds: &mut dyn Rounds, cut: &Cut) {
        let mut spec = self.next.take().expect("the caller has seen it");
        let flow = FlowId(self.started);
        self.started = self.started.checked_add(1).expect("fewer than 2^32 flows in a run");
        self.last_start = spec.start;
        if spec.measured && self.measured_from.is_none() {
            self.measured_from = Some(spec.start);
            (0..rounds.parts()).for_each(|part| rounds.exchange(part).measure_from = Some(spec.start));
        }
        if matches!(self.flows, Flows::Drawn(_)) {
            spec.path = self.paths.facts(&mut self.ideals.quickest, flow, &spec);
        }
        self.recorder.start(flow, &spec, self.ideals.time(&spec));
        self.realised.add(&spec);
        let [src, dst] = [spec.src, spec.dst].map(|host| cut.part_of_host(host) as usize);
        if src != dst {
            rounds.exchange(dst).starts.push(Start { flow, spec: spec.clone() });
        }
        rounds.exchange(src).starts.push(Start { flow, spec });
        self.fetch_flow();
        if self.next.is_none() && self.window.ends_with_arrivals(self.measured_from, self.last_start) {
            self.measured_until = Some(self.last_start);
            (0..rounds.parts()).for_each(|part| rounds.exchange(part).measure_until = Some(self.last_start));
        }
    }

    /// Tells the recorder what happened in a round.
    fn record(&mut self, rounds: &mut dyn Rounds) {
        let mut log = std::mem::take(&mut self.log);
        for part in 0..rounds.parts() {
            log.append(&mut rounds.exchange(part).log);
        }
        if rounds.parts() > 1 {
            // The order in which they would have come from one part.
            log.sort_by_key(|entry| (entry.at, entry.key));
        }
        log.drain(..).for_each(|entry| self.record_one(entry));
        self.log = log;
    }

    /// Tells the recorder one thing that happened.
    fn record_one(&mut self, LogEntry { at, event, .. }: LogEntry) {
        match event {
            FlowEvent::Dropped { flow, seq, reason } => self.recorder.drop(flow, seq, reason),
            FlowEvent::Acknowledged { flow, report } => self.recorder.acknowledged(flow, at, report),
            FlowEvent::Permitted { flow, report } => self.recorder.permitted(flow, report),
            FlowEvent::Abandoned { flow, report } => self.recorder.abandoned(flow, report),
            FlowEvent::LetGo { flow, report } => self.recorder.let_go(flow, report),
            FlowEvent::Attributed { flow, breakdown } => self.recorder.attributed(flow, at, breakdown),
            FlowEvent::Received { flow, report } => {
                if let Some(row) = self.recorder.received(flow, at, report) {
                    self.check_time(&row);
                }
            }
        }
    }

    fn finish(
        mut self,
        cut: &Cut,
        parts: &mut [Part<'_>],
        end: EndReason,
        in_the_mail: u64,
    ) -> Result<Outcome, Stopped> {
        if self.recorder.has_failed() {
            // What is missing is not known: the reason is all that there is to tell.
            return Err(self.recorder.finish().map_or_else(Stopped::Record, |_| Stopped::Asked));
        }
        let ended_at = parts.iter().map(|part| part.counts().last_landing).max().expect("there is a part");
        let is_cut_off = end == EndReason::CutOff;
        let last_end = parts.iter().map(|part| part.counts().last_end()).max().expect("there is a part");
        let last = if is_cut_off { self.deadline() } else { last_end };
        parts.iter_mut().for_each(|part| part.observe_until(last));
        if is_cut_off {
            let deadline = self.deadline();
            let mut late = Vec::new();
            for part in &mut *parts {
                part.catch_up(deadline);
                // Nothing but packets that hosts discarded meanwhile, whose order means nothing.
                part.take_log(&mut late);
            }
            late.into_iter().for_each(|entry| self.record_one(entry));
        }
        let mut unfinished = 0u64;
        for open in parts.iter().flat_map(Part::unfinished) {
            // Nobody waits any longer for what its sender has given up, even if its receiver was never told.
            let is_given_up = matches!(open, Unfinished::Receiver(flow, _) if self.recorder.is_abandoned(flow));
            unfinished += u64::from(!is_given_up);
            self.recorder.cut_off(open);
        }
        let mut bursts: Vec<BurstRow> = parts.iter_mut().flat_map(Part::take_bursts).collect();
        // Those of one switch are in one part, and in order.
        bursts.sort_by_key(|row| row.switch);
        let throughput = ThroughputBin::sum(parts.iter_mut().map(Part::take_throughput));
        let trace = parts.iter_mut().find_map(Part::take_trace);
        let sum = |count: fn(&Part<'_>) -> u64| parts.iter().map(count).sum::<u64>();
        let held = sum(|part| part.arena().len() as u64) + in_the_mail;
        // What was cut off may have been no more than a timer of a flow that had ended. And behind a link that is down
        // for good flows may wait without a timer, so that nothing is left to happen.
        let end = match (unfinished, held) {
            (0, 0) => EndReason::Finished,
            _ if self.scenario.outages().has_lasting() => EndReason::CutOff,
            _ => end,
        };
        self.check(parts, end, unfinished, held, in_the_mail);
        let network = self.scenario.network();
        let peak_bytes = sum(|part| part.heap_bytes() as u64)
            + (self.recorder.heap_bytes() + network.heap_bytes() + self.scenario.outages().heap_bytes()) as u64;
        let totals = *self.recorder.totals();
        // A run that was cut off was measured until then, and any other one until its last packet arrived or was lost.
        // What is recorded over time ends with the last arrival of a packet.
        let is_over = !is_cut_off || end == EndReason::Finished;
        let last = if is_over { last_end } else { last };
        let window_end = match self.window.until {
            WindowEnd::Moment(_) if self.window.ends_with_run(self.measured_from, self.last_start) => Some(last),
            WindowEnd::Moment(_) => self.measured_until,
            WindowEnd::At(until) => Some(last.min(Instant::ZERO + until)),
        };
        self.measured_until = window_end;
        let mut queue_series: Vec<QueuePoint> = parts.iter_mut().flat_map(Part::take_queue_series).collect();
        queue_series.retain(|point| point.at <= ended_at);
        queue_series.sort_unstable();
        let mut memory_series: Vec<MemoryPoint> = parts.iter_mut().flat_map(Part::take_memory_series).collect();
        memory_series.retain(|point| point.at <= ended_at);
        memory_series.sort_unstable();
        parts.iter_mut().for_each(|part| part.close_measurement(window_end.unwrap_or(last), is_over));
        let sum = |count: fn(&Part<'_>) -> u64| parts.iter().map(count).sum::<u64>();
        let measured_from = self.measured_from.unwrap_or(Instant::ZERO);
        let measured_until = self.measured_from.map_or(measured_from, |_| self.measured_until.unwrap_or(ended_at));
        let ports = self.port_rows(cut, parts, ended_at);
        let mut queues = QueueSamples::default();
        parts.iter().for_each(|part| queues.merge(part.queues()));
        let packet_hops = sum(|part| part.counts().packet_hops);
        let records = self.recorder.finish().map_err(Stopped::Record)?;
        let digest = parts.iter().fold(0u64, |digest, part| digest.wrapping_add(part.counts().digest));
        Ok(Outcome {
            end,
            ended_at,
            measured_from,
            measured: measured_until.saturating_since(measured_from),
            flows: records.flows,
            queries: records.queries,
            ports,
            queues,
            queue_series,
            memory_series,
            bursts,
            throughput,
            totals,
            control_drops: sum(|part| part.counts().control_drops),
            controller: self.controller.as_ref().and_then(Control::counts),
            packet_losses: self.scenario.packet_losses().sum(parts.iter().filter_map(Part::packet_losses)),
            trace,
            realised: self.realised.loads(self.last_start.saturating_since(Instant::ZERO)),
            engine: Engine {
                packet_hops,
                events: packet_hops + u64::from(self.started) + sum(|part| part.counts().calls),
                pending: sum(|part| part.counts().pending()),
                packets: sum(|part| part.arena().peak() as u64),
                peak_bytes,
                digest: mix64(digest),
            },
        })
    }

    /// No flow is faster than an idle network allows.
    #[cold]
    fn check_time(&mut self, row: &FlowRow) {
        // Its time may end later, with an ACK.
        let received = row.received.expect("it was received");
        let taken = received.since(row.start).expect("it was received after its start");
        let bound = self.ideals.bound(row, received, self.keep_paths);
        assert!(
            taken >= bound,
            "flow {} of {} B took {taken}, and nothing can be faster than {bound}",
            row.flow,
            row.size
        );
    }

    /// What must hold after every run.
    fn check(&self, parts: &[Part<'_>], end: EndReason, unfinished: u64, held: u64, in_the_mail: u64) {
        let sum = |count: fn(&Part<'_>) -> u64| parts.iter().map(count).sum::<u64>();
        // A packet that crosses is made again on the other side.
        let sent = sum(|part| part.counts().sent);
        let arrived = sum(|part| part.counts().arrived);
        assert_eq!(sent, arrived + in_the_mail, "what is sent to another part arrives there or is on its way");
        let made = sum(|part| part.arena().made()) - arrived;
        let gone = sum(|part| part.counts().delivered + part.counts().dropped);
        assert_eq!(made, gone + held, "every packet is delivered, dropped or still held");
        if end == EndReason::Finished {
            assert_eq!(held, 0, "no packet is left when every flow is finished");
            assert_eq!(unfinished, 0, "no end of a flow is open when nothing is left to happen");
            for port in parts.iter().flat_map(Part::own_ports) {
                assert_eq!((port.backlog(), port.waiting()), (0, 0), "every port is empty");
            }
            let totals = self.recorder.totals();
            let ended = totals.received + totals.abandoned;
            assert_eq!(ended, u64::from(self.started), "every flow is received or was given up");
            let bytes = totals.received_bytes + totals.abandoned_bytes;
            assert_eq!(bytes, self.realised.payload_bytes(), "every byte is received or was given up");
        }
    }

    fn port_rows(&self, cut: &Cut, parts: &[Part<'_>], ended_at: Instant) -> Vec<PortRow> {
        let network = self.scenario.network();
        let window = self.measured_until.zip(self.measured_from).and_then(|(until, from)| until.since(from));
        let window = window.filter(|&window| window > Span::ZERO);
        let name = |node: Node| match node {
            // A name that is there need not be written again.
            Node::Switch(switch) => network.switches()[switch].name.clone(),
            host => network.node_name(host).to_string(),
        };
        let row = |(id, spec): (PortId, &tailcut_topology::PortSpec)| {
            let (port, samples, busy, histogram) = parts[cut.part_of(spec.owner) as usize].port(id);
            let mut drops = DropCounts::default();
            for (reason, dropped) in DropReason::ALL.into_iter().zip(port.stats().all_drops()) {
                drops.set(reason, dropped);
            }
            let (own, other) = (cut.part_of(spec.owner), cut.part_of(spec.peer));
            if own != other {
                let lost = parts[other as usize].lost_behind(id);
                drops.set(DropReason::LinkDown, port.stats().drops(DropReason::LinkDown) + lost);
            }
            let wire = port.wire.stats();
            // In a window of no length, or in one that never began, nothing was measured.
            let utilisation =
                busy.zip(window).map_or(f64::NAN, |(busy, window)| busy.as_secs_f64() / window.as_secs_f64());
            PortRow {
                port: id.0,
                owner: name(spec.owner),
                peer: name(spec.peer),
                tier: match spec.owner {
                    Node::Host(_) => "host".to_owned(),
                    Node::Switch(switch) => network.tier_name(network.switches()[switch].tier).to_owned(),
                },
                rate_bps: spec.rate.as_bps(),
                packets: wire.packets,
                bytes: wire.bytes,
                utilisation,
                drops,
                demotions: port.stats().demotions,
                marks: port.stats().marks,
                pauses: parts[cut.part_of(spec.owner) as usize].pause_counts(id, ended_at),
                queue: QueueStatistics::of(samples),
                queue_histogram: histogram.map(QueueHistogram::bins),
            }
        };
        network.ports().iter_enumerated().map(row).collect()
    }
}
