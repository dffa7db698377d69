//! What goes together and what does not, by what models say of themselves: no model is named here.

use std::sync::LazyLock;

use tailcut_model::registry::seats_of;
use tailcut_model::{Entry, Fact, Facts, Invalid, Speaker, Thing};

use crate::config::{Config, Tree, from_tree};

/// Refuses seats that do not go together.
///
/// # Errors
/// If a model lacks what it needs, or nobody reads what it is there to write.
pub(crate) fn check(config: &Config, facts: &Facts) -> Result<(), Invalid> {
    for Entry { by, fact } in facts.entries() {
        match *fact {
            Fact::Needs(thing) if !facts.has(thing) => {
                let help = format!("expected {}", candidates(Fact::Provides(thing)));
                return Err(Invalid::new(&by.path, format!("{by} needs {thing}, and there is none")).help(help));
            }
            Fact::Excludes(thing, why) if facts.entries().iter().any(|entry| entry.fact == Fact::Provides(thing)) => {
                let message = format!("{by} does not go with {thing}: {why}");
                return Err(Invalid::new(&by.path, message)
                    .help(format!("expected another `{}`, or a scenario without {thing}", by.path)));
            }
            Fact::Writes(things, what) if !things.iter().any(|&thing| facts.is_used(thing)) => {
                let read: Vec<&str> = things.iter().map(|&thing| reading(thing)).collect();
                let users: Vec<String> =
                    things.iter().map(|&thing| candidates(Fact::Uses(thing))).filter(|c| !c.is_empty()).collect();
                let message = format!("{by} {what}, and no port {}", read.join(" or "));
                return Err(Invalid::new(&by.path, message).help(format!("expected {} with it", users.join(" or "))));
            }
            Fact::Classes { count, key } if facts.is_used(Thing::Class) && count > config.fewest_classes() => {
                let key = if key.is_empty() { String::new() } else { format!(".{}.{key}", by.model) };
                let message = format!("{by} writes {count} classes, and the port has {}", config.fewest_classes());
                return Err(Invalid::new(format!("{}{key}", by.path), message)
                    .help(format!("expected `port.classes = {count}`, or fewer classes here")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What is void here: models that do nothing of their own because nobody provides what they make use of.
pub(crate) fn warnings(facts: &Facts) -> Vec<String> {
    let void = |entry: &Entry| match entry.fact {
        Fact::Idle(thing, otherwise) if !facts.has(thing) => {
            Some(format!("{} uses {thing}, and {otherwise}", entry.by))
        }
        _ => None,
    };
    let mut warnings: Vec<String> = facts.entries().iter().filter_map(void).collect();
    warnings.extend(unread_classes(facts));
    warnings.extend(values_of_no_class(facts));
    warnings
}

/// Values for classes that nobody writes.
fn values_of_no_class(facts: &Facts) -> Option<String> {
    let count = |entry: &Entry| match entry.fact {
        Fact::Classes { count, .. } => Some(count),
        Fact::Unknown => Some(u8::MAX),
        _ => None,
    };
    let written = facts.entries().iter().filter_map(count).max()?;
    let void = |Entry { by, fact }: &Entry| match *fact {
        Fact::ForClasses { count, key } if count > written => Some(format!(
            "{by} has {count} `{key}`, and hosts write {written} class(es): those of the other classes are void"
        )),
        _ => None,
    };
    facts.entries().iter().find_map(void)
}

/// The classes of those that do more than to write them, where no port sorts by class.
fn unread_classes(facts: &Facts) -> impl Iterator<Item = String> {
    let says = |by: &Speaker, fact: &dyn Fn(Fact) -> bool| {
        facts.entries().iter().any(|entry| entry.by == *by && fact(entry.fact))
    };
    facts.entries().iter().filter_map(move |Entry { by, fact }| match *fact {
        Fact::Classes { count: 2.., .. }
            if !facts.is_used(Thing::Class) && !says(by, &|fact| matches!(fact, Fact::Writes(..))) =>
        {
            Some(format!("{by} writes classes into packets, and no port sorts by class: all wait in one queue"))
        }
        _ => None,
    })
}

/// What a port does that reads this.
fn reading(thing: Thing) -> &'static str {
    match thing {
        Thing::Class => "sorts by class",
        Thing::Rank => "orders by rank",
        _ => "reads it",
    }
}

/// The registered models that say this of themselves, as a scenario writes them.
fn candidates(fact: Fact) -> String {
    let says = |model: &&Registered| model.facts.contains(&fact);
    let found: Vec<String> =
        REGISTERED.iter().filter(says).map(|model| format!("`{} = \"{}\"`", model.path, model.name)).collect();
    found.join(", ")
}

/// What a registered model says of itself, with the first of its cases.
struct Registered {
    path: String,
    name: String,
    facts: Vec<Fact>,
}

static REGISTERED: LazyLock<Vec<Registered>> = LazyLock::new(|| {
    let mut registered = Vec::new();
    for seat in seats_of::<Config>() {
        for model in seat.models {
            let case = model.cases.first().map_or("", String::as_str);
            let said = with_model(&seat.path, &model.name, case).map_or_else(Facts::new, |config| config.facts());
            let own = said.entries().iter().filter(|entry| entry.by.path == seat.path).map(|entry| entry.fact);
            registered.push(Registered { path: seat.path.clone(), name: model.name, facts: own.collect() });
        }
    }
    registered
});

/// A small configuration with this model on a seat.
fn with_model(path: &str, model: &str, case: &str) -> Option<Config> {
    const SMALL: &str =
        "topology.star = { hosts = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n[workload]\n";
    let mut tree = Tree::parse("small", SMALL).ok()?;
    let seat = Tree::parse("model", &format!("seat = {{ {model} = {{ {case} }} }}")).ok()?.take("seat")?;
    let origin = seat.key_or_value()?.clone();
    tree.merge(Tree::at_path(path, seat, &origin).ok()?);
    from_tree(&tree).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case that cannot be read would leave its model out of what refusals propose.
    #[test]
    fn the_first_case_of_every_registered_model_can_be_read() {
        for seat in seats_of::<Config>() {
            for model in seat.models {
                for case in &model.cases {
                    assert!(
                        with_model(&seat.path, &model.name, case).is_some(),
                        "{} {}: {case}",
                        seat.path,
                        model.name
                    );
                }
            }
        }
    }
}
