//! Three compliant fingers squeeze a body: it is held exactly above the friction that its weight
//! needs.

use std::f64::consts::TAU;

use forks_contact::{
    BodyId, Contact, ContactProblem, Friction, Method, Settings, Side, Solver, Status,
    point_jacobian,
};
use forks_contact::{
    lie::{
        SpatialInertia, Twist,
        glam::{DMat3, DVec3},
    },
    linalg::Matrix,
};

const G: f64 = 9.81;
const H: f64 = 1e-3;
const MASS: f64 = 0.5;
const RADIUS: f64 = 0.04;
/// Normal force of every finger at the start, N.
const SQUEEZE: f64 = 6.0;
/// A finger: a point of 3 coordinates, as a reduced model with M, D and 𝓗 times the identity.
const FINGER: (f64, f64, f64) = (0.05, 4.0, 2000.0);

struct Grasp {
    problem: ContactProblem,
    solver: Solver,
    settings: Settings,
    object: BodyId,
    twist: Twist,
    height: f64,
    fingers: Vec<(BodyId, DVec3, DVec3, DVec3)>,
}

impl Grasp {
    fn new(method: Method) -> Self {
        let mut problem = ContactProblem::new(H).unwrap();
        let moment = DMat3::from_diagonal(DVec3::splat(0.4 * MASS * RADIUS * RADIUS));
        let inertia = SpatialInertia::new(MASS, DVec3::ZERO, moment);
        let object = problem.add_rigid_body(&inertia, Twist::ZERO).unwrap();
        let (m, d, k) = FINGER;
        let inverse =
            Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 / (m + H * d + H * H * k) } else { 0.0 });
        let fingers = (0..3).map(|i| {
            let id = problem.add_body(&inverse, &[0.0; 3]).unwrap();
            let angle = TAU * f64::from(i) / 3.0;
            // Direction from finger to object, displacement of the finger, its velocity.
            (id, -DVec3::new(angle.cos(), angle.sin(), 0.0), DVec3::ZERO, DVec3::ZERO)
        });
        let fingers = fingers.collect();
        let settings = Settings { method, ..Settings::default() };
        let twist = Twist::ZERO;
        Self { problem, solver: Solver::new(), settings, object, twist, height: 0.0, fingers }
    }

    fn step(&mut self, mu: f64) {
        self.problem.clear_constraints();
        let mut free = self.twist;
        free.linear.z -= H * G;
        self.problem.set_free_velocity(self.object, &free.to_array()).unwrap();
        let (m, d, k) = FINGER;
        for (id, n, x, v) in &self.fingers {
            // A v_free = M v + h (f − 𝓗 x); the preload presses along n.
            let v = (m * *v + H * (SQUEEZE * *n - k * *x)) / (m + H * d + H * H * k);
            self.problem.set_free_velocity(*id, &v.to_array()).unwrap();
            let t = DVec3::Z.cross(*n);
            let axes = [*n, DVec3::Z, t];
            let object = point_jacobian(-RADIUS * *n, axes, 1.0);
            let finger: Vec<f64> = axes.iter().flat_map(|a| (-*a).to_array()).collect();
            let sides = [Side::of(self.object, &object), Side::of(*id, &finger)];
            self.problem.add_contact(&Contact::new(Friction::Cone { mu }), &sides).unwrap();
        }
        let report = self.solver.solve(&self.problem, &self.settings);
        assert_eq!(report.status, Status::Converged, "{report:?}");
        let twist: [f64; 6] = self.solver.velocity(self.object).unwrap().try_into().unwrap();
        self.twist = Twist::from_array(twist);
        self.height += H * self.twist.linear.z;
        for (id, _, x, v) in &mut self.fingers {
            *v = DVec3::from_slice(self.solver.velocity(*id).unwrap());
            *x += H * *v;
        }
    }

    /// Friction that comes on slowly: the object is carried while it settles, then μ drops to its
    /// value.
    fn holds(mu: f64, method: Method) -> bool {
        let mut grasp = Self::new(method);
        (0..2000).for_each(|_| grasp.step(2.0));
        let start = grasp.height;
        assert!(grasp.twist.linear.length() < 1e-6, "settled: {:?}", grasp.twist);
        (0..1000).for_each(|_| grasp.step(mu));
        (grasp.height - start).abs() < 1e-4
    }
}

#[test]
fn three_fingers_hold_exactly_above_the_friction_they_need() {
    let needed = MASS * G / (3.0 * SQUEEZE);
    for method in [Method::Robust, Method::GaussSeidel] {
        let (mut low, mut high) = (0.5 * needed, 2.0 * needed);
        assert!(!Grasp::holds(low, method) && Grasp::holds(high, method));
        while high / low > 1.005 {
            let mu = (low * high).sqrt();
            if Grasp::holds(mu, method) {
                high = mu;
            } else {
                low = mu;
            }
        }
        println!("{method:?}: needed {needed:.5}, slips at {low:.5}, holds at {high:.5}");
        assert!(low > 0.98 * needed && high < 1.02 * needed, "{low} {high} {needed}");
    }
}
