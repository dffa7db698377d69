//! The algorithms of a link, one packet at a time.

use tailcut_base::{BitRate, HostId, Seeds, SwitchId};
use tailcut_model::seat::AgentPort;
use tailcut_model::{Direction, FlowId, Kind};

use super::*;

const GBPS: u64 = 1_000_000_000;
const RTT: Span = Span::from_us(200);

/// One switch, whose link 1 is looked at.
struct Switch {
    model: Model,
    queue: u64,
    us: f64,
}

/// A flow that asks, with so many round trips left.
fn flow(round_trips: f64) -> PdqFields {
    let left = Span::from_ps((RTT.as_ps() as f64 * round_trips) as u64);
    PdqFields {
        rate: GBPS,
        paused_by: None,
        deadline: Instant::MAX,
        left,
        probe_every: 1_000,
        rtt: RTT,
        policy: 0,
        size: left.as_ps(),
        is_confirmed: false,
        was_paused: false,
        ends: false,
    }
}

impl Switch {
    fn new(config: Config) -> Switch {
        let ports = vec![BitRate::gbps(1); 2];
        let context =
            SwitchContext { switch: SwitchId(7), seeds: Seeds::new(1), ports, classes: 1, arrivals: Span::ZERO };
        Switch { model: Model::build(&config, &context).unwrap(), queue: 0, us: 0.0 }
    }

    fn call(&mut self, id: u32, fields: &mut PdqFields, direction: Direction) {
        let mut packet = Packet::control(Kind::DATA, FlowId(id), HostId(0), HostId(1), 0, Instant::ZERO);
        let mut header = Header::new(direction, fields);
        let port = |port, queue| AgentPort { port, rate: BitRate::gbps(1), queue, sent: 0 };
        let now = Instant::from_ps((self.us * 1e6) as u64);
        match direction {
            Direction::Forward => {
                let crossing = Crossing { ingress: None, egress: Some(port(1, self.queue)) };
                self.model.on_forward(now, &mut packet, &mut header, crossing);
            }
            _ => {
                let crossing = Crossing { ingress: Some(port(1, self.queue)), egress: None };
                self.model.on_reverse(now, &mut packet, &mut header, crossing);
            }
        }
        *fields = header.fields();
    }

    /// A packet goes out, and what it is told.
    fn ask(&mut self, id: u32, fields: PdqFields) -> PdqFields {
        let mut fields = fields;
        self.call(id, &mut fields, Direction::Forward);
        fields
    }

    /// Its answer comes back.
    fn answer(&mut self, id: u32, fields: PdqFields) -> PdqFields {
        let mut fields = fields;
        self.call(id, &mut fields, Direction::Reverse);
        fields
    }

    /// Both, at once.
    fn round(&mut self, id: u32, fields: PdqFields) -> PdqFields {
        let asked = self.ask(id, fields);
        self.answer(id, asked)
    }

    fn rates(&self) -> Vec<(u32, u64)> {
        let link = self.model.links[1].as_ref().expect("flows have passed");
        link.rates().into_iter().map(|(id, rate)| (id.0, rate)).collect()
    }
}

fn config() -> Config {
    Config { damping: 0.0, ..Config::default() }
}

#[test]
fn the_most_critical_flow_has_the_whole_link_and_what_it_leaves_goes_to_the_next() {
    let mut switch = Switch::new(config());
    assert_eq!(switch.round(0, flow(10.0)).rate, GBPS);
    let second = switch.round(1, flow(20.0));
    assert_eq!((second.rate, second.paused_by), (0, Some(7)));
    // A more critical one preempts it: it is told with its next packet.
    assert_eq!(switch.round(2, flow(5.0)).rate, GBPS);
    let first = switch.round(0, flow(9.0));
    assert_eq!((first.rate, first.paused_by), (0, Some(7)));
    assert_eq!(switch.rates(), [(2, GBPS), (0, 0), (1, 0)]);
    // One that can send at a third elsewhere leaves two thirds.
    let third = PdqFields { rate: GBPS / 4, ..flow(4.0) };
    assert_eq!(switch.round(2, third).rate, GBPS / 4);
    assert_eq!(switch.round(0, flow(9.0)).rate, GBPS / 4 * 3);
    assert_eq!(switch.round(1, flow(20.0)).rate, 0);
    // A TERM leaves all of it.
    switch.ask(2, PdqFields { ends: true, ..flow(0.0) });
    assert_eq!(switch.round(0, flow(9.0)).rate, GBPS);
}

