//! The sweeps of forward and hybrid dynamics: articulated-body inertias (\[K08\] Table 3;
//! \[F83\] where nothing is prescribed).
//!
//! Inward, for every slot with articulated inertia Ĵ and bias wrench p̂, over its free columns S
//! and with c′ = c + S_p θ̈_p the velocity product and the prescribed part:
//!
//! U = Ĵ S, D = Sᵀ U + armature, u = τ − Sᵀ p̂, Π = Ĵ − U D⁻¹ Uᵀ, β = p̂ + Π c′ + U D⁻¹ u,
//!
//! Ĵ_λ += Ad⁻ᵀ Π Ad⁻¹, p̂_λ += Ad⁻ᵀ β. Outward: a = Ad⁻¹ V̇_λ + c′, θ̈ = D⁻¹(u − Uᵀ a), V̇ = a + S
//! θ̈.

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::{Ldl6, Pivots},
};

use super::{
    block::{Inertia, add, add_scaled, power},
    compile::{Carrier, Slot, Tree},
    error::DynamicsError,
    kinematics::Kinematics,
};

/// A pivot below this part of the inertia it is taken from is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Articulated quantities of one slot; `u`, `inverse`, `rhs` are those of one-dof joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Articulated {
    /// Ĵ.
    pub(crate) inertia: Inertia,
    /// p̂.
    pub(crate) bias: Wrench,
    /// U; zero for a prescribed coordinate.
    pub(crate) u: Wrench,
    /// 1/D; zero for a prescribed coordinate.
    pub(crate) inverse: f64,
    /// u.
    rhs: f64,
    /// V̇.
    pub(crate) acceleration: Twist,
}

/// The same for a joint of several coordinates, over its free ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiArticulated {
    /// Which coordinates are free.
    pub(crate) free: [usize; 6],
    pub(crate) count: usize,
    /// U, column by column.
    pub(crate) u: [Wrench; 6],
    /// D.
    pub(crate) pivots: Ldl6,
    rhs: [f64; 6],
}

impl MultiArticulated {
    const EMPTY: Self =
        Self { free: [0; 6], count: 0, u: [Wrench::ZERO; 6], pivots: Ldl6::EMPTY, rhs: [0.0; 6] };
}

/// Memory of [`super::aba`] and [`super::hybrid`].
#[derive(Clone, Debug)]
pub struct AbaWorkspace {
    pub(crate) kinematics: Kinematics,
    pub(crate) slots: Vec<Articulated>,
    pub(crate) multi: Vec<MultiArticulated>,
}

impl AbaWorkspace {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Self {
        let slot = Articulated {
            inertia: Inertia::ZERO,
            bias: Wrench::ZERO,
            u: Wrench::ZERO,
            inverse: 0.0,
            rhs: 0.0,
            acceleration: Twist::ZERO,
        };
        Self {
            kinematics: Kinematics::new(tree),
            slots: vec![slot; tree.slots.len()],
            multi: vec![MultiArticulated::EMPTY; tree.multi.len()],
        }
    }

    /// Accelerations of all links in the last [`super::aba`] or [`super::hybrid`] call of this
    /// workspace: time derivatives of the components of the links' body twists. One entry per link,
    /// the ground first.
    ///
    /// The acceleration of a link frame's origin in its axes is `linear + ω × v` (\[K08\] Eq. 21 as
    /// corrected: gravity is in it).
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn link_accelerations(&mut self, tree: &Tree, out: &mut [Twist]) {
        assert_eq!(out.len(), tree.link_count(), "number of link accelerations");
        // Inside, accelerations are relative to a falling frame; the ground's tells how it falls.
        let fall = self.kinematics.world_vector_in_slots(tree, -self.slots[0].acceleration.linear);
        for (i, l) in tree.links.iter().enumerate() {
            let mut a = self.slots[i].acceleration;
            a.linear += fall[i];
            out[l.link.index()] = tree.twist_in_link(i, &a);
        }
    }
}

/// What is given for every coordinate: its force, or its acceleration where prescribed.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// Empty where nothing is prescribed.
    pub(crate) prescribed: &'a [bool],
    pub(crate) values: &'a [f64],
}

