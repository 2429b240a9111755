//! Single rigid bodies in contact against closed forms of mechanics.

use forks_contact::lie::{
    SpatialInertia, Twist,
    glam::{DMat3, DVec3},
};
use forks_contact::{
    BodyId, Contact, ContactProblem, Friction, Method, Settings, Side, Solver, Status,
    point_jacobian,
};

/// Bound of the issue for accelerations, distances and heights.
const ONE_PERCENT: f64 = 0.01;
const G: f64 = 9.81;

/// A free rigid body over the plane z = 0, by semi-implicit Euler with the contact impulses of
/// every step.
struct Body {
    problem: ContactProblem,
    solver: Solver,
    settings: Settings,
    id: BodyId,
    h: f64,
    gravity: DVec3,
    position: DVec3,
    velocity: Twist,
    /// Contact points relative to the centre of mass; the body does not turn, or is a sphere.
    points: Vec<DVec3>,
    /// Impulses of the last step.
    warm: Vec<[f64; 3]>,
    contact: Contact,
}

impl Body {
    fn new(h: f64, mass: f64, moments: DVec3, points: Vec<DVec3>, contact: Contact) -> Self {
        let mut problem = ContactProblem::new(h).unwrap();
        let inertia = SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments));
        let id = problem.add_rigid_body(&inertia, Twist::ZERO).unwrap();
        Self {
            problem,
            solver: Solver::new(),
            settings: Settings::default(),
            id,
            h,
            gravity: DVec3::new(0.0, 0.0, -G),
            position: DVec3::new(0.0, 0.0, -points[0].z),
            velocity: Twist::ZERO,
            warm: vec![[0.0; 3]; points.len()],
            points,
            contact,
        }
    }

    /// A cube of 0.2 m and 2 kg on its four lower corners.
    fn block(h: f64, contact: Contact) -> Self {
        let corner = |x: f64, y: f64| DVec3::new(x, y, -0.1);
        let points = [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)];
        let moment = 2.0 * (0.04 + 0.04) / 12.0;
        let points = points.map(|(x, y)| corner(x, y)).to_vec();
        Self::new(h, 2.0, DVec3::splat(moment), points, contact)
    }

    /// A homogeneous sphere of radius 0.1 m and 3 kg.
    fn sphere(h: f64, contact: Contact) -> Self {
        let moment = 0.4 * 3.0 * 0.01;
        Self::new(h, 3.0, DVec3::splat(moment), vec![DVec3::new(0.0, 0.0, -0.1)], contact)
    }

    fn step(&mut self) {
        let free = Twist {
            linear: self.velocity.linear + self.h * self.gravity,
            angular: self.velocity.angular,
        };
        self.problem.clear_constraints();
        self.problem.set_free_velocity(self.id, &free.to_array()).unwrap();
        let mut ids = vec![];
        for (p, warm) in self.points.iter().zip(&self.warm) {
            let jacobian = point_jacobian(*p, [DVec3::Z, DVec3::X, DVec3::Y], 1.0);
            let speed = self.velocity.linear + self.velocity.angular.cross(*p);
            let contact = Contact {
                gap: self.position.z + p.z,
                approach: speed.z,
                warm: *warm,
                ..self.contact
            };
            let side = Side::of(self.id, &jacobian);
            ids.push(self.problem.add_contact(&contact, &[side]).unwrap());
        }
        let report = self.solver.solve(&self.problem, &self.settings);
        assert_eq!(report.status, Status::Converged, "{report:?}");
        for (warm, id) in self.warm.iter_mut().zip(ids) {
            *warm = self.solver.impulse(id).unwrap().try_into().unwrap();
        }
        let v: [f64; 6] = self.solver.velocity(self.id).unwrap().try_into().unwrap();
        self.velocity = Twist::from_array(v);
        self.position += self.h * self.velocity.linear;
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / self.h).round() as usize {
            self.step();
        }
    }
}

fn coulomb(mu: f64) -> Contact {
    Contact::new(Friction::Cone { mu })
}

fn tilted(angle: f64) -> DVec3 {
    G * DVec3::new(angle.sin(), 0.0, -angle.cos())
}

