//! What single elements mean. Expected values are MuJoCo 4.0.0's unless a closed form is given.

use crate::support;

use forks_import::mechanism::{
    JointId, JointKind, Mechanism,
    kinematics::loops,
    lie::{Pose, glam::DVec3, so3::quaternion_from_wxyz},
};
use forks_import::{Effect, ImportOptions, load_mjcf, parse_mjcf};
use support::{UNIT, about, model, models, noted, passive_forces, read};

/// The properties of one joint of a body of unit inertia.
fn joint(attributes: &str, around: &str) -> forks_import::mechanism::Joint {
    let i = model(&format!("<body>{UNIT}<joint {attributes}/></body>"), around);
    i.mechanism.joints()[0].clone()
}

fn stiffness(m: &Mechanism, joint: usize) -> f64 {
    m.joints()[joint].spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0))
}

#[test]
fn b02_springdamper_replaces_stiffness_and_damping() {
    // 1.3 kg at 0.1 m with 0.038 kg·m² about the axis: k = I/(T²ζ²), d = 2I/T.
    let i = model(
        r#"<body><inertial pos=".1 0 0" mass="1.3" diaginertia=".025 .025 .025"/>
           <joint springdamper="0.1 0.5" stiffness="7" damping="9"/></body>"#,
        "",
    );
    about(stiffness(&i.mechanism, 0), 15.2, 1e-12);
    about(i.mechanism.joints()[0].damping.get(0, 0), 0.76, 1e-13);
    // A ball in front of another link, and a free joint: the mean over their coordinates.
    let i = model(
        r#"<body><geom size=".1" pos=".3 0 0"/><joint type="ball" springdamper="0.1 0.5"/>
           <body pos=".5 0 0"><joint axis="0 1 0" armature=".1"/><geom size=".1" pos=".3 0 0"/></body></body>"#,
        "",
    );
    about(stiffness(&i.mechanism, 0), 38.47385279, 1e-8);
    about(i.mechanism.joints()[0].damping.get(1, 1), 1.92369264, 1e-8);
    let i = model(
        r#"<body><geom size=".1" pos=".3 0 0"/><joint type="free" springdamper="0.1 0.5"/></body>"#,
        "",
    );
    about(stiffness(&i.mechanism, 0), 12.59786528, 1e-8);
    assert_eq!(noted(&i, "joint", "stiffness").effect, Effect::Approximated);
}

#[test]
fn b04_class_replaces_childclass_and_nested_classes_inherit() {
    let around = r#"<default>
        <joint damping="3"/>
        <default class="a"><joint stiffness="5"/>
          <default class="aa"><joint armature=".2"/></default>
        </default>
        <default class="b"><joint armature=".7"/></default>
      </default>"#;
    let i = model(
        &format!(
            r#"<body childclass="a">{UNIT}<joint class="b"/><body>{UNIT}<joint/>
          <body>{UNIT}<joint class="aa"/><body>{UNIT}<frame childclass="b"><joint/></frame></body></body></body></body>"#
        ),
        around,
    );
    let m = &i.mechanism;
    let facts: Vec<_> = m
        .joints()
        .iter()
        .enumerate()
        .map(|(k, j)| (stiffness(m, k), j.armature[0], j.damping.get(0, 0)))
        .collect();
    assert_eq!(facts, [(0.0, 0.7, 3.0), (5.0, 0.0, 3.0), (5.0, 0.2, 3.0), (0.0, 0.7, 3.0)]);
}

