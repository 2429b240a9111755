//! Compliance: sweep = direct solution; limits of soft and of hard tissue; slopes of the skin.

use forks_condense::{
    SkinKind, TissuePose, condense,
    deform::{Attachment, Curvature, SoftBody},
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions, ReduceOptions},
    skin,
    skins::{SkinBuffer, rom::State},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, MechanismBuilder,
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::soft_chain::SoftChain;

use super::direct::{Direct, condensed, difference, patch_rows, problem};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    for (name, spec) in [
        ("304 nodes", spec.clone()),
        ("stiff joints", SoftFinger { joints: 1e3, ..spec.clone() }),
        ("ten-node elements", SoftFinger { cells: [6, 2, 2], quadratic: true, ..spec.clone() }),
    ] {
        let f = spec.build().map_err(said)?;
        let c = condensed(&f, 0)?;
        let problem = problem(&f, &c, &["pad"])?;
        let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
        let rows = patch_rows(&f.pad, f.body.mesh().nodes());
        let direct = Direct::new(&f, spec.joints).compliance(&rows)?;
        out.at_most(&format!("C, sweep = direct, {name}"), difference(&found, &direct), 1e-10);
    }
    several(out)?;
    loops(out)?;
    no_bones(out)?;
    limits(out)?;
    slopes(out)
}

