//! Features of inertia, geoms and meshes, and of the ways to write an orientation.

use forks_testkit::Rng;

use super::{
    base::inertial,
    document::{Document, Element, direction, number, numbers, one_of},
    feature::{Feature, Stage::Content, feature},
};

/// Vertices of a tetrahedron that is not small.
const TETRAHEDRON: &str = "0 0 0 0.4 0 0.1 0 0.5 0 0.1 0.1 0.6";
const FACES: &str = "0 2 1 0 1 3 0 3 2 1 2 3";

pub(super) const FEATURES: &[Feature] = &[
    feature("inertial/everywhere", Content, |rng, d| {
        d.each_in_world(&["body"], |b| {
            if !b.children.iter().any(|c| c.tag == "inertial") {
                b.children.push(inertial(rng));
            }
        });
    }),
    feature("inertial/full", Content, |rng, d| {
        everywhere_inertial(rng, d);
        d.each_in_world(&["inertial"], |i| {
            i.remove("diaginertia");
            let diagonal = numbers(rng, 3, 0.1, 0.15);
            i.set("fullinertia", format!("{diagonal} {}", numbers(rng, 3, -0.02, 0.02)));
        });
    }),
    feature("geom/kinds", Content, |rng, d| {
        for (i, name) in ["a", "b", "c", "e", "f"].into_iter().enumerate() {
            let (kind, count) =
                [("sphere", 1), ("capsule", 2), ("ellipsoid", 3), ("cylinder", 2), ("box", 3)][i];
            d.body(name, |b| {
                let g = Element::new("geom").with("type", kind).with("quat", direction(rng, 4));
                let g = g.with("size", numbers(rng, count, 0.05, 0.3));
                b.children.push(g.with("pos", numbers(rng, 3, -0.3, 0.3)));
            });
        }
    }),
    feature("geom/density", Content, |rng, d| {
        d.each_in_world(&["geom"], |g| {
            g.remove("mass");
            if rng.chance(0.6) {
                g.set("density", number(rng, 10.0, 900.0));
            }
        });
    }),
    feature("geom/fromto", Content, |rng, d| {
        for (i, kind) in ["capsule", "cylinder", "box", "ellipsoid"].into_iter().enumerate() {
            d.body(["a", "c", "e", "g"][i], |b| {
                let g = Element::new("geom").with("type", kind).with("fromto", direction(rng, 6));
                b.children.push(g.with("size", number(rng, 0.05, 0.3)));
                let s = Element::new("site").with("name", format!("sx{i}"));
                b.children.push(s.with("type", kind).with("fromto", direction(rng, 6)));
            });
        }
    }),
    feature("geom/shell", Content, |rng, d| {
        d.each_in_world(&["geom"], |g| {
            if rng.chance(0.7) {
                g.set("shellinertia", "true");
            }
        });
    }),
    feature("geom/massless", Content, |rng, d| {
        for name in ["a", "b", "c", "e", "f", "g"] {
            d.body(name, |b| {
                let g = Element::new("geom").with("size", "0.3").with("pos", direction(rng, 3));
                b.children.push(g.with("mass", 0));
            });
        }
    }),
    feature("geom/masks", Content, |rng, d| {
        d.each_in_world(&["geom"], |g| {
            g.set("contype", rng.index(2));
            g.set("conaffinity", rng.index(2));
            g.set("friction", number(rng, 0.1, 1.0));
            g.set("solref", "0.01 1");
            g.set("condim", 3);
        });
    }),
    feature("geom/plane", Content, |_, d| {
        let floor = Element::new("geom").with("type", "plane").with("size", "0 0 1");
        d.section("worldbody").children.insert(0, floor);
    }),
    feature("geom/in-world", Content, |rng, d| {
        let kind = *one_of(rng, &["box", "ellipsoid"]);
        let g = Element::new("geom").with("name", "rock").with("type", kind).with("mass", 99);
        let g = g.with("size", numbers(rng, 3, 0.1, 0.5)).with("euler", "10 20 30");
        d.section("worldbody").children.push(g.with("pos", numbers(rng, 3, -3.0, 3.0)));
        let still = Element::new("body").with("name", "table").with("pos", "1 2 3");
        let g = Element::new("geom").with("size", "0.3").with("pos", "0 1 0");
        d.section("worldbody").children.insert(0, still.holding([g]));
    }),
    feature("geom/height-field", Content, |_, d| {
        let field = Element::new("hfield").with("name", "hill").with("size", "1 1 0.5 0.1");
        let field = field.with("nrow", 2).with("ncol", 2).with("elevation", "0 1 2 3");
        d.add("asset", field);
        let g = Element::new("geom").with("type", "hfield").with("hfield", "hill");
        d.section("worldbody").children.push(g);
    }),
    feature("compiler/inertiagrouprange", Content, |rng, d| {
        d.each_in_world(&["geom"], |g| g.set("group", rng.index(6)));
        d.each_in_world(&["body"], |b| {
            let g = Element::new("geom").with("size", number(rng, 0.1, 0.2)).with("group", 2);
            b.children.push(g.with("pos", direction(rng, 3)));
        });
        d.compiler("inertiagrouprange", one_of(rng, &["1 3", "2 2", "0 2", "2 5"]));
    }),
    feature("compiler/inertiafromgeom", Content, |rng, d| {
        everywhere_inertial(rng, d);
        d.compiler("inertiafromgeom", one_of(rng, &["true", "false", "auto"]));
    }),
    feature("compiler/settotalmass", Content, |rng, d| {
        d.compiler("settotalmass", number(rng, 3.0, 30.0));
    }),
    feature("compiler/boundmass", Content, |rng, d| {
        light(rng, d);
        d.compiler("boundmass", number(rng, 0.5, 3.0));
    }),
    feature("compiler/boundinertia", Content, |rng, d| {
        light(rng, d);
        d.compiler("boundinertia", number(rng, 0.01, 0.2));
    }),
    feature("compiler/balanceinertia", Content, |rng, d| {
        everywhere_inertial(rng, d);
        d.each_in_world(&["inertial"], |i| {
            if rng.chance(0.5) && i.get("fullinertia").is_none() {
                i.set("diaginertia", format!("0.1 0.1 {}", number(rng, 0.25, 0.5)));
            }
        });
        d.compiler("balanceinertia", "true");
    }),
    feature("mesh/inline", Content, |rng, d| {
        for (i, rule) in ["convex", "exact", "legacy", "shell"].into_iter().enumerate() {
            let e = Element::new("mesh").with("name", format!("m{i}")).with("inertia", rule);
            let e = e.with("vertex", TETRAHEDRON);
            let e = if rule == "convex" { e } else { e.with("face", FACES) };
            d.add("asset", e);
            add_mesh_geom(rng, d, ["a", "b", "e", "f"][i], &format!("m{i}"));
        }
    }),
    feature("mesh/scale-and-reference", Content, |rng, d| {
        let e = Element::new("mesh").with("name", "ms").with("vertex", TETRAHEDRON);
        let e = e.with("face", FACES).with("inertia", "exact").with("refquat", direction(rng, 4));
        let e = e.with("scale", format!("{} -1 {}", number(rng, 0.5, 2.0), number(rng, 0.5, 2.0)));
        d.add("asset", e.with("refpos", numbers(rng, 3, -0.3, 0.3)));
        add_mesh_geom(rng, d, "c", "ms");
        add_mesh_geom(rng, d, "g", "ms");
    }),
    feature("mesh/file", Content, |rng, d| {
        let text = "v 0 0 0\nv 0.5 0 0.125\nv 0 0.5 0\nv 0.125 0.125 0.625\n\
                    f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        let strip = rng.chance(0.5);
        let (key, folder) = *one_of(rng, &[("meshdir", "shapes"), ("assetdir", "shapes/deep")]);
        d.compiler(key, folder);
        d.compiler("strippath", strip);
        d.assets.push((format!("{folder}/wedge.obj"), text.into()));
        let file = if strip { "../nowhere/wedge.obj" } else { "wedge.obj" };
        let e = Element::new("mesh").with("file", file).with("inertia", "exact");
        d.add("asset", e);
        add_mesh_geom(rng, d, "e", "wedge");
    }),
    feature("mesh/fitted", Content, |rng, d| {
        let e = Element::new("mesh").with("name", "m").with("vertex", TETRAHEDRON);
        d.add("asset", e.with("face", FACES).with("inertia", "exact"));
        let kinds = ["sphere", "capsule", "cylinder", "ellipsoid", "box"];
        for (name, kind) in ["a", "b", "c", "e", "f"].into_iter().zip(kinds) {
            d.body(name, |b| {
                let g = Element::new("geom").with("type", kind).with("mesh", "m");
                let g = g.with("pos", numbers(rng, 3, -0.3, 0.3)).with("quat", direction(rng, 4));
                b.children.push(g.with("fitscale", number(rng, 0.5, 1.5)));
            });
        }
        if rng.chance(0.5) {
            d.compiler("fitaabb", "true");
        }
    }),
    feature("orientation/quat", Content, |rng, d| turn(rng, d, &["quat"])),
    feature("orientation/axisangle", Content, |rng, d| turn(rng, d, &["axisangle"])),
    feature("orientation/euler", Content, |rng, d| turn(rng, d, &["euler"])),
    feature("orientation/xyaxes", Content, |rng, d| turn(rng, d, &["xyaxes"])),
    feature("orientation/zaxis", Content, |rng, d| turn(rng, d, &["zaxis"])),
    feature("compiler/eulerseq", Content, |rng, d| {
        turn(rng, d, &["euler"]);
        let letters: String =
            (0..3).map(|_| *one_of(rng, &['x', 'y', 'z', 'X', 'Y', 'Z'])).collect();
        d.compiler("eulerseq", letters);
    }),
    feature("compiler/radian", Content, |rng, d| {
        turn(rng, d, &["euler", "axisangle"]);
        d.each_in_world(&["joint"], |j| {
            if j.get("type") != Some("ball") {
                j.set("ref", number(rng, -1.0, 1.0));
                j.set("springref", number(rng, -1.0, 1.0));
            }
        });
        d.compiler("angle", one_of(rng, &["radian", "degree"]));
    }),
];

