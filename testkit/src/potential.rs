//! The rival of the reducer at loaded poses: total potential, its exact Hessian by hyper-dual
//! numbers, and the dense solve with it.
//!
//! Effector wrenches are constant in the effector's exponential coordinates: they do the work w·ξ
//! with ξ = log(H₀⁻¹ H). The compliance is then 𝓗⁻¹, the inverse Hessian of the elastic energy that
//! the effectors see.

use forks_mechanism::{Cable, Joint, JointId, LinkId, Mechanism};

use crate::{
    Matrix, Reduction, System, Unresisted,
    kinematics::{
        bushing_displacement, cable_length, combination, constraints, displace_joint,
        joint_displacement, link_poses,
    },
    linear::least_squares,
    rigid::Rigid,
    scalar::{Dual, HyperDual, Scalar},
};

/// Singular values of the scaled loop equations below this part of the largest carry no multiplier.
const MULTIPLIER_TOLERANCE: f64 = 1e-9;

/// A force fixed in the world that acts on a point of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointForce {
    /// The link.
    pub link: LinkId,
    /// Where it acts, link frame, m.
    pub point: [f64; 3],
    /// The force, world frame, N.
    pub force: [f64; 3],
}

/// A wrench that is constant in the exponential coordinates of a link's displacement.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorLoad {
    /// The link.
    pub link: LinkId,
    /// The wrench, force first, link frame at the reference pose.
    pub wrench: [f64; 6],
    /// The pose H₀ that displacements are taken from; the pose at which the load is evaluated if
    /// `None` (a follower wrench as far as equilibrium goes).
    pub reference: Option<Rigid<f64>>,
}

/// What acts on a mechanism besides its springs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// The mechanism's gravity acts on the masses of its links.
    pub gravity: bool,
    /// Forces fixed in the world.
    pub forces: Vec<PointForce>,
    /// Wrenches on effectors.
    pub wrenches: Vec<EffectorLoad>,
}

/// The rest length of a cable without a slack range.
///
/// # Panics
/// If it has one.
fn never_slack(c: &Cable) -> f64 {
    assert_eq!(c.rest[0], c.rest[1], "the rival knows no slack");
    c.rest[0]
}

/// A mechanism's total potential under loads. Loads and spring preloads can be eased in together.
#[derive(Clone, Debug)]
pub struct Potential<'a> {
    mechanism: &'a Mechanism,
    loads: &'a Loads,
    /// Factor on all loads.
    factor: f64,
    joint_rests: Vec<Vec<f64>>,
    combination_rests: Vec<f64>,
    /// Twists appended to the second frame of each bushing.
    bushing_offsets: Vec<[f64; 6]>,
    /// Lengths at which cables are unstressed.
    cable_rests: Vec<f64>,
}

impl<'a> Potential<'a> {
    /// The potential with full loads and the mechanism's own spring rests.
    pub fn new(mechanism: &'a Mechanism, loads: &'a Loads) -> Self {
        let rest = |j: &Joint| j.spring.as_ref().map_or(j.start.clone(), |s| s.rest.clone());
        Self {
            mechanism,
            loads,
            factor: 1.0,
            joint_rests: mechanism.joints().iter().map(rest).collect(),
            combination_rests: mechanism.combination_springs().iter().map(|s| s.rest).collect(),
            bushing_offsets: vec![[0.0; 6]; mechanism.bushings().len()],
            cable_rests: mechanism.cables().iter().map(never_slack).collect(),
        }
    }

    /// The potential with `s` times the loads and with springs that are stressed at `q` by `s`
    /// times their displacement: at s = 0 `q` is unstressed, at s = 1 this is [`Potential::new`].
    pub fn eased(mechanism: &'a Mechanism, loads: &'a Loads, q: &[f64], s: f64) -> Self {
        let mut out = Self::new(mechanism, loads);
        out.factor = s;
        for (i, j) in mechanism.joints().iter().enumerate() {
            let at = &q[mechanism.position_range(JointId::new(i))];
            let still = vec![0.0; j.dof()];
            // Displacement that leads from q to the rest.
            let to_rest = joint_displacement(j, at, &out.joint_rests[i], &still);
            let part: Vec<f64> = to_rest.iter().map(|x| s * x).collect();
            out.joint_rests[i] = displace_joint(j, at, &part);
        }
        let still = vec![0.0; mechanism.velocity_count()];
        for (rest, spring) in out.combination_rests.iter_mut().zip(mechanism.combination_springs())
        {
            let l = combination(mechanism, &spring.combination, q, &still);
            *rest = l + s * (*rest - l);
        }
        let poses = link_poses(mechanism, q, &still);
        for (offset, b) in out.bushing_offsets.iter_mut().zip(mechanism.bushings()) {
            *offset = bushing_displacement(b, &poses).map(|x| -(1.0 - s) * x);
        }
        for (rest, c) in out.cable_rests.iter_mut().zip(mechanism.cables()) {
            let l = cable_length(c, &poses);
            *rest = l + s * (*rest - l);
        }
        out
    }

