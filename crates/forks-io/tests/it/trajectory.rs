//! Trajectories as tables and JSON.

use forks_io::{
    IoError, Scalars, Trajectory, json,
    lie::{Pose, glam::DVec3, so3::exp_rotation},
};

fn recording() -> Trajectory {
    let mut t = Trajectory::new(["crank", "rod, upper"]);
    for i in 0..3 {
        let turn = exp_rotation(DVec3::Z * i as f64);
        let poses = [Pose::from_rotation(turn), Pose::from_translation(DVec3::X * i as f64)];
        let scalars = Scalars { kinetic: 1.5, gravitational: -2.0, elastic: 0.25, loop_gap: 1e-12 };
        t.push(0.1 * i as f64, scalars, &poses).unwrap();
    }
    t
}

#[test]
fn a_table_has_seven_columns_per_link() {
    let csv = recording().to_csv().unwrap();
    let lines: Vec<&str> = csv.as_str().lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("time (s),kinetic (J),gravitational (J),elastic (J),loop gap,"));
    assert!(lines[0].contains("crank x (m)") && lines[0].contains("\"rod, upper qz\""));
    let numbers: Vec<f64> = lines[3].split(',').map(|x| x.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 5 + 14);
    assert_eq!(numbers[..5], [0.2, 1.5, -2.0, 0.25, 1e-12]);
    assert_eq!(numbers[8..12], [1f64.cos(), 0.0, 0.0, 1f64.sin()]);
    assert_eq!(numbers[12..15], [2.0, 0.0, 0.0]);
}

#[test]
fn json_holds_the_same_numbers() {
    let t = recording();
    let text = json::to_string(&t).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["links"][1], "rod, upper");
    assert_eq!(value["samples"][2]["positions"][1][0], 2.0);
    assert_eq!(value["samples"][1]["loop_gap"], 1e-12);
    assert_eq!(t.samples().len(), 3);
}

#[test]
fn the_name_decides_the_format_and_bad_input_is_refused() {
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut t = recording();
    for (name, first) in [("t.json", '{'), ("t.csv", 't')] {
        let path = directory.join(name);
        t.save(&path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(first));
    }
    let wrong = t.push(1.0, Scalars::default(), &[Pose::IDENTITY]);
    assert!(matches!(wrong, Err(IoError::WrongLength { row: 3, found: 1, expected: 2 })));
    t.push(f64::NAN, Scalars::default(), &[Pose::IDENTITY; 2]).unwrap();
    assert!(matches!(t.to_csv(), Err(IoError::NotFinite { .. })));
    assert!(matches!(t.save(directory.join("n.json")), Err(IoError::NotFinite { .. })));
}
