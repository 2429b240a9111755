//! What a scene looks like: free bodies, links of mechanisms, effectors, ground.

use std::collections::{BTreeMap, BTreeSet};

use forks_io::animation::{Animation, Body, Colour, End, Segment, VisualShape};
use forks_lie::{Pose, glam::DVec3};
use forks_mechanism::{CablePoint, Geometry, LinkId, Mechanism};

use forks_sim::{
    MechanismHandle, Owner,
    scene::{Scene, SceneMechanism},
};

use crate::looks::Looks;

/// Radius of a skeleton's bars over the mechanism's extent, and over a typical bar's length.
const BAR: [f64; 2] = [0.006, 0.12];

/// Radius of a link's knob over that of the bars.
pub(crate) const KNOB: f64 = 1.6;

/// Radius of a cable over that of the bars.
const THREAD: f64 = 0.4;

/// A cable's colour in the palette.
const CABLE: usize = 3;

/// Opacity of a model's shapes that touch nothing.
pub(crate) const PALE: u8 = 60;

/// Where the pose of a body comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A body, or an effector as contact sees it.
    Owner(Owner),
    /// A link by its number among those that the mechanism's model knows.
    Link(MechanismHandle, usize),
}

/// What is drawn, and where its poses come from.
pub(super) struct Drawn {
    pub(super) animation: Animation,
    pub(super) sources: Vec<Source>,
    /// Links of mechanisms that have a look.
    looks: Vec<(MechanismHandle, LinkId)>,
}

impl Drawn {
    /// Bodies first, then mechanism after mechanism.
    pub(super) fn new(scene: &Scene) -> Self {
        let animation = Animation::new(scene.spec.title.clone());
        let mut drawn = Self { animation, sources: Vec::new(), looks: Vec::new() };
        drawn.animation.notes.extend(scene.spec.paragraphs());
        for body in &scene.spec.bodies {
            let handle = scene.body(&body.name).expect("a body of this scene");
            drawn.add(Body { name: body.name.clone(), shapes: Vec::new() }, Owner::Body(handle));
        }
        let count = scene.spec.bodies.len();
        let mut colours = Vec::new();
        for (k, m) in scene.mechanisms.iter().enumerate() {
            let colour = Colour::palette(count + k);
            let handle = drawn.add_mechanism(scene, m, colour);
            colours.push((handle, lighter(colour)));
        }
        drawn.add_contact_shapes(scene, &colours);
        drawn
    }

    fn add(&mut self, body: Body, owner: Owner) {
        self.animation.bodies.push(body);
        self.sources.push(Source::Owner(owner));
    }

    /// Links with the model's shapes or a skeleton; effectors that are no links.
    fn add_mechanism(
        &mut self,
        scene: &Scene,
        m: &SceneMechanism,
        colour: Colour,
    ) -> MechanismHandle {
        let handle = scene.mechanism(&m.name).expect("a mechanism of this scene");
        let world = &scene.world;
        let mut known: BTreeMap<LinkId, usize> = BTreeMap::new();
        for (k, name) in world.link_names(handle).expect("a mechanism of this scene").enumerate() {
            let Some(link) = m.mechanism.find_link(name).filter(|l| *l != LinkId::WORLD) else {
                continue;
            };
            known.insert(link, self.sources.len());
            let body = Body { name: format!("{}/{name}", m.name), shapes: Vec::new() };
            self.animation.bodies.push(body);
            // Where a link is an effector, contact and picture agree on its pose.
            let effector = m.effectors.iter().position(|e| e == name);
            self.sources.push(match effector {
                Some(effector) => Source::Owner(Owner::Effector { mechanism: handle, effector }),
                None => Source::Link(handle, k),
            });
        }
        let looks = self.add_looks(m, &known, colour);
        let mut dressed = self.add_own_shapes(scene, m, &known, &looks, colour);
        let poses = start_poses(scene, handle, &known, &self.sources);
        dressed.extend(looks.iter());
        let radius = self.add_skeleton(m, &known, (&looks, &dressed), &poses, colour);
        self.looks.extend(looks.into_iter().map(|l| (handle, l)));
        self.add_cables(m, &known, THREAD * radius);
        for (effector, name) in m.effectors.iter().enumerate() {
            let owner = Owner::Effector { mechanism: handle, effector };
            if self.body_of(owner).is_none() {
                let name = format!("{}/{name}", m.name);
                self.add(Body { name, shapes: Vec::new() }, owner);
            }
        }
        handle
    }

