//! ICON: the example of section 3.2.3 of the thesis, by the pacer of the simulator. A window of ten packets of 1500 B,
//! a round trip of 120 us, a link of 10 Gb/s.

use tailcut_base::{BitRate, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_host::pace::{PaceConfig, icon};
use tailcut_host::{HostConfig, HostContext};
use tailcut_model::seat::{PaceView, Pacer};

use super::{Computed, Context, Function};

pub(super) const FUNCTIONS: &[(&str, Function)] =
    &[("pause_between_packets", pause_between_packets), ("rate_of_1_and_26_senders", rate_of_1_and_26_senders)];

const LINK: BitRate = BitRate::gbps(10);

/// Time in us between the end of a packet and the start of the next one, with one sender.
fn pause_between_packets(_: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one((interval_ns(1)? - LINK.tx_time(MTU_BYTES).as_ns_f64()) / 1e3))
}

/// Rate in Gb/s of each of so many senders.
fn rate_of_1_and_26_senders(_: &Context<'_>) -> Result<Computed, String> {
    let rate = |senders: u32| Ok(8.0 * MTU_BYTES as f64 / interval_ns(senders)?);
    Ok(Computed::several([1, 26].map(rate).into_iter().collect::<Result<Vec<f64>, String>>()?))
}

/// Time in ns between the starts of two packets.
fn interval_ns(senders: u32) -> Result<f64, String> {
    let context = HostContext { nic: LINK, ..HostContext::of(HostConfig::default()) };
    let pacer = PaceConfig::Icon(icon::Config::default()).build(&context).map_err(|e| e.to_string())?;
    let view =
        PaceView { srtt: Span::from_us(120), cwnd: (10 * MSS_BYTES) as f64, degree: senders, ..PaceView::default() };
    let next = pacer.next_due(Instant::ZERO, Instant::ZERO, &view);
    Ok(next.saturating_since(Instant::ZERO).as_ns_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_claims::SweepPoint;

    #[test]
    fn the_pacer_pauses_and_sends_as_the_document_computes() {
        let context = Context { subject: "", point: &SweepPoint::new(), scenario: "" };
        let pause = pause_between_packets(&context).unwrap().values;
        assert!(pause.len() == 1 && (pause[0] - 10.8).abs() < 1e-9, "{pause:?}");
        let rates = rate_of_1_and_26_senders(&context).unwrap().values;
        assert!((rates[0] - 1.0).abs() < 1e-9 && (rates[1] - 1.0 / 26.0).abs() < 1e-9, "{rates:?}");
    }
}
