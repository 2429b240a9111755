//! Scenes: what files may say, and what they become.

use std::path::{Path, PathBuf};

use forks_sim::{
    WorldStatus,
    scene::{Fidelity, Scene, SceneError, Schedule, spec::SceneSpec},
};

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes")
}

fn build(text: &str) -> Result<Scene, SceneError> {
    Scene::build(SceneSpec::parse(text, "test")?, &scenes(), Fidelity::Reduced)
}

/// The message of a scene that must be refused.
fn refused(text: &str) -> String {
    match build(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => e.to_string(),
    }
}

const BALL: &str = r#"
title = "ball"
[[body]]
name = "ball"
mass = 1.0
position = [0, 0, 0.3]
shape = [{ form = { sphere = { radius = 0.1 } } }]
[[ground]]
form = { plane = {} }
"#;

#[test]
fn every_scene_of_the_repository_builds_and_starts() {
    let mut count = 0;
    for entry in std::fs::read_dir(scenes()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let mut scene = Scene::load(&path, Fidelity::Reduced).unwrap();
        for _ in 0..100 {
            let report = scene.step();
            assert!(!matches!(report.status, WorldStatus::NotFinite { .. }), "{path:?}");
        }
        count += 1;
    }
    assert!(count >= 7, "{count} scenes");
}

#[test]
fn a_ball_comes_to_rest_on_the_ground() {
    let mut scene = build(BALL).unwrap();
    for _ in 0..1500 {
        let _ = scene.step();
    }
    let ball = scene.body("ball").unwrap();
    assert!((scene.world.body_pose(ball).unwrap().translation.z - 0.1).abs() < 1e-6);
    // A sphere that its mass fills evenly.
    assert!((scene.bodies[0].inertia.inertia.x_axis.x - 0.4 * 0.01).abs() < 1e-15);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let with = |more: &str| format!("{BALL}\n{more}");
    for (text, words) in [
        ("title = 3".to_owned(), "title"),
        (with("[[body]]\nname = \"ball\"\nmass = 1\nshape = []"), "names two things"),
        (with("[[body]]\nname = \"b\"\nmass = 1\nshape = []"), "has no shape"),
        (
            with(
                "[[body]]\nname = \"b\"\nmass = -1\nshape = [{ form = { sphere = { radius = 1 } } \
                }]",
            ),
            "\"b\"",
        ),
        (
            with(
                "[[body]]\nname = \"b\"\nmass = 1\nmas = 2\nshape = [{ form = { sphere = { radius \
                = 1 } } }]",
            ),
            "mas",
        ),
        (with("[[ground]]\nform = { cube = { side = 1 } }"), "cube"),
        (with("[[ground]]\nform = { sphere = { radius = nan } }"), "radius"),
        (with("[[ground]]\nform = { plane = {} }\nquaternion_wxyz = [0, 0, 0, 0]"), "quaternion"),
        (
            with("[[mechanism]]\nname = \"m\"\nparametric = \"spider\"\neffectors = [\"x\"]"),
            "spider",
        ),
        (with("[[mechanism]]\nname = \"m\"\neffectors = [\"x\"]"), "`file` or `parametric`"),
        (
            with("[[mechanism]]\nname = \"m\"\nfile = \"nothing.xml\"\neffectors = [\"x\"]"),
            "nothing.xml",
        ),
        (
            with("[[mechanism]]\nname = \"m\"\nparametric = \"helix20\"\neffectors = [\"tip\"]"),
            "tip",
        ),
        (
            with(
                "[[mechanism]]\nname = \"m\"\nparametric = \"helix20\"\neffectors = \
                [\"link19\"]\npose = { elbow = 1 }",
            ),
            "elbow",
        ),
        (
            with(
                "[[mechanism]]\nname = \"m\"\nparametric = \"helix20\"\neffectors = \
                [\"link19\"]\n[[mechanism.servo]]\njoints = [\"no*\"]\nstiffness = 1\ndamping = 1",
            ),
            "no*",
        ),
        (
            with("[[action]]\nbody = \"bal\"\ndirection = [0, 0, 1]\ntimes = [0]\nvalues = [1]"),
            "bal",
        ),
        (with("[[action]]\nbody = \"ball\"\ntimes = [0]\nvalues = [1]"), "direction"),
        (
            with(
                "[[action]]\nbody = \"ball\"\ndirection = [0, 0, 1]\ntimes = [1, 0]\nvalues = [1, \
                1]",
            ),
            "increasing",
        ),
        (
            with("[[action]]\nbody = \"ball\"\ndirection = [0, 0, 1]\ntimes = [0]\nvalues = []"),
            "one value per time",
        ),
        (format!("ignore = [[\"ball\", \"moon\"]]\n{BALL}"), "moon"),
        (with("[world]\nduration = -1"), "-1 s"),
        (
            with(
                "[[ground]]\nform = { hills = { size = [1, 1], points = [9000000000, 9000000000], \
                height = 1, spacing = 1, seed = 1 } }",
            ),
            "hills",
        ),
        (
            with(
                "[[action]]\nbody = \"ball\"\ndirection = [0, 0, 1e200]\ntimes = [0]\nvalues = [1]",
            ),
            "1e150",
        ),
        (
            with(
                "[[action]]\nbody = \"ball\"\ndirection = [0, 0, 1]\ntimes = [0]\nvalues = [1e200]",
            ),
            "1e150",
        ),
        (with("[world]\nstep = 0"), "step"),
    ] {
        let message = refused(&text);
        assert!(message.contains(words), "{words:?} is not in {message:?}");
    }
}

