//! Places blends for the benchmark mechanisms and measures them at loads that the placement did not
//! see.

use std::{ops::ControlFlow, time::Instant};

use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::lie::glam::DVec3;
use forks_models::{
    HelixJoints, Parametric, helix, irregular_ladder_of_links, ladder_of_links, y_mechanism,
};
use forks_place::{Chart, Gauge, LoadRegion, Placement, place, unseen_loads};
use forks_reduce::{Problem, ProblemOptions};

fn whole(p: &Parametric) -> Problem {
    of_effectors(p, p.effectors.len())
}

/// With the first effectors only.
fn of_effectors(p: &Parametric, count: usize) -> Problem {
    let names: Vec<String> =
        p.effectors.iter().take(count).map(|&e| p.mechanism.link(e).name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Problem::new(&p.mechanism, &names, &ProblemOptions::default()).expect("a valid mechanism")
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = args.first() else {
        eprintln!(
            "usage: figures helix20|helix50|y|y-left|y-arm|ladder36|irregular36|MODEL.xml \
            [samples] [training]"
        );
        return;
    };
    let cone = |e, axis| LoadRegion::cone(e, axis, 30f64.to_radians());
    let planar = |axis, normal| LoadRegion { normal: Some(normal), ..cone(0, axis) };
    let (problem, regions) = match name.as_str() {
        "helix20" => (whole(&helix(20, HelixJoints::Hinge3)), vec![cone(0, -DVec3::Z)]),
        "helix50" => (whole(&helix(50, HelixJoints::Hinge3)), vec![cone(0, -DVec3::Z)]),
        "y" => (whole(&y_mechanism()), vec![cone(0, -DVec3::Z), cone(1, -DVec3::Z)]),
        "y-left" => (whole(&y_mechanism()), vec![cone(0, -DVec3::Z)]),
        "y-arm" => (of_effectors(&y_mechanism(), 1), vec![cone(0, -DVec3::Z)]),
        "ladder36" => (whole(&ladder_of_links(36)), vec![planar(DVec3::X, DVec3::Y)]),
        "irregular36" => (whole(&irregular_ladder_of_links(36)), vec![planar(DVec3::X, DVec3::Y)]),
        path => {
            let m = load_mjcf(std::path::Path::new(path), &ImportOptions::default())
                .expect("a model")
                .mechanism;
            let problem = Problem::new(&m, &["rh_ffdistal"], &ProblemOptions::default());
            (problem.expect("a valid mechanism"), vec![cone(0, -DVec3::Y)])
        }
    };
    let number = |i: usize, or: usize| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let placement = Placement {
        regions,
        max_samples: number(1, 8),
        training_loads: number(2, 96),
        constraint_tolerance: if name.contains('6') { 0.08 } else { 0.5e-3 * number(3, 20) as f64 },
        static_tolerance: number(3, 20) as f64 * 1e-3,
        together: false,
        bent: std::env::var("STRAIGHT").is_err(),
        joint_space_tolerance: if name.contains('6') { 0.01 } else { f64::INFINITY },
        ..Placement::default()
    };
    let mut placement = placement;
    if std::env::var("JOINTS").is_ok() {
        placement.chart = Chart::Joints;
    }
    let numbers = |name: &str| -> Option<Vec<f64>> {
        let list = std::env::var(name).ok()?;
        Some(list.split(',').filter_map(|x| x.parse().ok()).collect())
    };
    if let Some(e) = numbers("ENERGIES") {
        placement.energies = e;
    }
    if let Some(e) = numbers("EXPONENTS") {
        placement.exponents = e.iter().map(|x| *x as u32).collect();
    }
    let start = Instant::now();
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).expect("a blend");
    println!(
        "{name}: placed in {:.1} s, {:?}, {} skipped",
        start.elapsed().as_secs_f64(),
        placed.status,
        placed.skipped.len()
    );
    for (r, l) in placed.rounds.iter().zip(&placed.loads) {
        println!(
            "  {} samples {:?} constraint {:.4} joint space {:.4} static {:.4}; sample at {:?}",
            r.samples, r.weights, r.constraint, r.joint_space, r.statics, l
        );
    }
    for (i, s) in placed.model.data().samples.iter().enumerate() {
        let h = &s.model.data().hessian;
        let values = forks_mechanism::linalg::dense::symmetric_eigen(h).map(|e| e.0);
        println!("  place {:.3?} stiffness {:.3?}", placed.model.place(i), values);
    }
    let ranks: Vec<usize> = placed.model.data().samples.iter().map(|s| s.model.dof()).collect();
    println!("  coordinates {ranks:?}");
    let unseen = unseen_loads(&problem, &placement, 77, 100).expect("loads");
    let rest = placed.model.data().reference.clone();
    let gauge = Gauge::new(&problem, rest, placed.model.data().radius);
    let errors: Vec<_> = unseen.iter().map(|t| gauge.errors(&placed.model, t)).collect();
    if std::env::var("EACH").is_ok() {
        for (t, e) in unseen.iter().zip(&errors) {
            let near = gauge.errors_nearby(&placed.model, t, true);
            let (near, step) = (near.joint_space, near.statics);
            println!(
                "    {:.3} {:.0?} near {near:.4} {step:.4} full {:.4} {:.4} {:.4}",
                t.displacement, t.forces, e.constraint, e.joint_space, e.statics
            );
        }
    }
    let far = unseen.iter().map(|t| t.displacement).fold(0.0, f64::max);
    let show = |label: &str, f: fn(&forks_place::Errors) -> f64| {
        let max = errors.iter().map(f).fold(0.0, f64::max);
        let mean = errors.iter().map(f).sum::<f64>() / errors.len() as f64;
        println!("  unseen {label}: max {max:.4} mean {mean:.4}");
    };
    println!("  {} unseen loads, displacement up to {far:.3}", unseen.len());
    show("constraint, twist maps", |e| e.constraint);
    show("constraint, joint space", |e| e.joint_space);
    show("angles (rad)", |e| e.angle);
    show("static", |e| e.statics);
    println!("  total {:.1} s", start.elapsed().as_secs_f64());
}
