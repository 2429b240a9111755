//! Factors against dense ones, against rows in their envelope, and against themselves on other
//! numbers of threads.

use forks_dynamics::mechanism::{
    lie::{
        SplitMix64,
        glam::{DMat3, DVec3},
    },
    linalg::simd::Isa,
};

use super::{
    BlockCholesky, NotPositive, SymmetricBlocks, order::nested_dissection, supernodes::structure,
};
use crate::{Curvature, Elastic, Material, Model, mesh::TetMesh};

/// The simple rival: L row by row within the envelope, nodes as they are numbered.
struct Envelope {
    first: Vec<usize>,
    rows: Vec<Vec<f64>>,
    kept: Vec<usize>,
}

impl Envelope {
    fn new(a: &SymmetricBlocks, scale: f64, diagonal: f64, keep: &[bool]) -> Self {
        let kept: Vec<usize> = (0..a.nodes()).filter(|&n| keep[n]).collect();
        let mut local = vec![0; a.nodes()];
        kept.iter().enumerate().for_each(|(i, &n)| local[n] = i);
        let (mut first, mut rows) = (vec![], Vec::<Vec<f64>>::new());
        for (i, &n) in kept.iter().enumerate() {
            let own = || a.row(n).filter(|(m, _)| keep[*m]);
            let from = 3 * own().map(|(m, _)| local[m]).min().unwrap();
            for r in 0..3 {
                let mut row = vec![0.0; 3 * i + r + 1 - from];
                for (m, block) in own() {
                    for c in 0..3 {
                        let column = 3 * local[m] + c;
                        if column <= 3 * i + r {
                            let shift = if column == 3 * i + r { diagonal } else { 0.0 };
                            row[column - from] = scale * block.col(c)[r] + shift;
                        }
                    }
                }
                for j in from..3 * i + r {
                    let (other, start): (&[f64], usize) = (&rows[j], first[j]);
                    let low = start.max(from);
                    let sum: f64 = (low..j).map(|k| row[k - from] * other[k - start]).sum();
                    row[j - from] = (row[j - from] - sum) / other[j - start];
                }
                let (last, before) = row.split_last_mut().unwrap();
                *last = (*last - before.iter().map(|x| x * x).sum::<f64>()).sqrt();
                first.push(from);
                rows.push(row);
            }
        }
        Self { first, rows, kept }
    }

    fn solve(&self, b: &mut [DVec3]) {
        let mut y: Vec<f64> = self.kept.iter().flat_map(|&n| b[n].to_array()).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let (last, before) = row.split_last().unwrap();
            let known = &y[self.first[i]..i];
            y[i] = (y[i] - before.iter().zip(known).map(|(a, x)| a * x).sum::<f64>()) / last;
        }
        for (i, row) in self.rows.iter().enumerate().rev() {
            let (last, before) = row.split_last().unwrap();
            y[i] /= last;
            let found = y[i];
            let left = &mut y[self.first[i]..i];
            left.iter_mut().zip(before).for_each(|(x, a)| *x -= a * found);
        }
        for (y, &n) in y.chunks_exact(3).zip(&self.kept) {
            b[n] = DVec3::new(y[0], y[1], y[2]);
        }
    }
}

/// Tissue of a random size and form, every inner and outer node moved, some of its nodes held.
struct Sample {
    mesh: TetMesh,
    k: SymmetricBlocks,
    keep: Vec<bool>,
    rng: SplitMix64,
}