/// The inward sweep. `HYBRID` false ignores `given.prescribed`.
pub(crate) fn inward<const HYBRID: bool>(
    tree: &Tree,
    ws: &mut AbaWorkspace,
    given: Given<'_>,
) -> Result<(), DynamicsError> {
    start(tree, ws);
    let AbaWorkspace { kinematics, slots, multi } = ws;
    for (i, s) in tree.slots.iter().enumerate().skip(1).rev() {
        let k = s.velocity as usize;
        let prescribed = HYBRID && s.dof > 0 && given.prescribed[k];
        let (pi, beta) = match s.carrier {
            Carrier::Fixed => fixed(kinematics, &slots[i], i),
            Carrier::Revolute if prescribed => {
                kinematics.slots[i].product.angular.z += given.values[k];
                pass_prescribed(kinematics, &mut slots[i], i)
            }
            Carrier::Prismatic if prescribed => {
                kinematics.slots[i].product.linear.z += given.values[k];
                pass_prescribed(kinematics, &mut slots[i], i)
            }
            Carrier::Revolute => revolute(tree, kinematics, &mut slots[i], i, given.values[k])?,
            Carrier::Prismatic => prismatic(tree, kinematics, &mut slots[i], i, given.values[k])?,
            Carrier::Multi(j) => {
                let m = &mut multi[j as usize];
                split_coordinates::<HYBRID>(kinematics, s, i, j as usize, given, m);
                eliminate_multi(tree, kinematics, &slots[i], i, given, m)?
            }
        };
        let x = &kinematics.slots[i].from_outer;
        let (pi, beta) = (pi.inward(x), x.wrench_inward(&beta));
        let inner = &mut slots[s.inner as usize];
        inner.inertia = inner.inertia.plus(&pi);
        add(&mut inner.bias, &beta);
    }
    Ok(())
}

/// Every slot's own inertia and bias wrench, −ad_vᵀ I v − f_ext.
fn start(tree: &Tree, ws: &mut AbaWorkspace) {
    for (i, s) in tree.slots.iter().enumerate() {
        ws.slots[i].inertia = s.inertia.blocks();
        let mut bias = s.inertia.gyroscopic(&ws.kinematics.slots[i].twist);
        if let Some(e) = ws.kinematics.external(i) {
            bias.force -= e.force;
            bias.torque -= e.torque;
        }
        ws.slots[i].bias = bias;
    }
}

/// A free hinge: S = e_ωz, so U and D are entries of Ĵ.
#[inline(always)]
fn revolute(
    tree: &Tree,
    kin: &Kinematics,
    a: &mut Articulated,
    slot: usize,
    tau: f64,
) -> Result<(Inertia, Wrench), DynamicsError> {
    let u = Wrench { force: a.inertia.b.z_axis, torque: a.inertia.d.z() };
    let d = a.inertia.d.zz + tree.slots[slot].armature;
    check(tree, slot, 0, d, ROUNDING * a.inertia.d.trace())?;
    let rhs = tau - a.bias.torque.z;
    Ok(eliminate(kin, a, slot, u, d, rhs))
}

/// A free slide: S = e_vz.
#[inline(always)]
fn prismatic(
    tree: &Tree,
    kin: &Kinematics,
    a: &mut Articulated,
    slot: usize,
    tau: f64,
) -> Result<(Inertia, Wrench), DynamicsError> {
    let u = Wrench { force: a.inertia.a.z(), torque: a.inertia.b.row(2) };
    let d = a.inertia.a.zz + tree.slots[slot].armature;
    check(tree, slot, 0, d, ROUNDING * a.inertia.a.trace())?;
    let rhs = tau - a.bias.force.z;
    Ok(eliminate(kin, a, slot, u, d, rhs))
}

#[inline(always)]
fn check(tree: &Tree, slot: usize, k: usize, pivot: f64, least: f64) -> Result<(), DynamicsError> {
    // Written so that NaN is refused.
    if pivot > least { Ok(()) } else { Err(no_inertia(tree, slot, k, pivot)) }
}

