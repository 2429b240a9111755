//! A blend's numbers as JSON.

use alloc::string::String;

use forks_rom::internal::files::{Object, json, list, matrix, number, numbers, pose, show, text};

use crate::{Blend, BlendData, BlendedModel, ChartSample, SampleData, Weights};

/// A blend on one line.
pub(crate) fn blend(model: &BlendedModel) -> String {
    let BlendData { reference, basis, radius, range, weights, samples, chart, guard } =
        model.data();
    let weights = match weights {
        Weights::Shepard { exponent } => {
            Object::default().field("kind", text("shepard")).field("exponent", show(exponent))
        }
        Weights::Metric { exponent, energy } => Object::default()
            .field("kind", text("metric"))
            .field("exponent", show(exponent))
            .field("energy", number(*energy)),
        Weights::Printed => Object::default().field("kind", text("printed")),
        Weights::Neighbours { exponent, count } => Object::default()
            .field("kind", text("neighbours"))
            .field("exponent", show(exponent))
            .field("count", show(count)),
    };
    let way = match model.blend() {
        Blend::Energy => "energy",
        Blend::Eigenvectors => "eigenvectors",
        Blend::SpdManifold => "spd_manifold",
    };
    let sample = |s: &SampleData| {
        Object::default()
            .field("potential", number(s.potential))
            .field("servo_forces", numbers(s.servos.force.iter().copied()))
            .field("servo_stiffness", matrix(&s.servos.stiffness))
            .field("curvature", matrix(&s.curvature))
            .field("model", json(s.model.data()))
            .end()
    };
    Object::default()
        .field("radius", number(*radius))
        .field("range", if range.is_finite() { number(*range) } else { "null".into() })
        .field("reference", list(reference.iter().map(pose)))
        .field("basis", matrix(basis))
        .field("weights", weights.end())
        .field("blend", text(way))
        .field("samples", list(samples.iter().map(sample)))
        .field("chart", list(chart.iter().map(chart_sample)))
        .field(
            "guard",
            guard.as_ref().map_or("null".into(), |g| {
                Object::default()
                    .field("reach", numbers(g.reach.iter().copied()))
                    .field("stiffness", number(g.stiffness))
                    .end()
            }),
        )
        .end()
}

fn chart_sample(c: &ChartSample) -> String {
    let ChartSample { place, rate, stiffness, cubic, twists, links, joints, servos } = c;
    Object::default()
        .field("place", numbers(place.iter().copied()))
        .field("rate", matrix(rate))
        .field("stiffness", matrix(stiffness))
        .field("cubic", numbers(cubic.iter().copied()))
        .field("twists", matrix(twists))
        .field("links", list(links.iter().map(matrix)))
        .field("joints", list(joints.iter().map(matrix)))
        .field("servos", matrix(servos))
        .end()
}
