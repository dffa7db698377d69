//! What the fuzzer of scenarios begins with is made from what is registered: its dictionary has every key and every
//! name of a model, and its cases put every model on its seat.
//!
//! `TAILCUT_BLESS=1 cargo test -p tailcut-sim --test all fuzzing` stores what is missing.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tailcut_model::registry::seats_of;
use tailcut_model::schema::{Schema, Shape};
use tailcut_sim::Config;

/// Above this line of the dictionary stands what is written by hand.
const LINE: &str =
    "# Below: every key and name of the registry; TAILCUT_BLESS=1 cargo test -p tailcut-sim --test all fuzzing\n";

/// No configuration is that deep.
const DEPTH: usize = 16;

/// The keys and the names of what may be chosen at a place and below it, as they stand in a scenario.
fn words(at: Shape<'_>, depth: usize, words_below: &mut BTreeSet<String>) {
    assert!(depth < DEPTH, "a configuration without an end");
    let keys = at.keys().into_iter().map(|(key, shape)| (format!("{key} = "), Some(shape)));
    let names = at.variants().into_iter().map(|variant| (variant.name.to_owned(), variant.parameters));
    // The table of a user's own name: of a class of traffic, of a tier of ports.
    let own = at.key("a name of a user's own").map(|shape| (String::new(), Some(shape)));
    for (word, below) in keys.chain(names).chain(own) {
        if !word.is_empty() {
            words_below.insert(word);
        }
        if let Some(below) = below {
            words(below, depth + 1, words_below);
        }
    }
}

/// Compares a file of the fuzzer with what it should be, or stores that.
fn compare(name: &str, expected: impl Fn(&str) -> String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name);
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let expected = expected(&stored);
    if std::env::var_os("TAILCUT_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).expect("the folder is there");
        return;
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (had, wanted) = (lines(&stored), lines(&expected));
    let missing: Vec<&String> = wanted.difference(&had).collect();
    let foreign: Vec<&String> = had.difference(&wanted).collect();
    assert!(
        stored == expected,
        "fuzz/{name} lacks {missing:#?} and has {foreign:#?}, which no registry has; \
         TAILCUT_BLESS=1 cargo test -p tailcut-sim --test all fuzzing stores it as it should be"
    );
}

#[test]
fn the_dictionary_has_every_key_and_every_name() {
    let schema = Schema::of::<Config>();
    let mut registered = BTreeSet::new();
    words(schema.root(), 0, &mut registered);
    for seat in seats_of::<Config>() {
        let names = seat.models.into_iter().map(|model| model.name);
        let missing: Vec<String> = names.filter(|name| !registered.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?} of {} are not found by their type", seat.path);
    }
    compare("scenario.dict", |stored| {
        let by_hand = stored.split(LINE).next().unwrap_or_default();
        let is_new = |word: &&String| !by_hand.lines().any(|line| line == format!("\"{word}\""));
        let entries: String = registered.iter().filter(is_new).map(|word| format!("\"{word}\"\n")).collect();
        format!("{by_hand}{LINE}{entries}")
    });
}

/// `cargo xtask fuzz` makes a file to begin with of each case. Empty lines part them.
#[test]
fn there_is_a_case_of_every_model() {
    let mut cases = Vec::new();
    for seat in seats_of::<Config>() {
        for model in seat.models {
            cases.extend(
                model.cases.iter().map(|case| format!("{} = {{ {} = {{ {case} }} }}\n", seat.path, model.name)),
            );
        }
    }
    assert!(cases.iter().all(|case| !case.contains("\n\n")), "a case has an empty line, which parts cases in the file");
    compare("cases.txt", |_| cases.join("\n"));
}
