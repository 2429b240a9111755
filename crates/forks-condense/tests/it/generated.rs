//! Fingers of random sizes: condensed as by dense elimination, the same bits on any threads.

use forks_condense::{
    Condensed,
    deform::dynamics::mechanism::{
        lie::{SplitMix64, glam::DVec3},
        linalg::{Matrix, dense},
    },
    finger::{BuiltFinger, SoftFinger},
};

use crate::support::*;

fn random(rng: &mut SplitMix64, long: [f64; 2], wide: [f64; 2]) -> SoftFinger {
    let mut cells = |[low, high]: [f64; 2]| rng.range(low, high) as usize;
    let cells = [cells(long), cells(wide), cells(wide)];
    SoftFinger {
        cells,
        size: [0.09 * rng.range(0.7, 1.4), 0.016 * rng.range(0.7, 1.4)],
        young: 10f64.powf(rng.range(4.0, 6.0)),
        poisson: rng.range(0.1, 0.45),
        ..SoftFinger::default()
    }
}

/// K_c = Tᵀ(K_ff − K_fn K_nn⁻¹ K_nf)T, A and C₀ of a finger with all bones along the world's axes.
fn dense_condensation(f: &BuiltFinger) -> [Matrix; 3] {
    let x = f.body.mesh().nodes();
    let k = stiffness(&f.body, x);
    let poses = f.mechanism.link_poses(&f.mechanism.start_positions());
    let free: Vec<usize> = (0..3 * x.len()).filter(|i| f.body.holder(i / 3).is_none()).collect();
    let links = 1 + (0..x.len()).filter_map(|n| f.body.holder(n)).map(|l| l.index()).max().unwrap();
    let motion = Matrix::from_fn(3 * x.len(), 6 * links, |i, j| match f.body.holder(i / 3) {
        Some(l) if l.index() == j / 6 && j % 6 < 3 => f64::from(u8::from(i % 3 == j % 3)),
        Some(l) if l.index() == j / 6 => {
            DVec3::AXES[j % 3].cross(x[i / 3] - poses[l.index()].translation)[i % 3]
        }
        _ => 0.0,
    });
    let patch = patch_rows(&f.pad, x);
    let pulled = k.mul(&motion);
    let own = Matrix::from_fn(free.len(), free.len(), |i, j| k[(free[i], free[j])]);
    let count = motion.columns();
    let right = Matrix::from_fn(free.len(), count + 6, |i, j| match j.checked_sub(count) {
        None => pulled[(free[i], j)],
        Some(j) => patch[(j, free[i])],
    });
    let answer = dense::cholesky_solve(&own, &right).unwrap();
    let all = |sign: f64, columns: std::ops::Range<usize>| {
        let mut out = Matrix::zeros(3 * x.len(), columns.len());
        for (i, &row) in free.iter().enumerate() {
            for (j, column) in columns.clone().enumerate() {
                out[(row, j)] = sign * answer[(i, column)];
            }
        }
        out
    };
    let shapes = motion.plus_scaled(1.0, &all(-1.0, 0..count));
    let per_wrench = all(1.0, count..count + 6);
    [shapes.transpose_mul(&k.mul(&shapes)), patch.mul(&shapes), patch.mul(&per_wrench)]
}

#[test]
fn condensed_as_by_dense_elimination() {
    let mut rng = SplitMix64::new(11);
    for _ in 0..6 {
        let spec = random(&mut rng, [9.0, 15.0], [2.0, 5.0]);
        let f = spec.build().unwrap();
        let c = at_rest(&f, std::slice::from_ref(&f.pad), 0);
        let [stiffness, map, compliance] = dense_condensation(&f);
        let e = &c.element;
        assert_eq!(e.frames.len(), 4);
        // Condition of K: 1e5.
        for (found, expected) in [(&e.stiffness, &stiffness), (&e.output_compliance, &compliance)] {
            let off = difference(found, expected);
            assert!(off < 1e-10, "{:?}: {off:e}", spec.cells);
        }
        let off = difference(&e.output_map, &map);
        assert!(off < 1e-10, "{:?}: {off:e}", spec.cells);
    }
}

/// Large enough for the factor to be split.
#[test]
fn threads_change_no_bit() {
    let mut rng = SplitMix64::new(12);
    for _ in 0..2 {
        let spec = random(&mut rng, [24.0, 30.0], [8.0, 10.0]);
        let f = spec.build().unwrap();
        let condensed = |threads: usize| -> Condensed {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| at_rest(&f, std::slice::from_ref(&f.pad), 2))
        };
        let alone = condensed(1);
        for threads in [2, 4] {
            let shared = condensed(threads);
            assert!(shared.element == alone.element, "{threads} threads");
            assert!(shared.shapes == alone.shapes, "{threads} threads");
        }
    }
}
