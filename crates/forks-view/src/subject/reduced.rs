//! A reduced model or a blend of them.

use std::sync::{Arc, Mutex, PoisonError};

use forks_blend::{
    BlendedModel, BlendedStepper, Crossfade, FloatingBlend, FloatingBlendStepper, LinkBlend, Model,
};
use forks_io::animation::{Animation, AnimationFrame, Series};
use forks_mechanism::{
    lie::{Pose, Twist, Wrench, glam::DVec3},
    linalg::{Matrix, dense::min_norm_solve},
};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingStepper, LoadFrame, ModelError, PoseBuffer,
    StepStatus, Stepper, System,
};
use forks_soft::{Film, LoadedModel, Moment, Skins, SoftModelError};

use super::{Push, REACH, Servo, Subject};

/// What a model looks like.
pub(crate) enum Look {
    /// As its mechanism does: the links are the bodies, in their order.
    Picture(Box<Animation>),
    /// By what the model itself knows: links, joints, skins.
    Film(Box<Film>),
}

/// What a model of a file looks like.
pub(crate) fn look(title: &str, model: &LoadedModel) -> Result<Look, SoftModelError> {
    let data = match &model.model {
        Model::Reduced(m) => m.data(),
        Model::Blended(m) => m.data().samples[0].model.data(),
    };
    // The ground is the first link and no body.
    let shown: Vec<usize> = (1..data.links.len()).filter(|l| !data.links[*l].auxiliary).collect();
    let film = Film::new(title, data, &shown);
    let film = match (&model.skins, &model.model) {
        (Skins::One(skins), Model::Reduced(m)) => film.with_skins(m, skins.clone())?,
        (Skins::Blend(blend), _) => film.with_blend((**blend).clone()),
        _ => film,
    };
    Ok(Look::Film(Box::new(film)))
}

/// A model in motion.
#[derive(Clone)]
pub(crate) struct Reduced<S: System> {
    system: S,
    state: S::State,
    work: S::Workspace,
    buffer: PoseBuffer,
    poses: Vec<Pose>,
    loads: Vec<EffectorLoad>,
    /// The effector at each body of the picture, if there is one.
    effectors: Vec<Option<usize>>,
    servos: Vec<Servo>,
    targets: Vec<f64>,
    picture: Arc<Animation>,
    /// Draws skins, where there are some; keeps nothing of a state, so that copies share it.
    film: Option<Arc<Mutex<Film>>>,
    coordinates: Vec<f64>,
    /// Of skins, where they were drawn last: bodies behind the links.
    middles: Vec<Pose>,
    steps: u64,
}

/// A model of any kind as a subject.
pub(crate) fn reduced<'m>(
    model: Model,
    look: Look,
    step: f64,
) -> Result<Box<dyn Subject<'m> + 'm>, ModelError> {
    let floats = |m: &BlendedModel| m.data().samples.iter().any(|s| s.model.data().base.is_some());
    Ok(match model {
        Model::Reduced(model) if model.data().base.is_some() => {
            let model = Arc::new(FloatingModel::new(Arc::new(model), BaseCoupling::default())?);
            Box::new(Reduced::new(FloatingStepper::new(model, step)?, look))
        }
        Model::Reduced(model) => Box::new(Reduced::new(Stepper::new(Arc::new(model), step)?, look)),
        Model::Blended(model) if floats(&model) => {
            let model = Arc::new(FloatingBlend::new(Arc::new(model))?);
            Box::new(Reduced::new(FloatingBlendStepper::new(model, step)?, look))
        }
        Model::Blended(model) => {
            Box::new(Reduced::new(BlendedStepper::new(Arc::new(model), step)?, look))
        }
    })
}

impl<S: System> Reduced<S> {
    fn new(system: S, look: Look) -> Self {
        let (mut picture, film) = match look {
            Look::Picture(picture) => (*picture, None),
            Look::Film(film) => {
                let picture = film.animation().clone();
                let drawn = !picture.skins.is_empty();
                (picture, drawn.then(|| Arc::new(Mutex::new(*film))))
            }
        };
        let (state, work, buffer) = (system.state(), system.workspace(), system.pose_buffer());
        let data = system.data();
        let effector = |l: &usize| data.effectors.iter().position(|e| e.link == *l);
        let effectors = buffer.links().iter().map(effector).collect();
        let servo =
            |name: &String| Servo { name: name.clone(), target: 0.0, range: [-REACH, REACH] };
        let servos: Vec<Servo> = data.servos.iter().map(servo).collect();
        let targets = vec![0.0; servos.len()];
        let series = [("kinetic", "J"), ("elastic", "J")];
        picture.series = series.map(|(n, u)| Series::new(n, u)).to_vec();
        let mut out = Self {
            system,
            state,
            work,
            buffer,
            poses: Vec::new(),
            loads: Vec::new(),
            effectors,
            servos,
            targets,
            picture: Arc::new(picture),
            film,
            coordinates: Vec::new(),
            middles: Vec::new(),
            steps: 0,
        };
        out.read();
        let _ = out.draw_skins();
        out
    }

