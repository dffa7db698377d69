//! Sums over flows: the numerators and denominators of their statistics.

use tailcut_record::{Component, FlowRow};

use crate::collector::us;

/// Sums over some flows.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlowSums {
    pub(crate) flows: f64,
    pub(crate) finished: f64,
    /// Sum of the FCTs of finished flows in µs.
    pub(crate) fct_us: f64,
    /// Flows whose sender knows that every byte arrived.
    pub(crate) acknowledged: f64,
    /// Sum of the times from the start of these flows until then in µs.
    pub(crate) ack_fct_us: f64,
    /// Ideal FCTs of the finished flows, in µs.
    pub(crate) ideal_us: f64,
    pub(crate) slowdown: f64,
    /// Sum of the goodputs of finished flows in Gb/s.
    pub(crate) goodput: f64,
    pub(crate) goodput_squared: f64,
    /// Bits of finished flows.
    pub(crate) bits: f64,
    /// Flows with a deadline.
    pub(crate) deadlines: f64,
    /// Flows that met their deadline.
    pub(crate) met: f64,
    pub(crate) drops: f64,
    /// Flows that lost a packet.
    pub(crate) lossy: f64,
    /// Finished flows of which a packet was dropped twice or more.
    pub(crate) redropped: f64,
    /// Sum of the FCTs of these flows in µs.
    pub(crate) redropped_fct_us: f64,
    pub(crate) retransmissions: f64,
    pub(crate) timeouts: f64,
    /// Data packets sent.
    pub(crate) sent: f64,
    /// Data packets that reached the receiver.
    pub(crate) arrived: f64,
    pub(crate) reordered: f64,
    pub(crate) ce_marks: f64,
    pub(crate) multi_marked: f64,
    /// Finished flows that were sent by permission.
    pub(crate) permitted: f64,
    /// Sums of the times for which they waited for the first permission and for which it was taken back, in µs.
    pub(crate) waited_us: f64,
    pub(crate) stopped_us: f64,
    /// Sums of these times over the FCTs.
    pub(crate) waited_share: f64,
    pub(crate) stopped_share: f64,
    pub(crate) preemptions: f64,
    pub(crate) delays: Delays,
}

/// Sums over flows of which it is known where their FCT went.
#[derive(Clone, Copy, Default)]
pub(crate) struct Delays {
    pub(crate) flows: f64,
    /// Of their FCTs in µs.
    pub(crate) fct_us: f64,
    /// Of each component in µs.
    pub(crate) components_us: [f64; Component::ALL.len()],
}

impl Delays {
    /// Adds a flow.
    pub(crate) fn add(&mut self, row: &FlowRow) {
        let (Some(breakdown), Some(fct)) = (&row.breakdown, row.fct()) else { return };
        self.flows += 1.0;
        self.fct_us += us(fct);
        for (sum, (_, time)) in self.components_us.iter_mut().zip(breakdown.iter()) {
            *sum += us(time);
        }
    }
}

impl FlowSums {
    /// Adds a flow.
    pub(crate) fn add(&mut self, row: &FlowRow) {
        self.flows += 1.0;
        if let Some(fct) = row.fct() {
            self.finished += 1.0;
            self.fct_us += us(fct);
            self.ideal_us += us(row.ideal);
            self.slowdown += row.slowdown().unwrap_or_default();
            self.bits += 8.0 * row.size as f64;
            let goodput = gigabits_per_second(row.size, us(fct));
            self.goodput += goodput;
            self.goodput_squared += goodput * goodput;
        }
        if let Some(span) = row.acknowledged.and_then(|at| at.since(row.start)) {
            self.acknowledged += 1.0;
            self.ack_fct_us += us(span);
        }
        if let Some(met) = row.met() {
            self.deadlines += 1.0;
            self.met += f64::from(u8::from(met));
        }
        if let (Some(permission), Some(fct)) = (&row.permission, row.fct()) {
            let (waited, stopped) = (us(permission.waited), us(permission.stopped));
            self.permitted += 1.0;
            self.waited_us += waited;
            self.stopped_us += stopped;
            self.waited_share += waited / us(fct);
            self.stopped_share += stopped / us(fct);
            self.preemptions += f64::from(permission.preemptions);
        }
        self.delays.add(row);
        self.drops += row.drops as f64;
        self.lossy += f64::from(u8::from(row.drops > 0));
        if let Some(fct) = row.fct().filter(|_| row.max_packet_drops > 1) {
            self.redropped += 1.0;
            self.redropped_fct_us += us(fct);
        }
        self.retransmissions += row.retransmissions as f64;
        self.timeouts += row.timeouts as f64;
        self.sent += row.packets as f64;
        self.arrived += arrived(row);
        self.reordered += row.reordered as f64;
        self.ce_marks += row.ce_marks as f64;
        self.multi_marked += row.multi_marked as f64;
    }

    /// Jain's index of the goodputs; `None` without finished flows.
    pub(crate) fn jain(&self) -> Option<f64> {
        (self.goodput_squared > 0.0).then(|| self.goodput * self.goodput / (self.finished * self.goodput_squared))
    }
}

/// Data packets of a flow that reached the receiver: those sent less those dropped. A packet that was under way when
/// the run ended counts.
pub(crate) fn arrived(row: &FlowRow) -> f64 {
    row.packets.saturating_sub(row.drops) as f64
}

/// Rate in Gb/s of `bytes` in `us` microseconds.
fn gigabits_per_second(bytes: u64, us: f64) -> f64 {
    if us > 0.0 { 8.0 * bytes as f64 / (us * 1e3) } else { 0.0 }
}
