//! A file of tissue as a problem of reduction: skeleton, superelements, pads as end effectors.
//!
//! Every tissue is condensed on its own, in the start pose, where it has no stress, or in the
//! equilibrium under weights. Free bodies, shapes of the ground, actions and drags of the file are
//! left out.
//!
//! A force on a pad is spread over its nodes, each with a part of it that stays in the world: about
//! an equilibrium under such forces [`SoftProblem::loaded`] linearises as well.

use std::path::Path;

use forks_condense::{Condensed, Patch, SkinKind, TissuePose, condense, skin};
use forks_deform::{
    Commands, SoftBody, SoftOptions, SoftSimulation, StaticsOptions, StaticsStatus,
};
use forks_dynamics::Loads;
use forks_mechanism::{
    Mechanism,
    lie::{Wrench, glam::DVec3},
};
use forks_reduce::{
    Drive, Linearisation, MassModel, Problem, ProblemOptions, ReduceOptions, Reduction,
};
use forks_sim::scene::Schedule;
use forks_skin::SkinnedModel;
use forks_tissue::{Pad, TissueScene, spec::TissueSpec};

use crate::SoftModelError;

/// Internal modes of every tissue for each fixed-effector mode of the whole.
const INTERNAL: usize = 2;
/// Part of the loads that may be left where the search stalls: energies of E are told apart to ε E,
/// forces of stiffness k to √(2 k ε E).
const STALLED: f64 = 1e-6;
/// Steps in which forces on pads grow.
const LOAD_STEPS: usize = 4;

/// How a file becomes a problem.
#[derive(Clone, Debug, Default)]
pub struct SoftProblemOptions {
    /// Names of pads, or of links of the whole: `SKELETON/LINK`.
    pub effectors: Vec<String>,
    /// What resists beside springs; the start is that of the file.
    pub preparation: ProblemOptions,
    /// The mass that reductions will have: it says how many modes of tissue are wanted.
    pub mass: MassModel,
    /// Linearise at the equilibrium under weights instead of in the start pose without them.
    pub equilibrium: bool,
}

/// Tissue of a problem.
#[derive(Clone, Debug)]
struct Tissue {
    name: String,
    /// On the mechanism of the whole.
    body: SoftBody,
    condensed: Condensed,
}

/// A force at the origin of a pad, fixed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PadForce {
    /// The pad's number among the effectors.
    pub effector: usize,
    /// World axes, N.
    pub force: DVec3,
}

/// Tissue on a skeleton, ready to be reduced.
#[derive(Clone, Debug)]
pub struct SoftProblem {
    /// Title of the file.
    pub title: String,
    /// Skeletons and pads with the superelements of all tissue.
    pub problem: Problem,
    /// What may not have been meant, and what was left out.
    pub notes: Vec<String>,
    tissues: Vec<Tissue>,
    /// The whole: in the pose that it is linearised about.
    whole: SoftSimulation,
    pads: Vec<Pad>,
    modes: usize,
    pulls: Vec<(usize, f64, Schedule)>,
    /// Positions of the problem's mechanism, and what acts, where it is at an equilibrium.
    loaded: Option<(Vec<f64>, Loads)>,
}

