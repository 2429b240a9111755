//! Every error of the builder, with the element and the value that it names.

use forks_mechanism::{
    BuildError, Bushing, Combination, CombinationSpring, Coordinate, Coupling, CouplingTerm, Frame,
    Geometry, Joint, JointId, JointKind, JointMatrix, JointSpring, Keyframe, Limit, Link, LinkId,
    MechanismBuilder, Servo, Shape, Transmission,
    lie::{
        Pose, SpatialInertia, SymMat6, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
};

const ARM: LinkId = LinkId::new(1);

fn hinge() -> Joint {
    Joint::new("elbow", JointKind::Revolute { axis: DVec3::Z }, LinkId::WORLD, ARM)
}

/// A link `arm` on a given joint.
fn with_joint(joint: Joint) -> MechanismBuilder {
    let mut b = MechanismBuilder::new("m");
    b.add_link(Link::new("arm"));
    b.add_joint(joint);
    b
}

fn error(b: MechanismBuilder) -> BuildError {
    b.build().expect_err("a bad mechanism was accepted")
}

fn joint_error(change: impl Fn(&mut Joint)) -> BuildError {
    let mut j = hinge();
    change(&mut j);
    error(with_joint(j))
}

fn inertia_error(mass: f64, moments: DVec3) -> BuildError {
    let mut b = with_joint(hinge());
    let i = SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments));
    b.links_mut()[1].inertia = i;
    error(b)
}

/// The message contains all parts.
fn says(e: &BuildError, parts: &[&str]) {
    let message = e.to_string();
    for p in parts {
        assert!(message.contains(p), "'{message}' does not say '{p}'");
    }
}

#[test]
fn a_good_mechanism_is_built() {
    let m = with_joint(hinge()).build().unwrap();
    assert_eq!((m.name(), m.links().len(), m.velocity_count()), ("m", 2, 1));
    assert_eq!(m.gravity(), DVec3::new(0.0, 0.0, -9.81));
    let again = MechanismBuilder::from_mechanism(&m).build().unwrap();
    assert_eq!((again.joints(), again.links()), (m.joints(), m.links()));
}

#[test]
fn duplicate_names() {
    let mut b = with_joint(hinge());
    b.add_link(Link::new("arm"));
    let e = error(b);
    assert_eq!(e, BuildError::DuplicateName { kind: "link", name: "arm".into() });
    let mut b = with_joint(hinge());
    for _ in 0..2 {
        b.add_frame(Frame { name: "tip".into(), link: ARM, link_from_frame: Pose::IDENTITY });
    }
    says(&error(b), &["frame", "'tip'"]);
}

#[test]
fn unknown_elements() {
    let e = joint_error(|j| j.child = LinkId::new(7));
    says(&e, &["joint 'elbow'", "link 7", "only 2"]);
    assert!(matches!(e, BuildError::UnknownElement { index: 7, count: 2, .. }));
    let mut b = with_joint(hinge());
    b.add_coupling(coupling(Coordinate::of(JointId::new(5))));
    says(&error(b), &["coupling 'gear'", "joint 5", "only 1"]);
    let mut b = with_joint(hinge());
    b.add_frame(Frame {
        name: "tip".into(),
        link: LinkId::new(9),
        link_from_frame: Pose::IDENTITY,
    });
    says(&error(b), &["frame 'tip'", "link 9"]);
}

fn coupling(c: Coordinate) -> Coupling {
    let combination = Combination { terms: vec![(c, 1.0)], offset: 0.0 };
    let terms = vec![CouplingTerm { combination, polynomial: vec![0.0, 1.0] }];
    Coupling { name: "gear".into(), terms }
}

#[test]
fn numbers_that_are_not_finite() {
    let e = joint_error(|j| j.start[0] = f64::NAN);
    says(&e, &["joint 'elbow'", "start", "NaN"]);
    says(&joint_error(|j| j.armature[0] = f64::INFINITY), &["armature", "inf"]);
    says(&joint_error(|j| j.reference[0] = f64::NAN), &["reference"]);
    says(&joint_error(|j| j.damping.set(0, 0, f64::NAN)), &["damping"]);
    says(&joint_error(|j| j.parent_from_joint.translation.y = f64::NAN), &["position"]);
    says(&inertia_error(f64::NAN, DVec3::ONE), &["link 'arm'", "mass", "NaN"]);
    says(&inertia_error(1.0, DVec3::new(1.0, f64::INFINITY, 1.0)), &["link 'arm'", "inertia"]);
    let mut b = with_joint(hinge());
    b.set_gravity(DVec3::new(0.0, f64::NAN, 0.0));
    says(&error(b), &["gravity", "NaN"]);
    let mut b = with_joint(hinge());
    let mut c = coupling(Coordinate::of(JointId::new(0)));
    c.terms[0].polynomial.push(f64::INFINITY);
    b.add_coupling(c);
    says(&error(b), &["coupling 'gear'", "polynomial"]);
}

