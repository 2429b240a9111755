//! Error growth of forward dynamics on the coil and the dill, against the solution of doubled
//! precision.
//!
//! `cargo test -p forks-dynamics --test it accuracy -- --nocapture` prints the table.

use forks_dynamics::{
    dca::{DcaError, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca},
    mechanism::{
        Link, LinkId, MechanismBuilder, TreeEdge,
        lie::SpatialInertia,
        linalg::{Matrix, dense},
    },
    tree::{AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, aba, bias, crba},
};
use forks_models::{Parametric, coil, dill, molecules::chain};
use forks_testkit::{
    Rng,
    dynamics::{State, tree_forward_dynamics},
    linear::symmetric_eigen,
};

/// Roundings that add up along a dozen levels or hinges and are not damped.
const C: f64 = 16.0;
/// The same where 6×6 blocks are eliminated: dozens of products per entry.
const C_BLOCKS: f64 = 64.0;

/// Errors relative to the largest acceleration, and condition number of the mass matrix after
/// scaling its diagonal to one.
struct Row {
    name: String,
    condition: f64,
    /// Size of the mechanism over its shortest rod.
    span: f64,
    /// Largest ratio of inverse inertias of neighbours.
    ratio: f64,
    /// True if divide and conquer does not take it by default.
    refused: bool,
    /// Of each route, at rest.
    still: [f64; 3],
    /// Of each route, in motion.
    moving: [f64; 3],
}

/// Random torques, and rates if it moves, at the start pose; torques in proportion to what they
/// move, so that all accelerations are of order one, however light the link.
fn state(p: &Parametric, mass: &Matrix, seed: u64, moves: bool) -> State {
    let mut rng = Rng::new(seed);
    let mut s = State::rest(&p.mechanism);
    if moves {
        s.v.iter_mut().for_each(|v| *v = rng.symmetric());
    }
    for (i, tau) in s.tau.iter_mut().enumerate() {
        *tau = mass[(i, i)] * rng.symmetric();
    }
    s
}

fn measure(name: &str, p: &Parametric) -> Row {
    let m = &p.mechanism;
    let tree = Tree::new(m);
    let n = tree.velocity_count();
    let mut mass = Matrix::zeros(n, n);
    crba(&tree, &mut CrbaWorkspace::new(&tree), &m.start_positions(), &mut mass);
    let mut row = Row {
        name: name.into(),
        condition: condition(&mass),
        span: span(p),
        ratio: inertia_ratio(p),
        refused: matches!(DcaPlan::new(m), Err(DcaError::MassRatio { .. })),
        still: [0.0; 3],
        moving: [0.0; 3],
    };
    let settings = DcaSettings { largest_mass_ratio: f64::INFINITY, ..DcaSettings::default() };
    let plan = DcaPlan::with_handles(m, &[], &settings).expect("a tree of links with mass");
    for seed in 0..4 {
        let moves = seed % 2 == 1;
        let s = state(p, &mass, seed, moves);
        let exact = tree_forward_dynamics(m, &s).joints;
        let routes = [articulated(&tree, &s), composite(&tree, &s, &mass), divided(&plan, &s)];
        for (worst, x) in
            if moves { &mut row.moving } else { &mut row.still }.iter_mut().zip(routes)
        {
            *worst = worst.max(error(&x, &exact));
        }
    }
    row
}

fn articulated(tree: &Tree, s: &State) -> Vec<f64> {
    let mut x = vec![0.0; s.v.len()];
    aba(tree, &mut AbaWorkspace::new(tree), &s.q, &s.v, &s.tau, &LinkLoads::GRAVITY, &mut x)
        .expect("every link has mass");
    x
}

fn composite(tree: &Tree, s: &State, mass: &Matrix) -> Vec<f64> {
    let n = s.v.len();
    let mut b = vec![0.0; n];
    bias(tree, &mut RneaWorkspace::new(tree), &s.q, &s.v, &LinkLoads::GRAVITY, &mut b);
    let right = Matrix::from_fn(n, 1, |i, _| s.tau[i] - b[i]);
    let x = dense::cholesky_solve(mass, &right).expect("positive definite");
    (0..n).map(|i| x[(i, 0)]).collect()
}

/// Divide and conquer, whatever the ratio of inertias; NaN where it gives no numbers.
fn divided(plan: &DcaPlan, s: &State) -> Vec<f64> {
    let mut ws = DcaWorkspace::new(plan);
    match dca(plan, &mut ws, &s.q, &s.v, &s.tau, &[]).expect("lengths") {
        DcaStatus::Solved { .. } => ws.accelerations().to_vec(),
        _ => vec![f64::NAN; s.v.len()],
    }
}

fn error(found: &[f64], exact: &[f64]) -> f64 {
    let largest = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    found.iter().zip(exact).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) / largest
}

/// Largest distance of link frames from the root over the smallest distance of a rod's middle from
/// its end.
fn span(p: &Parametric) -> f64 {
    let poses = p.mechanism.link_poses(&p.mechanism.start_positions());
    let far = poses.iter().map(|p| p.translation.length()).fold(0.0, f64::max);
    let arm = |l: &Link| l.inertia.center_of_mass.length();
    far / p.mechanism.moving_links().map(|(_, l)| arm(l)).fold(f64::INFINITY, f64::min)
}

