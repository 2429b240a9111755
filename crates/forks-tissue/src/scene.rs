//! A scene: one tree of skeletons and bodies, one body of tissue, what drives and what touches.

use std::path::Path;

use forks_deform::{
    BodyPart, Commands, Coordinates, Material, Momentum, SoftBody, SoftEnergy, SoftOptions,
    SoftSimulation, SoftState, StaticsOptions, StaticsStatus, StepReport, StepStatus, Stepper,
    dynamics::mechanism::{
        LinkId, Mechanism,
        lie::{Pose, glam::DVec3},
    },
};
use forks_import::{ImportOptions, load_model};
use forks_sim::scene::Schedule;

use crate::{
    contact::{Contacts, Touching},
    drive::{Drag, Drive},
    error::{TissueError, invalid},
    merge::{Members, Springs, Tree},
    pad::{self, Pad},
    spec::{SkeletonSpec, StepperSpec, TissueSpec},
    tissue,
};

/// Coefficient of friction where none is given.
const FRICTION: f64 = 0.8;

/// A scene in motion.
#[derive(Clone, Debug)]
pub struct TissueScene {
    /// As it is written.
    pub spec: TissueSpec,
    /// What is made of it.
    pub simulation: SoftSimulation,
    /// What may not have been meant.
    pub notes: Vec<String>,
    /// Nodes that may be end effectors of a reduced model.
    pub pads: Vec<Pad>,
    /// Nodes of each tissue, one after the other.
    pub(crate) parts: Vec<(String, usize)>,
    drive: Drive,
    drags: Vec<Drag>,
    pub(crate) contacts: Contacts,
    totals: Totals,
    steps: u64,
}

/// What became of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Steps made.
    pub steps: u64,
    /// Parts of steps, where some were divided.
    pub parts: u64,
    /// Steps that backward Euler ended above its tolerance.
    pub unfinished: u64,
    /// Newton steps.
    pub newton: u64,
    /// Halvings in line searches.
    pub cuts: u64,
    /// Quadrature points whose F was decomposed, of all in all steps.
    pub decomposed: u64,
    /// Quadrature points in all steps.
    pub points: u64,
    /// Most vertices that pushed at once.
    pub touching: usize,
    /// Deepest overlap, m.
    pub overlap: f64,
    /// Largest contact force, N.
    pub force: f64,
    /// Parts of steps whose contacts were solved less exactly than asked.
    pub inexact: u64,
}

/// A skeleton with where it is.
struct Skeleton {
    name: String,
    mechanism: Mechanism,
    placement: Pose,
    members: Members,
}

