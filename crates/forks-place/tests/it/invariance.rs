//! Placement and steps do not depend on where a mechanism stands, how it is turned, in what units
//! it is written, where its axes point and in what order its links come.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{BlendedState, BlendedStepper, BlendedWorkspace};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_place::{Certificate, LoadRegion, Placed, Placement, PlacementStatus, place};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, StepStatus};

/// How a mechanism is written.
#[derive(Clone, Copy)]
struct View {
    place: Pose,
    /// Units of length per metre; masses, times and angles stay as they are.
    unit: f64,
    mirrored: bool,
    flipped: bool,
    /// Links in reverse order.
    reordered: bool,
    /// Joints in reverse order: loops are closed by other joints.
    reclosed: bool,
}

const PLAIN: View = View {
    place: Pose::IDENTITY,
    unit: 1.0,
    mirrored: false,
    flipped: false,
    reordered: false,
    reclosed: false,
};

impl View {
    /// A length or a force in the axes of the mechanism.
    fn vector(&self, v: DVec3) -> DVec3 {
        if self.mirrored { DVec3::new(-v.x, v.y, v.z) } else { v }
    }

    /// An axis about which something turns.
    fn turning(&self, v: DVec3) -> DVec3 {
        if self.mirrored { -self.vector(v) } else { v }
    }

    /// A force or direction of the plain mechanism in the world.
    fn in_world(&self, v: DVec3) -> DVec3 {
        self.place.rotation * self.vector(v)
    }

    /// Back from there.
    fn view_of(&self, v: DVec3) -> DVec3 {
        self.vector(self.place.rotation.conjugate() * v)
    }
}

#[derive(Clone, Copy)]
enum Motion {
    Hinge(DVec3),
    Slide(DVec3),
    Ball,
}

/// A joint at a place of the world at the start.
struct Place {
    links: [usize; 2],
    motion: Motion,
    at: DVec3,
    /// None for the joint that closes a loop.
    stiffness: Option<f64>,
}

/// Links at places of the world at the start, all axes parallel, 0 the ground; the last one is the
/// effector.
struct Sketch {
    origins: Vec<DVec3>,
    joints: Vec<Place>,
    axis: DVec3,
    normal: DVec3,
}

/// Hinges in several directions, a slide and a ball, one after the other.
fn arm() -> Sketch {
    let steps = [
        (Motion::Hinge(DVec3::Y), 30.0),
        (Motion::Hinge(DVec3::new(0.0, 0.6, 0.8)), 12.0),
        (Motion::Slide(DVec3::new(0.6, 0.0, 0.8)), 400.0),
        (Motion::Ball, 9.0),
        (Motion::Hinge(DVec3::X), 15.0),
        (Motion::Hinge(DVec3::Y), 7.0),
    ];
    let mut at = DVec3::ZERO;
    let (mut origins, mut joints) = (vec![DVec3::ZERO], vec![]);
    for (k, (motion, stiffness)) in steps.into_iter().enumerate() {
        origins.push(at);
        joints.push(Place { links: [k, k + 1], motion, at, stiffness: Some(stiffness) });
        at += DVec3::new(0.05, 0.02 * k as f64, -0.2);
    }
    Sketch { origins, joints, axis: DVec3::new(1.0, 0.3, 0.2), normal: DVec3::Z }
}

/// A five-bar with sprung hinges, closed by a hinge without a spring.
fn loop_of_five() -> Sketch {
    let corners = [(0.0, 0.0), (-0.15, 0.3), (0.1, 0.55), (0.45, 0.5), (0.6, 0.15)];
    let corner = |k: usize| DVec3::new(corners[k].0, 0.0, corners[k].1);
    let y = Motion::Hinge(DVec3::Y);
    let mut joints: Vec<Place> =
        [(0, 1, 0, 20.0), (1, 2, 1, 14.0), (0, 3, 4, 25.0), (3, 4, 3, 9.0)]
            .into_iter()
            .map(|(a, b, at, k)| Place {
                links: [a, b],
                motion: y,
                at: corner(at),
                stiffness: Some(k),
            })
            .collect();
    joints.push(Place { links: [2, 4], motion: y, at: corner(2), stiffness: None });
    let origins = vec![DVec3::ZERO, corner(0), corner(1), corner(4), corner(3)];
    Sketch { origins, joints, axis: DVec3::new(1.0, 0.0, 0.4), normal: DVec3::Y }
}

