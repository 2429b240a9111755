//! Cables: energy, forces on links, and the rows that stand for their stiffness in implicit steps.
//!
//! A cable's energy V(ℓ) has the gradient V′ g and the second derivative V″ g gᵀ + V′ ∂²ℓ in the
//! twists of its links. Implicit steps take V″ g gᵀ and what a tension adds across each stretch,
//! as a string resists being plucked: both are positive, so that a step of any length can be made.
//! What else V′ ∂²ℓ contains is left to the forces at the step's start.

use forks_mechanism::{
    Cable, CableNode, CableSegment, LinkId, Mechanism,
    lie::{
        Mat6, Pose, Twist, Wrench,
        glam::{DMat3, DVec3},
    },
    linalg::{Accuracy, jacobi},
};

/// Eigenvalues below this part of the largest one are rounding.
const NEGLIGIBLE: f64 = 1e-12;

/// Energy of all cables, J.
pub fn cable_energy(m: &Mechanism, world_from_link: &[Pose]) -> f64 {
    m.cables().iter().map(|c| c.tension(c.length(world_from_link)).energy).sum()
}

/// Adds the wrenches that a cable exerts on its links in their frames, at body twists of all
/// links.
pub(crate) fn add_cable_wrenches(
    c: &Cable,
    poses: &[Pose],
    twists: &[Twist],
    wrenches: &mut [Wrench],
) {
    if c.is_idle() {
        return;
    }
    let mut pull = c.tension(c.length(poses)).force;
    if c.damping != 0.0 {
        pull += c.damping * c.rate(poses, twists);
    }
    if pull != 0.0 {
        c.length_and_gradient(poses, |l, w| wrenches[l.index()] -= w * pull);
    }
}

/// −½ w·[eᵢ, eⱼ]: how a wrench with a symmetric second derivative of its potential turns with its
/// link, without that derivative.
pub fn bracket_slope(w: Wrench) -> Mat6 {
    let mut out = Mat6::ZERO;
    for (i, row) in out.rows.iter_mut().enumerate() {
        // w·[eᵢ, x] = (ad_{eᵢ}ᵀ w)·x.
        *row = Twist::unit(i).ad_transpose(w).to_array().map(|x| -0.5 * x);
    }
    out
}

/// Rows of a cable in an implicit step: one along its length, then those across each stretch.
pub(crate) fn stiff_row_count(c: &Cable) -> usize {
    1 + stretches(c).map(rows_across).sum::<usize>()
}

fn rows_across(may_wrap: bool) -> usize {
    if may_wrap { 6 } else { 2 }
}

/// By stretch of path, in order: whether there is an obstacle in it.
fn stretches(c: &Cable) -> impl Iterator<Item = bool> + '_ {
    c.branches.iter().flat_map(|b| {
        b.nodes.windows(2).filter_map(|w| match (&w[0], &w[1]) {
            (CableNode::Point(_), CableNode::Point(_)) => Some(false),
            (CableNode::Obstacle(_), _) => Some(true),
            _ => None,
        })
    })
}

/// A row s with its strength κ: the form κ s sᵀ, s over the twists of links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StiffRow {
    /// Its place among the rows of the cable.
    pub(crate) index: usize,
    pub(crate) strength: f64,
    /// The stretch and its directions; `None` for the gradient of the whole length.
    across: Option<(CableSegment, [DVec3; 2])>,
}

impl StiffRow {
    /// Calls `add` with the row's entries link by link, in the links' frames; links may repeat.
    pub(crate) fn for_each(&self, c: &Cable, poses: &[Pose], mut add: impl FnMut(LinkId, Wrench)) {
        match &self.across {
            None => {
                c.length_and_gradient(poses, add);
            }
            Some((segment, directions)) => segment.for_each_pull(*directions, poses, &mut add),
        }
    }
}

/// Calls `f` with every row that is not zero in a step of length h.
pub(crate) fn for_each_stiff_row(c: &Cable, poses: &[Pose], h: f64, mut f: impl FnMut(StiffRow)) {
    let t = c.tension(c.length(poses));
    let strength = h * (h * t.stiffness + c.damping);
    if strength > 0.0 {
        f(StiffRow { index: 0, strength, across: None });
    }
    if t.force <= 0.0 {
        return;
    }
    let mut first = 1;
    for (segment, may_wrap) in c.segments(poses).zip(stretches(c)) {
        let factor = h * h * t.force * segment.weight;
        across(&segment, |k, strength, directions| {
            let across = Some((segment, directions));
            f(StiffRow { index: first + k, strength: strength * factor, across });
        });
        first += rows_across(may_wrap);
    }
}

/// The positive part of a stretch's second derivative by its ends, as directions with strengths.
fn across(s: &CableSegment, mut f: impl FnMut(usize, f64, [DVec3; 2])) {
    if !s.wraps() {
        let n = s.gradient[1];
        if n != DVec3::ZERO {
            let x = n.any_orthonormal_vector();
            for (k, d) in [x, n.cross(x)].into_iter().enumerate() {
                f(k, 1.0 / s.length, [-d, d]);
            }
        }
        return;
    }
    let [uu, uv, vv] = s.second_derivatives();
    let block = |i: usize, j: usize| -> DMat3 {
        match (i, j) {
            (0, 0) => uu,
            (0, 1) => uv,
            (1, 0) => uv.transpose(),
            _ => vv,
        }
    };
    let mut form: [f64; 36] = core::array::from_fn(|k| {
        let (i, j) = (k / 6, k % 6);
        block(i / 3, j / 3).col(j % 3)[i % 3]
    });
    let mut vectors = [0.0; 36];
    jacobi(6, &mut form, &mut vectors, Accuracy::Norm);
    let largest = (0..6).fold(0.0f64, |m, i| m.max(form[7 * i].abs()));
    for k in 0..6 {
        let value = form[7 * k];
        if value > NEGLIGIBLE * largest {
            let at = |i: usize| vectors[6 * k + i];
            let half = |i: usize| DVec3::new(at(i), at(i + 1), at(i + 2));
            f(k, value, [half(0), half(3)]);
        }
    }
}
