//! What is drawn of mechanisms with cables.

use forks_import::{ImportOptions, load_mjcf};
use forks_io::animation::{Animation, Colour, End, Segment, VisualShape};
use forks_lie::{
    Pose, SpatialInertia, SymMat6, Twist,
    glam::{DMat3, DVec3},
};
use forks_mechanism::{
    Bushing, Joint, JointId, JointKind, JointMatrix, JointSpring, Link, LinkId, MechanismBuilder,
};
use forks_sim::scene::{Fidelity, Scene, spec::SceneSpec};

use crate::{Picture, Recording, drawn::PALE};

const FINGER: &str = r#"<mujoco><worldbody><site name="root" pos="-0.02 0 0.01"/>
    <geom name="wheel" type="cylinder" size="0.005 0.01" euler="90 0 0" mass="0" contype="0"
        conaffinity="0"/>
    <body name="near"><joint name="a" axis="0 1 0" stiffness="0.2"/>
        <geom type="capsule" size="0.005" fromto="0 0 0 0.04 0 0"/><site name="mid" pos="0.02 0 0.01"/>
        <body name="tip" pos="0.04 0 0"><joint name="b" axis="0 1 0" stiffness="0.2"/>
            <geom type="capsule" size="0.005" fromto="0 0 0 0.03 0 0"/>
            <site name="end" pos="0.02 0 0.01"/></body></body></worldbody>
    <tendon><spatial name="string" stiffness="500"><site site="root"/><geom geom="wheel"/>
        <site site="mid"/><site site="end"/></spatial></tendon></mujoco>"#;

const SCENE: &str = r#"
    title = "A finger with a string"
    [[mechanism]]
    name = "finger"
    file = "finger.xml"
    effectors = ["tip"]
    position = [1, 2, 3]
"#;

