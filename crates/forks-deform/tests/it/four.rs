//! Forces of four elements at once against those of single ones.

use forks_deform::{
    Elastic, Material, Model, Range, TetMesh, Window,
    dynamics::mechanism::{
        lie::{SplitMix64, glam::DVec3},
        linalg::simd::Isa,
    },
};

/// Four at once are those one by one, on both instruction sets, inverted elements included.
#[test]
fn forces_are_those_of_single_elements() {
    let mesh = TetMesh::worm();
    let windows =
        [Window::None, Window::LinearStress(Range::PAPER), Window::LinearStrain(Range::PAPER)];
    for window in windows {
        let law = Material::new(Model::StVenantKirchhoff(window), 5e4, 0.3, 1000.0).unwrap();
        let mut rng = SplitMix64::new(2);
        for amplitude in [0.001, 0.01, 0.04] {
            let x: Vec<DVec3> = mesh
                .nodes()
                .iter()
                .map(|x| *x + rng.direction() * rng.range(0.0, amplitude))
                .collect();
            let (mut single, mut four) = (x.clone(), x.clone());
            let mut elastic = Elastic::new(&mesh, law);
            elastic.set_isa(None);
            let counted = elastic.forces(&x, &mut single);
            for isa in [Isa::Portable, Isa::detect()] {
                elastic.set_isa(Some(isa));
                assert_eq!(elastic.forces(&x, &mut four), counted);
                let size = single.iter().fold(0.0f64, |m, f| m.max(f.length()));
                for (a, b) in four.iter().zip(&single) {
                    assert!((*a - *b).length() < 1e-13 * size, "{window:?} {amplitude}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_finite_stays_so() {
    let mesh = TetMesh::finger();
    let elastic = Elastic::new(&mesh, Material::stvk(1e5, 0.3, 1.0).unwrap());
    let mut x = mesh.nodes().to_vec();
    x[20].y = f64::NAN;
    let mut f = x.clone();
    elastic.forces(&x, &mut f);
    assert!(!f[20].is_finite());
}
