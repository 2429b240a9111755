//! Pictures: well-formed, in the right place, refused where a number cannot be drawn.

use forks_io::lie::{Pose, glam::DVec3};
use roxmltree::{Document, Node};

use super::{Axis, Drawing, Layer, LinePlot, Series, Stroke, View, error::PlotError};

/// x to the right, z up: seen against +y.
fn xz() -> View {
    View::new(DVec3::X, DVec3::Z).unwrap()
}

/// The line through the origins of link frames.
fn polyline(world_from_link: &[Pose]) -> Vec<DVec3> {
    world_from_link.iter().map(|p| p.translation).collect()
}

/// The pixel points of all polylines.
fn polylines(d: &Document<'_>) -> Vec<Vec<[f64; 2]>> {
    let points = |n: Node<'_, '_>| {
        let pair = |p: &str| {
            let (x, y) = p.split_once(',').unwrap();
            [x.parse().unwrap(), y.parse().unwrap()]
        };
        n.attribute("points").unwrap().split(' ').map(pair).collect()
    };
    d.descendants().filter(|n| n.has_tag_name("polyline")).map(points).collect()
}

/// The frame of the plot area: x, y, width, height.
fn area(d: &Document<'_>) -> [f64; 4] {
    let rect = d.descendants().filter(|n| n.has_tag_name("rect")).nth(1).unwrap();
    ["x", "y", "width", "height"].map(|a| rect.attribute(a).unwrap().parse().unwrap())
}

fn texts<'a>(d: &'a Document<'_>) -> Vec<&'a str> {
    d.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).collect()
}

fn plot() -> LinePlot {
    LinePlot::new("Error over load", Axis::linear("load", "N"), Axis::logarithmic("error", ""))
}

#[test]
fn lines_keep_proportions_and_stay_inside_the_frame() {
    let svg = LinePlot::new("t", Axis::linear("x", "m"), Axis::linear("y", "m"))
        .series(Series::new("s", [[0.0, 10.0], [1.0, 30.0], [4.0, 20.0]]))
        .render()
        .unwrap();
    let d = Document::parse(&svg).unwrap();
    let [x, y, w, h] = area(&d);
    let p = &polylines(&d)[0];
    for q in p {
        assert!(q[0] > x && q[0] < x + w && q[1] > y && q[1] < y + h, "{q:?}");
    }
    // Pixels are rounded to 0.01: ratios of lengths of more than 80 px are good to 3e-4.
    assert!(((p[1][0] - p[0][0]) / (p[2][0] - p[0][0]) - 0.25).abs() < 3e-4);
    assert!(((p[2][1] - p[0][1]) / (p[1][1] - p[0][1]) - 0.5).abs() < 3e-4);
    assert!(p[1][1] < p[0][1], "larger numbers stand higher");
}

#[test]
fn logarithmic_axes_turn_ratios_into_distances() {
    let svg =
        plot().series(Series::new("s", [[0.0, 1e-6], [1.0, 1e-4], [2.0, 1e-2]])).render().unwrap();
    let d = Document::parse(&svg).unwrap();
    let p = &polylines(&d)[0];
    assert!((p[0][1] - 2.0 * p[1][1] + p[2][1]).abs() < 0.021, "{p:?}");
    let t = texts(&d);
    for expected in ["Error over load", "load (N)", "error", "1e-6", "1e-2", "s"] {
        assert!(t.contains(&expected), "{expected} in {t:?}");
    }
}

#[test]
fn series_have_legend_entries_colours_and_strokes() {
    let svg = plot()
        .series(Series::new("first", [[0.0, 1.0], [1.0, 2.0]]).stroke(Stroke::Dashed))
        .series(Series::new("second", [[0.0, 2.0], [1.0, 3.0]]).stroke(Stroke::None).marks())
        .series(Series::new("", [[0.5, 2.0]]))
        .render()
        .unwrap();
    let d = Document::parse(&svg).unwrap();
    assert_eq!(polylines(&d).len(), 1, "a series without line has none");
    assert!(texts(&d).contains(&"first") && texts(&d).contains(&"second"));
    let colours: std::collections::BTreeSet<_> = d
        .descendants()
        .filter(|n| n.has_tag_name("g"))
        .filter_map(|n| n.attribute("stroke"))
        .collect();
    assert_eq!(colours.len(), 3);
    let circles = d.descendants().filter(|n| n.has_tag_name("circle")).count();
    assert_eq!(circles, 2 + 1 + 1, "marks, their sample in the legend, and the lone point");
    assert_eq!(d.descendants().filter(|n| n.has_attribute("stroke-dasharray")).count(), 2);
}