/// The rate in the list is that of the answer: a flow that another switch refuses holds nothing here.
#[test]
fn a_flow_holds_a_link_only_when_every_switch_has_accepted_it() {
    let mut switch = Switch::new(config());
    let asked = switch.ask(0, flow(10.0));
    assert_eq!((asked.rate, asked.paused_by), (GBPS, None));
    assert_eq!(switch.rates(), [(0, 0)], "nothing is held before the answer");
    // Another switch has refused: its answer takes the flow off the list.
    let told = switch.answer(0, PdqFields { paused_by: Some(3), ..asked });
    assert_eq!((told.rate, told.paused_by, switch.rates()), (0, Some(3), vec![]));
    // Its packets pass by this switch until the other one lets it go.
    switch.round(1, flow(20.0));
    let probe = switch.ask(0, PdqFields { paused_by: Some(3), ..flow(10.0) });
    assert_eq!((probe.rate, probe.paused_by, probe.is_confirmed), (GBPS, Some(3), false), "for the other one to say");
    assert!(switch.ask(1, PdqFields { paused_by: Some(7), rate: 0, ..flow(20.0) }).is_confirmed);
    assert_eq!(switch.rates(), [(1, GBPS)]);
    // What another link grants is what counts.
    let granted = switch.ask(0, flow(10.0));
    switch.answer(0, PdqFields { rate: GBPS / 5, ..granted });
    assert_eq!(switch.rates(), [(0, GBPS / 5), (1, GBPS)]);
    assert_eq!(switch.round(1, flow(20.0)).rate, GBPS / 5 * 4);
}

/// The card's numbers: flows of 1, 1.5 and 9 round trips.
#[test]
fn early_start_takes_two_round_trips_of_flows_for_complete() {
    let with = |first: f64, early_start: f64| {
        let mut switch = Switch::new(Config { early_start, ..config() });
        let flows = [flow(first), flow(1.5), flow(9.0), flow(30.0)];
        (0..4)
            .map(|id| {
                let fields = PdqFields { policy: u64::from(id), ..flows[id as usize] };
                switch.round(id, fields).rate
            })
            .collect::<Vec<_>>()
    };
    // The first two are taken for complete, though they are 2.5 together: the second began below 2.
    assert_eq!(with(1.0, 2.0), [GBPS, GBPS, GBPS, 0]);
    assert_eq!(with(5.0, 2.0), [GBPS, 0, 0, 0]);
    assert_eq!(with(1.0, 0.0), [GBPS, 0, 0, 0]);
    // Two round trips are no longer fewer than two.
    assert_eq!(with(2.0, 2.0), [GBPS, 0, 0, 0]);
    // Only so many: the third short one counts, once those before it are two round trips.
    let mut switch = Switch::new(config());
    let rates: Vec<u64> = (0..4).map(|id| switch.round(id, flow(1.0 + f64::from(id) / 1e3)).rate).collect();
    assert_eq!(rates, [GBPS, GBPS, GBPS, 0]);
}

