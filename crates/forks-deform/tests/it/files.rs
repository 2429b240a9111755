//! Mesh files: those that Gmsh writes, hand-written ones of the others, our own back again, and
//! what is refused.

use std::{collections::BTreeMap, path::PathBuf};

use forks_deform::{
    MeshError, Order, TetMesh,
    dynamics::mechanism::lie::{SplitMix64, glam::DVec3},
    files::{FileError, from_gmsh, from_medit, from_tetgen, gmsh_text, is_gmsh, load, vtk_text},
};
use serde::Deserialize;

use crate::support::distorted;

#[derive(Deserialize)]
struct Facts {
    files: BTreeMap<String, Fact>,
}

#[derive(Deserialize)]
struct Fact {
    order: usize,
    tetrahedra: usize,
    nodes: usize,
    volume: f64,
    base: usize,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden/meshes")
}

#[test]
fn files_of_gmsh_hold_what_it_says() {
    let text = std::fs::read_to_string(folder().join("wedge.json")).unwrap();
    let facts: Facts = serde_json::from_str(&text).unwrap();
    assert_eq!(facts.files.len(), 9);
    let mut first: BTreeMap<(usize, bool), TetMesh> = BTreeMap::new();
    for (name, fact) in &facts.files {
        let found = load(&folder().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mesh = &found.mesh;
        let order = if fact.order == 1 { Order::Linear } else { Order::Quadratic };
        assert_eq!(mesh.order(), order, "{name}");
        assert_eq!(mesh.element_count(), fact.tetrahedra, "{name}");
        assert_eq!(mesh.nodes().len(), fact.nodes, "{name}");
        assert!((mesh.total_volume() / fact.volume - 1.0).abs() < 1e-12, "{name}");
        assert_eq!((found.unused, found.straightened), (0, 0), "{name}");
        if name.ends_with(".msh") {
            let base = &found.groups["base"];
            assert_eq!(base.len(), fact.base, "{name}");
            assert!(base.iter().all(|&n| mesh.nodes()[n].y.abs() < 1e-12), "{name}");
            assert_eq!(found.groups["body"].len(), fact.nodes, "{name}");
        }
        // All forms of one mesh are one mesh; text has 16 digits. Medit numbers nodes its own way.
        let same =
            first.entry((fact.order, name.ends_with(".msh"))).or_insert_with(|| mesh.clone());
        for (a, b) in mesh.nodes().iter().zip(same.nodes()) {
            assert!((*a - *b).length() < 1e-15, "{name}");
        }
    }
}

#[test]
fn what_we_write_we_read() {
    for mesh in [TetMesh::worm(), distorted([3, 2, 2], 0.2, 4).quadratic()] {
        let read = from_gmsh(gmsh_text(&mesh).as_bytes()).unwrap();
        assert_eq!(read.mesh.nodes(), mesh.nodes());
        for e in 0..mesh.element_count() {
            assert_eq!(read.mesh.element(e), mesh.element(e));
        }
        assert_eq!((read.unused, read.straightened), (0, 0));
    }
}

#[test]
fn medit_and_tetgen() {
    let medit = "MeshVersionFormatted 2\nDimension 3\nVertices\n5 # five\n0 0 0 0\n1 0 0 2\n\
                 0 1 0 2\n0 0 1 0\n9 9 9 0\nTriangles 1\n1 2 3 4\nTetrahedra\n1\n1 2 3 4 6\nEnd\n";
    let found = from_medit(medit.as_bytes()).unwrap();
    assert_eq!(found.mesh.nodes(), [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    assert_eq!((found.unused, found.groups["2"].clone()), (1, vec![1, 2]));
    assert_eq!(found.groups["6"], [0, 1, 2, 3]);

    // Numbers from 1, an attribute and a marker; comments.
    let nodes = "# nodes\n4 3 1 1\n1 0 0 0 0.5 0\n2 1 0 0 0.5 8\n3 0 1 0 0.5 8\n4 0 0 1 0.5 0\n";
    let found = from_tetgen(nodes.as_bytes(), b"1 4 1\n1 1 3 2 4 3\n").unwrap();
    assert_eq!(found.mesh.element_count(), 1);
    assert_eq!(found.mesh.notes().len(), 1, "turned: {:?}", found.mesh.notes());
    assert_eq!((found.groups["8"].clone(), found.groups["3"].len()), (vec![1, 2], 4));
    // Numbers from 0, ten nodes, one of them off its edge.
    let mut nodes = String::from("10 3 0 0\n");
    let mesh = TetMesh::new(found.mesh.nodes().to_vec(), &[[0, 1, 2, 3]]).unwrap().quadratic();
    for (i, x) in mesh.nodes().iter().enumerate() {
        let off = if i == 7 { 0.05 } else { 0.0 };
        nodes += &format!("{i} {} {} {}\n", x.x + off, x.y, x.z);
    }
    let bent = from_tetgen(nodes.as_bytes(), b"1 10 0\n0 0 1 2 3 6 7 9 5 8 4\n").unwrap();
    assert_eq!((bent.mesh.order(), bent.straightened), (Order::Quadratic, 1));
    assert_eq!(bent.mesh.nodes(), mesh.nodes());
}

#[test]
fn what_is_no_mesh_is_refused_with_its_line() {
    let gmsh = |text: &str| from_gmsh(text.as_bytes()).unwrap_err();
    assert!(matches!(gmsh("hello"), FileError::End { expected: "$MeshFormat" }));
    let old = FileError::Version { version: "4".into() };
    assert_eq!(gmsh("$MeshFormat\n4 0 8\n$EndMeshFormat\n"), old);
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    assert_eq!(gmsh(head), FileError::NoTetrahedra);
    let bad = gmsh(&format!("{head}$Nodes\n1\n1 0 x 0\n$EndNodes\n"));
    assert_eq!(bad.to_string(), "line 6: a coordinate expected, found 'x'");
    let element = "$Elements\n1\n1 4 0 1 2 3 9\n$EndElements\n";
    let nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
    let missing = gmsh(&format!("{head}{nodes}{element}"));
    assert_eq!(missing, FileError::NoSuchNode { element: 0, node: 9 });
    let flat = nodes.replace("4 0 0 1", "4 1 1 0");
    let flat = gmsh(&format!("{head}{flat}$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n"));
    assert!(matches!(flat, FileError::Mesh(MeshError::Flat { element: 0, .. })));
    assert!(matches!(load("a.stl".as_ref()), Err(FileError::UnknownFormat { .. })));
    assert!(matches!(load("no.msh".as_ref()), Err(FileError::Unreadable { .. })));
    assert!(is_gmsh(head.as_bytes()) && !is_gmsh(&[3, 0, 0, 0]));
}

/// Cut and overwritten files end in an error or in a mesh, never in a panic.
#[test]
fn broken_files_do_not_panic() {
    let mut rng = SplitMix64::new(9);
    for name in ["wedge1_22_text.msh", "wedge1_22_binary.msh", "wedge1_41_binary.msh"] {
        let whole = std::fs::read(folder().join(name)).unwrap();
        for _ in 0..300 {
            let mut bytes = whole[..rng.below(whole.len())].to_vec();
            for _ in 0..3 {
                if !bytes.is_empty() {
                    let at = rng.below(bytes.len());
                    bytes[at] = rng.below(256) as u8;
                }
            }
            let _ = from_gmsh(&bytes);
            let _ = from_medit(&bytes);
        }
    }
}

#[test]
fn vtk_has_cells_and_displacements() {
    let mesh = TetMesh::kuhn([1, 1, 1], DVec3::ONE).unwrap().quadratic();
    let x: Vec<DVec3> = mesh.nodes().iter().map(|x| *x + DVec3::Z).collect();
    let text = vtk_text(&mesh, &x);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# vtk DataFile Version 3.0");
    assert!(lines.contains(&"POINTS 27 double") && lines.contains(&"CELLS 6 66"));
    assert_eq!(lines.iter().filter(|l| **l == "24").count(), 6);
    assert_eq!(lines.iter().filter(|l| **l == "0 0 1").count(), 27 + 1);
    // Middle nodes in VTK's order: each between its two corners.
    let cell = lines.iter().position(|l| l.starts_with("CELLS")).unwrap() + 1;
    let nodes: Vec<usize> = lines[cell].split(' ').skip(1).map(|w| w.parse().unwrap()).collect();
    for (i, [a, b]) in [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]].into_iter().enumerate() {
        let middle = 0.5 * (mesh.nodes()[nodes[a]] + mesh.nodes()[nodes[b]]);
        assert_eq!(mesh.nodes()[nodes[4 + i]], middle);
    }
}
