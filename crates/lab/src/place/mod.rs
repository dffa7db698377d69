//! Superways for a scenario: where its incast applications go, which extra links their servers need, what that costs,
//! and the scenario with all of it.
//!
//! `tailcut_placement` does the arithmetic; here stands what a scenario has to do with it: its applications as the
//! workload draws them, buffers and rates as its ports have them, and the file that `tailcut run` takes.

mod bills;
mod show;
mod site;
mod write;

use std::path::Path;

use serde::Deserialize;
use tailcut_placement::bill::Prices;
use tailcut_placement::{
    Application, Attachment, Optimum, Parameters, Placement, Sizing, Spine, Ways, attach, optimum, place, ways,
};
use tailcut_sim::config::from_tree;
use tailcut_sim::model::Invalid;
use tailcut_sim::{Problem, Scenario, Tree};

pub use self::bills::{BillQuery, BillTable};
pub use self::show::random_text;
use self::site::Site;
use crate::plan::Plan;

/// The file with the parameters of a placement: `[placement]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterFile {
    #[serde(default)]
    placement: Parameters,
}

/// The text of a file.
///
/// # Errors
/// If it cannot be read, or is no text.
fn read(file: &Path, what: &str) -> Result<String, Problem> {
    std::fs::read_to_string(file).map_err(|error| {
        Problem::new(format!("cannot read {what} {}: {error}", file.display())).help("expected the path of a TOML file")
    })
}

/// The parameters of a placement: those of a file, if there is one, and on top of them assignments such as `alpha=0.9`.
///
/// # Errors
/// If one is unknown or cannot be.
pub fn parameters(file: Option<&Path>, assignments: &[String]) -> Result<Parameters, Problem> {
    let mut layers = Vec::new();
    if let Some(file) = file {
        layers.push(Tree::parse(&file.display().to_string(), &read(file, "the parameters")?)?);
    }
    for assignment in assignments {
        layers.push(Tree::parse_assignment(&format!("placement.{assignment}"))?);
    }
    let tree = Tree::layered(&layers);
    let read: ParameterFile = from_tree(&tree)?;
    read.placement.check().map_err(|(key, message, help)| {
        Problem::from_invalid(Invalid::new(format!("placement.{key}"), message).help(help), &tree)
    })?;
    Ok(read.placement)
}

/// The prices of a file; those of the thesis if there is none.
///
/// # Errors
/// If the file cannot be read, or a price cannot be.
pub fn prices(file: Option<&Path>) -> Result<Prices, Problem> {
    let Some(file) = file else { return Ok(Prices::thesis()) };
    let tree = Tree::parse(&file.display().to_string(), &read(file, "the prices")?)?;
    let prices: Prices = from_tree(&tree)?;
    prices
        .check()
        .map_err(|(key, message, help)| Problem::from_invalid(Invalid::new(key, message).help(help), &tree))?;
    Ok(prices)
}

/// A scenario with its applications placed.
#[derive(Clone, Debug)]
pub struct Placing {
    /// Name of the scenario.
    name: String,
    /// The point that the applications are of, in words.
    point: String,
    parameters: Parameters,
    sizing: Sizing,
    prices: Prices,
    site: Site,
    placement: Placement,
    /// The spines, new ones at the end.
    spines: Vec<Spine>,
    attachments: Vec<Attachment>,
    /// For each server of the placement.
    ways: Vec<Ways>,
    /// The fewest links, if they were asked for.
    fewest: Option<Optimum>,
    /// What a reader has to know.
    notes: Vec<String>,
}

