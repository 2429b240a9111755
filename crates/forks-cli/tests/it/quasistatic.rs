//! `forks quasistatic` beside `forks statics`, and what it refuses.

use std::fs;

use serde_json::Value;

use crate::support::{forks, json, numbers, path_in, refuses, text};

/// A row of hinges with springs that hangs sideways from the ground, bent out of the plane.
fn chain(name: &str, joint: &str) -> String {
    let mut xml = String::from("<mujoco><worldbody>");
    let links = 12;
    for i in 0..links {
        let axis = ["0 1 0", "0 0 1", "1 0 0"][i % 3];
        let at = if i == 0 { "0 0 1" } else { "0.1 0 0" };
        xml += &format!(
            "<body name=\"l{i}\" pos=\"{at}\"><inertial mass=\"0.1\" pos=\"0.05 0 0\" \
             diaginertia=\"1e-4 1e-4 1e-4\"/><joint name=\"j{i}\" axis=\"{axis}\" {joint}/>"
        );
    }
    xml += "<site name=\"tip\" pos=\"0.1 0 0\"/>";
    xml += &"</body>".repeat(links);
    xml += "</worldbody></mujoco>";
    file(name, &xml)
}

fn file(name: &str, xml: &str) -> String {
    let path = path_in("quasistatic", name);
    fs::write(&path, xml).unwrap();
    text(&path).to_owned()
}

fn positions(v: &Value) -> Vec<Vec<f64>> {
    v["links"].as_array().unwrap().iter().map(|l| numbers(&l["position"])).collect()
}

fn apart(a: &Value, b: &Value) -> f64 {
    let gap = |(a, b): (Vec<f64>, Vec<f64>)| {
        a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
    };
    positions(a).into_iter().zip(positions(b)).map(gap).fold(0.0, f64::max)
}

#[test]
fn a_tree_ends_where_statics_ends() {
    let model = chain("sprung.xml", "stiffness=\"20\" damping=\"0.1\"");
    let force = "l11=2,3,-4,0,0.1,0";
    let wrench = force.strip_prefix("l11=").unwrap();
    let full = json(&["statics", &model, "--effector", "l11", "--wrench", wrench]);
    assert_eq!(full["status"], "converged");
    for tolerance in ["0", "0.01", "0.3"] {
        let v = json(&["quasistatic", &model, "--force", force, "--tolerance", tolerance]);
        assert_eq!(v["status"], "converged");
        assert!(v["certified_error"].as_f64().unwrap() <= tolerance.parse().unwrap());
        assert_eq!((v["load_scale"].as_f64(), v["joints"].as_u64()), (Some(1.0), Some(12)));
        // The steps left out move all joints by 1e-8 together, the tip is 1.2 m away.
        let gap = apart(&full, &v);
        assert!(gap < 1e-7, "{tolerance}: {gap:e}");
        assert!(v["message"].is_null());
    }
    // In the link's axes, without gravity, at a site.
    let local = ["--frame", "body", "--no-gravity"];
    let full = json(
        &[&["statics", &model, "--effector", "site:tip", "--wrench", "0,1,-2,0,0,0"], &local[..]]
            .concat(),
    );
    let v = json(&[&["quasistatic", &model, "--force", "site:tip=0,1,-2"], &local[..]].concat());
    assert!(apart(&full, &v) < 1e-7, "{:e}", apart(&full, &v));
}

#[test]
fn servos_of_one_joint_are_springs_and_the_path_is_a_table() {
    let hinge = "<mujoco><worldbody><body name=\"arm\"><inertial mass=\"1\" pos=\"0.2 0 0\" \
        diaginertia=\"0.01 0.01 0.01\"/><joint name=\"hinge\" axis=\"0 1 0\" stiffness=\"3\"/>\
        </body></worldbody><actuator><position joint=\"hinge\" kp=\"7\"/></actuator></mujoco>";
    let model = file("servo.xml", hinge);
    let table = path_in("quasistatic", "path.csv");
    let options = ["--no-gravity", "--load-steps", "4", "-o", text(&table)];
    let load = ["--force", "arm=0,0,0,0,1,0", "--force", "arm=0,0,0,0,1,0"];
    let v = json(&[&["quasistatic", &model], &load[..], &options[..]].concat());
    assert_eq!(v["status"], "converged");
    let angle = numbers(&v["qpos"])[0];
    assert!((angle - 0.2).abs() < 1e-8, "{angle}");
    let table = fs::read_to_string(&table).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|l| l.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|c| *c == name).unwrap();
    assert_eq!(rows.len(), 6);
    for (k, row) in rows[1..].iter().enumerate() {
        let of = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert_eq!((of("load_step"), of("load")), (k as f64, k as f64 / 4.0));
        let half = 0.5 * (0.2 * k as f64 / 4.0);
        assert!((of("arm.qy") - half.sin()).abs() < 1e-8 && of("certified_error") <= 0.01);
    }
    let loose = json(&[&["quasistatic", &model, "--no-servos"], &load[..], &options[..1]].concat());
    assert!((numbers(&loose["qpos"])[0] - 2.0 / 3.0).abs() < 1e-8);
}

#[test]
fn what_is_wrong_is_said() {
    let model = chain("wrong.xml", "stiffness=\"20\"");
    let of = |rest: &[&'static str]| [&["quasistatic", model.as_str()], rest].concat();
    refuses(&of(&["--force", "nobody=1,0,0"]), &["nobody", "wrong.xml"]);
    refuses(&of(&["--force", "site:tip=1,0,0"]), &["'l11'", "origin", "--frame body"]);
    for usage in [&[][..], &["--force", "l1=1,2"], &["--force", "l1=1,0,0", "--tolerance", "-1"]] {
        assert_eq!(forks(&of(usage)).status.code(), Some(2), "{usage:?}");
    }
    let ring = "<mujoco><worldbody><body name=\"a\"><inertial mass=\"1\" pos=\"0 0 0\" \
        diaginertia=\"1 1 1\"/><joint name=\"ja\" stiffness=\"1\"/></body><body name=\"b\">\
        <inertial mass=\"1\" pos=\"0 0 0\" diaginertia=\"1 1 1\"/><joint name=\"jb\" \
        stiffness=\"1\"/></body></worldbody><equality><joint name=\"gear\" joint1=\"ja\" \
        joint2=\"jb\"/></equality></mujoco>";
    let coupled = file("coupled.xml", ring);
    refuses(&["quasistatic", &coupled, "--force", "a=1,0,0"], &["gear", "forks quasistatic"]);
}

#[test]
fn what_nothing_resists_is_named() {
    let model = chain("loose.xml", "");
    let out = forks(&["quasistatic", &model, "--force", "l11=0,0,0,1,0,0", "--iterations", "50"]);
    let message = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{message}");
    assert!(message.contains("loose.xml") && message.contains("joint"), "{message}");
    // What was reached is printed all the same.
    assert!(String::from_utf8(out.stdout).unwrap().starts_with("status"));
}
