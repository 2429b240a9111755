//! Iterative refinement of the maps: what rounding in the frontier's updates left of open loops and
//! unbalanced forces is solved for with the same tape.
//!
//! Conditioning a compliant direction on a stiff loop cancels: with a ratio ρ of compliances the
//! maps are off by about ε ρ². The residual of the mechanism's equations, in contrast, can be
//! evaluated to ε: forces r = w − K θ on the coordinates, with all wrenches carried inwards, and
//! gaps −U x of the exact constraints. Forces enter a sweep as means of its variables, gaps as
//! values that it is conditioned on.

use forks_mechanism::{JointId, LinkId, linalg::Matrix};

use crate::{
    displacements::{Displacements, add, append_back, scaled_rows, undo},
    frontier::{Record, Variable, add_scaled},
    sweep::{Op, Sweep, link_variables},
    table::Table,
};

/// Corrections at most; each gains as many digits as the maps had at first.
const MAX_CORRECTIONS: usize = 4;
/// A correction of this size, relative to the displacements, is rounding.
const ENOUGH: f64 = 1e-14;

/// Refines displacements and multipliers for the given loads (`loaded`: wrenches on links, forces
/// on outputs); returns the size of the last correction, 0 where there is nothing to correct.
pub(crate) fn refine(
    sweep: &Sweep<'_>,
    loaded: &Table,
    loads: usize,
    found: &mut Displacements,
) -> f64 {
    if !sweep.tape.iter().any(|op| matches!(op, Op::Update { .. })) {
        return 0.0;
    }
    let mut last = f64::INFINITY;
    for _ in 0..MAX_CORRECTIONS {
        let residual = residual(sweep, loaded, loads, found);
        let correction = correct(sweep, &residual);
        let scale = found.joints.max_abs().max(f64::MIN_POSITIVE);
        let size = correction.joints.max_abs() / scale;
        // Rounding, or a mechanism too stiff beside its soft parts for another digit.
        if size.is_nan() || size > 0.5 * last {
            break;
        }
        add(&mut found.joints, &correction.joints);
        for (a, b) in found.reactions.iter_mut().zip(&correction.reactions) {
            if let (Some(a), Some(b)) = (a, b) {
                add(a, b);
            }
        }
        last = size;
        if size < ENOUGH {
            break;
        }
    }
    // The loads that the joints carry in the refined state.
    found.carried = residual(sweep, loaded, loads, found).carried;
    last.clamp(f64::MIN_POSITIVE, 1.0)
}

/// What the displacements leave unsolved.
struct Residual {
    /// Forces on the coordinates, nv × loads.
    forces: Matrix,
    /// Values that the rows of exact updates should have, by their place on the tape.
    gaps: Vec<Option<Matrix>>,
    carried: Vec<Matrix>,
}

fn residual(sweep: &Sweep<'_>, loaded: &Table, loads: usize, found: &Displacements) -> Residual {
    let x = displacements(sweep, &found.joints);
    let mut w = loaded.clone();
    let mut gaps = vec![None; sweep.tape.len()];
    for (place, op) in sweep.tape.iter().enumerate() {
        match op {
            Op::Output { variable, weight, source } => {
                let force = w.row(*variable).to_vec();
                w.add(*source, *weight, &force);
            }
            Op::Energy { rows, lambda } => {
                let force = lambda.mul(&x.product(&rows.matrix, &rows.variables));
                w.subtract_transposed(&rows.variables, &rows.matrix, &force);
            }
            Op::Update { record, exact: true } => {
                let (Record::Consume { rows, .. } | Record::Correct { rows, .. }) = &**record
                else {
                    continue;
                };
                if let Some(y) = &found.reactions[place] {
                    w.subtract_transposed(&rows.variables, &rows.matrix, y);
                }
                gaps[place] = Some(negated(x.product(&rows.matrix, &rows.variables)));
            }
            Op::Append(_) | Op::Close(_) | Op::Update { .. } => {}
        }
    }
    let (forces, carried) = unbalanced(sweep, &mut w, &found.joints, loads);
    Residual { forces, gaps, carried }
}

pub(crate) fn negated(mut m: Matrix) -> Matrix {
    for i in 0..m.rows() {
        m.row_mut(i).iter_mut().for_each(|x| *x = -*x);
    }
    m
}

/// Values of all variables: link twists by a forward sweep, joint coordinates; dimensionless.
fn displacements(sweep: &Sweep<'_>, joints: &Matrix) -> Table {
    let mut x = Table::zeros(sweep.frontier.variable_count(), joints.columns());
    for v in 0..joints.rows() {
        x.row_mut(sweep.coordinate_variable(v)).copy_from_slice(joints.row(v));
    }
    for &k in &sweep.plan.edges {
        carry_outwards(sweep, k, &mut x);
    }
    x
}