#[cold]
fn no_inertia(tree: &Tree, slot: usize, coordinate: usize, inertia: f64) -> DynamicsError {
    let at = &tree.links[slot];
    let joint = at.joint_label.clone();
    if inertia.is_finite() {
        DynamicsError::NoInertia { joint, coordinate, link: at.link_name.clone(), inertia }
    } else {
        DynamicsError::NotFinite { joint, coordinate, inertia }
    }
}

#[inline(always)]
fn fixed(kin: &Kinematics, a: &Articulated, slot: usize) -> (Inertia, Wrench) {
    let mut beta = a.inertia.apply(&kin.slots[slot].product);
    add(&mut beta, &a.bias);
    (a.inertia, beta)
}

fn pass_prescribed(kin: &Kinematics, a: &mut Articulated, slot: usize) -> (Inertia, Wrench) {
    a.u = Wrench::ZERO;
    a.inverse = 0.0;
    a.rhs = 0.0;
    fixed(kin, a, slot)
}

/// Π and β of a free one-dof joint.
#[inline(always)]
fn eliminate(
    kin: &Kinematics,
    a: &mut Articulated,
    slot: usize,
    u: Wrench,
    d: f64,
    rhs: f64,
) -> (Inertia, Wrench) {
    let inverse = 1.0 / d;
    a.u = u;
    a.inverse = inverse;
    a.rhs = rhs;
    let scaled = Wrench { force: u.force * inverse, torque: u.torque * inverse };
    let pi = a.inertia.minus_outer(&u, &scaled);
    let mut beta = pi.apply(&kin.slots[slot].product);
    add(&mut beta, &a.bias);
    add_scaled(&mut beta, &scaled, rhs);
    (pi, beta)
}

/// Sorts a joint's coordinates into free and prescribed ones; the latter go into c′.
fn split_coordinates<const HYBRID: bool>(
    kin: &mut Kinematics,
    s: &Slot,
    slot: usize,
    joint: usize,
    given: Given<'_>,
    m: &mut MultiArticulated,
) {
    m.count = 0;
    for k in 0..s.dof as usize {
        let at = s.velocity as usize + k;
        if HYBRID && given.prescribed[at] {
            let part = kin.multi[joint].columns.as_slice()[k] * given.values[at];
            kin.slots[slot].product += part;
        } else {
            m.free[m.count] = k;
            m.count += 1;
        }
    }
}

/// Π and β of a joint of several coordinates.
fn eliminate_multi(
    tree: &Tree,
    kin: &Kinematics,
    a: &Articulated,
    slot: usize,
    given: Given<'_>,
    m: &mut MultiArticulated,
) -> Result<(Inertia, Wrench), DynamicsError> {
    let s = &tree.slots[slot];
    let Carrier::Multi(joint) = s.carrier else {
        unreachable!("only joints of several coordinates")
    };
    let columns = kin.multi[joint as usize].columns;
    let columns = columns.as_slice();
    let (mut d, mut least) = ([[0.0; 6]; 6], [0.0; 6]);
    for (x, &k) in m.free[..m.count].iter().enumerate() {
        let c = &columns[k];
        m.u[x] = a.inertia.apply(c);
        for (y, &l) in m.free[..=x].iter().enumerate() {
            d[x][y] = power(&m.u[x], &columns[l]);
        }
        d[x][x] += tree.armature(s, k);
        least[x] = ROUNDING
            * (a.inertia.a.trace() * c.linear.length_squared()
                + a.inertia.d.trace() * c.angular.length_squared());
        m.rhs[x] = given.values[s.velocity as usize + k] - power(&a.bias, c);
    }
    m.pivots = Ldl6::new(&d, m.count, Pivots::AboveEach(&least))
        .map_err(|bad| no_inertia(tree, slot, m.free[bad.row], bad.pivot))?;
    let (pi, mut beta) = m.projected(a, &kin.slots[slot].product);
    let mut x = m.rhs;
    m.pivots.solve(&mut x);
    for (u, x) in m.u.iter().zip(&x[..m.count]) {
        add_scaled(&mut beta, u, *x);
    }
    Ok((pi, beta))
}

