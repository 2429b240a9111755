//! Poses: `pos` with `quat`, `axisangle`, `euler`, `xyaxes` or `zaxis`, and `fromto`.

use forks_mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3},
    so3::exp_rotation,
};

use super::{Attributes, Compiler};
use crate::ImportError;

/// Directions shorter than this have no direction.
const SHORTEST: f64 = 1e-14;

/// The pose of an element in the frame around it.
pub(crate) fn pose(a: &Attributes<'_>, c: &Compiler) -> Result<Pose, ImportError> {
    Ok(Pose::new(rotation(a, c)?, a.vector("pos")?.unwrap_or(DVec3::ZERO)))
}

/// The orientation of an element; the quaternion's sign is kept.
pub(crate) fn rotation(a: &Attributes<'_>, c: &Compiler) -> Result<DQuat, ImportError> {
    let given: Vec<_> = ["quat", "axisangle", "euler", "xyaxes", "zaxis"]
        .into_iter()
        .filter(|n| a.has(n))
        .collect();
    if given.len() > 1 {
        return Err(a.error(format!(
            "the orientation is given twice, by '{}' and '{}'",
            given[0], given[1]
        )));
    }
    match given.first() {
        Some(&"quat") => quaternion(a),
        Some(&"axisangle") => axis_angle(a, c),
        Some(&"euler") => {
            let angles = a.array::<3>("euler")?.expect("given").map(|x| c.angle(x));
            Ok(euler(angles, c.euler_sequence))
        }
        Some(&"xyaxes") => xy_axes(a),
        Some(_) => {
            let z = a.vector("zaxis")?.expect("given");
            z_axis(z).ok_or_else(|| a.invalid("zaxis", "has no direction"))
        }
        None => Ok(DQuat::IDENTITY),
    }
}

fn quaternion(a: &Attributes<'_>) -> Result<DQuat, ImportError> {
    let [w, x, y, z] = a.array::<4>("quat")?.expect("given");
    unit_quaternion([w, x, y, z]).ok_or_else(|| a.invalid("quat", "is the zero quaternion"))
}

/// A quaternion (w, x, y, z) scaled to unit length; one that is of unit length to rounding keeps
/// its digits.
pub(crate) fn unit_quaternion([w, x, y, z]: [f64; 4]) -> Option<DQuat> {
    let q = DQuat::from_xyzw(x, y, z, w);
    let n = q.length();
    if !(n > SHORTEST && n.is_finite()) {
        return None;
    }
    Some(if (n - 1.0).abs() < 4.0 * f64::EPSILON { q } else { q / n })
}

fn axis_angle(a: &Attributes<'_>, c: &Compiler) -> Result<DQuat, ImportError> {
    let [x, y, z, angle] = a.array::<4>("axisangle")?.expect("given");
    let axis = DVec3::new(x, y, z);
    if axis.length() < SHORTEST {
        return Err(a.invalid("axisangle", "has an axis without direction"));
    }
    Ok(exp_rotation(axis.normalize() * c.angle(angle)))
}

/// Rotations about three axes in turn; lower case letters are axes of the turned frame, upper case
/// ones of the frame around it.
fn euler(angles: [f64; 3], sequence: [u8; 3]) -> DQuat {
    let mut q = DQuat::IDENTITY;
    for (angle, letter) in angles.into_iter().zip(sequence) {
        let axis = match letter.to_ascii_lowercase() {
            b'x' => DVec3::X,
            b'y' => DVec3::Y,
            _ => DVec3::Z,
        };
        let (s, c) = (0.5 * angle).sin_cos();
        let turn = DQuat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c);
        q = if letter.is_ascii_lowercase() { q * turn } else { turn * q };
    }
    q
}

fn xy_axes(a: &Attributes<'_>) -> Result<DQuat, ImportError> {
    let v = a.array::<6>("xyaxes")?.expect("given");
    let x = DVec3::new(v[0], v[1], v[2]);
    let y = DVec3::new(v[3], v[4], v[5]);
    if x.length() < SHORTEST {
        return Err(a.invalid("xyaxes", "has an x axis without direction"));
    }
    let x = x.normalize();
    let y = y - x * x.dot(y);
    if y.length() < SHORTEST {
        return Err(a.invalid("xyaxes", "has a y axis parallel to its x axis"));
    }
    let y = y.normalize();
    Ok(from_axes([x, y, x.cross(y)]))
}

/// The quaternion of a frame given by its axes; the component that is computed first is positive,
/// which fixes the sign as in MuJoCo.
fn from_axes(c: [DVec3; 3]) -> DQuat {
    let trace = c[0].x + c[1].y + c[2].z;
    if trace > 0.0 {
        let w = 0.5 * (1.0 + trace).sqrt();
        let v = DVec3::new(c[1].z - c[2].y, c[2].x - c[0].z, c[0].y - c[1].x) / (4.0 * w);
        return DQuat::from_xyzw(v.x, v.y, v.z, w).normalize();
    }
    let i = match (c[0].x > c[1].y, c[0].x > c[2].z, c[1].y > c[2].z) {
        (true, true, _) => 0,
        (_, _, true) => 1,
        _ => 2,
    };
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let first = 0.5 * (1.0 + c[i][i] - c[j][j] - c[k][k]).max(0.0).sqrt();
    let mut v = DVec3::ZERO;
    v[i] = first;
    v[j] = (c[i][j] + c[j][i]) / (4.0 * first);
    v[k] = (c[i][k] + c[k][i]) / (4.0 * first);
    let w = (c[j][k] - c[k][j]) / (4.0 * first);
    DQuat::from_xyzw(v.x, v.y, v.z, w).normalize()
}

/// The smallest rotation that takes (0, 0, 1) to `z`; half a turn about x where that is not unique.
pub(crate) fn z_axis(z: DVec3) -> Option<DQuat> {
    let n = z.length();
    if n < SHORTEST {
        return None;
    }
    let z = z / n;
    let axis = DVec3::Z.cross(z);
    let s = axis.length();
    let axis = if s < 1e-10 { DVec3::X } else { axis / s };
    Some(exp_rotation(axis * s.atan2(z.z)))
}

/// The pose and half length of something stretched between two points: origin in their middle, z
/// axis from the second point to the first.
pub(crate) fn from_to(a: &Attributes<'_>) -> Result<Option<(Pose, f64)>, ImportError> {
    let Some(v) = a.array::<6>("fromto")? else { return Ok(None) };
    // A position of zero counts as none, as in MuJoCo.
    if a.vector("pos")?.is_some_and(|p| p != DVec3::ZERO) {
        return Err(a.error("both 'pos' and 'fromto' are given"));
    }
    let (from, to) = (DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]));
    let along = from - to;
    let Some(rotation) = z_axis(along) else {
        return Err(a.invalid("fromto", "has two equal points"));
    };
    Ok(Some((Pose::new(rotation, (from + to) * 0.5), along.length() * 0.5)))
}