impl TissueScene {
    /// Loads and builds a scene file; the files that it names are looked for from its folder.
    ///
    /// # Errors
    /// What is wrong with the scene.
    pub fn load(path: &Path) -> Result<Self, TissueError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::build(TissueSpec::read(path)?, folder)
    }

    /// Builds a scene; the files that it names are looked for from `folder`.
    ///
    /// # Errors
    /// What is wrong with the scene.
    pub fn build(spec: TissueSpec, folder: &Path) -> Result<Self, TissueError> {
        let numbers = [spec.world.duration, spec.world.step(), spec.world.frames];
        if let Some(x) = numbers.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
            return Err(invalid("world", format!("has a duration, step or frame rate of {x}")));
        }
        let first = spec.tissues.first().ok_or_else(|| invalid("the scene", "has no tissue"))?;
        let law = first.material.law("tissue 1")?;
        let mut tree = Tree::new(&spec.title, spec.world.gravity);
        let mut notes = Vec::new();
        let mut skeletons: Vec<Skeleton> = Vec::new();
        for s in &spec.mechanisms {
            if skeletons.iter().any(|k| k.name == s.name) {
                return Err(invalid(format!("mechanism {:?}", s.name), "is there twice"));
            }
            skeletons.push(skeleton(s, &mut tree, folder, law, &mut notes)?);
        }
        for b in &spec.bodies {
            let element = format!("body {:?}", b.name);
            let pose = place(&b.place, &element)?;
            if !(b.mass > 0.0 && b.mass.is_finite()) {
                return Err(invalid(element, format!("has a mass of {} kg", b.mass)));
            }
            let friction = b.friction.unwrap_or(FRICTION);
            let added = tree.add_free(&b.name, b.mass, &b.form, &pose, friction);
            added.ok_or_else(|| invalid(element, "has a form without inertia"))?;
        }
        for (k, s) in spec.ground.iter().enumerate() {
            let pose = place(&s.place, &format!("ground {}", k + 1))?;
            tree.add_shape(LinkId::WORLD, &s.form, &pose, s.friction.unwrap_or(FRICTION));
        }
        let whole = tree.build().map_err(|e| TissueError::Model {
            element: "the scene".into(),
            problem: e.to_string(),
        })?;
        let Bodies { body, parts, damping, frictions, pads } =
            bodies(&spec, &skeletons, folder, &mut notes)?;
        let stepper = match spec.world.stepper {
            StepperSpec::Implicit => Stepper::LinearlyImplicit,
            StepperSpec::BackwardEuler => Stepper::BackwardEuler { tolerance: 1e-8 },
            StepperSpec::MixedEuler => Stepper::MixedEuler(Coordinates::Absolute),
            StepperSpec::MixedEulerRelative => Stepper::MixedEuler(Coordinates::Relative),
        };
        let momentum = if spec.world.keep_momentum { Momentum::Projected } else { Momentum::Free };
        let options = SoftOptions { stepper, momentum, gravity: true, damping };
        let of_body = |source| TissueError::Body { element: "the scene".into(), source };
        let mut simulation = SoftSimulation::new(&whole, body, options).map_err(of_body)?;
        pose(&spec, &skeletons, &mut simulation)?;
        if spec.world.at_rest {
            let options = StaticsOptions::default();
            let report = simulation.rest(&Commands::default(), &options).map_err(of_body)?;
            if report.status != StaticsStatus::Converged {
                let left = report.residual;
                notes.push(format!("no rest was found: {left} N are left after the search"));
            }
        }
        let of_skeletons: Vec<_> =
            skeletons.iter().map(|s| (&s.name[..], &s.mechanism, &s.members)).collect();
        let drive = Drive::new(&spec.actions, &of_skeletons, simulation.mechanism())?;
        let contacts = Contacts::new(&simulation, spec.world.contact, &parts, &frictions)?;
        if !contacts.is_empty() && spec.world.stepper == StepperSpec::BackwardEuler {
            return Err(invalid("world", "has contact, which backward Euler does not know"));
        }
        let mut drags = Vec::new();
        for (k, d) in spec.drags.iter().enumerate() {
            let element = format!("drag {}", k + 1);
            drags.push(Drag::new(d, &contacts.skin, &simulation, &element)?);
        }
        let totals = Totals::default();
        Ok(Self { spec, simulation, notes, pads, parts, drive, drags, contacts, totals, steps: 0 })
    }

    /// Makes a step.
    ///
    /// # Errors
    /// A step that fails; the state stays.
    pub fn step(&mut self) -> Result<StepReport, TissueError> {
        self.step_under(&[])
    }

    /// The same under forces (world, N) on vertices of the surface beside those of the file.
    ///
    /// # Errors
    /// A step that fails, a force that is not finite, a vertex that is not there; the state stays.
    pub fn step_under(&mut self, pulls: &[(usize, DVec3)]) -> Result<StepReport, TissueError> {
        let count = self.vertex_count();
        if let Some((vertex, force)) = pulls.iter().find(|(v, f)| *v >= count || !f.is_finite()) {
            let problem = format!("is {force} N on vertex {vertex} of {count}");
            return Err(invalid("a pull", problem));
        }
        let h = self.spec.world.step();
        let t = self.time();
        let mut forces = vec![0.0; self.simulation.state().v.len()];
        self.drive.forces(t + h, &mut forces);
        let nodes = self.simulation.state().x.len();
        let mut node_forces = Vec::new();
        if !self.drags.is_empty() || !pulls.is_empty() {
            node_forces.resize(nodes, Default::default());
            for d in &mut self.drags {
                d.pull(t + h, &self.contacts.skin, self.simulation.state(), &mut node_forces);
            }
        }
        for (vertex, force) in pulls {
            for &(n, w) in &self.contacts.skin.vertices[*vertex] {
                node_forces[n] += *force * w;
            }
        }
        let commands = Commands { forces: &forces, accelerations: &[], node_forces: &node_forces };
        self.contacts.begin();
        let report = if self.contacts.is_empty() {
            self.simulation.step(h, &commands)
        } else {
            self.simulation.step_among(h, &commands, Some(&mut self.contacts))
        };
        let element = || format!("the step at {t} s");
        let report = report.map_err(|source| TissueError::Body { element: element(), source })?;
        self.steps += 1;
        self.count(&report);
        Ok(report)
    }

    fn count(&mut self, report: &StepReport) {
        let elastic = self.simulation.body().elastic().elements();
        let t = &mut self.totals;
        t.steps += 1;
        t.parts += report.steps as u64;
        t.unfinished += u64::from(report.status == StepStatus::IterationLimit);
        t.newton += report.newton as u64;
        t.cuts += report.line_search_cuts as u64;
        t.decomposed += report.decomposed as u64;
        t.points += elastic.count() as u64;
        let (touching, inexact) = (self.contacts.touching(), self.contacts.inexact);
        t.inexact += inexact;
        t.touching = t.touching.max(touching.len());
        for c in touching {
            t.overlap = t.overlap.max(-c.gap);
            t.force = t.force.max(c.force.length());
        }
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.spec.world.step()
    }

    /// Steps of the whole scene.
    pub fn step_count(&self) -> u64 {
        (self.spec.world.duration / self.spec.world.step() - 1e-9).ceil().max(1.0) as u64
    }

    /// What became of the run so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Energy now.
    pub fn energy(&mut self) -> SoftEnergy {
        self.simulation.energy()
    }

    /// Vertices that pushed in the last step.
    pub fn touching(&self) -> &[Touching] {
        self.contacts.touching()
    }

    /// Vertices of the surface, all tissues' one after the other.
    pub fn vertex_count(&self) -> usize {
        self.contacts.skin.vertices.len()
    }

    /// Where a vertex is, world, m.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn vertex(&self, vertex: usize) -> DVec3 {
        self.contacts.skin.of(vertex, &self.simulation.state().x)
    }

    /// The vertex of a tissue (numbered from zero) that is nearest to a point of the world.
    pub fn nearest_vertex(&self, tissue: usize, point: DVec3) -> Option<usize> {
        let skin = &self.contacts.skin;
        let own = (0..self.vertex_count()).filter(|v| skin.part[*v] == tissue);
        let far = |v: &usize| self.vertex(*v).distance_squared(point);
        own.min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// What the actions draw springs of joints to: the velocity coordinate, the force on it per
    /// unit (N or N·m), the value over time.
    pub fn pulls(&self) -> &[(usize, f64, Schedule)] {
        &self.drive.pulls
    }

    /// Names and numbers of nodes of all tissues, one after the other in the simulation's body.
    pub fn tissues(&self) -> &[(String, usize)] {
        &self.parts
    }

    /// The surface that is drawn and touches.
    pub(crate) fn skin(&self) -> &crate::skin::Skin {
        &self.contacts.skin
    }
}

