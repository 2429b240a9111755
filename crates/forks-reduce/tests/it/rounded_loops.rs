//! Planar loops whose numbers were rounded: axes out of parallel by 1e-9 … 1e-3. The rival of each
//! mechanism is the exactly planar one; all solvers must agree with it to the size of the error.

use forks_dynamics::{
    Loads,
    adaptive::{AdaptiveOptions, AdaptivePlan, AdaptiveState, ErrorMeasure, Target},
    constrained::{ConstrainedDynamics, DynamicsStatus},
    dca::{DcaPlan, DcaWorkspace, dca},
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    mass_matrix,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::{AssemblySettings, AssemblyStatus, RANK_TOLERANCE, assemble, mobility},
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::Matrix,
    redundancy::release_redundant,
};
use forks_reduce::{Problem, ProblemOptions};
use forks_testkit::Rng;

const TILTS: [f64; 5] = [1e-9, 1e-7, 1e-6, 1e-4, 1e-3];
const SEEDS: u64 = 12;

/// A planar linkage in a plane that is turned in space, closed to rounding: one or two loops with
/// two to four moving links each, closed by hinges and balls. Every axis and every closing frame is
/// out by up to `tilt`.
struct Linkage {
    b: MechanismBuilder,
    world_from_plane: DQuat,
    tilt: f64,
    rng: Rng,
    /// Frames of the links at the start, in the plane.
    origins: Vec<DVec3>,
}

impl Linkage {
    /// An axis near the plane's normal; the same random numbers are drawn whatever the tilt.
    fn tilted(&mut self) -> DQuat {
        let (x, y) = (self.rng.symmetric(), self.rng.symmetric());
        DQuat::from_rotation_x(self.tilt * x) * DQuat::from_rotation_y(self.tilt * y)
    }

    fn jittered(&mut self, p: DVec3) -> DVec3 {
        p + DVec3::new(self.rng.symmetric(), self.rng.symmetric(), 0.0) * 0.04
    }

    /// A link from `at` (on link `on`) to `tip` on a sprung hinge; its frame is turned in the plane
    /// by some angle.
    fn link(&mut self, on: usize, at: DVec3, tip: DVec3, stiffness: f64) -> usize {
        let i = self.b.links().len();
        let half = 0.5 * (tip - at);
        let inertia = SpatialInertia {
            mass: 0.3 + 0.1 * i as f64,
            center_of_mass: self.world_from_plane * half,
            inertia: DMat3::from_diagonal(DVec3::new(3e-3, 4e-3, 5e-3)),
        };
        let id = self.b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
        let turned = self.tilted();
        let axis = self.world_from_plane * (turned * DVec3::Z);
        let base = if on == 0 { DVec3::ZERO } else { self.origins[on] };
        let frame = Pose::from_translation(self.world_from_plane * (at - base));
        let kind = JointKind::Revolute { axis };
        let joint = Joint::new(format!("j{i}"), kind, LinkId::new(on), id).at(frame);
        let joint = if stiffness > 0.0 { joint.with_stiffness(stiffness) } else { joint };
        self.b.add_joint(joint.with_damping(0.002));
        self.origins.push(at);
        i
    }

    fn close(&mut self, a: usize, b: usize, at: DVec3, ball: bool) {
        let turned = self.tilted();
        let axis = self.world_from_plane * (turned * DVec3::Z);
        let frame = |l: usize| {
            let base = if l == 0 { DVec3::ZERO } else { self.origins[l] };
            Pose::from_translation(self.world_from_plane * (at - base))
        };
        let kind = if ball { JointKind::Spherical } else { JointKind::Revolute { axis } };
        let joint = Joint::new("", kind, LinkId::new(a), LinkId::new(b));
        self.b.add_joint(joint.at(frame(a)).child_at(frame(b)));
    }
}