#[test]
fn a_mechanism_starts_at_a_keyframe_of_its_file() {
    let scene = |key: &str| {
        format!(
            "title = \"keyed\"\n[[mechanism]]\nname = \"cassie\"\neffectors = [\"left-foot\"]\n\
             file = \"../models/agility_cassie/cassie.xml\"\nfloating = true\nown_shapes = false\n\
             key = \"{key}\"\npose = {{ \"left-hip-yaw\" = 0.01 }}\n"
        )
    };
    let spec = SceneSpec::parse(&scene("home"), "test").unwrap();
    let built = Scene::build(spec, &scenes(), Fidelity::Full).unwrap();
    let m = &built.mechanisms[0].mechanism;
    let start = |name: &str| m.joint(m.find_joint(name).unwrap()).start.clone();
    // Of the file; of joints of several axes too; and what the pose says after it.
    assert_eq!(start("left-knee"), [-1.1997]);
    assert!((start("left-achilles-rod")[0] - 0.97861).abs() < 1e-4);
    assert_eq!(start("left-hip-yaw"), [0.01]);
    let unknown = refused(&scene("squat"));
    assert!(unknown.contains("squat") && unknown.contains("home"), "{unknown}");
}

#[test]
fn pairs_that_are_ignored_pass_through_each_other() {
    let mut scene = build(&format!("ignore = [[\"ball\", \"world\"]]\n{BALL}")).unwrap();
    for _ in 0..500 {
        assert_eq!(scene.step().contacts, 0);
    }
    let ball = scene.body("ball").unwrap();
    assert!(scene.world.body_pose(ball).unwrap().translation.z < -0.5);
}

