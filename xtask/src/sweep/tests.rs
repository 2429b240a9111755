//! A difference in any one fact is found and named, and rounding is not: without the other
//! programs, our own facts of a model stand for theirs.

use forks_import::{Import, ImportOptions, parse_mjcf, parse_urdf};

use super::{
    compare::{Comparison, Depth, Matching, Rounding},
    facts::{Facts, StateFact},
    ours,
};

/// Two arms with everything that is compared: springs, servos, a tendon, both kinds of equalities,
/// a keyframe.
const MODEL: &str = r#"<mujoco><compiler angle="radian"/><worldbody>
    <body name="base"><freejoint name="root"/><geom size=".1"/>
      <body name="a" pos=".3 0 0"><joint name="ja" axis="0 1 0" stiffness="3" springref="0.17453292519943295" damping=".1" armature=".01"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
        <body name="b" pos=".25 0 .15"><joint name="jb" axis="0 1 0" range="-1 2"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/></body></body>
      <body name="c" pos=".3 .2 0"><joint name="jc" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
        <body name="d" pos=".3 0 0"><site name="tip" pos=".3 0 0"/><joint name="jd" axis="0 1 0"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/></body></body></body>
  </worldbody>
  <tendon><fixed name="t" stiffness="5"><joint joint="ja" coef="1"/><joint joint="jc" coef="-2"/></fixed></tendon>
  <actuator><position name="s" joint="jb" kp="7"/><position name="st" tendon="t" kp="2"/></actuator>
  <equality><connect name="k" body1="b" body2="d" anchor=".3 .1 0"/>
    <joint name="e" joint1="ja" joint2="jc" polycoef="0 1 .2"/></equality>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 .1 .2 .3 .4"/></keyframe></mujoco>"#;

const ALL: Comparison = Comparison { by_name: false, depth: Depth::All, inertia: Rounding::FINE };

fn model() -> (Import, Facts) {
    let import = parse_mjcf(MODEL, &ImportOptions::default()).unwrap();
    let facts = ours::facts(&import.mechanism);
    (import, facts)
}

/// The start pose, moving, as another program would give it.
fn state(import: &Import) -> StateFact {
    let m = &import.mechanism;
    let q = &m.start_positions()[..m.tree_position_count()];
    let u: Vec<f64> = (0..m.tree_velocity_count()).map(|i| 0.1 * i as f64 - 0.3).collect();
    StateFact {
        force_size: 1.0,
        singular_values: vec![1.0, 0.5, 0.1],
        ..ours::state(m, "start", q, &u)
    }
}

#[test]
fn equal_facts_do_not_differ() {
    let (import, facts) = model();
    assert_eq!(ALL.facts(&facts, &facts), [""; 0]);
    let matching = ALL.joints(&facts.joints, &facts.joints).unwrap();
    assert_eq!(matching.positions, (0..11).collect::<Vec<_>>());
    assert_eq!(matching.velocities, (0..10).collect::<Vec<_>>());
    let state = state(&import);
    // Three rows of the connect of which the plane needs two, and the coupling.
    assert_eq!(state.rank, 3);
    let mut notes = vec![];
    let found = ALL.state(&matching, (&facts, &facts), &state, &state, &mut notes);
    assert_eq!((found, notes), (vec![], vec![]));
}

