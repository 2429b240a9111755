//! Numbers that are possible and hardly meant: units that slipped by thousands, joints that start
//! outside their range.

use std::collections::HashMap;

use forks_mechanism::{
    Geometry, Joint, JointId, LinkId, Mechanism,
    lie::{Digits, Pose},
};

use crate::{
    Effect, Import, Location, Note,
    xml::{Element, Tree},
};

/// Largest radius of gyration over the reach of a link that is not worth a note.
const LARGEST_GYRATION: f64 = 3.0;
/// Reach of a link, as a part of the size of the whole model, below which the distance to its
/// neighbours is taken: joint axes that meet in one point say nothing about how large the link
/// between them is.
const LEAST_REACH: f64 = 0.05;
/// Links inwards among which a neighbour at another place is looked for.
const MOST_STEPS: usize = 8;
/// Density (kg/m³) above which a link is heavier than any matter of its size; osmium has 22 590.
const DENSEST: f64 = 1e5;
/// Rounding of ranges that a start position may exceed.
const RANGE_SLACK: f64 = 1e-9;

/// Adds notes about links and joints of a model; `tree` says on which lines they are.
pub(crate) fn check(tree: &Tree, import: &mut Import) {
    let urdf = tree.elements[tree.root].tag == crate::urdf::ROOT;
    let m = &import.mechanism;
    let poses = m.link_poses(&m.start_positions());
    // What stands on the ground shows how large things are as well.
    let size = m.overall_radius(&poses);
    let reaches = reaches(m);
    let mut found = Vec::new();
    let moves = |id| m.forest().path_to_ground(id).any(|e| m.joint(e.joint).dof() > 0);
    for (id, l) in m.moving_links().filter(|(_, l)| !l.auxiliary && l.inertia.mass > 0.0) {
        let reach = match &reaches[id.index()] {
            Reach { shown: true, far } if *far >= LEAST_REACH * size => *far,
            Reach { far, .. } => {
                far.max(step_before(m, &poses, id, LEAST_REACH * size).unwrap_or(size))
            }
        };
        let largest = l.inertia.principal_moments()[2];
        let gyration = (largest / l.inertia.mass).sqrt();
        // Asked only where it matters: the way to the ground is long in long chains.
        if gyration <= LARGEST_GYRATION * reach && !too_dense(l.inertia.mass, gyration)
            || !moves(id)
        {
            continue;
        }
        let (tag, attribute) = if urdf { ("link", "inertia") } else { ("body", "inertial") };
        if gyration > LARGEST_GYRATION * reach {
            let reason = format!(
                "its radius of gyration is {} m, more than {LARGEST_GYRATION} times its reach of \
                {} m; are mass and inertia in kg and kg·m²?",
                Digits(gyration),
                Digits(reach)
            );
            found.push((tag, l.name.clone(), attribute, reason));
        }
        if too_dense(l.inertia.mass, gyration) {
            let (radius, density) = sphere(l.inertia.mass, gyration);
            let reason = format!(
                "{} kg in a sphere of radius {} m, which has its largest moment of inertia, are {} \
                kg/m³, more than any matter; are masses in kg and lengths in m?",
                Digits(l.inertia.mass),
                Digits(radius),
                Digits(density)
            );
            found.push((tag, l.name.clone(), "mass", reason));
        }
    }
    for e in m.forest().edges() {
        let j = m.joint(e.joint);
        if let Some(reason) = outside(j) {
            let attribute = if urdf { "limit" } else { "range" };
            found.push(("joint", j.name.clone(), attribute, reason));
        }
    }
    if found.is_empty() {
        return;
    }
    let elements = elements(tree);
    import.notes.extend(found.into_iter().map(|(tag, name, attribute, reason)| {
        let at = match elements.get(&(tag, name.as_str())) {
            Some(e) => tree.location(e),
            None => Location { file: tree.files.first().cloned(), line: 0 },
        };
        let element = crate::read::label(tag, Some(&name));
        Note::new(element, attribute, Effect::Approximated, reason).at(at)
    }));
}

