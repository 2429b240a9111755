//! Samples in a chart of joint displacements ([`ChartSample`]).
//!
//! x = VᵀD(θ − θ₀), θ₀ the joints' positions without loads, D lengths over r. Where effectors are
//! loaded equilibria have as many tangents as effectors have independent motions; the columns of V
//! span those directions that are nearest to the tangents at all training loads. Derivatives at a
//! sample are those of equilibria next to it, displaced by ±h along each coordinate and each two of
//! them, held by wrenches on the effectors: there energy and poses have exact first derivatives.

use forks_blend::{ChartSample, Guard, Kinematics, LinkForce};
use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, continue_equilibrium},
};
use forks_mechanism::{
    lie::glam::DVec3,
    linalg::{
        Matrix,
        dense::{cholesky_solve, lu_solve, svd, symmetric_eigen},
        norm,
    },
};
use forks_reduce::Problem;
use forks_rom::data::ModelData;

use crate::{
    curvature::{dual, load_stiffness},
    dead_loads::dead_at_rest,
    error::BlendError,
    frames::{Rests, displacement_rates, joints_in_order},
    jets::{Jets, triples},
    link_forces::{leave_out, weights},
    sample::Sample,
    tree_chart::TreeChart,
    truth::Truth,
    whole_chart::WholeChart,
};

/// Displacement of equilibria next to a sample, relative to how far the training loads go along a
/// coordinate.
const DISPLACEMENT: f64 = 5e-3;
/// The guard is so many times as far out as the training loads.
const ROOM: f64 = 1.25;
/// The guard's energy begins with the third power: at ROOM it is what a second power would give.
const STEEP: f64 = 5.0;
/// See [`guard`]: of polynomials of few samples, and of joints, whose motions hold everywhere.
const ASIDE: f64 = 0.05;
const ASIDE_OF_JOINTS: f64 = 1.0;
/// What is lost in second differences of equilibria that are balanced to 1e-11: 1e-11/(5e-3)² some
/// tens of times.
const NOISE: f64 = 1e-5;
/// Differences tell a number from nothing if it is so many times their rounding.
const TELLING: f64 = 3.0;
/// Coordinates go at least this part as far as the one that goes farthest.
const NARROWEST: f64 = 1e-3;
/// Corrections of the loads that displace them, at most.
const CORRECTIONS: usize = 25;
/// They are displaced as meant up to this part.
const NEAR: f64 = 1e-5;
/// Corrections lead away where this multiple of the displacement is missing.
const AWAY: f64 = 3.0;

/// x of any configuration.
#[derive(Clone, Debug)]
pub(crate) struct JointMap {
    /// Where the training loads lead, with room around.
    pub(crate) guard: Guard,
    start: Vec<f64>,
    /// DV, velocities × N.
    directions: Matrix,
    /// h of each coordinate.
    displacements: Vec<f64>,
    kinematics: Kinematics,
    /// What is known of the energy where the links are.
    pub(crate) link_forces: Vec<LinkForce>,
}

