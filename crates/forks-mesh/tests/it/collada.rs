//! Collada: nodes, instances, units, materials, kinds of primitives.

use forks_mesh::{MeshError, PaintedMesh, geometry::lie::glam::DVec3, parse};

pub(crate) fn read(text: &str) -> Result<PaintedMesh, MeshError> {
    parse("dae", text.as_bytes(), &mut |_| Err("nothing stands beside it".into()))
}

/// Four points of a tetrahedron, with `primitives` on them, in `scene`.
pub(crate) fn document(asset: &str, primitives: &str, scene: &str) -> String {
    format!(
        r##"<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>{asset}</asset>
<library_effects><effect id="red-fx"><profile_COMMON><technique sid="common"><lambert>
  <diffuse><color sid="diffuse">1 0.5 0 1</color></diffuse></lambert></technique></profile_COMMON>
</effect><effect id="image-fx"><profile_COMMON><technique sid="c"><phong>
  <diffuse><texture texture="t" texcoord="u"/></diffuse></phong></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="red"><instance_effect url="#red-fx"/></material>
<material id="image"><instance_effect url="#image-fx"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
    <technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  {primitives}
</mesh></geometry></library_geometries>{scene}</COLLADA>"##
    )
}

const BIND: &str = r##"<bind_material><technique_common>
  <instance_material symbol="a" target="#red"/><instance_material symbol="b" target="#image"/>
</technique_common></bind_material>"##;

pub(crate) fn scene(nodes: &str) -> String {
    format!(
        r##"<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>"##
    )
}

fn instance() -> String {
    format!(r##"<instance_geometry url="#g">{BIND}</instance_geometry>"##)
}

const TRIANGLES: &str = r##"<triangles count="2" material="a">
  <input semantic="NORMAL" source="#n" offset="1"/><input semantic="VERTEX" source="#v" offset="0"/>
  <p>0 7 2 7 1 7  0 7 1 7 3 7</p></triangles>
<polylist count="1" material="b"><input semantic="VERTEX" source="#v" offset="0"/>
  <vcount>4</vcount><p>0 1 2 3</p></polylist>"##;

#[test]
fn materials_and_polygons_with_other_numbers_between() {
    let text = document("", TRIANGLES, &scene(&format!("<node>{}</node>", instance())));
    let m = read(&text).unwrap();
    assert_eq!(m.mesh.faces, [[0, 2, 1], [0, 1, 3], [0, 1, 2], [0, 2, 3]]);
    let colours: Vec<_> = m.colour_of.iter().map(|c| m.colours[*c]).collect();
    let orange = Some([255, 128, 0, 255]);
    assert_eq!(colours, [orange, orange, None, None]);
    assert_eq!(m.mesh.vertices.len(), 4, "the points of one source are one set");
}

#[test]
fn strips_fans_and_polygons() {
    let of = |tag: &str, p: &str| {
        let primitive =
            format!(r##"<{tag}><input semantic="VERTEX" source="#v" offset="0"/>{p}</{tag}>"##);
        read(&document("", &primitive, ""))
    };
    let with = |tag: &str, p: &str| of(tag, p).unwrap().mesh.faces;
    let two = "<p>0 1 2 3</p><p>1 2 3</p>";
    assert_eq!(with("tristrips", two), [[0, 1, 2], [2, 1, 3], [1, 2, 3]]);
    assert_eq!(with("trifans", two), [[0, 1, 2], [0, 2, 3], [1, 2, 3]]);
    assert_eq!(with("polygons", two), [[0, 1, 2], [0, 2, 3], [1, 2, 3]]);
    assert!(of("lines", two).is_err(), "lines are no mesh");
}

#[test]
fn transforms_of_nodes_act_from_the_inside_out_and_the_unit_last() {
    let nodes = format!(
        r##"<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate>
  <node><scale>2 2 2</scale>{0}</node>
  <node><matrix>1 0 0 0 0 1 0 0 0 0 -1 5 0 0 0 1</matrix>{0}</node></node>
<node><instance_node url="#library"/></node>"##,
        instance()
    );
    let library = format!(
        r##"<library_nodes><node id="library"><translate>0 0 7</translate>{}</node></library_nodes>"##,
        instance()
    );
    let asset = r##"<unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis>"##;
    let text = document(asset, TRIANGLES, &(library + &scene(&nodes)));
    let m = read(&text).unwrap().mesh;
    assert_eq!((m.vertices.len(), m.faces.len()), (12, 12));
    // x of the geometry, twice as long, turned to y, moved.
    let close = |i: usize, x: f64, y: f64, z: f64| {
        let gap = m.vertices[i].distance(DVec3::new(x, y, z) / 100.0);
        assert!(gap < 1e-15, "{i}: {gap}");
    };
    close(1, 10.0, 2.0, 0.0);
    close(5, 10.0, 1.0, 5.0);
    close(7, 10.0, 0.0, 4.0);
    close(8, 0.0, 0.0, 7.0);
    // Mirrored: the other way round.
    assert_eq!(m.faces[4], [4, 5, 6]);
    assert_eq!(m.faces[0], [0, 2, 1]);
}

#[test]
fn skins_are_drawn_as_they_are_bound() {
    let controllers = r##"<library_controllers><controller id="c"><skin source="#g">
  <bind_shape_matrix>1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix></skin></controller>
</library_controllers>"##;
    let node = r##"<node><instance_controller url="#c"/></node>"##;
    let text = document("", TRIANGLES, &(controllers.to_owned() + &scene(node)));
    assert_eq!(read(&text).unwrap().mesh.vertices[1], DVec3::new(4.0, 0.0, 0.0));
}

#[test]
fn broken_files_say_what_is_wrong_and_where() {
    let told = |text: &str, parts: &[&str]| {
        let e = read(text).unwrap_err().to_string();
        parts.iter().for_each(|p| assert!(e.contains(p), "'{p}' is not in: {e}"));
    };
    told("<robot/>", &["robot", "COLLADA"]);
    told("<COLLADA>", &["never closed"]);
    let one = |p: &str| {
        let v = r##"<input semantic="VERTEX" source="#v" offset="0"/>"##;
        document("", &format!("<triangles>{v}<p>{p}</p></triangles>"), "")
    };
    told(&one("0 1 4"), &["line 14", "triangles", "no point 4 among 4"]);
    told(&one("0 1 -1"), &["'-1' is no number"]);
    let lost = one("0 1 2").replace("source=\"#p\"", "source=\"#q\"");
    told(&lost, &["input", "not there"]);
    let scene_of = |node: &str| document("", TRIANGLES, &scene(node));
    told(&scene_of("<node><scale>1 2</scale></node>"), &["scale", "not 3 numbers"]);
    told(&scene_of("<node><lookat>0 0 0 1 1 1 0 0 1</lookat></node>"), &["lookat", "not read"]);
    told(&scene_of(r##"<node id="n"><instance_node url="#n"/></node>"##), &["without end"]);
    let short = TRIANGLES.replace("<vcount>4</vcount>", "<vcount>18446744073709551615</vcount>");
    told(&document("", &short, ""), &["cut off"]);
}
