//! Bodies: nodes in bones, masses, embedded surfaces, what is refused.

use forks_deform::{
    Attachment, Material, SoftBody, SoftError, SoftNote, SoftOptions, SoftSimulation, TetMesh,
    creatures::{self, Base},
    dynamics::mechanism::{
        JointKind, LinkId,
        geometry::mesh::Mesh,
        lie::{SplitMix64, glam::DVec3},
    },
};

use crate::{
    support::{SIZE, vector},
    two_bones::{mechanism, tissue},
};

fn material() -> Material {
    Material::stvk(5e4, 0.3, 1000.0).unwrap()
}

/// A sphere of triangles.
fn sphere(center: DVec3, radius: f64, n: usize) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.vertices.push(center + DVec3::Z * radius);
    for i in 1..n {
        for j in 0..2 * n {
            let (s, c) = (std::f64::consts::PI * i as f64 / n as f64).sin_cos();
            let (sj, cj) = (std::f64::consts::PI * j as f64 / n as f64).sin_cos();
            mesh.vertices.push(center + DVec3::new(s * cj, s * sj, c) * radius);
        }
    }
    mesh.vertices.push(center - DVec3::Z * radius);
    let (last, at) =
        (mesh.vertices.len() - 1, |i: usize, j: usize| 1 + (i - 1) * 2 * n + j % (2 * n));
    for j in 0..2 * n {
        mesh.faces.push([0, at(1, j), at(1, j + 1)]);
        for i in 1..n - 1 {
            mesh.faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            mesh.faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
        mesh.faces.push([at(n - 1, j), last, at(n - 1, j + 1)]);
    }
    mesh
}

#[test]
fn masses_are_those_of_the_volume() {
    for mesh in [TetMesh::worm(), TetMesh::fish().quadratic()] {
        let whole = 1000.0 * mesh.total_volume();
        let body = SoftBody::new(mesh, material()).unwrap();
        assert!((body.mass() / whole - 1.0).abs() < 1e-13);
        assert!(body.masses().iter().all(|m| *m > 0.0));
    }
}

#[test]
fn a_surface_sets_masses_and_its_vertices_follow() {
    for quadratic in [false, true] {
        let mut mesh = TetMesh::kuhn([6, 6, 6], DVec3::ONE).unwrap();
        if quadratic {
            mesh = mesh.quadratic();
        }
        let center = DVec3::new(0.52, 0.5, 0.47);
        let surface = sphere(center, 0.4, 12);
        let body = SoftBody::new(mesh, material()).unwrap().with_surface(&surface).unwrap();
        let volume =
            surface.mass(forks_deform::dynamics::mechanism::geometry::mesh::MassRule::Exact);
        let whole = 1000.0 * volume.unwrap().amount;
        assert!((body.mass() / whole - 1.0).abs() < 1e-13);
        let nodes = body.mesh().nodes();
        let mean: DVec3 =
            nodes.iter().zip(body.masses()).map(|(x, m)| *x * *m).sum::<DVec3>() / body.mass();
        assert!((mean - center).length() < 1e-3, "{mean}");
        assert!(body.notes().iter().all(|n| matches!(n, SoftNote::Empty { .. })));

        let embedded = body.surface().unwrap();
        let mut y = vec![DVec3::ZERO; surface.vertices.len()];
        let map = |x: DVec3| DVec3::new(1.1 * x.x + 0.2 * x.y, x.y - 0.3 * x.z, 0.9 * x.z) + SIZE;
        let x: Vec<DVec3> = nodes.iter().map(|x| map(*x)).collect();
        embedded.positions(body.mesh(), &x, &mut y);
        for (y, v) in y.iter().zip(&surface.vertices) {
            assert!((*y - map(*v)).length() < 1e-14);
        }
        // Forces keep their sum and moment.
        let mut rng = SplitMix64::new(2);
        let forces: Vec<DVec3> = y.iter().map(|_| vector(&mut rng)).collect();
        let mut spread = vec![DVec3::ZERO; x.len()];
        embedded.spread(body.mesh(), &forces, &mut spread);
        let sum = |x: &[DVec3], f: &[DVec3]| -> (DVec3, DVec3) {
            (f.iter().sum(), x.iter().zip(f).map(|(x, f)| x.cross(*f)).sum())
        };
        let ((f, m), (g, n)) = (sum(&y, &forces), sum(&x, &spread));
        assert!((f - g).length() < 1e-12 && (m - n).length() < 1e-12);
    }
}

