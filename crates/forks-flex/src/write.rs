//! Tissue as `<flex>`: free nodes are bodies with three slides, of their mass.

use std::fmt::Write as _;

use forks_deform::{
    Model, Order, SoftBody, Window,
    dynamics::mechanism::{LinkId, Mechanism, lie::glam::DVec3},
};
use forks_import::write::write_mjcf;

use crate::{error::FlexError, numbers::wrong};

/// A mechanism with a body attached to it as MJCF text.
///
/// Nodes in bones have no mass there: what of the body's mass is in bones belongs to their
/// inertia, and is not written.
///
/// # Errors
/// Other laws than plain St. Venant–Kirchhoff, elements of ten nodes, mechanisms that MJCF cannot
/// hold.
pub fn write(m: &Mechanism, body: &SoftBody, name: &str) -> Result<String, FlexError> {
    let material = body.elastic().material();
    if material.model() != Model::StVenantKirchhoff(Window::None) {
        return Err(wrong(name, "has a law that MJCF does not: plain St. Venant–Kirchhoff alone"));
    }
    let mesh = body.mesh();
    if mesh.order() != Order::Linear {
        return Err(wrong(name, "has elements of ten nodes, which MJCF does not know"));
    }
    let (text, _) = write_mjcf(m)?;
    let poses = m.link_poses(&m.start_positions());
    let (mut nodes, mut carriers, mut vertices) = (String::new(), vec![], vec![]);
    for (n, x) in mesh.nodes().iter().enumerate() {
        match body.holder(n) {
            Some(link) => {
                let world = link == LinkId::WORLD;
                carriers.push(if world { "world".into() } else { m.link(link).name.clone() });
                vertices.push(spelled(poses[link.index()].inverse().transform_point(*x)));
            }
            None => {
                carriers.push(format!("{name}_{n}"));
                vertices.push(spelled(DVec3::ZERO));
                let (at, mass) = (spelled(*x), body.masses()[n]);
                // Nothing turns it, but a body needs moments.
                let moment = mass * 1e-6;
                // Writing to a string does not fail.
                let _ = writeln!(
                    nodes,
                    "<body name=\"{name}_{n}\" pos=\"{at}\"><joint type=\"slide\" axis=\"1 0 0\"/>\
                     <joint type=\"slide\" axis=\"0 1 0\"/><joint type=\"slide\" axis=\"0 0 1\"/>\
                     <inertial pos=\"0 0 0\" mass=\"{mass:?}\" \
                     diaginertia=\"{moment:?} {moment:?} {moment:?}\"/></body>"
                );
            }
        }
    }
    let elements: Vec<String> = (0..mesh.element_count())
        .flat_map(|e| mesh.element(e).iter().map(ToString::to_string))
        .collect();
    let flex = format!(
        "<deformable><flex name=\"{name}\" dim=\"3\" radius=\"0.001\" body=\"{}\" vertex=\"{}\" \
         element=\"{}\"><contact selfcollide=\"none\" contype=\"0\" conaffinity=\"0\"/>\
         <elasticity young=\"{:?}\" poisson=\"{:?}\"/></flex></deformable>\n",
        carriers.join(" "),
        vertices.join(" "),
        elements.join(" "),
        material.young(),
        material.poisson(),
    );
    let (head, tail) = match (text.rsplit_once("</worldbody>"), text.rsplit_once("</mujoco>")) {
        (Some((head, tail)), _) => (head.to_owned(), format!("</worldbody>{tail}")),
        (None, Some((head, tail))) => {
            (format!("{head}<worldbody>"), format!("</worldbody></mujoco>{tail}"))
        }
        (None, None) => return Err(wrong(name, "belongs to a model without an end")),
    };
    let tail = tail.replacen("</mujoco>", &format!("{flex}</mujoco>"), 1);
    Ok(format!("{head}{nodes}{tail}"))
}

/// Numbers that read back with equal bits.
fn spelled(x: DVec3) -> String {
    format!("{:?} {:?} {:?}", x.x, x.y, x.z)
}
