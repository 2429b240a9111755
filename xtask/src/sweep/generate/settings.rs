//! Features of settings, and of sections that hold nothing that acts.

use super::{
    document::{Element, number, numbers, one_of},
    feature::{
        Feature,
        Stage::{Content, Order},
        feature, refused,
    },
};

pub(super) const FEATURES: &[Feature] = &[
    feature("compiler/autolimits-off", Order, |rng, d| {
        d.compiler("autolimits", "false");
        d.each_in_world(&["joint"], |j| {
            if j.get("range").is_some() || rng.chance(0.5) && j.get("type") != Some("ball") {
                let lower = if j.get("type") == Some("ball") { "0" } else { "-0.25" };
                j.set("range", format!("{lower} 0.5"));
                j.set("limited", one_of(rng, &["true", "false"]));
            }
        });
        // MuJoCo wants one without a range, but does not read whether the range limits.
        d.section("actuator").children.retain(|a| a.tag != "intvelocity");
        // Where they have a range, actuators must say whether it limits.
        d.each(&["position", "damper", "muscle", "adhesion"], |a| {
            for (range, limited) in [
                ("ctrlrange", "ctrllimited"),
                ("forcerange", "forcelimited"),
                ("actrange", "actlimited"),
            ] {
                let inherits = range == "ctrlrange" && a.get("inheritrange").is_some();
                let always = a.is(&["damper", "adhesion"]);
                if (a.get(range).is_some() || inherits) && a.get(limited).is_none() && !always {
                    a.set(limited, "true");
                }
            }
        });
    }),
    feature("compiler/twice", Content, |rng, d| {
        let e = Element::new("compiler").with("eulerseq", "ZYX").with("settotalmass", "9");
        d.root.children.push(e.with("boundinertia", number(rng, 0.001, 0.01)));
        d.compiler("settotalmass", number(rng, 3.0, 30.0));
        super::inertia::turn(rng, d, &["euler"]);
    }),
    feature("compiler/coordinate", Content, |_, d| d.compiler("coordinate", "local")),
    feature("text/number-forms", Content, |rng, d| {
        d.each(&["body", "joint", "geom", "site", "inertial", "position"], |e| {
            for (name, value) in &mut e.attributes {
                let words: Vec<&str> = value.split_whitespace().collect();
                let plain = words.iter().all(|w| w.parse::<f64>().is_ok());
                let whole = ["name", "joint", "contype", "conaffinity", "condim", "group"];
                if whole.contains(&name.as_str()) || !plain || rng.chance(0.4) {
                    continue;
                }
                let formed: Vec<String> = words
                    .iter()
                    .map(|w| match (rng.index(5), w.strip_prefix('-')) {
                        (0, None) => format!("+{w}"),
                        (1, _) => format!("{w}e0"),
                        (2, _) if w.contains('.') => format!("{w}0E+0"),
                        (3, _) => w.replacen("0.", ".", 1),
                        _ => (*w).to_owned(),
                    })
                    .collect();
                *value = format!("  {}\t", formed.join([" ", "\n    ", "\t ", "  "][rng.index(4)]));
            }
        });
    }),
    feature("text/empty-attributes", Content, |rng, d| {
        d.each_in_world(&["joint"], |j| {
            let name = *one_of(rng, &["pos", "range", "armature", "ref", "axis"]);
            if j.get(name).is_none() || name == "axis" && super::defaults::alone(j) {
                j.set(name, "");
            }
        });
    }),
    feature("compiler/ignored", Content, |_, d| {
        for (name, value) in
            [("usethread", "false"), ("discardvisual", "false"), ("saveinertial", "true")]
        {
            d.compiler(name, value);
        }
        let e = Element::new("lengthrange").with("mode", "none");
        d.section("compiler").children.push(e);
    }),
    feature("option/gravity", Content, |rng, d| {
        d.section("option").set("gravity", numbers(rng, 3, -10.0, 10.0));
    }),
    feature("option/twice", Content, |rng, d| {
        d.section("option").set("gravity", numbers(rng, 3, -10.0, 10.0));
        let e = Element::new("option").with("timestep", "0.001").with("cone", "elliptic");
        let e = if rng.chance(0.5) { e.with("gravity", "1 2 3") } else { e };
        d.root.children.push(e);
    }),
    feature("option/ignored", Content, |_, d| {
        let o = d.section("option");
        o.set("integrator", "implicit");
        o.set("solver", "CG");
        o.set("iterations", 10);
    }),
    feature("flag/gravity", Content, |rng, d| flag(rng, d, "gravity")),
    feature("flag/spring", Content, |rng, d| flag(rng, d, "spring")),
    feature("flag/damper", Content, |rng, d| flag(rng, d, "damper")),
    feature("flag/equality", Content, |rng, d| flag(rng, d, "equality")),
    feature("flag/ignored", Content, |_, d| {
        let f = Element::new("flag").with("contact", "disable").with("energy", "enable");
        let f = f.with("warmstart", "disable").with("midphase", "disable");
        d.root.children.push(Element::new("option").holding([f]));
    }),
    feature("sensor/all", Content, |_, d| {
        for (tag, what, name) in [
            ("jointpos", "joint", "jd"),
            ("jointvel", "joint", "ja"),
            ("ballquat", "joint", "jc"),
            ("tendonpos", "tendon", "t0"),
            ("actuatorfrc", "actuator", "p1"),
            ("accelerometer", "site", "sc"),
            ("touch", "site", "sa"),
            ("subtreecom", "body", "b"),
        ] {
            d.add("sensor", Element::new(tag).with("name", tag).with(what, name));
        }
        let e = Element::new("framepos").with("objtype", "geom").with("objname", "gg");
        d.add("sensor", e.with("reftype", "body").with("refname", "d"));
    }),
    feature("contact/pairs", Content, |_, d| {
        d.add("contact", Element::new("exclude").with("body1", "a").with("body2", "g"));
        d.add("contact", Element::new("pair").with("geom1", "ga").with("geom2", "gf"));
    }),
    feature("visual/cameras-and-lights", Content, |rng, d| {
        d.each_in_world(&["body"], |b| {
            let c = Element::new("camera").with("pos", numbers(rng, 3, -1.0, 1.0));
            b.children.insert(0, c.with("mode", "targetbody").with("target", "g"));
            let l = Element::new("light").with("pos", "0 0 1").with("dir", "0 0 -1");
            b.children.push(l.with("mode", "targetbody").with("target", "b"));
        });
        let m = Element::new("material").with("name", "red").with("rgba", "1 0 0 1");
        d.add("asset", m);
        d.each_in_world(&["geom"], |g| g.set("material", "red"));
    }),
    feature("sections/ignored", Content, |_, d| {
        d.add("custom", Element::new("numeric").with("name", "n").with("data", "1 2 3"));
        d.section("statistic").set("extent", 3);
        d.section("size").set("memory", "1M");
        d.add("visual", Element::new("global").with("fovy", 40));
        d.section("extension");
    }),
    refused("refused/replicate", |_, d| {
        let g = Element::new("geom").with("size", "0.1").with("mass", "0");
        let r = Element::new("replicate").with("count", 2).with("offset", "1 0 0");
        d.section("worldbody").children.push(r.holding([g]));
    }),
    refused("refused/flexcomp", |_, d| {
        let f = Element::new("flexcomp").with("name", "cloth").with("type", "grid");
        let f = f.with("count", "2 2 1").with("spacing", "0.1 0.1 0.1").with("dim", 2);
        d.section("worldbody").children.push(f.with("radius", "0.01").with("mass", 1));
    }),
    refused("refused/tendon-armature", |_, d| {
        d.each(&["fixed"], |t| t.set("armature", "0.2"));
    }),
    refused("refused/spring-through-space", |_, d| {
        let ends = ["sw", "sc"].map(|s| Element::new("site").with("site", s));
        let t = Element::new("spatial").with("stiffness", 3).holding(ends);
        d.add("tendon", t);
    }),
    refused("refused/attach", |_, d| {
        let part = Element::new("body").with("name", "p");
        let part = part.holding([Element::new("geom").with("size", "0.1")]);
        let part = Element::new("mujoco").holding([Element::new("worldbody").holding([part])]);
        d.included.push(("part.xml".into(), part));
        d.add("asset", Element::new("model").with("name", "part").with("file", "part.xml"));
        let a = Element::new("attach").with("model", "part").with("body", "p").with("prefix", "x");
        d.body("e", |b| b.children.push(a.clone()));
    }),
    refused("refused/name-twice", |_, d| {
        let b = Element::new("body").with("name", "a");
        d.section("worldbody").children.push(b);
    }),
    refused("refused/unknown-reference", |_, d| {
        let name = "joint that is not there";
        d.add("actuator", Element::new("position").with("joint", name));
    }),
    refused("refused/included-twice", |_, d| {
        let b = Element::new("body").holding([Element::new("geom").with("size", "0.1")]);
        d.included.push(("twice.xml".into(), Element::new("mujoco").holding([b])));
        let i = Element::new("include").with("file", "twice.xml");
        d.section("worldbody").children.extend([i.clone(), i]);
    }),
    refused("refused/negative-feedback", |_, d| {
        let e = Element::new("general").with("joint", "ja").with("biastype", "affine");
        d.add("actuator", e.with("biasprm", "0 3 0"));
    }),
];

fn flag(rng: &mut forks_testkit::Rng, d: &mut super::document::Document, name: &str) {
    let value = if rng.chance(0.8) { "disable" } else { "enable" };
    let f = Element::new("flag").with(name, value);
    d.root.children.push(Element::new("option").holding([f]));
}
