//! Spatial tendons as cables: against MuJoCo, written and read again, bad paths.

use crate::support::golden;

use forks_import::{
    Effect, ImportOptions,
    mechanism::{
        Cable, CableBranch, CableId, CableNode, CableObstacle, CablePoint, Joint, JointKind, Link,
        LinkId, Mechanism, MechanismBuilder, ObstacleKind, Transmission,
        kinematics::{link_jacobian, pull_back_wrenches},
        lie::{
            Pose, SpatialInertia, Twist, Wrench,
            glam::{DMat3, DQuat, DVec3},
        },
    },
    parse_mjcf,
    write::write_mjcf,
};

/// Largest differences from MuJoCo.
#[derive(Debug, Default)]
struct Differences {
    length: f64,
    rate: f64,
    force: f64,
    /// Of tendons that touch a geom from within.
    inside_rate: f64,
    inside_force: f64,
}

fn array(v: &serde_json::Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// Lengths, rates, forces of springs and of dampers.
fn ours(m: &Mechanism, q: &[f64], v: &[f64]) -> [Vec<f64>; 4] {
    let poses = m.link_poses(q);
    let twist = |l: usize| {
        let t = link_jacobian(m, q, &poses, LinkId::new(l)).mul_vec(v);
        Twist::from_array(t.try_into().expect("six rows"))
    };
    let twists: Vec<Twist> = (0..m.links().len()).map(twist).collect();
    let mut wrenches = [vec![Wrench::ZERO; poses.len()], vec![Wrench::ZERO; poses.len()]];
    let (mut lengths, mut rates) = (vec![], vec![]);
    for c in m.cables() {
        let (length, rate) = (c.length(&poses), c.rate(&poses, &twists));
        for (pull, w) in [c.tension(length).force, c.damping * rate].into_iter().zip(&mut wrenches)
        {
            c.length_and_gradient(&poses, |l, g| w[l.index()] -= g * pull);
        }
        lengths.push(length);
        rates.push(rate);
    }
    let [spring, damper] = wrenches.map(|w| pull_back_wrenches(m, q, &w));
    [lengths, rates, spring, damper]
}

fn compare(text: &str) -> (Differences, usize, usize) {
    let all: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let (mut out, mut wraps, mut inside) = (Differences::default(), 0, 0);
    for case in all["cases"].as_array().expect("cases") {
        let seed = &case["seed"];
        let text = case["model"].as_str().expect("a model");
        let read = parse_mjcf(text, &ImportOptions::default());
        let m = read.unwrap_or_else(|e| panic!("seed {seed}: {e}")).mechanism;
        let [length, rate, spring, damper] = ours(&m, &array(&case["qpos"]), &array(&case["qvel"]));
        let touches = |x: &serde_json::Value| x.as_bool().expect("a truth value");
        let touch: Vec<bool> =
            case["inside"].as_array().expect("a list").iter().map(touches).collect();
        let of = |name: &str| array(&case[name]);
        let force = largest(&spring, &of("spring")).max(largest(&damper, &of("damper")));
        let rates = largest(&rate, &of("rate"));
        out.length = out.length.max(largest(&length, &of("length")));
        if touch.contains(&true) {
            inside += 1;
            out.inside_rate = out.inside_rate.max(rates);
            out.inside_force = out.inside_force.max(force);
        } else {
            out.rate = out.rate.max(rates);
            out.force = out.force.max(force);
        }
        if out.length > 1e-9 || out.rate > 1e-9 || out.force > 1e-9 {
            panic!("seed {seed}: {out:?}");
        }
        wraps += case["wraps"].as_u64().expect("a count") as usize;
    }
    println!("{out:?}; {wraps} wraps, {inside} cases touch from within");
    (out, wraps, inside)
}

#[test]
fn lengths_rates_and_forces_are_those_of_mujoco() {
    let text = std::fs::read_to_string(golden().join("cables/cases.json")).expect("golden values");
    let (found, wraps, inside) = compare(&text);
    assert!(found.length < 1e-9 && found.rate < 1e-9 && found.force < 1e-9, "{found:?}");
    assert!(wraps > 40 && inside > 10, "{wraps} wraps, {inside} from within");
    // MuJoCo ends its search for the point that touches at an angle of 1e-6 rad.
    assert!(found.inside_rate < 1e-6 && found.inside_force < 1e-6, "{found:?}");
}

/// The same for a file of more cases, made by `make.py` beside the golden values.
#[test]
#[ignore = "needs a file of cases in FORKS_CABLE_CASES"]
fn more_cases_are_those_of_mujoco() {
    let path = std::env::var("FORKS_CABLE_CASES").expect("FORKS_CABLE_CASES names a file");
    compare(&std::fs::read_to_string(path).expect("a file of cases"));
}

fn body(name: &str) -> Link {
    Link::new(name).with_inertia(SpatialInertia::new(1.0, DVec3::X * 0.1, DMat3::IDENTITY * 0.02))
}

/// Two branches, a sphere and a cylinder, points where frames are and where none is.
fn with_cables() -> Mechanism {
    let mut b = MechanismBuilder::new("cables");
    let [one, two] = ["one", "two"].map(|n| b.add_link(body(n)));
    let hinge = |name, parent, child| {
        let kind = JointKind::Revolute { axis: DVec3::Y };
        Joint::new(name, kind, parent, child).at(Pose::from_translation(DVec3::X))
    };
    b.add_joint(hinge("a", LinkId::WORLD, one));
    b.add_joint(hinge("b", one, two));
    let obstacle = |link, kind, side| {
        let pose = Pose::new(DQuat::from_rotation_x(0.3), DVec3::new(0.1, 0.0, 0.2));
        let radius = 0.125;
        CableNode::Obstacle(CableObstacle { link, link_from_obstacle: pose, kind, radius, side })
    };
    let side = CablePoint { link: LinkId::WORLD, position: DVec3::Z * 5.0 };
    let at = CableNode::point;
    let first = vec![
        at(LinkId::WORLD, DVec3::new(-1.0, 0.01, 0.2)),
        obstacle(one, ObstacleKind::Cylinder, Some(side)),
        at(two, DVec3::Z * 0.2),
    ];
    let second =
        vec![at(one, DVec3::Y), obstacle(two, ObstacleKind::Sphere, None), at(two, DVec3::NEG_Y)];
    b.add_cable(Cable {
        name: "rope".into(),
        branches: vec![
            CableBranch { divisor: 1.0, nodes: first },
            CableBranch { divisor: 2.5, nodes: second },
        ],
        stiffness: 123.25,
        damping: 0.5,
        rest: [0.0, 1.75],
    });
    b.add_cable(Cable::straight("strut", [(one, DVec3::Y), (two, DVec3::Y)], 10.0, -1.0));
    b.add_cable(Cable::straight("", [(one, DVec3::X), (two, DVec3::Y)], 0.0, 0.0));
    b.build().expect("a mechanism with cables")
}

#[test]
fn written_cables_read_back() {
    let m = with_cables();
    let (text, notes) = write_mjcf(&m).expect("cables can be written");
    let again =
        parse_mjcf(&text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let [expected, found] = [&m, &again.mechanism].map(Mechanism::cables);
    assert_eq!(found[0], expected[0]);
    assert_eq!(found[1].branches, expected[1].branches);
    assert!((found[1].rest[0] + 1.0).abs() < 1e-15, "−1 means something else in MJCF");
    // Without stiffness the rest does not matter.
    assert_eq!(found[2].branches, expected[2].branches);
    assert!(found[2].is_idle());
    let added = notes.iter().filter(|n| n.attribute == "points").count();
    assert_eq!(added, 3, "points become frames: {notes:?}");
    // Now the frames are there, and nothing is added any more.
    let (twice, notes) = write_mjcf(&again.mechanism).expect("what was read can be written");
    assert!(notes.iter().all(|n| n.attribute != "points"), "{notes:?}");
    let again =
        parse_mjcf(&twice, &ImportOptions::default()).expect("what was written can be read");
    assert_eq!(again.mechanism.frames().len(), m.frames().len() + 7);
    assert_eq!(again.mechanism.cables()[0], m.cables()[0]);
    assert_eq!(again.mechanism.shapes().len(), m.shapes().len(), "obstacles are no shapes");
}

fn spatial(inner: &str, attributes: &str) -> String {
    format!(
        r#"<mujoco><compiler angle="radian"/><worldbody><site name="w"/><body name="b" pos="0 0 1">
        <joint name="j" type="slide" ref="0.25" springref="0.5"/><geom name="g" size="0.1"/>
        <geom name="box" type="box" size="1 1 1"/><site name="s"/><site name="t" pos="1 0 0"/>
        </body></worldbody><tendon><spatial name="rope" {attributes}>{inner}</spatial></tendon></mujoco>"#
    )
}

const STRAIGHT: &str = r#"<site site="w"/><site site="s"/>"#;

#[test]
fn the_rest_length_is_that_of_the_spring_reference_where_none_is_given() {
    let rest = |attributes: &str| {
        let read = parse_mjcf(&spatial(STRAIGHT, attributes), &ImportOptions::default());
        read.expect("a good file").mechanism.cables()[0].rest
    };
    // The slide moves by springref − ref along z.
    for attributes in [r#"stiffness="1""#, r#"stiffness="1" springlength="-1""#] {
        assert_eq!(rest(attributes), [1.25, 1.25]);
    }
    assert_eq!(rest(r#"stiffness="1" springlength="0.5""#), [0.5, 0.5]);
    assert_eq!(rest(r#"stiffness="1" springlength="0 0.5""#), [0.0, 0.5]);
}

#[test]
fn paths_that_cannot_be_are_refused_by_name() {
    let refused = |inner: &str, attributes: &str, part: &str| {
        let read = parse_mjcf(&spatial(inner, attributes), &ImportOptions::default());
        let text = read.expect_err("a bad path").to_string();
        assert!(text.contains(part), "{text}");
    };
    let site = r#"<site site="s"/>"#;
    refused("", "", "has no path");
    refused(site, "", "stands alone");
    refused(&format!(r#"{STRAIGHT}<pulley divisor="2"/>{site}"#), "", "stands alone");
    refused(&format!(r#"{STRAIGHT}<geom geom="g"/>"#), "", "not between two sites");
    refused(&format!(r#"{STRAIGHT}<geom geom="box"/><site site="t"/>"#), "", "neither a sphere");
    refused(&format!(r#"{STRAIGHT}<geom geom="no"/><site site="t"/>"#), "", "no");
    refused(&format!(r#"{STRAIGHT}<pulley divisor="0"/>{STRAIGHT}"#), "", "divisor");
    refused(STRAIGHT, r#"stiffness="-1""#, "stiffness");
    refused(STRAIGHT, r#"armature="1""#, "armature");
    refused(STRAIGHT, r#"springlength="2 1""#, "decreases");
    let limited = spatial(STRAIGHT, r#"limited="true" range="0 1""#);
    let read = parse_mjcf(&limited, &ImportOptions::default()).expect("limits are noted");
    let note = read.notes.iter().find(|n| n.attribute == "range").expect("a note");
    assert_eq!(note.effect, Effect::Ignored);
}

fn driven(actuator: &str) -> String {
    spatial(STRAIGHT, "").replace("</mujoco>", &format!("<actuator>{actuator}</actuator></mujoco>"))
}

#[test]
fn actuators_on_spatial_tendons_are_servos_on_cables() {
    let text = driven(r#"<position name="p" tendon="rope" kp="5" kv="2" gear="3" damping="0.5"/>"#);
    let m = parse_mjcf(&text, &ImportOptions::default()).expect("a good file").mechanism;
    let s = &m.servos()[0];
    assert_eq!(s.transmission, Transmission::Cable(CableId::new(0)));
    assert_eq!((s.stiffness, s.damping), (45.0, 18.0));
    assert!(s.combination.terms.is_empty());
    // The actuator's own damper is one of the cable.
    assert_eq!(m.cables()[0].damping, 4.5);
    let (text, _) = write_mjcf(&m).expect("servos on cables can be written");
    let again = parse_mjcf(&text, &ImportOptions::default()).expect("what was written").mechanism;
    assert_eq!(again.servos(), m.servos());
    assert_eq!(again.cables()[0].damping, 4.5);
    let text = driven(r#"<position tendon="rope" kp="5" armature="1"/>"#);
    let e = parse_mjcf(&text, &ImportOptions::default()).expect_err("refused");
    assert!(e.to_string().contains("armature"), "{e}");
}

#[test]
fn damping_ratios_use_the_inertia_along_the_path() {
    let text = r#"<mujoco><compiler angle="radian"/><worldbody><site name="w" pos="0.1 0.2 -0.3"/>
        <body><geom size=".1" pos=".2 0 0"/><joint name="j" armature=".1"/>
        <joint name="k" type="slide" axis="1 0 0"/><site name="s" pos="0.5 0.3 0.1"/></body></worldbody>
        <tendon><spatial name="t"><site site="w"/><site site="s"/></spatial></tendon>
        <actuator><position tendon="t" kp="5" dampratio="1" gear="2"/></actuator></mujoco>"#;
    let m = parse_mjcf(text, &ImportOptions::default()).expect("a good file").mechanism;
    // MuJoCo 4.0.0: biasprm[2] is −5.455836441082713, times gear².
    assert!((m.servos()[0].damping - 4.0 * 5.455836441082713).abs() < 1e-9);
}
