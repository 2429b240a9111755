//! What is written is read back, and what is written is what the documentation says.
use forks_lie::{
    Adjoint, Mat6, Pose, SpatialInertia, SymMat6, Twist, Wrench,
    glam::{DMat3, DQuat, DVec3},
};
use serde::{Serialize, de::DeserializeOwned};

/// All numbers here are short binary fractions, so that their decimals are exact.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    text
}

#[test]
fn every_type() {
    let (p, q) = (DVec3::new(1.5, -2.0, 0.25), DVec3::new(0.5, 8.0, -1.0));
    let pose = Pose::new(DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5), p);
    let text = round_trip(&pose);
    assert_eq!(text, r#"{"quaternion_wxyz":[0.5,0.5,-0.5,0.5],"position":[1.5,-2.0,0.25]}"#);
    assert_eq!(
        round_trip(&Twist::new(p, q)),
        r#"{"linear":[1.5,-2.0,0.25],"angular":[0.5,8.0,-1.0]}"#
    );
    assert_eq!(
        round_trip(&Wrench::new(p, q)),
        r#"{"force":[1.5,-2.0,0.25],"torque":[0.5,8.0,-1.0]}"#
    );
    round_trip(&Adjoint::from(pose));
    round_trip(&Mat6::from_diagonal([1.0, 2.0, 3.0, 4.0, 5.0, 0.5]));
    round_trip(&SymMat6::from_diagonal([1.0, 2.0, 3.0, 4.0, 5.0, 0.5]));
    round_trip(&SpatialInertia::new(2.0, p, DMat3::from_diagonal(DVec3::ONE)));
}
