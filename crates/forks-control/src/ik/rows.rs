//! Equations of loops, handles and balance, linearised at a pose.

use forks_dynamics::mechanism::{
    Mechanism,
    kinematics::{
        link_jacobian,
        loops::{constraint_jacobian, constraint_residual},
    },
    lie::{
        Pose,
        glam::{DMat3, DVec3},
        so3::{log_rotation, rotation_right_jacobian_inverse},
    },
    linalg::Matrix,
};

use super::{balance::Support, handle::Handle};

/// Rows lower ≤ gradient · δ ≤ upper of one level, lengths in m and angles times r.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) gradients: Vec<Vec<f64>>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Rows {
    fn push(&mut self, gradient: Vec<f64>, lower: f64, upper: f64, weight: f64) {
        self.gradients.push(gradient);
        self.lower.push(lower);
        self.upper.push(upper);
        self.weights.push(weight);
    }

    pub(super) fn len(&self) -> usize {
        self.lower.len()
    }

    /// What is missing of a row where δ = 0.
    pub(super) fn missing(&self, i: usize) -> f64 {
        self.lower[i].max(0.0) + self.upper[i].min(0.0)
    }

    /// Largest of them.
    pub(super) fn worst(&self) -> f64 {
        (0..self.len()).fold(0.0, |a, i| a.max(self.missing(i).abs()))
    }

    /// Half the weighted sum of squares.
    pub(super) fn merit(&self) -> f64 {
        0.5 * (0..self.len()).map(|i| (self.weights[i] * self.missing(i)).powi(2)).sum::<f64>()
    }

    /// Takes what is missing of equations as met.
    pub(super) fn keep(&mut self, attained: &[f64]) {
        for (i, a) in attained.iter().enumerate() {
            // A row of an inequality keeps to its side.
            self.lower[i] -= a.max(0.0);
            self.upper[i] -= a.min(0.0);
        }
    }
}

/// Equations of one level.
#[derive(Clone, Debug)]
pub(super) enum Group {
    Loops,
    Handles(Vec<Handle>),
    Balance(Support),
}

impl Group {
    /// Its rows at a pose of a mechanism of size r.
    pub(super) fn rows(&self, m: &Mechanism, q: &[f64], poses: &[Pose], r: f64) -> Rows {
        match self {
            Self::Loops => loops(m, q, poses, r),
            Self::Handles(handles) => {
                let mut out = Rows::default();
                handles.iter().for_each(|h| handle(h, m, q, poses, r, &mut out));
                out
            }
            Self::Balance(support) => balance(support, m, q, poses),
        }
    }

    /// Names of its rows: of what, which.
    pub(super) fn names(&self, m: &Mechanism) -> Vec<(String, String)> {
        match self {
            Self::Loops => {
                const ROWS: [&str; 6] = ["x", "y", "z", "turn x", "turn y", "turn z"];
                let closures = m.forest().closures().iter();
                let mut out: Vec<(String, String)> = closures
                    .flat_map(|id| ROWS.map(|r| (m.joint_label(*id), r.to_string())))
                    .collect();
                for (i, c) in m.couplings().iter().enumerate() {
                    let name = if c.name.is_empty() { format!("#{i}") } else { c.name.clone() };
                    out.push((format!("coupling {name}"), "value".to_string()));
                }
                out
            }
            Self::Handles(handles) => {
                let of = |h: &Handle| {
                    let name = h.name.clone();
                    h.row_names().map(move |r| (name.clone(), r.to_string())).collect::<Vec<_>>()
                };
                handles.iter().flat_map(of).collect()
            }
            Self::Balance(s) => {
                (0..s.sides().len()).map(|i| ("balance".into(), format!("side {i}"))).collect()
            }
        }
    }
}

fn loops(m: &Mechanism, q: &[f64], poses: &[Pose], r: f64) -> Rows {
    let jacobian = constraint_jacobian(m, q, poses);
    let mut out = Rows::default();
    for (i, g) in constraint_residual(m, q, poses).into_iter().enumerate() {
        // Three lengths and three angles per loop, then values of couplings as they are.
        let turn = i < 6 * m.forest().closures().len() && i % 6 >= 3;
        let scale = if turn { r } else { 1.0 };
        let gradient = jacobian.row(i).iter().map(|x| scale * x).collect();
        out.push(gradient, -scale * g, -scale * g, 1.0);
    }
    out
}

/// Rows of R from 3 × n rows in a body's frame.
fn turned(by: DMat3, rows: &Matrix, first: usize) -> [Vec<f64>; 3] {
    let n = rows.columns();
    let mut out = [const { Vec::new() }; 3].map(|_: Vec<f64>| vec![0.0; n]);
    for j in 0..n {
        let x = by * DVec3::new(rows[(first, j)], rows[(first + 1, j)], rows[(first + 2, j)]);
        (0..3).for_each(|i| out[i][j] = x[i]);
    }
    out
}

