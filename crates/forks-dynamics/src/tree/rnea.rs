//! Inverse dynamics: the recursive Newton–Euler algorithm \[LWP80\], \[K08\] Table
//! 3 with all coordinates prescribed.

use forks_mechanism::lie::{Twist, Wrench};

use super::{
    block::{add, power},
    compile::{Carrier, Slot, Tree},
    kinematics::{Kinematics, ground_acceleration},
    loads::LinkLoads,
};

/// Memory of [`rnea`] and [`bias`].
#[derive(Clone, Debug)]
pub struct RneaWorkspace {
    pub(crate) kinematics: Kinematics,
    acceleration: Vec<Twist>,
    force: Vec<Wrench>,
}

impl RneaWorkspace {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            kinematics: Kinematics::new(tree),
            acceleration: vec![Twist::ZERO; tree.slots.len()],
            force: vec![Wrench::ZERO; tree.slots.len()],
        }
    }
}

/// Generalised forces τ = M θ̈ + bias that accelerate the tree joints with `acceleration`.
///
/// `q`, `v`, `acceleration` and `tau` belong to the tree coordinates; velocities of spherical,
/// planar and free joints are body twists, their accelerations the component derivatives. Springs
/// and dampers are not looked at; their forces are part of τ.
///
/// # Panics
/// If a length does not fit the tree.
pub fn rnea(
    tree: &Tree,
    ws: &mut RneaWorkspace,
    q: &[f64],
    v: &[f64],
    acceleration: &[f64],
    loads: &LinkLoads<'_>,
    tau: &mut [f64],
) {
    assert_eq!(acceleration.len(), tree.velocity_count(), "length of the acceleration");
    newton_euler(tree, ws, q, v, Some(acceleration), loads, tau);
}

/// Coriolis, centrifugal and gravity forces less external wrenches: τ of zero acceleration.
///
/// # Panics
/// If a length does not fit the tree.
pub fn bias(
    tree: &Tree,
    ws: &mut RneaWorkspace,
    q: &[f64],
    v: &[f64],
    loads: &LinkLoads<'_>,
    tau: &mut [f64],
) {
    newton_euler(tree, ws, q, v, None, loads, tau);
}

fn newton_euler(
    tree: &Tree,
    ws: &mut RneaWorkspace,
    q: &[f64],
    v: &[f64],
    acceleration: Option<&[f64]>,
    loads: &LinkLoads<'_>,
    tau: &mut [f64],
) {
    assert_eq!(tau.len(), tree.velocity_count(), "length of tau");
    ws.kinematics.update(tree, q, v);
    ws.kinematics.load(tree, loads);
    outward(tree, ws, acceleration, ground_acceleration(tree, loads));
    inward(tree, ws, acceleration, tau);
}

/// V̇_i = Ad⁻¹ V̇_λ + S θ̈ + c, F_i = I V̇ − ad_vᵀ I v − f_ext.
fn outward(tree: &Tree, ws: &mut RneaWorkspace, acceleration: Option<&[f64]>, ground: Twist) {
    let kin = &ws.kinematics;
    ws.acceleration[0] = ground;
    for (i, s) in tree.slots.iter().enumerate().skip(1) {
        let m = &kin.slots[i];
        let mut a = m.from_outer.twist_outward(&ws.acceleration[s.inner as usize]);
        a.linear += m.product.linear;
        a.angular += m.product.angular;
        if let Some(acceleration) = acceleration {
            add_joint_part(kin, s, acceleration, &mut a);
        }
        ws.acceleration[i] = a;
        let mut f = s.inertia.apply(&a);
        add(&mut f, &s.inertia.gyroscopic(&m.twist));
        if let Some(e) = kin.external(i) {
            f.force -= e.force;
            f.torque -= e.torque;
        }
        ws.force[i] = f;
    }
}

/// t + S x for the coordinates x of a slot's joint.
#[inline(always)]
pub(crate) fn add_joint_part(kin: &Kinematics, s: &Slot, x: &[f64], t: &mut Twist) {
    let at = s.velocity as usize;
    match s.carrier {
        Carrier::Fixed => {}
        Carrier::Revolute => t.angular.z += x[at],
        Carrier::Prismatic => t.linear.z += x[at],
        Carrier::Multi(k) => {
            let part = kin.multi[k as usize].columns.combine(&x[at..at + s.dof as usize]);
            t.linear += part.linear;
            t.angular += part.angular;
        }
    }
}

fn inward(tree: &Tree, ws: &mut RneaWorkspace, acceleration: Option<&[f64]>, tau: &mut [f64]) {
    let kin = &ws.kinematics;
    for (i, s) in tree.slots.iter().enumerate().skip(1).rev() {
        let f = ws.force[i];
        let at = s.velocity as usize;
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute => tau[at] = f.torque.z,
            Carrier::Prismatic => tau[at] = f.force.z,
            Carrier::Multi(k) => {
                let columns = &kin.multi[k as usize].columns;
                for (t, c) in tau[at..].iter_mut().zip(columns.as_slice()) {
                    *t = power(&f, c);
                }
            }
        }
        if let Some(acceleration) = acceleration {
            for k in 0..s.dof as usize {
                tau[at + k] += tree.armature(s, k) * acceleration[at + k];
            }
        }
        let carried = kin.slots[i].from_outer.wrench_inward(&f);
        add(&mut ws.force[s.inner as usize], &carried);
    }
}
