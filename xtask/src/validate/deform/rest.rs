//! Rest: against motion that dies out and dense Newton, supports, masses, nodes thrown about.

use forks_deform::{
    Commands, Curvature, Elastic, Material, Model, Momentum, Range, SoftBody, SoftOptions,
    StaticsOptions, StaticsStatus, Stepper, TetMesh, Window,
};
use forks_mechanism::{
    geometry::mesh::Mesh,
    lie::glam::DVec3,
    linalg::{Matrix, dense::lu_solve},
};
use forks_testkit::Rng;

use super::samples::{bar_on_bones, grounded, largest, vector};
use crate::{validate::record::Recorder, words::said};

const SIZE: DVec3 = DVec3::new(1.0, 0.6, 0.5);

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    damped(out)?;
    block(out)?;
    masses(out)?;
    scrambled(out)
}

fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    largest(a.iter().zip(b).map(|(a, b)| *a - *b))
}

/// Statics of a bar with a hinge against motion with dampers.
fn damped(out: &mut Recorder) -> Result<(), String> {
    let law = Material::stvk(2e4, 0.3, 1000.0).map_err(said)?;
    let of = |damping| {
        let options = SoftOptions {
            stepper: Stepper::LinearlyImplicit,
            momentum: Momentum::Free,
            gravity: true,
            damping,
        };
        bar_on_bones(forks_mechanism::JointKind::Fixed, [8, 2, 2], law, options)
    };
    let (mut still, mut moving) = (of(0.0)?, of(5.0)?);
    let report = still.rest(&Commands::default(), &StaticsOptions::default()).map_err(said)?;
    if report.status != StaticsStatus::Converged {
        return Err(format!("no rest: {report:?}"));
    }
    for _ in 0..1000 {
        moving.step(0.05, &Commands::default()).map_err(said)?;
    }
    let error = apart(&still.state().x, &moving.state().x) / 0.4;
    out.at_most("statics against the end of damped motion, of the length", error, 1e-8);
    Ok(())
}

/// A block on its base: supports, and dense Newton.
fn block(out: &mut Recorder) -> Result<(), String> {
    let law = Material::stvk(1e5, 0.3, 1000.0).map_err(said)?;
    let mesh = TetMesh::kuhn([3, 2, 2], SIZE).map_err(said)?;
    let mut s = grounded(mesh.clone(), law, |x| x.z < 1e-12, SoftOptions::default())?;
    let options = StaticsOptions { tolerance: 1e-13, ..StaticsOptions::default() };
    s.rest(&Commands::default(), &options).map_err(said)?;
    let elastic = Elastic::new(&mesh, law);
    let (mut f, masses) = (mesh.nodes().to_vec(), s.body().masses().to_vec());
    elastic.forces(&s.state().x, &mut f);
    let g = DVec3::new(0.0, 0.0, -9.81);
    let held = |n: usize| s.body().holder(n).is_some();
    let base: DVec3 = (0..f.len()).filter(|&n| held(n)).map(|n| f[n] + g * masses[n]).sum();
    let weight = g * s.body().mass();
    out.at_most("weight on the base", (base - weight).length() / weight.length(), 1e-12);

    // Plain Newton with the exact matrix, dense.
    let free: Vec<usize> = (0..f.len()).filter(|&n| !held(n)).collect();
    let mut x = mesh.nodes().to_vec();
    let mut k = elastic.matrix();
    for _ in 0..30 {
        elastic.forces(&x, &mut f);
        elastic.stiffness(&x, Curvature::Exact, &mut k);
        let dense = k.to_dense();
        let n = 3 * free.len();
        let at = |i: usize| 3 * free[i / 3] + i % 3;
        let a = Matrix::from_fn(n, n, |i, j| dense[(at(i), at(j))]);
        let pull = |i: usize| (f[free[i / 3]] + g * masses[free[i / 3]])[i % 3];
        let d = lu_solve(&a, &Matrix::from_fn(n, 1, |i, _| pull(i)));
        (0..n).for_each(|i| x[free[i / 3]][i % 3] += d[(i, 0)]);
    }
    out.at_most("statics against dense Newton, of the size", apart(&x, &s.state().x), 1e-8);
    Ok(())
}

/// A box within a mesh that is larger: mass and its centre.
fn masses(out: &mut Recorder) -> Result<(), String> {
    let mut surface = Mesh::default();
    let (low, high) = (DVec3::new(0.13, 0.17, 0.11), DVec3::new(0.91, 0.83, 0.87));
    for i in 0..8 {
        let pick = |b: usize, l: f64, h: f64| if i >> b & 1 == 1 { h } else { l };
        surface.vertices.push(DVec3::new(
            pick(0, low.x, high.x),
            pick(1, low.y, high.y),
            pick(2, low.z, high.z),
        ));
    }
    for [a, b, c, d] in
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    {
        surface.faces.extend([[a, b, c], [a, c, d]]);
    }
    let law = Material::stvk(1e5, 0.3, 1000.0).map_err(said)?;
    let mesh = TetMesh::kuhn([8, 8, 8], DVec3::ONE).map_err(said)?;
    let body = SoftBody::new(mesh, law).and_then(|b| b.with_surface(&surface)).map_err(said)?;
    let size = high - low;
    let whole = 1000.0 * size.x * size.y * size.z;
    out.at_most("mass within a surface", (body.mass() / whole - 1.0).abs(), 1e-13);
    let nodes = body.mesh().nodes().iter().zip(body.masses());
    let center = nodes.map(|(x, m)| *x * *m).sum::<DVec3>() / body.mass();
    out.at_most("its centre, m", (center - 0.5 * (low + high)).length(), 1e-3);
    Ok(())
}

/// All nodes but those of the base thrown about in the box.
fn scrambled(out: &mut Recorder) -> Result<(), String> {
    let windowed = |w: fn(Range) -> Window| Model::StVenantKirchhoff(w(Range::PAPER));
    for (name, model, returns) in [
        ("linear stress", windowed(Window::LinearStress), true),
        ("linear strain", windowed(Window::LinearStrain), true),
        ("stable neo-Hookean", Model::StableNeoHookean, true),
        ("plain StVK", Model::StVenantKirchhoff(Window::None), false),
    ] {
        let law = Material::new(model, 1e5, 0.3, 1000.0).map_err(said)?;
        let mesh = TetMesh::kuhn([3, 2, 2], SIZE).map_err(said)?;
        let settings = SoftOptions { gravity: false, ..SoftOptions::default() };
        let mut s = grounded(mesh.clone(), law, |x| x.z < 1e-12, settings)?;
        let mut rng = Rng::new(6);
        let mut state = s.state().clone();
        state.x.iter_mut().for_each(|x| *x = (vector(&mut rng) * 0.5 + 0.5) * SIZE);
        s.set_state(state).map_err(said)?;
        let options = StaticsOptions { iterations: 5000, ..StaticsOptions::default() };
        let report = s.rest(&Commands::default(), &options).map_err(said)?;
        let error = apart(&s.state().x, mesh.nodes());
        let check = format!("nodes thrown about, way back, {name} ({} steps)", report.newton);
        out.judge(&check, error, returns.then_some(1e-8));
    }
    Ok(())
}
