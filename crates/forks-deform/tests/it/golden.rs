//! Forces against MuJoCo 4.0.0's flex: free nodes at three amplitudes, a posed skeleton.

use std::path::Path;

use forks_deform::{
    Attachment, Elastic, Material, Model, SoftBody, SoftOptions, SoftSimulation, TetMesh, Window,
    dynamics::mechanism::{
        JointKind, LinkId,
        lie::glam::{DQuat, DVec3},
    },
};
use serde::Deserialize;

use crate::{support::largest, two_bones::bones_of};

#[derive(Deserialize)]
struct Golden {
    young: f64,
    poisson: f64,
    density: f64,
    nodes: Vec<[f64; 3]>,
    elements: Vec<[usize; 4]>,
    #[serde(default)]
    bone: Vec<Option<usize>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    positions: Vec<[f64; 3]>,
    #[serde(default)]
    forces: Vec<[f64; 3]>,
    #[serde(default)]
    position: [f64; 3],
    #[serde(default)]
    quaternion_wxyz: [f64; 4],
    #[serde(default)]
    hinge: f64,
    #[serde(default)]
    base_force_world: [f64; 3],
    #[serde(default)]
    base_torque_body: [f64; 3],
    #[serde(default)]
    hinge_torque: f64,
    #[serde(default)]
    node_forces: Vec<[f64; 3]>,
}

fn load(name: &str) -> Golden {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden/flex");
    let text = std::fs::read_to_string(root.join(format!("{name}.flex.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

impl Golden {
    fn material(&self) -> Material {
        let plain = Model::StVenantKirchhoff(Window::None);
        Material::new(plain, self.young, self.poisson, self.density).unwrap()
    }

    fn mesh(&self) -> TetMesh {
        TetMesh::new(points(&self.nodes), &self.elements).unwrap()
    }
}

fn points(x: &[[f64; 3]]) -> Vec<DVec3> {
    x.iter().copied().map(DVec3::from_array).collect()
}

#[test]
fn forces_on_free_nodes() {
    let own = [("worm", TetMesh::worm()), ("fish", TetMesh::fish()), ("finger", TetMesh::finger())];
    for (name, own) in own {
        let golden = load(name);
        let mesh = golden.mesh();
        // The same body that the library makes.
        let apart: Vec<DVec3> =
            mesh.nodes().iter().zip(own.nodes()).map(|(a, b)| *a - *b).collect();
        assert!(largest(&apart) < 1e-15 && mesh.element_count() == own.element_count());
        let elastic = Elastic::new(&mesh, golden.material());
        for case in &golden.cases {
            let (x, expected) = (points(&case.positions), points(&case.forces));
            let mut force = x.clone();
            elastic.forces(&x, &mut force);
            let left: Vec<DVec3> = force.iter().zip(&expected).map(|(a, b)| *a - *b).collect();
            let error = largest(&left) / largest(&expected);
            assert!(error < 1e-12, "{name}: {error}");
        }
    }
}

#[test]
fn generalised_forces_on_a_posed_skeleton() {
    let golden = load("two_bones");
    let m = bones_of(JointKind::Free, 0.0, 0.15);
    let mut lists = vec![(LinkId::new(1), vec![]), (LinkId::new(2), vec![])];
    for (n, bone) in golden.bone.iter().enumerate() {
        if let Some(b) = bone {
            lists[*b].1.push(n);
        }
    }
    let body = SoftBody::new(golden.mesh(), golden.material()).unwrap();
    let body = body.attached(&m, &Attachment::Nodes(lists)).unwrap();
    let mut s = SoftSimulation::new(&m, body, SoftOptions::default()).unwrap();
    for case in &golden.cases {
        let mut state = s.state().clone();
        state.q = [&case.position[..], &case.quaternion_wxyz, &[case.hinge]].concat();
        state.x = points(&case.positions);
        s.set_state(state).unwrap();
        // Nodes in bones are where MuJoCo has them.
        let held: Vec<DVec3> =
            s.state().x.iter().zip(points(&case.positions)).map(|(a, b)| *a - b).collect();
        assert!(largest(&held) < 1e-15, "{}", largest(&held));
        let (skeleton, nodes) = s.tissue_forces();
        let [w, x, y, z] = case.quaternion_wxyz;
        let back = DQuat::from_xyzw(x, y, z, w).conjugate();
        let force = back * DVec3::from_array(case.base_force_world);
        let expected =
            [&force.to_array()[..], &case.base_torque_body, &[case.hinge_torque]].concat();
        let free = (0..nodes.len()).filter(|&n| s.body().holder(n).is_none());
        let (found, given): (Vec<DVec3>, _) =
            (free.map(|n| nodes[n]).collect(), points(&case.node_forces));
        let size = largest(&given);
        let left: Vec<DVec3> = found.iter().zip(&given).map(|(a, b)| *a - *b).collect();
        assert!(largest(&left) < 1e-12 * size);
        for (a, b) in skeleton.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12 * size, "{skeleton:?} {expected:?}");
        }
    }
}
