//! The upward pass: Φ and b of every node, and what each closed joint needs later (\[R06\] Eq. 2,
//! 3, 5 in the form of EQUATIONS 1.4).

use forks_mechanism::lie::glam::DVec3;

use super::{
    connections::Shape,
    eliminate::{
        Factor, eliminate_rows, eliminate_vector, factor, factor_rank_revealing, in_coordinates,
        rotate_rows, rotate_vector, set_coordinates,
    },
    general::{ConnectionState, GeneralState},
    kernel::{
        Block, Vec6, ZERO_BLOCK, add_blocks, add_products, add_scaled, block_of, mirror, packed,
        subtract_block, transposed,
    },
    leaf::BodyState,
    nodes::{Handle, Node, Operation, stays},
    parallel,
    plan::DcaPlan,
    workspace::Slices,
};

/// What the passes read.
#[derive(Clone, Copy)]
pub(super) struct State<'a> {
    pub(super) plan: &'a DcaPlan,
    pub(super) bodies: &'a [BodyState],
    pub(super) connections: &'a [ConnectionState],
    pub(super) generals: &'a [GeneralState],
    /// Generalised forces of the general connections.
    pub(super) loads: &'a [Vec6],
    /// Points of chosen handles from their bodies' centres of mass.
    pub(super) chosen: &'a [DVec3],
    /// Tree forces, closing forces and stiffness blocks, as the caller gave them.
    pub(super) tau: &'a [f64],
    pub(super) closing_tau: &'a [f64],
    pub(super) stiffness: &'a [f64],
    pub(super) parallel: bool,
}

/// All nodes of the subtree that ends at node `last`.
pub(super) fn upward(s: State<'_>, last: usize, mut data: Slices<'_>) {
    let nodes = &s.plan.program.nodes;
    let size = nodes[last].size;
    let first = last + 1 - size;
    // Nodes with one child on top of each other: down to the first with two.
    let mut core = last;
    while matches!(nodes[core].operation, Operation::Close { .. }) {
        core -= 1;
    }
    if !s.parallel || size <= super::nodes::GRAIN || nodes[core].size == 1 {
        for i in first..=last {
            node(s, i, &mut data);
        }
        return;
    }
    let inner = nodes[core].inner;
    let (a, b) = data.reborrow().split(nodes[inner].end);
    parallel::join(true, || upward(s, inner, a), || upward(s, core - 1, b));
    for i in core..=last {
        node(s, i, &mut data);
    }
}

fn node(s: State<'_>, index: usize, data: &mut Slices<'_>) {
    let nodes = &s.plan.program.nodes;
    let n = &nodes[index];
    match n.operation {
        Operation::Leaf { body, pieces } => {
            let points = s.plan.program.handles_of(n).iter().map(|h| s.point(h));
            let (phi, b) = data.slot(n);
            s.bodies[body].leaf(pieces, points, phi, b);
        }
        Operation::Join { connection } => {
            join(s, n, [&nodes[n.inner], &nodes[index - 1]], connection, data);
        }
        Operation::Close { connection, sides } => close(s, n, connection, sides, data),
        Operation::Beside => beside(s, n, [&nodes[n.inner], &nodes[index - 1]], data),
    }
}

impl State<'_> {
    /// Where a handle is from its body's centre of mass, world axes.
    #[inline]
    fn point(&self, h: &Handle) -> DVec3 {
        match *h {
            Handle::Side { connection, side } => self.connections[connection].points[side],
            Handle::Chosen(k) => self.chosen[k],
        }
    }

    /// Q of a connection in the last d entries.
    #[inline]
    fn load(&self, connection: usize) -> Vec6 {
        let mut out = [0.0; 6];
        match &self.plan.connections[connection].shape {
            Shape::Single(x) => out[5] = self.generalized_force(x.v),
            Shape::General(g) => {
                let d = self.plan.connections[connection].dof;
                out[6 - d..].copy_from_slice(&self.loads[*g][..d]);
            }
            Shape::Weld => {}
        }
        out
    }

    /// Generalised force of a velocity coordinate, of tree joints or of closing ones.
    #[inline]
    pub(super) fn generalized_force(&self, v: usize) -> f64 {
        let tree = self.plan.tree_velocities;
        if v < tree { self.tau[v] } else { self.closing_tau.get(v - tree).copied().unwrap_or(0.0) }
    }

    /// K of a connection, d×d by rows.
    fn stiffness_of(&self, connection: usize, out: &mut [f64; 36]) -> usize {
        let d = self.plan.connections[connection].dof;
        if self.stiffness.is_empty() {
            return 0;
        }
        match &self.plan.connections[connection].shape {
            Shape::Single(x) => out[0] = self.stiffness[x.k],
            Shape::General(g) => {
                for p in &self.plan.generals[*g].parts {
                    let n = p.joint.dof;
                    for i in 0..n {
                        for j in 0..n {
                            out[(p.column + i) * d + p.column + j] =
                                self.stiffness[p.k + i * n + j];
                        }
                    }
                }
            }
            Shape::Weld => {}
        }
        d * d
    }
}