fn close(value: f64, expected: f64, bound: f64) {
    assert!((value - expected).abs() <= bound * expected.abs(), "{value}, expected {expected}");
}

#[test]
fn a_block_on_an_incline_sticks_below_the_angle_of_friction() {
    for method in [Method::Robust, Method::GaussSeidel] {
        for mu in [0.2_f64, 0.5, 1.0] {
            let mut block = Body::block(1e-3, coulomb(mu));
            block.settings.method = method;
            // Four contacts share the load: the first step, from nothing, needs thousands of
            // sweeps.
            block.settings.max_sweeps = 20_000;
            block.gravity = tilted(0.999 * mu.atan());
            block.run(1.0);
            // 1 s of residuals: tolerance × speed per step.
            assert!(block.position.x.abs() < 1e-9, "{:?}", block.position);
            assert!(block.velocity.linear.length() < 1e-9);
        }
    }
}

#[test]
fn a_block_on_an_incline_slides_above_it_with_the_right_acceleration() {
    for method in [Method::Robust, Method::GaussSeidel] {
        for mu in [0.2_f64, 0.5] {
            for excess in [0.01, 0.1, 0.3] {
                let angle = mu.atan() + excess;
                let mut block = Body::block(1e-3, coulomb(mu));
                block.settings.method = method;
                block.gravity = tilted(angle);
                block.run(1.0);
                let expected = G * (angle.sin() - mu * angle.cos());
                close(block.velocity.linear.x, expected, 1e-6);
                assert!(block.velocity.angular.length() < 1e-8, "{:?}", block.velocity);
                assert!(block.position.z - 0.1 < 1e-9, "exact Coulomb friction does not lift");
            }
        }
    }
}

#[test]
fn a_sliding_block_stops_after_v_squared_over_two_mu_g() {
    for (mu, speed) in [(0.3, 1.0), (0.6, 2.0)] {
        let mut block = Body::block(1e-4, coulomb(mu));
        block.velocity.linear = DVec3::new(speed * 0.6, speed * 0.8, 0.0);
        block.run(speed / (mu * G) + 0.2);
        let distance = block.position.truncate().length();
        close(distance, speed * speed / (2.0 * mu * G), ONE_PERCENT);
        assert!(block.velocity.linear.length() < 1e-9);
        close(block.position.y / block.position.x, 4.0 / 3.0, 1e-6);
    }
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    for e in [0.4, 0.7, 1.0] {
        let mut ball = Body::sphere(1e-5, Contact { restitution: e, ..coulomb(0.4) });
        let height = 0.5;
        ball.position.z += height;
        let mut heights = vec![];
        let mut rising = false;
        while heights.len() < 2 {
            ball.step();
            let up = ball.velocity.linear.z > 0.0;
            if rising && !up {
                heights.push(ball.position.z - 0.1);
            }
            rising = up;
        }
        for (k, h) in heights.iter().enumerate() {
            close(*h, height * f64::powi(e * e, k as i32 + 1), ONE_PERCENT);
        }
    }
}

#[test]
fn a_ball_at_rest_stays_at_rest_whatever_its_restitution() {
    let mut ball = Body::sphere(1e-3, Contact { restitution: 0.9, ..coulomb(0.4) });
    ball.run(1.0);
    assert!(ball.position.distance(DVec3::new(0.0, 0.0, 0.1)) < 1e-9, "{:?}", ball.position);
}

/// μ g opposes the slip until v = ω r: at 5/7 of the first speed, after 2 v / (7 μ g).
#[test]
fn a_sliding_sphere_starts_to_roll_at_five_sevenths_of_its_speed() {
    let (mu, speed) = (0.25, 1.5);
    let mut ball = Body::sphere(1e-4, coulomb(mu));
    ball.velocity.linear.x = speed;
    let time = 2.0 * speed / (7.0 * mu * G);
    ball.run(0.9 * time);
    close(ball.velocity.linear.x, speed - mu * G * 0.9 * time, ONE_PERCENT);
    let slip = ball.velocity.linear.x - 0.1 * ball.velocity.angular.y;
    close(slip, 0.1 * speed, ONE_PERCENT);
    ball.run(0.5 * time);
    close(ball.velocity.linear.x, 5.0 / 7.0 * speed, 1e-6);
    close(0.1 * ball.velocity.angular.y, ball.velocity.linear.x, 1e-6);
    let before = ball.velocity.linear.x;
    ball.run(1.0);
    close(ball.velocity.linear.x, before, 1e-9);
}

