//! Targets over time.

use forks_control::{
    keyframe::{BSpline, End, RotationEnd, RotationSpline},
    task::{Goal, Moving},
};
use forks_mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3, EulerRot},
    so3::quaternion_from_wxyz,
};

use crate::{
    error::{DirectError, invalid},
    spec::{Circle, Plane, Way},
};

/// Time in which circles come to their speed, over their period.
const START: f64 = 0.25;

/// A pose over time: positions along a spline, orientations along another, a circle.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    start: Pose,
    /// Where positions are meant.
    base: Pose,
    position: Option<BSpline>,
    rotation: Option<RotationSpline>,
    /// The same at all times.
    fixed: Option<(Option<DVec3>, Option<DQuat>)>,
    circle: Option<Circle>,
    plane: DQuat,
    /// Numbers of joints.
    plain: Option<BSpline>,
}

/// A pose that moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) pose: Pose,
    /// Of a joint.
    pub(crate) value: f64,
    pub(crate) moving: Moving,
}

fn rotation(rpy_deg: [f64; 3]) -> DQuat {
    let [r, p, y] = rpy_deg.map(f64::to_radians);
    DQuat::from_euler(EulerRot::ZYX, y, p, r)
}

impl Plane {
    /// World from the plane.
    pub fn pose(&self) -> Pose {
        Pose { rotation: rotation(self.rpy_deg), translation: DVec3::from_array(self.position) }
    }
}

impl Curve {
    /// Of `numbers` numbers per place: 1 of a joint, 3 of a position, 4 of an orientation (w, x, y,
    /// z), 7 of a pose, or fewer; `turns` are roll, pitch and yaw (degrees) from the start at the
    /// times of the keys.
    pub(crate) fn new(
        way: &Way,
        numbers: &[usize],
        start: Pose,
        turns: &[[f64; 3]],
        element: &str,
    ) -> Result<Self, DirectError> {
        let wrong = |problem: String| Err(invalid(element, problem));
        let all = way.keys.iter().chain(&way.target);
        for (k, key) in all.enumerate() {
            if !numbers.contains(&key.len()) {
                let n = key.len();
                return wrong(format!("has a place of {n} numbers, expected {numbers:?}"));
            }
            if let Some(x) = key.iter().find(|x| !x.is_finite()) {
                return wrong(format!("has the number {x} in place {}", k + 1));
            }
        }
        let plane = way.plane.pose();
        if !plane.is_finite() {
            return wrong("has a plane that is not finite".into());
        }
        if way.target.is_some() && !way.keys.is_empty() {
            return wrong("has both a target and keys".into());
        }
        if let Some(c) = &way.circle {
            for (what, x) in [("radius", c.radius), ("period", c.period)] {
                if !(x.is_finite() && x > 0.0) {
                    return wrong(format!("has a circle of {what} {x}"));
                }
            }
        }
        let base = match way.relative {
            true => Pose { rotation: plane.rotation, translation: start.translation },
            false => plane,
        };
        let of_joint = numbers == [1];
        let ends = |n: usize| [End::rest(n, 5), End::rest(n, 5)];
        let spline = |keys: &[Vec<f64>]| {
            let ends = ends(keys.first().map_or(0, Vec::len));
            BSpline::interpolating(5, &way.times, keys, [&ends[0], &ends[1]])
                .map_err(|e| invalid(element, format!("has no curve: {e}")))
        };
        let turn = |keys: &[DQuat]| {
            let still = RotationEnd { velocity: DVec3::ZERO, acceleration: Some(DVec3::ZERO) };
            RotationSpline::interpolating(5, &way.times, keys, [&still, &still])
                .map_err(|e| invalid(element, format!("has no curve of orientations: {e}")))
        };
        let first = way.keys.first().map_or(0, Vec::len);
        let quaternion = |k: &[f64]| quaternion_from_wxyz(core::array::from_fn(|i| k[i]));
        let (mut position, mut turned, mut plain) = (None, None, None);
        if of_joint && first > 0 {
            plain = Some(spline(&way.keys)?);
        } else if first == 3 || first == 7 {
            let keys: Vec<Vec<f64>> = way.keys.iter().map(|k| k[..3].to_vec()).collect();
            position = Some(spline(&keys)?);
        }
        if first == 4 || first == 7 {
            let keys: Vec<DQuat> = way.keys.iter().map(|k| quaternion(&k[first - 4..])).collect();
            turned = Some(turn(&keys)?);
        }
        if !turns.is_empty() {
            if turned.is_some() {
                return wrong("has both turns_deg and orientations".into());
            }
            let keys: Vec<DQuat> = turns.iter().map(|t| start.rotation * rotation(*t)).collect();
            turned = Some(turn(&keys)?);
        }
        let fixed = match way.target.as_deref() {
            None => None,
            Some([x]) if of_joint => {
                let end = [vec![*x], vec![*x]];
                let free = ends(1);
                let held = BSpline::interpolating(5, &[0.0, 1.0], &end, [&free[0], &free[1]]);
                plain = held.ok();
                None
            }
            Some(t) if t.len() == 4 => Some((None, Some(quaternion(t)))),
            Some(t) => {
                let q = (t.len() == 7).then(|| quaternion(&t[3..]));
                Some((Some(base.transform_point(DVec3::new(t[0], t[1], t[2]))), q))
            }
        };
        Ok(Self {
            start,
            base,
            position,
            rotation: turned,
            fixed,
            circle: way.circle,
            plane: plane.rotation,
            plain,
        })
    }

