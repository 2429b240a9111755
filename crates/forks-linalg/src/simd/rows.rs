//! Matrices of a few dozen rows, every row whole lane groups: no loop over them has an end of its
//! own.

use alloc::vec::Vec;

use super::{Arithmetic, LANES, Lanes, Wide};

/// Numbers in rows that are padded with zeros to whole lane groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    width: usize,
    data: Vec<Lanes>,
}

impl Rows {
    /// Zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let width = columns.div_ceil(LANES);
        Self { width, data: alloc::vec![Lanes::default(); rows * width] }
    }

    /// Zeros of another size, in the same memory where it is enough.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.width = columns.div_ceil(LANES);
        self.data.clear();
        self.data.resize(rows * self.width, Lanes::default());
    }

    /// A matrix whose entry (i, j) is `f(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut out = Self::zeros(rows, columns);
        for i in 0..rows {
            (0..columns).for_each(|j| out.set(i, j, f(i, j)));
        }
        out
    }

    /// Takes the first rows away.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn drop_first(&mut self, rows: usize) {
        self.data.drain(..rows * self.width);
    }

    /// Lane groups per row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[Lanes] {
        &self.data[i * self.width..][..self.width]
    }

    /// Row `i`, to be written.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [Lanes] {
        &mut self.data[i * self.width..][..self.width]
    }

    /// Rows before `i`, and row `i` to be written.
    #[inline(always)]
    pub(super) fn above(&mut self, i: usize) -> (&[Lanes], &mut [Lanes]) {
        let (above, rest) = self.data.split_at_mut(i * self.width);
        (above, &mut rest[..self.width])
    }

    /// All rows, one after the other.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Lanes] {
        &self.data
    }

    /// All rows, to be written.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [Lanes] {
        &mut self.data
    }

    /// Entry (i, j).
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.width + j / LANES][j % LANES]
    }

    /// Sets entry (i, j).
    #[inline(always)]
    pub fn set(&mut self, i: usize, j: usize, x: f64) {
        self.data[i * self.width + j / LANES][j % LANES] = x;
    }

    /// Column `j` from above.
    pub fn column(&self, j: usize) -> impl Iterator<Item = f64> {
        let groups = self.data.iter().skip(j / LANES).step_by(self.width.max(1));
        groups.map(move |x| x[j % LANES])
    }

    /// Writes column `j` from row `first` on, as far as there are numbers and rows.
    pub fn write_column(&mut self, j: usize, first: usize, x: impl IntoIterator<Item = f64>) {
        let groups = self.data.iter_mut().skip(first * self.width + j / LANES);
        let places = groups.step_by(self.width.max(1));
        places.zip(x).for_each(|(to, x)| to[j % LANES] = x);
    }

    /// y += Σ c_k row k.
    #[inline(always)]
    pub fn add_to<L: Arithmetic>(&self, l: L, c: &[f64], y: &mut [Lanes]) {
        add_rows(l, c, &self.data, self.width, y);
    }
}

/// y += Σ c_k x_k over rows of `stride` groups, one after the other in `x`.
///
/// Sums stay in registers, four groups at a time.
#[inline(always)]
pub fn add_rows<L: Arithmetic>(l: L, c: &[f64], x: &[Lanes], stride: usize, y: &mut [Lanes]) {
    let (fours, rest) = y.as_chunks_mut::<4>();
    let mut at = 0;
    for four in fours {
        add_groups(l, c, x, stride, at, four);
        at += 4;
    }
    let (twos, one) = rest.as_chunks_mut::<2>();
    for two in twos {
        add_groups(l, c, x, stride, at, two);
        at += 2;
    }
    for one in one.as_chunks_mut::<1>().0 {
        add_groups(l, c, x, stride, at, one);
    }
}

/// [`add_rows`] of a known number of groups.
#[inline(always)]
fn add_groups<L: Arithmetic, const N: usize>(
    l: L,
    c: &[f64],
    x: &[Lanes],
    stride: usize,
    at: usize,
    y: &mut [Lanes; N],
) {
    let mut sum: [Wide<L>; N] = core::array::from_fn(|g| l.load(&y[g]));
    // No iterator over chunks: it divides lengths.
    let (mut c, mut rest) = (c.iter(), x);
    while let (Some(c), Some((row, below))) = (c.next(), rest.split_at_checked(stride)) {
        let (c, row) = (l.splat(*c), &row[at..][..N]);
        rest = below;
        for g in 0..N {
            sum[g] += c * l.load(&row[g]);
        }
    }
    for g in 0..N {
        y[g] = sum[g].store();
    }
}

