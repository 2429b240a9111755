//! The model that features change: seven bodies with hinges, slides, a ball and a free joint, all
//! with springs, masses, servos and tendons of their own, so that no reference can be wrong without
//! consequence.

use forks_testkit::Rng;

use super::document::{Document, Element, direction, number, numbers};

fn joint(rng: &mut Rng, name: &str, kind: &str) -> Element {
    let e = Element::new("joint").with("name", name).with("type", kind);
    let e = e.with("stiffness", number(rng, 1.0, 50.0)).with("damping", number(rng, 0.1, 2.0));
    if kind == "ball" { e } else { e.with("axis", direction(rng, 3)) }
}

fn geom(rng: &mut Rng, name: &str, kind: &str) -> Element {
    let count = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        _ => 3,
    };
    Element::new("geom")
        .with("name", name)
        .with("type", kind)
        .with("size", numbers(rng, count, 0.05, 0.3))
        .with("pos", numbers(rng, 3, -0.3, 0.3))
        .with("mass", number(rng, 0.5, 3.0))
}

fn site(rng: &mut Rng, name: &str) -> Element {
    Element::new("site").with("name", name).with("pos", numbers(rng, 3, -0.3, 0.3))
}

fn body(rng: &mut Rng, name: &str) -> Element {
    Element::new("body").with("name", name).with("pos", numbers(rng, 3, -0.5, 0.5))
}

/// An inertial element with moments that a body can have.
pub(super) fn inertial(rng: &mut Rng) -> Element {
    Element::new("inertial")
        .with("pos", numbers(rng, 3, -0.2, 0.2))
        .with("mass", number(rng, 0.5, 3.0))
        .with("diaginertia", numbers(rng, 3, 0.1, 0.19))
}

/// The model.
pub(super) fn model(rng: &mut Rng) -> Document {
    let c = body(rng, "c").holding([joint(rng, "jc", "ball"), geom(rng, "gc", "ellipsoid")]);
    let c = c.holding([site(rng, "sc")]);
    let b = body(rng, "b").holding([joint(rng, "jb0", "slide"), joint(rng, "jb1", "hinge")]);
    let b = b.holding([geom(rng, "gb0", "box"), geom(rng, "gb1", "sphere"), site(rng, "sb"), c]);
    let e = body(rng, "e").holding([geom(rng, "ge", "sphere"), site(rng, "se")]);
    let d = body(rng, "d").holding([inertial(rng), joint(rng, "jd", "hinge"), site(rng, "sd"), e]);
    let a = body(rng, "a").holding([joint(rng, "ja", "hinge"), geom(rng, "ga", "capsule")]);
    let a = a.holding([site(rng, "sa"), b, d]);
    let g = body(rng, "g").holding([joint(rng, "jg", "hinge"), geom(rng, "gg", "cylinder")]);
    let free = Element::new("freejoint").with("name", "jf");
    let f = body(rng, "f").holding([free, geom(rng, "gf", "box"), site(rng, "sf"), g]);
    let world = Element::new("worldbody").holding([site(rng, "sw"), a, f]);
    let mut out = Document {
        root: Element::new("mujoco").with("model", "generated").holding([world]),
        included: vec![],
        assets: vec![],
    };
    for (name, joints) in [("t0", ["ja", "jd"]), ("t1", ["jb0", "jg"])] {
        let terms = joints
            .map(|j| Element::new("joint").with("joint", j).with("coef", number(rng, 0.5, 2.0)));
        let e = Element::new("fixed").with("name", name).with("stiffness", number(rng, 1.0, 30.0));
        out.add("tendon", e.holding(terms));
    }
    for (i, (what, name)) in
        [("joint", "ja"), ("joint", "jb0"), ("joint", "jb1"), ("joint", "jd"), ("tendon", "t1")]
            .into_iter()
            .enumerate()
    {
        let e = Element::new("position").with("name", format!("p{i}")).with(what, name);
        let e = e.with("kp", number(rng, 5.0, 50.0)).with("kv", number(rng, 0.1, 1.0));
        out.add("actuator", e);
    }
    let coupling =
        Element::new("joint").with("name", "q0").with("joint1", "jg").with("joint2", "jd");
    out.add("equality", coupling.with("polycoef", format!("0 {}", number(rng, 0.2, 2.0))));
    out.add("keyframe", Element::new("key").with("name", "k0"));
    out
}

/// Gives every keyframe positions of the right number.
pub(super) fn fill_keyframes(rng: &mut Rng, d: &mut Document) {
    let mut count = 0;
    d.each_in_world(&["joint", "freejoint"], |j| {
        count += match (j.tag.as_str(), j.get("type")) {
            ("freejoint", _) | (_, Some("free")) => 7,
            (_, Some("ball")) => 4,
            _ => 1,
        };
    });
    d.each(&["key"], |k| {
        if k.get("qpos").is_none() && k.get("time").is_none() {
            k.set("qpos", numbers(rng, count, 0.1, 1.0));
        }
    });
}
