//! Curves of joints of all kinds.

use forks_control::keyframe::{
    EndRule, Ends, JointKeys, KeyframeError, Method, Motion, SplineError, Warp,
};
use forks_dynamics::mechanism::{
    Joint, JointKind, Limit, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

/// A hinge with limits, a planar, a ball and a free joint, each on the ground.
pub(super) fn mechanism() -> Mechanism {
    let mut b = MechanismBuilder::new("four");
    let mut add = |name: &str, kind, limits: Option<Limit>| {
        let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY * 0.01);
        let link = b.add_link(Link::new(name).with_inertia(inertia));
        let mut joint = Joint::new(name, kind, LinkId::WORLD, link);
        if limits.is_some() {
            joint.limits = vec![limits];
        }
        b.add_joint(joint);
    };
    let within = Some(Limit { lower: -1.0, upper: 1.0 });
    add("hinge", JointKind::Revolute { axis: DVec3::Z }, within);
    add("planar", JointKind::Planar, None);
    add("ball", JointKind::Spherical, None);
    add("free", JointKind::Free, None);
    b.build().unwrap()
}

fn keys(joint: &str) -> JointKeys {
    let times = vec![0.0, 0.5, 0.8, 1.5];
    let of = |k: usize| {
        let x = k as f64;
        match joint {
            "hinge" => vec![0.9 * (2.0 * x).sin()],
            "planar" => vec![x.sin(), (2.0 * x).cos(), 2.0 * x],
            "ball" => vec![1.0, 0.7 * x.sin(), 0.5 * (2.0 * x).sin(), -0.3 * x],
            _ => vec![x, x * x, -x, 2.0, 0.6 * x.sin(), 1.0 - x, 0.5],
        }
    };
    JointKeys::new(joint, times, (0..4).map(of).collect())
}

fn all(degree: usize) -> Vec<JointKeys> {
    ["hinge", "planar", "ball", "free"].map(|j| JointKeys { degree, ..keys(j) }).to_vec()
}

fn warps() -> [Option<Warp>; 2] {
    [None, Some(Warp::sine(0.05, 1.5).unwrap())]
}

#[test]
fn keys_are_positions_and_rates_are_those_of_the_joints() {
    let m = mechanism();
    for degree in [3, 5] {
        for warp in warps() {
            let motion = Motion::new(&m, &all(degree), warp.clone()).unwrap();
            let at = |t: f64| {
                let mut q = m.start_positions();
                motion.positions(&m, t, &mut q);
                q
            };
            let joined = |t: f64| {
                let s = motion.state(t);
                let flat = |f: fn(&forks_control::keyframe::JointState) -> &Vec<f64>| -> Vec<f64> {
                    s.iter().flat_map(|s| f(s).clone()).collect()
                };
                (flat(|s| &s.q), flat(|s| &s.v), flat(|s| &s.a))
            };
            for t in [0.1, 0.45, 0.7, 1.2] {
                let (q, v, a) = joined(t);
                assert_eq!(at(t), q);
                let h = 1e-4;
                let (before, after) = (at(t - h), at(t + h));
                let forward = m.difference(&q, &after);
                let back = m.difference(&q, &before);
                let (_, vb, _) = joined(t - h);
                let (_, va, _) = joined(t + h);
                for i in 0..v.len() {
                    let rate = (forward[i] - back[i]) / (2.0 * h);
                    let size = 1.0 + v[i].abs() + a[i].abs();
                    assert!((rate - v[i]).abs() < 2e-6 * size, "{degree} {t} {i}: {rate} {}", v[i]);
                    let rate = (va[i] - vb[i]) / (2.0 * h);
                    assert!((rate - a[i]).abs() < 1e-4 * size, "{degree} {t} {i}: {rate} {}", a[i]);
                }
            }
        }
    }
}

#[test]
fn a_warp_moves_keys_in_time() {
    let m = mechanism();
    let warp = Warp::keys(&[0.0, 1.0, 4.0], &[0.0, 0.5, 1.5]).unwrap();
    let motion = Motion::new(&m, &[keys("hinge")], Some(warp)).unwrap();
    let (start, end) = motion.range();
    assert!(start.abs() < 1e-15 && (end - 4.0).abs() < 1e-14, "{start} {end}");
    let mut q = m.start_positions();
    motion.positions(&m, 1.0, &mut q);
    assert!((q[0] - 0.9 * 2f64.sin()).abs() < 1e-14);
}

