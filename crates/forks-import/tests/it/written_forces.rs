//! Forces that MJCF holds in another form than a mechanism: written, read again, and still the
//! same.

use crate::support;

use forks_import::mechanism::{
    Bushing, Combination, CombinationSpring, Coordinate, Coupling, Joint, JointId, JointKind,
    JointMatrix, Link, LinkId, Mechanism, MechanismBuilder, Servo, Transmission,
    kinematics::loops,
    lie::{
        Pose, SpatialInertia, SymMat6, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_import::{
    Effect, ImportOptions, Note, parse_mjcf,
    write::{WriteOptions, write_mjcf, write_mjcf_with},
};
use support::{mass_matrix, passive_forces, pose_of};

fn body(name: &str) -> Link {
    Link::new(name).with_inertia(SpatialInertia::new(1.0, DVec3::X * 0.1, DMat3::IDENTITY * 0.02))
}

fn again(m: &Mechanism) -> (Mechanism, Vec<Note>) {
    let (text, notes) = write_mjcf(m).unwrap_or_else(|e| panic!("{e}"));
    let import = parse_mjcf(&text, &ImportOptions::default());
    (import.unwrap_or_else(|e| panic!("{e}\n{text}")).mechanism, notes)
}

/// Damping forces of joints and tendons at velocities `v` of the tree.
fn damping_forces(m: &Mechanism, v: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; v.len()];
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        let range = m.velocity_range(id);
        for (a, k) in range.clone().enumerate().filter(|(_, k)| *k < v.len()) {
            f[k] -= range
                .clone()
                .enumerate()
                .map(|(b, l)| m.joint(id).damping.get(a, b) * v[l])
                .sum::<f64>();
        }
    }
    for s in m.combination_springs() {
        let rate: f64 = s.combination.terms.iter().map(|(c, a)| a * v[m.velocity_index(*c)]).sum();
        s.combination
            .terms
            .iter()
            .for_each(|(c, a)| f[m.velocity_index(*c)] -= s.damping * a * rate);
    }
    f
}

fn close(what: &str, x: &[f64], y: &[f64], scale: f64) {
    assert_eq!(x.len(), y.len(), "{what}");
    for (k, (x, y)) in x.iter().zip(y).enumerate() {
        assert!((x - y).abs() < 64.0 * f64::EPSILON * scale, "{what} {k}: {x} and {y}");
    }
}

#[test]
fn matrices_that_couple_axes_become_tendons() {
    let stiffness = JointMatrix::new(2, vec![30.0, 11.0, 11.0, 20.0]);
    let damping = JointMatrix::new(2, vec![0.5, -0.25, -0.25, 0.75]);
    for (kind, turned) in [
        (JointKind::Universal { first: DVec3::X, second: DVec3::Y }, false),
        (JointKind::Cylindrical { axis: DVec3::new(0.6, 0.0, 0.8) }, false),
        (JointKind::Cylindrical { axis: DVec3::Z }, true),
    ] {
        let mut b = MechanismBuilder::new("coupled");
        let l = b.add_link(body("body"));
        let (p, c) = if turned { (l, LinkId::WORLD) } else { (LinkId::WORLD, l) };
        let mut j = Joint::new("joint", kind, p, c)
            .at(Pose::new(DQuat::from_rotation_x(0.3), DVec3::new(0.1, 0.2, 0.3)))
            .with_spring(stiffness.clone());
        j.spring.as_mut().unwrap().rest = vec![0.2, -0.1];
        j.damping = damping.clone();
        j.start = vec![0.05, 0.15];
        b.add_joint(j);
        let m = b.build().unwrap();
        let (read, notes) = again(&m);
        assert!(
            notes.iter().any(|n| n.attribute == "stiffness" && n.effect == Effect::Approximated)
        );
        for q in [[0.0, 0.0], [0.4, -0.3], [-1.0, 0.7]] {
            close("springs", &passive_forces(&m, &q, true), &passive_forces(&read, &q, true), 60.0);
            close("dampers", &damping_forces(&m, &q), &damping_forces(&read, &q), 2.0);
            let (x, y) = (mass_matrix(&m, &q), mass_matrix(&read, &q));
            for (r, c) in [(0, 0), (0, 1), (1, 1)] {
                close("mass", &[x[(r, c)]], &[y[(r, c)]], 2.0);
            }
        }
    }
}

