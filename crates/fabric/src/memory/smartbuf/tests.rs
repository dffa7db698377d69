//! The rules of the card, one by one, and each other reading of them.

use super::*;
use crate::memory::dt;
use crate::memory::testing::{B, Switch, context};

const PACKET: u64 = 1500;

fn model(more: &str) -> Model {
    // The gradient at detection is the same for bursts that begin alike, however they end.
    let key = if more.contains("key =") { "" } else { "key = \"detection\"\n" };
    let more = format!("{key}{more}");
    Model::build(&toml::from_str(&format!("size = \"{B}B\"\n{more}")).unwrap(), &context(30)).unwrap()
}

fn switch(more: &str) -> Switch<Model> {
    let mut switch = Switch::new(model(more), 30);
    switch.memory.keep_bursts();
    switch
}

/// So many packets come for a port while each that leaves takes its time, `per_departure` of them for each.
fn burst(switch: &mut Switch<Model>, port: usize, packets: u32, per_departure: u32) -> u32 {
    let mut taken = 0;
    for packet in 0..packets {
        taken += u32::from(switch.offer(port).is_ok());
        if packet % per_departure == per_departure - 1 {
            switch.now = switch.now + Span::from_ns(1200);
            switch.leave(port);
        }
    }
    taken
}

fn drain(switch: &mut Switch<Model>, port: usize, until: u64) {
    while switch.waiting(port) >= until {
        switch.now = switch.now + Span::from_ns(1200);
        switch.leave(port);
    }
}

/// What bursts came to, by gradient in Gbit/s.
fn map(model: &Model) -> Vec<(i64, u64)> {
    model.map.0.iter().map(|(&key, entry)| ((gradient(key) / 1e9).round() as i64, entry.bytes)).collect()
}

/// The gradient that a number stands for: the mapping is its own inverse.
fn gradient(key: i64) -> f64 {
    f64::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
}

#[test]
fn queues_below_a_part_of_the_memory_are_as_under_dt_and_nothing_is_learned() {
    let dt = dt::Model::build(&dt::Config { size: Bytes(B), alpha: 1.0 }, &context(30)).unwrap();
    let (mut smart, mut dt) = (switch("warm = \"0s\""), Switch::new(dt, 30));
    for round in 0..8 {
        // 533 packets wait at most: 799 500 B, of 800 000 B that are no burst.
        for port in 0..6 {
            for _ in 0..534 {
                assert_eq!(smart.offer(port), dt.offer(port), "round {round}, port {port}");
            }
        }
        for port in 0..6 {
            while dt.waiting(port) > 0 {
                smart.now = smart.now + Span::from_ns(1200);
                (0..2).for_each(|_| dt.leave(port));
                (0..2).for_each(|_| smart.leave(port));
                assert_eq!(smart.threshold(port), dt.threshold(port));
            }
        }
    }
    assert_eq!((smart.memory.entries(), smart.memory.take_bursts().len()), (0, 0));
}

#[test]
fn a_constant_gradient_is_approached_by_a_quarter_at_a_time() {
    let mut bursts = Bursts::new(0.25, 0.5, &[BitRate::gbps(10)]);
    let mut now = Instant::ZERO;
    for n in 1..=8i32 {
        now = now + Span::from_ns(1200);
        bursts.on_dequeue(now, 0, n as u64 * PACKET, 1e18);
        // A packet more in the time of one is 10 Gbit/s.
        let expected = 10e9 * (1.0 - 0.75f64.powi(n));
        assert!((bursts.gradient(0) / expected - 1.0).abs() < 1e-12, "{n}: {}", bursts.gradient(0));
    }
    assert!((bursts.gradient(0) / 10e9 - 0.8999).abs() < 1e-4);
}

