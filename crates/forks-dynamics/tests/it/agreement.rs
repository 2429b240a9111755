//! Every route to accelerations against the naive maximal-coordinate solve, on 200 random
//! mechanisms.
//!
//! The naive solve is exact for the given numbers. It also says by how much each acceleration may
//! change if every number in its equations changes by one part: the sensitivity |A⁻¹|(|A||x| +
//! |b|), which plays the role of κ. An algorithm that is stable may err by c·sensitivity·ε. Divide
//! and conquer inverts squared loop equations and may err by their condition number more.

use forks_dynamics::{
    constrained::{ConstrainedDynamics, DynamicsStatus},
    dca::{DcaError, DcaInput, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca, dca_with},
    mechanism::{
        Mechanism,
        lie::{SpatialInertia, Wrench},
        linalg::{Matrix, dense},
    },
    passive::{PassiveWorkspace, passive_forces},
    tree::{AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, aba, bias, crba, rnea},
};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, System,
    dynamics::{
        Acceleration, State, StateOptions, forward_dynamics, open_forward_dynamics, random_state,
    },
    random_effectors, random_mechanism,
};

/// Roundings of an algorithm per part of the equations: poses and velocities are products and sums
/// along chains of up to a dozen joints, each entry of which takes about ten operations.
const C: f64 = 128.0;

const SEEDS: u64 = 200;

/// Trees, floating trees, loops with couplings, planar loops (redundant rows): a quarter each.
/// Rotors in half, massless inner links in a third of them.
fn options(seed: u64) -> RandomMechanismOptions {
    let mut joint_kinds = JointChoice::USUAL.to_vec();
    joint_kinds.extend([JointChoice::Free, JointChoice::Fixed]);
    let basis = RandomMechanismOptions {
        joint_kinds,
        armature: seed % 8 < 4,
        // Massless links need the tree that was drawn: another one may have them as leaves.
        shuffle_joints: !seed.is_multiple_of(3),
        massless_fraction: if seed.is_multiple_of(3) { 0.3 } else { 0.0 },
        preload: 0.2,
        resisted: None,
        ..RandomMechanismOptions::mixed(seed)
    };
    match seed % 4 {
        0 => RandomMechanismOptions { extra_loops: 0, couplings: 0, ..basis },
        1 => RandomMechanismOptions { extra_loops: 0, couplings: 0, floating_base: true, ..basis },
        // Half of them without couplings, which divide and conquer refuses.
        2 => {
            let couplings = if seed % 8 == 2 { 0 } else { basis.couplings.max(1) };
            RandomMechanismOptions { extra_loops: 1 + seed as usize % 3, couplings, ..basis }
        }
        _ => RandomMechanismOptions {
            planar: true,
            couplings: 0,
            extra_loops: 1 + seed as usize % 3,
            ..basis
        },
    }
}

struct Case {
    seed: u64,
    mechanism: Mechanism,
    state: State,
    exact: Acceleration,
    /// The same with all loops open; of a tree the same.
    open: Acceleration,
    /// Unit of length of each coordinate, 1 for angles.
    scale: Vec<f64>,
    forces: Vec<f64>,
    wrenches: Vec<Wrench>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mechanism = random_mechanism(seed, &options(seed));
        let state = random_state(seed, &mechanism, &StateOptions::default());
        let exact = forward_dynamics(&mechanism, &state);
        let wrenches = state.wrenches.iter().map(|w| Wrench::from_array(*w)).collect();
        let open = open_forward_dynamics(&mechanism, &state);
        let scale = System::new(&mechanism, &state.q).scale;
        let forces = forces(&mechanism, &state, &exact);
        Self { seed, mechanism, state, exact, open, scale, forces, wrenches }
    }

    fn is_tree(&self) -> bool {
        self.mechanism.forest().closures().is_empty() && self.mechanism.couplings().is_empty()
    }

    fn q(&self) -> &[f64] {
        self.state.tree_q(&self.mechanism)
    }

    fn v(&self) -> &[f64] {
        self.state.tree_v(&self.mechanism)
    }

    /// Torques, springs and dampers of the tree joints.
    fn forces(&self) -> &[f64] {
        &self.forces
    }

    fn loads(&self) -> LinkLoads<'_> {
        LinkLoads { gravity: true, wrenches: &self.wrenches }
    }

    /// Bound of the condition number of the loop equations in the metric of the inverse mass
    /// matrix, redundant rows aside: κ(G) κ(M)^½. Divide and conquer inverts TᵀΦT = TᵀG M⁻¹ GᵀT,
    /// whose condition is the square of it; one power is in the sensitivity already.
    fn loop_condition(&self) -> f64 {
        let system = System::new(&self.mechanism, &self.state.q);
        let mass = system.mass_conditioning(self.mechanism.tree_velocity_count());
        1.0 / (system.constraint_conditioning() * mass.sqrt())
    }

    /// The largest sensitivity in units of the mechanism's size.
    fn sensitivity(&self, x: &Acceleration) -> f64 {
        x.sensitivity.iter().zip(&self.scale).map(|(x, s)| x / s).fold(0.0, f64::max)
    }

    /// Largest error over sensitivity·ε, of the tree's coordinates or of all. Loops hold what the
    /// open tree would do: where they lock a coordinate, its exact rate and sensitivity are zero,
    /// and rounding is that of the accelerations that cancel.
    fn error(&self, found: &[f64]) -> f64 {
        let open = if self.is_tree() { 0.0 } else { self.sensitivity(&self.open) };
        self.error_from(found, &self.exact, self.sensitivity(&self.exact) + open)
    }

    /// The same of the open tree.
    fn open_error(&self, found: &[f64]) -> f64 {
        self.error_from(found, &self.open, self.sensitivity(&self.open))
    }

    fn error_from(&self, found: &[f64], exact: &Acceleration, size: f64) -> f64 {
        let m = &self.mechanism;
        assert!([m.tree_velocity_count(), m.velocity_count()].contains(&found.len()));
        let of = |(k, x): (usize, &f64)| {
            let error = (x - exact.joints[k]).abs() / self.scale[k];
            if error == 0.0 { 0.0 } else { error / (size * f64::EPSILON) }
        };
        found.iter().enumerate().map(of).fold(0.0, f64::max)
    }
}

