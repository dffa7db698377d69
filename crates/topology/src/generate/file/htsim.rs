//! `.topo` of htsim (Broadcom/csg-htsim, `FatTreeTopology::load`): a fat-tree by the radix, speed and latency of its
//! tiers.

use tailcut_base::{BitRate, HostId, Id, Span};

use super::super::LinkConfig;
use super::draft::{Defaults, Draft, DraftSwitch, Fault};
use crate::network::Node;

/// What a file says of a tier, each with its line.
#[derive(Default)]
struct Tier {
    line: usize,
    speed: Option<(u64, usize)>,
    radix_down: Option<(u64, usize)>,
    radix_up: Option<(u64, usize)>,
    latency: Option<(u64, usize)>,
    switch_latency: Option<(u64, usize)>,
    oversubscribed: Option<(u64, usize)>,
    bundle: Option<(u64, usize)>,
}

const HEADER: [&str; 3] = ["Nodes", "Tiers", "Podsize"];
const KEYS: &str =
    "Downlink_speed_Gbps, Radix_Down, Radix_Up, Downlink_Latency_ns, Switch_Latency_ns, Oversubscribed or Bundle";
const NAMES: [&str; 3] = ["tor", "agg", "core"];

/// Largest value of a key: hosts and radices beyond are slips.
const MOST: u64 = 1 << 24;