#[test]
fn cables_are_drawn_through_their_points() {
    let folder = std::env::temp_dir().join(format!("forks-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("finger.xml"), FINGER).expect("a model");
    let spec = SceneSpec::parse(SCENE, "finger.toml").expect("a scene");
    let scene = Scene::build(spec, &folder, Fidelity::Reduced).expect("it can be built");
    let recording = Recording::new(&scene);
    let colour = Some(Colour::palette(3));
    let all = &recording.animation.segments;
    let drawn: Vec<&Segment> = all.iter().filter(|s| s.colour == colour).collect();
    let body = |name: &str| {
        recording.animation.bodies.iter().position(|b| b.name == name).expect("a body")
    };
    let (near, tip) = (body("finger/near"), body("finger/tip"));
    let point = DVec3::new(0.02, 0.0, 0.01);
    let ends: Vec<[End; 2]> = drawn.iter().map(|s| s.ends).collect();
    let root = End::world(DVec3::new(0.98, 2.0, 3.01));
    assert_eq!(ends, [[root, End::of(near, point)], [End::of(near, point), End::of(tip, point)]]);
    assert!(drawn.iter().all(|s| s.radius.is_some_and(|r| r > 0.0)));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// A ball with a look and one without, on a table whose look is a mesh file.
const LOOKS: &str = r#"<mujoco><asset><mesh file="table.obj"/><mesh name="lost" file="broken.obj"/>
    </asset><worldbody><geom type="mesh" mesh="table" rgba="1 0 0 1"/>
    <body name="a"><joint/><geom name="shown" size="0.1" rgba="0 1 0 1"/>
    <geom size="0.2" group="3"/><body name="b"><joint/><geom size="0.3" group="3"/></body></body>
    <body name="c"><joint/><geom size="0.1"/><geom type="mesh" mesh="lost" mass="0"/></body>
    </worldbody></mujoco>"#;

/// A slider and a hinge with springs, a ball joint, and a loop from the ground to the last link.
const LOOP: &str = r#"<mujoco><worldbody>
    <body name="cart"><joint name="s" type="slide" axis="1 0 0" stiffness="50" springref="0.2"/>
        <geom size="0.1"/>
        <body name="arm" pos="0 0 1"><joint name="h" axis="0 1 0" stiffness="3" springref="30"/>
            <geom size="0.1"/>
            <body name="end" pos="0 0 1"><joint type="ball"/><geom size="0.1"/></body></body></body>
    </worldbody><equality><connect name="pin" body1="end" anchor="0 0 0.5"/></equality></mujoco>"#;

#[test]
fn joints_have_their_axes_springs_and_loops() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.xml");
    std::fs::write(&path, LOOP).expect("a model");
    let m = load_mjcf(&path, &ImportOptions::default()).expect("a model").mechanism;
    let picture = Picture::new("loop", &m, &m.link_poses(&m.start_positions()));
    let found: Vec<_> = picture
        .animation
        .joints
        .iter()
        .map(|j| (j.name.as_str(), j.sides.map(|s| s.body), j.axes.len(), j.closes))
        .collect();
    let [cart, arm, end] = [Some(0), Some(1), Some(2)];
    assert_eq!(found[..2], [("s", [None, cart], 1, false), ("h", [cart, arm], 1, false)]);
    assert_eq!(found.len(), 3, "a ball joint has no axis: {found:?}");
    let (_, sides, axes, closes) = found[2];
    assert!(closes && axes == 0 && sides.contains(&end) && sides.contains(&None), "{found:?}");
    let spring = |j: usize| picture.animation.joints[j].axes[0].spring.expect("a spring");
    assert_eq!([spring(0).stiffness, spring(0).rest], [50.0, 0.2]);
    assert!((spring(1).rest - 30f64.to_radians()).abs() < 1e-15);
}

#[test]
fn springs_of_ball_joints_and_bushings_are_whole() {
    let mut b = MechanismBuilder::new("balls");
    let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY);
    let [one, two] = ["one", "two"].map(|n| b.add_link(Link::new(n).with_inertia(inertia)));
    let at = Pose::exp(Twist::from_array([0.3, -0.1, 0.2, 0.4, 0.1, -0.7]));
    let stiffness = JointMatrix::new(3, vec![4.0, 1.0, 0.0, 1.0, 3.0, 0.5, 0.0, 0.5, 2.0]);
    let mut ball = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, one).at(at);
    let turned = Pose::exp(Twist::from_array([0.0, 0.0, 0.0, 0.5, -0.3, 0.2])).rotation;
    let rest = vec![turned.w, turned.x, turned.y, turned.z];
    ball.spring = Some(JointSpring { stiffness, rest: rest.clone() });
    b.add_joint(ball);
    b.add_joint(Joint::new("free", JointKind::Free, LinkId::WORLD, two));
    let mut full = SymMat6::from_diagonal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    full.lower[3] = 0.5; // rows 2 and 0
    let bushing = Bushing {
        name: "mount".into(),
        link_a: one,
        a_from_bushing: at,
        link_b: two,
        b_from_bushing: at.inverse(),
        stiffness: full,
        damping: SymMat6::from_diagonal([0.0; 6]),
    };
    b.add_bushing(bushing.clone());
    let m = b.build().expect("a mechanism");
    let mut q = m.start_positions();
    q[..4].copy_from_slice(&{
        let r = Pose::exp(Twist::from_array([0.0, 0.0, 0.0, -1.0, 1.4, 0.6])).rotation;
        [r.w, r.x, r.y, r.z]
    });
    let moved = Pose::exp(Twist::from_array([1.0, 2.0, -0.5, 0.3, 0.8, -1.1])).to_array();
    q[4..11].copy_from_slice(&moved);
    let poses = m.link_poses(&q);
    let joints = Picture::new("balls", &m, &poses).animation.joints;
    let energy = |j: &forks_io::animation::Joint| {
        let world = |s: &forks_io::animation::JointSide| {
            s.body.map_or(Pose::IDENTITY, |b| poses[1 + b]) * s.body_from_joint
        };
        let spring = j.spring.expect("a spring");
        let between = world(&j.sides[0]).inverse() * world(&j.sides[1]);
        let t = spring.rest.twist_to(&between).to_array();
        let pairs = (0..6).flat_map(|i| (0..6).map(move |k| (i, k)));
        0.5 * pairs.map(|(i, k)| t[i] * spring.stiffness[i][k] * t[k]).sum::<f64>()
    };
    let spring = m.joint(JointId::new(0)).spring.as_ref().expect("a spring");
    let d = JointKind::Spherical.difference(&rest, &q[..4]);
    let pairs = (0..3).flat_map(|i| (0..3).map(move |k| (i, k)));
    let held = 0.5 * pairs.map(|(i, k)| d[i] * spring.stiffness.get(i, k) * d[k]).sum::<f64>();
    let [of_ball, of_mount] = ["ball", "mount"]
        .map(|n| energy(joints.iter().find(|j| j.name == n).expect("it is shown")));
    assert!((of_ball - held).abs() < 1e-12 * held, "{of_ball} {held}");
    let [a, b] = [poses[1] * bushing.a_from_bushing, poses[2] * bushing.b_from_bushing];
    let t = (a.inverse() * b).log().to_array();
    let held: f64 = 0.5 * (0..6).map(|i| t[i] * full.mul_vec(&t)[i]).sum::<f64>();
    assert!((of_mount - held).abs() < 1e-12 * held, "{of_mount} {held}");
}

#[test]
fn links_are_drawn_by_their_looks_where_they_have_some() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let obj = "mtllib t.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 1\nf 1 2 3\nusemtl m\nf 1 2 4\n";
    std::fs::write(at("table.obj"), obj).expect("a mesh");
    std::fs::write(at("broken.obj"), "v 0 0\n").expect("no mesh");
    std::fs::write(at("t.mtl"), "newmtl m\nKd 0 0 1\n").expect("a material");
    std::fs::write(at("m.xml"), LOOKS).expect("a model");
    let import = load_mjcf(&at("m.xml"), &ImportOptions::default()).expect("a model");
    let m = import.mechanism;
    let picture = Picture::new("looks", &m, &m.link_poses(&m.start_positions()));
    let Animation { bodies, segments, scenery, notes, .. } = &picture.animation;
    let colours = |shapes: &[VisualShape]| -> Vec<[u8; 4]> {
        let rgba = |c: Colour| [c.rgb[0], c.rgb[1], c.rgb[2], c.alpha];
        shapes.iter().map(|s| rgba(s.colour.expect("a colour"))).collect()
    };
    // The geom's colour stands over those of the file.
    assert_eq!(colours(scenery), [[255, 0, 0, 255]; 2]);
    assert_eq!(colours(&bodies[0].shapes), [[0, 255, 0, 255]], "what only collides is not drawn");
    assert_eq!(colours(&bodies[1].shapes)[0][3], PALE, "without a look its shapes are, pale");
    assert_eq!(bodies[2].shapes.len(), 1);
    assert!(notes.iter().any(|n| n.contains("broken.obj: line 1")), "{notes:?}");
    assert!(segments.iter().all(|s| s.ends[0].body == Some(1)), "bars are for what has no look");
}