fn build(s: &Sketch, view: &View) -> Mechanism {
    let mut b = MechanismBuilder::new("seen");
    b.set_gravity(DVec3::ZERO);
    let count = s.origins.len();
    let local = |v: DVec3| view.vector(v) * view.unit;
    let mut ids = vec![LinkId::WORLD; count];
    let order: Vec<usize> = match view.reordered {
        true => (1..count).rev().collect(),
        false => (1..count).collect(),
    };
    for k in order {
        let u = view.unit;
        let inertia = DMat3::from_diagonal(DVec3::splat(2e-3 * u * u));
        let centre = local(DVec3::new(0.01, 0.02, -0.08));
        let inertia = SpatialInertia::new(0.3, centre, inertia);
        ids[k] = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
    }
    let from_link = |k: usize, at: DVec3| match k {
        0 => view.place * Pose::from_translation(local(at)),
        k => Pose::from_translation(local(at - s.origins[k])),
    };
    let sign = if view.flipped { -1.0 } else { 1.0 };
    let mut joints: Vec<Joint> = Vec::new();
    for (i, p) in s.joints.iter().enumerate() {
        let (kind, turns) = match p.motion {
            Motion::Hinge(a) => (JointKind::Revolute { axis: sign * view.turning(a) }, true),
            Motion::Slide(a) => (JointKind::Prismatic { axis: sign * view.vector(a) }, false),
            Motion::Ball => (JointKind::Spherical, true),
        };
        let [a, c] = p.links;
        let unit = if turns { view.unit * view.unit } else { 1.0 };
        let mut joint = Joint::new(format!("joint{i}"), kind, ids[a], ids[c])
            .at(from_link(a, p.at))
            .child_at(from_link(c, p.at));
        if let Some(k) = p.stiffness {
            joint = joint.with_stiffness(k * unit).with_damping(0.01 * k * unit);
        }
        joints.push(joint);
    }
    if view.reclosed {
        joints.reverse();
    }
    for joint in joints {
        b.add_joint(joint);
    }
    b.build().unwrap()
}

/// What may not depend on the view, in the plain mechanism's axes and metres.
struct Seen {
    status: PlacementStatus,
    coordinates: usize,
    chart: String,
    radius: f64,
    /// Forces of the samples.
    samples: Vec<DVec3>,
    /// Constraint and static errors of all rounds.
    rounds: Vec<[f64; 2]>,
    certificate: Certificate,
    /// The effector after some steps under a load and some without.
    tips: Vec<DVec3>,
}

const STEPS: [usize; 2] = [20, 20];

fn seen(s: &Sketch, view: &View, in_plane: bool) -> Seen {
    let m = build(s, view);
    let tip = format!("link{}", s.origins.len() - 1);
    let problem = Problem::new(&m, &[&tip], &ProblemOptions::default()).unwrap();
    let axis = view.in_world(s.axis);
    // Which side of the plane is meant changes with the mirror.
    let normal = view.place.rotation * view.turning(s.normal);
    let region = LoadRegion {
        normal: in_plane.then_some(normal),
        displacement: 0.6,
        ..LoadRegion::cone(0, axis, 0.5)
    };
    let placement = Placement {
        regions: vec![region],
        training_loads: 10,
        unseen_loads: 6,
        max_samples: 3,
        exchanges: 1,
        constraint_tolerance: 1e-4,
        static_tolerance: 1e-4,
        ..Placement::default()
    };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).unwrap();
    let forces =
        |f: &forks_place::Forces| view.view_of(f.iter().map(|f| f.1).sum::<DVec3>()) / view.unit;
    Seen {
        status: placed.status,
        coordinates: placed.model.dof(),
        chart: format!("{:?}", placed.chart),
        radius: placed.model.data().radius / view.unit,
        samples: placed.loads.iter().map(forces).collect(),
        rounds: placed.rounds.iter().map(|r| [r.constraint, r.statics]).collect(),
        certificate: placed.certificate,
        tips: moved(&placed, view, view.in_world(DVec3::new(4.0, 1.0, -2.0)) * view.unit),
    }
}

