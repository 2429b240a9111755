//! Divide and conquer against the naive maximal-coordinate solve on random mechanisms.

mod dca_support;

use dca_support::Case;
use forks_dynamics::DcaSettings;

#[test]
fn probe() {
    let mut worst = [0.0f64; 4];
    for seed in 0..200 {
        let case = Case::new(seed);
        match case.solve(&DcaSettings::default()) {
            Ok((w, status)) => {
                let n = case.mechanism.tree_velocity_count();
                let e = case.error(&w.accelerations()[..n]);
                let all = case.error(w.accelerations());
                if e > 128.0 || e.is_nan() || all > 128.0 {
                    println!("seed {seed}: {e:.2e} {all:.2e} {status:?} closures {} kinds {:?}", case.mechanism.forest().closures().len(),
                       case.mechanism.joints().iter().map(|j| j.kind.name()).collect::<Vec<_>>());
                }
                worst[seed as usize % 4] = worst[seed as usize % 4].max(e);
            }
            Err(e) => println!("seed {seed}: {e}"),
        }
    }
    println!("{worst:?}");
}