impl Sample {
    fn new(seed: u64, cells: [[f64; 2]; 3], quadratic: bool) -> Self {
        let mut rng = SplitMix64::new(seed);
        let cells = cells.map(|[low, high]| rng.range(low, high) as usize);
        let size = DVec3::from_array(cells.map(|c| c as f64 * rng.range(0.5, 1.5)));
        let mut mesh = TetMesh::kuhn(cells, size).unwrap();
        let bend = rng.range(-0.3, 0.3) / size.x;
        let moved = |x: DVec3| x + DVec3::new(0.0, bend * x.x * x.x, 0.1 * (3.0 * x.y).sin());
        mesh = mesh.mapped(moved).unwrap();
        if quadratic {
            mesh = mesh.quadratic();
        }
        let young = 10f64.powf(rng.range(2.0, 7.0));
        let material = Material::new(Model::StableNeoHookean, young, 0.4, 1000.0).unwrap();
        let elastic = Elastic::new(&mesh, material);
        let mut k = elastic.matrix();
        elastic.stiffness(mesh.nodes(), Curvature::Exact, &mut k);
        let low = mesh.nodes().iter().fold(f64::INFINITY, |m, x| m.min(x.x));
        let keep = mesh.nodes().iter().map(|x| x.x > low + 1e-9 && rng.range(0.0, 1.0) > 0.05);
        let keep = keep.collect();
        Self { mesh, k, keep, rng }
    }

    fn vector(&mut self) -> Vec<DVec3> {
        let mut random = || DVec3::from_array([0; 3].map(|_| self.rng.range(-1.0, 1.0)));
        self.keep.iter().map(|k| if *k { random() } else { DVec3::ZERO }).collect()
    }

    fn factor(&self) -> BlockCholesky {
        let mut factor = BlockCholesky::new(&self.k, self.mesh.nodes(), &self.keep);
        factor.factorise(&self.k, 1.0, |_| DMat3::ZERO).unwrap();
        factor
    }

    /// An upper bound of ‖K‖ by sums of rows, and 1/‖K⁻¹‖ by a few steps of inverse iteration.
    fn condition(&mut self, rival: &Envelope) -> f64 {
        let n = self.k.nodes();
        let mut sums = vec![DVec3::ZERO; n];
        for i in 0..n {
            for (j, b) in self.k.row(i) {
                let (b, one) =
                    (DMat3::from_cols(b.x_axis.abs(), b.y_axis.abs(), b.z_axis.abs()), DVec3::ONE);
                sums[i] += b * one;
                if i != j {
                    sums[j] += b.transpose() * one;
                }
            }
        }
        let largest = sums.iter().fold(0.0f64, |m, s| m.max(s.max_element()));
        let mut x = self.vector();
        let mut inverse = 0.0;
        for _ in 0..6 {
            let before = length(&x);
            rival.solve(&mut x);
            inverse = length(&x) / before;
        }
        largest * inverse
    }
}

fn length(x: &[DVec3]) -> f64 {
    x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt()
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).length_squared()).sum::<f64>().sqrt()
}

fn on_threads<T: Send>(count: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap().install(f)
}

/// Small and large, linear and quadratic: one right side, many, and the envelope agree to κε.
#[test]
fn random_tissues_are_solved_as_in_their_envelope() {
    for seed in 0..24 {
        let (small, more) = ([[1.0, 6.0]; 3], [[3.0, 9.0], [2.0, 6.0], [2.0, 6.0]]);
        let mut sample = match seed % 3 {
            0 => Sample::new(seed, small, false),
            1 => Sample::new(seed, [[1.0, 4.0]; 3], true),
            _ => Sample::new(seed, more, false),
        };
        let rival = Envelope::new(&sample.k, 1.0, 0.0, &sample.keep);
        let bound = 10.0 * sample.condition(&rival) * f64::EPSILON;
        let mut factor = sample.factor();
        let right: Vec<Vec<DVec3>> = (0..1 + seed as usize).map(|_| sample.vector()).collect();
        let mut together = right.clone();
        factor.solve_all(&mut together);
        for (b, together) in right.iter().zip(&together) {
            let (mut x, mut expected) = (b.clone(), b.clone());
            factor.solve(&mut x);
            rival.solve(&mut expected);
            let size = length(&expected);
            let found = [distance(&x, &expected), distance(together, &expected)];
            assert!(
                found.iter().all(|d| *d <= bound * size),
                "{seed}: {found:?} of {size}, {bound:e}"
            );
        }
        // A column does not know of the others.
        let mut last = vec![right[right.len() - 1].clone()];
        factor.solve_all(&mut last);
        assert_eq!(&last[0], &together[together.len() - 1]);
        // Plain numbers agree to rounding.
        factor.set_isa(Isa::Portable);
        factor.factorise(&sample.k, 1.0, |_| DMat3::ZERO).unwrap();
        let mut portable = right[0].clone();
        factor.solve(&mut portable);
        assert!(distance(&portable, &together[0]) <= 2.0 * bound * length(&portable));
    }
}

