//! The sweep with a superelement against the direct solution over joints and nodes.

use forks_condense::{
    CondenseError, Patch, TissuePose, condense,
    deform::dynamics::mechanism::{
        Joint, JointKind, Link, LinkId, MechanismBuilder,
        lie::{Pose, glam::DVec3},
        linalg::Matrix,
    },
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions, ReduceOptions},
};

use crate::support::*;

/// K08 measured 2.5e-13 on 304 nodes; here the sweep, the sparse factors and the direct solution.
#[test]
fn sweep_is_the_direct_condensation() {
    let spec = SoftFinger::default();
    let f = spec.build().unwrap();
    assert_eq!((f.body.mesh().nodes().len(), f.body.mesh().element_count()), (304, 972));
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 0);
    let problem = problem(&f, vec![&c], &["pad"]);
    let response = problem.response(problem.at_rest()).unwrap();
    let direct = compliance(&f, spec.joints, &patch_rows(&f.pad, f.body.mesh().nodes()));
    let off = difference(&response.compliance, &direct);
    // Condition of K: 1e5, rounding of the direct solution.
    assert!(off < 1e-11, "{off:e}");
}

#[test]
fn pad_and_bone_are_effectors_together() {
    let spec = small();
    let f = spec.build().unwrap();
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 0);
    let problem = problem(&f, vec![&c], &["pad", "bone2"]);
    let response = problem.response(problem.at_rest()).unwrap();
    let x = f.body.mesh().nodes();
    let pad = patch_rows(&f.pad, x);
    let g = motions(&f);
    let poses = f.mechanism.link_poses(&f.mechanism.start_positions());
    // Rows of the tip's bone over the joints: at rest all axes are the world's.
    let nv = f.mechanism.velocity_count();
    let rows = pad.mul(&g);
    let all = forks_condense::deform::dynamics::mechanism::linalg::Matrix::from_fn(
        12,
        g.columns(),
        |i, j| {
            if i < 6 {
                return rows[(i, j)];
            }
            if j >= nv {
                return 0.0;
            }
            let axis = forks_condense::deform::dynamics::mechanism::lie::glam::DVec3::AXES[j % 3];
            let r = poses[3].translation - poses[j / 3 + 1].translation;
            if i < 9 { axis.cross(r)[i - 6] } else { axis[i - 9] }
        },
    );
    let k = whole_stiffness(&f, spec.joints);
    let y = forks_condense::deform::dynamics::mechanism::linalg::dense::cholesky_solve(
        &k,
        &all.transpose(),
    )
    .unwrap();
    assert!(difference(&response.compliance, &all.mul(&y)) < 1e-11);
}

#[test]
fn two_patches_see_each_other() {
    let spec = small();
    let f = spec.build().unwrap();
    let x = f.body.mesh().nodes();
    let top: Vec<usize> =
        (0..x.len()).filter(|n| x[*n].z > 0.0079 && (x[*n].x - 0.045).abs() < 0.011).collect();
    let patches = [f.pad.clone(), Patch::new("back", top)];
    let c = at_rest(&f, &patches, 0);
    let problem = problem(&f, vec![&c], &["pad", "back"]);
    let response = problem.response(problem.at_rest()).unwrap();
    let (a, b) = (patch_rows(&patches[0], x), patch_rows(&patches[1], x));
    let rows = forks_condense::deform::dynamics::mechanism::linalg::Matrix::from_fn(
        12,
        a.columns(),
        |i, j| {
            if i < 6 { a[(i, j)] } else { b[(i - 6, j)] }
        },
    );
    assert!(difference(&response.compliance, &compliance(&f, spec.joints, &rows)) < 1e-11);
}

/// Tissue in two parts, condensed together and apart.
#[test]
fn several_superelements_add_up() {
    let f = small().build().unwrap();
    let whole = at_rest(&f, std::slice::from_ref(&f.pad), 0);
    let mut half = whole.element.clone();
    // Half of the energy each, the outputs with one of them.
    half.stiffness = half.stiffness.plus_scaled(-0.5, &half.stiffness.clone());
    let mut other = half.clone();
    other.name = "other".into();
    other.outputs.clear();
    other.forces.truncate(other.frames.len());
    other.output_map = Default::default();
    other.output_compliance = Default::default();
    let n = 6 * other.frames.len();
    other.mass = other.mass.block(0, 0, n, n);
    let m = mechanism(&f);
    let options = ProblemOptions::default();
    let split = Problem::with_superelements(m, vec![half, other], &["pad"], &options).unwrap();
    let one = problem(&f, vec![&whole], &["pad"]);
    let a = split.response(split.at_rest()).unwrap().compliance;
    let b = one.response(one.at_rest()).unwrap().compliance;
    assert!(difference(&a, &b) < 1e-12);
}