impl JointMap {
    /// From the start pose, equilibria and the reduced models there; the guard is around further
    /// equilibria too.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub(crate) fn new<'a>(
        problem: &Problem,
        start: &Equilibrium,
        radius: f64,
        samples: impl Iterator<Item = (&'a Equilibrium, &'a ModelData)> + Clone,
        further: &'a [Vec<Truth>],
        (kinematics, gravity): (Kinematics, bool),
    ) -> Result<Self, BlendError> {
        let scale = scales(problem, radius);
        let size = scale.len();
        let not_finite = || BlendError::NotFinite { quantity: "the samples' joint displacements" };
        let n = samples.clone().map(|s| s.1.basis.columns()).max().unwrap_or(0);
        let mut sum = Matrix::zeros(size, size);
        for (at, d) in samples.clone().filter(|s| s.1.basis.columns() == n) {
            let z = displacement_rates(problem, &start.q, &at.q, joint_rates(problem, d));
            let z = Matrix::from_fn(size, n, |i, j| scale[i] * z[(i, j)]);
            // Each tangent counts the same, however stiff it is.
            let q = svd(&z).ok_or_else(not_finite)?.u;
            sum = Matrix::from_fn(size, size, |i, j| {
                sum[(i, j)] + (0..n).map(|k| q[(i, k)] * q[(j, k)]).sum::<f64>()
            });
        }
        let (_, vectors) = symmetric_eigen(&sum).ok_or_else(not_finite)?;
        let directions = Matrix::from_fn(size, n, |i, j| scale[i] * vectors[(i, size - 1 - j)]);
        let mut out = Self {
            start: start.q.clone(),
            directions,
            displacements: vec![],
            kinematics,
            link_forces: vec![],
            guard: Guard { metric: Matrix::zeros(0, 0), stiffness: 1.0 },
        };
        let at_start = samples.clone().find(|s| s.1.basis.columns() == n);
        let (at, d) = at_start.ok_or(BlendError::NoSample)?;
        if gravity && kinematics == Kinematics::Joints {
            out.link_forces = weights(problem, d);
        }
        let rate = out.rate(problem, at, d);
        let stiffness = rate.transpose_mul(&out.tangent(problem, at, d)).symmetric_part();
        let (stiff, axes) = symmetric_eigen(&stiffness).ok_or_else(not_finite)?;
        out.directions = out.directions.mul(&axes);
        // How far loads go along each coordinate: as far as their energy reaches.
        let (mut far, mut energy) = (0.0f64, 0.0f64);
        let all = samples.map(|s| s.0).chain(further.iter().flatten().map(|t| &t.equilibrium));
        let places: Vec<Vec<f64>> = all.map(|e| out.place(problem, e)).collect();
        for x in &places {
            far = far.max(norm(x));
            energy = energy.max(x.iter().zip(&stiff).map(|(x, k)| k * x * x).sum::<f64>());
        }
        let far = if far > 0.0 { far } else { 1.0 };
        let reach = |k: &f64| match *k > 0.0 && energy > 0.0 {
            true => (energy / k).sqrt().clamp(NARROWEST * far, far),
            false => far,
        };
        let reach: Vec<f64> = stiff.iter().map(reach).collect();
        out.displacements = reach.iter().map(|a| DISPLACEMENT * a).collect();
        let aside = match kinematics {
            Kinematics::Polynomials => ASIDE,
            Kinematics::Joints => ASIDE_OF_JOINTS,
        };
        out.guard = guard(&places, &reach, energy, aside);
        Ok(out)
    }

    /// What wrenches that stay in the world work against, per x: ∂(generalised force)/∂x.
    fn tangent(&self, problem: &Problem, at: &Equilibrium, d: &ModelData) -> Matrix {
        let own = d.basis.transpose_mul(&load_stiffness(d).mul(&d.basis));
        d.hessian.sub(&own).mul(&self.rate(problem, at, d))
    }

    /// Displacements x per generalised force at a stable equilibrium under loads that stay in the
    /// world, N × N; `None` where it has other motions than the chart.
    pub(crate) fn compliance(
        &self,
        problem: &Problem,
        at: &Equilibrium,
        d: &ModelData,
    ) -> Option<Matrix> {
        let n = self.directions.columns();
        if d.basis.columns() != n {
            return None;
        }
        let own = self.rate(problem, at, d).transpose_mul(&self.tangent(problem, at, d));
        cholesky_solve(&own.symmetric_part(), &Matrix::identity(n)).filter(Matrix::is_finite)
    }

    /// x.
    pub(crate) fn place(&self, problem: &Problem, at: &Equilibrium) -> Vec<f64> {
        let moved = problem.mechanism().difference(&self.start, &at.q);
        self.directions.transpose_mul_vec(&moved[..self.directions.rows()])
    }

    /// R = ∂η/∂x.
    fn rate(&self, problem: &Problem, at: &Equilibrium, d: &ModelData) -> Matrix {
        let rates = displacement_rates(problem, &self.start, &at.q, joint_rates(problem, d));
        let along = self.directions.transpose_mul(&rates);
        lu_solve(&along, &Matrix::identity(d.basis.columns()))
    }

    /// The chart's numbers at a sample, for its first effectors; `None` where it has fewer
    /// independent motions than the chart has coordinates, or an equilibrium next to it is not
    /// found.
    pub(crate) fn sample(
        &self,
        problem: &Problem,
        at: &Equilibrium,
        loads: &Loads,
        d: &ModelData,
        effectors: usize,
        options: &EquilibriumOptions,
    ) -> Option<ChartSample> {
        let n = self.directions.columns();
        if d.basis.columns() != n {
            return None;
        }
        if self.kinematics == Kinematics::Joints && at.q == self.start {
            // Weights that act where the links are need no polynomial.
            let mut loads = loads.clone();
            loads.gravity &= self.link_forces.is_empty();
            let m = problem.mechanism();
            if let Some(tree) = TreeChart::new(m, &self.start, &self.directions, loads) {
                let rate = self.rate(problem, at, d);
                let (mut out, jets) = tree.sample(d, effectors, rate, &self.displacements)?;
                self.leave_out_noise(&mut out, d, &jets);
                return Some(out);
            }
        }
        let rests = Rests::new(problem, effectors, at);
        let own = (loads.gravity, effectors);
        let whole = WholeChart::new(problem, &self.start, &self.directions, d, own, &at.q);
        let known = whole.and_then(|c| {
            let slopes = |y: Vec<f64>| c.slopes(&rests, &at.q, &y);
            Jets::new(&self.displacements, slopes(vec![0.0; n])?, slopes)
        });
        let jets = known.or_else(|| {
            let here = neighbour(self, problem, at, d, &rests, effectors);
            let next = |y: Vec<f64>| {
                self.displaced(problem, at, loads, d, &rests, &y, (effectors, options))
            };
            Jets::new(&self.displacements, here, next)
        })?;
        let mut out = numbers(&jets, self, problem, at, d, effectors)?;
        if self.kinematics == Kinematics::Joints {
            if !self.link_forces.is_empty() {
                leave_out(&self.link_forces, &mut out, d, &self.displacements)?;
            }
            self.leave_out_noise(&mut out, d, &jets);
        }
        Some(out)
    }

    /// Sets higher orders to zero where they are no more than differences' rounding as far as the
    /// loads go: a tree whose coordinates are all its motions has none.
    fn leave_out_noise(&self, c: &mut ChartSample, d: &ModelData, jets: &Jets) {
        let reach: Vec<f64> = self.displacements.iter().map(|h| h / DISPLACEMENT).collect();
        let n = reach.len();
        let pairs = || (0..n).flat_map(move |i| (i..n).map(move |j| (i, j)));
        let energy = (0..n).map(|i| 0.5 * c.stiffness[(i, i)].abs() * reach[i] * reach[i]);
        let energy = energy.fold(0.0, f64::max);
        let (mut third, mut rounding) = (0.0f64, 0.0f64);
        for (coefficient, at) in c.cubic.iter().zip(triples(n)) {
            let far: f64 = at.map(|i| reach[i]).iter().product();
            third = third.max(far * coefficient.abs());
            rounding = rounding.max(far * jets.cubic_rounding(at, |k| k));
        }
        if third <= NOISE * energy || third <= TELLING * rounding {
            c.cubic.fill(0.0);
        }
        let moved = d.joints.iter().map(|j| {
            let map = j.map.mul(&c.rate);
            let row = |i: usize| (0..n).map(|k| (map[(i, k)] * reach[k]).abs()).fold(0.0, f64::max);
            (0..map.rows()).map(row).fold(0.0, f64::max)
        });
        let moved = moved.fold(0.0, f64::max);
        let bent = c.joints.iter().map(|w| {
            let row = |i: usize| {
                let terms = w.row(i).iter().zip(pairs());
                terms.map(|(w, (k, l))| (w * reach[k] * reach[l]).abs()).fold(0.0, f64::max)
            };
            (0..w.rows()).map(row).fold(0.0, f64::max)
        });
        if bent.fold(0.0, f64::max) <= NOISE * moved {
            let zeros = |w: &Matrix| Matrix::zeros(w.rows(), w.columns());
            c.joints = c.joints.iter().map(zeros).collect();
        }
    }

    /// The equilibrium displaced by y, held by wrenches on the effectors.
    #[allow(clippy::too_many_arguments)]
    fn displaced(
        &self,
        problem: &Problem,
        at: &Equilibrium,
        loads: &Loads,
        d: &ModelData,
        rests: &Rests<'_>,
        y: &[f64],
        (effectors, options): (usize, &EquilibriumOptions),
    ) -> Option<Vec<f64>> {
        let tangent = self.tangent(problem, at, d);
        let dual = dual(d);
        let place = self.place(problem, at);
        let mut wrench = vec![0.0; y.len()];
        let (mut here, mut missing) = (at.clone(), y.to_vec());
        for _ in 0..CORRECTIONS {
            let more = tangent.mul_vec(&missing);
            wrench.iter_mut().zip(more).for_each(|(w, m)| *w += m);
            let mut all = loads.clone();
            let flat = dual.mul_vec(&wrench);
            all.wrenches.extend(dead_at_rest(problem, d, &flat));
            here = continue_equilibrium(problem.mechanism(), &here, &all, options);
            if !matches!(here.status, EquilibriumStatus::Converged | EquilibriumStatus::Unstable) {
                return None;
            }
            let now = self.place(problem, &here);
            missing = (0..y.len()).map(|i| y[i] + place[i] - now[i]).collect();
            let left = norm(&missing);
            if left <= NEAR * norm(y) {
                let there = Sample::new(problem, &here, &all).ok()?;
                let same = there.data.basis.columns() == y.len();
                let known = || neighbour(self, problem, &here, &there.data, rests, effectors);
                return same.then(known);
            }
            if left > AWAY * norm(y) {
                return None;
            }
        }
        None
    }
}

