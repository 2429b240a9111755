//! Meshes as text: Gmsh 2.2 and legacy VTK.

use std::fmt::Write as _;

use forks_dynamics::mechanism::lie::glam::DVec3;

use crate::mesh::{Order, TetMesh};

/// Places of our nodes in Gmsh's order of ten: its last two edges are exchanged, and 1-2 comes
/// before 0-2.
const GMSH: [usize; 10] = [0, 1, 2, 3, 4, 7, 5, 6, 9, 8];
/// VTK's order of ten: edges 0-1, 1-2, 0-2, 0-3, 1-3, 2-3.
const VTK: [usize; 10] = [0, 1, 2, 3, 4, 7, 5, 6, 8, 9];

/// The mesh as a Gmsh file of version 2.2, in text; numbers are written without loss.
pub fn gmsh_text(mesh: &TetMesh) -> String {
    let mut out = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n");
    let say = "writing to a string";
    writeln!(out, "{}", mesh.nodes().len()).expect(say);
    for (i, x) in mesh.nodes().iter().enumerate() {
        writeln!(out, "{} {} {} {}", i + 1, x.x, x.y, x.z).expect(say);
    }
    writeln!(out, "$EndNodes\n$Elements\n{}", mesh.element_count()).expect(say);
    let (kind, order) = match mesh.order() {
        Order::Linear => (4, &GMSH[..4]),
        Order::Quadratic => (11, &GMSH[..]),
    };
    for e in 0..mesh.element_count() {
        write!(out, "{} {kind} 0", e + 1).expect(say);
        for &i in order {
            write!(out, " {}", mesh.element(e)[i] + 1).expect(say);
        }
        out.push('\n');
    }
    out.push_str("$EndElements\n");
    out
}

/// The mesh with its nodes at `x` as a legacy VTK file, for ParaView; displacements from the shape
/// without stress are vectors of the points.
///
/// # Panics
/// If the number of positions is wrong.
pub fn vtk_text(mesh: &TetMesh, x: &[DVec3]) -> String {
    assert_eq!(x.len(), mesh.nodes().len(), "number of nodes");
    let say = "writing to a string";
    let mut out = String::from("# vtk DataFile Version 3.0\ntissue\nASCII\n");
    writeln!(out, "DATASET UNSTRUCTURED_GRID\nPOINTS {} double", x.len()).expect(say);
    for p in x {
        writeln!(out, "{} {} {}", p.x, p.y, p.z).expect(say);
    }
    let (kind, order) = match mesh.order() {
        Order::Linear => (10, &VTK[..4]),
        Order::Quadratic => (24, &VTK[..]),
    };
    let count = mesh.element_count();
    writeln!(out, "CELLS {count} {}", count * (order.len() + 1)).expect(say);
    for e in 0..count {
        write!(out, "{}", order.len()).expect(say);
        order.iter().for_each(|&i| write!(out, " {}", mesh.element(e)[i]).expect(say));
        out.push('\n');
    }
    writeln!(out, "CELL_TYPES {count}").expect(say);
    (0..count).for_each(|_| writeln!(out, "{kind}").expect(say));
    writeln!(out, "POINT_DATA {}\nVECTORS displacement double", x.len()).expect(say);
    for (p, rest) in x.iter().zip(mesh.nodes()) {
        let d = *p - *rest;
        writeln!(out, "{} {} {}", d.x, d.y, d.z).expect(say);
    }
    out
}