/// Torques, springs and dampers, compared with those of the naive solve.
fn forces(m: &Mechanism, s: &State, exact: &Acceleration) -> Vec<f64> {
    let mut f = vec![0.0; m.velocity_count()];
    passive_forces(m, &mut PassiveWorkspace::new(m), &s.q, &s.v, &mut f);
    f.iter_mut().zip(&s.tau).for_each(|(f, t)| *f += t);
    let largest = exact.generalized.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in f.iter().zip(&exact.generalized) {
        // Logarithms of displacements below half a radian, then a dozen products.
        assert!((a - b).abs() <= C * f64::EPSILON * largest, "{a} {b}");
    }
    f.truncate(m.tree_velocity_count());
    f
}

/// Worst errors of one route.
struct Route {
    name: &'static str,
    worst: f64,
    sum: f64,
    count: usize,
}

impl Route {
    fn new(name: &'static str) -> Self {
        Self { name, worst: 0.0, sum: 0.0, count: 0 }
    }

    fn add(&mut self, case: &Case, found: &[f64]) {
        self.add_error(case, case.error(found));
    }

    fn add_error(&mut self, case: &Case, error: f64) {
        assert!(error < C, "{}, seed {}: {error:.1} sensitivities·ε", self.name, case.seed);
        self.worst = self.worst.max(error);
        self.sum += error;
        self.count += 1;
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        println!(
            "{:26} {:4} mechanisms, worst {:6.2}, mean {:5.2} sensitivity·ε",
            self.name,
            self.count,
            self.worst,
            self.sum / self.count.max(1) as f64
        );
    }
}

/// M v̇ = τ − bias by Cholesky.
fn by_mass_matrix(case: &Case, tree: &Tree) -> Vec<f64> {
    let n = tree.velocity_count();
    let mut mass = Matrix::zeros(n, n);
    crba(tree, &mut CrbaWorkspace::new(tree), case.q(), &mut mass);
    let mut b = vec![0.0; n];
    bias(tree, &mut RneaWorkspace::new(tree), case.q(), case.v(), &case.loads(), &mut b);
    let right = Matrix::from_fn(n, 1, |i, _| case.forces()[i] - b[i]);
    let x = dense::cholesky_solve(&mass, &right).expect("positive definite");
    (0..n).map(|i| x[(i, 0)]).collect()
}

