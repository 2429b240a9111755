//! Superelements in a reduction: their coordinates over links and shapes.

use forks_mechanism::{LinkId, Superelement, SuperelementNote, lie::Pose, linalg::Matrix};

use crate::{
    motion::scale_pose,
    shapes::{Shapes, above},
};

/// A superelement with the links that stand for its outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// The superelement.
    pub element: Superelement,
    /// The link of every output: massless, on a joint of six coordinates without spring.
    pub outputs: Vec<LinkId>,
    /// What may not have been meant.
    pub notes: Vec<SuperelementNote>,
}

impl Attached {
    /// Links that it ties together, each once, without the ground: those of its frames, then its
    /// outputs.
    pub(crate) fn links(&self) -> Vec<LinkId> {
        let mut out: Vec<LinkId> = Vec::new();
        for l in self.element.frames.iter().map(|f| f.link).chain(self.outputs.iter().copied()) {
            if l != LinkId::WORLD && !out.contains(&l) {
                out.push(l);
            }
        }
        out
    }

    /// Number of twists: frames and outputs.
    pub(crate) fn twists(&self) -> usize {
        self.element.frames.len() + self.outputs.len()
    }

    /// Twists of frames, then outputs, over those of `links`: 6 (k + p) × 6 per link, lengths over
    /// `r`.
    pub(crate) fn rows(&self, links: &[LinkId], r: f64) -> Matrix {
        let mut out = Matrix::zeros(6 * self.twists(), 6 * links.len());
        let frames = self.element.frames.iter().map(|f| (f.link, f.link_from_frame));
        let outputs = self.outputs.iter().map(|l| (*l, Pose::IDENTITY));
        for (i, (link, link_from_frame)) in frames.chain(outputs).enumerate() {
            let Some(at) = links.iter().position(|l| *l == link) else { continue };
            let ad = scale_pose(&link_from_frame.inverse(), r).adjoint().matrix();
            for a in 0..6 {
                out.row_mut(6 * i + a)[6 * at..6 * at + 6].copy_from_slice(&ad.rows[a]);
            }
        }
        out
    }

    /// Its coordinates along shapes, (6k + 6p + m) × n; `first` of its modes' rows in
    /// [`Shapes::internal`].
    pub(crate) fn along(&self, shapes: &Shapes, first: usize) -> Matrix {
        let twists = self.twists_along(&shapes.links);
        above(&twists, &shapes.internal.block(first, 0, self.element.modes.len(), twists.columns()))
    }

    /// Twists of its frames and outputs for twists of all links, 6 (k + p) × columns.
    ///
    /// # Panics
    /// If a link of it has no twist.
    pub fn twists_along(&self, of_links: &[Matrix]) -> Matrix {
        let links = self.links();
        let columns = of_links.first().map_or(0, Matrix::columns);
        let mut stacked = Matrix::zeros(6 * links.len(), columns);
        for (i, l) in links.iter().enumerate() {
            for a in 0..6 {
                stacked.row_mut(6 * i + a).copy_from_slice(of_links[l.index()].row(a));
            }
        }
        self.rows(&links, 1.0).mul(&stacked)
    }

    /// Rows ξ_c − A ξ_B over all twists, 6p × 6 (k + p).
    pub(crate) fn relation(&self) -> Matrix {
        let (k, p) = (6 * self.element.frames.len(), 6 * self.outputs.len());
        Matrix::from_fn(p, k + p, |i, j| match j < k {
            true => -self.element.output_map[(i, j)],
            false => f64::from(u8::from(i == j - k)),
        })
    }
}

/// Number of internal modes of all superelements.
pub(crate) fn internal_modes(attached: &[Attached]) -> usize {
    attached.iter().map(|a| a.element.modes.len()).sum()
}

/// Sums xᵀ M x over superelements, x their coordinates along shapes; `of` gives M, which may be
/// empty.
pub(crate) fn add_forms(
    out: &mut Matrix,
    attached: &[Attached],
    shapes: &Shapes,
    of: impl Fn(&Superelement) -> &Matrix,
) {
    let mut first = 0;
    for a in attached {
        let form = of(&a.element);
        if form.rows() > 0 {
            let x = a.along(shapes, first);
            *out = out.plus_scaled(1.0, &x.transpose_mul(&form.mul(&x)).symmetric_part());
        }
        first += a.element.modes.len();
    }
}
