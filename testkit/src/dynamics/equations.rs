//! The pieces of the equations of motion in maximal coordinates.

use std::ops::Range;

use forks_mechanism::{Coupling, JointId, LinkId, Mechanism, lie::Pose};

use super::{
    Double, State, Taylor,
    motion::{gap, link_poses, moving, parent_from_child},
};
use crate::{
    Loads, Potential, kinematics,
    rigid::Rigid,
    scalar::{Dual, Scalar},
};

pub(super) type Six = [Double; 6];
pub(super) type SixBySix = [[Double; 6]; 6];

/// One joint's gap: G_parent a_parent + G_child a_child + Σ columnₖ θ̈ₖ + bias = 0.
pub(super) struct JointRows {
    pub(super) parent: usize,
    pub(super) child: usize,
    /// Where the joint's velocities are.
    pub(super) range: Range<usize>,
    /// By columns.
    pub(super) of_parent: SixBySix,
    /// By columns.
    pub(super) of_child: SixBySix,
    /// One column per coordinate.
    pub(super) of_joint: Vec<Six>,
    pub(super) bias: Six,
}

/// row · θ̈ + bias = 0.
pub(super) struct CouplingRow {
    pub(super) row: Vec<Double>,
    pub(super) bias: Double,
}

/// Everything but the solution.
pub(super) struct Equations {
    /// World poses of the links, ground first.
    pub(super) poses: Vec<Rigid<Double>>,
    /// Body twists.
    pub(super) twists: Vec<Six>,
    pub(super) inertias: Vec<SixBySix>,
    /// Wrenches minus φ ×* I φ, body frames.
    pub(super) forces: Vec<Six>,
    /// Torques, springs and dampers on all velocity coordinates.
    pub(super) generalized: Vec<f64>,
    pub(super) armature: Vec<f64>,
    pub(super) joints: Vec<JointRows>,
    pub(super) couplings: Vec<CouplingRow>,
}

impl Equations {
    pub(super) fn new(m: &Mechanism, s: &State) -> Self {
        let moving: Vec<Taylor<Double>> = s.v.iter().map(|&v| Taylor::moving(d(v))).collect();
        let path = link_poses(m, &s.q, &moving);
        let poses: Vec<Rigid<Double>> = path.iter().map(value).collect();
        let twists: Vec<Six> = path.iter().zip(&poses).map(|(h, at)| body_twist(h, at)).collect();
        let inertias: Vec<SixBySix> = (0..poses.len()).map(|l| inertia(m, l)).collect();
        let forces = (0..poses.len())
            .map(|l| {
                let outer = s.wrenches.get(l).map_or([Double::ZERO; 6], |w| w.map(d));
                let inner = six(&outer, &weight(m, l, &poses[l]), |a, b| a + b);
                six(&inner, &gyroscopic(&inertias[l], &twists[l]), |a, b| a - b)
            })
            .collect();
        let joints = (0..m.joints().len()).map(|i| joint_rows(m, s, i, &poses, &twists)).collect();
        Self {
            generalized: generalized_forces(m, s),
            armature: m.joints().iter().enumerate().fold(
                vec![0.0; m.velocity_count()],
                |mut a, (i, j)| {
                    a[m.velocity_range(JointId::new(i))].copy_from_slice(&j.armature);
                    a
                },
            ),
            couplings: m.couplings().iter().map(|c| coupling_row(m, s, c)).collect(),
            poses,
            twists,
            inertias,
            forces,
            joints,
        }
    }
}

pub(super) fn d(x: f64) -> Double {
    Double::constant(x)
}