/// A guard around places that loads lead to: as wide as these lie, along each coordinate at least
/// the part `aside` of how far their energy reaches.
fn guard(places: &[Vec<f64>], reach: &[f64], energy: f64, aside: f64) -> Guard {
    let (n, count) = (reach.len(), places.len().max(1) as f64);
    let spread = Matrix::from_fn(n, n, |i, k| {
        let mean = places.iter().map(|x| x[i] * x[k]).sum::<f64>() / count;
        mean + if i == k { (aside * reach[i]).powi(2) } else { 0.0 }
    });
    let narrow = lu_solve(&spread, &Matrix::identity(n)).symmetric_part();
    let size =
        |x: &Vec<f64>| -> f64 { narrow.mul_vec(x).iter().zip(x).map(|(g, x)| g * x).sum::<f64>() };
    let largest = ROOM * ROOM * places.iter().map(size).fold(f64::MIN_POSITIVE, f64::max);
    let metric = Matrix::from_fn(n, n, |i, k| narrow[(i, k)] / largest);
    let energy = if energy > 0.0 { energy } else { 1.0 };
    Guard { metric, stiffness: STEEP * ROOM * ROOM * energy }
}

/// What an equilibrium knows of first derivatives by x: ∂U/∂x; then, column after column, of each
/// frame's exponential coordinates from a sample, the first effectors before links; then of the
/// joints' displacements from there.
fn neighbour(
    map: &JointMap,
    problem: &Problem,
    at: &Equilibrium,
    d: &ModelData,
    rests: &Rests<'_>,
    effectors: usize,
) -> Vec<f64> {
    let n = d.basis.columns();
    let rate = map.rate(problem, at, d);
    let wrench: Vec<f64> = d.effectors.iter().flat_map(|e| e.static_wrench.to_array()).collect();
    let mut values = rate.transpose_mul_vec(&d.basis.transpose_mul_vec(&wrench));
    let own = (0..effectors).map(|e| d.basis.block(6 * e, 0, 6, n).mul(&rate));
    let maps: Vec<Matrix> = own.chain(d.links.iter().map(|l| l.map.mul(&rate))).collect();
    let twist = |f: usize, k: usize| std::array::from_fn(|j| maps[f][(j, k)]);
    rests.frame_rates(problem, effectors, &at.world_from_link, twist, n, &mut values);
    let m = problem.mechanism();
    for (joint, own) in joints_in_order(m).zip(&d.joints) {
        rests.joint_rates(m, joint, &at.q, own.map.mul(&rate), &mut values);
    }
    // ∂²U/∂x∂s = −Rᵀ 𝓗 η_s, η_s where the mechanism rests for a target.
    let pull = rate.transpose_mul(&d.hessian.mul(&d.servo_rest));
    for s in 0..d.servos.len() {
        values.extend(pull.column(s).iter().map(|p| -p));
    }
    values
}

