//! Commands as a shell reads them.

/// A word of a command, quoted if a shell would not take it as it is.
pub fn shell_word(word: &str) -> String {
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
    }
}