/// A queue of four round trips: what was ten round trips before are fewer than two and a half then, if it counts.
#[test]
fn what_waits_makes_flows_nearly_complete_only_if_early_start_counts_it() {
    let second = |early_start_rtt| {
        let mut switch = Switch::new(Config { early_start_rtt, ..config() });
        let in_queue = |round_trips: f64| PdqFields { rtt: RTT * 5, ..flow(round_trips) };
        assert_eq!(switch.round(0, flow(11.0)).rate, GBPS);
        // Five empty round trips are one of these.
        assert_eq!(switch.round(0, in_queue(5.0)).rate, GBPS);
        let waits = switch.round(1, in_queue(20.0)).rate;
        // A newcomer has told no other one: its own way counts with the queue until it is shorter.
        assert_eq!(switch.round(0, flow(1.5)).rate, GBPS);
        assert_eq!(switch.round(1, in_queue(20.0)).rate, GBPS, "nearly complete in either");
        waits
    };
    assert_eq!(second(EarlyStartRtt::Measured), GBPS);
    assert_eq!(second(EarlyStartRtt::Least), 0);
}

/// Twenty flows that are alike: in both readings.
#[test]
fn of_twenty_newcomers_one_is_accepted_within_the_damping() {
    for damped in [Damped::LessCritical, Damped::All] {
        let mut switch = Switch::new(Config { list_min: 30, damped, ..Config::default() });
        let accepted = |switch: &mut Switch, ids: std::ops::Range<u32>| -> Vec<u32> {
            ids.filter(|&id| switch.ask(id, flow(10.0)).paused_by.is_none()).collect()
        };
        assert_eq!(accepted(&mut switch, 0..20), [0]);
        // A quarter of a round trip later, another one: the first has not sent yet.
        switch.us += 49.9;
        assert!(accepted(&mut switch, 20..21).is_empty());
        switch.us += 0.2;
        assert_eq!(accepted(&mut switch, 21..23), [21]);
        // Those that send are not dampened.
        switch.us += 100.0;
        let first = switch.ask(0, flow(10.0));
        switch.answer(0, first);
        assert_eq!(switch.ask(0, flow(9.0)).paused_by, None);
        assert_eq!(switch.ask(21, flow(9.5)).paused_by, Some(7), "it is paused for the other one");
    }
}

