//! Forces of four linear elements at once, St. Venant–Kirchhoff within the window; an element
//! outside is decomposed on its own.
//!
//! The window test is that of [`crate::window`] by leading minors: the pivots multiplied by those
//! before them, so that nothing is divided.

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::simd::{Arithmetic, Isa, Kernel, LANES, Lanes, Wide},
};

use crate::{
    elements::Elements,
    material::{Material, Model},
    window::{Range, Selection},
};

/// Four elements.
#[derive(Clone, Debug)]
struct Group {
    /// Nodes, corner by corner, of all four.
    nodes: [[u32; LANES]; 4],
    /// ∇N of corners 1, 2, 3, component by component.
    gradients: [[Lanes; 3]; 3],
    /// −V.
    weight: Lanes,
    /// Elements that are there; the last group repeats its last one.
    count: u32,
}

/// Linear elements in groups of four.
#[derive(Clone, Debug)]
pub(crate) struct Fours {
    groups: Vec<Group>,
    isa: Isa,
}

impl Fours {
    /// Groups of linear elements.
    pub(crate) fn new(elements: &Elements, isa: Isa) -> Self {
        let count = elements.count();
        let groups = (0..count.div_ceil(LANES)).map(|g| {
            let at = |lane: usize| (LANES * g + lane).min(count - 1);
            let mut group = Group {
                nodes: [[0; LANES]; 4],
                gradients: [[Lanes::default(); 3]; 3],
                weight: Lanes::default(),
                count: (count - LANES * g).min(LANES) as u32,
            };
            for lane in 0..LANES {
                let Some(p) = elements.points(at(lane)).next() else { continue };
                for a in 0..4 {
                    group.nodes[a][lane] = p.nodes[a] as u32;
                }
                for a in 0..3 {
                    for j in 0..3 {
                        group.gradients[a][j].0[lane] = p.gradients[a + 1][j];
                    }
                }
                group.weight.0[lane] = -p.weight;
            }
            group
        });
        Self { groups: groups.collect(), isa }
    }

    /// Adds forces at positions `x`; `None` where the law has no form for four.
    pub(crate) fn add_forces(
        &self,
        material: &Material,
        x: &[DVec3],
        forces: &mut [DVec3],
    ) -> Option<usize> {
        let Model::StVenantKirchhoff(window) = material.model() else { return None };
        let groups = &self.groups;
        let range = window.range();
        Some(self.isa.run(StVenantKirchhoff { groups, material, range, x, forces }))
    }
}

/// The work on all groups; returns the number of elements that were decomposed.
struct StVenantKirchhoff<'a> {
    groups: &'a [Group],
    material: &'a Material,
    range: Option<Range>,
    x: &'a [DVec3],
    forces: &'a mut [DVec3],
}

type Three<L> = [Wide<L>; 3];

/// Corners' positions relative to the first, component by component.
#[inline(always)]
fn edges<L: Arithmetic>(l: L, group: &Group, x: &[DVec3]) -> [Three<L>; 3] {
    let corner = |a: usize| -> Three<L> {
        let p = group.nodes[a].map(|n| x[n as usize]);
        [
            l.read(&[p[0].x, p[1].x, p[2].x, p[3].x]),
            l.read(&[p[0].y, p[1].y, p[2].y, p[3].y]),
            l.read(&[p[0].z, p[1].z, p[2].z, p[3].z]),
        ]
    };
    let first = corner(0);
    [1, 2, 3].map(|a| {
        let own = corner(a);
        [own[0] - first[0], own[1] - first[1], own[2] - first[2]]
    })
}

/// The smaller of two.
#[inline(always)]
fn least<L: Arithmetic>(l: L, a: Wide<L>, b: Wide<L>) -> Wide<L> {
    l.select_above(a - b, 0.0, b, a)
}

/// The smallest leading minor of a symmetric matrix given as (xx, yy, zz), (yz, xz, xy).
#[inline(always)]
fn minors<L: Arithmetic>(l: L, d: Three<L>, o: Three<L>) -> Wide<L> {
    let second = d[0] * d[1] - o[2] * o[2];
    let beside = d[0] * o[0] - o[1] * o[2];
    let rest = d[1] * o[1] - o[0] * o[2];
    // Expanded along the last column: zz (xx yy − xy²) − yz (xx yz − xz xy) − xz (yy xz − yz xy).
    let third = d[2] * second - o[0] * beside - o[1] * rest;
    least(l, least(l, d[0], second), third)
}

