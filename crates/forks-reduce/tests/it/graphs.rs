//! What a sweep enters, what it leaves out and what it refuses; how large the frontier gets;
//! effectors at frames; equal bits.

use std::thread;

use forks_mechanism::{
    BuildError, Combination, Frame, Joint, JointId, JointKind, JointMatrix, Link, LinkId,
    Mechanism, MechanismBuilder, Preparation,
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_models::HelixJoints;
use forks_reduce::{
    Drive, Effector, Linearisation, Problem, ProblemOptions, ReduceError, ReduceOptions, Response,
};
use forks_testkit::{RandomMechanismOptions, System, random_effectors, random_mechanism};

fn of_links(m: &Mechanism, links: &[LinkId]) -> Vec<Effector> {
    links.iter().map(|&l| Effector::of_link(m, l)).collect()
}

fn at_rest(m: &Mechanism, effectors: &[Effector]) -> Result<Response, ReduceError> {
    let problem = Problem::unprepared(m.clone(), effectors.to_vec());
    problem.response(problem.at_rest())
}

/// 1000 N·m/rad for every springless coordinate.
fn sprung(m: &Mechanism) -> Result<Mechanism, BuildError> {
    let options = Preparation { default_stiffness: Some(1000.0), ..Default::default() };
    Ok(options.apply(m)?.mechanism)
}

fn hinge(name: &str, parent: LinkId, child: LinkId, axis: DVec3) -> Joint {
    let kind = JointKind::Revolute { axis };
    Joint::new(name, kind, parent, child).at(Pose::from_translation(DVec3::X))
}

#[test]
fn branches_without_effector_are_not_entered() {
    // A spine of three sprung links, the middle one with a sprung side branch of two.
    let mut b = MechanismBuilder::new("branched");
    let l: Vec<LinkId> = (0..5).map(|i| b.add_link(Link::new(format!("l{i}")))).collect();
    let pairs = [(LinkId::WORLD, l[0]), (l[0], l[1]), (l[1], l[2]), (l[0], l[3]), (l[3], l[4])];
    for (i, (p, c)) in pairs.into_iter().enumerate() {
        b.add_joint(hinge(&format!("j{i}"), p, c, DVec3::Z).with_stiffness(100.0));
    }
    let m = b.build().unwrap();
    let r = at_rest(&m, &of_links(&m, &[l[2]])).unwrap();
    let entered: Vec<bool> = r.joint_loads.iter().map(|w| w.rows() == 6).collect();
    let spine = |e: &forks_mechanism::TreeEdge| e.joint.index() < 3;
    assert_eq!(entered, m.forest().edges().iter().map(spine).collect::<Vec<_>>());
    // The branch rides along rigidly with the link that carries it.
    let carrier = &r.twists[l[0].index()];
    let carried = &r.twists[l[3].index()];
    let ad: Matrix = Pose::from_translation(-DVec3::X).adjoint().matrix().into();
    assert!(ad.mul(carrier).sub(carried).max_abs() < 1e-15);
    assert_eq!(r.joints.row(3), [0.0; 6]);
    assert_eq!(r.joints.row(4), [0.0; 6]);
}

#[test]
fn limp_branches_are_errors_that_name_their_joints() {
    let mut b = MechanismBuilder::new("limp");
    let l: Vec<LinkId> = (0..4).map(|i| b.add_link(Link::new(format!("l{i}")))).collect();
    b.add_joint(hinge("held", LinkId::WORLD, l[0], DVec3::Z).with_stiffness(10.0));
    b.add_joint(hinge("limp a", l[0], l[1], DVec3::Z));
    b.add_joint(hinge("stiff", l[1], l[2], DVec3::Z).with_stiffness(10.0));
    b.add_joint(hinge("limp b", l[0], l[3], DVec3::Y));
    let m = b.build().unwrap();
    match at_rest(&m, &of_links(&m, &[l[0]])) {
        Err(ReduceError::Unresisted { joints }) => assert_eq!(joints, ["limp a", "limp b"]),
        other => panic!("{other:?}"),
    }
    let problem = Problem::new(&m, &["l0"], &ProblemOptions::default()).unwrap();
    let names = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    let message = names.unwrap_err().to_string();
    assert!(message.contains("limp a, limp b"), "{message}");
    let options = ProblemOptions { default_stiffness: Some(5.0), ..Default::default() };
    let problem = Problem::new(&m, &["l0"], &options).unwrap();
    assert_eq!(problem.linearise(problem.at_rest()).unwrap().basis.rank, 1);
}

#[test]
fn serial_joints_with_singular_stiffness_are_free_in_its_nullspace() {
    // Spherical, stiff about (1, 1, 0) and z only; a second hinge may or may not resist the rest.
    let k = JointMatrix::new(3, vec![50.0, 50.0, 0.0, 50.0, 50.0, 0.0, 0.0, 0.0, 80.0]);
    let build = |closed: bool| {
        let mut b = MechanismBuilder::new("singular");
        let link = b.add_link(Link::new("link"));
        let joint = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, link);
        b.add_joint(joint.with_spring(k.clone()));
        if closed {
            // A hinge about x closes the loop: only rotations about x are left.
            let kind = JointKind::Revolute { axis: DVec3::X };
            b.add_joint(Joint::new("hinge", kind, LinkId::WORLD, link).with_stiffness(10.0));
        }
        b.build().unwrap()
    };
    let open = build(false);
    match at_rest(&open, &of_links(&open, &[LinkId::new(1)])) {
        Err(ReduceError::Unresisted { joints }) => assert_eq!(joints, ["ball"]),
        other => panic!("{other:?}"),
    }
    let closed = build(true);
    let r = at_rest(&closed, &of_links(&closed, &[LinkId::new(1)])).unwrap();
    // About x the ball resists with 50 N·m/rad, the hinge with 10.
    for i in 0..6 {
        for j in 0..6 {
            let expected = if (i, j) == (3, 3) { 1.0 / 60.0 } else { 0.0 };
            assert!((r.compliance[(i, j)] - expected).abs() < 1e-16, "{i}, {j}");
        }
    }
    assert!((r.joints[(0, 3)] - 1.0 / 60.0).abs() < 1e-16);
}

