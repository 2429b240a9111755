//! Meshes, states and materials that the tests share.

use forks_deform::{
    Material, Model, Range, TetMesh, Window,
    dynamics::mechanism::lie::{
        SplitMix64,
        glam::{DMat3, DQuat, DVec3},
    },
};

pub(crate) const SIZE: DVec3 = DVec3::new(1.0, 0.6, 0.5);

pub(crate) fn vector(rng: &mut SplitMix64) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)))
}

pub(crate) fn matrix(rng: &mut SplitMix64) -> DMat3 {
    DMat3::from_cols(vector(rng), vector(rng), vector(rng))
}

pub(crate) fn rotation(rng: &mut SplitMix64) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(rng.direction() * rng.range(0.0, 3.0)))
}

/// True for nodes on the surface of the box.
pub(crate) fn on_surface(x: DVec3) -> bool {
    x.to_array().iter().zip(SIZE.to_array()).any(|(x, s)| x.abs() < 1e-12 || (x - s).abs() < 1e-12)
}

/// A box whose inner nodes are moved about by up to `amount` of a cell.
pub(crate) fn distorted(cells: [usize; 3], amount: f64, seed: u64) -> TetMesh {
    let mut rng = SplitMix64::new(seed);
    let box_ = TetMesh::kuhn(cells, SIZE).unwrap();
    let cell = SIZE / DVec3::from_array(cells.map(|n| n as f64));
    let mut nodes = box_.nodes().to_vec();
    for x in nodes.iter_mut().filter(|x| !on_surface(**x)) {
        *x += vector(&mut rng) * cell * amount;
    }
    let elements: Vec<[usize; 4]> =
        (0..box_.element_count()).map(|e| box_.element(e).try_into().unwrap()).collect();
    TetMesh::new(nodes, &elements).unwrap()
}

/// All laws that have an energy.
pub(crate) fn materials() -> Vec<(&'static str, Material)> {
    let of = |model| Material::new(model, 1e5, 0.3, 1000.0).unwrap();
    vec![
        ("StVK", of(Model::StVenantKirchhoff(Window::None))),
        ("linear stress", of(Model::StVenantKirchhoff(Window::LinearStress(Range::PAPER)))),
        ("linear strain", of(Model::StVenantKirchhoff(Window::LinearStrain(Range::PAPER)))),
        ("stable neo-Hookean", of(Model::StableNeoHookean)),
        ("fixed corotated", of(Model::FixedCorotated)),
    ]
}

pub(crate) fn largest(x: &[DVec3]) -> f64 {
    x.iter().fold(0.0, |m, v| m.max(v.abs().max_element()))
}

pub(crate) fn entries(m: &DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |l: f64, x| l.max(x.abs()))
}
