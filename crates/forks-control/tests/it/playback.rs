//! Curves that are hit while physics moves the rest; switches; the way back.

use std::sync::Arc;

use forks_control::{
    keyframe::{Ends, JointKeys, Motion},
    playback::{At, Group, PlaybackError, Player, Scheme, Timeline, TimelineError},
};
use forks_dynamics::{
    mechanism::{
        Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        kinematics::link_twists,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DVec3},
        },
    },
    passive::{PassiveWorkspace, passive_forces},
    tree::{AbaWorkspace, LinkLoads, Tree, hybrid},
};
use forks_testkit::Rng;

/// A chain of a hinge, a ball and two more hinges, on the ground or floating without gravity.
pub(crate) fn chain(floats: bool) -> Arc<Mechanism> {
    let mut b = MechanismBuilder::new("chain");
    b.set_gravity(if floats { DVec3::ZERO } else { DVec3::new(0.0, 0.0, -9.81) });
    let mut at = LinkId::WORLD;
    let hinge = |axis| JointKind::Revolute { axis };
    let mut kinds = vec![
        ("drive", hinge(DVec3::Y)),
        ("ball", JointKind::Spherical),
        ("elbow", hinge(DVec3::X)),
        ("loose", hinge(DVec3::Y)),
    ];
    if floats {
        kinds.insert(0, ("float", JointKind::Free));
    }
    for (k, (name, kind)) in kinds.into_iter().enumerate() {
        let inertia = SpatialInertia::new(1.0, DVec3::X * 0.2, DMat3::IDENTITY * 0.02);
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let place = if k == 0 { DVec3::ZERO } else { DVec3::X * 0.4 };
        let damping = if name == "float" { 0.0 } else { 0.05 };
        let joint = Joint::new(name, kind, at, link).at(Pose::from_translation(place));
        b.add_joint(joint.with_damping(damping));
        at = link;
    }
    Arc::new(b.build().unwrap())
}

/// The drive swings, the ball turns, again and again.
pub(crate) fn motion(m: &Mechanism) -> Motion {
    let times = vec![0.0, 0.5, 1.1, 1.6, 2.0];
    let swing = JointKeys {
        ends: Ends::Periodic,
        degree: 5,
        ..JointKeys::new("drive", times.clone(), [0.0, 0.8, -0.5, 0.3, 0.0].map(|x| vec![x]).into())
    };
    let turns = [
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 0.4, 0.1, 0.0],
        [1.0, 0.0, -0.3, 0.2],
        [1.0, -0.2, 0.1, 0.1],
        [1.0, 0.0, 0.0, 0.0],
    ];
    let turn = JointKeys {
        ends: Ends::Periodic,
        ..JointKeys::new("ball", times, turns.map(|x| x.to_vec()).into())
    };
    Motion::new(m, &[swing, turn], None).unwrap()
}

pub(crate) fn player(m: &Arc<Mechanism>, scheme: Scheme, h: f64) -> Player {
    let v = vec![0.0; m.velocity_count()];
    Player::new(Arc::clone(m), scheme, &m.start_positions(), &v, 0.0, h).unwrap()
}

fn apart(m: &Mechanism, motion: &Motion, p: &Player) -> f64 {
    let mut q = p.positions().to_vec();
    motion.positions(m, p.time(), &mut q);
    m.difference(p.positions(), &q).iter().fold(0.0, |a, x| a.max(x.abs()))
}

#[test]
fn curves_are_hit_at_every_step_of_a_minute() {
    let m = chain(false);
    let motion = motion(&m);
    for (scheme, h) in [(Scheme::Explicit, 1.0 / 480.0), (Scheme::Implicit, 1.0 / 60.0)] {
        let mut p = player(&m, scheme, h);
        p.switch(vec![Group::keyframes(motion.clone())]).unwrap();
        let mut worst = 0.0f64;
        let mut moved = 0.0f64;
        while p.time() < 60.0 {
            p.step().unwrap();
            worst = worst.max(apart(&m, &motion, &p));
            moved = moved.max(p.velocities()[5].abs());
        }
        println!("{scheme:?} {worst:e} {moved}");
        assert!(worst < 1e-14, "{scheme:?}: {worst:e}");
        assert!(moved > 1.0, "the loose joints move");
    }
}

