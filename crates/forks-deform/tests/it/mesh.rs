//! Meshes: what is refused, what is noted, volumes and counts.

use forks_deform::{
    MeshError, MeshNote, Order, TetMesh, dynamics::mechanism::lie::glam::DVec3, mesh::FACES,
};

use crate::support::{SIZE, distorted};

fn corner() -> Vec<DVec3> {
    vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]
}

#[test]
fn what_is_no_mesh_is_refused_by_index() {
    let new = |nodes: Vec<DVec3>, e: &[[usize; 4]]| TetMesh::new(nodes, e).unwrap_err();
    assert_eq!(new(corner(), &[]), MeshError::Empty);
    let far = MeshError::NoSuchNode { element: 1, node: 4, count: 4 };
    assert_eq!(new(corner(), &[[0, 1, 2, 3], [0, 1, 2, 4]]), far);
    let twice = MeshError::RepeatedNode { element: 0, node: 1 };
    assert_eq!(new(corner(), &[[0, 1, 2, 1]]), twice);
    let mut flat = corner();
    flat[3] = DVec3::new(0.3, 0.3, 0.0);
    assert!(matches!(new(flat, &[[0, 1, 2, 3]]), MeshError::Flat { element: 0, .. }));
    let mut bad = corner();
    bad[2].y = f64::NAN;
    let said = new(bad, &[[0, 1, 2, 3]]);
    assert!(matches!(said, MeshError::NotFinite { node: 2, .. }));
    assert_eq!(said.to_string(), "node 2 is at (0, NaN, 0), which is not finite");
    assert!(TetMesh::kuhn([2, 0, 1], SIZE).is_err() && TetMesh::kuhn([1; 3], -SIZE).is_err());
}

#[test]
fn what_was_changed_or_may_be_wrong_is_noted() {
    let turned = TetMesh::new(corner(), &[[0, 1, 3, 2]]).unwrap();
    assert_eq!(turned.notes(), [MeshNote::Turned { element: 0 }]);
    assert!(turned.volume(0) > 0.0);

    let mut nodes = corner();
    nodes[3] = DVec3::new(0.3, 0.3, 1e-3);
    nodes.push(DVec3::ONE);
    let notes = TetMesh::new(nodes, &[[0, 1, 2, 3]]).unwrap().notes().to_vec();
    assert!(matches!(notes[0], MeshNote::Sliver { element: 0, .. }));
    assert_eq!(notes[1], MeshNote::Unused { node: 4 });

    // Two tetrahedra that share a node; a node of one in the place of a node of the other.
    let mut nodes = corner();
    nodes.extend([-DVec3::X, -DVec3::Y, -DVec3::Z, DVec3::X]);
    nodes.push(DVec3::new(2.0, 1.0, 1.0));
    let elements = [[0, 1, 2, 3], [0, 4, 5, 6], [7, 8, 2, 3]];
    let mesh = TetMesh::new(nodes, &elements).unwrap();
    let noted = |n: MeshNote| mesh.notes().contains(&n);
    assert!(noted(MeshNote::Hinge { node: 0 }), "{:?}", mesh.notes());
    assert!(noted(MeshNote::Duplicate { first: 1, second: 7 }), "{:?}", mesh.notes());
}

#[test]
fn boxes_are_filled_without_gaps() {
    for mesh in [TetMesh::kuhn([3, 2, 4], SIZE).unwrap(), distorted([4, 3, 3], 0.2, 1)] {
        assert!(mesh.notes().is_empty(), "{:?}", mesh.notes());
        let volume = SIZE.x * SIZE.y * SIZE.z;
        assert!((mesh.total_volume() / volume - 1.0).abs() < 1e-14);
        let total: DVec3 = mesh
            .boundary()
            .iter()
            .map(|f| f.map(|n| mesh.nodes()[n]))
            .map(|[a, b, c]| (b - a).cross(c - a))
            .sum();
        assert!(total.length() < 1e-14);
        assert!(mesh.parts().iter().all(|&p| p == 0));
    }
    // 2 (3·2 + 3·4 + 2·4) squares of two triangles.
    assert_eq!(TetMesh::kuhn([3, 2, 4], SIZE).unwrap().boundary().len(), 104);
}

#[test]
fn faces_look_outside() {
    let mesh = TetMesh::new(corner(), &[[0, 1, 2, 3]]).unwrap();
    for (opposite, f) in FACES.into_iter().enumerate() {
        let [a, b, c] = f.map(|i| mesh.nodes()[i]);
        assert!((b - a).cross(c - a).dot(mesh.nodes()[opposite] - a) < 0.0);
    }
}

#[test]
fn bodies_have_the_counts_that_they_promise() {
    let counts = |m: &TetMesh| [m.nodes().len(), m.element_count()];
    assert_eq!(counts(&TetMesh::worm()), [224, 702]);
    assert_eq!(counts(&TetMesh::fish()), [108, 264]);
    assert_eq!(counts(&TetMesh::finger()), [52, 72]);
    let quadratic = TetMesh::kuhn([8, 1, 1], SIZE).unwrap().quadratic();
    assert_eq!((counts(&quadratic), quadratic.order()), ([153, 48], Order::Quadratic));
    assert_eq!(quadratic.quadratic(), quadratic);
}
