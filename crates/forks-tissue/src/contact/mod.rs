//! Contact of tissue and of rigid bodies with shapes: where, and by which impulses.
//!
//! Vertices of the skin touch the shapes of links and of the ground; corners of rigid bodies touch
//! the ground's. The relative velocities that the step lets contact change are the coordinates of
//! one body of forks-contact, whose inverse system matrix is what impulses along them come to with
//! bones and tissue in motion.

mod corners;
mod exact;
mod shape;

use forks_deform::{
    FreeStep, Obstacles, Place, SoftSimulation,
    dynamics::mechanism::{
        Geometry, LinkId,
        lie::{Pose, glam::DVec3},
    },
};

use crate::{
    error::{TissueError, invalid},
    skin::Skin,
    spec::ContactSpec,
};
use corners::corners;
use exact::Exact;
use shape::distance;

/// What tissue that is nearer than so many steps of its own motion may touch within one.
const REACH: f64 = 1.5;

/// A vertex that pushes, or a corner of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Where, world, m.
    pub position: DVec3,
    /// Force on what moves, N.
    pub force: DVec3,
    /// Distance before the step, m; negative where it overlaps.
    pub gap: f64,
}

/// A shape that touches.
#[derive(Clone, Debug)]
struct Obstacle {
    link: LinkId,
    link_from_shape: Pose,
    form: Geometry,
    friction: f64,
}

/// Numbers of a vertex, or behind them of a corner, and of the obstacle.
type Id = (usize, usize);

/// Where something may touch.
#[derive(Debug)]
struct Near {
    id: Id,
    place: Place,
    position: DVec3,
    normal: DVec3,
    gap: f64,
    friction: f64,
}

/// Contact of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Contacts {
    pub(crate) skin: Skin,
    kind: ContactSpec,
    obstacles: Vec<Obstacle>,
    /// Points of rigid bodies that touch the ground: link, place in it, radius around, friction.
    corners: Vec<(LinkId, DVec3, f64, f64)>,
    /// Of every tissue.
    friction: Vec<f64>,
    touching: Vec<Touching>,
    exact: Exact,
    /// Solutions in the last step that were less exact than asked.
    pub(crate) inexact: u64,
    /// Nodes in the link of every obstacle do not touch it.
    own: Vec<Vec<bool>>,
}