#[test]
fn all_routes_agree_on_random_mechanisms() {
    let mut articulated = Route::new("articulated bodies, open");
    let mut composite = Route::new("mass matrix, open");
    let mut constrained = Route::new("constrained, trees");
    let mut loops = Route::new("constrained, loops");
    let mut divided = Route::new("divide and conquer");
    let mut divided_loops = Route::new("divide and conquer, loops");
    let mut refused = Refused::default();
    let (mut redundant, mut reactions) = (0, 0);
    for seed in 0..SEEDS {
        let case = Case::new(seed);
        let m = &case.mechanism;
        let tree = Tree::new(m);
        let mut found = vec![0.0; tree.velocity_count()];
        let mut ws = AbaWorkspace::new(&tree);
        aba(&tree, &mut ws, case.q(), case.v(), case.forces(), &case.loads(), &mut found)
            .expect("every coordinate moves mass");
        articulated.add_error(&case, case.open_error(&found));
        composite.add_error(&case, case.open_error(&by_mass_matrix(&case, &tree)));
        if let Some(found) = by_division(&case, &mut refused) {
            if case.is_tree() {
                divided.add(&case, &found);
            } else {
                divided_loops.add_error(&case, case.error(&found) / case.loop_condition());
            }
        }
        let dynamics = ConstrainedDynamics::new(m);
        let mut work = dynamics.workspace();
        let x =
            dynamics.accelerations(case.q(), case.v(), &case.state.tau, &case.wrenches, &mut work);
        assert!(x.status == DynamicsStatus::Solved, "seed {seed}: {:?}", x.status);
        if case.is_tree() {
            constrained.add(&case, &x.acceleration);
        } else {
            loops.add(&case, &x.acceleration);
            reactions += usize::from(compare_reactions(&case, &x.multipliers));
            redundant += usize::from(x.rank < x.rows);
        }
    }
    println!("not for divide and conquer: {refused:?}");
    assert!(divided.count > 80 && divided_loops.count > 60, "{refused:?}");
    println!(
        "{redundant} mechanisms with redundant loop equations, {reactions} with unique reactions"
    );
    assert!(redundant > 40 && reactions > 15, "{redundant} {reactions}");
}

/// What divide and conquer does not take.
#[derive(Debug, Default)]
struct Refused {
    couplings: usize,
    massless: usize,
    dependent: usize,
}

/// Forces on closing coordinates are those of their springs and dampers.
fn by_division(case: &Case, refused: &mut Refused) -> Option<Vec<f64>> {
    let m = &case.mechanism;
    let plan = match DcaPlan::new(m) {
        Ok(plan) => plan,
        Err(DcaError::Coupling { .. }) => {
            refused.couplings += 1;
            return None;
        }
        Err(DcaError::MasslessBranch { .. } | DcaError::TooManyCoordinates { .. }) => {
            refused.massless += 1;
            return None;
        }
        Err(e) => panic!("seed {}: {e}", case.seed),
    };
    let mut ws = DcaWorkspace::new(&plan);
    let input = DcaInput {
        q: case.q(),
        v: case.v(),
        tau: case.forces(),
        external: &case.wrenches,
        closing_tau: &case.exact.generalized[m.tree_velocity_count()..],
        ..DcaInput::default()
    };
    match dca_with(&plan, &mut ws, &input).expect("lengths") {
        DcaStatus::Solved { .. } => Some(ws.accelerations().to_vec()),
        DcaStatus::DependentDirections { .. } => {
            refused.dependent += 1;
            None
        }
        status => panic!("seed {}: {status:?}", case.seed),
    }
}

/// Wrenches of closing joints and forces of couplings, where loop equations are independent; false
/// where not.
fn compare_reactions(case: &Case, multipliers: &[f64]) -> bool {
    let exact = &case.exact;
    if exact.rank.0 < exact.rank.1 {
        return false;
    }
    let mut found = multipliers.chunks_exact(6);
    for id in case.mechanism.forest().closures() {
        let (wrench, found) = (exact.wrenches[id.index()], found.next().expect("six rows"));
        let largest = exact.wrench_sensitivity[id.index()].iter().fold(0.0, |m: f64, x| m.max(*x));
        for k in 0..6 {
            let error = (found[k] - wrench[k]).abs();
            assert!(error < C * f64::EPSILON * largest, "seed {}: {error:e}", case.seed);
        }
    }
    true
}

#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    for seed in (0..SEEDS).filter(|s| s % 4 < 2) {
        let case = Case::new(seed);
        let tree = Tree::new(&case.mechanism);
        let n = tree.velocity_count();
        let mut found = vec![0.0; n];
        let mut ws = AbaWorkspace::new(&tree);
        aba(&tree, &mut ws, case.q(), case.v(), case.forces(), &case.loads(), &mut found)
            .expect("every coordinate moves mass");
        let mut back = vec![0.0; n];
        let mut ws = RneaWorkspace::new(&tree);
        rnea(&tree, &mut ws, case.q(), case.v(), &found, &case.loads(), &mut back);
        let mut mass = Matrix::zeros(n, n);
        crba(&tree, &mut CrbaWorkspace::new(&tree), case.q(), &mut mass);
        for i in 0..n {
            // What an error of the accelerations makes of itself, and rounding of the sum.
            let size: f64 = (0..n)
                .map(|j| {
                    mass[(i, j)].abs()
                        * (case.scale[j] * case.sensitivity(&case.exact) + found[j].abs())
                })
                .sum::<f64>()
                + case.forces()[i].abs();
            let error = (back[i] - case.forces()[i]).abs();
            assert!(error < C * f64::EPSILON * size, "seed {seed}: {error:e} of {size:e}");
        }
    }
}

