//! Animations: what is refused and where, thinning, and where trajectories end up.

use forks_io::{
    Geometry, IoError, Scalars, Trajectory,
    animation::{
        Animation, AnimationFrame, AxisSpring, Body, ContactMarker, End, Form, Joint, JointAxis,
        JointSide, Segment, Series, VisualShape,
    },
    lie::{
        Pose,
        glam::{DQuat, DVec2, DVec3},
        so3::exp_rotation,
    },
};

/// Two bodies, one series, frames at the given times.
fn sample(times: &[f64]) -> Animation {
    let mut a = Animation::new("sample");
    a.bodies = vec![
        Body::new("first", [Geometry::Sphere { radius: 0.1 }]),
        Body::new("second", [Geometry::Box { half_extents: DVec3::ONE }]),
    ];
    a.segments = vec![Segment::new(End::world(DVec3::ZERO), End::origin(1))];
    a.series = vec![Series::new("energy", "J")];
    let contact = ContactMarker { position: DVec3::X, force: DVec3::Z };
    let frame =
        |t: &f64| AnimationFrame::new(*t, [Pose::IDENTITY; 2]).values([*t]).contacts([contact]);
    a.frames = times.iter().map(frame).collect();
    a
}

fn times(a: &Animation) -> Vec<f64> {
    a.frames.iter().map(|f| f.time).collect()
}

/// What the check says after a change.
fn refused(change: impl FnOnce(&mut Animation)) -> String {
    let mut a = sample(&[0.0, 0.5, 1.0]);
    a.check().unwrap();
    change(&mut a);
    a.check().unwrap_err().to_string()
}

#[test]
fn numbers_that_are_not_finite_are_named() {
    let nan = f64::NAN;
    for (message, change) in [
        (
            "frames[2].world_from_body[1].position[0] is NaN, not a finite number",
            (|a| a.frames[2].world_from_body[1].translation.x = f64::NAN) as fn(&mut Animation),
        ),
        ("frames[1].time is inf, not a finite number", |a| a.frames[1].time = f64::INFINITY),
        ("frames[1].values[0] is NaN, not a finite number", |a| a.frames[1].values[0] = f64::NAN),
        ("frames[0].contacts[0].force[2] is -inf, not a finite number", |a| {
            a.frames[0].contacts[0].force.z = f64::NEG_INFINITY;
        }),
        ("bodies[0].shapes[0].form.sphere.radius is NaN, not a finite number", |a| {
            a.bodies[0].shapes[0].form = Geometry::Sphere { radius: f64::NAN }.into();
        }),
        ("segments[0].ends[1].point[1] is NaN, not a finite number", |a| {
            a.segments[0].ends[1].point.y = f64::NAN;
        }),
    ] {
        assert_eq!(refused(change), message);
    }
    let mut a = sample(&[0.0]);
    a.frames[0].world_from_body[0].rotation.w = nan;
    assert!(matches!(a.check(), Err(IoError::NotFinite { value, .. }) if value.is_nan()));
}

#[test]
fn frames_fit_the_bodies_and_go_forward() {
    assert_eq!(
        refused(|a| a.frames[1].world_from_body.truncate(1)),
        "frame 1 has 1 poses of bodies, the animation has 2"
    );
    assert_eq!(
        refused(|a| a.frames[2].values.push(0.0)),
        "frame 2 has 2 values of series, the animation has 1"
    );
    assert_eq!(
        refused(|a| a.frames[2].time = 0.5),
        "frame 2 is at 0.5 s, not after the 0.5 s of the frame before"
    );
    assert!(matches!(sample(&[]).check(), Err(IoError::Empty { .. })));
    assert_eq!(
        refused(|a| a.frames[1].world_from_body[0].rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.9)),
        "pose of body 'first' in frame 1: the quaternion is not of unit length"
    );
}

#[test]
fn forms_without_surface_are_refused() {
    let not_above = "shape 0 of body 'first': a size is not above 0";
    let square = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
    for (form, message) in [
        (Geometry::Sphere { radius: 0.0 }, not_above),
        (Geometry::Capsule { radius: 1.0, half_length: -1.0 }, not_above),
        (Geometry::Cylinder { radius: 1.0, half_length: 0.0 }, not_above),
        (Geometry::Box { half_extents: DVec3::new(1.0, 1e-60, 1.0) }, not_above),
        (Geometry::Ellipsoid { radii: DVec3::new(1.0, 1.0, 0.0) }, not_above),
        (Geometry::HeightField { size: DVec2::X, columns: 2, heights: vec![0.0; 4] }, not_above),
        (
            Geometry::HeightField { size: DVec2::ONE, columns: 2, heights: vec![0.0; 5] },
            "shape 0 of body 'first': heights are not at least two whole rows of two",
        ),
        (
            Geometry::HeightField { size: DVec2::ONE, columns: 0, heights: vec![] },
            "shape 0 of body 'first': heights are not at least two whole rows of two",
        ),
        (
            Geometry::Hull { points: square.clone() },
            "shape 0 of body 'first': fewer than four points, or all of them in one plane",
        ),
        (
            Geometry::Mesh { vertices: square, triangles: vec![[0, 1, 4]] },
            "shape 0 of body 'first': a triangle has a corner that is no vertex",
        ),
    ] {
        assert_eq!(refused(|a| a.bodies[0].shapes[0].form = form.into()), message);
    }
    let axes = Form::Axes { length: 0.0 };
    assert_eq!(refused(|a| a.bodies[0].shapes[0].form = axes), not_above);
    assert_eq!(
        refused(|a| a.scenery.push(VisualShape::new(Geometry::Sphere { radius: -1.0 }))),
        "shape 0 of the scenery: a size is not above 0"
    );
    assert_eq!(
        refused(|a| a.segments[0].ends[1].body = Some(2)),
        "segment 0: an end is on a body that does not exist"
    );
    assert_eq!(
        refused(|a| a.segments[0].radius = Some(0.0)),
        "segment 0: the radius is not above 0"
    );
}

