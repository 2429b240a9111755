//! The paper's own scheme against ours, on its worm, fish and finger: one table.
//!
//! The paper's is mixed Euler in relative coordinates, momentum left alone, the window continued
//! per stretch and tested by the polynomial; ours is linearly implicit with the momentum of a free
//! root kept, the window continued as an energy and tested by pivots.

use std::time::Instant;

use forks_deform::{
    Commands, Coordinates, Curvature, Material, Model, Momentum, Range, Selection, SoftOptions,
    SoftSimulation, Stepper, Window,
    creatures::{self, Base, Creature},
    sparse::BlockCholesky,
};
use forks_mechanism::lie::glam::{DMat3, DVec3};
use forks_testkit::Rng;
use serde::Deserialize;

use super::record::{Recorder, larger};
use crate::words::said;

/// How much of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct K08 {
    /// Length of free motions, s.
    seconds: f64,
}

type Make = fn(Base, Material) -> Result<Creature, forks_deform::SoftError>;

const CREATURES: [(&str, Make); 3] =
    [("worm", creatures::worm), ("fish", creatures::fish), ("finger", creatures::finger)];

/// All lines.
pub(crate) fn check(k: &K08, out: &mut Recorder) -> Result<(), String> {
    for (name, make) in CREATURES {
        for (scheme, paper) in [("paper", true), ("ours", false)] {
            row(k, name, make, scheme, paper, out)?;
        }
        let stiff = bending(make)?;
        out.info(&format!("{name}: linear elements over quadratic ones, bent"), stiff);
    }
    Ok(())
}

fn start(make: Make, paper: bool) -> Result<SoftSimulation, String> {
    let window = match paper {
        true => Window::PerStretch(Range::PAPER),
        false => Window::LinearStress(Range::PAPER),
    };
    let law = Material::new(Model::StVenantKirchhoff(window), 5e4, 0.3, 1000.0).map_err(said)?;
    let mut c = make(Base::Free, law).map_err(said)?;
    let (stepper, momentum) = match paper {
        true => (Stepper::MixedEuler(Coordinates::Relative), Momentum::Free),
        false => (Stepper::LinearlyImplicit, Momentum::Projected),
    };
    if paper {
        c.body.elastic_mut().select(Selection::Polynomial);
    }
    let options = SoftOptions { stepper, momentum, gravity: false, damping: 0.0 };
    let mut s = SoftSimulation::new(&c.mechanism, c.body, options).map_err(said)?;
    let mut rng = Rng::new(1);
    let mut state = s.state().clone();
    state.velocity.iter_mut().for_each(|v| *v = DVec3::from_array(rng.vector()) * 0.2);
    state.v[3..6].copy_from_slice(&[1.0, 0.5, -0.3]);
    state.v[6..].iter_mut().for_each(|v| *v = 2.0 * rng.symmetric());
    s.set_state(state).map_err(said)?;
    Ok(s)
}

/// What a free motion came to.
struct Motion {
    momentum: f64,
    energy: f64,
    share: f64,
    micros: f64,
}

/// `None` where it does not stay finite, or energy grows beyond ten times its start.
fn run(mut s: SoftSimulation, h: f64, seconds: f64) -> Option<Motion> {
    let elements = s.body().mesh().element_count() as f64;
    let (p, l) = s.momentum();
    let before = s.energy().total();
    let (mut momentum, mut energy, mut share, mut steps) = (0.0f64, 0.0f64, 0.0, 0);
    let mut spent = 0.0;
    while (steps as f64) * h < seconds {
        let begin = Instant::now();
        let report = s.step(h, &Commands::default()).ok()?;
        spent += begin.elapsed().as_secs_f64();
        steps += 1;
        share += report.decomposed as f64 / elements;
        let now = s.momentum();
        let part = |a: DVec3, b: DVec3| (a - b).length() / b.length();
        momentum = larger(momentum, part(now.0, p).max(part(now.1, l)));
        let now = s.energy().total() / before - 1.0;
        if !now.is_finite() || now > 10.0 {
            return None;
        }
        energy = larger(energy, now.abs());
    }
    let n = f64::from(steps);
    Some(Motion { momentum, energy, share: share / n, micros: 1e6 * spent / n })
}

fn row(
    k: &K08,
    name: &str,
    make: Make,
    scheme: &str,
    paper: bool,
    out: &mut Recorder,
) -> Result<(), String> {
    let begin = start(make, paper)?;
    let say = |what: &str| format!("{name}, {scheme}: {what}");
    // The longest step of the series 1/60 s, a half, a quarter … with which half a second ends
    // well.
    let mut h = 1.0 / 60.0;
    while h > 1e-6 && run(begin.clone(), h, 0.5).is_none() {
        h *= 0.5;
    }
    out.info(&say("longest stable step of 1/60 s, 1/120 s …, s"), h);
    // Both at the paper's millisecond, or at the longest step that is stable.
    let h = h.min(1e-3);
    let m = run(begin, h, k.seconds).ok_or(format!("{name}, {scheme}: unstable at {h} s"))?;
    out.info(&say(&format!("µs per step at {:.2} ms", h * 1e3)), m.micros);
    out.info(&say("share of elements decomposed"), m.share);
    let bound = (!paper).then_some(1e-12);
    out.judge(&say(&format!("momentum lost in {} s", k.seconds)), m.momentum, bound);
    out.info(&say("largest change of energy"), m.energy);
    Ok(())
}

/// Stiffness in bending of linear elements over that of quadratic ones on the same tetrahedra: the
/// body clamped at its first nodes, a force at its last ones.
fn bending(make: Make) -> Result<f64, String> {
    let law = Material::stvk(5e4, 0.3, 1000.0).map_err(said)?;
    let mesh = make(Base::Fixed, law).map_err(said)?.body.mesh().clone();
    let length = mesh.nodes().iter().fold(0.0f64, |m, x| m.max(x.x));
    let compliance = |mesh: &forks_deform::TetMesh| -> Result<f64, String> {
        let elastic = forks_deform::Elastic::new(mesh, law);
        let mut k = elastic.matrix();
        elastic.stiffness(mesh.nodes(), Curvature::Exact, &mut k);
        let keep: Vec<bool> = mesh.nodes().iter().map(|x| x.x > 1e-9).collect();
        let corners = mesh.nodes().iter().filter(|x| x.x > length - 1e-9).count() as f64;
        let mut f = vec![DVec3::ZERO; keep.len()];
        for (f, x) in f.iter_mut().zip(mesh.nodes()) {
            if x.x > length - 1e-9 {
                *f = DVec3::Z / corners;
            }
        }
        let mut u = f.clone();
        let mut factor = BlockCholesky::new(&k, mesh.nodes(), &keep);
        factor.factorise(&k, 1.0, |_| DMat3::ZERO).map_err(said)?;
        factor.solve(&mut u);
        Ok(u.iter().zip(&f).map(|(u, f)| u.dot(*f)).sum())
    };
    Ok(compliance(&mesh.quadratic())? / compliance(&mesh)?)
}
