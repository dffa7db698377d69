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

/// So many words nobody reads in a message: the one that was meant is enough.
const TOO_MANY: usize = 60;

/// "did you mean `x`? expected one of `x`, `y`"; without the words if there are too many and one of them is near.
pub fn suggest(word: &str, words: &[&str]) -> String {
    let all = words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    let expected = match words.len() {
        0 => "nothing is expected here".to_owned(),
        1 => format!("expected {all}"),
        _ => format!("expected one of {all}"),
    };
    match nearest(word, words.iter().copied()) {
        Some(near) if words.len() > TOO_MANY => format!("did you mean `{near}`? there are {} names", words.len()),
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
        let many: Vec<String> = (0..114).map(|n| format!("spq-fig{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(suggest("spq-fg7", &many), "did you mean `spq-fig7`? there are 114 names");
    }
}
