//! Features of what refers to joints, bodies, sites and tendons: actuators, tendons, equalities,
//! keyframes.

use forks_testkit::Rng;

use super::{
    document::{Document, Element, direction, number, numbers, one_of},
    feature::{Feature, Stage::Content, feature},
};

pub(super) const FEATURES: &[Feature] = &[
    feature("tendon/many", Content, |rng, d| {
        let joints = d.scalar_joints();
        for i in 0..4 {
            let mut of = joints.clone();
            rng.shuffle(&mut of);
            of.truncate(1 + rng.index(3));
            let terms = of.iter().map(|j| {
                Element::new("joint").with("joint", j).with("coef", number(rng, -2.0, 2.0))
            });
            let e = Element::new("fixed")
                .with("name", format!("tm{i}"))
                .holding(terms.collect::<Vec<_>>());
            let e = e.with("stiffness", number(rng, 1.0, 30.0));
            d.add("tendon", e.with("damping", number(rng, 0.1, 3.0)));
        }
        drive(rng, d, "position", "tendon", "tm2");
    }),
    feature("tendon/springlength", Content, |rng, d| {
        let lengths = ["-1", "0.3", "-1 -1", "0.2 0.2", "0", "-0.3"];
        d.each(&["fixed"], |t| t.set("springlength", one_of(rng, &lengths)));
    }),
    feature("tendon/dead-band", Content, |rng, d| {
        d.each(&["fixed"], |t| {
            t.set("springlength", format!("-0.1 {}", number(rng, 0.0, 0.3)));
        });
    }),
    feature("tendon/limits-and-friction", Content, |rng, d| {
        d.each(&["fixed"], |t| {
            t.set("range", format!("-1 {}", number(rng, 0.1, 1.0)));
            t.set("limited", "true");
            t.set("frictionloss", number(rng, 0.1, 1.0));
        });
    }),
    feature("tendon/polynomials", Content, |rng, d| {
        d.each(&["fixed"], |t| {
            let name = *one_of(rng, &["stiffness", "damping"]);
            t.set(name, numbers(rng, 3, 0.1, 2.0));
        });
    }),
    feature("tendon/spatial-first", Content, |rng, d| {
        let ends = ["sa", "sb", "sd"].map(|s| Element::new("site").with("site", s));
        let t = Element::new("spatial").with("name", "rope").with("width", number(rng, 0.01, 0.1));
        let t = t.with("stiffness", 0).with("damping", 0);
        d.section("tendon").children.insert(0, t.holding(ends));
        let m = Element::new("motor").with("tendon", "rope");
        d.section("actuator").children.insert(0, m);
    }),
    feature("actuator/kinds-on-joints", Content, |rng, d| {
        let joints = d.scalar_joints();
        for kind in SERVOS.iter().chain(&DRIVEN) {
            let joint = one_of(rng, &joints).clone();
            drive(rng, d, kind, "joint", &joint);
        }
    }),
    feature("actuator/kinds-on-tendons", Content, |rng, d| {
        let tendons = d.tendons();
        for kind in SERVOS.iter().chain(&DRIVEN) {
            let tendon = one_of(rng, &tendons).clone();
            drive(rng, d, kind, "tendon", &tendon);
        }
    }),
    feature("actuator/general", Content, |rng, d| {
        let joints = d.scalar_joints();
        for (gain, bias, dynamics) in [
            ("fixed", "affine", "none"),
            ("fixed", "none", "integrator"),
            ("affine", "affine", "filter"),
            ("fixed", "affine", "filterexact"),
        ] {
            let e = Element::new("general").with("joint", one_of(rng, &joints));
            let e = e.with("gaintype", gain).with("biastype", bias).with("dyntype", dynamics);
            let e = e.with("gainprm", numbers(rng, 3, 1.0, 9.0)).with("dynprm", "0.1");
            let e = e.with("biasprm", format!("0 {} -0.5", number(rng, -20.0, 0.0)));
            d.add("actuator", e);
        }
    }),
    feature("actuator/gear", Content, |rng, d| {
        d.each(&["position"], |a| a.set("gear", number(rng, -3.0, 3.0)));
    }),
    feature("actuator/jointinparent", Content, |_, d| {
        d.each(&["position"], |a| {
            if let Some(joint) = a.get("joint").map(str::to_owned) {
                a.remove("joint");
                a.set("jointinparent", joint);
            }
        });
    }),
    feature("actuator/two-targets", Content, |rng, d| {
        let joints = d.scalar_joints();
        for other in ["jointinparent", "tendon"] {
            let e = Element::new("position").with("joint", one_of(rng, &joints)).with("kp", 7);
            let name = match other {
                "jointinparent" => one_of(rng, &joints),
                _ => "t0",
            };
            let e = e.with(other, name);
            d.add("actuator", if other == "tendon" { e.with("jointinparent", "ja") } else { e });
        }
    }),
    feature("actuator/dampratio", Content, |rng, d| {
        d.each(&["position"], |a| {
            a.remove("kv");
            a.set("dampratio", number(rng, 0.1, 2.0));
        });
    }),
    feature("actuator/armature", Content, |rng, d| {
        d.each(&["position"], |a| {
            if a.get("tendon").is_none() {
                a.set("armature", number(rng, 0.01, 0.5));
            }
        });
    }),
    feature("actuator/damping", Content, |rng, d| {
        d.each(&["position"], |a| a.set("damping", number(rng, 0.1, 2.0)));
    }),
    feature("actuator/ranges", Content, |rng, d| {
        d.each(&["position"], |a| {
            a.set("ctrlrange", format!("-1 {}", number(rng, 0.5, 1.0)));
            a.set("forcerange", "-9 9");
            if rng.chance(0.3) {
                a.set("ctrllimited", "false");
            }
        });
    }),
    feature("actuator/other-transmissions", Content, |rng, d| {
        let list = d.section("actuator");
        for e in [
            Element::new("motor").with("site", "sc").with("gear", numbers(rng, 6, -1.0, 1.0)),
            Element::new("motor")
                .with("site", "sd")
                .with("refsite", "sa")
                .with("gear", "0 0 1 0 0 0"),
            Element::new("motor").with("joint", "jc").with("gear", "1 2 3"),
            Element::new("motor")
                .with("cranksite", "sb")
                .with("slidersite", "se")
                .with("cranklength", 1),
            Element::new("adhesion").with("body", "e").with("ctrlrange", "0 1"),
        ] {
            let at = rng.index(list.children.len() + 1);
            list.children.insert(at, e);
        }
    }),
    feature("actuator/inheritrange", Content, |_, d| {
        d.each_in_world(&["joint"], |j| {
            if !matches!(j.get("type"), Some("ball" | "free")) {
                j.set("range", "-0.5 0.75");
                j.set("limited", "true");
            }
        });
        d.each(&["position"], |a| {
            if a.get("joint").is_some() && a.get("jointinparent").is_none() {
                a.remove("ctrlrange");
                a.set("inheritrange", 1);
            }
        });
    }),
    feature("equality/polynomial", Content, |rng, d| {
        let p = numbers(rng, 5, -0.5, 0.5);
        d.add("equality", coupling("jb1", "jd").with("polycoef", p));
    }),
    feature("equality/no-polynomial", Content, |_, d| {
        let e = coupling("jb1", "ja").with("name", "same");
        d.section("equality").children.insert(0, e);
    }),
    feature("equality/one-joint", Content, |rng, d| {
        let e = Element::new("joint").with("joint1", "jb0").with("name", "held");
        d.add("equality", e.with("polycoef", numbers(rng, 2, -0.5, 0.5)));
    }),
    feature("equality/connect", Content, |rng, d| {
        let e = Element::new("connect").with("body1", "c").with("body2", "e");
        d.add("equality", e.with("anchor", numbers(rng, 3, -0.5, 0.5)));
    }),
    feature("equality/connect-to-world", Content, |rng, d| {
        let e = Element::new("connect").with("body1", "g").with("name", "pin");
        let e = if rng.chance(0.5) { e.with("body2", "world") } else { e };
        let e = e.with("anchor", numbers(rng, 3, -0.5, 0.5));
        d.section("equality").children.insert(0, e);
    }),
    feature("equality/connect-from-world", Content, |rng, d| {
        let e = Element::new("connect").with("body1", "world").with("body2", "d");
        d.add("equality", e.with("anchor", numbers(rng, 3, -0.5, 0.5)));
    }),
    feature("equality/of-welded-bodies", Content, |rng, d| {
        let e = Element::new("connect").with("body1", "e").with("body2", "g");
        let e = e.with("anchor", numbers(rng, 3, -0.5, 0.5));
        d.section("equality").children.insert(0, e);
        d.add("equality", Element::new("weld").with("site1", "sw").with("site2", "se"));
    }),
    feature("equality/connect-sites", Content, |_, d| {
        let e = Element::new("connect").with("site1", "sc").with("site2", "se");
        d.section("equality").children.insert(0, e);
    }),
    feature("equality/weld", Content, |rng, d| {
        let e = Element::new("weld").with("body1", "f").with("body2", "c");
        let e = if rng.chance(0.5) { e.with("anchor", numbers(rng, 3, -0.5, 0.5)) } else { e };
        d.add("equality", e);
    }),
    feature("equality/weld-relpose", Content, |rng, d| {
        let pose = format!("{} {}", numbers(rng, 3, -0.5, 0.5), direction(rng, 4));
        let e = Element::new("weld").with("body1", "f").with("relpose", pose);
        let e = if rng.chance(0.5) { e.with("anchor", numbers(rng, 3, -0.5, 0.5)) } else { e };
        d.add("equality", if rng.chance(0.5) { e.with("body2", "d") } else { e });
    }),
    feature("equality/weld-sites", Content, |_, d| {
        let e = Element::new("weld").with("site1", "sf").with("site2", "sb");
        d.add("equality", e.with("name", "glue"));
    }),
    feature("equality/weld-without-torque", Content, |_, d| {
        let e = Element::new("weld").with("body1", "f").with("body2", "e");
        d.add("equality", e.with("torquescale", 0));
    }),
    feature("equality/tendons", Content, |rng, d| {
        let e = Element::new("tendon").with("tendon1", "t0");
        let e = if rng.chance(0.7) { e.with("tendon2", "t1") } else { e };
        let count = 2 + rng.index(4);
        d.add("equality", e.with("polycoef", numbers(rng, count, -0.5, 0.5)));
    }),
    feature("equality/inactive", Content, |rng, d| {
        let e = coupling("ja", "jb0").with("active", "false");
        d.section("equality").children.insert(0, e);
        let e = Element::new("connect").with("body1", "b").with("anchor", direction(rng, 3));
        d.add("equality", e.with("active", one_of(rng, &["true", "false"])));
    }),
    feature("equality/softness", Content, |_, d| {
        for e in &mut d.section("equality").children {
            e.set("solref", "0.05 0.5");
            e.set("solimp", "0.5 0.9 0.01");
        }
    }),
    feature("keyframe/short", Content, |rng, d| {
        for count in [1, 2, 5, 9] {
            let e = Element::new("key").with("name", format!("short{count}"));
            d.add("keyframe", e.with("qpos", numbers(rng, count, 0.1, 1.0)));
        }
    }),
    feature("keyframe/many", Content, |rng, d| {
        for name in ["k1", "", "k2"] {
            let e = Element::new("key");
            let e = if name.is_empty() { e } else { e.with("name", name) };
            let e = if rng.chance(0.3) { e.with("time", number(rng, 0.0, 1.0)) } else { e };
            d.section("keyframe").children.insert(0, e);
        }
    }),
];