/// ξ_outer = Ad ξ_inner + J θ.
fn carry_outwards(sweep: &Sweep<'_>, k: usize, x: &mut Table) {
    let e = sweep.m.forest().edges()[k];
    let motion = &sweep.motions[k];
    let outer = link_variables(e.outer);
    if e.inner != LinkId::WORLD {
        let ad = motion.ad.matrix();
        let inner = x.link(e.inner).to_vec();
        for (row, &v) in ad.rows.iter().zip(&outer) {
            for (&s, xi) in row.iter().zip(inner.chunks_exact(x.width.max(1))) {
                x.add(v, s, xi);
            }
        }
    }
    for (column, v) in motion.columns.as_slice().iter().zip(motion.velocities.clone()) {
        let theta = x.row(sweep.coordinate_variable(v)).to_vec();
        for (s, &o) in column.to_array().into_iter().zip(&outer) {
            x.add(o, s, &theta);
        }
    }
}

/// Carries the wrenches inwards; what is left on the coordinates after their springs, and the loads
/// that the tree joints carry.
fn unbalanced(
    sweep: &Sweep<'_>,
    w: &mut Table,
    joints: &Matrix,
    loads: usize,
) -> (Matrix, Vec<Matrix>) {
    let m = sweep.m;
    let mut carried = vec![Matrix::default(); m.forest().edges().len()];
    for &k in sweep.plan.edges.iter().rev() {
        let e = m.forest().edges()[k];
        let outer = w.link(e.outer).to_vec();
        append_back(sweep, &e, &sweep.motions[k], w, &outer);
        carried[k] = scaled_rows(&outer, w.width, 0, loads, 1.0 / sweep.r);
    }
    let mut forces = Matrix::zeros(m.velocity_count(), joints.columns());
    let mut balance = |id: JointId| {
        let range = m.velocity_range(id);
        let stiffness = m.joint(id).spring.as_ref().map(|s| &s.stiffness);
        for (i, v) in range.clone().enumerate() {
            forces.row_mut(v).copy_from_slice(w.row(sweep.coordinate_variable(v)));
            for (j, u) in range.clone().enumerate() {
                let k = stiffness.map_or(0.0, |k| k.get(i, j));
                add_scaled(forces.row_mut(v), -k, joints.row(u));
            }
        }
    };
    sweep.plan.edges.iter().for_each(|&k| balance(m.forest().edges()[k].joint));
    for op in &sweep.tape {
        if let Op::Close(id) = op {
            balance(*id);
        }
    }
    (forces, carried)
}

/// The displacements and multipliers that remove a residual, as far as the tape's digits go.
fn correct(sweep: &Sweep<'_>, residual: &Residual) -> Displacements {
    let means = Means::forward(sweep, residual);
    means.backward(sweep, residual)
}

/// Means of the variables under the residual, gathered along the tape.
struct Means {
    /// Prior means of the sprung coordinates, C_θ r.
    prior: Matrix,
    /// By place on the tape: core (R m − gap) of corrections, the mean of dropped coordinates.
    innovations: Vec<Option<Matrix>>,
}

impl Means {
    fn forward(sweep: &Sweep<'_>, residual: &Residual) -> Self {
        let m = sweep.m;
        let width = residual.forces.columns();
        let prior = prior_means(sweep, &residual.forces);
        let mut mean = Table::zeros(sweep.frontier.variable_count(), width);
        let mut innovations = vec![None; sweep.tape.len()];
        let set = |mean: &mut Table, id: JointId| {
            for v in m.velocity_range(id) {
                mean.row_mut(sweep.coordinate_variable(v)).copy_from_slice(prior.row(v));
            }
        };
        for (place, op) in sweep.tape.iter().enumerate() {
            match op {
                Op::Append(k) => {
                    set(&mut mean, m.forest().edges()[*k].joint);
                    carry_outwards(sweep, *k, &mut mean);
                }
                Op::Close(id) => set(&mut mean, *id),
                Op::Update { record, .. } => {
                    innovations[place] = innovation(
                        sweep,
                        record,
                        residual.gaps[place].as_ref(),
                        residual,
                        &mut mean,
                    );
                }
                Op::Output { .. } | Op::Energy { .. } => {}
            }
        }
        Self { prior, innovations }
    }