/// Factors Φ_r and sets everything of a closed joint but the rows of other handles. `phi_r` = Φ_r,
/// `beta` = c − Eᵀb. Gives the number k of constraint directions.
fn close_joint(
    s: State<'_>,
    connection: usize,
    phi_r: &Block,
    uncancelled: f64,
    beta: &Vec6,
    f: &mut Factor,
    rotation: Option<&mut Block>,
) -> usize {
    let c = &s.plan.connections[connection];
    let basis = c.basis(&s.connections[connection], s.generals);
    let k = basis.constraints();
    f.load = s.load(connection);
    f.offset = basis.project_vector(beta);
    f.dropped = 0;
    f.weakest = 1.0;
    f.rotated = false;
    f.c = in_coordinates(&basis, phi_r);
    match rotation {
        // Without loops every Φ_r is positive definite.
        None => {
            factor(&mut f.c, k, &[0.0; 6]);
        }
        Some(rotation) => {
            let original = f.c;
            let floor = pivot_floor(c.scale, c.unit, &basis);
            if c.closing || !factor(&mut f.c, k, &floor) {
                f.c = original;
                // Rounding errors are in proportion to the two bodies' own Φ, even where loops have
                // locked the bodies and little is left of it.
                let own = (c.scale[0] / (c.unit * c.unit) + c.scale[1]) / 2.0;
                let scale = uncancelled.max(OWN_SCALE * own);
                (*rotation, f.dropped, f.weakest) = factor_rank_revealing(&mut f.c, k, scale);
                rotate_vector(rotation, k, &mut f.offset);
                f.rotated = true;
            }
        }
    }
    eliminate_vector(&f.c, k, &mut f.offset);
    if k == 5 {
        set_single(f, s, connection);
    } else if k < 6 {
        let mut stiffness = [0.0; 36];
        let n = s.stiffness_of(connection, &mut stiffness);
        set_coordinates(f, k, if n == 0 { &[] } else { &stiffness[..n] });
    } else {
        f.is_stiff = false;
    }
    k
}

/// Part of the bodies' own Φ that counts as uncancelled scale of what loops have left of it.
const OWN_SCALE: f64 = 0.1;

/// [`set_coordinates`] for one coordinate.
fn set_single(f: &mut Factor, s: State<'_>, connection: usize) {
    let kappa = match &s.plan.connections[connection].shape {
        Shape::Single(x) => s.stiffness.get(x.k).copied().unwrap_or(0.0),
        _ => {
            let mut stiffness = [0.0; 36];
            s.stiffness_of(connection, &mut stiffness);
            stiffness[0]
        }
    };
    let d0 = f.c[5][5];
    let inverse = 1.0 / (1.0 + d0 * kappa);
    f.is_stiff = kappa != 0.0;
    f.offset[5] = inverse * (d0 * f.load[5] - f.offset[5]);
    f.load[5] -= kappa * f.offset[5];
    f.stiff[0][0] = kappa * inverse;
    f.c[5][5] = inverse;
}

/// Pivots below this may be what loops have left of the two bodies' own Φ: they need the rank
/// decision.
fn pivot_floor(scale: [f64; 2], unit: f64, basis: &super::basis::Basis<'_>) -> Vec6 {
    let size = match basis {
        super::basis::Basis::Hinge(_) => [scale[0], scale[0], scale[0], scale[1], scale[1], 0.0],
        super::basis::Basis::Slide(_) => [scale[0], scale[0], scale[1], scale[1], scale[1], 0.0],
        super::basis::Basis::Weld => [scale[0], scale[0], scale[0], scale[1], scale[1], scale[1]],
        super::basis::Basis::Full { .. } => [scale[1].max(scale[0] / (unit * unit)); 6],
    };
    size.map(|x| 1e-4 * x)
}