/// The mechanism, its motions, and the link that carries the loads.
fn linkage(seed: u64, tilt: f64) -> (Mechanism, usize, String) {
    let mut rng = Rng::new(seed);
    let [x, y, z, w] = core::array::from_fn(|_| rng.symmetric());
    let world_from_plane = DQuat::from_xyzw(x, y, z, w + 1.5).normalize();
    let b = MechanismBuilder::new(format!("linkage {seed}"));
    let mut l = Linkage { b, world_from_plane, tilt, rng, origins: vec![DVec3::ZERO] };
    let mut p = |x: f64, y: f64| l.jittered(DVec3::new(x, y, 0.0));
    let (a, knee, c, tip) = (p(0.0, 0.0), p(-0.3, 0.5), p(0.8, 0.0), p(0.4, 1.1));
    let (other, e, f) = (p(1.1, 0.4), p(1.7, 0.1), p(1.3, 1.0));
    let first = l.link(0, a, knee, 5.0);
    let second = l.link(first, knee, tip, 1.5);
    let mut motions = 1;
    let last = if seed.is_multiple_of(2) {
        let x = l.link(0, c, other, 4.0);
        motions += 1;
        l.link(x, other, tip, 0.0)
    } else {
        l.link(0, c, tip, 4.0)
    };
    l.close(second, last, tip, seed.is_multiple_of(3));
    if seed % 4 > 1 {
        // A second loop, from the coupler to the ground.
        let x = l.link(0, e, f, 3.0);
        let at = 0.5 * (knee + tip);
        let y = l.link(x, f, at, 0.0);
        l.close(second, y, at, seed % 3 == 1);
    }
    (l.b.build().unwrap(), motions, format!("l{second}"))
}

/// The mechanism as a program uses it.
fn released(m: &Mechanism) -> Mechanism {
    match release_redundant(m, &m.start_positions()).unwrap() {
        Some(r) => r.mechanism,
        None => m.clone(),
    }
}

fn motions(m: &Mechanism) -> usize {
    let q = m.start_positions();
    mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE).mobility
}

