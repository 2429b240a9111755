//! What is written reads back to the same mechanism.

use crate::support;
use forks_import::mechanism::{
    Combination, CombinationSpring, Coordinate, Coupling, CouplingTerm, Frame, Geometry, Joint,
    JointId, JointKind, JointMatrix, Keyframe, Limit, Link, LinkId, Mechanism, MechanismBuilder,
    Servo, Shape, Transmission,
    kinematics::loops,
    lie::{Pose, SpatialInertia, SplitMix64, glam},
    linalg::dense,
    redundancy::release_redundant,
};
use forks_import::{
    Effect, ImportOptions, Note, parse_mjcf,
    write::{WriteError, save_mjcf, write_mjcf},
};
use glam::{DMat3, DQuat, DVec3};
use support::{MODELS, load, mass_matrix, passive_forces};

/// Poses pass through a few products: some units in the last place of the mechanism's size.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

fn again(m: &Mechanism, lenient: bool) -> (Mechanism, Vec<Note>) {
    let (text, notes) = write_mjcf(m).unwrap_or_else(|e| panic!("{e}"));
    let import = parse_mjcf(&text, &ImportOptions { lenient, ..Default::default() })
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    // Loop equations that repeat others are left out of what is read, for the same reasons.
    let (loops, others): (Vec<&Note>, Vec<&Note>) =
        import.notes.iter().partition(|n| n.element.starts_with("loops "));
    let found = release_redundant(m, &m.start_positions()).unwrap().map_or(0, |r| r.found.len());
    assert_eq!(loops.len(), found, "{loops:?}\n{text}");
    // Joints that start outside their range and bodies that are too dense are so again.
    let is_lost = |n: &&&Note| !["range", "mass"].contains(&n.attribute.as_str());
    let lost: Vec<&&Note> = others.iter().filter(is_lost).collect();
    assert!(lost.is_empty(), "{lost:?}\n{text}");
    (import.mechanism, notes)
}

fn same_poses(what: &str, a: &Mechanism, b: &Mechanism, qa: &[f64], qb: &[f64]) {
    let (pa, pb) = (a.link_poses(qa), b.link_poses(qb));
    let size =
        a.bounding_radius(&pa).max(pa.iter().map(|p| p.translation.length()).fold(0.0, f64::max));
    for (i, l) in a.links().iter().enumerate().filter(|(_, l)| !l.auxiliary) {
        let k = b.find_link(&l.name).unwrap_or_else(|| panic!("{what}: {} is lost", l.name));
        let gap = pa[i].translation.distance(pb[k.index()].translation);
        let depth = (i + 4) as f64;
        assert!(gap <= depth * ROUNDING * size, "{what} {}: {gap}", l.name);
        let turn = (pa[i].rotation * pb[k.index()].rotation.conjugate()).xyz().length();
        assert!(turn <= depth * ROUNDING, "{what} {}: turned by {turn}", l.name);
    }
}

/// Random numbers, rotations and poses.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0.range(-1.0, 1.0)
    }

    fn pick(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }

    fn rotation(&mut self) -> DQuat {
        DQuat::from_xyzw(self.next(), self.next(), self.next(), self.next() + 1.5).normalize()
    }

    fn pose(&mut self) -> Pose {
        Pose::new(self.rotation(), self.vector())
    }
}

#[test]
fn models_read_back_the_same() {
    for name in MODELS {
        let m = load(name).mechanism;
        let (b, notes) = again(&m, false);
        for n in &notes {
            // Only names that were not there before; loops written by site keep their sites.
            assert!(n.attribute == "name" || n.attribute == "sites", "{name}: {n}");
        }
        assert_eq!(m.tree_position_count(), b.tree_position_count(), "{name}");
        assert_eq!(m.links().len(), b.links().len(), "{name}");
        for (x, y) in m.links().iter().zip(b.links()) {
            let named = notes.iter().any(|n| n.attribute == "name");
            assert!(
                x.name == y.name || (named && x.auxiliary),
                "{name}: {} and {}",
                x.name,
                y.name
            );
            assert_eq!(x.inertia, y.inertia, "{name} {}", x.name);
            assert_eq!(x.gravity_compensation, y.gravity_compensation, "{name} {}", x.name);
        }
        for (x, y) in m.joints().iter().zip(b.joints()) {
            same_joint(name, x, y);
        }
        assert_eq!(m.shapes().len(), b.shapes().len(), "{name}");
        for (x, y) in m.shapes().iter().zip(b.shapes()) {
            assert_eq!(x, y, "{name}");
        }
        assert_eq!(m.frames(), &b.frames()[..m.frames().len()], "{name}");
        assert_eq!(m.couplings(), b.couplings(), "{name}");
        assert_eq!(m.combination_springs(), b.combination_springs(), "{name}");
        same_servos(name, &m, &b);
        assert_eq!(m.keyframes(), b.keyframes(), "{name}");
        assert_eq!(m.gravity(), b.gravity(), "{name}");
        same_poses(name, &m, &b, &m.start_positions(), &b.start_positions());
        same_residual(name, &m, &b);
    }
}

