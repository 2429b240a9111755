//! explore
mod support;
use forks_contact::{Method, Settings, Solver, Status};

#[test]
fn explore() {
    let mut solver = Solver::new();
    for method in [Method::Robust] {
        let settings = Settings {
            method,
            max_iterations: std::env::var("MAX").ok().map_or(5000, |x| x.parse().unwrap()),
            tolerance: 1e-8,
            ..Settings::default()
        };
        let mut bad = [0; 3];
        let (mut it, mut sw, mut ip) = (0, 0, 0);
        let t = std::time::Instant::now();
        let mut list = vec![];
        for seed in 0..1000u64 {
            let r = support::random_problem(seed);
            let out = solver.solve(&r.problem, &settings);
            ip += out.interior_iterations;
            it += out.newton_iterations;
            sw += out.admm_iterations;
            if out.status != Status::Converged {
                bad[(seed % 3) as usize] += 1;
                list.push((
                    seed,
                    out.relative_residual,
                    out.restitution_share,
                    r.problem.constraint_count(),
                ));
            }
        }
        println!("ipm {ip}");
        println!("{method:?} {bad:?} it {it} sweeps {sw} {:?}", t.elapsed());
        {
            println!("{list:?}");
        }
    }
}
