//! PINNED: the cases of ns-3 with the defaults under which they were compared.

use tailcut_sim::Scenario;
use tailcut_sim::config::TieOrder;
use tailcut_sim::seats::CongestionConfig;

use crate::ns3::case::folder;
use crate::ns3::{Case, CaseSpec};

/// A case in which equal times are ordered by number, as by the events of ns-3, and an ACK with ECN echo that does not
/// cut opens the window.
///
/// # Errors
/// As [`Case::load`].
pub fn load(spec: &'static CaseSpec, scheme: &'static str) -> Result<Case, String> {
    let case = Case::load(spec, scheme)?;
    let mut config = case.scenario.config().clone();
    config.run.ties = TieOrder::Numbered;
    if let CongestionConfig::Dctcp(dctcp) = &mut config.host.congestion {
        dctcp.grow_on_ece = true;
    }
    let scenario = Scenario::from_config(config, case.scenario.seed(), folder().as_path());
    Ok(Case { scenario: scenario.map_err(|invalid| invalid.to_string())?, ..case })
}