fn everywhere_inertial(rng: &mut Rng, d: &mut Document) {
    d.each_in_world(&["body"], |b| {
        if !b.children.iter().any(|c| c.tag == "inertial") {
            b.children.push(inertial(rng));
        }
    });
}

/// Welded bodies without mass, in the middle and at the ends.
fn light(rng: &mut Rng, d: &mut Document) {
    for name in ["a", "e", "g"] {
        let e = Element::new("body").with("pos", numbers(rng, 3, -0.5, 0.5));
        d.body(name, |b| b.children.push(e.clone()));
    }
}

fn add_mesh_geom(rng: &mut Rng, d: &mut Document, body: &str, mesh: &str) {
    d.body(body, |b| {
        let g = Element::new("geom").with("mesh", mesh).with("quat", direction(rng, 4));
        let g = if rng.chance(0.5) { g.with("type", "mesh") } else { g };
        let g = g.with("pos", numbers(rng, 3, -0.3, 0.3));
        let g = if rng.chance(0.5) { g.with("mass", number(rng, 0.5, 2.0)) } else { g };
        b.children.push(g.with("contype", 0).with("conaffinity", 0));
    });
}

/// Turns most of what can be turned.
pub(super) fn turn(rng: &mut Rng, d: &mut Document, ways: &[&str]) {
    d.each_in_world(&["body", "geom", "site", "inertial"], |e| {
        let fixed = e.get("fromto").is_some() || e.get("fullinertia").is_some();
        if fixed || rng.chance(0.2) {
            return;
        }
        for other in ["quat", "axisangle", "euler", "xyaxes", "zaxis"] {
            e.remove(other);
        }
        let way = *one_of(rng, ways);
        e.set(way, orientation(rng, way));
    });
}

/// A value of one of the attributes for orientations; angles are degrees or radians.
pub(super) fn orientation(rng: &mut Rng, way: &str) -> String {
    match way {
        "quat" => direction(rng, 4),
        "axisangle" => format!("{} {}", direction(rng, 3), number(rng, -180.0, 180.0)),
        "euler" => numbers(rng, 3, -180.0, 180.0),
        "xyaxes" => format!("{} 0.2 {} 1.1", direction(rng, 3), number(rng, 1.0, 2.0)),
        _ => direction(rng, 3),
    }
}
