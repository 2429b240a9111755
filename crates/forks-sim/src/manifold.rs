//! Contact points, and reduction of a manifold to at most four of them per normal.
//!
//! Two faces meet in up to eight points, those of a mesh in many more; four far apart carry the
//! same forces and moments. Points are chosen by order and distance alone, so that the same poses
//! give the same points; near ties go to the earlier one, so that rounding does not make the choice
//! change from step to step.

use forks_lie::glam::DVec3;

/// Names a contact from one step to the next: shapes, their parts, their features.
pub(crate) type Key = [u32; 6];

/// A point where two shapes are close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) key: Key,
    /// Middle between the surfaces, world.
    pub(crate) point: DVec3,
    /// From the first shape to the second, world, unit length.
    pub(crate) normal: DVec3,
    /// m, negative where they penetrate.
    pub(crate) gap: f64,
}

impl Found {
    /// Numbers of the two shapes, the smaller first.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> [usize; 2] {
        [self.key[0] as usize, self.key[1] as usize]
    }
}

/// Points kept.
pub(crate) const MOST: usize = 4;
/// Cosine from which normals count as the same direction: 0.08°.
const SAME: f64 = 1.0 - 1e-6;
/// By how much, relatively, a later point has to be farther away than an earlier one.
const BETTER: f64 = 1e-6;

/// Lengths, m, below which points are not told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// By which a later point has to be deeper than an earlier one.
    pub(crate) depth: f64,
    /// By which points lie beside each other, or beside a line.
    pub(crate) place: f64,
}

/// Leaves at most four points of each direction among those from `first` on, which belong to one
/// pair of shapes; none of them where another one is or between two others. Order stays.
#[inline(always)]
pub(crate) fn reduce(
    found: &mut Vec<Found>,
    first: usize,
    tolerance: Tolerance,
    keep: &mut Vec<bool>,
) {
    if found.len() - first > 1 {
        drop_repeated(found, first, tolerance);
    }
    if found.len() - first > MOST {
        reduce_many(found, first, tolerance, keep);
    }
}

/// Drops redundant points. Rounding alone decides whether clipping reports them, so the share of
/// the force that they carry would jump from step to step.
fn drop_repeated(found: &mut Vec<Found>, first: usize, tolerance: Tolerance) {
    if is_spread(&found[first..], tolerance.place) {
        return;
    }
    let mut k = found.len();
    while k > first {
        k -= 1;
        if is_repeated(&found[first..], k - first, tolerance) {
            found.remove(k);
        }
    }
}

/// True if there are few points of one direction, no two at one place and no three on one line:
/// what most pairs have.
#[inline(always)]
fn is_spread(points: &[Found], place: f64) -> bool {
    let count = points.len();
    let normal = points[0].normal;
    if count > MOST || points.iter().any(|p| p.normal.dot(normal) <= SAME) {
        return false;
    }
    let (u, v) = normal.any_orthonormal_pair();
    let mut flat = [[0.0; 2]; MOST];
    for (f, p) in flat.iter_mut().zip(points) {
        let d = p.point - points[0].point;
        *f = [u.dot(d), v.dot(d)];
    }
    let place = place * place;
    for i in 0..count {
        for j in i + 1..count {
            let one = [flat[j][0] - flat[i][0], flat[j][1] - flat[i][1]];
            let side = one[0] * one[0] + one[1] * one[1];
            if side <= place {
                return false;
            }
            for k in j + 1..count {
                let other = [flat[k][0] - flat[i][0], flat[k][1] - flat[i][1]];
                let area = one[0] * other[1] - one[1] * other[0];
                // Twice the sum of two sides is more than the square of the third.
                let longest = 2.0 * (side + other[0] * other[0] + other[1] * other[1]);
                if area * area <= place * longest {
                    return false;
                }
            }
        }
    }
    true
}

/// True if a point is where an earlier one is, or on the line between two others, and not deeper.
fn is_repeated(points: &[Found], k: usize, Tolerance { depth, place }: Tolerance) -> bool {
    let p = &points[k];
    let flat = |q: &Found| {
        let d = q.point - p.point;
        d - p.normal * d.dot(p.normal)
    };
    let same = |q: &Found| q.normal.dot(p.normal) > SAME;
    for (i, q) in points.iter().enumerate().filter(|(i, q)| *i != k && same(q)) {
        let one = flat(q);
        if one.length_squared() <= place * place {
            if i < k && q.gap <= p.gap + depth {
                return true;
            }
            continue;
        }
        let later = points.iter().enumerate().skip(i + 1);
        for (_, r) in later.filter(|(j, r)| *j != k && same(r)) {
            let other = flat(r);
            let (along, apart) = (one.dot(other), (other - one).length());
            if along >= 0.0 || one.cross(other).length() > place * apart {
                continue;
            }
            // The depth of the line there.
            let share = one.length() / apart;
            let line = q.gap + (r.gap - q.gap) * share;
            if other.length_squared() > place * place && line <= p.gap + depth {
                return true;
            }
        }
    }
    false
}

/// [`reduce`] for more than four points.
fn reduce_many(found: &mut Vec<Found>, first: usize, tolerance: Tolerance, keep: &mut Vec<bool>) {
    let points = &found[first..];
    keep.clear();
    keep.resize(2 * points.len(), false);
    let (keep, grouped) = keep.split_at_mut(points.len());
    for i in 0..points.len() {
        if grouped[i] {
            continue;
        }
        let normal = points[i].normal;
        let same = |p: &Found| p.normal.dot(normal) > SAME;
        let mut count = 0;
        for (p, grouped) in points.iter().zip(grouped.iter()) {
            count += usize::from(!grouped && same(p));
        }
        // `grouped` marks those that are done: members of this group are found by what is not.
        let member = |k: usize, grouped: &[bool]| !grouped[k] && same(&points[k]);
        if count <= MOST {
            (0..points.len()).for_each(|k| keep[k] |= member(k, grouped));
        } else {
            choose(points, normal, tolerance, |k| member(k, grouped), keep);
        }
        for k in 0..points.len() {
            grouped[k] |= same(&points[k]);
        }
    }
    let mut k = 0;
    found.retain(|_| {
        k += 1;
        k <= first || keep[k - 1 - first]
    });
}