impl MultiArticulated {
    /// Π = Ĵ − U D⁻¹ Uᵀ, and p̂ + Π c′.
    fn projected(&self, a: &Articulated, product: &Twist) -> (Inertia, Wrench) {
        // With D = L Δ Lᵀ and W = U L⁻ᵀ: U D⁻¹ Uᵀ = Σ w wᵀ/δ, a sum of symmetric terms.
        let (mut pi, mut w) = (a.inertia, self.u);
        for i in 0..self.count {
            for j in 0..i {
                let before = w[j];
                add_scaled(&mut w[i], &before, -self.pivots.lower(i, j));
            }
            let s = self.pivots.inverse(i);
            let scaled = Wrench { force: w[i].force * s, torque: w[i].torque * s };
            pi = pi.minus_outer(&w[i], &scaled);
        }
        let mut beta = pi.apply(product);
        add(&mut beta, &a.bias);
        (pi, beta)
    }

    /// Writes D⁻¹ (u − Uᵀ t) to the free coordinates and adds what they move to t.
    fn accelerate(&self, columns: &[Twist], t: &mut Twist, out: &mut [f64]) {
        let mut x: [f64; 6] = core::array::from_fn(|y| self.rhs[y] - power(&self.u[y], t));
        self.pivots.solve(&mut x);
        for (x, &k) in x.iter().zip(&self.free[..self.count]) {
            out[k] = *x;
            *t += columns[k] * *x;
        }
    }
}

/// The outward sweep: accelerations of all coordinates and slots.
pub(crate) fn outward(
    tree: &Tree,
    ws: &mut AbaWorkspace,
    ground: Twist,
    given: Given<'_>,
    acceleration: &mut [f64],
) {
    let AbaWorkspace { kinematics, slots, multi } = ws;
    slots[0].acceleration = ground;
    for (i, s) in tree.slots.iter().enumerate().skip(1) {
        let m = &kinematics.slots[i];
        let mut t = m.from_outer.twist_outward(&slots[s.inner as usize].acceleration);
        t.linear += m.product.linear;
        t.angular += m.product.angular;
        let k = s.velocity as usize;
        let a = &mut slots[i];
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute | Carrier::Prismatic if a.inverse == 0.0 => {
                acceleration[k] = given.values[k];
            }
            Carrier::Revolute => {
                let x = (a.rhs - power(&a.u, &t)) * a.inverse;
                t.angular.z += x;
                acceleration[k] = x;
            }
            Carrier::Prismatic => {
                let x = (a.rhs - power(&a.u, &t)) * a.inverse;
                t.linear.z += x;
                acceleration[k] = x;
            }
            Carrier::Multi(j) => {
                let columns = kinematics.multi[j as usize].columns.as_slice();
                let out = &mut acceleration[k..k + s.dof as usize];
                out.copy_from_slice(&given.values[k..k + s.dof as usize]);
                multi[j as usize].accelerate(columns, &mut t, out);
            }
        }
        a.acceleration = t;
    }
}

/// Forces of the prescribed coordinates, τ = Sᵀ (Ĵ V̇ + p̂) + armature θ̈, and the given ones.
pub(crate) fn joint_forces(
    tree: &Tree,
    ws: &AbaWorkspace,
    given: Given<'_>,
    acceleration: &[f64],
    tau: &mut [f64],
) {
    tau.copy_from_slice(given.values);
    for (i, s) in tree.slots.iter().enumerate().skip(1) {
        let range = s.velocity as usize..(s.velocity + s.dof) as usize;
        if !given.prescribed[range.clone()].contains(&true) {
            continue;
        }
        let a = &ws.slots[i];
        let mut force = a.inertia.apply(&a.acceleration);
        add(&mut force, &a.bias);
        for (k, at) in range.enumerate() {
            if given.prescribed[at] {
                let c = super::crba::column(&ws.kinematics, s, k);
                tau[at] = power(&force, &c) + tree.armature(s, k) * acceleration[at];
            }
        }
    }
}
