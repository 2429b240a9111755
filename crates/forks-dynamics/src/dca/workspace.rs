//! Everything that a solution writes: allocated once per plan.

use forks_mechanism::lie::{Wrench, glam::DVec3};

use super::{
    eliminate::Factor,
    general::{ConnectionState, GeneralState},
    kernel::{Block, Vec6, ZERO_BLOCK, packed_len},
    kinematics::Links,
    leaf::BodyState,
    nodes::{Ends, Node},
    plan::DcaPlan,
};

/// Storage of one solver: made for a plan, used for any number of calls without allocation (closing
/// joints of general kind with two coordinates or more aside: their positions are fitted anew).
#[derive(Clone, Debug)]
pub struct DcaWorkspace {
    pub(super) links: Links,
    pub(super) bodies: Vec<BodyState>,
    pub(super) connections: Vec<ConnectionState>,
    pub(super) generals: Vec<GeneralState>,
    pub(super) loads: Vec<Vec6>,
    pub(super) carried: Vec<Wrench>,
    pub(super) chosen: Vec<DVec3>,
    pub(super) stiffness: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
    pub(super) parallel: bool,
    pub(super) phi: Vec<Block>,
    pub(super) b: Vec<Vec6>,
    pub(super) factors: Vec<Factor>,
    pub(super) rotations: Vec<Block>,
    pub(super) rows: Vec<Block>,
    pub(super) forces: Vec<Vec6>,
}

impl DcaWorkspace {
    /// Storage for a plan.
    pub fn new(plan: &DcaPlan) -> Self {
        let total = plan.program.total;
        Self {
            links: Links::new(plan.links, plan.edges.len()),
            bodies: vec![BodyState::ZERO; plan.bodies.len()],
            connections: vec![ConnectionState::ZERO; plan.connections.len()],
            generals: vec![GeneralState::ZERO; plan.generals.len()],
            loads: vec![[0.0; 6]; plan.generals.len()],
            carried: vec![Wrench::ZERO; plan.bodies.len()],
            chosen: vec![DVec3::ZERO; plan.chosen.len()],
            stiffness: vec![0.0; plan.armature.len()],
            acceleration: vec![0.0; plan.velocities],
            parallel: false,
            phi: vec![ZERO_BLOCK; total.phi],
            b: vec![[0.0; 6]; total.b],
            factors: vec![Factor::EMPTY; total.factor],
            rotations: vec![ZERO_BLOCK; if plan.loops { total.factor } else { 0 }],
            rows: vec![ZERO_BLOCK; total.rows],
            forces: vec![[0.0; 6]; total.force],
        }
    }

    /// Lets calls share their work among the threads of the rayon pool they are made in. Results
    /// are the same, bit by bit, for any number of threads. Without the feature `rayon` it has no
    /// effect.
    #[must_use]
    pub fn parallel(mut self, on: bool) -> Self {
        self.parallel = on;
        self
    }
}

/// The arrays of a range of nodes.
pub(super) struct Slices<'a> {
    base: Ends,
    phi: &'a mut [Block],
    b: &'a mut [Vec6],
    factors: &'a mut [Factor],
    /// Empty without loops.
    rotations: &'a mut [Block],
    rows: &'a mut [Block],
    forces: &'a mut [Vec6],
}

/// What joining two children reads and writes.
pub(super) struct Joined<'a> {
    pub(super) phi: [&'a mut [Block]; 2],
    pub(super) b: [&'a mut [Vec6]; 2],
    pub(super) out_phi: &'a mut [Block],
    pub(super) out_b: &'a mut [Vec6],
    pub(super) factor: &'a mut Factor,
    pub(super) rotation: Option<&'a mut Block>,
    pub(super) rows: &'a mut [Block],
}

/// What closing a joint of one child reads and writes.
pub(super) struct Closed<'a> {
    pub(super) phi: &'a mut [Block],
    pub(super) b: &'a mut [Vec6],
    pub(super) out_phi: &'a mut [Block],
    pub(super) out_b: &'a mut [Vec6],
    pub(super) factor: &'a mut Factor,
    pub(super) rotation: Option<&'a mut Block>,
    pub(super) rows: &'a mut [Block],
}

/// Inputs and outputs of a node without a joint.
pub(super) type Beside<'a> =
    ([&'a mut [Block]; 2], [&'a mut [Vec6]; 2], &'a mut [Block], &'a mut [Vec6]);

/// What the downward pass needs of a node.
pub(super) struct Downward<'a> {
    pub(super) factor: &'a mut Factor,
    pub(super) rotation: Option<&'a Block>,
    pub(super) rows: &'a [Block],
    pub(super) own: &'a [Vec6],
}

impl<'a> Slices<'a> {
    pub(super) fn new(
        phi: &'a mut [Block],
        b: &'a mut [Vec6],
        factors: &'a mut [Factor],
        rotations: &'a mut [Block],
        rows: &'a mut [Block],
        forces: &'a mut [Vec6],
    ) -> Self {
        Self { base: Ends::default(), phi, b, factors, rotations, rows, forces }
    }

    /// No forces at the handles of the last node.
    pub(super) fn clear_forces(&mut self, last: &Node) {
        let at = last.force - self.base.force;
        self.forces[at..at + last.handles].fill([0.0; 6]);
    }

