//! A scene that is driven.

use std::path::Path;

use forks_mechanism::Mechanism;
use forks_sim::{
    MechanismHandle, SimError, StepReport,
    scene::{Fidelity, Scene, SceneError, SceneMechanism, spec::SceneSpec},
};

use crate::{
    driver::Driver,
    error::{DirectError, invalid},
    keys::Keys,
    predict::Predictor,
    spec::{ControlSpec, DirectSpec, KeyframesSpec, TaskTable},
    watch::{Mark, Watched},
};

/// A scene with what drives its mechanisms. A copy goes on with the same bits, unless a prediction
/// has a budget of time.
#[derive(Clone, Debug)]
pub struct Direct {
    /// The scene.
    pub scene: Scene,
    drivers: Vec<Driver>,
    predictors: Vec<Predictor>,
}

/// What became of tasks and predictions over a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectReport {
    /// Numbers with their mechanism's name, in a fixed order.
    pub watched: Vec<(String, Watched)>,
    /// Decisions of controls in which rows gave way.
    pub relaxed_steps: u64,
    /// The first of them: when (s), of which mechanism, what.
    pub first_relaxed: Option<(f64, String, String)>,
    /// Decisions that used up their iterations.
    pub unfinished: u64,
    /// Predictions, those with commands at bounds, and those that their budget cut.
    pub decisions: [u64; 3],
}

impl From<Scene> for Direct {
    /// A scene that nothing drives.
    fn from(scene: Scene) -> Self {
        Self { scene, drivers: vec![], predictors: vec![] }
    }
}

