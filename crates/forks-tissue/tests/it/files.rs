//! Lattices around surfaces, meshes and skeletons from files.

use forks_tissue::{Quality, Recording};

use crate::support::{built_in, folder};

/// A cube as text of an OBJ file, counter-clockwise from outside.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\n\
    v -1 1 1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

const BODY: &str = "title = 'cube'
    [[tissue]]
    mesh = { lattice = 'cube.obj', cell = 0.5 }
    surface = 'cube.obj'
    material = { young = 1e4, poisson = 0.3, density = 100.0 }
    attach = { boxes = { world = [[-2, -2, -2], [2, 2, -0.99]] } }";

#[test]
fn a_lattice_holds_what_it_was_made_around() {
    let at = folder("lattice");
    std::fs::write(at.join("cube.obj"), CUBE).unwrap();
    let mut s = built_in(BODY, &at).unwrap();
    let q = Quality::new(&mut s);
    // 1,000 times the volume of the surface, whatever the cells.
    assert!((q.mass / 800.0 - 1.0).abs() < 1e-12, "{}", q.mass);
    assert!(q.volume >= 8.0 && q.least_filled < 1.0, "{q:?}");
    // All cells have one form: two edges as long as a cube, four of √¾ of it.
    let form = 12.0 * (3.0f64 / 12.0).cbrt().powi(2) / (2.0 + 4.0 * 0.75);
    assert!(q.worst.iter().all(|(_, x)| (x - form).abs() < 1e-12), "{:?} {form}", q.worst);
    assert!(q.notes.iter().all(|n| !n.contains("is in no element")), "{:?}", q.notes);
    assert_eq!(q.skin, [12, 8]);
    assert!(q.loose.is_empty() && q.frequencies.len() == 3, "{q:?}");
    assert!(q.frequencies[0] > 0.0 && q.locking.unwrap() > 1.0, "{q:?}");
    let recording = Recording::new(&mut s);
    let skin = &recording.animation().frames[0].skins[0];
    assert_eq!(skin.len(), 8);
    assert!(skin.iter().all(|x| (x.abs() - 1.0).abs().max_element() < 1e-12), "{skin:?}");
    std::fs::remove_dir_all(at).unwrap();
}

#[test]
fn a_skeleton_from_a_file_carries_a_box() {
    let at = folder("skeleton");
    let model = "<mujoco model='arm'><worldbody><body name='a'><joint name='j' axis='0 1 0' \
        stiffness='1' damping='0.01'/><geom type='capsule' fromto='0 0 0 .2 0 0' size='.01'/>\
        <body name='b' pos='.2 0 0'><joint name='k' axis='0 1 0' stiffness='1' damping='0.01'/>\
        <geom type='capsule' fromto='0 0 0 .2 0 0' size='.01'/></body></body></worldbody></mujoco>";
    std::fs::write(at.join("arm.xml"), model).unwrap();
    let text = "title = 'arm'
        world = { duration = 0.5, gravity = [0.0, 0.0, 0.0] }
        [[mechanism]]
        name = 'arm'
        file = 'arm.xml'
        position = [0.0, 0.0, 1.0]
        [[tissue]]
        mesh = { size = [0.4, 0.06, 0.06], cells = [8, 2, 2] }
        material = { young = 2e4, poisson = 0.3, density = 800.0 }
        attach = { within = 0.001 }
        [[action]]
        joints = ['k']
        times = [0.0, 0.4]
        values = [0.0, -0.6]";
    // The box begins at the origin, bones go along one of its edges.
    let mut s = built_in(text, &at).unwrap();
    let q = Quality::new(&mut s);
    assert_eq!(q.bones.len(), 2, "{:?}", q.bones);
    let before = s.simulation.state().q.clone();
    let end = Recording::of(&mut s).unwrap();
    assert_eq!(end.animation().frames.len(), 31);
    let bent = s.simulation.state().q[1] - before[1];
    assert!(bent < -0.02, "{bent}");
    std::fs::remove_dir_all(at).unwrap();
}
