//! A blend's numbers as JSON.

use alloc::{string::String, vec::Vec};

use forks_linalg::Matrix;
use forks_rom::internal::files::text;
use serde_json::{Value, json};

use crate::{BlendData, BlendedModel, ChartSample, SampleData};

/// A blend on one line.
pub(crate) fn blend(model: &BlendedModel) -> String {
    let BlendData {
        reference,
        basis,
        radius,
        range,
        weights,
        samples,
        chart,
        guard,
        kinematics,
        link_forces,
    } = model.data();
    let sample = |s: &SampleData| {
        json!({
            "potential": s.potential,
            "servo_forces": s.servos.force,
            "servo_stiffness": rows(&s.servos.stiffness),
            "curvature": rows(&s.curvature),
            "model": s.model.data(),
        })
    };
    text(&json!({
        "radius": radius,
        "range": range,
        "reference": reference,
        "basis": rows(basis),
        "weights": weights,
        "blend": model.blend(),
        "samples": samples.iter().map(sample).collect::<Vec<_>>(),
        "chart": chart.iter().map(chart_sample).collect::<Vec<_>>(),
        "kinematics": kinematics,
        "link_forces": link_forces,
        "guard": guard.as_ref().map(|g| json!({
            "metric": rows(&g.metric),
            "stiffness": g.stiffness,
        })),
    }))
}

fn chart_sample(c: &ChartSample) -> Value {
    let ChartSample { place, rate, stiffness, cubic, twists, links, joints, servos } = c;
    json!({
        "place": place,
        "rate": rows(rate),
        "stiffness": rows(stiffness),
        "cubic": cubic,
        "twists": rows(twists),
        "links": links.iter().map(rows).collect::<Vec<_>>(),
        "joints": joints.iter().map(rows).collect::<Vec<_>>(),
        "servos": rows(servos),
    })
}

fn rows(m: &Matrix) -> Value {
    (0..m.rows()).map(|i| m.row(i).to_vec()).collect()
}
