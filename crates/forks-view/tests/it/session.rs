//! What a session does with commands: steps, pulls, pins, servos, moments, reduction.

use super::support::{Frame, Page, pendulum, pose, server};
use forks_dynamics::integrate::{Simulation, SimulationOptions};
use forks_mechanism::{
    Preparation,
    lie::glam::{DQuat, DVec3},
};

/// The tip of the second link.
fn tip(f: &Frame) -> DVec3 {
    pose(f, 1).transform_point(DVec3::X * 0.3)
}

#[test]
fn steps_are_those_of_the_simulation() {
    let server = server();
    let mut page = Page::open(&server);
    assert_eq!(page.hear("status")["moving"], false);
    page.send(r#"{"type":"step","count":250}"#);
    let frame = page.frame_at(0.5);
    let prepared =
        Preparation { servos: true, ..Preparation::default() }.apply(&pendulum()).unwrap();
    let m = &prepared.mechanism;
    let n = m.tree_velocity_count();
    let q = m.start_positions();
    let mut simulation = Simulation::new(
        m,
        &q[..m.tree_position_count()],
        &vec![0.0; n],
        SimulationOptions::default(),
    );
    simulation.set_loads(&vec![0.0; n], &vec![Default::default(); m.links().len()]);
    for _ in 0..250 {
        let _ = simulation.step(2e-3);
    }
    for (k, p) in simulation.link_poses().iter().skip(1).enumerate() {
        assert_eq!(frame.poses[k], p.to_array().map(|x| x as f32), "{k}");
    }
    assert_eq!(frame.values[3], simulation.energy().total() as f32);
}

#[test]
fn moments_come_back_with_every_bit() {
    let server = server();
    let mut page = Page::open(&server);
    let step = |page: &mut Page, count: u32, time: f64| {
        page.send(&format!(r#"{{"type":"step","count":{count}}}"#));
        page.frame_at(time)
    };
    let early = step(&mut page, 100, 0.2);
    let late = step(&mut page, 200, 0.6);
    page.send(r#"{"type":"rewind","time":0.2}"#);
    assert_eq!(page.frame_at(0.2), early);
    assert_eq!(step(&mut page, 200, 0.6), late);
    page.send(r#"{"type":"reset"}"#);
    assert_eq!(page.frame_at(0.0).time, 0.0);
    assert_eq!(step(&mut page, 300, 0.6), late);
}

#[test]
fn keyframes_come_back_with_every_bit_at_any_time() {
    let server = server();
    let mut page = Page::open(&server);
    let step = |page: &mut Page, count: u32, time: f64| {
        page.send(&format!(r#"{{"type":"step","count":{count}}}"#));
        page.frame_at(time)
    };
    let keys = |status: &serde_json::Value| -> Vec<(u64, String, bool)> {
        let all = status["keys"].as_array().expect("keyframes");
        let read = |k: &serde_json::Value| {
            let name = k["name"].as_str().expect("a name").to_owned();
            (k["id"].as_u64().expect("a number"), name, k["given"].as_bool().expect("a flag"))
        };
        all.iter().map(read).collect()
    };
    let status = page.hear("status");
    let given = keys(&status);
    // Of the keyframes of the file the one without a name has a number.
    assert_eq!(
        given.iter().map(|(_, n, g)| (n.as_str(), *g)).collect::<Vec<_>>(),
        [("start", true), ("bent", true), ("keyframe 1", true)]
    );
    let early = step(&mut page, 100, 0.2);
    page.send(r#"{"type":"keep"}"#);
    let kept = loop {
        let all = keys(&page.hear("status"));
        if all.len() == 4 {
            break all[3].clone();
        }
    };
    assert_eq!((kept.1.as_str(), kept.2), ("0.200 s", false));
    let late = step(&mut page, 200, 0.6);
    // Back to the start by its keyframe, which forgets the timeline, and on to a later moment.
    page.send(&format!(r#"{{"type":"recall","id":{}}}"#, given[0].0));
    assert_eq!(page.frame_at(0.0).time, 0.0);
    page.send(&format!(r#"{{"type":"recall","id":{}}}"#, kept.0));
    assert_eq!(page.frame_at(0.2), early);
    assert_eq!(step(&mut page, 200, 0.6), late);
    // The file's keyframe: link0 at 0.3 rad, at rest.
    page.send(&format!(r#"{{"type":"recall","id":{}}}"#, given[1].0));
    let bent = page.frame_at(0.0);
    let turned = pose(&bent, 0).rotation.angle_between(DQuat::from_rotation_y(0.3));
    assert!(turned < 1e-6, "{turned:e}");
    page.send(&format!(r#"{{"type":"forget","id":{}}}"#, kept.0));
    page.send(&format!(r#"{{"type":"recall","id":{}}}"#, kept.0));
    assert!(page.hear("problem")["text"].as_str().expect("words").contains("no keyframe"));
    page.send(&format!(r#"{{"type":"forget","id":{}}}"#, given[0].0));
    assert!(page.hear("problem")["text"].as_str().expect("words").contains("no moment"));
}

/// At rest the spring's force and the mechanism's balance.
#[test]
fn a_spring_pulls_a_point_to_its_balance() {
    let server = server();
    let mut page = Page::open(&server);
    for (stiffness, near) in [(5.0, 0.35), (1e3, 0.03), (1e4, 3e-3)] {
        let target = DVec3::new(0.5, 0.0, 0.2);
        page.send(r#"{"type":"reset"}"#);
        page.send(&format!(r#"{{"type":"stiffness","value":{stiffness}}}"#));
        page.send(r#"{"type":"pull","body":1,"point":[0.3,0,0],"target":[0.5,0,0.2]}"#);
        page.send(r#"{"type":"step","count":4000}"#);
        let frame = page.frame_at(8.0);
        let away = target - tip(&frame);
        assert!(away.length() < near && frame.poses[1].iter().all(|x| x.is_finite()), "{away}");
        if stiffness > 1e3 {
            continue; // single precision does not show the force
        }
        for (k, residual) in torques(&frame, stiffness * away).iter().enumerate() {
            assert!(residual.abs() < 2e-3, "{stiffness} N/m, joint {k}: {residual} N·m");
        }
    }
}

/// What the joints' springs, gravity and a force at the tip leave over, N·m.
fn torques(f: &Frame, force: DVec3) -> [f64; 2] {
    let along = [0, 1].map(|k| pose(f, k).rotation * DVec3::X);
    let angle = along.map(|a| f64::atan2(-a.z, a.x));
    // ∂/∂θ of a link's direction.
    let turned = along.map(|a| DVec3::Y.cross(a));
    let weight = DVec3::new(0.0, 0.0, -0.2 * 9.81);
    let (first, second) = (turned[0].dot(weight) * (0.15 + 0.3), turned[1].dot(weight) * 0.15);
    let (upper, lower) = (turned[0].dot(force) * 0.3, turned[1].dot(force) * 0.3);
    // The servo is a spring of 2 N·m/rad beside the joint's own.
    [first + second + upper + lower - 5.0 * angle[0], second + lower - 3.0 * (angle[1] - angle[0])]
}

#[test]
fn pins_hold_and_servos_drive() {
    let server = server();
    let mut page = Page::open(&server);
    assert_eq!(page.hear("status")["servos"][0]["name"], "joint0");
    page.send(r#"{"type":"pin","body":1}"#);
    page.send(r#"{"type":"step","count":1000}"#);
    let held = page.frame_at(2.0);
    let moved = pose(&held, 1).translation.distance(DVec3::X * 0.3);
    assert!(moved < 1e-3, "{moved}");
    page.send(r#"{"type":"pin","body":1}"#);
    page.send(r#"{"type":"servo","index":0,"target":-0.8}"#);
    page.send(r#"{"type":"step","count":4000}"#);
    let driven = page.frame_at(10.0);
    page.send(r#"{"type":"servo","index":0,"target":0}"#);
    page.send(r#"{"type":"step","count":4000}"#);
    let free = page.frame_at(18.0);
    assert!(tip(&driven).z > tip(&free).z + 0.05, "{} {}", tip(&driven), tip(&free));
}

/// A model that came after a keyframe stands where the mechanism is; one that was there comes back
/// with every bit, and not in place of another one.
#[test]
fn keyframes_outlast_the_models_beside_them() {
    let server = server();
    let mut page = Page::open(&server);
    let reduce = |page: &mut Page| {
        page.send(r#"{"type":"reduce","bodies":[1]}"#);
        // The picture has both from now on.
        while page.frame().poses.len() < 4 {}
    };
    let apart = |f: &Frame| pose(f, 1).translation.distance(pose(f, 3).translation);
    reduce(&mut page);
    page.send(r#"{"type":"recall","id":1}"#);
    page.send(r#"{"type":"step","count":1}"#);
    let bent = page.frame_at(0.002);
    assert!(pose(&bent, 1).translation.distance(DVec3::ZERO) > 0.2);
    assert!(apart(&bent) < 2e-3, "{}", apart(&bent));
    page.send(r#"{"type":"keep"}"#);
    page.send(r#"{"type":"step","count":50}"#);
    let _ = page.frame_at(0.102);
    page.send(r#"{"type":"recall","id":3}"#);
    assert_eq!(page.frame_at(0.002).poses, bent.poses);
    // Another model in its place: the one that was kept is gone.
    page.send(r#"{"type":"reduce","bodies":[0]}"#);
    page.send(r#"{"type":"recall","id":3}"#);
    page.send(r#"{"type":"step","count":1}"#);
    let other = page.frame_at(0.004);
    assert!(pose(&other, 0).rotation.angle_between(pose(&other, 2).rotation) < 2e-2);
    page.send(r#"{"type":"reset"}"#);
    assert_eq!(page.frame_at(0.0).poses.len(), 4);
}

#[test]
fn the_reduced_model_moves_beside_the_mechanism() {
    let server = server();
    let mut page = Page::open(&server);
    page.send(r#"{"type":"reduce","bodies":[1]}"#);
    let status = loop {
        let status = page.hear("status");
        if !status["models"][0].is_null() {
            break status;
        }
    };
    assert!(status["models"][0][1].as_str().unwrap().contains("2 coordinates"), "{status}");
    page.send(r#"{"type":"step","count":6000}"#);
    let rest = page.frame_at(12.0);
    assert_eq!(rest.poses.len(), 4);
    // Both hang at the equilibrium that the model is linearised about.
    // Behind the distance the times of a step stand, of each of the two.
    let mm = rest.values[rest.values.len() - 3];
    assert!(mm < 1e-2, "{:?}", rest.values);
    page.send(r#"{"type":"stiffness","value":2}"#);
    page.send(r#"{"type":"pull","body":1,"point":[0,0,0],"target":[0.3,0,0.2]}"#);
    page.send(r#"{"type":"step","count":6000}"#);
    let pulled = page.frame_at(24.0);
    let (a, b) = (pose(&pulled, 1).translation, pose(&pulled, 3).translation);
    let way = a.distance(pose(&rest, 1).translation);
    assert!(way > 1e-3 && a.distance(b) < 0.2 * way, "{a} {b} {way}");
    page.send(r#"{"type":"unreduce"}"#);
    page.send(r#"{"type":"step","count":1}"#);
    assert_eq!(page.frame_at(24.002).poses.len(), 2);
}

#[test]
fn what_cannot_be_done_is_said() {
    let server = server();
    let mut page = Page::open(&server);
    for (command, words) in [
        (r#"{"type":"pull","body":9,"point":[0,0,0],"target":[0,0,0]}"#, "no body 9"),
        (r#"{"type":"pin","body":9}"#, "no body 9"),
        (r#"{"type":"servo","index":4,"target":0}"#, "no servo 4"),
        (r#"{"type":"reduce","bodies":[]}"#, "at least one"),
        (r#"{"type":"reduce","bodies":[7]}"#, "no such body"),
        (r#"{"type":"speed","factor":0}"#, "the speed"),
    ] {
        page.send(command);
        let text = page.hear("problem")["text"].as_str().unwrap().to_owned();
        assert!(text.contains(words), "{command}: {text}");
    }
    page.send(r#"{"type":"play"}"#);
    while !page.frame().moving {}
    page.send(r#"{"type":"pause"}"#);
    while page.frame().moving {}
}
