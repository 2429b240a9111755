//! Derivatives of accelerations with respect to the force or the prescribed acceleration of every
//! coordinate (\[K08\] Table 6 with its four misprints corrected), as operators and as columns.
//!
//! At fixed q the accelerations are affine in what is given, so the derivative is the same
//! recursion without its velocity terms. With dτ of free and dθ̈ of prescribed coordinates (S and
//! S_p) and wrenches dw on links:
//!
//! dB_i = Σ_k Ad⁻ᵀ dβ_k − dw_i, dβ_i = dB_i + Π_i S_p dθ̈_p + U_i D⁻¹ (dτ_i − Sᵀ dB_i),
//!
//! dV̇_i = Ad⁻¹ dV̇_λ + S_p dθ̈_p + S dθ̈_i, dθ̈_i = D⁻¹ (dτ_i − Sᵀ dB_i − Uᵀ(Ad⁻¹ dV̇_λ + S_p
//! dθ̈_p)),
//!
//! dF_i = Ĵ_i dV̇_i + dB_i, dτ_p = S_pᵀ dF_i. Free joints have Π = Ĵ − U D⁻¹ Uᵀ, prescribed ones Π
//! = Ĵ.

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::Matrix,
};

use super::{
    articulated::{AbaWorkspace, Given, inward},
    block::{add, add_scaled, power},
    compile::{Carrier, Slot, Tree},
    crba::column,
    error::DynamicsError,
    loads::LinkLoads,
};

/// Memory of [`acceleration_derivatives`].
#[derive(Clone, Debug)]
pub struct DerivativeWorkspace {
    aba: AbaWorkspace,
    rest: Vec<f64>,
    prescribed: Vec<bool>,
    change: Vec<f64>,
    /// dB, slot by slot.
    bias: Vec<Wrench>,
    /// dV̇, slot by slot.
    acceleration: Vec<Twist>,
}

impl DerivativeWorkspace {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.velocity_count();
        Self {
            aba: AbaWorkspace::new(tree),
            rest: vec![0.0; n],
            prescribed: vec![false; n],
            change: vec![0.0; n],
            bias: vec![Wrench::ZERO; tree.slots.len()],
            acceleration: vec![Twist::ZERO; tree.slots.len()],
        }
    }
}

/// The linear map from dτ of free and dθ̈ of prescribed coordinates to accelerations and forces at
/// one configuration, in O(n) per application.
#[derive(Debug)]
pub struct AccelerationDerivatives<'a> {
    tree: &'a Tree,
    ws: &'a mut DerivativeWorkspace,
}

/// Linearises hybrid dynamics at positions `q`: velocities and loads do not matter.
///
/// # Errors
/// Where a free coordinate moves no inertia, or an input is not finite.
///
/// # Panics
/// If a length does not fit the tree.
pub fn acceleration_derivatives<'a>(
    tree: &'a Tree,
    ws: &'a mut DerivativeWorkspace,
    q: &[f64],
    prescribed: &[bool],
) -> Result<AccelerationDerivatives<'a>, DynamicsError> {
    assert_eq!(prescribed.len(), tree.velocity_count(), "number of prescribed flags");
    ws.prescribed.copy_from_slice(prescribed);
    ws.aba.kinematics.update(tree, q, &ws.rest);
    ws.aba.kinematics.load(tree, &LinkLoads::NONE);
    inward::<true>(tree, &mut ws.aba, Given { prescribed, values: &ws.rest })?;
    Ok(AccelerationDerivatives { tree, ws })
}

