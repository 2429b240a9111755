//! What single elements mean. Expected values are MuJoCo 4.0.0's unless a closed form is given.

mod support;

use forks_import::mechanism::{
    JointId, JointKind, Mechanism,
    lie::{Pose, glam::DVec3, quaternion_from_wxyz},
    loops,
};
use forks_import::{Effect, Import, ImportOptions, Note, load_mjcf, parse_mjcf};
use support::{models, passive_forces};

fn read(text: &str) -> Import {
    parse_mjcf(text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// A model with `body` in its world and `around` beside it.
fn model(body: &str, around: &str) -> Import {
    read(&format!("<mujoco>{around}<worldbody>{body}</worldbody></mujoco>"))
}

/// A body with unit mass and inertia.
const UNIT: &str = r#"<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>"#;

/// The properties of one joint of a body of unit inertia.
fn joint(attributes: &str, around: &str) -> forks_import::mechanism::Joint {
    let i = model(&format!("<body>{UNIT}<joint {attributes}/></body>"), around);
    i.mechanism.joints()[0].clone()
}

fn stiffness(m: &Mechanism, joint: usize) -> f64 {
    m.joints()[joint].spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0))
}

fn noted<'a>(i: &'a Import, element: &str, attribute: &str) -> &'a Note {
    i.notes
        .iter()
        .find(|n| n.element.starts_with(element) && n.attribute == attribute)
        .unwrap_or_else(|| panic!("no note about {element} {attribute} in {:?}", i.notes))
}

/// Equal to a few digits of the printed value.
fn about(x: f64, expected: f64, digit: f64) {
    assert!((x - expected).abs() <= digit, "{x} instead of {expected}");
}

