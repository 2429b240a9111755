//! Motion: accelerations in both coordinates, momentum, the border, tissue as a weld.

use forks_deform::{
    Commands, Coordinates, Curvature, Material, Momentum, SoftOptions, SoftSimulation, Stepper,
};
use forks_dynamics::tree::{AbaWorkspace, LinkLoads, Tree, aba};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, MechanismBuilder,
    lie::{
        SpatialInertia, Twist, Wrench,
        glam::{DMat3, DVec3},
    },
    linalg::{Matrix, Pivots},
};
use forks_testkit::Rng;

use super::samples::{bar_on_bones, plain, set_going, vector};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

pub(super) fn check(steps: usize, out: &mut Recorder) -> Result<(), String> {
    table_5(out)?;
    momentum(steps, out)?;
    border(out)?;
    weld(out)
}

fn options(stepper: Stepper, momentum: Momentum, gravity: bool) -> SoftOptions {
    SoftOptions { stepper, momentum, gravity, damping: 0.0 }
}

fn soft() -> Result<Material, String> {
    Material::stvk(2e4, 0.3, 1000.0).map_err(said)
}

/// \[K08\] Table 5 against the same particles as links on joints of three translations (Table 3).
fn table_5(out: &mut Recorder) -> Result<(), String> {
    let (mut skeleton, mut nodes) = (0.0f64, 0.0f64);
    let relative = Stepper::MixedEuler(Coordinates::Relative);
    for seed in 0..20 {
        let mut s = bar_on_bones(
            JointKind::Free,
            [4, 2, 2],
            soft()?,
            options(relative, Momentum::Free, true),
        )?;
        set_going(&mut s, 0.3)?;
        let mut rng = Rng::new(seed);
        let mut state = s.state().clone();
        state.q[7] = rng.range(-1.0, 1.0);
        state.x.iter_mut().for_each(|x| *x += vector(&mut rng) * 0.01);
        state.v.iter_mut().for_each(|v| *v += rng.symmetric());
        s.set_state(state).map_err(said)?;
        let (a, particles) = s.relative_accelerations(&Commands::default()).map_err(said)?;

        // The same as a tree.
        let (m, body, state) = (s.mechanism(), s.body(), s.state());
        let mut builder = MechanismBuilder::from_mechanism(m);
        let free: Vec<usize> = (0..state.x.len()).filter(|&n| body.holder(n).is_none()).collect();
        let subspace = vec![Twist::unit(0), Twist::unit(1), Twist::unit(2)];
        for &n in &free {
            let point = SpatialInertia::new(body.masses()[n], DVec3::ZERO, DMat3::ZERO);
            let link = builder.add_link(Link::new(format!("n{n}")).with_inertia(point));
            let kind = JointKind::General { subspace: subspace.clone() };
            builder.add_joint(Joint::new(format!("n{n}"), kind, body.reference(n), link));
        }
        let whole = builder.build().map_err(said)?;
        let poses = m.link_poses(&state.q);
        let twists = forks_mechanism::kinematics::link_twists(m, &state.q, &state.v);
        let mut force = vec![DVec3::ZERO; state.x.len()];
        body.elastic().forces(&state.x, &mut force);
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        let mut wrenches = vec![Wrench::ZERO; whole.links().len()];
        for n in 0..state.x.len() {
            let bone = body.reference(n).index();
            let (pose, back) = (poses[bone], poses[bone].rotation.conjugate());
            let p = pose.inverse().transform_point(state.x[n]);
            let f = back * force[n];
            if body.holder(n).is_some() {
                wrenches[bone] += Wrench::new(f, p.cross(f));
                continue;
            }
            let t = twists[bone];
            q.extend(p.to_array());
            v.extend((back * state.velocity[n] - t.linear - t.angular.cross(p)).to_array());
        }
        for (i, &n) in free.iter().enumerate() {
            // Particles do not turn against their bone: their axes are the bone's.
            let back = poses[body.reference(n).index()].rotation.conjugate();
            wrenches[m.links().len() + i] = Wrench::new(back * force[n], DVec3::ZERO);
        }
        let tree = Tree::new(&whole);
        let mut expected = vec![0.0; v.len()];
        let loads = LinkLoads { gravity: true, wrenches: &wrenches };
        let tau = vec![0.0; v.len()];
        let mut ws = AbaWorkspace::new(&tree);
        aba(&tree, &mut ws, &q, &v, &tau, &loads, &mut expected).map_err(said)?;
        let size = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (own, rest) = expected.split_at(7);
        let left: Vec<f64> = a.iter().zip(own).map(|(a, b)| a - b).collect();
        skeleton = larger(skeleton, size(&left) / size(own));
        let found = free.iter().flat_map(|&n| particles[n].to_array());
        let left: Vec<f64> = found.zip(rest).map(|(a, b)| a - b).collect();
        nodes = larger(nodes, size(&left) / size(rest));
    }
    out.at_most("Table 5 against joints of three translations, skeleton", skeleton, 1e-12);
    out.at_most("Table 5 against joints of three translations, nodes", nodes, 1e-12);
    Ok(())
}

fn drift(s: &SoftSimulation, start: (DVec3, DVec3)) -> f64 {
    let (p, l) = s.momentum();
    let part = |a: DVec3, b: DVec3| (a - b).length() / b.length();
    part(p, start.0).max(part(l, start.1))
}

