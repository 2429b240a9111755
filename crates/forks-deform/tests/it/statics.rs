//! Rest under weight and forces: residuals, supports, against motion that dies out, what is
//! refused.

use forks_deform::{
    Attachment, Commands, Material, Model, Momentum, Range, SoftBody, SoftError, SoftOptions,
    SoftSimulation, StaticsOptions, StaticsStatus, Stepper, TetMesh, Window,
    dynamics::mechanism::{
        JointKind, LinkId, Mechanism, MechanismBuilder,
        lie::{SplitMix64, glam::DVec3},
    },
};

use crate::{
    support::{SIZE, largest, vector},
    two_bones::{moving, options},
};

fn ground() -> Mechanism {
    let mut builder = MechanismBuilder::new("ground");
    builder.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    builder.build().unwrap()
}

/// A box on the ground by the nodes of its lowest face.
fn standing(material: Material, quadratic: bool) -> SoftSimulation {
    let mut mesh = TetMesh::kuhn([3, 2, 2], SIZE).unwrap();
    if quadratic {
        mesh = mesh.quadratic();
    }
    let held = mesh.nodes().iter().enumerate().filter(|(_, x)| x.z < 1e-12).map(|(n, _)| n);
    let how = Attachment::Nodes(vec![(LinkId::WORLD, held.collect())]);
    let body = SoftBody::new(mesh, material).unwrap().attached(&ground(), &how).unwrap();
    SoftSimulation::new(&ground(), body, SoftOptions::default()).unwrap()
}

#[test]
fn a_block_rests_with_its_weight_on_its_base() {
    for quadratic in [false, true] {
        let mut s = standing(Material::stvk(1e5, 0.3, 1000.0).unwrap(), quadratic);
        let report = s.rest(&Commands::default(), &StaticsOptions::default()).unwrap();
        assert_eq!(report.status, StaticsStatus::Converged);
        let mut f = vec![DVec3::ZERO; s.state().x.len()];
        s.body().elastic().forces(&s.state().x, &mut f);
        let base: DVec3 = (0..f.len())
            .filter(|&n| s.body().holder(n).is_some())
            .map(|n| f[n] - DVec3::Z * (9.81 * s.body().masses()[n]))
            .sum();
        let weight = DVec3::Z * (-9.81 * s.body().mass());
        assert!((base - weight).length() < 1e-9 * weight.length(), "{base} {weight}");
        assert!(s.state().x.iter().map(|x| x.z).fold(0.0, f64::max) < SIZE.z - 1e-3);
    }
}

#[test]
fn motion_with_dampers_ends_where_statics_do() {
    let mut still =
        moving(JointKind::Fixed, 9.81, options(Stepper::LinearlyImplicit, Momentum::Free));
    let report = still.rest(&Commands::default(), &StaticsOptions::default()).unwrap();
    assert_eq!(report.status, StaticsStatus::Converged, "{report:?}");
    let settings =
        SoftOptions { damping: 5.0, ..options(Stepper::LinearlyImplicit, Momentum::Free) };
    let mut s = moving(JointKind::Fixed, 9.81, settings);
    for _ in 0..1000 {
        s.step(0.05, &Commands::default()).unwrap();
    }
    let apart: Vec<DVec3> =
        s.state().x.iter().zip(&still.state().x).map(|(a, b)| *a - *b).collect();
    assert!(largest(&apart) < 1e-8, "{}", largest(&apart));
    assert!((s.state().q[0] - still.state().q[0]).abs() < 1e-8);
}

#[test]
fn scrambled_nodes_return_to_rest_but_for_the_plain_law() {
    let of = |model| Material::new(model, 1e5, 0.3, 1000.0).unwrap();
    let plain = Model::StVenantKirchhoff(Window::None);
    let windowed = |w: fn(Range) -> Window| Model::StVenantKirchhoff(w(Range::PAPER));
    for (model, returns) in [
        (windowed(Window::LinearStress), true),
        (windowed(Window::LinearStrain), true),
        (Model::StableNeoHookean, true),
        (plain, false),
    ] {
        let mut s = standing(of(model), false);
        let mut still = s.clone();
        still.rest(&Commands::default(), &StaticsOptions::default()).unwrap();
        let mut state = s.state().clone();
        let mut rng = SplitMix64::new(6);
        state.x.iter_mut().for_each(|x| *x = (vector(&mut rng) * 0.5 + 0.5) * SIZE);
        s.set_state(state).unwrap();
        let options = StaticsOptions { iterations: 2000, ..StaticsOptions::default() };
        s.rest(&Commands::default(), &options).unwrap();
        let apart: Vec<DVec3> =
            s.state().x.iter().zip(&still.state().x).map(|(a, b)| *a - *b).collect();
        assert_eq!(largest(&apart) < 1e-8, returns, "{model:?}: {}", largest(&apart));
    }
}

#[test]
fn what_has_no_rest_is_refused() {
    let paper = Model::StVenantKirchhoff(Window::PerStretch(Range::PAPER));
    let mut s = standing(Material::new(paper, 1e5, 0.3, 1000.0).unwrap(), false);
    let rest = |s: &mut SoftSimulation| s.rest(&Commands::default(), &StaticsOptions::default());
    assert_eq!(rest(&mut s).unwrap_err(), SoftError::NoEnergy);
    let body = SoftBody::new(TetMesh::finger(), Material::stvk(1e5, 0.3, 1000.0).unwrap()).unwrap();
    let mut s = SoftSimulation::new(&ground(), body, SoftOptions::default()).unwrap();
    assert_eq!(rest(&mut s).unwrap_err(), SoftError::LoosePart { node: 0 });
}