impl AccelerationDerivatives<'_> {
    /// The response to a change of all given values at once (dτ where free, dθ̈ where prescribed)
    /// and to body wrenches on the links (the ground first; empty for none): dθ̈ and dτ of every
    /// coordinate.
    ///
    /// # Panics
    /// If a length does not fit the tree.
    pub fn apply(
        &mut self,
        change: &[f64],
        wrenches: &[Wrench],
        acceleration: &mut [f64],
        tau: &mut [f64],
    ) {
        self.ws.change.copy_from_slice(change);
        self.load(wrenches);
        for i in (1..self.tree.slots.len()).rev() {
            self.pass_inward(i);
        }
        self.outward(acceleration);
        self.forces(acceleration, tau);
    }

    /// The response to a unit change of the given value of one coordinate; the inward sweep follows
    /// its path to the ground alone.
    ///
    /// # Panics
    /// If a length or the index does not fit the tree.
    pub fn apply_unit(&mut self, coordinate: usize, acceleration: &mut [f64], tau: &mut [f64]) {
        self.ws.change.fill(0.0);
        self.ws.change[coordinate] = 1.0;
        self.load(&[]);
        let mut i = self.tree.slot_of_velocity(coordinate);
        while i != 0 {
            self.pass_inward(i);
            i = self.tree.slots[i].inner as usize;
        }
        self.outward(acceleration);
        self.forces(acceleration, tau);
    }

    /// Changes of all link accelerations (derivatives of body-twist components) in the last
    /// application.
    ///
    /// # Panics
    /// If `out` does not have one entry per link, the ground first.
    pub fn link_accelerations(&self, out: &mut [Twist]) {
        assert_eq!(out.len(), self.tree.link_count(), "number of link accelerations");
        for (i, l) in self.tree.links.iter().enumerate() {
            out[l.link.index()] = self.tree.twist_in_link(i, &self.ws.acceleration[i]);
        }
    }

    /// The transposed map of link accelerations: out_z = Σ_l weights_l · dV̇_l/d(given value of z).
    ///
    /// By symmetry it is the response to the weights as wrenches: θ̈ of free coordinates, −τ of
    /// prescribed ones. `weights` are in link frames, the ground first.
    ///
    /// # Panics
    /// If a length does not fit the tree.
    pub fn apply_transpose(&mut self, weights: &[Wrench], out: &mut [f64]) {
        self.ws.change.fill(0.0);
        self.load(weights);
        for i in (1..self.tree.slots.len()).rev() {
            self.pass_inward(i);
        }
        self.outward(out);
        for (i, s) in self.tree.slots.iter().enumerate().skip(1) {
            let mut force = None;
            for k in 0..s.dof as usize {
                let at = s.velocity as usize + k;
                if self.ws.prescribed[at] {
                    let f = force.get_or_insert_with(|| self.force(i));
                    out[at] = -power(f, &column(&self.ws.aba.kinematics, s, k));
                }
            }
        }
    }

    /// Dense columns: row 6 l + i, column z is the derivative of component i of link l's
    /// acceleration with respect to the given value of coordinate z.
    ///
    /// # Panics
    /// If `out` is not (6 · links)×nv.
    pub fn dense(&mut self, out: &mut Matrix) {
        let (links, n) = (self.tree.link_count(), self.tree.velocity_count());
        assert_eq!((out.rows(), out.columns()), (6 * links, n), "size of the derivative");
        let (mut acceleration, mut tau) = (vec![0.0; n], vec![0.0; n]);
        let mut twists = vec![Twist::ZERO; links];
        for z in 0..n {
            self.apply_unit(z, &mut acceleration, &mut tau);
            self.link_accelerations(&mut twists);
            for (l, t) in twists.iter().enumerate() {
                for (i, x) in t.to_array().into_iter().enumerate() {
                    out[(6 * l + i, z)] = x;
                }
            }
        }
    }

    fn load(&mut self, wrenches: &[Wrench]) {
        if wrenches.is_empty() {
            self.ws.bias.fill(Wrench::ZERO);
            return;
        }
        assert_eq!(wrenches.len(), self.tree.link_count(), "number of link wrenches");
        for (i, l) in self.tree.links.iter().enumerate() {
            self.ws.bias[i] = -self.tree.wrench_in_slot(i, &wrenches[l.link.index()]);
        }
    }

    /// Adds dβ of slot `i` to dB of the slot inward of it.
    fn pass_inward(&mut self, i: usize) {
        let (s, ws) = (&self.tree.slots[i], &*self.ws);
        let mut beta = ws.bias[i];
        let (a, given) = (&ws.aba.slots[i], s.velocity as usize);
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute | Carrier::Prismatic if ws.prescribed[given] => {
                let c = column(&ws.aba.kinematics, s, 0) * ws.change[given];
                add(&mut beta, &a.inertia.apply(&c));
            }
            Carrier::Revolute => {
                let u = (ws.change[given] - beta.torque.z) * a.inverse;
                add_scaled(&mut beta, &a.u, u);
            }
            Carrier::Prismatic => {
                let u = (ws.change[given] - beta.force.z) * a.inverse;
                add_scaled(&mut beta, &a.u, u);
            }
            Carrier::Multi(j) => {
                let moved = self.prescribed_part(s);
                let m = &ws.aba.multi[j as usize];
                let x = self.free_part(i, &moved);
                add(&mut beta, &a.inertia.apply(&moved));
                for (u, x) in m.u.iter().zip(&x[..m.count]) {
                    add_scaled(&mut beta, u, *x);
                }
            }
        }
        let carried = ws.aba.kinematics.slots[i].from_outer.wrench_inward(&beta);
        add(&mut self.ws.bias[s.inner as usize], &carried);
    }

    /// S_p dθ̈_p.
    fn prescribed_part(&self, s: &Slot) -> Twist {
        let mut t = Twist::ZERO;
        for k in 0..s.dof as usize {
            let at = s.velocity as usize + k;
            if self.ws.prescribed[at] {
                t += column(&self.ws.aba.kinematics, s, k) * self.ws.change[at];
            }
        }
        t
    }

    /// D⁻¹ (dτ − Sᵀ dB − Uᵀ t) of a joint of several coordinates.
    fn free_part(&self, i: usize, t: &Twist) -> [f64; 6] {
        let (s, ws) = (&self.tree.slots[i], &*self.ws);
        let Carrier::Multi(j) = s.carrier else { return [0.0; 6] };
        let m = &ws.aba.multi[j as usize];
        let mut x = [0.0; 6];
        for (y, &k) in m.free[..m.count].iter().enumerate() {
            let c = column(&ws.aba.kinematics, s, k);
            x[y] = ws.change[s.velocity as usize + k] - power(&ws.bias[i], &c) - power(&m.u[y], t);
        }
        m.pivots.solve(&mut x);
        x
    }

    fn outward(&mut self, acceleration: &mut [f64]) {
        assert_eq!(acceleration.len(), self.tree.velocity_count(), "length of the acceleration");
        acceleration.copy_from_slice(&self.ws.change);
        self.ws.acceleration[0] = Twist::ZERO;
        for (i, s) in self.tree.slots.iter().enumerate().skip(1) {
            let ws = &*self.ws;
            let from_outer = &ws.aba.kinematics.slots[i].from_outer;
            let mut t = from_outer.twist_outward(&ws.acceleration[s.inner as usize]);
            let (a, at) = (&ws.aba.slots[i], s.velocity as usize);
            match s.carrier {
                Carrier::Fixed => {}
                Carrier::Revolute | Carrier::Prismatic => {
                    let c = column(&ws.aba.kinematics, s, 0);
                    if !ws.prescribed[at] {
                        let rhs = ws.change[at] - power(&ws.bias[i], &c);
                        acceleration[at] = (rhs - power(&a.u, &t)) * a.inverse;
                    }
                    t += c * acceleration[at];
                }
                Carrier::Multi(j) => {
                    t += self.prescribed_part(s);
                    let (m, x) = (&ws.aba.multi[j as usize], self.free_part(i, &t));
                    for (x, &k) in x.iter().zip(&m.free[..m.count]) {
                        acceleration[at + k] = *x;
                        t += column(&ws.aba.kinematics, s, k) * *x;
                    }
                }
            }
            self.ws.acceleration[i] = t;
        }
    }

    /// dF of a slot.
    fn force(&self, i: usize) -> Wrench {
        let mut f = self.ws.aba.slots[i].inertia.apply(&self.ws.acceleration[i]);
        add(&mut f, &self.ws.bias[i]);
        f
    }

    fn forces(&self, acceleration: &[f64], tau: &mut [f64]) {
        tau.copy_from_slice(&self.ws.change);
        for (i, s) in self.tree.slots.iter().enumerate().skip(1) {
            for k in 0..s.dof as usize {
                let at = s.velocity as usize + k;
                if self.ws.prescribed[at] {
                    let c = column(&self.ws.aba.kinematics, s, k);
                    let rotor = self.tree.armature(s, k) * acceleration[at];
                    tau[at] = power(&self.force(i), &c) + rotor;
                }
            }
        }
    }
}
