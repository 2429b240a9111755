//! Free joints in statics and reduction: held only where nothing else holds their tree, bodies
//! beside the mechanism left out. Once the root of the first effector's tree was always held,
//! without a word, and every other free body had to be balanced.

use std::path::Path;

use serde_json::{Value, json};
use support::{forks, json, numbers, path_in, refuses, text};

use crate::support;

fn file(name: &str, content: &str) -> String {
    let path = path_in("free_bodies", name);
    std::fs::write(&path, content).unwrap();
    text(&path).to_owned()
}

fn fixture(name: &str) -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    text(&models.join(name)).to_owned()
}

/// Bodies of the world, equalities, what follows them.
fn mjcf(name: &str, bodies: &str, equality: &str, more: &str) -> String {
    let head = r#"<mujoco><option gravity="0 0 -9.81"/><worldbody>"#;
    file(name, &format!("{head}{bodies}</worldbody><equality>{equality}</equality>{more}</mujoco>"))
}

const PLATE: &str = r#"<body name="plate" pos="0 0 1"><freejoint name="f"/>
    <geom type="box" size=".1 .1 .01" mass="2"/></body>"#;

fn slide(stiffness: &str) -> String {
    format!(
        r#"<body name="arm" pos="0 0 .5"><joint name="j" type="slide" axis="0 0 1" {stiffness}/>
        <geom size=".02" mass=".1"/></body>"#
    )
}

const ARM: &str = r#"<body name="arm" pos="0 0 .5"><joint name="j" axis="0 1 0" stiffness="2"/>
    <geom type="capsule" fromto="0 0 0 .2 0 0" size=".01" mass=".1"/></body>"#;

fn compliance(v: &Value, i: usize, j: usize) -> f64 {
    v["compliance"][i][j].as_f64().unwrap()
}

fn link<'a>(v: &'a Value, name: &str) -> &'a Value {
    v["links"].as_array().unwrap().iter().find(|l| l["name"] == name).unwrap()
}

fn height(v: &Value, name: &str) -> f64 {
    numbers(&link(v, name)["position"])[2]
}

fn near(found: f64, expected: f64, bound: f64) {
    assert!((found - expected).abs() < bound, "{found} instead of {expected}");
}

/// θ with k θ = torque + lever cos θ.
fn turned(k: f64, torque: f64, lever: f64) -> f64 {
    (0..100).fold(0.0, |t: f64, _| (torque + lever * t.cos()) / k)
}

const LIFT: [&str; 3] = ["--wrench", "0,0,10,0,0,0", "--no-gravity"];
const TURN: [&str; 2] = ["--wrench", "0,0,0,0,0.1,0"];

fn statics(model: &str, effector: &str, more: &[&str]) -> Value {
    json(&[&["statics", model, "--effector", effector], more].concat())
}

#[test]
fn a_plate_on_a_spring_gives_way() {
    let model = &fixture("sprung_plate/tens.xml");
    let v = statics(model, "plate", &LIFT);
    assert_eq!(v["status"], "converged");
    assert_eq!(v["held"], json!([]));
    near(height(&v, "plate"), 1.01, 1e-12);
    // Linear as it is: the reduced model has no error.
    near(v["max_position_error"].as_f64().unwrap(), 0.0, 1e-12);
    for effectors in [&["plate"][..], &["plate", "arm"], &["arm", "plate"]] {
        let v = json(&[&["reduce", model, "--effector"], effectors].concat());
        assert_eq!((&v["rank"], &v["held"]), (&json!(1), &json!([])));
        near(compliance(&v, 2, 2), 1e-3, 1e-15);
        // 2.1 kg on 1000 N/m.
        near(v["frequencies_rad_s"]["full"][0].as_f64().unwrap(), (1000.0f64 / 2.1).sqrt(), 1e-10);
    }
}