    /// The adjoint sweep with the innovations.
    fn backward(&self, sweep: &Sweep<'_>, residual: &Residual) -> Displacements {
        let m = sweep.m;
        let width = self.prior.columns();
        let mut w = Table::zeros(sweep.frontier.variable_count(), width);
        let mut joints = Matrix::zeros(m.velocity_count(), width);
        let mut reactions = vec![None; sweep.tape.len()];
        for (place, op) in sweep.tape.iter().enumerate().rev() {
            match op {
                Op::Append(k) => {
                    let e = m.forest().edges()[*k];
                    let outer = w.link(e.outer).to_vec();
                    append_back(sweep, &e, &sweep.motions[*k], &mut w, &outer);
                    self.sprung_values(sweep, e.joint, &w, &mut joints);
                }
                Op::Close(id) => self.sprung_values(sweep, *id, &w, &mut joints),
                Op::Update { record, exact } => {
                    let y = self.undo(sweep, place, record, residual, &mut w, &mut joints);
                    reactions[place] = y.filter(|_| *exact);
                }
                Op::Output { .. } | Op::Energy { .. } => {}
            }
        }
        Displacements { joints, carried: vec![], reactions }
    }

    /// δθ = C_θ (r + w) for joints whose spring resists all their directions.
    fn sprung_values(&self, sweep: &Sweep<'_>, id: JointId, w: &Table, joints: &mut Matrix) {
        let c = &sweep.compliance[id.index()];
        if c.is_free() {
            return;
        }
        let range = sweep.m.velocity_range(id);
        for (i, v) in range.clone().enumerate() {
            joints.row_mut(v).copy_from_slice(self.prior.row(v));
            for (&s, u) in c.compliance.row(i).iter().zip(range.clone()) {
                add_scaled(joints.row_mut(v), s, w.row(sweep.coordinate_variable(u)));
            }
        }
    }

    fn undo(
        &self,
        sweep: &Sweep<'_>,
        place: usize,
        record: &Record,
        residual: &Residual,
        w: &mut Table,
        joints: &mut Matrix,
    ) -> Option<Matrix> {
        let index = |v: Variable| v as usize - 6 * sweep.m.links().len();
        if let Record::Value { variable, .. } = record {
            w.add(*variable, 1.0, &free_force(sweep, index(*variable), &residual.forces));
        }
        let innovation = self.innovations[place].as_ref();
        undo(record, w, innovation, |v, value| {
            let row = joints.row_mut(index(v));
            row.copy_from_slice(value);
            if let Some(mean) = innovation {
                add_scaled(row, 1.0, mean.row(0));
            }
        })
    }
}

/// C_θ r for all joints: zero along free directions.
fn prior_means(sweep: &Sweep<'_>, forces: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(forces.rows(), forces.columns());
    for (i, c) in sweep.compliance.iter().enumerate() {
        let range = sweep.m.velocity_range(JointId::new(i));
        for (a, v) in range.clone().enumerate() {
            for (&s, u) in c.compliance.row(a).iter().zip(range.clone()) {
                add_scaled(out.row_mut(v), s, forces.row(u));
            }
        }
    }
    out
}

/// The part of the residual force on a coordinate that its joint's spring does not resist.
fn free_force(sweep: &Sweep<'_>, index: usize, forces: &Matrix) -> Vec<f64> {
    let owner = sweep.m.velocity_owner(index).joint;
    let range = sweep.m.velocity_range(owner);
    let free = &sweep.compliance[owner.index()].free;
    let mut out = vec![0.0; forces.columns()];
    for (b, u) in range.clone().enumerate() {
        let s = (0..free.columns()).map(|k| free[(index - range.start, k)] * free[(b, k)]).sum();
        add_scaled(&mut out, s, forces.row(u));
    }
    out
}

/// Moves the means by an update: m ← m − gain (U m − gap).
fn innovation(
    sweep: &Sweep<'_>,
    record: &Record,
    gap: Option<&Matrix>,
    residual: &Residual,
    mean: &mut Table,
) -> Option<Matrix> {
    let off = |rows: &crate::frontier::Rows, mean: &Table| {
        let mut d = mean.product(&rows.matrix, &rows.variables);
        if let Some(gap) = gap {
            for i in 0..d.rows() {
                add_scaled(d.row_mut(i), -1.0, gap.row(i));
            }
        }
        d
    };
    match record {
        Record::Consume { live, rows, gain } => {
            let d = off(rows, mean);
            mean.subtract_transposed(live, &gain.transpose(), &d);
            None
        }
        Record::Correct { live, rows, core, covariance } => {
            let innovation = core.mul(&off(rows, mean));
            mean.subtract_transposed(live, covariance, &innovation);
            Some(innovation)
        }
        Record::Inform { live, rows, gain, core } => {
            let d = off(rows, mean);
            mean.subtract_transposed(live, &gain.transpose(), &d);
            Some(core.mul(&d))
        }
        Record::Value { live, variable, covariance } => {
            let value = mean.row(*variable).to_vec();
            let index = *variable as usize - 6 * sweep.m.links().len();
            let force = free_force(sweep, index, &residual.forces);
            for (&v, &c) in live.iter().zip(covariance) {
                mean.add(v, c, &force);
            }
            Some(Matrix::from_fn(1, value.len(), |_, j| value[j]))
        }
    }
}
