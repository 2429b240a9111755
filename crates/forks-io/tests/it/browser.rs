//! Pages in a real browser: drawn without an error, and at the right place between frames.
//!
//! Ignored unless asked for, since it needs Chromium (any version with WebGL 2, in software if need
//! be): `cargo test -p forks-io --test it browser -- --ignored`; the environment variable
//! `FORKS_CHROMIUM` names another program than `chromium`.

use std::{env, fs, path::PathBuf, process::Command};

use forks_io::{
    Geometry,
    animation::{Animation, AnimationFrame, Body, End, Segment, Series, VisualShape},
    html,
    lie::{Pose, glam::DVec3, so3::exp_rotation},
};

/// What the page looks like to a program after it was shown: its elements as text, and its
/// complaints.
fn shown(name: &str, animation: &Animation, address: &str) -> (String, String) {
    let directory = env::temp_dir().join(format!("forks-io-browser-{}", std::process::id()));
    let file: PathBuf = directory.join(format!("{name}.html"));
    html::save(&file, animation).unwrap();
    let browser = env::var("FORKS_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let output = Command::new(&browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ])
        .args(["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", directory.join(format!("{name}-profile")).display()))
        .arg(format!("file://{}#{address}", file.display()))
        .output()
        .unwrap_or_else(|e| panic!("cannot run {browser}: {e}"));
    let _ = fs::remove_dir_all(directory.join(format!("{name}-profile")));
    fs::remove_file(&file).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let complaints = text(output.stderr);
    let complaints: Vec<_> =
        complaints.lines().filter(|l| l.contains("CONSOLE") || l.contains("Uncaught")).collect();
    (text(output.stdout), complaints.join("\n"))
}

/// The cells of the row of the selected body's numbers that starts with a label.
fn details(page: &str, label: &str) -> Vec<f64> {
    let row = page.split_once(&format!("<td>{label}</td>")).expect("a body is selected").1;
    let row = row.split_once("</tr>").unwrap().0;
    let cells = row.split("<td>").skip(1).map(|c| c.split_once('<').unwrap().0.replace('−', "-"));
    cells.filter(|c| !c.is_empty()).map(|c| c.parse().unwrap()).collect()
}

/// A body that moves along a line and turns about an axis by 3 rad from one frame to the next: a
/// page that averaged the quaternions' numbers would be off by degrees at a quarter of the way.
fn turning() -> Animation {
    let mut a = Animation::new("turning </script>");
    let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
    let other = Body::new("other", [Geometry::Box { half_extents: DVec3::splat(1e-4) }]);
    let capsule = VisualShape::new(Geometry::Capsule { radius: 1e-3, half_length: 2e-3 });
    a.scenery = vec![Geometry::Plane.into()];
    a.bodies = vec![other, Body::new("it", [capsule])];
    a.segments = vec![Segment::new(End::origin(0), End::origin(1))];
    a.series = vec![Series::new("constant", "J")];
    for (i, time) in [0.0, 1.0, 3.0].into_iter().enumerate() {
        let turned = exp_rotation(axis * (0.1 + 3.0 * i as f64));
        // The other sign of the quaternion is the same rotation.
        let turned = if i == 1 { -turned } else { turned };
        let it = Pose::new(turned, DVec3::new(1e-3, -2e-3, 3e-3) * i as f64);
        a.frames.push(AnimationFrame::new(time, [Pose::IDENTITY, it]).values([1.0]));
    }
    a
}

#[test]
#[ignore = "needs Chromium"]
fn bodies_are_drawn_where_they_are_between_frames() {
    // A quarter of the way from the second frame to the third.
    let (page, complaints) = shown("between", &turning(), "t=1.5&select=1");
    assert_eq!(complaints, "");
    assert!(page.contains(r#"data-drawn="scene""#), "the scene was drawn");
    // Six digits behind the point are shown for a scene of millimetres.
    let expected = [1.25e-3, -2.5e-3, 3.75e-3];
    for (x, y) in details(&page, "position (m)").iter().zip(expected) {
        assert!((x - y).abs() <= 0.51e-6, "{x} {y}");
    }
    // 0.1 + 3.75 rad about the axis, shown as the shorter turn about its opposite.
    let angle = 360.0 - 3.85_f64.to_degrees();
    assert!((details(&page, "turned (°)")[0] - angle).abs() < 0.0051, "{page}");
    for (x, y) in details(&page, "about").iter().zip([-2.0 / 3.0, 1.0 / 3.0, -2.0 / 3.0]) {
        assert!((x - y).abs() < 0.00051, "{x} {y}");
    }
    let speed = 14e-6_f64.sqrt() / 2.0;
    assert!((details(&page, "speed (m/s)")[0] / speed - 1.0).abs() < 1e-5);
}

#[test]
#[ignore = "needs Chromium"]
fn recordings_without_bodies_or_motion_are_shown_too() {
    let mut a = Animation::new("nothing");
    a.frames.push(AnimationFrame::default());
    let (page, complaints) = shown("nothing", &a, "");
    assert_eq!(complaints, "");
    assert!(page.contains(r#"data-drawn="scene""#));
    let mut a = turning();
    a.frames.truncate(1);
    let (page, complaints) = shown("still", &a, "select=0&view=top");
    assert_eq!(complaints, "");
    assert!(page.contains(r#"data-drawn="scene""#));
    assert_eq!(details(&page, "position (m)"), [0.0; 3]);
}
