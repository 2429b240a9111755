//! Superelements from matrices of other finite element programs: a Matrix Market pair K, M and a
//! list of interface nodes.
//!
//! The interface list is text, one node a line: `LINK dof x y z`, `dof` the node's first row (from
//! 1), x y z its place in the world at the linearisation pose, m. Its three rows are displacements
//! along the world's axes. Nodes of one link move as one with it; at least three that are not in a
//! line hold it in all six directions. Lines that begin with `#` are comments.

use forks_deform::dynamics::mechanism::{
    HeldFrame, LinkId, Mechanism, Superelement,
    lie::{Pose, Wrench, glam::DVec3},
    linalg::{Matrix, dense},
};

use crate::CondenseError;

/// A sparse matrix as a list of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixMarket {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Row, column, value; both triangles.
    pub entries: Vec<(usize, usize, f64)>,
}

fn syntax(line: usize, problem: impl Into<String>) -> CondenseError {
    CondenseError::Syntax { line: line + 1, problem: problem.into() }
}

impl MatrixMarket {
    /// Reads the coordinate or array form, real or integer, general or symmetric.
    ///
    /// # Errors
    /// The line that is wrong.
    pub fn parse(text: &str) -> Result<Self, CondenseError> {
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or_else(|| syntax(0, "there is nothing"))?;
        let words: Vec<String> = first.split_whitespace().map(|w| w.to_ascii_lowercase()).collect();
        let [banner, object, form, field, symmetry] = words.as_slice() else {
            return Err(syntax(0, "it is no header of a Matrix Market file"));
        };
        if banner != "%%matrixmarket" || object != "matrix" {
            return Err(syntax(0, "it is no header of a Matrix Market file"));
        }
        if !["real", "integer"].contains(&field.as_str()) {
            return Err(syntax(0, format!("numbers of kind {field} are not read")));
        }
        let symmetric = match symmetry.as_str() {
            "general" => false,
            "symmetric" => true,
            other => return Err(syntax(0, format!("the symmetry {other} is not read"))),
        };
        let mut lines =
            lines.filter(|(_, l)| !l.trim_start().starts_with('%') && !l.trim().is_empty());
        let (at, sizes) = lines.next().ok_or_else(|| syntax(1, "there are no sizes"))?;
        let whole = |line: usize, word: &str| {
            word.parse::<usize>().map_err(|_| syntax(line, format!("'{word}' is no count")))
        };
        let sizes: Vec<usize> =
            sizes.split_whitespace().map(|w| whole(at, w)).collect::<Result<_, _>>()?;
        let mut out = match (form.as_str(), sizes.as_slice()) {
            ("coordinate", [rows, columns, _]) | ("array", [rows, columns]) => {
                Self { rows: *rows, columns: *columns, entries: vec![] }
            }
            _ => return Err(syntax(at, format!("sizes do not belong to the form {form}"))),
        };
        if symmetric && out.rows != out.columns {
            return Err(syntax(at, "a symmetric matrix is not square"));
        }
        let mut place = (0, 0);
        for (line, text) in lines {
            let words: Vec<&str> = text.split_whitespace().collect();
            let (i, j, x) = match (form.as_str(), words.as_slice()) {
                ("coordinate", [i, j, x]) => {
                    (whole(line, i)?.wrapping_sub(1), whole(line, j)?.wrapping_sub(1), *x)
                }
                ("array", [x]) => {
                    let now = place;
                    place.0 += 1;
                    if place.0 == out.rows {
                        let next = place.1 + 1;
                        place = (if symmetric { next } else { 0 }, next);
                    }
                    (now.0, now.1, *x)
                }
                _ => return Err(syntax(line, format!("'{text}' is no entry"))),
            };
            let x: f64 = x
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .ok_or_else(|| syntax(line, format!("'{x}' is no finite number")))?;
            if i >= out.rows || j >= out.columns {
                return Err(syntax(line, "an entry outside the matrix"));
            }
            out.entries.push((i, j, x));
            if symmetric && i != j {
                out.entries.push((j, i, x));
            }
        }
        let expected = match (form.as_str(), symmetric) {
            ("coordinate", _) => sizes[2],
            (_, false) => out.rows * out.columns,
            (_, true) => out.rows * (out.rows + 1) / 2,
        };
        let off = out.entries.iter().filter(|(i, j, _)| i != j).count();
        let found = if symmetric { out.entries.len() - off / 2 } else { out.entries.len() };
        if found != expected {
            return Err(syntax(at, format!("{found} entries instead of {expected}")));
        }
        Ok(out)
    }

    fn dense(&self) -> Matrix {
        let mut out = Matrix::zeros(self.rows, self.columns);
        self.entries.iter().for_each(|(i, j, x)| out[(*i, *j)] += x);
        out
    }
}