/// Two superelements of half the stiffness each, one of them with the pad.
fn several(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger { cells: [9, 3, 3], ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    let mut first = condensed(&f, 0)?.element;
    first.stiffness = Matrix::from_fn(first.stiffness.rows(), first.stiffness.rows(), |i, j| {
        0.5 * first.stiffness[(i, j)]
    });
    let n = first.stiffness.rows();
    let mut second = first.clone();
    second.name = "second".into();
    second.outputs.clear();
    second.forces.truncate(second.frames.len());
    (second.output_map, second.output_compliance) = (Matrix::default(), Matrix::default());
    second.mass = second.mass.block(0, 0, n, n);
    let options = ProblemOptions::default();
    let both = vec![first, second];
    let problem = Problem::with_superelements(&f.mechanism, both, &["pad"], &options);
    let problem = problem.map_err(said)?;
    let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
    let rows = patch_rows(&f.pad, f.body.mesh().nodes());
    let direct = Direct::new(&f, spec.joints).compliance(&rows)?;
    out.at_most("C, sweep = direct, two tissues", difference(&found, &direct), 1e-10);
    Ok(())
}

/// The tip is held by a stay that closes a loop.
fn loops(out: &mut Recorder) -> Result<(), String> {
    const STAY: f64 = 0.01;
    let spec = SoftFinger { cells: [9, 3, 3], ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    let (foot, head) = (DVec3::new(0.0, 0.0, 0.02), DVec3::new(0.09, 0.0, 0.02));
    let mut b = MechanismBuilder::from_mechanism(&f.mechanism);
    let stay = b.add_link(Link::new("stay"));
    let at = Pose::from_translation;
    b.add_joint(
        Joint::new("foot", JointKind::Spherical, LinkId::WORLD, stay)
            .at(at(foot))
            .with_stiffness(STAY),
    );
    let tip = f.mechanism.find_link("bone2").ok_or("no third bone")?;
    let poses = f.mechanism.link_poses(&f.mechanism.start_positions());
    b.add_joint(
        Joint::new("head", JointKind::Spherical, stay, tip)
            .at(at(head - foot))
            .child_at(at(head - poses[tip.index()].translation)),
    );
    let m = b.build().map_err(said)?;
    let q = m.start_positions();
    let tissue = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    let c = condense("finger", &f.body, &m, &tissue, pad, 0).map_err(said)?;
    let options = ProblemOptions::default();
    let problem = Problem::with_superelements(&m, vec![c.element], &["pad"], &options);
    let problem = problem.map_err(said)?;
    let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
    let chain = Direct::new(&f, spec.joints).0;
    let n = chain.stiffness.rows();
    let tie = Matrix::from_fn(3, n + 3, |i, j| match j {
        j if j < 9 => DVec3::AXES[j % 3].cross(head - poses[j / 3 + 1].translation)[i],
        j if j >= n => -DVec3::AXES[j - n].cross(head - foot)[i],
        _ => 0.0,
    });
    let own = Matrix::from_fn(3, 3, |i, j| if i == j { STAY } else { 0.0 });
    let rows = patch_rows(&f.pad, f.body.mesh().nodes());
    let direct = chain.tied_compliance(&rows, &own, &tie);
    out.at_most("C, sweep = direct, a loop", difference(&found, &direct), 1e-10);
    Ok(())
}

/// Tissue on the ground alone: nothing but C₀.
fn no_bones(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger { cells: [9, 3, 3], ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    let (mesh, x) = (f.body.mesh().clone(), f.body.mesh().nodes());
    let ground = MechanismBuilder::new("ground").build().map_err(said)?;
    let held: Vec<usize> = (0..x.len()).filter(|n| x[*n].x < 1e-9).collect();
    let how = Attachment::Nodes(vec![(LinkId::WORLD, held)]);
    let body = SoftBody::new(mesh, *f.body.elastic().material())
        .and_then(|b| b.attached(&ground, &how))
        .map_err(said)?;
    let at = TissuePose { q: &[], x, patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    let c = condense("bar", &body, &ground, &at, pad, 0).map_err(said)?;
    let options = ProblemOptions::default();
    let problem = Problem::with_superelements(&ground, vec![c.element], &["pad"], &options);
    let problem = problem.map_err(said)?;
    let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
    let mut k = body.elastic().matrix();
    body.elastic().stiffness(x, Curvature::Exact, &mut k);
    let chain = SoftChain::new(&ground, x, |n| body.holder(n), &k.to_dense(), 0.0);
    let direct = chain.compliance(&patch_rows(&f.pad, x)).ok_or("the bar is not stable")?;
    out.at_most("C, sweep = direct, no bones", difference(&found, &direct), 1e-10);
    Ok(())
}

fn tip(young: f64) -> Result<Matrix, String> {
    let spec = SoftFinger { young, cells: [9, 3, 3], ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    let problem = problem(&f, &condensed(&f, 0)?, &["bone2"])?;
    Ok(problem.response(problem.at_rest()).map_err(said)?.compliance)
}

fn limits(out: &mut Recorder) -> Result<(), String> {
    let f = SoftFinger { cells: [9, 3, 3], ..SoftFinger::default() }.build().map_err(said)?;
    let options = ProblemOptions::default();
    let bare = Problem::new(&f.mechanism, &["bone2"], &options).map_err(said)?;
    let bare = bare.response(bare.at_rest()).map_err(said)?.compliance;
    out.at_most("E = 1e-6 Pa against the bare skeleton", difference(&tip(1e-6)?, &bare), 1e-9);
    let slope = (tip(1e10)?.max_abs() / tip(1e9)?.max_abs()).log10();
    out.at_most("E to infinity: slope of C off -1", (slope + 1.0).abs(), 1e-3);
    Ok(())
}

/// Every vertex's map against differences of its place.
fn slopes(out: &mut Recorder) -> Result<(), String> {
    let f = SoftFinger::default().build().map_err(said)?;
    let c = condensed(&f, 0)?;
    let problem = problem(&f, &c, &["pad"])?;
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let model = &reduction.model;
    for (name, kind) in [("vertex as link", SkinKind::Twist), ("by bone", SkinKind::Bone)] {
        let skin = skin(&reduction, 0, &f.body, &c, kind).map_err(said)?;
        let mut places = SkinBuffer::new(&skin, model);
        let mut at = |eta: &[f64]| -> Result<Vec<_>, String> {
            let mut state = State::new(model);
            state.set(eta, &[0.0; 6]).map_err(said)?;
            skin.place(model, &state, &mut places);
            Ok(places.iter().collect())
        };
        // The first order of a place is the whole's displacement per coordinate: from the model's
        // own response over all nodes.
        let linear = linear_places(&f, &reduction, skin.rest())?;
        let (mut worst, scale) = (0.0, linear.max_abs());
        for j in 0..6 {
            let h = 1e-4;
            let mut eta = [0.0; 6];
            eta[j] = h;
            let ahead = at(&eta)?;
            eta[j] = -h;
            let behind = at(&eta)?;
            for v in 0..skin.len() {
                let slope = (ahead[v] - behind[v]) / (2.0 * h);
                for k in 0..3 {
                    worst = larger(worst, (slope[k] - linear[(3 * v + k, j)]).abs() / scale);
                }
            }
        }
        out.at_most(&format!("slopes of the skin, {name}"), worst, 1e-6);
    }
    Ok(())
}

/// Displacement of every vertex per reduced coordinate, by the direct solution.
fn linear_places(
    f: &forks_condense::finger::BuiltFinger,
    reduction: &forks_condense::reduce::Reduction<'_>,
    rest: &[forks_mechanism::lie::glam::DVec3],
) -> Result<Matrix, String> {
    let x = f.body.mesh().nodes();
    let direct = Direct::new(f, SoftFinger::default().joints);
    let response = direct.response(&patch_rows(&f.pad, x))?;
    // Wrenches on the pad per coordinate: (S U) 𝓗.
    let linear = &reduction.linear;
    let per_eta = response.mul(&linear.basis.dual.mul(&linear.hessian));
    let u = direct.0.motions.mul(&per_eta);
    let nodes: Vec<usize> = rest
        .iter()
        .map(|p| x.iter().position(|x| x == p).ok_or("a vertex that is no node"))
        .collect::<Result<_, _>>()?;
    Ok(Matrix::from_fn(3 * rest.len(), 6, |i, j| u[(3 * nodes[i / 3] + i % 3, j)]))
}
