//! Elastic forces, energy and stiffness of all elements at given positions of the nodes.

use std::sync::Arc;

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::simd::Isa,
};

use crate::{
    curvature::Curvature,
    eigensystem::StressDerivative,
    elements::Elements,
    four::Fours,
    material::Material,
    mesh::{Order, TetMesh},
    sparse::SymmetricBlocks,
    window::Selection,
};

/// Elements of one material.
#[derive(Clone, Debug)]
pub struct Elastic {
    elements: Elements,
    material: Material,
    selection: Selection,
    fours: Option<Fours>,
    order: Order,
    /// Where the blocks of every element are in the stiffness: pairs (i, j), j up to i.
    slots: Arc<[usize]>,
}

impl Elastic {
    /// All elements of a mesh, wholly filled.
    pub fn new(mesh: &TetMesh, material: Material) -> Self {
        Self::filled(mesh, material, &[])
    }

    /// The same with the filled part of every element, which weighs energy, forces and mass alike.
    pub fn filled(mesh: &TetMesh, material: Material, parts: &[f64]) -> Self {
        let elements = Elements::new(mesh, parts);
        let (selection, order) = (Selection::default(), mesh.order());
        let slots = Arc::new([]);
        let mut out = Self { elements, material, selection, fours: None, order, slots };
        out.set_isa(Some(Isa::detect()));
        let matrix = out.matrix();
        let of = |e: usize| out.elements.element(e);
        let pairs = (0..out.elements.count()).flat_map(|e| {
            let n = of(e).len();
            (0..n).flat_map(move |i| (0..=i).map(move |j| (of(e)[i], of(e)[j])))
        });
        out.slots = pairs.map(|(i, j)| matrix.slot(i.max(j), i.min(j))).collect();
        out
    }

    /// The instruction set for forces of four linear elements at once, the fastest of the processor
    /// at first; `None` takes them one by one. Sums agree to rounding.
    pub fn set_isa(&mut self, isa: Option<Isa>) {
        let linear = self.order == Order::Linear;
        self.fours = isa.filter(|_| linear).map(|isa| Fours::new(&self.elements, isa));
    }

    /// How elements outside the window are found.
    pub fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// The elements.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Energy at positions `x` (m) of all nodes, J.
    ///
    /// # Panics
    /// If the number of positions is wrong.
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        self.check(x);
        let points = (0..self.elements.count()).flat_map(|e| self.elements.points(e));
        points.map(|p| p.weight * self.material.energy(&p.deformation(x))).sum()
    }

    /// Forces on all nodes at positions `x`, N, into `forces`; returns at how many points F had to
    /// be decomposed.
    ///
    /// # Panics
    /// If the number of positions or forces is wrong.
    pub fn forces(&self, x: &[DVec3], forces: &mut [DVec3]) -> usize {
        self.check(x);
        self.check(forces);
        forces.fill(DVec3::ZERO);
        let fours = self.fours.as_ref().filter(|_| self.selection == Selection::Pivots);
        if let Some(count) = fours.and_then(|f| f.add_forces(&self.material, x, forces)) {
            return count;
        }
        let mut decomposed = 0;
        for e in 0..self.elements.count() {
            for p in self.elements.points(e) {
                let (stress, hard) = self.material.stress(self.selection, &p.deformation(x));
                decomposed += usize::from(hard);
                let stress = stress * -p.weight;
                for (&n, &g) in p.nodes.iter().zip(p.gradients) {
                    forces[n] += stress * g;
                }
            }
        }
        decomposed
    }

    /// Stiffness −∂f/∂x at `x`, N/m, into `k`.
    ///
    /// # Panics
    /// If the number of positions is wrong, or `k` is not from [`Elastic::matrix`].
    pub fn stiffness(&self, x: &[DVec3], curvature: Curvature, k: &mut SymmetricBlocks) {
        self.check(x);
        k.clear();
        let n = self.elements.element(0).len();
        let mut turned = [DVec3::ZERO; 10];
        for (e, slots) in self.slots.chunks_exact(n * (n + 1) / 2).enumerate() {
            for p in self.elements.points(e) {
                let f = p.deformation(x);
                let mut at = 0;
                let mut add = |i: usize, j: usize, block: DMat3| {
                    // Rows are those of the node with the larger number.
                    let turned = p.nodes[j] > p.nodes[i];
                    k.add_at(slots[at], if turned { block.transpose() } else { block });
                    at += 1;
                };
                if let Some(plain) = self.material.plain_stiffness(self.selection, curvature, &f) {
                    for (t, g) in turned[..n].iter_mut().zip(p.gradients) {
                        *t = f * *g;
                    }
                    for i in 0..n {
                        for j in 0..=i {
                            let g = [p.gradients[i], p.gradients[j]];
                            add(i, j, plain.block(g, [turned[i], turned[j]], p.weight));
                        }
                    }
                    continue;
                }
                let h = StressDerivative::new(&self.material, curvature, &f);
                for (t, g) in turned[..n].iter_mut().zip(p.gradients) {
                    *t = h.turned(*g);
                }
                for i in 0..n {
                    for j in 0..=i {
                        add(i, j, h.block(turned[i] * p.weight, turned[j]));
                    }
                }
            }
        }
    }

    /// A matrix with the pattern of the stiffness, over all nodes.
    pub fn matrix(&self) -> SymmetricBlocks {
        let all = (0..self.elements.count()).map(|e| self.elements.element(e));
        SymmetricBlocks::of_elements(self.elements.node_count(), all)
    }

    fn check<T>(&self, x: &[T]) {
        assert_eq!(x.len(), self.elements.node_count(), "number of nodes");
    }
}
