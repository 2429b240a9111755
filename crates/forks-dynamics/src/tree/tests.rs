//! No buffer of a workspace moves or grows in a call.
//!
//! Results go to slices of the caller, so that the workspaces' buffers are all that could be
//! allocated again. (A counting allocator needs unsafe code, which the workspace forbids.)

use forks_mechanism::{lie::Wrench, linalg::Matrix};
use forks_models::{HelixJoints, arm20, helix};

use super::{articulated::AbaWorkspace, kinematics::Kinematics, *};

type Buffer = (usize, usize);

fn buffer<T>(v: &Vec<T>) -> Buffer {
    (v.as_ptr() as usize, v.capacity())
}

fn kinematics(k: &Kinematics) -> Vec<Buffer> {
    let mut out = vec![buffer(&k.slots), buffer(&k.multi)];
    out.extend(k.buffers());
    out
}

fn aba_buffers(w: &AbaWorkspace) -> Vec<Buffer> {
    let mut out = kinematics(&w.kinematics);
    out.extend([buffer(&w.slots), buffer(&w.multi)]);
    out
}

#[test]
fn buffers_stay() {
    for m in [helix(30, HelixJoints::Hinge3).mechanism, arm20().mechanism] {
        let tree = Tree::new(&m);
        let (n, q) = (tree.velocity_count(), m.start_positions()[..tree.position_count()].to_vec());
        let (v, given) = (vec![0.3; n], vec![0.2; n]);
        let prescribed: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
        let wrenches = vec![Wrench::unit(1); tree.link_count()];
        let (mut a, mut t, mut mass) = (vec![0.0; n], vec![0.0; n], Matrix::zeros(n, n));
        let (mut aw, mut rw) = (AbaWorkspace::new(&tree), RneaWorkspace::new(&tree));
        let mut cw = CrbaWorkspace::new(&tree);
        let before = (aba_buffers(&aw), kinematics(&rw.kinematics), kinematics(&cw.kinematics));
        for loads in [LinkLoads::GRAVITY, LinkLoads { gravity: true, wrenches: &wrenches }] {
            aba(&tree, &mut aw, &q, &v, &given, &loads, &mut a).unwrap();
            hybrid(&tree, &mut aw, &q, &v, &prescribed, &given, &loads, &mut a, &mut t).unwrap();
            rnea(&tree, &mut rw, &q, &v, &given, &loads, &mut t);
            crba(&tree, &mut cw, &q, &mut mass);
        }
        let after = (aba_buffers(&aw), kinematics(&rw.kinematics), kinematics(&cw.kinematics));
        assert_eq!(before, after);
    }
}
