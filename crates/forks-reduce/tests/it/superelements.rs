//! Superelements in the sweep against bushings and dense algebra.

use forks_mechanism::{
    Bushing, HeldFrame, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, OutputFrame,
    Superelement,
    lie::{
        Mat6, Pose, SymMat6, Wrench,
        glam::{DQuat, DVec3},
    },
    linalg::{Matrix, dense},
};
use forks_reduce::{MassModel, Problem, ProblemOptions, ReduceError, ReduceOptions};

/// Two chains of two links each from the ground; a bushing between their tips if asked for.
fn chains(bushing: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("chains");
    let mut tips = vec![];
    for side in [-1.0, 1.0] {
        let mut inner = LinkId::WORLD;
        for i in 0..2 {
            let link = b.add_link(Link::new(format!("l{i}{}", if side < 0.0 { 'a' } else { 'b' })));
            let at = Pose::new(
                DQuat::from_rotation_z(0.3 * side),
                DVec3::new(0.3, 0.1 * side, 0.05 * f64::from(i)),
            );
            let k = 2.0 + f64::from(i) + side;
            b.add_joint(Joint::new("", JointKind::Spherical, inner, link).at(at).with_stiffness(k));
            inner = link;
        }
        tips.push(inner);
    }
    if bushing {
        b.add_bushing(between(&tips, stiffness()));
    }
    b.build().unwrap()
}

fn stiffness() -> SymMat6 {
    let entry = |i: usize, j: usize| if i == j { 5.0 + 2.0 * i as f64 } else { 0.4 };
    let rows = core::array::from_fn(|i| core::array::from_fn(|j| entry(i, j)));
    SymMat6::symmetric_part(&Mat6 { rows })
}

fn between(tips: &[LinkId], stiffness: SymMat6) -> Bushing {
    Bushing {
        name: "between".into(),
        link_a: tips[0],
        a_from_bushing: Pose::from_translation(DVec3::new(0.1, 0.05, 0.0)),
        link_b: tips[1],
        b_from_bushing: Pose::new(DQuat::from_rotation_x(0.4), DVec3::new(0.0, -0.1, 0.02)),
        stiffness,
        damping: SymMat6::ZERO,
    }
}

fn tips(m: &Mechanism) -> [LinkId; 2] {
    ["l1a", "l1b"].map(|n| m.find_link(n).unwrap())
}

/// The bushing as a superelement: frames at both links' origins.
fn element(m: &Mechanism) -> Superelement {
    let tips = tips(m);
    let b = between(&tips, stiffness());
    let poses = m.link_poses(&m.start_positions());
    let second = poses[tips[1].index()] * b.b_from_bushing;
    let rows =
        |l: LinkId| -> Matrix { (second.inverse() * poses[l.index()]).adjoint().matrix().into() };
    let (a, c) = (rows(tips[0]), rows(tips[1]));
    let relative = Matrix::from_fn(6, 12, |i, j| if j < 6 { -a[(i, j)] } else { c[(i, j - 6)] });
    let k: Matrix = b.stiffness.to_mat6().into();
    Superelement {
        name: "between".into(),
        frames: tips
            .iter()
            .map(|&link| HeldFrame { link, link_from_frame: Pose::IDENTITY })
            .collect(),
        outputs: vec![],
        stiffness: relative.transpose_mul(&k.mul(&relative)).symmetric_part(),
        forces: vec![Wrench::ZERO; 2],
        output_map: Matrix::default(),
        output_compliance: Matrix::default(),
        modes: vec![],
        mass: Matrix::zeros(12, 12),
        damping: Matrix::default(),
    }
}

/// The same with an output that follows both tips by halves.
fn with_output(m: &Mechanism, c0: Matrix) -> Superelement {
    let mut e = element(m);
    let poses = m.link_poses(&m.start_positions());
    let at = e.world_poses(&poses);
    let middle = Pose::from_translation(0.5 * (at[0].translation + at[1].translation));
    let rows = |p: &Pose| -> Matrix { (middle.inverse() * *p).adjoint().matrix().into() };
    let (a, b) = (rows(&at[0]), rows(&at[1]));
    e.outputs =
        vec![OutputFrame { name: "pad".into(), frame_from_output: at[0].inverse() * middle }];
    e.output_map =
        Matrix::from_fn(6, 12, |i, j| 0.5 * if j < 6 { a[(i, j)] } else { b[(i, j - 6)] });
    e.output_compliance = c0;
    e.forces.push(Wrench::ZERO);
    e.mass = Matrix::zeros(18, 18);
    e
}

fn difference(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs()
}

#[test]
fn a_bushing_as_a_superelement_is_the_bushing() {
    let (plain, m) = (chains(true), chains(false));
    let options = ProblemOptions::default();
    let names = ["l1a", "l0b"];
    let a = Problem::new(&plain, &names, &options).unwrap();
    let b = Problem::with_superelements(&m, vec![element(&m)], &names, &options).unwrap();
    let (x, y) = (a.response(a.at_rest()).unwrap(), b.response(b.at_rest()).unwrap());
    assert!(difference(&y.compliance, &x.compliance) < 1e-13);
    assert!(difference(&y.joints, &x.joints) < 1e-12);
    for (p, q) in y.twists.iter().zip(&x.twists).skip(1) {
        assert!(difference(p, q) < 1e-12);
    }
    for (p, q) in y.joint_loads.iter().zip(&x.joint_loads) {
        assert!(difference(p, q) < 1e-11);
    }
    // Ranks, basis and stiffness agree too.
    let (x, y) = (a.linearise(a.at_rest()).unwrap(), b.linearise(b.at_rest()).unwrap());
    assert_eq!(y.basis.rank, x.basis.rank);
    for (s, t) in y.basis.singular_values.iter().zip(&x.basis.singular_values) {
        assert!((s - t).abs() < 1e-12 * x.basis.singular_values[0]);
    }
}

