//! Least commands against dense systems with multipliers, assembled from the oracles of the test
//! kit: masses from link Jacobians, accelerations in maximal coordinates.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Solution},
    objective::{Metric, Objective, Quantity, Term},
    plant::{Command, Plant, TreePlant},
    task::{Frame, Goal, Task},
};
use forks_dynamics::mechanism::{
    LinkId, Mechanism,
    lie::glam::DVec3,
    linalg::{Matrix, norm},
};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, Rng,
    dynamics::{State, forward_dynamics},
    kinematics::first_order,
    kkt::body_mass,
    least::Step,
    linear, random_mechanism,
};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const H: f64 = 1e-3;

/// A tree in motion: mass, v, v⁺ without commands, and the Jacobian of a link.
struct Case {
    mechanism: Arc<Mechanism>,
    q: Vec<f64>,
    v: Vec<f64>,
    commanded: Vec<usize>,
    mass: Matrix,
    free: Vec<f64>,
    rows: Matrix,
    link: LinkId,
}

fn case(seed: u64) -> Case {
    let options = RandomMechanismOptions {
        links: 7,
        extra_loops: 0,
        joint_kinds: vec![JointChoice::Revolute, JointChoice::Universal, JointChoice::Prismatic],
        chain_fraction: 0.9,
        stiffness: 1.0,
        ..Default::default()
    };
    let m = random_mechanism(seed, &options);
    let mut rng = Rng::new(seed);
    let n = m.velocity_count();
    let (q, v) = (m.start_positions(), (0..n).map(|_| rng.symmetric()).collect::<Vec<_>>());
    // All but the first coordinate in a third of the cases: something is passive.
    let commanded: Vec<usize> = (usize::from(seed.is_multiple_of(3))..n).collect();
    let state = State { v: v.clone(), ..State::rest(&m) };
    let free = forward_dynamics(&m, &state).joints;
    let free = free.iter().zip(&v).map(|(a, v)| v + H * a).collect();
    let order = first_order(&m, &q);
    let mut mass = Matrix::zeros(n, n);
    for (l, j) in m.links().iter().zip(&order.links).skip(1) {
        let part = linear::transposed_product(j, &linear::product(&body_mass(&l.inertia), j));
        mass = mass.plus_scaled(1.0, &part);
    }
    for e in m.forest().edges() {
        for (k, a) in m.velocity_range(e.joint).zip(&m.joint(e.joint).armature) {
            mass[(k, k)] += a;
        }
    }
    // The link that most joints move.
    let moved = |l: &usize| (0..n).filter(|k| norm(&order.links[*l].column(*k)) > 0.0).count();
    let link = (1..m.links().len()).max_by_key(moved).unwrap();
    let rows = order.links[link].block(0, 0, 3, n);
    Case { mechanism: Arc::new(m), q, v, commanded, mass, free, rows, link: LinkId::new(link) }
}

impl Case {
    fn plant(&self) -> TreePlant {
        let commands: Vec<Command> = self.commanded.iter().map(|c| Command::Force(*c)).collect();
        TreePlant::new(Arc::clone(&self.mechanism), &self.q, &self.v, &commands, H).unwrap()
    }

    fn task(&self) -> Task {
        let poses = self.mechanism.link_poses(&self.q);
        let target = poses[self.link.index()].translation + DVec3::new(0.02, -0.01, 0.03);
        Task::new("tip", Goal::Position(Frame::of(self.link), target))
    }

    /// Rates of the tip that the task asks for.
    fn asked(&self) -> Vec<f64> {
        let poses = self.mechanism.link_poses(&self.q);
        let target = DVec3::new(0.02, -0.01, 0.03);
        let e = (poses[self.link.index()].rotation.inverse() * target).to_array();
        let now = self.rows.mul_vec(&self.v);
        (0..3).map(|i| now[i] + H * (100.0 * e[i] - 20.0 * now[i])).collect()
    }

    /// (v⁺, z) of the least ½ (v⁺ − a)ᵀ P (v⁺ − a) + ½ zᵀ R z with the task.
    fn rival(&self, p: &Matrix, a: &[f64], r: &Matrix) -> (Vec<f64>, Vec<f64>) {
        let Self { mass, free, commanded, rows, .. } = self;
        let asked = self.asked();
        Step { mass, free, commanded, length: H, rows, asked: &asked }.least(p, a, r)
    }

    fn ours(&self, objective: Objective) -> Solution {
        let mut plant = self.plant();
        let mut c = Controller::new(vec![FREE; plant.command_count()]).minimise(objective);
        c.solve(&mut plant, &[self.task()]).unwrap().clone()
    }
}

fn apart(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&d) / (norm(b) + norm(scale))
}

fn identity(n: usize) -> Matrix {
    Matrix::identity(n)
}

/// Cases whose task three commands can bring about well.
fn cases() -> impl Iterator<Item = Case> {
    (0..60).map(case).filter(|c| {
        let s = linear::singular_values(&c.rows);
        s[2] > 0.05 * s[0]
    })
}