#[test]
fn springdamper_replaces_stiffness_and_damping() {
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
fn class_replaces_childclass_and_nested_classes_inherit() {
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
fn balls_pull_the_short_way() {
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
fn slides_are_in_metres_in_degree_files_too() {
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
fn four_bar_closed_by_points_and_by_a_weld() {
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
    for (loops_text, motions) in [(point.clone(), 1), (point + &beside, 1), (weld, 0)] {
        let m = read(&text(&loops_text)).mechanism;
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let residual = loops::constraint_residual(&m, &q, &poses);
        assert!(residual.iter().all(|r| r.abs() < 1e-15), "{residual:?}");
        let g = loops::constraint_jacobian(&m, &q, &poses);
        let (rank, _) = forks_import::mechanism::dense::nullspace(&g, 1e-9).unwrap();
        assert_eq!(m.velocity_count() - rank, motions, "{loops_text}");
    }
}

#[test]
fn welds_hold_what_is_omitted() {
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
fn zero_inertia_is_no_matter_on_welded_tool_frames() {
    let tool = r#"<body name="tcp" pos="0 0 1"><inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/></body>"#;
    let i = model(&format!("<body>{UNIT}<joint/>{tool}</body>"), "");
    assert!(i.mechanism.find_link("tcp").is_some() && i.mechanism.total_mass() == 1.0);
    // A massless body with joints moves the mass that is welded to it.
    let i = model(&format!("<body><joint/><body>{UNIT}</body></body>"), "");
    assert_eq!(i.mechanism.moving_mass(), 1.0);
}

#[test]
fn mass_rules_of_the_compiler() {
    let moments = |body: &str, compiler: &str| {
        let i = model(body, &format!("<compiler {compiler}/>"));
        let l = i.mechanism.links().last().unwrap().inertia;
        (l.mass, l.principal_moments())
    };
    let skew = r#"<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>"#;
    let (_, p) = moments(skew, r#"balanceinertia="true""#);
    p.iter().for_each(|p| about(*p, 5.0 / 3.0, 1e-15));
    let zero = skew.replace("1 1 3", "0 1 3");
    let (_, p) = moments(&zero, r#"balanceinertia="true" boundinertia="1.2""#);
    p.iter().for_each(|p| about(*p, 1.8, 1e-15));
    assert_eq!(moments("<body/>", r#"boundmass="3" boundinertia=".1""#), (3.0, [0.1; 3]));
    // MuJoCo puts such mass at the body's position, in the body's own frame.
    let i = model(r#"<body pos="1 2 3"/>"#, r#"<compiler boundmass="3" boundinertia=".1"/>"#);
    assert_eq!(i.mechanism.links()[1].inertia.center_of_mass, DVec3::new(1.0, 2.0, 3.0));
    let two = r#"<body><joint/><geom size=".1"/><geom size=".2" group="2"/></body>"#;
    about(moments(two, r#"inertiagrouprange="2 3""#).0, 33.51032164, 1e-8);
    let both = r#"<body><joint/><inertial pos="1 1 1" mass="3" diaginertia="1 1 1"/><geom size=".1"/></body>"#;
    about(moments(both, r#"inertiafromgeom="true""#).0, 4.1887902, 1e-7);
    assert_eq!(moments(both, "").0, 3.0);
    let half = r#"<body><joint/><geom size=".1"/></body><body><geom size=".1"/></body>"#;
    about(moments(half, r#"settotalmass="3""#).0, 1.5, 1e-15);
    // A mass from a class beats the density of the element.
    let i = model(
        r#"<body><joint/><geom size=".1" density="5"/></body>"#,
        r#"<default><geom mass="2"/></default>"#,
    );
    assert_eq!(i.mechanism.total_mass(), 2.0);
}

#[test]
fn shells() {
    let facts = [
        ("capsule", ".1 .2", 376.99111843, [12.98524963, 12.98524963, 3.35103216]),
        ("cylinder", ".1 .2", 314.15926536, [7.27802298, 7.27802298, 2.82743339]),
        ("box", ".1 .2 .3", 880.0, [54.13333333, 42.13333333, 24.26666667]),
        ("sphere", ".1", 125.66370614, [0.83775804; 3]),
    ];
    for (kind, size, mass, moments) in facts {
        let geom = format!(
            r#"<body><joint/><geom type="{kind}" size="{size}" shellinertia="true"/></body>"#
        );
        let l = model(&geom, "").mechanism.links()[1].inertia;
        about(l.mass, mass, 1e-7);
        for (k, m) in moments.into_iter().enumerate() {
            about(l.inertia.col(k)[k], m, 1e-7);
        }
    }
}

/// ∫ over a solid by slices along z, independent of the closed forms.
#[test]
fn solids_by_integration() {
    let n = 200_000;
    for (kind, size) in [
        ("capsule", [0.3, 0.5, 0.0]),
        ("ellipsoid", [0.3, 0.5, 0.4]),
        ("cylinder", [0.3, 0.5, 0.0]),
    ] {
        let top = match kind {
            "capsule" => size[0] + size[1],
            "ellipsoid" => size[2],
            _ => size[1],
        };
        // Half axes of the elliptic slice at height z.
        let slice = |z: f64| match kind {
            "capsule" => {
                let h = (z.abs() - size[1]).max(0.0);
                let r = (size[0] * size[0] - h * h).max(0.0).sqrt();
                (r, r)
            }
            "ellipsoid" => {
                let s = (1.0 - z * z / (size[2] * size[2])).max(0.0).sqrt();
                (size[0] * s, size[1] * s)
            }
            _ => (size[0], size[0]),
        };
        let (mut v, mut x2, mut y2, mut z2) = (0.0, 0.0, 0.0, 0.0);
        let dz = 2.0 * top / n as f64;
        for i in 0..n {
            let z = -top + (i as f64 + 0.5) * dz;
            let (a, b) = slice(z);
            let area = std::f64::consts::PI * a * b * dz;
            v += area;
            x2 += area * a * a / 4.0;
            y2 += area * b * b / 4.0;
            z2 += area * z * z;
        }
        let text = format!(
            r#"<body><joint/><geom type="{kind}" density="1" size="{} {} {}"/></body>"#,
            size[0], size[1], size[2]
        );
        let l = model(&text.replace(" 0\"", "\""), "").mechanism.links()[1].inertia;
        // Midpoint rule: error O(dz²) away from the round ends, O(dz^1.5) at them.
        about(l.mass, v, 1e-7);
        about(l.inertia.x_axis.x, y2 + z2, 1e-7);
        about(l.inertia.y_axis.y, x2 + z2, 1e-7);
        about(l.inertia.z_axis.z, x2 + y2, 1e-7);
    }
}

#[test]
fn euler_sequences() {
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
fn several_joints_on_one_body() {
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
fn roots_keep_their_place() {
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
fn rest_pose_outside_the_range_is_kept() {
    let j = joint(r#"range="65 295" stiffness="3""#, "");
    assert_eq!(
        (j.start[0], j.limits[0].unwrap().lower),
        (0.0, 65.0 / 180.0 * std::f64::consts::PI)
    );
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

/// One servo's stiffness and damping along its joint or tendon.
fn servos(actuators: &str, defaults: &str) -> Vec<(f64, f64)> {
    let i = model(
        r#"<body><geom size=".1" pos=".2 0 0"/><joint name="j" armature=".1"/>
             <joint name="k" type="slide" axis="1 0 0"/></body>
           <body><geom size=".1"/><joint name="ball" type="ball"/></body>"#,
        &format!(
            r#"{defaults}<tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="k" coef="3"/></fixed></tendon>
               <actuator>{actuators}</actuator>"#
        ),
    );
    i.mechanism.servos().iter().map(|s| (s.stiffness, s.damping)).collect()
}

#[test]
fn servos_of_all_kinds() {
    let facts = [
        (r#"<position joint="j" kp="5"/>"#, 5.0, 0.0),
        (r#"<position jointinparent="j" kp="5" kv="2" gear="3"/>"#, 45.0, 18.0),
        (r#"<position joint="j" kp="5" dampratio="1" gear="3"/>"#, 45.0, 9.0 * 0.79485396),
        (r#"<position tendon="t" kp="5" dampratio="1" gear="2"/>"#, 20.0, 4.0 * 0.55524886),
        (r#"<velocity joint="j" kv="3"/>"#, 0.0, 3.0),
        (r#"<intvelocity joint="j" kp="4" actrange="0 1"/>"#, 4.0, 0.0),
        (r#"<cylinder joint="j" bias="0 -2 -3"/>"#, 2.0, 3.0),
        (r#"<pid joint="j" kp="4" kv="2" ki="1"/>"#, 4.0, 2.0),
        (r#"<pid joint="j" kp="4" dampratio="1"/>"#, 4.0, 2.13281699),
        (r#"<general joint="j" biastype="affine" biasprm="0 -2 -3" gear="2"/>"#, 8.0, 12.0),
        (
            r#"<general joint="j" gainprm="7" biastype="affine" biasprm="0 -7 .5"/>"#,
            7.0,
            1.41072584,
        ),
    ];
    for (text, stiffness, damping) in facts {
        let s = servos(text, "");
        assert_eq!(s.len(), 1, "{text}");
        about(s[0].0, stiffness, 1e-12);
        about(s[0].1, damping, 1e-7);
    }
    for text in [
        r#"<motor joint="j"/>"#,
        r#"<damper joint="j" kv="3" ctrlrange="0 1"/>"#,
        r#"<position joint="ball"/>"#,
        r#"<orientation joint="ball" kp="3"/>"#,
        r#"<muscle joint="j"/>"#,
        r#"<dcmotor joint="j" motorconst="1" resistance="2"/>"#,
    ] {
        assert!(servos(text, "").is_empty(), "{text}");
    }
}

#[test]
fn servos_of_default_classes() {
    let d = r#"<default><position kp="9" kv="1"/></default>"#;
    let all = r#"<position joint="j"/><general joint="j"/><velocity joint="j"/><position joint="j" dampratio="2"/>
                 <intvelocity joint="j" kp="2"/><position joint="j" kp="3"/>"#;
    let s = servos(all, d);
    let wanted = [(9.0, 1.0), (9.0, 1.0), (0.0, 1.0), (9.0, 6.39845096), (2.0, 0.0), (3.0, 1.0)];
    assert_eq!(s.len(), wanted.len());
    for (x, e) in s.iter().zip(wanted) {
        about(x.0, e.0, 1e-12);
        about(x.1, e.1, 1e-7);
    }
    let d = r#"<default><general biastype="affine" gainprm="10" biasprm="0 -10 -1"/></default>"#;
    let all = r#"<position joint="j"/><velocity joint="j"/><general joint="j" biasprm="0 -4"/><cylinder joint="j"/>
                 <pid joint="j"/><general joint="j" biastype="none"/><motor joint="j"/>"#;
    assert_eq!(servos(all, d), [(10.0, 1.0), (0.0, 10.0), (4.0, 1.0), (10.0, 1.0), (1.0, 0.0)]);
    let d = r#"<default><velocity kv="5"/></default>"#;
    let all = r#"<position joint="j"/><velocity joint="j"/><general joint="j"/>"#;
    assert_eq!(servos(all, d), [(1.0, 0.0), (0.0, 5.0), (0.0, 5.0)]);
    let d = r#"<default><position kp="4" dampratio="1"/></default>"#;
    let s = servos(r#"<position joint="j"/><position joint="j" kv="2"/><general joint="j"/>"#, d);
    for (x, e) in s.iter().zip([2.13281699, 2.0, 2.13281699]) {
        about(x.1, e, 1e-7);
    }
}

/// Each kind starts from the nearest class that says something about it or about `general`.
#[test]
fn servos_of_nested_classes() {
    let every = r#"<position joint="j" class="a"/><velocity joint="j" class="a"/><general joint="j" class="a"/>
        <intvelocity joint="j" class="a" actrange="0 1"/><pid joint="j" class="a"/>"#;
    let g = r#"<general biastype="affine" gainprm="10" biasprm="0 -10 -1"/>"#;
    let facts: [(String, &[(f64, f64)]); 8] = [
        (format!(r#"{g}<default class="a"><position kp="3"/></default>"#),
            &[(3.0, 1.0), (0.0, 10.0), (3.0, 1.0), (10.0, 1.0), (1.0, 0.0)]),
        (format!(r#"{g}<default class="a"><velocity kv="3"/></default>"#),
            &[(10.0, 1.0), (0.0, 3.0), (0.0, 3.0), (10.0, 1.0), (1.0, 0.0)]),
        // The motor is what `general` starts from: no bias.
        (format!(r#"{g}<default class="a"><motor/></default>"#),
            &[(10.0, 1.0), (0.0, 10.0), (10.0, 1.0), (1.0, 0.0)]),
        (format!(r#"<position kp="3" kv=".5"/><default class="a">{g}</default>"#),
            &[(10.0, 1.0), (0.0, 10.0), (10.0, 1.0), (10.0, 1.0), (1.0, 0.0)]),
        (r#"<position kp="3" kv=".5"/><default class="a"><general biasprm="0 -7"/></default>"#.into(),
            &[(3.0, 0.5), (0.0, 3.0), (7.0, 0.5), (3.0, 0.5), (1.0, 0.0)]),
        (r#"<position kp="3" kv=".5"/><velocity kv="8"/><default class="a"><position kp="4"/></default>"#.into(),
            &[(4.0, 0.0), (0.0, 8.0), (4.0, 0.0), (1.0, 0.0), (1.0, 0.0)]),
        (format!(r#"{g}<position kv="2"/><default class="a"/>"#),
            &[(10.0, 2.0), (0.0, 1.0), (10.0, 2.0), (1.0, 0.0), (1.0, 0.0)]),
        (r#"<velocity kv="2"/><general gainprm="5"/><default class="a"/>"#.into(),
            &[(5.0, 2.0), (0.0, 5.0), (0.0, 2.0), (5.0, 2.0), (1.0, 0.0)]),
    ];
    for (classes, wanted) in facts {
        let s = servos(every, &format!("<default>{classes}</default>"));
        assert_eq!(s, wanted, "{classes}");
    }
    // What all kinds share comes from whatever was said last.
    let gear = r#"<default><motor gear="3"/><default class="a"/></default>"#;
    assert_eq!(servos(r#"<position joint="j" class="a"/>"#, gear), [(9.0, 0.0)]);
}

#[test]
fn rotors_and_dampers_of_actuators_count() {
    let i = model(
        &format!(r#"<body>{UNIT}<joint name="j" armature=".1" damping=".5"/></body>"#),
        r#"<actuator><motor joint="j" armature="1" damping="2" gear="3"/></actuator>"#,
    );
    let j = &i.mechanism.joints()[0];
    assert_eq!((j.armature[0], j.damping.get(0, 0)), (9.1, 18.5));
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
fn nonlinear_and_dry_forces_are_noted() {
    let i = model(
        &format!(
            r#"<body>{UNIT}<joint name="j" stiffness="1 2 3" damping="4 0 5" frictionloss=".1" springyield="1"/></body>"#
        ),
        r#"<contact><exclude body1="world" body2="world"/></contact><sensor/><option density="1.2"/>"#,
    );
    let kinds: Vec<_> =
        i.notes.iter().map(|n| (n.element.as_str(), n.attribute.as_str(), n.effect)).collect();
    for wanted in [
        ("joint 'j'", "stiffness", Effect::Approximated),
        ("joint 'j'", "damping", Effect::Approximated),
        ("joint 'j'", "frictionloss", Effect::Ignored),
        ("joint 'j'", "springyield", Effect::Approximated),
        ("contact", "", Effect::Ignored),
        ("sensor", "", Effect::Ignored),
        ("option", "density", Effect::Ignored),
    ] {
        assert!(kinds.contains(&wanted), "{wanted:?} in {kinds:?}");
    }
    assert_eq!(stiffness(&i.mechanism, 0), 1.0);
    assert_eq!(i.notes.iter().find(|n| n.attribute == "frictionloss").unwrap().line, Some(1));
}

#[test]
fn keyframes_hold_unit_quaternions() {
    let i = model(
        r#"<body><freejoint/><geom size="1"/><body><joint ref="30"/><geom size="1"/></body></body>"#,
        r#"<keyframe><key name="k" qpos="1 2 3 2 0 0 0 .5"/><key/></keyframe>"#,
    );
    let k = i.mechanism.keyframes();
    assert_eq!(k[0].positions, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.5]);
    assert_eq!(k[1].positions, i.mechanism.start_positions());
}

#[test]
fn static_meshes_are_dropped_with_a_note() {
    let i = model(r#"<geom type="mesh" mesh="m"/><body><geom mesh="m" type="mesh"/></body>"#, "");
    assert_eq!(noted(&i, "geom", "mesh").effect, Effect::Ignored);
    // Explicit inertia, or a shape without mass beside one that has some.
    let i =
        model(r#"<body><joint/><geom type="mesh" mesh="m" mass="0"/><geom size="1"/></body>"#, "");
    assert!(i.mechanism.total_mass() > 0.0);
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
        <tendon><spatial stiffness="3"><site site="s"/></spatial></tendon></mujoco>"#;
    assert!(parse_mjcf(text, &ImportOptions::default()).is_err());
    let i = parse_mjcf(text, &ImportOptions { lenient: true, ..Default::default() }).unwrap();
    assert_eq!(noted(&i, "composite", "").effect, Effect::Ignored);
    assert_eq!(noted(&i, "spatial", "stiffness").effect, Effect::Ignored);
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
