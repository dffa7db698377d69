//! What is compared.

/// One case: a scenario of `crates/validation/linux` with what is set on top.
#[derive(Clone, Copy, Debug)]
pub struct CaseSpec {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// The scenario's file.
    pub file: &'static str,
    /// Assignments, as after `--set`.
    pub set: &'static [&'static str],
    /// The scheme.
    pub scheme: &'static str,
    /// Rounds, each with another phase of the clock and other draws.
    pub rounds: u32,
    /// Each start is later by a time below this one, in microseconds.
    pub jitter_us: u64,
    /// The link from host n is longer by n times this time, in nanoseconds, so that packets of different hosts do not
    /// arrive at the same moment.
    pub apart_ns: u64,
    /// The share of segments whose first transmission is lost, drawn for each round.
    pub loss: f64,
}

const TCP: &str = "tcp@linux";
const DCTCP: &str = "dctcp@linux";
const CUBIC: &str = "cubic@linux";
const NO_PROBES: &str = "host.transport.tcp.linux={tail_loss_probe = false}";
const NO_RACK: &str = "host.transport.tcp.linux={rack = false}";
/// The recovery of Linux with SACK alone.
const BARE: &str = "host.transport.tcp.linux={rack = false, tail_loss_probe = false, f_rto = false, dsack = false}";
const PERSISTENT: &str = "host.transport.tcp.connection=persistent";
const KEEP_WINDOW: &str = "host.transport.tcp.linux={slow_start_after_idle = false}";
/// Linux acknowledges every packet for as long as its receive window opens, by two packets for each: with buffers of
/// 16 MB that is for 2,912 packets, counted from its ACKs.
const DELAYED: &str = "host.transport.tcp.delayed_ack={every = 2, timeout = \"40ms\", quick = 2912}";
const HANDSHAKE: &str = "host.transport.tcp.handshake=one-rtt";
const PACED: &str = "host.pace=linux";
const INTERLEAVED: &str = "workload.traffic.search.endpoints={roles = {senders = {hosts = [0, 1, 4, 5, 8, 9, 12, 13]}, \
                           receivers = {hosts = [2, 3, 6, 7, 10, 11, 14, 15]}}}";
/// What a scheme does with tags is its own, unless something else is said by its name.
const DEMOTED: &str = "host.tag.pias.thresholds=[\"146000B\"]";
const ONE: &str = "one-flow.toml";

const fn case(
    name: &'static str,
    file: &'static str,
    scheme: &'static str,
    rounds: u32,
    set: &'static [&'static str],
) -> CaseSpec {
    CaseSpec { name, file, set, scheme, rounds, jitter_us: 0, apart_ns: 0, loss: 0.0 }
}

/// A case in which no two hosts send in step. Where they do, packets arrive at the same nanosecond, and which one comes
/// first is decided by the timers of the kernel, not by TCP.
const fn apart(case: CaseSpec) -> CaseSpec {
    CaseSpec { apart_ns: 7, ..case }
}

/// A case with starts that are drawn within five microseconds.
const fn drawn(case: CaseSpec) -> CaseSpec {
    CaseSpec { jitter_us: 5, ..case }
}

/// A case with one flow of this size.
macro_rules! one {
    ($name:literal, $size:literal, $scheme:expr $(, $set:expr)*) => {
        case($name, ONE, $scheme, 3, &[concat!("workload.traffic.flow.list=[{src=1,dst=0,size=\"", $size, "\"}]") $(, $set)*])
    };
}

/// A case with one flow of this size whose packets are lost: entries of `failures.packets`.
macro_rules! lost {
    ($name:literal, $size:literal, $scheme:expr, $rounds:literal, [$($loss:literal),+] $(, $set:expr)*) => {
        case($name, ONE, $scheme, $rounds, &[
            concat!("workload.traffic.flow.list=[{src=1,dst=0,size=\"", $size, "\"}]"),
            concat!("failures.packets=[", $("{flow=0,", $loss, "},",)+ "]")
            $(, $set)*
        ])
    };
}