#[test]
fn the_mean_of_the_nearest_larger_entries_is_predicted() {
    let entries = [(10.0, 1_000_000), (20.0, 1_400_000), (30.0, 1_800_000), (40.0, 2_200_000)];
    let mut map = Map::default();
    entries.iter().for_each(|&(gbps, bytes)| map.learn(Instant::ZERO, gbps * 1e9, bytes));
    let mut predicted = |gbps: f64, k, how| map.lookup(Instant::ZERO, gbps * 1e9, k, how).unwrap();
    assert_eq!(predicted(15.0, 3, Neighbours::Mean), 1_800_000);
    assert_eq!(predicted(35.0, 3, Neighbours::Mean), 2_200_000, "as many as there are");
    assert_eq!(predicted(50.0, 3, Neighbours::Mean), 2_200_000, "the largest one");
    assert_eq!(predicted(20.0, 1, Neighbours::Mean), 1_400_000, "no less than its own");
    assert_eq!(predicted(-7.0, 2, Neighbours::Mean), 1_200_000, "a gradient may be below zero");
    // As printed: two of them, a third each.
    assert_eq!(predicted(15.0, 3, Neighbours::AsPrinted), (1_400_000 + 1_800_000) / 3);
    assert_eq!(Map::default().lookup(Instant::ZERO, 1e9, 3, Neighbours::Mean), None);
}

#[test]
fn a_burst_that_drains_is_entered_once_and_its_port_is_under_dt_again() {
    let mut switch = switch("warm = \"0s\"");
    burst(&mut switch, 4, 1000, 4);
    let peak = switch.waiting(4);
    assert!(peak > 800_000 && switch.memory.state(switch.now, 4) == "burst", "nothing is known yet");
    assert_eq!(switch.threshold(4), B - switch.used(), "so that it has what DT gives it");
    drain(&mut switch, 4, peak / 2);
    assert_eq!(switch.memory.entries(), 1);
    assert_eq!((switch.memory.state(switch.now, 4), switch.threshold(4)), ("dt", B - switch.used()));
    drain(&mut switch, 4, 1);
    let bursts = switch.memory.take_bursts();
    assert_eq!((switch.memory.entries(), bursts.len()), (1, 1), "and not again while the rest drains");
    assert!(bursts[0].peak.abs_diff(peak) <= 4 * PACKET && bursts[0].predicted.is_none(), "{bursts:?}");
    // Four come for each that leaves: three packets more in the time of one are 30 Gbit/s, which is near the edge of
    // the bucket.
    assert_eq!(map(&switch.memory), [(30, bursts[0].peak)]);
}

#[test]
fn of_bursts_alike_the_largest_peak_is_kept_and_granted() {
    let mut switch = switch("warm = \"0s\"");
    let mut peaks = Vec::new();
    for packets in [1000, 1200, 900] {
        burst(&mut switch, 4, packets, 4);
        drain(&mut switch, 4, 1);
        switch.now = switch.now + Span::from_us(100);
        peaks.push(switch.memory.take_bursts().pop().unwrap());
    }
    // The second one may hold what the first one held. The rest is dropped, so that nothing larger is learned: what is
    // known is censored by what is granted.
    assert_eq!(map(&switch.memory), [(30, peaks[0].peak)]);
    let learned = Some(peaks[0].peak);
    assert_eq!(peaks.iter().map(|burst| burst.predicted).collect::<Vec<_>>(), [None, learned, learned]);
    assert!(peaks[1].was_granted && peaks[1].drops > 0 && peaks[1].peak <= peaks[0].peak, "{peaks:?}");
    assert!(peaks[1].demand > peaks[1].peak && peaks[2].drops == 0, "{peaks:?}");
    assert!(peaks[2].demand.abs_diff(peaks[2].peak) < 3 * PACKET, "{peaks:?}");
}

#[test]
fn while_it_learns_the_largest_peak_of_a_gradient_is_kept() {
    let mut switch = switch("warm = \"100ms\"");
    let mut peaks = Vec::new();
    for packets in [1000, 1200, 1000] {
        burst(&mut switch, 4, packets, 4);
        drain(&mut switch, 4, 1);
        switch.now = switch.now + Span::from_us(100);
        peaks.push(switch.memory.take_bursts().pop().unwrap().peak);
        assert_eq!(map(&switch.memory), [(30, *peaks.iter().max().unwrap())]);
    }
    assert!(peaks[1] > peaks[0] + 100 * PACKET && peaks[0].abs_diff(peaks[2]) <= PACKET, "{peaks:?}");
}