#[test]
fn joints_name_what_is_wrong_with_them() {
    let joint = || {
        let side = |body| JointSide { body, body_from_joint: Pose::IDENTITY };
        let spring = Some(AxisSpring { stiffness: 2.0, rest: 0.1, start: 0.0 });
        let axes = vec![JointAxis { direction: DVec3::Y, slides: false, spring }];
        Joint {
            name: "hinge".into(),
            sides: [side(None), side(Some(1))],
            axes,
            closes: true,
            spring: None,
        }
    };
    let said = |change: fn(&mut Joint)| {
        refused(|a| {
            let mut joint = joint();
            change(&mut joint);
            a.joints.push(joint);
        })
    };
    for (message, change) in [
        (
            "joint 'hinge': it is on a body that does not exist",
            (|j| j.sides[0].body = Some(2)) as fn(&mut Joint),
        ),
        ("joint 'hinge': the quaternion is not of unit length", |j| {
            j.sides[1].body_from_joint.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
        }),
        ("joint 'hinge': an axis is not of unit length", |j| j.axes[0].direction = DVec3::ZERO),
        ("joint 'hinge': a spring's stiffness is below 0", |j| {
            j.axes[0].spring = Some(AxisSpring { stiffness: -1.0, rest: 0.0, start: 0.0 });
        }),
        ("joints[0].axes[0].spring.rest is NaN, not a finite number", |j| {
            j.axes[0].spring = Some(AxisSpring { stiffness: 1.0, rest: f64::NAN, start: 0.0 });
        }),
    ] {
        assert_eq!(said(change), message);
    }
    let mut a = sample(&[0.0]);
    a.joints.push(joint());
    a.check().unwrap();
}

#[test]
fn thinning_keeps_a_frame_per_tick_and_both_ends() {
    let fine: Vec<f64> = (0..=1000).map(|i| 1e-3 * f64::from(i)).collect();
    let mut a = sample(&fine);
    a.thin(10.0);
    // Multiples of 0.1 s up to the rounding of i × 10⁻³.
    let expected: Vec<f64> = (0..=10).map(|i| fine[100 * i]).collect();
    assert_eq!(times(&a), expected);
    assert_eq!(a.frames[3].values, [fine[300]], "numbers stay with their frames");
    a.thin(10.0);
    assert_eq!(times(&a), expected, "again changes nothing");

    let mut uneven = sample(&[5.0, 5.01, 5.02, 5.5, 5.51, 9.0, 9.001]);
    uneven.thin(2.0);
    assert_eq!(times(&uneven), [5.0, 5.5, 9.0, 9.001]);

    for rate in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let mut ends = sample(&fine);
        ends.thin(rate);
        assert_eq!(times(&ends), [0.0, 1.0], "{rate}");
    }
    for rate in [1000.0, f64::INFINITY] {
        let mut all = sample(&fine);
        all.thin(rate);
        assert_eq!(times(&all), fine, "{rate}");
    }
    let mut none = sample(&[]);
    none.thin(1.0);
    assert!(none.frames.is_empty());
}

#[test]
fn trajectories_become_bodies_and_series() {
    let mut t = Trajectory::new(["base", "tip"]);
    let pose = Pose::new(exp_rotation(DVec3::new(0.1, 0.2, 0.3)), DVec3::new(1.0, 2.0, 3.0));
    let scalars = Scalars { kinetic: 1.0, gravitational: 2.0, elastic: 3.0, loop_gap: 4.0 };
    t.push(0.25, scalars, &[Pose::IDENTITY, pose]).unwrap();
    let a = Animation::from_trajectory("run", &t);
    a.check().unwrap();
    assert_eq!(a.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["base", "tip"]);
    assert_eq!(
        a.frames,
        [AnimationFrame::new(0.25, [Pose::IDENTITY, pose]).values([1.0, 2.0, 3.0, 4.0])]
    );
    assert_eq!(a.series.len(), 4);
}
