//! Names of files from names that a user chose: of classes, sets of flows, schemes and swept values.
//!
//! A name says what the file holds, is no option for a shell (it begins with a small letter or a digit, and has
//! letters, digits, `.`, `_`, `+` and `-`), differs from that of anything else of the run, and depends on nothing but
//! what the file holds. Signs that results use have words: `>1MB` is `over-1MB`, `<=100KB` is `upto-100KB` and
//! `100KB-1MB` is `100KB-to-1MB`. Whatever else would lose something has a fingerprint of the whole name at its end.

use tailcut_base::{Bytes, mix64};

/// Characters of one part beyond which it is cut, and has a fingerprint.
const LONGEST_PART: usize = 60;
/// Characters of a whole name beyond which it is cut, so that an ending and a file system have room.
const LONGEST: usize = 180;
/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 8;

/// The name of a file about something with this name: the same for the same name, and another one for every other.
pub fn file_part(name: &str) -> String {
    let words = in_words(name);
    if words.len() <= LONGEST_PART && is_plain(&words) && !ends_in_fingerprint(&words) && of_words(&words) == name {
        return words;
    }
    with_fingerprint(&words, LONGEST_PART, name)
}

/// The name of a file about things with these names, each with what it is: words of the program, such as `fct_p99` or
/// the path of a swept parameter, which may be empty.
pub fn file_stem(named: &[(&str, &str)]) -> String {
    let part = |(label, name): &(&str, &str)| {
        let separator = if label.is_empty() || name.is_empty() { "" } else { "-" };
        let name = if name.is_empty() { String::new() } else { file_part(name) };
        format!("{}{separator}{name}", kept(label))
    };
    let stem = named.iter().map(part).collect::<Vec<_>>().join("_");
    // With `_` in a name nothing says where the next one begins.
    let chosen: Vec<&str> = named.iter().map(|(_, name)| *name).filter(|name| !name.is_empty()).collect();
    let is_unclear = chosen.len() > 1 && chosen.iter().any(|name| name.contains('_'));
    if is_unclear || stem.len() > LONGEST || !is_plain(&stem) {
        let whole: String = named.iter().map(|(label, name)| format!("{label}\n{name}\n")).collect();
        return with_fingerprint(&stem, LONGEST, &whole);
    }
    stem
}

/// A name with the signs that results use in words.
fn in_words(name: &str) -> String {
    let is_size = |text: &str| text.parse::<Bytes>().is_ok_and(|size| size.to_string() == text);
    if let Some((above, up_to)) = name.split_once('-').filter(|(above, up_to)| is_size(above) && is_size(up_to)) {
        return format!("{above}-to-{up_to}");
    }
    let signs = [("<=", "upto-"), (">", "over-")];
    let begun = signs.iter().find_map(|(sign, word)| name.strip_prefix(sign).map(|rest| format!("{word}{rest}")));
    begun.unwrap_or_else(|| name.to_owned())
}

/// The name of which [`in_words`] makes these words, as far as words tell.
fn of_words(words: &str) -> String {
    let is_size = |text: &str| text.parse::<Bytes>().is_ok_and(|size| size.to_string() == text);
    if let Some((above, up_to)) = words.split_once("-to-").filter(|(above, up_to)| is_size(above) && is_size(up_to)) {
        return format!("{above}-{up_to}");
    }
    let signs = [("<=", "upto-"), (">", "over-")];
    let begun = signs.iter().find_map(|(sign, word)| words.strip_prefix(word).map(|rest| format!("{sign}{rest}")));
    begun.unwrap_or_else(|| words.to_owned())
}

fn is_kept(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+')
}

/// Whether a shell takes it for a name, and nothing of it is lost.
fn is_plain(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(begins) && name.chars().all(is_kept)
}

/// A text with `-` in the place of what a name should not have.
fn kept(text: &str) -> String {
    text.chars().map(|c| if is_kept(c) { c } else { '-' }).collect()
}

/// Whether a name looks as if it had a fingerprint at its end.
fn ends_in_fingerprint(name: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    name.rsplit_once('-').is_some_and(|(_, end)| end.len() == DIGITS && end.chars().all(is_digit))
}

