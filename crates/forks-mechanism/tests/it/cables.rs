//! Cables: length, gradient, second derivative, slack, bad input.

use forks_mechanism::{
    BuildError, Cable, CableBranch, CableId, CableNode, CableObstacle, CablePoint, Combination,
    Joint, JointKind, Link, LinkId, MechanismBuilder, ObstacleKind, Preparation, Servo,
    ServoSpring, Transmission,
    lie::{Pose, SplitMix64, Twist, glam::DVec3},
};

use crate::common::{pose, vector};

fn point(r: &mut SplitMix64, link: usize) -> CableNode {
    CableNode::point(LinkId::new(link), vector(r, 0.4))
}

fn obstacle(r: &mut SplitMix64, link: usize, radius: f64) -> CableNode {
    let side = match r.range(0.0, 3.0) as usize {
        0 => None,
        k => Some(CablePoint {
            link: LinkId::new(link),
            position: r.direction() * if k == 1 { 3.0 } else { 0.01 },
        }),
    };
    let kind = match r.range(0.0, 2.0) < 1.0 {
        true => ObstacleKind::Sphere,
        false => ObstacleKind::Cylinder,
    };
    CableNode::Obstacle(CableObstacle {
        link: LinkId::new(link),
        link_from_obstacle: pose(r, 0.1, 3.0),
        kind,
        radius,
        side,
    })
}

/// Two branches over the ground (0) and four links, obstacles between points far apart.
fn random_cable(r: &mut SplitMix64) -> Cable {
    let first = vec![point(r, 0), obstacle(r, 1, 0.3), point(r, 2), point(r, 2), point(r, 1)];
    let second =
        vec![point(r, 3), obstacle(r, 4, 0.4), point(r, 4), obstacle(r, 2, 0.3), point(r, 1)];
    Cable {
        name: "cable".into(),
        branches: vec![
            CableBranch { divisor: 1.0, nodes: first },
            CableBranch { divisor: 2.5, nodes: second },
        ],
        stiffness: 3.0,
        damping: 0.0,
        rest: [0.0, 1.0],
    }
}

fn random_poses(r: &mut SplitMix64) -> Vec<Pose> {
    let mut poses = vec![Pose::IDENTITY];
    poses.extend((0..4).map(|_| pose(r, 2.0, 3.0)));
    poses
}

fn ways(c: &Cable, poses: &[Pose]) -> Vec<bool> {
    c.segments(poses).map(|s| s.wraps()).collect()
}

#[test]
fn derivatives_are_those_of_differences() {
    let mut r = SplitMix64::new(3);
    let h = 1e-5;
    let (mut cases, mut wrapped) = (0, 0);
    let (mut first, mut second) = (0.0f64, 0.0f64);
    while cases < 300 {
        let (c, poses) = (random_cable(&mut r), random_poses(&mut r));
        let path = c.length_and_hessian(&poses);
        let n = 6 * path.links.len();
        let moved = |x: &[(usize, f64)]| {
            let mut out = poses.clone();
            for (k, &l) in path.links.iter().enumerate() {
                let mut t = [0.0; 6];
                x.iter().filter(|(i, _)| i / 6 == k).for_each(|(i, s)| t[i % 6] += s);
                out[l.index()] = poses[l.index()].displaced(Twist::from_array(t));
            }
            out
        };
        // Only where nothing changes within the stencil, and no corner is sharp.
        let same = ways(&c, &poses);
        let sharp = path.hessian.max_abs() > 50.0;
        let near =
            (0..n).any(|i| [-0.03, 0.03].iter().any(|s| ways(&c, &moved(&[(i, *s)])) != same));
        if sharp || near {
            continue;
        }
        cases += 1;
        wrapped += same.iter().filter(|w| **w).count();
        let at = |x: &[(usize, f64)]| c.length(&moved(x));
        let scale = 1.0 + path.hessian.max_abs();
        for i in 0..n {
            let slope = (at(&[(i, h)]) - at(&[(i, -h)])) / (2.0 * h);
            first = first.max((path.gradient[i / 6].to_array()[i % 6] - slope).abs() / scale);
            for j in 0..n {
                let e = 2e-4;
                let four = |a: f64, b: f64| at(&[(i, a), (j, b)]);
                let slope = (four(e, e) - four(e, -e) - four(-e, e) + four(-e, -e)) / (4.0 * e * e);
                second = second.max((path.hessian[(i, j)] - slope).abs() / scale.powi(3));
            }
        }
    }
    assert!(wrapped > 150, "{wrapped} stretches wrap");
    assert!(first < 1e-8, "gradient off by {first:e}");
    assert!(second < 1e-6, "second derivative off by {second:e}");
}