/// Tissues that are large enough to be split.
#[test]
fn threads_change_no_bit() {
    for seed in 0..3 {
        let mut sample = Sample::new(seed, [[14.0, 20.0], [8.0, 11.0], [8.0, 11.0]], false);
        let right: Vec<Vec<DVec3>> = (0..19).map(|_| sample.vector()).collect();
        let solved = |threads| {
            on_threads(threads, || {
                let factor = sample.factor();
                let mut x = right.clone();
                factor.solve_all(&mut x);
                (factor, x)
            })
        };
        let (alone, x) = solved(1);
        assert!(alone.form.subtrees.len() > 4, "{:?}", alone.form.subtrees);
        let split = alone.form.subtrees.iter().map(|r| r.len()).sum::<usize>();
        assert!(split < alone.form.supernodes.len());
        for threads in [2, 4] {
            let (shared, y) = solved(threads);
            assert!(alone.panels == shared.panels, "{threads} threads");
            assert!(x == y, "{threads} threads");
        }
        let rival = Envelope::new(&sample.k, 1.0, 0.0, &sample.keep);
        let bound = 10.0 * sample.condition(&rival) * f64::EPSILON;
        let mut expected = right[18].clone();
        rival.solve(&mut expected);
        assert!(distance(&x[18], &expected) <= bound * length(&expected), "{bound:e}");
    }
}

/// Of several nodes without stiffness the one that is met first in the order of elimination is
/// named, whatever thread meets another first.
#[test]
fn threads_name_the_same_node() {
    let sample = Sample::new(7, [[14.0, 20.0], [8.0, 11.0], [8.0, 11.0]], false);
    let found = |threads| {
        on_threads(threads, || {
            let mut factor = BlockCholesky::new(&sample.k, sample.mesh.nodes(), &sample.keep);
            let bad = |n: usize| DMat3::IDENTITY * if n % 97 == 5 { -1e12 } else { 0.0 };
            factor.factorise(&sample.k, 1.0, bad).unwrap_err()
        })
    };
    let alone = found(1);
    assert_eq!(alone.node % 97, 5);
    for _ in 0..4 {
        assert_eq!([found(2), found(4)], [alone; 2]);
    }
}

/// Random positive definite matrices on a mesh, with nodes left out: residuals of solves.
#[test]
fn solves_leave_no_residual() {
    let mesh = TetMesh::kuhn([6, 3, 2], DVec3::new(3.0, 1.5, 1.0)).unwrap().quadratic();
    let nodes = mesh.nodes().len();
    let elements = || (0..mesh.element_count()).map(|e| mesh.element(e));
    let mut rng = SplitMix64::new(5);
    let mut vector = || DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)));
    let mut a = SymmetricBlocks::of_elements(nodes, elements());
    for e in elements() {
        for &i in e {
            for &j in e {
                if j < i {
                    let (x, y) = (vector(), vector());
                    a.add(i, j, DMat3::from_cols(x * y.x, x * y.y, x * y.z));
                }
            }
        }
    }
    let keep: Vec<bool> = (0..nodes).map(|n| n % 7 != 3).collect();
    let shift = |_| DMat3::from_diagonal(DVec3::splat(60.0));
    let mut factor = BlockCholesky::new(&a, mesh.nodes(), &keep);
    factor.factorise(&a, 0.5, shift).unwrap();
    let b: Vec<DVec3> = (0..nodes).map(|_| vector()).collect();
    let mut x = b.clone();
    factor.solve(&mut x);
    // Residual over the kept nodes; the others keep what they had.
    let zeroed: Vec<DVec3> =
        x.iter().zip(&keep).map(|(x, k)| if *k { *x } else { DVec3::ZERO }).collect();
    let mut ax = vec![DVec3::ZERO; nodes];
    a.multiply(&zeroed, &mut ax);
    for n in 0..nodes {
        if keep[n] {
            let left = ax[n] * 0.5 + zeroed[n] * 60.0 - b[n];
            assert!(left.length() < 1e-13, "node {n}: {left}");
        } else {
            assert_eq!(x[n], b[n]);
        }
    }
}

