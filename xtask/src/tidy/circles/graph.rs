//! Circles in a directed graph: strongly connected components and a shortest cycle of each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Node → nodes it points to.
pub(super) type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The strongly connected components of more than one node, nodes sorted.
///
/// Two nodes are in one if each is reached from the other; for a few hundred nodes a search from
/// every node is fast enough.
pub(super) fn components<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|&n| (n, reach(graph, n))).collect();
    let mut placed = BTreeSet::new();
    let mut out = Vec::new();
    for (&node, below) in &reached {
        if placed.contains(node) || !below.contains(node) {
            continue;
        }
        let is_mutual = |o: &&&str| reached.get(**o).is_some_and(|r| r.contains(node));
        let component: Vec<&str> = below.iter().filter(is_mutual).copied().collect();
        placed.extend(component.iter().copied());
        out.push(component);
    }
    out
}

/// All nodes at the end of a path of one edge or more from `start`.
fn reach<'a>(graph: &Graph<'a>, start: &str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(n) = open.pop() {
        for &next in graph.get(n).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// A shortest cycle through nodes of a component, its first node not repeated.
pub(super) fn shortest_cycle<'a>(graph: &Graph<'a>, component: &[&'a str]) -> Vec<&'a str> {
    let cycles = component.iter().filter_map(|&start| cycle_through(graph, start));
    cycles.min_by_key(Vec::len).unwrap_or_default()
}

/// Breadth first from `start` until an edge leads back to it.
fn cycle_through<'a>(graph: &Graph<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut from = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(n) = open.pop_front() {
        for &next in graph.get(n).into_iter().flatten() {
            if next == start {
                let mut cycle = vec![n];
                while let Some(&before) = from.get(cycle[cycle.len() - 1]) {
                    cycle.push(before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !from.contains_key(next) {
                from.insert(next, n);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&'static str, &'static str)]) -> Graph<'static> {
        let mut g = Graph::new();
        for (a, b) in edges {
            g.entry(a).or_default().insert(b);
        }
        g
    }

    #[test]
    fn a_tree_has_no_components() {
        assert!(components(&graph(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }

    #[test]
    fn each_knot_is_found_once_with_its_shortest_cycle() {
        let g = graph(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("c", "b"),
            ("c", "x"),
            ("x", "y"),
            ("y", "x"),
            ("y", "z"),
        ]);
        let found = components(&g);
        assert_eq!(found, [vec!["a", "b", "c"], vec!["x", "y"]]);
        assert_eq!(shortest_cycle(&g, &found[0]), ["b", "c"]);
        assert_eq!(shortest_cycle(&g, &found[1]), ["x", "y"]);
    }
}
