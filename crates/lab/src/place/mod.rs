//! Superways for a scenario: where its incast applications go, which extra links their servers need, what that costs,
//! and the scenario with all of it.
//!
//! `tailcut_sim::placed` places them; here stand what a reader sees of it, and the file that `tailcut run` takes.

mod bills;
mod show;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use tailcut_placement::bill::{Bill, NewSpines, Prices, superways};
use tailcut_placement::{Application, Attachment, Optimum, Parameters, Placement, Sizing, optimum};
use tailcut_sim::config::from_tree;
use tailcut_sim::model::Invalid;
use tailcut_sim::placed::Placed;
use tailcut_sim::{Config, Problem, Tree};

pub use self::bills::{BillQuery, BillTable};
pub use self::show::random_text;
use crate::plan::{PLACEMENT, Plan};

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

/// The parameters of a placement: those of the scenario's own placement, on top of them those of a file, if there is
/// one, and assignments such as `alpha=0.9`.
///
/// # Errors
/// If one is unknown or cannot be.
pub fn parameters(plan: &Plan, file: Option<&Path>, assignments: &[String]) -> Result<Parameters, Problem> {
    let mut layers: Vec<Tree> = plan
        .points
        .first()
        .and_then(|first| first.tree().get(PLACEMENT))
        .map(|own| Tree::of_entries([(PLACEMENT, own.clone())]))
        .into_iter()
        .collect();
    if let Some(file) = file {
        layers.push(Tree::parse(&file.display().to_string(), &read(file, "the parameters")?)?);
    }
    for assignment in assignments {
        layers.push(Tree::parse_assignment(&format!("{PLACEMENT}.{assignment}"))?);
    }
    let tree = Tree::layered(&layers);
    let read: ParameterFile = from_tree(&tree)?;
    read.placement.check().map_err(|(key, message, help)| {
        Problem::from_invalid(Invalid::new(format!("{PLACEMENT}.{key}"), message).help(help), &tree)
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
    prices: Prices,
    placed: Placed,
    /// The configuration with all that the placement changes.
    changed: Config,
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
        let scenario = planned.unplaced()?;
        let placed =
            Placed::of(&scenario, parameters).map_err(|invalid| Problem::from_invalid(invalid, planned.tree()))?;
        let fewest = if with_fewest { Some(fewest_links(&placed.site.applications, &placed.sizing)?) } else { None };
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
        let mut notes = placed.notes();
        if plan.points.len() > 1 {
            notes.push(format!("the scenario has {} points; the applications are those {point}", plan.points.len()));
        }
        let changed = placed.applied_to(scenario.config().clone());
        Ok(Placing { name: plan.name.clone(), point, prices: prices.clone(), placed, changed, fewest, notes })
    }

    /// Where the applications are.
    pub fn placement(&self) -> &Placement {
        &self.placed.placement
    }

    /// The applications.
    pub fn applications(&self) -> &[Application] {
        &self.placed.site.applications
    }

    /// Which spine each server's links go to.
    pub fn attachments(&self) -> &[Attachment] {
        &self.placed.attachments
    }
}

/// What a placement costs: extra links, and the new spines that have ports for them.
fn bill(placed: &Placed, prices: &Prices) -> Bill {
    superways(placed.placement.links(), NewSpines::Given(placed.new_spines()), prices)
}

/// What a placement needs, by name, and what that costs by the prices that ship, in whole USD.
pub(crate) fn needs(placed: &Placed) -> BTreeMap<String, u64> {
    let needs = [
        ("servers", placed.placement.servers.len() as u64),
        ("links", u64::from(placed.placement.links())),
        ("spines", u64::from(placed.new_spines())),
        ("cost", bill(placed, &Prices::thesis()).total().round() as u64),
    ];
    needs.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
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