#[test]
fn a_large_burst_that_drains_is_another_one_unless_it_rests_first() {
    let seen = |rearm: &str| {
        let mut switch = switch(&format!("warm = \"0s\"\nrearm = \"{rearm}\""));
        burst(&mut switch, 4, 2400, 4);
        drain(&mut switch, 4, 1);
        map(&switch.memory)
    };
    // Of 1.8 MB 0.9 MB are left when the burst is over: a burst that shrinks by nearly
    // 10 Gbit/s.
    let (once, twice) = (seen("at-rest"), seen("at-once"));
    assert_eq!((once.len(), twice.len(), once[0], twice[0].0), (1, 2, twice[1], -5), "{twice:?}");
    // What drains does not grow again.
    assert_eq!(seen("growing"), once);
    // A spike after a drop, before the queue was at rest, is another burst: that of a port that grows.
    let spikes = |rearm: &str| {
        let mut switch = switch(&format!("warm = \"0s\"\nrearm = \"{rearm}\""));
        burst(&mut switch, 4, 2400, 4);
        drain(&mut switch, 4, 870_000);
        burst(&mut switch, 4, 600, 4);
        drain(&mut switch, 4, 1);
        switch.memory.take_bursts().len()
    };
    assert_eq!(["growing", "at-rest"].map(spikes), [2, 1]);
}

#[test]
fn at_each_departure_of_a_burst_the_gradient_of_that_moment_is_looked_up() {
    let granted = |allocate: &str| {
        let mut switch = switch(&format!("warm = \"0s\"\nk = 1\nallocate = \"{allocate}\""));
        // A steep burst that comes to more, and a flat one that comes to less.
        for (packets, per_departure) in [(1000, 4), (1200, 2)] {
            burst(&mut switch, 4, packets, per_departure);
            drain(&mut switch, 4, 1);
            switch.now = switch.now + Span::from_us(100);
        }
        // It begins as the steep one and then does not grow.
        burst(&mut switch, 4, 760, 4);
        let steep = switch.threshold(4);
        burst(&mut switch, 4, 60, 1);
        (steep, switch.threshold(4))
    };
    let (once, each) = (granted("detection"), granted("each-departure"));
    assert_eq!(once.0, once.1);
    assert!(once.0 == each.0 && each.0 != each.1, "{once:?} {each:?}");
}

#[test]
fn grants_may_add_up_to_more_than_the_memory_which_is_then_full() {
    let mut switch = switch("warm = \"0s\"");
    // One learns 2 MB; three others then burst together, and are granted as much each.
    burst(&mut switch, 0, 2600, 4);
    drain(&mut switch, 0, 1);
    let (_, learned) = *map(&switch.memory).last().unwrap();
    assert!(learned > 1_900_000, "{learned}");
    let mut reasons = std::collections::BTreeSet::new();
    for packet in 0..9000 {
        for port in 1..4 {
            reasons.extend(switch.offer(port).err());
            if packet % 4 == 3 {
                switch.now = switch.now + Span::from_ns(400);
                switch.leave(port);
            }
        }
        assert!(switch.used() <= B);
    }
    let granted = (1..4).filter(|&port| switch.memory.state(switch.now, port as u32) == "granted").count() as u64;
    assert!(granted * learned > B, "{granted}");
    assert!(reasons.contains(&DropReason::MemoryFull), "{reasons:?}");
}

#[test]
fn nothing_is_granted_while_it_learns_and_old_entries_are_forgotten() {
    // Flows start for 100 ms, of which a fifth is for learning.
    let mut switch = switch("age = \"30ms\"");
    let expected = [(1, false, false), (19, false, true), (21, true, true), (70, false, false)];
    for (at_ms, was_granted, predicted) in expected {
        switch.now = Instant::ZERO + Span::from_ms(at_ms);
        burst(&mut switch, 4, 1000, 4);
        drain(&mut switch, 4, 1);
        let seen = switch.memory.take_bursts().pop().unwrap();
        assert_eq!((seen.was_granted, seen.predicted.is_some()), (was_granted, predicted), "{at_ms} ms");
    }
    // Used or confirmed 30 ms ago is still known.
    let mut map = Map::default();
    map.learn(Instant::ZERO, 1e9, 5);
    map.forget(Instant::ZERO + Span::from_ms(30), Span::from_ms(30));
    assert_eq!(map.0.len(), 1);
    map.lookup(Instant::ZERO + Span::from_ms(30), 0.0, 3, Neighbours::Mean);
    map.forget(Instant::ZERO + Span::from_ms(60), Span::from_ms(30));
    assert_eq!(map.0.len(), 1);
    map.forget(Instant::ZERO + Span::from_ms(60) + Span::from_ps(1), Span::from_ms(30));
    assert_eq!(map.0.len(), 0);
}

