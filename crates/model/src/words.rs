//! The nearest valid word for one that is not, as every message offers it.

/// The word among `words` that `word` most probably stands for.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    words
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + word.len().max(candidate.len()) / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`? expected one of `x`, `y`".
pub fn suggest(word: &str, words: &[&str]) -> String {
    let all = words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    let expected = match words.len() {
        0 => "nothing is expected here".to_owned(),
        1 => format!("expected {all}"),
        _ => format!("expected one of {all}"),
    };
    match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {expected}"),
        None => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let words = ["dctcp", "pias", "websearch"];
        assert_eq!(nearest("dctpc", words), Some("dctcp"));
        assert_eq!(nearest("web-search", words), Some("websearch"));
        assert_eq!(nearest("quic", words), None);
        assert_eq!(suggest("pais", &words), "did you mean `pias`? expected one of `dctcp`, `pias`, `websearch`");
        assert_eq!(suggest("x", &[]), "nothing is expected here");
    }
}
