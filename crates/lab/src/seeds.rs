//! Which seeds a run has.

use std::collections::BTreeSet;

/// The largest seed: what TOML can hold, in which seeds are saved.
const MOST_SEED: u64 = i64::MAX as u64;

/// The seeds that a user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedChoice {
    /// 1, 2, ... up to this number.
    Count(u64),
    /// Exactly these seeds.
    List(Vec<u64>),
}

impl SeedChoice {
    /// The seeds, in the order in which they run.
    pub fn seeds(&self) -> Vec<u64> {
        match self {
            SeedChoice::Count(count) => (1..=*count).collect(),
            SeedChoice::List(seeds) => seeds.clone(),
        }
    }
}

impl std::str::FromStr for SeedChoice {
    type Err = String;

    /// `3` is a number of seeds; `1,2,7` are these seeds.
    fn from_str(text: &str) -> Result<SeedChoice, String> {
        let wrong = || format!("`{text}` is neither a number of seeds nor a list of them: expected 3 or 1,2,7");
        let numbers: Vec<u64> =
            text.split(',').map(|part| part.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
        match numbers.as_slice() {
            numbers if numbers.iter().any(|&seed| seed > MOST_SEED) => {
                Err(format!("the seed `{text}` is too large: expected at most {MOST_SEED}"))
            }
            [0] => Err("no seeds are no run: expected 1 or more".to_owned()),
            &[count] if count > 1_000_000 => Err(format!("{count} seeds are too many; `--seed {count}` is that seed")),
            &[count] => Ok(SeedChoice::Count(count)),
            _ => {
                let mut seen = BTreeSet::new();
                match numbers.iter().find(|seed| !seen.insert(**seed)) {
                    Some(twice) => Err(format!("the seed {twice} is there twice")),
                    None => Ok(SeedChoice::List(numbers)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_seeds_and_a_list_names_them() {
        assert_eq!("3".parse(), Ok(SeedChoice::Count(3)));
        assert_eq!("1, 2,7".parse(), Ok(SeedChoice::List(vec![1, 2, 7])));
        for (text, part) in [
            ("0", "1 or more"),
            ("x", "expected 3 or 1,2,7"),
            ("7,", "expected 3 or 1,2,7"),
            ("5,5", "the seed 5 is there twice"),
            ("9999999", "`--seed 9999999`"),
        ] {
            let error = text.parse::<SeedChoice>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
