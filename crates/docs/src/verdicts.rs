//! Whether the verdicts on readings that are stored are of the readings that the studies have now.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::each_on_all_cores;
use tailcut_claims::ReadingResults;
use tailcut_reproduce::{Scale, find, fingerprint_under, names, studies, study};

use crate::Finding;

/// Verdicts below `results/` on readings that their study does not have, or that are another configuration there now:
/// what was measured for them says nothing of the readings of these names. Nothing is simulated.
pub(crate) fn stale(root: &Path) -> Vec<Finding> {
    let every: Vec<(Scale, &str)> =
        Scale::ALL.into_iter().flat_map(|scale| studies().map(move |study| (scale, study))).collect();
    let found = each_on_all_cores(&every, |&(scale, study)| of_study(root, scale, study));
    found.into_iter().flatten().collect()
}

/// Stale verdicts of a study at a scale.
fn of_study(root: &Path, scale: Scale, name: &str) -> Vec<Finding> {
    let path = ReadingResults::path(Path::new("results"), scale.name(), name);
    let finding = |what: String| Finding::new(path.clone(), None, what);
    let stored = match ReadingResults::read(&root.join(&path), scale.name()) {
        Ok(Some(stored)) => stored,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![finding(error.to_string())],
    };
    let study = match study(name) {
        Ok(study) => study,
        Err(problem) => return vec![finding(problem.render(false))],
    };
    let mut now: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut found: Vec<Finding> = Vec::new();
    for one in &stored.judgements {
        let of_now = now.entry(&one.reading).or_insert_with(|| fingerprint_under(&study, scale, &one.reading));
        let what = match of_now {
            None => "cannot be planned",
            Some(of_now) if *of_now != one.plan => "is another configuration now",
            Some(_) => continue,
        };
        let experiment = names().find(|id| find(id).is_ok_and(|experiment| experiment.study == name));
        let (reading, experiment) = (&one.reading, experiment.unwrap_or(name));
        let which = match reading.as_str() {
            "base" => String::new(),
            other => format!(" --reading {other} --claims-only"),
        };
        found.push(finding(format!(
            "the verdicts on {reading} are stale, because it {what}: `tailcut reproduce {experiment}{which} --store \
             results` measures it again, or forgets it"
        )));
    }
    found.dedup();
    found
}
