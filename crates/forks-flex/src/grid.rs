//! Points, elements and pins of a `<flexcomp>`.

use forks_deform::dynamics::mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3},
};
use roxmltree::Node;

use crate::{
    error::FlexError,
    numbers::{exactly, list, wrong},
};

/// Tetrahedra of a cell, its corners counted round its lower face, then round its upper one.
const CELL: [[usize; 4]; 6] =
    [[0, 3, 1, 7], [0, 1, 4, 7], [1, 3, 2, 7], [1, 2, 6, 7], [1, 5, 4, 7], [1, 6, 5, 7]];

/// Steps along x, y and z from a cell's first corner to the others.
const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// What a `<flexcomp>` is made of.
pub(crate) struct Composite {
    /// In the frame of the body that carries it.
    pub(crate) points: Vec<DVec3>,
    pub(crate) elements: Vec<[usize; 4]>,
    pub(crate) pinned: Vec<bool>,
    /// kg, of all points.
    pub(crate) mass: f64,
}

/// Reads one.
pub(crate) fn composite(node: Node<'_, '_>, name: &str) -> Result<Composite, FlexError> {
    if let Some(dof) = node.attribute("dof").filter(|d| *d != "full") {
        return Err(wrong(name, format!("has dof=\"{dof}\": only full ones are tissue")));
    }
    if node.attribute("rigid") == Some("true") {
        return Err(wrong(name, "is rigid: there is no tissue in it"));
    }
    for attribute in ["axisangle", "xyaxes", "zaxis", "euler"] {
        if node.attribute(attribute).is_some() {
            return Err(wrong(name, format!("has {attribute}; its turn can be a quat alone")));
        }
    }
    let count: [usize; 3] = exactly(node, "count", name, [10; 3])?;
    let scale: [f64; 3] = exactly(node, "scale", name, [1.0; 3])?;
    let direct = node.attribute("type") == Some("direct");
    let (mut points, elements) = match node.attribute("type").unwrap_or("grid") {
        "grid" => grid(count, exactly(node, "spacing", name, [0.02; 3])?, name)?,
        "direct" => {
            let x: Vec<f64> = list(node, "point", name)?;
            let e: Vec<usize> = list(node, "element", name)?;
            if !x.len().is_multiple_of(3) || !e.len().is_multiple_of(4) {
                return Err(wrong(name, "has points of other than 3 or elements of other than 4"));
            }
            let points = x.chunks_exact(3).map(|x| DVec3::from_slice(x) * DVec3::from(scale));
            let elements = e.chunks_exact(4).map(|e| [e[0], e[1], e[2], e[3]]);
            (points.collect(), elements.collect())
        }
        other => return Err(wrong(name, format!("is of type {other}; grid and direct are read"))),
    };
    let [w, x, y, z]: [f64; 4] = exactly(node, "quat", name, [1.0, 0.0, 0.0, 0.0])?;
    let place = Pose::new(
        DQuat::from_xyzw(x, y, z, w).normalize(),
        DVec3::from_array(exactly(node, "pos", name, [0.0; 3])?),
    );
    points.iter_mut().for_each(|p| *p = place.transform_point(*p));
    let pinned = pins(node, name, (!direct).then_some(count), points.len())?;
    let [mass] = exactly(node, "mass", name, [1.0])?;
    Ok(Composite { points, elements, pinned, mass })
}

type Grid = (Vec<DVec3>, Vec<[usize; 4]>);

fn grid(count: [usize; 3], spacing: [f64; 3], name: &str) -> Result<Grid, FlexError> {
    let [nx, ny, nz] = count;
    let few = nx.min(ny).min(nz) < 2;
    if few || nx.saturating_mul(ny).saturating_mul(nz) > 1_000_000 {
        return Err(wrong(name, format!("has a grid of {count:?} points")));
    }
    let middle = |n: usize| 0.5 * (n as f64 - 1.0);
    let (mut points, mut elements) = (Vec::new(), Vec::new());
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let at = |i: usize, n: usize, s: f64| s * (i as f64 - middle(n));
                let [x, y, z] = spacing;
                points.push(DVec3::new(at(i, nx, x), at(j, ny, y), at(k, nz, z)));
                if i + 1 < nx && j + 1 < ny && k + 1 < nz {
                    let corner = |c: usize| {
                        let [a, b, d] = CORNERS[c];
                        (ny * (i + a) + j + b) * nz + k + d
                    };
                    elements.extend(CELL.map(|t| t.map(corner)));
                }
            }
        }
    }
    Ok((points, elements))
}

/// Points that the carrying body holds.
fn pins(
    node: Node<'_, '_>,
    name: &str,
    grid: Option<[usize; 3]>,
    count: usize,
) -> Result<Vec<bool>, FlexError> {
    let mut out = vec![false; count];
    let beyond = || wrong(name, "has a pin beyond its points");
    for pin in node.children().filter(|c| c.has_tag_name("pin")) {
        for id in list::<usize>(pin, "id", name)? {
            *out.get_mut(id).ok_or_else(beyond)? = true;
        }
        let ranges: Vec<usize> = list(pin, "range", name)?;
        for r in ranges.chunks(2) {
            let [a, b] = *r else { return Err(wrong(name, "has half a range of pins")) };
            out.get_mut(a..=b).ok_or_else(beyond)?.fill(true);
        }
        let single: Vec<usize> = list(pin, "grid", name)?;
        let boxes: Vec<usize> = list(pin, "gridrange", name)?;
        let all =
            single.chunks(3).map(|g| [g, g].concat()).chain(boxes.chunks(6).map(<[_]>::to_vec));
        for b in all {
            let (Some([_, ny, nz]), &[x0, y0, z0, x1, y1, z1]) = (grid, &b[..]) else {
                return Err(wrong(name, "has a pin of a grid that it cannot have"));
            };
            for x in x0..=x1 {
                for y in y0..=y1 {
                    for z in z0..=z1 {
                        let inside = y < ny && z < nz;
                        let at = out.get_mut((x * ny + y) * nz + z).filter(|_| inside);
                        *at.ok_or_else(beyond)? = true;
                    }
                }
            }
        }
    }
    Ok(out)
}
