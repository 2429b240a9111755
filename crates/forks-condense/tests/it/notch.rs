//! Flexure hinges between ground and a lever that nothing else holds.

use forks_condense::{
    TissuePose, condense,
    deform::{
        Commands, SoftOptions, SoftSimulation, StaticsOptions, StaticsStatus,
        dynamics::mechanism::{
            lie::glam::DVec3,
            linalg::{Matrix, dense},
        },
        files,
    },
    notch::{Notch, Profile},
    reduce::{Problem, ProblemOptions},
};

/// A leaf without lateral strain bends by M L / E I; elements of ten nodes have its displacement.
/// The lever is on a free joint that the tissue alone holds: it was taken for a root that floats
/// and fixed, so that it had no compliance.
#[test]
fn a_leaf_between_ground_and_a_free_lever_is_a_beam() {
    let n = Notch {
        profile: Profile::Leaf(0.01),
        neck: 1e-3,
        blocks: [0.0; 2],
        poisson: 0.0,
        cells: [2, 1, 1],
        ..Notch::default()
    };
    let f = n.build().unwrap();
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let c = condense("leaf", &f.body, &f.mechanism, &at, &[], 0).unwrap();
    let k = c.element.stiffness.block(6, 6, 6, 6);
    let options = ProblemOptions::default();
    let problem = Problem::with_superelements(&f.mechanism, vec![c.element], &["lever"], &options);
    let problem = problem.unwrap();
    let found = problem.response(problem.at_rest()).unwrap().compliance;
    let off = found[(4, 4)] / n.beam_compliance() - 1.0;
    assert!(off.abs() < 1e-9, "{off:e}");
    let eye = Matrix::from_fn(6, 6, |i, j| f64::from(u8::from(i == j)));
    let inverse = dense::cholesky_solve(&k, &eye).unwrap();
    assert!(found.sub(&inverse).max_abs() < 1e-9 * inverse.max_abs());
}

/// What holds no lever is no hinge: without tissue its root floats and is held.
#[test]
fn a_lever_without_tissue_is_held() {
    let f = Notch { cells: [2, 1, 1], ..Notch::default() }.build().unwrap();
    let options = ProblemOptions::default();
    let bare = Problem::with_superelements(&f.mechanism, vec![], &["lever"], &options);
    assert!(bare.unwrap().prepared.held.is_some());
}

/// The scene's mesh and its hinge are those of this crate.
#[test]
fn the_scene_has_this_notch() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/soft");
    let n = Notch { quadratic: false, ..Notch::default() };
    let text = std::fs::read_to_string(format!("{folder}/flexure.msh")).unwrap();
    assert_eq!(text, files::gmsh_text(&n.mesh().unwrap()));
    let hinge = std::fs::read_to_string(format!("{folder}/flexure-hinge.xml")).unwrap();
    let stiffness = hinge.split("stiffness=\"").nth(1).unwrap().split('"').next().unwrap();
    let off = stiffness.parse::<f64>().unwrap() * n.beam_compliance() - 1.0;
    assert!(off.abs() < 1e-12, "{off:e}");
}

/// The lever turns by F l / k under a load that comes in steps.
#[test]
fn all_of_a_load_in_steps_turns_the_lever() {
    let n = Notch { cells: [8, 1, 1], poisson: 0.0, ..Notch::default() };
    let f = n.build().unwrap();
    let turn = 0.02;
    let force = DVec3::Z * (turn / (n.beam_compliance() * n.reach()));
    let mut forces = vec![DVec3::ZERO; f.body.mesh().nodes().len()];
    f.end.iter().for_each(|n| forces[*n] = force / f.end.len() as f64);
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).unwrap();
    let commands = Commands { node_forces: &forces, ..Commands::default() };
    let options = StaticsOptions { load_steps: 4, tolerance: 1e-8, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).unwrap();
    assert_eq!(report.status, StaticsStatus::Converged, "{report:?}");
    let found = f.mechanism.link_poses(&s.state().q)[1].rotation.to_axis_angle().1;
    // So few chords are stiffer by a fifth.
    assert!(found > 0.7 * turn && found < 1.1 * turn, "{found}");
}
