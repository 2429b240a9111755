//! The way back over a sweep's tape: joint displacements, link twists and joint loads per unit load
//! (\[A16\] §5: local and global wrench maps, Eq. 15–22, for any graph at once).

use forks_mechanism::{JointId, LinkId, lie::Adjoint, linalg::Matrix};

use crate::{
    displacements::{Displacements, append_back, scaled_rows, undo},
    frontier::{Record, Rows, add_scaled},
    motion::scale_pose,
    refine::{negated, refine},
    sweep::{Op, Sweep, link_variables},
    table::Table,
};

/// Linear maps from loads on links (the columns of what the sweep back starts from), then from unit
/// forces along each output. SI units.
pub(crate) struct Maps {
    /// Joint displacements: nv × (loads, outputs).
    pub(crate) joints: Matrix,
    /// Link twists: 6 × loads per link, the ground first.
    pub(crate) twists: Vec<Matrix>,
    /// Link twists: 6 × outputs per link.
    pub(crate) output_twists: Vec<Matrix>,
    /// Load that each tree joint carries, in its outer link's frame: 6 × loads per tree edge; empty
    /// where the sweep did not go.
    pub(crate) carried: Vec<Matrix>,
    /// Load that each closing joint carries, in its child's frame: 6 × loads per closure.
    pub(crate) closing: Vec<Matrix>,
    /// Size of the last correction of the joint displacements, relative to the largest of them.
    pub(crate) correction: f64,
}

/// Runs the tape backwards, then one sweep forwards for the twists.
///
/// `loads` (6 per link of `links` × loads) are dimensionless wrenches on the links.
pub(crate) fn maps(sweep: &Sweep<'_>, links: &[LinkId], loads: &Matrix) -> Maps {
    let width = loads.columns() + sweep.outputs.len();
    let mut w = Table::zeros(sweep.frontier.variable_count(), width);
    for (i, v) in links.iter().flat_map(|&l| link_variables(l)).enumerate() {
        w.row_mut(v)[..loads.columns()].copy_from_slice(loads.row(i));
    }
    for (i, &v) in sweep.outputs.iter().enumerate() {
        w.row_mut(v)[loads.columns() + i] = 1.0;
    }
    let loaded = w.clone();
    let mut first = backward(sweep, &mut w, loads.columns());
    let correction = refine(sweep, &loaded, loads.columns(), &mut first);
    let closing = closing_loads(sweep, &first.reactions, loads.columns());
    let Displacements { joints, carried, .. } = first;
    let twists = forward(sweep, &joints, 0, loads.columns());
    let output_twists = forward(sweep, &joints, loads.columns(), sweep.outputs.len());
    Maps { joints, twists, output_twists, carried, closing, correction }
}

/// The adjoint sweep: joint displacements and the loads that tree joints carry.
fn backward(sweep: &Sweep<'_>, w: &mut Table, loads: usize) -> Displacements {
    let m = sweep.m;
    let mut joints = Matrix::zeros(m.velocity_count(), w.width);
    let mut carried = vec![Matrix::default(); m.forest().edges().len()];
    let mut reactions = vec![None; sweep.tape.len()];
    let mut outer = Vec::new();
    for (place, op) in sweep.tape.iter().enumerate().rev() {
        match op {
            Op::Append(k) => {
                let e = &m.forest().edges()[*k];
                outer.clear();
                outer.extend_from_slice(w.link(e.outer));
                append_back(sweep, e, &sweep.motions[*k], w, &outer);
                coordinate_values(sweep, e.joint, w, &mut joints);
                carried[*k] = scaled_rows(&outer, w.width, 0, loads, 1.0 / sweep.r);
            }
            Op::Close(id) => coordinate_values(sweep, *id, w, &mut joints),
            Op::Output { variable, weight, source } => {
                let x = w.row(*variable).to_vec();
                w.add(*source, *weight, &x);
            }
            Op::Update { record, exact } => {
                let reaction = undo(record, w, None, |v, value| {
                    let index = v as usize - 6 * m.links().len();
                    joints.row_mut(index).copy_from_slice(value);
                });
                reactions[place] = reaction.filter(|_| *exact);
            }
            Op::Energy { .. } => {}
        }
    }
    Displacements { joints, carried, reactions }
}

