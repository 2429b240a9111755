//! Cantilevers under a force at their tip: the stiffness that linear elements add.

use forks_deform::{
    Curvature, Elastic, Material, Model, TetMesh, Window,
    dynamics::mechanism::lie::glam::{DMat3, DVec3},
    sparse::BlockCholesky,
};

/// Deflection at the tip over Timoshenko's, L/D = 8, linear.
fn ratio(cells: [usize; 3], nu: f64, quadratic: bool) -> f64 {
    let (young, length, depth, force) = (1e5, 0.8, 0.1, 1e-4);
    let mut mesh = TetMesh::kuhn(cells, DVec3::new(length, depth, depth)).unwrap();
    if quadratic {
        mesh = mesh.quadratic();
    }
    let plain = Model::StVenantKirchhoff(Window::None);
    let elastic = Elastic::new(&mesh, Material::new(plain, young, nu, 1000.0).unwrap());
    let mut k = elastic.matrix();
    elastic.stiffness(mesh.nodes(), Curvature::Exact, &mut k);
    let keep: Vec<bool> = mesh.nodes().iter().map(|x| x.x > 1e-12).collect();
    let mut f = vec![DVec3::ZERO; mesh.nodes().len()];
    for (e, face) in mesh.boundary_faces() {
        let nodes = mesh.element(e);
        let corners = forks_deform::mesh::FACES[face];
        let [a, b, c] = corners.map(|i| mesh.nodes()[nodes[i]]);
        if [a, b, c].iter().all(|x| x.x > length - 1e-12) {
            let area = 0.5 * (b - a).cross(c - a).length();
            let third = DVec3::Z * (force * area / (3.0 * depth * depth));
            match quadratic {
                false => corners.iter().for_each(|&i| f[nodes[i]] += third),
                true => {
                    for (i, edge) in forks_deform::mesh::EDGES.iter().enumerate() {
                        if edge.iter().all(|v| corners.contains(v)) {
                            f[nodes[4 + i]] += third;
                        }
                    }
                }
            }
        }
    }
    let mut u = f.clone();
    let mut factor = BlockCholesky::new(&k, mesh.nodes(), &keep);
    factor.factorise(&k, 1.0, |_| DMat3::ZERO).unwrap();
    factor.solve(&mut u);
    let work: f64 =
        u.iter().zip(&f).zip(&keep).filter(|(_, k)| **k).map(|((u, f), _)| u.dot(*f)).sum();
    let (i, a, g) = (depth.powi(4) / 12.0, depth * depth, 0.5 * young / (1.0 + nu));
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    let timoshenko = force * length.powi(3) / (3.0 * young * i) + force * length / (shear * g * a);
    work / force / timoshenko
}

#[test]
fn linear_elements_lock_and_quadratic_ones_do_not() {
    let near = |x: f64, printed: f64, digit: f64| {
        assert!((x - printed).abs() <= digit, "{x} for {printed}")
    };
    near(ratio([16, 2, 2], 0.3, false), 0.50, 0.005);
    near(ratio([8, 1, 1], 0.3, true), 0.97, 0.005);
    near(ratio([16, 2, 2], 0.49, false), 0.11, 0.005);
    near(ratio([8, 1, 1], 0.49, true), 0.86, 0.005);
}