/// Largest difference over the largest entry.
fn deviation(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

/// Relative error that a tilt may leave: within one per cent at 1e-3, and rounding.
fn bound(tilt: f64) -> f64 {
    10.0 * tilt + 1e-9
}

#[test]
fn tilted_planar_loops_keep_the_motions_of_the_exact_ones() {
    for seed in 0..40 {
        let (exact, expected, _) = linkage(seed, 0.0);
        assert_eq!(motions(&exact), expected, "seed {seed}");
        assert!(release_redundant(&exact, &exact.start_positions()).unwrap().is_none());
        for tilt in TILTS {
            let (m, ..) = linkage(seed, tilt);
            let r = release_redundant(&m, &m.start_positions()).unwrap();
            let r = r.unwrap_or_else(|| panic!("seed {seed}, {tilt}: nothing released"));
            assert_eq!(r.mobility, expected, "seed {seed}, {tilt}: {:?}", r.found);
            assert_eq!(motions(&r.mechanism), expected);
            assert!(r.found.iter().all(|f| f.left_out < 2.0 * tilt && f.kept > 1e-2));
            if tilt > 1e-7 {
                assert!(r.mobility_with_all < expected, "seed {seed}, {tilt}");
            }
        }
    }
}

#[test]
fn compliance_is_that_of_the_exact_mechanism() {
    for seed in 0..SEEDS {
        let compliance = |tilt: f64| {
            let (m, _, effector) = linkage(seed, tilt);
            let m = released(&m);
            let p = Problem::new(&m, &[&effector], &ProblemOptions::default()).unwrap();
            let r = p.linearise(p.at_rest()).unwrap();
            (r.basis.rank, r.compliance)
        };
        let (rank, exact) = compliance(0.0);
        for tilt in TILTS {
            let (found, c) = compliance(tilt);
            assert_eq!(found, rank, "seed {seed}, {tilt}");
            let off = deviation(exact.as_slice(), c.as_slice());
            assert!(off < bound(tilt), "seed {seed}, {tilt}: {off}");
        }
    }
}

/// Accelerations by articulated bodies, by divide and conquer, and by the adaptive solver without
/// an error to spare.
#[test]
fn all_routes_to_accelerations_agree() {
    for seed in 0..SEEDS {
        let accelerations = |tilt: f64| {
            let m = linkage(seed, tilt).0;
            let r = release_redundant(&m, &m.start_positions()).unwrap();
            let kept =
                r.as_ref().map_or(1.0, |r| r.found.iter().map(|f| f.kept).fold(1.0, f64::min));
            let m = released(&m);
            let n = m.tree_velocity_count();
            let (q, zero) = (m.start_positions(), vec![0.0; n]);
            let q = &q[..m.tree_position_count()];
            let tau: Vec<f64> = (0..n).map(|i| 0.3 - 0.2 * i as f64).collect();
            let d = ConstrainedDynamics::new(&m);
            let mut work = d.workspace();
            let mut v: Vec<f64> = (0..n).map(|i| 1.0 - 0.5 * i as f64).collect();
            d.project_velocities(q, &mut v, &mut work).unwrap();
            let mut out = Vec::new();
            for v in [&zero, &v] {
                let found = d.accelerations(q, v, &tau, &[], &mut work);
                assert_eq!(
                    found.status,
                    DynamicsStatus::Solved,
                    "{seed} {tilt} {}",
                    found.residual
                );
                let mut passive = vec![0.0; m.velocity_count()];
                let mut full = vec![0.0; m.velocity_count()];
                full[..n].copy_from_slice(v);
                let mut space = forks_dynamics::passive::PassiveWorkspace::new(&m);
                let start = m.start_positions();
                forks_dynamics::passive::passive_forces(
                    &m,
                    &mut space,
                    &start,
                    &full,
                    &mut passive,
                );
                let all: Vec<f64> = tau.iter().zip(&passive).map(|(t, p)| t + p).collect();
                let plan = DcaPlan::new(&m).unwrap();
                let mut w = DcaWorkspace::new(&plan);
                dca(&plan, &mut w, q, v, &all, &[]).unwrap();
                let off = deviation(&found.acceleration, w.acceleration(&plan));
                // Condition below 1e4 squared in divide and conquer.
                assert!(off < 1e-7 + tilt * 1e-2, "seed {seed}, {tilt}: {off}");
                out.push(found.acceleration);
            }
            let options = AdaptiveOptions { loop_correction: 0.0, ..AdaptiveOptions::default() };
            let plan = AdaptivePlan::new(&m, &options).unwrap();
            let mut state = AdaptiveState::new(&plan);
            for e in m.forest().edges() {
                let k = m.velocity_range(e.joint).start;
                state.set_joint_force(e.joint, &tau[k..=k]).unwrap();
            }
            state.solve(&Target::new(ErrorMeasure::AbsoluteLinkage, 0.0));
            let off = deviation(&out[0], &state.accelerations()[..n]);
            assert!(off < 1e-7 + tilt * 1e-2, "seed {seed}, {tilt}, adaptive: {off}");
            (out, kept)
        };
        let (exact, _) = accelerations(0.0);
        for tilt in TILTS {
            let (found, kept) = accelerations(tilt);
            for (e, a) in exact.iter().zip(found) {
                let off = deviation(e, &a);
                // Errors of the equations grow by their condition.
                assert!(off < bound(tilt) / kept, "seed {seed}, {tilt}: {off}, {kept}");
            }
        }
    }
}

/// Displacement under gravity and a force, and the multipliers' balance through the tangent:
/// Newton's method converges as it does without the tilt.
#[test]
fn equilibria_are_those_of_the_exact_mechanism() {
    for seed in 0..SEEDS {
        let solve = |tilt: f64| {
            let (m, _, loaded) = linkage(seed, tilt);
            let m = released(&m);
            let start = m.start_positions();
            let link = m.find_link(&loaded).unwrap();
            let force = Wrench::new(DVec3::new(0.8, -0.5, 0.6), DVec3::ZERO);
            let loads = Loads::none().with_world_wrench(link, force);
            let e = solve_equilibrium(&m, &start, &loads, &EquilibriumOptions::default());
            assert_eq!(e.status, EquilibriumStatus::Converged, "seed {seed}, {tilt}");
            (m.difference(&start, &e.q)[..m.tree_velocity_count()].to_vec(), e.iterations)
        };
        let (exact, steps) = solve(0.0);
        for tilt in TILTS {
            let (moved, found) = solve(tilt);
            let off = deviation(&exact, &moved);
            assert!(off < bound(tilt), "seed {seed}, {tilt}: {off}");
            assert!(found < 3 * steps + 10, "seed {seed}, {tilt}: {found} iterations, not {steps}");
        }
    }
}

/// One second under gravity and springs: the same motion, no energy gained, no step refused.
#[test]
fn simulations_follow_the_exact_mechanism() {
    for seed in 0..SEEDS {
        let run = |tilt: f64| {
            let m = released(&linkage(seed, tilt).0);
            let (q, n) = (m.start_positions(), m.tree_velocity_count());
            let q = &q[..m.tree_position_count()];
            let mut s = Simulation::new(&m, q, &vec![0.0; n], SimulationOptions::default());
            let start = s.energy().total();
            let mut largest = start;
            for _ in 0..200 {
                assert_eq!(s.step(5e-3), SimulationStatus::Completed, "seed {seed}, {tilt}");
                largest = largest.max(s.energy().total());
            }
            assert!(s.loop_gap() < 1e-9, "seed {seed}, {tilt}");
            let kinetic = s.energy().kinetic;
            (s.state().q.clone(), largest - start, kinetic)
        };
        let (exact, growth, kinetic) = run(0.0);
        for tilt in TILTS {
            let (q, found, _) = run(tilt);
            // Two hundred steps magnify differences by what a swing of a second does: below ten.
            let off = deviation(&exact, &q);
            assert!(off < 10.0 * bound(tilt), "seed {seed}, {tilt}: {off}");
            assert!(
                found <= growth + 1e-3 * (kinetic + 0.1),
                "seed {seed}, {tilt}: energy {found}"
            );
        }
    }
}

/// Loops in space whose equations are independent stay as they are: 6R loops and RSSR linkages at
/// random.
#[test]
fn spatial_loops_keep_their_ranks() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let ball = seed % 2 == 0;
        let mut b = MechanismBuilder::new("spatial");
        let n = if ball { 3 } else { 6 };
        let mut vector = || DVec3::new(rng.symmetric(), rng.symmetric(), rng.symmetric());
        let corners: Vec<DVec3> = (0..=n).map(|_| vector()).collect();
        let mut on = (LinkId::WORLD, DVec3::ZERO);
        for k in 0..n {
            let id = b.add_link(Link::new(format!("l{k}")));
            let kind = match ball && k > 0 {
                true => JointKind::Spherical,
                false => JointKind::Revolute { axis: vector().normalize() },
            };
            let at = Pose::from_translation(corners[k] - on.1);
            b.add_joint(Joint::new(format!("j{k}"), kind, on.0, id).at(at));
            on = (id, corners[k]);
        }
        let kind = JointKind::Revolute { axis: vector().normalize() };
        let close = Joint::new("close", kind, on.0, LinkId::WORLD);
        b.add_joint(
            close
                .at(Pose::from_translation(corners[n] - on.1))
                .child_at(Pose::from_translation(corners[n])),
        );
        let m = b.build().unwrap();
        let found = release_redundant(&m, &m.start_positions()).unwrap();
        assert!(found.is_none(), "seed {seed}: {:?}", found.map(|r| r.found));
    }
}

