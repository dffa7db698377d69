//! Which seeds a run has.

/// The seeds that a user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedChoice {
    /// 1, 2, ... up to this number.
    Count(u64),
    /// Exactly these seeds.
    List(Vec<u64>),
}

impl SeedChoice {
    pub(crate) fn seeds(&self) -> Vec<u64> {
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
        let wrong = || format!("`{text}` is not a number of seeds nor a list of them: expected 3 or 1,2,7");
        let numbers: Vec<u64> =
            text.split(',').map(|part| part.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
        match (numbers.as_slice(), text.contains(',')) {
            ([0], false) => Err("no seeds are no run: expected 1 or more".to_owned()),
            (&[count], false) if count > 1_000_000 => Err(format!("{count} seeds are too many")),
            (&[count], false) => Ok(SeedChoice::Count(count)),
            _ => Ok(SeedChoice::List(numbers)),
        }
    }
}