#[test]
fn each_line_as_printed_does_something_else() {
    let run = |more: &str| {
        let mut switch = switch(&format!("warm = \"0s\"\n{more}"));
        for packets in [1000, 1300, 1100] {
            burst(&mut switch, 4, packets, 4);
            drain(&mut switch, 4, 1);
            switch.now = switch.now + Span::from_us(100);
        }
        let bursts = switch.memory.take_bursts();
        (switch.memory.state(switch.now, 4), map(&switch.memory), bursts)
    };
    let (state, usual, bursts) = run("");
    assert_eq!((state, usual.len(), bursts.len()), ("dt", 1, 3));
    // The threshold comes when the burst is over, and stays until something is over that was none.
    let mut late = switch("warm = \"0s\"\nallocate = \"end\"");
    burst(&mut late, 4, 1000, 4);
    drain(&mut late, 4, 1);
    burst(&mut late, 4, 1000, 4);
    assert_eq!(late.memory.state(late.now, 4), "burst", "it has what DT gives it");
    drain(&mut late, 4, 500_000);
    assert_eq!((late.memory.state(late.now, 4), late.threshold(4)), ("granted", bursts[0].peak));
    drain(&mut late, 4, 1);
    assert_eq!(late.memory.state(late.now, 4), "dt");
    // Nothing forgets the peak: a burst with another gradient is entered with that of the one before.
    let second = |more: &str| {
        let mut switch = switch(&format!("warm = \"0s\"\n{more}"));
        burst(&mut switch, 4, 1000, 4);
        drain(&mut switch, 4, 1);
        burst(&mut switch, 4, 1200, 2);
        drain(&mut switch, 4, 1);
        let map = map(&switch.memory);
        (map[0].0, map[0].1 == map[1].1, map.len())
    };
    assert_eq!((second(""), second("reset = false")), ((10, false, 2), (10, true, 2)));
    // At its last growth a queue that is near its threshold grows by less than before, or not at all.
    let (literal, max) = (run("key = \"literal\"").1, run("key = \"max\"").1);
    assert!(literal[0].0 < usual[0].0 && max.last().unwrap().0 >= usual[0].0, "{literal:?} {max:?}");
    // Without buckets every gradient has an entry.
    let bucket = |more: &str, gbps: f64| model(more).bucket(gbps * 1e9) / 1e9;
    assert_eq!((bucket("width = \"0\"", 31.4), bucket("", 31.4), bucket("edge = \"lower\"", 31.4)), (31.4, 35.0, 30.0));
    assert_eq!((bucket("", -7.0), bucket("", 30.0), bucket("edge = \"lower\"", 30.0)), (-5.0, 30.0, 30.0));
    // At the lower edge a burst does not find its own entry but as the largest there is.
    assert_eq!(run("edge = \"lower\"").1[0].0, 25);
    assert_eq!(run("loop = \"as-printed\"\nk = 2").2[1].predicted, Some(bursts[0].peak / 2));
    let floor = run("floor_dt = true").2;
    assert!(floor[1].peak > bursts[0].peak && floor[1].drops == 0, "{floor:?}");
    // What would have been needed is learned instead of what was had.
    let demand = run("learn = \"demand\"").1;
    assert!(demand[0].1 > usual[0].1, "{demand:?} {usual:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (more, path) in [
        ("alpha = 0.0", "alpha"),
        ("sigma = 1.0", "sigma"),
        ("beta = 1.0", "beta"),
        ("beta = 0.0", "beta"),
        ("weight = 0.0", "weight"),
        ("weight = 1.5", "weight"),
        ("k = 0", "k"),
        ("k = 1\nloop = \"as-printed\"", "k"),
    ] {
        let config = toml::from_str(&format!("size = \"4MB\"\n{more}")).unwrap();
        let refused = Model::build(&config, &context(2)).unwrap_err();
        assert!(refused.path == path && refused.help.is_some(), "{refused}");
    }
    for wrong in ["warm = \"120%\"", "warm = \"soon\"", "width = \"wide\""] {
        assert!(toml::from_str::<Config>(&format!("size = \"4MB\"\n{wrong}")).is_err(), "{wrong}");
    }
    let config: Config = toml::from_str("size = \"4MB\"\nwarm = \"10ms\"\nwidth = \"0\"").unwrap();
    assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config);
}