#[test]
fn curves_start_from_a_state() {
    let m = mechanism();
    for degree in [3, 5] {
        for warp in warps() {
            let motion = Motion::new(&m, &all(degree), warp).unwrap();
            let (mut q, mut v) = (m.start_positions(), vec![0.0; m.velocity_count()]);
            for (i, v) in v.iter_mut().enumerate() {
                *v = 0.3 * (i as f64 + 1.0).sin();
            }
            m.integrate(&mut q, &v);
            let from = motion.started_from(&m, &q, &v).unwrap();
            let state = from.state(0.0);
            let flat = |f: fn(&forks_control::keyframe::JointState) -> &Vec<f64>| -> Vec<f64> {
                state.iter().flat_map(|s| f(s).clone()).collect()
            };
            let apart = m.difference(&q, &flat(|s| &s.q));
            assert!(apart.iter().all(|x| x.abs() < 1e-14), "{apart:?}");
            for (x, v) in flat(|s| &s.v).iter().zip(&v) {
                assert!((x - v).abs() < 1e-13, "{x} {v}");
            }
            // The end is the same.
            let (a, b) = (from.state(1.5), motion.state(1.5));
            for (a, b) in a.iter().zip(&b) {
                assert!(a.q.iter().zip(&b.q).all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
    }
    let closed = JointKeys {
        ends: Ends::Periodic,
        keys: [0.0, 0.5, 0.2, 0.0].map(|x| vec![x]).to_vec(),
        ..keys("hinge")
    };
    let motion = Motion::new(&m, &[closed], None).unwrap();
    let error = motion.started_from(&m, &m.start_positions(), &[0.0; 13]).unwrap_err();
    assert_eq!(error, KeyframeError::Repeats { joint: "hinge".into() });
}

#[test]
fn extremes_and_excesses_between_keys_are_found_with_their_times() {
    let m = mechanism();
    let over = JointKeys {
        times: vec![0.0, 1.0, 2.0, 3.0],
        keys: [-1.0, 1.0, 1.0, -1.0].map(|x| vec![x]).to_vec(),
        ..keys("hinge")
    };
    let motion = Motion::new(&m, std::slice::from_ref(&over), None).unwrap();
    let id = m.find_joint("hinge").unwrap();
    let e = motion.extremes(id, 0, 0).unwrap();
    // By symmetry the top is in the middle: slopes there vanish.
    assert!((e.upper_at - 1.5).abs() < 1e-6, "{e:?}");
    let top = motion.state(1.5)[0].q[0];
    assert!((e.upper - top).abs() < 1e-11 && top > 1.1);
    for d in 1..=2 {
        let e = motion.extremes(id, 0, d).unwrap();
        for i in 0..=300 {
            let s = &motion.state(0.01 * f64::from(i))[0];
            let x = if d == 1 { s.v[0] } else { s.a[0] };
            assert!(x <= e.upper + 1e-10 && x >= e.lower - 1e-10);
        }
    }
    let found = motion.excesses(&m);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].joint.as_str(), found[0].limit), ("hinge", 1.0));
    let flat = JointKeys { method: Method::Monotone, ..over };
    assert!(Motion::new(&m, &[flat], None).unwrap().excesses(&m).is_empty());
    assert!(motion.extremes(id, 1, 0).is_none());
}

#[test]
fn what_is_no_motion_is_refused_by_name_and_value() {
    let m = mechanism();
    let text = |k: &[JointKeys]| Motion::new(&m, k, None).unwrap_err().to_string();
    assert_eq!(
        text(&[keys("hinge"), JointKeys { joint: "knee".into(), ..keys("hinge") }]),
        "keys of joint knee: four has none of this name; there are hinge, planar, ball, free"
    );
    assert_eq!(text(&[keys("hinge"), keys("hinge")]), "joint hinge has keys twice");
    assert_eq!(text(&[]), "there are no keys");
    let mut high = keys("hinge");
    high.keys[2] = vec![1.25];
    assert_eq!(
        text(&[high]),
        "keys of joint hinge: key 2 at 0.8 s asks coordinate 0 for 1.25; its limits are -1 and 1"
    );
    let mut late = keys("ball");
    late.times[1] = 0.9;
    assert_eq!(text(&[late]), "keys of joint ball: key 2 at 0.8 s comes after the one at 0.9 s");
    let mut short = keys("free");
    short.keys[3] = vec![0.0; 6];
    assert_eq!(text(&[short]), "keys of joint free: key 3 has 6 numbers, expected 7");
    let mut none = keys("planar");
    none.keys[0][1] = f64::NAN;
    assert_eq!(text(&[none]), "keys of joint planar: the value of key 0 is NaN");
    let monotone = JointKeys { method: Method::Monotone, ..keys("ball") };
    let error = Motion::new(&m, &[monotone], None).unwrap_err();
    let KeyframeError::Curve { error: SplineError::NoRoom { what: "monotony", .. }, .. } = error
    else {
        panic!("{error}")
    };
    let natural = JointKeys { ends: Ends::Each([EndRule::Natural, EndRule::Rest]), ..keys("free") };
    assert!(matches!(
        Motion::new(&m, &[natural], None).unwrap_err(),
        KeyframeError::Curve { error: SplineError::NoRoom { .. }, .. }
    ));
}
