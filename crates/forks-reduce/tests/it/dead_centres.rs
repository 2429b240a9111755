//! Motions that forces alone hold: rods that a spring has pulled straight are at a dead centre,
//! where their loop leaves them a motion to first order and only the force in them resists it.

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{
    Joint, JointKind, JointMatrix, JointSpring, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, Wrench,
        glam::{DQuat, DVec3},
    },
};
use forks_reduce::{Effector, Linearisation, Problem, ReduceError};
use forks_testkit::Rng;

use crate::loaded::check;

const HINGE: JointKind = JointKind::Revolute { axis: DVec3::Y };
const SLIDE: JointKind = JointKind::Prismatic { axis: DVec3::X };

/// Two rods from the ground to a slider whose spring pulls further than they reach.
struct Toggle {
    lengths: [f64; 2],
    stiffness: f64,
    /// Spring's rest beyond the rods' reach, m.
    beyond: f64,
    /// Angle of the first rod at the start.
    bend: f64,
}

impl Toggle {
    fn random(rng: &mut Rng) -> Self {
        Self {
            lengths: [rng.range(0.05, 0.5), rng.range(0.05, 0.5)],
            stiffness: 10f64.powf(rng.range(0.0, 5.0)),
            beyond: rng.range(0.02, 2.0),
            bend: rng.range(0.1, 0.6),
        }
    }

    /// Adds the rods at a height; returns the first one.
    fn add(&self, b: &mut MechanismBuilder, y: f64) -> LinkId {
        let [first, second] = self.lengths;
        let name = |part: &str| format!("{part} at {y}");
        let crank = b.add_link(Link::new(name("crank")));
        let rod = b.add_link(Link::new(name("rod")));
        let slider = b.add_link(Link::new(name("slider")));
        // The second rod comes down to the line on which the first has its foot.
        let bend = self.bend.min((0.9 * second / first).min(1.0).asin());
        let drop = (first * bend.sin() / second).asin();
        let end = first * bend.cos() + second * drop.cos();
        let turned = |angle: f64| Pose::from_rotation(DQuat::from_rotation_y(angle));
        let at = |p: DVec3| Pose::from_translation(p);
        let hinge = |part: &str, a, c| Joint::new(name(part), HINGE, a, c);
        let foot = at(DVec3::Y * y) * turned(-bend);
        b.add_joint(hinge("foot", LinkId::WORLD, crank).at(foot));
        let knee = at(DVec3::X * first) * turned(bend + drop);
        b.add_joint(hinge("knee", crank, rod).at(knee));
        let mut slide = Joint::new(name("slide"), SLIDE, LinkId::WORLD, slider);
        slide.spring = Some(JointSpring {
            stiffness: JointMatrix::diagonal(&[self.stiffness]),
            rest: vec![first + second + self.beyond - end],
        });
        b.add_joint(slide.at(at(DVec3::new(end, y, 0.0))));
        b.add_joint(hinge("pin", rod, slider).at(at(DVec3::X * second)));
        crank
    }

    /// Rotation of the first rod per moment about its foot: the spring's force F turns back the
    /// rods' common pin, at a distance z from the line, by F z (1/a + 1/b).
    fn compliance(&self) -> f64 {
        let [a, b] = self.lengths;
        1.0 / (self.stiffness * self.beyond * (1.0 / a + 1.0 / b) * a * a)
    }
}

fn mechanism(toggles: &[Toggle]) -> (Mechanism, Vec<LinkId>) {
    let mut b = MechanismBuilder::new("toggles");
    let cranks = toggles.iter().enumerate().map(|(i, t)| t.add(&mut b, i as f64)).collect();
    (b.build().unwrap(), cranks)
}

#[test]
fn rods_at_a_dead_centre_yield_as_the_force_in_them_says() {
    let mut rng = Rng::new(1);
    for case in 0..40 {
        let toggles: Vec<Toggle> = (0..1 + case % 3).map(|_| Toggle::random(&mut rng)).collect();
        let (m, cranks) = mechanism(&toggles);
        let q = m.start_positions();
        let e = solve_equilibrium(&m, &q, &Loads::default(), &EquilibriumOptions::default());
        assert!(e.status.is_equilibrium(), "case {case}: {:?}", e.status);
        let effectors: Vec<Effector> = cranks.iter().map(|&c| Effector::of_link(&m, c)).collect();
        let none = Loads::default();
        let at = Linearisation::equilibrium(&e, &none);
        let r = Problem::unprepared(m, effectors).response(at).unwrap();
        for (k, t) in toggles.iter().enumerate() {
            let (found, expected) = (r.compliance[(6 * k + 4, 6 * k + 4)], t.compliance());
            let error = (found / expected - 1.0).abs();
            assert!(error < 1e-7, "case {case}, toggle {k}: {found:e} is not {expected:e}");
        }
    }
}

#[test]
fn the_full_equilibrium_agrees() {
    let mut rng = Rng::new(2);
    for case in 0..10 {
        let (m, cranks) = mechanism(&[Toggle::random(&mut rng)]);
        let error = check(&format!("toggle {case}"), &m, &cranks, &[Wrench::ZERO], false);
        assert!(error.unwrap() < 1e-6, "toggle {case}: {error:?}");
    }
}

/// Where no force is left, the motion is not resisted, and its joints are named.
#[test]
fn without_a_force_nothing_resists() {
    let slack = Toggle { lengths: [0.3, 0.4], stiffness: 100.0, beyond: 0.0, bend: 0.0 };
    let (m, cranks) = mechanism(&[slack]);
    let q = m.start_positions();
    let none = Loads::default();
    let e = solve_equilibrium(&m, &q, &none, &EquilibriumOptions::default());
    let effectors = vec![Effector::of_link(&m, cranks[0])];
    let at = Linearisation::equilibrium(&e, &none);
    match Problem::unprepared(m, effectors).response(at) {
        Err(ReduceError::Unresisted { joints }) => {
            assert!(joints.iter().any(|j| j == "foot at 0"), "{joints:?}");
        }
        other => panic!("{:?}", other.map(|r| r.compliance)),
    }
}
