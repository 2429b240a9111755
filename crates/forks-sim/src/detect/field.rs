//! Spheres on height fields: every place of the surface that is nearest to the centre among its
//! neighbours.
//!
//! A face has such a place where the centre is above it, an edge where the centre is beyond both of
//! its faces, a corner where it is beyond all six of its edges. So an edge between faces in one
//! plane, or of a valley, has none, and a ball that rolls over it meets the faces only. A centre
//! below the surface is pushed out of the face above it: what is below is solid.

use forks_lie::{Pose, glam::DVec3};
use parry3d_f64::shape::HeightField;

use super::Sink;

/// Points between a sphere and a height field.
pub(super) fn collide(
    center: DVec3,
    radius: f64,
    pose: &Pose,
    field: &HeightField,
    sink: &mut Sink<'_>,
) -> bool {
    let scale = field.scale();
    let (rows, columns) = (field.nrows(), field.ncols());
    let view = View {
        heights: field.heights().data(),
        rows,
        columns,
        low: [-0.5 * scale.x, -0.5 * scale.z],
        cell: [scale.x / columns as f64, scale.z / rows as f64],
        rise: scale.y,
        center: pose.rotation.conjugate() * (center - pose.translation),
        radius,
        within: radius + sink.prediction,
    };
    let mut near = Near { world: (center, pose), radius, first: sink.found.len(), sink };
    view.find(&mut near);
    true
}

/// A height field as a sphere sees it, in the field's frame: x along columns, z along rows, y up.
/// Each cell is halved along the diagonal between its corners of x and of z.
struct View<'a> {
    /// Column after column.
    heights: &'a [f64],
    /// Cells along z and along x.
    rows: usize,
    columns: usize,
    /// The least x and z.
    low: [f64; 2],
    /// Sides of a cell along x and z.
    cell: [f64; 2],
    /// Metres per unit of height.
    rise: f64,
    /// Of the sphere.
    center: DVec3,
    radius: f64,
    /// Distance from the centre up to which the surface matters.
    within: f64,
}

/// Takes places of the surface.
struct Near<'a, 'b> {
    /// The sphere's centre, and world from the field.
    world: (DVec3, &'a Pose),
    radius: f64,
    /// Of the pair's points.
    first: usize,
    sink: &'a mut Sink<'b>,
}

/// Kinds of places, in names.
#[derive(Clone, Copy)]
enum Part {
    Low = 1,
    High,
    AlongX,
    AlongZ,
    Diagonal,
    Corner,
}

/// Cosine from which normals are the same, and distance of points, in radii, up to which they are:
/// places on a border are found from both sides.
const SAME: f64 = 1.0 - 1e-12;
const CLOSE: f64 = 1e-5;

impl Near<'_, '_> {
    /// A place at a signed distance from the centre, in the direction from there to the centre.
    fn push(&mut self, part: Part, number: usize, distance: f64, outward: DVec3) {
        let (center, pose) = self.world;
        let outward = pose.rotation * outward;
        let point = center - outward * (0.5 * (distance + self.radius));
        let normal = if self.sink.swapped { outward } else { -outward };
        let known = self.sink.found[self.first..].iter().any(|f| {
            f.normal.dot(normal) > SAME && (f.point - point).length() < CLOSE * self.radius
        });
        if !known {
            let name = [part as u32, number as u32];
            self.sink.push(name, point, -outward, distance - self.radius);
        }
    }
}

/// A triangle of a cell: its corner at the right angle, which way its legs run, and the heights at
/// their ends.
struct Half {
    part: Part,
    corner: DVec3,
    sign: f64,
    along_x: f64,
    along_z: f64,
}

/// Where a point over a cell is a little outside a triangle for roundings only, in sides of a cell.
const EDGE: f64 = 1e-9;

impl View<'_> {
    fn find(&self, near: &mut Near<'_, '_>) {
        let range = |axis: usize, at: f64, cells: usize| {
            let to = |x: f64| (x - self.low[axis]) / self.cell[axis];
            let (from, until) = (to(at - self.within), to(at + self.within));
            if !(until >= 0.0 && from <= cells as f64) {
                return 0..0;
            }
            // Numbers below 0 become 0.
            (from as usize).min(cells - 1)..(until as usize).min(cells - 1) + 1
        };
        let over_x = range(0, self.center.x, self.columns);
        let over_z = range(1, self.center.z, self.rows);
        if self.below(near) {
            return;
        }
        let most = self.within * self.within;
        for j in over_x {
            let aside = self.aside(0, j, self.center.x);
            for i in over_z.clone() {
                let beside = self.aside(1, i, self.center.z);
                let (one, two) = (self.number(i, j), self.number(i, j + 1));
                let heights = &self.heights;
                let top =
                    heights[one].max(heights[one + 1]).max(heights[two]).max(heights[two + 1]);
                let over = (self.center.y - top * self.rise).max(0.0);
                if aside * aside + beside * beside + over * over <= most {
                    self.cell(i, j, near);
                }
            }
        }
    }

