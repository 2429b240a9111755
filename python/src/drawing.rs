//! What models and mechanisms look like: the shapes of their files, or a skeleton.

use std::collections::BTreeMap;

use forks_io::{
    Geometry,
    animation::{Animation, Body, Colour, End, Segment, Series, VisualShape},
};
use forks_mechanism::{CablePoint, LinkId, Mechanism, lie::glam::DVec3};
use forks_rom::data::ModelData;

use crate::recording::Recording;

/// Radius of a skeleton's bars over the mechanism's size.
const BAR: f64 = 0.012;
/// Radius of a link's knob over that of the bars.
const KNOB: f64 = 1.6;
/// Radius of a cable over that of the bars.
const THREAD: f64 = 0.4;
/// A cable's colour in the palette.
const CABLE: usize = 3;

/// Energies, as [`Recording::push`] takes them.
pub(crate) fn energies() -> Vec<Series> {
    ["kinetic", "gravitational", "elastic"].map(|n| Series::new(n, "J")).into()
}

/// A picture of some links of a reduced model: bars from their frames to their joints.
pub(crate) fn of_model(data: &ModelData, links: &[usize]) -> Recording {
    let effectors: Vec<&str> = data.effectors.iter().map(|e| &*e.name).collect();
    let mut animation = Animation::new(format!("A model of {}", effectors.join(", ")));
    animation.series = energies();
    let body: BTreeMap<usize, usize> = links.iter().enumerate().map(|(i, &l)| (l, i)).collect();
    animation.bodies =
        links.iter().map(|&l| Body { name: data.links[l].name.clone(), shapes: vec![] }).collect();
    let ends = data.joints.iter().flat_map(|j| {
        let [parent, child] = if j.reversed { [j.outer, j.inner] } else { [j.inner, j.outer] };
        [(parent, j.parent_from_joint.translation), (child, j.child_from_joint.translation)]
    });
    let bars: Vec<_> = ends.filter_map(|(l, p)| Some((*body.get(&l)?, p))).collect();
    skeleton(&mut animation, &bars, BAR * data.radius);
    Recording::new(animation)
}

/// A picture of some links of a mechanism: the shapes of its file, and bars.
pub(crate) fn of_mechanism(
    m: &Mechanism,
    links: &[usize],
    radius: f64,
    series: Vec<Series>,
) -> Recording {
    let mut animation = Animation::new(m.name());
    animation.series = series;
    let body: BTreeMap<usize, usize> = links.iter().enumerate().map(|(i, &l)| (l, i)).collect();
    animation.bodies =
        links.iter().map(|&l| Body { name: m.links()[l].name.clone(), shapes: vec![] }).collect();
    for s in m.shapes().iter().filter(|s| s.geometry != Geometry::Plane) {
        let Some(&i) = body.get(&s.link.index()) else { continue };
        let shape = VisualShape::new(s.geometry.clone()).at(s.link_from_shape);
        animation.bodies[i].shapes.push(shape);
    }
    let ends = m.joints().iter().flat_map(|j| {
        [(j.parent, j.parent_from_joint), (j.child, j.child_from_joint)]
            .map(|(l, p)| (l.index(), p.translation))
    });
    let bars: Vec<_> = ends.filter_map(|(l, p)| Some((*body.get(&l)?, p))).collect();
    skeleton(&mut animation, &bars, BAR * radius);
    cables(m, &mut animation, &body, THREAD * BAR * radius);
    Recording::new(animation)
}

/// Cables from point to point, where their links are shown.
fn cables(m: &Mechanism, animation: &mut Animation, body: &BTreeMap<usize, usize>, radius: f64) {
    let radius = radius.max(f64::from(f32::MIN_POSITIVE));
    let end = |p: &CablePoint| match p.link {
        LinkId::WORLD => Some(End::world(p.position)),
        link => Some(End::of(*body.get(&link.index())?, p.position)),
    };
    for branch in m.cables().iter().flat_map(|c| &c.branches) {
        let points: Vec<Option<End>> = branch.points().map(end).collect();
        for w in points.windows(2) {
            if let [Some(from), Some(to)] = *w {
                let bar = Segment::new(from, to).thick(radius);
                animation.segments.push(bar.coloured(Colour::palette(CABLE)));
            }
        }
    }
}

/// Bars from bodies' origins to points of them; knobs where nothing else is seen.
fn skeleton(animation: &mut Animation, bars: &[(usize, DVec3)], radius: f64) {
    let radius = radius.max(f64::from(f32::MIN_POSITIVE));
    for &(body, point) in bars.iter().filter(|(_, p)| *p != DVec3::ZERO) {
        let bar = Segment::new(End::origin(body), End::of(body, point));
        animation.segments.push(bar.thick(radius).coloured(Colour::palette(0)));
    }
    for body in animation.bodies.iter_mut().filter(|b| b.shapes.is_empty()) {
        let knob = VisualShape::new(Geometry::Sphere { radius: KNOB * radius });
        body.shapes.push(knob.coloured(Colour::palette(0)));
    }
}

/// Text inside HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