#[test]
fn free_bodies_beside_the_mechanism_are_left_out_and_listed() {
    let mut b = MechanismBuilder::new("beside");
    let arm = b.add_link(Link::new("arm"));
    b.add_joint(hinge("hinge", LinkId::WORLD, arm, DVec3::Z).with_stiffness(10.0));
    let ball = b.add_link(Link::new("ball"));
    b.add_joint(Joint::new("free", JointKind::Free, LinkId::WORLD, ball));
    let tail = b.add_link(Link::new("tail"));
    b.add_joint(hinge("tail", ball, tail, DVec3::Z));
    let m = b.build().unwrap();
    let r = at_rest(&m, &of_links(&m, &[arm])).unwrap();
    assert_eq!(r.left_out, [ball, tail]);
    assert_eq!(r.twists[tail.index()].max_abs(), 0.0);
    // Forces along its coordinates, as gravity's, are not an obstacle.
    let mut problem = Problem::unprepared(m.clone(), of_links(&m, &[arm]));
    let push = |j| Combination::of(JointId::new(j));
    let drive =
        |j| Drive { name: format!("push {j}"), combination: push(j), gain: 1.0, cable: None };
    problem.servos = [0, 2].map(drive).to_vec();
    let r = problem.response(problem.at_rest()).unwrap();
    assert!((r.output_joints[(0, 0)] - 0.1).abs() < 1e-16);
    assert_eq!(r.output_joints.column(1), vec![0.0; m.velocity_count()]);
}