#[test]
fn a_matrix_that_is_not_positive_names_a_node() {
    let mesh = TetMesh::kuhn([1, 1, 1], DVec3::ONE).unwrap();
    let elements = (0..mesh.element_count()).map(|e| mesh.element(e));
    let a = SymmetricBlocks::of_elements(8, elements);
    let mut factor = BlockCholesky::new(&a, mesh.nodes(), &[true; 8]);
    let shift = |n: usize| DMat3::IDENTITY * if n == 5 { -1.0 } else { 1.0 };
    let found = factor.factorise(&a, 1.0, shift);
    assert_eq!(found, Err(NotPositive { node: 5, pivot: -1.0 }));
}

/// Entries of L with an order, in blocks.
fn fill(order: &[usize], neighbours: &[Vec<usize>]) -> usize {
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(p, &i)| rank[i] = p);
    structure(order, &rank, neighbours).iter().map(|rows| rows.len() + 1).sum()
}

/// Halves along the longest extent, whatever lies between them: the simple rival.
fn halves(part: Vec<usize>, at: &[DVec3], neighbours: &[Vec<usize>], order: &mut Vec<usize>) {
    if part.len() <= 8 {
        order.extend(part);
        return;
    }
    let extent = |k: usize| {
        let all = || part.iter().map(|&n| at[n][k]);
        all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
    };
    let axis = (1..3).fold(0, |best, k| if extent(k) > extent(best) { k } else { best });
    let mut lower = part;
    lower.sort_by(|&a, &b| at[a][axis].total_cmp(&at[b][axis]).then(a.cmp(&b)));
    let upper = lower.split_off(lower.len() / 2);
    let touches = |n: &usize| neighbours[*n].iter().any(|m| upper.contains(m));
    let (between, lower): (Vec<usize>, Vec<usize>) = lower.into_iter().partition(touches);
    halves(lower, at, neighbours, order);
    halves(upper, at, neighbours, order);
    order.extend(between);
}

/// Every node once, and never much more fill than plain halves leave; in all, a tenth less.
#[test]
fn cuts_with_few_nodes_between_leave_less_fill() {
    let mut sums = [0, 0];
    for seed in 0..12 {
        let sample = Sample::new(seed, [[3.0, 24.0], [2.0, 8.0], [2.0, 8.0]], false);
        let n = sample.k.nodes();
        let mut neighbours = vec![vec![]; n];
        for i in 0..n {
            for (j, _) in sample.k.row(i).filter(|(j, _)| *j != i) {
                neighbours[i].push(j);
                neighbours[j].push(i);
            }
        }
        let order = nested_dissection(sample.mesh.nodes(), &neighbours);
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n));
        let mut plain = vec![];
        halves((0..n).collect(), sample.mesh.nodes(), &neighbours, &mut plain);
        let [found, rival] = [fill(&order, &neighbours), fill(&plain, &neighbours)];
        assert!(found as f64 <= 1.1 * rival as f64, "{seed}: {found} for {rival}");
        sums = [sums[0] + found, sums[1] + rival];
    }
    assert!((sums[0] as f64) < 0.9 * sums[1] as f64, "{sums:?}");
}
