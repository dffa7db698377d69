//! Which keys of a scenario are searched: the one that holds the buffer, and the one that holds the marking threshold.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{Bytes, ScaledBytes, dotted};
use tailcut_results::Axis;
use tailcut_sim::{Config, Problem};

use crate::plan::Plan;

/// The tables in which a buffer or a threshold may stand.
const TABLES: [&str; 3] = ["port", "switch", "nic"];

/// From here on a buffer is one without end, of which no range follows.
const ENDLESS: u64 = 1_000_000_000;

/// What one scheme says at one combination of swept values: its values by their dotted paths.
pub(super) struct Said {
    values: BTreeMap<String, String>,
}

/// What every scheme of a plan says at every combination of swept values, without regard to seeds.
///
/// # Errors
/// If a link is offered more than it carries: completion times then grow with the length of the run, and so does the
/// buffer that they need.
pub(super) fn said(plan: &Plan) -> Result<Vec<Said>, Problem> {
    let mut seen = BTreeSet::new();
    let mut said = Vec::new();
    for planned in &plan.points {
        if !seen.insert((&planned.point.scheme, &planned.point.values)) {
            continue;
        }
        let scenario = planned.scenario()?;
        let at = place(&plan.axes, &planned.point.values);
        if let Some((link, times)) = scenario.overloaded().first() {
            return Err(Problem::new(format!(
                "there is no buffer to advise{at}: {link} is offered {times:.2} times what it carries, so that completion \
                 times grow with the length of the run"
            ))
            .help("expected a lower load; if the overload is meant, `workload.allow_overload = true`"));
        }
        let config: &Config = scenario.config();
        said.push(Said { values: config.values(&TABLES) });
    }
    Ok(said)
}

/// Where a point is, for messages: " at workload.load = 0.4", or nothing.
pub(super) fn place(axes: &[Axis], values: &[String]) -> String {
    let parts: Vec<String> = axes.iter().zip(values).map(|(axis, value)| format!("{} = {value}", axis.path)).collect();
    if parts.is_empty() { String::new() } else { format!(" at {}", parts.join(", ")) }
}

/// A key that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// As it stands in a sweep: `port.limit`, or `scheme.pfabric.port.limit`.
    pub(super) path: String,
    /// Whether the user named it.
    is_asked: bool,
}

impl Key {
    /// Its path in the configuration of a scheme.
    fn in_config(&self) -> String {
        match dotted::keys(&self.path) {
            Ok(keys) if keys.len() > 2 && keys[0] == "scheme" => dotted::path(&keys[2..]),
            _ => self.path.clone(),
        }
    }

    /// Its values in what was said.
    pub(super) fn values<'a>(&self, said: &'a [Said]) -> Vec<&'a str> {
        said.iter().filter_map(|one| one.values.get(&self.in_config())).map(String::as_str).collect()
    }
}

/// Whether this is the size of a memory that ports share: `switch.memory.dt.size`, or that of a tier.
fn is_memory(path: &str) -> bool {
    let Some((before, after)) = path.split_once(".memory.") else { return false };
    let is_size = after == "size" || after.split_once('.').is_some_and(|(_, below)| below == "size");
    is_size && (before == "switch" || before.starts_with("switch."))
}

/// The key that holds the buffer: `asked`, or the size of the memory that the ports of a switch share, or the limit of
/// a port.
///
/// # Errors
/// If there are several, or `asked` is none.
pub(super) fn buffer(said: &[Said], asked: Option<&str>) -> Result<Key, Problem> {
    if let Some(path) = asked {
        let key = Key { path: dotted::canonical(path), is_asked: true };
        let sizes = key.values(said);
        if sizes.is_empty() || sizes.iter().any(|size| size.parse::<ScaledBytes>().is_err()) {
            return Err(Problem::new(format!("`{path}` holds no buffer in this scenario")).help(format!(
                "expected a key whose value is a size, such as {}",
                candidates(said).into_iter().collect::<Vec<_>>().join(", ")
            )));
        }
        return Ok(key);
    }
    let memory = |one: &Said| one.values.keys().filter(|path| is_memory(path)).cloned().collect::<Vec<_>>();
    let shared: BTreeSet<Vec<String>> = said.iter().map(memory).collect();
    let paths = match shared.first() {
        Some(paths) if shared.len() == 1 => paths.clone(),
        _ => {
            return Err(Problem::new("the buffers of these schemes are held by different keys").help(
                "expected schemes that share a memory in the same way, or one scheme: --set 'schemes=[\"NAME\"]'",
            ));
        }
    };
    let path = match paths.as_slice() {
        [] => "port.limit".to_owned(),
        [only] => only.clone(),
        // A tier that says nothing of the size has that of all switches.
        several => {
            match several.iter().filter(|path| path.starts_with("switch.memory.")).collect::<Vec<_>>().as_slice() {
                [all] => (*all).clone(),
                _ => return Err(which_of(several)),
            }
        }
    };
    Ok(Key { path, is_asked: false })
}

fn which_of(paths: &[String]) -> Problem {
    Problem::new("several keys hold a buffer").help(format!("say which by --key: one of {}", paths.join(", ")))
}

/// All keys that hold a buffer.
fn candidates(said: &[Said]) -> BTreeSet<String> {
    let is_limit = |path: &str| path.starts_with("port.") && path.ends_with(".limit");
    let paths = said.iter().flat_map(|one| one.values.keys());
    paths.filter(|path| is_memory(path) || is_limit(path)).cloned().collect()
}

