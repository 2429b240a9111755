//! Features of default classes: who inherits what, and from whom.

use forks_testkit::Rng;

use super::{
    document::{Document, Element, direction, number, numbers, one_of},
    feature::{Feature, Stage::Defaults, feature},
    inertia::orientation,
};

pub(super) const FEATURES: &[Feature] = &[
    feature("default/main", Defaults, |rng, d| {
        let values = values(rng);
        d.add_defaults(values);
        drop_own(rng, d);
    }),
    feature("default/classes", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        d.each_in_world(&["joint", "geom", "site"], |e| {
            if rng.chance(0.6) {
                e.set("class", one_of(rng, &CLASSES));
            }
        });
    }),
    feature("default/childclass", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        d.each_in_world(&["body"], |e| {
            if rng.chance(0.6) {
                e.set("childclass", one_of(rng, &CLASSES));
            }
        });
    }),
    feature("default/class-over-childclass", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        d.each_in_world(&["body"], |e| e.set("childclass", one_of(rng, &CLASSES)));
        d.each_in_world(&["joint", "geom", "site"], |e| {
            if rng.chance(0.5) {
                e.set("class", one_of(rng, &CLASSES));
            }
        });
    }),
    feature("default/childclass-of-frame", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        d.each_in_world(&["body"], |b| {
            let inside = std::mem::take(&mut b.children);
            let (inertial, rest): (Vec<_>, Vec<_>) =
                inside.into_iter().partition(|c| c.tag == "inertial");
            b.children = inertial;
            let f = Element::new("frame").with("childclass", one_of(rng, &CLASSES));
            b.children.push(f.with("euler", numbers(rng, 3, -90.0, 90.0)).holding(rest));
        });
    }),
    feature("default/childclass-of-world-frame", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        let inside = std::mem::take(&mut d.section("worldbody").children);
        let f = Element::new("frame").with("childclass", one_of(rng, &CLASSES));
        d.section("worldbody").children.push(f.holding(inside));
    }),
    feature("default/class-named-main", Defaults, |rng, d| {
        classes(rng, d);
        if rng.chance(0.8) {
            d.section("default").set("class", "main");
        }
        let values = values(rng);
        d.add_defaults(values);
        d.each_in_world(&["body"], |e| e.set("childclass", one_of(rng, &CLASSES)));
        d.each_in_world(&["joint"], |e| {
            e.set("class", "main");
            e.remove("stiffness");
        });
    }),
    feature("default/two-sections", Defaults, |rng, d| {
        classes(rng, d);
        drop_own(rng, d);
        let values = values(rng);
        let inner = Element::new("default").with("class", "late").holding(self::values(rng));
        let second = Element::new("default").holding(values).holding([inner]);
        d.root.children.push(second);
        d.each_in_world(&["joint", "geom"], |e| {
            if rng.chance(0.7) {
                e.set("class", one_of(rng, &["late", "outer", "inner"]));
            }
        });
    }),
    feature("default/class-inside-values-after", Defaults, |rng, d| {
        // The nested class stands before the values of the class around it.
        classes(rng, d);
        drop_own(rng, d);
        let values = values(rng);
        d.add_defaults(values);
        d.each(&["default"], |e| e.children.reverse());
        d.section("default").children.reverse();
        d.each_in_world(&["joint", "geom", "site"], |e| e.set("class", one_of(rng, &CLASSES)));
    }),
    feature("default/actuators", Defaults, |rng, d| {
        let mut kinds = ["general", "position", "velocity", "motor", "intvelocity"];
        rng.shuffle(&mut kinds);
        let defaults: Vec<Element> = kinds[..3].iter().map(|k| actuator_values(rng, k)).collect();
        let (first, rest) = defaults.split_at(1);
        let inner = Element::new("default").with("class", "drive").holding(rest.to_vec());
        d.add_defaults(first.to_vec());
        d.add_defaults([inner]);
        let joints = d.scalar_joints();
        for (i, joint) in joints.iter().enumerate() {
            let kind = *one_of(rng, &["general", "position", "velocity", "motor", "intvelocity"]);
            let e = Element::new(kind).with("name", format!("x{i}")).with("joint", joint);
            let e = if kind == "intvelocity" {
                e.with("actrange", "-1 1").with("actlimited", "true")
            } else {
                e
            };
            let e = match kind {
                "general" if rng.chance(0.5) => {
                    // Of a position-like one, so that a damping ratio of the class stays one.
                    let k = number(rng, 1.0, 9.0);
                    e.with("biasprm", format!("0 -{k}")).with("gainprm", k)
                }
                "position" if rng.chance(0.5) => e.with("kv", number(rng, 0.1, 1.0)),
                _ => e,
            };
            d.add("actuator", if rng.chance(0.6) { e.with("class", "drive") } else { e });
        }
        d.each(&["position"], |a| {
            if rng.chance(0.5) {
                a.remove("kp");
            }
            if rng.chance(0.5) {
                a.remove("kv");
            }
        });
    }),
    feature("default/orientation", Defaults, |rng, d| {
        let way = *one_of(rng, &["quat", "axisangle", "euler", "xyaxes", "zaxis"]);
        let g = Element::new("geom").with(way, orientation(rng, way));
        let s = Element::new("site").with(way, orientation(rng, way));
        d.add_defaults([g, s]);
        d.each_in_world(&["geom", "site"], |e| {
            if e.get("fromto").is_none() && rng.chance(0.5) {
                for other in ["quat", "axisangle", "euler", "xyaxes", "zaxis"] {
                    e.remove(other);
                }
                let own = *one_of(rng, &["quat", "axisangle", "euler", "xyaxes", "zaxis"]);
                e.set(own, orientation(rng, own));
            }
        });
    }),
    feature("default/lists-in-part", Defaults, |rng, d| {
        let g = Element::new("geom").with("size", numbers(rng, 3, 0.05, 0.3));
        d.add_defaults([g.with("friction", "0.5 0.01 0.001")]);
        let j = Element::new("joint").with("stiffness", numbers(rng, 1, 1.0, 9.0));
        d.add_defaults([j]);
        d.each_in_world(&["geom"], |g| {
            if rng.chance(0.7) {
                if g.get("size").is_some() {
                    g.set("size", number(rng, 0.05, 0.3));
                }
                g.set("friction", number(rng, 0.1, 1.0));
            }
        });
    }),
    feature("default/fromto", Defaults, |rng, d| {
        let g = Element::new("geom").with("type", "capsule").with("size", number(rng, 0.05, 0.2));
        let c = Element::new("default").with("class", "bar");
        let c = c.holding([g.with("fromto", direction(rng, 6))]);
        d.add_defaults([c]);
        for body in ["a", "c", "e"] {
            d.body(body, |b| {
                let g =
                    Element::new("geom").with("class", "bar").with("mass", number(rng, 0.1, 1.));
                b.children.push(if rng.chance(0.3) {
                    g.with("fromto", direction(rng, 6))
                } else {
                    g
                });
            });
        }
    }),
    feature("default/equality", Defaults, |rng, d| {
        let e = Element::new("equality").with("solref", "0.03 1");
        let off = rng.chance(0.5);
        d.add_defaults([if off { e.with("active", "false") } else { e }]);
        for e in &mut d.section("equality").children {
            if rng.chance(0.5) {
                e.set("active", "true");
            }
        }
    }),
    feature("default/tendon", Defaults, |rng, d| {
        let t = Element::new("tendon").with("stiffness", number(rng, 1.0, 9.0));
        let t = t.with("damping", number(rng, 0.1, 1.0)).with("springlength", "0.2");
        let inner = Element::new("tendon").with("stiffness", number(rng, 1.0, 9.0));
        let class = Element::new("default").with("class", "rope").holding([inner]);
        d.add_defaults([t, class]);
        d.each(&["fixed"], |t| {
            if rng.chance(0.7) {
                t.remove("stiffness");
                if rng.chance(0.5) {
                    t.set("class", "rope");
                }
            }
        });
    }),
    feature("default/mesh", Defaults, |rng, d| {
        let m = Element::new("mesh").with("scale", numbers(rng, 3, 0.5, 2.0));
        d.add_defaults([m.with("inertia", "exact")]);
        let m = Element::new("mesh").with("name", "md").with("vertex", "0 0 0 1 0 0 0 1 0 0 0 1");
        d.add("asset", m.with("face", "0 2 1 0 1 3 0 3 2 1 2 3"));
        d.body("e", |b| {
            b.children.push(Element::new("geom").with("type", "mesh").with("mesh", "md"))
        });
    }),
    feature("default/joint-type", Defaults, |rng, d| {
        let kind = *one_of(rng, &["hinge", "slide"]);
        let j = Element::new("joint").with("type", kind).with("axis", direction(rng, 3));
        d.add_defaults([j]);
        d.each_in_world(&["joint"], |j| {
            if j.get("type") == Some(kind) {
                j.remove("type");
                if alone(j) {
                    j.remove("axis");
                }
            }
        });
    }),
    feature("default/mesh-and-geom-class", Defaults, |rng, d| {
        let mut class = |name: &str, kind: &str| {
            let m = Element::new("mesh").with("scale", numbers(rng, 3, 0.5, 2.0));
            let g = Element::new("geom").with("type", kind).with("density", number(rng, 1., 900.));
            Element::new("default").with("class", name).holding([m, g])
        };
        let (scanned, drawn) = (class("scanned", "mesh"), class("drawn", "sphere"));
        d.add_defaults([scanned, drawn]);
        let text = "0 0 0 1 0 0 0 1 0 0 0 1";
        for (name, class, geom_class, body) in [
            ("n0", "scanned", "scanned", "a"),
            ("n1", "drawn", "scanned", "f"),
            ("n2", "drawn", "drawn", "c"),
        ] {
            let m = Element::new("mesh").with("name", name).with("class", class);
            d.add("asset", m.with("vertex", text).with("face", "0 2 1 0 1 3 0 3 2 1 2 3"));
            let g = Element::new("geom").with("class", geom_class).with("mesh", name);
            d.body(body, |b| b.children.push(g.clone()));
        }
    }),
    feature("default/without-effect", Defaults, |_, d| {
        let m = Element::new("material").with("rgba", "1 0 0 1");
        let c = Element::new("camera").with("fovy", 30);
        let l = Element::new("light").with("dir", "0 1 0");
        let p = Element::new("pair").with("condim", 1);
        d.add_defaults([m, c, l, p]);
    }),
];

