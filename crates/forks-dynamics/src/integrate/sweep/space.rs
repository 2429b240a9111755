//! Memory of fronts, and what is done to a single one.

use forks_mechanism::linalg::simd::{Arithmetic, LANES, Lanes};

use super::{
    front::Front,
    motion::Motion,
    pairs::{NOTHING, Six, ZERO, eliminate, pairs, subtract},
    plan::SweepPlan,
    rows::Rows,
};

/// Inertia below this part of the largest one counts as this part.
const LIGHT: f64 = 1e-9;

/// Matrices, factors and right-hand sides of all fronts.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub(super) pool: Vec<Vec<Lanes>>,
    pub(super) scratch: Vec<Lanes>,
    /// Of symmetric fronts the blocks, and those that are left for the next one.
    pub(super) blocks: Vec<Six>,
    pub(super) left: Vec<Vec<Six>>,
    /// For every unknown that is eliminated its row of U, one over the pivot on the diagonal, and,
    /// of matrices that are not symmetric, its column of L.
    pub(super) kept: Vec<Lanes>,
    /// How many of the two.
    pub(super) sides: usize,
    pub(super) solutions: Vec<f64>,
    pub(super) vector: Vec<Lanes>,
    /// Right-hand sides of the coordinates.
    pub(super) right: Vec<f64>,
    /// Right-hand sides of the rows, then their multipliers.
    pub(super) multipliers: Vec<f64>,
    /// What each row's slots give to its pivot by themselves.
    pub(super) references: Vec<f64>,
    /// One over the slots' own diagonal entries.
    inverse_mass: Vec<[Lanes; 2]>,
    /// Mass and moment of inertia that an empty slot counts with.
    light: [f64; 2],
}

impl Space {
    pub(super) fn new(plan: &SweepPlan, rows: usize, symmetric: bool) -> Self {
        Self {
            pool: Vec::new(),
            scratch: Vec::new(),
            blocks: Vec::new(),
            left: Vec::new(),
            kept: Vec::new(),
            sides: if symmetric { 1 } else { 2 },
            solutions: Vec::new(),
            vector: Vec::new(),
            right: vec![0.0; plan.tree.velocity_count()],
            multipliers: vec![0.0; rows],
            references: vec![0.0; rows],
            inverse_mass: vec![[ZERO; 2]; plan.tree.slots.len()],
            light: light(plan),
        }
    }

    pub(super) fn start(&mut self, rows: &Rows, motion: &Motion) {
        self.multipliers.fill(0.0);
        let [mass, moment] = self.light;
        for (inverse, at) in self.inverse_mass.iter_mut().zip(&motion.places) {
            let (m, t) = (1.0 / at.inertia.mass.max(mass), &at.inertia.tensor);
            let [x, y, z] = [t.xx, t.yy, t.zz].map(|t| 1.0 / t.max(moment));
            *inverse = [Lanes([m, m, m, x]), Lanes([y, z, 0.0, 0.0])];
        }
        for (g, group) in rows.groups.iter().enumerate() {
            for row in group.first_row..group.first_row + group.rows {
                let mut sum = rows.diagonal[row].abs();
                for (w, &s) in rows.row(g, row).iter().zip(&group.slots) {
                    let [a, b] = &self.inverse_mass[s as usize];
                    let (f, t) = (w.force, w.torque);
                    sum += f.x * f.x * a[0] + f.y * f.y * a[1] + f.z * f.z * a[2];
                    sum += t.x * t.x * a[3] + t.y * t.y * b[0] + t.z * t.z * b[1];
                }
                self.references[row] = sum;
            }
        }
    }