#[test]
fn a_motion_of_everything_changes_no_length() {
    let mut r = SplitMix64::new(4);
    for _ in 0..100 {
        let (mut c, poses) = (random_cable(&mut r), random_poses(&mut r));
        c.branches[0].nodes[0] = point(&mut r, 3);
        let whole = pose(&mut r, 3.0, 3.0);
        let moved: Vec<Pose> = poses.iter().map(|p| whole * *p).collect();
        assert!((c.length(&moved) - c.length(&poses)).abs() < 1e-12);
        let mut force = DVec3::ZERO;
        c.length_and_gradient(&poses, |l, w| {
            force += poses[l.index()].transform_vector(w.force);
        });
        assert!(force.length() < 1e-12, "internal forces balance");
        let polylines = c.polylines(&poses);
        assert_eq!(polylines.len(), 2);
        let weighted: f64 = polylines
            .iter()
            .zip(&c.branches)
            .map(|(p, b)| p.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>() / b.divisor)
            .sum();
        assert!((weighted - c.length(&poses)).abs() < 0.01 * weighted, "drawn as long as it is");
    }
}

#[test]
fn a_block_and_tackle_shares_its_load() {
    // The rope runs from the ceiling through a block and back: two strands of which the winch at
    // the side takes up one rope length.
    let block = LinkId::new(1);
    let (up, down) = (DVec3::Z * 2.0, DVec3::ZERO);
    let mut c = Cable::straight(
        "rope",
        [(LinkId::WORLD, up), (block, down), (LinkId::WORLD, up)],
        100.0,
        3.0,
    );
    let poses = [Pose::IDENTITY, Pose::from_translation(DVec3::Z * 0.25)];
    assert_eq!(c.length(&poses), 3.5);
    let pull = |c: &Cable| {
        let mut f = 0.0;
        let length = c.length_and_gradient(&poses, |_, w| f -= w.force.z);
        f * c.tension(length).force
    };
    assert!((pull(&c) - 2.0 * 50.0).abs() < 1e-12);
    c.branches[0].divisor = 2.0;
    c.rest = [1.5, 1.5];
    assert!((pull(&c) - 25.0).abs() < 1e-12);
}

#[test]
fn the_spring_is_slack_within_its_range_and_taut_at_its_ends() {
    let mut c = Cable::straight("c", [(LinkId::WORLD, DVec3::ZERO)], 10.0, 2.0);
    c.rest = [1.0, 2.0];
    let at = |l: f64| (c.tension(l).force, c.tension(l).stiffness, c.tension(l).energy);
    assert_eq!(at(1.5), (0.0, 0.0, 0.0));
    assert_eq!(at(2.0), (0.0, 10.0, 0.0));
    assert_eq!(at(3.0), (10.0, 10.0, 5.0));
    assert_eq!(at(0.5), (-5.0, 10.0, 1.25));
    assert_eq!(c.rest_unstressed_at(1.5), [1.0, 2.0]);
    assert_eq!(c.rest_unstressed_at(2.5), [1.5, 2.5]);
    assert_eq!(c.rest_unstressed_at(0.5), [0.5, 1.5]);
}