const CLASSES: [&str; 3] = ["outer", "inner", "other"];

/// Values for most kinds of elements.
fn values(rng: &mut Rng) -> Vec<Element> {
    let mut j = Element::new("joint");
    for (name, low, high) in [
        ("stiffness", 1.0, 50.0),
        ("damping", 0.1, 2.0),
        ("armature", 0.01, 0.5),
        ("springref", -1., 1.),
    ] {
        if rng.chance(0.6) {
            j.set(name, number(rng, low, high));
        }
    }
    if rng.chance(0.3) {
        j.set("range", format!("0 {}", number(rng, 0.1, 1.0)));
        j.set("limited", one_of(rng, &["true", "false"]));
    }
    if rng.chance(0.3) {
        j.set("ref", number(rng, -1.0, 1.0));
    }
    if rng.chance(0.2) {
        j.set("springdamper", numbers(rng, 2, 0.1, 1.0));
    }
    if rng.chance(0.5) {
        j.set("pos", numbers(rng, 3, -0.3, 0.3));
    }
    if rng.chance(0.5) {
        j.set("axis", direction(rng, 3));
    }
    let mut g = Element::new("geom").with("density", number(rng, 100.0, 900.0));
    if rng.chance(0.5) {
        g.set("pos", numbers(rng, 3, -0.3, 0.3));
    }
    if rng.chance(0.3) {
        g.set("mass", number(rng, 0.5, 3.0));
    }
    g.set("friction", number(rng, 0.1, 1.0));
    let s = Element::new("site").with("pos", numbers(rng, 3, -0.5, 0.5));
    vec![j, g, s]
}