/// y −= Σ a_kj x_k over the rows k of `a`, with those of `x`: all of `stride` groups. y begins at
/// group `first` of x.
#[inline(always)]
pub(super) fn subtract_by_column<L: Arithmetic>(
    l: L,
    (a, j): (&[Lanes], usize),
    x: &[Lanes],
    stride: usize,
    first: usize,
    y: &mut [Lanes],
) {
    let (fours, rest) = y.as_chunks_mut::<4>();
    let mut at = first;
    for four in fours {
        subtract_groups(l, (a, j), x, stride, at, four);
        at += 4;
    }
    let (twos, one) = rest.as_chunks_mut::<2>();
    for two in twos {
        subtract_groups(l, (a, j), x, stride, at, two);
        at += 2;
    }
    for one in one.as_chunks_mut::<1>().0 {
        subtract_groups(l, (a, j), x, stride, at, one);
    }
}

/// [`subtract_by_column`] of a known number of groups.
#[inline(always)]
fn subtract_groups<L: Arithmetic, const N: usize>(
    l: L,
    (a, j): (&[Lanes], usize),
    x: &[Lanes],
    stride: usize,
    at: usize,
    y: &mut [Lanes; N],
) {
    let mut sum: [Wide<L>; N] = core::array::from_fn(|g| l.load(&y[g]));
    let (group, lane) = (j / LANES, j % LANES);
    let (mut a, mut x) = (a, x);
    while let (Some((own, a_below)), Some((row, x_below))) =
        (a.split_at_checked(stride), x.split_at_checked(stride))
    {
        let (own, row) = (l.splat(own[group][lane]), &row[at..][..N]);
        (a, x) = (a_below, x_below);
        for g in 0..N {
            sum[g] -= own * l.load(&row[g]);
        }
    }
    for g in 0..N {
        y[g] = sum[g].store();
    }
}

/// Sum of products.
#[inline(always)]
pub fn dot_lanes<L: Arithmetic>(l: L, a: &[Lanes], b: &[Lanes]) -> f64 {
    let products = a.iter().zip(b);
    let sum = products.fold(l.splat(0.0), |sum, (a, b)| l.load(a) * l.load(b) + sum);
    sum.total()
}

/// True if all numbers are finite.
#[inline(always)]
pub fn all_finite<L: Arithmetic>(l: L, x: &[f64]) -> bool {
    // Groups that begin where memory is aligned: reads across cache lines take a third longer.
    let (first, x) = x.split_at(x.as_ptr().align_offset(align_of::<Lanes>()).min(x.len()));
    let (groups, last) = x.as_chunks::<LANES>();
    // 0 × x is NaN where x is NaN or infinite. Sums that do not wait for each other.
    let zero = l.splat(0.0);
    let (blocks, groups) = groups.as_chunks::<4>();
    let mut sum = zero;
    if !blocks.is_empty() {
        let mut sums = [zero; 4];
        for block in blocks {
            for (sum, x) in sums.iter_mut().zip(block) {
                *sum = l.read(x) * zero + *sum;
            }
        }
        let [a, b, c, d] = sums;
        sum = (a + b) + (c + d);
    }
    sum = groups.iter().fold(sum, |sum, x| l.read(x) * zero + sum);
    sum.all_ordered() && first.iter().chain(last).all(|x| x.is_finite())
}

/// The same of lane groups.
#[inline(always)]
pub fn all_lanes_finite<L: Arithmetic>(l: L, x: &[Lanes]) -> bool {
    let zero = l.splat(0.0);
    x.iter().fold(zero, |sum, x| l.load(x) * zero + sum).all_ordered()
}

/// y += a x.
#[inline(always)]
pub(super) fn add_scaled<L: Arithmetic>(l: L, a: f64, x: &[Lanes], y: &mut [Lanes]) {
    let a = l.splat(a);
    for (y, x) in y.iter_mut().zip(x) {
        *y = (a * l.load(x) + l.load(y)).store();
    }
}