    /// What the links look like by their model; returns the links that have a look.
    fn add_looks(
        &mut self,
        m: &SceneMechanism,
        known: &BTreeMap<LinkId, usize>,
        colour: Colour,
    ) -> BTreeSet<LinkId> {
        let looks = Looks::new(&m.mechanism, colour);
        self.animation.notes.extend(looks.note);
        let mut dressed = BTreeSet::new();
        for (link, shapes) in looks.of {
            if let Some(&body) = known.get(&link) {
                dressed.insert(link);
                self.animation.bodies[body].shapes.extend(shapes);
            }
        }
        dressed
    }

    /// The model's own shapes but those that touch, which come with the world's; returns the links
    /// that have some.
    fn add_own_shapes(
        &mut self,
        scene: &Scene,
        m: &SceneMechanism,
        known: &BTreeMap<LinkId, usize>,
        looks: &BTreeSet<LinkId>,
        colour: Colour,
    ) -> BTreeSet<LinkId> {
        let spec = scene.spec.mechanisms.iter().find(|s| s.name == m.name);
        let touching = spec.is_some_and(|s| s.own_shapes);
        let frames = m.effector_frames().unwrap_or_default();
        let mut dressed = BTreeSet::new();
        for s in m.mechanism.shapes().iter().filter(|s| s.geometry != Geometry::Plane) {
            let Some(&body) = known.get(&s.link) else { continue };
            dressed.insert(s.link);
            if looks.contains(&s.link) || touching && frames.iter().any(|f| f.link == s.link) {
                continue;
            }
            let shape = VisualShape::new(s.geometry.clone()).at(s.link_from_shape);
            self.animation.bodies[body].shapes.push(shape.coloured(colour.with_alpha(PALE)));
        }
        dressed
    }

    /// From the frame of each link without a look to its joints, and a knob at the frame of those
    /// without shapes; the bars' radius.
    fn add_skeleton(
        &mut self,
        m: &SceneMechanism,
        known: &BTreeMap<LinkId, usize>,
        (looks, dressed): (&BTreeSet<LinkId>, &BTreeSet<LinkId>),
        poses: &[Pose],
        colour: Colour,
    ) -> f64 {
        let bars = joint_bars(&m.mechanism, known);
        let radius = bar_radius(poses, &bars);
        let bare = |body: &usize| !looks.iter().any(|l| known.get(l) == Some(body));
        for (body, point) in bars.into_iter().filter(|(body, _)| bare(body)) {
            let bar = Segment::new(End::origin(body), End::of(body, point));
            self.animation.segments.push(bar.thick(radius).coloured(colour));
        }
        for (_, body) in known.iter().filter(|(link, _)| !dressed.contains(link)) {
            let knob =
                VisualShape::new(Geometry::Sphere { radius: KNOB * radius }).coloured(colour);
            self.animation.bodies[*body].shapes.push(knob);
        }
        radius
    }

    /// Cables from point to point, also past what they wrap; those at links that the model leaves
    /// out end before them.
    fn add_cables(&mut self, m: &SceneMechanism, known: &BTreeMap<LinkId, usize>, radius: f64) {
        let end = |p: &CablePoint| match p.link {
            LinkId::WORLD => Some(End::world(m.placement.transform_point(p.position))),
            link => Some(End::of(*known.get(&link)?, p.position)),
        };
        for branch in m.mechanism.cables().iter().flat_map(|c| &c.branches) {
            let points: Vec<Option<End>> = branch.points().map(end).collect();
            for w in points.windows(2) {
                if let [Some(from), Some(to)] = *w {
                    let bar = Segment::new(from, to).thick(radius);
                    self.animation.segments.push(bar.coloured(Colour::palette(CABLE)));
                }
            }
        }
    }