/// Φ_ab = J_a M⁻¹ J_bᵀ of two links, loops closed, from the handles of divide and conquer and from
/// J N (NᵀMN)⁻¹ Nᵀ Jᵀ with the naive Jacobians; lengths over the mechanism's size.
#[test]
fn handles_have_the_inverse_inertia_of_the_nullspace() {
    let (mut worst, mut count): (f64, usize) = (0.0, 0);
    for seed in 0..SEEDS {
        let m = random_mechanism(seed, &options(seed));
        let system = System::new(&m, &m.start_positions());
        let links = random_effectors(seed, &m, 2);
        let plan = DcaPlan::with_handles(&m, &links, &DcaSettings::default());
        let (Ok(plan), Some(expected)) = (plan, system.inverse_mass(&links)) else { continue };
        let mut ws = DcaWorkspace::new(&plan);
        let s = State::rest(&m);
        let status = dca(&plan, &mut ws, s.tree_q(&m), s.tree_v(&m), &s.tau, &[]).expect("lengths");
        if !matches!(status, DcaStatus::Solved { .. }) {
            continue;
        }
        let unit = |i: usize| if i % 6 < 3 { 1.0 / system.size } else { 1.0 };
        let free = 1.0 / system.mass_conditioning(m.tree_velocity_count());
        let loops = 1.0 / system.constraint_conditioning();
        let mut error: f64 = 0.0;
        for (a, from) in links.iter().enumerate() {
            for (b, to) in links.iter().enumerate() {
                let phi = ws.handle_inverse_inertia(&plan, *from, *to).expect("chosen").to_rows();
                for (i, j) in (0..36).map(|k| (k / 6, k % 6)) {
                    let (i6, j6) = (6 * a + i, 6 * b + j);
                    let scale = unit(i6) * unit(j6);
                    error = error.max(scale * (phi[i][j] - expected[(i6, j6)]).abs());
                }
            }
        }
        // κ(M) of the nullspace route, loops squared by divide and conquer, and what both add up
        // and cancel: the inverse inertias of free links.
        let bound = free * (loops * loops) * free_inverse_inertia(&m, system.size) * f64::EPSILON;
        assert!(error < C * bound, "seed {seed}: {error:e}, bound {bound:e}");
        worst = worst.max(error / bound);
        count += 1;
    }
    println!("inverse inertia of handles, {count} mechanisms: worst {worst:.3} κ ε");
    assert!(count > 140, "{count}");
}

/// Largest inverse inertia of a link by itself, lengths over `r`.
fn free_inverse_inertia(m: &Mechanism, r: f64) -> f64 {
    let of = |i: &SpatialInertia| (1.0 / (i.mass * r * r)).max(1.0 / i.principal_moments()[0]);
    let heavy = m.links().iter().filter(|l| l.inertia.mass > 0.0);
    heavy.map(|l| of(&l.inertia)).fold(0.0, f64::max)
}

#[test]
fn the_third_call_equals_the_first() {
    for seed in 0..40 {
        let (case, other) = (Case::new(seed), random_mechanism(seed, &options(seed)));
        let tree = Tree::new(&case.mechanism);
        let n = tree.velocity_count();
        let mut ws = AbaWorkspace::new(&tree);
        let dynamics = ConstrainedDynamics::new(&case.mechanism);
        let mut work = dynamics.workspace();
        let plan = DcaPlan::new(&case.mechanism).ok();
        let mut storage = plan.as_ref().map(DcaWorkspace::new);
        let mut run = |s: &State| {
            let mut a = vec![0.0; n];
            let (q, v) = (s.tree_q(&other), s.tree_v(&other));
            aba(&tree, &mut ws, q, v, &s.tau, &LinkLoads::GRAVITY, &mut a).expect("mass");
            let x = dynamics.accelerations(q, v, &s.tau, &[], &mut work);
            let mut divided = vec![];
            if let (Some(plan), Some(storage)) = (&plan, &mut storage) {
                dca(plan, storage, q, v, &s.tau, &[]).expect("lengths");
                divided.extend_from_slice(storage.accelerations());
            }
            [a, x.acceleration, x.multipliers, divided].concat()
        };
        let first = run(&case.state);
        let between = random_state(seed + 1000, &other, &StateOptions::default());
        assert_ne!(run(&between), first);
        let third = run(&case.state);
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&third), bits(&first), "seed {seed}");
    }
}
