//! What files hold, before nodes without elements are left out.

use std::collections::{BTreeMap, HashMap};

use forks_dynamics::mechanism::lie::glam::DVec3;

use super::{FileError, MeshFile};
use crate::mesh::{EDGES, Order, TetMesh};

/// A middle node that is off by more than this part of its edge bends it.
const STRAIGHT: f64 = 1e-6;

/// Nodes by their numbers, elements, groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    pub(super) numbers: Vec<u64>,
    pub(super) positions: Vec<DVec3>,
    /// Nodes of tetrahedra, four or ten.
    pub(super) elements: Vec<Vec<u64>>,
    pub(super) groups: BTreeMap<String, Vec<u64>>,
}

impl Raw {
    pub(super) fn push_node(&mut self, number: u64, x: [f64; 3]) {
        self.numbers.push(number);
        self.positions.push(DVec3::from_array(x));
    }

    pub(super) fn group(&mut self, name: &str, nodes: &[u64]) {
        self.groups.entry(name.to_owned()).or_default().extend(nodes);
    }

    /// The mesh of the corners, quadratic if all elements are.
    pub(super) fn finish(self) -> Result<MeshFile, FileError> {
        if self.elements.is_empty() {
            return Err(FileError::NoTetrahedra);
        }
        let at: HashMap<u64, usize> =
            self.numbers.iter().enumerate().map(|(i, n)| (*n, i)).collect();
        let find = |element: usize, node: u64| {
            at.get(&node).copied().ok_or(FileError::NoSuchNode { element, node })
        };
        let mut used = vec![false; self.positions.len()];
        let mut corners = Vec::with_capacity(self.elements.len());
        let mut quadratic = true;
        let mut straightened = 0;
        for (e, nodes) in self.elements.iter().enumerate() {
            let own = [0, 1, 2, 3].map(|i| find(e, nodes[i]));
            let own = match own {
                [Ok(a), Ok(b), Ok(c), Ok(d)] => [a, b, c, d],
                [a, b, c, d] => return Err(first_error([a, b, c, d])),
            };
            own.iter().for_each(|&n| used[n] = true);
            quadratic &= nodes.len() == 10;
            let mut bent = false;
            // Formats number middle nodes in different orders; one that is in the middle of no edge
            // bends its own.
            for &middle in &nodes[4..] {
                let x = self.positions[find(e, middle)?];
                let straight = EDGES.iter().any(|[a, b]| {
                    let (a, b) = (self.positions[own[*a]], self.positions[own[*b]]);
                    x.distance(0.5 * (a + b)) <= STRAIGHT * a.distance(b)
                });
                bent |= !straight;
            }
            straightened += usize::from(bent);
            corners.push(own);
        }
        // Corners in the order of the file; middles follow by themselves.
        let mut kept = vec![usize::MAX; used.len()];
        let mut nodes = Vec::new();
        for (i, _) in used.iter().enumerate().filter(|(_, u)| **u) {
            kept[i] = nodes.len();
            nodes.push(self.positions[i]);
        }
        let corners: Vec<[usize; 4]> = corners.iter().map(|c| c.map(|i| kept[i])).collect();
        let middles: usize = match quadratic {
            true => {
                let all = self.elements.iter().flat_map(|e| &e[4..]);
                all.collect::<std::collections::BTreeSet<_>>().len()
            }
            false => 0,
        };
        let unused = self.positions.len() - nodes.len() - middles;
        let mesh = TetMesh::new(nodes, &corners)?;
        let mesh = if quadratic { mesh.quadratic() } else { mesh };
        let groups = self.groups.iter().map(|(name, numbers)| {
            let mut own: Vec<usize> = numbers
                .iter()
                .filter_map(|n| at.get(n).map(|i| kept[*i]).filter(|i| *i != usize::MAX))
                .collect();
            own.sort_unstable();
            own.dedup();
            if mesh.order() == Order::Quadratic {
                own.extend(between(&mesh, &own));
            }
            (name.clone(), own)
        });
        let groups = groups.collect();
        Ok(MeshFile { mesh, groups, unused, straightened })
    }
}

fn first_error(found: [Result<usize, FileError>; 4]) -> FileError {
    let error = found.into_iter().find_map(Result::err);
    error.unwrap_or(FileError::NoTetrahedra)
}

/// Middle nodes of edges between corners of a group.
fn between(mesh: &TetMesh, corners: &[usize]) -> Vec<usize> {
    let mut out = Vec::new();
    for e in 0..mesh.element_count() {
        let nodes = mesh.element(e);
        for (i, [a, b]) in EDGES.into_iter().enumerate() {
            let both = [a, b].iter().all(|&c| corners.binary_search(&nodes[c]).is_ok());
            if both {
                out.push(nodes[4 + i]);
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}
