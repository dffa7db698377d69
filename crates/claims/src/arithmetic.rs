//! Arithmetic in words: `+ - * / ^`, parentheses, names, and the functions ceil, floor, sqrt, log2, min and max.

use std::collections::BTreeMap;

/// The value of `text`.
pub(crate) fn evaluate(text: &str, names: &BTreeMap<String, f64>) -> Result<f64, String> {
    let mut parser = Parser { text, rest: text, names };
    let value = parser.sum()?;
    parser.skip();
    if parser.rest.is_empty() { Ok(value) } else { Err(parser.error()) }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    names: &'a BTreeMap<String, f64>,
}

impl Parser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn error(&self) -> String {
        format!("`{}` is not arithmetic from `{}` on", self.text, self.rest)
    }

    fn take(&mut self, symbol: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        loop {
            if self.take('*') {
                value *= self.signed()?;
            } else if self.take('/') {
                value /= self.signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<f64, String> {
        if self.take('-') { Ok(-self.signed()?) } else { self.power() }
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        // Right to left, as is usual.
        if self.take('^') { Ok(base.powf(self.signed()?)) } else { Ok(base) }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') { Ok(value) } else { Err(self.error()) };
        }
        self.skip();
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') { self.number() } else { self.name() }
    }

    fn number(&mut self) -> Result<f64, String> {
        let bytes = self.rest.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'.') {
                at += 1;
            }
            at
        };
        let mut end = digits(0);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        let value = self.rest[..end].parse().map_err(|_| self.error())?;
        self.rest = &self.rest[end..];
        Ok(value)
    }

    fn name(&mut self) -> Result<f64, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.error());
        }
        let before = self.rest;
        self.rest = rest;
        if !self.take('(') {
            return self.names.get(name).copied().ok_or_else(|| format!("`{name}` has no value in `{}`", self.text));
        }
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        if !self.take(')') {
            return Err(self.error());
        }
        match (name, arguments.as_slice()) {
            ("ceil", [x]) => Ok(x.ceil()),
            ("floor", [x]) => Ok(x.floor()),
            ("sqrt", [x]) => Ok(x.sqrt()),
            ("log2", [x]) => Ok(x.log2()),
            ("min", all) => Ok(all.iter().copied().fold(f64::INFINITY, f64::min)),
            ("max", all) => Ok(all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            _ => {
                self.rest = before;
                Err(self.error())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        evaluate(text, &BTreeMap::from([("k".to_owned(), 8.0), ("U_l".to_owned(), 0.75)]))
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("(1+2)*3", 9.0),
            ("8/4/2", 1.0),
            ("10-3-2", 5.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2*-3", -6.0),
            ("k^3/4", 128.0),
            ("ceil(U_l)-U_l", 0.25),
            ("120/10 - 1500*8/10e3", 10.8),
            ("300e-6*1e9/8/1500", 25.0),
            ("ceil(log2(30))", 5.0),
            ("min(3, 1+1) + max(1,2)", 4.0),
            ("sqrt(9)+floor(1.9)", 4.0),
        ] {
            let found = value(text).unwrap();
            assert!((found - expected).abs() < 1e-9, "{text} = {found}");
        }
    }

    #[test]
    fn what_is_no_arithmetic_is_said() {
        for (text, message) in [
            ("1 +", "is not arithmetic"),
            ("(1", "is not arithmetic"),
            ("1 2", "from `2` on"),
            ("sin(1)", "from `sin(1)` on"),
            ("rate", "`rate` has no value"),
            ("", "is not arithmetic"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
