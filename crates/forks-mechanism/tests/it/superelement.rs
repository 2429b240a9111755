//! Checks of superelements: a spring between two frames, and what may be wrong with one.

use forks_mechanism::{
    HeldFrame, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, OutputFrame,
    Superelement, SuperelementError, SuperelementNote,
    lie::{
        Pose, Twist, Wrench,
        glam::{DQuat, DVec3},
    },
    linalg::Matrix,
};

fn mechanism() -> Mechanism {
    let mut b = MechanismBuilder::new("two");
    let mut inner = LinkId::WORLD;
    for i in 0..2 {
        let link = b.add_link(Link::new(format!("l{i}")));
        let at = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.4, 0.1, -0.2));
        b.add_joint(
            Joint::new(format!("j{i}"), JointKind::Spherical, inner, link)
                .at(at)
                .with_stiffness(1.0),
        );
        inner = link;
    }
    b.build().unwrap()
}

/// ½ ζᵀ K ζ of the relative twist ζ = ξ_b − Ad ξ_a of two frames, with an output midway on the
/// second.
fn spring(m: &Mechanism) -> Superelement {
    let frames = [1, 2].map(|l| HeldFrame {
        link: LinkId::new(l),
        link_from_frame: Pose::new(DQuat::from_rotation_z(0.2 * l as f64), DVec3::X * 0.05),
    });
    let poses = m.link_poses(&m.start_positions());
    let at = |i: usize| poses[i + 1] * frames[i].link_from_frame;
    let ad: Matrix = (at(1).inverse() * at(0)).adjoint().matrix().into();
    let rows = Matrix::from_fn(6, 12, |i, j| match j < 6 {
        true => -ad[(i, j)],
        false => f64::from(u8::from(i == j - 6)),
    });
    let k = Matrix::from_fn(6, 6, |i, j| if i == j { 10.0 + i as f64 } else { 0.5 });
    let second_from_output = Pose::new(DQuat::from_rotation_x(0.7), DVec3::new(0.0, 0.02, 0.03));
    let back: Matrix = second_from_output.inverse().adjoint().matrix().into();
    Superelement {
        name: "spring".into(),
        frames: frames.to_vec(),
        outputs: vec![OutputFrame {
            name: "pad".into(),
            frame_from_output: at(0).inverse() * at(1) * second_from_output,
        }],
        stiffness: rows.transpose_mul(&k.mul(&rows)).symmetric_part(),
        forces: vec![Wrench::ZERO; 3],
        output_map: Matrix::from_fn(6, 12, |i, j| if j < 6 { 0.0 } else { back[(i, j - 6)] }),
        output_compliance: Matrix::identity(6),
        modes: vec![],
        mass: Matrix::zeros(18, 18),
        damping: Matrix::default(),
    }
}

fn check(e: &Superelement, m: &Mechanism) -> Result<Vec<SuperelementNote>, SuperelementError> {
    e.check(m, &m.link_poses(&m.start_positions()))
}

#[test]
fn a_spring_between_frames_passes() {
    let m = mechanism();
    let e = spring(&m);
    assert_eq!(check(&e, &m), Ok(vec![]));
    assert_eq!(e.coordinates(), 18);
}

#[test]
fn rigid_motions_must_be_free() {
    let m = mechanism();
    let mut e = spring(&m);
    e.stiffness[(3, 3)] += 1e-6;
    let found = check(&e, &m);
    assert!(matches!(found, Err(SuperelementError::Rigid { quantity: "the stiffness", .. })));
    let mut e = spring(&m);
    e.output_map[(0, 6)] += 1e-6;
    let found = check(&e, &m);
    assert!(matches!(
        found,
        Err(SuperelementError::Rigid { quantity: "the map of the outputs", .. })
    ));
}

/// K ζ = ½ ad_ζᵀ w for the forces w: what turns with the whole costs nothing else.
#[test]
fn loaded_superelements_turn_their_forces() {
    let m = mechanism();
    let mut e = spring(&m);
    let poses = m.link_poses(&m.start_positions());
    // Equal and opposite wrenches, each in its frame.
    let w = Wrench::new(DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.3, 0.1, -0.2));
    let at: Vec<Pose> = e.world_poses(&poses);
    e.forces[1] = w;
    e.forces[0] = -((at[1].inverse() * at[0]).adjoint().transpose_apply(w));
    assert!(matches!(check(&e, &m), Err(SuperelementError::Rigid { .. })));
    // ½ gᵀ of the logarithm's second order: ζ = ξ_b − Ad ξ_a + ½ [Ad ξ_a, ξ_b] …, g = −w on b.
    let ad = (at[1].inverse() * at[0]).adjoint();
    for i in 0..6 {
        for j in 0..6 {
            let form = -0.5 * ad.apply(Twist::unit(i)).ad(Twist::unit(j)).dot(-w);
            e.stiffness[(i, 6 + j)] += form;
            e.stiffness[(6 + j, i)] += form;
        }
    }
    check(&e, &m).unwrap();
}

#[test]
fn what_is_wrong_is_named() {
    let m = mechanism();
    let broken = |change: &dyn Fn(&mut Superelement)| {
        let mut e = spring(&m);
        change(&mut e);
        check(&e, &m).unwrap_err()
    };
    use SuperelementError as E;
    assert!(matches!(broken(&|e| e.frames.clear()), E::NoFrame { .. }));
    let far = broken(&|e| e.frames[0].link = LinkId::new(9));
    assert!(matches!(far, E::NoSuchLink { link: 9, count: 3, .. }));
    let small = broken(&|e| e.stiffness = Matrix::zeros(6, 6));
    assert!(matches!(small, E::Size { quantity: "the stiffness", found: 6, expected: 12, .. }));
    let forces = broken(&|e| e.forces.truncate(2));
    assert!(matches!(forces, E::Size { quantity: "the list of forces", .. }));
    let nan = broken(&|e| e.mass[(2, 2)] = f64::NAN);
    assert!(matches!(nan, E::NotFinite { quantity: "the mass", .. }));
    let skew = broken(&|e| e.stiffness[(0, 1)] += 1e-3);
    assert!(matches!(skew, E::Asymmetric { quantity: "the stiffness", row: 1, column: 0, .. }));
    let mode = broken(&|e| {
        e.modes = vec![1.0, -1.0];
        e.mass = Matrix::zeros(20, 20);
    });
    assert!(matches!(mode, E::Mode { mode: 1, value: -1.0, .. }));
    let message = broken(&|e| e.stiffness[(0, 1)] += 1e-3).to_string();
    assert!(message.contains("entries (1, 0) and (0, 1)"), "{message}");
}

#[test]
fn directions_of_negative_energy_are_noted() {
    let m = mechanism();
    let mut e = spring(&m);
    e.mass[(4, 4)] = -1.0;
    let notes = check(&e, &m).unwrap();
    let [SuperelementNote::Negative { quantity, least }] = notes[..] else { panic!("{notes:?}") };
    assert_eq!((quantity, least), ("the mass", -1.0));
    assert!(notes[0].to_string().contains("the mass"));
}