#[test]
fn schedules_are_smooth_between_their_values() {
    let text =
        "times = [1, 3]\nvalues = [2, 4]\nwave = { amplitude = 1, frequency = 0.5, from = 10 }";
    let spec = format!("{BALL}\n[[action]]\nbody = \"ball\"\ndirection = [0, 0, 1]\n{text}");
    let spec = SceneSpec::parse(&spec, "test").unwrap();
    let action = &spec.actions[0];
    let s = Schedule::new(&action.times, &action.values, action.wave.clone()).unwrap();
    for (t, value) in [(0.0, 2.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (10.5, 5.0), (11.5, 3.0)] {
        assert!((s.value(t) - value).abs() < 1e-12, "{t}: {}", s.value(t));
    }
    let h = 1e-4;
    let slope = |t: f64| (s.value(t + h) - s.value(t - h)) / (2.0 * h);
    assert!(slope(1.0).abs() < 1e-3 && slope(3.0).abs() < 1e-3 && slope(2.0) > 1.0);
}

#[test]
fn a_force_on_an_effector_acts() {
    let text = r#"
title = "pull"
[[mechanism]]
name = "helix"
parametric = "helix20"
effectors = ["link19"]
[[action]]
mechanism = "helix"
effector = "link19"
direction = [0, 0, -1]
times = [0]
values = [5]
"#;
    let mut scene = build(text).unwrap();
    let m = scene.mechanism("helix").unwrap();
    let before = scene.world.effector_pose(m, 0).unwrap().translation;
    for _ in 0..200 {
        let _ = scene.step();
    }
    let moved = scene.world.effector_pose(m, 0).unwrap().translation - before;
    assert!(moved.z < -1e-3, "{moved}");
}

#[test]
fn exported_scenes_say_what_they_hold() {
    let scene = Scene::load(&scenes().join("hand-ball.toml"), Fidelity::Reduced).unwrap();
    let mjcf = scene.to_mjcf().unwrap();
    for part in ["cone=\"elliptic\"", "name=\"start\"", "name=\"ball\"", "hand/link_3.0_tip"] {
        assert!(mjcf.text.contains(part), "{part}");
    }
    assert_eq!(mjcf.controls.len(), 18);
    let controls = scene.controls_at(&mjcf, 3.0);
    let lift = mjcf.controls.iter().position(|c| c.name == "hand/lift").unwrap();
    assert!((controls[lift] - 0.06).abs() < 1e-12);
    let finger = mjcf.controls.iter().position(|c| c.name == "hand/joint_1.0").unwrap();
    let rest = scene.spec.mechanisms[0].pose["joint_1.0"];
    assert!((controls[finger] - rest - 0.01186).abs() < 1e-12);
}

#[test]
fn hands_just_touch_at_the_start() {
    for (name, points) in [("hand-ball", 4), ("hand-box", 4), ("hand-object", 1)] {
        let mut scene =
            Scene::load(&scenes().join(format!("{name}.toml")), Fidelity::Reduced).unwrap();
        // Contacts of the first step are those of the start.
        let _ = scene.step();
        let gaps: Vec<f64> = scene.world.contacts().iter().map(|c| c.gap).collect();
        assert_eq!(gaps.len(), points, "{name}: {gaps:?}");
        // The pose in the file has five decimals: 5e-6 rad at 0.1 m for each of four joints and the
        // hand's own place.
        assert!(gaps.iter().all(|g| g.abs() < 5e-6), "{name}: {gaps:?}");
    }
}

#[test]
fn joint_limits_hold_where_they_are_asked_for() {
    let limp = |limits: bool| {
        format!(
            "title = \"finger\"\n[[mechanism]]\nname = \"hand\"\nbalance_inertia = \
             true\njoint_damping = 0.01\n\
             file = \"../models/allegro_right_hand/allegro_right_hand.nomesh.urdf\"\n\
             effectors = [\"link_3.0_tip\"]\nlimits = {limits}\n\
             servo = [{{ joints = [\"joint_*\"], stiffness = 3.0, damping = 0.1 }}]\n\
             pose = {{ \"joint_1.0\" = 0.5, \"joint_2.0\" = 0.5, \"joint_3.0\" = 0.5, \
             \"joint_12.0\" = 0.5 }}\n\
             [[action]]\nmechanism = \"hand\"\nservos = [\"joint_3.0\"]\ntimes = [0, 0.5]\nvalues \
             = [0, -1.0]\n"
        )
    };
    let ends = [true, false].map(|limits| {
        let mut scene = build(&limp(limits)).unwrap();
        for _ in 0..1500 {
            let _ = scene.step();
        }
        let hand = scene.mechanism("hand").unwrap();
        scene.world.joint_coordinate(hand, "joint_3.0", 0).unwrap()
    });
    // The URDF's lower limit; the target is beyond it.
    assert!((ends[0] - -0.227).abs() < 1e-6, "{ends:?}");
    assert!((ends[1] - -0.5).abs() < 0.05, "{ends:?}");
}

/// A blend of one pose of a helix, in a file of its own.
fn helix_blend(name: &str) -> PathBuf {
    use forks_models::{HelixJoints, helix};
    use forks_place::{Sample, blend_data};
    use forks_reduce::{Problem, ProblemOptions};
    let helix = helix(20, HelixJoints::Hinge3);
    let problem = Problem::new(&helix.mechanism, &["link19"], &ProblemOptions::default()).unwrap();
    let loads = forks_dynamics::Loads::none();
    let at = problem.equilibrium(&loads, &Default::default());
    let samples = [Sample::new(&problem, &at, &loads).unwrap()];
    let weights = forks_sim::blend::Weights::Shepard { exponent: 4 };
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).unwrap();
    let path = std::env::temp_dir().join(format!("{}-{name}.forks", std::process::id()));
    forks_sim::blend::BlendedModel::new(data).unwrap().save(&path).unwrap();
    path
}

