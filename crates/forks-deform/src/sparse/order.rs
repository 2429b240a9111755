//! An order of elimination with little fill: nested dissection by position.

use forks_dynamics::mechanism::lie::glam::DVec3;

/// Parts of so few nodes are not cut further.
const SMALL: usize = 8;

/// Cuts leave at least this part of the nodes on either side.
const LEAST: f64 = 0.3;

/// How much smaller a separator has to be for halves that differ: its size counts 1 + this times
/// the square of the distance from the middle, as a part of all nodes.
const UNEVEN: f64 = 8.0;

/// A cut of a part: the first `at` nodes along an axis from the others, and the nodes that touch
/// the other side, taken from below or from above.
#[derive(Clone, Copy)]
struct Cut {
    axis: usize,
    at: usize,
    from_above: bool,
    cost: f64,
}

/// The nodes in the order of their elimination: two halves first, then the nodes between them; and
/// so within the halves. Of the cuts across the axes the one with the fewest nodes between its
/// halves is taken. `neighbours` has the nodes that share an element with a node.
pub fn nested_dissection(positions: &[DVec3], neighbours: &[Vec<usize>]) -> Vec<usize> {
    let n = positions.len();
    let mut order = Vec::with_capacity(n);
    // Where each node is along the axis at work within its part, and which part that is.
    let mut rank = vec![0; n];
    let mut part_of = vec![0; n];
    let sorted = |axis: usize| {
        let mut nodes: Vec<usize> = (0..n).collect();
        nodes.sort_by(|&a, &b| positions[a][axis].total_cmp(&positions[b][axis]).then(a.cmp(&b)));
        nodes
    };
    // A stack instead of recursion: parts to cut, sorted along every axis, and separators to write
    // when their halves are.
    let mut stack = vec![(true, [sorted(0), sorted(1), sorted(2)])];
    let mut label = 0;
    while let Some((cut, part)) = stack.pop() {
        let count = part[0].len();
        if !cut || count <= SMALL {
            let [nodes, ..] = part;
            order.extend(nodes);
            continue;
        }
        label += 1;
        part[0].iter().for_each(|&v| part_of[v] = label);
        let mut best: Option<Cut> = None;
        for (axis, nodes) in part.iter().enumerate() {
            nodes.iter().enumerate().for_each(|(r, &v)| rank[v] = r);
            let reach = |v: usize| {
                let own = neighbours[v].iter().filter(|m| part_of[**m] == label);
                own.map(|&m| rank[m]).fold((rank[v], rank[v]), |(l, h), r| (l.min(r), h.max(r)))
            };
            let found = best_cut(axis, count, nodes.iter().map(|&v| reach(v)));
            if best.is_none_or(|b| found.cost < b.cost) {
                best = Some(found);
            }
        }
        let Some(Cut { axis, at, from_above, .. }) = best else { continue };
        // 0 below, 1 above, 2 between.
        part[axis].iter().enumerate().for_each(|(r, &v)| rank[v] = usize::from(r >= at));
        let between = |v: &usize| {
            let own = rank[*v];
            own == usize::from(from_above)
                && neighbours[*v].iter().any(|&m| part_of[m] == label && rank[m] == 1 - own)
        };
        let separator: Vec<usize> = part[axis].iter().copied().filter(between).collect();
        separator.iter().for_each(|&v| part_of[v] = usize::MAX);
        let side = |s: usize| {
            let of = |nodes: &Vec<usize>| -> Vec<usize> {
                let kept = |v: &usize| part_of[*v] == label && rank[*v] == s;
                nodes.iter().copied().filter(kept).collect()
            };
            [of(&part[0]), of(&part[1]), of(&part[2])]
        };
        let (lower, upper) = (side(0), side(1));
        stack.push((false, [separator, vec![], vec![]]));
        stack.push((true, upper));
        stack.push((true, lower));
    }
    order
}

/// The best cut along an axis, from the least and the largest rank among each node and its
/// neighbours, node by node.
fn best_cut(axis: usize, count: usize, reach: impl Iterator<Item = (usize, usize)>) -> Cut {
    // Changes of the numbers of nodes that touch the other side from below and above, cut by cut.
    let (mut below, mut above) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    for (r, (low, high)) in reach.enumerate() {
        // Below the cuts r + 1 ..= high, and above the cuts low + 1 ..= r.
        below[r + 1] += 1;
        if high < count {
            below[high + 1] -= 1;
        }
        above[low + 1] += 1;
        if r < count {
            above[r + 1] -= 1;
        }
    }
    let (mut best, mut sizes) =
        (Cut { axis, at: 0, from_above: false, cost: f64::INFINITY }, [0; 2]);
    for at in 1..count {
        sizes[0] += below[at];
        sizes[1] += above[at];
        let middle = at as f64 / count as f64 - 0.5;
        if middle.abs() > 0.5 - LEAST {
            continue;
        }
        for (size, from_above) in sizes.into_iter().zip([false, true]) {
            let cost = size as f64 * (1.0 + UNEVEN * middle * middle);
            if cost < best.cost {
                best = Cut { axis, at, from_above, cost };
            }
        }
    }
    best
}
