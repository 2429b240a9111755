//! What is drawn of mechanisms with cables.

use forks_io::animation::{Colour, End, Segment};
use forks_lie::glam::DVec3;
use forks_sim::scene::{Fidelity, Scene, spec::SceneSpec};

use crate::Recording;

const FINGER: &str = r#"<mujoco><worldbody><site name="root" pos="-0.02 0 0.01"/>
    <geom name="wheel" type="cylinder" size="0.005 0.01" euler="90 0 0" mass="0" contype="0"
        conaffinity="0"/>
    <body name="near"><joint name="a" axis="0 1 0" stiffness="0.2"/>
        <geom type="capsule" size="0.005" fromto="0 0 0 0.04 0 0"/><site name="mid" pos="0.02 0 0.01"/>
        <body name="tip" pos="0.04 0 0"><joint name="b" axis="0 1 0" stiffness="0.2"/>
            <geom type="capsule" size="0.005" fromto="0 0 0 0.03 0 0"/>
            <site name="end" pos="0.02 0 0.01"/></body></body></worldbody>
    <tendon><spatial name="string" stiffness="500"><site site="root"/><geom geom="wheel"/>
        <site site="mid"/><site site="end"/></spatial></tendon></mujoco>"#;

const SCENE: &str = r#"
    title = "A finger with a string"
    [[mechanism]]
    name = "finger"
    file = "finger.xml"
    effectors = ["tip"]
    position = [1, 2, 3]
"#;

#[test]
fn cables_are_drawn_through_their_points() {
    let folder = std::env::temp_dir().join(format!("forks-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("finger.xml"), FINGER).expect("a model");
    let spec = SceneSpec::parse(SCENE, "finger.toml").expect("a scene");
    let scene = Scene::build(spec, &folder, Fidelity::Reduced).expect("it can be built");
    let recording = Recording::new(&scene);
    let colour = Some(Colour::palette(3));
    let all = &recording.animation.segments;
    let drawn: Vec<&Segment> = all.iter().filter(|s| s.colour == colour).collect();
    let body = |name: &str| {
        recording.animation.bodies.iter().position(|b| b.name == name).expect("a body")
    };
    let (near, tip) = (body("finger/near"), body("finger/tip"));
    let point = DVec3::new(0.02, 0.0, 0.01);
    let ends: Vec<[End; 2]> = drawn.iter().map(|s| s.ends).collect();
    let root = End::world(DVec3::new(0.98, 2.0, 3.01));
    assert_eq!(ends, [[root, End::of(near, point)], [End::of(near, point), End::of(tip, point)]]);
    assert!(drawn.iter().all(|s| s.radius.is_some_and(|r| r > 0.0)));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
