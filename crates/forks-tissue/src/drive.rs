//! What drives a scene: rests of joint springs over time, points that are drawn along ways.

use forks_deform::{
    SoftSimulation, SoftState,
    dynamics::mechanism::{Mechanism, lie::glam::DVec3},
};
use forks_sim::scene::{Schedule, meant};

use crate::{
    error::{TissueError, invalid},
    merge::Members,
    skin::Skin,
    spec::{ActionSpec, DragSpec},
};

/// Rests of joint springs. A spring whose rest moves by s pulls by k s more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drive {
    /// Coordinate, stiffness times weight, schedule.
    pub(crate) pulls: Vec<(usize, f64, Schedule)>,
}

impl Drive {
    pub(crate) fn new(
        actions: &[ActionSpec],
        skeletons: &[(&str, &Mechanism, &Members)],
        whole: &Mechanism,
    ) -> Result<Self, TissueError> {
        let mut out = Self::default();
        for (k, a) in actions.iter().enumerate() {
            let element = format!("action {}", k + 1);
            let (_, m, members) = match (&a.mechanism, skeletons) {
                (Some(name), _) => {
                    let found = skeletons.iter().find(|(n, ..)| n == name);
                    found.ok_or_else(|| {
                        let problem = format!("names the mechanism {name:?}, which is not there");
                        invalid(&element, problem)
                    })?
                }
                (None, [only]) => only,
                _ => return Err(invalid(element, "needs the name of a mechanism")),
            };
            let mut joints = Vec::new();
            for pattern in &a.joints {
                let before = joints.len();
                joints
                    .extend((0..m.joints().len()).filter(|&j| meant(pattern, &m.joints()[j].name)));
                if joints.len() == before {
                    return Err(invalid(element, format!("names no joint by {pattern:?}")));
                }
            }
            if a.weights.as_ref().is_some_and(|w| w.len() != joints.len()) {
                return Err(invalid(element, format!("has not {} weights", joints.len())));
            }
            for (i, &j) in joints.iter().enumerate() {
                let id = members.joints[j];
                let joint = whole.joint(id);
                let stiffness = match &joint.spring {
                    Some(s) if joint.dof() == 1 => s.stiffness.get(0, 0),
                    _ => {
                        let name = &joint.name;
                        let problem = format!("moves {name:?}, a joint without a spring");
                        return Err(invalid(element, problem));
                    }
                };
                let mut wave = a.wave.clone();
                if let Some(w) = &mut wave {
                    w.phase_deg -= a.lag_deg * i as f64;
                }
                let schedule =
                    Schedule::new(&a.times, &a.values, wave).map_err(|e| invalid(&element, e))?;
                let weight = a.weights.as_ref().map_or(1.0, |w| w[i]);
                out.pulls.push((whole.velocity_range(id).start, stiffness * weight, schedule));
            }
        }
        Ok(out)
    }

    /// Forces on all coordinates at a time, added.
    pub(crate) fn forces(&self, t: f64, out: &mut [f64]) {
        for (coordinate, gain, schedule) in &self.pulls {
            out[*coordinate] += gain * schedule.value(t);
        }
    }
}

/// A vertex that a spring and a damper draw along a way.
#[derive(Clone, Debug)]
pub(crate) struct Drag {
    vertex: usize,
    from: DVec3,
    stiffness: f64,
    damping: f64,
    times: Vec<f64>,
    way: Vec<DVec3>,
    until: f64,
}

impl Drag {
    pub(crate) fn new(
        spec: &DragSpec,
        skin: &Skin,
        simulation: &SoftSimulation,
        element: &str,
    ) -> Result<Self, TissueError> {
        let ascending = spec.times.windows(2).all(|t| t[0] < t[1]);
        let numbers = spec.times.iter().chain(spec.way.iter().flatten()).chain(&spec.point);
        let finite = numbers.chain([&spec.stiffness, &spec.damping]).all(|x| x.is_finite());
        if spec.times.is_empty() || spec.times.len() != spec.way.len() || !ascending || !finite {
            return Err(invalid(element, "needs increasing times with a finite place for each"));
        }
        if spec.stiffness < 0.0 || spec.damping < 0.0 {
            return Err(invalid(element, "has a negative stiffness or damping"));
        }
        let x = &simulation.state().x;
        let vertex = skin.nearest(x, spec.point.into());
        let vertex = vertex.ok_or_else(|| invalid(element, "finds no tissue"))?;
        let last = spec.times.last().copied().unwrap_or_default();
        Ok(Self {
            vertex,
            from: skin.of(vertex, x),
            stiffness: spec.stiffness,
            damping: spec.damping,
            times: spec.times.clone(),
            way: spec.way.iter().map(|p| DVec3::from_array(*p)).collect(),
            until: spec.until.unwrap_or(last),
        })
    }

    /// Where the point is drawn to.
    fn target(&self, t: f64) -> DVec3 {
        let after = self.times.partition_point(|x| *x <= t);
        let on = match (after.checked_sub(1), self.way.get(after)) {
            (Some(i), Some(to)) => {
                let s = (t - self.times[i]) / (self.times[after] - self.times[i]);
                self.way[i].lerp(*to, s)
            }
            (Some(i), None) => self.way[i],
            (None, first) => first.copied().unwrap_or_default(),
        };
        self.from + on
    }

    /// Adds its force to the nodes'.
    pub(crate) fn pull(&self, t: f64, skin: &Skin, state: &SoftState, out: &mut [DVec3]) {
        if t > self.until || t < self.times[0] {
            return;
        }
        let (x, v) = (skin.of(self.vertex, &state.x), skin.of(self.vertex, &state.velocity));
        let force = (self.target(t) - x) * self.stiffness - v * self.damping;
        for &(n, w) in &skin.vertices[self.vertex] {
            out[n] += force * w;
        }
    }
}
