//! Any bytes as a small simulation: whatever scheme on whatever network, with loss, small buffers and short timers.
//! Every invariant that the world checks at its end holds, and two threads come to the same as one.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use tailcut_record::Recorder;
use tailcut_sim::{Outcome, Preset, Scenario, Stopped, Tree, World};

/// Numbers that are drawn from bytes; 0 when they are used up.
struct Draw<'b>(std::slice::Iter<'b, u8>);

impl Draw<'_> {
    fn below(&mut self, limit: u64) -> u64 {
        let mut wide = 0;
        for _ in 0..if limit > 256 { 4 } else { 1 } {
            wide = wide << 8 | u64::from(self.0.next().copied().unwrap_or(0));
        }
        wide % limit
    }

    fn one_of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Runs the simulation that the bytes stand for. Returns whether they stand for one: some combinations are refused.
pub fn run(bytes: &[u8]) -> bool {
    let mut draw = Draw(bytes.iter());
    let schemes: Vec<&str> = Preset::of_packets().map(|preset| preset.name).collect();
    let scheme = draw.one_of(&schemes);
    let text = scenario(&mut draw);
    let tree = Tree::parse("fuzz", &text).unwrap_or_else(|problem| panic!("{text}: {}", problem.render(false)));
    let preset = Preset::scheme(scheme).unwrap_or_else(|problem| panic!("{scheme}: {}", problem.render(false)));
    let Ok(scenario) = Scenario::new(&preset.in_scenario(&[&tree], &[]), 1, Path::new("no-such-folder")) else {
        return false;
    };
    scenario.warnings();
    let one = finished(&scenario, 1);
    let two = finished(&scenario, 2);
    if let (Ok(one), Ok(two)) = (one, two) {
        assert_eq!(one.engine.digest, two.engine.digest, "two threads come to the same: {scheme} on {text}");
        assert_eq!(one.totals, two.totals, "{scheme} on {text}");
    }
    true
}

/// Runs to the end, or until it has lasted long: a million events are enough.
fn finished(scenario: &Scenario, threads: u32) -> Result<Outcome, Stopped> {
    let mut looks = 0;
    World::new(scenario, Recorder::new()).with_threads(threads).run_with(|_| {
        looks += 1;
        if looks > 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

fn scenario(draw: &mut Draw<'_>) -> String {
    let mut text = String::new();
    let rate = draw.one_of(&["10Gbps", "1Gbps", "100Mbps", "7777777777bps"]);
    let delay = draw.one_of(&["1us", "0ns", "20us", "1ms", "777ns"]);
    let link = format!("{{ rate = \"{rate}\", delay = \"{delay}\" }}");
    let hosts = match draw.below(3) {
        0 => {
            let hosts = 2 + draw.below(6);
            let _ = writeln!(text, "topology.star = {{ hosts = {hosts}, host_link = {link} }}");
            hosts
        }
        _ => {
            let (leaves, each, spines) = (1 + draw.below(3), 2 + draw.below(3), 1 + draw.below(3));
            let _ = writeln!(
                text,
                "topology.leaf-spine = {{ leaves = {leaves}, hosts_per_leaf = {each}, spines = {spines}, \
                 host_link = {link}, core_link = {link} }}"
            );
            leaves * each
        }
    };
    let drain = draw.one_of(&["50ms", "0s", "1ms"]);
    let _ = writeln!(text, "run.drain = \"{drain}\"");
    if draw.below(2) == 1 {
        let _ = writeln!(text, "run.ties = \"drawn\"");
    }
    if draw.below(2) == 1 {
        let _ = writeln!(text, "port.limit = \"{}B\"", 3_000 + draw.below(200_000));
    }
    if draw.below(3) == 1 {
        let loss = [0.5, 0.1, 0.01][draw.below(3) as usize];
        let _ = writeln!(text, "port.loss.random.probability = {loss}");
    }
    if draw.below(4) == 1 {
        let _ = writeln!(text, "path = \"{}\"", draw.one_of(&["spray", "round-robin", "flow-ecmp"]));
    }
    if draw.below(4) == 1 {
        let _ = writeln!(text, "switch.memory.dt = {{ size = \"{}B\" }}", 10_000 + draw.below(300_000));
    }
    let mut flows: Vec<String> = (0..1 + draw.below(12))
        .map(|_| {
            let src = draw.below(hosts);
            let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
            let most = [100, 5_000, 400_000][draw.below(3) as usize];
            let size = 1 + draw.below(most);
            let start = draw.below(200_000);
            format!("{{ src = {src}, dst = {dst}, size = \"{size}B\", start = \"{start}ns\", deadline = \"1ms\" }}")
        })
        .collect();
    // A list is in the order of starts, or is refused: both are tried.
    if draw.below(4) > 0 {
        flows.sort_by_key(|flow| {
            let start = flow.split("start = \"").nth(1).unwrap_or_default();
            start.split("ns").next().and_then(|start| start.parse::<u64>().ok())
        });
    }
    let _ = writeln!(text, "[workload.traffic.a]\nlist = [{}]", flows.join(", "));
    text
}