fn same_joint(name: &str, x: &Joint, y: &Joint) {
    let what = format!("{name} {}", x.name);
    assert_eq!((&x.kind, x.parent, x.child), (&y.kind, y.parent, y.child), "{what}");
    assert_eq!((&x.reference, &x.start, &x.spring), (&y.reference, &y.start, &y.spring), "{what}");
    assert_eq!(
        (&x.damping, &x.armature, &x.limits),
        (&y.damping, &y.armature, &y.limits),
        "{what}"
    );
    assert_eq!(x.implicit, y.implicit, "{what}");
    let size =
        1.0 + x.parent_from_joint.translation.length() + x.child_from_joint.translation.length();
    for (p, q) in
        [(x.parent_from_joint, y.parent_from_joint), (x.child_from_joint, y.child_from_joint)]
    {
        assert!(p.translation.distance(q.translation) <= ROUNDING * size, "{what}");
        // The frames of a loop's ball are free to turn.
        if x.kind != JointKind::Spherical {
            assert!((p.rotation * q.rotation.conjugate()).xyz().length() <= ROUNDING, "{what}");
        }
    }
}

fn same_servos(name: &str, m: &Mechanism, b: &Mechanism) {
    assert_eq!(m.servos(), b.servos(), "{name}");
}

fn same_residual(name: &str, m: &Mechanism, b: &Mechanism) {
    let residual = |m: &Mechanism| {
        let q = m.start_positions();
        loops::constraint_residual(m, &q, &m.link_poses(&q))
    };
    let size = m.bounding_radius(&m.link_poses(&m.start_positions())).max(1.0);
    for (x, y) in residual(m).iter().zip(residual(b)) {
        assert!((x - y).abs() < 1e-13 * size, "{name}: residual {x} and {y}");
    }
}

/// A random tree of links with all joint kinds that MJCF can express, loops, couplings, tendons,
/// servos.
fn random_mechanism(seed: u64) -> Mechanism {
    let mut r = Random(SplitMix64::new(seed));
    let mut b = MechanismBuilder::new(format!("random & \"{seed}\" <m>"));
    b.set_gravity(r.vector() * 9.0);
    let n = 3 + r.pick(6);
    for i in 0..n {
        let parent = if i == 0 { LinkId::WORLD } else { LinkId::new(r.pick(i + 1)) };
        let spread = DVec3::new(1.0 + r.next() * 0.1, 1.0, 1.0 + r.next() * 0.1) * 0.1;
        let turn = DMat3::from_quat(r.rotation());
        let t = turn * DMat3::from_diagonal(spread) * turn.transpose();
        let inertia = SpatialInertia::new(1.5 + r.next(), r.vector(), (t + t.transpose()) * 0.5);
        let link = b.add_link(Link::new(format!("link <{i}>")).with_inertia(inertia));
        let kind = random_kind(&mut r, parent);
        let joint = random_joint(&mut r, format!("joint {i}"), kind, parent, link);
        b.add_joint(joint);
        b.add_frame(Frame { name: format!("site {i}"), link, link_from_frame: r.pose() });
        b.add_shape(Shape {
            name: format!("shape {i}"),
            link,
            link_from_shape: r.pose(),
            geometry: Geometry::Capsule { radius: 0.1, half_length: 0.25 },
            friction: 0.5,
            mask: forks_mechanism::ContactMask::default(),
        });
    }
    let scalars: Vec<Coordinate> = b
        .joints()
        .iter()
        .enumerate()
        .filter(|(_, j)| j.kind.has_scalar_coordinates())
        .flat_map(|(i, j)| {
            (0..j.dof()).map(move |index| Coordinate { joint: JointId::new(i), index })
        })
        .collect();
    if let [first, second, ..] = scalars[..] {
        let c = |t: Vec<(Coordinate, f64)>, offset| Combination { terms: t, offset };
        b.add_combination_spring(CombinationSpring {
            name: "spring".into(),
            combination: c(vec![(first, 0.5), (second, -2.0)], 0.25),
            stiffness: 3.0,
            damping: 0.5,
            rest: 0.125,
        });
        b.add_servo(Servo {
            name: "servo".into(),
            transmission: Transmission::Tendon,
            combination: c(vec![(first, 1.5), (second, 1.0)], 0.0),
            stiffness: 7.0,
            damping: 0.25,
        });
        b.add_coupling(Coupling {
            name: "coupling".into(),
            terms: vec![
                CouplingTerm {
                    combination: c(vec![(second, 1.0)], 0.5),
                    polynomial: vec![0.5, -2.0],
                },
                CouplingTerm {
                    combination: c(vec![(first, 1.0)], -0.25),
                    polynomial: vec![0.0, 1.0, 0.5, -0.25, 0.125],
                },
            ],
        });
        b.add_coupling(Coupling::linear("sum", vec![(first, 1.0), (second, 0.5)], 0.75));
    }
    let open = b.clone().build().unwrap();
    add_loops(&mut r, &mut b, &open);
    let q = b.clone().build().unwrap().start_positions()[..open.tree_position_count()].to_vec();
    b.add_keyframe(Keyframe { name: "key".into(), positions: q });
    b.build().unwrap()
}