impl Placing {
    /// Places the applications of a plan's first point.
    ///
    /// # Errors
    /// If it has no applications, a value that the equations need is not said, or servers or ports run out.
    pub fn of(plan: &Plan, parameters: &Parameters, prices: &Prices, with_fewest: bool) -> Result<Placing, Problem> {
        let planned = plan.points.first().ok_or_else(|| Problem::new("the scenario has no point"))?;
        let scenario: Scenario = planned.scenario()?;
        let (site, sizing) = site::of(&scenario, parameters)?;
        let placement = place(&site.applications, &site.servers, &site.rack_of, &sizing, parameters);
        if let Some(&first) = placement.unplaced.first() {
            let name = &site.applications[first].name;
            return Err(Problem::new(format!("there are not enough servers: none is left for {name}"))
                .help("expected fewer applications, or larger buffers"));
        }
        let mut spines = site.spines.clone();
        let new = |at: usize| Spine { name: site.new_spine(at), free: site.free_of_new };
        let attachments = attach(&placement, parameters.mode, &mut spines, new).map_err(|lacking| {
            let message = format!(
                "host {} needs {} ports at one spine, and a new one has {} beside those to leaves",
                lacking.host, lacking.links, site.free_of_new
            );
            Problem::new(message).help("expected more ports, such as --place spine_ports=64")
        })?;
        let ways = match parameters.mode {
            tailcut_placement::Mode::Heuristic => ways(&placement, &site.applications, &site.rack_of),
            _ => placement.servers.iter().map(|_| Ways::default()).collect(),
        };
        let fewest = if with_fewest { Some(fewest_links(&site.applications, &sizing)?) } else { None };
        let values: Vec<String> = plan
            .axes
            .iter()
            .zip(&planned.point.values)
            .map(|(axis, value)| format!("{} = {value}", axis.path))
            .collect();
        let mut point = format!("of {} with seed {}", planned.point.scheme, planned.point.seed);
        if !values.is_empty() {
            point += &format!(" at {}", values.join(", "));
        }
        let mut notes = site.notes.clone();
        if plan.points.len() > 1 {
            notes.push(format!("the scenario has {} points; the applications are those {point}", plan.points.len()));
        }
        let asked = (parameters.clone(), prices.clone());
        let placing = Placing {
            name: plan.name.clone(),
            point,
            parameters: asked.0,
            sizing,
            prices: asked.1,
            site,
            placement,
            spines,
            attachments,
            ways,
            fewest,
            notes,
        };
        Ok(placing.with_notes_of_ways())
    }

    /// Adds to the notes what routes cannot do as it was computed.
    fn with_notes_of_ways(mut self) -> Placing {
        for (on, ways) in self.placement.servers.iter().zip(&self.ways) {
            let host = on.server.host;
            if !ways.shared.is_empty() {
                self.notes.push(format!(
                    "{} host(s) answer several applications of host {host} that would have them use different ways: \
                     they follow the one that was placed first",
                    ways.shared.len()
                ));
            }
            if !ways.drawn.is_empty() {
                self.notes.push(format!(
                    "applications of host {host} draw other workers for each query: no static route is made for them"
                ));
            }
        }
        self
    }

    /// Where the applications are.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The applications.
    pub fn applications(&self) -> &[Application] {
        &self.site.applications
    }

    /// Which spine each server's links go to.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// The number of new spines.
    fn new_spines(&self) -> usize {
        self.spines.len() - self.site.spines.len()
    }
}

/// The fewest links for these applications.
fn fewest_links(applications: &[Application], sizing: &Sizing) -> Result<Optimum, Problem> {
    let size = applications.first().map_or(1.0, |first| first.size);
    if applications.iter().any(|application| (application.size - size).abs() > 1e-9 * size) {
        return Err(Problem::new("the fewest links are computed for answers of one size, and these have several")
            .help("expected a size for all, such as --place flow_size=4KB"));
    }
    let degrees: Vec<f64> = applications.iter().map(|application| application.degree).collect();
    optimum(&degrees, size, sizing).ok_or_else(|| {
        Problem::new(format!("all placements of {} applications are too many to try", degrees.len()))
            .help(format!("expected at most {}", tailcut_placement::MOST_APPLICATIONS))
    })
}

#[cfg(test)]
mod tests;