/// The deepest point; the one farthest from it; then the farthest on either side of the line
/// between them.
fn choose(
    points: &[Found],
    normal: DVec3,
    Tolerance { depth, place }: Tolerance,
    member: impl Fn(usize) -> bool,
    keep: &mut [bool],
) {
    let flat = |p: DVec3| p - normal * p.dot(normal);
    let best = |more: f64, measure: &dyn Fn(&Found) -> f64| {
        let mut best: Option<(usize, f64)> = None;
        for (k, p) in points.iter().enumerate().filter(|(k, _)| member(*k)) {
            let x = measure(p);
            if best.is_none_or(|(_, y)| x > y + more + BETTER * y.abs()) {
                best = Some((k, x));
            }
        }
        best
    };
    let Some((a, _)) = best(depth, &|p| -p.gap) else { return };
    let from = points[a].point;
    let Some((b, _)) = best(0.0, &|p| flat(p.point - from).length_squared()) else { return };
    let across = normal.cross(points[b].point - from);
    keep[a] = true;
    keep[b] = true;
    for sign in [1.0, -1.0] {
        if let Some((c, far)) = best(0.0, &|p| sign * across.dot(p.point - from)) {
            keep[c] |= far > place * across.length();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Tolerance = Tolerance { depth: 1e-6, place: 1e-6 };

    fn point(x: f64, y: f64, gap: f64, normal: DVec3) -> Found {
        Found { key: [0; 6], point: DVec3::new(x, y, 0.0), normal, gap }
    }

    #[test]
    fn eight_corners_that_coincide_in_pairs_become_four() {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let twice = corners.iter().chain(&corners);
        let mut found: Vec<Found> = twice
            .enumerate()
            .map(|(i, (x, y))| {
                let p = point(*x, *y, 1e-12 * (i as f64).sin(), DVec3::Z);
                Found { key: [i as u32 / 4; 6], ..p }
            })
            .collect();
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        let mut places: Vec<_> = found.iter().map(|f| (f.point.x, f.point.y)).collect();
        places.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(places, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]);
        // The earlier of every two, whatever the rounding.
        assert!(found.iter().all(|f| f.key[0] == 0));
    }

    fn places(points: &[Found]) -> Vec<(f64, f64)> {
        points.iter().map(|p| (p.point.x, p.point.y)).collect()
    }

    #[test]
    fn points_that_others_speak_for_are_dropped_and_deeper_ones_stay() {
        // What clipping makes of a line on a face: ends that are named twice, a point between them.
        let noise = 1e-15;
        let line = |middle: f64| {
            vec![
                point(-1.0, 0.0, 0.0, DVec3::Z),
                point(1.0, noise, noise, DVec3::Z),
                point(1.0, -noise, -noise, DVec3::Z),
                point(0.1, noise, middle, DVec3::Z),
            ]
        };
        let mut found = line(-noise);
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        assert_eq!(places(&found), [(-1.0, 0.0), (1.0, noise)]);
        // A point between that is deeper than the ends is another contact.
        let mut found = line(-1e-3);
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        assert_eq!(places(&found), [(-1.0, 0.0), (1.0, noise), (0.1, noise)]);
        // Any order, and all of them at one place.
        let mut found = line(-noise);
        found.reverse();
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        assert_eq!(places(&found), [(1.0, -noise), (-1.0, 0.0)]);
        let mut found = vec![point(2.0, 1.0, 0.0, DVec3::Z); 4];
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        assert_eq!(found.len(), 1);
        // A narrow strip has four corners.
        let strip = [(0.0, 0.0), (1.0, 0.0), (1.0, 1e-4), (0.0, 1e-4)];
        let mut found = strip.map(|(x, y)| point(x, y, 0.0, DVec3::Z)).to_vec();
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        assert_eq!(places(&found), strip);
    }

    #[test]
    fn the_deepest_point_stays_and_so_does_what_comes_before() {
        let mut found = vec![point(5.0, 5.0, 0.0, DVec3::Z); 3];
        found.extend((0..12).map(|i| {
            let angle = f64::from(i) * 0.5;
            point(angle.cos(), angle.sin(), if i == 7 { -0.1 } else { 0.0 }, DVec3::Z)
        }));
        let deepest = found[3 + 7];
        reduce(&mut found, 3, NEAR, &mut Vec::new());
        assert_eq!(found.len(), 3 + 4);
        assert!(found.contains(&deepest));
        // The four surround the middle.
        let spread = |f: &dyn Fn(&Found) -> f64| {
            let values = found[3..].iter().map(f);
            values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
        };
        assert!(spread(&|f| f.point.x) > 1.2 && spread(&|f| f.point.y) > 1.2);
    }

    #[test]
    fn every_direction_has_its_own_points_and_points_in_a_row_are_two() {
        let row = |normal: DVec3| (0..6).map(move |i| point(f64::from(i), 0.0, 0.0, normal));
        let mut found: Vec<Found> = row(DVec3::Z).chain(row(DVec3::Y)).collect();
        reduce(&mut found, 0, NEAR, &mut Vec::new());
        let of = |n: DVec3| found.iter().filter(|f| f.normal == n).count();
        assert_eq!((of(DVec3::Z), of(DVec3::Y)), (2, 2));
    }
}
