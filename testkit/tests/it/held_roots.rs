//! Which free roots have to be held, against the motions that no spring resists in a dense system
//! of equations.

use forks_mechanism::{
    LinkId,
    linalg::{Matrix, dense::svd},
};
use forks_testkit::{RandomMechanismOptions, System, random_mechanism};

#[test]
fn a_root_is_held_where_all_six_motions_meet_no_resistance() {
    let (mut held, mut not, mut tied) = (0, 0, 0);
    for seed in 0..300 {
        let options = RandomMechanismOptions {
            links: 4,
            floating_base: true,
            shuffle_joints: false,
            extra_loops: (seed % 3) as usize,
            bushings: usize::from(seed % 4 == 3),
            combination_springs: 1,
            couplings: usize::from(seed % 5 == 4),
            springless_fraction: 0.4,
            singular_spring_fraction: 0.3,
            resisted: None,
            conditioning: 0.0,
            ..RandomMechanismOptions::sprung(seed)
        };
        let m = random_mechanism(seed, &options);
        let q = m.start_positions();
        let root = m.forest().path_to_ground(LinkId::new(1)).last().unwrap().joint;
        let own = m.velocity_range(root);
        assert_eq!(own.len(), 6, "seed {seed}");
        let motions = System::new(&m, &q).unresisted().motions;
        let of_root = Matrix::from_fn(6, motions.columns(), |i, j| motions[(own.start + i, j)]);
        let rank = svd(&of_root).map_or(0, |d| d.s.iter().filter(|s| **s > 1e-7).count());
        let found = m.unheld_root(LinkId::new(m.links().len() - 1), &q);
        assert_eq!(found, (rank == 6).then_some(root), "seed {seed}: rank {rank}");
        held += usize::from(rank == 6);
        not += usize::from(rank == 0);
        tied += usize::from(rank > 0 && rank < 6);
    }
    println!("{held} float, {not} are held, {tied} in part");
    assert!(held > 30 && not > 30 && tied > 10, "{held} {not} {tied}");
}
