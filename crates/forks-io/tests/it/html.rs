//! Pages: the numbers in them are those that went in, nothing in a name can break out, and the page
//! fits its script.

use std::collections::BTreeSet;

use forks_io::{
    Geometry, IoError,
    animation::{
        Animation, AnimationFrame, Body, Colour, ContactMarker, End, Form, Segment, Series, Skin,
        VisualShape,
    },
    html,
    lie::{
        Pose,
        glam::{DVec2, DVec3},
        so3::exp_rotation,
    },
};
use serde_json::Value;

/// Decodes base 64 by its definition, apart from the writer.
fn decode(text: &Value) -> Vec<u8> {
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for c in text.as_str().unwrap().bytes().filter(|c| *c != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("{c} is no letter of base 64"),
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

fn f32s(text: &Value) -> Vec<f32> {
    decode(text).chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn f64s(text: &Value) -> Vec<f64> {
    decode(text).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn u32s(text: &Value) -> Vec<u32> {
    decode(text).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// What stands between the opening of the data element and the first end of a script after it.
fn data_text(page: &str) -> &str {
    let start = page.split_once(r#"<script type="application/json" id="animation">"#).unwrap().1;
    start.split_once("</script>").unwrap().0
}

fn data(a: &Animation) -> Value {
    serde_json::from_str(data_text(&html::to_string(a).unwrap())).unwrap()
}

fn pose(i: usize) -> Pose {
    let x = i as f64;
    Pose::new(exp_rotation(DVec3::new(0.1 * x, -0.03 * x, 0.5)), DVec3::new(x, 0.5 - x, 1.0 / 3.0))
}

fn sample() -> Animation {
    let mut a = Animation::new("sample");
    a.bodies = vec![
        Body::new("first", [Geometry::Sphere { radius: 0.5 }]),
        Body::new("second", [Geometry::Capsule { radius: 0.1, half_length: 0.3 }]),
        Body { name: "third".into(), shapes: vec![] },
    ];
    a.series = vec![Series::new("energy", "J"), Series::new("gap", "m")];
    for i in 0..4 {
        let force = |k: usize| ContactMarker {
            position: DVec3::new(i as f64, k as f64, 0.25),
            force: DVec3::new(0.0, -1.5, 3.0 + k as f64),
        };
        // No contacts in frame 1.
        let contacts = (0..if i == 1 { 0 } else { i + 1 }).map(force);
        let poses = (0..3).map(|b| pose(10 * i + b));
        let values = [0.1 * i as f64, 1e-9 / 3.0];
        a.frames.push(AnimationFrame::new(0.1 * i as f64, poses).values(values).contacts(contacts));
    }
    a
}

#[test]
fn the_page_holds_the_numbers() {
    let a = sample();
    let d = data(&a);
    assert_eq!(f64s(&d["times"]), [0.0, 0.1, 0.2, 0.1 * 3.0]);
    // Frame after frame, body after body: x, y, z, then w, x, y, z; rounded to single precision.
    let poses = f32s(&d["poses"]);
    assert_eq!(poses.len(), 4 * 3 * 7);
    for frame in 0..4 {
        for body in 0..3 {
            let p = pose(10 * frame + body);
            let q = p.rotation;
            let expected = [p.translation.x, p.translation.y, p.translation.z, q.w, q.x, q.y, q.z]
                .map(|x| x as f32);
            let at = 7 * (3 * frame + body);
            for (x, y) in poses[at..at + 7].iter().zip(expected) {
                // One rounding to single precision, after a normalisation in double.
                assert!((x - y).abs() <= f32::EPSILON * y.abs(), "{x} {y}");
            }
        }
    }
    assert_eq!(f64s(&d["series"][0]["values"]), [0.0, 0.1, 0.2, 0.1 * 3.0]);
    assert_eq!(f64s(&d["series"][1]["values"]), [1e-9 / 3.0; 4], "series keep double precision");
    assert_eq!(u32s(&d["contacts"]["starts"]), [0, 1, 1, 4, 8]);
    let contacts = f32s(&d["contacts"]["numbers"]);
    assert_eq!(contacts.len(), 8 * 6);
    assert_eq!(contacts[12..18], [2.0, 1.0, 0.25, 0.0, -1.5, 4.0], "frame 2, contact 1");
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let evil = "</script><script>alert(1)</script><!-- {{DATA}} & \"quoted\" 'name' \u{2028} ü";
    let mut a = sample();
    a.title = evil.into();
    a.notes = vec![evil.into()];
    a.bodies[0].name = evil.into();
    a.series[0] = Series::new(evil, evil);
    let harmless = html::to_string(&sample()).unwrap();
    let page = html::to_string(&a).unwrap();
    for mark in ["<script", "</script", "<!--", "alert(1)</script"] {
        assert_eq!(page.matches(mark).count(), harmless.matches(mark).count(), "{mark}");
    }
    assert!(!data_text(&page).contains('<'));
    let d = data(&a);
    for text in [&d["title"], &d["notes"][0], &d["bodies"][0]["name"], &d["series"][0]["unit"]] {
        assert_eq!(text, evil);
    }
    let title = page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    assert!(title.starts_with("&lt;/script&gt;&lt;script&gt;alert(1)"), "{title}");
    assert!(title.contains("{{DATA}} &amp; &quot;quoted&quot; &#39;name&#39;"), "{title}");
}

/// What stands in every page and is not ours.
const LIBRARY: &str = include_str!("../../src/html/three/three.js");

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = html::to_string(&sample()).unwrap();
    assert!(page.contains(
        r#"content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'""#
    ));
    // Of three.js alone a name that looks like an address.
    assert_eq!(LIBRARY.matches("http").count(), 1);
    assert_eq!(LIBRARY.matches("http://www.w3.org/1999/xhtml").count(), 1);
    let page = page.replace("http://www.w3.org/1999/xhtml", "");
    for loader in
        ["http:", "https:", "//cdn", "src=", "href=", "url(", "@import", "fetch(", "import("]
    {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(!page.contains("{{"), "every place of the template is filled");
}

/// Names of elements that the script asks for stand in the page, once each.
#[test]
fn the_script_finds_its_elements() {
    let page = html::to_string(&sample()).unwrap().replace(LIBRARY, "");
    let after = |mark: &str| -> BTreeSet<String> {
        page.split(mark).skip(1).filter_map(|s| s.split('"').next()).map(str::to_owned).collect()
    };
    let there = after(" id=\"");
    for id in after("getElementById(\"").iter().chain(&after(" on(\"")) {
        assert!(there.contains(id), "no element '{id}'");
        assert_eq!(page.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
    // Elements named by templates: one switch for each part of the scene that can be shown.
    for name in ["ground", "axes", "trace", "contacts"] {
        assert!(there.contains(&format!("show-{name}")));
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(html::to_string(&sample()).unwrap(), html::to_string(&sample()).unwrap());
}

#[test]
fn forms_become_scaled_surfaces_that_are_shared() {
    let mut a = sample();
    let tetrahedron = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let hull = Geometry::Hull { points: tetrahedron.clone() };
    let mesh = Geometry::Mesh { vertices: tetrahedron, triangles: vec![[0, 2, 1], [0, 1, 3]] };
    let field = Geometry::HeightField { size: DVec2::ONE, columns: 3, heights: vec![0.0; 6] };
    a.scenery = vec![
        Geometry::Plane.into(),
        VisualShape::new(Geometry::Sphere { radius: 2.0 }).at(Pose::from_translation(DVec3::Y)),
        Geometry::Ellipsoid { radii: DVec3::new(1.0, 2.0, 3.0) }.into(),
        hull.clone().into(),
        VisualShape::new(hull).coloured(Colour::rgb(1, 2, 3).with_alpha(4)),
        mesh.into(),
        field.into(),
        Form::Axes { length: 1.0 }.into(),
    ];
    let d = data(&a);
    assert_eq!(d["planes"].as_array().unwrap().len(), 1);
    assert_eq!(d["planes"][0]["body"], Value::Null);
    let parts = d["scenery"].as_array().unwrap();
    // Sphere, ellipsoid, two hulls, mesh, field, three arrows of two parts.
    assert_eq!(parts.len(), 6 + 6);
    assert_eq!(parts[0]["surface"], d["bodies"][0]["parts"][0]["surface"], "one sphere for all");
    assert_eq!(parts[0]["surface"], parts[1]["surface"]);
    assert_eq!(parts[1]["scale"], serde_json::json!([1.0, 2.0, 3.0]));
    assert_eq!(parts[0]["pose"], serde_json::json!([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]));
    assert_eq!(parts[2]["surface"], parts[3]["surface"], "equal hulls are one");
    assert_eq!(parts[3]["colour"], serde_json::json!([1, 2, 3, 4]));
    let triangles = |part: &Value| {
        let surface = &d["surfaces"][part["surface"].as_u64().unwrap() as usize];
        u32s(&surface["triangles"]).len() / 3
    };
    assert_eq!([&parts[2], &parts[4], &parts[5]].map(triangles), [4, 2, 4]);
    // A capsule is a tube with a half sphere at each end.
    assert_eq!(d["bodies"][1]["parts"].as_array().unwrap().len(), 3);
}

/// Triangles go counter-clockwise from outside, normals are of unit length and on the same side.
#[test]
fn surfaces_look_outward() {
    let mut a = sample();
    a.scenery = vec![
        Geometry::Sphere { radius: 1.0 }.into(),
        Geometry::Cylinder { radius: 1.0, half_length: 1.0 }.into(),
        Geometry::Box { half_extents: DVec3::ONE }.into(),
        Geometry::Capsule { radius: 1.0, half_length: 1.0 }.into(),
        Form::Axes { length: 1.0 }.into(),
        Geometry::Hull {
            points: (0..9)
                .map(|i| {
                    DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2))
                        - DVec3::splat(0.5)
                })
                .collect(),
        }
        .into(),
    ];
    let d = data(&a);
    let surfaces = d["surfaces"].as_array().unwrap();
    assert_eq!(surfaces.len(), 7, "sphere, tube, half sphere, cylinder, cube, cone, hull");
    for (k, s) in surfaces.iter().enumerate() {
        let vectors = |name: &str| -> Vec<DVec3> {
            f32s(&s[name])
                .chunks(3)
                .map(|v| DVec3::new(v[0].into(), v[1].into(), v[2].into()))
                .collect()
        };
        let (positions, normals) = (vectors("positions"), vectors("normals"));
        assert_eq!(positions.len(), normals.len());
        let middle = positions.iter().sum::<DVec3>() / positions.len() as f64;
        let coarser = s["round"]["coarser"].as_array().into_iter().flatten();
        let all: Vec<_> = std::iter::once(&s["triangles"]).chain(coarser).map(u32s).collect();
        // Half the corners around: half the triangles of a side, a quarter of an arc's.
        assert!(all.windows(2).all(|w| 2 * w[1].len() <= w[0].len()), "surface {k}");
        for t in all.iter().flat_map(|list| list.chunks(3)) {
            let [a, b, c] = [t[0], t[1], t[2]].map(|i| positions[i as usize]);
            let face = (b - a).cross(c - a);
            assert!(face.length() > 1e-4, "surface {k}: a triangle without area");
            assert!(face.dot((a + b + c) / 3.0 - middle) > 0.0, "surface {k} looks inward");
            for i in t {
                let n = normals[*i as usize];
                assert!((n.length() - 1.0).abs() < 1e-6, "surface {k}: normal {n}");
                assert!(n.dot(face.normalize()) > 0.7, "surface {k}: normal off its face");
            }
        }
    }
}

/// 10,000 frames of 40 bodies: 28 bytes for a pose, a third more as text, and little beside.
#[test]
fn long_recordings_stay_bounded() {
    let (frames, bodies) = (10_000, 40);
    let mut a = Animation::new("long");
    a.bodies = (0..bodies)
        .map(|b| {
            let half_length = 0.1 + 0.01 * f64::from(b);
            Body::new(format!("link {b}"), [Geometry::Capsule { radius: 0.05, half_length }])
        })
        .collect();
    a.segments =
        (1..bodies as usize).map(|b| Segment::new(End::origin(b - 1), End::origin(b))).collect();
    let poses: Vec<Pose> = (0..bodies as usize).map(pose).collect();
    a.frames =
        (0..frames).map(|i| AnimationFrame::new(1e-3 * f64::from(i), poses.clone())).collect();
    let numbers = (28 * frames * bodies + 8 * frames) as usize * 4 / 3;
    assert!(LIBRARY.len() < 1_000_000);
    let size = html::to_string(&a).unwrap().len() - LIBRARY.len();
    assert!(size >= numbers && size < numbers + 400_000, "{size} bytes, numbers alone {numbers}");
    a.thin(60.0);
    assert!(html::to_string(&a).unwrap().len() - LIBRARY.len() < 1_500_000);
}

#[test]
fn what_cannot_be_shown_is_refused_with_its_place() {
    let mut a = sample();
    a.frames[2].world_from_body[1].translation.y = f64::NAN;
    let error = html::to_string(&a).unwrap_err();
    assert_eq!(
        error.to_string(),
        "frames[2].world_from_body[1].position[1] is NaN, not a finite number"
    );
    a.frames[2].world_from_body[1].translation.y = 1e39;
    let error = html::to_string(&a).unwrap_err();
    assert!(matches!(error, IoError::TooLarge { value: 1e39, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "position of body 'second' in frame 2 is 1e39, more than single precision can hold"
    );
}

#[test]
fn pages_are_written_whole_or_not_at_all() {
    let directory = std::env::temp_dir().join(format!("forks-io-html-{}", std::process::id()));
    let file = directory.join("deep").join("page.html");
    html::save(&file, &sample()).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), html::to_string(&sample()).unwrap());
    let mut broken = sample();
    broken.frames[0].time = f64::NAN;
    html::save(&file, &broken).unwrap_err();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), html::to_string(&sample()).unwrap());
    assert_eq!(std::fs::read_dir(directory.join("deep")).unwrap().count(), 1, "no leftovers");
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Skins are read back to half a step of their box in every frame, whatever else the page holds.
#[test]
fn skins_are_boxes_and_places_in_them() {
    let mut a = Animation::new("skin");
    a.bodies = vec![Body { name: "worm".into(), shapes: vec![] }];
    let (corners, triangles) = (4, vec![[0, 2, 1], [0, 1, 3]]);
    let colour = Some(Colour::rgb(1, 2, 3).with_alpha(4));
    a.skins = vec![Skin { body: 0, corners, triangles, colour }];
    let at = |i: usize| {
        let t = i as f64;
        // The last frame is flat along z, and far away.
        let corner = |k: f64| DVec3::new(0.3 * k + t, k * k - t, if i == 2 { 7.0 } else { k });
        [0.0, 1.0, 2.0, 3.5].map(corner).to_vec()
    };
    for i in 0..3 {
        let frame = AnimationFrame::new(i as f64, [Pose::IDENTITY]);
        a.frames.push(frame.skins([at(i)]));
    }
    let found = &data(&a)["skins"][0];
    assert_eq!(found["colour"], serde_json::json!([1, 2, 3, 4]));
    assert_eq!(u32s(&found["triangles"]), [0, 2, 1, 0, 1, 3]);
    let (boxes, places) = (f32s(&found["boxes"]), decode(&found["places"]));
    assert_eq!((boxes.len(), places.len()), (18, 2 * 3 * 3 * corners));
    for i in 0..3 {
        for (k, x) in at(i).iter().enumerate() {
            for (n, x) in x.to_array().into_iter().enumerate() {
                let b = 2 * (3 * (corners * i + k) + n);
                let place = u16::from_le_bytes([places[b], places[b + 1]]);
                let (low, step) = (f64::from(boxes[6 * i + n]), f64::from(boxes[6 * i + 3 + n]));
                let off = low + step * f64::from(place) - x;
                // Half a step, and the rounding of the box.
                assert!(off.abs() <= 0.5 * step + 1e-6, "{i} {k} {n}: {off}");
            }
        }
    }
    // What is wrong with a skin has its place.
    a.frames[1].skins[0].pop();
    assert!(matches!(html::to_string(&a), Err(IoError::WrongFrame { frame: 1, found: 3, .. })));
    a.frames[1].skins = at(1).into_iter().map(|x| vec![x]).collect();
    assert!(html::to_string(&a).is_err());
    a.skins[0].triangles.push([0, 1, 4]);
    assert!(matches!(html::to_string(&a), Err(IoError::NotShowable { .. })));
}
