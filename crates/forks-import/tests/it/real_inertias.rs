//! Tensors as files of real robots have them: noise is no fault, what does not move is not judged,
//! what is impossible is refused with the way out, and balanced where that is asked for.

use std::path::PathBuf;

use forks_dynamics::mass_matrix;
use forks_import::{Effect, Import, ImportOptions, Note, load_model, parse_mjcf, parse_urdf};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models/inertia_noise").join(name)
}

fn balance() -> ImportOptions {
    ImportOptions { balance_inertia: true, ..Default::default() }
}

/// The notes on tensors that cannot be; others ask whether units were meant.
fn judged(i: &Import) -> Vec<&Note> {
    let words = ["violate", "negative principal moment", "replaced"];
    i.notes.iter().filter(|n| words.iter().any(|w| n.reason.contains(w))).collect()
}

/// M of the only coordinate.
fn mass(i: &Import) -> f64 {
    mass_matrix(&i.mechanism, &i.mechanism.start_positions())[(0, 0)]
}

fn about(x: f64, y: f64) {
    assert!((x - y).abs() <= 1e-14 * y.abs(), "{x} is not {y}");
}

/// Noise was compared with the tensor's own largest moment, which was noise itself.
#[test]
fn noise_beside_mass_times_size_squared_is_no_fault() {
    for (name, expected) in [("point_mass_noise.urdf", 0.013), ("minus_1e-20.urdf", 0.03)] {
        let i = load_model(&fixture(name), &ImportOptions::default()).unwrap();
        about(mass(&i), expected);
        assert!(judged(&i).is_empty(), "{:?}", i.notes);
    }
}

/// The base was judged though it never moves.
#[test]
fn links_that_are_welded_to_the_world_are_not_judged() {
    let i = load_model(&fixture("fixed_base_template.urdf"), &ImportOptions::default()).unwrap();
    about(mass(&i), 0.02);
    let [note] = judged(&i)[..] else { panic!("{:?}", i.notes) };
    assert_eq!(note.effect, Effect::Ignored);
    assert!(note.element.contains("'base'") && note.reason.contains("does not count"), "{note}");
}

/// MuJoCo refuses it, Pinocchio takes it; no body has moments 0, 0, 0.03.
#[test]
fn a_template_tensor_on_a_moving_link_is_refused_or_balanced() {
    let path = fixture("all_equal.urdf");
    let e = load_model(&path, &ImportOptions::default()).unwrap_err().to_string();
    for word in ["all_equal.urdf:1", "link 'arm'", "0, 0, 0.03 violate", "--balance-inertia"] {
        assert!(e.contains(word), "{e}");
    }
    let i = load_model(&path, &balance()).unwrap();
    about(mass(&i), 0.03);
    assert_eq!(i.notes[0].effect, Effect::Approximated);
    assert!(i.notes[0].reason.contains("their mean, 0.01"), "{:?}", i.notes);
}

fn urdf(links: &[(&str, &str, &str)], joints: &[(&str, &str, &str, &str)]) -> String {
    let mut text = String::from("<robot name=\"r\"><link name=\"base\"/>");
    for (name, mass, inertia) in links {
        let [xx, yy, zz, xy]: [&str; 4] =
            inertia.split(' ').collect::<Vec<_>>().try_into().unwrap();
        text += &format!(
            "\n<link name=\"{name}\"><inertial><origin xyz=\"0.1 0 0\"/><mass \
            value=\"{mass}\"/><inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"{xy}\" \
            ixz=\"0\" iyz=\"0\"/></inertial></link>"
        );
    }
    for (kind, parent, child, x) in joints {
        text += &format!(
            "\n<joint name=\"to_{child}\" type=\"{kind}\"><parent link=\"{parent}\"/><child \
            link=\"{child}\"/><origin xyz=\"{x} 0 0\"/><axis xyz=\"0 1 0\"/></joint>"
        );
    }
    text + "</robot>"
}

/// A sensor with a template's tensor moves with the link that it is fixed to: the two together are
/// judged.
#[test]
fn links_that_are_fixed_to_a_moving_one_are_judged_with_it() {
    let arm = ("arm", "1", "0.01 0.01 0.01 0");
    let hinge = ("continuous", "base", "arm", "0");
    for tensor in ["1e-6 1e-6 1e-6 1e-6", "-1e-6 1e-6 1e-6 0"] {
        let fixed = [arm, ("sensor", "1e-6", tensor)];
        let text = urdf(&fixed, &[hinge, ("fixed", "arm", "sensor", "0.2")]);
        let i = parse_urdf(&text, &ImportOptions::default()).unwrap();
        about(mass(&i), 0.02 + 1e-6 + 1e-6 * 0.09);
        let [note] = judged(&i)[..] else { panic!("{:?}", i.notes) };
        assert_eq!(note.effect, Effect::Approximated);
        assert!(note.element.contains("'sensor'"));
        // On a joint of its own it is a body.
        let text = urdf(&fixed, &[hinge, ("continuous", "arm", "sensor", "0.2")]);
        let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("line 3: link 'sensor'"), "{e}");
    }
    // A fault of a tenth of the body's moments is the body's own, even where a tip that is welded
    // to it covers it.
    let wrong = [("arm", "0.1", "0.001 0.001 0.003 0"), ("tip", "0.1", "0.004 0.004 0.004 0")];
    let text = urdf(&wrong, &[hinge, ("fixed", "arm", "tip", "0")]);
    let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
    assert!(e.contains("link 'arm'"), "{e}");
    // A sensor that is heavier than the arm stays wrong in its company.
    let heavy = [arm, ("sensor", "1", "-1 1 1 0")];
    let text = urdf(&heavy, &[hinge, ("fixed", "arm", "sensor", "0.2")]);
    let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
    assert!(e.contains("link 'sensor'") && e.contains("negative principal moment -1"), "{e}");
}

