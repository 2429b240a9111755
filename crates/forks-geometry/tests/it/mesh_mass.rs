//! Mass of closed meshes by all rules.

use forks_geometry::mesh::{MassRule, Mesh};
use forks_lie::glam::DVec3;

/// A box with corners ±h, or without its last two triangles.
fn cuboid(h: DVec3) -> Mesh {
    let corner = |i: usize| {
        let s = |k: usize| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
        h * DVec3::new(s(0), s(1), s(2))
    };
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Mesh { vertices: (0..8).map(corner).collect(), faces }
}

#[test]
fn boxes_by_all_rules() {
    let h = DVec3::new(0.5, 1.0, 1.5);
    let mut m = cuboid(h);
    let shift = DVec3::new(10.0, -20.0, 5.0);
    m.vertices.iter_mut().for_each(|v| *v += shift);
    let moments = (h * h / 3.0).to_array();
    // Sums over coordinates of about 20: rounding is a few units of 20².
    let bound = 400.0 * 16.0 * f64::EPSILON;
    for rule in [MassRule::Exact, MassRule::Convex, MassRule::Legacy] {
        let x = m.mass(rule).unwrap();
        assert!((x.amount - 6.0).abs() < bound, "{rule:?}: {}", x.amount);
        assert!(x.unit.center_of_mass.distance(shift) < bound);
        let expected = moments[1] + moments[2];
        let xx = x.unit.inertia.x_axis.x;
        assert!((xx - expected).abs() < bound, "{rule:?}: {xx} instead of {expected}");
        assert!(x.unit.inertia.x_axis.y.abs() < bound);
    }
    let shell = m.mass(MassRule::Shell).unwrap();
    assert!((shell.amount - 2.0 * (2.0 + 3.0 + 6.0)).abs() < bound);
}

#[test]
fn what_is_wrong_is_said() {
    let mut m = cuboid(DVec3::ONE);
    m.faces.iter_mut().for_each(|f| f.swap(1, 2));
    assert!(m.mass(MassRule::Exact).unwrap_err().to_string().contains("inwards"));
    assert!(m.mass(MassRule::Legacy).is_ok());
    m.faces[3].swap(0, 1);
    assert!(m.mass(MassRule::Exact).unwrap_err().to_string().contains("opposite"));
    let flat = Mesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y],
        faces: vec![[0, 1, 2], [1, 3, 2]],
    };
    assert!(flat.mass(MassRule::Legacy).unwrap_err().to_string().contains("no volume"));
    assert!(flat.mass(MassRule::Convex).unwrap_err().to_string().contains("plane"));
    assert_eq!(flat.mass(MassRule::Shell).unwrap().amount, 1.0);
}
