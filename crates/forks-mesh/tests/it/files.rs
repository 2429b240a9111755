//! Files on disk: formats by the end of the name, the same mesh in each, packages.

use std::{fs, path::Path};

use forks_mesh::{
    MeshFile,
    geometry::{
        Geometry,
        lie::{
            Pose,
            glam::{DQuat, DVec3},
        },
    },
    load, locate, open, open_hull,
};

use crate::{collada, gltf};

/// A tetrahedron with a point inside in four formats.
fn write_all(folder: &Path) -> Vec<std::path::PathBuf> {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0f32]];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3usize]];
    let v: String = corners.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let f = |[a, b, c]: [usize; 3]| format!("f {} {} {}\n", a + 1, b + 1, c + 1);
    let obj = v + &faces.map(f).concat();
    let mut stl = vec![0; 80];
    stl.extend(4u32.to_le_bytes());
    for face in faces {
        stl.extend([0; 12]);
        let numbers = face.iter().flat_map(|i| corners[*i]);
        numbers.for_each(|x| stl.extend(x.to_le_bytes()));
        stl.extend([0; 2]);
    }
    let p = faces.concat().iter().map(|i| format!("{i} ")).collect::<String>();
    let triangles = format!(
        r##"<triangles><input semantic="VERTEX" source="#v" offset="0"/><p>{p}</p></triangles>"##
    );
    let all = [
        ("a.OBJ", obj.into_bytes()),
        ("a.stl", stl),
        ("a.dae", collada::document("", &triangles, "").into_bytes()),
        ("a b.gltf", gltf::document(6, 56, "").replace("points.bin", "a%20b.bin").into_bytes()),
    ];
    fs::write(folder.join("a b.bin"), gltf::points()).unwrap();
    let write = |(name, bytes): (&str, Vec<u8>)| {
        fs::write(folder.join(name), bytes).unwrap();
        folder.join(name)
    };
    all.map(write).to_vec()
}

#[test]
fn formats_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let files = write_all(folder.path());
    let triangles = |path: &Path| {
        let m = load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).mesh;
        let corner = |i: usize| m.vertices[i].to_array().map(f64::to_bits);
        m.faces.iter().map(|f| f.map(corner)).collect::<Vec<_>>()
    };
    assert_eq!(triangles(&files[0]), triangles(&files[1]));
    assert_eq!(triangles(&files[0]), triangles(&files[2]));
    assert_eq!(triangles(&files[3]).len(), 2, "files beside it have blanks in their names");
}

#[test]
fn a_model_uses_a_file_in_a_frame_and_scaled() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_all(folder.path()).remove(0);
    let turn = Pose::new(DQuat::from_rotation_z(0.5 * std::f64::consts::PI), DVec3::Z);
    let file = MeshFile { path, reference: turn, scale: DVec3::new(2.0, 1.0, -1.0) };
    let m = open(&file).unwrap().mesh;
    // (1, 0, 0) in a frame turned by a quarter and at z = 1 is (0, −1, −1).
    assert!(m.vertices[1].distance(DVec3::new(0.0, -1.0, 1.0)) < 1e-15);
    assert!(m.vertices[2].distance(DVec3::new(2.0, 0.0, 1.0)) < 1e-15);
    assert_eq!(m.faces[0], [0, 1, 2], "mirrored, its triangles still look outwards");
    let Ok(Geometry::Hull { points }) = open_hull(&file) else { panic!("a hull") };
    assert_eq!(points.len(), 4);
}

#[test]
fn hulls_leave_out_what_is_inside_and_flat_meshes_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let file = |text: &str| {
        fs::write(&path, text).unwrap();
        MeshFile { path: path.clone(), reference: Pose::IDENTITY, scale: DVec3::ONE }
    };
    let solid = "v 0 0 0\nv 1 0 0\nv 0.2 0.2 0.2\nv 0 1 0\nv 0 0 1\nf 1 2 3\n";
    let Ok(Geometry::Hull { points }) = open_hull(&file(solid)) else { panic!("a hull") };
    assert_eq!(points, [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    let e = open_hull(&file("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\n")).unwrap_err();
    assert!(e.to_string().contains("flat"), "{e}");
}

#[test]
fn files_that_are_not_there_or_of_other_formats() {
    let told = |name: &str| load(Path::new(name)).unwrap_err().to_string();
    assert!(told("nowhere.stl").contains("no such file"));
    assert!(told("model.step").contains("'step' is none of the formats stl, obj"));
    assert!(told("model").contains("'' is none"));
}

#[test]
fn packages_are_found_from_the_model_upwards() {
    let root = tempfile::tempdir().unwrap();
    let robot = root.path().join("ros/src/robot_description");
    fs::create_dir_all(robot.join("urdf")).unwrap();
    fs::create_dir_all(robot.join("meshes")).unwrap();
    fs::create_dir_all(root.path().join("ros/src/other/meshes")).unwrap();
    for file in ["meshes/a.stl", "urdf/here.stl", "../other/meshes/b.stl"] {
        fs::write(robot.join(file), "x").unwrap();
    }
    let found =
        |name: &str| locate(name, &robot.join("urdf")).map(|p| p.file_name().unwrap().to_owned());
    for (name, file) in [
        ("package://robot_description/meshes/a.stl", "a.stl"),
        ("model://robot_description/meshes/a.stl", "a.stl"),
        ("package://other/meshes/b.stl", "b.stl"),
        ("../meshes/a.stl", "a.stl"),
        ("here.stl", "here.stl"),
    ] {
        assert_eq!(found(name), Some(file.into()), "{name}");
    }
    assert_eq!(found("package://renamed/meshes/a.stl"), None);
    // A copy of a package under another name says by its own file that it is one.
    fs::write(robot.join("package.xml"), "<package/>").unwrap();
    assert_eq!(found("package://renamed/meshes/a.stl"), Some("a.stl".into()));
    let absolute = format!("file://{}", robot.join("meshes/a.stl").display());
    assert_eq!(found(&absolute), Some("a.stl".into()));
    assert_eq!(found("package://robot_description"), None);
}
