//! Runs in which nothing goes on any more although flows are open: each ends and says what its flows wait for, and a
//! watchdog changes no other run.

use std::ops::ControlFlow;

use tailcut_record::Recorder;
use tailcut_sim::model::{Awaits, Instant, Span};
use tailcut_sim::{EndReason, Scenario, Stall, Stopped, World};

use crate::common::{SMALL, listed, run, scenario, schemes, slytherin_mix, star};

/// What a run that stalls says, on one thread as on two and three.
pub(crate) fn stalled(scenario: &Scenario) -> Stall {
    let on = |threads: u32| {
        let world = World::new(scenario, Recorder::new()).with_threads(threads);
        match world.run_with(|_| ControlFlow::Continue(())) {
            Err(Stopped::Stalled(stall)) => *stall,
            other => panic!("{:?}", other.map(|outcome| outcome.end)),
        }
    };
    let stall = on(1);
    assert_eq!([on(2), on(3)], [stall.clone(), stall.clone()]);
    stall
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// A packet is lost on a link that is down for a while, and nothing but a timer of 1000 s repeats it.
#[test]
fn a_lost_packet_that_nobody_repeats_waits_for_its_timer() {
    let text = format!(
        "[run]\ndrain = \"5000s\"\nwatchdog = \"8ms\"\n[host.transport.tcp]\nfast_retransmit = false\nmin_rto = \"1000s\"\nmax_rto = \"1000s\"\n\
         [failures]\nlist = [{{ link = \"switch0--host1\", at = \"0us\", for = \"100us\" }}]\n{}{}",
        star(2),
        listed(&[(0, 1, 1460, 0)])
    );
    let stall = stalled(&scenario("srpt", &text, 1));
    let [flow] = stall.flows.as_slice() else { panic!("{stall}") };
    let progress = flow.progress.expect("TCP says it");
    assert_eq!((progress.acknowledged, progress.awaits), (0, Awaits::LastAck));
    assert_eq!((stall.since, stall.at, stall.open), (Some(ms(1)), ms(9), 1));
    let said = stall.to_string();
    assert!(
        said.contains("flow 0 (host0 -> host1, 0B of 1460B acknowledged) waits for an ACK: all of it is sent"),
        "{said}"
    );
    assert!(said.contains("or its timer at 1000"), "{said}");
    // Its timer is soon enough for a watchdog that waits longer, and for a run without one.
    for longer in ["watchdog = \"2000s\"", ""] {
        let outcome = run("srpt", &text.replace("watchdog = \"8ms\"", longer), 1);
        assert_eq!((outcome.end, outcome.totals.received), (EndReason::Finished, 1));
    }
}

#[test]
fn flows_of_a_manager_that_died_wait_for_its_permission() {
    let text = format!(
        "run.watchdog = \"20ms\"\ncontroller.hyline.fails = {{ at = \"10us\", for = \"5000s\" }}\n{SMALL}{}",
        listed(&[(0, 4, 10_000, 0), (1, 5, 2_000_000, 20_000), (2, 6, 3_000_000, 30_000)])
    );
    let stall = stalled(&scenario("hyline", &text, 1));
    assert_eq!((stall.open, stall.reasons.as_slice()), (2, &[("the permission of the controller", 2)][..]));
    let said = stall.to_string();
    assert!(said.contains("flow 1 (host1 -> host5, 0B of 2MB acknowledged) waits for the permission of the controller, and has no timer"), "{said}");
}

/// Hosts 4 to 7 are at leaf 1, which fails for good in the middle of a flow.
#[test]
fn a_flow_without_a_way_is_told_with_the_links_that_are_down() {
    let flows = [(0, 4, 5_000_000, 0), (1, 2, 5_000_000, 0)];
    let text = |scheme: &str, run: &str| {
        let text = format!(
            "{run}\n{SMALL}[failures]\nconvergence = \"5us\"\nlist = [{{ switch = \"leaf1\", at = \"500us\" }}]\n{}",
            listed(&flows)
        );
        scenario(scheme, &text, 1)
    };
    for (scheme, awaits) in [("dctcp", "an ACK: its window is used up"), ("homa", "a grant of its receiver")] {
        let stall = stalled(&text(scheme, "run.watchdog = \"400ms\""));
        let [flow] = stall.flows.as_slice() else { panic!("{scheme}: {stall}") };
        assert!(flow.is_cut_off && flow.flow.0 == 0, "{scheme}: {stall}");
        assert_eq!(flow.progress.expect("all say it").awaits.words(), awaits, "{scheme}");
        let said = stall.to_string();
        assert!(said.contains("no way is left to its receiver"), "{scheme}: {said}");
        assert!(said.contains("down: ") && said.contains("leaf1->host4"), "{scheme}: {said}");
        // Without a watchdog such flows are censored when their time is over.
        let outcome = World::new(&text(scheme, "run.drain = \"500ms\""), Recorder::new()).run();
        assert_eq!((outcome.end, outcome.totals.received), (EndReason::CutOff, 1), "{scheme}");
    }
}

/// A watchdog that looks every few microseconds changes no event of any scheme, on any number of threads.
#[test]
fn a_watchdog_alone_changes_nothing() {
    for scheme in schemes() {
        let text = |run: &str| format!("{run}port.limit = \"8MB\"\n{SMALL}{}", slytherin_mix(0.5, "1ms"));
        let without = run(scheme, &text(""), 1);
        let watched = scenario(scheme, &text("run.watchdog = \"20ms\"\n"), 1);
        for threads in 1..=3 {
            let world = World::new(&watched, Recorder::new()).with_threads(threads);
            let with =
                world.run_with(|_| ControlFlow::Continue(())).unwrap_or_else(|stall| panic!("{scheme}: {stall}"));
            assert_eq!(with.engine.digest, without.engine.digest, "{scheme} on {threads}");
            assert_eq!((with.end, with.totals), (without.end, without.totals), "{scheme} on {threads}");
        }
    }
}