#[test]
fn effectors_that_cannot_move_are_named() {
    let mut b = MechanismBuilder::new("fixed");
    let base = b.add_link(Link::new("base"));
    b.add_joint(Joint::new("weld", JointKind::Fixed, LinkId::WORLD, base));
    let arm = b.add_link(Link::new("arm"));
    b.add_joint(hinge("hinge", base, arm, DVec3::Z).with_stiffness(10.0));
    let m = b.build().unwrap();
    let of = |links: &[LinkId]| Problem::unprepared(m.clone(), of_links(&m, links));
    for link in [base, LinkId::WORLD] {
        let problem = of(&[link]);
        match problem.linearise(problem.at_rest()) {
            Err(ReduceError::Immobile { names }) => {
                assert_eq!(names, format!("'{}'", m.link(link).name));
            }
            other => panic!("{:?}", other.map(|r| r.basis.rank)),
        }
    }
    // Beside one that can, they just stay where they are.
    let problem = of(&[base, arm]);
    let r = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    assert_eq!(r.model.dof(), 1);
    assert_eq!(r.linear.basis.matrix.block(0, 0, 6, 1).max_abs(), 0.0);
    let problem = of(&[]);
    assert!(matches!(problem.linearise(problem.at_rest()), Err(ReduceError::NoEffector)));
    for name in ["nothing", "world", "site:arm"] {
        let unknown = ReduceError::UnknownEffector { name: name.into() };
        assert_eq!(Effector::find(&m, name), Err(unknown));
    }
    let problem = of(&[arm]);
    let short = problem.linearise(Linearisation::Rest { q: &[] });
    let expected = ReduceError::WrongLength { quantity: "positions", found: 0, expected: 1 };
    assert_eq!(short.unwrap_err(), expected);
    let nan = problem.linearise(Linearisation::Rest { q: &[f64::NAN] });
    assert_eq!(nan.unwrap_err(), ReduceError::NotFinite { quantity: "a position" });
}

#[test]
fn effectors_at_frames_are_their_links_seen_from_there() {
    let p = forks_models::helix(6, HelixJoints::Hinge3);
    let link = p.effectors[0];
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    let offset = Pose::new(
        forks_mechanism::lie::so3::exp_rotation(DVec3::new(0.3, -0.8, 0.5)),
        DVec3::new(0.1, 0.2, -0.3),
    );
    b.add_frame(Frame { name: "tool".into(), link, link_from_frame: offset });
    let m = b.build().unwrap();
    let tool = Effector::find(&m, "site:tool").unwrap();
    let own = Effector::of_link(&m, link);
    let c = at_rest(&m, std::slice::from_ref(&own)).unwrap().compliance;
    // Two effectors on one link: both at once.
    let both = at_rest(&m, &[own, tool]).unwrap();
    assert!(both.consistency < 1e-14, "{:e}", both.consistency);
    let ad: Matrix = offset.inverse().adjoint().matrix().into();
    let blocks = [c.clone(), c.mul(&ad.transpose()), ad.mul(&c), ad.mul(&c).mul(&ad.transpose())];
    for (k, expected) in blocks.iter().enumerate() {
        let block = both.compliance.block(6 * (k / 2), 6 * (k % 2), 6, 6);
        // Rounding of two 6×6 products.
        assert!(block.sub(expected).max_abs() < 1e-14 * c.max_abs(), "block {k}");
    }
    let effectors = vec![Effector::of_link(&m, link), Effector::find(&m, "site:tool").unwrap()];
    let problem = Problem::unprepared(m, effectors);
    let r = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    assert_eq!(r.linear.basis.rank, 6);
    // They stay rigidly connected at any state of the model, to first order in its size.
    let eta = vec![1e-6; 6];
    let relative = r.model.effector_pose(0, &eta).inverse() * r.model.effector_pose(1, &eta);
    assert!(relative.twist_to(&offset).norm() < 1e-10);
}

#[test]
fn three_calls_give_the_same_bits() {
    for seed in 0..20 {
        let m = random_mechanism(seed, &RandomMechanismOptions::mixed(seed));
        let effectors = of_links(&m, &random_effectors(seed, &m, 2));
        let bits = || -> Vec<u64> {
            let r = at_rest(&m, &effectors).unwrap();
            let all = r.twists.iter().chain([&r.compliance, &r.joints]);
            all.flat_map(|m| m.as_slice()).map(|x| x.to_bits()).collect()
        };
        let first = bits();
        assert!(first == bits() && first == bits(), "seed {seed}");
    }
}

/// Live variables at most: the largest frontier of a sweep with the given effectors.
fn peak(m: &Mechanism, effectors: &[LinkId]) -> usize {
    at_rest(m, &of_links(m, effectors)).unwrap().frontier_peak
}

