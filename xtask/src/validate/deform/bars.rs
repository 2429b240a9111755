//! Bars: a cantilever's stiffness, the elastica, frequencies.

use forks_deform::{
    Commands, Curvature, Elastic, SoftOptions, StaticsOptions, StaticsStatus, TetMesh,
    mesh::{EDGES, FACES},
    sparse::BlockCholesky,
};
use forks_mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::dense::generalized_symmetric_eigen,
};

use super::samples::{grounded, plain};
use crate::{validate::record::Recorder, words::said};

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    cantilever(out)?;
    elastica(out)?;
    frequencies(out)
}

fn bar(cells: [usize; 3], length: f64, depth: f64, quadratic: bool) -> Result<TetMesh, String> {
    let mesh = TetMesh::kuhn(cells, DVec3::new(length, depth, depth)).map_err(said)?;
    Ok(if quadratic { mesh.quadratic() } else { mesh })
}

/// A force spread evenly over the end face, as its elements take it: thirds of a triangle to its
/// corners, of a quadratic one to the middles of its edges.
fn at_the_end(mesh: &TetMesh, quadratic: bool, length: f64, force: DVec3) -> Vec<DVec3> {
    let mut f = vec![DVec3::ZERO; mesh.nodes().len()];
    let mut whole = 0.0;
    for (e, face) in mesh.boundary_faces() {
        let nodes = mesh.element(e);
        let corners = FACES[face];
        let [a, b, c] = corners.map(|i| mesh.nodes()[nodes[i]]);
        if [a, b, c].iter().any(|x| x.x < length * (1.0 - 1e-9)) {
            continue;
        }
        let area = 0.5 * (b - a).cross(c - a).length();
        whole += area;
        let third = force * (area / 3.0);
        if quadratic {
            let edges = EDGES.iter().enumerate();
            for (i, _) in edges.filter(|(_, e)| e.iter().all(|v| corners.contains(v))) {
                f[nodes[4 + i]] += third;
            }
        } else {
            corners.iter().for_each(|&i| f[nodes[i]] += third);
        }
    }
    f.iter_mut().for_each(|f| *f /= whole);
    f
}

/// Deflection at the tip over Timoshenko's, L/D = 8.
fn ratio(cells: [usize; 3], nu: f64, quadratic: bool) -> Result<f64, String> {
    let (young, length, depth, force) = (1e5, 0.8, 0.1, 1e-4);
    let mesh = bar(cells, length, depth, quadratic)?;
    let elastic = Elastic::new(&mesh, plain(young, nu)?);
    let mut k = elastic.matrix();
    elastic.stiffness(mesh.nodes(), Curvature::Exact, &mut k);
    let keep: Vec<bool> = mesh.nodes().iter().map(|x| x.x > 1e-12).collect();
    let f = at_the_end(&mesh, quadratic, length, DVec3::Z * force);
    let mut u = f.clone();
    let mut factor = BlockCholesky::new(&k, mesh.nodes(), &keep);
    factor.factorise(&k, 1.0, |_| DMat3::ZERO).map_err(said)?;
    factor.solve(&mut u);
    let work: f64 = (0..u.len()).filter(|&n| keep[n]).map(|n| u[n].dot(f[n])).sum();
    let (i, a, g) = (depth.powi(4) / 12.0, depth * depth, 0.5 * young / (1.0 + nu));
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    let bending = force * length.powi(3) / (3.0 * young * i);
    Ok(work / force / (bending + force * length / (shear * g * a)))
}

