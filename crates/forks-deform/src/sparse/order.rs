//! An order of elimination with little fill: nested dissection by position.

use forks_dynamics::mechanism::lie::glam::DVec3;

/// Parts of so few nodes are not cut further.
const SMALL: usize = 8;

/// The nodes in the order of their elimination: the two halves along the longest extent first, the
/// nodes of the first half that touch the second last; and so within the halves. `neighbours` has
/// the nodes that share an element with a node.
pub fn nested_dissection(positions: &[DVec3], neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(positions.len());
    let mut side = vec![usize::MAX; positions.len()];
    // A stack instead of recursion: parts to cut, and separators to write when their halves are.
    let mut stack = vec![(true, (0..positions.len()).collect::<Vec<usize>>())];
    let mut label = 0;
    while let Some((cut, mut part)) = stack.pop() {
        if !cut || part.len() <= SMALL {
            order.extend(part);
            continue;
        }
        let (low, high) = part.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &n| {
            (l.min(positions[n]), h.max(positions[n]))
        });
        let extent = (high - low).to_array();
        let axis = (1..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
        part.sort_by(|&a, &b| positions[a][axis].total_cmp(&positions[b][axis]).then(a.cmp(&b)));
        let upper = part.split_off(part.len() / 2);
        label += 1;
        upper.iter().for_each(|&n| side[n] = label);
        let touches = |n: &usize| neighbours[*n].iter().any(|&m| side[m] == label);
        let (separator, lower): (Vec<usize>, Vec<usize>) = part.into_iter().partition(touches);
        stack.push((false, separator));
        stack.push((true, upper));
        stack.push((true, lower));
    }
    order
}
