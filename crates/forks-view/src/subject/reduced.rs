//! A reduced model or a blend of them.

use std::sync::Arc;

use forks_blend::{
    BlendedModel, BlendedStepper, Crossfade, FloatingBlend, FloatingBlendStepper, LinkBlend, Model,
};
use forks_io::animation::{Animation, AnimationFrame, Body, End, Segment, Series, VisualShape};
use forks_mechanism::{
    Geometry,
    lie::{Pose, Twist, Wrench, glam::DVec3},
};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingStepper, LoadFrame, ModelError, PoseBuffer,
    StepStatus, Stepper, System,
    data::{LinkRest, ModelData},
};

use super::{Push, REACH, Servo, Subject};

/// Radius of a link's knob, and of a bar, over the model's size.
const KNOB: [f64; 2] = [0.02, 0.008];

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
    picture: Animation,
    steps: u64,
}

/// A model of any kind as a subject; `picture` has its links as bodies, in their order.
pub(crate) fn reduced<'m>(
    model: Model,
    picture: Animation,
    step: f64,
) -> Result<Box<dyn Subject<'m> + 'm>, ModelError> {
    let floats = |m: &BlendedModel| m.data().samples.iter().any(|s| s.model.data().base.is_some());
    Ok(match model {
        Model::Reduced(model) if model.data().base.is_some() => {
            let model = Arc::new(FloatingModel::new(Arc::new(model), BaseCoupling::default())?);
            Box::new(Reduced::new(FloatingStepper::new(model, step)?, picture))
        }
        Model::Reduced(model) => {
            Box::new(Reduced::new(Stepper::new(Arc::new(model), step)?, picture))
        }
        Model::Blended(model) if floats(&model) => {
            let model = Arc::new(FloatingBlend::new(Arc::new(model))?);
            Box::new(Reduced::new(FloatingBlendStepper::new(model, step)?, picture))
        }
        Model::Blended(model) => {
            Box::new(Reduced::new(BlendedStepper::new(Arc::new(model), step)?, picture))
        }
    })
}

/// Links as knobs with bars to their joints: what a model by itself knows of its mechanism.
pub(crate) fn skeleton(title: &str, data: &ModelData) -> Animation {
    let mut picture = Animation::new(title);
    let shown = |l: &&LinkRest| !l.auxiliary;
    let [knob, bar] = KNOB.map(|k| k * data.radius);
    // The ground is the first link and no body.
    let links: Vec<usize> = (1..data.links.len()).filter(|l| shown(&&data.links[*l])).collect();
    let body_of = |link: usize| links.iter().position(|l| *l == link);
    for l in &links {
        let shape = VisualShape::new(Geometry::Sphere { radius: knob });
        picture.bodies.push(Body::new(data.links[*l].name.clone(), [shape]));
    }
    for j in &data.joints {
        for (link, at) in [
            (j.outer, if j.reversed { j.parent_from_joint } else { j.child_from_joint }),
            (j.inner, if j.reversed { j.child_from_joint } else { j.parent_from_joint }),
        ] {
            if let Some(body) = body_of(link).filter(|_| at.translation != DVec3::ZERO) {
                let ends = [End::origin(body), End::of(body, at.translation)];
                picture.segments.push(Segment::new(ends[0], ends[1]).thick(bar));
            }
        }
    }
    picture
}

impl<S: System> Reduced<S> {
    fn new(system: S, mut picture: Animation) -> Self {
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
            picture,
            steps: 0,
        };
        out.read();
        out
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
        self.effectors.get(body).copied().flatten().is_some()
    }

    fn pose(&self, body: usize) -> Pose {
        self.poses[body]
    }

    fn frame(&mut self) -> AnimationFrame {
        let values = [
            self.system.kinetic_energy(&self.state, &self.work),
            self.system.elastic_energy(&self.state, &self.work),
        ];
        AnimationFrame::new(self.time(), self.poses.iter().copied()).values(values)
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
    /// At rest, with the effectors as near to `poses` as its coordinates allow.
    pub(crate) fn new(
        model: Arc<BlendedModel>,
        poses: &[Pose],
        picture: Animation,
        step: f64,
    ) -> Result<Self, ModelError> {
        let mut inner = Reduced::new(BlendedStepper::new(model.clone(), step)?, picture);
        let still = vec![Twist::ZERO; poses.len()];
        if let Ok((x, _, _)) = model.coordinates_of(poses, &still) {
            inner.state.set(&x, &vec![0.0; x.len()])?;
            inner.read();
        }
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
