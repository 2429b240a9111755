//! What hands do beside springs: commands of joints and servos, poses; and what waits for a file.

use std::sync::{Arc, Mutex};

use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use forks_view::{Awaited, MechanismSource, Server, Source, ViewOptions};

use super::support::{Frame, Page, arm, ask, pendulum, pose, serve, source, token};

/// The end of the arm's last link.
fn end(f: &Frame) -> DVec3 {
    pose(f, 2).transform_point(DVec3::X * 0.2)
}

fn pull(page: &mut Page, target: [f64; 3], by: &str) {
    let [x, y, z] = target;
    page.send(&format!(
        r#"{{"type":"pull","body":2,"point":[0.2,0,0],"target":[{x},{y},{z}],"by":"{by}"}}"#
    ));
}

#[test]
fn commands_bring_a_point_to_its_place_and_hold_the_rest() {
    let server = serve(arm());
    let mut page = Page::open(&server);
    assert_eq!(page.hear("status")["commanded"], true);
    pull(&mut page, [0.3, 0.0, 0.2], "commands");
    page.send(r#"{"type":"step","count":500}"#);
    let there = page.frame_at(1.0);
    let target = DVec3::new(0.3, 0.0, 0.2);
    assert!(end(&there).distance(target) < 1e-4, "{}", end(&there));
    // Three joints hold two coordinates of a point: what is left over stays where it is.
    page.send(r#"{"type":"step","count":500}"#);
    let later = page.frame_at(2.0);
    for body in 0..3 {
        let moved = pose(&later, body).translation.distance(pose(&there, body).translation);
        assert!(moved < 5e-3, "body {body} moves by {moved:e}");
    }
    assert!(end(&later).distance(target) < 1e-5, "{}", end(&later));
    // Out of reach: stretched that way, and nothing explodes.
    pull(&mut page, [0.0, 0.0, 2.0], "commands");
    page.send(r#"{"type":"step","count":1000}"#);
    let up = page.frame_at(4.0);
    assert!((end(&up) - DVec3::Z * 0.6).length() < 0.02, "{}", end(&up));
    // Let go, it falls.
    page.send(r#"{"type":"release"}"#);
    page.send(r#"{"type":"step","count":500}"#);
    assert!(end(&page.frame_at(5.0)).z < 0.5);
}

#[test]
fn servos_are_commanded_where_there_are_some() {
    // The servo turns the first of two sprung joints: the tip follows along its circle only.
    let server = serve(pendulum());
    let mut page = Page::open(&server);
    page.send(
        r#"{"type":"pull","body":0,"point":[0.3,0,0],"target":[0.2,0,0.22360679775],"by":"commands"}"#,
    );
    page.send(r#"{"type":"step","count":1500}"#);
    let there = page.frame_at(3.0);
    let at = pose(&there, 0).transform_point(DVec3::X * 0.3);
    assert!(at.distance(DVec3::new(0.2, 0.0, 0.05f64.sqrt())) < 2e-3, "{at}");
}

#[test]
fn poses_follow_the_hand_while_time_stands() {
    let server = serve(arm());
    let mut page = Page::open(&server);
    page.send(r#"{"type":"step","count":100}"#);
    let before = page.frame_at(0.2);
    page.send(r#"{"type":"pin","body":1}"#);
    let elbow = pose(&before, 1).translation;
    // Where the two last links reach with the elbow held.
    let target = elbow + DVec3::new(0.25, 0.0, 0.1);
    pull(&mut page, target.to_array(), "pose");
    let there = loop {
        let frame = page.frame();
        if end(&frame).distance(target) < 1e-6 {
            break frame;
        }
    };
    assert_eq!(there.time, before.time);
    assert!(pose(&there, 1).translation.distance(elbow) < 1e-6);
    page.send(r#"{"type":"release"}"#);
    page.send(r#"{"type":"pin","body":1}"#);
    // At rest there: after one step it has hardly moved, and then it falls.
    page.send(r#"{"type":"step","count":1}"#);
    assert!(end(&page.frame_at(0.202)).distance(target) < 1e-3);
    page.send(r#"{"type":"step","count":200}"#);
    let fallen = page.frame_at(0.602);
    assert!(end(&fallen).distance(target) > 0.05);
    // The pose is a moment of the timeline, and comes back with every bit.
    page.send(r#"{"type":"rewind","time":0.2}"#);
    assert_eq!(page.frame_at(0.2).poses, there.poses);
    page.send(r#"{"type":"step","count":201}"#);
    assert_eq!(page.frame_at(0.602).poses, fallen.poses);
}

/// Four bars of a parallelogram, the ground one of them.
fn four_bars() -> Mechanism {
    let mut b = MechanismBuilder::new("four bars");
    let inertia = SpatialInertia::new(0.3, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1e-3)));
    let mut link = |name: &str| b.add_link(Link::new(name).with_inertia(inertia));
    let [left, top, right] = ["left", "top", "right"].map(&mut link);
    let hinge = |name: &str, a: LinkId, b: LinkId| {
        Joint::new(name, JointKind::Revolute { axis: DVec3::Y }, a, b)
    };
    let at = |x: f64, z: f64| Pose::from_translation(DVec3::new(x, 0.0, z));
    b.add_joint(hinge("a", LinkId::WORLD, left).at(at(0.0, 0.0)));
    b.add_joint(hinge("b", left, top).at(at(0.0, 0.3)));
    b.add_joint(hinge("c", LinkId::WORLD, right).at(at(0.4, 0.0)));
    let d = hinge("d", top, right).at(at(0.4, 0.0));
    b.add_joint(Joint { child_from_joint: at(0.0, 0.3), ..d });
    b.build().expect("four bars")
}

#[test]
fn loops_stay_closed_by_commands_and_by_poses() {
    let server = serve(four_bars());
    let mut page = Page::open(&server);
    let corner = |f: &Frame| pose(f, 1).translation;
    let angle = 0.5f64;
    let target = DVec3::new(0.3 * angle.sin(), 0.0, 0.3 * angle.cos());
    let [x, y, z] = target.to_array();
    for by in ["pose", "commands"] {
        page.send(&format!(
            r#"{{"type":"pull","body":1,"point":[0,0,0],"target":[{x},{y},{z}],"by":"{by}"}}"#
        ));
        let frame = if by == "pose" {
            loop {
                let frame = page.frame();
                if corner(&frame).distance(target) < 1e-5 {
                    break frame;
                }
            }
        } else {
            // Held against gravity from there on.
            page.send(r#"{"type":"step","count":500}"#);
            let frame = page.frame_at(1.0);
            assert!(corner(&frame).distance(target) < 1e-5, "{}", corner(&frame));
            frame
        };
        let open = pose(&frame, 1)
            .transform_point(DVec3::X * 0.4)
            .distance(pose(&frame, 2).transform_point(DVec3::Z * 0.3));
        assert!(open < 1e-6, "{by}: {open:e}");
    }
}

#[test]
fn what_cannot_be_commanded_is_said() {
    let server = serve(pendulum());
    let mut page = Page::open(&server);
    page.send(r#"{"type":"reduce","bodies":[1]}"#);
    while page.hear("status")["models"][0].is_null() {}
    for by in ["commands", "pose"] {
        let pull = r#"{"type":"pull","body":1,"point":[0,0,0],"target":[0,0,0],"by":""#;
        page.send(&format!("{pull}{by}\"}}"));
        let text = page.hear("problem")["text"].as_str().unwrap().to_owned();
        assert!(text.contains("full alone"), "{text}");
    }
}

#[test]
fn a_page_says_what_is_wrong_until_there_is_something_to_show() {
    let problem = "arm.xml: line 3: <body> has no \"name\" & more".to_owned();
    let next: Arc<Mutex<Option<Result<Source, String>>>> = Arc::default();
    let again = {
        let next = Arc::clone(&next);
        Box::new(move || next.lock().unwrap().take())
    };
    let awaited = Awaited { title: "arm.xml".into(), problem, again };
    let server = Server::start(Source::Awaited(awaited), &ViewOptions::default()).expect("a page");
    let get = || {
        let (token, host) = (token(&server), server.address());
        ask(&server, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    };
    let until = |words: &str| {
        let begin = std::time::Instant::now();
        while !get().contains(words) {
            assert!(begin.elapsed() < super::support::PATIENCE, "never: {words}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    until("line 3: &lt;body&gt; has no &quot;name&quot; &amp; more");
    *next.lock().unwrap() = Some(Err("line 4 is wrong too".into()));
    until("line 4 is wrong too");
    // Something that is read but cannot be moved.
    let bad = MechanismSource { positions: vec![f64::NAN; 3], ..source(arm()) };
    *next.lock().unwrap() = Some(Ok(Source::Mechanism(Box::new(bad))));
    until("NaN");
    *next.lock().unwrap() = Some(Ok(Source::Mechanism(Box::new(source(arm())))));
    until("forks-animation");
    let mut page = Page::open(&server);
    page.send(r#"{"type":"step","count":1}"#);
    assert_eq!(page.frame_at(0.002).poses.len(), 3);
}
