//! What the reader does with every element and attribute of URDF. URDF is extended at will, so what
//! the table does not hold is left out with one note per kind, not refused.

use crate::schema::{
    Feature,
    Treatment::{self, Approximated, Exact, NoEffect, Noted},
    markdown, row,
};

/// Every element and attribute of URDF that the reader knows; everything else is noted as unknown.
pub const URDF_FEATURES: &[Feature] = &[
    row("robot", "name", Exact, "name of the mechanism"),
    row("robot", "version", NoEffect, ""),
    row("material", "", NoEffect, ""),
    row("link", "name", Exact, "unique; a root called `world` is the ground"),
    row("link", "type", NoEffect, ""),
    row("visual", "", NoEffect, "no shape, no inertia"),
    row("inertial", "", Exact, "missing: massless; noted at the moving end of a chain"),
    row("mass", "value", Exact, "not negative"),
    row(
        "inertia",
        "ixx iyy izz ixy ixz iyz",
        Exact,
        "about the centre of mass; A + B >= C where it moves a body; missing: a point mass, noted",
    ),
    row(
        "origin",
        "xyz rpy quat_xyzw",
        Exact,
        "rpy: about the fixed axes x, y, z in turn; either rpy or quat_xyzw",
    ),
    row(
        "collision",
        "name",
        Exact,
        "shape of a primitive, sliding friction 1; one without extent dropped with a note",
    ),
    row("collision", "group", NoEffect, ""),
    row("box", "size", Exact, ""),
    row("sphere", "radius", Exact, ""),
    row("cylinder", "radius length", Exact, ""),
    row("capsule", "radius length", Exact, "length of the cylindrical part"),
    row("mesh", "filename", Noted, "shapes from mesh files are dropped"),
    row("mesh", "scale", NoEffect, ""),
    row("contact", "", Noted, "contact parameters are not read"),
    row("joint", "name", Exact, "unique"),
    row(
        "joint",
        "type",
        Exact,
        "fixed, revolute, continuous, prismatic, planar, floating; spherical and ball with a note",
    ),
    row("parent", "link", Exact, ""),
    row("child", "link", Exact, "one parent per link, no cycles, one root"),
    row("axis", "xyz", Exact, "default 1 0 0, scaled to unit length; planar: normal of the plane"),
    row(
        "limit",
        "lower upper",
        Approximated,
        "of revolute and prismatic joints; a missing end is 0; no end, or lower > upper: unlimited \
        with a note",
    ),
    row("limit", "effort velocity", NoEffect, "forces and rates are not limited"),
    row("dynamics", "damping", Exact, "of every coordinate of the joint"),
    row("dynamics", "friction", Noted, "no dry friction in joints"),
    row(
        "dynamics",
        "spring_stiffness stiffness spring_constant spring_reference spring_rest \
        spring_equilibrium",
        Noted,
        "not of URDF; the note says how to give the spring, as for springStiffness in gazebo",
    ),
    row(
        "mimic",
        "joint multiplier offset",
        Exact,
        "coupling y = multiplier x + offset; chains too; of a fixed joint: noted, behind a fixed \
        one: held at the offset",
    ),
    row("calibration", "", NoEffect, ""),
    row("safety_controller", "", Noted, "soft limits are left out"),
    row("transmission", "", Noted, "no actuators"),
    row("gazebo", "", Noted, "settings of another program"),
    row("ros2_control", "", Noted, "settings of another program"),
    row("mujoco", "", Noted, "settings of another program"),
    row("sensor", "", Noted, "left out"),
];

/// The treatment of an attribute of an element.
pub(crate) fn attribute(element: &str, name: &str) -> Option<&'static Feature> {
    URDF_FEATURES
        .iter()
        .find(|f| f.element == element && f.attributes.split(' ').any(|a| a == name))
}

/// How an element is treated that is left out as a whole; unknown ones are noted.
pub(crate) fn element(element: &str) -> (Treatment, &'static str) {
    URDF_FEATURES
        .iter()
        .find(|f| f.element == element && f.attributes.is_empty())
        .map_or((Noted, "not an element of URDF here"), |f| (f.treatment, f.remark))
}

/// The feature matrix of URDF as a Markdown table.
pub fn urdf_feature_matrix() -> String {
    markdown(URDF_FEATURES)
}