impl Direct {
    /// Loads and builds a scene file; the files that it names are looked for from its folder.
    ///
    /// # Errors
    /// What is wrong with the scene or with what drives it.
    pub fn load(path: &Path, fidelity: Fidelity) -> Result<Self, DirectError> {
        let (spec, scene) = Self::read(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::build(&spec, scene, folder, fidelity)
    }

    /// Reads a scene file.
    ///
    /// # Errors
    /// A file that cannot be read, text that is no scene, with the line.
    pub fn read(path: &Path) -> Result<(DirectSpec, SceneSpec), DirectError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| SceneError::Read { file: file.clone(), source })?;
        Ok(DirectSpec::parse(&text, &file)?)
    }

    /// Builds a scene; the files that it names are looked for from `folder`.
    ///
    /// # Errors
    /// What is wrong with the scene or with what drives it.
    pub fn build(
        spec: &DirectSpec,
        scene: SceneSpec,
        folder: &Path,
        fidelity: Fidelity,
    ) -> Result<Self, DirectError> {
        let scene = Scene::build(scene, folder, fidelity)?;
        let mut out = Self::from(scene);
        if spec.is_empty() && spec.controls.is_empty() {
            return Ok(out);
        }
        if out.scene.spec.world.substeps != 1 {
            let substeps = out.scene.spec.world.substeps;
            let problem = format!("has {substeps} substeps: commands are for whole steps, take 1");
            return Err(invalid("world", problem));
        }
        out.add_drivers(spec, folder)?;
        for (number, mpc) in spec.mpc.iter().enumerate() {
            let (handle, m) = out.mechanism(&mpc.mechanism, &format!("mpc {}", number + 1))?;
            if out.drivers.iter().any(|d| d.mechanism == handle) {
                let problem = format!("has both tasks and mpc: {:?}", m.name);
                return Err(invalid(format!("mpc {}", number + 1), problem));
            }
            let file = out.scene.spec.mechanisms.iter().find(|s| s.name == m.name).cloned();
            let file = file.ok_or_else(|| invalid(format!("mpc {}", number + 1), "has no file"))?;
            let of = (handle, &m);
            let p = Predictor::new(&mut out.scene, of, &file, mpc, number, folder)?;
            out.predictors.push(p);
        }
        Ok(out)
    }

    fn add_drivers(&mut self, spec: &DirectSpec, folder: &Path) -> Result<(), DirectError> {
        type Of<'a, T> = Vec<(MechanismHandle, usize, &'a T)>;
        let mut tasks: Of<'_, TaskTable> = vec![];
        let mut keys: Of<'_, KeyframesSpec> = vec![];
        let mut controls: Of<'_, ControlSpec> = vec![];
        for (k, t) in spec.tasks.iter().enumerate() {
            tasks.push((self.mechanism(&t.mechanism, &format!("task {}", k + 1))?.0, k, t));
        }
        for (k, t) in spec.keyframes.iter().enumerate() {
            keys.push((self.mechanism(&t.mechanism, &format!("keyframes {}", k + 1))?.0, k, t));
        }
        for (k, c) in spec.controls.iter().enumerate() {
            let element = format!("control {}", k + 1);
            let (handle, m) = self.mechanism(&c.mechanism, &element)?;
            if controls.iter().any(|(h, ..)| *h == handle) {
                return Err(invalid(element, format!("is the second of mechanism {:?}", m.name)));
            }
            controls.push((handle, k, c));
        }
        let default = ControlSpec::default();
        for m in self.scene.mechanisms.clone() {
            let Some(handle) = self.scene.mechanism(&m.name) else { continue };
            let own: Vec<(usize, &TaskTable)> =
                tasks.iter().filter(|t| t.0 == handle).map(|t| (t.1, t.2)).collect();
            let of_keys = keys.iter().filter(|k| k.0 == handle);
            let curves = of_keys
                .map(|(_, k, spec)| {
                    let solver = self.scene.world.full_solver(handle)?;
                    let solver = solver.map(|s| s.mechanism().clone());
                    let known: &Mechanism = match &solver {
                        // Servos are springs there.
                        Some(solver) if m.mechanism.servos().is_empty() => solver,
                        _ => &m.mechanism,
                    };
                    Keys::new(spec, *k, known, folder)
                })
                .collect::<Result<Vec<_>, _>>()?;
            let control = controls.iter().find(|c| c.0 == handle).map(|c| c.2);
            if own.is_empty() && curves.is_empty() {
                if control.is_some() {
                    let element = format!("control of {:?}", m.name);
                    return Err(invalid(element, "has neither tasks nor keyframes"));
                }
                continue;
            }
            let of = (handle, &m);
            let control = control.unwrap_or(&default);
            self.drivers.push(Driver::new(&mut self.scene, of, control, &own, curves)?);
        }
        Ok(())
    }

    /// A mechanism by its name; the only one without a name.
    fn mechanism(
        &self,
        name: &Option<String>,
        element: &str,
    ) -> Result<(MechanismHandle, SceneMechanism), DirectError> {
        let all = &self.scene.mechanisms;
        let known = || all.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
        let found = match (name, &all[..]) {
            (Some(name), _) => all.iter().find(|m| m.name == *name).ok_or_else(|| {
                format!("names the mechanism {name:?}, which is not there; there are {}", known())
            }),
            (None, [only]) => Ok(only),
            (None, []) => Err("drives nothing: there is no mechanism".into()),
            (None, _) => Err(format!("needs the name of a mechanism; there are {}", known())),
        };
        let m = found.map_err(|problem| invalid(element, problem))?;
        let handle = self.scene.mechanism(&m.name);
        Ok((handle.ok_or_else(|| invalid(element, "names nothing"))?, m.clone()))
    }

    /// True if something is driven.
    pub fn is_driven(&self) -> bool {
        !self.drivers.is_empty() || !self.predictors.is_empty()
    }

    /// Applies what happens now, decides, and makes a step.
    ///
    /// # Errors
    /// Decisions that cannot be made.
    pub fn step(&mut self) -> Result<StepReport, DirectError> {
        self.step_under(|_| Ok(()))
    }

    /// The same with loads of somebody's own, which are applied after those of the file and before
    /// decisions.
    ///
    /// # Errors
    /// Decisions that cannot be made; loads that are refused.
    pub fn step_under(
        &mut self,
        load: impl FnOnce(&mut Scene) -> Result<(), SimError>,
    ) -> Result<StepReport, DirectError> {
        self.scene.script.act(&mut self.scene.world)?;
        load(&mut self.scene)?;
        for d in &mut self.drivers {
            d.act(&mut self.scene)?;
        }
        for p in &mut self.predictors {
            p.act(&mut self.scene)?;
        }
        let report = self.scene.world.step();
        for d in &mut self.drivers {
            d.after(&self.scene.world)?;
        }
        for p in &mut self.predictors {
            p.after(&self.scene.world)?;
        }
        Ok(report)
    }

    /// Numbers to show, with their mechanism's name, always as many and in the same order.
    pub fn watched(&self) -> impl Iterator<Item = (&str, &Watched)> {
        let drivers = self.drivers.iter().flat_map(|d| d.watched().map(|w| (d.name.as_str(), w)));
        let predictors =
            self.predictors.iter().flat_map(|p| p.watched().map(|w| (p.name.as_str(), w)));
        drivers.chain(predictors)
    }

    /// Places to show now, always as many and in the same order.
    pub fn marks(&self) -> Vec<Mark> {
        let t = self.scene.world.time();
        let drivers = self.drivers.iter().flat_map(|d| d.marks(t));
        drivers.chain(self.predictors.iter().flat_map(|p| p.marks(t))).collect()
    }

    /// Places that will be shown, at times over the scene: the ways of targets.
    pub fn ways(&self, count: usize) -> Vec<Mark> {
        let length = self.scene.spec.world.duration;
        let at = |k: usize| length * k as f64 / count.max(1) as f64;
        (0..=count)
            .flat_map(|k| {
                let drivers = self.drivers.iter().flat_map(move |d| d.marks(at(k)));
                drivers.chain(self.predictors.iter().flat_map(move |p| p.marks(at(k))))
            })
            .collect()
    }

    /// What became of it all so far.
    pub fn report(&self) -> DirectReport {
        let watched = self.watched().map(|(m, w)| (m.to_owned(), w.clone())).collect();
        let mut out = DirectReport { watched, ..DirectReport::default() };
        for d in &self.drivers {
            out.relaxed_steps += d.relaxed_steps;
            out.unfinished += d.unfinished;
            if let (None, Some((t, what))) = (&out.first_relaxed, &d.first_relaxed) {
                out.first_relaxed = Some((*t, d.name.clone(), what.clone()));
            }
        }
        for p in &self.predictors {
            for (sum, n) in out.decisions.iter_mut().zip([p.decisions, p.bound_decisions, p.cut]) {
                *sum += n;
            }
        }
        out
    }
}