#[test]
fn a_blend_has_to_fit_its_scene() {
    let file = helix_blend("fits");
    let scene = |effector: &str, more: &str| {
        format!(
            "title = \"blend\"\n[[mechanism]]\nname = \"helix\"\nparametric = \"helix20\"\ngravity \
             = false\n\
             effectors = [\"{effector}\"]\nblend = \"{}\"\n{more}",
            file.display()
        )
    };
    let mut fits = build(&scene("link19", "")).unwrap();
    assert!(matches!(fits.step().status, WorldStatus::Completed));
    // The blend starts at rest without gravity; under gravity the exported helix starts where it
    // sags to.
    let ball = "shape = [{ form = { sphere = { radius = 0.02 } } }]";
    for (gravity, apart) in [("false", false), ("true", true)] {
        let text =
            scene("link19", ball).replace("gravity = false", &format!("gravity = {gravity}"));
        let notes = build(&text).unwrap().to_mjcf().unwrap().notes;
        assert_eq!(notes.iter().any(|n| n.starts_with("helix starts")), apart, "{notes:?}");
    }
    for (text, words) in [
        (scene("link10", ""), "link10"),
        (scene("link19", "floating = true"), "make it with --floating"),
        (
            scene("link19", "[[mechanism.servo]]\njoints = [\"*\"]\nstiffness = 1\ndamping = 1"),
            "helix",
        ),
    ] {
        let message = refused(&text);
        assert!(message.contains(words), "{words:?} is not in {message:?}");
    }
    std::fs::remove_file(file).unwrap();
}

/// A scene of the repository after some seconds.
fn after(file: &str, seconds: f64) -> Scene {
    let mut scene = Scene::load(&scenes().join(file), Fidelity::Reduced).unwrap();
    for _ in 0..(seconds / scene.spec.world.step).round() as u64 {
        let report = scene.step();
        assert!(!matches!(report.status, WorldStatus::NotFinite { .. }), "{file}: {report:?}");
    }
    scene
}

/// World from a link of a scene's first mechanism.
fn link(scene: &Scene, name: &str) -> forks_sim::lie::Pose {
    let m = scene.mechanism(&scene.mechanisms[0].name).unwrap();
    let index = scene.world.link_names(m).unwrap().position(|n| n == name).unwrap();
    let mut poses = Vec::new();
    scene.world.link_poses(m, &mut poses).unwrap();
    poses[index]
}

#[test]
fn the_peg_is_in_its_hole_and_comes_out_again() {
    let peg = link(&after("peg.toml", 2.8), "peg").translation;
    // The hole's play is 0.3 mm on each side; its bottom is at 0.1 m.
    assert!((peg.x - 0.403).abs() < 4e-4 && (peg.y - 0.002).abs() < 4e-4, "{peg}");
    assert!(peg.z > 0.1 && peg.z < 0.125, "{peg}");
    let peg = link(&after("peg.toml", 5.0), "peg").translation;
    assert!((peg.z - 0.18).abs() < 1e-3, "{peg}");
}

#[test]
fn legged_machines_stay_upright_where_they_stood() {
    for (file, base) in [("hexapod.toml", "body"), ("solo12.toml", "base_link")] {
        let start = link(&after(file, 0.0), base);
        let end = link(&after(file, 8.0), base);
        let tilt = (end.rotation * start.rotation.conjugate()).to_axis_angle().1;
        let moved = end.translation - start.translation;
        println!("{file}: tilted by {tilt:.3} rad, moved by {moved:.4}");
        assert!(tilt < 0.2 && moved.length() < 0.06, "{file}: {tilt} rad, {moved}");
    }
}

#[test]
fn the_jumper_is_caught() {
    let scene = after("firefighters.toml", 3.0);
    let jumper = scene.body("jumper").unwrap();
    let (place, twist) =
        (scene.world.body_pose(jumper).unwrap(), scene.world.body_twist(jumper).unwrap());
    let bed = link(&scene, "bed").translation;
    assert!(place.translation.z > 0.7 && twist.linear.length() < 0.02, "{place:?} {twist:?}");
    let over = place.translation - bed;
    assert!(over.z > 0.1 && over.z < 0.2 && over.truncate().length() < 0.2, "{over}");
}
