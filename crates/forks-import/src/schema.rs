//! What the reader does with every element and attribute of MJCF. The table is what the reader
//! checks files against, and the feature matrix in the README is printed from it.

/// How an attribute (or a whole element) is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Means in the mechanism what it means in MuJoCo.
    Exact,
    /// Represented, with a note where that is not exact.
    Approximated,
    /// Left out, with a note where the value is not neutral.
    Noted,
    /// Without effect on kinematics, inertia, springs or loops: not mentioned.
    NoEffect,
    /// Refused where the value is not neutral; a note with [`crate::ImportOptions::lenient`].
    Refused,
}

impl Treatment {
    /// Word in the feature matrix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Approximated => "approximated",
            Self::Noted => "noted",
            Self::NoEffect => "no effect",
            Self::Refused => "refused",
        }
    }
}

/// A row of the feature matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Element, with its surroundings where the name alone is ambiguous.
    pub element: &'static str,
    /// Attributes, separated by blanks; empty for the element as a whole.
    pub attributes: &'static str,
    /// Treatment.
    pub treatment: Treatment,
    /// What to know.
    pub remark: &'static str,
}

pub(crate) const fn row(
    element: &'static str,
    attributes: &'static str,
    treatment: Treatment,
    remark: &'static str,
) -> Feature {
    Feature { element, attributes, treatment, remark }
}

use Treatment::{Approximated, Exact, NoEffect, Noted, Refused};