#[test]
fn names_are_data_not_markup() {
    let svg = LinePlot::new("a<b & \"c\"\u{1}", Axis::linear("]]>", "m"), Axis::linear("y", "m"))
        .series(Series::new("</svg><script>", [[0.0, 1.0]]))
        .render()
        .unwrap();
    let d = Document::parse(&svg).unwrap();
    assert!(texts(&d).contains(&"</svg><script>") && texts(&d).contains(&"]]> (m)"));
    assert!(!d.descendants().any(|n| n.has_tag_name("script")));
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let bad = |p: [f64; 2]| plot().series(Series::new("s", [[0.0, 1.0], p])).render().unwrap_err();
    assert_eq!(
        bad([1.0, f64::NAN]).to_string(),
        "y of point 1 of series 's' is NaN, not a finite number"
    );
    assert!(matches!(bad([f64::INFINITY, 1.0]), PlotError::NotFinite { .. }));
    assert!(matches!(bad([1.0, 0.0]), PlotError::NotPositive { .. }));
    assert!(matches!(bad([1e305, 1.0]), PlotError::RangeTooWide { .. }));
    assert!(matches!(plot().render().unwrap_err(), PlotError::Empty { .. }));
    let empty = Drawing::new("d", xz()).layer(Layer::new("none", [vec![]]));
    assert!(matches!(empty.render().unwrap_err(), PlotError::Empty { .. }));
    let nan = Drawing::new("d", xz())
        .layer(Layer::new("rest", [vec![DVec3::ZERO, DVec3::new(0.0, 0.0, f64::NAN)]]));
    assert_eq!(
        nan.render().unwrap_err().to_string(),
        "point 1 of line 0 of layer 'rest' is NaN, not a finite number"
    );
}

#[test]
fn no_picture_contains_a_number_that_is_none() {
    let ranges = [[0.0, 0.0], [1e299, -1e299], [5e-324, 0.0], [1e-30, 1e-30 * (1.0 + 1e-15)]];
    for [a, b] in ranges {
        let svg = LinePlot::new("t", Axis::linear("x", ""), Axis::linear("y", ""))
            .series(Series::new("s", [[a, b], [b, a]]))
            .render()
            .unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{a} {b}");
        let d = Document::parse(&svg).unwrap();
        let [x, y, w, h] = area(&d);
        for p in polylines(&d).iter().flatten() {
            assert!((x..=x + w).contains(&p[0]) && (y..=y + h).contains(&p[1]), "{a} {b}: {p:?}");
        }
    }
}

#[test]
fn drawings_have_equal_scales() {
    // A square in the x–z plane, turned round y: still a square in the picture.
    let corner = |k: f64| {
        let a = 0.3 + k * std::f64::consts::FRAC_PI_2;
        Pose::from_translation(DVec3::new(2.0 * a.cos(), 7.0 * k, 2.0 * a.sin()))
    };
    let square = [0.0, 1.0, 2.0, 3.0].map(corner);
    let svg = Drawing::new("square", xz())
        .layer(Layer::new("rest", [polyline(&square)]).marks())
        .layer(Layer::new("moved", [polyline(&square[..2])]).stroke(Stroke::Dotted))
        .render()
        .unwrap();
    let d = Document::parse(&svg).unwrap();
    let lines = polylines(&d);
    let p = &lines[0];
    let side = |i: usize, j: usize| (p[i][0] - p[j][0]).hypot(p[i][1] - p[j][1]);
    for (i, j) in [(1, 2), (2, 3), (3, 0)] {
        assert!((side(i, j) - side(0, 1)).abs() < 0.03);
    }
    assert_eq!(lines[1], p[..2].to_vec());
    assert!(texts(&d).contains(&"right (m)") && texts(&d).contains(&"up (m)"));
}

#[test]
fn any_view_is_orthonormal() {
    let view = View::new(DVec3::new(2.0, -1.0, 0.0), DVec3::new(1.0, 1.0, 5.0)).unwrap();
    // Along the viewing direction nothing moves.
    let along = DVec3::new(2.0, -1.0, 0.0).cross(DVec3::new(1.0, 1.0, 5.0));
    let svg = |shift: DVec3| {
        let line = vec![shift, shift + DVec3::X, shift + DVec3::Z];
        Drawing::new("d", view).layer(Layer::new("l", [line])).render().unwrap()
    };
    let (a, b) = (svg(DVec3::ZERO), svg(along));
    let (a, b) = (Document::parse(&a).unwrap(), Document::parse(&b).unwrap());
    for (p, q) in polylines(&a)[0].iter().zip(&polylines(&b)[0]) {
        assert!((p[0] - q[0]).abs() < 0.011 && (p[1] - q[1]).abs() < 0.011);
    }
    for (right, up) in
        [(DVec3::X, DVec3::X * -3.0), (DVec3::ZERO, DVec3::Z), (DVec3::X, DVec3::NAN)]
    {
        assert!(matches!(View::new(right, up), Err(PlotError::DegenerateView { .. })));
    }
}
