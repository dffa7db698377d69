//! Text in lines.

/// Lines of at most `width` characters: broken at spaces, and within words that are longer. At least one line.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + rest.len() > width {
            lines.push(String::new());
            used = 0;
        }
        while rest.len() > width {
            let tail = rest.split_off(width);
            lines.last_mut().expect("there is a line").extend(&rest);
            lines.push(String::new());
            rest = tail;
        }
        let line = lines.last_mut().expect("there is a line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        used += rest.len();
        line.extend(&rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_within_long_words() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("an unbreakable word", 6), ["an", "unbrea", "kable", "word"]);
        assert_eq!(wrapped("", 10), [""]);
    }
}