/// Every element and attribute that the MJCF reader knows; everything else is refused by name.
pub const FEATURES: &[Feature] = &[
    row("mujoco", "model", Exact, "name of the mechanism"),
    row(
        "include",
        "file",
        Exact,
        "relative to the main file or else to the one with the include, once each, nested",
    ),
    row(
        "compiler",
        "angle eulerseq autolimits inertiafromgeom inertiagrouprange settotalmass boundmass \
        boundinertia balanceinertia assetdir meshdir texturedir strippath fitaabb",
        Exact,
        "several compiler elements merge, the last value wins",
    ),
    row("compiler", "coordinate", Exact, "only `local`, as in MuJoCo"),
    row("compiler", "alignfree fusestatic", Noted, "body frames and bodies stay as written"),
    row(
        "compiler",
        "conflict discardvisual passthrough savecanonical savecompiled saveinertial usethread",
        NoEffect,
        "",
    ),
    row("option", "gravity", Exact, ""),
    row("option", "density viscosity wind", Noted, "no fluid forces"),
    row(
        "option",
        "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone impratio \
        integrator iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations \
        mpr_tolerance noslip_iterations noslip_tolerance o_friction o_margin o_solimp o_solref \
        sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance",
        NoEffect,
        "",
    ),
    row(
        "flag",
        "gravity spring damper equality constraint",
        Exact,
        "`disable` leaves them out; springs, dampers and equalities with a note",
    ),
    row("flag", "actuation limit", Noted, "servos and ranges are kept"),
    row(
        "flag",
        "autoreset clampctrl contact diagexact energy eulerdamp filterparent frictionloss fwdinv \
        invdiscrete ipc island midphase multiccd nativeccd override passive refsafe sensor sleep \
        speculative warmstart",
        NoEffect,
        "",
    ),
    row(
        "default",
        "class",
        Exact,
        "nested classes inherit; `class` replaces `childclass`, the two never merge",
    ),
    row(
        "frame",
        "name pos quat axisangle euler xyaxes zaxis childclass",
        Exact,
        "nested; joints inside keep their place",
    ),
    row(
        "body",
        "name pos quat axisangle euler xyaxes zaxis childclass gravcomp",
        Exact,
        "unnamed bodies are `#i`",
    ),
    row("body", "mocap", Noted, "welded to the world"),
    row("body", "fuse simple sleep user", NoEffect, ""),
    row(
        "inertial",
        "pos quat axisangle euler xyaxes zaxis mass diaginertia fullinertia",
        Exact,
        "",
    ),
    row(
        "joint",
        "name class type pos axis ref springref springdamper armature limited range",
        Exact,
        "hinge, slide, ball, free; springdamper uses the mass matrix at the start pose",
    ),
    row(
        "joint",
        "stiffness damping",
        Approximated,
        "linear part exact; quadratic and cubic parts and springs of free joints noted; negative \
        ones refused",
    ),
    row("joint", "springyield", Noted, "springs stay elastic"),
    row("joint", "frictionloss", Noted, "no dry friction in joints"),
    row(
        "joint",
        "actuatorfrclimited actuatorfrcrange actuatorgravcomp group margin solimpfriction \
        solimplimit solreffriction solreflimit user",
        NoEffect,
        "",
    ),
    row("freejoint", "name", Exact, "start pose is the body's"),
    row("freejoint", "align", Noted, "body frames stay as written"),
    row("freejoint", "group", NoEffect, ""),
    row(
        "geom",
        "name class type pos quat axisangle euler xyaxes zaxis fromto size mass density group",
        Exact,
        "inertia of sphere, capsule, cylinder, ellipsoid, box, mesh; shapes of primitives that \
        collide",
    ),
    row("geom", "shellinertia fitscale", Exact, "primitives fitted to meshes are primitives"),
    row(
        "geom",
        "friction contype conaffinity",
        Exact,
        "sliding friction of the shape and which others of the model it touches; both masks 0: no \
        shape",
    ),
    row(
        "geom",
        "mesh hfield",
        Noted,
        "mass read, shape dropped; refused where a moving body takes its inertia from a mesh that \
        cannot be read",
    ),
    row("geom", "fluidshape", Noted, "no fluid forces"),
    row(
        "geom",
        "adhesion castshadow condim fluidcoef gap margin material priority rgba solimp solmix \
        solref surfacevel user",
        NoEffect,
        "contact parameters other than sliding friction, appearance",
    ),
    row(
        "site",
        "name class pos quat axisangle euler xyaxes zaxis fromto",
        Exact,
        "named sites are frames",
    ),
    row("site", "group material mesh rgba size type user", NoEffect, ""),
    row("camera", "", NoEffect, ""),
    row("light", "", NoEffect, ""),
    row("composite", "", Refused, "not part of MuJoCo 4 either"),
    row("flexcomp", "", Refused, "flexible bodies"),
    row("deformable", "", Refused, "flexible bodies"),
    row("replicate", "", Refused, "save the model from MuJoCo to expand it"),
    row("attach", "", Refused, "save the model from MuJoCo to expand it"),
    row("plugin", "", Refused, "body and geom plugins exert forces or make shapes"),
    row(
        "connect",
        "name class active body1 body2 anchor site1 site2",
        Exact,
        "spherical loop joint; inactive ones dropped with a note",
    ),
    row(
        "weld",
        "name class active body1 body2 anchor relpose site1 site2",
        Exact,
        "fixed loop joint; inactive ones dropped with a note",
    ),
    row(
        "weld",
        "torquescale",
        Exact,
        "0: spherical loop joint; otherwise of no effect on an exact weld",
    ),
    row(
        "equality/joint",
        "name class active joint1 joint2 polycoef",
        Exact,
        "coupling y - y0 = p(x - x0)",
    ),
    row(
        "equality/tendon",
        "name class active tendon1 tendon2 polycoef",
        Exact,
        "coupling of fixed tendons; spatial ones refused",
    ),
    row("equality/flex", "", Refused, "flexible bodies"),
    row("equality/flexvert", "", Refused, "flexible bodies"),
    row("equality/flexstrain", "", Refused, "flexible bodies"),
    row("equality/distance", "", Refused, "removed from MuJoCo"),
    row("connect", "solref solimp", NoEffect, "loops are exact"),
    row("weld", "solref solimp", NoEffect, "loops are exact"),
    row("equality/joint", "solref solimp", NoEffect, "couplings are exact"),
    row("equality/tendon", "solref solimp", NoEffect, "couplings are exact"),
    row(
        "tendon/fixed",
        "name class springlength damping stiffness",
        Approximated,
        "spring on a combination of coordinates; dead bands, quadratic and cubic parts noted",
    ),
    row("tendon/fixed", "armature", Refused, "no inertia along combinations of coordinates"),
    row("tendon/fixed", "springyield", Noted, "springs stay elastic"),
    row("tendon/fixed", "frictionloss range", Noted, "no limits or dry friction along tendons"),
    row(
        "tendon/fixed",
        "actuatorfrclimited actuatorfrcrange group limited margin material rgba solimpfriction \
        solimplimit solreffriction solreflimit user width",
        NoEffect,
        "",
    ),
    row("fixed/joint", "joint coef", Exact, ""),
    row("tendon/spatial", "name class", Noted, "left out with a note"),
    row(
        "tendon/spatial",
        "springlength stiffness damping armature",
        Refused,
        "springs along a path through space",
    ),
    row(
        "tendon/spatial",
        "actuatorfrclimited actuatorfrcrange frictionloss group limited margin material range rgba \
        solimpfriction solimplimit solreffriction solreflimit springyield user width",
        NoEffect,
        "",
    ),
    row(
        "actuator",
        "name class joint jointinparent tendon gear biastype gaintype biasprm gainprm kp kv bias",
        Exact,
        "servo: affine bias on a hinge, slide or fixed tendon; all others noted",
    ),
    row("actuator", "dampratio", Exact, "uses the mass matrix at the start pose"),
    row(
        "actuator",
        "damping",
        Approximated,
        "on the joint or tendon; quadratic and cubic parts noted",
    ),
    row("actuator", "armature", Exact, "on the joint; refused on a tendon"),
    row(
        "actuator",
        "forcerange dyntype timeconst actrange delay ki",
        Noted,
        "no saturation, no time constants",
    ),
    row(
        "actuator",
        "actdim actearly actlimited area body controller cogging cranklength cranksite ctrllimited \
        ctrlrange diameter dynprm ffrange force forcelimited fpmax fvmax gain group imax \
        inductance inheritrange input instance interp lengthrange lmax lmin lugre motorconst \
        nominal nsample plugin posrange range refsite resistance saturation scale site slewmax \
        slidersite tausmooth thermal user velrange vmax",
        NoEffect,
        "",
    ),
    row("key", "name qpos", Exact, "start states"),
    row("key", "act ctrl mpos mquat qvel", Noted, "start states hold positions only"),
    row("key", "plastic time", NoEffect, ""),
    row("exclude", "body1 body2", Exact, "shapes of the two bodies do not touch"),
    row("exclude", "name", NoEffect, ""),
    row("contact/pair", "", Noted, "pairs with parameters of their own are left out"),
    row("sensor", "", Noted, "left out"),
    row(
        "mesh",
        "name class file scale refpos refquat vertex face inertia",
        Exact,
        "opened where inertia or a fitted primitive comes from it: STL, OBJ, MSH; a missing file \
        is noted",
    ),
    row(
        "mesh",
        "maxhullvert",
        Approximated,
        "hulls that give inertia keep all vertices, with a note",
    ),
    row(
        "mesh",
        "builtin params",
        NoEffect,
        "refused where a moving body takes its inertia from it",
    ),
    row("mesh", "content_type material normal smoothnormal texcoord", NoEffect, ""),
    row(
        "hfield",
        "name file",
        Exact,
        "shape dropped by the geom; called as its file without a name; a missing file is noted",
    ),
    row("hfield", "content_type elevation ncol nrow size", NoEffect, ""),
    row("texture", "", NoEffect, "a missing file is noted"),
    row("material", "", NoEffect, ""),
    row("skin", "", NoEffect, ""),
    row("model", "", NoEffect, "refused where it is attached"),
    row("custom", "", NoEffect, ""),
    row("extension", "", NoEffect, "plugins are refused where they are used"),
    row("size", "", NoEffect, ""),
    row("statistic", "", NoEffect, ""),
    row("visual", "", NoEffect, ""),
];

/// The treatment of an attribute of an element.
pub(crate) fn attribute(element: &str, attribute: &str) -> Option<&'static Feature> {
    FEATURES
        .iter()
        .find(|f| f.element == element && f.attributes.split(' ').any(|a| a == attribute))
}

/// The treatment of an element that is treated as a whole.
pub(crate) fn element(element: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|f| f.element == element && f.attributes.is_empty())
}

/// The feature matrix of MJCF as a Markdown table.
pub fn feature_matrix() -> String {
    markdown(FEATURES)
}

/// A feature matrix as a Markdown table.
pub(crate) fn markdown(features: &[Feature]) -> String {
    let mut out =
        String::from("| element | attributes | treatment | remark |\n|---|---|---|---|\n");
    for f in features {
        let attributes = if f.attributes.is_empty() { "(all)" } else { f.attributes };
        out.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            f.element,
            attributes,
            f.treatment.name(),
            f.remark
        ));
    }
    out
}