/// Kinds with feedback.
const SERVOS: [&str; 5] = ["position", "velocity", "intvelocity", "damper", "cylinder"];
/// Kinds without.
const DRIVEN: [&str; 2] = ["motor", "muscle"];

fn coupling(y: &str, x: &str) -> Element {
    Element::new("joint").with("joint1", y).with("joint2", x)
}

/// An actuator with the numbers that its kind has.
fn drive(rng: &mut Rng, d: &mut Document, kind: &str, what: &str, name: &str) {
    let e = Element::new(kind).with(what, name);
    let e = match kind {
        "position" => e.with("kp", number(rng, 1.0, 50.0)).with("kv", number(rng, 0.1, 1.0)),
        "velocity" => e.with("kv", number(rng, 0.1, 1.0)),
        "intvelocity" => {
            let e = e.with("kp", number(rng, 1.0, 50.0));
            e.with("actrange", "-1 1").with("actlimited", "true")
        }
        "damper" => e.with("kv", number(rng, 0.1, 1.0)).with("ctrlrange", "0 1"),
        "cylinder" => e.with("bias", format!("0 {} -0.25", number(rng, -9.0, -1.0))),
        "muscle" => e.with("lengthrange", "0.1 1").with("ctrlrange", "0 1"),
        _ => e,
    };
    d.add("actuator", e.with("gear", number(rng, 0.5, 2.0)));
}
