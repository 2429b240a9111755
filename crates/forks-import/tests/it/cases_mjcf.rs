//! Failures of importers that users reported in public, as small cases of our own; the number
//! stands in the test's name. More of them are beside what they belong to: b02, b04, b05, b06, b09,
//! b15, b37, b38, b40 in `semantics.rs`, b22 in `inertia.rs`, b42, b43 in `refusals.rs`, b44 in
//! `original_models.rs`, those that need forces or motion in `cases_motion.rs`, those of URDF in
//! its tests.

use crate::support;

use forks_import::mechanism::linalg::{Matrix, dense};
use forks_import::{ImportOptions, parse_mjcf};
use support::{about, load, mass_matrix, model};

/// Ball joints lost, or without their springs: Cassie came out with 28 velocities.
#[test]
fn b05_cassie_keeps_its_balls() {
    let m = load("agility_cassie/cassie.nomesh.xml").mechanism;
    assert_eq!((m.tree_position_count(), m.tree_velocity_count()), (35, 32));
}

/// MuJoCo takes −3, nan and inf; here each is refused by name.
#[test]
fn b08_negative_and_infinite_parameters_are_refused() {
    for name in ["stiffness", "damping"] {
        for value in ["-3", "nan", "inf", "-inf", "1e400", "1,5"] {
            let text = format!(
                r#"<mujoco><worldbody>
<body name="b"><geom size="1"/><joint name="j" {name}="{value}"/></body></worldbody></mujoco>"#
            );
            let e = parse_mjcf(&text, &ImportOptions::default()).unwrap_err().to_string();
            let wanted = format!("line 2: joint 'j': {name}=\"{value}\"");
            assert!(e.starts_with(&wanted), "{e}");
        }
    }
}

/// A soft closure takes its own compliance for that of the mechanism (0.37 mm to less than 0.1 µm
/// in MuJoCo, by solref and solimp); here closures are exact, whatever those say.
#[test]
fn b12_closures_do_not_give_way() {
    let body = r#"<body name="b"><joint type="slide"/><geom type="box" size=".5 .5 .5" mass="800"/></body>"#;
    let with = |attributes: &str| {
        let connect = format!(r#"<connect body1="b" anchor="0 0 0" {attributes}/>"#);
        model(body, &format!("<equality>{connect}</equality>"))
    };
    let stiff = with("");
    for soft in [r#"solref="0.5 1""#, r#"solref="-100 -1" solimp="0.1 0.2 0.5""#] {
        let i = with(soft);
        assert!(i.notes.is_empty(), "{:?}", i.notes);
        assert_eq!(i.mechanism.joints(), stiff.mechanism.joints());
    }
}

/// Inside a universal joint a link needs no mass of its own, at a moving end it does. MuJoCo
/// refuses both; here both are refused unless leaving out is asked for, and then the mass matrix
/// tells them apart.
#[test]
fn b20_massless_crosses_and_massless_leaves() {
    let solid = r#"<geom size=".1" pos="0 0 -.5"/>"#;
    let joint = |n: usize| format!(r#"<joint axis="{} {} 0"/>"#, n % 2, 1 - n % 2);
    let chain = |masses: [bool; 3]| {
        let mut text = String::from("<mujoco><worldbody>");
        for (n, mass) in masses.into_iter().enumerate() {
            let geom = if mass { solid } else { "" };
            text += &format!(r#"<body name="b{n}">{}{geom}"#, joint(n));
        }
        text + &"</body>".repeat(3) + "</worldbody></mujoco>"
    };
    let definite = |masses: [bool; 3]| {
        let text = chain(masses);
        let e = parse_mjcf(&text, &ImportOptions::default()).unwrap_err().to_string();
        let at = masses.iter().position(|m| !m).unwrap();
        assert!(e.contains(&format!("body 'b{at}'")) && e.contains("no mass"), "{e}");
        let lenient = ImportOptions { lenient: true, ..Default::default() };
        let m = parse_mjcf(&text, &lenient).unwrap().mechanism;
        let mass = mass_matrix(&m, &m.start_positions());
        dense::cholesky_solve(&mass, &Matrix::identity(3)).is_some()
    };
    assert!(definite([true, false, true]));
    assert!(!definite([true, true, false]));
}

/// Principal moments 1, 1, 3 are those of no body.
#[test]
fn b23_impossible_moments_are_refused_or_balanced() {
    let text = |compiler: &str| {
        format!(
            r#"<mujoco>{compiler}<worldbody><body name="b"><joint/>
            <inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body></worldbody></mujoco>"#
        )
    };
    let e = parse_mjcf(&text(""), &ImportOptions::default()).unwrap_err().to_string();
    assert!(e.contains("link 'b'") && e.contains("A + B >= C"), "{e}");
    let asked = ImportOptions { balance_inertia: true, ..Default::default() };
    let balanced = text(r#"<compiler balanceinertia="true"/>"#);
    for (text, options) in [(balanced, ImportOptions::default()), (text(""), asked)] {
        let m = parse_mjcf(&text, &options).unwrap().mechanism;
        // MuJoCo: 1.667 three times, the mean.
        m.links()[1].inertia.principal_moments().iter().for_each(|p| about(*p, 5.0 / 3.0, 1e-15));
    }
}

/// A gram that carries a ton over two hinges.
#[test]
fn b26_a_light_link_under_a_heavy_one() {
    let m = model(
        r#"<body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".02" mass=".001"/>
           <body pos="1 0 0"><joint axis="0 1 0"/><geom size=".02" mass="1000"/></body></body>"#,
        "",
    )
    .mechanism;
    let mass = mass_matrix(&m, &m.start_positions());
    // Closed forms: a ball of 2/5 m r² at the end of the bar, and the bar's own 10⁻³ kg.
    about(mass[(1, 1)], 0.16, 1e-15);
    about(mass[(0, 1)], 0.16, 1e-15);
    let (values, _) = dense::symmetric_eigen(&mass).unwrap();
    // 6.3e3 by MuJoCo 4.0.0, two digits.
    about(values[1] / values[0], 6252.0, 1.0);
}

/// A rest position outside the range stays where it is, and so does the range.
#[test]
fn b45_rest_pose_outside_the_range() {
    let i = model(r#"<body><geom size="1"/><joint range="65 295" stiffness="3"/></body>"#, "");
    let j = &i.mechanism.joints()[0];
    let spring = j.spring.as_ref().unwrap();
    assert_eq!((j.start[0], spring.rest[0], spring.stiffness.get(0, 0)), (0.0, 0.0, 3.0));
    let limit = j.limits[0].unwrap();
    assert_eq!(limit.lower, 65.0 / 180.0 * std::f64::consts::PI);
    assert_eq!(limit.upper, 295.0 / 180.0 * std::f64::consts::PI);
}

/// The table of the scene weighs two tons and stands in the world.
#[test]
fn b48_welded_scenery_does_not_move() {
    let m = load("fetch_reach_includes/nomesh/reach.xml").mechanism;
    about(m.total_mass(), 2120.52, 5e-3);
    assert!(m.moving_mass() < 150.0, "{}", m.moving_mass());
    let table = m.find_link("table0").unwrap();
    assert!(m.link(table).inertia.mass >= 2000.0 - 1e-9);
}