#[test]
fn negative_numbers() {
    let e = joint_error(|j| j.spring = Some(spring(-3.0)));
    says(&e, &["joint 'elbow'", "stiffness", "-3", "negative"]);
    says(&joint_error(|j| j.damping.set(0, 0, -2.0)), &["joint 'elbow'", "damping", "-2"]);
    says(&joint_error(|j| j.armature[0] = -1.0), &["armature", "-1"]);
    says(&inertia_error(-0.5, DVec3::ONE), &["link 'arm'", "mass", "-0.5"]);
    let mut b = with_joint(hinge());
    b.add_servo(Servo {
        name: String::new(),
        transmission: Transmission::Joint,
        combination: Combination::of(JointId::new(0)),
        stiffness: -1.0,
        damping: 0.0,
    });
    says(&error(b), &["servo #0", "stiffness", "-1"]);
    let mut b = with_joint(hinge());
    b.add_combination_spring(CombinationSpring {
        name: "tendon".into(),
        combination: Combination::of(JointId::new(0)),
        stiffness: 1.0,
        damping: -4.0,
        rest: 0.0,
    });
    says(&error(b), &["spring 'tendon'", "damping", "-4"]);
    for (friction, radius, word) in [(-1.0, 1.0, "friction"), (1.0, -1.0, "size")] {
        let mut b = with_joint(hinge());
        b.add_shape(Shape {
            name: "pad".into(),
            link: ARM,
            link_from_shape: Pose::IDENTITY,
            geometry: Geometry::Sphere { radius },
            friction,
            mask: forks_mechanism::ContactMask::default(),
        });
        says(&error(b), &["shape 'pad'", word, "-1"]);
    }
}

fn spring(k: f64) -> JointSpring {
    JointSpring { stiffness: JointMatrix::isotropic(1, k), rest: vec![0.0] }
}

#[test]
fn inertias_that_no_body_has() {
    let e = inertia_error(1.0, DVec3::new(1.0, 1.0, 3.0));
    says(&e, &["link 'arm'", "1, 1, 3", "A + B >= C"]);
    let e = inertia_error(1.0, DVec3::new(-1.0, 1.0, 1.0));
    says(&e, &["link 'arm'", "negative principal moment -1"]);
    assert!(matches!(e, BuildError::BadInertia { .. }));
    // Rounded to six digits a flat body may miss the bound by as much.
    let mut b = with_joint(hinge());
    let flat = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.000_001));
    b.links_mut()[1].inertia = SpatialInertia::new(1.0, DVec3::ZERO, flat);
    assert!(b.build().is_ok());
}

#[test]
fn degenerate_axes() {
    let kind = JointKind::Revolute { axis: DVec3::ZERO };
    let e = joint_error(|j| j.kind = kind.clone());
    says(&e, &["joint 'elbow'", "axis", "(0 0 0)"]);
    let parallel = JointKind::Universal { first: DVec3::X, second: DVec3::X * -2.0 };
    let e = error(with_joint(Joint::new("u", parallel, LinkId::WORLD, ARM)));
    says(&e, &["joint 'u'", "second axis", "parallel"]);
    let t = Twist::new(DVec3::X, DVec3::Y);
    let dependent = JointKind::General { subspace: vec![t, t * 2.0] };
    let e = error(with_joint(Joint::new("g", dependent, LinkId::WORLD, ARM)));
    says(&e, &["joint 'g'", "subspace", "rank 1 with 2 columns"]);
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    says(&joint_error(|j| j.child_from_joint.rotation = zero), &["quaternion", "length 0"]);
    let mut ball = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, ARM);
    ball.start = vec![0.0; 4];
    says(&error(with_joint(ball)), &["joint 'ball'", "start", "length 0"]);
}

