//! Loss recovery and window management of Linux 6.1, as one alternative to RFC 6675.
//!
//! RACK and the tail loss probe (RFC 8985) find losses, proportional rate reduction (RFC 6937) reduces the window,
//! F-RTO (RFC 5682) and duplicate SACKs (RFC 2883, RFC 3708) undo what was unnecessary, timers fire at ticks of a
//! timer wheel, and windows count whole segments. Windows are pushed into the interface: a segment counts as sent when
//! the window allows it, also while it waits for the NIC. Each part is a file of its own:
//!
//! | part | file |
//! |---|---|
//! | segments in flight | `board.rs` |
//! | RACK | `rack.rs` |
//! | tail loss probe | `probe.rs` |
//! | proportional rate reduction | `prr.rs` |
//! | undo after F-RTO or duplicate SACKs | `undo.rs` |
//! | states Open, Disorder, Reduced, Recovery, Loss | `state.rs` |
//! | ACKs | `ack.rs` |
//! | growth of the window, restart after idle | `growth.rs` |
//! | sending and timers | `send.rs`, `timer.rs` |
//! | round-trip times and timeout | `rtt.rs` |
//!
//! Left out: timestamps (RFC 7323) and the undo by them, segmentation offload, TCP small queues, the compression of
//! SACKs, autotuning of the receive window, which never limits, and the reduction of a window that an application
//! leaves unused for longer than a timeout.

mod ack;
mod board;
mod growth;
mod probe;
mod prr;
mod rack;
mod rtt;
mod send;
mod state;
#[cfg(test)]
mod tests;
mod timer;
mod undo;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, MSS_BYTES, Span};
use tailcut_model::seat::{Priority, Window};

use super::clock::Clock;
use super::sender::{MICROSECOND, Sender};
use board::Board;
use growth::Usage;
use probe::Probe;
use prr::Reduction;
use rack::Rack;
use rtt::Estimator;
use timer::Pending;
use undo::Undo;

/// Which parts of Linux's recovery are on; all are by default, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of Linux")]
pub struct Config {
    /// Losses are inferred from the times at which segments were sent (RFC 8985; sysctl `tcp_recovery`); without it by
    /// `dup_thresh` SACKed segments.
    pub rack: bool,
    /// A tail loss probe is sent two round-trip times after the last progress (RFC 8985, section 7; sysctl
    /// `tcp_early_retrans`).
    pub tail_loss_probe: bool,
    /// The window falls over a round trip and not at once (RFC 6937).
    pub prr: bool,
    /// A timeout is taken back if data that was never sent again arrives (RFC 5682; sysctl `tcp_frto`).
    pub f_rto: bool,
    /// Receivers report duplicates (RFC 2883), so that a sender takes back a reduction when all that it sent again were
    /// duplicates (RFC 3708; sysctl `tcp_dsack`).
    pub dsack: bool,
    /// The window of a persistent connection is halved for each timeout that it was idle (RFC 7661, section 4.4; sysctl
    /// `tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { rack: true, tail_loss_probe: true, prr: true, f_rto: true, dsack: true, slow_start_after_idle: true }
    }
}

/// The states of congestion of a Linux connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Nothing unusual.
    Open,
    /// Segments are SACKed or were sent again; nothing is taken for lost.
    Disorder,
    /// The window is being reduced because of marks (in Linux: CWR).
    Reduced,
    /// Losses are being repaired by fast retransmissions.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

impl State {
    /// Whether the window is being reduced by what arrives.
    fn reduces(self) -> bool {
        matches!(self, State::Reduced | State::Recovery)
    }
}

/// Packets that may be sent after an ACK, beside new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resend {
    Nothing,
    /// Lost segments.
    Lost,
    /// New segments first, and lost ones only if there are none (RFC 5682, section 3.1, step 2.b).
    NewFirst,
}

/// A segment that was handed to the interface and has not left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) number: u64,
    pub(super) is_retransmission: bool,
    /// It says that the window was cut.
    pub(super) cwr: bool,
    pub(super) priority: Priority,
}