/// The key that holds the marking threshold of the ports.
///
/// # Errors
/// If there is none, or there are several.
pub(super) fn threshold(said: &[Said]) -> Result<Key, Problem> {
    let is_threshold = |path: &&String| path.starts_with("port.marker.") && path.ends_with(".threshold");
    let paths: BTreeSet<&String> = said.iter().flat_map(|one| one.values.keys().filter(is_threshold)).collect();
    match paths.first() {
        Some(path) if paths.len() == 1 => Ok(Key { path: (*path).clone(), is_asked: false }),
        None => Err(Problem::new("the ports of this scenario have no marking threshold to search")
            .help("expected a scheme that marks, such as dctcp, or no --with-marking")),
        _ => Err(Problem::new("the schemes of this scenario mark by different thresholds")
            .help("expected one scheme: --set 'schemes=[\"NAME\"]'")),
    }
}

/// The thresholds that are tried if none are named: that of the scenario, and a quarter, half, twice and four times as
/// much.
///
/// # Errors
/// If the schemes have different ones.
pub(super) fn usual_thresholds(said: &[Said], key: &Key) -> Result<Vec<String>, Problem> {
    let mut own = key.values(said);
    own.dedup();
    let wrong = || {
        Problem::new(format!("`{}` is not the same for all schemes and swept values", key.path))
            .help("say which thresholds to try: --with-marking=20KB,65KB")
    };
    let &[own] = own.as_slice() else { return Err(wrong()) };
    let scales = [0.25, 0.5, 1.0, 2.0, 4.0];
    let mut found: Vec<String> = match (own.strip_suffix('%').map(str::parse::<f64>), own.parse::<ScaledBytes>()) {
        (Some(Ok(percent)), _) => scales.map(|scale| format!("{}%", (scale * percent).min(100.0))).to_vec(),
        (_, Ok(size)) => scales.map(|scale| size.times(scale).to_string()).to_vec(),
        _ => return Err(wrong()),
    };
    found.dedup();
    Ok(found)
}

/// Checks that these are marking thresholds, each of them once.
///
/// # Errors
/// If one is not.
pub(super) fn check_thresholds(values: &[String]) -> Result<(), Problem> {
    let share = |text: &str| text.strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
    let is_one =
        |text: &String| text.parse::<ScaledBytes>().is_ok() || share(text).is_some_and(|p| p > 0.0 && p <= 100.0);
    if let Some(wrong) = values.iter().find(|text| !is_one(text)) {
        return Err(Problem::new(format!("`{wrong}` is no marking threshold")).help(
            "expected sizes with units, or shares of the port's limit, such as --with-marking=20KB,65KB or 10%,25%",
        ));
    }
    match values.iter().enumerate().find(|(at, text)| values[..*at].contains(text)) {
        Some((_, twice)) => Err(Problem::new(format!("the threshold {twice} is there twice"))),
        None => Ok(()),
    }
}

/// The range that is searched if none is given: from a sixteenth of the smallest buffer that the schemes have to four
/// times the largest one.
///
/// # Errors
/// If a buffer is endless, so that no range follows.
pub(super) fn usual_range(said: &[Said], key: &Key) -> Result<(u64, u64), Problem> {
    // Where ports have limits by the rate of their links, the least that one has anywhere.
    let size = |text: &&str| Some(text.parse::<ScaledBytes>().ok()?.at(0).0);
    let sizes: Vec<u64> = key.values(said).iter().filter_map(size).collect();
    match (sizes.iter().min(), sizes.iter().max()) {
        (Some(&least), Some(&most)) if most < ENDLESS => Ok((least / 16, most * 4)),
        _ => Err(Problem::new(format!("no range follows from `{}`, which is without end", key.path))
            .help("say which sizes to search: --from 15KB --to 1MB")),
    }
}

/// Checks that what is searched is what each point of a plan has: the values of the axis number `at` are those of the
/// key.
///
/// # Errors
/// If a scheme has another value, whatever is searched.
pub(super) fn check_taken(plan: &Plan, key: &Key, at: usize) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    for planned in &plan.points {
        let point = &planned.point;
        if !seen.insert((&point.scheme, &point.values)) {
            continue;
        }
        let (scheme, asked) = (&point.scheme, &point.values[at]);
        let values = planned.scenario()?.config().values(&TABLES);
        let found = values.get(&key.in_config());
        // Sizes may be written in several ways: 65pkt is 97500B.
        let is_same = |found: &String| {
            found == asked
                || found.parse::<Bytes>().is_ok_and(|found| asked.parse::<Bytes>().is_ok_and(|asked| asked == found))
        };
        if !found.is_some_and(is_same) {
            let has = found.map_or_else(|| "nothing".to_owned(), String::clone);
            let name = scheme.trim_end_matches('*');
            return Err(Problem::new(format!("`{}` of {scheme} stays {has} when {asked} is to be tried", key.path)).help(
                format!(
                    "that value is a part of the scheme, or something says it by the scheme's name; if it is to be searched \
                     all the same: --set 'schemes=[\"{name}\"]' --key scheme.{name}.{}",
                    key.in_config()
                ),
            ));
        }
        // A tier with a size of its own would keep it, and the search would be about the other switches alone.
        let is_like_it = |path: &&String| {
            if is_memory(&key.in_config()) {
                is_memory(path)
            } else {
                path.starts_with("port.") && path.ends_with(".limit")
            }
        };
        if !key.is_asked && is_like_it(&&key.in_config()) {
            let others: Vec<String> = values
                .iter()
                .filter(|(path, value)| is_like_it(path) && *value != asked)
                .map(|(p, _)| p.clone())
                .collect();
            if !others.is_empty() {
                return Err(which_of(&[&[key.path.clone()][..], &others].concat()));
            }
        }
    }
    Ok(())
}