    /// The frame of the film now: links, then skins.
    fn draw_skins(&mut self) -> Option<AnimationFrame> {
        let Self { system, state, film, coordinates, poses, targets, .. } = self;
        // A frame that was not made leaves a sound film.
        let mut film = film.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        coordinates.resize(system.coordinate_count(), 0.0);
        system.coordinates(state, coordinates);
        let now = Moment {
            time: self.steps as f64 * system.step_size(),
            poses,
            coordinates,
            targets,
            energies: [0.0; 3],
            forces: &[],
        };
        // Skins were made for this model: its coordinates are theirs.
        film.push(&now).ok()?;
        let frame = film.take_frame()?;
        drop(film);
        self.middles.clear();
        self.middles.extend_from_slice(&frame.world_from_body[self.poses.len()..]);
        Some(frame)
    }

    fn stand_at(&mut self, coordinates: &[f64]) -> Result<(), String> {
        let still = vec![0.0; self.system.dof()];
        self.system.set(&mut self.state, coordinates, &still).map_err(|e| e.to_string())?;
        self.read();
        Ok(())
    }

    fn read(&mut self) {
        self.system.poses(&self.state, &mut self.work, &mut self.buffer);
        self.poses.clear();
        self.poses.extend(self.buffer.iter().map(|(_, p)| p));
    }
}

impl<'m, S: System + 'm> Subject<'m> for Reduced<S> {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.system.step_size()
    }

    fn time(&self) -> f64 {
        self.steps as f64 * self.system.step_size()
    }

    fn step(&mut self) -> Result<(), String> {
        let kept = self.state.clone();
        let status = self.system.step(&mut self.state, &mut self.work, &self.loads);
        if matches!(status, StepStatus::NotFinite) {
            self.state = kept;
            return Err(format!("the reduced model's numbers overflow at {:.4} s", self.time()));
        }
        self.steps += 1;
        self.read();
        Ok(())
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        self.loads.clear();
        for p in pushes {
            let Some(effector) = self.effectors.get(p.body).copied().flatten() else {
                let names: Vec<&str> =
                    self.system.data().effectors.iter().map(|e| e.name.as_str()).collect();
                return Err(format!(
                    "a reduced model feels forces on its effectors alone: {}",
                    names.join(", ")
                ));
            };
            let pose = &self.poses[p.body];
            let origin = self.system.effector_pose(effector, &self.state).translation;
            let arm = pose.transform_point(p.point) - origin;
            let wrench = Wrench::new(p.force, arm.cross(p.force));
            self.loads.push(EffectorLoad { effector, wrench, frame: LoadFrame::World });
        }
        Ok(())
    }

    fn feels(&self, body: usize) -> bool {
        let skin = (self.poses.len()..self.picture.bodies.len()).contains(&body);
        skin || self.effectors.get(body).copied().flatten().is_some()
    }

    fn pose(&self, body: usize) -> Pose {
        let skin = body.checked_sub(self.poses.len()).and_then(|k| self.middles.get(k));
        skin.or(self.poses.get(body)).copied().unwrap_or(Pose::IDENTITY)
    }

    /// Of a skin the nearest effector.
    fn hold(&self, body: usize, point: DVec3) -> (usize, DVec3) {
        if body < self.poses.len() {
            return (body, point);
        }
        let place = self.pose(body).transform_point(point);
        let far = |b: &usize| self.poses[*b].translation.distance_squared(place);
        let near = (0..self.poses.len())
            .filter(|b| self.effectors[*b].is_some())
            .min_by(|a, b| far(a).total_cmp(&far(b)));
        match near {
            Some(b) => (b, self.poses[b].inverse().transform_point(place)),
            None => (body, point),
        }
    }

    fn frame(&mut self) -> AnimationFrame {
        let values = [
            self.system.kinetic_energy(&self.state, &self.work),
            self.system.elastic_energy(&self.state, &self.work),
        ];
        let links = AnimationFrame::new(self.time(), self.poses.iter().copied());
        self.draw_skins().unwrap_or(links).values(values)
    }

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn set_servo(&mut self, index: usize, target: f64) -> Result<(), String> {
        let before = std::mem::replace(&mut self.targets[index], target);
        if let Err(e) = self.system.set_servo_targets(&mut self.state, &self.targets) {
            self.targets[index] = before;
            return Err(e.to_string());
        }
        self.servos[index].target = target;
        Ok(())
    }

    fn picture(&self) -> &Animation {
        &self.picture
    }

    /// The chart's coordinates of least length, lengths of poses over r; a model that floats goes
    /// back to where it was made.
    fn stand(&mut self, bodies: &[usize], poses: &[Pose]) -> Result<(), String> {
        let data = self.system.data();
        if self.system.coordinate_count() != self.system.dof() {
            self.state = self.system.state();
            self.read();
            return Ok(());
        }
        let radius = data.radius;
        let over = |t: Twist| t.scale_linear(1.0 / radius).to_array();
        let mut off = vec![0.0; data.basis.rows()];
        for (body, pose) in bodies.iter().zip(poses) {
            if let Some(e) = self.effectors.get(*body).copied().flatten() {
                let way = (data.effectors[e].rest.inverse() * *pose).log();
                off[6 * e..6 * e + 6].copy_from_slice(&over(way));
            }
        }
        let scaled = |i: usize| if i % 6 < 3 { 1.0 / radius } else { 1.0 };
        let (rows, columns) = (data.basis.rows(), data.basis.columns());
        let basis = Matrix::from_fn(rows, columns, |i, j| scaled(i) * data.basis[(i, j)]);
        self.stand_at(&min_norm_solve(&basis, &off, 1e-12))
    }

    fn size(&self) -> usize {
        4096 + 128 * self.poses.len()
    }
}