#[test]
fn lists_are_completed_by_their_class() {
    let i = model(
        r#"<geom type="box" size=".5"/><geom type="box" class="c"/>"#,
        r#"<default><geom size="1 2 3"/><default class="c"><geom size="7"/></default></default>"#,
    );
    let boxes: Vec<_> = i.mechanism.shapes().iter().map(|s| s.geometry.clone()).collect();
    let half = |x| forks_import::mechanism::Geometry::Box { half_extents: DVec3::new(x, 2.0, 3.0) };
    assert_eq!(boxes, [half(0.5), half(7.0)]);
    let i = model(
        &format!(r#"<body>{UNIT}<joint stiffness="5"/></body>"#),
        r#"<default><joint stiffness="1 2 3"/></default>"#,
    );
    assert_eq!(noted(&i, "joint", "stiffness").effect, Effect::Approximated);
}

#[test]
fn later_top_level_defaults_do_not_reach_earlier_classes() {
    let i = model(
        r#"<geom class="a"/><geom size="2"/>"#,
        r#"<default><default class="a"><geom size="1"/></default></default><default><geom friction="7"/></default>"#,
    );
    let friction: Vec<f64> = i.mechanism.shapes().iter().map(|s| s.friction).collect();
    assert_eq!(friction, [1.0, 7.0]);
}

#[test]
fn b05_balls_pull_the_short_way() {
    let i = model(&format!(r#"<body>{UNIT}<joint type="ball" stiffness="0.8"/></body>"#), "");
    let m = &i.mechanism;
    let force = |degrees: f64| {
        let (s, c) = (0.5 * degrees.to_radians()).sin_cos();
        passive_forces(m, &[c, 0.0, 0.0, s], true)[2]
    };
    about(force(40.0), -0.5585, 5e-5);
    about(force(200.0), 2.234, 5e-4);
}

#[test]
fn b06_slides_are_in_metres_in_degree_files_too() {
    for angle in ["degree", "radian"] {
        let compiler = format!(r#"<compiler angle="{angle}"/>"#);
        let j = joint(
            r#"type="slide" stiffness="10" springref=".25" ref=".5" range="-1 2""#,
            &compiler,
        );
        let s = j.spring.unwrap();
        assert_eq!((s.rest[0], j.reference[0]), (0.25, 0.5));
        assert_eq!(j.limits[0].map(|l| (l.lower, l.upper)), Some((-1.0, 2.0)));
    }
    let j = joint(r#"stiffness="10" springref="90" ref="180" range="-90 360""#, "");
    let pi = std::f64::consts::PI;
    assert_eq!((j.spring.unwrap().rest[0], j.reference[0]), (pi / 2.0, pi));
    assert_eq!(j.limits[0].map(|l| (l.lower, l.upper)), Some((-pi / 2.0, 2.0 * pi)));
}

#[test]
fn b09_four_bar_closed_by_points_and_by_a_weld() {
    // Ground 1.0, crank 0.4 at 60°, coupler 0.9, rocker 0.7; hinges about y.
    let angle = 60f64.to_radians();
    let (bx, bz) = (0.4 * angle.cos(), 0.4 * angle.sin());
    let d = ((1.0 - bx) * (1.0 - bx) + bz * bz).sqrt();
    let (along, tilt) = ((0.81 + d * d - 0.49) / (2.0 * d), (-bz).atan2(1.0 - bx));
    let up = (along / 0.9).acos() + tilt;
    let (cx, cz) = (0.9 * up.cos(), 0.9 * up.sin());
    let text = |loops: &str| {
        format!(
            r#"<mujoco><worldbody>
              <body name="crank"><joint axis="0 1 0"/><geom size=".1"/>
                <body name="coupler" pos="{bx} 0 {bz}"><joint axis="0 1 0"/><geom size=".1"/></body></body>
              <body name="rocker" pos="1 0 0"><joint axis="0 1 0"/><geom size=".1"/></body>
            </worldbody><equality>{loops}</equality></mujoco>"#
        )
    };
    let point = format!(r#"<connect body1="coupler" body2="rocker" anchor="{cx} 0 {cz}"/>"#);
    let beside = format!(r#"<connect body1="coupler" body2="rocker" anchor="{cx} .1 {cz}"/>"#);
    let weld = r#"<weld body1="coupler" body2="rocker"/>"#.to_owned();
    // Motions of the three hinges that are left: rank 2, 2 and 3 in MuJoCo.
    for (loops_text, motions) in [(point.clone(), 1), (point + &beside, 1), (weld, 0)] {
        let m = read(&text(&loops_text)).mechanism;
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let residual = loops::constraint_residual(&m, &q, &poses);
        assert!(residual.iter().all(|r| r.abs() < 1e-15), "{residual:?}");
        let g = loops::constraint_jacobian(&m, &q, &poses);
        let (rank, _) = forks_import::mechanism::linalg::dense::nullspace(&g, 1e-9).unwrap();
        assert_eq!(m.velocity_count() - rank, motions, "{loops_text}");
    }
}

#[test]
fn b15_welds_hold_what_is_omitted() {
    let bodies = r#"<body name="a" pos="1 0 0" euler="0 0 90"><freejoint/><geom size=".1"/></body>
                    <body name="b" pos="0 1 0"><freejoint/><geom size=".1"/></body>"#;
    let weld = |attributes: &str| {
        let m = model(bodies, &format!("<equality><weld {attributes}/></equality>")).mechanism;
        let q = m.start_positions();
        let r = loops::constraint_residual(&m, &q, &m.link_poses(&q));
        (m.joints().last().unwrap().clone(), r.iter().fold(0.0f64, |a, x| a.max(x.abs())))
    };
    // Body2 and relative pose omitted: satisfied at the start.
    let (j, residual) = weld(r#"body1="a""#);
    assert!(residual < 1e-15 && j.child == forks_import::mechanism::LinkId::WORLD);
    // MuJoCo's data for the anchor in body1 and the relative quaternion.
    let (j, residual) = weld(r#"body1="a" body2="b" anchor="1 2 3""#);
    assert!(residual < 1e-14);
    assert!(j.parent_from_joint.translation.distance(DVec3::new(3.0, 0.0, 3.0)) < 1e-15);
    let q = quaternion_from_wxyz([1.0, 0.0, 0.0, -1.0]).normalize();
    assert!(j.parent_from_joint.rotation.angle_between(q) < 1e-7);
    // A relative pose with a quaternion of length zero is as good as none.
    let (_, residual) = weld(r#"body1="a" relpose="1 2 3 0 0 0 0" anchor="4 5 6""#);
    assert!(residual < 1e-14);
    let (j, residual) = weld(r#"body1="a" relpose="1 2 3 2 0 0 1""#);
    assert!(residual > 1.0);
    assert!((j.parent_from_joint.rotation.w - 0.89442719).abs() < 1e-8);
    // Without torques only the point is held.
    let (j, _) = weld(r#"body1="a" torquescale="0""#);
    assert_eq!(j.kind, JointKind::Spherical);
}

#[test]
fn b37_euler_sequences_and_merged_compilers() {
    let facts = [
        ("xyz", [0.7852, 0.3600, 0.1966, 0.4638]),
        ("XYZ", [0.8600, 0.0808, 0.4022, 0.3034]),
        ("zyx", [0.8600, 0.3034, 0.4022, 0.0808]),
    ];
    for (sequence, q) in facts {
        // Several compiler elements merge: the unit of the first, the sequence of the last.
        let around = format!(
            r#"<compiler angle="degree" eulerseq="XXX"/><compiler eulerseq="{sequence}"/>"#
        );
        let i = model(r#"<site name="s" euler="30 40 50"/>"#, &around);
        let r = i.mechanism.frames()[0].link_from_frame.rotation;
        for (x, e) in [r.w, r.x, r.y, r.z].into_iter().zip(q) {
            about(x, e, 5e-5);
        }
    }
}

#[test]
fn orientations() {
    let site = |attributes: &str| {
        let i = model(&format!(r#"<site name="s" {attributes}/>"#), "");
        i.mechanism.frames()[0].link_from_frame
    };
    let turned = |p: Pose, wxyz: [f64; 4]| {
        let q = quaternion_from_wxyz(wxyz).normalize();
        let gap = (p.rotation - q).length().min((p.rotation + q).length());
        assert!(gap < 1e-8, "{:?} instead of {q:?}", p.rotation);
    };
    turned(site(r#"xyaxes="1 1 0 0 1 1""#), [0.82047324, 0.4247082, 0.1759199, 0.33985114]);
    turned(site(r#"zaxis="0 0 -1""#), [0.0, 1.0, 0.0, 0.0]);
    turned(site(r#"axisangle="0 0 2 90""#), [1.0, 0.0, 0.0, 1.0]);
    let p = site(r#"fromto="0 0 0 0 1 0" size=".1" type="capsule""#);
    turned(p, [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(p.translation, DVec3::new(0.0, 0.5, 0.0));
    // An element's own orientation replaces the one of its class, in whatever form they are.
    let i = model(
        r#"<site name="a" quat="0 1 0 0"/><site name="b" axisangle="1 0 0 90"/><site name="c"/>"#,
        r#"<default><site euler="0 0 90"/></default>"#,
    );
    let f = i.mechanism.frames();
    turned(f[0].link_from_frame, [0.0, 1.0, 0.0, 0.0]);
    turned(f[1].link_from_frame, [1.0, 1.0, 0.0, 0.0]);
    turned(f[2].link_from_frame, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn b38_several_joints_on_one_body() {
    // A hinge z at the origin, then a hinge y at x = 0.5; centre of mass at x = 1.
    let i = model(
        r#"<body name="b"><inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/>
           <joint name="first" axis="0 0 1"/><joint name="second" axis="0 1 0" pos=".5 0 0"/></body>"#,
        "",
    );
    let m = &i.mechanism;
    let right = std::f64::consts::FRAC_PI_2;
    let poses = m.link_poses(&[right, right]);
    let b = m.find_link("b").unwrap();
    let com = poses[b.index()].transform_point(DVec3::X);
    assert!(com.distance(DVec3::new(0.0, 0.5, -0.5)) < 1e-15, "{com}");
    let aux = m.link(m.joint(JointId::new(0)).child);
    assert!(aux.auxiliary && aux.name == "b/first");
}

#[test]
fn b40_roots_keep_their_place() {
    // A cart-pole whose cart is the root body.
    let i = model(
        r#"<body name="cart" pos="0 0 1"><joint type="slide" axis="1 0 0" name="slider"/><geom size=".1"/>
             <body name="pole" pos="0 0 .1"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos="0 0 .5"/>
               <site name="tip" pos="0 0 1"/></body></body>
           <body pos="1 2 3"><geom size=".1"/><body name="door"><joint name="d"/><geom size=".1"/></body></body>"#,
        "",
    );
    let m = &i.mechanism;
    let poses = m.link_poses(&m.start_positions());
    let at = |name: &str| poses[m.find_link(name).unwrap().index()].translation;
    assert_eq!(at("pole"), DVec3::new(0.0, 0.0, 1.1));
    assert_eq!(at("door"), DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(m.frames()[0].link, m.find_link("pole").unwrap());
    let welded = m.joint(m.forest().carrying_edge(m.find_link("#3").unwrap()).unwrap().joint);
    assert!(welded.implicit && welded.kind == JointKind::Fixed);
    assert_eq!(m.tree_position_count(), 3);
}

#[test]
fn frames_move_what_they_hold() {
    let i = model(
        r#"<frame pos="1 2 3" euler="0 0 90"><body name="b" pos="1 0 0"><geom size="1"/><freejoint/></body></frame>
           <body name="c"><frame pos="1 2 3" euler="0 0 90"><frame pos="1 0 0">
             <joint pos="0 0 1" axis="1 0 0"/><inertial pos="0 1 0" mass="1" diaginertia="1 2 2.5"/></frame></frame></body>"#,
        "",
    );
    let m = &i.mechanism;
    let q = m.start_positions();
    let h = std::f64::consts::FRAC_1_SQRT_2;
    for (x, e) in q[..7].iter().zip([1.0, 3.0, 3.0, h, 0.0, 0.0, h]) {
        about(*x, e, 1e-15);
    }
    let j = &m.joints()[1];
    assert!(matches!(j.kind, JointKind::Revolute { axis } if axis.distance(DVec3::Y) < 1e-15));
    assert!(j.child_from_joint.translation.distance(DVec3::new(1.0, 3.0, 4.0)) < 1e-15);
    let inertia = m.link(j.child).inertia;
    assert!(inertia.center_of_mass.distance(DVec3::new(0.0, 3.0, 3.0)) < 1e-15);
    about(inertia.inertia.x_axis.x, 2.0, 1e-15);
}

#[test]
fn limits_follow_autolimits() {
    assert!(joint(r#"range="0 1""#, "").limits[0].is_some());
    assert!(joint(r#"range="0 1" limited="false""#, "").limits[0].is_none());
    assert!(
        joint(r#"range="0 1" limited="true""#, r#"<compiler autolimits="false"/>"#).limits[0]
            .is_some()
    );
    // MuJoCo takes a range that runs backwards for no limit unless it is asked for one.
    assert!(joint(r#"range="10 5""#, "").limits[0].is_none());
}

#[test]
fn tendons_rest_where_they_say() {
    let rest = |attributes: &str| {
        let i = model(
            &format!(r#"<body>{UNIT}<joint name="j" springref="30" ref="10"/></body>"#),
            &format!(
                r#"<tendon><fixed stiffness="1" {attributes}><joint joint="j" coef="2"/></fixed></tendon>"#
            ),
        );
        (i.mechanism.combination_springs()[0].rest, i.notes.len())
    };
    about(rest("").0, std::f64::consts::FRAC_PI_3, 1e-15);
    assert_eq!(rest(r#"springlength=".3""#), (0.3, 0));
    let start = 2.0 * (10.0 / 180.0 * std::f64::consts::PI);
    assert_eq!(rest(r#"springlength="0 .5""#), (start, 1));
    assert_eq!(rest(r#"springlength="0 .1""#), (0.1, 1));
    assert_eq!(rest(r#"springlength=".5 .6""#), (0.5, 1));
}

#[test]
fn couplings_are_about_the_reference() {
    let i = model(
        &format!(
            r#"<body>{UNIT}<joint name="y" ref="30"/></body><body>{UNIT}<joint name="x" ref="10"/></body>"#
        ),
        r#"<tendon><fixed name="ty"><joint joint="y" coef="2"/></fixed><fixed name="tx"><joint joint="x" coef="3"/></fixed></tendon>
           <equality><joint joint1="y" joint2="x" polycoef=".1 .5 .25"/><joint joint1="y" polycoef=".2"/>
             <tendon tendon1="ty" tendon2="tx" polycoef=".3 2"/><tendon tendon1="ty"/>
             <joint joint1="y" joint2="x" active="false"/></equality>"#,
    );
    let m = &i.mechanism;
    let q0 = m.start_positions();
    let residual = |dy: f64, dx: f64| {
        let q = [q0[0] + dy, q0[1] + dx];
        loops::constraint_residual(m, &q, &m.link_poses(&q))
    };
    let (dy, dx) = (0.7, -0.4);
    let wanted = [
        dy - (0.1 + 0.5 * dx + 0.25 * dx * dx),
        dy - 0.2,
        2.0 * dy - (0.3 + 2.0 * 3.0 * dx),
        2.0 * dy,
    ];
    for (x, e) in residual(dy, dx).into_iter().zip(wanted) {
        about(x, e, 1e-15);
    }
    assert_eq!(m.couplings().len(), 4);
    assert_eq!(noted(&i, "joint", "active").effect, Effect::Ignored);
}

#[test]
fn flags_switch_off() {
    let body =
        format!(r#"<body name="b" gravcomp="1">{UNIT}<joint stiffness="1" damping="2"/></body>"#);
    let off = |flag: &str| {
        model(
            &body,
            &format!(
                r#"<option><flag {flag}/></option><equality><connect body1="b" anchor="0 0 0"/></equality>"#
            ),
        )
    };
    let i = off(r#"gravity="disable""#);
    assert_eq!(i.mechanism.gravity(), DVec3::ZERO);
    let i = off(r#"spring="disable""#);
    assert_eq!((stiffness(&i.mechanism, 0), i.mechanism.joints()[0].damping.get(0, 0)), (0.0, 2.0));
    assert_eq!(noted(&i, "flag", "spring").effect, Effect::Ignored);
    let i = off(r#"equality="disable""#);
    assert!(i.mechanism.forest().closures().is_empty());
    let i = off(r#"spring="disable" damper="disable""#);
    assert_eq!(i.mechanism.links()[1].gravity_compensation, 0.0);
}

#[test]
fn nonlinear_forces_are_noted() {
    let i = model(
        &format!(
            r#"<body>{UNIT}<joint name="j" stiffness="1 2 3" damping="4 0 5" frictionloss=".1" springyield="1"/></body>"#
        ),
        r#"<contact><pair geom1="g" geom2="h"/></contact><sensor/><option density="1.2"/>"#,
    );
    let kinds: Vec<_> =
        i.notes.iter().map(|n| (n.element.as_str(), n.attribute.as_str(), n.effect)).collect();
    for wanted in [
        ("joint 'j'", "stiffness", Effect::Approximated),
        ("joint 'j'", "damping", Effect::Approximated),
        ("joint 'j'", "springyield", Effect::Approximated),
        ("contact/pair", "", Effect::Ignored),
        ("sensor", "", Effect::Ignored),
        ("option", "density", Effect::Ignored),
    ] {
        assert!(kinds.contains(&wanted), "{wanted:?} in {kinds:?}");
    }
    assert_eq!(stiffness(&i.mechanism, 0), 1.0);
    assert_eq!(i.mechanism.joints()[0].friction, [0.1]);
    assert_eq!(i.notes.iter().find(|n| n.attribute == "springyield").unwrap().line, Some(1));
}

#[test]
fn keyframes_hold_unit_quaternions() {
    let i = model(
        r#"<body><freejoint/><geom size="1"/><body><joint ref="30"/><geom size="1"/></body></body>"#,
        r#"<keyframe><key name="k" qpos="1 2 3 2 0 0 0 .5" qvel="0 0 0 0 0 0 1"/><key/></keyframe>"#,
    );
    assert_eq!(noted(&i, "key", "qvel").effect, Effect::Ignored);
    let k = i.mechanism.keyframes();
    assert_eq!(k[0].positions, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.5]);
    assert_eq!(k[1].positions, i.mechanism.start_positions());
}

#[test]
fn static_meshes_are_dropped_with_a_note() {
    let asset = r#"<asset><mesh name="m" file="m.stl"/></asset>"#;
    let i =
        model(r#"<geom type="mesh" mesh="m"/><body><geom mesh="m" type="mesh"/></body>"#, asset);
    assert_eq!(noted(&i, "geom", "mesh").effect, Effect::Ignored);
    // Explicit inertia, or a shape without mass beside one that has some.
    let body = r#"<body><joint/><geom type="mesh" mesh="m" mass="0"/><geom size="1"/></body>"#;
    assert!(model(body, asset).mechanism.total_mass() > 0.0);
}

#[test]
fn includes_of_every_shape() {
    // Body lists and whole models, in sections and at the top, relative to the main file.
    let i = load_mjcf(
        &models().join("fetch_reach_includes/nomesh/reach.xml"),
        &ImportOptions::default(),
    )
    .unwrap();
    assert_eq!(noted(&i, "body 'robot0:mocap'", "mocap").effect, Effect::Approximated);
    let note = i.notes.iter().find(|n| n.element.contains("mocap")).unwrap();
    assert!(note.file.as_ref().unwrap().ends_with("robot.xml") && note.line.is_some());
}

#[test]
fn lenient_reading_notes_instead() {
    let text = r#"<mujoco><worldbody><body><joint name="j"/><geom size="1"/><composite type="cable"/></body>
        <site name="s"/></worldbody>
        <tendon><spatial name="t"><site site="s"/></spatial></tendon></mujoco>"#;
    assert!(parse_mjcf(text, &ImportOptions::default()).is_err());
    let i = parse_mjcf(text, &ImportOptions { lenient: true, ..Default::default() }).unwrap();
    assert_eq!(noted(&i, "composite", "").effect, Effect::Ignored);
    assert_eq!(noted(&i, "spatial 't'", "").effect, Effect::Ignored);
}

#[test]
fn quaternion_signs_are_those_of_the_file() {
    let i = model(r#"<body quat="-2 0 0 0"><joint type="free"/><geom size=".1"/></body>"#, "");
    assert_eq!(i.mechanism.start_positions()[3], -1.0);
    // Frames given by axes have the sign that MuJoCo gives them.
    let axes = r#"<body xyaxes="0.04617 0.3623 -0.06369 -0.05311 -0.3623 -0.4766"><freejoint/><geom size=".1"/></body>"#;
    let q = model(axes, "").mechanism.start_positions();
    let wanted = [-0.4920638877, 0.5658093403, 0.4165227160, -0.5140445];
    q[3..7].iter().zip(wanted).for_each(|(x, e)| about(*x, e, 1e-9));
}