pub(super) fn six(a: &Six, b: &Six, f: impl Fn(Double, Double) -> Double) -> Six {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// Σ columnₖ xₖ.
pub(super) fn combine(columns: &[Six], x: &[Double]) -> Six {
    columns.iter().zip(x).fold([Double::ZERO; 6], |sum, (c, s)| six(&sum, c, |a, b| a + b * *s))
}

/// Columnₖ · y for every column.
pub(super) fn dot_columns(columns: &[Six], y: &Six) -> Vec<Double> {
    columns.iter().map(|c| dot(c, y)).collect()
}

pub(super) fn dot(a: &Six, b: &Six) -> Double {
    a.iter().zip(b).fold(Double::ZERO, |sum, (x, y)| sum + *x * *y)
}

fn value(h: &Rigid<Taylor<Double>>) -> Rigid<Double> {
    Rigid { a: h.a.map(|r| r.map(|x| x.x[0])), b: h.b.map(|x| x.x[0]) }
}

/// H⁻¹ Ḣ.
fn body_twist(h: &Rigid<Taylor<Double>>, at: &Rigid<Double>) -> Six {
    fixed(at).inverse().times(h).vee().map(Taylor::first)
}

fn fixed(h: &Rigid<Double>) -> Rigid<Taylor<Double>> {
    Rigid { a: h.a.map(|r| r.map(Taylor::fixed)), b: h.b.map(Taylor::fixed) }
}

fn cross(a: [Double; 3], b: [Double; 3]) -> [Double; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn halves(x: &Six) -> ([Double; 3], [Double; 3]) {
    ([x[0], x[1], x[2]], [x[3], x[4], x[5]])
}

fn joined(a: [Double; 3], b: [Double; 3]) -> Six {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// ½ φᵀ I φ is the kinetic energy; columns are the momenta of unit twists about the frame's origin.
fn inertia(m: &Mechanism, link: usize) -> SixBySix {
    let i = &m.links()[link].inertia;
    let (mass, c) = (d(i.mass), i.center_of_mass.to_array().map(d));
    std::array::from_fn(|k| {
        let mut twist = [Double::ZERO; 6];
        twist[k] = d(1.0);
        let (v, w) = halves(&twist);
        let moved = cross(w, c);
        let p: [Double; 3] = std::array::from_fn(|a| mass * (v[a] + moved[a]));
        let about = cross(c, p);
        let spin: [Double; 3] = std::array::from_fn(|a| {
            (0..3).fold(Double::ZERO, |sum, b| sum + d(i.inertia.col(b)[a]) * w[b])
        });
        joined(p, std::array::from_fn(|a| about[a] + spin[a]))
    })
}

/// Rates that a turning frame adds to momentum: (ω × p; ω × L + v × p).
fn gyroscopic(inertia: &SixBySix, twist: &Six) -> Six {
    let (v, w) = halves(twist);
    let (p, l) = halves(&combine(inertia, twist));
    let (a, b) = (cross(w, l), cross(v, p));
    joined(cross(w, p), std::array::from_fn(|i| a[i] + b[i]))
}

/// Gravity in the link's frame at its origin.
fn weight(m: &Mechanism, link: usize, pose: &Rigid<Double>) -> Six {
    let l = &m.links()[link];
    let mass = d(l.inertia.mass) * (d(1.0) - d(l.gravity_compensation));
    let g = m.gravity().to_array().map(|x| mass * d(x));
    let f = std::array::from_fn(|i| (0..3).fold(Double::ZERO, |sum, k| sum + pose.a[k][i] * g[k]));
    joined(f, cross(l.inertia.center_of_mass.to_array().map(d), f))
}

fn joint_rows(
    m: &Mechanism,
    s: &State,
    i: usize,
    poses: &[Rigid<Double>],
    twists: &[Six],
) -> JointRows {
    let (j, id) = (&m.joints()[i], JointId::new(i));
    let (q, range) = (&s.q[m.position_range(id)], m.velocity_range(id));
    let (parent, child) = (j.parent.index(), j.child.index());
    let placed = |v: &[Double]| {
        let delta: Vec<Taylor<Double>> = v.iter().map(|v| Taylor::moving(*v)).collect();
        parent_from_child(j, q, &delta)
    };
    let at = |placed: &Rigid<Taylor<Double>>, parent_twist: &Six, child_twist: &Six| {
        let (a, b) = (&poses[parent], &poses[child]);
        gap(placed, &moving(a, parent_twist), &moving(b, child_twist))
    };
    let zero = [Double::ZERO; 6];
    let still = placed(&vec![Double::ZERO; j.dof()]);
    let unit = |k: usize| std::array::from_fn(|i| d(f64::from(u8::from(i == k))));
    let v: Vec<Double> = s.v[range.clone()].iter().map(|&x| d(x)).collect();
    JointRows {
        of_parent: std::array::from_fn(|k| at(&still, &unit(k), &zero).map(Taylor::first)),
        of_child: std::array::from_fn(|k| at(&still, &zero, &unit(k)).map(Taylor::first)),
        of_joint: (0..j.dof())
            .map(|k| at(&placed(&unit(k)[..j.dof()]), &zero, &zero).map(Taylor::first))
            .collect(),
        bias: at(&placed(&v), &twists[parent], &twists[child]).map(Taylor::second),
        parent,
        child,
        range,
    }
}

/// Σ p(ℓ(q)) along a straight motion of the coordinates.
fn coupling_row(m: &Mechanism, s: &State, c: &Coupling) -> CouplingRow {
    let along = |v: &dyn Fn(usize) -> f64| {
        let mut sum = Taylor::<Double>::constant(0.0);
        for t in &c.terms {
            let mut l = Taylor::<Double>::constant(t.combination.offset);
            for (x, a) in &t.combination.terms {
                let moving = Taylor::moving(d(v(m.velocity_index(*x))));
                let at = Taylor::constant(s.q[m.position_index(*x)]);
                l = l + (at + moving) * Taylor::constant(*a);
            }
            let zero = Taylor::constant(0.0);
            let horner = |p, c: &f64| p * l + Taylor::constant(*c);
            sum = sum + t.polynomial.iter().rev().fold(zero, horner);
        }
        sum
    };
    let row = |k: usize| along(&|i| f64::from(u8::from(i == k))).first();
    CouplingRow {
        row: (0..m.velocity_count()).map(row).collect(),
        bias: along(&|i| s.v[i]).second(),
    }
}

/// τ on tree coordinates, minus gradients of spring energies, minus damping.
fn generalized_forces(m: &Mechanism, s: &State) -> Vec<f64> {
    let mut f = vec![0.0; m.velocity_count()];
    f[..s.tau.len()].copy_from_slice(&s.tau);
    let sprung = m.joints().iter().any(|j| j.spring.is_some());
    if sprung
        || !m.combination_springs().is_empty()
        || !m.bushings().is_empty()
        || !m.cables().is_empty()
    {
        let loads = Loads::default();
        let (elastic, _) = Potential::new(m, &loads).forces(&s.q);
        f.iter_mut().zip(elastic).for_each(|(f, e)| *f -= e);
    }
    for (i, j) in m.joints().iter().enumerate() {
        let range = m.velocity_range(JointId::new(i));
        for a in 0..j.dof() {
            let rate = |b: usize| j.damping.get(a, b) * s.v[range.start + b];
            f[range.start + a] -= (0..j.dof()).map(rate).sum::<f64>();
        }
    }
    for spring in m.combination_springs() {
        let terms = &spring.combination.terms;
        let rate: f64 = terms.iter().map(|(x, a)| a * s.v[m.velocity_index(*x)]).sum();
        for (x, a) in terms {
            f[m.velocity_index(*x)] -= spring.damping * rate * a;
        }
    }
    damp_bushings(m, s, &mut f);
    damp_cables(m, s, &mut f);
    f
}

/// −c ℓ̇ ∂ℓ/∂q.
fn damp_cables(m: &Mechanism, s: &State, f: &mut [f64]) {
    for c in m.cables().iter().filter(|c| c.damping != 0.0) {
        let rate = |delta: &[Dual]| {
            kinematics::cable_length(c, &kinematics::link_poses(m, &s.q, delta)).eps
        };
        let along: Vec<Dual> = s.v.iter().map(|&v| Dual::new(0.0, v)).collect();
        let pull = c.damping * rate(&along);
        for (k, f) in f.iter_mut().enumerate() {
            let mut delta = vec![Dual::new(0.0, 0.0); s.v.len()];
            delta[k].eps = 1.0;
            *f -= pull * rate(&delta);
        }
    }
}

/// −Jᵀ D J v, J v the twist of the bushing's second frame relative to its first, in the second
/// frame.
fn damp_bushings(m: &Mechanism, s: &State, f: &mut [f64]) {
    for b in m.bushings() {
        let frame = |l: LinkId, p: &Pose, poses: &[Rigid<Dual>]| {
            poses[l.index()].times(&Rigid::of(&Rigid::from_pose(p)))
        };
        let relative = |delta: &[Dual]| {
            let poses = kinematics::link_poses(m, &s.q, delta);
            let first = frame(b.link_a, &b.a_from_bushing, &poses);
            kinematics::body_twist(&first.inverse().times(&frame(
                b.link_b,
                &b.b_from_bushing,
                &poses,
            )))
        };
        let along: Vec<Dual> = s.v.iter().map(|&v| Dual::new(0.0, v)).collect();
        let force = b.damping.mul_vec(&relative(&along));
        for (k, f) in f.iter_mut().enumerate() {
            let mut delta = vec![Dual::new(0.0, 0.0); s.v.len()];
            delta[k].eps = 1.0;
            *f -= relative(&delta).iter().zip(&force).map(|(j, x)| j * x).sum::<f64>();
        }
    }
}
