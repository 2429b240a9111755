//! Features that say the same in another order, in frames, or in several files.

use forks_testkit::Rng;

use super::{
    document::{Document, Element, numbers, one_of},
    feature::{
        Feature,
        Stage::{Files, Frames, Order},
        feature,
    },
    inertia::orientation,
};

pub(super) const FEATURES: &[Feature] = &[
    feature("frame/geoms", Frames, |rng, d| frames(rng, d, &["geom"])),
    feature("frame/joints", Frames, |rng, d| frames(rng, d, &["joint", "freejoint"])),
    feature("frame/sites", Frames, |rng, d| frames(rng, d, &["site"])),
    feature("frame/inertials", Frames, |rng, d| frames(rng, d, &["inertial"])),
    feature("frame/bodies", Frames, |rng, d| frames(rng, d, &["body"])),
    feature("frame/everything", Frames, |rng, d| {
        frames(rng, d, &["body", "geom", "joint", "site"]);
        frames(rng, d, &["body", "geom", "joint", "site", "frame"]);
    }),
    feature("frame/several-in-one", Frames, |rng, d| {
        d.each_in_world(&["body"], |b| {
            let half = b.children.len() / 2;
            let inside = b.children.split_off(half);
            let f = frame(rng).holding(inside);
            b.children.push(f);
        });
    }),
    feature("frame/world", Frames, |rng, d| {
        let inside = std::mem::take(&mut d.section("worldbody").children);
        let f = frame(rng).holding(inside);
        d.section("worldbody").children.push(f);
    }),
    feature("order/joints-last", Order, |_, d| {
        d.each_in_world(&["body"], |b| {
            b.children.sort_by_key(|c| c.is(&["joint", "freejoint"]));
        });
    }),
    feature("order/joints-between", Order, |rng, d| {
        d.each_in_world(&["body"], |b| {
            let moves: Vec<Element> = take(b, |c| c.is(&["joint", "freejoint"]));
            let mut at: Vec<usize> =
                moves.iter().map(|_| rng.index(b.children.len() + 1)).collect();
            at.sort_unstable();
            for (i, (m, at)) in moves.into_iter().zip(at).enumerate() {
                b.children.insert(at + i, m);
            }
        });
    }),
    feature("order/inertials-and-geoms-last", Order, |_, d| {
        d.each_in_world(&["body"], |b| b.children.sort_by_key(|c| c.is(&["inertial", "geom"])));
    }),
    feature("order/bodies-first", Order, |_, d| {
        d.each_in_world(&["body"], |b| b.children.sort_by_key(|c| !c.is(&["body", "frame"])));
    }),
    feature("order/everything-shuffled", Order, |rng, d| {
        d.each_in_world(&["body", "frame"], |b| rng.shuffle(&mut b.children));
    }),
    feature("order/sections-shuffled", Order, |rng, d| rng.shuffle(&mut d.root.children)),
    feature("order/sections-reversed", Order, |_, d| d.root.children.reverse()),
    feature("order/sections-split", Order, |rng, d| {
        let mut out = Vec::new();
        for e in std::mem::take(&mut d.root.children) {
            let splits =
                ["worldbody", "tendon", "actuator", "equality", "keyframe", "asset", "sensor"];
            if !e.is(&splits) || e.children.len() < 2 {
                out.push(e);
                continue;
            }
            let mut first = e;
            let second = first.children.split_off(1 + rng.index(first.children.len() - 1));
            let tag = first.tag.clone();
            out.extend([first, Element::new(&tag).holding(second)]);
        }
        d.root.children = out;
    }),
    feature("order/references-first", Order, |_, d| {
        d.root.children.sort_by_key(|c| c.is(&["worldbody", "default", "compiler", "asset"]));
    }),
    feature("include/sections", Files, |rng, d| {
        for i in 0..d.root.children.len() {
            if rng.chance(0.5) && !d.root.children[i].is(&["include"]) {
                let e = std::mem::replace(&mut d.root.children[i], Element::new("include"));
                put(d, i, format!("part{i}.xml"), vec![e]);
            }
        }
    }),
    feature("include/many-sections-in-one", Files, |rng, d| {
        let at = rng.index(d.root.children.len());
        let inside = d.root.children.split_off(at);
        d.root.children.push(Element::new("include"));
        put(d, at, "rest.xml".into(), inside);
    }),
    feature("include/in-bodies", Files, |rng, d| {
        let (mut files, folder) = (Vec::new(), *one_of(rng, &["", "parts/"]));
        d.each_in_world(&["body"], |b| {
            if b.children.is_empty() || rng.chance(0.4) {
                return;
            }
            let path = format!("{folder}inside{}.xml", files.len());
            let at = rng.index(b.children.len());
            let inside = b.children.split_off(at);
            b.children.push(Element::new("include").with("file", &path));
            files.push((path, Element::new("mujocoinclude").holding(inside)));
        });
        d.included.extend(files);
    }),
    feature("include/nested", Files, |rng, d| {
        let at = rng.index(d.root.children.len());
        let mut outer = d.root.children.split_off(at);
        let at_inner = rng.index(outer.len());
        let inner = outer.split_off(at_inner);
        // Beside the main file, or beside the file that includes it.
        let (path, written, outside) = *one_of(
            rng,
            &[
                ("inner.xml", "inner.xml", "outer.xml"),
                ("sub/inner.xml", "sub/inner.xml", "sub/outer.xml"),
                ("sub/inner.xml", "inner.xml", "sub/outer.xml"),
                ("sub/deep/inner.xml", "deep/inner.xml", "sub/outer.xml"),
                ("inner.xml", "../inner.xml", "sub/outer.xml"),
            ],
        );
        d.included.push((path.into(), Element::new("mujoco").holding(inner)));
        outer.push(Element::new("include").with("file", written));
        d.root.children.push(Element::new("include"));
        put(d, at, outside.into(), outer);
    }),
    feature("include/settings-last", Files, |_, d| {
        let settings = take(&mut d.root, |c| c.is(&["compiler", "default", "option"]));
        if settings.is_empty() {
            return;
        }
        d.included.push(("settings.xml".into(), Element::new("mujocoinclude").holding(settings)));
        d.root.children.push(Element::new("include").with("file", "settings.xml"));
    }),
    feature("include/elements-of-sections", Files, |rng, d| {
        let mut files = Vec::new();
        let many = ["tendon", "actuator", "equality", "keyframe", "asset", "default", "worldbody"];
        for s in d.root.children.iter_mut().filter(|s| s.is(&many) && !s.children.is_empty()) {
            let path = format!("{}{}.xml", s.tag, files.len());
            let inside = s.children.split_off(rng.index(s.children.len()));
            s.children.push(Element::new("include").with("file", &path));
            files.push((path, Element::new("mujoco").holding(inside)));
        }
        d.included.extend(files);
    }),
];

