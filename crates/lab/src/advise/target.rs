//! Targets: `fct_p99(class=short) < 2ms`.

use std::fmt;
use std::str::FromStr;

use tailcut_base::{BitRate, Bytes, Span};
use tailcut_results::{ALL, METRICS, describe, is_counted};
use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

/// How a metric is to compare with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// What a metric of a set of flows is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The metric, by its name in `summary.csv`.
    pub metric: String,
    /// The set of flows, by the name in the column `class`.
    pub class: String,
    /// How it is to compare.
    pub relation: Relation,
    /// With which number, in the unit of the metric.
    pub limit: f64,
    /// The limit as it was written.
    pub(super) limit_text: String,
}

impl Relation {
    fn text(self) -> &'static str {
        match self {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::Above => ">",
            Relation::AtLeast => ">=",
        }
    }

    /// Whether a smaller value of the metric is better.
    pub(super) fn wants_less(self) -> bool {
        matches!(self, Relation::Below | Relation::AtMost)
    }

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Below => value < limit,
            Relation::AtMost => value <= limit,
            Relation::Above => value > limit,
            Relation::AtLeast => value >= limit,
        }
    }
}

impl Target {
    /// Whether `value` keeps the target.
    pub(super) fn holds(&self, value: f64) -> bool {
        self.relation.holds(value, self.limit)
    }

    /// The metric and its class, without the limit: `fct_p99(class=short)`.
    pub fn subject(&self) -> String {
        if self.class == ALL { self.metric.clone() } else { format!("{}(class={})", self.metric, self.class) }
    }

    /// The unit of the metric.
    pub fn unit(&self) -> &'static str {
        describe(&self.metric).map_or("", |metric| metric.unit)
    }

    /// Checks that there are such flows in a run with these sets of flows.
    pub(super) fn check_class(&self, classes: &[String]) -> Result<(), Problem> {
        if classes.contains(&self.class) {
            return Ok(());
        }
        let known: Vec<&str> = classes.iter().map(String::as_str).collect();
        Err(Problem::new(format!("the scenario has no class `{}`, of which `{self}` speaks", self.class))
            .help(suggest(&self.class, &known)))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.subject(), self.relation.text(), self.limit_text)
    }
}

const EXPECTED: &str = "expected METRIC < VALUE or METRIC(class=NAME) < VALUE, also with <=, > or >=, such as \
                        'fct_p99(class=short) < 2ms'";

impl FromStr for Target {
    type Err = String;

    /// `fct_p99(class=short) < 2ms`; without a class it is about all flows.
    fn from_str(text: &str) -> Result<Target, String> {
        let wrong = |why: &str| format!("`{text}` {why}: {EXPECTED}");
        let text_of = text.trim();
        // Names of sets of flows may have the signs of relations in them: `<=100KB`.
        let subject_end = match text_of.find('(') {
            Some(open) => match text_of[open..].rfind(')') {
                Some(close) => open + close + 1,
                None => return Err(wrong("has a parenthesis that is not closed")),
            },
            None => text_of.find(['<', '>', '=', '≤', '≥']).unwrap_or(text_of.len()),
        };
        let (subject, rest) = text_of.split_at(subject_end);
        let (relation, limit) = relation(rest.trim_start()).ok_or_else(|| wrong("has no <, <=, > or >="))?;
        let limit = limit.trim();
        let (metric, class) = match subject.trim().split_once('(') {
            None => (subject.trim(), ALL),
            Some((metric, inside)) => {
                let inside = inside.strip_suffix(')').unwrap_or(inside);
                let class = inside.trim().strip_prefix("class").map(str::trim_start);
                let class = class.and_then(|rest| rest.strip_prefix('=')).map(str::trim);
                let class = class.filter(|class| !class.is_empty());
                (metric.trim(), class.ok_or_else(|| wrong("does not say which class in its parentheses"))?)
            }
        };
        if metric.is_empty() {
            return Err(wrong("names no metric"));
        }
        let Some(known) = describe(metric) else {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            return Err(format!("there is no metric `{metric}`: {}", suggest(metric, &known)));
        };
        if is_counted(metric) {
            return Err(format!(
                "`{metric}` is counted or is a maximum and has no interval, so that no number of seeds decides `{text}`: \
                 expected a mean, a share, a rate or a percentile, such as fct_p99, drops or queue_p99_bytes"
            ));
        }
        let value = limit_in(known.unit, limit).ok_or_else(|| {
            format!("`{limit}` is no limit of {metric}, which is in {}: expected {}", known.unit, example(known.unit))
        })?;
        Ok(Target {
            metric: metric.to_owned(),
            class: class.to_owned(),
            relation,
            limit: value,
            limit_text: limit.to_owned(),
        })
    }
}