impl SoftProblem {
    /// Of a file; the files that it names are looked for from its folder.
    ///
    /// # Errors
    /// What is wrong with the file, tissue that cannot be condensed, effectors that are not there,
    /// no equilibrium where it is asked for.
    pub fn load(path: &Path, options: &SoftProblemOptions) -> Result<Self, SoftModelError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::build(TissueSpec::read(path)?, folder, options)
    }

    /// Of what a file says; the files that it names are looked for from `folder`.
    ///
    /// # Errors
    /// As [`SoftProblem::load`].
    pub fn build(
        spec: TissueSpec,
        folder: &Path,
        options: &SoftProblemOptions,
    ) -> Result<Self, SoftModelError> {
        let (spec, left_out) = mechanism_alone(spec);
        if !options.equilibrium {
            check_start(&spec)?;
        }
        let scene = TissueScene::build(spec, folder)?;
        let mut notes = scene.notes.clone();
        notes.extend(left_out);
        check_effectors(&scene, &options.effectors)?;
        let bodies = bodies(&scene, folder)?;
        let modes = match options.mass {
            MassModel::CraigBampton { modes } => INTERNAL * modes,
            _ => 0,
        };
        let pads: Vec<Pad> =
            scene.pads.iter().filter(|p| options.effectors.contains(&p.name)).cloned().collect();
        let mechanism = scene.simulation.mechanism().clone();
        let start = mechanism.start_positions();
        let mut tissues = Vec::with_capacity(bodies.len());
        for (k, body) in bodies.into_iter().enumerate() {
            let name = name(&scene, k);
            let at = TissuePose { q: &start, x: body.mesh().nodes(), patch_wrenches: &[] };
            let condensed = condense(&name, &body, &mechanism, &at, &patches(&pads, k), modes);
            let condensed = condensed.map_err(|e| SoftModelError::condense(&name, e))?;
            tissues.push(Tissue { name, body, condensed });
        }
        let pulls = scene.pulls().to_vec();
        let effectors: Vec<&str> = options.effectors.iter().map(String::as_str).collect();
        let elements = tissues.iter().map(|t| t.condensed.element.clone()).collect();
        let preparation = ProblemOptions { start: None, ..options.preparation.clone() };
        let problem = Problem::with_superelements(&mechanism, elements, &effectors, &preparation)?;
        let whole = match options.equilibrium {
            true => scene.simulation,
            false => {
                let options = SoftOptions { gravity: false, ..SoftOptions::default() };
                let body = scene.simulation.body().clone();
                SoftSimulation::new(&mechanism, body, options).map_err(SoftModelError::Search)?
            }
        };
        let (title, pulls, loaded) = (scene.spec.title, pulls, None);
        let out = Self { title, problem, notes, tissues, whole, pads, modes, pulls, loaded };
        if options.equilibrium { out.loaded(&[]) } else { Ok(out) }
    }

    /// The same at the equilibrium under forces on pads, and under weights if the problem is at
    /// their equilibrium; searched for from where the problem is.
    ///
    /// # Errors
    /// Forces on effectors that are no pads, no equilibrium.
    pub fn loaded(&self, forces: &[PadForce]) -> Result<Self, SoftModelError> {
        let mut out = self.clone();
        out.whole = self.at_rest_under(forces)?;
        let state = out.whole.state().clone();
        let mechanism = out.whole.mechanism().clone();
        let mut loads = if self.has_weights() { Loads::gravity() } else { Loads::none() };
        let mut first = 0;
        for (k, t) in out.tissues.iter_mut().enumerate() {
            let nodes = first..first + t.body.mesh().nodes().len();
            first = nodes.end;
            let x = &state.x[nodes];
            let patches = patches(&self.pads, k);
            let failed = |e| SoftModelError::condense(&t.name, e);
            let mut wrenches = Vec::with_capacity(patches.len());
            for p in &patches {
                let pose = p.pose(t.body.mesh().nodes(), x).map_err(failed)?;
                let force = self.force_on(&p.name, forces);
                wrenches.push(Wrench::new(pose.rotation.conjugate() * force, DVec3::ZERO));
            }
            let at = TissuePose { q: &state.q, x, patch_wrenches: &wrenches };
            let found = condense(&t.name, &t.body, &mechanism, &at, &patches, self.modes);
            t.condensed = found.map_err(failed)?;
        }
        let elements: Vec<_> = out.tissues.iter().map(|t| t.condensed.element.clone()).collect();
        let q = self.problem.positions_of(&state.q, &elements);
        out.problem = self.problem.with_elements(elements, &q)?;
        for f in forces {
            let link = out.problem.effectors[f.effector].link;
            loads = loads.with_world_wrench(link, Wrench::new(f.force, DVec3::ZERO));
        }
        out.loaded = Some((q, loads));
        Ok(out)
    }

    /// The whole at rest under forces on pads, from where the problem is.
    ///
    /// # Errors
    /// As [`SoftProblem::loaded`].
    pub fn at_rest_under(&self, forces: &[PadForce]) -> Result<SoftSimulation, SoftModelError> {
        let mut whole = self.whole.clone();
        let mut on_nodes = vec![DVec3::ZERO; whole.state().x.len()];
        for f in forces {
            let name = self.problem.effectors.get(f.effector).map(|_| self.effector(f.effector));
            let pad = name.and_then(|n| self.pads.iter().find(|p| p.name == n));
            let Some(pad) = pad else {
                return Err(SoftModelError::NoPad { effector: f.effector });
            };
            let nodes = self.tissues.iter().take(pad.tissue).map(|t| t.body.mesh().nodes().len());
            let first: usize = nodes.sum();
            let each = f.force / pad.nodes.len() as f64;
            pad.nodes.iter().for_each(|n| on_nodes[first + n] += each);
        }
        let commands = Commands { node_forces: &on_nodes, ..Commands::default() };
        let options = StaticsOptions { load_steps: LOAD_STEPS, ..StaticsOptions::default() };
        let report = whole.rest(&commands, &options).map_err(SoftModelError::Search)?;
        let weight: f64 = match self.has_weights() {
            true => {
                whole.body().masses().iter().sum::<f64>() * whole.mechanism().gravity().length()
            }
            false => 0.0,
        };
        let pull: f64 = forces.iter().map(|f| f.force.length()).sum();
        let status = match report.status {
            StaticsStatus::Converged => return Ok(whole),
            StaticsStatus::Stalled if report.residual <= STALLED * (pull + weight) => {
                return Ok(whole);
            }
            StaticsStatus::Stalled => "stalled",
            StaticsStatus::IterationLimit => "out of steps",
        };
        Err(SoftModelError::NoEquilibrium { left: report.residual, newton: report.newton, status })
    }

    /// Name of an effector.
    fn effector(&self, k: usize) -> &str {
        &self.mechanism().link(self.problem.effectors[k].link).name
    }

    fn force_on(&self, pad: &str, forces: &[PadForce]) -> DVec3 {
        let own = forces.iter().filter(|f| self.effector(f.effector) == pad);
        own.map(|f| f.force).sum()
    }

    fn has_weights(&self) -> bool {
        self.whole.options().gravity
    }

    /// The actions of the file, with what they draw to over time: drives of a reduction
    /// ([`ReduceOptions::drives`]), which a model has as servos.
    pub fn actions(&self) -> Vec<(Drive, Schedule)> {
        let m = self.mechanism();
        let drive = |(k, (at, force, schedule)): (usize, &(usize, f64, Schedule))| {
            let mut forces = vec![0.0; m.velocity_count()];
            forces[*at] = *force;
            (Drive::forces(m, format!("action {}", k + 1), &forces), schedule.clone())
        };
        self.pulls.iter().enumerate().map(drive).collect()
    }

    /// The pads among the effectors.
    pub fn pads(&self) -> &[Pad] {
        &self.pads
    }

    /// The whole, in the pose that it is linearised about.
    pub fn whole(&self) -> &SoftSimulation {
        &self.whole
    }

    /// Energy of tissue, springs and weights in the pose that it is linearised about, J.
    pub fn potential(&self) -> f64 {
        let energy = self.whole.clone().energy();
        energy.tissue + energy.potential
    }

    /// The mechanism of the whole, its links with the mass of the nodes in them.
    pub fn mechanism(&self) -> &Mechanism {
        self.problem.mechanism()
    }

    /// Nodes and elements of every tissue, by name.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.tissues.iter().map(|t| {
            let mesh = t.body.mesh();
            (t.name.as_str(), mesh.nodes().len(), mesh.element_count())
        })
    }

    /// The bodies of all tissue, on the mechanism of the whole.
    pub fn bodies(&self) -> impl Iterator<Item = &SoftBody> {
        self.tissues.iter().map(|t| &t.body)
    }

    /// The pose that it is linearised about.
    pub fn linearisation(&self) -> Linearisation<'_> {
        match &self.loaded {
            Some((q, loads)) => Linearisation::Loaded { q, loads, multipliers: &[] },
            None => self.problem.at_rest(),
        }
    }

    /// The reduced model.
    ///
    /// # Errors
    /// As [`Problem::reduce`].
    pub fn reduce(&self, options: &ReduceOptions) -> Result<Reduction<'_>, SoftModelError> {
        Ok(self.problem.reduce(self.linearisation(), options)?)
    }

    /// The reduced model with a skin for every tissue.
    ///
    /// # Errors
    /// A reduction of another problem.
    pub fn skinned(
        &self,
        reduction: &Reduction<'_>,
        kind: SkinKind,
    ) -> Result<SkinnedModel, SoftModelError> {
        let skin = |(k, t): (usize, &Tissue)| {
            let found = skin(reduction, k, &t.body, &t.condensed, kind);
            found.map_err(|e| SoftModelError::condense(&t.name, e))
        };
        let skins = self.tissues.iter().enumerate().map(skin).collect::<Result<_, _>>()?;
        Ok(SkinnedModel::new(reduction.model.clone(), skins)?)
    }
}

