//! Licences: every dependency can be used under a licence of the list.

use super::{Finding, metadata::Metadata};

/// Licences that let anyone use the result under MIT or Apache-2.0.
const ACCEPTED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "Unicode-3.0",
    "ISC",
    "CC0-1.0",
    "0BSD",
];

/// Every foreign package names a licence expression that the accepted ones satisfy.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let refused = metadata.foreign().filter_map(|p| {
        let place = format!("{} {}", p.name, p.version);
        match &p.license {
            None => Some(Finding::new("licences", place, "names no licence")),
            Some(l) if !is_accepted(l) => {
                Some(Finding::new("licences", place, format!("licence '{l}' is not accepted")))
            }
            Some(_) => None,
        }
    });
    refused.collect()
}

/// True if the expression can be met with accepted licences alone; false if it cannot be read.
fn is_accepted(expression: &str) -> bool {
    // The slash is how OR was written before SPDX expressions.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

/// `a OR b OR …`; `None` where the syntax is broken.
fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = all_of(rest)?;
    while let Some((&"OR", tail)) = rest.split_first() {
        *rest = tail;
        accepted |= all_of(rest)?;
    }
    Some(accepted)
}

/// `a AND b AND …`.
fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = one(rest)?;
    while let Some((&"AND", tail)) = rest.split_first() {
        *rest = tail;
        accepted &= one(rest)?;
    }
    Some(accepted)
}

/// A licence, one with an exception (which only ever adds freedom), or a bracket.
fn one(rest: &mut &[&str]) -> Option<bool> {
    let (&first, tail) = rest.split_first()?;
    *rest = tail;
    match first {
        "(" => {
            let inner = any_of(rest)?;
            let (&close, tail) = rest.split_first()?;
            *rest = tail;
            (close == ")").then_some(inner)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        licence => {
            if let Some((&"WITH", tail)) = rest.split_first() {
                *rest = tail.split_first()?.1;
            }
            Some(ACCEPTED.contains(&licence))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::metadata::sample, *};

    #[test]
    fn expressions_are_read_as_logic() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "Unlicense OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-3.0 OR (Zlib AND ISC)",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(is_accepted(good), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR GPL-3.0) AND MPL-2.0",
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT MIT",
            "OR MIT",
        ] {
            assert!(!is_accepted(bad), "{bad}");
        }
    }

    #[test]
    fn packages_are_named() {
        let m = sample(&[], &[("good", "MIT", ""), ("bad", "GPL-3.0-only", ""), ("none", "", "")]);
        let found: Vec<String> = check(&m).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "[licences] bad 1.0.0: licence 'GPL-3.0-only' is not accepted",
                "[licences] none 1.0.0: names no licence",
            ]
        );
    }
}