pub(crate) fn place(
    spec: &forks_sim::scene::spec::PlaceSpec,
    element: &str,
) -> Result<Pose, TissueError> {
    let pose = spec.pose(element);
    pose.map_err(|e| TissueError::Model { element: "a place".into(), problem: e.to_string() })
}

fn skeleton(
    s: &SkeletonSpec,
    tree: &mut Tree,
    folder: &Path,
    law: Material,
    notes: &mut Vec<String>,
) -> Result<Skeleton, TissueError> {
    let element = format!("mechanism {:?}", s.name);
    let mechanism = match (&s.file, s.parametric) {
        (Some(file), None) => {
            let read = load_model(&folder.join(file), &ImportOptions::default());
            let read = read.map_err(|e| TissueError::Model {
                element: element.clone(),
                problem: e.to_string(),
            })?;
            notes.extend(read.notes.iter().map(|n| format!("{element}: {n}")));
            read.mechanism
        }
        (None, Some(which)) => tissue::creature(which, s.base, law, &element)?.mechanism,
        _ => return Err(invalid(element, "needs either `file` or `parametric`")),
    };
    for (what, value) in [("stiffness", s.joint_stiffness), ("damping", s.joint_damping)] {
        if let Some(x) = value.filter(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(invalid(element, format!("has a joint {what} of {x}")));
        }
    }
    let placement = place(&s.place, &element)?;
    let springs = Springs { stiffness: s.joint_stiffness, damping: s.joint_damping };
    let members = tree.add(&s.name, &mechanism, placement, springs);
    Ok(Skeleton { name: s.name.clone(), mechanism, placement, members })
}