/// Loads that closing joints carry, from the multipliers y of their rows U: the child passes Uᵀy
/// on.
fn closing_loads(sweep: &Sweep<'_>, reactions: &[Option<Matrix>], loads: usize) -> Vec<Matrix> {
    let closures = sweep.m.forest().closures();
    let mut out = vec![Matrix::default(); closures.len()];
    let mut current = None;
    for (op, y) in sweep.tape.iter().zip(reactions) {
        match op {
            Op::Close(id) => current = closures.iter().position(|c| c == id),
            Op::Append(_) => current = None,
            _ => {}
        }
        let (Some(c), Op::Update { record, exact: true }) = (current, op) else { continue };
        let (Record::Consume { rows, .. } | Record::Correct { rows, .. }) = &**record else {
            continue;
        };
        let Some(y) = y else { continue };
        let j = sweep.m.joint(closures[c]);
        let load = match j.child {
            // What the parent gets is passed on by the ground: Adᵀ load = −Uᵀy.
            LinkId::WORLD => {
                let parent_from_world = sweep.world_from_link[j.parent.index()].inverse();
                let ad = scale_pose(&parent_from_world, sweep.r).adjoint().matrix().into();
                negated(Matrix::transpose_mul(&ad, &on_link(rows, y, j.parent)))
            }
            child => on_link(rows, y, child),
        };
        let scaled = scaled_rows(load.as_slice(), y.columns(), 0, loads, 1.0 / sweep.r);
        if out[c].rows() == 0 {
            out[c] = scaled;
        } else {
            (0..6).for_each(|i| add_scaled(out[c].row_mut(i), 1.0, scaled.row(i)));
        }
    }
    out
}

/// Uᵀ y on the six variables of a link.
fn on_link(rows: &Rows, y: &Matrix, link: LinkId) -> Matrix {
    let mut out = Matrix::zeros(6, y.columns());
    for (i, v) in link_variables(link).into_iter().enumerate() {
        for (column, _) in rows.variables.iter().enumerate().filter(|(_, x)| **x == v) {
            for k in 0..y.rows() {
                add_scaled(out.row_mut(i), rows.matrix[(k, column)], y.row(k));
            }
        }
    }
    out
}

/// δθ = C_θ w_θ for joints whose spring resists all their directions.
fn coordinate_values(sweep: &Sweep<'_>, id: JointId, w: &Table, joints: &mut Matrix) {
    let c = &sweep.compliance[id.index()];
    if c.is_free() {
        return;
    }
    let range = sweep.m.velocity_range(id);
    for (i, v) in range.clone().enumerate() {
        let out = joints.row_mut(v);
        for (&s, u) in c.compliance.row(i).iter().zip(range.clone()) {
            let wu = w.row(sweep.coordinate_variable(u));
            out.iter_mut().zip(wu).for_each(|(o, x)| *o += s * x);
        }
    }
}

/// ξ_c = Ad ξ_p + J δθ over all tree joints, for some of the loads; SI units.
fn forward(sweep: &Sweep<'_>, joints: &Matrix, from: usize, columns: usize) -> Vec<Matrix> {
    let m = sweep.m;
    let mut twists = vec![Matrix::default(); m.links().len()];
    twists[0] = Matrix::zeros(6, columns);
    for (k, e) in m.forest().edges().iter().enumerate() {
        let motion = &sweep.motions[k];
        let mut out = Matrix::zeros(6, columns);
        if e.inner != LinkId::WORLD {
            let Adjoint { rotation, translation } = motion.ad;
            let ad = Adjoint { rotation, translation: translation * sweep.r }.matrix();
            let inner = &twists[e.inner.index()];
            for (i, row) in ad.rows.iter().enumerate() {
                let out = out.row_mut(i);
                for (&s, x) in row.iter().zip(inner.as_slice().chunks_exact(columns.max(1))) {
                    add_scaled(out, s, x);
                }
            }
        }
        for (column, v) in motion.columns.as_slice().iter().zip(motion.velocities.clone()) {
            let delta = &joints.row(v)[from..from + columns];
            for (i, s) in column.scale_linear(sweep.r).to_array().into_iter().enumerate() {
                add_scaled(out.row_mut(i), s, delta);
            }
        }
        twists[e.outer.index()] = out;
    }
    twists
}