/// Largest over smallest inverse inertia of two links that a joint joins, rotations in units of the
/// larger radius of gyration: what is added up in one block of Φ (EQUATIONS 1.7).
fn inertia_ratio(p: &Parametric) -> f64 {
    let m = &p.mechanism;
    let ratio = |e: &TreeEdge| {
        let bodies = [e.inner, e.outer].map(|l| if l == LinkId::WORLD { e.outer } else { l });
        let bodies = bodies.map(|l| m.link(l).inertia);
        let radius = |i: &SpatialInertia| i.principal_moments()[2] / i.mass;
        let unit = radius(&bodies[0]).max(radius(&bodies[1]));
        let all = bodies.iter().flat_map(|i| {
            let [low, _, high] = i.principal_moments();
            [1.0 / i.mass, unit / low, unit / high]
        });
        let (low, high) =
            all.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), x| (a.min(x), b.max(x)));
        high / low
    };
    m.forest().edges().iter().map(ratio).fold(1.0, f64::max)
}

/// κ of D M D with a unit diagonal: Cholesky and articulated bodies do not see the scaling D.
fn condition(mass: &Matrix) -> f64 {
    let scale = |i: usize| 1.0 / mass[(i, i)].sqrt();
    let n = mass.rows();
    let (e, _) = symmetric_eigen(&Matrix::from_fn(n, n, |i, j| scale(i) * mass[(i, j)] * scale(j)));
    // Below rounding the smallest eigenvalue is a guess, and no digits are promised.
    e[n - 1] / e[0].max(f64::EPSILON * e[n - 1])
}

fn table(rows: &[Row]) {
    println!(
        "{:10} {:>9} {:>8} | {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} with velocities",
        "", "κ", "Φ ratio", "ABA", "M⁻¹", "DCA", "ABA", "M⁻¹", "DCA"
    );
    for r in rows {
        print!("{:10} {:9.1e} {:8.1e}", r.name, r.condition, r.ratio);
        for errors in [r.still, r.moving] {
            print!(" |");
            errors.iter().for_each(|e| print!(" {e:8.1e}"));
        }
        println!("{}", if r.refused { "  refused by default" } else { "" });
    }
}

#[test]
fn errors_grow_with_the_condition_of_the_mass_matrix() {
    let mut rows = vec![];
    for n in [4, 8, 16, 32, 64, 128, 256] {
        rows.push(measure(&format!("coil {n}"), &coil(n)));
    }
    for n in [3, 7, 15, 31, 63, 127, 255, 511] {
        rows.push(measure(&format!("dill {n}"), &dill(n)));
    }
    assert_accurate(&rows);
}

/// Long chains and light links between heavy ones: an articulated-inertia recursion keeps its
/// digits (EQUATIONS 1.7).
#[test]
fn light_links_cost_articulated_bodies_no_digits() {
    let long = chain(500, 3);
    let mut rows = vec![measure("chain 500", &long)];
    let spread = |p: &Parametric, decades: f64| {
        let mut rng = Rng::new(17);
        with_masses(p, |_| 10f64.powf(-decades * rng.unit()))
    };
    for decades in [3.0, 6.0, 9.0] {
        rows.push(measure(&format!("…1e-{decades}"), &spread(&long, decades)));
    }
    let short = chain(60, 5);
    // Divide and conquer loses digits in proportion, and refuses above 1e6 unless told otherwise.
    for light in [1e-3, 1e-6, 1e-9, 1e-12] {
        let p = with_masses(&short, |i| if i % 3 == 1 { light } else { 1.0 });
        let row = measure(&format!("60, {light:.0e}"), &p);
        // One rounding per link and sweep, whatever the masses.
        let error = row.still[0].max(row.moving[0]);
        assert!(error < C * 60.0 * f64::EPSILON, "{}: {error:e}", row.name);
        assert_eq!(row.refused, light < 1e-5, "{}", row.name);
        rows.push(row);
    }
    assert_accurate(&rows);
}

/// The same mechanism with the inertia of every moving link times a factor.
fn with_masses(p: &Parametric, mut factor: impl FnMut(usize) -> f64) -> Parametric {
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    for (i, l) in b.links_mut().iter_mut().enumerate().skip(1) {
        let (f, old) = (factor(i), l.inertia);
        l.inertia = SpatialInertia::new(f * old.mass, old.center_of_mass, old.inertia * f);
    }
    Parametric { mechanism: b.build().expect("still valid"), effectors: p.effectors.clone() }
}

fn assert_accurate(rows: &[Row]) {
    table(rows);
    for r in rows {
        // At rest: c κ ε.
        let [still, moving] = [r.still, r.moving].map(|x| x[0].max(x[1]));
        assert!(still < C * r.condition * f64::EPSILON, "{}: {still:e}", r.name);
        // In motion: rates of points anywhere, rounded to ε, turn a rod by their difference over
        // its length.
        let rates = r.condition + r.span;
        assert!(moving < C * rates * f64::EPSILON, "{}: {moving:e}", r.name);
        // Divide and conquer: not κ, but the ratio of inertias counts.
        let bound = C_BLOCKS * r.ratio * f64::EPSILON;
        assert!(r.still[2] < bound, "{}: {:e}", r.name, r.still[2]);
        assert!(r.moving[2] < bound + C * r.span * f64::EPSILON, "{}: {:e}", r.name, r.moving[2]);
    }
}