    /// Distance of a place from the strip of a column or row.
    fn aside(&self, axis: usize, strip: usize, at: f64) -> f64 {
        let from = at - (self.low[axis] + self.cell[axis] * strip as f64);
        (-from).max(from - self.cell[axis]).max(0.0)
    }

    fn point(&self, i: usize, j: usize) -> DVec3 {
        let (x, z) = (self.cell[0] * j as f64, self.cell[1] * i as f64);
        DVec3::new(self.low[0] + x, self.height(i, j), self.low[1] + z)
    }

    fn height(&self, i: usize, j: usize) -> f64 {
        self.heights[self.number(i, j)] * self.rise
    }

    fn number(&self, i: usize, j: usize) -> usize {
        i + j * (self.rows + 1)
    }

    /// Out of the face over the centre, if the centre is below it.
    fn below(&self, near: &mut Near<'_, '_>) -> bool {
        let at = |axis: usize, x: f64| (x - self.low[axis]) / self.cell[axis];
        let (x, z) = (at(0, self.center.x), at(1, self.center.z));
        let outside = |x: f64, cells: usize| !(x >= 0.0 && x <= cells as f64);
        if outside(x, self.columns) || outside(z, self.rows) {
            return false;
        }
        let (i, j) = ((z as usize).min(self.rows - 1), (x as usize).min(self.columns - 1));
        let [low, high] = self.halves(i, j);
        let half = if (x - j as f64) + (z - i as f64) <= 1.0 { low } else { high };
        let (above, slope) = half.above(self.center, self.cell);
        if above >= 0.0 {
            return false;
        }
        let length = slope.length();
        near.push(half.part, self.number(i, j), above / length, slope / length);
        true
    }

    /// The triangles at the cell's corners of least and of greatest x and z.
    fn halves(&self, i: usize, j: usize) -> [Half; 2] {
        let corners = [self.point(i, j), self.point(i + 1, j + 1)];
        let (along_x, along_z) = (self.height(i, j + 1), self.height(i + 1, j));
        let [low, high] = corners;
        [
            Half { part: Part::Low, corner: low, sign: 1.0, along_x, along_z },
            Half { part: Part::High, corner: high, sign: -1.0, along_x: along_z, along_z: along_x },
        ]
    }

    /// Places of a cell: both faces, the edges and the corner at its least x and z, and those of
    /// the field's far borders.
    fn cell(&self, i: usize, j: usize, near: &mut Near<'_, '_>) {
        let halves = self.halves(i, j);
        let [low, high] = [halves[0].corner, halves[1].corner];
        for half in &halves {
            self.face(half, self.number(i, j), near);
        }
        let along_x = DVec3::new(self.cell[0], halves[0].along_x - low.y, 0.0);
        let along_z = DVec3::new(0.0, halves[0].along_z - low.y, self.cell[1]);
        let across = [Some(-along_x), Some(high - low - along_x)];
        self.edge(Part::Diagonal, (i, j + 1), (low + along_x, along_z - along_x), across, near);
        let before = (i > 0).then(|| self.step((i, j), (i - 1, j + 1)));
        self.edge(Part::AlongX, (i, j), (low, along_x), [Some(along_z), before], near);
        let before = (j > 0).then(|| self.step((i, j), (i + 1, j - 1)));
        self.edge(Part::AlongZ, (i, j), (low, along_z), [Some(along_x), before], near);
        self.corner(i, j, near);
        let (last_i, last_j) = (i + 1 == self.rows, j + 1 == self.columns);
        if last_i {
            let line = (low + along_z, high - low - along_z);
            let across = [Some(along_x - along_z), None];
            self.edge(Part::AlongX, (i + 1, j), line, across, near);
            self.corner(i + 1, j, near);
        }
        if last_j {
            let line = (low + along_x, high - low - along_x);
            let across = [Some(along_z - along_x), None];
            self.edge(Part::AlongZ, (i, j + 1), line, across, near);
            self.corner(i, j + 1, near);
        }
        if last_i && last_j {
            self.corner(i + 1, j + 1, near);
        }
    }