#[test]
fn single_objectives_are_the_optima_of_dense_systems() {
    let (mut worst, mut count) = ([0.0f64; 4], 0);
    for c in cases() {
        let (n, k) = (c.v.len(), c.commanded.len());
        let none = Matrix::zeros(n, n);
        let no_commands = Matrix::zeros(k, k);
        let rivals = [
            (Objective::torque(), c.rival(&none, &c.v, &identity(k))),
            (Objective::acceleration(), c.rival(&identity(n), &c.v, &no_commands)),
            (Objective::velocity(), c.rival(&identity(n), &vec![0.0; n], &no_commands)),
            (Objective::kinetic_energy(), c.rival(&c.mass, &vec![0.0; n], &no_commands)),
        ];
        for (worst, (objective, (v, z))) in worst.iter_mut().zip(rivals) {
            let found = c.ours(objective);
            assert!(found.relaxed.is_empty(), "{:?}", found.relaxed);
            *worst = worst.max(apart(&found.rates, &v, &c.free));
            // Commands without any effect on rates but by the mass: as well as the system is.
            assert!(apart(&found.commands, &z, &[]) < 1e-6);
        }
        count += 1;
    }
    println!("{count} cases; torque, acceleration, velocity, energy: {worst:?}");
    assert!(count > 30, "{count}");
    assert!(worst.iter().all(|w| *w < 1e-10), "{worst:?}");
}

#[test]
fn mixtures_weigh_their_terms_and_metrics() {
    for c in cases().take(20) {
        let (n, k) = (c.v.len(), c.commanded.len());
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + i as f64).collect();
        let objective = Objective {
            terms: vec![Term {
                quantity: Quantity::Velocity,
                metric: Metric::Diagonal(weights.clone()),
                weight: 2.0,
            }],
        }
        .and(Quantity::Command, Metric::Unit, 0.3);
        let p = Matrix::from_fn(n, n, |i, j| if i == j { 2.0 * weights[i] } else { 0.0 });
        let r = Matrix::from_fn(k, k, |i, j| if i == j { 0.3 } else { 0.0 });
        let (v, z) = c.rival(&p, &vec![0.0; n], &r);
        let found = c.ours(objective);
        assert!(apart(&found.rates, &v, &c.free) < 1e-10);
        assert!(apart(&found.commands, &z, &[]) < 1e-8);
    }
}

#[test]
fn each_objective_wins_its_own_norm() {
    let mut norms = [[0.0f64; 3]; 3];
    for c in cases() {
        let found = [Objective::torque(), Objective::acceleration(), Objective::velocity()]
            .map(|o| c.ours(o));
        for (row, s) in norms.iter_mut().zip(&found) {
            let a: Vec<f64> = s.rates.iter().zip(&c.v).map(|(r, v)| (r - v) / H).collect();
            let sizes = [norm(&s.commands), norm(&a), norm(&s.rates)];
            for (sum, (i, x)) in row.iter_mut().zip(sizes.into_iter().enumerate()) {
                *sum += x;
                let own = match i {
                    0 => norm(&found[0].commands),
                    1 => {
                        let r = found[1].rates.iter().zip(&c.v);
                        norm(&r.map(|(r, v)| (r - v) / H).collect::<Vec<_>>())
                    }
                    _ => norm(&found[2].rates),
                };
                assert!(own <= x * (1.0 + 1e-9), "{i}: {own} against {x}");
            }
        }
    }
    println!("sums of norms of commands, accelerations, velocities: {norms:?}");
}

#[test]
fn jerk_is_the_change_of_the_last_step() {
    let c = cases().next().unwrap();
    let mut plant = c.plant();
    let controller = Controller::new(vec![FREE; plant.command_count()]);
    let mut controller = controller.minimise(Objective::jerk());
    // The first step starts from no acceleration: it is the acceleration's optimum.
    let first = controller.solve(&mut plant, &[c.task()]).unwrap().clone();
    let other = c.ours(Objective::acceleration());
    assert!(apart(&first.rates, &other.rates, &c.free) < 1e-12);
    plant.step(&first.commands).unwrap();
    let before: Vec<f64> = first.rates.iter().zip(&c.v).map(|(r, v)| (r - v) / H).collect();
    let second = controller.solve(&mut plant, &[]).unwrap().clone();
    // Where all coordinates have commands and nothing is asked, the acceleration goes on.
    if c.commanded.len() == c.v.len() {
        for ((now, v), a) in second.rates.iter().zip(&first.rates).zip(&before) {
            assert!((now - v - H * a).abs() < 1e-12 * (1.0 + v.abs()), "{now}");
        }
    }
    controller.restart();
    let afresh = controller.solve(&mut plant, &[]).unwrap();
    assert!(apart(&afresh.rates, &second.rates, &c.free) > 0.0);
}

#[test]
fn wrong_objectives_are_refused_with_their_values() {
    let c = case(1);
    let said = |o: Objective| {
        let mut plant = c.plant();
        let mut controller = Controller::new(vec![FREE; plant.command_count()]).minimise(o);
        controller.solve(&mut plant, &[]).unwrap_err().to_string()
    };
    let of =
        |quantity, metric, weight| Objective { terms: vec![Term { quantity, metric, weight }] };
    assert_eq!(
        said(of(Quantity::Command, Metric::Mass, 1.0)),
        "term 0 of the objective: commands are not measured by the mass"
    );
    assert_eq!(
        said(of(Quantity::Velocity, Metric::Unit, 0.0)),
        "term 0 of the objective: its weight is 0"
    );
    let n = c.v.len();
    assert_eq!(
        said(of(Quantity::Velocity, Metric::Diagonal(vec![1.0]), 1.0)),
        format!("term 0 of the objective has 1 weights, expected {n}")
    );
    let mut w = vec![1.0; n];
    w[1] = f64::NAN;
    assert_eq!(
        said(Objective::torque().and(Quantity::Jerk, Metric::Diagonal(w), 1.0)),
        "term 1 of the objective: a weight of its metric is NaN"
    );
}