#[test]
fn springs_servos_and_welds_hold_a_free_root() {
    let weld = r#"<weld body1="arm" body2="plate"/>"#;
    let own = mjcf(
        "own.xml",
        &PLATE.replace("<freejoint", r#"<joint type="free" stiffness="1000""#),
        "",
        "",
    );
    let v = json(&["reduce", &own, "--effector", "plate"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(6), &json!([])));
    near(compliance(&v, 2, 2), 1e-3, 1e-15);

    let servo = r#"<actuator><position joint="j" kp="500"/></actuator>"#;
    let servo = &mjcf("servo.xml", &(PLATE.to_owned() + &slide("")), weld, servo);
    near(height(&statics(servo, "plate", &LIFT), "plate"), 1.02, 1e-12);
    refuses(
        &["reduce", servo, "--effector", "plate", "--no-servos"],
        &["'f'", "'j'", "'plate'", "--default"],
    );
    let soft = [&LIFT[..], &["--no-servos", "--default-stiffness", "100"]].concat();
    near(height(&statics(servo, "plate", &soft), "plate"), 1.1, 1e-12);

    let fast = mjcf("fast.xml", PLATE, r#"<weld body1="plate"/>"#, "");
    refuses(&["reduce", &fast, "--effector", "plate"], &["'plate' cannot move"]);
}

/// Three legs on slides, their tops at 0.3 m from the middle pinned to the plate: it rises and
/// tilts. Hinges along the radius let the legs follow.
#[test]
fn a_parallel_robot_is_as_stiff_as_its_legs() {
    let (mut bodies, mut pins) = (PLATE.to_owned(), String::new());
    for i in 0..3 {
        let (s, c) = (std::f64::consts::TAU * f64::from(i) / 3.0).sin_cos();
        let (x, y) = (0.3 * c, 0.3 * s);
        bodies += &format!(
            r#"<body name="leg{i}" pos="{x} {y} .5"><joint type="slide" axis="0 0 1" stiffness="1000"/>
            <geom size=".02" mass=".1"/></body>"#
        );
        pins += &format!(r#"<connect body1="leg{i}" body2="plate" anchor="0 0 .5"/>"#);
    }
    let model = &mjcf("parallel.xml", &bodies, &pins, "");
    let v = json(&["reduce", model, "--effector", "plate"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(3), &json!([])));
    near(compliance(&v, 2, 2), 1.0 / 3000.0, 1e-15);
    // Σ k y² = 1000 · 3/2 · 0.3².
    near(compliance(&v, 3, 3), 1.0 / 135.0, 1e-13);
    near(compliance(&v, 4, 4), 1.0 / 135.0, 1e-13);
    near(height(&statics(model, "plate", &LIFT), "plate"), 1.0 + 10.0 / 3000.0, 1e-12);
}

/// One point holds three of six motions: what is left is named, not held.
#[test]
fn what_is_held_in_part_is_not_held() {
    let pin = r#"<connect body1="arm" body2="plate" anchor="0 0 .5"/>"#;
    let model = &mjcf("pin.xml", &(PLATE.to_owned() + &slide(r#"stiffness="1000""#)), pin, "");
    let words = ["nothing resists", "free joint 'f'", "link 'plate'", "free joint"];
    refuses(&["reduce", model, "--effector", "plate"], &words);
    let out = forks(&[&["statics", model, "--effector", "plate", "--json"], &LIFT[..]].concat());
    assert_eq!(out.status.code(), Some(1));
    let v: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&v["status"], &v["held"]), (&json!("singular"), &json!([])));
    let message = v["message"].as_str().unwrap();
    assert!(words.iter().all(|w| message.contains(w)), "{message}");
    assert!(String::from_utf8(out.stderr).unwrap().contains(message));
}

#[test]
fn what_nothing_holds_is_held_and_said() {
    let hand = r#"<body name="hand" pos=".3 0 0"><joint name="h" axis="0 1 0" stiffness="5"/><geom size=".05" mass="1"/></body>"#;
    let robot = PLATE.replace("</body>", &format!("{hand}</body>"));
    let model = &mjcf("robot.xml", &robot, "", "");
    let v = json(&["reduce", model, "--effector", "hand"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(1), &json!(["f"])));
    near(compliance(&v, 4, 4), 0.2, 1e-13);
    let out = forks(&["reduce", model, "--effector", "hand"]);
    let shown = String::from_utf8(out.stdout).unwrap();
    assert!(shown.contains("held             f"), "{shown}");
    let v = statics(model, "hand", &TURN);
    assert_eq!(v["held"], json!(["f"]));
    assert!(v["notes"].to_string().contains("free joint 'f' of link 'plate' is held"), "{v}");
    near(height(&v, "plate"), 1.0, 1e-15);

    // Welds among floating bodies hold none of them; six coordinates without springs neither.
    let other =
        r#"<body name="q" pos="0 0 1.5"><freejoint name="g"/><geom size=".02" mass="1"/></body>"#;
    let pair = mjcf("pair.xml", &(robot.clone() + other), r#"<weld body1="q" body2="plate"/>"#, "");
    let v = json(&["reduce", &pair, "--effector", "hand"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(1), &json!(["f"])));
    let carrier = r#"<body name="d" pos="0 0 .5"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><joint type="ball"/><geom size=".02" mass=".1"/></body>"#;
    let dummy = &mjcf("dummy.xml", &(robot + carrier), r#"<weld body1="d" body2="plate"/>"#, "");
    let v = json(&["reduce", dummy, "--effector", "hand"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(1), &json!(["f"])));
    let v = json(&["reduce", dummy, "--effector", "hand", "--default-stiffness", "50"]);
    assert_eq!((&v["rank"], &v["held"]), (&json!(6), &json!([])));
}

#[test]
fn a_free_object_beside_a_finger_is_left_out() {
    let model = &fixture("statics_free_object/hand_and_cube.xml");
    let v = statics(model, "finger", &TURN);
    assert_eq!((&v["status"], &v["left_out"]), (&json!("converged"), &json!(["cube"])));
    assert!(v["notes"].to_string().contains("left out as free bodies without an effector: cube"));
    near(v["qpos"][0].as_f64().unwrap(), 0.0988107, 1e-7);
    near(v["qpos"][0].as_f64().unwrap(), turned(2.0, 0.1, 0.1 * 9.81 * 0.1), 1e-12);
    // The cube keeps its pose: (1, 0, 0.5), not turned.
    assert_eq!(numbers(&v["qpos"])[1..], [1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]);
    let v = statics(model, "finger", &[&TURN[..], &["--no-gravity"]].concat());
    near(v["qpos"][0].as_f64().unwrap(), 0.05, 1e-12);
    let v = json(&["reduce", model, "--effector", "finger", "--equilibrium"]);
    assert_eq!((&v["rank"], &v["left_out"]), (&json!(1), &json!(["cube"])));
    // K_t = 2 + m g l sin θ at the sagged pose.
    let (lever, k) = (0.1 * 9.81 * 0.1, 2.0);
    let stiffness = k + lever * turned(k, 0.0, lever).sin();
    near(compliance(&v, 4, 4), 1.0 / stiffness, 1e-12);
}

/// A box with two lids, a spring, a coupling, a loop and a servo of its own, and two cubes that are
/// welded to each other.
#[test]
fn objects_with_joints_of_their_own_are_left_out_whole() {
    let lid = |name: &str, x: &str| {
        format!(
            r#"<body name="{name}" pos="{x} 0 0"><joint name="{name}" axis="0 1 0" stiffness="1" springref="40"/>
            <geom size=".02" mass=".1" pos=".1 0 0"/></body>"#
        )
    };
    let (lid, lid2) = (lid("lid", ".1"), lid("lid2", "-.1"));
    let cube = |name: &str, z: &str| {
        format!(
            r#"<body name="{name}" pos="1 0 {z}"><freejoint/><geom size=".02" mass=".1"/></body>"#
        )
    };
    let bodies = format!(
        r#"{ARM}<body name="box" pos="1 0 0"><freejoint name="box"/><geom size=".02" mass=".1"/>{lid}{lid2}</body>{}{}"#,
        cube("c1", "1"),
        cube("c2", "2")
    );
    let equality = r#"<joint joint1="lid" joint2="lid2" polycoef=".1 1 0 0 0"/><connect body1="lid" body2="lid2" anchor=".1 0 0"/>
        <weld body1="c1" body2="c2" relpose="0 0 -1.5 1 0 0 0"/>"#;
    let more = r#"<actuator><position joint="lid" kp="3"/><position name="servo" joint="j" kp="0.5"/></actuator>
        <tendon><fixed name="t" stiffness="3"><joint joint="lid" coef="1"/><joint joint="lid2" coef="1"/></fixed></tendon>"#;
    let model = &mjcf("objects.xml", &bodies, equality, more);
    let objects = json!(["box", "lid", "lid2", "c1", "c2"]);
    let v = statics(model, "arm", &TURN);
    assert_eq!((&v["status"], &v["left_out"]), (&json!("converged"), &objects));
    near(v["qpos"][0].as_f64().unwrap(), turned(2.5, 0.1, 0.1 * 9.81 * 0.1), 1e-12);
    let v = json(&["reduce", model, "--effector", "arm", "--equilibrium"]);
    assert_eq!((&v["rank"], &v["left_out"]), (&json!(1), &objects));
    assert_eq!(v["frequencies_rad_s"]["full"].as_array().unwrap().len(), 1);
    let out = text(&path_in("free_bodies", "objects.forks")).to_owned();
    json(&["reduce", model, "--effector", "arm", "--equilibrium", "-o", &out]);
    let run = ["simulate", "--reduced", &out, "--time", "0.01", "--step", "0.001"];
    assert_eq!(json(&run)["status"], "completed");
}

#[test]
fn an_object_that_the_mechanism_holds_counts() {
    let cube = r#"<body name="cube" pos=".2 0 .5"><freejoint name="cube"/><geom type="box" size=".02 .02 .02" mass=".1"/></body>"#;
    let model =
        &mjcf("grasped.xml", &(ARM.to_owned() + cube), r#"<weld body1="arm" body2="cube"/>"#, "");
    for effector in ["arm", "cube"] {
        let v = statics(model, effector, &TURN);
        assert_eq!((&v["held"], &v["left_out"]), (&json!([]), &json!([])));
        let expected = turned(2.0, 0.1, 0.1 * 9.81 * 0.1 + 0.1 * 9.81 * 0.2);
        near(v["qpos"][0].as_f64().unwrap(), expected, 1e-11);
    }
}

/// URDF: floating joints hang on a base link that is fixed to the world.
#[test]
fn floating_joints_of_urdf_are_free_roots_too() {
    let body = |name: &str| {
        format!(
            r#"<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
            <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>"#
        )
    };
    let joint = |name: &str, kind: &str, parent: &str, child: &str| {
        format!(
            r#"<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/></joint>"#
        )
    };
    let robot = [
        r#"<robot name="two"><link name="base"/>"#.to_owned(),
        body("tool") + &body("tip") + &body("finger"),
        joint("f", "floating", "base", "tool"),
        joint("t", "continuous", "tool", "tip"),
        joint("k", "continuous", "base", "finger"),
        "</robot>".into(),
    ];
    let model = &file("two.urdf", &robot.concat());
    let springs = ["--default-stiffness", "30"];
    let v = statics(model, "finger", &[&TURN[..], &springs].concat());
    assert_eq!((&v["status"], &v["left_out"]), (&json!("converged"), &json!(["tool", "tip"])));
    near(
        numbers(&link(&v, "finger")["quaternion_wxyz"])[2],
        (turned(30.0, 0.1, 0.981) / 2.0).sin(),
        1e-10,
    );
    let v = statics(model, "tip", &[&TURN[..], &springs].concat());
    assert_eq!((&v["status"], &v["held"]), (&json!("converged"), &json!(["f"])));
    near(
        numbers(&link(&v, "tip")["quaternion_wxyz"])[2],
        (turned(30.0, 0.1, 0.981) / 2.0).sin(),
        1e-10,
    );
}

#[test]
fn blends_and_scenes_know_free_bodies() {
    let model = &fixture("statics_free_object/hand_and_cube.xml");
    let file = text(&path_in("free_bodies", "finger.blend")).to_owned();
    // A finger that turns about its own origin moves no point there.
    let run = ["blend", model, "--effector", "finger", "--cone", "0,0,-1", "-o", &file];
    refuses(&run, &["'finger'", "direction"]);

    let tip = r#"<body name="tip" pos=".2 0 0"><geom size=".01" mass=".01"/></body></body>"#;
    let bodies = ARM.replace("</body>", tip) + PLATE;
    let model = &mjcf("arm_and_plate.xml", &bodies, "", "");
    let run = [
        "blend",
        model,
        "--effector",
        "tip",
        "--cone",
        "0,0,-1",
        "--angle",
        "10",
        "--until",
        "0.2",
    ];
    let v = json(
        &[&run[..], &["--samples", "2", "--training", "6", "--gravity", "-o", &file]].concat(),
    );
    assert_eq!((&v["held"], &v["left_out"]), (&json!([]), &json!(["plate"])));

    let scene = path_in("free_bodies", "scene.toml");
    let content = format!(
        "title = \"arm\"\n[world]\nstep = 0.001\nduration = 0.01\n[[mechanism]]\nname = \
         \"m\"\nfile = {model:?}\n\
         effectors = [\"tip\"]\n"
    );
    std::fs::write(&scene, content).unwrap();
    for more in [&[][..], &["--full"]] {
        let v = json(&[&["simulate", text(&scene)], more].concat());
        assert_eq!(v["status"], "completed");
        assert!(v["notes"].to_string().contains("stand still: plate"), "{v}");
    }
}