fn moved(placed: &Placed, view: &View, force: DVec3) -> Vec<DVec3> {
    let stepper = BlendedStepper::new(Arc::new(placed.model.clone()), 2e-3).unwrap();
    let mut state = BlendedState::reference(&placed.model);
    let mut work = BlendedWorkspace::new(&placed.model);
    let rest = placed.model.data().reference[0].translation;
    let wrench = Wrench::new(force, DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let mut out = Vec::new();
    for (steps, loads) in [(STEPS[0], &[load][..]), (STEPS[1], &[])] {
        for _ in 0..steps {
            let status = stepper.step(&mut state, &mut work, loads);
            assert_ne!(status, StepStatus::NotFinite);
            let tip = placed.model.effector_pose(0, state.coordinates()).translation;
            out.push(view.view_of(tip - rest) / view.unit);
        }
    }
    out
}

/// What two views may differ by, relative to what is compared: samples know third derivatives from
/// equilibria 5e-3 beside them, each balanced to 1e-11, so that 1e-11/(5e-3)² is lost some tens of
/// times.
const ROUNDING: f64 = 1e-5;
/// Errors are relative to displacements that the samples know to that part only.
const NO_ERROR: f64 = ROUNDING;

fn compare(name: &str, a: &Seen, b: &Seen) {
    let about = format!(
        "{name}: {:?} {} {:?} {:?}, {:?} {} {:?} {:?}",
        a.status, a.chart, a.samples, a.rounds, b.status, b.chart, b.samples, b.rounds
    );
    let near = |what: &str, a: f64, b: f64, floor: f64| {
        let size = a.abs().max(b.abs());
        let near = (a - b).abs() <= ROUNDING * size + floor;
        assert!(near, "{name}, {what}: {a} and {b}; {about}");
    };
    near("radius", a.radius, b.radius, 0.0);
    assert_eq!(a.chart, b.chart, "{about}");
    assert_eq!(a.coordinates, b.coordinates, "{about}");
    assert_eq!(a.samples.len(), b.samples.len(), "{about}");
    for (a, b) in a.samples.iter().zip(&b.samples) {
        assert!(a.distance(*b) <= ROUNDING * a.length(), "{about}");
    }
    assert_eq!(a.rounds.len(), b.rounds.len(), "{about}");
    for (x, y) in a.rounds.iter().zip(&b.rounds) {
        near("constraint errors", x[0], y[0], NO_ERROR);
        near("static errors", x[1], y[1], NO_ERROR);
    }
    assert_eq!(a.status, b.status, "{about}");
    let (c, d) = (&a.certificate, &b.certificate);
    near("certified constraint error", c.constraint, d.constraint, NO_ERROR);
    near("certified static error", c.statics, d.statics, NO_ERROR);
    near("covered", c.covered, d.covered, 0.0);
    let sudden = |c: &Certificate| [c.unseen, c.sudden, c.sudden_out_of_range, c.sudden_elsewhere];
    assert_eq!(sudden(c), sudden(d), "{about}");
    let far = a.tips.iter().map(|p| p.length()).fold(0.0, f64::max);
    assert!(far > 1e-3 * a.radius, "{name}: nothing moves");
    for (k, (x, y)) in a.tips.iter().zip(&b.tips).enumerate() {
        let off = x.distance(*y);
        assert!(off <= ROUNDING * far, "{name}, step {k}: {off:e} of {far:e}");
    }
}

fn unchanged(s: &Sketch, name: &str, view: View) {
    // What is turned has other sides, from which directions in a cone are counted.
    let turned = view.mirrored || view.place.rotation != DQuat::IDENTITY;
    compare(name, &seen(s, &PLAIN, turned), &seen(s, &view, turned));
}

fn turned() -> DQuat {
    DQuat::from_axis_angle(DVec3::new(0.48, 0.6, 0.64), 1.1)
}

macro_rules! views {
    ($($(#[$mark:meta])* $name:ident: $sketch:ident, $view:expr;)*) => {$(
        #[test]
        $(#[$mark])*
        fn $name() {
            unchanged(&$sketch(), stringify!($name), $view);
        }
    )*};
}

views! {
    an_arm_a_kilometre_away: arm,
        View { place: Pose::from_translation(DVec3::new(600.0, -480.0, 640.0)), ..PLAIN };
    a_loop_a_kilometre_away: loop_of_five,
        View { place: Pose::from_translation(DVec3::new(600.0, -480.0, 640.0)), ..PLAIN };
    an_arm_turned: arm, View { place: Pose::from_rotation(turned()), ..PLAIN };
    a_loop_turned: loop_of_five, View { place: Pose::from_rotation(turned()), ..PLAIN };
    an_arm_mirrored: arm, View { mirrored: true, ..PLAIN };
    a_loop_mirrored: loop_of_five, View { mirrored: true, ..PLAIN };
    an_arm_in_millimetres: arm, View { unit: 1e3, ..PLAIN };
    a_loop_in_millimetres: loop_of_five, View { unit: 1e3, ..PLAIN };
    an_arm_in_kilometres: arm, View { unit: 1e-3, ..PLAIN };
    a_loop_in_kilometres: loop_of_five, View { unit: 1e-3, ..PLAIN };
    an_arm_with_flipped_axes: arm, View { flipped: true, ..PLAIN };
    a_loop_with_flipped_axes: loop_of_five, View { flipped: true, ..PLAIN };
    an_arm_in_another_order: arm, View { reordered: true, ..PLAIN };
    a_loop_in_another_order: loop_of_five, View { reordered: true, ..PLAIN };
    an_arm_with_joints_in_another_order: arm, View { reclosed: true, ..PLAIN };
    #[ignore = "coordinates are those of the joints that do not close the loop: other samples"]
    a_loop_closed_by_another_joint: loop_of_five, View { reclosed: true, ..PLAIN };
}
