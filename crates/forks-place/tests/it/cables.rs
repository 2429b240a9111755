//! A finger whose tendons wrap its joints: reduced and blended.

use crate::servos::{full, static_error};

use std::ops::ControlFlow;

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{
    Cable, CableBranch, CableId, CableNode, CableObstacle, CablePoint, Combination, Joint,
    JointKind, Link, LinkId, Mechanism, MechanismBuilder, ObstacleKind, Servo, Transmission,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_place::{LoadRegion, Placement, PlacementStatus, place};
use forks_reduce::{Linearisation, Problem, ProblemOptions};

/// Three phalanges on hinges, a flexor below and an extensor above, both stretched, over a cylinder
/// at every joint; the extensor is a little stiffer.
fn finger() -> Mechanism {
    let mut b = MechanismBuilder::new("finger");
    b.set_gravity(DVec3::ZERO);
    let lengths = [0.045, 0.03, 0.022];
    let (mut inner, mut at) = (LinkId::WORLD, 0.0);
    let mut links = vec![(inner, 0.0)];
    for (k, length) in lengths.into_iter().enumerate() {
        let inertia = SpatialInertia::new(0.02, DVec3::X * (0.5 * length), DMat3::IDENTITY * 4e-6);
        let outer = b.add_link(Link::new(["near", "middle", "tip"][k]).with_inertia(inertia));
        let kind = JointKind::Revolute { axis: DVec3::Y };
        let joint = Joint::new(format!("joint{k}"), kind, inner, outer);
        b.add_joint(joint.at(Pose::from_translation(DVec3::X * at)).with_stiffness(0.05));
        links.push((outer, length));
        (inner, at) = (outer, length);
    }
    for (name, side, stiffness) in [("flexor", -1.0, 1500.0), ("extensor", 1.0, 2000.0)] {
        let mut nodes = vec![CableNode::point(LinkId::WORLD, DVec3::new(-0.02, 0.0, 0.004 * side))];
        for w in links.windows(2) {
            let [(inner, reach), (outer, length)] = [w[0], w[1]];
            let center = DVec3::X * reach;
            nodes.push(CableNode::Obstacle(CableObstacle {
                link: inner,
                link_from_obstacle: Pose::new(
                    DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
                    center,
                ),
                kind: ObstacleKind::Cylinder,
                radius: 0.008,
                side: Some(CablePoint { link: inner, position: center + DVec3::Z * (0.05 * side) }),
            }));
            let middle = DVec3::new(0.5 * length, 0.0, 0.004 * side);
            nodes.push(CableNode::point(outer, middle));
        }
        let mut cable = Cable {
            name: name.into(),
            branches: vec![CableBranch { divisor: 1.0, nodes }],
            stiffness,
            damping: 2.0,
            rest: [0.0, 1.0],
        };
        let poses: Vec<Pose> = {
            let m = b.clone().build().expect("a finger without tendons");
            m.link_poses(&m.start_positions())
        };
        cable.rest = [0.0, cable.length(&poses) - 3.0 / stiffness];
        b.add_cable(cable);
    }
    b.build().expect("a finger")
}

#[test]
fn both_tendons_wrap_all_joints() {
    let m = finger();
    let poses = m.link_poses(&m.start_positions());
    for c in m.cables() {
        assert_eq!(c.segments(&poses).filter(|s| s.wraps()).count(), 3);
        assert!((c.tension(c.length(&poses)).force - 3.0).abs() < 1e-9);
    }
}

#[test]
fn a_reduced_finger_gives_way_as_the_full_one_does() {
    let m = finger();
    let problem = Problem::new(&m, &["tip"], &ProblemOptions::default()).expect("a problem");
    let none = Loads::none();
    let options = EquilibriumOptions { tolerance: 1e-13, ..EquilibriumOptions::default() };
    let e = problem.equilibrium(&none, &options);
    let r = problem.response(Linearisation::equilibrium(&e, &none)).expect("it is resisted");
    let tip = m.find_link("tip").expect("the tip");
    for force in [DVec3::Z, DVec3::X, -DVec3::Z] {
        let size = 1e-3;
        let wrench = Wrench::new(e.world_from_link[tip.index()].rotation * force, DVec3::ZERO);
        let loads = Loads::none().with_world_wrench(tip, wrench * size);
        let there = solve_equilibrium(problem.mechanism(), &e.q, &loads, &options);
        let moved = e.world_from_link[tip.index()].twist_to(&there.world_from_link[tip.index()]);
        let expected = moved.to_array().map(|x| x / size);
        let column = r.compliance.mul_vec(&[force.x, force.y, force.z, 0.0, 0.0, 0.0]);
        let off = expected.iter().zip(&column).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        let largest = r.compliance.max_abs();
        assert!(off < 1e-3 * largest, "{force}: {off:e} of {largest:e}");
    }
}

#[test]
fn a_blended_finger_is_as_exact_as_the_tolerances_ask() {
    let m = finger();
    let problem = Problem::new(&m, &["tip"], &ProblemOptions::default()).expect("a problem");
    let region = LoadRegion { displacement: 0.4, ..LoadRegion::cone(0, -DVec3::Z, 0.5) };
    let placement = Placement { regions: vec![region], ..Placement::default() };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).expect("a blend");
    let (c, chart) = (&placed.certificate, placed.attempts.last().map(|a| a.chart));
    println!("{:?} {chart:?}: {c:?}", placed.status);
    assert_eq!(placed.status, PlacementStatus::Reached);
    assert!(c.unseen > 0 && c.above == 0, "{c:?}");
    assert!(c.constraint <= placement.constraint_tolerance, "{c:?}");
    assert!(c.statics <= placement.static_tolerance, "{c:?}");
    assert_eq!(c.sudden_elsewhere, 0);
}

#[test]
fn a_driven_tendon_bends_the_blended_finger_as_the_full_one() {
    let mut b = MechanismBuilder::from_mechanism(&finger());
    b.add_servo(Servo {
        name: "flex".into(),
        transmission: Transmission::Cable(CableId::new(0)),
        combination: Combination { terms: vec![], offset: 0.0 },
        stiffness: 800.0,
        damping: 1.0,
    });
    let m = b.build().expect("a driven finger");
    let problem = Problem::new(&m, &["tip"], &ProblemOptions::default()).expect("a problem");
    let region = LoadRegion { displacement: 0.4, ..LoadRegion::cone(0, -DVec3::Z, 0.5) };
    let placement = Placement { regions: vec![region], ..Placement::default() };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).expect("a blend");
    assert_eq!(placed.status, PlacementStatus::Reached);
    let tip = m.find_link("tip").expect("the tip").index();
    let start = m.link_poses(&m.start_positions())[tip].translation;
    for (force, target) in [(0.0, -2e-3), (0.05, -4e-3), (-0.1, 2e-3)] {
        let force = DVec3::NEG_Z * force;
        let e = full(&problem, force, &[target]);
        let moved = e.world_from_link[tip].translation.distance(start);
        let off =
            static_error(&problem, &placed.model, force, &[target]) * placed.model.data().radius;
        println!("{target}: moves {moved:.2e} m, off by {:.1e} of it", off / moved);
        assert!(moved > 1e-3, "{moved}");
        assert!(off < placement.static_tolerance * moved, "{off:e} of {moved:e}");
    }
}
