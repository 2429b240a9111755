//! Mass and inertia of bodies. Expected values are MuJoCo 4.0.0's or closed forms.

use crate::support;

use forks_import::mechanism::lie::glam::DVec3;
use support::{UNIT, about, model};

#[test]
fn b22_zero_inertia_is_no_matter_on_welded_tool_frames() {
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
        ("ellipsoid", ".1 .2 .3", 489.719333337, [18.07517488, 14.06836658, 8.10268094]),
        ("ellipsoid", ".1 .1 .4", 403.54852817, [17.30781196, 17.30781196, 3.04906322]),
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