/// Reads the text of a file.
pub(super) fn parse(text: &str, defaults: &Defaults) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    let mut header: [Option<(u64, usize)>; 3] = [None; 3];
    let mut tiers: [Option<Tier>; 3] = [None, None, None];
    let mut current: Option<usize> = None;
    let mut last = 1;
    for (at, row) in text.lines().enumerate() {
        let line = at + 1;
        let cells: Vec<&str> = row.split_whitespace().collect();
        let Some(&key) = cells.first().filter(|key| !key.starts_with('#')) else { continue };
        last = line;
        let key = key.to_ascii_lowercase();
        if key.starts_with("queue") {
            draft.remarks.push(format!(
                "`{}` in line {line} of the topology's file has no effect: `port.limit` is the size of a queue",
                cells[0]
            ));
            continue;
        }
        let value = cells.get(1).and_then(|cell| cell.parse::<u64>().ok()).filter(|&value| value <= MOST * 1000);
        let (Some(value), 2) = (value, cells.len()) else {
            return Err(Fault::new(line, format!("`{}` does not have one whole number", cells[0]))
                .help("expected a name and a number, such as `Radix_Down 8`"));
        };
        let tier = current.and_then(|at| tiers[at].as_mut());
        let place = match (key.as_str(), tier) {
            ("nodes", _) => &mut header[0],
            ("tiers", _) => &mut header[1],
            ("podsize", _) => &mut header[2],
            ("tier", _) => {
                let at = usize::try_from(value).ok().filter(|&at| at < tiers.len());
                let at =
                    at.ok_or_else(|| Fault::new(line, format!("there is no tier {value}")).help("expected 0, 1 or 2"))?;
                if let Some(before) = &tiers[at] {
                    return Err(Fault::new(line, format!("tier {value} is described twice"))
                        .help(format!("expected one of it and line {}", before.line)));
                }
                tiers[at] = Some(Tier { line, ..Tier::default() });
                current = Some(at);
                continue;
            }
            ("downlink_speed_gbps", Some(tier)) => &mut tier.speed,
            ("radix_down", Some(tier)) => &mut tier.radix_down,
            ("radix_up", Some(tier)) => &mut tier.radix_up,
            ("downlink_latency_ns", Some(tier)) => &mut tier.latency,
            ("switch_latency_ns", Some(tier)) => &mut tier.switch_latency,
            ("oversubscribed", Some(tier)) => &mut tier.oversubscribed,
            ("bundle", Some(tier)) => &mut tier.bundle,
            (_, tier) => {
                let fault = Fault::new(line, format!("`{}` is not known here", cells[0]));
                return Err(fault.help(match tier {
                    Some(_) => format!("expected {KEYS}"),
                    None => format!("expected {}, then `Tier 0`", HEADER.join(", ")),
                }));
            }
        };
        if place.replace((value, line)).is_some() {
            return Err(
                Fault::new(line, format!("`{}` is given twice", cells[0])).help("expected it once in each tier")
            );
        }
    }
    let mut given = [(0, 0); 3];
    for ((given, found), name) in given.iter_mut().zip(header).zip(HEADER) {
        *given = found.ok_or_else(|| {
            Fault::new(last, format!("the file does not say `{name}`")).help(format!("expected {}", HEADER.join(", ")))
        })?;
    }
    let [(nodes, nodes_line), (count, count_line), (pod, pod_line)] = given;
    if !(2..=3).contains(&count) {
        return Err(
            Fault::new(count_line, format!("a network of {count} tiers is none of htsim's")).help("expected 2 or 3")
        );
    }
    let mut sizes = Vec::new();
    for (at, tier) in tiers.iter().enumerate().take(count as usize) {
        let tier = tier.as_ref().ok_or_else(|| {
            Fault::new(last, format!("tier {at} is not described")).help(format!("expected `Tier {at}`, then {KEYS}"))
        })?;
        sizes.push(Size::of(tier, at, at + 1 == count as usize)?);
    }
    if let Some(tier) = tiers.iter().skip(count as usize).flatten().next() {
        return Err(Fault::new(tier.line, format!("the network has {count} tiers, and this is one more"))
            .help("expected tiers from 0 up to one less than `Tiers`"));
    }

    let fits = |what: bool, line: usize, message: String, help: String| {
        if what { Ok(()) } else { Err(Fault::new(line, message).help(help)) }
    };
    let (tor, agg) = (&sizes[0], &sizes[1]);
    fits(
        nodes > 0 && pod > 0 && nodes <= MOST && nodes.is_multiple_of(pod),
        nodes_line,
        format!("{nodes} nodes are not pods of {pod}"),
        format!("expected a multiple of `Podsize`, line {pod_line}, up to {MOST}"),
    )?;
    fits(
        pod.is_multiple_of(tor.down),
        pod_line,
        format!("a pod of {pod} hosts is not a whole number of switches with {} hosts", tor.down),
        "expected a multiple of `Radix_Down` of tier 0".to_owned(),
    )?;
    let pods = nodes / pod;
    // With two tiers every switch of the first is joined to every one of the second, whatever the pods.
    let tors = if count == 2 { nodes / tor.down } else { pod / tor.down };
    fits(
        agg.down == tors * agg.bundle,
        agg.line,
        format!(
            "`Radix_Down` of tier 1 is {}, and {tors} switches of tier 0 with {} links each are below",
            agg.down, agg.bundle
        ),
        format!("expected {}", tors * agg.bundle),
    )?;
    let aggs = tor.up / agg.bundle;
    if let Some(core) = sizes.get(2) {
        fits(
            core.down == pods * core.bundle,
            core.line,
            format!(
                "`Radix_Down` of tier 2 is {}, and {pods} pods with {} links each are below",
                core.down, core.bundle
            ),
            format!("expected {}", pods * core.bundle),
        )?;
    }
    for (at, pair) in sizes.windows(2).enumerate() {
        let [lower, upper] = pair else { continue };
        fits(
            lower.up.is_multiple_of(upper.bundle) && lower.up > 0,
            lower.line,
            format!("`Radix_Up` {} of tier {at} is not a whole number of bundles of {}", lower.up, upper.bundle),
            format!("expected a multiple of `Bundle` of tier {}", at + 1),
        )?;
        if let Some((ratio, line)) = lower.oversubscribed {
            fits(
                lower.down * lower.gbps == ratio * lower.up * upper.gbps,
                line,
                format!(
                    "the switches of tier {at} have {} Gb/s below and {} Gb/s above, which is not {ratio}:1",
                    lower.down * lower.gbps,
                    lower.up * upper.gbps
                ),
                "expected the ratio that speeds and radices make".to_owned(),
            )?;
        }
    }
    let links = nodes + nodes / tor.down * tor.up + sizes.get(2).map_or(0, |_| pods * aggs * agg.up);
    fits(
        links <= MOST / 2,
        nodes_line,
        format!("the network would have {} ports", 2 * links),
        format!("expected at most {MOST}"),
    )?;

    lay(&mut draft, &sizes, Shape { nodes, pods: if count == 2 { 1 } else { pods }, tors, aggs }, defaults)?;
    draft.set_default_delay(None, defaults);
    Ok(draft)
}