fn random_kind(r: &mut Random, parent: LinkId) -> JointKind {
    match r.pick(if parent == LinkId::WORLD { 8 } else { 7 }) {
        0 => JointKind::Fixed,
        1 => JointKind::Prismatic { axis: r.vector() },
        2 => JointKind::Spherical,
        3 => JointKind::Cylindrical { axis: r.vector() },
        4 => JointKind::Universal { first: r.vector(), second: r.vector() },
        5 => JointKind::Planar,
        7 => JointKind::Free,
        _ => JointKind::Revolute { axis: r.vector() },
    }
}

fn random_joint(
    r: &mut Random,
    name: String,
    kind: JointKind,
    parent: LinkId,
    link: LinkId,
) -> Joint {
    // Some joints are described from the other side.
    let turnable = matches!(
        kind,
        JointKind::Fixed
            | JointKind::Revolute { .. }
            | JointKind::Prismatic { .. }
            | JointKind::Cylindrical { .. }
            | JointKind::Spherical
    );
    let (a, c) = if turnable && r.next() > 0.5 { (link, parent) } else { (parent, link) };
    let mut j = Joint::new(name, kind, a, c).at(r.pose()).child_at(r.pose());
    if j.kind.has_scalar_coordinates() {
        j.reference.iter_mut().for_each(|x| *x = 0.3 * r.next());
        j.start.iter_mut().for_each(|x| *x = 0.3 * r.next());
        j.limits.iter_mut().for_each(|l| *l = Some(Limit { lower: -1.0, upper: 1.5 }));
        let k: Vec<f64> = (0..j.dof()).map(|_| 5.0 + r.next()).collect();
        let mut k = JointMatrix::diagonal(&k);
        if k.dof() == 2 {
            // Couples the axes: half of what would make it indefinite.
            k.set(0, 1, 2.0 * r.next());
        }
        j = j.with_spring(k);
        j.armature.iter_mut().for_each(|x| *x = 0.1 + 0.05 * r.next());
        if let Some(s) = &mut j.spring {
            s.rest.iter_mut().for_each(|x| *x = r.next());
        }
    } else {
        let v: Vec<f64> = (0..j.dof()).map(|_| 0.5 * r.next()).collect();
        let mut q = j.start.clone();
        j.kind.integrate(&mut q, &v);
        j.start = q;
        if j.kind == JointKind::Spherical {
            j = j.with_stiffness(2.0);
        }
    }
    j.with_damping(0.25)
}

/// A weld, a point and a hinge between random links, closed in the start pose.
fn add_loops(r: &mut Random, b: &mut MechanismBuilder, open: &Mechanism) {
    let poses = open.link_poses(&open.start_positions());
    let n = open.links().len();
    for (name, kind) in [
        ("weld", JointKind::Fixed),
        ("point", JointKind::Spherical),
        ("hinge", JointKind::Revolute { axis: DVec3::Y }),
    ] {
        let (p, c) = (r.pick(n), r.pick(n));
        if p == c {
            continue;
        }
        let at = r.pose();
        let child_at = poses[c].inverse() * poses[p] * at;
        b.add_joint(
            Joint::new(name, kind, LinkId::new(p), LinkId::new(c)).at(at).child_at(child_at),
        );
    }
}

