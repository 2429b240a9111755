//! The way back over a sweep's tape: joint displacements, link twists and joint loads per unit effector
//! wrench ([A16] §5: local and global wrench maps, Eq. 15–22, for any graph at once).

use forks_mechanism::{LinkId, dense::Matrix, lie::Twist};

use crate::{
    frontier::{Record, Variable},
    sweep::{Op, Sweep, link_variables},
};

/// Linear maps from unit loads (six per effector link, then one per output) in dimensionless form.
pub(crate) struct Maps {
    /// Joint displacements: nv × loads.
    pub(crate) joints: Matrix,
    /// Link twists: 6 × loads per link, the ground first.
    pub(crate) twists: Vec<Matrix>,
    /// Load that each tree joint carries, in its outer link's frame: 6 × loads per tree edge.
    pub(crate) carried: Vec<Matrix>,
}

/// Adjoint variables: one row of `width` numbers per variable.
struct Adjoints {
    width: usize,
    data: Vec<f64>,
}

impl Adjoints {
    fn row(&self, v: Variable) -> &[f64] {
        &self.data[v as usize * self.width..(v as usize + 1) * self.width]
    }

    fn add(&mut self, v: Variable, s: f64, x: &[f64]) {
        let w = self.width;
        if s != 0.0 {
            let row = &mut self.data[v as usize * w..(v as usize + 1) * w];
            row.iter_mut().zip(x).for_each(|(r, x)| *r += s * x);
        }
    }

    /// `m` times the rows of `variables`.
    fn product(&self, m: &Matrix, variables: &[Variable]) -> Matrix {
        let mut out = Matrix::zeros(m.rows(), self.width);
        for i in 0..m.rows() {
            let o = out.row_mut(i);
            for (&v, &s) in variables.iter().zip(m.row(i)) {
                if s != 0.0 {
                    o.iter_mut().zip(self.row(v)).for_each(|(o, x)| *o += s * x);
                }
            }
        }
        out
    }

    /// Subtracts `mᵀ y` from the rows of `variables`.
    fn subtract_transposed(&mut self, variables: &[Variable], m: &Matrix, y: &Matrix) {
        for i in 0..m.rows() {
            for (&v, &s) in variables.iter().zip(m.row(i)) {
                self.add(v, -s, y.row(i));
            }
        }
    }
}

/// Runs the tape backwards, then one sweep forwards for the twists.
pub(crate) fn maps(sweep: &Sweep<'_>, effectors: &[LinkId]) -> Maps {
    let m = sweep.m;
    let width = 6 * effectors.len() + sweep.outputs.len();
    let count = sweep.frontier.variable_count();
    let mut w = Adjoints { width, data: vec![0.0; count * width] };
    let loaded = effectors
        .iter()
        .flat_map(|&l| link_variables(l))
        .chain(sweep.outputs.iter().copied())
        .collect::<Vec<_>>();
    for (k, &v) in loaded.iter().enumerate() {
        w.data[v as usize * width + k] = 1.0;
    }
    let mut joints = Matrix::zeros(m.velocity_count(), width);
    let mut carried = vec![Matrix::zeros(0, 0); m.forest().edges().len()];
    for op in sweep.tape.iter().rev() {
        match op {
            Op::Append(k) => {
                carried[*k] = append_back(sweep, *k, &mut w, &mut joints);
            }
            Op::Close(id) => coordinate_values(sweep, *id, &w, &mut joints),
            Op::Output { variable, rows } => {
                let x = w.row(*variable).to_vec();
                for (&v, &s) in rows.variables.iter().zip(rows.matrix.row(0)) {
                    w.add(v, s, &x);
                }
            }
            Op::Update(Record::Consume { live, rows, gain }) => {
                let y = w.product(&gain.transpose(), live);
                w.subtract_transposed(&rows.variables, &rows.matrix, &y);
            }
            Op::Update(Record::Correct { live, rows, core, covariance }) => {
                let y = core.mul(&w.product(covariance, live));
                w.subtract_transposed(&rows.variables, &rows.matrix, &y);
            }
            Op::Update(Record::Value { live, variable, covariance }) => {
                let c = Matrix::from_fn(1, covariance.len(), |_, j| covariance[j]);
                let value = w.product(&c, live);
                let index = *variable as usize - 6 * m.links().len();
                joints.row_mut(index).copy_from_slice(value.row(0));
            }
        }
    }
    let twists = forward_twists(sweep, &joints);
    Maps { joints, twists, carried }
}

/// w_p += Adᵀ w_c, w_θ += Jᵀ w_c, δθ = C_θ w_θ; returns w_c.
fn append_back(sweep: &Sweep<'_>, k: usize, w: &mut Adjoints, joints: &mut Matrix) -> Matrix {
    let e = sweep.m.forest().edges()[k];
    let motion = &sweep.motions[k];
    let outer = link_variables(e.outer);
    let wc = Matrix::from_fn(6, w.width, |i, j| w.row(outer[i])[j]);
    for (column, v) in motion.columns.iter().zip(sweep.m.velocity_range(e.joint)) {
        let variable = sweep.coordinate_variable(v);
        for (i, s) in column.to_array().into_iter().enumerate() {
            w.add(variable, s, wc.row(i));
        }
    }
    coordinate_values(sweep, e.joint, w, joints);
    if e.inner != LinkId::WORLD {
        let ad = motion.ad.matrix();
        let inner = link_variables(e.inner);
        for i in 0..6 {
            for j in 0..6 {
                w.add(inner[j], ad.rows[i][j], wc.row(i));
            }
        }
    }
    wc
}

/// δθ = C_θ w_θ for joints whose spring resists all their directions.
fn coordinate_values(
    sweep: &Sweep<'_>,
    id: forks_mechanism::JointId,
    w: &Adjoints,
    joints: &mut Matrix,
) {
    let Some(c) = &sweep.compliance[id.index()] else { return };
    if c.free.columns() > 0 {
        return;
    }
    let range = sweep.m.velocity_range(id);
    let variables: Vec<Variable> = range.clone().map(|v| sweep.coordinate_variable(v)).collect();
    let values = w.product(&c.compliance, &variables);
    for (i, v) in range.enumerate() {
        joints.row_mut(v).copy_from_slice(values.row(i));
    }
}

/// ξ_c = Ad ξ_p + J δθ over all tree joints.
fn forward_twists(sweep: &Sweep<'_>, joints: &Matrix) -> Vec<Matrix> {
    let m = sweep.m;
    let width = joints.columns();
    let mut twists = vec![Matrix::zeros(6, width); m.links().len()];
    for (k, e) in m.forest().edges().iter().enumerate() {
        let motion = &sweep.motions[k];
        let mut out = Matrix::zeros(6, width);
        for c in 0..width {
            let mut t = if e.inner == LinkId::WORLD {
                Twist::ZERO
            } else {
                let inner = &twists[e.inner.index()];
                motion.ad.apply(Twist::from_array(core::array::from_fn(|i| inner[(i, c)])))
            };
            for (column, v) in motion.columns.iter().zip(m.velocity_range(e.joint)) {
                t += *column * joints[(v, c)];
            }
            for (i, x) in t.to_array().into_iter().enumerate() {
                out[(i, c)] = x;
            }
        }
        twists[e.outer.index()] = out;
    }
    twists
}
