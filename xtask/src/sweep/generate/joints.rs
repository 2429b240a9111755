//! Features of joints, bodies and names.

use super::{
    base::inertial,
    document::{Element, direction, number, numbers, one_of},
    feature::{Feature, Stage::Content, feature},
};

const SCALAR: [Option<&str>; 2] = [Some("hinge"), Some("slide")];

pub(super) const FEATURES: &[Feature] = &[
    feature("joint/ref", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            if SCALAR.contains(&j.get("type")) && rng.chance(0.7) {
                j.set("ref", number(rng, -1.0, 1.0));
            }
        });
    }),
    feature("joint/springref", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| j.set("springref", number(rng, -1.0, 1.0)));
    }),
    feature("joint/springdamper", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            if rng.chance(0.5) {
                j.set("springdamper", numbers(rng, 2, 0.1, 1.0));
            }
        });
    }),
    feature("joint/armature", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| j.set("armature", number(rng, 0.01, 0.5)));
    }),
    feature("joint/pos", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| j.set("pos", numbers(rng, 3, -0.3, 0.3)));
    }),
    feature("joint/range", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            let lower = if j.get("type") == Some("ball") { 0.0 } else { -0.5 };
            j.set("range", format!("{lower} {}", number(rng, 0.1, 1.0)));
            if rng.chance(0.5) {
                j.set("limited", one_of(rng, &["true", "false", "auto"]));
            }
        });
    }),
    feature("joint/polynomials", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            let name = *one_of(rng, &["stiffness", "damping"]);
            j.set(name, numbers(rng, 3, 0.1, 2.0));
        });
    }),
    feature("joint/friction", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            j.set("frictionloss", number(rng, 0.1, 1.0));
            j.set("solreffriction", "0.03 1");
            j.set("user", "1 2");
            j.set("group", rng.index(4));
        });
    }),
    feature("joint/chain", Content, |rng, d| {
        d.body("d", |b| {
            for (i, kind) in ["slide", "hinge", "slide"].into_iter().enumerate() {
                let j = Element::new("joint").with("name", format!("jm{i}")).with("type", kind);
                let j = j.with("axis", direction(rng, 3)).with("pos", numbers(rng, 3, -0.2, 0.2));
                b.children.push(j.with("stiffness", number(rng, 1.0, 9.0)));
            }
        });
        drive(rng, d, "jm1");
        drive(rng, d, "jm2");
    }),
    feature("joint/ball-after-slides", Content, |rng, d| {
        d.body("e", |b| {
            for (i, kind) in ["slide", "slide", "ball"].into_iter().enumerate() {
                let j = Element::new("joint").with("name", format!("jn{i}")).with("type", kind);
                let j = j.with("axis", direction(rng, 3)).with("pos", numbers(rng, 3, -0.2, 0.2));
                b.children.push(j.with("stiffness", number(rng, 1.0, 9.0)));
            }
        });
        drive(rng, d, "jn1");
    }),
    feature("joint/no-type", Content, |_, d| {
        d.each_in_world(&["joint"], |j| {
            if j.get("type") == Some("hinge") {
                j.remove("type");
            }
        });
    }),
    feature("joint/no-axis", Content, |_, d| {
        d.each_in_world(&["joint"], |j| {
            if super::defaults::alone(j) {
                j.remove("axis");
            }
        });
    }),
    feature("joint/unnamed", Content, |rng, d| {
        for name in ["a", "e", "g"] {
            d.body(name, |b| {
                let j = Element::new("joint").with("axis", direction(rng, 3));
                b.children.insert(0, j.with("stiffness", number(rng, 1.0, 9.0)));
            });
        }
    }),
    feature("joint/free-by-type", Content, |rng, d| {
        d.each_in_world(&["freejoint"], |j| {
            j.tag = "joint".into();
            j.set("type", "free");
            j.set("pos", numbers(rng, 3, -1.0, 1.0));
            j.set("damping", number(rng, 0.1, 1.0));
        });
    }),
    feature("joint/free-armature", Content, |rng, d| {
        d.each_in_world(&["freejoint"], |j| {
            j.tag = "joint".into();
            j.set("type", "free");
            j.set("armature", number(rng, 0.1, 1.0));
        });
    }),
    feature("joint/free-and-turned", Content, |rng, d| {
        d.body("f", |b| b.set("quat", direction(rng, 4)));
    }),
    feature("joint/two-free", Content, |rng, d| {
        let b = Element::new("body").with("name", "h").with("pos", numbers(rng, 3, -1.0, 1.0));
        let j = Element::new("freejoint").with("name", "jh").with("group", 2);
        let world = d.section("worldbody");
        world.children.insert(0, b.holding([j, inertial(rng)]));
    }),
    feature("joint/zero-stiffness", Content, |_, d| {
        d.each_in_world(&["joint"], |j| {
            j.set("stiffness", 0);
            j.set("damping", 0);
        });
    }),
    feature("body/unnamed", Content, |rng, d| {
        for name in ["a", "d", "f"] {
            let j = Element::new("joint").with("axis", direction(rng, 3));
            let e = Element::new("body").with("pos", numbers(rng, 3, -0.5, 0.5));
            let e = e.holding([inertial(rng), j.with("stiffness", number(rng, 1.0, 9.0))]);
            d.body(name, |b| b.children.insert(0, e.clone()));
        }
    }),
    feature("body/gravcomp", Content, |rng, d| {
        d.each_in_world(&["body"], |b| b.set("gravcomp", number(rng, -0.5, 1.5)));
    }),
    feature("body/mocap", Content, |rng, d| {
        let e = Element::new("body").with("mocap", "true").with("pos", numbers(rng, 3, -1.0, 1.0));
        let e = e.with("name", "hand").with("euler", "10 20 30");
        let e = e.holding([Element::new("geom").with("size", "0.1")]);
        d.section("worldbody").children.insert(0, e);
    }),
    feature("body/massless-between", Content, |rng, d| {
        d.body("a", |a| {
            for b in a.children.iter_mut().filter(|c| c.tag == "body") {
                let inner = std::mem::replace(b, Element::new("body"));
                b.set("pos", numbers(rng, 3, -0.3, 0.3));
                b.set("euler", numbers(rng, 3, -90.0, 90.0));
                b.children.push(inner);
            }
        });
    }),
    feature("body/deep", Content, |rng, d| {
        let mut e = Element::new("body").with("name", "end").holding([inertial(rng)]);
        for i in 0..12 {
            let j = Element::new("joint").with("name", format!("js{i}"));
            let j = j.with("axis", direction(rng, 3)).with("stiffness", number(rng, 1.0, 9.0));
            let b = Element::new("body").with("pos", numbers(rng, 3, -0.2, 0.2));
            e = b.holding([inertial(rng), e, j]);
        }
        d.body("e", |b| b.children.push(e.clone()));
        drive(rng, d, "js3");
        drive(rng, d, "js9");
    }),
    feature("body/ignored", Content, |rng, d| {
        d.each_in_world(&["body"], |b| {
            b.set("user", "1 2 3");
            if rng.chance(0.5) {
                b.set("sleep", "auto");
            }
        });
    }),
    feature("names/shared", Content, |rng, d| {
        // Each kind has names of its own.
        d.body("c", |b| {
            let j = Element::new("joint").with("name", "a").with("stiffness", number(rng, 1., 9.));
            b.children.insert(0, j.with("type", "slide"));
            b.children.push(Element::new("site").with("name", "a").with("pos", "1 2 3"));
            b.children.push(Element::new("geom").with("name", "a").with("size", "0.1"));
        });
        drive(rng, d, "a");
        let t = Element::new("fixed").with("name", "a").with("stiffness", 3);
        d.add("tendon", t.holding([Element::new("joint").with("joint", "a").with("coef", 2)]));
        let s = Element::new("position").with("name", "ja").with("tendon", "a").with("kp", 8);
        d.add("actuator", s);
    }),
    feature("names/odd", Content, |rng, d| {
        for (i, name) in ["#3", "left arm/π", "a&b\"c\"", "7"].into_iter().enumerate() {
            let host = ["a", "b", "d", "g"][i];
            d.body(host, |b| {
                let j = Element::new("joint").with("name", name).with("type", "slide");
                b.children.insert(0, j.with("axis", direction(rng, 3)).with("stiffness", i + 1));
            });
            drive(rng, d, name);
        }
    }),
    feature("names/like-our-own", Content, |rng, d| {
        // Names that we give to what has none.
        d.body("b", |b| {
            let j = Element::new("joint").with("name", "b/jb0").with("axis", direction(rng, 3));
            let e = Element::new("body").with("name", "b/jb0").with("pos", "0.1 0.2 0.3");
            b.children.insert(0, e.holding([inertial(rng), j.with("stiffness", 3)]));
        });
        drive(rng, d, "b/jb0");
    }),
    feature("names/empty", Content, |_, d| {
        d.each_in_world(&["geom", "site"], |e| {
            if matches!(e.get("name"), Some("gc" | "ge")) {
                e.set("name", "");
            }
        });
        d.body("b", |b| {
            b.children.push(Element::new("site").with("name", ""));
            b.children.push(Element::new("geom").with("name", "").with("size", "0.1"));
        });
    }),
    feature("names/numbers-of-bodies", Content, |rng, d| {
        // A body that is called like an unnamed one.
        let e = Element::new("body").with("name", "#4").holding([inertial(rng)]);
        d.body("f", |b| b.children.push(e.clone()));
    }),
];

/// A servo and a spring on a joint.
fn drive(rng: &mut forks_testkit::Rng, d: &mut super::document::Document, joint: &str) {
    let e = Element::new("position").with("joint", joint).with("kp", number(rng, 1.0, 50.0));
    d.add("actuator", e);
    let term = Element::new("joint").with("joint", joint).with("coef", number(rng, 0.5, 2.0));
    let e = Element::new("fixed").with("stiffness", number(rng, 1.0, 30.0));
    d.add("tendon", e.holding([term]));
}