/// With every joint on a curve forces are those of inverse dynamics at the discrete accelerations.
#[test]
fn forces_are_those_of_hybrid_dynamics_at_the_accelerations_of_the_step() {
    let m = chain(false);
    let motion = motion(&m);
    let h = 1e-3;
    let mut p = player(&m, Scheme::Explicit, h);
    p.switch(vec![Group::keyframes(motion)]).unwrap();
    let tree = Tree::new(&m);
    let (mut aba, mut passive) = (AbaWorkspace::new(&tree), PassiveWorkspace::new(&m));
    let n = m.velocity_count();
    for _ in 0..500 {
        let (q, v) = (p.positions().to_vec(), p.velocities().to_vec());
        let step = p.step().unwrap();
        let mut of_springs = vec![0.0; n];
        passive_forces(&m, &mut passive, &q, &v, &mut of_springs);
        let mut given = of_springs.clone();
        let mut prescribed = vec![false; n];
        for c in &step.coordinates {
            prescribed[*c] = true;
            given[*c] = (p.velocities()[*c] - v[*c]) / h;
        }
        let (mut a, mut tau) = (vec![0.0; n], vec![0.0; n]);
        hybrid(&tree, &mut aba, &q, &v, &prescribed, &given, &LinkLoads::GRAVITY, &mut a, &mut tau)
            .unwrap();
        for (c, f) in step.coordinates.iter().zip(&step.forces) {
            let expected = tau[*c] - of_springs[*c];
            assert!((f - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{f} {expected}");
        }
        for (i, a) in a.iter().enumerate() {
            assert!((v[i] + h * a - p.velocities()[i]).abs() < 1e-9, "{i}");
        }
    }
}

#[test]
fn playback_is_the_limit_of_stiff_servos() {
    let m = chain(false);
    let motion = motion(&m);
    for scheme in [Scheme::Explicit, Scheme::Implicit] {
        let run = |group: Group| {
            let mut p = player(&m, scheme, 1.0 / 240.0);
            p.switch(vec![group]).unwrap();
            (0..60).map(|_| p.step().unwrap().forces).last().unwrap()
        };
        let exact = run(Group::keyframes(motion.clone()));
        let distance = |k: f64| {
            let f = run(Group::servo(motion.clone(), k, 0.0));
            f.iter().zip(&exact).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()))
        };
        let (a, b) = (distance(1e6), distance(1e7));
        let slope = (b / a).log10();
        println!("{scheme:?} {a:e} {b:e} {slope}");
        assert!((slope + 1.0).abs() < 0.1, "{scheme:?} {slope}");
    }
}

/// Total momentum about the world's origin, of velocities at a pose.
pub(crate) fn momentum(m: &Mechanism, q: &[f64], v: &[f64]) -> (DVec3, DVec3) {
    let poses = m.link_poses(q);
    let twists = link_twists(m, q, v);
    m.moving_links().fold((DVec3::ZERO, DVec3::ZERO), |(p, l), (id, link)| {
        let (pose, w) = (poses[id.index()], link.inertia.apply(twists[id.index()]));
        let force = pose.transform_vector(w.force);
        (p + force, l + pose.transform_vector(w.torque) + pose.translation.cross(force))
    })
}

