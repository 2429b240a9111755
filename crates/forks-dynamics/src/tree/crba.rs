//! The mass matrix: the composite-rigid-body algorithm \[WO82\].

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::Matrix,
};

use super::{
    block::{Inertia, power},
    compile::{Carrier, Slot, Tree},
    kinematics::Kinematics,
};

/// Memory of [`crba`].
#[derive(Clone, Debug)]
pub struct CrbaWorkspace {
    pub(crate) kinematics: Kinematics,
    composite: Vec<Inertia>,
    rest: Vec<f64>,
}

impl CrbaWorkspace {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            kinematics: Kinematics::new(tree),
            composite: vec![Inertia::ZERO; tree.slots.len()],
            rest: vec![0.0; tree.velocity_count()],
        }
    }
}

/// The mass matrix M(q) of the tree coordinates with armature on its diagonal, symmetric to the
/// last bit.
///
/// Work grows with the number of joints times their depth: as many entries are not zero.
///
/// # Panics
/// If `q` or `mass` (nv×nv at least; further rows and columns are left alone) does not fit the
/// tree.
pub fn crba(tree: &Tree, ws: &mut CrbaWorkspace, q: &[f64], mass: &mut Matrix) {
    let n = tree.velocity_count();
    assert!(mass.rows() >= n && mass.columns() >= n, "mass matrix smaller than {n}×{n}");
    for i in 0..n {
        mass.row_mut(i)[..n].fill(0.0);
    }
    ws.kinematics.update(tree, q, &ws.rest);
    for (c, s) in ws.composite.iter_mut().zip(&tree.slots) {
        *c = s.inertia.blocks();
    }
    for (i, s) in tree.slots.iter().enumerate().skip(1).rev() {
        let (kin, composite) = (&ws.kinematics, ws.composite[i]);
        for k in 0..s.dof as usize {
            let column = column(kin, s, k);
            let momentum = composite.apply(&column);
            let row = s.velocity as usize + k;
            for l in 0..=k {
                set(mass, row, s.velocity as usize + l, power(&momentum, &self::column(kin, s, l)));
            }
            mass[(row, row)] += tree.armature(s, k);
            carry_inward(tree, kin, i, row, momentum, mass);
        }
        let inner = s.inner as usize;
        ws.composite[inner] = ws.composite[inner].plus(&composite.inward(&kin.slots[i].from_outer));
    }
}

/// Momentum of the bodies outward of a joint, felt by the joints inward of it.
fn carry_inward(
    tree: &Tree,
    kin: &Kinematics,
    slot: usize,
    row: usize,
    momentum: Wrench,
    mass: &mut Matrix,
) {
    let (mut at, mut carried) = (slot, momentum);
    loop {
        carried = kin.slots[at].from_outer.wrench_inward(&carried);
        at = tree.slots[at].inner as usize;
        if at == 0 {
            return;
        }
        let s = &tree.slots[at];
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute => set(mass, row, s.velocity as usize, carried.torque.z),
            Carrier::Prismatic => set(mass, row, s.velocity as usize, carried.force.z),
            Carrier::Multi(_) => {
                for k in 0..s.dof as usize {
                    set(mass, row, s.velocity as usize + k, power(&carried, &column(kin, s, k)));
                }
            }
        }
    }
}

fn set(mass: &mut Matrix, i: usize, j: usize, x: f64) {
    mass[(i, j)] = x;
    mass[(j, i)] = x;
}

/// Column of a joint's coordinate, in the slot's frame.
pub(crate) fn column(kin: &Kinematics, s: &Slot, k: usize) -> Twist {
    match s.carrier {
        Carrier::Fixed => Twist::ZERO,
        Carrier::Revolute => Twist::unit(5),
        Carrier::Prismatic => Twist::unit(2),
        Carrier::Multi(j) => kin.multi[j as usize].columns.as_slice()[k],
    }
}