/// Name, cells, quadratic or not, ratios for three values of ν, half of their last digit.
type Row = (&'static str, [usize; 3], bool, [f64; 3], f64);

/// What scipy gives for the same meshes, to the digits that it was asked for.
fn cantilever(out: &mut Recorder) -> Result<(), String> {
    let tables: [Row; 4] = [
        ("Tet4, 153 nodes", [16, 2, 2], false, [0.504, 0.300, 0.108], 5e-4),
        ("Tet4, 825 nodes", [32, 4, 4], false, [0.786, 0.595, 0.288], 5e-4),
        ("Tet10, 153 nodes", [8, 1, 1], true, [0.9697, 0.9078, 0.8575], 5e-5),
        ("Tet10, 825 nodes", [16, 2, 2], true, [0.9864, 0.9614, 0.9426], 5e-5),
    ];
    for (name, cells, quadratic, printed, digit) in tables {
        for (nu, printed) in [0.3, 0.45, 0.49].into_iter().zip(printed) {
            let found = ratio(cells, nu, quadratic)?;
            let check = format!("cantilever over Timoshenko, {name}, ν {nu}: {found:.4}");
            // The printed number is rounded itself.
            out.at_most(&check, (found - printed).abs(), digit * (1.0 + 1e-9));
        }
    }
    Ok(())
}

/// ∫ from a to b by Simpson's rule.
fn integral(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 2000;
    let h = (b - a) / n as f64;
    let weight = |i: usize| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
    (0..=n).map(|i| weight(i) * f(a + h * i as f64)).sum::<f64>() * h / 3.0
}

/// Deflection of the tip over the length of an inextensible cantilever under P at its end,
/// α² = PL²/EI \[BD45\]: α = K(k) − F(k, φ₁), sin φ₁ = 1/(k √2), and δ/L = 1 −
/// 2/α (E(k) − E(k, φ₁)).
fn elastica_tip(load: f64) -> f64 {
    let alpha = load.sqrt();
    let first = |k: f64| (1.0 / (k * 2f64.sqrt())).min(1.0).asin();
    let end = std::f64::consts::FRAC_PI_2;
    let length = |k: f64| integral(first(k), end, |p| 1.0 / (1.0 - (k * p.sin()).powi(2)).sqrt());
    let (mut low, mut high) = (0.5f64.sqrt(), 1.0 - 1e-12);
    for _ in 0..100 {
        let k = 0.5 * (low + high);
        if length(k) < alpha { low = k } else { high = k }
    }
    let k = 0.5 * (low + high);
    1.0 - 2.0 / alpha * integral(first(k), end, |p| (1.0 - (k * p.sin()).powi(2)).sqrt())
}

fn elastica(out: &mut Recorder) -> Result<(), String> {
    let (young, length) = (1e6, 1.0);
    let depth = length / 40.0;
    for load in [1.0, 2.0, 5.0, 10.0] {
        let mesh = bar([40, 1, 1], length, depth, true)?;
        let force = load * young * depth.powi(4) / 12.0 / (length * length);
        let pull = at_the_end(&mesh, true, length, DVec3::Z * force);
        let options = SoftOptions { gravity: false, ..SoftOptions::default() };
        let mut s = grounded(mesh, plain(young, 0.0)?, |x| x.x < 1e-9, options)?;
        let commands = Commands { node_forces: &pull, ..Commands::default() };
        let search = StaticsOptions { tolerance: 1e-7, iterations: 500, load_steps: 10 };
        let report = s.rest(&commands, &search).map_err(said)?;
        let exact = elastica_tip(load);
        let check = format!("elastica, PL²/EI = {load}, tip at {exact:.4} L");
        if report.status != StaticsStatus::Converged {
            out.fail(&check, 0.02, format!("{report:?}"));
            continue;
        }
        let found: f64 = pull.iter().zip(&s.state().x).map(|(f, x)| f.z * x.z).sum::<f64>() / force;
        let moved = found - 0.5 * depth;
        out.at_most(&check, (moved / (exact * length) - 1.0).abs(), 0.02);
    }
    Ok(())
}

/// The lowest bending and axial frequencies of a clamped bar, ν = 0.
fn frequencies(out: &mut Recorder) -> Result<(), String> {
    let (young, length, depth, density) = (1e5f64, 1.0f64, 0.05f64, 1000.0f64);
    let mesh = bar([16, 1, 1], length, depth, true)?;
    let elastic = Elastic::new(&mesh, plain(young, 0.0)?);
    let mut k = elastic.matrix();
    elastic.stiffness(mesh.nodes(), Curvature::Exact, &mut k);
    let dense = k.to_dense();
    let masses = elastic.elements().lumped_masses(density);
    let free: Vec<usize> = (0..masses.len()).filter(|&n| mesh.nodes()[n].x > 1e-12).collect();
    let at: Vec<usize> = free.iter().flat_map(|n| [3 * n, 3 * n + 1, 3 * n + 2]).collect();
    use forks_mechanism::linalg::Matrix;
    let part = Matrix::from_fn(at.len(), at.len(), |i, j| dense[(at[i], at[j])]);
    let mass =
        Matrix::from_fn(at.len(), at.len(), |i, j| if i == j { masses[at[i] / 3] } else { 0.0 });
    let found = generalized_symmetric_eigen(&part, &mass).ok_or("no eigenvalues")?;
    let (values, vectors) = found;
    let speed = (young / density).sqrt();
    let gyration = depth / 12f64.sqrt();
    let bending = 1.875_104_068_711_961_2f64.powi(2) * speed * gyration / (length * length);
    let axial = std::f64::consts::FRAC_PI_2 * speed / length;
    // The lowest mode that moves along x, by its part of the mass.
    let along = |mode: usize| -> f64 {
        (0..at.len()).step_by(3).map(|i| masses[at[i] / 3] * vectors[(i, mode)].powi(2)).sum()
    };
    let stretch = (0..values.len()).find(|&m| along(m) > 0.9).ok_or("no axial mode")?;
    let error = |square: f64, exact: f64| (square.sqrt() / exact - 1.0).abs();
    out.at_most("lowest bending frequency of a bar, Tet10", error(values[0], bending), 0.01);
    out.at_most("lowest axial frequency of a bar, Tet10", error(values[stretch], axial), 0.01);
    Ok(())
}
