//! The parameters of a published configuration beside those of a scenario.

use tailcut_base::{Bytes, Span};

use super::Computed;

/// The share of parameters, by their paths below the schemes of a scenario, that the scenario has with these values;
/// the note names the others.
pub(super) fn matches(expected: &[(&str, &str)], scenario: &str) -> Result<Computed, String> {
    let scenario: toml::Table = scenario.parse().map_err(|_| "the scenario of the run cannot be read".to_owned())?;
    let schemes = scenario.get("scheme").ok_or("the scenario of the run has no schemes")?;
    let differs: Vec<String> = expected
        .iter()
        .filter_map(|(path, wanted)| {
            let of = |table, path: &str| path.split('.').try_fold(table, |table: &toml::Value, key| table.get(key));
            // What the identity of a scheme leaves to scenarios stands in a table of its own.
            let shared = || {
                let (scheme, rest) = path.split_once('.')?;
                of(schemes.get(scheme)?.get("defaults")?, rest)
            };
            let found = of(schemes, path).or_else(shared);
            let text = found.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            let is_same = text.as_ref().is_some_and(|text| is_same(text, wanted));
            (!is_same).then(|| format!("{path} is {}, not {wanted}", text.as_deref().unwrap_or("not there")))
        })
        .collect();
    let note = (!differs.is_empty()).then(|| differs.join("; "));
    Ok(Computed { note, ..Computed::one(1.0 - differs.len() as f64 / expected.len() as f64) })
}

/// Whether two texts are the same value, in whatever units.
fn is_same(a: &str, b: &str) -> bool {
    let bytes = |text: &str| text.parse::<Bytes>().ok();
    let span = |text: &str| text.parse::<Span>().ok();
    a == b || (bytes(a).is_some() && bytes(a) == bytes(b)) || (span(a).is_some() && span(a) == span(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_compared_as_quantities_and_differences_are_named() {
        let scenario = "[scheme.spq.port]\nlimit = \"360KB\"\n[scheme.spq.host.transport.tcp]\nmin_rto = \"2ms\"\n";
        let of = |rto: &'static str| {
            matches(&[("spq.port.limit", "240pkt"), ("spq.host.transport.tcp.min_rto", rto)], scenario).unwrap()
        };
        assert_eq!(of("2000us"), Computed::one(1.0));
        let other = of("250us");
        assert_eq!(other.values, [0.5]);
        assert!(other.note.unwrap().contains("min_rto is 2ms, not 250us"));
        // A value that is not the scheme's own, and one that nobody has.
        let shared = format!("{scenario}[scheme.spq.defaults.port]\nclasses = 2\nlimit = \"1MB\"\n");
        let of = |path: &'static str, value: &'static str| matches(&[(path, value)], &shared).unwrap().values[0];
        assert_eq!(
            (of("spq.port.classes", "2"), of("spq.port.limit", "240pkt"), of("spq.nic", "pull")),
            (1.0, 1.0, 0.0)
        );
        assert!(matches(&[], "schemes = [").is_err());
    }
}
