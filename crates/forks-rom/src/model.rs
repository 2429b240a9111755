//! The reduced model: plain numbers about one linearisation pose.

use forks_lie::{Matrix, Pose, Twist, Wrench};

use crate::ModelError;

/// A body that touches the world.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorRest {
    /// Name.
    pub name: String,
    /// The link that carries it, an index into [`ModelData::links`].
    pub link: usize,
    /// The effector's frame in the link.
    pub link_from_effector: Pose,
    /// World pose at the linearisation pose, H.
    pub rest: Pose,
    /// Static wrench b that holds the linearisation pose, effector frame.
    pub static_wrench: Wrench,
}

/// A link whose pose is recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRest {
    /// Name.
    pub name: String,
    /// True for massless frames inside a chain of joints.
    pub auxiliary: bool,
    /// World pose at the linearisation pose.
    pub rest: Pose,
    /// X_l, 6 × n_η: body twist per reduced coordinate.
    pub map: Matrix,
    /// Y_l, 6 × servos: body twist per servo target at fixed η.
    pub servo_map: Matrix,
}

/// How a joint moves its outer link when its coordinates change by δ.
#[derive(Clone, Debug, PartialEq)]
pub enum JointPath {
    /// One exponential: exp(Σ columns δ).
    Exponential {
        /// Columns in the outer link's frame.
        columns: Vec<Twist>,
    },
    /// Exponentials one after the other, each of one coordinate: ∏ exp(column δᵢ).
    Product {
        /// Coordinate and column, in order of multiplication.
        factors: Vec<(usize, Twist)>,
    },
    /// before · exp(S (θ₀ + δ)) · after, or its inverse.
    Subspace {
        /// Pose left of the exponential.
        before: Pose,
        /// Columns S.
        subspace: Vec<Twist>,
        /// θ₀.
        start: Vec<f64>,
        /// Pose right of the exponential.
        after: Pose,
        /// True if the whole is inverted.
        inverted: bool,
    },
}

/// A tree joint, for reconstruction in joint space.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeJointRest {
    /// Index of the link nearer to the ground.
    pub inner: usize,
    /// Index of the link that it carries.
    pub outer: usize,
    /// Pose of the outer link in the inner one at the linearisation pose.
    pub inner_from_outer: Pose,
    /// How it moves.
    pub path: JointPath,
    /// d × n_η: joint displacement per reduced coordinate.
    pub map: Matrix,
    /// d × servos: joint displacement per servo target at fixed η.
    pub servo_map: Matrix,
}

/// The numbers of a reduced model; n_η = number of reduced coordinates, E = number of effectors.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelData {
    /// Size r of the mechanism, m.
    pub radius: f64,
    /// Effectors.
    pub effectors: Vec<EffectorRest>,
    /// B, 6E × n_η: effector twists ξ = B η in exponential coordinates, ξ in each effector's frame.
    pub basis: Matrix,
    /// 𝓗, n_η × n_η: second derivative of the elastic energy.
    pub hessian: Matrix,
    /// n_η × servos: reduced coordinates at which the mechanism rests per servo target.
    pub servo_rest: Matrix,
    /// Names of the servos.
    pub servos: Vec<String>,
    /// Links, the ground first.
    pub links: Vec<LinkRest>,
    /// Tree joints, every inner link before its outer links.
    pub joints: Vec<TreeJointRest>,
}

/// A first order reduced compliant system about one linearisation pose.
///
/// State η; effector poses H exp(Bη); elastic energy U(η) = U₀ + b_ηᵀη + ½(η−η_s)ᵀ𝓗(η−η_s), η_s the
/// coordinates at which the mechanism rests for its servo targets.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedModel {
    data: ModelData,
    static_force: Vec<f64>,
}

impl ReducedModel {
    /// Checks the numbers and makes a model.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, a 𝓗 that is not positive definite.
    pub fn new(data: ModelData) -> Result<Self, ModelError> {
        check(&data)?;
        let mut static_force = vec![0.0; data.basis.columns()];
        for (e, effector) in data.effectors.iter().enumerate() {
            let w = effector.static_wrench.to_array();
            for (j, f) in static_force.iter_mut().enumerate() {
                *f += (0..6).map(|i| data.basis[(6 * e + i, j)] * w[i]).sum::<f64>();
            }
        }
        Ok(Self { data, static_force })
    }

    /// The numbers.
    pub fn data(&self) -> &ModelData {
        &self.data
    }

    /// n_η, the rank of the effectors' motion.
    pub fn dof(&self) -> usize {
        self.data.basis.columns()
    }

    /// Number of effectors.
    pub fn effector_count(&self) -> usize {
        self.data.effectors.len()
    }

    /// b_η = Bᵀ b, the generalised force that holds the linearisation pose.
    pub fn static_force(&self) -> &[f64] {
        &self.static_force
    }

    /// Twist of effector `e` in its frame, exponential coordinates: ξ_e = B_e η.
    pub fn effector_twist(&self, e: usize, eta: &[f64]) -> Twist {
        Twist::from_array(core::array::from_fn(|i| {
            self.data.basis.row(6 * e + i).iter().zip(eta).map(|(b, x)| b * x).sum()
        }))
    }