/// Who is more critical than those that were accepted need not wait, or waits as all do.
#[test]
fn a_more_critical_newcomer_waits_in_one_of_the_readings() {
    for (damped, expected) in [(Damped::LessCritical, [0, 2, 4].as_slice()), (Damped::All, &[0])] {
        let mut switch = Switch::new(Config { damped, ..Config::default() });
        let lengths = [10.0, 11.0, 9.0, 9.5, 5.0];
        let accepts = |&id: &u32| switch.ask(id, flow(lengths[id as usize])).paused_by.is_none();
        assert_eq!((0..5).filter(accepts).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn paused_flows_probe_by_their_place() {
    let mut switch = Switch::new(config());
    let every: Vec<u64> = (0..12).map(|id| switch.round(id, flow(10.0 + f64::from(id))).probe_every).collect();
    // The list has room for eight; the others are not in it.
    assert_eq!(every, [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_200, 1_400, 1_000, 1_000, 1_000, 1_000]);
    let mut long = Switch::new(Config { list_min: 20, ..config() });
    let every: Vec<u64> = (0..12).map(|id| long.round(id, flow(10.0 + f64::from(id))).probe_every).collect();
    assert_eq!((every[3], every[10], every[11]), (1_000, 2_000, 2_200));
    let mut off = Switch::new(Config { probing: 0.0, ..config() });
    assert!((0..8).all(|id| off.round(id, flow(10.0 + f64::from(id))).probe_every == 1_000));
}

#[test]
fn the_rate_controller_drains_the_queue_in_two_round_trips() {
    let rate = |queue| {
        let mut switch = Switch::new(Config { share: 0.8, ..config() });
        switch.queue = queue;
        let rate = switch.ask(0, flow(10.0)).rate;
        switch.queue = 0;
        switch.us = 399.0;
        assert_eq!(switch.ask(0, flow(10.0)).rate, rate, "not before two round trips");
        switch.us = 400.0;
        assert_eq!(switch.ask(0, flow(10.0)).rate, GBPS / 5 * 4);
        rate
    };
    assert_eq!((rate(0), rate(12_500), rate(125_000)), (800_000_000, 550_000_000, GBPS));
}

#[test]
fn a_list_holds_twice_as_many_as_send_and_the_others_share_what_is_left() {
    let mut switch = Switch::new(Config { list_min: 1, ..config() });
    // One that sends at a quarter: there is room for two.
    assert_eq!(switch.round(5, PdqFields { rate: GBPS / 4, ..flow(50.0) }).rate, GBPS / 4);
    assert_eq!(switch.round(6, PdqFields { rate: GBPS / 4, ..flow(60.0) }).rate, GBPS / 4);
    // Now two send, and there is room for four.
    for id in 7..9 {
        assert_eq!(switch.round(id, PdqFields { rate: 1_000, ..flow(10.0 * f64::from(id)) }).rate, 1_000);
    }
    assert_eq!(switch.rates().len(), 4);
    let mut last = Switch::new(Config { list_min: 1, list_max: Some(1), ..config() });
    last.round(5, PdqFields { rate: GBPS / 4, ..flow(50.0) });
    assert_eq!(last.round(6, flow(60.0)).rate, GBPS / 4 * 3);
    assert_eq!(last.round(7, flow(70.0)).rate, GBPS / 8 * 3, "an equal part for each that is not in the list");
    // A more critical one takes the place.
    assert_eq!(last.round(8, flow(5.0)).rate, GBPS);
    assert_eq!(last.rates(), [(8, GBPS)]);
    let paused = last.round(6, flow(60.0));
    assert_eq!((paused.rate, paused.paused_by), (0, Some(7)));
}

#[test]
fn flows_of_which_nothing_is_heard_are_forgotten() {
    let mut switch = Switch::new(config());
    switch.round(0, flow(10.0));
    switch.us = 700.0;
    assert_eq!(switch.round(1, flow(20.0)).rate, 0, "two probes and two round trips are 800 us");
    switch.us = 1_000.0;
    assert_eq!(switch.round(1, flow(20.0)).rate, GBPS);
    assert_eq!(switch.rates(), [(1, GBPS)]);
}

#[test]
fn comparators() {
    let at = |us| Instant::ZERO + Span::from_us(us);
    let flows = [
        PdqFields { deadline: at(900), ..flow(10.0) },
        PdqFields { deadline: at(500), ..flow(30.0) },
        PdqFields { deadline: at(500), ..flow(20.0) },
        flow(1.0),
        flow(40.0),
    ];
    let order = |comparator, policy: [u64; 5]| {
        let mut switch = Switch::new(Config { comparator, ..config() });
        for (id, fields) in (0..).zip(flows) {
            switch.round(id, PdqFields { policy: policy[id as usize], ..fields });
        }
        switch.rates().into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(order(Comparator::EdfSjf, [0; 5]), [2, 1, 0, 3, 4]);
    assert_eq!(order(Comparator::Edf, [0; 5]), [1, 2, 0, 3, 4]);
    assert_eq!(order(Comparator::Sjf, [0; 5]), [3, 0, 2, 1, 4]);
    assert_eq!(order(Comparator::Sjf, [1, 1, 1, 1, 0]), [4, 3, 0, 2, 1]);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |config: Config| {
        let ports = vec![BitRate::gbps(1)];
        Model::build(
            &config,
            &SwitchContext { switch: SwitchId(0), seeds: Seeds::new(1), ports, classes: 1, arrivals: Span::ZERO },
        )
        .unwrap_err()
        .path
    };
    assert_eq!(refused(Config { early_start: -1.0, ..config() }), "early_start");
    assert_eq!(refused(Config { probing: f64::NAN, ..config() }), "probing");
    assert_eq!(refused(Config { damping: f64::INFINITY, ..config() }), "damping");
    assert_eq!(refused(Config { share: 0.0, ..config() }), "share");
    assert_eq!(refused(Config { list_min: 0, ..config() }), "list_min");
    assert_eq!(refused(Config { list_max: Some(7), ..config() }), "list_max");
    assert_eq!(refused(Config { base_rtt: Span::ZERO, ..config() }), "base_rtt");
}