    /// What it says at a time; `value` is that of a joint at the start.
    pub(crate) fn at(&self, t: f64, value: f64) -> At {
        let mut out = At { pose: self.start, value, moving: Moving::default() };
        let Moving { velocity, acceleration } = &mut out.moving;
        let mut add = |v: DVec3, a: DVec3, from: usize| {
            for i in 0..3 {
                velocity[from + i] += v.to_array()[i];
                acceleration[from + i] += a.to_array()[i];
            }
        };
        if let Some((p, q)) = self.fixed {
            out.pose.translation = p.unwrap_or(out.pose.translation);
            out.pose.rotation = q.unwrap_or(out.pose.rotation);
        }
        if let Some(p) = &self.position {
            let [x, v, a] = [0, 1, 2].map(|d| {
                let mut out = [0.0; 3];
                evaluate(p, t, d, &mut out);
                DVec3::from_array(out)
            });
            out.pose.translation = self.base.transform_point(x);
            add(self.base.rotation * v, self.base.rotation * a, 0);
        }
        if let Some(r) = &self.rotation {
            let s = r.evaluate(t);
            out.pose.rotation = s.rotation;
            // Its rates are in its own axes.
            add(s.rotation * s.velocity, s.rotation * s.acceleration, 3);
        }
        if let Some(c) = &self.circle {
            let [x, v, a] = circle(c, t);
            out.pose.translation += self.plane * x;
            add(self.plane * v, self.plane * a, 0);
        }
        if let Some(p) = &self.plain {
            let [x, v, a] = [0, 1, 2].map(|d| {
                let mut out = [0.0];
                evaluate(p, t, d, &mut out);
                out[0]
            });
            out.value = x;
            (velocity[0], acceleration[0]) = (v, a);
        }
        out
    }
}

/// A curve rests before its first and after its last key.
fn evaluate(curve: &BSpline, t: f64, derivative: usize, out: &mut [f64]) {
    let (first, last) = curve.range();
    if (t < first || t > last) && derivative > 0 {
        out.fill(0.0);
        return;
    }
    curve.evaluate(t.clamp(first, last), derivative, out);
}

/// The way along a circle, its velocity and acceleration.
fn circle(c: &Circle, t: f64) -> [DVec3; 3] {
    let rate = core::f64::consts::TAU / c.period;
    let (since, start) = (t - c.from, START * c.period);
    // The angle's rate grows from 0 as a smooth step.
    let [angle, v, a] = match since {
        s if s <= 0.0 => [0.0; 3],
        s if s < start => {
            let x = s / start;
            let angle = rate * start * (x.powi(3) - 0.5 * x.powi(4));
            [angle, rate * (3.0 * x * x - 2.0 * x.powi(3)), rate * (6.0 * x - 6.0 * x * x) / start]
        }
        s => [rate * (s - 0.5 * start), rate, 0.0],
    };
    let (s, k) = angle.sin_cos();
    let (out, along) = (DVec3::new(k, s, 0.0), DVec3::new(-s, k, 0.0));
    let r = c.radius;
    [r * (out - DVec3::X), r * v * along, r * (a * along - v * v * out)]
}

/// A goal with its target moved to a place.
pub(crate) fn aimed(goal: &Goal, at: &At) -> Goal {
    match goal {
        Goal::Position(f, _) => Goal::Position(*f, at.pose.translation),
        Goal::Orientation(f, _) => Goal::Orientation(*f, at.pose.rotation),
        Goal::Pose(f, _) => Goal::Pose(*f, at.pose),
        Goal::CentreOfMass(_) => Goal::CentreOfMass(at.pose.translation),
        Goal::Joint(j, _) => Goal::Joint(*j, at.value),
        other => other.clone(),
    }
}
