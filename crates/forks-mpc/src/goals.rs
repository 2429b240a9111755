//! Where effectors shall be, and by how much they are not.

use forks_rom::{
    EffectorState, System,
    lie::{
        Pose, Twist,
        glam::DVec3,
        so3::{log_rotation, rotation_right_jacobian_inverse},
    },
    linalg::Matrix,
};

/// An effector that follows poses, with what its errors cost: ½ (position · |p|)² + ½ (orientation
/// ·
/// |angle|)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The effector's index.
    pub effector: usize,
    /// Per metre; 0 leaves the position free.
    pub position: f64,
    /// Per radian; 0 leaves the orientation free.
    pub orientation: f64,
}

impl Goal {
    /// An effector's position alone, with weight 1 per metre.
    pub fn position(effector: usize) -> Self {
        Self { effector, position: 1.0, orientation: 0.0 }
    }

    fn weight(&self, row: usize) -> f64 {
        if row < 3 { self.position } else { self.orientation }
    }
}

/// How errors of poses are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// In exponential coordinates ξ = B η of the effectors, in which they are affine: Bη −
    /// log(H⁻¹T).
    Chart,
    /// Between the poses themselves: p − p_T in world axes, log(R_TᵀR).
    World,
}

/// Weighted errors of one goal and their slopes by the coordinates; `rows` of six are used.
pub(crate) fn error<S: System>(
    system: &S,
    measure: Measure,
    goal: &Goal,
    target: &Pose,
    (coordinates, at): (&[f64], &EffectorState),
    e: &mut [f64],
    mut slopes: Option<(&mut Matrix, usize)>,
) {
    let n = coordinates.len();
    match measure {
        Measure::Chart => {
            let data = system.data();
            let wanted = (data.effectors[goal.effector].rest.inverse() * *target).log().to_array();
            for (i, e) in e.iter_mut().enumerate() {
                let row = data.basis.row(6 * goal.effector + i);
                let moved: f64 = row.iter().zip(coordinates).map(|(b, x)| b * x).sum();
                *e = goal.weight(i) * (moved - wanted[i]);
                if let Some((c, first)) = &mut slopes {
                    (0..n).for_each(|j| c[(*first + i, j)] = goal.weight(i) * row[j]);
                }
            }
        }
        Measure::World => {
            let turned = log_rotation(target.rotation.conjugate() * at.pose.rotation);
            let p = at.pose.translation - target.translation;
            for i in 0..3 {
                (e[i], e[3 + i]) = (goal.position * p[i], goal.orientation * turned[i]);
            }
            if let Some((c, first)) = &mut slopes {
                let back = rotation_right_jacobian_inverse(turned);
                for j in 0..n {
                    let column: [f64; 6] = core::array::from_fn(|i| at.jacobian[(i, j)]);
                    let t = Twist::from_array(column);
                    let (v, w): (DVec3, DVec3) = (at.pose.rotation * t.linear, back * t.angular);
                    for i in 0..3 {
                        c[(*first + i, j)] = goal.position * v[i];
                        c[(*first + 3 + i, j)] = goal.orientation * w[i];
                    }
                }
            }
        }
    }
}
