//! Keyframes from TOML.

use forks_control::keyframe::{
    End, EndRule, Ends, FileError, JointKeys, KeyframeError, Method, Motion, Warp,
};

use super::motion::mechanism;

const FILE: &str = r#"
degree = 5
times = [0.0, 0.5, 1.0]
warp = { amplitude = 0.02, period = 1.0 }

[[joint]]
name = "hinge"
keys = [0.0, 0.6, 0.1]
end = { velocity = 0.5, acceleration = [0.0] }

[[joint]]
name = "planar"
method = "monotone"
times = [0.0, 1.0]
keys = [[0, 0, 0], [0.3, 1.0, 2.0]]
ends = "natural"

[[joint]]
name = "ball"
degree = 3
ends = "periodic"
keys = [[1, 0, 0, 0], [1, 0.2, 0, 0], [1, 0, 0, 0]]
"#;

#[test]
fn a_file_is_the_motion_of_its_tables() {
    let m = mechanism();
    let hinge = JointKeys {
        degree: 5,
        ends: Ends::Each([
            EndRule::Rest,
            EndRule::Rates(End { velocity: Some(vec![0.5]), acceleration: Some(vec![0.0]) }),
        ]),
        ..JointKeys::new("hinge", vec![0.0, 0.5, 1.0], [0.0, 0.6, 0.1].map(|x| vec![x]).to_vec())
    };
    let planar = JointKeys {
        degree: 5,
        method: Method::Monotone,
        ends: Ends::Each([EndRule::Natural, EndRule::Natural]),
        ..JointKeys::new("planar", vec![0.0, 1.0], vec![vec![0.0; 3], vec![0.3, 1.0, 2.0]])
    };
    let rest = vec![1.0, 0.0, 0.0, 0.0];
    let ball = JointKeys {
        ends: Ends::Periodic,
        ..JointKeys::new(
            "ball",
            vec![0.0, 0.5, 1.0],
            vec![rest.clone(), vec![1.0, 0.2, 0.0, 0.0], rest],
        )
    };
    let warp = Warp::sine(0.02, 1.0).unwrap();
    let expected = Motion::new(&m, &[hinge, planar, ball], Some(warp)).unwrap();
    assert_eq!(Motion::from_toml(&m, FILE).unwrap(), expected);
}

#[test]
fn what_a_file_says_wrong_is_told_by_line_or_name() {
    let m = mechanism();
    let text = |s: &str| Motion::from_toml(&m, s).unwrap_err().to_string();
    let unknown = text("[[joint]]\nname = \"hinge\"\nkeyz = [0, 1]\n");
    assert!(unknown.contains("line 3") && unknown.contains("keyz"), "{unknown}");
    let words = text("[[joint]]\nname = \"hinge\"\nkeys = [\"a\"]\ntimes = [0]");
    assert!(words.contains("line 3") && words.contains("a number, or a list"), "{words}");
    assert_eq!(
        text("[[joint]]\nname = \"hinge\"\nkeys = [0, 1]\n"),
        "keys of joint hinge: there are no times, neither of the joint nor of all"
    );
    assert_eq!(text("times = [0, 1]"), "there are no keys");
    let knee = FILE.replace("\"hinge\"", "\"knee\"");
    assert!(matches!(
        Motion::from_toml(&m, &knee).unwrap_err(),
        FileError::Keys(KeyframeError::UnknownJoint { .. })
    ));
    let back = FILE.replace("amplitude = 0.02", "amplitude = 0.2");
    assert!(text(&back).starts_with("the warp turns back at 0.39"), "{}", text(&back));
    let nan = FILE.replace("[0.0, 0.6, 0.1]", "[0.0, nan, 0.1]");
    assert_eq!(text(&nan), "keys of joint hinge: the value of key 1 is NaN");
    let both =
        FILE.replace("ends = \"periodic\"", "ends = \"periodic\"\nstart = { velocity = 0.0 }");
    assert!(text(&both).contains("no start and end of its own"));
    let none = FILE.replace("amplitude = 0.02, ", "");
    assert_eq!(text(&none), "the warp takes amplitude and period, or played and keys");
}
