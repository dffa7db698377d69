//! A case in ns-3, by the driver.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tailcut_base::MSS_BYTES;

use super::Case;
use super::summary::{Counts, Summary};

/// Runs a case with the driver at `driver`.
///
/// # Errors
/// If the driver cannot be run, fails, or answers with what is not a result.
pub fn run(case: &Case, driver: &Path) -> Result<Summary, String> {
    let fails = |what: String| format!("{}: {what}", driver.display());
    let input = case.for_driver()?;
    let mut command = Command::new(driver);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| fails(format!("cannot be started: {e}")))?;
    // It reads the case to its end before it writes anything, so that neither waits for the other.
    let written = child.stdin.take().expect("it is a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().map_err(|e| fails(e.to_string()))?;
    if !output.status.success() {
        return Err(fails(format!("ended with {}", output.status)));
    }
    written.map_err(|e| fails(format!("did not read its case: {e}")))?;
    parse(case, &String::from_utf8_lossy(&output.stdout)).ok_or_else(|| fails("its answer is not a result".to_owned()))
}

/// `None` if the text is not the answer of the driver to this case.
fn parse(case: &Case, text: &str) -> Option<Summary> {
    let rows: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(' ')).collect::<Option<_>>()?;
    let (times, counts): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(name, _)| *name == "fct");
    let times: Vec<i64> = times.iter().map(|(_, fct)| fct.parse().ok()).collect::<Option<_>>()?;
    let text_of = |name: &str| counts.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let count = |name: &str| text_of(name)?.parse::<u64>().ok();
    let packets: u64 = case.flows.iter().map(|flow| flow.size.div_ceil(MSS_BYTES)).sum();
    if times.len() != case.flows.len() {
        return None;
    }
    // A flow that did not finish has a time of -1.
    let flows: Vec<_> = case.flows.iter().zip(times).map(|(flow, fct)| (flow.size, u64::try_from(fct).ok())).collect();
    let counts = Counts {
        drops: count("drops")?,
        ack_drops: count("ack_drops")?,
        marks: count("marks")?,
        ack_marks: count("ack_marks")?,
        timeouts: count("timeouts")?,
        // What was sent beyond one packet for each segment; with flows that did not finish, less than was sent again.
        retransmissions: count("data_packets")?.saturating_sub(packets),
        packet_hops: count("packet_hops")?,
        cpu_seconds: text_of("cpu_seconds")?.parse().ok()?,
    };
    Some(Summary::of(&flows, counts))
}