    /// The potential at q ⊞ δ, J. Effector loads without reference pose refer to the poses at `q`.
    pub fn value<T: Scalar>(&self, q: &[f64], delta: &[T], poses: &[Rigid<T>]) -> T {
        self.elastic(q, delta, poses) - self.work(poses).scale(self.factor)
    }

    /// Energy of all springs.
    fn elastic<T: Scalar>(&self, q: &[f64], delta: &[T], poses: &[Rigid<T>]) -> T {
        let m = self.mechanism;
        let mut sum = T::constant(0.0);
        for (i, j) in m.joints().iter().enumerate() {
            let Some(spring) = &j.spring else { continue };
            let id = JointId::new(i);
            let d = &delta[m.velocity_range(id)];
            let x = joint_displacement(j, &self.joint_rests[i], &q[m.position_range(id)], d);
            sum = sum + quadratic(&x, |a, b| spring.stiffness.get(a, b));
        }
        for (s, rest) in m.combination_springs().iter().zip(&self.combination_rests) {
            let x = combination(m, &s.combination, q, delta) - T::constant(*rest);
            sum = sum + (x * x).scale(0.5 * s.stiffness);
        }
        for (b, offset) in m.bushings().iter().zip(&self.bushing_offsets) {
            let mut b = b.clone();
            let frame = Rigid::from_pose(&b.b_from_bushing).times(&Rigid::exp(offset));
            b.b_from_bushing = frame.to_pose();
            let x = bushing_displacement(&b, poses);
            sum = sum + quadratic(&x, |i, j| b.stiffness.get(i, j));
        }
        for (c, rest) in m.cables().iter().zip(&self.cable_rests) {
            let x = cable_length(c, poses) - T::constant(*rest);
            sum = sum + (x * x).scale(0.5 * c.stiffness);
        }
        sum
    }

    /// Work of gravity, forces and effector wrenches at full size.
    fn work<T: Scalar>(&self, poses: &[Rigid<T>]) -> T {
        let mut sum = T::constant(0.0);
        let mut add = |link: usize, point: &[f64; 3], force: [f64; 3]| {
            let p = poses[link].point(point);
            (0..3).for_each(|k| sum = sum + p[k].scale(force[k]));
        };
        if self.loads.gravity {
            let g = self.mechanism.gravity().to_array();
            for (i, l) in self.mechanism.links().iter().enumerate() {
                let weight = l.inertia.mass * (1.0 - l.gravity_compensation);
                add(i, &l.inertia.center_of_mass.to_array(), g.map(|x| weight * x));
            }
        }
        for f in &self.loads.forces {
            add(f.link.index(), &f.point, f.force);
        }
        for e in &self.loads.wrenches {
            let h = &poses[e.link.index()];
            let reference = e.reference.unwrap_or_else(|| real_part(h));
            let xi = Rigid::of(&reference).inverse().times(h).log();
            (0..6).for_each(|k| sum = sum + xi[k].scale(e.wrench[k]));
        }
        sum
    }

    /// Gradient with respect to the velocity coordinates.
    pub fn gradient(&self, q: &[f64]) -> Vec<f64> {
        let (springs, loads) = self.forces(q);
        springs.iter().zip(&loads).map(|(a, b)| a - b).collect()
    }

    /// Gradient of the springs' energy and of the loads' work: generalised forces, nv each.
    pub fn forces(&self, q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let nv = self.mechanism.velocity_count();
        (0..nv)
            .map(|k| {
                let mut delta = vec![Dual::constant(0.0); nv];
                delta[k].eps = 1.0;
                let poses = link_poses(self.mechanism, q, &delta);
                let work = self.work(&poses).eps * self.factor;
                (self.elastic(q, &delta, &poses).eps, work)
            })
            .unzip()
    }