/// The relation at the beginning of `text`, and what follows it.
fn relation(text: &str) -> Option<(Relation, &str)> {
    let known = [
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("≤", Relation::AtMost),
        ("≥", Relation::AtLeast),
        ("<", Relation::Below),
        (">", Relation::Above),
    ];
    known.iter().find_map(|&(sign, relation)| Some((relation, text.strip_prefix(sign)?)))
}

/// A limit in the unit of a metric; `None` if it is none.
fn limit_in(unit: &str, text: &str) -> Option<f64> {
    let plain = || text.parse::<f64>().ok();
    let percent = || Some(text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0);
    let value = match unit {
        "us" => text.parse::<Span>().ok().map(|span| span.as_ps() as f64 / 1e6),
        "B" => text.parse::<Bytes>().ok().map(Bytes::as_f64),
        "Gb/s" => text.parse::<BitRate>().ok().map(|rate| rate.as_bps() as f64 / 1e9),
        "share" | "index" => plain().or_else(percent).filter(|share| *share <= 1.0),
        _ => plain(),
    };
    value.filter(|value| value.is_finite() && *value >= 0.0)
}

fn example(unit: &str) -> &'static str {
    match unit {
        "us" => "a time with a unit, such as 2ms or 500us",
        "B" => "a size with a unit, such as 60KB",
        "Gb/s" => "a rate with a unit, such as 4Gbps",
        "share" | "index" => "a share from 0 to 1, such as 0.99 or 99%",
        "ratio" => "a number, such as 3 for three times the ideal",
        _ => "a number that is not negative, such as 10",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn targets_are_read_with_their_classes_relations_and_units() {
        let of = |text: &str| {
            let Target { metric, class, relation, limit, .. } = target(text);
            (metric, class, relation.text(), limit)
        };
        let found = |metric: &str, class: &str, relation, limit| (metric.to_owned(), class.to_owned(), relation, limit);
        assert_eq!(of("fct_p99(class=short) < 2ms"), found("fct_p99", "short", "<", 2000.0));
        assert_eq!(of(" fct_p99 ( class = short+incast )<=500us "), found("fct_p99", "short+incast", "<=", 500.0));
        assert_eq!(of("fct_mean(class=<=100KB) < 1ms"), found("fct_mean", "<=100KB", "<", 1000.0));
        assert_eq!(of("slowdown_p99 < 3.5"), found("slowdown_p99", "all", "<", 3.5));
        assert_eq!(of("goodput_mean(class=long)>=4Gbps"), found("goodput_mean", "long", ">=", 4.0));
        assert_eq!(of("deadline_met ≥ 99%"), found("deadline_met", "all", ">=", 0.99));
        assert_eq!(of("drops_port_full <= 0"), found("drops_port_full", "all", "<=", 0.0));
        assert_eq!(of("queue_p99_bytes < 60KB"), found("queue_p99_bytes", "all", "<", 60_000.0));
    }

    #[test]
    fn a_target_is_shown_as_it_is_read() {
        for text in ["fct_p99(class=short) < 2ms", "deadline_met >= 99%", "fct_mean(class=>10MB) <= 1.5s"] {
            assert_eq!(target(text).to_string(), text);
            assert_eq!(target(&target(text).to_string()), target(text));
        }
        assert_eq!(target("fct_p99(class=all) < 2ms").to_string(), "fct_p99 < 2ms");
    }

    #[test]
    fn a_wrong_target_says_what_would_be_right() {
        for (text, part) in [
            ("fct_p99(class=short)", "has no <, <=, > or >="),
            ("fct_p99 = 2ms", "has no <, <=, > or >="),
            ("fct_p99(class=short < 2ms", "not closed"),
            ("fct_p99(short) < 2ms", "which class"),
            ("fct_p99(class=) < 2ms", "which class"),
            ("< 2ms", "names no metric"),
            ("fct_p98 < 2ms", "did you mean `fct_p95`?"),
            ("fct_p99 < 2", "`2` is no limit of fct_p99, which is in us: expected a time with a unit"),
            ("fct_p99 < 2KB", "expected a time with a unit"),
            ("slowdown_p99 < 2ms", "expected a number"),
            ("deadline_met > 99", "expected a share from 0 to 1"),
            ("drops < -1", "not negative"),
            ("drops < nan", "expected a number"),
            ("goodput_mean > 4", "expected a rate with a unit"),
            ("queue_max < 20", "has no interval"),
            ("", "has no <"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn limits_hold_as_their_relations_say() {
        let holds = |text: &str| [0.5, 1.0, 2.0].map(|value| target(text).holds(value));
        assert_eq!(holds("slowdown_mean < 1"), [true, false, false]);
        assert_eq!(holds("slowdown_mean <= 1"), [true, true, false]);
        assert_eq!(holds("slowdown_mean > 1"), [false, false, true]);
        assert_eq!(holds("slowdown_mean >= 1"), [false, true, true]);
    }
}
