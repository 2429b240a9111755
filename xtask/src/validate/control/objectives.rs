//! Least commands against dense systems with multipliers, and against each other.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Solution},
    objective::Objective,
    plant::{Command, Plant as _, TreePlant},
    task::{Frame, Goal, Task},
};
use forks_mechanism::{LinkId, Mechanism, lie::glam::DVec3, linalg::Matrix};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, Rng,
    dynamics::{State, forward_dynamics},
    kinematics::first_order,
    kkt::body_mass,
    least::Step,
    linear, random_mechanism,
};

use crate::validate::record::{Recorder, larger};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const H: f64 = 1e-3;
const NAMES: [&str; 4] = ["torque", "acceleration", "velocity", "kinetic energy"];

pub(super) fn check(states: usize, out: &mut Recorder) -> Result<(), String> {
    let mut worst = [0.0f64; 4];
    let mut norms = [[0.0f64; 3]; 3];
    let (mut lost, mut seen) = (0.0f64, 0);
    // Cases whose task the commands can bring about well.
    let good = |c: &Case| {
        let s = linear::singular_values(&c.rows);
        s[2] > 0.05 * s[0]
    };
    for c in (0..20 * states as u64).map(case).filter(good) {
        if seen == states {
            break;
        }
        seen += 1;
        let found = objectives().map(|o| c.ours(o));
        let [torque, acceleration, velocity, energy] = found;
        let found = [torque?, acceleration?, velocity?, energy?];
        if seen <= 200 {
            for ((worst, s), rates) in worst.iter_mut().zip(&found).zip(c.rivals()) {
                *worst = larger(*worst, apart(&s.rates, &rates, &c.free));
            }
        }
        let sizes = [0, 1, 2].map(|i| c.sizes(&found[i]));
        for i in 0..3 {
            for j in 0..3 {
                norms[i][j] += sizes[i][j] / states as f64;
                lost = larger(lost, (sizes[j][j] / sizes[i][j] - 1.0).max(0.0));
            }
        }
    }
    out.equal("states with a task that can be met", seen, states);
    for (name, worst) in NAMES.into_iter().zip(worst) {
        let name = format!("least {name} = dense system, {} states", states.min(200));
        out.at_most(&name, worst, 1e-10);
    }
    let name = format!("own norm of three objectives over another's, less 1, {states} states");
    out.at_most(&name, lost, 1e-9);
    for (i, row) in norms.iter().enumerate() {
        for (j, mean) in row.iter().enumerate() {
            out.info(&format!("mean norm of {} where {} is least", NAMES[j], NAMES[i]), *mean);
        }
    }
    Ok(())
}

fn objectives() -> [Objective; 4] {
    [
        Objective::torque(),
        Objective::acceleration(),
        Objective::velocity(),
        Objective::kinetic_energy(),
    ]
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&d) / (norm(b) + norm(scale))
}

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
    let link = (1..m.links().len()).max_by_key(moved).unwrap_or(1);
    let rows = order.links[link].block(0, 0, 3, n);
    Case { mechanism: Arc::new(m), q, v, commanded, mass, free, rows, link: LinkId::new(link) }
}

impl Case {
    fn plant(&self) -> Result<TreePlant, String> {
        let commands: Vec<Command> = self.commanded.iter().map(|c| Command::Force(*c)).collect();
        let plant = TreePlant::new(Arc::clone(&self.mechanism), &self.q, &self.v, &commands, H);
        plant.map_err(|e| e.to_string())
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

    fn ours(&self, objective: Objective) -> Result<Solution, String> {
        let mut plant = self.plant()?;
        let mut c = Controller::new(vec![FREE; plant.command_count()]).minimise(objective);
        c.solve(&mut plant, &[self.task()]).cloned().map_err(|e| e.to_string())
    }

    /// v⁺ of the four objectives by the dense system.
    fn rivals(&self) -> [Vec<f64>; 4] {
        let (n, k) = (self.v.len(), self.commanded.len());
        let (none, still) = (Matrix::zeros(n, n), vec![0.0; n]);
        let (free, all) = (Matrix::zeros(k, k), Matrix::identity(n));
        [
            self.rival(&none, &self.v, &Matrix::identity(k)).0,
            self.rival(&all, &self.v, &free).0,
            self.rival(&all, &still, &free).0,
            self.rival(&self.mass, &still, &free).0,
        ]
    }

    /// Norms of commands, accelerations and velocities.
    fn sizes(&self, s: &Solution) -> [f64; 3] {
        let a: Vec<f64> = s.rates.iter().zip(&self.v).map(|(r, v)| (r - v) / H).collect();
        [norm(&s.commands), norm(&a), norm(&s.rates)]
    }
}
