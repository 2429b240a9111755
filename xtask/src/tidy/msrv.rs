//! The oldest compiler: no dependency asks for a newer one than we promise.
//!
//! Clippy's `incompatible_msrv` (part of `clippy::all`) does the same for the standard library.

use super::{Finding, metadata::Metadata};

/// Members share one `rust-version`; no foreign package declares a higher one.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut promised: Option<(u32, u32, u32)> = None;
    for p in metadata.members() {
        match p.rust_version.as_deref().and_then(version) {
            None => found.push(Finding::new("msrv", &p.name, "promises no rust-version")),
            Some(v) if *promised.get_or_insert(v) != v => {
                found.push(Finding::new("msrv", &p.name, "promises another rust-version"));
            }
            Some(_) => {}
        }
    }
    let Some(promised) = promised else { return found };
    for p in metadata.foreign() {
        let Some(needed) = &p.rust_version else { continue };
        if version(needed).is_none_or(|v| v > promised) {
            let place = format!("{} {}", p.name, p.version);
            found.push(Finding::new("msrv", place, format!("needs Rust {needed}")));
        }
    }
    found
}

/// `1.88` and `1.88.0` alike.
fn version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('.').map(|p| p.parse::<u32>().ok());
    let v = (parts.next()??, parts.next().unwrap_or(Some(0))?, parts.next().unwrap_or(Some(0))?);
    parts.next().is_none().then_some(v)
}

#[cfg(test)]
mod tests {
    use super::{super::metadata::sample, *};

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("1.9") < version("1.10"));
        assert_eq!(version("1.88"), version("1.88.0"));
        assert_eq!(version("1.x"), None);
        assert_eq!(version("1.2.3.4"), None);
    }

    #[test]
    fn newer_needs_are_found() {
        // The sample's members promise 1.70.
        let m = sample(
            &[("forks-lie", &[])],
            &[("old", "MIT", "1.56.1"), ("new", "MIT", "1.71"), ("silent", "MIT", "")],
        );
        let found: Vec<String> = check(&m).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["[msrv] new 1.0.0: needs Rust 1.71"]);
    }

    #[test]
    fn members_promise_the_same() {
        let mut m = sample(&[("forks-lie", &[]), ("forks-rom", &[]), ("forks-io", &[])], &[]);
        m.packages[1].rust_version = Some("1.71".into());
        m.packages[2].rust_version = None;
        assert_eq!(check(&m).len(), 2);
    }
}
