//! Scenes of tissue that is reduced to its pads: one reduced model among rigid bodies and ground,
//! in contact by its pads.
//!
//! A pad touches as a plate as thin as a tenth of its extent, on the mean motion of its nodes;
//! tissue touches nowhere else. Dampers of tissue are a·M with their rate for a.

use std::{path::Path, sync::Arc};

use forks_condense::SkinKind;
use forks_dynamics::mechanism::Geometry;
use forks_io::animation::{Body, VisualShape};
use forks_mechanism::lie::{Pose, Twist, glam::DVec3};
use forks_reduce::{Damping, ReduceOptions};
use forks_rom::ReducedModel;
use forks_sim::{
    BodyHandle, CollisionShape, ContactPoint, Material, MechanismHandle, Owner, RigidBody,
    SimError, World, WorldSettings, WorldStatus, scene::Schedule,
};
use forks_skin::SkinnedModel;
use forks_tissue::spec::{ShapeSpec, TissueSpec};

use crate::{Film, Moment, SoftModelError, SoftProblem, SoftProblemOptions};

/// Coefficient of friction where none is given.
const FRICTION: f64 = 0.8;
/// Thickness of a pad over its extent.
const THICKNESS: f64 = 0.1;

/// A scene in motion.
#[derive(Clone, Debug)]
pub struct SoftScene {
    /// As it is written.
    pub spec: TissueSpec,
    /// What may not have been meant.
    pub notes: Vec<String>,
    world: World,
    mechanism: MechanismHandle,
    model: SkinnedModel,
    pads: Vec<String>,
    schedules: Vec<Schedule>,
    bodies: Vec<(String, BodyHandle)>,
    totals: SoftTotals,
}

/// What became of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftTotals {
    /// Steps made.
    pub steps: u64,
    /// Steps in which a pad was outside the model's range.
    pub out_of_range: u64,
    /// Steps whose contacts were solved less exactly than asked.
    pub inexact: u64,
    /// Most points that pushed at once.
    pub touching: usize,
    /// Deepest overlap, m.
    pub overlap: f64,
}

