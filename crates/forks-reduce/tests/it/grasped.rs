//! Both ends of the fidelity dial of \[A16\] §1: fingertips as effectors, and the grasped object as
//! the only one.

use forks_mechanism::{
    Frame, Grasp, GraspCarrier, JointKind, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
        skew,
        so3::exp_rotation,
    },
    linalg::{Matrix, dense::cholesky_solve},
};
use forks_reduce::{Problem, ProblemOptions, ReduceError};

/// An object between the three fingers of an arm whose fourth hinge rolls it: a straight arm with
/// hinges y and z alone could not turn the object about x.
fn grasp(carrier: GraspCarrier) -> (Mechanism, Grasp) {
    let arm = forks_models::arm20();
    let mut b = MechanismBuilder::from_mechanism(&arm.mechanism);
    b.joints_mut()[3].kind = JointKind::Revolute { axis: DVec3::X };
    let moments = DMat3::from_diagonal(DVec3::new(1e-4, 2e-4, 2.5e-4));
    let point = |i: usize| DVec3::new(0.03, 0.002 * i as f64, -0.01);
    let contacts: Vec<(LinkId, DVec3)> =
        arm.effectors.iter().enumerate().map(|(i, &l)| (l, point(i))).collect();
    let rotation = exp_rotation(DVec3::new(0.4, -0.2, 0.9));
    let grasp = Grasp {
        name: "object".into(),
        inertia: SpatialInertia::new(0.2, DVec3::ZERO, moments),
        world_from_object: Pose::new(rotation, DVec3::new(2.15, 0.01, -0.02)),
        contacts,
        carrier,
    };
    (b.build().unwrap(), grasp)
}

fn compliance(m: &Mechanism, effectors: &[&str]) -> Result<Matrix, ReduceError> {
    let problem = Problem::new(m, effectors, &ProblemOptions::default())?;
    Ok(problem.linearise(problem.at_rest())?.compliance)
}

fn inverse(m: &Matrix) -> Matrix {
    cholesky_solve(&m.symmetric_part(), &Matrix::identity(m.rows())).unwrap()
}

/// The object's stiffness Gᵀ C⁻¹ G from the compliance C of the points that hold it, 9 × 9, and the
/// map G from the object's twist to their velocities, all in world axes.
fn stiffness_by_points(arm: &Mechanism, grasp: &Grasp) -> Matrix {
    let poses = arm.link_poses(&arm.start_positions());
    let mut b = MechanismBuilder::from_mechanism(arm);
    let mut map = Matrix::zeros(9, 6);
    let object = grasp.world_from_object;
    let to_world = DMat3::from_quat(object.rotation);
    for (i, &(link, point)) in grasp.contacts.iter().enumerate() {
        let world_from_link = poses[link.index()];
        // Axes of the world at the point.
        let turned = Pose::new(world_from_link.rotation.conjugate(), point);
        b.add_frame(Frame { name: format!("p{i}"), link, link_from_frame: turned });
        let arm = object.inverse().transform_point(world_from_link.transform_point(point));
        // v + ω × a.
        let turning = to_world * skew(arm) * -1.0;
        for r in 0..3 {
            for c in 0..3 {
                map[(3 * i + r, c)] = to_world.col(c)[r];
                map[(3 * i + r, 3 + c)] = turning.col(c)[r];
            }
        }
    }
    let tips = compliance(&b.build().unwrap(), &["site:p0", "site:p1", "site:p2"]).unwrap();
    let rows: Vec<usize> = (0..18).filter(|i| i % 6 < 3).collect();
    let points = Matrix::from_fn(9, 9, |i, j| tips[(rows[i], rows[j])]);
    map.transpose_mul(&inverse(&points).mul(&map))
}

#[test]
fn the_object_is_as_stiff_as_the_points_that_hold_it() {
    for carrier in [GraspCarrier::FirstContact, GraspCarrier::Ground] {
        let (arm, grasp) = grasp(carrier);
        let m = arm.grasping(&grasp).unwrap();
        // The fingers hold the object, whatever carries it.
        let problem = Problem::new(&m, &["object"], &ProblemOptions::default()).unwrap();
        assert_eq!((problem.prepared.held, &problem.prepared.left_out[..]), (None, &[][..]));
        let held = problem.linearise(problem.at_rest()).unwrap();
        assert_eq!(held.basis.rank, 6, "{carrier:?}");
        let found = held.compliance;
        let expected = inverse(&stiffness_by_points(&arm, &grasp));
        let (largest, error) = (expected.max_abs(), found.sub(&expected).max_abs());
        println!("{carrier:?}: {:e}", error / largest);
        // Two inversions of matrices of condition 1e5 at most.
        assert!(error < 1e-9 * largest, "{carrier:?}: {error:e} of {largest:e}");
    }
}

/// Two points leave the turn about the line through them: nothing resists it, and the reduction
/// says so.
#[test]
fn what_two_points_leave_free_is_refused() {
    let (arm, mut grasp) = grasp(GraspCarrier::FirstContact);
    grasp.contacts.truncate(2);
    let error = compliance(&arm.grasping(&grasp).unwrap(), &["object"]).unwrap_err().to_string();
    assert!(error.contains("object.grasp"), "{error}");
}
