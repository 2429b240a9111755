//! Mobility and assembly of loops.

use crate::common;

use forks_mechanism::{
    Combination, Coupling, CouplingTerm, Joint, JointId, JointKind, LinkId, Mechanism,
    MechanismBuilder,
    kinematics::{
        AssemblySettings, AssemblyStatus, Mobility, RANK_TOLERANCE, assemble, loops, mobility,
    },
    lie::{Pose, SplitMix64, glam::DVec3},
};

fn mobility_at(m: &Mechanism, q: &[f64]) -> Mobility {
    mobility(m, q, &m.link_poses(q), RANK_TOLERANCE)
}

fn start_mobility(m: &Mechanism) -> Mobility {
    mobility_at(m, &m.start_positions())
}

/// The four-bar 1.0/0.4/0.9/0.7 with its closure replaced by joints of a kind at the given
/// distances along the hinge axis from the closing pin.
fn four_bar_closed_by(kind: &JointKind, offsets: &[f64]) -> Mechanism {
    let original = forks_models::four_bar().mechanism;
    let closure = original.joint(original.find_joint("closure").unwrap()).clone();
    let mut b = MechanismBuilder::from_mechanism(&original);
    for (i, &offset) in offsets.iter().enumerate() {
        let shift = Pose::from_translation(DVec3::Y * offset);
        let name = format!("closure{i}");
        let joint = Joint::new(name, kind.clone(), closure.parent, closure.child)
            .at(closure.parent_from_joint * shift)
            .child_at(closure.child_from_joint * shift);
        if i == 0 {
            *b.joints_mut().last_mut().unwrap() = joint;
        } else {
            b.add_joint(joint);
        }
    }
    b.build().unwrap()
}

/// Ranks of a planar loop in space: a connect has 3 rows of rank 2, a hinge made of two connects 6
/// rows of rank 2, a hinge 5 rows of rank 2; a weld has rank 3 and leaves no motion.
#[test]
fn four_bar_ranks() {
    let y = JointKind::Revolute { axis: DVec3::Y };
    let cases = [
        (JointKind::Spherical, vec![0.0], 3, 2, 1),
        (JointKind::Spherical, vec![-0.05, 0.05], 6, 2, 1),
        (y, vec![0.0], 5, 2, 1),
        (JointKind::Fixed, vec![0.0], 6, 3, 0),
    ];
    for (kind, offsets, rows, rank, left) in cases {
        let m = start_mobility(&four_bar_closed_by(&kind, &offsets));
        assert_eq!((m.dof, m.rows, m.rank, m.mobility), (3, rows, rank, left), "{kind:?}");
        assert_eq!(m.redundant_rows, rows - rank);
        assert_eq!(m.singular_values.iter().filter(|&&s| s > RANK_TOLERANCE).count(), rank);
        for c in &m.closures {
            assert_eq!((c.rows, c.rank), (rows / offsets.len(), rank), "{kind:?}");
        }
    }
}

/// Two four-bars closed by connects, their cranks coupled: 7 rows of rank 5, as the gripper 2F-85
/// has.
#[test]
fn two_coupled_loops() {
    let m = two_coupled_four_bars(1.0);
    let report = start_mobility(&m);
    assert_eq!((report.dof, report.rows, report.rank, report.mobility), (6, 7, 5, 1));
    assert!(report.closures.iter().all(|c| (c.rows, c.rank) == (3, 2)));
    assert_eq!((report.couplings[0].rows, report.couplings[0].rank), (1, 1));
    // A coupling with slope zero has no effect.
    let report = start_mobility(&two_coupled_four_bars(0.0));
    assert_eq!((report.rows, report.rank, report.mobility), (7, 4, 2));
    assert_eq!(report.couplings[0].rank, 0);
}

