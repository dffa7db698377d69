//! Homa in whole networks: what a lone message takes, what receivers grant, and what is lost.

use crate::common::{P3, bottleneck, fcts, listed, port, rows, run, scenario, star};
use tailcut_sim::EndReason;
use tailcut_sim::seats::TransportConfig;

/// Picoseconds.
const US: u64 = 1_000_000;
/// A full packet at 10 Gb/s.
const SLOT: u64 = 1_200_000;

/// As much as a link of 10 Gb/s carries in the round trip of `star`: 4 x 1 us, two full packets and two grants.
const STAR_RTT: u64 = 4 * US + 2 * SLOT + 2 * 32_000;

fn homa(keys: &str) -> String {
    format!("[host.transport.homa]\n{keys}\n")
}

/// RTTbytes of seven packets, whatever the network, and these keys.
fn seven(keys: &str) -> String {
    homa(&format!("rtt_bytes = \"10KB\"\n{keys}"))
}

// A lone message takes the ideal time if all of it is unscheduled, or else if its RTTbytes, in whole packets with their
// headers, are no less than the bandwidth-delay product: then the grant for each packet comes before the one before has
// left.
#[test]
fn a_message_alone_takes_the_ideal_time_if_rtt_bytes_fill_the_round_trip() {
    // 6464 ns are 5.4 full packets.
    let enough = STAR_RTT.div_ceil(SLOT);
    let alone = |window: u64, size: u64| {
        let text = star(3) + &homa(&format!("rtt_bytes = \"{}B\"", window * 1460 - 7)) + &listed(&[(0, 1, size, 0)]);
        let row = &rows(&run("homa", &text, 1))[0];
        assert_eq!((row.packets, row.retransmissions, row.timeouts), (size.div_ceil(1460), 0, 0));
        row.fct().unwrap().as_ps() - row.ideal.as_ps()
    };
    for window in [enough, enough + 1, 2 * enough] {
        for size in [1, 1460, window * 1460, window * 1460 + 1, 100_000, 1_234_567] {
            assert_eq!(alone(window, size), 0, "{size} B, {window} packets");
        }
    }
    // Else each window after the first one waits for its first grant.
    for window in 1..enough {
        for packets in [1, window, window + 1, 10 * window, 100] {
            let waits = (packets - 1) / window * (STAR_RTT - window * SLOT);
            assert_eq!(alone(window, packets * 1460), waits, "{packets} packets, {window} at a time");
        }
    }
}

#[test]
fn a_message_alone_takes_the_ideal_time_between_racks_of_other_rates_too() {
    // The round trip is 85.9 us, in which 10 Gb/s carry 71.6 packets.
    let text = |size| P3.to_owned() + &homa("rtt_bytes = \"72pkt\"") + &listed(&[(0, 143, size, 0)]);
    for size in [1, 100_000, 107_000, 3_000_000] {
        let outcome = run("homa", &text(size), 1);
        assert_eq!(fcts(&outcome), [rows(&outcome)[0].ideal.as_ps()], "{size} B");
    }
}

#[test]
fn nothing_is_said_of_a_short_message_but_that_it_came() {
    let outcome = run("homa", &(star(2) + &seven("") + &listed(&[(0, 1, 5_000, 0)])), 1);
    assert_eq!((port(&outcome, "host0", "switch0").packets, port(&outcome, "host1", "switch0").packets), (4, 1));
    // Seven packets come unasked; each of those that come but the last seven lets one go.
    let outcome = run("homa", &(star(2) + &seven("") + &listed(&[(0, 1, 100_000, 0)])), 1);
    let packets = 100_000u64.div_ceil(1460);
    let said = port(&outcome, "host1", "switch0");
    assert_eq!((port(&outcome, "host0", "switch0").packets, said.packets), (packets, packets - 7 + 1));
    assert_eq!(said.bytes, 40 * said.packets, "a grant is a header");
}

// Six senders, one receiver, a round trip of granted bytes each: those with less left end first, and the link never
// idles.
#[test]
fn messages_to_one_receiver_end_in_the_order_of_their_sizes_and_fill_its_link() {
    let sizes = [600_000, 300_000, 500_000, 200_000, 400_000, 100_000u64];
    let flows: Vec<_> = (0..6).map(|src| (src, 6, sizes[src as usize], u64::from(src))).collect();
    // With more at a time, what was granted at first and in a low class would lie in the way of its own message.
    for overcommit in [1, 2, 4] {
        let levels = seven(&format!("cutoffs = []\novercommit = {overcommit}"));
        let outcome = run("homa", &(bottleneck(6, "10Gbps", "1us") + &levels + &listed(&flows)), 1);
        let ends = fcts(&outcome);
        let mut order: Vec<usize> = (0..6).collect();
        order.sort_by_key(|&flow| ends[flow]);
        assert_eq!(order, [5, 3, 1, 4, 2, 0], "{overcommit}: {ends:?}");
        let packets: u64 = sizes.iter().map(|size| size.div_ceil(1460)).sum();
        assert!(ends[0] < packets * SLOT + 20 * US, "{overcommit}: {} of {}", ends[0], packets * SLOT);
        assert_eq!(outcome.totals.drops.total(), 0);
    }
}