/// As much of a name as is kept and has room in `longest`, and a fingerprint of what it stands for.
fn with_fingerprint(name: &str, longest: usize, whole: &str) -> String {
    let name = kept(name);
    let name: String = name.trim_start_matches(['.', '-', '_', '+']).chars().take(longest).collect();
    let first = name.chars().next().map_or('x', |first| first.to_ascii_lowercase());
    let rest: String = name.chars().skip(1).collect();
    let fingerprint = whole.bytes().fold(whole.len() as u64, |state, byte| mix64(state ^ u64::from(byte)));
    format!("{first}{rest}-{:0DIGITS$x}", fingerprint as u32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::flow_set::flow_set_names;

    #[test]
    fn names_say_what_a_file_holds() {
        for (name, file) in [
            ("short", "short"),
            ("short+incast", "short+incast"),
            (">1MB", "over-1MB"),
            ("<=100KB", "upto-100KB"),
            ("100KB-1MB", "100KB-to-1MB"),
            ("short_flows", "short_flows"),
            ("0.4", "0.4"),
        ] {
            assert_eq!(file_part(name), file);
        }
        assert_eq!(file_stem(&[("fct_p99", ""), ("", ">1MB")]), "fct_p99_over-1MB");
        assert_eq!(file_stem(&[("fct_p99", ""), ("", "a"), ("load", "0.4")]), "fct_p99_a_load-0.4");
        for odd in ["", "..", "-rf", "--help", ".hidden", "a b", "a/b", "Größe", "流量", "over-1MB", "+x", "$(x)"] {
            let file = file_part(odd);
            assert!(is_plain(&file) && ends_in_fingerprint(&file), "{odd}: {file}");
        }
    }

    /// Names that are alike but for what file names cannot have, or that look like those of others.
    fn name() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "a",
            "b",
            "A",
            "_",
            "-",
            ".",
            "+",
            " ",
            "/",
            "<=",
            ">",
            "1MB",
            "100KB",
            "-to-",
            "over-",
            "upto-",
            "-1a2b3c4d",
            "ß",
            "流",
            "\u{0}",
            "\n",
            "'",
            "load-0.4",
        ]);
        prop::collection::vec(pieces, 1..6).prop_map(|pieces| pieces.concat())
    }

    fn fits(file: &str) -> bool {
        is_plain(file) && format!("ratio_{file}.summary.csv.gz.part").len() < 255
    }

    proptest! {
        /// Different names have different files that a shell and a file system take, however long they are.
        #[test]
        fn different_names_have_different_files(
            names in prop::collection::vec(name(), 1..20),
            repeated in prop::collection::vec(1usize..90, 20),
            bounds in prop::collection::btree_set(1u64..5_000_000, 1..5),
        ) {
            let bounds: Vec<Bytes> = bounds.into_iter().map(Bytes).collect();
            let mut names: Vec<String> = names.iter().zip(&repeated).flat_map(|(name, &times)| [name.clone(), name.repeat(times)]).collect();
            names.extend(flow_set_names(&[], &[], &bounds));
            let mut files: BTreeMap<String, String> = BTreeMap::new();
            for name in names {
                let file = file_part(&name);
                prop_assert!(fits(&file), "{name}: {file}");
                let known = files.entry(file).or_insert_with(|| name.clone());
                prop_assert_eq!(known, &name);
            }
        }

        /// So do different pictures of one run: a class at a value of each of two parameters.
        #[test]
        fn different_pictures_have_different_files(
            pictures in prop::collection::vec((name(), name(), name()), 1..20),
            times in 1usize..60,
        ) {
            let mut files = BTreeMap::new();
            for (class, scheme, value) in pictures {
                let class = class.repeat(times);
                let file = file_stem(&[("heat_fct_p99", ""), ("", &class), ("", &scheme), ("min_rto", &value)]);
                prop_assert!(fits(&file), "{file}");
                let picture = (class, scheme, value);
                let known = files.entry(file).or_insert_with(|| picture.clone());
                prop_assert_eq!(known, &picture);
            }
        }
    }
}