/// Trace of Φ_ii + Φ_jj over 6, lengths in units of `unit`.
fn uncancelled(a: &Block, b: Option<&Block>, unit: f64) -> f64 {
    let half =
        |m: &Block, from: usize| m[from][from] + m[from + 1][from + 1] + m[from + 2][from + 2];
    let trace = |m: &Block| half(m, 0) / (unit * unit) + half(m, 3);
    (trace(a) + b.map_or(0.0, trace)) / 6.0
}

/// b′ += sign (Yᵀz + Nᵀ(Q − KR)).
#[inline]
fn add_bias(b: &mut Vec6, sign: f64, x: &Block, f: &Factor, k: usize) {
    for r in 0..6 {
        let s = if r < k { f.offset[r] } else { f.load[r] };
        add_scaled(b, sign * s, &x[r]);
    }
}

/// Φ′ += sign (YᵀY + Nᵀ K (1 + D0 K)⁻¹ N).
#[inline]
fn add_cross(phi: &mut Block, sign: f64, x: &Block, y: &Block, f: &Factor, k: usize) {
    add_products(phi, sign, x, y, k);
    if f.is_stiff {
        let mut n = ZERO_BLOCK;
        for i in 0..6 - k {
            for j in 0..6 - k {
                add_scaled(&mut n[i], f.stiff[i][j], &y[k + j]);
            }
        }
        let mut left = ZERO_BLOCK;
        left[..6 - k].copy_from_slice(&x[k..]);
        add_products(phi, sign, &left, &n, 6 - k);
    }
}

fn join(s: State<'_>, n: &Node, [na, nb]: [&Node; 2], connection: usize, data: &mut Slices<'_>) {
    let joined = data.joined(n, na, nb, n.handles);
    let (phi_a, phi_b) = (&*joined.phi[0], &*joined.phi[1]);
    let (b_a, b_b) = (&*joined.b[0], &*joined.b[1]);
    let c = &s.plan.connections[connection];
    let phi_r = add_blocks(&phi_a[0], &phi_b[0]);
    let state = &s.connections[connection];
    let beta: Vec6 = std::array::from_fn(|i| state.c[i] - b_b[0][i] + b_a[0][i]);
    let scale = uncancelled(&phi_a[0], Some(&phi_b[0]), c.unit);
    let f = joined.factor;
    let mut rotation = joined.rotation;
    let k = close_joint(s, connection, &phi_r, scale, &beta, f, rotation.as_deref_mut());
    let rotation = rotation.as_deref();
    finish_rows(s, connection, k, f, rotation, phi_a, phi_b, na.handles, joined.rows);
    let (m, ma, mb) = (n.handles, na.handles, nb.handles);
    let sources = s.plan.program.sources_of(n);
    // Rows of the inner child's handles come first; there Φ_{r,a} has a minus.
    let in_a = ma - 1;
    let rows = &*joined.rows;
    for (p, &x) in sources.iter().enumerate() {
        let (mut b, sign) = if x < in_a { (b_a[x + 1], -1.0) } else { (b_b[x - in_a + 1], 1.0) };
        add_bias(&mut b, sign, &rows[x], f, k);
        joined.out_b[p] = b;
        for (q, &y) in sources.iter().enumerate().skip(p) {
            let (mut phi, sign) = match (x < in_a, y < in_a) {
                (true, true) => (block_of(phi_a, ma, x + 1, y + 1), -1.0),
                (false, false) => (block_of(phi_b, mb, x - in_a + 1, y - in_a + 1), -1.0),
                _ => (ZERO_BLOCK, 1.0),
            };
            add_cross(&mut phi, sign, &rows[x], &rows[y], f, k);
            if p == q {
                mirror(&mut phi);
            }
            joined.out_phi[packed(m, p, q)] = phi;
        }
    }
}

