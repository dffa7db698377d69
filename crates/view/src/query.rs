//! The path and the parameters of a request.

use std::collections::BTreeMap;

/// What stands behind the host in an address, split and decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// The parts of the path between its slashes.
    pub(crate) path: Vec<String>,
    /// The parameters behind the question mark.
    pub(crate) parameters: BTreeMap<String, String>,
}

impl Target {
    /// `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Target> {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let path = path.strip_prefix('/')?.split('/').map(|part| decoded(part, false)).collect::<Option<Vec<_>>>()?;
        let parameter = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        };
        let parameters = query.split('&').filter(|pair| !pair.is_empty()).map(parameter).collect::<Option<_>>()?;
        Some(Target { path, parameters })
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }
}

/// The text that percent signs, and plus signs in parameters, stand for; `None` if it is none.
fn decoded(text: &str, plus: bool) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(16 * high + low).ok()?
            }
            b'+' if plus => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_split_and_decoded() {
        let target = Target::parse("/a/points/dctcp-0%2E4-1/?flow=7&class=short%2Bincast+x").unwrap();
        assert_eq!(target.path, ["a", "points", "dctcp-0.4-1", ""]);
        assert_eq!((target.parameter("flow"), target.parameter("class")), (Some("7"), Some("short+incast x")));
        for wrong in ["", "a", "/%", "/%4", "/%zz", "/%ff", "/?a=%+1"] {
            assert_eq!(Target::parse(wrong), None, "{wrong}");
        }
    }
}
