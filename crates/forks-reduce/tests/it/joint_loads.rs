//! Loads of joints at a loaded pose: their change per reduced coordinate against neighbouring
//! equilibria.

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_models::{HelixJoints, helix};
use forks_reduce::{Basis, Effector, Linearisation, Problem, ReduceOptions};
use forks_rom::data::ModelData;

#[test]
fn loads_change_as_neighbouring_equilibria_say() {
    let p = helix(12, HelixJoints::Hinge3);
    let m = &p.mechanism;
    let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(m, p.effectors[0])]);
    let options = EquilibriumOptions { tolerance: 1e-13, ..EquilibriumOptions::default() };
    let at = |further: DVec3| -> (ModelData, Basis) {
        let force = DVec3::new(20.0, 5.0, -40.0) + further;
        let loads =
            Loads::gravity().with_world_wrench(p.effectors[0], Wrench::new(force, DVec3::ZERO));
        let e = solve_equilibrium(m, &m.start_positions(), &loads, &options);
        assert!(e.status.is_equilibrium());
        let at = Linearisation::equilibrium(&e, &loads);
        let r = problem.reduce(at, &ReduceOptions::default()).unwrap();
        (r.model.data().clone(), r.linear.basis)
    };
    let (rest, basis) = at(DVec3::ZERO);
    let h = 1e-2;
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let ((plus, _), (minus, _)) = (at(axis * h), at(axis * -h));
        let pose = |d: &ModelData| -> Pose { d.effectors[0].rest };
        let twist = |d: &ModelData| pose(&rest).twist_to(&pose(d)).to_array();
        let (a, b) = (twist(&plus), twist(&minus));
        let slope: Vec<f64> = (0..6).map(|i| (a[i] - b[i]) / (2.0 * h)).collect();
        let eta = basis.dual.transpose_mul_vec(&slope);
        let (mut off, mut size): (f64, f64) = (0.0, 0.0);
        for ((j, a), b) in rest.joints.iter().zip(&plus.joints).zip(&minus.joints) {
            let expected = (a.static_load - b.static_load) * (0.5 / h);
            for (found, expected) in j.load_map.mul_vec(&eta).iter().zip(expected.to_array()) {
                off = off.max((found - expected).abs());
                size = size.max(expected.abs());
            }
        }
        println!("{axis}: {:.1e}", off / size);
        // Differences: h² of the curvature, the equilibria's tolerance over h.
        assert!(off < 1e-5 * size, "{axis}: {off:e} of {size:e}");
    }
}