/// Singular poses of mechanisms, exact or nearly so: small singular values that the motion makes
/// large.
#[test]
fn singular_poses_are_no_rounding() {
    for m in [
        forks_models::ladder_of_links(6).mechanism,
        forks_models::four_bar().mechanism,
        forks_models::irregular_ladder(4).mechanism,
        forks_models::octahedral_truss().mechanism,
        forks_models::scott_russell().mechanism,
    ] {
        assert!(release_redundant(&m, &m.start_positions()).unwrap().is_none(), "{}", m.name());
    }
    for bend in [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2] {
        // Two links in one line, the tip pinned: rigid, and nearly movable.
        let p = forks_models::two_joint_example(bend).unwrap();
        let tip = p.mechanism.link_poses(&p.mechanism.start_positions())[p.effectors[0].index()];
        let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
        b.add_joint(Joint::new("pin", JointKind::Spherical, LinkId::WORLD, p.effectors[0]).at(tip));
        let m = b.build().unwrap();
        assert!(release_redundant(&m, &m.start_positions()).unwrap().is_none(), "bend {bend}");
        // A parallelogram folded flat, or nearly so.
        let z = JointKind::Revolute { axis: DVec3::Z };
        let mut b = MechanismBuilder::new("flat");
        let ids: Vec<LinkId> = (0..3).map(|k| b.add_link(Link::new(format!("l{k}")))).collect();
        let corner = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        let at = [corner(0.0, 0.0), corner(1.0, bend), corner(3.0, 0.0), corner(2.0, -bend)];
        let place = |k: usize, from: usize| Pose::from_translation(at[k] - at[from]);
        b.add_joint(Joint::new("a", z.clone(), LinkId::WORLD, ids[0]).at(place(0, 0)));
        b.add_joint(Joint::new("b", z.clone(), ids[0], ids[1]).at(place(1, 0)));
        b.add_joint(Joint::new("c", z.clone(), ids[1], ids[2]).at(place(2, 1)));
        let close = Joint::new("d", z, LinkId::WORLD, ids[2]);
        b.add_joint(close.at(place(3, 0)).child_at(place(3, 2)));
        let m = b.build().unwrap();
        assert!(release_redundant(&m, &m.start_positions()).unwrap().is_none(), "flat {bend}");
    }
}

