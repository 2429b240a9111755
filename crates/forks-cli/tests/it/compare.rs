//! `forks compare`: one table, one recommendation, and sentences where there is nothing to compare.

use crate::support;

use support::{forks, json, refuses, repository, text};

fn gripper() -> String {
    text(&repository("fixtures/models/robotiq_2f85/2f85.nomesh.xml")).to_owned()
}

#[test]
fn every_model_has_a_row_and_one_is_recommended() {
    let (gripper, few) = (gripper(), ["--loads", "2", "--samples", "1", "--instances", "4"]);
    let arguments = ["compare", &gripper, "--effector", "left_pad", "--gravity", "--range", "0.05"];
    let found = json(&[&arguments[..], &few].concat());
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|r| r["model"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["full", "condensed"]);
    assert_eq!(names.last(), Some(&"batch of 4"));
    assert!(names.contains(&found["recommended"].as_str().unwrap()));
    assert_eq!(found["loads"], 2);
    for row in rows {
        let error = row["static_error"].as_f64();
        assert!(error.is_some_and(|e| e < 1.0) || row["note"].is_string(), "{row}");
    }
    // The same as text.
    let output = forks(&[&arguments[..], &few].concat());
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(words.contains("take: ") && words.contains("µs/step"), "{words}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let gripper = gripper();
    refuses(&["compare", &gripper, "--effector", "left_pas"], &["left_pas"]);
    refuses(&["compare", "no-such-file.xml", "--effector", "tip"], &["no-such-file.xml"]);
    // What nothing moves has no loads.
    refuses(&["compare", &gripper, "--effector", "base_mount"], &["base_mount"]);
}