    /// Hessian of the potential plus λ·(loop equations) in local coordinates, nv×nv.
    pub fn lagrangian_hessian(&self, q: &[f64], multipliers: &[f64]) -> Matrix {
        let nv = self.mechanism.velocity_count();
        let mut out = Matrix::zeros(nv, nv);
        for i in 0..nv {
            for j in 0..=i {
                let mut delta = vec![HyperDual::constant(0.0); nv];
                delta[i].e1 = 1.0;
                delta[j].e2 = 1.0;
                let poses = link_poses(self.mechanism, q, &delta);
                let g = constraints(self.mechanism, q, &delta, &poses);
                let bent: f64 = g.iter().zip(multipliers).map(|(g, l)| g.e12 * l).sum();
                let x = self.value(q, &delta, &poses).e12 + bent;
                out[(i, j)] = x;
                out[(j, i)] = x;
            }
        }
        out
    }
}

/// ½ xᵀ K x.
fn quadratic<T: Scalar>(x: &[T], k: impl Fn(usize, usize) -> f64) -> T {
    let mut sum = T::constant(0.0);
    for i in 0..x.len() {
        for j in 0..x.len() {
            sum = sum + (x[i] * x[j]).scale(0.5 * k(i, j));
        }
    }
    sum
}

fn real_part<T: Scalar>(h: &Rigid<T>) -> Rigid<f64> {
    Rigid { a: h.a.map(|r| r.map(Scalar::real)), b: h.b.map(Scalar::real) }
}

/// Multipliers λ with ∇V + Gᵀλ ≈ 0 and what is left of it, by least squares in scaled coordinates.
pub fn multipliers(system: &System, gradient: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let g = &system.first.constraints;
    let nv = gradient.len();
    let scaled = system.scaled_constraints.transpose();
    let right: Vec<f64> = (0..nv).map(|k| -system.scale[k] * gradient[k]).collect();
    let l = least_squares(&scaled, &right, MULTIPLIER_TOLERANCE);
    let l: Vec<f64> = l.iter().zip(&system.row_scale).map(|(x, s)| x * s).collect();
    let rest = (0..nv)
        .map(|k| gradient[k] + (0..g.rows()).map(|i| g[(i, k)] * l[i]).sum::<f64>())
        .collect();
    (l, rest)
}

/// The reduction of a loaded mechanism.
#[derive(Clone, Debug)]
pub struct LoadedReduction {
    /// Compliance 𝓗⁻¹, displacements and twist maps under small further wrenches that are constant
    /// in the effectors' exponential coordinates.
    pub reduction: Reduction,
    /// Multipliers of the loop equations: six per closing joint (wrench on the gap, child frame),
    /// then one per coupling. Where rows are redundant, those of smallest scaled norm.
    pub multipliers: Vec<f64>,
    /// nv×nv Hessian of the Lagrangian.
    pub tangent: Matrix,
    /// Largest unbalanced generalised force over the largest spring or load force in scaled
    /// coordinates: how far `q` is from equilibrium.
    pub imbalance: f64,
}

/// The reduction of `m` at the equilibrium `q` under `loads`.
///
/// # Errors
/// The motions that the tangent stiffness does not resist (an unstable or indifferent equilibrium).
pub fn reduce_loaded(
    m: &Mechanism,
    q: &[f64],
    loads: &Loads,
    effectors: &[LinkId],
) -> Result<LoadedReduction, Unresisted> {
    let system = System::new(m, q);
    let potential = Potential::new(m, loads);
    let (springs, work) = potential.forces(q);
    let gradient: Vec<f64> = springs.iter().zip(&work).map(|(a, b)| a - b).collect();
    let (multipliers, rest) = multipliers(&system, &gradient);
    let largest =
        |v: &[f64]| v.iter().zip(&system.scale).fold(0.0, |m: f64, (x, s)| m.max((x * s).abs()));
    let tangent = potential.lagrangian_hessian(q, &multipliers);
    let reduction = system.reduce(&tangent, effectors)?;
    let reference = largest(&springs).max(largest(&work)).max(f64::MIN_POSITIVE);
    Ok(LoadedReduction { reduction, multipliers, tangent, imbalance: largest(&rest) / reference })
}