impl SoftScene {
    /// Of a file with pads; the files that it names are looked for from its folder. The tissue is
    /// linearised at its rest under weights.
    ///
    /// # Errors
    /// What is wrong with the file, tissue that cannot be reduced, a file without pads.
    pub fn load(path: &Path) -> Result<Self, SoftModelError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::build(TissueSpec::read(path)?, folder)
    }

    /// Of what a file says; the files that it names are looked for from `folder`.
    ///
    /// # Errors
    /// As [`SoftScene::load`].
    pub fn build(spec: TissueSpec, folder: &Path) -> Result<Self, SoftModelError> {
        let effectors: Vec<String> = spec.pads.iter().map(|p| p.name.clone()).collect();
        if effectors.is_empty() {
            return Err(SoftModelError::NoPads);
        }
        let options = SoftProblemOptions {
            effectors: effectors.clone(),
            equilibrium: true,
            ..SoftProblemOptions::default()
        };
        let soft = SoftProblem::build(spec.clone(), folder, &options)?;
        let (drives, schedules) = soft.actions().into_iter().unzip();
        let rate = spec.tissues.first().map_or(0.0, |t| t.damping.external);
        let damping = Damping { rayleigh_mass: rate, ..Damping::default() };
        let reduction =
            soft.reduce(&ReduceOptions { drives, damping, ..ReduceOptions::default() })?;
        let model = soft.skinned(&reduction, SkinKind::Twist)?;
        let mut world = World::new(WorldSettings {
            step: spec.world.step(),
            gravity: spec.world.gravity.into(),
            ..WorldSettings::default()
        })?;
        let reduced = Arc::new(model.model.clone());
        let mechanism = world.add_mechanism(&spec.title, reduced, Pose::IDENTITY)?;
        for (effector, plate) in plates(&soft, &spec, &model.model, &effectors)? {
            world.add_shape(Owner::Effector { mechanism, effector }, &plate)?;
        }
        let mut bodies = Vec::new();
        for b in &spec.bodies {
            let inertia = b
                .form
                .solid_inertia(b.mass)
                .ok_or_else(|| SoftModelError::NoInertia { body: b.name.clone() })?;
            let at = b.place.pose(&format!("body '{}'", b.name))?;
            let body = world.add_body(&RigidBody::at_rest(&b.name, inertia, at))?;
            let shape = CollisionShape::new(&b.name, b.form.clone());
            let material = Material::with_friction(b.friction.unwrap_or(FRICTION));
            world.add_shape(Owner::Body(body), &shape.of(material))?;
            bodies.push((b.name.clone(), body));
        }
        for s in &spec.ground {
            let shape = CollisionShape::new("ground", s.form.clone()).at(ground_pose(s)?);
            let material = Material::with_friction(s.friction.unwrap_or(FRICTION));
            world.add_shape(Owner::World, &shape.of(material))?;
        }
        // Bodies, ground and actions are here.
        let here = |n: &String| !n.starts_with("left out of the reduced model");
        let mut notes: Vec<String> = soft.notes.iter().filter(|n| here(n)).cloned().collect();
        if !spec.drags.is_empty() {
            notes.push("points that are dragged are left out of scenes with pads".into());
        }
        let (pads, totals) = (effectors, SoftTotals::default());
        Ok(Self { spec, notes, world, mechanism, model, pads, schedules, bodies, totals })
    }

    /// Makes a step; false if numbers overflowed, the scene is then as before.
    ///
    /// # Errors
    /// Values of actions that are not finite.
    pub fn step(&mut self) -> Result<bool, SoftModelError> {
        let t = self.world.time() + self.spec.world.step();
        let targets: Vec<f64> = self.schedules.iter().map(|s| s.value(t)).collect();
        self.world.set_servo_targets(self.mechanism, &targets)?;
        let report = self.world.step();
        if matches!(report.status, WorldStatus::NotFinite { .. }) {
            return Ok(false);
        }
        let out = &mut self.totals;
        out.steps += 1;
        out.out_of_range += u64::from(matches!(report.status, WorldStatus::OutOfRange { .. }));
        out.inexact += report.inexact as u64;
        out.touching = out.touching.max(report.touching);
        let gaps = self.world.contacts().iter().filter(|c| c.is_touching()).map(|c| -c.gap);
        out.overlap = gaps.fold(out.overlap, f64::max);
        Ok(true)
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.world.time()
    }

    /// Steps of the whole scene.
    pub fn step_count(&self) -> u64 {
        (self.spec.world.duration / self.spec.world.step() - 1e-9).ceil().max(1.0) as u64
    }

    /// What became of the run so far.
    pub fn totals(&self) -> SoftTotals {
        self.totals
    }

    /// The reduced model with its skins; its effectors are the pads.
    pub fn model(&self) -> &SkinnedModel {
        &self.model
    }

    /// Poses of the pads, by name.
    ///
    /// # Errors
    /// None for pads of the scene.
    pub fn pad_poses(&self) -> Result<Vec<(&str, Pose)>, SoftModelError> {
        let pose = |(k, name)| -> Result<(&str, Pose), SoftModelError> {
            Ok((String::as_str(name), self.world.effector_pose(self.mechanism, k)?))
        };
        self.pads.iter().enumerate().map(pose).collect()
    }

    /// Poses and twists (body frame) of free bodies, by name.
    ///
    /// # Errors
    /// None for bodies of the scene.
    pub fn bodies(&self) -> Result<Vec<(&str, Pose, Twist)>, SoftModelError> {
        let mut out = Vec::with_capacity(self.bodies.len());
        for (name, b) in &self.bodies {
            out.push((name.as_str(), self.world.body_pose(*b)?, self.world.body_twist(*b)?));
        }
        Ok(out)
    }

    /// Force of contact on a free body in the last step, world axes, N; zero for one that is not
    /// there.
    pub fn force_on(&self, body: &str) -> DVec3 {
        let found = self.bodies.iter().find(|(n, _)| n == body);
        found.map_or(DVec3::ZERO, |(_, b)| self.world.contact_force(Owner::Body(*b)))
    }

    /// An empty recording of the scene.
    ///
    /// # Errors
    /// Places that are none.
    pub fn film(&self) -> Result<Film, SoftModelError> {
        let mut scenery = Vec::new();
        for s in &self.spec.ground {
            scenery.push(VisualShape::new(s.form.clone()).at(ground_pose(s)?));
        }
        let body = |b: &forks_tissue::spec::RigidSpec| Body::new(&b.name, [b.form.clone()]);
        let film = Film::new(&self.spec.title, self.model.model.data(), &self.shown())
            .with_scenery(scenery)
            .with_bodies(self.spec.bodies.iter().map(body));
        film.with_skins(&self.model.model, self.model.skins.clone())
    }

    /// Adds what there is now to a recording.
    ///
    /// # Errors
    /// A recording of another scene.
    pub fn record(&self, film: &mut Film) -> Result<(), SoftModelError> {
        let coordinates = self.world.coordinates(self.mechanism)?;
        let targets: Vec<f64> = self.schedules.iter().map(|s| s.value(self.world.time())).collect();
        let pose = |l: usize| self.model.model.link_pose(l, coordinates, &targets);
        let mut poses: Vec<Pose> = self.shown().into_iter().map(pose).collect();
        poses.extend(self.bodies()?.into_iter().map(|(_, p, _)| p));
        let h = self.spec.world.step();
        let touching = self.world.contacts().iter().filter(|c| c.is_touching());
        // On free bodies, or else on pads; impulses are those on the second.
        let rank = |o: &Owner| match o {
            Owner::World => 0,
            Owner::Effector { .. } => 1,
            Owner::Body(_) => 2,
        };
        let force = |c: &ContactPoint| {
            let turned = rank(&c.owners[0]) > rank(&c.owners[1]);
            (c.position, c.impulse * if turned { -1.0 } else { 1.0 } / h)
        };
        let forces: Vec<(DVec3, DVec3)> = touching.map(force).collect();
        let e = self.world.energy();
        film.push(&Moment {
            time: self.world.time(),
            poses: &poses,
            coordinates,
            targets: &targets,
            energies: [e.kinetic, e.gravitational, e.elastic],
            forces: &forces,
        })
    }

    /// Links that are drawn.
    fn shown(&self) -> Vec<usize> {
        let links = &self.model.model.data().links;
        (1..links.len()).filter(|l| !links[*l].auxiliary).collect()
    }
}