    /// From one point to another.
    fn step(&self, from: (usize, usize), to: (usize, usize)) -> DVec3 {
        self.point(to.0, to.1) - self.point(from.0, from.1)
    }

    fn face(&self, half: &Half, number: usize, near: &mut Near<'_, '_>) {
        let (above, slope) = half.above(self.center, self.cell);
        let squared = slope.length_squared();
        if above < 0.0 || above * above > self.within * self.within * squared {
            return;
        }
        let from_corner = (self.center - slope * (above / squared) - half.corner) * half.sign;
        let (x, z) = (from_corner.x / self.cell[0], from_corner.z / self.cell[1]);
        if x >= -EDGE && z >= -EDGE && x + z <= 1.0 + EDGE {
            let length = squared.sqrt();
            near.push(half.part, number, above / length, slope / length);
        }
    }

    /// An edge a + s `along`; `across` are the corners across it from a, in the two faces at it,
    /// none at the field's border.
    fn edge(
        &self,
        part: Part,
        from: (usize, usize),
        (a, along): (DVec3, DVec3),
        across: [Option<DVec3>; 2],
        near: &mut Near<'_, '_>,
    ) {
        // Edge and opposite corners make a parallelogram, seen from above: faces bend down at the
        // edge if its ends are higher.
        if let [Some(c), Some(d)] = across
            && along.y <= c.y + d.y
        {
            return;
        }
        let out = self.center - a;
        let s = out.dot(along) / along.length_squared();
        if !(0.0..=1.0).contains(&s) {
            return;
        }
        let out = out - along * s;
        let squared = out.length_squared();
        let beyond = |c: Option<DVec3>| c.is_none_or(|c| out.dot(c) <= 0.0);
        if squared <= self.within * self.within && beyond(across[0]) && beyond(across[1]) {
            self.push(part, self.number(from.0, from.1), out, squared, near);
        }
    }

    fn corner(&self, i: usize, j: usize, near: &mut Near<'_, '_>) {
        let at = self.point(i, j);
        let out = self.center - at;
        let squared = out.length_squared();
        if squared > self.within * self.within {
            return;
        }
        let (less_i, less_j) = (i.wrapping_sub(1), j.wrapping_sub(1));
        let around =
            [(i + 1, j), (less_i, j), (i, j + 1), (i, less_j), (i + 1, less_j), (less_i, j + 1)];
        let inside = |(i, j): &(usize, usize)| *i <= self.rows && *j <= self.columns;
        let beyond = |(i, j): (usize, usize)| out.dot(self.point(i, j) - at) <= 0.0;
        if around.into_iter().filter(inside).all(beyond) {
            self.push(Part::Corner, self.number(i, j), out, squared, near);
        }
    }

    fn push(&self, part: Part, number: usize, out: DVec3, squared: f64, near: &mut Near<'_, '_>) {
        let length = squared.sqrt();
        // In the surface itself a face is found; the field's borders have nothing below them.
        if length > CLOSE * CLOSE * self.radius && out.y >= 0.0 {
            near.push(part, number, length, out / length);
        }
    }
}

impl Half {
    /// Height of a point above the triangle's plane, and the direction (a, 1, b) across it.
    fn above(&self, p: DVec3, cell: [f64; 2]) -> (f64, DVec3) {
        let slope_x = self.sign * (self.along_x - self.corner.y) / cell[0];
        let slope_z = self.sign * (self.along_z - self.corner.y) / cell[1];
        let from = p - self.corner;
        (from.y - slope_x * from.x - slope_z * from.z, DVec3::new(-slope_x, 1.0, -slope_z))
    }
}