#[test]
fn a_switch_to_a_curve_that_moves_keeps_momentum() {
    let m = chain(true);
    // From rest the curve jumps to 2 rad/s at once.
    let keys = JointKeys {
        ends: Ends::Periodic,
        ..JointKeys::new("elbow", vec![-0.5, 0.5, 1.5], vec![vec![0.0], vec![0.7], vec![0.0]])
    };
    let motion = Motion::new(&m, &[keys], None).unwrap();
    let mut at = m.start_positions();
    motion.positions(&m, 0.0, &mut at);
    let v = vec![0.0; m.velocity_count()];
    let mut p = Player::new(Arc::clone(&m), Scheme::Explicit, &at, &v, 0.0, 1e-3).unwrap();
    p.switch(vec![Group::keyframes(motion.clone())]).unwrap();
    let q = p.positions().to_vec();
    let step = p.step().unwrap();
    let after = momentum(&m, &q, p.velocities());
    let elbow = m.velocity_range(m.find_joint("elbow").unwrap()).start;
    assert!(p.velocities()[elbow].abs() > 0.5, "the curve is fast");
    assert!(after.0.length() < 1e-13 && after.1.length() < 1e-13, "{after:?}");
    // The naive switch: only the joint gets its velocity.
    let mut naive = v;
    naive[elbow] = p.velocities()[elbow];
    let wrong = momentum(&m, &q, &naive);
    println!("{after:?}, naive {wrong:?}, impulse {}", step.forces[0] * 1e-3);
    assert!(wrong.1.length() > 1e-3);
}

#[test]
fn switches_between_modes_keep_positions_and_velocities() {
    let m = chain(false);
    let mut p = player(&m, Scheme::Implicit, 1.0 / 120.0);
    let ids = ["drive", "ball", "elbow"].map(|n| m.find_joint(n).unwrap());
    let curve = motion(&m).started_from(&m, p.positions(), p.velocities());
    assert!(curve.is_err(), "it repeats");
    p.switch(vec![Group::keyframes(motion(&m))]).unwrap();
    (0..60).for_each(|_| drop(p.step().unwrap()));
    for groups in [
        vec![Group::compliant(ids.to_vec(), 50.0, 1.0)],
        vec![
            Group::torque(vec![ids[1]], vec![0.1, 0.2, -0.1]),
            Group::compliant(vec![ids[0]], 5.0, 0.0),
        ],
        vec![],
    ] {
        let (q, v) = (p.positions().to_vec(), p.velocities().to_vec());
        p.switch(groups).unwrap();
        assert_eq!((p.positions(), p.velocities()), (&q[..], &v[..]));
        let forces = (0..30).map(|_| p.step().unwrap().forces).last().unwrap();
        assert!(forces.iter().all(|f| f.is_finite() && f.abs() < 1e3), "{forces:?}");
    }
}

#[test]
fn loops_follow_a_curve_of_one_of_their_joints() {
    let mut b = MechanismBuilder::new("four bars");
    let bar = |l: f64| SpatialInertia::new(l, DVec3::X * (0.5 * l), DMat3::IDENTITY * 0.05);
    let [crank, rod, rocker] = [("crank", 0.4), ("rod", 1.1), ("rocker", 0.8)]
        .map(|(n, l)| b.add_link(Link::new(n).with_inertia(bar(l))));
    let mut add = |name: &str, a, c, at: [f64; 2], on: f64, start: f64| {
        let kind = JointKind::Revolute { axis: DVec3::Z };
        let at = Pose::from_translation(DVec3::new(at[0], at[1], 0.0));
        let child = Pose::from_translation(DVec3::X * on);
        let mut joint = Joint::new(name, kind, a, c).at(at).child_at(child).with_damping(0.01);
        joint.start = vec![start];
        b.add_joint(joint);
    };
    add("drive", LinkId::WORLD, crank, [0.0, 0.0], 0.0, 0.0);
    add("knee", crank, rod, [0.4, 0.0], 0.0, 0.8);
    add("pivot", LinkId::WORLD, rocker, [1.0, 0.0], 0.0, 1.6);
    add("close", rod, rocker, [1.1, 0.0], 0.8, 0.0);
    let m = Arc::new(b.build().unwrap());
    let h = 1.0 / 240.0;
    let v = vec![0.0; m.tree_velocity_count()];
    let q = m.start_positions();
    let mut p = Player::new(Arc::clone(&m), Scheme::Implicit, &q[..v.len()], &v, 0.0, h).unwrap();
    let drive = m.find_joint("drive").unwrap();
    let at = p.positions()[m.position_range(drive).start];
    let keys = [0.0, 2.0, 4.0, 6.0].map(|x| vec![at + x]).to_vec();
    let motion =
        Motion::new(&m, &[JointKeys::new("drive", vec![0.0, 0.7, 1.4, 2.0], keys)], None).unwrap();
    p.switch(vec![Group::keyframes(motion.clone())]).unwrap();
    let mut worst = 0.0f64;
    while p.time() < 2.0 {
        p.step().unwrap();
        let mut q = p.positions().to_vec();
        motion.positions(&m, p.time(), &mut q);
        worst = worst.max(
            (q[m.position_range(drive).start] - p.positions()[m.position_range(drive).start]).abs(),
        );
    }
    println!("worst {worst:e}");
    assert!(worst < 1e-13, "{worst:e}");
}