/// Crank angles coupled by `slope` · (a − b) + (a − b)³ = 0.
fn two_coupled_four_bars(slope: f64) -> Mechanism {
    let one = four_bar_closed_by(&JointKind::Spherical, &[0.0]);
    let mut b = MechanismBuilder::new("two four-bars");
    for k in 0..2 {
        let links = b.links().len();
        for (_, l) in one.moving_links() {
            let mut l = l.clone();
            l.name = format!("{}{k}", l.name);
            b.add_link(l);
        }
        let moved = |l: LinkId| if l.index() == 0 { l } else { LinkId::new(links + l.index() - 1) };
        for j in one.joints() {
            let mut j = j.clone();
            j.name = format!("{}{k}", j.name);
            (j.parent, j.child) = (moved(j.parent), moved(j.child));
            b.add_joint(j);
        }
    }
    let [a, c] = [0, 4].map(|i| (forks_mechanism::Coordinate::of(JointId::new(i)), 1.0));
    let combination = Combination { terms: vec![a, (c.0, -1.0)], offset: 0.0 };
    let terms = vec![CouplingTerm { combination, polynomial: vec![0.0, slope, 0.0, 1.0] }];
    b.add_coupling(Coupling { name: "cranks".into(), terms });
    b.build().unwrap()
}

/// A true equation with a small singular value counts: two links nearly stretched, the tip pinned.
#[test]
fn small_singular_values_count() {
    for (bend, rank) in [(0.004, 2), (0.0, 1)] {
        let p = forks_models::two_joint_example(bend).unwrap();
        let tip = p.mechanism.link_poses(&p.mechanism.start_positions())[p.effectors[0].index()];
        let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
        b.add_joint(Joint::new("pin", JointKind::Spherical, LinkId::WORLD, p.effectors[0]).at(tip));
        let report = start_mobility(&b.build().unwrap());
        assert_eq!((report.rows, report.rank), (3, rank));
        if rank == 2 {
            let smallest = report.singular_values[1];
            assert!(smallest > 1e-4 && smallest < 4e-3, "{smallest}");
        }
    }
}

/// Counts do not depend on the unit of length.
#[test]
fn ranks_do_not_depend_on_size() {
    for scale in [1e-5, 1.0, 1e5] {
        let original = forks_models::irregular_ladder(3).mechanism;
        let mut b = MechanismBuilder::from_mechanism(&original);
        for j in b.joints_mut() {
            j.parent_from_joint.translation *= scale;
            j.child_from_joint.translation *= scale;
        }
        for l in b.links_mut() {
            l.inertia.center_of_mass *= scale;
        }
        let report = start_mobility(&b.build().unwrap());
        // Nine hinges; a planar loop takes two each.
        assert_eq!((report.dof, report.rows, report.rank), (9, 9, 6), "{scale}");
    }
}

/// Mobility against the nullspace of the unscaled equations on all coordinates.
#[test]
fn mobility_of_random_mechanisms() {
    let mut r = SplitMix64::new(3);
    for _ in 0..30 {
        let loops = r.below(4);
        let m = common::random_mechanism(&mut r, 6, loops);
        let q = m.start_positions();
        let g = loops::constraint_jacobian(&m, &q, &m.link_poses(&q));
        let (_, basis) = forks_mechanism::linalg::dense::nullspace(&g, 1e-9).unwrap();
        let report = mobility_at(&m, &q);
        assert_eq!(report.mobility, basis.columns());
        assert_eq!(report.rank + report.mobility, m.tree_velocity_count());
        let rows: usize = m.forest().closures().iter().map(|&c| 6 - m.joint(c).dof()).sum();
        assert_eq!(report.rows, rows + m.couplings().len());
    }
}

/// A coupling on the coordinate of a closing joint acts through the loop.
#[test]
fn coupling_on_a_closing_joint() {
    let original = forks_models::four_bar().mechanism;
    let closure = original.find_joint("closure").unwrap();
    let mut b = MechanismBuilder::from_mechanism(&original);
    let terms =
        vec![CouplingTerm { combination: Combination::of(closure), polynomial: vec![0.0, 1.0] }];
    b.add_coupling(Coupling { name: "held".into(), terms });
    let report = start_mobility(&b.build().unwrap());
    assert_eq!((report.rows, report.rank, report.mobility), (6, 3, 0));
}

fn perturbed(m: &Mechanism, seed: u64, size: f64) -> Vec<f64> {
    let mut r = SplitMix64::new(seed);
    let mut q = m.start_positions();
    let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.range(-size, size)).collect();
    m.integrate(&mut q, &v);
    q
}