/// The file without what moves or stands beside the mechanism, and a note about what that was.
fn mechanism_alone(mut spec: TissueSpec) -> (TissueSpec, Option<String>) {
    let mut left_out: Vec<String> = Vec::new();
    let mut count = |n: usize, one: &str, many: &str| {
        if n > 0 {
            left_out.push(format!("{n} {}", if n == 1 { one } else { many }));
        }
    };
    count(spec.bodies.len(), "free body", "free bodies");
    count(spec.ground.len(), "shape of the ground", "shapes of the ground");
    count(spec.actions.len(), "action", "actions");
    count(spec.drags.len(), "drag", "drags");
    spec.bodies.clear();
    spec.ground.clear();
    spec.drags.clear();
    spec.world.at_rest = false;
    let note = (!left_out.is_empty())
        .then(|| format!("left out of the reduced model: {}", left_out.join(", ")));
    (spec, note)
}

/// Without weights tissue is at rest in the start pose of its skeleton's model alone.
fn check_start(spec: &TissueSpec) -> Result<(), SoftModelError> {
    let posed = spec.mechanisms.iter().flat_map(|m| m.pose.iter().map(move |p| (m, p)));
    for (m, (joint, value)) in posed {
        if *value != 0.0 {
            return Err(SoftModelError::Stressed {
                mechanism: m.name.clone(),
                joint: joint.clone(),
                value: *value,
            });
        }
    }
    Ok(())
}