#[test]
fn every_fact_counts() {
    let (_, ours) = model();
    type Change = fn(&mut Facts);
    let changes: [(&str, Change); 27] = [
        ("4 links, theirs 5", |f| f.links.as_mut().unwrap().truncate(4)),
        ("link 1 is", |f| f.links.as_mut().unwrap()[1].name.push('x')),
        ("'d' hangs on", |f| f.links.as_mut().unwrap()[4].parent = "a".into()),
        ("mass of 'c'", |f| f.links.as_mut().unwrap()[3].mass *= 1.0 + 1e-8),
        ("stiffness of joint 'ja'", |f| f.joints[1].stiffness += 1e-8),
        ("spring's rest of joint 'ja'", |f| f.joints[1].rest = Some(10.0)),
        ("limits of joint 'ja': none", |f| f.joints[1].range = Some([0.0, 1.0])),
        ("upper limit of joint 'jb'", |f| f.joints[2].range = Some([-1.0, 2.1])),
        ("frame 'tip' at", |f| f.frames.as_mut().unwrap()[0].position[0] += 1e-6),
        ("frame 'tip' on 'd', theirs 'tip' on 'c'", |f| {
            f.frames.as_mut().unwrap()[0].link = "c".into();
        }),
        ("friction of shape", |f| f.shapes.as_mut().unwrap()[0].friction = 0.9),
        ("is a sphere of size", |f| f.shapes.as_mut().unwrap()[0].size[0] += 1e-6),
        ("damping of joint 'jb'", |f| f.joints[2].damping = 1e-12),
        ("armature of joint 'ja'", |f| f.joints[1].armature = 0.02),
        ("2 servos, theirs 1", |f| f.servos.truncate(1)),
        ("servo 's' acts on 'jb', theirs on 'jc'", |f| f.servos[0].joints[0].0 = "jc".into()),
        ("servo 's', theirs 'z'", |f| f.servos[0].name = "z".into()),
        ("servo 'st': coefficients", |f| f.servos[1].joints[1].1 = 2.0),
        ("stiffness of servo 'st'", |f| f.servos[1].stiffness = f64::NAN),
        ("tendon spring 't' acts on 'ja', 'jc'", |f| f.tendons[0].joints.swap(0, 1)),
        ("rest length of tendon spring 't'", |f| f.tendons[0].rest += 1e-4),
        ("2 equalities, theirs 1", |f| f.equalities.as_mut().unwrap().truncate(1)),
        ("connect 'k'", |f| f.equalities.as_mut().unwrap()[0].links[1] = "c".into()),
        ("connect 'k'", |f| f.equalities.as_mut().unwrap()[0].kind = "weld".into()),
        ("coupling 'e'", |f| f.equalities.as_mut().unwrap()[1].joints[0] = "jb".into()),
        ("1 keyframes, theirs 0", |f| f.keyframes.clear()),
        ("keyframe 'up'", |f| f.keyframes[0].positions[9] += 1e-6),
    ];
    for (expected, change) in changes {
        let mut theirs = ours.clone();
        change(&mut theirs);
        // Counted from their side where something is missing there.
        let found = match expected.starts_with("4 links") {
            true => ALL.facts(&theirs, &ours),
            false => ALL.facts(&ours, &theirs),
        };
        assert!(found.iter().any(|d| d.contains(expected)), "{expected}: {found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}

#[test]
fn joints_are_matched_in_order_and_by_name() {
    let (_, ours) = model();
    let mut theirs = ours.joints.clone();
    theirs[2].kind = "slide".into();
    assert_eq!(
        ALL.joints(&ours.joints, &theirs).unwrap_err(),
        "joint 'jb' is a hinge, theirs slide"
    );
    theirs[2] = ours.joints[3].clone();
    theirs[3] = ours.joints[2].clone();
    let error = ALL.joints(&ours.joints, &theirs).unwrap_err();
    assert_eq!(error, "joint 2 is 'jb', theirs 'jc'");
    // The same joints, two of them with places exchanged.
    (theirs[2].positions, theirs[2].velocities) = (8, 7);
    (theirs[3].positions, theirs[3].velocities) = (9, 8);
    let by_name = Comparison { by_name: true, ..ALL };
    let matching = by_name.joints(&ours.joints, &theirs).unwrap();
    assert_eq!(matching.velocities, [0, 1, 2, 3, 4, 5, 6, 8, 7, 9]);
    let theirs: Vec<f64> = (0..10).map(f64::from).collect();
    let in_ours = Matching::to_ours(&matching.velocities, &theirs);
    assert_eq!(in_ours, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 7.0, 9.0]);
}

#[test]
fn what_is_computed_may_differ_by_rounding_only() {
    let (import, facts) = model();
    let ours = state(&import);
    let matching = ALL.joints(&facts.joints, &facts.joints).unwrap();
    let found = |change: fn(&mut StateFact, f64), size: f64| {
        let mut theirs = ours.clone();
        change(&mut theirs, size);
        ALL.state(&matching, (&facts, &facts), &ours, &theirs, &mut vec![])
    };
    type Change = fn(&mut StateFact, f64);
    let changes: [(&str, Change, f64); 7] = [
        (
            "M[7][8]",
            |s, x| s.mass_matrix[78] += x * (s.mass_matrix[77] * s.mass_matrix[88]).sqrt(),
            1e-9,
        ),
        ("bias['jd']", |s, x| s.bias[9] += x * s.bias[2], 1e-9),
        ("spring force['ja']", |s, x| s.spring[6] *= 1.0 + x, 1e-9),
        ("damper force['ja']", |s, x| s.damper[6] *= 1.0 + x, 1e-9),
        ("connect k is open", |s, x| s.gaps.as_mut().unwrap()[0] += x, 1e-9),
        ("coupling e is open", |s, x| s.gaps.as_mut().unwrap()[1] += x, 1e-9),
        ("acceleration[2]", |s, x| s.acceleration.as_mut().unwrap()[2] += 10.0 * x, 1e-6),
    ];
    for (expected, change, tolerance) in changes {
        assert!(found(change, 1e-2 * tolerance).is_empty(), "{expected}");
        for size in [1e3 * tolerance, f64::NAN] {
            let found = found(change, size);
            assert!(found.iter().any(|d| d.contains(expected)), "{expected}: {found:?}");
            assert!(found.iter().all(|d| d.starts_with("start pose: ")), "{found:?}");
        }
    }
    // A lenient reading answers for kinematics and inertia only.
    let mut theirs = ours.clone();
    theirs.spring[6] = 0.0;
    let inertia = Comparison { depth: Depth::Inertia, ..ALL };
    assert!(inertia.state(&matching, (&facts, &facts), &ours, &theirs, &mut vec![]).is_empty());
}

#[test]
fn ranks_may_differ_only_where_the_tolerance_decides() {
    let (import, facts) = model();
    let ours = state(&import);
    let matching = ALL.joints(&facts.joints, &facts.joints).unwrap();
    let with = |rank: usize, singular_values: &[f64]| {
        let theirs = StateFact { rank, singular_values: singular_values.into(), ..ours.clone() };
        let mut notes = vec![];
        let found = ALL.state(&matching, (&facts, &facts), &ours, &theirs, &mut notes);
        (found, notes)
    };
    let (found, notes) = with(4, &[1.0, 0.9, 0.5, 1e-7]);
    assert!(found.is_empty() && notes[0].contains("rank 3, theirs 4"), "{found:?} {notes:?}");
    let (found, _) = with(4, &[1.0, 0.9, 0.5, 1e-3]);
    assert!(found[0].contains("rank 3, theirs 4"), "{found:?}");
    let (found, _) = with(2, &[1.0, 0.9]);
    assert!(found[0].contains("rank 3, theirs 2"), "{found:?}");
    // Nearly redundant equalities make accelerations meaningless, which is said.
    let (found, notes) = with(3, &[1.0, 0.9, 1e-6]);
    assert!(found.is_empty() && notes[0].contains("singular"), "{found:?} {notes:?}");
}

#[test]
fn the_root_of_a_urdf_may_be_the_ground() {
    let text = r#"<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="2"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
        <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"#;
    let import = parse_urdf(text, &ImportOptions::default()).unwrap();
    let ours = ours::facts(&import.mechanism);
    let by_name = Comparison { by_name: true, ..ALL };
    let mut theirs = ours.clone();
    let links = theirs.links.as_mut().unwrap();
    links.remove(0);
    links[0].parent = "world".into();
    assert_eq!(by_name.facts(&ours, &theirs), [""; 0]);
    assert!(!ALL.facts(&ours, &theirs).is_empty());
    // A program that keeps no links still has the mass.
    theirs.links = None;
    theirs.moving_mass = Some(2.0 + 1e-6);
    assert!(by_name.facts(&ours, &theirs)[0].contains("moving mass"));
}