// With one message at a time, what is on the way to a receiver is RTTbytes of it and what others sent unasked.
#[test]
fn the_queue_of_a_receiver_holds_what_is_unasked_and_what_is_granted() {
    let mut flows: Vec<_> = (0..8).map(|src| (src, 8, 1_000_000, 0)).collect();
    // Queues are sampled until the last arrival.
    flows.push((0, 8, 1, 6_000_000));
    let longest = |overcommit: u64| {
        let levels = seven(&format!("cutoffs = []\novercommit = {overcommit}"));
        let record = "[record]\nqueue_sample = \"1us\"\n";
        let outcome = run("homa", &(bottleneck(8, "10Gbps", "1us") + &levels + record + &listed(&flows)), 1);
        assert_eq!(outcome.totals.drops.total(), 0);
        outcome.queues.all().packets().max().unwrap()
    };
    // 56 packets come unasked at once, of which the first leaves. More than that never waits, whatever is granted.
    for overcommit in [1, 7] {
        assert!((45..=56 + 7 * overcommit).contains(&longest(overcommit)), "{overcommit}: {}", longest(overcommit));
    }
}

/// The longest queue, in bytes, of a receiver of these flows of so many senders, with the settings of Homa.
fn longest_queue(senders: u32, settings: &str, flows: &[(u32, u32, u64, u64)]) -> u64 {
    let text = bottleneck(senders, "10Gbps", "1us") + &seven(settings) + "[record]\nqueue_sample = \"500ns\"\n";
    let outcome = run("homa", &(text + &listed(flows)), 1);
    assert_eq!(outcome.totals.drops.total(), 0);
    outcome.ports.iter().filter_map(|port| port.queue).map(|queue| queue.max_bytes).max().unwrap()
}

/// RTTbytes with their headers.
const WINDOW: u64 = 7 * 1500;

// 20 messages of two RTTbytes each, 10 us apart, are 1.7 times what the link carries in that time. Half of them comes
// unasked, which the link carries; of the rest no more than the degree of overcommitment allows is on the way.
#[test]
fn overcommitment_bounds_the_queue_of_messages_of_two_round_trips() {
    let mut flows: Vec<_> = (0..20).map(|nth| (nth, 20, 20_440, 10_000 * u64::from(nth))).collect();
    flows.push((0, 20, 1, 1_000_000));
    let longest = |grants: &str, overcommit: u64| {
        longest_queue(20, &format!("cutoffs = []\novercommit = {overcommit}\ngrants = \"{grants}\""), &flows)
    };
    for grants in ["bounded", "until-received"] {
        for overcommit in [1, 2, 4, 7] {
            // What is unscheduled waits behind the packet that leaves.
            let expected = overcommit * WINDOW..=overcommit * WINDOW + 1_500;
            let queue = longest(grants, overcommit);
            assert!(expected.contains(&queue), "{grants}, {overcommit}: {queue} of {expected:?}");
        }
    }
    // Each message is granted to its end before the next one comes, and then counts no more.
    assert_eq!([1, 7].map(|overcommit| longest("each-packet", overcommit)), [162_000; 2]);
}

// 400 answers of 32 KB at once: all but the first four send 400 B unasked.
#[test]
fn incast_control_bounds_the_queue_of_an_incast() {
    let query = |settings: &str| {
        let text = star(401)
            + &seven(&format!("cutoffs = []\novercommit = 4\n{settings}"))
            + "[port]\nlimit = \"8MB\"\n[record]\nqueue_sample = \"500ns\"\n[workload]\nflows = 400\nwarmup = 0.0\n\
               [workload.traffic.incast]\nrate = 1000.0\nsizes.fixed = \"32KB\"\n\
               incast = { degree = 400, aggregators = 1 }\n[workload.traffic.last]\n\
               list = [{ src = 0, dst = 1, size = \"1B\", start = \"20ms\" }]\n";
        let outcome = run("homa", &text, 1);
        assert_eq!((outcome.end, outcome.totals.drops.total()), (EndReason::Finished, 0));
        let queue = outcome.ports.iter().filter_map(|port| port.queue).map(|queue| queue.max_bytes).max().unwrap();
        let mut answers = rows(&outcome);
        answers.retain(|row| row.query.is_some());
        let last = answers.iter().map(|row| row.fct().unwrap().as_ps()).max().unwrap();
        (queue, last, answers)
    };
    let (unasked, usual, _) = query("");
    assert!(unasked > 380 * WINDOW, "{unasked} B");
    for threshold in [4, 20] {
        let (queue, last, answers) = query(&format!("incast = {{ threshold = {threshold}, unscheduled = \"400B\" }}"));
        // Unscheduled parts, whole and short ones, and what is granted.
        let most = threshold * WINDOW + (400 - threshold) * 440 + 4 * WINDOW;
        assert!(queue <= most && queue > (400 - threshold) * 440, "{threshold}: {queue} of {most} B");
        // 400 B, and 31,600 B in 22 packets; or 32,000 B in as many.
        assert!(answers.iter().all(|row| (22..=23).contains(&(row.packets - row.retransmissions))));
        assert!(last < usual + usual / 50, "{threshold}: {last} and {usual} ps");
    }
}