    pub(super) fn reborrow(&mut self) -> Slices<'_> {
        Slices {
            base: self.base,
            phi: self.phi,
            b: self.b,
            factors: self.factors,
            rotations: self.rotations,
            rows: self.rows,
            forces: self.forces,
        }
    }

    /// Parts before and after the end of a subtree.
    pub(super) fn split(self, at: Ends) -> (Slices<'a>, Slices<'a>) {
        let base = self.base;
        let (phi, phi2) = self.phi.split_at_mut(at.phi - base.phi);
        let (b, b2) = self.b.split_at_mut(at.b - base.b);
        let (factors, factors2) = self.factors.split_at_mut(at.factor - base.factor);
        let rotation_end = (at.factor - base.factor).min(self.rotations.len());
        let (rotations, rotations2) = self.rotations.split_at_mut(rotation_end);
        let (rows, rows2) = self.rows.split_at_mut(at.rows - base.rows);
        let (forces, forces2) = self.forces.split_at_mut(at.force - base.force);
        (
            Slices { base, phi, b, factors, rotations, rows, forces },
            Slices {
                base: at,
                phi: phi2,
                b: b2,
                factors: factors2,
                rotations: rotations2,
                rows: rows2,
                forces: forces2,
            },
        )
    }

    fn phi_range(&self, n: &Node) -> std::ops::Range<usize> {
        let start = n.phi - self.base.phi;
        start..start + packed_len(n.handles)
    }

    fn b_range(&self, n: &Node) -> std::ops::Range<usize> {
        let start = n.b - self.base.b;
        start..start + n.handles
    }

    /// Φ and b of a node.
    pub(super) fn slot(&mut self, n: &Node) -> (&mut [Block], &mut [Vec6]) {
        let (phi, b) = (self.phi_range(n), self.b_range(n));
        (&mut self.phi[phi], &mut self.b[b])
    }

    /// Φ and b of two children and of their parent.
    pub(super) fn beside(&mut self, n: &Node, a: &Node, c: &Node) -> Beside<'_> {
        let phi = [self.phi_range(a), self.phi_range(c), self.phi_range(n)];
        let b = [self.b_range(a), self.b_range(c), self.b_range(n)];
        let [phi_a, phi_c, out_phi] = disjoint(self.phi, phi);
        let [b_a, b_c, out_b] = disjoint(self.b, b);
        ([phi_a, phi_c], [b_a, b_c], out_phi, out_b)
    }

    pub(super) fn joined(&mut self, n: &Node, a: &Node, c: &Node, rows: usize) -> Joined<'_> {
        let phi = [self.phi_range(a), self.phi_range(c), self.phi_range(n)];
        let b = [self.b_range(a), self.b_range(c), self.b_range(n)];
        let [phi_a, phi_c, out_phi] = disjoint(self.phi, phi);
        let [b_a, b_c, out_b] = disjoint(self.b, b);
        let (f, r) = (n.factor - self.base.factor, n.rows - self.base.rows);
        Joined {
            phi: [phi_a, phi_c],
            b: [b_a, b_c],
            out_phi,
            out_b,
            factor: &mut self.factors[f],
            rotation: self.rotations.get_mut(f),
            rows: &mut self.rows[r..r + rows],
        }
    }

    pub(super) fn closed(&mut self, n: &Node, child: &Node, rows: usize) -> Closed<'_> {
        let phi = [self.phi_range(child), self.phi_range(n)];
        let b = [self.b_range(child), self.b_range(n)];
        let [phi, out_phi] = disjoint(self.phi, phi);
        let [b, out_b] = disjoint(self.b, b);
        let (f, r) = (n.factor - self.base.factor, n.rows - self.base.rows);
        Closed {
            phi,
            b,
            out_phi,
            out_b,
            factor: &mut self.factors[f],
            rotation: self.rotations.get_mut(f),
            rows: &mut self.rows[r..r + rows],
        }
    }

    /// A closed joint with its rows and the forces at its node's handles, and the forces at the
    /// children's handles.
    pub(super) fn downward<const N: usize>(
        &mut self,
        n: &Node,
        children: [&Node; N],
        rows: usize,
    ) -> (Downward<'_>, [&mut [Vec6]; N]) {
        let (f, r) = (n.factor - self.base.factor, n.rows - self.base.rows);
        let (before, own) = self.forces.split_at_mut(n.force - self.base.force);
        let ranges = children.map(|c| {
            let start = c.force - self.base.force;
            start..start + c.handles
        });
        let down = Downward {
            factor: &mut self.factors[f],
            rotation: self.rotations.get(f),
            rows: &self.rows[r..r + rows],
            own: &own[..n.handles],
        };
        (down, disjoint(before, ranges))
    }

    /// Forces at a node's handles, and at those of its children.
    pub(super) fn forces<const N: usize>(
        &mut self,
        n: &Node,
        children: [&Node; N],
    ) -> (&[Vec6], [&mut [Vec6]; N]) {
        let (before, own) = self.forces.split_at_mut(n.force - self.base.force);
        let ranges = children.map(|c| {
            let start = c.force - self.base.force;
            start..start + c.handles
        });
        (&own[..n.handles], disjoint(before, ranges))
    }
}

/// Slots never overlap while both are in use.
fn disjoint<T, const N: usize>(x: &mut [T], at: [std::ops::Range<usize>; N]) -> [&mut [T]; N] {
    x.get_disjoint_mut(at).expect("slots of a node and its children are apart")
}
