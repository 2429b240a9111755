//! Servo targets and generalised forces as drives of a reduced model, against full equilibria of a
//! mechanism whose springs rest elsewhere and against dense linear solutions.

use forks_dynamics::{
    Loads, generalized_forces,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{
    Combination, CombinationSpring, CombinationSpringId, Coordinate, JointId, Mechanism,
    MechanismBuilder,
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_models::Parametric;
use forks_reduce::{Drive, Effector, Problem, ReduceOptions, Response};
use forks_rom::{Reconstruction, ReducedModel};
use forks_testkit::System;

/// The mechanism with a servo's spring along a combination of its first joints, and a second one.
fn with_servos(p: &Parametric) -> (Mechanism, [CombinationSpringId; 2]) {
    let joints: Vec<usize> =
        (0..p.mechanism.joints().len()).filter(|&j| p.mechanism.joints()[j].dof() == 1).collect();
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    b.set_gravity(DVec3::new(0.5, -1.0, -3.0));
    let mut add = |name: &str, terms: &[(usize, f64)], stiffness| {
        let terms =
            terms.iter().map(|&(j, a)| (Coordinate::of(JointId::new(joints[j])), a)).collect();
        b.add_combination_spring(CombinationSpring {
            name: name.into(),
            combination: Combination { terms, offset: 0.0 },
            stiffness,
            damping: 0.0,
            rest: 0.0,
        })
    };
    let ids = [add("tendon", &[(1, 1.0), (3, -0.5)], 700.0), add("joint", &[(2, 2.0)], 300.0)];
    (b.build().unwrap(), ids)
}

fn reduced(m: &Mechanism, p: &Parametric, drives: &[Drive]) -> (ReducedModel, Response) {
    let effectors = p.effectors.iter().map(|&l| Effector::of_link(m, l)).collect();
    let problem = Problem::unprepared(m.clone(), effectors);
    let options = ReduceOptions { drives: drives.to_vec(), ..ReduceOptions::default() };
    let r = problem.reduce(problem.at_rest(), &options).unwrap();
    (r.model, r.linear.response)
}

fn cases() -> [(&'static str, Parametric); 4] {
    [
        ("ladder", forks_models::ladder(5)),
        ("arm", forks_models::arm20()),
        ("irregular ladder", forks_models::irregular_ladder(5)),
        ("Y", forks_models::y_mechanism()),
    ]
}

/// Poses of the full equilibrium without loads when one servo's spring rests at `target`.
fn full_poses(m: &Mechanism, id: CombinationSpringId, target: f64) -> Vec<Pose> {
    let mut b = MechanismBuilder::from_mechanism(m);
    b.combination_springs_mut()[id.index()].rest = target;
    let m = b.build().unwrap();
    let start = m.start_positions();
    let e = solve_equilibrium(&m, &start, &Loads::none(), &EquilibriumOptions::default());
    assert!(e.status.is_equilibrium(), "{:?}", e.status);
    e.world_from_link
}

#[test]
fn servo_targets_move_effectors_and_links_as_full_equilibria_do() {
    let mut worst: f64 = 0.0;
    for (name, p) in cases() {
        let (m, ids) = with_servos(&p);
        let drives = ids.map(|id| Drive::servo(&m, "servo", id));
        let (model, response) = reduced(&m, &p, &drives);
        let (radius, h) = (response.radius, 1e-3);
        for (s, &id) in ids.iter().enumerate() {
            // Central differences with one Richardson step: an error of order h⁴ and rounding ε/h.
            let [far, near] = [h, 0.5 * h].map(|h| [full_poses(&m, id, h), full_poses(&m, id, -h)]);
            let slope = |rest: &Pose, l: usize| {
                let central = |p: &[Vec<Pose>; 2], h: f64| {
                    (rest.twist_to(&p[0][l]) - rest.twist_to(&p[1][l])) * (0.5 / h)
                };
                (central(&near, 0.5 * h) * 4.0 - central(&far, h)) * (1.0 / 3.0)
            };
            let mut target = [0.0; 2];
            target[s] = 1e-4;
            let eta = model.rest_coordinates(&target);
            for (e, &l) in p.effectors.iter().enumerate() {
                let expected = slope(&response.world_from_link[l.index()], l.index());
                let found = model.effector_twist(e, &eta) * 1e4;
                let error = (found - expected).scale_linear(1.0 / radius).norm();
                worst = worst.max(error);
                assert!(error < 1e-8, "{name}, servo {s}, effector {e}: {error:e}");
            }
            for (l, rest) in response.world_from_link.iter().enumerate() {
                let data = &model.data().links[l];
                let eta: Vec<f64> = eta.iter().map(|x| x * 1e4).collect();
                let twist = Matrix::from_fn(6, 1, |i, _| {
                    let own: f64 = data.map.row(i).iter().zip(&eta).map(|(a, x)| a * x).sum();
                    own + data.servo_map[(i, s)]
                });
                let expected = slope(rest, l).to_array();
                let scale = |i: usize| if i < 3 { 1.0 / radius } else { 1.0 };
                let error = (0..6)
                    .map(|i| ((twist[(i, 0)] - expected[i]) * scale(i)).abs())
                    .fold(0.0, f64::max);
                worst = worst.max(error);
                assert!(error < 1e-8, "{name}, servo {s}, link {l}: {error:e}");
            }
            let poses = model.link_poses(&eta, &target, Reconstruction::Twist);
            assert_eq!(poses.len(), m.links().len());
        }
    }
    println!("worst {worst:e}");
}

/// Linear displacements of all joints under generalised forces: P f by a dense KKT solve.
fn dense_displacements(m: &Mechanism, forces: &[f64]) -> Vec<f64> {
    let system = System::new(m, &m.start_positions());
    let g = &system.first.constraints;
    let rows = forks_testkit::linear::independent_rows(g, 1e-10);
    let (n, c) = (m.velocity_count(), rows.len());
    let k = &system.stiffness;
    let kkt = Matrix::from_fn(n + c, n + c, |i, j| match (i < n, j < n) {
        (true, true) => k[(i, j)],
        (true, false) => g[(rows[j - n], i)],
        (false, true) => g[(rows[i - n], j)],
        (false, false) => 0.0,
    });
    let f = Matrix::from_fn(n + c, 1, |i, _| if i < n { forces[i] } else { 0.0 });
    forks_testkit::linear::solve(&kkt, &f).column(0)[..n].to_vec()
}

#[test]
fn gravity_moves_effectors_links_and_joints_as_a_dense_linear_solve() {
    let mut worst: f64 = 0.0;
    for (name, p) in cases() {
        let (m, _) = with_servos(&p);
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let forces = generalized_forces(&m, &q, &poses, &Loads::gravity());
        let (model, response) = reduced(&m, &p, &[Drive::forces(&m, "gravity", &forces)]);
        let v = dense_displacements(&m, &forces);
        let twists = forks_mechanism::kinematics::link_twists(&m, &q, &v);
        let radius = response.radius;
        let largest =
            twists.iter().map(|t| t.scale_linear(1.0 / radius).norm()).fold(0.0, f64::max);
        let eta = model.rest_coordinates(&[1.0]);
        for (e, &l) in p.effectors.iter().enumerate() {
            let difference = model.effector_twist(e, &eta) - twists[l.index()];
            let error = difference.scale_linear(1.0 / radius).norm() / largest;
            worst = worst.max(error);
            assert!(error < 1e-9, "{name}, effector {e}: {error:e}");
        }
        for (l, t) in twists.iter().enumerate() {
            let data = &model.data().links[l];
            let own = data.map.mul_vec(&eta);
            let found: [f64; 6] = core::array::from_fn(|i| own[i] + data.servo_map[(i, 0)]);
            let difference = forks_mechanism::lie::Twist::from_array(found) - *t;
            let error = difference.scale_linear(1.0 / radius).norm() / largest;
            worst = worst.max(error);
            assert!(error < 1e-9, "{name}, link {l}: {error:e}");
        }
        for (e, joint) in m.forest().edges().iter().zip(&model.data().joints) {
            for (k, i) in m.velocity_range(e.joint).enumerate() {
                let own: f64 = joint.map.row(k).iter().zip(&eta).map(|(a, x)| a * x).sum();
                let error = (own + joint.servo_map[(k, 0)] - v[i]).abs() / largest;
                worst = worst.max(error);
                assert!(error < 1e-9, "{name}, coordinate {i}: {error:e}");
            }
        }
    }
    println!("worst {worst:e}");
}

#[test]
fn a_force_on_every_joint_does_not_widen_the_frontier() {
    let p = forks_models::helix(50, forks_models::HelixJoints::Hinge3);
    let m = &p.mechanism;
    let plain = reduced(m, &p, &[]).1.frontier_peak;
    let forces = vec![1.0; m.velocity_count()];
    let driven = reduced(m, &p, &[Drive::forces(m, "all", &forces)]).1;
    // The output itself and one coordinate at a time.
    assert_eq!(driven.frontier_peak, plain + 2);
}