#[test]
fn axes_and_quaternions_are_scaled_to_unit_length() {
    let mut j = hinge();
    j.kind = JointKind::Revolute { axis: DVec3::Z * 3.0 };
    j.parent_from_joint.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    let m = with_joint(j).build().unwrap();
    assert_eq!(m.joints()[0].kind, JointKind::Revolute { axis: DVec3::Z });
    assert_eq!(m.joints()[0].parent_from_joint, Pose::IDENTITY);
    let mut ball = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, ARM);
    ball.start = vec![0.0, 0.0, 5.0, 0.0];
    let m = with_joint(ball).build().unwrap();
    assert_eq!(m.start_positions(), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn lists_of_the_wrong_length() {
    let e = joint_error(|j| j.start.push(0.0));
    says(&e, &["joint 'elbow'", "start", "2 entries", "expected 1"]);
    assert!(matches!(e, BuildError::WrongLength { found: 2, expected: 1, .. }));
    says(&joint_error(|j| j.reference.clear()), &["reference", "0 entries"]);
    says(&joint_error(|j| j.armature.push(0.0)), &["armature"]);
    says(&joint_error(|j| j.limits.clear()), &["limits"]);
    says(&joint_error(|j| j.damping = JointMatrix::zeros(3)), &["damping", "3 entries"]);
    let wide = JointSpring { stiffness: JointMatrix::zeros(2), rest: vec![0.0] };
    says(&joint_error(|j| j.spring = Some(wide.clone())), &["stiffness", "2 entries"]);
    let seven = JointKind::General { subspace: vec![Twist::unit(0); 7] };
    let e = error(with_joint(Joint::new("g", seven, LinkId::WORLD, ARM)));
    says(&e, &["joint 'g'", "subspace", "7 entries"]);
    let mut b = with_joint(hinge());
    b.add_keyframe(Keyframe { name: "home".into(), positions: vec![0.0; 3] });
    says(&error(b), &["keyframe 'home'", "3 entries", "expected 1"]);
}

#[test]
fn matrices_that_are_not_positive_semi_definite() {
    let ball = |rows: [f64; 9]| {
        let mut j = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, ARM);
        j.spring = Some(JointSpring {
            stiffness: JointMatrix::new(3, rows.to_vec()),
            rest: vec![1.0, 0.0, 0.0, 0.0],
        });
        with_joint(j)
    };
    let e = error(ball([1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
    says(&e, &["joint 'ball'", "stiffness", "negative eigenvalues"]);
    assert!(matches!(e, BuildError::NotPositiveSemiDefinite { value, .. } if value < -0.99));
    let e = error(ball([1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
    assert!(matches!(e, BuildError::NotPositiveSemiDefinite { value, .. } if value == 0.5));
    assert!(ball([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]).build().is_ok());
    let mut b = with_joint(hinge());
    b.add_bushing(bushing(LinkId::WORLD, -1.0));
    says(&error(b), &["bushing 'pad'", "stiffness", "-1"]);
}

fn bushing(link_a: LinkId, k: f64) -> Bushing {
    Bushing {
        name: "pad".into(),
        link_a,
        a_from_bushing: Pose::IDENTITY,
        link_b: ARM,
        b_from_bushing: Pose::IDENTITY,
        stiffness: SymMat6::from_diagonal([k; 6]),
        damping: SymMat6::from_diagonal([0.0; 6]),
    }
}

#[test]
fn self_loops() {
    says(&joint_error(|j| j.parent = ARM), &["joint 'elbow'", "'arm' to itself"]);
    let mut b = with_joint(hinge());
    b.add_bushing(bushing(ARM, 1.0));
    says(&error(b), &["bushing 'pad'", "'arm' to itself"]);
}

#[test]
fn coordinates_that_are_no_numbers() {
    let mut b = with_joint(Joint::new("ball", JointKind::Spherical, LinkId::WORLD, ARM));
    b.add_coupling(coupling(Coordinate::of(JointId::new(0))));
    says(&error(b), &["coupling 'gear'", "coordinate 0", "joint 'ball'"]);
    let mut b = with_joint(hinge());
    b.add_coupling(coupling(Coordinate { joint: JointId::new(0), index: 1 }));
    says(&error(b), &["coordinate 1 of joint 'elbow'"]);
}

#[test]
fn empty_ranges() {
    let limited = |lower, upper| joint_error(move |j| j.limits[0] = Some(Limit { lower, upper }));
    says(&limited(1.0, -1.0), &["joint 'elbow'", "[1, -1]"]);
    says(&limited(f64::NAN, 1.0), &["joint 'elbow'", "[NaN, 1]"]);
}

/// Elements without a name are called by their index.
#[test]
fn nameless_elements() {
    says(&joint_error(|j| (j.name = String::new(), j.start.clear()).1), &["joint #0"]);
}
