//! Warps of time.

use forks_control::keyframe::{Warp, WarpError};

#[test]
fn the_sine_is_refused_where_time_turns_back() {
    // 1 + (2π a / T²) cos(2πt/T) is zero where cos = −T²/(2πa).
    let WarpError::TurnsBack { time } = Warp::sine(0.05, 0.5).unwrap_err() else { panic!() };
    let turn = 2.0 * core::f64::consts::PI;
    let expected = 0.5 / turn * (-0.25f64 / (turn * 0.05)).acos();
    assert!((time - expected).abs() < 1e-15, "{time}");
    let rate = |t: f64| 1.0 + turn * 0.05 / 0.25 * (turn * t / 0.5).cos();
    assert!(rate(time).abs() < 1e-12 && rate(time + 1e-3) < 0.0 && rate(time - 1e-3) > 0.0);
    // The border is √(0.1 π) = 0.5605 s.
    let border = (0.1 * core::f64::consts::PI).sqrt();
    assert!(Warp::sine(0.05, border * (1.0 + 1e-12)).is_ok());
    assert!(Warp::sine(0.05, border * (1.0 - 1e-12)).is_err());
    let WarpError::TurnsBack { time } = Warp::sine(-0.05, 0.5).unwrap_err() else { panic!() };
    assert!(time < 0.125, "a warp that is slow at first turns back at once: {time}");
}

fn warps() -> Vec<Warp> {
    vec![
        Warp::sine(0.05, 1.0).unwrap(),
        Warp::sine(-0.03, 0.7).unwrap(),
        Warp::keys(&[0.0, 0.5, 1.0, 2.0], &[0.0, 0.2, 1.5, 2.0]).unwrap(),
    ]
}

#[test]
fn rates_are_those_of_differences_and_inverses_lead_back() {
    for w in warps() {
        for t in [-0.3, 0.1, 0.33, 0.7, 1.3, 2.6] {
            let x = w.at(t);
            let h = 1e-5;
            let rate = (w.at(t + h).time - w.at(t - h).time) / (2.0 * h);
            let acceleration = (w.at(t + h).rate - w.at(t - h).rate) / (2.0 * h);
            assert!((x.rate - rate).abs() < 1e-8, "{t}");
            assert!((x.acceleration - acceleration).abs() < 1e-6, "{t}");
            assert!((w.inverse(x.time) - t).abs() < 1e-14, "{t}");
        }
    }
}

#[test]
fn what_is_no_warp_is_refused_with_its_numbers() {
    let text = |w: Result<Warp, WarpError>| w.unwrap_err().to_string();
    assert_eq!(text(Warp::sine(f64::NAN, 1.0)), "the warp's amplitude is NaN");
    assert_eq!(text(Warp::sine(0.05, 0.0)), "the warp's period is 0");
    assert_eq!(text(Warp::keys(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.5])), "the warp turns back at 1 s");
    assert_eq!(
        text(Warp::keys(&[0.0, 1.0, 0.5], &[0.0, 1.0, 2.0])),
        "the warp's times: key 2 at 0.5 s comes after the one at 1 s"
    );
}