/// Tissue across a closed loop: the tip held by a further joint to the ground.
#[test]
fn loops_and_tissue_close_together() {
    let spec = small();
    let f = spec.build().unwrap();
    let mut b = MechanismBuilder::from_mechanism(&f.mechanism);
    let stay = b.add_link(Link::new("stay"));
    let origin = Pose::from_translation([0.0, 0.0, 0.02].into());
    b.add_joint(
        Joint::new("foot", JointKind::Spherical, LinkId::WORLD, stay)
            .at(origin)
            .with_stiffness(0.01),
    );
    let tip = f.mechanism.find_link("bone2").unwrap();
    b.add_joint(
        Joint::new("head", JointKind::Spherical, stay, tip)
            .at(Pose::from_translation([0.09, 0.0, 0.0].into()))
            .child_at(Pose::from_translation([0.03, 0.0, 0.02].into())),
    );
    let m = b.build().unwrap();
    assert_eq!(m.forest().closures().len(), 1);
    let q = m.start_positions();
    let tissue = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let c = condense("finger", &f.body, &m, &tissue, std::slice::from_ref(&f.pad), 0).unwrap();
    let options = ProblemOptions::default();
    let problem =
        Problem::with_superelements(&m, vec![c.element.clone()], &["pad"], &options).unwrap();
    let response = problem.response(problem.at_rest()).unwrap();
    // Direct: the same K with the stay's coordinates, the loop's three equations by Lagrange.
    let (chain, poses) = (whole(&f, spec.joints), m.link_poses(&q));
    let n = chain.stiffness.rows();
    let head = DVec3::new(0.09, 0.0, 0.02);
    let tie = Matrix::from_fn(3, n + 3, |i, j| match j {
        j if j < 9 => DVec3::AXES[j % 3].cross(head - poses[j / 3 + 1].translation)[i],
        j if j >= n => -DVec3::AXES[j - n].cross(head - origin.translation)[i],
        _ => 0.0,
    });
    let stay = Matrix::from_fn(3, 3, |i, j| if i == j { 0.01 } else { 0.0 });
    let rows = patch_rows(&f.pad, f.body.mesh().nodes());
    let direct = chain.tied_compliance(&rows, &stay, &tie);
    assert!(difference(&response.compliance, &direct) < 1e-10);
}

/// Without any bone: tissue on the ground alone.
#[test]
fn a_patch_without_bones() {
    let spec = SoftFinger { bones: 1, ..small() };
    let f = spec.build().unwrap();
    let x = f.body.mesh().nodes();
    let ground: Vec<usize> = (0..x.len()).filter(|n| x[*n].x < 1e-9).collect();
    let empty = MechanismBuilder::new("ground").build().unwrap();
    let body =
        forks_condense::deform::SoftBody::new(f.body.mesh().clone(), *f.body.elastic().material())
            .unwrap()
            .attached(
                &empty,
                &forks_condense::deform::Attachment::Nodes(vec![(LinkId::WORLD, ground)]),
            )
            .unwrap();
    let at = TissuePose { q: &[], x, patch_wrenches: &[] };
    let c = condense("bar", &body, &empty, &at, std::slice::from_ref(&f.pad), 0).unwrap();
    let options = ProblemOptions::default();
    let problem =
        Problem::with_superelements(&empty, vec![c.element.clone()], &["pad"], &options).unwrap();
    let response = problem.response(problem.at_rest()).unwrap();
    assert!(difference(&response.compliance, &c.element.output_compliance) < 1e-12);
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    assert_eq!(reduction.model.dof(), 6);
}

#[test]
fn parts_that_nothing_holds_are_named() {
    let f = small().build().unwrap();
    let loose =
        forks_condense::deform::SoftBody::new(f.body.mesh().clone(), *f.body.elastic().material())
            .unwrap();
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let found = condense("finger", &loose, &f.mechanism, &at, &[], 0);
    assert!(matches!(found, Err(CondenseError::LoosePart { node: 0 })));
}

#[test]
fn patches_in_a_line_are_refused_with_their_condition() {
    let f = small().build().unwrap();
    let x = f.body.mesh().nodes();
    let line: Vec<usize> =
        (0..x.len()).filter(|n| x[*n].y < -0.0079 && x[*n].z < -0.0079).collect();
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x, patch_wrenches: &[] };
    for nodes in [line, vec![0, 1], vec![]] {
        let count = nodes.len();
        let found = condense("finger", &f.body, &f.mechanism, &at, &[Patch::new("edge", nodes)], 0);
        let Err(CondenseError::Patch { patch, nodes, condition }) = found else {
            panic!("{count} nodes: {:?}", found.map(|_| ()));
        };
        assert_eq!((patch.as_str(), nodes), ("edge", count));
        assert!(condition > 1e9);
    }
    let found = condense("finger", &f.body, &f.mechanism, &at, &[Patch::new("far", vec![9999])], 0);
    assert!(matches!(found, Err(CondenseError::NoSuchNode { node: 9999, .. })));
}

/// Ten-node elements go the same way.
#[test]
fn quadratic_elements_too() {
    let spec = SoftFinger { cells: [6, 2, 2], quadratic: true, ..small() };
    let f = spec.build().unwrap();
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 0);
    let problem = problem(&f, vec![&c], &["pad"]);
    let response = problem.response(problem.at_rest()).unwrap();
    let direct = compliance(&f, spec.joints, &patch_rows(&f.pad, f.body.mesh().nodes()));
    assert!(difference(&response.compliance, &direct) < 1e-10);
}
