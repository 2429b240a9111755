//! In which order slots are eliminated: outward ones before the slots that carry them, and always
//! the one that ties the fewest others together. Made once per mechanism.
//!
//! A slot is tied to the one that carries it and to all slots that occur with it in a loop equation
//! or coupling. A chain goes from its tip to its foot, a ladder rung by rung.

use std::{cmp::Reverse, collections::BTreeSet};

/// One elimination: the slot, and the slots that it is tied to then, the one that carries it first.
#[derive(Clone, Debug)]
pub(super) struct Elimination {
    pub(super) slot: u32,
    pub(super) around: Vec<u32>,
}

/// `inner` holds what carries each slot, the ground's first; `ties` slots that belong together.
pub(super) fn order(inner: &[u32], ties: &[&[u32]]) -> Vec<Elimination> {
    let count = inner.len();
    let mut near: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
    let mut carried = vec![0usize; count];
    for (slot, &by) in inner.iter().enumerate().skip(1) {
        carried[by as usize] += 1;
        tie(&mut near, &[slot as u32, by]);
    }
    ties.iter().for_each(|t| tie(&mut near, t));
    // Of equal ones the outermost: slots come after those that carry them.
    let mut queue: BTreeSet<(usize, Reverse<u32>)> = BTreeSet::new();
    let leaves = (1..count).filter(|&s| carried[s] == 0);
    leaves.for_each(|s| {
        queue.insert((near[s].len(), Reverse(s as u32)));
    });
    let mut out = Vec::with_capacity(count - 1);
    while let Some((_, Reverse(slot))) = queue.pop_first() {
        let by = inner[slot as usize];
        let ring = std::mem::take(&mut near[slot as usize]);
        let mut around: Vec<u32> = ring.iter().copied().filter(|&s| s != by).collect();
        if by != 0 {
            around.insert(0, by);
        }
        for &s in &around {
            let ready = carried[s as usize] == 0;
            if ready {
                queue.remove(&(near[s as usize].len(), Reverse(s)));
            }
            near[s as usize].remove(&slot);
            near[s as usize].extend(around.iter().copied().filter(|&o| o != s));
            if ready {
                queue.insert((near[s as usize].len(), Reverse(s)));
            }
        }
        carried[by as usize] -= 1;
        if by != 0 && carried[by as usize] == 0 {
            queue.insert((near[by as usize].len(), Reverse(by)));
        }
        out.push(Elimination { slot, around });
    }
    out
}

/// Makes all pairs of slots neighbours; the ground is none.
fn tie(near: &mut [BTreeSet<u32>], slots: &[u32]) {
    for &a in slots {
        near[a as usize].extend(slots.iter().copied().filter(|&b| b != a && a != 0 && b != 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_goes_rung_by_rung() {
        // Left 1, 4, 7, …, rungs 2, 5, 8, … on them, right 3, 6, 9, ….
        let rungs = 200;
        let (mut inner, mut ties) = (vec![0], Vec::new());
        for k in 0..rungs as u32 {
            let above = |s: u32| if k == 0 { 0 } else { 3 * (k - 1) + s };
            inner.extend([above(1), 3 * k + 1, above(3)]);
            ties.push([3 * k + 2, 3 * k + 3]);
        }
        let ties: Vec<&[u32]> = ties.iter().map(|t| t.as_slice()).collect();
        let order = order(&inner, &ties);
        assert_eq!(order.len(), 3 * rungs);
        assert!(order.iter().all(|e| e.around.len() <= 3));
        let mut gone = vec![false; inner.len()];
        for e in &order {
            gone[e.slot as usize] = true;
            assert!(inner[e.slot as usize] == 0 || !gone[inner[e.slot as usize] as usize]);
        }
    }
}