/// A sample's numbers from what equilibria next to it know; see [`neighbour`].
fn numbers(
    jets: &Jets,
    map: &JointMap,
    problem: &Problem,
    at: &Equilibrium,
    d: &ModelData,
    of: usize,
) -> Option<ChartSample> {
    let n = jets.n;
    let two: Vec<[usize; 2]> = (0..n).flat_map(|i| (i..n).map(move |j| [i, j])).collect();
    let three: Vec<[usize; 3]> = triples(n).collect();
    let frame = |f: usize, row: usize| move |k: usize| n + (f * n + k) * 6 + row;
    let second = |rows: usize, entry: &dyn Fn(usize, usize) -> usize| {
        Matrix::from_fn(rows, two.len(), |row, p| {
            jets.quadratic(two[p][0], two[p][1], |k| entry(row, k))
        })
    };
    let twists = Matrix::from_fn(6 * of, two.len() + three.len(), |row, p| {
        let entry = frame(row / 6, row % 6);
        match p.checked_sub(two.len()) {
            None => jets.quadratic(two[p][0], two[p][1], entry),
            Some(p) => jets.cubic(three[p], entry),
        }
    });
    let links = (0..d.links.len()).map(|l| second(6, &|row, k| frame(of + l, row)(k))).collect();
    let mut at_joint = n + 6 * n * (of + d.links.len());
    let mut joints = vec![];
    for joint in &d.joints {
        let rows = joint.map.rows();
        joints.push(second(rows, &|row, k| at_joint + k * rows + row));
        at_joint += n * rows;
    }
    let width = if d.servos.is_empty() { 0 } else { n + two.len() };
    let servos = Matrix::from_fn(d.servos.len(), width, |s, p| {
        let entry = |k: usize| at_joint + s * n + k;
        match p.checked_sub(n) {
            None => jets.here[entry(p)],
            Some(p) => jets.quadratic(two[p][0], two[p][1], entry),
        }
    });
    let out = ChartSample {
        place: map.place(problem, at),
        rate: map.rate(problem, at, d),
        stiffness: jets.second(),
        cubic: jets.third(),
        twists,
        links,
        joints,
        servos,
    };
    let finite = out.cubic.iter().all(|x| x.is_finite()) && out.rate.is_finite();
    (finite && out.stiffness.is_finite() && out.twists.is_finite()).then_some(out)
}