/// Generated tensors of possible bodies with noise of relative size 1e-13 of m r² pass; violations
/// of a thousandth of the moments do not, wherever the joints are.
#[test]
fn generated_noise_passes_and_generated_faults_do_not() {
    let mut rng = forks_testkit::Rng::new(16);
    for case in 0..300 {
        let mass = 10f64.powf(rng.range(-3.0, 2.0));
        let size = 10f64.powf(rng.range(-2.0, 1.0));
        let part = mass * size * size * 10f64.powf(rng.range(-3.0, -1.0));
        let (a, b) = (part * rng.range(0.3, 1.0), part * rng.range(0.3, 1.0));
        let noise = 1e-13 * mass * size * size;
        let text = |moments: [f64; 3], off: f64| {
            let [x, y, z] = moments;
            let t = format!("{x:e} {y:e} {z:e} {off:e}");
            let m = format!("{mass:e}");
            let reach = format!("{size:e}");
            let links = [("arm", m.as_str(), t.as_str()), ("tip", "1", "1 1 1 0")];
            urdf(
                &links,
                &[("continuous", "base", "arm", "0"), ("continuous", "arm", "tip", &reach)],
            )
        };
        let read = |text: String| parse_urdf(&text, &ImportOptions::default());
        assert!(read(text([a, b, a + b], noise)).is_ok(), "case {case}");
        assert!(read(text([0.0, 0.0, 0.0], noise)).is_ok(), "case {case}");
        let e = read(text([a, b, (a + b) * 1.001], 0.0));
        let reach = size.max(0.1);
        let slack = 2e-6 * mass * reach * reach;
        assert!(e.is_err() || (a + b) * 1e-3 < slack, "case {case}");
        assert!(read(text([-1e-3 * (a + b), b, b], 0.0)).is_err(), "case {case}");
        let i = parse_urdf(&text([-1e-3 * (a + b), b, b], 0.0), &balance()).unwrap();
        assert_eq!(judged(&i).len(), 1);
        let mean = i.mechanism.links()[2].inertia.principal_moments();
        assert!((mean[0] - 2.0 * b / 3.0).abs() < 1e-14 * b, "case {case}");
    }
}

/// The same rules for MJCF: welded bodies are not judged, negative moments are balanced with a
/// note.
#[test]
fn mjcf_judges_what_moves() {
    let model = |inertial: &str, joint: &str, inner: &str| {
        format!(
            r#"<mujoco><worldbody><body name="a">{joint}<inertial pos="0.1 0 0" mass="1" {inertial}/>{inner}</body></worldbody></mujoco>"#
        )
    };
    let arm = r#"<body name="arm"><joint axis="0 1 0"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body>"#;
    for inertial in [
        r#"diaginertia="1e-6 1e-6 1e-5""#,
        r#"diaginertia="-1 1 1""#,
        r#"fullinertia="1e-6 1e-6 1e-6 1e-6 1e-6 1e-6""#,
    ] {
        let i = parse_mjcf(&model(inertial, "", arm), &ImportOptions::default()).unwrap();
        about(mass(&i), 0.02);
        let [note] = judged(&i)[..] else { panic!("{:?}", i.notes) };
        assert_eq!(note.effect, Effect::Ignored);
        let moving = model(inertial, r#"<joint axis="0 1 0"/>"#, "");
        let e = parse_mjcf(&moving, &ImportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("inertia"), "{e}");
        let i = parse_mjcf(&moving, &balance()).unwrap();
        let [note] = judged(&i)[..] else { panic!("{:?}", i.notes) };
        assert_eq!(note.effect, Effect::Approximated);
        let [p, _, r] = i.mechanism.links()[1].inertia.principal_moments();
        assert!(p > 0.0 && (r - p).abs() < 1e-12 * r);
    }
}

/// Every URDF of example-robot-data 6.0.0 was read: 23 of 69 were refused. Those that fixed bases,
/// noise or sensors were the reason for are the shapes above; hands whose moving links violate A +
/// B ≥ C by percents still need the option.
#[test]
fn measured_hands_need_the_option() {
    let links = [("arm", "0.0168", "0.0000023 0.0000034853 0.0000072659 0")];
    let text = urdf(&links, &[("continuous", "base", "arm", "0")]);
    let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
    assert!(e.contains("2.3e-6, 3.4853e-6, 7.2659e-6 violate A + B >= C"), "{e}");
    assert!(parse_urdf(&text, &balance()).is_ok());
}
