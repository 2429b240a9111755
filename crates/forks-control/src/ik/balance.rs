//! Where the centre of mass may be: above the hull of points.

use forks_dynamics::mechanism::lie::glam::DVec3;

/// normal · centre ≤ offset, or = offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Side {
    pub(super) normal: DVec3,
    pub(super) offset: f64,
    pub(super) both: bool,
}

/// The hull of points, seen along gravity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Support(Vec<Side>);

impl Support {
    /// Of at least one point; `up` has length one. Points nearer than `near` (m) are the same.
    pub(super) fn new(points: &[DVec3], up: DVec3, near: f64) -> Self {
        let x = up.any_orthonormal_vector();
        let y = up.cross(x);
        let flat: Vec<[f64; 2]> = points.iter().map(|p| [x.dot(*p), y.dot(*p)]).collect();
        let hull = hull(flat, near);
        let n = hull.len();
        let world = |v: [f64; 2]| x * v[0] + y * v[1];
        let mut sides = Vec::new();
        let mut push = |normal: [f64; 2], at: [f64; 2], both| {
            let offset = normal[0] * at[0] + normal[1] * at[1];
            sides.push(Side { normal: world(normal), offset, both });
        };
        match n {
            1 => {
                push([1.0, 0.0], hull[0], true);
                push([0.0, 1.0], hull[0], true);
            }
            2 => {
                let along = unit(hull[0], hull[1]);
                push([along[1], -along[0]], hull[0], true);
                push(along, hull[1], false);
                push([-along[0], -along[1]], hull[0], false);
            }
            _ => {
                for k in 0..n {
                    // Counter-clockwise: outside is to the right.
                    let along = unit(hull[k], hull[(k + 1) % n]);
                    push([along[1], -along[0]], hull[k], false);
                }
            }
        }
        Self(sides)
    }

    pub(super) fn sides(&self) -> &[Side] {
        &self.0
    }
}

fn unit(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length = d[0].hypot(d[1]);
    [d[0] / length, d[1] / length]
}

/// Corners of the convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<[f64; 2]>, near: f64) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup_by(|a, b| (a[0] - b[0]).hypot(a[1] - b[1]) <= near);
    if points.len() < 3 {
        return points;
    }
    let left = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        let cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        cross > near * (b[0] - a[0]).hypot(b[1] - a[1])
    };
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut out: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while out.len() > 1 && !left(out[out.len() - 2], out[out.len() - 1], p) {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut out = chain(&mut points.iter().copied());
    out.extend(chain(&mut points.iter().rev().copied()));
    out
}

#[cfg(test)]
mod tests {
    use super::{DVec3, Support};

    #[test]
    fn points_within_a_hull_are_on_the_inner_side_of_all_its_sides() {
        let at = |x: f64, y: f64| DVec3::new(x, y, (x * y).sin());
        let square = [at(0.0, 0.0), at(2.0, 0.0), at(1.0, 0.5), at(2.0, 1.0), at(0.0, 1.0)];
        let s = Support::new(&square, DVec3::Z, 1e-9);
        assert_eq!(s.sides().len(), 4);
        let inside = |p: DVec3| s.sides().iter().all(|s| s.normal.dot(p) <= s.offset + 1e-12);
        assert!(inside(at(1.0, 0.9)) && inside(at(0.0, 0.0)));
        for out in [at(1.0, 1.1), at(-0.1, 0.5), at(2.1, 0.5), at(1.0, -0.1)] {
            assert!(!inside(out));
        }
        let line = Support::new(&[at(0.0, 0.0), at(1.0, 1.0), at(2.0, 2.0)], DVec3::Z, 1e-9);
        assert_eq!(line.sides().len(), 3);
        assert!(line.sides()[0].both && line.sides()[0].normal.dot(at(1.0, 1.0)).abs() < 1e-12);
        assert_eq!(Support::new(&square[..1], DVec3::Z, 1e-9).sides().len(), 2);
    }
}