/// 1 for coordinates that turn, 1/r for those that shift only.
fn scales(problem: &Problem, radius: f64) -> Vec<f64> {
    let m = problem.mechanism();
    let mut out = vec![1.0; m.tree_velocity_count()];
    for edge in m.forest().edges() {
        let kind = &m.joint(edge.joint).kind;
        let columns = kind.columns(&kind.zero_positions());
        for (i, c) in m.velocity_range(edge.joint).zip(columns.as_slice()) {
            if c.angular == DVec3::ZERO {
                out[i] = 1.0 / radius;
            }
        }
    }
    out
}

/// Z: velocities of the tree's joints per unit η̇.
fn joint_rates(problem: &Problem, d: &ModelData) -> Matrix {
    let m = problem.mechanism();
    let mut out = Matrix::zeros(m.tree_velocity_count(), d.basis.columns());
    for (edge, joint) in m.forest().edges().iter().zip(&d.joints) {
        for (k, i) in m.velocity_range(edge.joint).enumerate() {
            out.row_mut(i).copy_from_slice(joint.map.row(k));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use forks_dynamics::WrenchFrame;
    use forks_mechanism::lie::Wrench;
    use forks_reduce::ProblemOptions;

    use super::*;
    use crate::ports::all_links;

    /// A loaded loop of hinges and one of balls, all motions as coordinates: what is known of
    /// configurations next to it is what equilibria there, held by wrenches on all links, have.
    #[test]
    fn configurations_know_what_equilibria_next_to_them_do() {
        let options = EquilibriumOptions::default();
        for p in [forks_models::ladder(3), forks_models::irregular_ladder(3)] {
            let tip = p.mechanism.link(p.effectors[0]).name.clone();
            let problem = all_links(
                &Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap(),
            );
            let force = Wrench::new(DVec3::new(150.0, 0.0, -90.0), DVec3::ZERO);
            let loads = Loads::none().with(problem.effectors[0].applied(force, WrenchFrame::World));
            let start = problem.equilibrium(&Loads::none(), &options);
            let at = problem.equilibrium(&loads, &options);
            let sample = |at: &Equilibrium, loads| Sample::new(&problem, at, loads).unwrap().data;
            let (first, d) = (sample(&start, &Loads::none()), sample(&at, &loads));
            let both = [(&start, &first), (&at, &d)];
            let how = (Kinematics::Polynomials, false);
            let map =
                JointMap::new(&problem, &start, d.radius, both.into_iter(), &[], how).unwrap();
            let chart =
                WholeChart::new(&problem, &map.start, &map.directions, &d, (false, 1), &at.q);
            let (chart, rests) = (chart.unwrap(), Rests::new(&problem, 1, &at));
            let n = d.basis.columns();
            let here = chart.slopes(&rests, &at.q, &vec![0.0; n]).unwrap();
            let known = neighbour(&map, &problem, &at, &d, &rests, 1);
            let size = known.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let off = |a: &[f64], b: &[f64]| {
                assert_eq!(a.len(), b.len());
                a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
            };
            // Equilibria are balanced to 1e-11.
            assert!(off(&here, &known) < 1e-8 * size, "{:e}", off(&here, &known) / size);
            for k in 0..n {
                let mut y = vec![0.0; n];
                y[k] = map.displacements[k];
                y[(k + 1) % n] = -0.5 * map.displacements[(k + 1) % n];
                let own = chart.slopes(&rests, &at.q, &y).unwrap();
                let with = (1, &options);
                let held = map.displaced(&problem, &at, &loads, &d, &rests, &y, with).unwrap();
                // These are displaced as meant up to NEAR.
                let (change, off) = (off(&held, &known), off(&own, &held));
                assert!(off < 10.0 * NEAR * change, "{off:e} of {change:e}");
            }
        }
    }
}
