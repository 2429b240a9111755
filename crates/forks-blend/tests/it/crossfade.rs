//! From one blend to another while it runs, on made-up models.

use std::sync::Arc;

use blend_support::{Sizes, blend};
use forks_blend::{BlendData, BlendedModel, BlendedState, BlendedWorkspace, Crossfade, LinkBlend};
use forks_rom::{ModelError, lie::Pose, linalg::Matrix};
use forks_testkit::Rng;

use crate::blend_support;

fn data(rng: &mut Rng) -> BlendData {
    blend(rng, Sizes { effectors: 2, samples: 3, links: 9, spread: 0.3 })
}

fn far(a: &Pose, b: &Pose) -> f64 {
    a.twist_to(b).norm()
}

#[test]
fn another_chart_keeps_poses_and_velocities_to_rounding() {
    let mut rng = Rng::new(7);
    let old = Arc::new(BlendedModel::new(data(&mut rng)).unwrap());
    // Columns in another order and about another pose.
    let mut turned = old.data().clone();
    let n = old.dof();
    turned.basis =
        Matrix::from_fn(turned.basis.rows(), n, |i, j| old.data().basis[(i, (j + 5) % n)]);
    for (p, e) in turned.reference.iter_mut().zip(0..) {
        *p = old.effector_pose(e, &vec![0.03; n]);
    }
    let new = BlendedModel::new(turned).unwrap();
    let x: Vec<f64> = (0..n).map(|_| 0.2 * rng.symmetric()).collect();
    let v: Vec<f64> = (0..n).map(|_| 0.5 * rng.symmetric()).collect();
    let mut state = BlendedState::new(&old, &x).unwrap();
    let mut work = BlendedWorkspace::new(&old);
    state.set(&x, &v).unwrap();
    let (mut fade, moved) = Crossfade::new(old.clone(), &state, &new, 4).unwrap();
    let mut moved_work = BlendedWorkspace::new(&new);
    // Six directions per effector are all there are.
    assert!(fade.lost() < 1e-12, "{}", fade.lost());
    for e in 0..2 {
        assert!(far(&old.effector_pose(e, &x), &new.effector_pose(e, moved.coordinates())) < 1e-13);
        let change = old.effector_velocity(e, &state) - new.effector_velocity(e, &moved);
        assert!(change.norm() < 1e-12);
    }
    // The samples are the same: no potential, no wrench, no link changes. (The mass does: between
    // samples it is constant in its chart.)
    let jump = fade.energy_jump();
    assert!(jump.potential.abs() < 1e-11, "{jump:?}");
    assert!(fade.loads().iter().all(|l| l.wrench.to_array().iter().all(|w| w.abs() < 1e-10)));
    let (mut a, mut b) = (old.pose_buffer(), new.pose_buffer());
    old.poses(&state, &mut work, LinkBlend::Logarithm, &mut a);
    for _ in 0..5 {
        fade.poses(&new, &moved, &mut moved_work, LinkBlend::Logarithm, &mut b);
        assert!(a.iter().zip(b.iter()).all(|((_, a), (_, b))| far(&a, &b) < 1e-12));
        fade.advance();
    }
}

#[test]
fn links_go_over_by_the_stated_weight() {
    let mut rng = Rng::new(8);
    let data = data(&mut rng);
    let single = BlendData { samples: data.samples[..1].to_vec(), ..data.clone() };
    let old = Arc::new(BlendedModel::new(single).unwrap());
    let new = BlendedModel::new(data).unwrap();
    let x = vec![0.1; old.dof()];
    let state = BlendedState::new(&old, &x).unwrap();
    let (mut fade, moved) = Crossfade::new(old.clone(), &state, &new, 10).unwrap();
    let mut moved_work = BlendedWorkspace::new(&new);
    assert_eq!(moved.coordinates(), x);
    let (mut start, mut end, mut now) = (old.pose_buffer(), old.pose_buffer(), old.pose_buffer());
    old.poses(&state, &mut BlendedWorkspace::new(&old), LinkBlend::Logarithm, &mut start);
    new.poses(&moved, &mut moved_work, LinkBlend::Logarithm, &mut end);
    let wrench = |m: &BlendedModel| m.effector_wrenches(&x)[0].to_array();
    for k in 0..=10 {
        let t = f64::from(k) / 10.0;
        let weight = 6.0 * t.powi(5) - 15.0 * t.powi(4) + 10.0 * t.powi(3);
        assert!((fade.weight() - weight).abs() < 1e-14);
        fade.poses(&new, &moved, &mut moved_work, LinkBlend::Logarithm, &mut now);
        for (((_, a), (_, b)), (_, p)) in start.iter().zip(end.iter()).zip(now.iter()) {
            // On the screw from one to the other up to third order in how far they are apart.
            let expected = a.displaced(a.twist_to(&b) * weight);
            let apart = far(&a, &b);
            assert!(far(&expected, &p) <= 0.1 * apart.powi(3) + 1e-13, "{k}: {apart}");
        }
        let load = fade.loads()[0].wrench.to_array();
        for (i, w) in load.iter().enumerate() {
            let expected = (wrench(&new)[i] - wrench(&old)[i]) * (1.0 - weight);
            assert!((w - expected).abs() < 1e-10, "{k}: {w} {expected}");
        }
        assert_eq!(fade.advance(), k + 1 < 10);
    }
    assert!(fade.energy_jump().potential != 0.0);
    assert_eq!(fade.lost(), 0.0);
}

#[test]
fn unlike_blends_are_refused() {
    let mut rng = Rng::new(9);
    let old = Arc::new(BlendedModel::new(data(&mut rng)).unwrap());
    let state = BlendedState::new(&old, &vec![0.0; old.dof()]).unwrap();
    let other = |sizes| BlendedModel::new(blend(&mut Rng::new(9), sizes)).unwrap();
    let one = other(Sizes { effectors: 1, samples: 2, links: 9, spread: 0.3 });
    let short = other(Sizes { effectors: 2, samples: 2, links: 8, spread: 0.3 });
    for (model, what) in [(one, "effectors of a blend"), (short, "links of a blend")] {
        match Crossfade::new(old.clone(), &state, &model, 10) {
            Err(ModelError::WrongSize { quantity, .. }) => assert_eq!(quantity, what),
            other => panic!("{other:?}"),
        }
    }
}
