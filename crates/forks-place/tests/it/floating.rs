//! Blends whose base floats, against the single model and their own laws.

use std::sync::Arc;

use forks_blend::{BlendedModel, FloatingBlend, FloatingBlendState, FloatingBlendStepper, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_place::{Sample, blend_data, with_base};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, LoadFrame,
    ModelError, StepStatus, System,
    lie::{Pose, Twist, Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::{Rng, floating::floating_hub};

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
        let alone = blend(&p, &[one.clone()], weights);
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
    let data = blend_data(&rest.effector_poses(), &[rest.clone()], PLAIN).unwrap();
    let held = Arc::new(BlendedModel::new(data).unwrap());
    assert_eq!(FloatingBlend::new(held).unwrap_err(), ModelError::NoBase);
}