/// A four-bar with springs in all its hinges, its last joint turned or not, with a slide in the
/// loop.
fn four_bar(turned: bool, tilt: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("four-bar");
    let names = ["crank", "coupler", "rocker"];
    let links = names.map(|n| b.add_link(body(n)));
    let hinge = |name: &str, p: LinkId, c: LinkId, at: DVec3| {
        let axis = DQuat::from_rotation_x(if name == "b" { tilt } else { 0.0 }) * DVec3::Y;
        let mut j = Joint::new(name, JointKind::Revolute { axis }, p, c)
            .at(Pose::from_translation(at))
            .with_stiffness(3.0)
            .with_damping(0.25);
        j.spring.as_mut().unwrap().rest = vec![0.3];
        j
    };
    b.add_joint(hinge("a", LinkId::WORLD, links[0], DVec3::ZERO));
    b.add_joint(hinge("b", links[0], links[1], DVec3::X * 0.4));
    let slide = JointKind::Prismatic { axis: DVec3::X };
    b.add_joint(
        Joint::new("s", slide, links[2], LinkId::WORLD)
            .at(Pose::from_translation(DVec3::new(0.0, 0.0, -0.3)))
            .with_stiffness(50.0),
    );
    let (p, c) = if turned { (links[2], links[1]) } else { (links[1], links[2]) };
    let mut last = hinge("c", p, c, DVec3::ZERO);
    let (in_coupler, in_rocker) = (Pose::from_translation(DVec3::X * 0.9), Pose::IDENTITY);
    (last.parent_from_joint, last.child_from_joint) =
        if turned { (in_rocker, in_coupler) } else { (in_coupler, in_rocker) };
    b.add_joint(last);
    b.build().unwrap()
}

/// Energy of all springs at positions of the tree, closing joints included.
fn energy(m: &Mechanism, tree: &[f64]) -> f64 {
    let mut q = m.start_positions();
    q[..tree.len()].copy_from_slice(tree);
    m.fit_closures(&mut q);
    let mut sum = 0.0;
    for i in 0..m.joints().len() {
        let Some(s) = &m.joints()[i].spring else { continue };
        let x = q[m.position_range(JointId::new(i)).start] - s.rest[0];
        sum += 0.5 * s.stiffness.get(0, 0) * x * x;
    }
    for s in m.combination_springs() {
        let x = loops::combination_value(m, &s.combination, &q) - s.rest;
        sum += 0.5 * s.stiffness * x * x;
    }
    sum
}

#[test]
fn springs_of_closing_hinges_act_on_the_other_angles() {
    for turned in [false, true] {
        let m = four_bar(turned, 0.0);
        assert_eq!(m.forest().closures().len(), 1);
        let (read, notes) = again(&m);
        assert!(notes.iter().any(|n| n.element == "joint 'c'" && n.attribute == "spring"));
        assert_eq!(read.combination_springs().len(), 1);
        assert_eq!(read.combination_springs()[0].damping, 0.25);
        // Wherever the loop is, closed or not, the angles add up.
        for q in [[0.0, 0.0, 0.0], [0.7, -0.4, 0.1], [-0.5, 1.1, -0.2]] {
            // The slide hangs between rocker and world the other way round: its coordinate is the
            // same.
            close("energy", &[energy(&m, &q)], &[energy(&read, &q)], 30.0);
        }
    }
}

#[test]
fn other_users_of_closing_hinges_act_on_the_other_angles() {
    let m = four_bar(false, 0.0);
    let mut b = MechanismBuilder::from_mechanism(&m);
    let (first, last) = (Coordinate::of(JointId::new(0)), Coordinate::of(JointId::new(3)));
    let both = |offset| Combination { terms: vec![(last, 2.0), (first, -1.0)], offset };
    b.add_servo(Servo {
        name: "servo".into(),
        transmission: Transmission::Joint,
        combination: Combination { terms: vec![(last, 1.0)], offset: 0.0 },
        stiffness: 4.0,
        damping: 0.5,
    });
    b.add_combination_spring(CombinationSpring {
        name: "spring".into(),
        combination: both(0.25),
        stiffness: 3.0,
        damping: 0.0,
        rest: 0.125,
    });
    b.add_coupling(Coupling::linear("coupling", vec![(last, 1.0), (first, 0.5)], 0.1));
    let m = b.build().unwrap();
    let (read, _) = again(&m);
    let at = |m: &Mechanism, tree: &[f64]| {
        let mut q = m.start_positions();
        q[..3].copy_from_slice(tree);
        m.fit_closures(&mut q);
        let r = loops::constraint_residual(m, &q, &m.link_poses(&q));
        let servo = loops::combination_value(m, &m.servos()[0].combination, &q);
        (energy(m, tree), servo, *r.last().unwrap())
    };
    let start = |m: &Mechanism| at(m, &[0.0; 3]);
    for q in [[0.7, -0.4, 0.1], [-0.5, 1.1, -0.2]] {
        let (x, y) = (at(&m, &q), at(&read, &q));
        close("energy", &[x.0], &[y.0], 30.0);
        // A servo's target is counted from where its tendon is at the start.
        close("servo", &[x.1 - start(&m).1], &[y.1 - start(&read).1], 4.0);
        close("coupling", &[x.2], &[y.2], 4.0);
    }
}

