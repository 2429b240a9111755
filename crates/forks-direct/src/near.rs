//! Sentences about names that are not there.

/// Says that there is no such name, and which was meant or which there are.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let likeness = |k: &&str| strsim::jaro_winkler(&k.to_lowercase(), &name.to_lowercase());
    let nearest = known.iter().copied().map(|k| (likeness(&k), k));
    // The first of equally near ones.
    let nearest = nearest.fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
    let hint = match nearest {
        (near, name) if near > 0.8 => format!("did you mean '{name}'?"),
        _ if known.is_empty() => "it has none".into(),
        _ => {
            let shown: Vec<String> = known.iter().take(12).map(|k| format!("'{k}'")).collect();
            let more = match known.len() {
                0..=12 => String::new(),
                n => format!(" and {} more", n - 12),
            };
            format!("it has {}{more}", shown.join(", "))
        }
    };
    format!("the model has no {what} '{name}' ({hint})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_or_all_are_listed() {
        let known = || ["upper_arm", "lower_arm", "hand"].into_iter();
        let said = |name| unknown("link", name, known());
        assert_eq!(said("Hand1"), "the model has no link 'Hand1' (did you mean 'hand'?)");
        assert_eq!(
            said("xyz"),
            "the model has no link 'xyz' (it has 'upper_arm', 'lower_arm', 'hand')"
        );
        assert_eq!(unknown("site", "a", [].into_iter()), "the model has no site 'a' (it has none)");
        let many: Vec<String> = (0..14).map(|i| format!("{i}{i}")).collect();
        let said = unknown("joint", "zz", many.iter().map(String::as_str));
        assert!(said.ends_with("'1111' and 2 more)"), "{said}");
    }
}