/// Radius and density of the solid sphere with this radius of gyration, which a body that has it in
/// one direction at most fills.
fn sphere(mass: f64, gyration: f64) -> (f64, f64) {
    let radius = 2.5f64.sqrt() * gyration;
    (radius, mass / (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)))
}

/// True if a body is denser than any matter; bodies without inertia are points, which have no
/// density.
fn too_dense(mass: f64, gyration: f64) -> bool {
    gyration > 0.0 && sphere(mass, gyration).1 > DENSEST
}

/// Why the start position of a joint is not allowed.
fn outside(j: &Joint) -> Option<String> {
    let mut pairs = j.limits.iter().zip(&j.start);
    pairs.find_map(|(limit, &x)| {
        let l = (*limit)?;
        let slack = RANGE_SLACK * (1.0 + l.lower.abs().max(l.upper.abs()));
        if x >= l.lower - slack && x <= l.upper + slack {
            return None;
        }
        Some(format!(
            "the start position {} is outside the range from {} to {}; limits hold nothing in \
            statics and reduction",
            Digits(x),
            Digits(l.lower),
            Digits(l.upper)
        ))
    })
}

/// The first element of each tag and name; joints of other sections (equality, fixed tendons) come
/// after the bodies'.
fn elements(tree: &Tree) -> HashMap<(&str, &str), &Element> {
    let mut out = HashMap::new();
    for e in &tree.elements {
        if let Some(name) = e.attribute("name").filter(|n| !n.is_empty()) {
            out.entry((e.tag.as_str(), name)).or_insert(e);
        }
    }
    out
}

/// How far a link reaches from its frame, as far as the file shows it.
#[derive(Clone, Debug, Default)]
struct Reach {
    far: f64,
    /// True if shapes or several joints show its size; a centre of mass alone does not.
    shown: bool,
}

/// How far the frame of a link is from the nearest one inwards that is not at the same place: as
/// large as its neighbours is a link that shows no size of its own.
fn step_before(m: &Mechanism, poses: &[Pose], link: LinkId, least: f64) -> Option<f64> {
    let at = poses[link.index()].translation;
    let inwards = m.forest().path_to_ground(link).filter(|e| e.inner != LinkId::WORLD);
    let steps = inwards.map(|e| poses[e.inner.index()].translation.distance(at));
    steps.take(MOST_STEPS).find(|d| *d >= least)
}

fn reaches(m: &Mechanism) -> Vec<Reach> {
    let mut out: Vec<Reach> = vec![Reach::default(); m.links().len()];
    let mut joints = vec![0; m.links().len()];
    let mut grow = |link: LinkId, far: f64, shows: bool| {
        let r = &mut out[link.index()];
        r.far = r.far.max(far);
        r.shown |= shows;
    };
    for (id, l) in m.moving_links() {
        // A uniform body that begins at its frame ends at twice the distance of its centre of mass.
        grow(id, 2.0 * l.inertia.center_of_mass.length(), false);
    }
    for i in 0..m.joints().len() {
        let j = m.joint(JointId::new(i));
        for (link, frame) in [(j.parent, j.parent_from_joint), (j.child, j.child_from_joint)] {
            joints[link.index()] += 1;
            grow(link, frame.translation.length(), joints[link.index()] > 1);
        }
    }
    for s in m.shapes() {
        grow(s.link, farthest(&s.geometry, &s.link_from_shape), true);
    }
    for f in m.frames() {
        grow(f.link, f.link_from_frame.translation.length(), false);
    }
    out
}

/// Distance of the farthest point of a shape from the link's frame, or somewhat more.
fn farthest(g: &Geometry, pose: &Pose) -> f64 {
    let own = match *g {
        Geometry::Sphere { radius } => radius,
        Geometry::Capsule { radius, half_length } => radius + half_length,
        Geometry::Cylinder { radius, half_length } => radius.hypot(half_length),
        Geometry::Ellipsoid { radii } => radii.max_element(),
        Geometry::Box { half_extents } => half_extents.length(),
        Geometry::Hull { ref points } => points.iter().map(|p| p.length()).fold(0.0, f64::max),
        _ => 0.0,
    };
    pose.translation.length() + own
}