fn check_effectors(scene: &TissueScene, effectors: &[String]) -> Result<(), SoftModelError> {
    let links = || scene.simulation.mechanism().moving_links().filter(|(_, l)| !l.auxiliary);
    let listed = |names: Vec<&str>| match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    for name in effectors {
        let is_pad = scene.pads.iter().any(|p| p.name == *name);
        if !is_pad && !name.starts_with("site:") && !links().any(|(_, l)| l.name == *name) {
            return Err(SoftModelError::UnknownEffector {
                name: name.clone(),
                pads: listed(scene.pads.iter().map(|p| p.name.as_str()).collect()),
                links: listed(links().map(|(_, l)| l.name.as_str()).collect()),
            });
        }
    }
    Ok(())
}

/// Every tissue on the mechanism of the whole.
fn bodies(scene: &TissueScene, folder: &Path) -> Result<Vec<SoftBody>, SoftModelError> {
    if scene.tissues().len() == 1 {
        return Ok(vec![scene.simulation.body().clone()]);
    }
    let alone = |t: &forks_tissue::spec::BodySpec| {
        let mut spec = scene.spec.clone();
        spec.tissues = vec![t.clone()];
        spec.pads.clear();
        Ok(TissueScene::build(spec, folder)?.simulation.body().clone())
    };
    scene.spec.tissues.iter().map(alone).collect()
}

/// What the `k`-th tissue is called: as its skeleton, with its number where that has several.
fn name(scene: &TissueScene, k: usize) -> String {
    let own = &scene.tissues()[k].0;
    match scene.tissues().iter().filter(|(n, _)| n == own).count() {
        1 => own.clone(),
        _ => format!("{own} {}", k + 1),
    }
}

/// The pads of the `k`-th tissue.
fn patches(pads: &[Pad], k: usize) -> Vec<Patch> {
    let own = pads.iter().filter(|p| p.tissue == k);
    own.map(|p| Patch::new(p.name.clone(), p.nodes.clone())).collect()
}
