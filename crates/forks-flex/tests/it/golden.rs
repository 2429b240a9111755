//! A file with a posed skeleton against MuJoCo 4.0.0's forces.

use std::path::Path;

use forks_deform::{
    SoftOptions, SoftSimulation,
    dynamics::mechanism::lie::glam::{DQuat, DVec3},
};
use forks_flex::{FlexModel, parse, write};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    young: f64,
    poisson: f64,
    nodes: Vec<[f64; 3]>,
    elements: Vec<[usize; 4]>,
    bone: Vec<Option<usize>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    positions: Vec<[f64; 3]>,
    position: [f64; 3],
    quaternion_wxyz: [f64; 4],
    hinge: f64,
    base_force_world: [f64; 3],
    base_torque_body: [f64; 3],
    hinge_torque: f64,
    node_forces: Vec<[f64; 3]>,
}

fn golden() -> Golden {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden/flex");
    let text = std::fs::read_to_string(root.join("two_bones.flex.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn words<T: std::fmt::Debug>(x: impl IntoIterator<Item = T>) -> String {
    x.into_iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ")
}

/// The model as the golden's script wrote it for MuJoCo.
fn text(g: &Golden) -> String {
    let inertia = r#"<inertial pos="0.07 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>"#;
    let slide = |a: &str| format!(r#"<joint type="slide" axis="{a}"/>"#);
    let slides: String = ["1 0 0", "0 1 0", "0 0 1"].map(slide).concat();
    let (mut nodes, mut names, mut vertices) = (String::new(), vec![], vec![]);
    for (n, (x, bone)) in g.nodes.iter().zip(&g.bone).enumerate() {
        match bone {
            Some(b) => {
                names.push(format!("b{b}"));
                vertices.extend([x[0] - 0.15 * *b as f64, x[1], x[2]]);
            }
            None => {
                names.push(format!("n{n}"));
                vertices.extend([0.0; 3]);
                nodes += &format!(
                    r#"<body name="n{n}" pos="{}">{slides}<inertial pos="0 0 0" mass="0.01"
                    diaginertia="1e-9 1e-9 1e-9"/></body>"#,
                    words(x)
                );
            }
        }
    }
    format!(
        r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="b0"><freejoint/>{inertia}
        <body name="b1" pos="0.15 0 0"><joint name="h" type="hinge" axis="0 1 0"/>{inertia}</body>
        </body>{nodes}</worldbody><deformable><flex name="f" dim="3" radius="0.001" body="{}"
        vertex="{}" element="{}"><contact selfcollide="none"/><elasticity young="{:?}"
        poisson="{:?}"/></flex></deformable></mujoco>"#,
        names.join(" "),
        words(&vertices),
        words(g.elements.iter().flatten()),
        g.young,
        g.poisson,
    )
}

fn points(x: &[[f64; 3]]) -> Vec<DVec3> {
    x.iter().copied().map(DVec3::from_array).collect()
}

/// Forces to 1e-12 of the largest.
fn compare(g: &Golden, model: &FlexModel) {
    let body = model.bodies[0].body.clone();
    let mut s = SoftSimulation::new(&model.mechanism, body, SoftOptions::default()).unwrap();
    for case in &g.cases {
        let mut state = s.state().clone();
        state.q = [&case.position[..], &case.quaternion_wxyz, &[case.hinge]].concat();
        state.x = points(&case.positions);
        s.set_state(state).unwrap();
        let (skeleton, nodes) = s.tissue_forces();
        let [w, x, y, z] = case.quaternion_wxyz;
        let back = DQuat::from_xyzw(x, y, z, w).conjugate();
        let force = back * DVec3::from_array(case.base_force_world);
        let expected =
            [&force.to_array()[..], &case.base_torque_body, &[case.hinge_torque]].concat();
        let free = (0..nodes.len()).filter(|&n| s.body().holder(n).is_none());
        let given = points(&case.node_forces);
        let size = given.iter().fold(0.0f64, |m, f| m.max(f.abs().max_element()));
        for (n, f) in free.zip(&given) {
            assert!((nodes[n] - *f).abs().max_element() < 1e-12 * size);
        }
        for (a, b) in skeleton.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12 * size, "{skeleton:?} {expected:?}");
        }
    }
}

#[test]
fn a_file_has_mujocos_forces() {
    let g = golden();
    let model = parse(&text(&g)).unwrap();
    assert_eq!(model.mechanism.links().len(), 3, "nodes are no links");
    assert!(model.notes.is_empty(), "{:?}", model.notes);
    compare(&g, &model);
}

#[test]
fn what_is_written_is_the_same_body() {
    let g = golden();
    let model = parse(&text(&g)).unwrap();
    let body = &model.bodies[0].body;
    let again = parse(&write(&model.mechanism, body, "f").unwrap()).unwrap();
    let b = &again.bodies[0].body;
    assert_eq!(b.masses(), body.masses());
    assert_eq!(b.mesh().nodes(), body.mesh().nodes());
    let elements = |m: &forks_deform::TetMesh| -> Vec<Vec<usize>> {
        (0..m.element_count()).map(|e| m.element(e).to_vec()).collect()
    };
    assert_eq!(elements(b.mesh()), elements(body.mesh()));
    compare(&g, &again);
}

#[test]
fn grids_have_as_many_cells_as_they_say() {
    let text = r#"<mujoco><worldbody><body name="b" pos="1 0 0"><flexcomp name="g" type="grid"
        dim="3" count="3 4 5" spacing=".1 .1 .1" mass="6" pos="0 0 .2" quat="0 0 0 2" dof="full">
        <elasticity young="1e4" poisson=".3" damping="1"/><pin id="0" range="5 9" grid="2 3 4"
        gridrange="0 0 0 0 1 1"/></flexcomp></body></worldbody></mujoco>"#;
    let model = parse(text).unwrap();
    let b = &model.bodies[0].body;
    assert_eq!((b.mesh().nodes().len(), b.mesh().element_count()), (60, 6 * 2 * 3 * 4));
    // 0, 5 to 9, the last, and 0, 1, 5, 6 of the box: 0, 1, 5, 6, 7, 8, 9, 59.
    assert_eq!(60 - b.free_count(), 8);
    assert!((b.mesh().total_volume() - 2.0 * 3.0 * 4.0 * 1e-3).abs() < 1e-15);
    assert!((b.mass() - 6.0 * 52.0 / 60.0).abs() < 1e-12);
    // Half a turn about z takes the first point to the far corner.
    assert!((b.mesh().nodes()[0] - DVec3::new(1.1, 0.15, 0.0)).length() < 1e-15);
    assert_eq!(model.notes.len(), 1, "{:?}", model.notes);
}