    /// Forgets all factors.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.solutions.clear();
    }

    /// A further matrix in the pool.
    pub(super) fn add_rest(&mut self) -> usize {
        self.pool.push(Vec::new());
        self.left.push(Vec::new());
        self.pool.len() - 1
    }

    /// Makes room for the last front.
    pub(super) fn make_room(&mut self, front: &Front) {
        let grow = |v: &mut Vec<Lanes>, n: usize| v.resize(v.len().max(n), ZERO);
        grow(&mut self.vector, front.width());
        let (scalars, n) = (front.scalars(), front.around.len());
        let (all, rest) = match self.is_symmetric() {
            true => (scalars, scalars),
            false => (front.size() + 6, front.size() - front.dof),
        };
        if self.is_symmetric() {
            let grow = |v: &mut Vec<Six>, n: usize| v.resize(v.len().max(n), NOTHING);
            grow(&mut self.blocks, pairs(n + 1));
            grow(&mut self.left[front.rest], pairs(n));
        }
        grow(&mut self.scratch, all * (front.width() + 2));
        grow(&mut self.pool[front.rest], rest * (front.width() + 1));
        let factors = self.sides * front.scalars() * front.width();
        self.kept.resize(front.kept + factors, ZERO);
        self.solutions.resize(front.solution + front.scalars(), 0.0);
    }

    /// Takes back what multipliers that wait do not need.
    pub(super) fn trim(&mut self, front: &Front) {
        self.kept.truncate(front.kept + self.sides * front.eliminated() * front.width());
        self.solutions.truncate(front.solution + front.eliminated());
    }

    /// Half of the blocks are there.
    fn is_symmetric(&self) -> bool {
        self.sides == 1
    }

    pub(super) fn reference(&self, row: usize) -> f64 {
        self.references[row].max(f64::MIN_POSITIVE)
    }

    /// An entry in coordinates and multipliers.
    #[inline(always)]
    pub(super) fn entry(&self, front: &Front, i: usize, j: usize) -> f64 {
        self.scratch[i * (front.width() + 2) + j / LANES][j % LANES]
    }

    /// The entries of a row in the slots around, squared sums of which are parts of `reference`.
    pub(super) fn scaled_row(&self, front: &Front, i: usize, reference: f64) -> Vec<f64> {
        let row = &self.scratch[i * (front.width() + 2) + front.head()..];
        let mut out = Vec::with_capacity(8 * front.around.len());
        for (chunks, &s) in row.chunks_exact(2).zip(&front.around) {
            for (chunk, by) in chunks.iter().zip(&self.inverse_mass[s as usize]) {
                out.extend(chunk.iter().zip(by.0).map(|(x, m)| x * (m / reference).sqrt()));
            }
        }
        out
    }

    /// Exchanges two multipliers.
    pub(super) fn swap(&mut self, front: &Front, i: usize, j: usize) {
        if i == j {
            return;
        }
        let w = front.width() + 2;
        for c in 0..w {
            self.scratch.swap(i * w + c, j * w + c);
        }
        let exchange = |row: &mut [Lanes]| {
            let x = row[i / LANES][i % LANES];
            row[i / LANES][i % LANES] = row[j / LANES][j % LANES];
            row[j / LANES][j % LANES] = x;
        };
        let rows = if self.is_symmetric() { front.scalars() } else { front.size() };
        self.scratch.chunks_exact_mut(w).take(rows).for_each(exchange);
        // Factors of what is eliminated already.
        let (width, done) = (front.width(), self.sides * i.min(j));
        self.kept[front.kept..].chunks_exact_mut(width).take(done).for_each(exchange);
    }

    /// Takes a multiplier out of the matrix.
    pub(super) fn isolate(&mut self, front: &Front, k: usize) {
        let w = front.width() + 2;
        self.scratch[k * w..(k + 1) * w].fill(ZERO);
        let rows = if self.is_symmetric() { front.scalars() } else { front.size() };
        for r in 0..rows {
            self.scratch[r * w + k / LANES][k % LANES] = 0.0;
        }
        self.scratch[k * w + k / LANES][k % LANES] = 1.0;
        self.take_pivot(forks_mechanism::linalg::simd::Portable, front, k);
    }

    /// True if the pivot of unknown `k` lets an inertia grow by more than `limit` over its own,
    /// times the pivot.
    #[inline(always)]
    pub(super) fn grows<L: Arithmetic>(&self, l: L, front: &Front, k: usize, limit: f64) -> bool {
        let row = &self.scratch[k * (front.width() + 2) + front.head()..];
        let mut out = false;
        for (chunks, &s) in row.chunks_exact(2).zip(&front.around) {
            for (chunk, by) in chunks.iter().zip(&self.inverse_mass[s as usize]) {
                let x = l.load(chunk);
                out |= ((x * x).rounded() * l.load(by)).rounded().any_above(limit);
            }
        }
        out
    }

    /// Eliminates unknown `k` and keeps its factors.
    #[inline(always)]
    pub(super) fn take_pivot<L: Arithmetic>(&mut self, l: L, front: &Front, k: usize) {
        let (width, head, scalars) = (front.width(), front.head(), front.scalars());
        let w = width + 2;
        let one = self.sides * width;
        let (upper, lower) = self.kept[front.kept + k * one..][..one].split_at_mut(width);
        if self.sides == 1 {
            upper.copy_from_slice(&self.scratch[k * w..][..width]);
            eliminate(l, front, k, &mut self.scratch, &mut self.blocks, upper);
            upper[k / LANES][k % LANES] = 1.0 / upper[k / LANES][k % LANES];
            return;
        }
        let (above, below) = self.scratch.split_at_mut((k + 1) * w);
        upper.copy_from_slice(&above[k * w..][..width]);
        lower.fill(ZERO);
        let (chunk, lane) = (k / LANES, k % LANES);
        let inverse = 1.0 / upper[chunk][lane];
        let mut rows = below.chunks_exact_mut(w).take(front.size() - k - 1);
        for i in k + 1..scalars {
            let Some(row) = rows.next() else { return };
            let factor = row[chunk][lane] * inverse;
            if let Some(lower) = lower.get_mut(i / LANES) {
                lower[i % LANES] = factor;
            }
            if factor != 0.0 {
                subtract(l, &mut row[chunk..width], factor, &upper[chunk..]);
            }
        }
        // Six rows to two chunks.
        for (i, row) in rows.enumerate() {
            let factor = row[chunk][lane] * inverse;
            let (block, i) = (i / 6, i % 6);
            if let Some(lower) = lower.get_mut(head + 2 * block + i / LANES) {
                lower[i % LANES] = factor;
            }
            if factor != 0.0 {
                subtract(l, &mut row[chunk..width], factor, &upper[chunk..]);
            }
        }
        upper[chunk][lane] = inverse;
    }
}

/// Mass and moment of inertia of the lightest slot that counts.
fn light(plan: &SweepPlan) -> [f64; 2] {
    let largest = plan.tree.slots.iter().fold([0.0f64; 2], |m, s| {
        let t = &s.inertia.tensor;
        [m[0].max(s.inertia.mass), m[1].max(t.xx).max(t.yy).max(t.zz)]
    });
    largest.map(|x| LIGHT * if x > 0.0 { x } else { 1.0 })
}