impl Contacts {
    pub(crate) fn new(
        simulation: &SoftSimulation,
        kind: ContactSpec,
        parts: &[(String, usize)],
        friction: &[f64],
    ) -> Result<Self, TissueError> {
        let numbers = match kind {
            ContactSpec::Exact { relaxation } => [relaxation, 0.0],
            ContactSpec::Penalty { stiffness, damping } => [stiffness, damping],
        };
        if let Some(x) = numbers.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
            return Err(invalid("contact", format!("has a stiffness, damping or time of {x}")));
        }
        let (m, body) = (simulation.mechanism(), simulation.body());
        let skin = Skin::new(body, parts);
        let mut obstacles = Vec::new();
        let mut points = Vec::new();
        for s in m.shapes() {
            if distance(&s.geometry, DVec3::ZERO).is_none() {
                let problem = "touches by spheres, capsules, boxes, cylinders and planes alone";
                return Err(invalid(format!("shape {:?}", s.name), problem));
            }
            if s.link != LinkId::WORLD {
                for (x, radius) in corners(&s.geometry) {
                    points.push((s.link, s.link_from_shape.transform_point(x), radius, s.friction));
                }
            }
            // Bones are inside of their own tissue.
            if !(0..body.masses().len()).any(|n| body.holder(n) == Some(s.link))
                || s.link == LinkId::WORLD
            {
                obstacles.push(Obstacle {
                    link: s.link,
                    link_from_shape: s.link_from_shape,
                    form: s.geometry.clone(),
                    friction: s.friction,
                });
            }
        }
        let held = |link: LinkId| {
            let of = |v: &Vec<(usize, f64)>| v.iter().all(|(n, _)| body.holder(*n) == Some(link));
            skin.vertices.iter().map(of).collect()
        };
        let own = obstacles.iter().map(|o| held(o.link)).collect();
        Ok(Self {
            own,
            skin,
            kind,
            obstacles,
            corners: points,
            friction: friction.to_vec(),
            touching: Vec::new(),
            exact: Exact::new(),
            inexact: 0,
        })
    }

    /// True where nothing can touch.
    pub(crate) fn is_empty(&self) -> bool {
        self.obstacles.is_empty()
    }

    /// Before a step.
    pub(crate) fn begin(&mut self) {
        self.touching.clear();
        self.inexact = 0;
    }

    pub(crate) fn touching(&self) -> &[Touching] {
        &self.touching
    }

    /// All that is near enough to touch within a step.
    fn near(&self, step: &FreeStep<'_>, poses: &[Pose]) -> Vec<Near> {
        let mut out = Vec::new();
        let mut ask = |at: DVec3, id: Id, friction: f64, mut place: Place| {
            let o = &self.obstacles[id.1];
            let world_from_shape = poses[o.link.index()] * o.link_from_shape;
            let local = world_from_shape.inverse().transform_point(at);
            let Some((gap, n)) = distance(&o.form, local) else { return };
            let normal = world_from_shape.rotation * n;
            let position = at - normal * gap;
            if o.link != LinkId::WORLD {
                place.links.push((o.link, position, -1.0));
            }
            if gap < REACH * step.h * step.velocity(&place).length() + 1e-9 {
                // Of the surfaces' coefficients the mean counts, as the geometric one.
                let friction = (friction * o.friction).sqrt();
                out.push(Near { id, place, position, normal, gap, friction });
            }
        };
        let vertices = self.skin.vertices.len();
        for v in 0..vertices {
            let at = self.skin.of(v, &step.state().x);
            for o in (0..self.obstacles.len()).filter(|&o| !self.own[o][v]) {
                let place = Place { nodes: self.skin.vertices[v].clone(), links: vec![] };
                ask(at, (v, o), self.friction[self.skin.part[v]], place);
            }
        }
        for (c, &(link, local, radius, friction)) in self.corners.iter().enumerate() {
            let at = poses[link.index()].transform_point(local);
            for (i, o) in self.obstacles.iter().enumerate().filter(|o| o.1.link == LinkId::WORLD) {
                let world_from_shape = o.link_from_shape;
                let inside = world_from_shape.inverse().transform_point(at);
                let Some((_, n)) = distance(&o.form, inside) else { continue };
                // The point of the body's surface that touches.
                let on = at - world_from_shape.rotation * n * radius;
                let place = Place { nodes: vec![], links: vec![(link, on, 1.0)] };
                ask(on, (vertices + c, i), friction, place);
            }
        }
        out
    }

    /// Springs and dampers where vertices overlap; friction up to the cone, never more than stops
    /// them.
    fn penalty(
        &mut self,
        step: &FreeStep<'_>,
        near: Vec<Near>,
        (stiffness, damping): (f64, f64),
    ) -> Vec<(Place, DVec3)> {
        let mut out = Vec::new();
        for c in near.into_iter().filter(|c| c.gap < 0.0) {
            let v = step.velocity_before(&c.place);
            let along = v.dot(c.normal);
            let push = (-stiffness * c.gap - damping * along).max(0.0);
            let slip = v - c.normal * along;
            // As hard a damper as the normal one, at most the cone.
            let drag = (damping * slip.length()).min(c.friction * push);
            let force = c.normal * push - slip.normalize_or_zero() * drag;
            if push > 0.0 {
                self.touching.push(Touching { position: c.position, force, gap: c.gap });
                out.push((c.place, force * step.h));
            }
        }
        out
    }
}

impl Obstacles for Contacts {
    fn impulses(&mut self, step: &FreeStep<'_>) -> Vec<(Place, DVec3)> {
        let poses = step.link_poses().to_vec();
        let near = self.near(step, &poses);
        self.touching.clear();
        if near.is_empty() {
            self.exact.rest();
            return vec![];
        }
        match self.kind {
            ContactSpec::Penalty { stiffness, damping } => {
                self.penalty(step, near, (stiffness, damping))
            }
            ContactSpec::Exact { relaxation } => {
                let Some(impulses) = self.exact.impulses(step, near, relaxation) else {
                    // Numbers that are not finite: the step says so.
                    self.inexact += 1;
                    return vec![];
                };
                self.inexact += self.exact.inexact;
                for (Near { position, gap, .. }, impulse) in &impulses {
                    let (position, force) = (*position, *impulse / step.h);
                    self.touching.push(Touching { position, force, gap: *gap });
                }
                impulses.into_iter().map(|(c, impulse)| (c.place, impulse)).collect()
            }
        }
    }
}
