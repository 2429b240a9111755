//! Scenes with reduced models beside the same scenes with all joints, under the same contacts and
//! scripts.

use std::path::{Path, PathBuf};

use forks_record::compare::{Deviation, SideBySide, Subject};
use forks_sim::{
    Owner,
    scene::{Fidelity, Scene, spec::SceneSpec},
};

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes")
}

/// The deviation of one thing over some seconds, lengths over `size`. Half the angle is how far
/// rotation moves its surface.
fn deviation(file: &str, size: f64, seconds: f64, of: impl Fn(&Scene) -> Owner) -> Deviation {
    let path = scenes().join(file);
    let [mut reduced, mut full] =
        [Fidelity::Reduced, Fidelity::Full].map(|f| Scene::load(&path, f).unwrap());
    let subject = Subject { owner: of(&reduced), size };
    assert_eq!(reduced.owner_name(subject.owner), full.owner_name(of(&full)));
    let mut both = SideBySide::new(&reduced.world, &full.world, &[subject]).unwrap();
    let steps = (seconds / reduced.world.settings().step).round() as usize;
    for _ in 0..steps {
        let ended = [reduced.step().status, full.step().status];
        assert!(both.record(&reduced.world, &full.world, ended).unwrap(), "{ended:?}");
    }
    let found = both.comparison();
    let d = found.deviations[0];
    println!(
        "{file}: {:.4} sizes, {:.4} rad of {:.2} and {:.3}",
        d.position, d.rotation, d.moved, d.turned
    );
    assert_eq!((found.steps, found.out_of_range), (steps, 0));
    d
}

/// The first body that moves by itself.
fn held(scene: &Scene) -> Owner {
    Owner::Body(scene.body(&scene.spec.bodies[0].name).unwrap())
}

#[test]
fn a_hand_holds_and_lifts_a_ball_as_its_twin_does() {
    let d = deviation("hand-ball.toml", 0.07, 2.0, held);
    assert!(d.moved > 0.5 && d.position < 0.05 && 0.5 * d.rotation < 0.05);
}

#[test]
fn a_hand_holds_and_lifts_a_box_as_its_twin_does() {
    let d = deviation("hand-box.toml", 0.06, 2.0, held);
    assert!(d.moved > 0.5 && d.position < 0.05 && 0.5 * d.rotation < 0.05);
}

#[test]
fn a_held_ball_as_the_only_effector_moves_as_with_all_fingers() {
    let ball = |s: &Scene| {
        let mechanism = s.mechanism(&s.mechanisms[0].name).unwrap();
        Owner::Effector { mechanism, effector: 0 }
    };
    let d = deviation("hand-object.toml", 0.07, 2.0, ball);
    assert!(d.position < 0.05 && 0.5 * d.rotation < 0.05);
}

#[test]
fn servos_that_lift_a_hand_do_the_same_work_as_in_its_twin() {
    let mut spec = SceneSpec::load(&scenes().join("hand-ball.toml")).unwrap();
    spec.bodies.clear();
    // The fingers close while the wrist lifts the hand by 0.06 m, both slowly, then it is still.
    (spec.actions[0].times, spec.actions[0].values) = (vec![0.0, 1.0], vec![0.0, 4.0]);
    (spec.actions[1].wave, spec.actions[1].times) = (None, vec![0.0, 1.0]);
    spec.actions.truncate(2);
    let built = [Fidelity::Reduced, Fidelity::Full].map(|f| {
        let mut scene = Scene::build(spec.clone(), &scenes(), f).unwrap();
        let start = scene.world.energy().total();
        let changes: Vec<f64> = (0..1500)
            .map(|_| {
                let _ = scene.step();
                scene.world.energy().total() - start
            })
            .collect();
        changes
    });
    let [reduced, full] = &built;
    let work = 1.9549 * 9.81 * 0.06;
    let apart = reduced.iter().zip(full).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("{} and {} of {work} J; at most {apart} J apart", reduced[1499], full[1499]);
    // The wrist carries all of the hand; what the fingers add is small, and theirs alone is
    // linearised.
    assert!((full[1499] - work).abs() < 0.05 * work);
    assert!(apart < 0.02 * work, "{apart}");
}
