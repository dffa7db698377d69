//! What of a configuration is not wrong but probably not meant, in the network at hand.

use tailcut_base::{Bytes, MTU_BYTES, packets};
use tailcut_model::{Around, PortAround};

use super::{Config, Recovery};

/// What is not wrong here but probably not meant.
pub(super) fn of(config: &Config, around: &Around) -> Vec<String> {
    let mut warnings = Vec::new();
    if around.may_lose && config.min_rto > around.run_drain {
        warnings.push(format!(
            "packets may be lost here, and min_rto, {}, is more than the {} that flows have after the last arrival: what \
             no later packet betrays is never sent again, and its flow is censored",
            config.min_rto, around.run_drain
        ));
    }
    warnings.extend(around.short_timeout("min_rto", config.min_rto));
    let slow = |port: &PortAround| Some(port.drain()).filter(|&drain| config.min_rto < drain);
    if let Some((port, name)) = around.worst_port(slow) {
        let place = if name == "a port" { String::new() } else { format!(" in {name}") };
        warnings.push(format!(
            "min_rto, {}, is below the {} that a full queue takes to drain{place}: packets are sent again while they wait",
            config.min_rto,
            port.drain()
        ));
    }
    // A flow sends no more than it has, however large the window is.
    let largest = around.largest_sizes.iter().map(|&(_, largest)| packets(largest) * MTU_BYTES).max();
    let first = (u64::from(config.initial_window) * MTU_BYTES).min(largest.unwrap_or(u64::MAX));
    if let Some((port, name)) = around.overfull_port(|_| first, |port| port.lossy_room) {
        warnings.push(format!(
            "an initial window of {} packets lets a flow send {} at once, more than a queue of {name} holds, {}: a burst of one \
             flow can overflow it",
            config.initial_window,
            Bytes(first),
            Bytes(port.lossy_room.unwrap_or(0))
        ));
    }
    warnings.extend(around.burst_of_incast(&format!("an initial window of {} packets", config.initial_window), |_| {
        u64::from(config.initial_window) * MTU_BYTES
    }));
    if let Some(packets) = config.max_window {
        warnings.extend(around.small_window("max_window", u64::from(packets) * MTU_BYTES));
    }
    if let Some(delayed) = &config.delayed_ack
        && delayed.every > 1
        && delayed.timeout + around.rtt > config.min_rto
    {
        warnings.push(format!(
            "`delayed_ack.timeout`, {}, and the round-trip time of the longest path, {}, are more than `min_rto`, {}: \
             packets are sent again while their ACK is delayed",
            delayed.timeout.rounded(),
            around.rtt.rounded(),
            config.min_rto.rounded()
        ));
    }
    if config.recovery == Recovery::Linux {
        let without_effect = [
            ("speculative_retransmit", !config.speculative_retransmit),
            ("window_validation", !config.window_validation),
        ];
        for (key, _) in without_effect.iter().filter(|(_, is_set)| *is_set) {
            warnings.push(format!(
                "`{key} = false` has no effect with `recovery = \"linux\"`, which has a rule of its own"
            ));
        }
    }
    if around.sprays && config.recovery != Recovery::Linux && config.fast_retransmit && config.dup_thresh < 20 {
        warnings.push(
            "packets are sprayed over paths while three of them out of order mean a loss: consider \
             `fast_retransmit = false` or a `dup_thresh` of 20 or more"
                .to_owned(),
        );
    }
    warnings
}
