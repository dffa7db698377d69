//! Any bytes as a list of flows, in both formats: refused with its line, or flows.

use tailcut_workload::{FlowFormat, FlowList, HostNumbers};

/// Reads the bytes in every format, for networks of several sizes, whose hosts are numbered alone or among switches.
pub fn run(bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
    for format in [FlowFormat::Tailcut, FlowFormat::Hpcc] {
        for hosts in [0_u32, 2, 400] {
            let among_switches = (0..2 * hosts).map(|node| node % 2 == 1);
            for numbers in [HostNumbers::alone(hosts), HostNumbers::among_switches(among_switches)] {
                match FlowList::parse(bytes, format, &numbers) {
                    Ok(list) => assert!(!list.is_empty() && list.len() < lines && hosts > 1),
                    Err(error) => {
                        assert!((1..=lines).contains(&error.line), "line {} of {lines}", error.line);
                        assert!(!error.message.is_empty() && !error.to_string().is_empty());
                    }
                }
            }
        }
    }
}