/// A window or threshold without a limit.
const UNLIMITED: u32 = u32::MAX;

/// The smallest wait of a probe or of a reordering timer beside round-trip times, in microseconds (Linux: two ticks of
/// a millisecond).
const LEAST_WAIT: u64 = 2000;

/// The timeout before there is a round-trip time, in microseconds (RFC 6298, section 2).
const FIRST_TIMEOUT: u64 = 1_000_000;

/// The first timeout of a connection whose SYN was sent again, in microseconds: there is no round-trip time (RFC 6298,
/// section 5.7).
const TIMEOUT_WITHOUT_SAMPLE: u64 = 3_000_000;

/// Largest degree of reordering that is believed, in segments (sysctl `tcp_max_reordering`).
const MOST_REORDERING: u32 = 300;

/// The sending end of a connection, beside what every [`Sender`] has. Windows are in segments, times in microseconds.
#[derive(Debug)]
pub(super) struct Linux {
    config: Config,
    clock: Option<Clock>,
    state: State,
    board: Board,
    rack: Rack,
    probe: Probe,
    undo: Undo,
    reduction: Reduction,
    rtt: Estimator,
    usage: Usage,
    cwnd: u32,
    ssthresh: u32,
    /// The window of a new connection, and of one that was idle.
    initial_cwnd: u32,
    /// Part of a segment by which the window is larger than `cwnd`, where the congestion control sets it itself.
    fraction: f64,
    /// Segments delivered since the window last opened by one, in congestion avoidance.
    counted: f64,
    /// The window to which marks reduce, if this ACK asks for a reduction.
    cut_to: Option<u32>,
    /// The state ends when this segment is acknowledged.
    high: u64,
    /// Whether the timeout under way may turn out unnecessary (F-RTO).
    may_be_spurious: bool,
    /// Timeouts since the last progress.
    timeouts: u32,
    /// The timeout with its backoff; `None` before there is a round-trip time.
    timeout: Option<u64>,
    pending: Pending,
    /// Degree of reordering in segments.
    reordering: u32,
    usual_reordering: u32,
    resend: Resend,
    /// Segments that wait for the interface.
    queue: VecDeque<Queued>,
    /// Whether anything was sent again in the recovery under way.
    has_resent: bool,
    /// Segments ever delivered, marked lost and sent again, and duplicates reported.
    delivered: u64,
    lost: u64,
    retransmissions: u64,
    duplicates: u64,
    /// When data was last sent.
    last_sent: u64,
}