/// Momentum over long free motion.
fn momentum(steps: usize, out: &mut Recorder) -> Result<(), String> {
    let h = 5e-4;
    for (name, stepper) in [
        ("mixed Euler", Stepper::MixedEuler(Coordinates::Absolute)),
        ("mixed Euler, relative", Stepper::MixedEuler(Coordinates::Relative)),
        ("linearly implicit", Stepper::LinearlyImplicit),
        ("backward Euler", Stepper::BackwardEuler { tolerance: 1e-6 }),
    ] {
        let settings = options(stepper, Momentum::Projected, false);
        let mut s = bar_on_bones(JointKind::Free, [4, 1, 1], soft()?, settings)?;
        set_going(&mut s, 0.2)?;
        let (start, mut worst) = (s.momentum(), 0.0f64);
        for _ in 0..steps {
            s.step(h, &Commands::default()).map_err(said)?;
            worst = larger(worst, drift(&s, start));
        }
        out.at_most(&format!("momentum over {steps} free steps, {name}"), worst, 1e-12);
    }
    // \[K08\]'s own scheme for a second at 1 ms.
    let paper = options(Stepper::MixedEuler(Coordinates::Relative), Momentum::Free, false);
    for (name, stepper) in [
        ("as the paper: relative", paper),
        ("absolute", options(Stepper::MixedEuler(Coordinates::Absolute), Momentum::Free, false)),
    ] {
        let mut s = bar_on_bones(JointKind::Free, [8, 2, 2], soft()?, stepper)?;
        set_going(&mut s, 0.2)?;
        let (start, mut worst) = (s.momentum(), 0.0f64);
        for _ in 0..1000 {
            s.step(1e-3, &Commands::default()).map_err(said)?;
            worst = larger(worst, drift(&s, start));
        }
        out.info(&format!("momentum lost in 1 s at 1 ms without projection, {name}"), worst);
    }
    Ok(())
}

/// The full matrix of hinge and free nodes against S.
fn border(out: &mut Recorder) -> Result<(), String> {
    for h in [1e-4, 1e-3, 5e-3, 1.0 / 60.0] {
        let settings = options(Stepper::LinearlyImplicit, Momentum::Free, false);
        let mut s = bar_on_bones(JointKind::Fixed, [8, 2, 2], soft()?, settings)?;
        let (state, body, m) = (s.state().clone(), s.body().clone(), s.mechanism().clone());
        let mut k = body.elastic().matrix();
        body.elastic().stiffness(&state.x, Curvature::Projected, &mut k);
        let k = k.to_dense();
        let hinge = m.link_poses(&state.q)[2].translation;
        let free: Vec<usize> = (0..state.x.len()).filter(|&n| body.holder(n).is_none()).collect();
        let mut map = Matrix::zeros(3 * state.x.len(), 1 + 3 * free.len());
        for n in 0..state.x.len() {
            if body.holder(n) == Some(LinkId::new(2)) {
                let c = DVec3::Y.cross(state.x[n] - hinge).to_array();
                (0..3).for_each(|i| map[(3 * n + i, 0)] = c[i]);
            }
        }
        for (f, &n) in free.iter().enumerate() {
            (0..3).for_each(|i| map[(3 * n + i, 1 + 3 * f + i)] = 1.0);
        }
        let mut full = map.transpose_mul(&k.mul(&map));
        full.as_mut_slice().iter_mut().for_each(|x| *x *= h * h);
        full[(0, 0)] += forks_dynamics::mass_matrix(&m, &state.q)[(0, 0)];
        for (f, &n) in free.iter().enumerate() {
            (0..3).for_each(|i| full[(1 + 3 * f + i, 1 + 3 * f + i)] += body.masses()[n]);
        }
        let mut unit = vec![0.0; full.rows()];
        unit[0] = 1.0;
        let exact = full.solve_vec(&unit, Pivots::AboveZero).ok_or("singular")?[0];
        s.step(h, &Commands::default()).map_err(said)?;
        let found = 1.0 / s.border().schur()[(0, 0)];
        let check = format!("border elimination against the full matrix, h = {h:.4} s");
        out.at_most(&check, (found / exact - 1.0).abs(), 1e-11);
    }
    Ok(())
}

/// Tissue ever stiffer across a hinge holds it: the turn under gravity falls as 1/E.
fn weld(out: &mut Recorder) -> Result<(), String> {
    let turn = |young: f64| -> Result<f64, String> {
        let settings = options(Stepper::LinearlyImplicit, Momentum::Free, true);
        let mut s = bar_on_bones(JointKind::Fixed, [8, 2, 2], plain(young, 0.3)?, settings)?;
        s.rest(&Commands::default(), &Default::default()).map_err(said)?;
        Ok(s.state().q[0].abs())
    };
    // Softer tissue sags by more than a turn of the hinge: at 1e7 Pa the slope is off by 0.018.
    let (soft, stiff) = (turn(1e8)?, turn(1e10)?);
    let slope = (stiff / soft).log10() / 2.0;
    out.at_most("turn of a hinge in ever stiffer tissue: slope + 1", (slope + 1.0).abs(), 0.01);
    // One step of welded bones and of stiff tissue.
    let rate = |young: f64| -> Result<f64, String> {
        let settings = options(Stepper::LinearlyImplicit, Momentum::Free, true);
        let mut s = bar_on_bones(JointKind::Fixed, [8, 2, 2], plain(young, 0.3)?, settings)?;
        s.step(1e-3, &Commands::default()).map_err(said)?;
        Ok(s.state().v[0].abs())
    };
    let slope = (rate(1e13)? / rate(1e11)?).log10() / 2.0;
    out.at_most("its rate after a step of 1 ms: slope + 1", (slope + 1.0).abs(), 0.01);
    Ok(())
}