#[test]
fn perturbed_loops_are_assembled_again() {
    let mechanisms = [
        forks_models::four_bar().mechanism,
        forks_models::irregular_ladder(4).mechanism,
        forks_models::parallelogram().mechanism,
        forks_models::octahedral_truss().mechanism,
        forks_models::bicycle_chain(30).mechanism,
        two_coupled_four_bars(1.0),
    ];
    for m in mechanisms {
        for seed in 0..3 {
            let size = if m.name() == "octahedral-truss" { 0.05 } else { 0.15 };
            let a = assemble(&m, &perturbed(&m, seed, size), &AssemblySettings::default());
            assert_eq!(a.status, AssemblyStatus::Assembled, "{} {a:?}", m.name());
            assert!(a.iterations <= 12, "{}: {} iterations", m.name(), a.iterations);
            assert!(a.residual <= 1e-12);
            let r = m.bounding_radius(&m.link_poses(&a.positions));
            // Joint-frame gaps of a residual of 1e-12 in each of three components.
            for c in &a.closures {
                assert!(c.position < 4e-12 * r && c.angle < 2e-12, "{c:?}");
            }
            assert!(a.couplings.iter().all(|c| c.residual.abs() < 1e-11));
        }
    }
}

/// The four-bar's own geometry after assembly, by distances.
#[test]
fn an_assembled_four_bar_has_its_lengths() {
    let m = four_bar_closed_by(&JointKind::Spherical, &[0.0]);
    let mut q = m.start_positions();
    q[0] += 0.3;
    let a = assemble(&m, &q, &AssemblySettings::default());
    assert_eq!(a.status, AssemblyStatus::Assembled);
    assert_eq!(a.closures[0].name, "closure0");
    let poses = m.link_poses(&a.positions);
    let pin = poses[m.find_link("coupler").unwrap().index()].translation;
    let root = poses[m.find_link("rocker").unwrap().index()].translation;
    let j = m.joint(m.forest().closures()[0]);
    let top = poses[j.parent.index()].transform_point(j.parent_from_joint.translation);
    for (found, length) in
        [(pin.length(), 0.4), (top.distance(pin), 0.9), (top.distance(root), 0.7)]
    {
        assert!((found - length).abs() < 2e-12);
    }
    // The given positions of a closed mechanism are left alone.
    let again = assemble(&m, &a.positions, &AssemblySettings::default());
    assert_eq!((again.iterations, &again.positions), (0, &a.positions));
}

/// Bars that are a metre too short: they stretch towards each other and stall with that gap.
#[test]
fn what_cannot_be_assembled_stalls_and_says_what_is_left() {
    let original = four_bar_closed_by(&JointKind::Spherical, &[0.0]);
    let mut b = MechanismBuilder::from_mechanism(&original);
    b.joints_mut()[2].parent_from_joint.translation.x = 3.0;
    let m = b.build().unwrap();
    let settings = AssemblySettings { max_iterations: 500, ..Default::default() };
    let a = assemble(&m, &m.start_positions(), &settings);
    assert_eq!(a.status, AssemblyStatus::Stalled);
    let gap = &a.closures[0];
    assert!((gap.position - 1.0).abs() < 1e-3, "{gap:?} after {}", a.iterations);
    assert_eq!(gap.name, "closure0");
}

#[test]
fn numbers_that_are_not_finite() {
    let m = forks_models::four_bar().mechanism;
    let mut q = m.start_positions();
    q[1] = f64::NAN;
    let a = assemble(&m, &q, &AssemblySettings::default());
    assert_eq!((a.status, a.iterations), (AssemblyStatus::NotFinite, 0));
    assert_eq!(mobility_at(&m, &q).rank, 0);
}

/// The coupling's curve a − b + (a − b)³ = 0 has one real root.
#[test]
fn couplings_are_assembled() {
    let m = two_coupled_four_bars(1.0);
    let mut q = m.start_positions();
    q[0] += 0.4;
    let a = assemble(&m, &q, &AssemblySettings::default());
    assert_eq!(a.status, AssemblyStatus::Assembled);
    assert!((a.positions[0] - a.positions[3]).abs() < 1e-11);
    assert_eq!(a.couplings[0].name, "cranks");
}