/// Time in which links go from where an old blend has them to where the new one does, s.
const FADE: f64 = 0.5;

/// A blend with a held base, which another one can replace while it moves.
#[derive(Clone)]
pub(crate) struct Blended {
    inner: Reduced<BlendedStepper>,
    model: Arc<BlendedModel>,
    fade: Option<Crossfade>,
}

impl Blended {
    pub(crate) fn new(
        model: Arc<BlendedModel>,
        picture: Animation,
        step: f64,
    ) -> Result<Self, ModelError> {
        let stepper = BlendedStepper::new(model.clone(), step)?;
        let inner = Reduced::new(stepper, Look::Picture(Box::new(picture)));
        Ok(Self { inner, model, fade: None })
    }
}

impl<'m> Subject<'m> for Blended {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.inner.step_length()
    }

    fn time(&self) -> f64 {
        self.inner.time()
    }

    fn step(&mut self) -> Result<(), String> {
        let own = self.inner.loads.len();
        if let Some(fade) = &mut self.fade {
            self.inner.loads.extend_from_slice(fade.loads());
        }
        let done = self.inner.step();
        self.inner.loads.truncate(own);
        done?;
        if let Some(fade) = &mut self.fade {
            let goes_on = fade.advance();
            let Reduced { state, work, buffer, poses, .. } = &mut self.inner;
            fade.poses(&self.model, state, work, LinkBlend::Average, buffer);
            poses.clear();
            poses.extend(buffer.iter().map(|(_, p)| p));
            if !goes_on {
                self.fade = None;
            }
        }
        Ok(())
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        self.inner.push(pushes)
    }

    fn feels(&self, body: usize) -> bool {
        self.inner.feels(body)
    }

    fn pose(&self, body: usize) -> Pose {
        self.inner.pose(body)
    }

    fn frame(&mut self) -> AnimationFrame {
        self.inner.frame()
    }

    fn servos(&self) -> &[Servo] {
        self.inner.servos()
    }

    fn set_servo(&mut self, index: usize, target: f64) -> Result<(), String> {
        self.inner.set_servo(index, target)
    }

    fn picture(&self) -> &Animation {
        self.inner.picture()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn stand(&mut self, _bodies: &[usize], poses: &[Pose]) -> Result<(), String> {
        self.fade = None;
        let still = vec![Twist::ZERO; poses.len()];
        let found = self.model.coordinates_of(poses, &still).map_err(|e| e.to_string())?;
        self.inner.stand_at(&found.0)
    }

    fn replace(&mut self, new: &Arc<BlendedModel>) -> Result<(), String> {
        let h = self.step_length();
        let steps = (FADE / h).ceil().min(1e6) as usize;
        let say = |e: ModelError| e.to_string();
        let stepper = BlendedStepper::new(new.clone(), h).map_err(say)?;
        let (fade, state) =
            Crossfade::new(self.model.clone(), &self.inner.state, new, steps).map_err(say)?;
        self.inner.work = stepper.workspace();
        self.inner.buffer = stepper.pose_buffer();
        (self.inner.system, self.inner.state) = (stepper, state);
        self.model = new.clone();
        self.fade = Some(fade);
        Ok(())
    }
}
