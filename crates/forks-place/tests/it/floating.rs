//! Blends whose base floats, against the single model and their own laws.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{BlendedModel, FloatingBlend, FloatingBlendState, FloatingBlendStepper, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{Mechanism, MechanismBuilder};
use forks_place::{Chart, LoadRegion, Placement, Sample, blend_data, place, with_base};
use forks_reduce::{MassModel, Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, LoadFrame,
    ModelError, StepStatus, System,
    lie::{Pose, Twist, Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::{
    Rng,
    floating::{floating_boom, floating_hub},
};

const METRIC: Weights = Weights::Metric { exponent: 6, energy: 2.0 };
const PLAIN: Weights = Weights::Shepard { exponent: 6 };

fn problem() -> Problem {
    Problem::new(&floating_hub(), &["a5", "b5", "c5"], &ProblemOptions::default()).unwrap()
}

fn vector(rng: &mut Rng, size: f64) -> DVec3 {
    DVec3::new(rng.range(-size, size), rng.range(-size, size), rng.range(-size, size))
}

/// The sample under forces on the effectors, bent where it is asked for.
fn sample(p: &Problem, forces: [DVec3; 3], bent: bool) -> Sample {
    let loads = p.effectors.iter().zip(forces).fold(Loads::none(), |loads, (e, f)| {
        loads.with(e.applied(Wrench::new(f, DVec3::ZERO), WrenchFrame::World))
    });
    let options = EquilibriumOptions::default();
    let at = solve_equilibrium(p.mechanism(), &p.start, &loads, &options);
    assert!(at.status.is_equilibrium());
    match bent {
        true => Sample::bent(p, &at, &loads, &options).unwrap(),
        false => Sample::new(p, &at, &loads).unwrap(),
    }
}

fn blend(p: &Problem, samples: &[Sample], weights: Weights) -> Arc<FloatingBlend> {
    let data = blend_data(&samples[0].effector_poses(), samples, weights).unwrap();
    let model = with_base(p, &BlendedModel::new(data).unwrap()).unwrap();
    Arc::new(FloatingBlend::new(Arc::new(model)).unwrap())
}

/// At rest, and with the arms pulled by up to 30 N.
fn several(p: &Problem, bent: bool, weights: Weights) -> Arc<FloatingBlend> {
    let (x, y, z) = (DVec3::X * 25.0, DVec3::Y * 25.0, DVec3::Z * 25.0);
    let forces = [[DVec3::ZERO; 3], [z, -z, y], [-y, x - z, z], [-z, y + x, -y]];
    let samples: Vec<Sample> = forces.iter().map(|f| sample(p, *f, bent)).collect();
    blend(p, &samples, weights)
}

fn single(p: &Problem) -> Arc<FloatingModel> {
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let model = Arc::new(p.reduce(p.at_rest(), &options).unwrap().model);
    Arc::new(FloatingModel::new(model, BaseCoupling::Full).unwrap())
}

fn random_loads(rng: &mut Rng, size: f64) -> Vec<EffectorLoad> {
    (0..3)
        .map(|effector| EffectorLoad {
            effector,
            wrench: Wrench::new(vector(rng, size), vector(rng, 0.1 * size)),
            frame: if effector % 2 == 0 { LoadFrame::World } else { LoadFrame::Body },
        })
        .collect()
}

/// x, ẋ, base pose and twist.
type Start = (Vec<f64>, Vec<f64>, Pose, Twist);

fn start(rng: &mut Rng, n: usize, bend: f64, speed: f64) -> Start {
    let x = (0..n).map(|_| rng.range(-bend, bend)).collect();
    let rate = (0..n).map(|_| rng.range(-speed, speed)).collect();
    let pose = Pose::exp(Twist::new(vector(rng, 2.0), vector(rng, 2.0)));
    (x, rate, pose, Twist::new(vector(rng, speed), vector(rng, speed)))
}

fn state_at(model: &FloatingBlend, (x, rate, pose, twist): &Start) -> FloatingBlendState {
    let mut out = FloatingBlendState::new(model);
    out.set(model, x, rate, *pose, *twist).unwrap();
    out
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(1e-300, |m, x| m.max(x.abs()))
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size(b)
}

/// Everything that two systems say of their states: coordinates, velocities, effectors.
fn said<S: System>(system: &S, state: &S::State) -> Vec<f64> {
    let (mut out, n) = (vec![0.0; system.coordinate_count() + system.dof()], system.dof());
    let (coordinates, velocity) = out.split_at_mut(n + 1);
    system.coordinates(state, coordinates);
    system.velocity(state, velocity);
    (0..system.data().effectors.len())
        .for_each(|e| out.extend(system.effector_pose(e, state).to_array()));
    out
}

#[test]
fn a_blend_of_one_sample_is_the_single_model() {
    let p = problem();
    let (single, one) = (single(&p), blend(&p, &[sample(&p, [DVec3::ZERO; 3], false)], PLAIN));
    let n = one.blend().dof();
    let basis = &single.reduced().data().basis;
    let mut turn = Matrix::zeros(n, n);
    // η = BᵀS² B′ x, both orthonormal with lengths over r.
    let r = single.reduced().data().radius;
    for i in 0..n {
        for j in 0..n {
            let scale = |k: usize| if k % 6 < 3 { 1.0 / (r * r) } else { 1.0 };
            let other = &one.blend().data().basis;
            let sum = (0..basis.rows()).map(|k| basis[(k, i)] * scale(k) * other[(k, j)]);
            turn[(i, j)] = sum.sum();
        }
    }
    for h in [1e-3, 1.0 / 60.0] {
        let rival = FloatingStepper::new(single.clone(), h).unwrap();
        let stepper = FloatingBlendStepper::new(one.clone(), h).unwrap();
        let mut rng = Rng::new(5);
        let (x, rate, pose, twist) = start(&mut rng, n, 0.05, 2.0);
        let mut own = state_at(&one, &(x.clone(), rate.clone(), pose, twist));
        let mut other = FloatingState::new(&single);
        let (eta, moving) = (turn.mul_vec(&x), turn.mul_vec(&rate));
        other.set(&single, &eta, &moving, pose, twist).unwrap();
        let (mut work, mut other_work) = (stepper.workspace(), rival.workspace());
        let mut worst = 0.0f64;
        for k in 0..500 {
            let loads = random_loads(&mut rng, 5.0);
            let status = [
                stepper.step(&mut own, &mut work, &loads),
                rival.step(&mut other, &mut other_work, &loads),
            ];
            assert_eq!(status, [StepStatus::Completed; 2], "{k}");
            let a =
                [turn.mul_vec(own.shape().coordinates()), own.world_from_base().to_array().into()];
            let b =
                [other.shape().coordinates().to_vec(), other.world_from_base().to_array().into()];
            worst = worst.max(off(&a[0], &b[0])).max(off(&a[1], &b[1]));
            let a = own.base_velocity().to_array();
            worst = worst.max(off(&a, &single.base_velocity(&other).to_array()));
            worst = worst.max(off(&turn.mul_vec(own.shape().velocity()), other.shape().velocity()));
            let energies = [
                System::kinetic_energy(&stepper, &own, &work)
                    - System::kinetic_energy(&rival, &other, &other_work),
                System::elastic_energy(&stepper, &own, &work)
                    - System::elastic_energy(&rival, &other, &other_work),
            ];
            let scale = System::kinetic_energy(&rival, &other, &other_work);
            worst = worst.max(size(&energies) / scale);
        }
        println!("h {h}: {worst:e}");
        // The stiffness that steers Newton's method is found by differences, to 1e-10.
        assert!(worst < 1e-9, "{worst:e}");
    }
}

#[test]
fn equal_samples_are_one() {
    let p = problem();
    let one = sample(&p, [DVec3::ZERO; 3], true);
    for weights in [PLAIN, METRIC] {
        let alone = blend(&p, std::slice::from_ref(&one), weights);
        let mut data = alone.blend().data().clone();
        data.samples.push(data.samples[0].clone());
        let twice = Arc::new(BlendedModel::new(data).unwrap());
        let twice = Arc::new(FloatingBlend::new(twice).unwrap());
        let mut rng = Rng::new(8);
        let begin = start(&mut rng, alone.blend().dof(), 0.08, 2.0);
        let steppers =
            [&alone, &twice].map(|m| FloatingBlendStepper::new(m.clone(), 2e-3).unwrap());
        let mut states = [&alone, &twice].map(|m| state_at(m, &begin));
        let mut works = steppers.each_ref().map(|s| s.workspace());
        for _ in 0..300 {
            let loads = random_loads(&mut rng, 5.0);
            for i in 0..2 {
                let status = steppers[i].step(&mut states[i], &mut works[i], &loads);
                assert_eq!(status, StepStatus::Completed);
            }
        }
        let [a, b] = [0, 1].map(|i| said(&steppers[i], &states[i]));
        println!("{weights:?}: {:e}", off(&a, &b));
        assert!(off(&a, &b) < 1e-9);
    }
}

/// Tumbling and vibrating without loads; and the energy about the centre never grows.
#[test]
fn momentum_is_kept_and_energy_does_not_grow() {
    let p = problem();
    for (bent, weights) in [(false, PLAIN), (true, METRIC)] {
        let model = several(&p, bent, weights);
        let model = Arc::new((*model).clone().with_gravity(DVec3::ZERO));
        for h in [1e-3, 1.0 / 60.0] {
            let stepper = FloatingBlendStepper::new(model.clone(), h).unwrap();
            let mut s = state_at(&model, &start(&mut Rng::new(3), model.blend().dof(), 0.1, 1.0));
            let mut work = stepper.workspace();
            let begin = model.momentum(&s);
            let energy = |s: &FloatingBlendState, work: &_| {
                model.kinetic_energy(s) + System::elastic_energy(&stepper, s, work)
            };
            let (mut worst, mut gain, mut last) = ([0.0f64; 2], 0.0f64, energy(&s, &work));
            let first = last;
            let mut counts = std::collections::BTreeMap::new();
            for _ in 0..10_000 {
                let status = stepper.step(&mut s, &mut work, &[]);
                *counts.entry(format!("{status:?}")).or_insert(0) += 1;
                let now = model.momentum(&s);
                // The centre of mass moves: its angular momentum has to stay all the same.
                let far = model.mass() * s.center_velocity().length() * s.center_of_mass().length();
                worst[0] =
                    worst[0].max((now.linear - begin.linear).length() / begin.linear.length());
                let size = begin.angular.length().max(far);
                worst[1] = worst[1].max((now.angular - begin.angular).length() / size);
                let energy = energy(&s, &work);
                gain = gain.max((energy - last) / first);
                last = energy;
            }
            println!("{weights:?} {h}: {worst:?}, gain {gain:e}, {first} to {last} J, {counts:?}");
            assert!(worst.iter().all(|w| *w < 1e-10), "{worst:?}");
            assert!(gain < 1e-12, "{gain:e}");
            assert!(last > 0.0 && last < first);
        }
    }
}

#[test]
fn what_a_sample_is_about_decides() {
    let p = problem();
    let rest = sample(&p, [DVec3::ZERO; 3], false);
    let data = blend_data(&rest.effector_poses(), std::slice::from_ref(&rest), PLAIN).unwrap();
    let held = Arc::new(BlendedModel::new(data).unwrap());
    assert_eq!(FloatingBlend::new(held).unwrap_err(), ModelError::NoBase);
}

/// Poses of the base and the effector, per step.
type Path = Vec<[Pose; 2]>;

/// A force that grows smoothly all the time.
fn growing(force: DVec3, k: usize, steps: usize) -> DVec3 {
    let t = (k as f64 + 0.5) / steps as f64;
    force * (t * t * (3.0 - 2.0 * t))
}

fn reduced_path<S: System>(system: &S, force: DVec3, steps: usize) -> Path {
    let (mut state, mut work) = (system.state(), system.workspace());
    let mut numbers = vec![0.0; system.coordinate_count()];
    (0..steps)
        .map(|k| {
            let wrench = Wrench::new(growing(force, k, steps), DVec3::ZERO);
            let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
            assert_eq!(system.step(&mut state, &mut work, &[load]), StepStatus::Completed);
            system.coordinates(&state, &mut numbers);
            let base = Pose::from_array(core::array::from_fn(|i| numbers[i]));
            [base, system.effector_pose(0, &state)]
        })
        .collect()
}

/// The full mechanism, its free joint moving, by the implicit scheme with steps a fifth as long.
fn full_path(m: &Mechanism, p: &Problem, h: f64, force: DVec3, steps: usize) -> Path {
    let q = p.prepared.original_positions(m, &p.start);
    let still = vec![0.0; m.tree_velocity_count()];
    let mut simulation =
        Simulation::new(m, &q[..m.tree_position_count()], &still, SimulationOptions::default());
    let (tip, base) = (&p.effectors[0], m.find_link("hub").unwrap().index());
    (0..steps)
        .map(|k| {
            let force = growing(force, k, steps);
            for _ in 0..5 {
                let mut external = vec![Wrench::ZERO; m.links().len()];
                let pose = simulation.link_poses()[tip.link.index()] * tip.link_from_effector;
                let body = Wrench::new(pose.rotation.conjugate() * force, DVec3::ZERO);
                external[tip.link.index()] = tip.link_from_effector.adjoint().apply_to_wrench(body);
                simulation.set_loads(&still, &external);
                assert_eq!(simulation.step(h / 5.0), SimulationStatus::Completed);
            }
            let poses = simulation.link_poses();
            [poses[base], poses[tip.link.index()] * tip.link_from_effector]
        })
        .collect()
}

/// Largest gaps to the full mechanism, of the base, and of the effector as the base sees it:
/// lengths over 0.6 m and angles.
fn gaps(full: &Path, path: &Path) -> [f64; 2] {
    let mut worst = [0.0f64; 2];
    for (a, b) in full.iter().zip(path) {
        let far = [(a[0], b[0]), (a[0].inverse() * a[1], b[0].inverse() * b[1])];
        for (worst, (a, b)) in worst.iter_mut().zip(far) {
            let d = a.twist_to(&b);
            *worst = worst.max(d.linear.length() / 0.6 + d.angular.length());
        }
    }
    worst
}

/// An arm bent by more than a radian on a base that turns: against the full implicit simulation.
#[test]
fn a_blend_is_nearer_to_the_full_mechanism_than_one_model() {
    let mut builder = MechanismBuilder::from_mechanism(&floating_boom());
    builder.set_gravity(DVec3::ZERO);
    let m = builder.build().unwrap();
    let p = Problem::new(&m, &["a5"], &ProblemOptions::default()).unwrap();
    let (h, steps) = (2e-3, 500);
    let force = DVec3::new(0.0, 6.0, -70.0);
    let full = full_path(&m, &p, h, force, steps);
    let path_of = |model: Arc<FloatingBlend>| {
        gaps(&full, &reduced_path(&FloatingBlendStepper::new(model, h).unwrap(), force, steps))
    };
    let way = gaps(&full, &vec![full[0]; steps]);
    let one = reduced_path(&FloatingStepper::new(single(&p), h).unwrap(), force, steps);
    let one = gaps(&full, &one);

    let z = -DVec3::Z;
    let aside = DVec3::new(0.0, 20.0, -60.0);
    let forces = [DVec3::ZERO, z * 25.0, z * 50.0, z * 75.0, aside];
    let samples: Vec<Sample> = forces.iter().map(|f| sample(&p, [*f; 3], false)).collect();
    let poses = path_of(blend(&p, &samples, PLAIN));

    let region = LoadRegion { displacement: 0.65, ..LoadRegion::cone(0, z, 0.2) };
    let placement = Placement {
        regions: vec![region],
        training_loads: 12,
        unseen_loads: 4,
        floating: true,
        chart: Chart::Joints,
        ..Placement::default()
    };
    let placed = place(&p, &placement, &mut |_| ControlFlow::Continue(())).unwrap();
    let joints = path_of(Arc::new(FloatingBlend::new(Arc::new(placed.model)).unwrap()));
    println!("way {way:.4?}, one {one:.4?}, poses {poses:.4?}, joints {joints:.4?}");
    assert!(way[1] > 1.0 && one[1] > 0.1);
    assert!(poses[1] < 0.4 * one[1] && poses[0] < 0.8 * one[0]);
    assert!(joints[1] < 0.05 * one[1] && joints[0] < 0.8 * one[0]);
}

/// In a chart of joint displacements too, inside and beyond its guard: velocities are rates,
/// momentum stays, energy does not grow.
#[test]
fn charts_of_joint_displacements_float_within_their_guard_and_beyond() {
    let p = Problem::new(&floating_boom(), &["a5"], &ProblemOptions::default()).unwrap();
    let region = LoadRegion { displacement: 0.3, ..LoadRegion::cone(0, -DVec3::Z, 0.5) };
    let tight = Placement {
        regions: vec![region],
        training_loads: 6,
        unseen_loads: 2,
        max_samples: 3,
        constraint_tolerance: 1e-9,
        floating: true,
        ..Placement::default()
    };
    let placed = place(&p, &tight, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(placed.chart, Chart::Joints);
    assert!(placed.model.data().guard.is_some() && placed.model.data().samples.len() > 1);
    let model = FloatingBlend::new(Arc::new(placed.model)).unwrap().with_gravity(DVec3::ZERO);
    let model = Arc::new(model);
    let stepper = FloatingBlendStepper::new(model.clone(), 1e-3).unwrap();
    let mut rng = Rng::new(4);
    for reach in [0.5, 4.0] {
        let (_, rate, pose, twist) = start(&mut rng, model.blend().dof(), 0.0, 0.5);
        let x = model.blend().place(1).iter().map(|x| reach * x).collect();
        let begin = (x, rate, pose, twist);
        let mut s = state_at(&model, &begin);
        let mut work = stepper.workspace();
        let outside = model.blend().evaluated_at(s.shape()).is_out_of_range();
        assert_eq!(outside, reach > 1.0);
        let rates = s.shape().velocity().to_vec();
        let side = |t: f64| {
            let (x, _, pose, twist) = &begin;
            let x: Vec<f64> = x.iter().zip(&rates).map(|(x, v)| x + t * v).collect();
            state_at(&model, &(x, rates.clone(), *pose * Pose::exp(*twist * t), *twist))
        };
        let center = (side(1e-6).center_of_mass() - side(-1e-6).center_of_mass()) * 0.5e6;
        let off = (center - s.center_velocity()).length() / s.center_velocity().length();
        let (first, mut last) = (model.momentum(&s), f64::INFINITY);
        for _ in 0..1000 {
            let _ = stepper.step(&mut s, &mut work, &[]);
            let energy = model.kinetic_energy(&s) + System::elastic_energy(&stepper, &s, &work);
            assert!(energy <= last + 1e-12 * energy.abs(), "{energy} {last}");
            last = energy;
        }
        let kept = (model.momentum(&s).angular - first.angular).length() / first.angular.length();
        println!("{reach}: rates off by {off:e}, momentum by {kept:e}");
        assert!(off < 1e-7 && kept < 1e-10);
    }
}

#[test]
fn what_cannot_float_is_refused_before_the_search() {
    let p = Problem::new(&floating_boom(), &["a5"], &ProblemOptions::default()).unwrap();
    let good = Placement {
        regions: vec![LoadRegion::cone(0, -DVec3::Z, 0.2)],
        floating: true,
        ..Placement::default()
    };
    let refused = |p: &Problem, placement: Placement| {
        place(p, &placement, &mut |_| panic!("a search")).unwrap_err().to_string()
    };
    let gravity = refused(&p, Placement { gravity: true, ..good.clone() });
    assert!(gravity.contains("gravity"), "{gravity}");
    let mass = MassModel::Accelerability;
    let mass = refused(&p, Placement { mass, ..good.clone() });
    assert!(mass.contains("mass"), "{mass}");
    let helix = forks_models::helix(6, forks_models::HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let fixed = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let fixed = refused(&fixed, good);
    assert!(fixed.contains("does not float"), "{fixed}");
}