impl Kernel for StVenantKirchhoff<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> usize {
        let Self { groups, material, range, x, forces } = self;
        let (mu, half) = (l.splat(material.mu), l.splat(0.5 * material.lambda));
        let mut decomposed = 0;
        for group in groups {
            let d = edges(l, group, x);
            let g = group.gradients.map(|row| [l.load(&row[0]), l.load(&row[1]), l.load(&row[2])]);
            // F, row by row.
            let f: [Three<L>; 3] = [0, 1, 2].map(|i| {
                [0, 1, 2].map(|j| d[0][i] * g[0][j] + d[1][i] * g[1][j] + d[2][i] * g[2][j])
            });
            let square =
                |i: usize, j: usize| f[0][i] * f[0][j] + f[1][i] * f[1][j] + f[2][i] * f[2][j];
            let c = [square(0, 0), square(1, 1), square(2, 2)];
            let o = [square(1, 2), square(0, 2), square(0, 1)];
            // S = µ (C − 1) + ½ λ (tr C − 3).
            let one = l.splat(1.0);
            let excess = [c[0] - one, c[1] - one, c[2] - one];
            let pressure = (half * (excess[0] + excess[1] + excess[2])).rounded();
            let s = [0, 1, 2].map(|i| mu * excess[i] + pressure);
            let t = [0, 1, 2].map(|i| (mu * o[i]).rounded());
            let mut p: [Three<L>; 3] = [0, 1, 2].map(|i| {
                [
                    f[i][0] * s[0] + f[i][1] * t[2] + f[i][2] * t[1],
                    f[i][0] * t[2] + f[i][1] * s[1] + f[i][2] * t[0],
                    f[i][0] * t[1] + f[i][1] * t[0] + f[i][2] * s[2],
                ]
            });
            if let Some(range) = range {
                let (low, high) = (l.splat(range.lower), l.splat(range.upper));
                let below = minors(l, [c[0] - low, c[1] - low, c[2] - low], o);
                let zero = l.splat(0.0);
                let turned = o.map(|o| zero - o);
                let above = minors(l, [high - c[0], high - c[1], high - c[2]], turned);
                let minor = |i: usize, j: usize| f[1][i] * f[2][j] - f[1][j] * f[2][i];
                let det = f[0][0] * minor(1, 2) - f[0][1] * minor(0, 2) + f[0][2] * minor(0, 1);
                let inside = least(l, least(l, below, above), det);
                // Where a comparison with NaN would choose, sums of all parts are NaN too.
                let known = (below + above + det).all_ordered();
                let least = inside.store();
                if !known || least.iter().any(|m| m.is_nan() || *m <= 0.0) {
                    decomposed += decompose(l, group, material, &f, known, &least, &mut p);
                }
            }
            scatter(l, group, &g, &p, forces);
        }
        decomposed
    }
}

/// Replaces P of the elements that are not known to be inside; their number.
#[inline(always)]
fn decompose<L: Arithmetic>(
    l: L,
    group: &Group,
    material: &Material,
    f: &[Three<L>; 3],
    known: bool,
    least: &Lanes,
    p: &mut [Three<L>; 3],
) -> usize {
    let f = f.map(|row| row.map(|x| x.store()));
    let mut out = p.map(|row| row.map(|x| x.store()));
    let mut count = 0;
    for lane in 0..group.count as usize {
        if known && least[lane] > 0.0 {
            continue;
        }
        let at = |i: usize, j: usize| f[i][j][lane];
        let own = DMat3::from_cols(
            DVec3::new(at(0, 0), at(1, 0), at(2, 0)),
            DVec3::new(at(0, 1), at(1, 1), at(2, 1)),
            DVec3::new(at(0, 2), at(1, 2), at(2, 2)),
        );
        let (stress, _) = material.stress(Selection::Always, &own);
        for i in 0..3 {
            for j in 0..3 {
                out[i][j].0[lane] = stress.col(j)[i];
            }
        }
        count += 1;
    }
    *p = out.map(|row| [l.load(&row[0]), l.load(&row[1]), l.load(&row[2])]);
    count
}

/// f_a = −V P ∇N_a, and minus their sum on the first corner.
#[inline(always)]
fn scatter<L: Arithmetic>(
    l: L,
    group: &Group,
    g: &[Three<L>; 3],
    p: &[Three<L>; 3],
    forces: &mut [DVec3],
) {
    let w = l.load(&group.weight);
    let pull: [[Lanes; 3]; 3] = [0, 1, 2].map(|a| {
        [0, 1, 2].map(|i| {
            let sum = p[i][0] * g[a][0] + p[i][1] * g[a][1] + p[i][2] * g[a][2];
            (sum * w).store()
        })
    });
    for lane in 0..group.count as usize {
        let of = |a: usize| DVec3::new(pull[a][0][lane], pull[a][1][lane], pull[a][2][lane]);
        let own = [of(0), of(1), of(2)];
        forces[group.nodes[0][lane] as usize] -= own[0] + own[1] + own[2];
        for a in 0..3 {
            forces[group.nodes[a + 1][lane] as usize] += own[a];
        }
    }
}
