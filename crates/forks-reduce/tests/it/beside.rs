//! Free bodies beside random mechanisms change nothing: neither equilibria nor reductions.

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, EquilibriumStatus},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, MechanismBuilder,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DVec3},
    },
};
use forks_reduce::{Linearisation, Problem, ProblemOptions};
use forks_testkit::{RandomMechanismOptions, random_mechanism};

#[test]
fn equilibria_and_reductions_are_those_without_the_bodies() {
    let mut compared = 0;
    for seed in 0..40 {
        let options = RandomMechanismOptions {
            preload: 0.1,
            stiffness: 1000.0,
            // A base that floats is held.
            floating_base: seed % 4 == 0,
            ..match seed % 4 {
                0 => RandomMechanismOptions::sprung(seed),
                _ => RandomMechanismOptions::mixed(seed),
            }
        };
        let alone = random_mechanism(seed, &options);
        // Two free bodies, one with a limp door, tied to each other by a ball.
        let mut b = MechanismBuilder::from_mechanism(&alone);
        let inertia = SpatialInertia::new(2.0, DVec3::X * 0.1, DMat3::from_diagonal(DVec3::ONE));
        let link = |b: &mut MechanismBuilder, name: &str| {
            b.add_link(Link::new(name).with_inertia(inertia))
        };
        let [cube, door, other] = ["cube", "door", "other"].map(|n| link(&mut b, n));
        let at = Pose::from_translation(DVec3::new(3.0, 1.0, 0.5));
        let free =
            |name: &str, child| Joint::new(name, JointKind::Free, LinkId::WORLD, child).at(at);
        b.add_joint(free("cube", cube));
        b.add_joint(free("other", other));
        b.add_joint(Joint::new("door", JointKind::Revolute { axis: DVec3::Z }, cube, door));
        b.add_joint(Joint::new("ball", JointKind::Spherical, cube, other));
        let both = b.build().unwrap();
        let last = alone.links().len() - 1;
        let name = alone.links()[last].name.clone();
        let [alone, both] =
            [&alone, &both].map(|m| Problem::new(m, &[&name], &ProblemOptions::default()).unwrap());
        assert_eq!(both.prepared.left_out, [cube, door, other], "seed {seed}");
        assert_eq!(both.prepared.held, alone.prepared.held, "seed {seed}");
        assert_eq!(both.start, alone.start, "seed {seed}: the joints that move are the same");
        let loads = Loads::gravity().with_world_wrench(
            LinkId::new(last),
            Wrench::new(DVec3::new(1.0, -2.0, 0.5), DVec3::ZERO),
        );
        let [a, e] = [&alone, &both].map(|p| p.equilibrium(&loads, &EquilibriumOptions::default()));
        assert_eq!(e.status, a.status, "seed {seed}");
        if a.status != EquilibriumStatus::Converged {
            continue;
        }
        let off = a.q.iter().zip(&e.q).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        // The size of the whole is another unit: the same numbers to rounding.
        assert!(off < 1e-9, "seed {seed}: {off:e}");
        let x = alone.linearise(Linearisation::equilibrium(&a, &loads));
        let y = both.linearise(Linearisation::equilibrium(&e, &loads));
        if let (Ok(x), Ok(y)) = (x, y) {
            assert_eq!(x.basis.rank, y.basis.rank, "seed {seed}");
            let off = x.compliance.sub(&y.compliance).max_abs() / x.compliance.max_abs();
            assert!(off < 1e-7, "seed {seed}: {off:e}");
            compared += 1;
        }
    }
    println!("{compared} reductions");
    assert!(compared > 20, "{compared}");
}
