//! Inertia from meshes, and primitives fitted to them. Expected values were measured with MuJoCo
//! 4.0.0, which holds vertices in single precision.

use crate::support;

use forks_import::mechanism::{Geometry, lie::glam::DVec3};
use support::about;
use support::mesh::{CONVEX, EXACT, Files, LEGACY, SHELL, faces, obj, same};

#[test]
fn every_format_by_every_rule() {
    let files = Files::new("rules");
    // MuJoCo itself does not read STL as text: its numbers are those of the binary file.
    for file in ["l.obj", "l.stl", "text.stl", "l.msh"] {
        for (rule, expected) in [
            ("", LEGACY),
            (r#"inertia="legacy""#, LEGACY),
            (r#"inertia="exact""#, EXACT),
            (r#"inertia="convex""#, CONVEX),
            (r#"inertia="shell""#, SHELL),
        ] {
            let mesh = format!(r#"file="{file}" {rule}"#);
            same(&mesh, files.inertia(&mesh, r#"type="mesh""#, ""), expected);
        }
    }
}

#[test]
fn mass_density_and_pose_of_the_geom() {
    let files = Files::new("geom");
    let of = |geom: &str| files.inertia(r#"file="l.obj""#, &format!(r#"type="mesh" {geom}"#), "");
    let scaled = |s: f64| {
        let mut out = LEGACY.map(|x| x * s);
        out[1..4].copy_from_slice(&LEGACY[1..4]);
        out
    };
    same("mass", of(r#"mass="3""#), scaled(3.0 / LEGACY[0]));
    same("density", of(r#"density="2""#), scaled(0.002));
    let turned = [
        2080.71811,
        1.77436291,
        1.75,
        4.24215432,
        1587.30534266,
        2117.02060615,
        615.06654948,
        0.0,
        383.8923724,
        0.0,
    ];
    same("pose", of(r#"pos="1 2 3" quat="1 1 0 0""#), turned);
    let e = files.load(r#"file="l.obj""#, r#"type="mesh" shellinertia="true""#, "").unwrap_err();
    assert!(e.to_string().contains("shellinertia"), "{e}");
}

#[test]
fn reference_and_scale_of_the_mesh() {
    let files = Files::new("scale");
    let of = |mesh: &str| files.inertia(&format!(r#"file="l.obj" {mesh}"#), r#"type="mesh""#, "");
    let scaled = [
        12482.6581,
        0.77890316,
        2.4826581,
        0.75,
        39375.37161761,
        5739.04037934,
        40505.81392382,
        4606.80635953,
        0.0,
        0.0,
    ];
    same("scale", of(r#"scale="1 2 3""#), scaled);
    let mut mirrored = scaled;
    mirrored[1] = -scaled[1];
    mirrored[7] = -scaled[7];
    same("mirror", of(r#"scale="-1 2 3""#), mirrored);
    let exact = of(r#"scale="-1 2 3" inertia="exact""#);
    same("mirror", [exact[0]; 10], [12000.0; 10]);
    let moved = [
        2080.71811,
        -0.22563709,
        -2.75,
        0.75784568,
        1587.30534266,
        2117.02060615,
        615.06654948,
        0.0,
        -383.8923724,
        0.0,
    ];
    same("reference", of(r#"refpos="1 2 3" refquat="1 1 0 0""#), moved);
    // First the reference, then the scale. (MuJoCo's vertices are rounded: seven digits.)
    let both = of(r#"scale="1 2 3" refpos="1 2 3" refquat="1 1 0 0""#);
    about(both[1], -0.22114523, 3e-7);
    about(both[3], 2.27605334, 3e-7);
    about(both[4], 84434.04469428, 0.3);
    let class = r#"<default><mesh inertia="shell" scale="2 2 2"/></default>"#;
    let doubled = files.inertia(r#"file="l.obj""#, r#"type="mesh""#, class);
    about(doubled[0], 52000.0, 1e-7);
    about(doubled[4], 197256.41025641, 1e-6);
}

#[test]
fn open_and_misoriented_surfaces() {
    let files = Files::new("open");
    files.write("open.obj", &obj(&faces()[1..]));
    let of = |rule: &str| {
        files.inertia(&format!(r#"file="open.obj" inertia="{rule}""#), r#"type="mesh""#, "")
    };
    let legacy = [
        2003.93717,
        0.76255556,
        1.27023413,
        0.25842262,
        1537.67994077,
        587.04096899,
        2045.74741269,
        360.49492869,
        -7.49936979,
        12.04980508,
    ];
    same("legacy", of("legacy"), legacy);
    let exact = [
        1913.79419,
        0.72964646,
        1.28135101,
        0.25861742,
        1532.62884141,
        550.50686314,
        2006.424172,
        349.54808317,
        -7.7244843,
        12.14091806,
    ];
    same("exact", of("exact"), exact);
    let shell = [
        12000.0,
        0.72222222,
        1.34722222,
        0.27083333,
        11256.36573999,
        4610.53240753,
        14793.98148211,
        2175.92592603,
        -152.77776607,
        253.47222574,
    ];
    same("shell", of("shell"), shell);
    let inwards: Vec<[usize; 3]> = faces().iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    files.write("inwards.obj", &obj(&inwards));
    same("inwards", files.inertia(r#"file="inwards.obj""#, r#"type="mesh""#, ""), LEGACY);
    // MuJoCo refuses both of these.
    for (file, part) in [("inwards.obj", "inwards"), ("mixed.obj", "opposite")] {
        let mut mixed = faces();
        mixed[0].swap(0, 1);
        files.write("mixed.obj", &obj(&mixed));
        let mesh = format!(r#"file="{file}" inertia="exact""#);
        let e = files.load(&mesh, r#"type="mesh""#, "").unwrap_err().to_string();
        assert!(e.contains(part) && e.contains(file) && e.contains("geom 'g'"), "{e}");
    }
}

#[test]
fn vertices_in_the_model() {
    let files = Files::new("inline");
    let corners = r#"vertex="0 0 0 1 0 0 0 2 0 0 0 3""#;
    let solid = [1000.0, 0.25, 0.5, 0.75, 487.5, 375.0, 187.5, 25.0, 37.5, 75.0];
    let of = |mesh: &str| files.inertia(mesh, r#"type="mesh""#, "");
    // Without faces the convex hull stands for them; no file is needed, but MuJoCo's digits end
    // earlier.
    let near = |what: &str, x: [f64; 10], e: [f64; 10]| {
        x.into_iter().zip(e).for_each(|(x, e)| {
            assert!((x - e).abs() < 1e-6 * 9000.0, "{what}: {x} instead of {e}")
        });
    };
    near("hull", of(corners), solid);
    let all = format!(r#"{corners} face="0 2 1 0 1 3 0 3 2 1 2 3""#);
    near("faces", of(&all), solid);
    let shell = [
        9000.0, 0.22222222, 0.55555556, 0.88888889, 7111.11111, 5444.44444, 2777.77778, 361.11111,
        527.77778, 1194.44444,
    ];
    near("shell", of(&format!(r#"{all} inertia="shell""#)), shell);
    for (mesh, part) in [
        (r#"vertex="0 0 0 1""#, "three numbers"),
        (r#"vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1""#, "face"),
        (r#"vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 .5""#, "no vertex number"),
        (r#"vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9""#, "face 0"),
        (r#"vertex="0 0 0 1 0 0 0 1 0""#, "3 vertices"),
        (r#"vertex="0 0 0 1 0 0 0 1 0 1 1 0""#, "one plane"),
    ] {
        let e = files.load(mesh, r#"type="mesh""#, "").unwrap_err().to_string();
        assert!(e.contains(part), "{mesh}: {e}");
    }
}

#[test]
fn primitives_fitted_to_meshes() {
    let files = Files::new("fit");
    let facts: [(&str, bool, f64, Geometry); 10] = [
        (
            "box",
            false,
            2455.86594,
            Geometry::Box { half_extents: DVec3::new(0.24805275, 0.7956631, 1.55539755) },
        ),
        ("sphere", false, 2723.95876, Geometry::Sphere { radius: 0.86637113 }),
        (
            "capsule",
            false,
            2810.32442,
            Geometry::Capsule { radius: 0.52185792, half_length: 1.29446859 },
        ),
        (
            "cylinder",
            false,
            2661.49614,
            Geometry::Cylinder { radius: 0.52185792, half_length: 1.55539755 },
        ),
        (
            "ellipsoid",
            false,
            1285.8884,
            Geometry::Ellipsoid { radii: DVec3::new(0.24805275, 0.7956631, 1.55539755) },
        ),
        (
            "box",
            true,
            3869.36906,
            Geometry::Box { half_extents: DVec3::new(0.25, 1.10868223, 1.74503071) },
        ),
        ("sphere", true, 22258.5993, Geometry::Sphere { radius: 1.74503071 }),
        (
            "capsule",
            true,
            10622.9503,
            Geometry::Capsule { radius: 1.10868223, half_length: 0.63634848 },
        ),
        (
            "cylinder",
            true,
            13477.1205,
            Geometry::Cylinder { radius: 1.10868223, half_length: 1.74503071 },
        ),
        (
            "ellipsoid",
            true,
            2025.9969,
            Geometry::Ellipsoid { radii: DVec3::new(0.25, 1.10868223, 1.74503071) },
        ),
    ];
    for (kind, around, mass, geometry) in facts {
        let compiler = format!(r#"<compiler fitaabb="{around}"/>"#);
        let i = files.load(r#"file="l.obj""#, &format!(r#"type="{kind}""#), &compiler).unwrap();
        let m = &i.mechanism;
        about(m.links()[1].inertia.mass, mass, 2e-7 * mass);
        let shape = &m.shapes()[0];
        assert!(same_form(&shape.geometry, &geometry), "{kind} {around}: {:?}", shape.geometry);
        let center =
            if around { [0.69012122, 1.39239666, 0.25] } else { [0.77436291, 1.24215432, 0.25] };
        assert!(
            shape.link_from_shape.translation.distance(center.into()) < 1e-7,
            "{kind} {around}"
        );
        // The longest side is along z, the shortest along x: quaternion up to half turns.
        let z = shape.link_from_shape.rotation * DVec3::Z;
        about(z.x.abs(), 0.32802, 1e-4);
        about(z.z, 0.0, 1e-7);
    }
    let twice = files.load(r#"file="l.obj""#, r#"type="box" fitscale="2""#, "").unwrap();
    about(twice.mechanism.total_mass(), 19646.9275, 2e-3);
}

fn same_form(a: &Geometry, b: &Geometry) -> bool {
    let numbers = |g: &Geometry| match *g {
        Geometry::Sphere { radius } => (0, DVec3::splat(radius)),
        Geometry::Capsule { radius, half_length } => (1, DVec3::new(radius, half_length, 0.0)),
        Geometry::Cylinder { radius, half_length } => (2, DVec3::new(radius, half_length, 0.0)),
        Geometry::Ellipsoid { radii } => (3, radii),
        Geometry::Box { half_extents } => (4, half_extents),
        _ => (5, DVec3::ZERO),
    };
    let ((ka, xa), (kb, xb)) = (numbers(a), numbers(b));
    ka == kb && xa.distance(xb) < 2e-7
}
