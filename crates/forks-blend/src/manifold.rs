//! One sample whose links and effectors follow the joints exactly ([`Kinematics::Joints`]).
//!
//! [`Kinematics::Joints`]: crate::Kinematics::Joints

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::{Matrix, simd::Arithmetic};
use forks_rom::EffectorLoad;

use crate::{
    chart::{Curved, add_quadratic, fill_products},
    chart_evaluate::in_world,
    evaluation::Evaluation,
    model::BlendedModel,
    tree::Tree,
};

/// Adds `part` times a force per coordinate: from that per product of one and two, or of one only.
#[inline(always)]
fn add_pulled(pulled: &[f64], y: &[f64], products: &[f64], part: f64, out: &mut [f64]) {
    if pulled.len() == y.len() {
        out.iter_mut().zip(pulled).for_each(|(o, p)| *o += part * p);
    } else {
        add_quadratic(pulled, y, products, part, out);
    }
}

impl Evaluation {
    /// Everything at `x`.
    #[inline(always)]
    pub(crate) fn at_manifold<L: Arithmetic>(
        &mut self,
        l: L,
        model: &BlendedModel,
        (tree, c): (&Tree, &Curved),
        x: &[f64],
    ) {
        let n = x.len();
        self.places.locate(model, x);
        let places = &mut self.places;
        let inside = if places.edge.is_some() { &places.clamped[..] } else { x };
        for (y, (x, p)) in places.right.iter_mut().zip(inside.iter().zip(&c.place)) {
            *y = x - p;
        }
        if c.straight && self.driven_slopes.is_empty() {
            places.products[..n].copy_from_slice(&places.right);
        } else {
            fill_products(&places.right, &mut places.products);
        }
        let (y, products) = places.products.split_at(n);
        let slope = &mut self.gradient[..n];
        let mut change = c.energy.evaluate(y, products, &mut places.inner, slope);
        if let Some(driven) = self.driven_energies.first() {
            change += driven + add_quadratic(&self.driven_slopes, y, products, 1.0, slope);
        }
        let potential = model.samples[0].potential;
        self.size_of_terms = potential.abs() + change.abs();
        tree.sweep(l, &places.products, &mut self.tree);
        if tree.has_forces() {
            let (energy, size) = tree.weigh(&mut self.tree);
            let pulled = tree.pulled(l, &mut self.tree);
            add_pulled(pulled, y, products, -1.0, &mut self.gradient[..n]);
            change += energy;
            self.size_of_terms += size;
        }
        self.energy = potential + change;
        for (e, pose) in self.poses.iter_mut().enumerate() {
            *pose = tree.effector(e, &self.tree);
        }
        self.weights[0] = 1.0;
        self.active.clear();
        self.active.push(0);
        self.chart_outside(model);
        self.continue_energy(model);
    }

    /// (∂δ/∂x)ᵀ of the joints' torques under loads at the last place.
    #[inline(always)]
    pub(crate) fn pull_tree_loads<L: Arithmetic>(
        &mut self,
        l: L,
        tree: &Tree,
        loads: &[EffectorLoad],
        out: &mut [f64],
        n: usize,
    ) {
        if loads.is_empty() {
            return;
        }
        tree.unload(&mut self.tree);
        for load in loads {
            let pose = self.poses[load.effector];
            let wrench = in_world(load, pose.rotation);
            tree.load(load.effector, pose.translation, wrench, &mut self.tree);
        }
        let (y, products) = self.places.products.split_at(n);
        let slopes = tree.pulled(l, &mut self.tree);
        let mut force = core::mem::take(&mut self.places.right);
        force.fill(0.0);
        add_pulled(slopes, y, products, 1.0, &mut force);
        self.places.turn_outward(&mut force);
        out.iter_mut().zip(&force).for_each(|(o, f)| *o += f);
        self.places.right = force;
    }
}

impl BlendedModel {
    /// Body twist of effector `e` per coordinate, at the last place of an evaluation, into the last
    /// columns.
    pub(crate) fn tree_jacobian(&self, tree: &Tree, here: &Evaluation, e: usize, out: &mut Matrix) {
        let (n, at) = (self.dof(), out.columns() - self.dof());
        let Pose { rotation, translation } = here.poses[e];
        let (back, y) = (rotation.conjugate(), &here.places.products[..n]);
        (0..6).for_each(|i| out.row_mut(i)[at..].fill(0.0));
        for (i, linear, angular) in tree.motions(e, translation, &here.tree) {
            let (v, w): (DVec3, DVec3) = (back * linear, back * angular);
            let body = [v.x, v.y, v.z, w.x, w.y, w.z];
            let (first, mut second) = tree.map.row(i).split_at(n);
            // ∂δ/∂x, coefficient by coefficient.
            for (k, a) in first.iter().enumerate() {
                body.iter().enumerate().for_each(|(i, b)| out[(i, at + k)] += a * b);
            }
            for j in (0..n).filter(|_| tree.map.columns() > n) {
                let (row, rest) = second.split_at(n - j);
                for (k, c) in (j..n).zip(row) {
                    for (i, b) in body.iter().enumerate() {
                        out[(i, at + j)] += c * y[k] * b;
                        out[(i, at + k)] += c * y[j] * b;
                    }
                }
                second = rest;
            }
        }
        (0..6).for_each(|i| here.places.turn_outward(&mut out.row_mut(i)[at..]));
    }
}