impl Linux {
    /// A new connection with these windows in bytes.
    pub(super) fn new(config: Config, clock: Option<Clock>, window: &Window, dup_thresh: u32) -> Linux {
        let cwnd = whole(window.cwnd);
        Linux {
            config,
            clock,
            state: State::Open,
            board: Board::default(),
            rack: Rack::new(),
            probe: Probe::default(),
            undo: Undo::default(),
            reduction: Reduction::default(),
            rtt: Estimator::new(),
            usage: Usage::default(),
            cwnd,
            ssthresh: whole(window.ssthresh),
            initial_cwnd: cwnd,
            fraction: 0.0,
            counted: 0.0,
            cut_to: None,
            high: 0,
            may_be_spurious: false,
            timeouts: 0,
            timeout: None,
            pending: Pending::Nothing,
            reordering: dup_thresh,
            usual_reordering: dup_thresh,
            resend: Resend::Nothing,
            queue: VecDeque::new(),
            has_resent: false,
            delivered: 0,
            lost: 0,
            retransmissions: 0,
            duplicates: 0,
            last_sent: 0,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Linux>() + self.board.heap_bytes() + self.queue.capacity() * size_of::<Queued>()
    }

    /// The window and its slow-start threshold in bytes.
    pub(super) fn window(&self) -> (f64, f64) {
        (in_bytes(self.cwnd), in_bytes(self.ssthresh))
    }

    /// The window of a new connection, in segments.
    pub(super) fn initial_cwnd(&self) -> u32 {
        self.initial_cwnd
    }

    /// Sets the window to so many segments, as for a new flow.
    pub(super) fn set_cwnd(&mut self, segments: u32) {
        self.cwnd = segments;
        self.forget_parts();
    }

    /// The window is a whole number of segments again.
    fn forget_parts(&mut self) {
        (self.fraction, self.counted) = (0.0, 0.0);
    }

    /// Starts the timer for the answer to a SYN that is sent for the `attempt`-th time, from 0.
    pub(super) fn on_syn(&mut self, flow: &mut Sender, now: Instant, attempt: u32) {
        let most = micros_of(flow.max_rto());
        arm(self, flow, now, Pending::Timeout, (FIRST_TIMEOUT << attempt.min(20)).min(most));
    }

    /// The answer to a SYN came that was sent `again` times more. No round-trip time can be measured.
    pub(super) fn open_without_sample(&mut self, flow: &Sender, again: u32) {
        self.timeout = Some(TIMEOUT_WITHOUT_SAMPLE.min(micros_of(flow.max_rto())));
        if again > 1 {
            self.set_cwnd(1);
        }
    }

    /// Starts the timeout again, whatever the timer was started for.
    pub(super) fn wait_on(&mut self, flow: &mut Sender, now: Instant) {
        self.pending = Pending::Nothing;
        self.restart_timeout(flow, now);
    }

    /// The timer has fired.
    pub(super) fn on_timer(&mut self, flow: &mut Sender, now: Instant) -> bool {
        match self.pending {
            Pending::Nothing => {}
            Pending::Reordering => self.on_reordering_timer(flow, now),
            Pending::Probe => self.send_probe(flow, now),
            Pending::Timeout => {
                if self.board.outstanding() > 0 {
                    self.on_timeout(flow, now);
                    return true;
                }
            }
        }
        false
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub(super) fn srtt(&self) -> Span {
        self.rtt.srtt_span()
    }

    /// SACKed segments.
    pub(super) fn sacked(&self) -> u64 {
        u64::from(self.board.sacked())
    }

    /// Lets the connection go on with a flow of its own segment numbers after `self.board` is empty. A reduction by
    /// marks that is under way and a repair by a probe end with the first ACK of the new flow, unless the window
    /// `restarts`.
    pub(super) fn begin_flow(&mut self, restarts: bool) {
        debug_assert!(self.board.outstanding() == 0, "the next flow begins when all is acknowledged");
        self.queue.clear();
        self.board = Board::default();
        self.rack.restart();
        self.undo = Undo::default();
        self.rtt.restart();
        self.usage = Usage::default();
        if restarts {
            (self.probe, self.state) = (Probe::default(), State::Open);
        } else {
            self.probe.begin_flow();
            if self.state != State::Reduced {
                self.state = State::Open;
            }
        }
        self.pending = Pending::Nothing;
        self.resend = Resend::Nothing;
        (self.high, self.timeouts, self.has_resent, self.may_be_spurious) = (0, 0, false, false);
    }
}

/// Whole segments in so many bytes of a window.
fn whole(bytes: f64) -> u32 {
    // A float that becomes an integer is as large as it can be at most.
    (bytes / MSS_BYTES as f64 + 1e-9) as u32
}

/// The window as other seats see it.
fn in_bytes(segments: u32) -> f64 {
    if segments == UNLIMITED { f64::INFINITY } else { f64::from(segments) * MSS_BYTES as f64 }
}

/// A span in whole microseconds.
fn micros_of(span: Span) -> u64 {
    span.as_ps() / MICROSECOND
}

/// Arms the timer of a flow.
fn arm(linux: &mut Linux, flow: &mut Sender, now: Instant, pending: Pending, micros: u64) {
    linux.pending = pending;
    let deadline = timer::expiry(linux.clock, now, timer::in_ticks(linux.clock, micros));
    flow.set_deadline(deadline);
}