/// An incast: hosts that answer, all hosts, size, and buffer in packets.
macro_rules! incast {
    ($name:literal, $degree:literal, $hosts:literal, $size:literal, $packets:literal, $scheme:expr $(, $set:expr)*) => {
        case($name, "incast.toml", $scheme, 10, &[
            concat!("topology.star.hosts=", $hosts),
            concat!("workload.flows=", $degree),
            concat!("workload.traffic.answer.incast.degree=", $degree),
            concat!("workload.traffic.answer.sizes.fixed=", $size),
            concat!("port.limit=", $packets, "pkt")
            $(, $set)*
        ])
    };
}

/// Marks from 65 packets on.
const K65: &str = "port.marker.step.threshold=65pkt";
const K20: &str = "port.marker.step.threshold=20pkt";
const K5: &str = "port.marker.step.threshold=5pkt";
const K200: &str = "port.marker.step.threshold=200pkt";
const BUFFER: &str = "port.limit=1500KB";
const TWO_OF_2MB: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"2MB\"},{src=2,dst=0,size=\"2MB\"}]";
const TWO_OF_10MB: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"10MB\"},{src=2,dst=0,size=\"10MB\"}]";
const FOUR_OF_1MB: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"1MB\"},{src=2,dst=0,size=\"1MB\",start=\"200us\"},\
                           {src=3,dst=0,size=\"1MB\",start=\"400us\"},{src=4,dst=0,size=\"1MB\",start=\"600us\"}]";
const FOUR_OF_2MB: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"2MB\"},{src=2,dst=0,size=\"2MB\",start=\"200us\"},\
                           {src=3,dst=0,size=\"2MB\",start=\"400us\"},{src=4,dst=0,size=\"2MB\",start=\"600us\"}]";
const THREE_IN_TURN: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"},\
                             {src=1,dst=0,size=\"200KB\",start=\"2ms\"},{src=1,dst=0,size=\"20KB\",start=\"4ms\"}]";
