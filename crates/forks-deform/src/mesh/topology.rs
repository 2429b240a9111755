//! What belongs together: surfaces, parts, hinges.

use std::collections::HashMap;

use super::{FACES, MeshNote, TetMesh};

/// Sets that are joined, with the smallest member as name.
struct Joined(Vec<usize>);

impl Joined {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl TetMesh {
    /// Triangles of corners that belong to one element alone, counter-clockwise from outside, in
    /// the order of the elements.
    pub fn boundary(&self) -> Vec<[usize; 3]> {
        self.boundary_faces().iter().map(|&(e, f)| self.face(e, f)).collect()
    }

    /// The same as element and face of it ([`super::FACES`]).
    pub fn boundary_faces(&self) -> Vec<(usize, usize)> {
        let mut owners: HashMap<[usize; 3], usize> = HashMap::new();
        let all = || (0..self.element_count()).flat_map(|e| (0..4).map(move |f| (e, f)));
        let key = |e, f| {
            let mut face = self.face(e, f);
            face.sort_unstable();
            face
        };
        for (e, f) in all() {
            *owners.entry(key(e, f)).or_default() += 1;
        }
        all().filter(|&(e, f)| owners[&key(e, f)] == 1).collect()
    }

    fn face(&self, element: usize, face: usize) -> [usize; 3] {
        FACES[face].map(|i| self.element(element)[i])
    }

    /// For every node the part that it belongs to, named by its smallest node. Nodes of one element
    /// are in one part.
    pub fn parts(&self) -> Vec<usize> {
        let mut joined = Joined::new(self.nodes.len());
        for e in 0..self.element_count() {
            self.element(e).windows(2).for_each(|w| joined.join(w[0], w[1]));
        }
        (0..self.nodes.len()).map(|n| joined.find(n)).collect()
    }

    /// Notes nodes without elements, in one place, and hinges.
    pub(super) fn note_topology(&mut self) {
        let mut used = vec![false; self.nodes.len()];
        self.connectivity.iter().for_each(|&n| used[n] = true);
        for node in (0..used.len()).filter(|&n| !used[n]) {
            self.notes.push(MeshNote::Unused { node });
        }
        let mut places: HashMap<[u64; 3], usize> = HashMap::new();
        for (second, x) in self.nodes.iter().enumerate().filter(|(n, _)| used[*n]) {
            // −0 and 0 are one place.
            let place = x.to_array().map(|c| (c + 0.0).to_bits());
            match places.get(&place) {
                Some(&first) => self.notes.push(MeshNote::Duplicate { first, second }),
                None => drop(places.insert(place, second)),
            }
        }
        self.note_hinges();
    }

    /// A node is a hinge where its elements are not joined by faces around it.
    fn note_hinges(&mut self) {
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for e in 0..self.element_count() {
            self.element(e)[..4].iter().for_each(|&n| around[n].push(e));
        }
        for (node, elements) in around.iter().enumerate() {
            let mut joined = Joined::new(elements.len());
            let mut faces: HashMap<[usize; 2], usize> = HashMap::new();
            for (i, &e) in elements.iter().enumerate() {
                let others: Vec<usize> =
                    self.element(e)[..4].iter().copied().filter(|&n| n != node).collect();
                for skip in 0..3 {
                    let (a, b) = (others[(skip + 1) % 3], others[(skip + 2) % 3]);
                    if let Some(j) = faces.insert([a.min(b), a.max(b)], i) {
                        joined.join(i, j);
                    }
                }
            }
            if (0..elements.len()).any(|i| joined.find(i) != 0) {
                self.notes.push(MeshNote::Hinge { node });
            }
        }
    }
}