    /// World pose of effector `e`: H exp(ξ_e).
    pub fn effector_pose(&self, e: usize, eta: &[f64]) -> Pose {
        self.data.effectors[e].rest.displaced(self.effector_twist(e, eta))
    }

    /// Elastic energy over its value at the linearisation pose, J.
    pub fn elastic_energy(&self, eta: &[f64], servo_targets: &[f64]) -> f64 {
        let rest = self.rest_coordinates(servo_targets);
        let d: Vec<f64> = eta.iter().zip(&rest).map(|(a, b)| a - b).collect();
        let linear: f64 = self.static_force.iter().zip(eta).map(|(b, x)| b * x).sum();
        linear + 0.5 * self.data.hessian.mul_vec(&d).iter().zip(&d).map(|(f, x)| f * x).sum::<f64>()
    }

    /// Gradient of [`ReducedModel::elastic_energy`]: b_η + 𝓗 (η − η_s).
    pub fn elastic_force(&self, eta: &[f64], servo_targets: &[f64]) -> Vec<f64> {
        let rest = self.rest_coordinates(servo_targets);
        let d: Vec<f64> = eta.iter().zip(&rest).map(|(a, b)| a - b).collect();
        let mut f = self.data.hessian.mul_vec(&d);
        f.iter_mut().zip(&self.static_force).for_each(|(f, b)| *f += b);
        f
    }

    /// η_s for servo targets (zero for an empty slice).
    pub fn rest_coordinates(&self, servo_targets: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.dof()];
        for (s, &target) in servo_targets.iter().enumerate().take(self.data.servos.len()) {
            for (i, x) in out.iter_mut().enumerate() {
                *x += self.data.servo_rest[(i, s)] * target;
            }
        }
        out
    }
}

fn size(quantity: &'static str, found: usize, expected: usize) -> Result<(), ModelError> {
    if found == expected {
        return Ok(());
    }
    Err(ModelError::WrongSize { quantity, found, expected })
}

fn matrix(
    quantity: &'static str,
    m: &Matrix,
    rows: usize,
    columns: usize,
) -> Result<(), ModelError> {
    size(quantity, m.rows(), rows)?;
    size(quantity, m.columns(), columns)?;
    if m.is_finite() { Ok(()) } else { Err(ModelError::NotFinite { quantity }) }
}

fn check(d: &ModelData) -> Result<(), ModelError> {
    let (n, s) = (d.basis.columns(), d.servos.len());
    if !(d.radius > 0.0 && d.radius.is_finite()) {
        return Err(ModelError::NotFinite { quantity: "radius" });
    }
    matrix("basis", &d.basis, 6 * d.effectors.len(), n)?;
    matrix("hessian", &d.hessian, n, n)?;
    matrix("servo rest", &d.servo_rest, n, s)?;
    for l in &d.links {
        matrix("link map", &l.map, 6, n)?;
        matrix("link servo map", &l.servo_map, 6, s)?;
        finite("link pose", l.rest.is_finite())?;
    }
    for f in &d.effectors {
        index("effector link", f.link, d.links.len())?;
        finite("effector", f.rest.is_finite() && f.static_wrench.is_finite())?;
    }
    for j in &d.joints {
        let dof = j.map.rows();
        matrix("joint map", &j.map, dof, n)?;
        matrix("joint servo map", &j.servo_map, dof, s)?;
        index("joint link", j.inner.max(j.outer), d.links.len())?;
        check_path(&j.path, dof)?;
        finite("joint pose", j.inner_from_outer.is_finite())?;
    }
    if n > 0 && !is_positive_definite(&d.hessian) {
        return Err(ModelError::NotPositiveDefinite);
    }
    Ok(())
}

/// A path must have a column for every coordinate, and no other.
fn check_path(path: &JointPath, dof: usize) -> Result<(), ModelError> {
    match path {
        JointPath::Exponential { columns } => size("joint columns", columns.len(), dof),
        JointPath::Product { factors } => {
            size("joint factors", factors.len(), dof)?;
            factors.iter().try_for_each(|(i, _)| index("joint factor", *i, dof))
        }
        JointPath::Subspace { subspace, start, .. } => {
            size("joint subspace", subspace.len(), dof)?;
            size("joint start", start.len(), dof)
        }
    }
}

fn index(quantity: &'static str, found: usize, count: usize) -> Result<(), ModelError> {
    if found < count {
        return Ok(());
    }
    Err(ModelError::WrongSize { quantity, found, expected: count })
}

fn finite(quantity: &'static str, is_finite: bool) -> Result<(), ModelError> {
    if is_finite { Ok(()) } else { Err(ModelError::NotFinite { quantity }) }
}

/// Cholesky's algorithm as a test.
fn is_positive_definite(m: &Matrix) -> bool {
    let n = m.rows();
    let mut l = m.clone();
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                l[(i, j)] -= l[(i, k)] * l[(j, k)];
            }
        }
        let pivot = l[(j, j)];
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for i in j..n {
            l[(i, j)] /= pivot.sqrt();
        }
    }
    true
}