#[test]
fn surfaces_that_enclose_nothing_are_refused() {
    let body = || SoftBody::new(TetMesh::kuhn([2; 3], DVec3::ONE).unwrap(), material()).unwrap();
    let mut inside_out = sphere(DVec3::splat(0.5), 0.4, 6);
    inside_out.faces.iter_mut().for_each(|f| f.swap(1, 2));
    assert!(matches!(body().with_surface(&inside_out), Err(SoftError::Surface(v)) if v < 0.0));
    let away = sphere(DVec3::splat(9.0), 0.4, 6);
    assert!(matches!(body().with_surface(&away), Err(SoftError::Outside)));
    // A vertex outside follows the nearest element, and is noted.
    let wide = sphere(DVec3::splat(0.5), 0.6, 6);
    let found = body().with_surface(&wide).unwrap();
    assert!(found.notes().iter().any(|n| matches!(n, SoftNote::Outside { vertex: 0, .. })));
}

#[test]
fn nodes_within_a_distance_are_in_the_nearest_bone() {
    let m = mechanism(JointKind::Free, 0.0);
    let mesh = tissue(&m, material(), false).mesh().clone();
    let new = |how| SoftBody::new(mesh.clone(), material()).unwrap().attached(&m, &how);
    let body = new(Attachment::Within(0.01)).unwrap();
    for (n, x) in mesh.nodes().iter().enumerate() {
        let bone = LinkId::new(if x.x <= 0.2 + 1e-9 { 1 } else { 2 });
        let near = x.y.abs() < 1e-9 && x.z.abs() < 1e-9;
        assert_eq!(body.holder(n), near.then_some(bone), "{x}");
        assert_eq!(body.reference(n), bone, "{x}");
    }
    assert_eq!(body.free_count(), 81 - 9);
    assert_eq!(new(Attachment::Within(-1.0)).unwrap_err(), SoftError::Within(-1.0));
    let link = LinkId::new(1);
    let twice = new(Attachment::Nodes(vec![(link, vec![3, 4]), (LinkId::new(2), vec![4])]));
    assert_eq!(twice.unwrap_err().to_string(), "node 4 is attached to link a and to link b");
    let far = new(Attachment::Nodes(vec![(link, vec![99])])).unwrap_err();
    assert!(matches!(far, SoftError::NoSuchNode { node: 99, count: 81, .. }));
    let none = new(Attachment::Nodes(vec![(LinkId::new(7), vec![])])).unwrap_err();
    assert_eq!(none, SoftError::NoSuchLink { index: 7, count: 3 });
    let away = mesh.mapped(|x| x + DVec3::Z).unwrap();
    let away = SoftBody::new(away, material()).unwrap();
    let nothing = away.attached(&m, &Attachment::Within(0.01)).unwrap_err();
    assert!(matches!(nothing, SoftError::NothingAttached { .. }), "{nothing}");
}

#[test]
fn masses_of_nodes_in_bones_are_part_of_the_links() {
    let m = mechanism(JointKind::Free, 0.0);
    let body = tissue(&m, material(), false);
    let held: f64 = (0..81).filter(|&n| body.holder(n).is_some()).map(|n| body.masses()[n]).sum();
    let s = SoftSimulation::new(&m, body, SoftOptions::default()).unwrap();
    assert!((s.mechanism().total_mass() - m.total_mass() - held).abs() < 1e-15);
}

#[test]
fn creatures_have_the_counts_that_they_promise() {
    for (c, nodes, held, elements, dof) in [
        (creatures::worm(Base::Planar, material()).unwrap(), 224, 48, 702, 9),
        (creatures::fish(Base::Free, material()).unwrap(), 108, 24, 264, 12),
        (creatures::finger(Base::Fixed, material()).unwrap(), 52, 26, 72, 4),
    ] {
        assert_eq!(c.body.mesh().nodes().len(), nodes);
        assert_eq!(nodes - c.body.free_count(), held);
        assert_eq!(c.body.mesh().element_count(), elements);
        assert_eq!(c.mechanism.tree_velocity_count(), dof);
    }
}
