//! Forms that comparison with generated files brought to light (`cargo xtask sweep --generate`).
//! Expected values are MuJoCo 4.0.0's.

use crate::support;

use forks_import::mechanism::{JointKind, lie::glam::DVec3};
use support::{UNIT, about, model, noted};

#[test]
fn a_geom_that_names_a_mesh_is_a_sphere_fitted_to_it_unless_it_says_mesh() {
    // 15.9366 kg and 0.155356 kg·m² of MuJoCo's sphere, 19.1667 kg of the tetrahedron itself.
    let asset = r#"<asset><mesh name="m" inertia="exact" vertex="0 0 0 .4 0 .1 0 .5 0 .1 .1 .6"
        face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset>"#;
    let class = r#"<default><default class="shape"><geom type="mesh"/></default></default>"#;
    for (geom, mass) in [
        (r#"mesh="m""#, 15.93664977),
        (r#"mesh="m" type="sphere""#, 15.93664977),
        (r#"mesh="m" type="mesh""#, 19.16666773),
        (r#"mesh="m" class="shape""#, 19.16666773),
    ] {
        let body = format!(r#"<body name="b"><joint/><geom {geom}/></body>"#);
        let i = model(&body, &format!("{asset}{class}"));
        about(i.mechanism.total_mass(), mass, 1e-5);
    }
}

#[test]
fn attributes_without_text_say_nothing() {
    let around = r#"<default><joint armature="0.3" axis="0 1 0"/></default>"#;
    let m = model(&format!(r#"<body>{UNIT}<joint armature="" axis=" " pos=""/></body>"#), around);
    let j = &m.mechanism.joints()[0];
    assert_eq!(j.armature, [0.3]);
    assert_eq!(j.kind, JointKind::Revolute { axis: DVec3::Y });
}

#[test]
fn of_several_targets_of_an_actuator_the_last_kind_counts() {
    let around = |targets: &str| {
        format!(
            r#"<tendon><fixed name="t"><joint joint="k" coef="2"/></fixed></tendon>
               <actuator><position name="s" kp="7" {targets}/></actuator>"#
        )
    };
    let body = format!(
        r#"<body>{UNIT}<joint name="j"/><body>{UNIT}<joint name="k" axis="0 1 0"/></body></body>"#
    );
    for (targets, joint, coefficient) in [
        (r#"jointinparent="k" joint="j""#, "k", 1.0),
        (r#"joint="k" jointinparent="j""#, "j", 1.0),
        (r#"tendon="t" joint="j""#, "k", 2.0),
    ] {
        let i = model(&body, &around(targets));
        let m = &i.mechanism;
        let (c, a) = m.servos()[0].combination.terms[0];
        assert_eq!((m.joint(c.joint).name.as_str(), a), (joint, coefficient), "{targets}");
        assert!(i.notes.iter().any(|n| n.element == "position 's'"), "{:?}", i.notes);
    }
}

#[test]
fn a_short_keyframe_leaves_the_rest_at_the_start() {
    let i = model(
        &format!(
            r#"<body>{UNIT}<joint ref="30"/><body>{UNIT}<joint axis="0 1 0" ref="60"/>
               <body>{UNIT}<joint type="ball"/></body></body></body>"#
        ),
        r#"<keyframe><key name="k" qpos="1"/><key qpos="1 2 .5 .5"/></keyframe>"#,
    );
    let keys = i.mechanism.keyframes();
    about(keys[0].positions[1], std::f64::consts::FRAC_PI_3, 1e-15);
    assert_eq!(keys[0].positions[2..], [1.0, 0.0, 0.0, 0.0]);
    let h = 0.5f64.sqrt();
    keys[1].positions[2..].iter().zip([h, h, 0.0, 0.0]).for_each(|(x, e)| about(*x, e, 1e-15));
    noted(&i, "key 'k'", "qpos");
}