#[test]
fn random_mechanisms_move_the_same() {
    for seed in 0..60 {
        let m = random_mechanism(seed);
        let (b, _) = again(&m, false);
        // With couplings that are drawn at random some loops contradict them, and are released.
        let release = release_redundant(&m, &m.start_positions()).unwrap();
        let m = release.map_or(m, |r| r.mechanism);
        let what = format!("seed {seed}");
        let (qa, qb) = (m.start_positions(), b.start_positions());
        same_poses(&what, &m, &b, &qa, &qb);
        // The written keyframe is the start pose in the written coordinates.
        let key = &b.keyframes()[0].positions;
        for (x, y) in key.iter().zip(&qb) {
            assert!((x - y).abs() < 64.0 * f64::EPSILON, "{what}: {x} and {y}");
        }
        let (na, nb) = (m.tree_velocity_count(), b.tree_velocity_count());
        assert_eq!(na, nb, "{what}");
        // Velocity coordinates may be other axes of the same joint: compare what does not depend on
        // them.
        let trace = |m: &Mechanism, q: &[f64]| {
            let x = mass_matrix(m, q);
            let (values, _) = dense::symmetric_eigen(&x).unwrap();
            values.iter().map(|v| v.ln()).sum::<f64>()
        };
        let (ta, tb) = (trace(&m, &qa), trace(&b, &qb));
        assert!((ta - tb).abs() < 1e-9 * (1.0 + ta.abs()), "{what}: log det M {ta} and {tb}");
        let force = |m: &Mechanism, q: &[f64]| {
            passive_forces(m, q, true)[..na].iter().map(|f| f * f).sum::<f64>().sqrt()
        };
        let (fa, fb) = (force(&m, &qa), force(&b, &qb));
        assert!((fa - fb).abs() < 1e-12 * (1.0 + fa), "{what}: spring forces {fa} and {fb}");
        same_loops(&what, &m, &b);
    }
}

/// Couplings have the same residuals, and loops leave the same number of motions.
fn same_loops(what: &str, m: &Mechanism, b: &Mechanism) {
    let mobility = |m: &Mechanism| {
        let q = m.start_positions();
        let g = loops::constraint_jacobian(m, &q, &m.link_poses(&q));
        m.velocity_count() - dense::nullspace(&g, 1e-9).unwrap().0
    };
    assert_eq!(mobility(m), mobility(b), "{what}: mobility");
    let couplings = |m: &Mechanism| {
        let q = m.start_positions();
        let r = loops::constraint_residual(m, &q, &m.link_poses(&q));
        r[6 * m.forest().closures().len()..].to_vec()
    };
    for (i, (x, y)) in couplings(m).iter().zip(couplings(b)).enumerate() {
        // The first coupling stands with the factor −2 in front of y.
        let factor = if i == 0 { -2.0 } else { 1.0 };
        assert!((x / factor - y).abs() < 1e-13, "{what}: coupling {i}: {x} and {y}");
    }
}

#[test]
fn coordinates_of_scalar_joints_mean_the_same_away_from_the_start() {
    for seed in 100..130 {
        let mut r = Random(SplitMix64::new(seed));
        let mut b = MechanismBuilder::new("chain");
        let mut parent = LinkId::WORLD;
        for i in 0..5 {
            let inertia = SpatialInertia::new(1.0, r.vector(), DMat3::IDENTITY);
            let mut link = Link::new(format!("l{i}")).with_inertia(inertia);
            if i % 2 == 1 {
                link = Link::new(format!("l{i}")).auxiliary();
            }
            let link = b.add_link(link);
            let axis = r.vector();
            let kind = if i % 3 == 0 {
                JointKind::Prismatic { axis }
            } else {
                JointKind::Revolute { axis }
            };
            let joint = random_joint(&mut r, format!("j{i}"), kind, parent, link);
            b.add_joint(joint);
            parent = link;
        }
        let m = b.build().unwrap();
        let (again, notes) = again(&m, false);
        assert!(notes.is_empty(), "{notes:?}");
        let q: Vec<f64> = (0..5).map(|_| 2.0 * r.next()).collect();
        same_poses(&format!("seed {seed}"), &m, &again, &q, &q);
        for (x, y) in passive_forces(&m, &q, true).iter().zip(passive_forces(&again, &q, true)) {
            assert!((x - y).abs() < 1e-13, "seed {seed}: {x} and {y}");
        }
    }
}