fn handle(h: &Handle, m: &Mechanism, q: &[f64], poses: &[Pose], r: f64, out: &mut Rows) {
    let world_from_frame = poses[h.link.index()] * h.link_from_frame.normalized();
    let of_link = link_jacobian(m, q, poses, h.link);
    let ad = h.link_from_frame.normalized().inverse().adjoint();
    let mut body = Matrix::zeros(6, of_link.columns());
    for j in 0..of_link.columns() {
        let twist = core::array::from_fn(|i| of_link[(i, j)]);
        let t = ad.apply(forks_dynamics::mechanism::lie::Twist::from_array(twist)).to_array();
        (0..6).for_each(|i| body[(i, j)] = t[i]);
    }
    let rotation = DMat3::from_quat(world_from_frame.rotation);
    let open = h.target.translation - world_from_frame.translation;
    for (i, row) in turned(rotation, &body, 0).into_iter().enumerate() {
        if h.position[i] {
            out.push(row, open[i], open[i], h.weight);
        }
    }
    if h.rotation.contains(&true) {
        let target = h.target.rotation.normalize();
        let open = log_rotation(target * world_from_frame.rotation.inverse());
        // log(R* R⁻¹ exp(−δ)) changes by −J_r⁻¹ δ.
        let by = rotation_right_jacobian_inverse(open) * rotation;
        for (i, row) in turned(by, &body, 3).into_iter().enumerate() {
            if h.rotation[i] {
                let row = row.into_iter().map(|x| r * x).collect();
                out.push(row, r * open[i], r * open[i], h.weight);
            }
        }
    }
}

fn balance(support: &Support, m: &Mechanism, q: &[f64], poses: &[Pose]) -> Rows {
    let mut centre = DVec3::ZERO;
    let mut rates = [
        vec![0.0; m.velocity_count()],
        vec![0.0; m.velocity_count()],
        vec![0.0; m.velocity_count()],
    ];
    let mut mass = 0.0;
    for (id, link) in m.moving_links() {
        let (own, pose) = (&link.inertia, poses[id.index()]);
        if own.mass == 0.0 {
            continue;
        }
        let at = own.center_of_mass;
        mass += own.mass;
        centre += pose.transform_point(at) * own.mass;
        let jacobian = link_jacobian(m, q, poses, id);
        let rotation = DMat3::from_quat(pose.rotation);
        for j in 0..jacobian.columns() {
            let linear = DVec3::new(jacobian[(0, j)], jacobian[(1, j)], jacobian[(2, j)]);
            let angular = DVec3::new(jacobian[(3, j)], jacobian[(4, j)], jacobian[(5, j)]);
            let x = rotation * (linear + angular.cross(at)) * own.mass;
            (0..3).for_each(|i| rates[i][j] += x[i]);
        }
    }
    centre /= mass;
    let mut out = Rows::default();
    for side in support.sides() {
        let along = |j: usize| (0..3).map(|i| side.normal[i] * rates[i][j]).sum::<f64>() / mass;
        let gradient = (0..m.velocity_count()).map(along).collect();
        let room = side.offset - side.normal.dot(centre);
        let lower = if side.both { room } else { f64::NEG_INFINITY };
        out.push(gradient, lower, room, 1.0);
    }
    out
}

#[cfg(test)]
mod tests {
    use forks_dynamics::mechanism::{LinkId, lie::Pose};
    use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

    use super::{Group, Handle};

    /// What a row misses falls along its gradient as differences say.
    #[test]
    fn gradients_are_those_of_differences() {
        let mut rng = Rng::new(5);
        for seed in 0..20 {
            let options = RandomMechanismOptions { extra_loops: 2, ..Default::default() };
            let m = random_mechanism(seed, &options);
            let mut q = m.start_positions();
            let push: Vec<f64> = (0..m.velocity_count()).map(|_| 0.1 * rng.symmetric()).collect();
            m.integrate(&mut q, &push);
            let link = LinkId::new(1 + rng.index(m.links().len() - 1));
            let pose = |rng: &mut Rng| {
                let q = rng.quaternion();
                let [x, y, z] = rng.vector();
                Pose::from_array([x, y, z, q[0], q[1], q[2], q[3]])
            };
            let handle = Handle::pose("h", link, pose(&mut rng), pose(&mut rng));
            for group in [Group::Handles(vec![handle]), Group::Loops] {
                let at = |q: &[f64]| group.rows(&m, q, &m.link_poses(q), 0.7);
                let rows = at(&q);
                let d: Vec<f64> = (0..m.velocity_count()).map(|_| rng.symmetric()).collect();
                let moved = |h: f64| {
                    let mut q = q.clone();
                    m.integrate(&mut q, &d.iter().map(|d| h * d).collect::<Vec<_>>());
                    at(&q).upper
                };
                let (a, b) = (moved(-1e-6), moved(1e-6));
                for i in 0..rows.len() {
                    let slope: f64 = rows.gradients[i].iter().zip(&d).map(|(g, d)| g * d).sum();
                    let expected = (a[i] - b[i]) / 2e-6;
                    assert!((slope - expected).abs() < 1e-6 * (1.0 + slope.abs()), "{seed} {i}");
                }
            }
        }
    }
}
