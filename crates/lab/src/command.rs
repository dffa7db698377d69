//! Commands as a shell reads them.

/// A word of a command, quoted if a shell would not take it as it is. It is always one line, because commands stand in
/// comments.
pub fn shell_word(word: &str) -> String {
    if word.chars().any(char::is_control) {
        let escaped = word.chars().map(|c| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_control() => c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
            c => c.to_string(),
        });
        return format!("$'{}'", escaped.collect::<String>());
    }
    let plain = word.chars().all(|c| c.is_alphanumeric() || "-_./=,:@+%".contains(c));
    if plain && !word.is_empty() { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_not_take_them_as_they_are() {
        assert_eq!(
            ["run", "a=1,b", "two words", "", "it's"].map(shell_word),
            ["run", "a=1,b", "'two words'", "''", r"'it'\''s'"]
        );
        assert_eq!(shell_word("two\nlines\tof it's\\"), r"$'two\x0alines\x09of it\'s\\'");
    }
}