#[test]
fn general_joints_that_are_hinges_or_slides() {
    let point = DVec3::new(0.1, 0.2, -0.3);
    let axis = DVec3::new(0.0, 0.6, 0.8);
    let hinge = Twist::new(-axis.cross(point), axis);
    let slides = vec![Twist::new(DVec3::X, DVec3::ZERO), Twist::new(axis, DVec3::ZERO)];
    for (subspace, n) in [(vec![hinge], 1), (slides, 2)] {
        let mut b = MechanismBuilder::new("general");
        let l = b.add_link(body("body"));
        let kind = JointKind::General { subspace };
        let mut j = Joint::new("joint", kind, LinkId::WORLD, l)
            .at(Pose::new(DQuat::from_rotation_z(0.4), DVec3::Y))
            .child_at(Pose::from_translation(DVec3::Z));
        j.start = vec![0.2; n];
        b.add_joint(j.with_stiffness(5.0));
        let m = b.build().unwrap();
        let (read, _) = again(&m);
        for x in [0.0, 0.2, -0.9] {
            let q = vec![x; n];
            let (a, b) = (pose_of(&m, &q, "body"), pose_of(&read, &q, "body"));
            close("place", &a.translation.to_array(), &b.translation.to_array(), 2.0);
            close("turn", &a.rotation.to_array(), &b.rotation.to_array(), 1.0);
            close("springs", &passive_forces(&m, &q, true), &passive_forces(&read, &q, true), 5.0);
        }
    }
}

#[test]
fn what_cannot_be_held_is_refused_or_noted() {
    let pose = Pose::from_translation(DVec3::X);
    let free = |change: &dyn Fn(&mut MechanismBuilder, LinkId)| {
        let mut b = MechanismBuilder::new("m");
        let l = b.add_link(body("body"));
        change(&mut b, l);
        b.build().unwrap()
    };
    let bushing = free(&|b, l| {
        b.add_joint(Joint::new("hinge", JointKind::Revolute { axis: DVec3::X }, LinkId::WORLD, l));
        b.add_bushing(Bushing {
            name: "rubber".into(),
            link_a: LinkId::WORLD,
            a_from_bushing: pose,
            link_b: l,
            b_from_bushing: pose,
            stiffness: SymMat6::from_diagonal([1.0; 6]),
            damping: SymMat6::from_diagonal([0.0; 6]),
        });
    });
    let ball = |j: Joint| {
        free(&move |b, l| {
            b.add_joint(Joint { child: l, ..j.clone() });
        })
    };
    let spherical = || Joint::new("ball", JointKind::Spherical, LinkId::WORLD, LinkId::WORLD);
    let soft = ball(spherical().with_spring(JointMatrix::diagonal(&[1.0, 2.0, 3.0])));
    let mut away = spherical().with_stiffness(2.0);
    away.spring.as_mut().unwrap().rest = vec![0.0, 1.0, 0.0, 0.0];
    let planar = Joint::new("plane", JointKind::Planar, LinkId::WORLD, LinkId::WORLD);
    for (m, element, attribute) in [
        (bushing, "bushing 'rubber'", ""),
        (soft, "joint 'ball'", "spring"),
        (ball(away), "joint 'ball'", "spring"),
        (ball(planar.with_stiffness(2.0)), "joint 'plane'", "spring"),
        (four_bar(false, 0.1), "joint 'c'", "spring"),
    ] {
        let e = write_mjcf(&m).unwrap_err().to_string();
        assert!(e.contains(element) && !e.contains('\n'), "{e}");
        let (text, notes) =
            write_mjcf_with(&m, &WriteOptions { lenient: true, ..Default::default() }).unwrap();
        let note = notes.iter().find(|n| n.element == element && n.attribute == attribute);
        let note = note.unwrap_or_else(|| panic!("no note about {element} in {notes:?}"));
        assert_eq!(note.effect, Effect::Ignored);
        parse_mjcf(&text, &ImportOptions::default()).unwrap();
    }
}

/// Pinocchio 4.1 keeps the joints of one body of the world only, and wants inertia of all bodies.
#[test]
fn one_root_for_all() {
    let m = four_bar(false, 0.0);
    let options = WriteOptions { one_root: true, ..Default::default() };
    let (text, notes) = write_mjcf_with(&m, &options).unwrap();
    assert!(notes.iter().any(|n| n.attribute == "one_root" && n.effect == Effect::Approximated));
    let read = parse_mjcf(&text, &ImportOptions::default()).unwrap().mechanism;
    let roots =
        |m: &Mechanism| m.forest().edges().iter().filter(|e| e.inner == LinkId::WORLD).count();
    assert_eq!((roots(&m), roots(&read)), (2, 1));
    assert_eq!(text.matches("<inertial").count(), read.links().len() - 1);
    let q = [0.3, -0.2, 0.1];
    close("energy", &[energy(&m, &q)], &[energy(&read, &q)], 30.0);
    for name in ["crank", "coupler", "rocker"] {
        let (a, b) = (pose_of(&m, &q, name), pose_of(&read, &q, name));
        close("place", &a.translation.to_array(), &b.translation.to_array(), 2.0);
    }
    // One body of the world needs no other.
    let (text, notes) = write_mjcf_with(&read, &options).unwrap();
    assert_eq!(text.matches("<body").count(), 4);
    assert!(notes.iter().all(|n| n.attribute != "one_root"));
}
