//! What a model refuses is shown at its key, by the path that a user would write.

mod common;

use std::path::Path;

use common::{listed, node, star};
use tailcut_sim::{Problem, Scenario};

fn refusal(scheme: &str, text: &str) -> Problem {
    let text = star(3) + text + &listed(&[(0, 1, 1, 0)]);
    Scenario::new(&node(scheme, &text), 1, Path::new(".")).expect_err("the scenario is refused")
}

/// The text ends with the key that is wrong, in a table; the message names the path and the place is its line.
fn assert_at_key(scheme: &str, table: &str, line: &str) {
    let problem = refusal(scheme, &format!("[{table}]\n{line}\n"));
    let (key, _) = line.split_once(" = ").expect("a key and its value");
    assert!(problem.message().contains(&format!("`{table}.{key}`")), "{}", problem.render(false));
    let origin = problem.origin().expect("the place is known");
    let shown = origin.source.text.lines().nth(origin.line() - 1).expect("the place is in the text");
    assert!(shown.starts_with(key), "{}", problem.render(false));
    assert!(problem.help_text().is_some(), "{}", problem.render(false));
}

#[test]
fn values_of_transport_and_send_order_are_refused_at_their_key() {
    assert_at_key("tcp", "host.transport.tcp", "min_rto = \"0s\"");
    assert_at_key("tcp", "host.transport.tcp.delayed_ack", "timeout = \"0s\"");
    assert_at_key("homa", "host.transport.homa", "levels = 1");
    assert_at_key("homa", "host.transport.homa", "cutoffs = [\"2KB\", \"1KB\"]");
    assert_at_key("homa", "host.transport.homa", "resend = \"0s\"");
    assert_at_key("tcp", "host.order.fifo", "mark = \"1B\"");
    assert_at_key("tcp", "port", "limit = \"1B\"");
    assert_at_key("tcp", "port", "classes = 9");
    assert_at_key("tcp", "record", "queue_sample = \"0s\"");
    assert_at_key("tcp", "record", "throughput = \"0s\"");
    assert_at_key("tcp", "record", "throughput = \"1ns\"");
}

#[test]
fn values_of_every_seat_are_refused_at_their_key() {
    assert_at_key("dctcp", "host.congestion.dctcp", "gain = 2.0");
    assert_at_key("pias", "host.tag.pias", "thresholds = [\"2KB\", \"1KB\"]");
    assert_at_key("pias", "host.tag.pias.thresholds", "published = \"websarch\"");
    assert_at_key("pias", "host.tag.pias", "thresholds = { published = \"websearch\", load = 0.5 }");
    assert_at_key("icon", "host.pace.icon", "clock = \"0s\"");
    assert_at_key("icon", "host.pace.icon", "base_rtt = \"0s\"");
    assert_at_key("ictcp", "host.receive.ictcp", "usable = 1.5");
    assert_at_key("resqueue", "host.tag.resqueue", "thresholds = [\"1KB\", \"2KB\", \"3KB\", \"4KB\"]");
    assert_at_key("sjf", "host.tag.flow-size", "short = \"0B\"");
    assert_at_key("dctcp", "port.marker.step", "threshold = \"0B\"");
    assert_at_key("slytherin", "port.marker.step", "from_class = 7");
    assert_at_key("tcp", "port.loss.random", "probability = 1.0");
    assert_at_key("pias", "port.buffer.divided", "limits = [\"100KB\"]");
    assert_at_key("slytherin", "port.buffer.divided", "limits = [\"100KB\", \"1GB\"]");
    assert_at_key("resqueue", "port.buffer.reserved", "limit = \"1GB\"");
}

// A tag that no port reads is a scheme that does nothing.
#[test]
fn seats_that_do_not_go_together_are_refused() {
    for (scheme, text, part) in [
        ("homa", "[host]\ntag = \"pias\"\n", "Homa gives its packets their priorities itself"),
        ("homa", "[host]\ncongestion = \"dctcp\"\n", "no window that a congestion control could set"),
        ("homa", "[host]\npace = \"icon\"\n", "no window that could be paced"),
        ("homa", "[host]\nreceive = \"ictcp\"\n", "grant bytes, and have no window to advertise"),
        ("homa", "[port]\nclassifier = \"ce-or-ack\"\n", "Homa writes priorities into packets, and no port reads them"),
        ("homa", "[port]\nclasses = 7\n", "Homa has 8 levels, and the port has 7 classes"),
        ("homa", "[host.transport.homa]\nlevels = 3\n[port]\nclasses = 2\n", "Homa has 3 levels"),
        ("dctcp", "[host]\ntransport = \"homa\"\n", "no window that a congestion control could set"),
        ("tcp", "[host]\ntransport = \"homa\"\n", "no port reads them"),
        ("dctcp", "[host]\ntag = \"pias\"\n", "no port reads them"),
        ("dctcp", "[host]\ntag = \"flow-size\"\n", "no port reads them"),
        ("dctcp", "[host]\ntag = \"flow-rank\"\n", "no port orders by rank"),
        ("dctcp", "[host]\ntag = \"remaining\"\n", "by what is left of their flow, and no port orders by rank"),
        ("pfabric", "[port]\nscheduler = \"strict\"\n", "no port orders by rank"),
        ("pfabric", "[port]\nclasses = 2\n", "`pfabric` keeps one queue, and the port has 2 classes"),
        ("srpt", "[port]\nclasses = 2\n", "`srpt` keeps one queue, and the port has 2 classes"),
        ("pias", "[port]\nclasses = 2\n", "3 priorities"),
        ("pias", "[host.tag.pias.thresholds]\npublished = \"hybrid\"\n", "the workload has no `load`"),
        ("dctcp", "[host]\ntag = \"resqueue\"\n", "no port reads them"),
        ("resqueue", "[port]\nclasses = 3\n", "4 priorities with the reserved one"),
        ("dctcp", "[port]\nbuffer = \"reserved\"\n", "the port has one"),
        ("sjf", "[port]\nclasses = 1\nmarker = \"off\"\n", "the port has one class"),
        ("dctcp", "[port]\nbuffer = \"push-out\"\n", "the port has one class"),
        ("dctcp", "[port]\nbuffer = \"divided\"\n", "the port has one class"),
        ("sjf@full", "[port]\nclasses = 2\n", "the port has 2 classes"),
    ] {
        let problem = refusal(scheme, text);
        assert!(problem.message().contains(part), "{}", problem.render(false));
    }
}