/// Interface nodes: link, first row, place in the world.
fn interface(
    text: &str,
    m: &Mechanism,
    rows: usize,
) -> Result<Vec<(LinkId, usize, DVec3)>, CondenseError> {
    let mut out: Vec<(LinkId, usize, DVec3)> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let [link, dof, x, y, z] = words.as_slice() else {
            return Err(syntax(line, "it is not LINK dof x y z"));
        };
        let id = m.find_link(link);
        let id = id.ok_or_else(|| CondenseError::UnknownLink { name: (*link).to_owned() })?;
        let dof: usize = dof.parse().map_err(|_| syntax(line, format!("'{dof}' is no row")))?;
        let number = |w: &str| {
            let x = w.parse::<f64>().ok().filter(|x| x.is_finite());
            x.ok_or_else(|| syntax(line, format!("'{w}' is no finite number")))
        };
        let place = DVec3::new(number(x)?, number(y)?, number(z)?);
        let node = out.len();
        let wrong = |problem: &str| CondenseError::Interface { node, problem: problem.into() };
        if dof == 0 || dof + 2 > rows {
            return Err(wrong("its rows are not those of the matrix"));
        }
        if out.iter().any(|(_, first, _)| first.abs_diff(dof - 1) < 3) {
            return Err(wrong("its rows are those of another node"));
        }
        out.push((id, dof - 1, place));
    }
    Ok(out)
}

/// Condenses matrices of another program to the links that hold them; `modes` of the lowest modes
/// with the interface held go along. Dense: a few thousand rows.
///
/// # Errors
/// Text that cannot be read, matrices of different sizes, an interface that does not hold all
/// motions.
pub fn superelement_from_matrices(
    name: &str,
    m: &Mechanism,
    stiffness: &MatrixMarket,
    mass: &MatrixMarket,
    interface_list: &str,
    modes: usize,
) -> Result<Superelement, CondenseError> {
    for (found, expected) in [
        (stiffness.columns, stiffness.rows),
        (mass.rows, stiffness.rows),
        (mass.columns, stiffness.rows),
    ] {
        if found != expected {
            let quantity = "rows or columns of the matrices";
            return Err(CondenseError::Length { quantity, found, expected });
        }
    }
    let n = stiffness.rows;
    let nodes = interface(interface_list, m, n)?;
    let poses = m.link_poses(&m.start_positions());
    let mut links: Vec<LinkId> = nodes.iter().map(|(l, ..)| *l).collect();
    links.sort();
    links.dedup();
    let mut held = vec![false; n];
    let mut motion = Matrix::zeros(n, 6 * links.len());
    for (link, first, place) in &nodes {
        let at = links.iter().position(|l| l == link).unwrap_or(0);
        let pose = poses[link.index()];
        for c in 0..6 {
            let axis = pose.rotation * DVec3::AXES[c % 3];
            let u = if c < 3 { axis } else { axis.cross(*place - pose.translation) };
            for (k, u) in u.to_array().into_iter().enumerate() {
                motion[(first + k, 6 * at + c)] = u;
                held[first + k] = true;
            }
        }
    }
    let (k, mass) = (stiffness.dense(), mass.dense());
    let free: Vec<usize> = (0..n).filter(|i| !held[*i]).collect();
    let part = |x: &Matrix| Matrix::from_fn(free.len(), free.len(), |i, j| x[(free[i], free[j])]);
    let pulled = k.mul(&motion);
    let right = Matrix::from_fn(free.len(), motion.columns(), |i, j| pulled[(free[i], j)]);
    let unheld = || CondenseError::Interface {
        node: nodes.len(),
        problem: "nodes are missing: some motion with the interface held meets no force".into(),
    };
    let inner = dense::cholesky_solve(&part(&k), &right).ok_or_else(unheld)?;
    let mut shapes = motion;
    for (i, &row) in free.iter().enumerate() {
        for j in 0..shapes.columns() {
            shapes[(row, j)] = -inner[(i, j)];
        }
    }
    let condensed = shapes.transpose_mul(&k.mul(&shapes)).symmetric_part();
    let mut stiff = Vec::new();
    if modes > 0 {
        let found = dense::generalized_symmetric_eigen(&part(&mass), &part(&k));
        let (nu, x) = found.ok_or_else(unheld)?;
        let kept: Vec<usize> = (0..nu.len()).rev().filter(|i| nu[*i] > 0.0).take(modes).collect();
        let width = shapes.columns();
        shapes = Matrix::from_fn(n, width + kept.len(), |i, j| {
            if j < width {
                return shapes[(i, j)];
            }
            free.binary_search(&i).map_or(0.0, |f| x[(f, kept[j - width])])
        });
        // xᵀKx = 1.
        stiff = vec![1.0; kept.len()];
    }
    let mass = shapes.transpose_mul(&mass.mul(&shapes)).symmetric_part();
    Ok(Superelement {
        name: name.to_owned(),
        forces: vec![Wrench::ZERO; links.len()],
        frames: links
            .into_iter()
            .map(|link| HeldFrame { link, link_from_frame: Pose::IDENTITY })
            .collect(),
        outputs: vec![],
        stiffness: condensed,
        output_map: Matrix::default(),
        output_compliance: Matrix::default(),
        modes: stiff,
        mass,
        damping: Matrix::default(),
    })
}