/// The children that `wanted` picks, taken out.
fn take(e: &mut Element, wanted: impl Fn(&Element) -> bool) -> Vec<Element> {
    let (out, rest) = std::mem::take(&mut e.children).into_iter().partition(wanted);
    e.children = rest;
    out
}

/// Makes child `at` of the root an include of a file that holds these elements.
fn put(d: &mut Document, at: usize, path: String, inside: Vec<Element>) {
    d.root.children[at].set("file", &path);
    d.included.push((path, Element::new("mujocoinclude").holding(inside)));
}

/// A frame that is somewhere and turned.
fn frame(rng: &mut Rng) -> Element {
    let way = *one_of(rng, &["quat", "axisangle", "euler", "xyaxes", "zaxis"]);
    let f = Element::new("frame").with(way, orientation(rng, way));
    if rng.chance(0.8) { f.with("pos", numbers(rng, 3, -0.5, 0.5)) } else { f }
}

/// Puts each of these elements into a frame of its own.
fn frames(rng: &mut Rng, d: &mut Document, tags: &[&str]) {
    let mut wrap = |children: &mut Vec<Element>| {
        for c in children.iter_mut().filter(|c| c.is(tags)) {
            if rng.chance(0.7) {
                let inside = std::mem::replace(c, frame(rng));
                c.children.push(inside);
            }
        }
    };
    d.each_in_world(&["body"], |b| wrap(&mut b.children));
    for w in d.root.children.iter_mut().filter(|e| e.tag == "worldbody") {
        wrap(&mut w.children);
    }
}
