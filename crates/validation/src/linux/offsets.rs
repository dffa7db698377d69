//! Offsets of the instrument: Linux in an idle network beside the times of its bytes on the links.

use comfy_table::CellAlignment;
use tailcut_base::{MSS_BYTES, MTU_BYTES, PortId};
use tailcut_sim::seats::TransportConfig;
use tailcut_topology::Network;

use super::answer::Answer;
use super::case::Case;
use super::paths;
use super::report::new_table;

const ACK_BYTES: u64 = 40;
const HEADER_BYTES: u64 = 40;

/// The completion time of a single flow in an idle network, in picoseconds: packets are stored and forwarded, every
/// packet is acknowledged, and each ACK of slow start lets two packets go.
///
/// # Errors
/// As [`paths::of_flow`].
pub fn closed_form(case: &Case) -> Result<u64, String> {
    let round = &case.rounds[0];
    let [flow] = round.flows.as_slice() else {
        return Err(format!("{} has {} flows: the closed form is of one", case.spec.name, round.flows.len()));
    };
    let network = round.scenario.network();
    let (data, ack) = paths::of_flow(&round.scenario, 0, flow)?;
    let TransportConfig::Tcp(tcp) = &round.scenario.config().host.transport else {
        return Err("the closed form is of TCP".to_owned());
    };
    let window = u64::from(tcp.initial_window);
    let packets = flow.size.div_ceil(MSS_BYTES);
    let (mut forward, mut backward) = (Line::new(network, &data), Line::new(network, &ack));
    let mut acknowledged = Vec::new();
    let mut last = 0;
    for number in 0..packets {
        let released = match number.checked_sub(window) {
            None => 0,
            Some(beyond) => acknowledged[(beyond / 2) as usize],
        };
        let bytes = (flow.size - number * MSS_BYTES).min(MSS_BYTES) + HEADER_BYTES;
        last = forward.pass(released, bytes.min(MTU_BYTES));
        acknowledged.push(backward.pass(last, ACK_BYTES));
    }
    Ok(last)
}

/// The links of a path, each with the time at which it is free.
struct Line {
    links: Vec<(u64, u64, u64)>,
}

impl Line {
    fn new(network: &Network, path: &paths::Path) -> Line {
        let link = |port: &PortId| {
            let port = &network.ports()[*port];
            (port.rate.as_bps(), port.delay.as_ps(), 0)
        };
        Line { links: path.ports.iter().map(link).collect() }
    }

    /// When a packet arrives that is ready at this time.
    fn pass(&mut self, ready: u64, bytes: u64) -> u64 {
        self.links.iter_mut().fold(ready, |at, (rate, delay, free)| {
            let transmission = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(*rate);
            *free = at.max(*free) + transmission as u64;
            *free + *delay
        })
    }
}

/// The table of offsets: cases with their answers.
///
/// # Errors
/// As [`closed_form`].
pub fn table(cases: &[(Case, Answer)]) -> Result<String, String> {
    let mut table = new_table();
    table.set_header(["case", "closed form ns", "Linux ns", "offset ns"]);
    for (case, answer) in cases {
        let exact = closed_form(case)? as f64 / 1e3;
        let times: Vec<i64> = answer.rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.1).collect();
        let (least, most) = (times.iter().min().copied().unwrap_or(-1), times.iter().max().copied().unwrap_or(-1));
        let shown = |least: String, most: String| if least == most { least } else { format!("{least} to {most}") };
        let offset = |time: i64| format!("{:+.1}", time as f64 - exact);
        table.add_row([
            case.spec.name.clone(),
            format!("{exact:.1}"),
            shown(least.to_string(), most.to_string()),
            shown(offset(least), offset(most)),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Ok(table.to_string())
}