#[test]
fn cables_without_a_path_are_refused_by_name() {
    let good = || {
        Cable::straight(
            "rope",
            [(LinkId::WORLD, DVec3::ZERO), (LinkId::new(1), DVec3::X)],
            1.0,
            1.0,
        )
    };
    let build = |c: Cable| {
        let mut b = MechanismBuilder::new("m");
        let l = b.add_link(Link::new("bob"));
        b.add_joint(Joint::new("j", JointKind::Fixed, LinkId::WORLD, l));
        b.add_cable(c);
        b.build()
    };
    let m = build(good()).expect("a good cable");
    assert_eq!(m.find_cable("rope").map(|id| m.cable(id)), Some(&good()));
    let refused = |change: &dyn Fn(&mut Cable)| {
        let mut c = good();
        change(&mut c);
        build(c).expect_err("a bad cable").to_string()
    };
    let obstacle = |radius: f64| {
        CableNode::Obstacle(CableObstacle {
            link: LinkId::new(1),
            link_from_obstacle: Pose::IDENTITY,
            kind: ObstacleKind::Sphere,
            radius,
            side: None,
        })
    };
    let expect = |text: String, part: &str| {
        assert!(text.contains("'rope'") && text.contains(part), "{text}")
    };
    expect(refused(&|c| c.stiffness = -1.0), "stiffness is -1");
    expect(refused(&|c| c.damping = f64::NAN), "damping is NaN");
    expect(refused(&|c| c.rest = [2.0, 1.0]), "range [2, 1] is empty");
    expect(refused(&|c| c.branches.clear()), "has no branch");
    expect(refused(&|c| c.branches[0].divisor = 0.0), "branch 0 has divisor 0");
    expect(refused(&|c| c.branches[0].nodes.truncate(1)), "from a point to another");
    expect(refused(&|c| c.branches[0].nodes.push(obstacle(1.0))), "from a point to another");
    let two = |c: &mut Cable| {
        let nodes = &mut c.branches[0].nodes;
        (0..2).for_each(|_| nodes.insert(1, obstacle(1.0)));
    };
    expect(refused(&two), "two obstacles");
    expect(refused(&|c| c.branches[0].nodes.insert(1, obstacle(0.0))), "radius of 0");
    let far = |c: &mut Cable| c.branches[0].nodes.push(CableNode::point(LinkId::new(7), DVec3::X));
    assert!(matches!(
        build({
            let mut c = good();
            far(&mut c);
            c
        }),
        Err(BuildError::UnknownElement { kind: "link", index: 7, .. })
    ));
}

#[test]
fn a_servo_on_a_cable_becomes_a_cable_at_rest_in_the_start_pose() {
    let mut b = MechanismBuilder::new("m");
    let l = b.add_link(Link::new("bob"));
    let kind = JointKind::Prismatic { axis: DVec3::X };
    b.add_joint(Joint::new("j", kind, LinkId::WORLD, l));
    let ends = [(LinkId::WORLD, DVec3::ZERO), (l, DVec3::X)];
    let id = b.add_cable(Cable::straight("rope", ends, 0.0, 0.0));
    let mut servo = Servo {
        name: "winch".into(),
        transmission: Transmission::Cable(id),
        combination: Combination { terms: vec![], offset: 0.0 },
        stiffness: 7.0,
        damping: 0.5,
    };
    b.add_servo(servo.clone());
    let m = b.clone().build().expect("a driven rope");
    let q = [0.5];
    assert_eq!(m.servos()[0].value(&m, &q, &m.link_poses(&q)), 1.5);
    let preparation =
        Preparation { servos: true, start: Some(q.to_vec()), ..Preparation::default() };
    let prepared = preparation.apply(&m).expect("a preparation");
    let ServoSpring::Cable(of) = prepared.servo_springs[0].1 else { panic!("a cable") };
    let c = prepared.mechanism.cable(of);
    assert_eq!((c.name.as_str(), c.stiffness, c.damping, c.rest), ("winch", 7.0, 0.5, [1.5; 2]));
    assert_eq!(c.branches, m.cables()[0].branches);
    // Nothing of it can be put into a joint.
    assert_eq!(m.with_servos_in_joints(&q).expect("others").1.len(), 1);
    servo.transmission = Transmission::Cable(CableId::new(3));
    b.add_servo(servo);
    let e = b.build().expect_err("no such cable");
    assert!(matches!(e, BuildError::UnknownElement { kind: "cable", index: 3, count: 1, .. }));
}
