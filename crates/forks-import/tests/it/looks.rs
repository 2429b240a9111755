//! What is drawn of a model: geoms and visuals with their colours, mesh files; hulls of meshes that
//! collide.

use std::fs;

use crate::support::mesh;
use forks_import::{
    Effect, Import, ImportOptions, load_mjcf, load_urdf,
    mechanism::{
        Geometry, LinkId, Look, Surface,
        lie::{Pose, glam::DVec3},
    },
    parse_mjcf, parse_urdf,
};

fn mjcf(text: &str) -> Import {
    parse_mjcf(text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn look(surface: impl Into<Surface>, link: usize, colour: Option<[u8; 4]>) -> Look {
    let link_from_look = Pose::IDENTITY;
    Look { link: LinkId::new(link), link_from_look, surface: surface.into(), colour }
}

fn ball(radius: f64) -> Geometry {
    Geometry::Sphere { radius }
}

#[test]
fn geoms_of_shown_groups_in_their_own_colour_or_their_materials() {
    let i = mjcf(
        r#"<mujoco><default><default class="visual"><geom group="2" contype="0" conaffinity="0"
        rgba="0 1 0 0.5"/></default></default>
<asset><material name="steel" rgba="0.2 0.4 0.6 1"/><material name="plain"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<body><joint/><geom size="0.1"/><geom size="0.2" material="steel"/>
<geom size="0.3" material="steel" rgba="1 0 0 1"/><geom size="0.4" class="visual"/>
<geom size="0.5" group="3"/><geom size="0.6" rgba="1 1 1 0"/><geom size="0.7" material="plain"/>
</body></worldbody></mujoco>"#,
    );
    let expected = [
        look(Geometry::Plane, 0, None),
        look(ball(0.1), 1, None),
        look(ball(0.2), 1, Some([51, 102, 153, 255])),
        look(ball(0.3), 1, Some([255, 0, 0, 255])),
        look(ball(0.4), 1, Some([0, 255, 0, 128])),
        look(ball(0.7), 1, None),
    ];
    assert_eq!(i.mechanism.looks(), expected);
    assert_eq!(i.mechanism.shapes().len(), 7, "what collides is another matter");
}

#[test]
fn vertices_in_the_model_are_drawn_in_their_frame_and_scaled() {
    let i = mjcf(
        r#"<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="2 2 2"
        refpos="0 0 1"/><mesh name="faces" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1"/></asset>
<worldbody><body><freejoint/><geom type="mesh" mesh="m"/><geom type="mesh" mesh="faces" mass="0"/>
</body></worldbody></mujoco>"#,
    );
    let Surface::Form(Geometry::Hull { points }) = &i.mechanism.looks()[0].surface else {
        panic!("without faces it is a hull")
    };
    assert_eq!(points[3], DVec3::ZERO);
    assert_eq!(points[1], DVec3::new(2.0, 0.0, -2.0));
    let Surface::Form(Geometry::Mesh { triangles, .. }) = &i.mechanism.looks()[1].surface else {
        panic!("with faces it is a mesh")
    };
    assert_eq!(triangles[..], [[0, 2, 1]]);
}

const URDF: &str = r#"<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry>
  <material name="blue"/></visual>
  <visual><geometry><mesh filename="l.obj" scale="1 1 2"/></geometry>
    <material name="red"><color rgba="1 0 0"/></material></visual>
  <visual><geometry><mesh filename="package://away/l.obj"/></geometry></visual>
  <visual><geometry><mesh filename="package://away/l.obj"/></geometry></visual>
  <visual><origin xyz="a"/><geometry><sphere radius="0.1"/></geometry></visual>
  <visual><geometry><sphere radius="0.2"/></geometry><material name="unknown"/></visual>
  <collision name="c"><geometry><mesh filename="l.obj"/></geometry></collision></link></robot>"#;

/// The model beside its mesh.
fn with_mesh(name: &str, text: &str, hulls: bool) -> Import {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("l.obj"), mesh::obj(&mesh::faces())).unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let options = ImportOptions { hulls, ..ImportOptions::default() };
    let load = if name.ends_with("urdf") { load_urdf } else { load_mjcf };
    load(&path, &options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn visuals_of_links_with_materials_and_files() {
    let i = with_mesh("r.urdf", URDF, false);
    let looks = i.mechanism.looks();
    assert_eq!(looks.len(), 3, "{looks:?}");
    assert_eq!(looks[0].colour, Some([0, 0, 255, 255]));
    assert_eq!(looks[0].link_from_look, Pose::from_translation(DVec3::X));
    let Surface::File(file) = &looks[1].surface else { panic!("a file") };
    assert!(file.path.ends_with("l.obj"));
    assert_eq!((file.scale, looks[1].colour), (DVec3::new(1.0, 1.0, 2.0), Some([255, 0, 0, 255])));
    assert_eq!(looks[2], look(ball(0.2), 1, None));
    let notes: Vec<String> = i.notes.iter().map(ToString::to_string).collect();
    let about = |text: &str| notes.iter().filter(|n| n.contains(text)).count();
    assert_eq!(about("package://away/l.obj"), 1, "one note per file: {notes:?}");
    assert_eq!(about("is not drawn"), 1, "{notes:?}");
    assert_eq!(about("meshes are dropped"), 1, "{notes:?}");
    assert!(i.mechanism.shapes().is_empty());
    // Text that came from no file has none beside it.
    let text = parse_urdf(URDF, &ImportOptions::default()).unwrap();
    assert_eq!(text.mechanism.looks().len(), 2);
}

#[test]
fn meshes_that_collide_are_their_hulls_where_that_is_asked_for() {
    let xml = r#"<mujoco><asset><mesh file="l.obj" scale="0.1 0.1 0.1"/></asset><worldbody><body>
<freejoint/><geom type="mesh" mesh="l" friction="0.7"/><geom type="mesh" mesh="l" contype="0"
conaffinity="0"/></body></worldbody></mujoco>"#;
    for (name, text, scale) in [("r.urdf", URDF, 1.0), ("m.xml", xml, 0.1)] {
        let i = with_mesh(name, text, true);
        let [shape] = i.mechanism.shapes() else { panic!("{name}: one that collides") };
        let Geometry::Hull { points } = &shape.geometry else { panic!("{name}: a hull") };
        // The corner inside the L is none of the hull's.
        assert_eq!(points.len(), 10, "{name}");
        assert!(points.iter().all(|p| p.max_element() <= 3.0 * scale + 1e-12), "{name}");
        let of_hulls = i.notes.iter().filter(|n| n.reason.contains("convex hull"));
        let effects: Vec<Effect> = of_hulls.map(|n| n.effect).collect();
        assert_eq!(effects, [Effect::Approximated], "{name}: {:?}", i.notes);
    }
    assert_eq!(with_mesh("m.xml", xml, true).mechanism.shapes()[0].friction, 0.7);
    assert!(with_mesh("m.xml", xml, false).mechanism.shapes().is_empty());
}

#[test]
fn a_hull_that_cannot_be_made_is_a_note() {
    let text = URDF.replace("<mesh filename=\"l.obj\"/>", "<mesh filename=\"r.urdf\"/>");
    let i = with_mesh("r.urdf", &text, true);
    assert!(i.mechanism.shapes().is_empty());
    assert!(i.notes.iter().any(|n| n.reason.contains("none of the formats")), "{:?}", i.notes);
}