const TWO_FAR_APART: &str =
    "workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"},{src=1,dst=0,size=\"200KB\",start=\"100ms\"}]";
/// All ten packets of a window.
const WHOLE_WINDOW: &str = "failures.packets=[{flow=0,segment=0},{flow=0,segment=1},{flow=0,segment=2},\
                            {flow=0,segment=3},{flow=0,segment=4},{flow=0,segment=5},{flow=0,segment=6},\
                            {flow=0,segment=7},{flow=0,segment=8},{flow=0,segment=9}]";
const WHOLE_WINDOW_TWICE: &str = "failures.packets=[{flow=0,segment=0,times=2},{flow=0,segment=1,times=2},\
                                  {flow=0,segment=2,times=2},{flow=0,segment=3,times=2},{flow=0,segment=4,times=2},\
                                  {flow=0,segment=5,times=2},{flow=0,segment=6,times=2},{flow=0,segment=7,times=2},\
                                  {flow=0,segment=8,times=2},{flow=0,segment=9,times=2}]";
const TEN: &str = "workload.traffic.flow.list=[{src=1,dst=0,size=\"14600B\"}]";

/// Every case, by what it shows.
pub const CASES: &[CaseSpec] = &[
    // Idle networks.
    one!("idle-1b", "1B", TCP),
    one!("idle-1p", "1460B", TCP),
    one!("idle-10p", "14600B", TCP),
    one!("idle-11p", "16060B", TCP),
    one!("idle-100kb", "100KB", TCP),
    one!("idle-10mb", "10MB", TCP),
    one!("idle-1mb-cubic", "1MB", CUBIC),
    one!("idle-1mb-dctcp", "1MB", DCTCP, K65),
    one!("idle-1mb-window-2", "1MB", TCP, "host.transport.tcp.initial_window=2"),
    case("idle-100kb-chain3", "chain.toml", TCP, 3, &[]),
    // Delayed and quick ACKs.
    one!("idle-1p-delack", "1460B", TCP, DELAYED),
    one!("idle-100kb-delack", "100KB", TCP, DELAYED),
    one!("idle-1mb-delack", "1MB", TCP, DELAYED),
    one!("idle-1mb-cubic-delack", "1MB", CUBIC, DELAYED),
    one!("idle-10mb-delack", "10MB", TCP, DELAYED),
    // Handshakes.
    one!("handshake-1b", "1B", TCP, HANDSHAKE),
    one!("handshake-100kb", "100KB", TCP, HANDSHAKE),
    lost!("handshake-syn-lost", "20KB", TCP, 3, ["kind=\"syn\""], HANDSHAKE),
    lost!("handshake-syn-ack-lost", "20KB", TCP, 3, ["kind=\"syn-ack\""], HANDSHAKE),
    lost!("handshake-syn-lost-twice", "20KB", TCP, 2, ["kind=\"syn\",times=2"], HANDSHAKE),
    // Connections with several flows.
    case("persistent-3", "several.toml", TCP, 3, &[PERSISTENT, KEEP_WINDOW, "port.limit=10MB", THREE_IN_TURN]),
    case("persistent-idle", "several.toml", TCP, 3, &[PERSISTENT, KEEP_WINDOW, "port.limit=10MB", TWO_FAR_APART]),
    case("persistent-idle-restart", "several.toml", TCP, 3, &[PERSISTENT, "port.limit=10MB", TWO_FAR_APART]),
    // Single losses.
    lost!("drop-first", "29200B", TCP, 3, ["segment=0"]),
    lost!("drop-middle", "58400B", TCP, 3, ["segment=12"]),
    lost!("drop-middle-delack", "58400B", TCP, 3, ["segment=12"], DELAYED),
    lost!("drop-middle-cubic", "300KB", CUBIC, 3, ["segment=60"]),
    lost!("drop-middle-dctcp", "300KB", DCTCP, 3, ["segment=60"], K65),
    lost!("drop-second-to-last", "29200B", TCP, 3, ["segment=18"]),
    lost!("drop-last", "29200B", TCP, 3, ["segment=19"]),
    lost!("drop-last-notlp", "29200B", TCP, 3, ["segment=19"], NO_PROBES),
    lost!("drop-last-two", "29200B", TCP, 3, ["segment=18", "segment=19"]),
    lost!("drop-only", "1460B", TCP, 3, ["segment=0"]),
    lost!("drop-three-of-window", "58400B", TCP, 3, ["segment=12", "segment=15", "segment=20"]),
    lost!("drop-tail-half", "14600B", TCP, 3, ["segment=5", "segment=6", "segment=7", "segment=8", "segment=9"]),
    lost!("drop-retransmission", "58400B", TCP, 3, ["segment=5,times=2"]),
    lost!("drop-retransmission-twice", "58400B", TCP, 3, ["segment=5,times=3"]),
    lost!("drop-ack-last", "14600B", TCP, 3, ["kind=\"ack\",segment=9"]),
    lost!("drop-ack-middle", "58400B", TCP, 3, ["kind=\"ack\",segment=12"]),
    // Timers.
    case("rto-1ms", ONE, TCP, 8, &[TEN, WHOLE_WINDOW, NO_PROBES, "host.transport.tcp.min_rto=1ms"]),
    case("rto-10ms", ONE, TCP, 8, &[TEN, WHOLE_WINDOW, NO_PROBES]),
    case("rto-200ms", ONE, TCP, 8, &[TEN, WHOLE_WINDOW, NO_PROBES, "host.transport.tcp.min_rto=200ms"]),
    case("rto-10ms-probes", ONE, TCP, 8, &[TEN, WHOLE_WINDOW]),
    case("rto-twice-10ms", ONE, TCP, 4, &[TEN, WHOLE_WINDOW_TWICE, NO_PROBES]),
    lost!("rto-backoff-10ms", "1460B", TCP, 8, ["segment=0,times=4"], NO_PROBES),
    lost!("rto-backoff-200ms", "1460B", TCP, 4, ["segment=0,times=2"], NO_PROBES, "host.transport.tcp.min_rto=200ms"),
    // Random losses.
    CaseSpec {
        loss: 0.01,
        ..case("loss-1pc-200kb", ONE, TCP, 60, &["workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"}]"])
    },
    CaseSpec {
        loss: 0.03,
        ..case("loss-3pc-200kb", ONE, TCP, 30, &["workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"}]"])
    },
    CaseSpec {
        loss: 0.01,
        ..case(
            "loss-1pc-200kb-dctcp",
            ONE,
            DCTCP,
            30,
            &["workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"}]", K65],
        )
    },
    CaseSpec {
        loss: 0.01,
        ..case("loss-1pc-200kb-cubic", ONE, CUBIC, 30, &["workload.traffic.flow.list=[{src=1,dst=0,size=\"200KB\"}]"])
    },
    // Two and four flows, in step and apart.
    drawn(case("two-same-reno", "several.toml", TCP, 10, &[])),
    drawn(case("two-same-dctcp", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K65])),
    drawn(case("two-dctcp-k20-delack", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K20, DELAYED])),
    drawn(case("four-staggered-cubic", "several.toml", CUBIC, 5, &[FOUR_OF_2MB])),
    drawn(case("four-staggered-dctcp", "several.toml", DCTCP, 10, &[FOUR_OF_1MB, BUFFER, K20])),
    apart(drawn(case("two-same-reno-apart", "several.toml", TCP, 10, &[]))),
    apart(drawn(case("two-same-cubic-apart", "several.toml", CUBIC, 10, &[]))),
    apart(drawn(case("two-same-dctcp-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K65]))),
    apart(drawn(case("two-dctcp-k5-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K5]))),
    apart(drawn(case("two-dctcp-k20-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K20]))),
    apart(drawn(case("two-dctcp-k200-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K200]))),
    apart(drawn(case("two-reno-delack-apart", "several.toml", TCP, 10, &[DELAYED]))),
    apart(drawn(case("two-dctcp-k20-delack-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K20, DELAYED]))),
    apart(drawn(case(
        "two-dctcp-k20-10mb-delack-apart",
        "several.toml",
        DCTCP,
        2,
        &[TWO_OF_10MB, BUFFER, K20, DELAYED],
    ))),
    apart(drawn(case("four-staggered-reno-apart", "several.toml", TCP, 10, &[FOUR_OF_1MB]))),
    apart(drawn(case("four-staggered-cubic-apart", "several.toml", CUBIC, 5, &[FOUR_OF_2MB]))),
    apart(drawn(case("four-staggered-dctcp-apart", "several.toml", DCTCP, 10, &[FOUR_OF_1MB, BUFFER, K20]))),
    // Incasts in step.
    incast!("incast-4-32kb-400p-reno", 4, 5, "32120B", 400, TCP),
    incast!("incast-4-128kb-64p-reno", 4, 5, "128480B", 64, TCP),
    incast!("incast-8-128kb-100p-reno", 8, 9, "128480B", 100, TCP),
    incast!("incast-8-128kb-100p-dctcp-k65", 8, 9, "128480B", 100, DCTCP, K65),
    incast!("incast-8-128kb-400p-dctcp-k65", 8, 9, "128480B", 400, DCTCP, K65),
    incast!("incast-16-8kb-64p-reno", 16, 17, "8760B", 64, TCP),
    incast!("incast-16-32kb-100p-cubic", 16, 17, "32120B", 100, CUBIC),
    incast!("incast-16-32kb-400p-dctcp-k65", 16, 17, "32120B", 400, DCTCP, K65),
    incast!("incast-32-32kb-100p-reno", 32, 33, "32120B", 100, TCP),
    incast!("incast-32-32kb-100p-dctcp-k65", 32, 33, "32120B", 100, DCTCP, K65),
    incast!("incast-64-8kb-1000p-dctcp-k65", 64, 65, "8760B", 1000, DCTCP, K65),
    // Incasts apart.
    apart(incast!("incast-4-8kb-64p-reno-apart", 4, 5, "8760B", 64, TCP)),
    apart(incast!("incast-4-128kb-64p-reno-apart", 4, 5, "128480B", 64, TCP)),
    apart(incast!("incast-4-128kb-100p-dctcp-k65-apart", 4, 5, "128480B", 100, DCTCP, K65)),
    apart(incast!("incast-8-32kb-64p-reno-apart", 8, 9, "32120B", 64, TCP)),
    apart(incast!("incast-8-32kb-64p-dctcp-k20-apart", 8, 9, "32120B", 64, DCTCP, K20)),
    apart(incast!("incast-8-32kb-64p-reno-delack-apart", 8, 9, "32120B", 64, TCP, DELAYED)),
    apart(incast!("incast-8-128kb-100p-reno-apart", 8, 9, "128480B", 100, TCP)),
    apart(incast!("incast-8-128kb-100p-cubic-apart", 8, 9, "128480B", 100, CUBIC)),
    apart(incast!("incast-8-128kb-100p-dctcp-k65-apart", 8, 9, "128480B", 100, DCTCP, K65)),
    apart(incast!("incast-8-128kb-400p-dctcp-k65-apart", 8, 9, "128480B", 400, DCTCP, K65)),
    apart(incast!("incast-16-8kb-64p-dctcp-k20-apart", 16, 17, "8760B", 64, DCTCP, K20)),
    apart(incast!("incast-16-32kb-100p-reno-apart", 16, 17, "32120B", 100, TCP)),
    apart(incast!("incast-16-32kb-100p-cubic-apart", 16, 17, "32120B", 100, CUBIC)),
    apart(incast!("incast-16-128kb-400p-reno-apart", 16, 17, "128480B", 400, TCP)),
    apart(incast!("incast-32-8kb-400p-reno-apart", 32, 33, "8760B", 400, TCP)),
    apart(incast!("incast-32-32kb-100p-reno-apart", 32, 33, "32120B", 100, TCP)),
    apart(incast!("incast-32-32kb-100p-dctcp-k65-apart", 32, 33, "32120B", 100, DCTCP, K65)),
    apart(incast!("incast-64-8kb-100p-reno-apart", 64, 65, "8760B", 100, TCP)),
    apart(incast!("incast-64-8kb-400p-dctcp-k65-apart", 64, 65, "8760B", 400, DCTCP, K65)),
    // Features of the kernel switched off.
    apart(incast!("incast-4-128kb-64p-reno-norack-apart", 4, 5, "128480B", 64, TCP, NO_RACK)),
    apart(incast!("incast-8-32kb-64p-reno-bare-apart", 8, 9, "32120B", 64, TCP, BARE)),
    incast!("incast-16-8kb-64p-reno-norack", 16, 17, "8760B", 64, TCP, NO_RACK),
    incast!("incast-16-8kb-64p-reno-notlp", 16, 17, "8760B", 64, TCP, NO_PROBES),
    incast!("incast-16-8kb-64p-reno-bare", 16, 17, "8760B", 64, TCP, BARE),
    // Pacing.
    one!("pace-1mb", "1MB", TCP, PACED),
    one!("pace-1mb-cubic", "1MB", CUBIC, PACED),
    lost!("pace-drop-middle", "300KB", TCP, 3, ["segment=60"], PACED),
    apart(drawn(case("pace-two-dctcp-k20-apart", "several.toml", DCTCP, 10, &[TWO_OF_2MB, BUFFER, K20, PACED]))),
    apart(incast!("pace-incast-8-128kb-100p-reno-apart", 8, 9, "128480B", 100, TCP, PACED)),
    // Priorities.
    case("pias-100kb", "priorities.toml", TCP, 3, &[DEMOTED]),
    case("pias-100kb-dctcp", "priorities.toml", DCTCP, 3, &[DEMOTED, K65]),
    // Several switches.
    apart(case("parking-lot-dctcp-apart", "parking-lot.toml", DCTCP, 5, &[K65])),
    apart(case("leaf-spine-reno-0.2-apart", "leaf-spine.toml", TCP, 2, &["workload.load=0.2", INTERLEAVED])),
    apart(case("leaf-spine-dctcp-0.3-apart", "leaf-spine.toml", DCTCP, 2, &["workload.load=0.3", K65])),
    apart(case(
        "leaf-spine-dctcp-mixed-apart",
        "leaf-spine.toml",
        DCTCP,
        2,
        &["workload.load=0.2", "workload.traffic.search.endpoints=uniform", K65],
    )),
    apart(case("leaf-spine-dctcp-0.5-apart", "leaf-spine.toml", DCTCP, 2, &["workload.load=0.5", K65])),
];

/// Cases in idle networks whose completion times have a closed form.
pub const OFFSETS: [&str; 8] =
    ["idle-1b", "idle-1p", "idle-10p", "idle-11p", "idle-100kb", "idle-10mb", "idle-1mb-cubic", "idle-100kb-chain3"];

impl CaseSpec {
    /// The case of this name.
    pub fn find(name: &str) -> Option<&'static CaseSpec> {
        CASES.iter().find(|case| case.name == name)
    }
}
