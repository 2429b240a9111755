//! Error growth of forward dynamics on the coil and the dill, against the solution of doubled precision.
//!
//! `cargo test -p forks-dynamics --test accuracy -- --nocapture` prints the table.

use forks_dynamics::{
    AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, aba, bias, crba,
    mechanism::{
        Link, dense,
        lie::Matrix,
        parametric::{Parametric, coil, dill},
    },
};
use forks_testkit::{
    Rng,
    dynamics::{State, tree_forward_dynamics},
    linear::symmetric_eigen,
};

/// Roundings that add up along a dozen levels or hinges and are not damped.
const C: f64 = 16.0;

/// Errors relative to the largest acceleration, and condition number of the mass matrix after scaling its
/// diagonal to one.
struct Row {
    name: String,
    condition: f64,
    /// Size of the mechanism over its shortest rod.
    span: f64,
    /// Of each route, at rest.
    still: [f64; 2],
    /// Of each route, in motion.
    moving: [f64; 2],
}

/// Random torques, and rates if it moves, at the start pose; torques in proportion to what they move, so that all
/// accelerations are of order one, however light the link.
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
        still: [0.0; 2],
        moving: [0.0; 2],
    };
    for seed in 0..6 {
        let moves = seed % 2 == 1;
        let s = state(p, &mass, seed, moves);
        let exact = tree_forward_dynamics(m, &s).joints;
        let routes = [articulated(&tree, &s), composite(&tree, &s, &mass)];
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

fn error(found: &[f64], exact: &[f64]) -> f64 {
    let largest = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    found.iter().zip(exact).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) / largest
}

/// Largest distance of link frames from the root over the smallest distance of a rod's middle from its end.
fn span(p: &Parametric) -> f64 {
    let poses = p.mechanism.link_poses(&p.mechanism.start_positions());
    let far = poses.iter().map(|p| p.translation.length()).fold(0.0, f64::max);
    let arm = |l: &Link| l.inertia.center_of_mass.length();
    far / p.mechanism.moving_links().map(|(_, l)| arm(l)).fold(f64::INFINITY, f64::min)
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
    println!("{:10} {:>9} {:>10} {:>10} {:>10} {:>10}", "", "κ", "ABA", "M⁻¹", "ABA, v", "M⁻¹, v");
    for r in rows {
        let (name, kappa, [a, b], [c, d]) = (&r.name, r.condition, r.still, r.moving);
        println!("{name:10} {kappa:9.1e} {a:10.1e} {b:10.1e} {c:10.1e} {d:10.1e}");
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
    table(&rows);
    for r in &rows {
        // At rest: c κ ε.
        let [still, moving] = [r.still, r.moving].map(|x| x[0].max(x[1]));
        assert!(still < C * r.condition * f64::EPSILON, "{}: {still:e}", r.name);
        // In motion: rates of points anywhere, rounded to ε, turn a rod by their difference over its length.
        let rates = r.condition + r.span;
        assert!(moving < C * rates * f64::EPSILON, "{}: {moving:e}", r.name);
    }
}