#[test]
fn numbers_keep_their_bits() {
    let mut r = Random(SplitMix64::new(7));
    let mut b = MechanismBuilder::new("bits");
    let mut numbers =
        vec![1e-300, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, -1.0 / 3.0, 123456789.12345679];
    numbers.extend((0..50).map(|_| r.next() * 10f64.powi((r.next() * 40.0) as i32)));
    for (i, x) in numbers.iter().enumerate() {
        let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY);
        let l = b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
        let mut j =
            Joint::new(format!("j{i}"), JointKind::Revolute { axis: DVec3::X }, LinkId::WORLD, l);
        j = j.with_stiffness(x.abs());
        j.spring.as_mut().unwrap().rest = vec![*x];
        b.add_joint(j);
    }
    let m = b.build().unwrap();
    let (again, _) = again(&m, false);
    for (x, y) in m.joints().iter().zip(again.joints()) {
        let bits = |j: &Joint| {
            let s = j.spring.as_ref().unwrap();
            (s.stiffness.get(0, 0).to_bits(), s.rest[0].to_bits())
        };
        assert_eq!(bits(x), bits(y), "{}", x.name);
    }
}

#[test]
fn what_mjcf_cannot_hold_is_refused_by_name() {
    let body =
        || Link::new("body").with_inertia(SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY));
    let refused = |joint: &dyn Fn(LinkId) -> Joint| {
        let mut b = MechanismBuilder::new("m");
        let l = b.add_link(body());
        b.add_joint(joint(l));
        write_mjcf(&b.build().unwrap()).unwrap_err().to_string()
    };
    let general = refused(&|l| {
        let t = forks_import::mechanism::lie::Twist::new(DVec3::X, DVec3::X);
        Joint::new("screw", JointKind::General { subspace: vec![t] }, LinkId::WORLD, l)
    });
    assert!(general.contains("joint 'screw'") && general.contains("screws"), "{general}");
    let anisotropic = refused(&|l| {
        Joint::new("ball", JointKind::Spherical, LinkId::WORLD, l)
            .with_spring(JointMatrix::diagonal(&[1.0, 2.0, 3.0]))
    });
    assert!(
        anisotropic.contains("joint 'ball'") && anisotropic.contains("spring"),
        "{anisotropic}"
    );
    let mut b = MechanismBuilder::new("m");
    let l = b.add_link(Link::new("light"));
    b.add_joint(Joint::new("hinge", JointKind::Revolute { axis: DVec3::X }, LinkId::WORLD, l));
    let massless = write_mjcf(&b.build().unwrap()).unwrap_err();
    assert!(matches!(massless, WriteError::Massless { ref link } if link == "light"), "{massless}");
}

#[test]
fn files_are_replaced_whole() {
    let directory = std::env::temp_dir().join(format!("forks-import-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("model.xml");
    std::fs::write(&path, "old").unwrap();
    let m = load("half_cheetah/half_cheetah.xml").mechanism;
    let notes = save_mjcf(&m, &path).unwrap();
    assert!(notes.iter().all(|n| n.effect == Effect::Approximated));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, write_mjcf(&m).unwrap().0);
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else is left behind");
    let below_a_file = path.join("place.xml");
    assert!(matches!(save_mjcf(&m, &below_a_file), Err(WriteError::Io(_))));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn excluded_bodies_and_masks_are_read_and_written() {
    let text = "<mujoco><default><geom contype='2'/></default><worldbody>\
        <body name='a'><joint name='a'/><geom name='p' size='.1' conaffinity='-1'/></body>\
        <body name='b' pos='1 0 0'><joint name='b'/><geom name='q' size='.1' contype='1'/></body>\
        <body name='c' pos='2 0 0'><joint name='c'/><geom name='r' size='.1' contype='0' \
        conaffinity='0'/></body>\
        </worldbody><contact><pair geom1='p' geom2='q'/><exclude name='x' body1='b' body2='world'/>\
        <exclude body1='a' body2='c'/></contact></mujoco>";
    let first = parse_mjcf(text, &ImportOptions::default()).unwrap();
    assert!(first.notes.iter().any(|n| n.element == "contact/pair"), "{:?}", first.notes);
    let second = again(&first.mechanism, false).0;
    for m in [&first.mechanism, &second] {
        let link = |name: &str| m.find_link(name).unwrap();
        let expected = [[link("b"), LinkId::WORLD], [link("a"), link("c")]];
        assert_eq!(m.exclusions(), expected);
        let masks: Vec<_> = m.shapes().iter().map(|s| (s.mask.own, s.mask.touches)).collect();
        assert_eq!(masks, [(2, u32::MAX), (1, 1)]);
        assert!(
            !m.links_may_touch(link("c"), link("a")) && m.links_may_touch(link("c"), link("b"))
        );
    }
    let unknown = text.replace("body2='c'", "body2='d'");
    let error = parse_mjcf(&unknown, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("\"d\""), "{error}");
}