/// Two classes in one another and one beside them.
fn classes(rng: &mut Rng, d: &mut Document) {
    let main = d.section("default");
    if main.children.iter().any(|c| c.tag == "default" && c.get("class") == Some("outer")) {
        return;
    }
    let inner = Element::new("default").with("class", "inner").holding(values(rng));
    let outer = Element::new("default").with("class", "outer").holding(values(rng));
    let other = Element::new("default").with("class", "other").holding(values(rng));
    d.add_defaults([outer.holding([inner]), other]);
}

/// A joint whose axis no other of its body has by default; two slides along one axis are singular.
pub(super) fn alone(joint: &Element) -> bool {
    matches!(joint.get("name"), Some("ja" | "jb0" | "jd" | "jg" | "js3" | "js9"))
}

/// Takes away some of what elements say themselves.
fn drop_own(rng: &mut Rng, d: &mut Document) {
    d.each_in_world(&["joint", "geom", "site"], |e| {
        for name in ["stiffness", "damping", "axis", "pos", "mass"] {
            let stays = e.get("fromto").is_some() || name == "axis" && !alone(e);
            if rng.chance(0.5) && !stays {
                e.remove(name);
            }
        }
    });
}

fn actuator_values(rng: &mut Rng, kind: &str) -> Element {
    let e = Element::new(kind).with("gear", number(rng, 0.5, 2.0));
    match kind {
        "general" => {
            let bias = format!("0 {} {}", number(rng, -9.0, -1.0), number(rng, -1.0, -0.1));
            let e = e.with("biastype", "affine").with("biasprm", bias);
            e.with("gainprm", number(rng, 1.0, 9.0))
        }
        "position" => {
            let damping = *one_of(rng, &["kv", "dampratio"]);
            e.with("kp", number(rng, 1.0, 50.0)).with(damping, number(rng, 0.1, 1.0))
        }
        "intvelocity" => e.with("kp", number(rng, 1.0, 50.0)).with("kv", number(rng, 0.1, 1.0)),
        "velocity" => e.with("kv", number(rng, 0.1, 1.0)),
        _ => e,
    }
}