    /// True if an effector's link has a look, and the form is one of the model's own that touch.
    fn is_covered(
        &self,
        m: &SceneMechanism,
        (handle, effector): (MechanismHandle, usize),
        form: &Geometry,
    ) -> bool {
        let frames = m.effector_frames().unwrap_or_default();
        let Some(link) = frames.get(effector).map(|f| f.link) else { return false };
        let mut own = m.mechanism.shapes().iter().filter(|s| s.link == link);
        self.looks.contains(&(handle, link)) && own.any(|s| s.geometry == *form)
    }

    /// The world's shapes, on those that carry them, but those that a look covers.
    fn add_contact_shapes(&mut self, scene: &Scene, colours: &[(MechanismHandle, Colour)]) {
        for (owner, shape) in scene.shapes() {
            let mut drawn = VisualShape::new(shape.form.clone()).at(shape.owner_from_shape);
            if let Owner::Effector { mechanism, effector } = owner {
                let k = colours.iter().position(|(m, _)| *m == mechanism);
                drawn.colour = k.map(|k| colours[k].1);
                let of = k.and_then(|k| scene.mechanisms.get(k));
                if of.is_some_and(|m| self.is_covered(m, (mechanism, effector), &shape.form)) {
                    continue;
                }
            }
            match self.body_of(owner) {
                Some(body) => self.animation.bodies[body].shapes.push(drawn),
                None => self.animation.scenery.push(drawn),
            }
        }
    }

    fn body_of(&self, owner: Owner) -> Option<usize> {
        self.sources.iter().position(|s| matches!(s, Source::Owner(o) if *o == owner))
    }
}

/// Half way to white: what touches stands out from what carries it.
fn lighter(colour: Colour) -> Colour {
    let [r, g, b] = colour.rgb.map(|c| c + (255 - c) / 2);
    Colour::rgb(r, g, b)
}

/// Poses at the start of the links with the given bodies.
fn start_poses(
    scene: &Scene,
    handle: MechanismHandle,
    known: &BTreeMap<LinkId, usize>,
    sources: &[Source],
) -> Vec<Pose> {
    let mut links = Vec::new();
    // A mechanism that is not there has no links in `known`.
    let _ = scene.world.link_poses(handle, &mut links);
    known
        .values()
        .map(|&body| match sources[body] {
            Source::Link(_, k) => links[k],
            Source::Owner(owner) => scene.owner_pose(owner),
        })
        .collect()
}

/// From the origins of bodies, by the links they stand for, to the joints that are not there.
pub(crate) fn joint_bars(m: &Mechanism, known: &BTreeMap<LinkId, usize>) -> Vec<(usize, DVec3)> {
    let ends = m.joints().iter().flat_map(|j| {
        [(j.parent, j.parent_from_joint), (j.child, j.child_from_joint)]
            .map(|(link, pose)| (link, pose.translation))
    });
    ends.filter_map(|(link, point)| Some((*known.get(&link)?, point)))
        .filter(|(_, p)| *p != DVec3::ZERO)
        .collect()
}

/// A radius that suits the mechanism's extent and its typical bar.
pub(crate) fn bar_radius(poses: &[Pose], bars: &[(usize, DVec3)]) -> f64 {
    let places = poses.iter().map(|p| p.translation);
    let low = places.clone().fold(DVec3::INFINITY, DVec3::min);
    let high = places.fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut lengths: Vec<f64> = bars.iter().map(|(_, p)| p.length()).collect();
    lengths.sort_by(f64::total_cmp);
    let typical = lengths.get(lengths.len() / 2).copied().unwrap_or(0.1);
    let extent = if poses.len() > 1 { (high - low).length() } else { typical };
    (BAR[0] * extent.max(typical)).min(BAR[1] * typical).max(f64::from(f32::MIN_POSITIVE))
}