fn ground_pose(s: &ShapeSpec) -> Result<Pose, SoftModelError> {
    Ok(s.place.pose("ground")?)
}

/// The plate of every pad in its effector's frame: the hull of its nodes and of the same nodes
/// deeper in the tissue.
fn plates(
    soft: &SoftProblem,
    spec: &TissueSpec,
    model: &ReducedModel,
    effectors: &[String],
) -> Result<Vec<(usize, CollisionShape)>, SoftModelError> {
    let whole = soft.whole().state();
    let mut out = Vec::new();
    for p in soft.pads() {
        let at = effectors.iter().position(|e| *e == p.name);
        let effector = at.ok_or(SoftModelError::NoPads)?;
        let first: usize = soft.bodies().take(p.tissue).map(|b| b.mesh().nodes().len()).sum();
        let body = soft.bodies().nth(p.tissue).ok_or(SoftModelError::NoPads)?;
        let x = |n: usize| whole.x[first + n];
        // Outward, by the faces whose corners are all of the pad.
        let faces = body.mesh().boundary();
        let own = faces.iter().filter(|f| f.iter().all(|n| p.nodes.contains(n)));
        let area: DVec3 = own.map(|f| 0.5 * (x(f[1]) - x(f[0])).cross(x(f[2]) - x(f[0]))).sum();
        let normal = area.normalize_or_zero();
        if normal == DVec3::ZERO {
            return Err(SoftModelError::NoSurface { pad: p.name.clone() });
        }
        let rest = model.data().effectors[effector].rest;
        let back = rest.inverse();
        let extent = p.nodes.iter().map(|n| x(*n).distance(rest.translation)).fold(0.0, f64::max);
        let depth = normal * (THICKNESS * extent);
        let points: Vec<DVec3> = p
            .nodes
            .iter()
            .flat_map(|n| [x(*n), x(*n) - depth])
            .map(|x| back.transform_point(x))
            .collect();
        let friction = spec.tissues[p.tissue].friction.unwrap_or(FRICTION);
        let shape = CollisionShape::new(&p.name, Geometry::Hull { points });
        out.push((effector, shape.of(Material::with_friction(friction))));
    }
    Ok(out)
}

impl From<SimError> for SoftModelError {
    fn from(e: SimError) -> Self {
        Self::World(Box::new(e))
    }
}