#[test]
fn going_back_gives_the_same_bits_a_thousand_times() {
    let m = chain(false);
    let ids = ["drive", "elbow"].map(|n| m.find_joint(n).unwrap());
    let mut p = player(&m, Scheme::Explicit, 1e-3);
    p.switch(vec![Group::keyframes(motion(&m))]).unwrap();
    // An input is a switch, or none.
    let step = |p: &mut Player, input: &Option<f64>| -> Result<(), Error> {
        if let Some(k) = input {
            p.switch(vec![Group::compliant(ids.to_vec(), *k, 0.1)]).map_err(Error::Step)?;
        }
        p.step().map(drop).map_err(Error::Step)
    };
    let mut line = Timeline::new(p, 16, 12);
    let mut rng = Rng::new(11);
    let hash = |p: &Player| -> Vec<u64> {
        p.positions().iter().chain(p.velocities()).map(|x| x.to_bits()).collect()
    };
    let mut known = std::collections::BTreeMap::new();
    known.insert((0, 0), hash(line.state()));
    for i in 0..300 {
        line.advance((i % 70 == 60).then_some(f64::from(i)), step).unwrap();
        known.insert((line.at().branch, line.at().step), hash(line.state()));
    }
    for turn in 0..1000 {
        let branch = rng.index(line.branch_count());
        let (start, end, _) = line.branch(branch).unwrap();
        let to = At { branch, step: start + rng.index(end - start + 1) };
        line.go(to, step).unwrap();
        let at = line.at();
        assert_eq!(&hash(line.state()), &known[&(at.branch, at.step)], "{to:?}");
        // Now and then another way from here.
        if turn % 100 == 0 {
            for k in 0..40 {
                line.advance((k == 3).then_some(20.0), step).unwrap();
                known.insert((line.at().branch, line.at().step), hash(line.state()));
            }
        }
    }
    assert!(line.branch_count() > 5);
    assert!(line.snapshot_count() <= 13 * line.branch_count(), "{}", line.snapshot_count());
    let missing = line.go(At { branch: 0, step: 301 }, step).unwrap_err();
    let branches = line.branch_count();
    assert_eq!(missing, Error::Place(TimelineError { branch: 0, step: 301, end: 300, branches }));
}

#[derive(Debug, PartialEq)]
enum Error {
    Step(PlaybackError),
    Place(TimelineError),
}

impl From<TimelineError> for Error {
    fn from(e: TimelineError) -> Self {
        Self::Place(e)
    }
}

#[test]
fn what_cannot_be_played_is_refused_by_name_and_value() {
    let m = chain(false);
    let mut p = player(&m, Scheme::Explicit, 1e-3);
    let drive = m.find_joint("drive").unwrap();
    let mut text = |groups| p.switch(groups).unwrap_err().to_string();
    let both = vec![Group::keyframes(motion(&m)), Group::compliant(vec![drive], 1.0, 0.0)];
    assert_eq!(text(both), "joint drive is in two groups");
    assert_eq!(text(vec![Group::torque(vec![drive], vec![])]), "0 forces for 1 coordinates");
    assert_eq!(text(vec![Group::torque(vec![drive], vec![f64::NAN])]), "a force is NaN");
    assert_eq!(text(vec![Group::compliant(vec![drive], -1.0, 0.0)]), "the stiffness is -1");
    let far = JointId::new(9);
    assert_eq!(text(vec![Group::compliant(vec![far], 1.0, 0.0)]), "joint 9 of 4");
}
