//! The downward pass: from the forces at a node's handles to its joint's force and acceleration
//! (\[R06\] Eq. 4, 6, 7), and to the forces at its children's handles.

use super::{
    eliminate::{Factor, back_substitute, rotate_vector_back},
    kernel::{Block, Vec6, add_scaled, dot},
    nodes::{GRAIN, Node, Operation, stays},
    parallel,
    upward::State,
    workspace::Slices,
};

/// All nodes of the subtree that ends at node `last`.
pub(super) fn downward(s: State<'_>, last: usize, mut data: Slices<'_>) {
    let nodes = &s.plan.program.nodes;
    let size = nodes[last].size;
    let first = last + 1 - size;
    let mut core = last;
    while matches!(nodes[core].operation, Operation::Close { .. }) {
        core -= 1;
    }
    if !s.parallel || size <= GRAIN || nodes[core].size == 1 {
        for i in (first..=last).rev() {
            node(s, i, &mut data);
        }
        return;
    }
    for i in (core..=last).rev() {
        node(s, i, &mut data);
    }
    let inner = nodes[core].inner;
    let (a, b) = data.split(nodes[inner].end);
    parallel::join(true, || downward(s, inner, a), || downward(s, core - 1, b));
}

fn node(s: State<'_>, index: usize, data: &mut Slices<'_>) {
    let nodes = &s.plan.program.nodes;
    let n = &nodes[index];
    match n.operation {
        Operation::Leaf { .. } => {}
        Operation::Join { connection } => {
            open(s, n, [&nodes[n.inner], &nodes[index - 1]], connection, data);
        }
        Operation::Close { connection, sides } => {
            reopen(s, n, &nodes[n.inner], connection, sides, data);
        }
        Operation::Beside => {
            let children = [&nodes[n.inner], &nodes[index - 1]];
            let (own, [a, b]) = data.forces(n, children);
            for (f, &x) in own.iter().zip(s.plan.program.sources_of(n)) {
                if x < a.len() { a[x] = *f } else { b[x - a.len()] = *f }
            }
        }
    }
}

/// y = Σ ± rows·f; k entries of Y f and d of N f.
#[inline]
fn subtract_rows(x: &mut Vec6, sign: f64, rows: &Block, f: &Vec6) {
    for i in 0..6 {
        x[i] -= sign * dot(&rows[i], f);
    }
}

/// q̈ and f_B. `x`: z − Y f in the first k entries, −N f in the rest.
#[inline]
fn solve(s: State<'_>, connection: usize, f: &mut Factor, rotation: Option<&Block>, x: &mut Vec6) {
    let basis = s.plan.connections[connection].basis(&s.connections[connection], s.generals);
    let k = basis.constraints();
    let d = 6 - k;
    let n: Vec6 = std::array::from_fn(|i| if i < d { -x[k + i] } else { 0.0 });
    for i in 0..d {
        let change: f64 = (0..d).map(|j| f.c[k + i][k + j] * n[j]).sum();
        f.acceleration[i] = f.offset[k + i] + change;
        let mut g = f.load[k + i];
        if f.is_stiff {
            g -= (0..d).map(|j| f.stiff[i][j] * n[j]).sum::<f64>();
        }
        x[k + i] = g;
    }
    back_substitute(&f.c, k, x);
    if f.rotated
        && let Some(r) = rotation
    {
        rotate_vector_back(r, k, x);
    }
    f.force = basis.expand(x);
}

/// Beginning of the solution: z, and zeros for N f.
#[inline]
fn start(s: State<'_>, connection: usize, f: &Factor) -> Vec6 {
    let k = 6 - s.plan.connections[connection].dof;
    std::array::from_fn(|i| if i < k { f.offset[i] } else { 0.0 })
}

fn open(s: State<'_>, n: &Node, children: [&Node; 2], connection: usize, data: &mut Slices<'_>) {
    let in_a = children[0].handles - 1;
    let rows = n.handles;
    let (down, [a, b]) = data.downward(n, children, rows);
    let mut x = start(s, connection, down.factor);
    let sources = s.plan.program.sources_of(n);
    for (f, &source) in down.own.iter().zip(sources) {
        if source < in_a {
            subtract_rows(&mut x, -1.0, &down.rows[source], f);
            a[source + 1] = *f;
        } else {
            subtract_rows(&mut x, 1.0, &down.rows[source], f);
            b[source - in_a + 1] = *f;
        }
    }
    solve(s, connection, down.factor, down.rotation, &mut x);
    b[0] = down.factor.force;
    a[0] = down.factor.force.map(|x| -x);
}

fn reopen(
    s: State<'_>,
    n: &Node,
    child: &Node,
    connection: usize,
    sides: [Option<usize>; 2],
    data: &mut Slices<'_>,
) {
    let (down, [c]) = data.downward(n, [child], n.handles);
    let mut x = start(s, connection, down.factor);
    for (f, &source) in down.own.iter().zip(s.plan.program.sources_of(n)) {
        subtract_rows(&mut x, 1.0, &down.rows[source], f);
        c[stays(sides, source)] = *f;
    }
    solve(s, connection, down.factor, down.rotation, &mut x);
    let force = down.factor.force;
    for (side, sign) in sides.into_iter().zip([-1.0, 1.0]) {
        if let Some(h) = side {
            c[h] = [0.0; 6];
            add_scaled(&mut c[h], sign, &force);
        }
    }
}