/// Three parallel cranks on one coupler, one of them longer by `rounding`: the third repeats what
/// the other two say, by wrenches that turn with the motion.
#[test]
fn overconstrained_parallelograms_move() {
    for rounding in [1e-9, 1e-6, 1e-4] {
        let z = JointKind::Revolute { axis: DVec3::Z };
        let mut b = MechanismBuilder::new("three cranks");
        let names = ["left", "middle", "right", "coupler"];
        let ids = names.map(|n| b.add_link(Link::new(n)));
        let feet = [0.0, 0.45, 1.0];
        let (height, lean) = (0.8, 0.3);
        for k in 0..3 {
            let at = Pose::from_translation(DVec3::X * feet[k]);
            b.add_joint(Joint::new(names[k], z.clone(), LinkId::WORLD, ids[k]).at(at));
        }
        let top = |k: usize| {
            let longer = if k == 1 { 1.0 + rounding } else { 1.0 };
            Pose::from_translation(DVec3::new(lean, height, 0.0) * longer)
        };
        b.add_joint(Joint::new("joint", z.clone(), ids[0], ids[3]).at(top(0)));
        for k in [1, 2] {
            let on = Pose::from_translation(DVec3::X * feet[k]);
            b.add_joint(Joint::new("", z.clone(), ids[3], ids[k]).at(on).child_at(top(k)));
        }
        let m = b.build().unwrap();
        let start = m.start_positions();
        let r = release_redundant(&m, &start).unwrap().expect("a repeated equation");
        assert_eq!(r.mobility, 1, "{rounding}: {:?}", r.found);
        // All the way round but the flat poses, where the coupler may turn over.
        for turn in [-1.2, -0.6, 0.4, 1.0] {
            let mut q = start.clone();
            for k in 0..4 {
                q[k] += if k == 3 { -turn } else { turn };
            }
            r.mechanism.fit_closures(&mut q);
            let a = assemble(&r.mechanism, &q, &AssemblySettings::default());
            assert_eq!(a.status, AssemblyStatus::Assembled, "{rounding}, {turn}: {}", a.residual);
            assert!((a.positions[0] - turn).abs() < 10.0 * rounding, "{rounding}, {turn}");
            let open = a.closures.iter().map(|c| c.position).fold(0.0, f64::max);
            assert!(open < 3.0 * rounding, "{rounding}, {turn}: {open}");
            assert_eq!(
                mobility(&r.mechanism, &a.positions, &r.mechanism.link_poses(&a.positions), 1e-8)
                    .mobility,
                1
            );
        }
    }
}

/// Tangents, and with them the masses on admissible motions, have no noise from released rows.
#[test]
fn masses_on_the_motions_are_regular() {
    let (m, expected, _) = linkage(3, 1e-4);
    let m = released(&m);
    let q = m.start_positions();
    let n = forks_dynamics::modes::admissible_motions(&m, &q, &m.link_poses(&q));
    assert_eq!(n.columns(), expected);
    let mass: Matrix = n.transpose_mul(&mass_matrix(&m, &q).mul(&n));
    assert!((0..expected).all(|i| mass[(i, i)] > 1e-3));
}
