//! Dotted paths of keys, as TOML writes them: `port.limit`, and `settings.a."long.name".port.limit` for a key that has
//! a dot or another character with a meaning.
//!
//! A key without quotes may have all other characters, such as the arrow of `port.leaf0->spine1.limit`, which a TOML
//! file quotes.

use std::borrow::Cow;

/// The keys of a dotted path. Spaces around them do not count.
///
/// # Errors
/// A clause that says what is wrong with the path.
pub fn keys(path: &str) -> Result<Vec<String>, String> {
    let mut keys = Vec::new();
    let mut rest = path.trim();
    loop {
        let (key, behind) = first_key(rest)?;
        keys.push(key);
        match behind.trim_start().strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if behind.trim().is_empty() => return Ok(keys),
            None => return Err("it has no dot after a quotation mark".to_owned()),
        }
    }
}

/// The first key of a path, and what is behind it.
fn first_key(text: &str) -> Result<(String, &str), String> {
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let end = closing(text, quote).ok_or("a quotation mark is not closed")?;
            let inside = &text[1..end];
            let key = if quote == '"' { unescaped(inside)? } else { inside.to_owned() };
            Ok((key, &text[end + 1..]))
        }
        _ => {
            let end = text.find('.').unwrap_or(text.len());
            let key = text[..end].trim_end();
            if key.is_empty() {
                return Err("a key is empty".to_owned());
            }
            if let Some(c) = key.chars().find(|&c| needs_quotes(c)) {
                return Err(format!("the key `{key}` has the character {c:?} and no quotation marks around it"));
            }
            Ok((key.to_owned(), &text[end..]))
        }
    }
}

/// Where the quotation mark that `text` begins with is closed.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == quote && !is_escaped;
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut key = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        key.push(match c {
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\')) => c,
                _ => return Err("only \\\" and \\\\ are escapes in a key".to_owned()),
            },
            c => c,
        });
    }
    Ok(key)
}

/// Whether a key with this character stands in quotation marks.
fn needs_quotes(c: char) -> bool {
    c.is_whitespace() || c.is_control() || ['.', '"', '\'', '=', '#', '\\'].contains(&c)
}

/// The key as it stands in a dotted path: with quotation marks if it needs them.
pub fn word(key: &str) -> Cow<'_, str> {
    if key.is_empty() || key.chars().any(needs_quotes) {
        Cow::Owned(format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")))
    } else {
        Cow::Borrowed(key)
    }
}

/// The path of a key below another path, which may be empty.
pub fn join(path: &str, key: &str) -> String {
    let word = word(key);
    if path.is_empty() { word.into_owned() } else { format!("{path}.{word}") }
}

/// The path of these keys.
pub fn path<K: AsRef<str>>(keys: &[K]) -> String {
    keys.iter().map(|key| word(key.as_ref())).collect::<Vec<_>>().join(".")
}

/// The path in the one way in which this module writes it; a text that is no path stays as it is.
pub fn canonical(text: &str) -> String {
    keys(text).map_or_else(|_| text.to_owned(), |keys| path(&keys))
}

/// The last key of a path, as it is written there.
pub fn last(path: &str) -> &str {
    let mut rest = path;
    while let Ok((_, behind)) = first_key(rest)
        && let Some(next) = behind.trim_start().strip_prefix('.')
    {
        rest = next.trim_start();
    }
    rest
}

/// The path and the value of `path=value`: the first equals sign outside of quotation marks separates them.
pub fn assignment(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['=', '"', '\'']) {
        let found = at + found;
        match text[found..].chars().next() {
            Some(quote @ ('"' | '\'')) => at = found + closing(&text[found..], quote)? + 1,
            _ => return Some((&text[..found], &text[found + 1..])),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_those_of_toml() {
        for (text, expected) in [
            ("port.limit", vec!["port", "limit"]),
            ("settings.a.\"long-name\".port", vec!["settings", "a", "long-name", "port"]),
            (" port . 'leaf0.1->spine1' . limit ", vec!["port", "leaf0.1->spine1", "limit"]),
            ("\"a \\\"b\\\" \\\\\".''", vec!["a \"b\" \\", ""]),
            ("port.leaf0->spine1.limit", vec!["port", "leaf0->spine1", "limit"]),
        ] {
            assert_eq!(keys(text).unwrap(), expected, "{text}");
        }
        for (text, part) in [
            ("", "empty"),
            ("a..b", "empty"),
            ("a.", "empty"),
            ("a.\"b", "not closed"),
            ("a.\"b\"c", "no dot"),
            ("a b", "' '"),
            ("a.b\"c\"", "'\"'"),
            ("\"\\n\"", "escapes"),
        ] {
            assert!(keys(text).unwrap_err().contains(part), "{text}: {:?}", keys(text));
        }
    }

    #[test]
    fn an_equals_sign_in_quotation_marks_is_a_part_of_the_path() {
        assert_eq!(assignment("a.b=c=d"), Some(("a.b", "c=d")));
        assert_eq!(assignment("a.\"b=c\".d = \"e\""), Some(("a.\"b=c\".d ", " \"e\"")));
        assert_eq!(assignment("a='x"), Some(("a", "'x")));
        assert_eq!((assignment("a.b"), assignment("a.\"b=c")), (None, None));
    }

    proptest! {
        /// Whatever keys a path is made of, they are read from it again.
        #[test]
        fn what_is_written_is_read_back(names in prop::collection::vec(".{0,6}", 1..5), value: String) {
            let text = path(&names);
            prop_assert_eq!(keys(&text), Ok(names.clone()));
            prop_assert_eq!(canonical(&text), text.clone());
            prop_assert_eq!(last(&text), word(names.last().unwrap()));
            let joined = names.iter().fold(String::new(), |path, key| join(&path, key));
            prop_assert_eq!(&joined, &text);
            let assigned = format!("{text}={value}");
            prop_assert_eq!(assignment(&assigned), Some((text.as_str(), value.as_str())));
        }

        /// A path of plain keys is the text that it always was.
        #[test]
        fn plain_paths_stay_as_they_are(text in "[a-zA-Z0-9_>@*-]{1,5}(\\.[a-zA-Z0-9_>@*-]{1,5}){0,3}") {
            prop_assert_eq!(canonical(&text), text);
        }

        #[test]
        fn any_text_is_a_path_or_none(text in "[a-c.\"'\\\\ =]{0,12}") {
            if let Ok(found) = keys(&text) {
                prop_assert_eq!(keys(&path(&found)), Ok(found));
            }
        }
    }
}