/// A tier with everything said.
struct Size {
    line: usize,
    down: u64,
    up: u64,
    gbps: u64,
    link: LinkConfig,
    bundle: u64,
    delay: Option<Span>,
    oversubscribed: Option<(u64, usize)>,
}

impl Size {
    fn of(tier: &Tier, at: usize, is_top: bool) -> Result<Size, Fault> {
        let missing =
            |name: &str| Fault::new(tier.line, format!("tier {at} does not say `{name}`")).help("expected it there");
        let positive = |found: Option<(u64, usize)>, name: &str| match found {
            Some((0, line)) => Err(Fault::new(line, format!("`{name}` is 0")).help("expected at least 1")),
            Some((value, line)) if value > MOST => {
                Err(Fault::new(line, format!("`{name}` is {value}")).help(format!("expected at most {MOST}")))
            }
            Some((value, _)) => Ok(value),
            None => Err(missing(name)),
        };
        if let (true, Some((_, line))) = (is_top, tier.radix_up) {
            return Err(Fault::new(line, format!("tier {at} is the highest, and nothing is above"))
                .help("expected no `Radix_Up`"));
        }
        let bundle = tier.bundle.map_or(Ok(1), |found| positive(Some(found), "Bundle"))?;
        if let (0, 2.., Some((_, line))) = (at, bundle, tier.bundle) {
            return Err(Fault::new(line, "hosts have one link each").help("expected no `Bundle` in tier 0"));
        }
        let gbps = positive(tier.speed, "Downlink_speed_Gbps")?;
        let rate = BitRate::from_bps(gbps * 1_000_000_000).ok_or_else(|| missing("Downlink_speed_Gbps"))?;
        let (latency, _) = tier.latency.ok_or_else(|| missing("Downlink_Latency_ns"))?;
        Ok(Size {
            line: tier.radix_down.map_or(tier.line, |(_, line)| line),
            down: positive(tier.radix_down, "Radix_Down")?,
            up: if is_top { 0 } else { positive(tier.radix_up, "Radix_Up")? },
            gbps,
            link: LinkConfig { rate, delay: Span::from_ns(latency) },
            bundle,
            delay: tier.switch_latency.map(|(ns, _)| Span::from_ns(ns)),
            oversubscribed: tier.oversubscribed,
        })
    }
}

/// How many there are of what, in each pod but for the hosts.
struct Shape {
    nodes: u64,
    pods: u64,
    tors: u64,
    aggs: u64,
}