#[test]
fn the_frontier_stays_small_on_caterpillars() {
    let segments = 100;
    let p = forks_models::millipede(segments, 3);
    let m = sprung(&p.mechanism).unwrap();
    // Pure springs: legs are not entered. The link that is left and the one that is reached.
    assert_eq!(peak(&m, &p.effectors), 12);
    // With effectors at the feet of the first k legs: the feet that are done, the spine's link
    // (none in the last leg), and two links of the leg under way; legs are finished before the
    // spine goes on.
    let ends: Vec<bool> = {
        let mut end = vec![true; m.links().len()];
        m.forest().edges().iter().for_each(|e| end[e.inner.index()] = false);
        end
    };
    let feet: Vec<LinkId> =
        (1..m.links().len()).filter(|&l| ends[l]).map(LinkId::new).take(8).collect();
    for k in 1..=8 {
        assert_eq!(peak(&m, &feet[..k]), 6 * (k + 1), "{k} feet");
    }
}

#[test]
fn entered_branches_are_finished_smallest_first() {
    // Every leg is entered because tendon springs couple its two springless joints. With the
    // smallest branch first a leg is finished before the spine goes on; with the largest first all
    // spine links would wait for their legs, six variables each.
    let caterpillar = |segments: usize| {
        let mut b = MechanismBuilder::new("caterpillar");
        let mut spine = LinkId::WORLD;
        for s in 0..segments {
            let next = b.add_link(Link::new(format!("s{s}")));
            b.add_joint(hinge(&format!("spine {s}"), spine, next, DVec3::Z).with_stiffness(10.0));
            spine = next;
            let knee = b.add_link(Link::new(format!("knee {s}")));
            let first = b.add_joint(hinge(&format!("hip {s}"), spine, knee, DVec3::Y));
            let foot = b.add_link(Link::new(format!("foot {s}")));
            let second = b.add_joint(hinge(&format!("knee {s}"), knee, foot, DVec3::Y));
            for (name, signs) in [("sum", [1.0, 1.0]), ("difference", [1.0, -1.0])] {
                let coordinates = [first, second].map(forks_mechanism::Coordinate::of);
                b.add_combination_spring(forks_mechanism::CombinationSpring {
                    name: name.into(),
                    combination: Combination {
                        terms: coordinates.into_iter().zip(signs).collect(),
                        offset: 0.0,
                    },
                    stiffness: 20.0,
                    damping: 0.0,
                    rest: 0.0,
                });
            }
        }
        (b.build().unwrap(), spine)
    };
    let sizes = [5, 50, 500].map(|n| {
        let (m, end) = caterpillar(n);
        let r = at_rest(&m, &of_links(&m, &[end])).unwrap();
        assert!(r.joint_loads.iter().all(|w| w.rows() == 6), "every leg is entered");
        r.frontier_peak
    });
    // Spine, knee and foot, and the leg's two coordinates.
    assert_eq!(sizes, [20, 20, 20]);
}

#[test]
fn thousands_of_nested_links_fit_on_a_small_stack() {
    let run = || {
        let p = forks_models::molecules::chain(10_000, 2);
        let m = sprung(&p.mechanism).unwrap();
        let effectors = of_links(&m, &[LinkId::new(5000), p.effectors[0]]);
        let problem = Problem::unprepared(m, effectors);
        let r = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
        (r.linear.basis.rank, r.linear.response.frontier_peak)
    };
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    assert_eq!(thread.join().unwrap(), (12, 18));
}

#[test]
fn closing_the_loops_of_a_ladder_agrees_with_kkt() {
    let p = forks_models::ladder(20);
    let system = System::new(&p.mechanism, &p.mechanism.start_positions());
    let dense = system.reduce(&system.stiffness, &p.effectors).unwrap();
    let r = at_rest(&p.mechanism, &of_links(&p.mechanism, &p.effectors)).unwrap();
    let error = r.compliance.sub(&dense.compliance).norm() / dense.compliance.norm();
    assert!(error < 1e-9, "{error:e}");
}