#[test]
fn a_message_that_is_lost_as_a_whole_is_sent_again_and_so_is_one_whose_acknowledgement_is() {
    // Nine of ten packets are lost on each hop of the way: whatever is said must be said again.
    let flows: Vec<_> = (0..20).map(|nth| (nth % 3, 3, 1 + 2_900 * u64::from(nth), u64::from(nth) * 1_000)).collect();
    for (of, probability) in [("data", 0.5), ("all", 0.5), ("all", 0.9)] {
        let loss = format!("[port.loss.random]\nprobability = {probability}\nof = \"{of}\"\n");
        let outcome = run("homa", &(star(4) + "[run]\ndrain = \"1000s\"\n" + &loss + &listed(&flows)), 1);
        assert_eq!(outcome.end, EndReason::Finished);
        let all = rows(&outcome);
        assert!(all.iter().all(|row| row.packets - row.retransmissions == row.size.div_ceil(1460)));
        assert!(all.iter().map(|row| row.timeouts).sum::<u64>() > 20);
        assert_eq!(all.iter().map(|row| row.size).sum::<u64>(), outcome.totals.received_bytes);
    }
}

#[test]
fn levels_follow_the_sizes_of_the_workload() {
    let resolved = |text: &str| match &scenario("homa", &(star(9) + text), 1).config().host.transport {
        TransportConfig::Homa(homa) => homa.clone(),
        _ => panic!("it is Homa's preset"),
    };
    let text = |distribution: &str, load: f64| {
        format!(
            "[workload]\nload = {load}\nduration = \"1ms\"\n[workload.traffic.all]\nshare = 1.0\n\
             sizes.distribution = \"{distribution}\"\n"
        )
    };
    // Most bytes of web search are in long messages, and few of them come unasked.
    assert_eq!(resolved(&text("websearch", 0.5)).overcommit, Some(7));
    assert_eq!(resolved(&text("websearch", 0.5)), resolved(&text("websearch", 0.9)));
    let short = "[workload]\nload = 0.5\nduration = \"1ms\"\n[workload.traffic.all]\nshare = 1.0\n\
                 sizes.uniform = { min = \"1B\", max = \"8KB\" }\n";
    let tiny = resolved(short);
    assert_eq!(tiny.overcommit, Some(1));
    // Bytes below a size grow with its square: cuts at the square roots of sevenths.
    let toml = toml::to_string(&tiny).unwrap();
    let own = |keys: &str| resolved(&format!("{}{short}", homa(keys)));
    assert!(toml.contains("3024B") && toml.contains("7407B"), "{toml}");
    assert_eq!(own("overcommit = 5").overcommit, Some(5));
    assert_eq!(own("cutoffs = [\"1KB\", \"2KB\"]").overcommit, Some(5));
}

#[test]
fn warnings_are_about_the_transport_that_runs() {
    let flows = listed(&[(0, 1, 5_000, 0)]);
    let warnings = |text: &str| scenario("homa", &(P3.to_owned() + text + &flows), 1).warnings();
    assert!(warnings("").is_empty(), "what follows the network fits it");
    let few = warnings(&homa("rtt_bytes = \"10KB\""));
    assert!(few.len() == 1 && few[0].contains("rtt_bytes") && few[0].contains("bandwidth-delay product"), "{few:?}");
    assert!(warnings(&homa("rtt_bytes = \"72pkt\"")).is_empty());
    let soon = warnings(&homa("rtt_bytes = \"72pkt\"\nresend = \"80us\""));
    assert!(soon.len() == 1 && soon[0].starts_with("resend, 80"), "{soon:?}");
    let marks = warnings(&(homa("rtt_bytes = \"72pkt\"") + "[port]\nmarker = \"step\"\n"));
    assert!(marks.len() == 1 && marks[0].contains("uses ECN-capable packets, and there are none"), "{marks:?}");
}