/// Lays the links as htsim does.
fn lay(draft: &mut Draft, sizes: &[Size], shape: Shape, defaults: &Defaults) -> Result<(), Fault> {
    let Shape { nodes, pods, tors, aggs } = shape;
    draft.hosts = vec![sizes[0].line; nodes as usize];
    let cores = sizes.get(2).map_or(0, |core| aggs * (sizes[1].up / core.bundle));
    for ((count, size), name) in [pods * tors, pods * aggs, cores].into_iter().zip(sizes).zip(NAMES) {
        draft.tiers.push(name.to_owned());
        for number in 0..count {
            let tier = Some(draft.tiers.len() - 1);
            draft.switches.push(DraftSwitch {
                name: format!("{name}{number}"),
                tier,
                delay: size.delay,
                line: size.line,
            });
        }
    }
    let switch = |number: u64| Node::Switch(Id::new(number as usize));
    let tor = |number: u64| switch(number);
    let agg = |number: u64| switch(pods * tors + number);
    let core = |number: u64| switch(pods * (tors + aggs) + number);
    let mut join = |ends: [Node; 2], size: &Size| {
        (0..size.bundle).try_for_each(|_| draft.link(ends, Some(size.link), defaults, size.line))
    };
    for host in 0..nodes {
        join([Node::Host(HostId(host as u32)), tor(host / sizes[0].down)], &sizes[0])?;
    }
    for number in 0..pods * tors {
        for up in 0..aggs {
            join([tor(number), agg(number / tors * aggs + up)], &sizes[1])?;
        }
    }
    if let Some(size) = sizes.get(2) {
        for number in 0..pods * aggs {
            for up in 0..sizes[1].up / size.bundle {
                join([agg(number), core(number % aggs + aggs * up)], size)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::link;
    use super::super::super::{TopologyConfig, fat_tree};
    use super::super::Format;
    use super::super::tests::{assert_refused, network};
    use super::*;

    /// Four racks of eight hosts under two switches, 4:1.
    const TWO: &str = "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\n\
                       Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\nTier 1\n\
                       Downlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 500\n";

    fn three(pods: u64, bundle: u64) -> String {
        format!(
            "# Three tiers\nNodes {}\nTiers 3\nPodsize 16\nTier 0\nOversubscribed 1\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
             Radix_Up 4\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\n\
             Downlink_Latency_ns 2000\nBundle 1\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down {}\n\
             Downlink_Latency_ns 3000\nBundle {bundle}\n",
            16 * pods,
            pods * bundle
        )
    }

    #[test]
    fn two_tiers_are_a_leaf_spine() {
        let network = network(Format::Htsim, TWO).unwrap();
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (32, 6, 4));
        assert_eq!(network.tiers(), ["tor", "agg"]);
        assert_eq!(network.oversubscription(), Some(4.0));
        assert_eq!(network.router().next_hops(Id::new(0), HostId(31)).count, 2);
        // Four links of 1 us, and 500 ns at the upper switch alone.
        assert_eq!(network.route(HostId(0), HostId(31)).delay(), "4.5us".parse().unwrap());
    }

    #[test]
    fn three_tiers_without_bundles_are_a_fat_tree() {
        let config = fat_tree::Config {
            k: 8,
            hosts_per_edge: None,
            host_link: link("100Gbps", "1us"),
            aggregation_link: Some(link("100Gbps", "2us")),
            core_link: Some(link("100Gbps", "3us")),
            switch_delay: Span::ZERO,
        };
        let built = TopologyConfig::FatTree(config).build(&tailcut_model::Files::default()).unwrap();
        let read = network(Format::Htsim, &three(8, 1)).unwrap();
        assert_eq!((read.hosts(), read.switches().len()), (128, 80));
        assert_eq!((read.ports().len(), read.racks()), (built.ports().len(), built.racks()));
        assert_eq!(read.uplink_capacity_bps(), built.uplink_capacity_bps());
        for dst in [1, 4, 17, 127].map(HostId) {
            assert_eq!(read.route(HostId(0), dst), built.route(HostId(0), dst));
            for at in [0, 33].map(Id::new) {
                let count = |network: &crate::Network| network.router().next_hops(at, dst).count;
                assert_eq!(count(&read), count(&built), "{at:?} to {dst:?}");
            }
        }
    }

    #[test]
    fn a_bundle_is_several_links_between_the_same_switches() {
        // The links of an aggregation switch lead to two cores, by two each.
        let network = network(Format::Htsim, &three(4, 2)).unwrap();
        assert_eq!((network.hosts(), network.switches().len()), (64, 16 + 16 + 8));
        assert_eq!(network.ports_named("agg0->core0").len(), 2);
        assert_eq!(network.ports_named("agg0->core4").len(), 2);
        assert_eq!(network.ports_named("agg1->core1").len(), 2);
        assert!(network.ports_named("agg0->core1").is_empty());
        assert_eq!(network.router().next_hops(network.switch_named("agg0").unwrap(), HostId(63)).count, 4);
    }

    /// Each rack has as much above as below, and an aggregation switch has 4 x 100 Gb/s below and 100 Gb/s above.
    #[test]
    fn the_oversubscription_is_that_of_the_worst_tier() {
        assert_eq!(network(Format::Htsim, &three(4, 2)).unwrap().oversubscription(), Some(1.0));
        let text = "Nodes 16\nTiers 3\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
                    Downlink_Latency_ns 1000\nTier 1\nOversubscribed 4\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 1\n\
                    Downlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1000\n";
        assert_eq!(network(Format::Htsim, text).unwrap().oversubscription(), Some(4.0));
        // The racks are the worst where they are.
        let slow = text.replacen("Downlink_speed_Gbps 100\nRadix_Down 4", "Downlink_speed_Gbps 10\nRadix_Down 4", 1);
        let slow = slow.replacen("Oversubscribed 4\n", "", 1);
        assert_eq!(network(Format::Htsim, &slow).unwrap().oversubscription(), Some(10.0));
    }

    #[test]
    fn queue_sizes_are_said_to_have_no_effect() {
        let network = network(Format::Htsim, &TWO.replace("Tier 1", "Queue_Size_Down 100 200\nTier 1")).unwrap();
        let [remark] = network.remarks() else { panic!("{:?}", network.remarks()) };
        assert!(remark.contains("`Queue_Size_Down` in line 13") && remark.contains("port.limit"), "{remark}");
    }

    #[test]
    fn each_defect_has_its_own_message() {
        let without = |line: &str| TWO.replacen(&format!("{line}\n"), "", 1);
        let with = |from: &str, to: &str| TWO.replacen(from, to, 1);
        let cases = [
            (String::new(), 1, "does not say `Nodes`", "Podsize"),
            (without("Podsize 32"), 16, "does not say `Podsize`", "Nodes"),
            (with("Tiers 2", "Tiers 4"), 2, "4 tiers", "2 or 3"),
            (
                with("Tiers 2", "Tiers 3").replace("Down 4", "Down 4\nRadix_Up 2"),
                18,
                "tier 2 is not described",
                "`Tier 2`",
            ),
            (with("Tier 1", "Tier 7"), 13, "there is no tier 7", "0, 1 or 2"),
            (with("Tier 1", "Tier 0"), 13, "tier 0 is described twice", "line 5"),
            (with("Radix_Down 8", "Radix_Down eight"), 7, "`Radix_Down` does not have one whole number", ""),
            (with("Radix_Down 8", "Radix_Down 8 8"), 7, "`Radix_Down` does not have one whole number", ""),
            (with("Radix_Down 8", "Radix_Down 0"), 7, "`Radix_Down` is 0", "at least 1"),
            (with("Radix_Down 8", "Radix_Sideways 8"), 7, "`Radix_Sideways` is not known here", "Bundle"),
            (with("Podsize 32", "Radix_Down 4"), 3, "`Radix_Down` is not known here", "`Tier 0`"),
            (with("Radix_Down 8", "Radix_Up 8"), 8, "`Radix_Up` is given twice", "once"),
            (without("Radix_Up 2"), 5, "tier 0 does not say `Radix_Up`", ""),
            (without("Downlink_Latency_ns 1000"), 5, "tier 0 does not say `Downlink_Latency_ns`", ""),
            (with("Nodes 32", "Nodes 33"), 1, "33 nodes are not pods of 32", "line 3"),
            (with("Radix_Down 8", "Radix_Down 5"), 3, "a pod of 32 hosts", "Radix_Down"),
            (with("Radix_Down 4", "Radix_Down 5"), 15, "`Radix_Down` of tier 1 is 5", "expected 4"),
            (with("Oversubscribed 4", "Oversubscribed 3"), 11, "800 Gb/s below and 200 Gb/s above", "ratio"),
            (with("Oversubscribed 4", "Bundle 2"), 11, "hosts have one link each", "no `Bundle`"),
            (with("Radix_Down 4", "Radix_Down 4\nRadix_Up 3"), 16, "tier 1 is the highest", "no `Radix_Up`"),
            (with("Radix_Down 4", "Radix_Down 16\nBundle 4"), 7, "`Radix_Up` 2 of tier 0", "`Bundle` of tier 1"),
        ];
        let cases: Vec<_> =
            cases.iter().map(|(text, line, message, help)| (text.as_str(), *line, *message, *help)).collect();
        assert_refused(Format::Htsim, &cases);
    }
}