/// Y and N of all other handles of both children.
#[allow(clippy::too_many_arguments)]
fn finish_rows(
    s: State<'_>,
    connection: usize,
    k: usize,
    f: &Factor,
    rotation: Option<&Block>,
    phi_a: &[Block],
    phi_b: &[Block],
    handles_a: usize,
    rows: &mut [Block],
) {
    let c = &s.plan.connections[connection];
    let basis = c.basis(&s.connections[connection], s.generals);
    let rotation = rotation.filter(|_| f.rotated);
    let in_a = handles_a - 1;
    for (x, row) in rows.iter_mut().enumerate() {
        let source = if x < in_a { &phi_a[x + 1] } else { &phi_b[x - in_a + 1] };
        *row = basis.project(source);
        if let Some(r) = &rotation {
            rotate_rows(r, k, row);
        }
        eliminate_rows(&f.c, k, row);
    }
}

/// A joint between two handles of one articulated body, or a handle and the ground.
fn close(
    s: State<'_>,
    n: &Node,
    connection: usize,
    sides: [Option<usize>; 2],
    data: &mut Slices<'_>,
) {
    let child = &s.plan.program.nodes[n.inner];
    let closed = data.closed(n, child, n.handles);
    let (phi, b, mc) = (&*closed.phi, &*closed.b, child.handles);
    let c = &s.plan.connections[connection];
    let [i, j] = sides;
    let diagonal = |h: usize| &phi[packed(mc, h, h)];
    let mut phi_r = ZERO_BLOCK;
    let mut beta = s.connections[connection].c;
    for (h, sign) in [(i, 1.0), (j, -1.0)] {
        if let Some(h) = h {
            phi_r = add_blocks(&phi_r, diagonal(h));
            add_scaled(&mut beta, sign, &b[h]);
        }
    }
    if let (Some(i), Some(j)) = (i, j) {
        let cross = block_of(phi, mc, i, j);
        subtract_block(&mut phi_r, &cross);
        subtract_block(&mut phi_r, &transposed(&cross));
    }
    let scale = match (i, j) {
        (Some(i), Some(j)) => uncancelled(diagonal(i), Some(diagonal(j)), c.unit),
        (Some(h), None) | (None, Some(h)) => uncancelled(diagonal(h), None, c.unit),
        (None, None) => 0.0,
    };
    let f = closed.factor;
    let mut rotation = closed.rotation;
    let k = close_joint(s, connection, &phi_r, scale, &beta, f, rotation.as_deref_mut());
    let basis = c.basis(&s.connections[connection], s.generals);
    let live = |x: usize| stays(sides, x);
    for (x, row) in closed.rows.iter_mut().enumerate() {
        let mut source = ZERO_BLOCK;
        if let Some(j) = j {
            source = block_of(phi, mc, j, live(x));
        }
        if let Some(i) = i {
            subtract_block(&mut source, &block_of(phi, mc, i, live(x)));
        }
        *row = basis.project(&source);
        if f.rotated
            && let Some(r) = rotation.as_deref()
        {
            rotate_rows(r, k, row);
        }
        eliminate_rows(&f.c, k, row);
    }
    let rows = &*closed.rows;
    let sources = s.plan.program.sources_of(n);
    for (p, &x) in sources.iter().enumerate() {
        let mut bias = b[live(x)];
        add_bias(&mut bias, 1.0, &rows[x], f, k);
        closed.out_b[p] = bias;
        for (q, &y) in sources.iter().enumerate().skip(p) {
            let mut out = block_of(phi, mc, live(x), live(y));
            add_cross(&mut out, -1.0, &rows[x], &rows[y], f, k);
            if p == q {
                mirror(&mut out);
            }
            closed.out_phi[packed(n.handles, p, q)] = out;
        }
    }
}

fn beside(s: State<'_>, n: &Node, [na, nb]: [&Node; 2], data: &mut Slices<'_>) {
    let (ma, mb) = (na.handles, nb.handles);
    let sources = s.plan.program.sources_of(n);
    let (phi, b, out_phi, out_b) = data.beside(n, na, nb);
    for (p, &x) in sources.iter().enumerate() {
        out_b[p] = if x < ma { b[0][x] } else { b[1][x - ma] };
        for (q, &y) in sources.iter().enumerate().skip(p) {
            out_phi[packed(n.handles, p, q)] = match (x < ma, y < ma) {
                (true, true) => block_of(phi[0], ma, x, y),
                (false, false) => block_of(phi[1], mb, x - ma, y - ma),
                _ => ZERO_BLOCK,
            };
        }
    }
}
