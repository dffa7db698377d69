//! The `Content-Security-Policy` of a response.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use sha2::{Digest, Sha256};

/// The rights that a browser gets with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Run these scripts and no others, and load from this server alone: a page that is made here.
    Page {
        /// The scripts, as they stand between their tags.
        scripts: &'static [&'static str],
    },
    /// Show it and no more: a file of a run folder, which anybody may have written.
    File,
}

impl Policy {
    /// The value of the header.
    pub(crate) fn header(self) -> HeaderValue {
        let Policy::Page { scripts } = self else {
            return HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox");
        };
        let hashes: String = scripts.iter().map(|script| format!(" '{}'", hash(script))).collect();
        let scripts = if hashes.is_empty() { " 'none'" } else { &hashes };
        let value = format!(
            "default-src 'none'; script-src{scripts}; style-src 'unsafe-inline'; img-src 'self' data:; connect-src \
             'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
        );
        HeaderValue::try_from(value).expect("hashes are letters, digits and signs of base64")
    }
}

/// The source expression by which a policy allows an inline script.
fn hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_allowed_by_its_hash() {
        // The example of CSP level 3, section 8.4 (hash usage for elements).
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
        let header = Policy::Page { scripts: &["a"] }.header();
        assert!(header.to_str().unwrap().contains("script-src 'sha256-"));
        assert!(Policy::Page { scripts: &[] }.header().to_str().unwrap().contains("script-src 'none'"));
    }
}
