//! Skins: maps of vertices against differences and the paper's table.

use forks_condense::{
    Condensed, SkinKind, TissuePose, condense,
    deform::dynamics::mechanism::lie::{Wrench, glam::DVec3},
    finger::BuiltFinger,
    reduce::{MassModel, ReduceOptions},
    skin,
    skins::{
        SkinBuffer, SkinnedModel,
        rom::{EffectorLoad, LoadFrame, State},
    },
};

use crate::support::*;

/// A static solution's displacements, node by node, from the direct route.
fn displaced(f: &BuiltFinger, joints: f64, wrench: &[f64; 6]) -> Vec<DVec3> {
    use forks_condense::deform::dynamics::mechanism::linalg::{Matrix, dense};
    let (g, rows) = (motions(f), patch_rows(&f.pad, f.body.mesh().nodes()));
    let e = rows.mul(&g);
    let w = Matrix::from_fn(6, 1, |i, _| wrench[i]);
    let right = e.transpose_mul(&w);
    let y = dense::cholesky_solve(&whole_stiffness(f, joints), &right).unwrap();
    let u = g.mul(&y);
    (0..u.rows() / 3)
        .map(|n| DVec3::new(u[(3 * n, 0)], u[(3 * n + 1, 0)], u[(3 * n + 2, 0)]))
        .collect()
}

fn finger() -> (forks_condense::finger::SoftFinger, BuiltFinger, Condensed) {
    let spec = small();
    let f = spec.build().unwrap();
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 0);
    (spec, f, c)
}

/// To first order every vertex goes where the whole solution says.
#[test]
fn small_loads_move_vertices_as_the_whole_does() {
    let (spec, f, c) = finger();
    let problem = problem(&f, vec![&c], &["pad"]);
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    let small = 1e-7;
    let w = [0.3 * small, -0.2 * small, small, 0.002 * small, 0.001 * small, -0.003 * small];
    let u = displaced(&f, spec.joints, &w);
    let largest = u.iter().fold(0.0f64, |m, u| m.max(u.length()));
    let load = EffectorLoad { effector: 0, wrench: Wrench::from_array(w), frame: LoadFrame::World };
    let found = reduction.model.solve_static(&[load], &[]).unwrap();
    let x = f.body.mesh().nodes();
    for kind in [SkinKind::Twist, SkinKind::Bone] {
        let skin = skin(&reduction, 0, &f.body, &c, kind).unwrap();
        let mut state = State::new(&reduction.model);
        state.set(&found.coordinates, &[0.0; 6]).unwrap();
        let mut places = SkinBuffer::new(&skin, &reduction.model);
        skin.place(&reduction.model, &state, &mut places);
        for (v, rest) in skin.rest().iter().enumerate() {
            let n = (0..x.len()).find(|n| x[*n] == *rest).unwrap();
            let off = (places.get(v) - *rest).distance(u[n]);
            // Second order: the load turns the tip by 1e-5.
            assert!(off < 1e-4 * largest, "{kind:?} vertex {v}: {off:e} of {largest:e}");
        }
    }
}

/// The derivative of every vertex's place is its map: differences of the placed skin.
#[test]
fn maps_are_the_slopes_of_places() {
    let (_, f, c) = finger();
    let problem = problem(&f, vec![&c], &["pad"]);
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    let skin = skin(&reduction, 0, &f.body, &c, SkinKind::Twist).unwrap();
    let mut places = SkinBuffer::new(&skin, &reduction.model);
    let at = |eta: &[f64], places: &mut SkinBuffer| {
        let mut state = State::new(&reduction.model);
        state.set(eta, &[0.0; 6]).unwrap();
        skin.place(&reduction.model, &state, places);
        places.iter().collect::<Vec<_>>()
    };
    let (h, scale) = (1e-4, skin.map().max_abs());
    for j in 0..6 {
        let mut eta = [0.0; 6];
        eta[j] = h;
        let ahead = at(&eta, &mut places);
        eta[j] = -h;
        let behind = at(&eta, &mut places);
        for v in 0..skin.len() {
            let slope = (ahead[v] - behind[v]) / (2.0 * h);
            for k in 0..3 {
                assert!((slope[k] - skin.map()[(6 * v + k, j)]).abs() < 1e-6 * scale);
            }
        }
    }
}

/// With modes and servos of neither, a skin has a column for every coordinate.
#[test]
fn modes_move_the_skin() {
    let f = small().build().unwrap();
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 10);
    let problem = problem(&f, vec![&c], &["pad"]);
    let options =
        ReduceOptions { mass: MassModel::CraigBampton { modes: 6 }, ..ReduceOptions::default() };
    let reduction = problem.reduce(problem.at_rest(), &options).unwrap();
    let skin = skin(&reduction, 0, &f.body, &c, SkinKind::Twist).unwrap();
    assert_eq!(skin.map().columns(), 12);
    for j in 6..12 {
        let moves = (0..skin.map().rows()).any(|i| skin.map()[(i, j)].abs() > 1e-3);
        assert!(moves, "mode {j}");
    }
    let file = SkinnedModel::new(reduction.model, vec![skin]).unwrap();
    assert_eq!(SkinnedModel::from_bytes(&file.to_bytes()).unwrap(), file);
}

/// All of the tissue turns as one where the only bone does.
#[test]
fn a_rigid_turn_is_exact_however_large() {
    let spec = forks_condense::finger::SoftFinger { bones: 1, ..small() };
    let f = spec.build().unwrap();
    let x = f.body.mesh().nodes();
    // Take the ground's nodes off: one bone alone holds the tissue.
    let held = (0..x.len()).filter(|n| f.body.holder(*n).is_some_and(|l| l.index() == 1)).collect();
    let body =
        forks_condense::deform::SoftBody::new(f.body.mesh().clone(), *f.body.elastic().material())
            .unwrap()
            .attached(
                &f.skeleton,
                &forks_condense::deform::Attachment::Nodes(vec![(
                    forks_condense::deform::dynamics::mechanism::LinkId::new(1),
                    held,
                )]),
            )
            .unwrap();
    let q = f.skeleton.start_positions();
    let at = TissuePose { q: &q, x, patch_wrenches: &[] };
    let c = condense("club", &body, &f.skeleton, &at, &[], 0).unwrap();
    let problem = forks_condense::reduce::Problem::with_superelements(
        &f.skeleton,
        vec![c.element.clone()],
        &["bone0"],
        &Default::default(),
    )
    .unwrap();
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    let eta = [0.4, 0.9, -0.7];
    let pose = reduction.model.effector_pose(0, &eta);
    for kind in [SkinKind::Twist, SkinKind::Bone] {
        let skin = skin(&reduction, 0, &body, &c, kind).unwrap();
        let mut state = State::new(&reduction.model);
        state.set(&eta, &[0.0; 3]).unwrap();
        let mut places = SkinBuffer::new(&skin, &reduction.model);
        skin.place(&reduction.model, &state, &mut places);
        for (v, rest) in skin.rest().iter().enumerate() {
            let off = places.get(v).distance(pose.transform_point(*rest));
            assert!(off < 1e-12, "{kind:?} {v}: {off:e}");
        }
    }
}