/// All tissue as one body.
struct Bodies {
    body: SoftBody,
    /// Name and number of nodes of each.
    parts: Vec<(String, usize)>,
    /// Rate of dampers, 1/s.
    damping: f64,
    /// Coefficient of friction of each.
    frictions: Vec<f64>,
    pads: Vec<Pad>,
}

fn bodies(
    spec: &TissueSpec,
    skeletons: &[Skeleton],
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Bodies, TissueError> {
    let ground = tissue::nothing()?;
    let (mut parts, mut names, mut frictions) = (Vec::new(), Vec::new(), Vec::new());
    let mut pads = Vec::new();
    let mut damping = None;
    for (k, t) in spec.tissues.iter().enumerate() {
        let element = format!("tissue {}", k + 1);
        let on = match (&t.mechanism, skeletons) {
            (Some(name), _) => {
                Some(skeletons.iter().find(|s| s.name == *name).ok_or_else(|| {
                    invalid(&element, format!("names the mechanism {name:?}, which is not there"))
                })?)
            }
            (None, []) => None,
            (None, [only]) => Some(only),
            (None, _) => {
                return Err(invalid(element, "needs the name of a mechanism: there are several"));
            }
        };
        let bones = on.map_or(&ground, |s| &s.mechanism);
        let (body, groups) = tissue::body(t, bones, folder, &element)?;
        pads.extend(pad::pads(spec, k, &body, &groups)?);
        notes.extend(body.mesh().notes().iter().map(|n| format!("{element}: {n}")));
        notes.extend(body.notes().iter().map(|n| format!("{element}: {n}")));
        if *damping.get_or_insert(t.damping.external) != t.damping.external {
            return Err(invalid(element, "has other dampers than the first"));
        }
        let friction = t.friction.unwrap_or(FRICTION);
        if !(friction >= 0.0 && friction.is_finite()) {
            return Err(invalid(element, format!("has a friction of {friction}")));
        }
        names.push((on.map_or(element.clone(), |s| s.name.clone()), body.masses().len()));
        frictions.push(friction);
        let (placement, links) = match on {
            Some(s) => (s.placement, s.members.links.clone()),
            None => (place(&t.place, &element)?, vec![LinkId::WORLD]),
        };
        parts.push(BodyPart { body, placement, links });
    }
    let body = SoftBody::joined(&parts)
        .map_err(|source| TissueError::Body { element: "tissue".into(), source })?;
    Ok(Bodies { body, parts: names, damping: damping.unwrap_or(0.0), frictions, pads })
}

/// Joints where the scene wants them, with the free nodes carried by the bones next to them.
fn pose(
    spec: &TissueSpec,
    skeletons: &[Skeleton],
    simulation: &mut SoftSimulation,
) -> Result<(), TissueError> {
    let mut state: SoftState = simulation.state().clone();
    let before = simulation.mechanism().link_poses(&state.q);
    for (s, of) in spec.mechanisms.iter().zip(skeletons) {
        for (name, value) in &s.pose {
            let element = format!("mechanism {:?}", s.name);
            let known = of.mechanism.joints().iter().position(|j| j.name == *name);
            let id = known.map(|j| of.members.joints[j]).ok_or_else(|| {
                invalid(&element, format!("has a pose of the joint {name:?}, which is not there"))
            })?;
            let range = simulation.mechanism().position_range(id);
            if range.len() != 1 || !value.is_finite() {
                return Err(invalid(element, format!("has a pose of {value} for {name:?}")));
            }
            state.q[range.start] = *value;
        }
    }
    let after = simulation.mechanism().link_poses(&state.q);
    for (n, x) in state.x.iter_mut().enumerate() {
        let bone = simulation.body().reference(n).index();
        *x = (after[bone] * before[bone].inverse()).transform_point(*x);
    }
    let set = simulation.set_state(state);
    set.map_err(|source| TissueError::Body { element: "the start".into(), source })
}