/// Spin about a horizontal axis becomes speed: v = 2/7 ω r. Spin about the normal stays: a point
/// has no torque.
#[test]
fn a_spinning_sphere_takes_off_along_the_plane() {
    let spin = 30.0;
    let mut ball = Body::sphere(1e-4, coulomb(0.3));
    ball.velocity.angular = DVec3::new(0.0, spin, 5.0);
    ball.run(1.5);
    close(ball.velocity.linear.x, 2.0 / 7.0 * spin * 0.1, 1e-6);
    close(ball.velocity.angular.z, 5.0, 1e-9);
}

/// a = 5/7 g sin α where μ ≥ 2/7 tan α.
#[test]
fn a_sphere_rolls_down_an_incline() {
    let angle = 0.4_f64;
    let needed = 2.0 / 7.0 * angle.tan();
    let mut ball = Body::sphere(1e-3, coulomb(1.02 * needed));
    ball.gravity = tilted(angle);
    ball.run(1.0);
    close(ball.velocity.linear.x, 5.0 / 7.0 * G * angle.sin(), 1e-6);
    close(0.1 * ball.velocity.angular.y, ball.velocity.linear.x, 1e-6);

    let mut ball = Body::sphere(1e-3, coulomb(0.8 * needed));
    ball.gravity = tilted(angle);
    ball.run(1.0);
    let expected = G * (angle.sin() - 0.8 * needed * angle.cos());
    close(ball.velocity.linear.x, expected, 1e-6);
    assert!(0.1 * ball.velocity.angular.y < 0.99 * ball.velocity.linear.x);
}

/// A compliant contact sinks by m g c in rest, and comes there as its relaxation says.
#[test]
fn a_compliant_contact_sinks_by_weight_times_compliance() {
    let compliance = 1e-4;
    let contact = Contact { compliance, relaxation: 0.02, ..coulomb(0.5) };
    let mut ball = Body::sphere(1e-3, contact);
    ball.run(3.0);
    close(ball.position.z - 0.1, -3.0 * G * compliance, 1e-6);
}

/// A rigid contact's penetration decays by h/(h + τ) a step.
#[test]
fn a_penetration_decays_with_the_relaxation_time() {
    let contact = Contact { relaxation: 0.05, ..coulomb(0.5) };
    let mut ball = Body::sphere(1e-3, contact);
    ball.position.z -= 1e-3;
    ball.run(0.05);
    close(0.1 - ball.position.z, 1e-3 * (0.05_f64 / 0.051).powi(50), 1e-6);
}

/// Along the two axes of an elliptic cone or a pyramid a block slides with its own coefficient.
#[test]
fn anisotropic_friction_has_two_coefficients() {
    let mu = [0.2, 0.6];
    for friction in [Friction::EllipticCone { mu }, Friction::Pyramid { mu }] {
        for (axis, expected) in [(DVec3::X, 0.2), (DVec3::Y, 0.6)] {
            let mut block = Body::block(1e-3, Contact::new(friction));
            block.velocity.linear = 5.0 * axis;
            block.run(0.5);
            close(block.velocity.linear.dot(axis), 5.0 - expected * G * 0.5, 1e-6);
        }
    }
}

/// A box of friction does not follow the weight: it brakes with its limit over the step.
#[test]
fn a_box_brakes_with_its_limit() {
    let h = 1e-3;
    let mut ball = Body::sphere(h, Contact::new(Friction::Box { limit: [2.0 * h, 2.0 * h] }));
    ball.velocity.linear.x = 3.0;
    ball.velocity.angular.y = 0.0;
    ball.run(0.3);
    close(ball.velocity.linear.x, 3.0 - 2.0 / 3.0 * 0.3, 1e-6);
}