/// C_c* = A C_B*, C_cc = A C_BB Aᵀ + C₀ against the tips' own compliance.
#[test]
fn outputs_are_appended_with_several_parents() {
    let m = chains(false);
    let options = ProblemOptions::default();
    let tips =
        Problem::with_superelements(&m, vec![element(&m)], &["l1a", "l1b"], &options).unwrap();
    let of_tips = tips.response(tips.at_rest()).unwrap().compliance;
    let regular = Matrix::from_fn(6, 6, |i, j| if i == j { 0.3 } else { 0.05 });
    let rigid = Matrix::zeros(6, 6);
    let half = Matrix::from_fn(6, 6, |i, j| if i == j && i < 3 { 0.2 } else { 0.0 });
    for c0 in [regular, rigid, half] {
        let e = with_output(&m, c0.clone());
        let names = ["pad", "l1a"];
        let p = Problem::with_superelements(&m, vec![e.clone()], &names, &options).unwrap();
        let found = p.response(p.at_rest()).unwrap().compliance;
        let carried = e.output_map.mul(&of_tips);
        let own = carried.mul(&e.output_map.transpose()).plus_scaled(1.0, &c0);
        assert!(difference(&found.block(0, 0, 6, 6), &own) < 1e-12);
        assert!(difference(&found.block(0, 6, 6, 6), &carried.block(0, 0, 6, 6)) < 1e-12);
    }
}

/// An output that nobody asks for changes nothing.
#[test]
fn idle_outputs_do_not_matter() {
    let m = chains(false);
    let options = ProblemOptions::default();
    let with = with_output(&m, Matrix::identity(6));
    let a = Problem::with_superelements(&m, vec![with], &["l1a"], &options).unwrap();
    let b = Problem::with_superelements(&m, vec![element(&m)], &["l1a"], &options).unwrap();
    let (x, y) = (a.response(a.at_rest()).unwrap(), b.response(b.at_rest()).unwrap());
    assert!(difference(&x.compliance, &y.compliance) < 1e-13);
}

/// Springless joints that only the superelement resists.
#[test]
fn superelements_resist_free_joints() {
    let mut b = MechanismBuilder::from_mechanism(&chains(false));
    for j in b.joints_mut() {
        if j.child.index() == 4 {
            j.spring = None;
        }
    }
    let m = b.build().unwrap();
    let options = ProblemOptions::default();
    let p = Problem::with_superelements(&m, vec![element(&m)], &["l1b"], &options).unwrap();
    let found = p.response(p.at_rest()).unwrap().compliance;
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.add_bushing(between(&tips(&m), stiffness()));
    let plain = b.build().unwrap();
    let q = Problem::new(&plain, &["l1b"], &options).unwrap();
    assert!(difference(&found, &q.response(q.at_rest()).unwrap().compliance) < 1e-12);
    // Without it nothing does.
    let bare = Problem::new(&m, &["l1b"], &options).unwrap();
    assert!(matches!(bare.response(bare.at_rest()), Err(ReduceError::Unresisted { .. })));
}

/// Mass of a superelement along the static shapes: as if its frames carried it.
#[test]
fn mass_goes_by_the_same_shapes() {
    let m = chains(false);
    let mut e = element(&m);
    let i = forks_mechanism::lie::SpatialInertia::new(
        2.0,
        DVec3::new(0.1, 0.0, 0.05),
        forks_mechanism::lie::glam::DMat3::IDENTITY * 0.01,
    );
    let own: Matrix = i.matrix().to_mat6().into();
    for a in 0..6 {
        for c in 0..6 {
            e.mass[(a, c)] = own[(a, c)];
        }
    }
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.links_mut()[tips(&m)[0].index()].inertia = i;
    let heavy = b.build().unwrap();
    let options = ProblemOptions::default();
    let p = Problem::with_superelements(&m, vec![e], &["l1a"], &options).unwrap();
    let q = Problem::with_superelements(&heavy, vec![element(&m)], &["l1a"], &options).unwrap();
    for mass in [MassModel::Condensed, MassModel::CraigBampton { modes: 2 }] {
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let a = p.reduce(p.at_rest(), &options).unwrap().frequencies();
        let b = q.reduce(q.at_rest(), &options).unwrap().frequencies();
        assert_eq!(a.len(), b.len());
        for (x, y) in a.iter().zip(&b) {
            assert!((x / y - 1.0).abs() < 1e-9, "{x} {y}");
        }
    }
    let _ = dense::svd(&own);
}

#[test]
fn what_superelements_do_not_have_is_said() {
    let m = chains(false);
    let options = ProblemOptions::default();
    let p = Problem::with_superelements(&m, vec![element(&m)], &["l1a"], &options).unwrap();
    let mass = ReduceOptions { mass: MassModel::Accelerability, ..ReduceOptions::default() };
    let found = p.reduce(p.at_rest(), &mass).map(|_| ());
    assert_eq!(found, Err(ReduceError::WithSuperelements { quantity: "accelerability" }));
    let twice = with_output(&m, Matrix::identity(6));
    let mut other = twice.clone();
    other.name = "other".into();
    let found = Problem::with_superelements(&m, vec![twice, other], &["pad"], &options);
    assert!(matches!(found, Err(ReduceError::Build(_))));
}
