//! The prelude stays short: twenty names that most programs need, no more.

#[test]
fn the_prelude_has_at_most_twenty_names() {
    let source = include_str!("../src/prelude.rs");
    let lists = source.split("pub use ").skip(1).filter_map(|s| s.split_once(';'));
    let names: Vec<&str> = lists
        .flat_map(|(list, _)| {
            let list = list.rsplit("::").next().unwrap_or(list);
            list.split(',').map(|n| n.trim_matches(|c: char| c.is_whitespace() || "{}".contains(c)))
        })
        .filter(|n| !n.is_empty())
        .collect();
    assert!(names.contains(&"Pose") && names.contains(&"ReducedModel"), "{names:?}");
    assert!(!names.iter().any(|n| n.contains('*')), "no glob hides names: {names:?}");
    assert!(names.len() <= 20, "{}: {names:?}", names.len());
}
