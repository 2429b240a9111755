//! Blended models as files.
//!
//! The frame is that of [reduced models](forks_rom::file): magic, version, scalar, length,
//! sections, checksum. The magic is `89 46 4F 52 4B 42 0D 0A` (`.FORKB..`); all three sections are
//! there, in this order; E, N are the numbers of effectors and chart coordinates.
//!
//! | section | content |
//! |---|---|
//! | `SIZE` | counts N, E, samples; numbers radius, range (alone may be infinite); bytes kind of weights, kind of blend; counts exponent, neighbours (0 where the weights have none) |
//! | `CHAR` | E poses reference, matrix basis 6E × N |
//! | `SAMP` | per sample: number potential, count of bytes, the sample's reduced model as a whole file of its own; with s servos s numbers ∂U/∂s and matrix ∂²U/∂s² s × s; byte 1 and matrix of the curvature N × N(N+1)/2, or byte 0. Then, for weights 4 to 7, per sample: N numbers place, N(N+1)(N+2)/6 numbers third order; matrices rate N × N, stiffness N × N, higher orders of effectors 6E × (N(N+1)/2 + N(N+1)(N+2)/6), second order of each link 6 × N(N+1)/2 and of each joint (rows as its map); for weights 5 to 7 also byte 1 and matrix of the servos s × N(N+3)/2, or byte 0. For weights 5 to 7 then byte 1, matrix N × N and number stiffness of the guard, or byte 0. For weights 7, last, a count of forces on links, per force index link, numbers force x, y, z and point x, y, z |
//!
//! Weights: 0 Shepard, 1 as printed in \[A16\], 2 neighbours, 3 in the samples' metrics (then
//! number ε follows), 4 to 7 Shepard in a chart of joint displacements (4 is read only; 6 and 7:
//! links follow the joints). Blend: 0 energy, 1 eigenvectors, 2 log-Euclidean. Versions follow the
//! same rule as those of reduced models; there is one so far: 1.

use alloc::{string::String, sync::Arc, vec::Vec};

use forks_linalg::Matrix;
use forks_rom::{
    ReducedModel, ServoTerms,
    data::ModelData,
    file::FileError,
    internal::files::{Reader, SCALAR, Writer, content, header, read},
};

use crate::{
    Blend, BlendData, BlendedModel, ChartSample, Guard, Kinematics, LinkForce, SampleData, Weights,
    chart::triples, curvature::pairs,
};

/// First bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89FORKB\r\n";
/// Version of the format.
pub(crate) const VERSION: u32 = 1;

const SIZE: &str = "SIZE";
const CHAR: &str = "CHAR";
const SAMP: &str = "SAMP";

impl BlendedModel {
    /// The blend as the bytes of a file; see the [format](crate::file).
    pub fn to_bytes(&self) -> Vec<u8> {
        let d = self.data();
        let BlendData { reference, basis, radius, range, weights, samples, chart, .. } = d;
        let (kind, exponent, count) = match *weights {
            Weights::Shepard { exponent } if chart.is_empty() => (0, exponent, 0),
            Weights::Shepard { exponent } => match d.kinematics {
                Kinematics::Polynomials => (5, exponent, 0),
                Kinematics::Joints if d.link_forces.is_empty() => (6, exponent, 0),
                Kinematics::Joints => (7, exponent, 0),
            },
            Weights::Printed => (1, 0, 0),
            Weights::Neighbours { exponent, count } => (2, exponent, count),
            Weights::Metric { exponent, .. } => (3, exponent, 0),
        };
        let blend = match self.blend() {
            Blend::Energy => 0,
            Blend::Eigenvectors => 1,
            Blend::SpdManifold => 2,
        };
        let mut out = Writer::new(MAGIC, VERSION, SCALAR);
        out.section(SIZE, |out| {
            [basis.columns(), reference.len(), samples.len()]
                .into_iter()
                .for_each(|n| out.count(n));
            out.numbers([*radius, *range]);
            out.byte(kind);
            out.byte(blend);
            out.count(exponent as usize);
            out.count(count as usize);
            if let Weights::Metric { energy, .. } = *weights {
                out.numbers([energy]);
            }
        });
        out.section(CHAR, |out| {
            reference.iter().for_each(|p| out.pose(p));
            out.matrix(basis);
        });
        out.section(SAMP, |out| {
            for SampleData { model, potential, servos, curvature } in samples {
                out.numbers([*potential]);
                out.block(&model.to_bytes());
                out.numbers(servos.force.iter().copied());
                out.matrix(&servos.stiffness);
                out.byte(u8::from(curvature.rows() > 0));
                out.matrix(curvature);
            }
            for c in chart {
                let ChartSample { place, rate, stiffness, cubic, twists, links, joints, servos } =
                    c;
                out.numbers(place.iter().chain(cubic).copied());
                [rate, stiffness, twists].into_iter().chain(links).chain(joints).for_each(|m| {
                    out.matrix(m);
                });
                out.byte(u8::from(servos.rows() > 0));
                out.matrix(servos);
            }
            if !chart.is_empty() {
                out.byte(u8::from(d.guard.is_some()));
                if let Some(g) = &d.guard {
                    out.matrix(&g.metric);
                    out.numbers([g.stiffness]);
                }
            }
            if kind == 7 {
                out.count(d.link_forces.len());
                for f in &d.link_forces {
                    out.count(f.link);
                    out.numbers(f.force.to_array().into_iter().chain(f.point.to_array()));
                }
            }
        });
        out.finish()
    }

    /// The blend of a file's bytes: equal in every bit to the one that was written.
    ///
    /// # Errors
    /// [`FileError`] where the bytes are no such file, are damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let declared = header(bytes, MAGIC, VERSION)?;
        let mut file = Reader::new(content(bytes, declared)?, "after the last");
        let mut r = file.section(SIZE)?;
        let n = r.index("number of coordinates")?;
        let effectors = r.index("number of effectors")?;
        let samples = r.index("number of samples")?;
        let radius = r.number("radius")?;
        let range = r.raw_number("range")?;
        let (kind, way) = (r.byte("kind of weights")?, r.byte("kind of blend")?);
        let (exponent, count) = (r.small("exponent")?, r.small("number of neighbours")?);
        let weights = match kind {
            0 | 4..=7 => Weights::Shepard { exponent },
            1 => Weights::Printed,
            2 => Weights::Neighbours { exponent, count },
            3 => Weights::Metric { exponent, energy: r.number("energy of the weights' metric")? },
            other => return Err(r.wrong("kind of weights", other.into())),
        };
        let blend = match way {
            0 => Blend::Energy,
            1 => Blend::Eigenvectors,
            2 => Blend::SpdManifold,
            other => return Err(r.wrong("kind of blend", other.into())),
        };
        r.end()?;
        let mut r = file.section(CHAR)?;
        let reference = r.list("reference", effectors, 7 * 8, |r| r.pose("reference"))?;
        let basis = r.matrix("basis", effectors.saturating_mul(6), n)?;
        r.end()?;
        let mut r = file.section(SAMP)?;
        let samples = r.list("samples", samples, 16, |r| {
            let potential = r.number("potential")?;
            let model = ReducedModel::held_by_loads(read(r.block("model")?)?)?;
            let count = model.data().servos.len();
            let force = r.list("servo forces", count, 8, |r| r.number("servo forces"))?;
            let stiffness = r.matrix("servo stiffness", count, count)?;
            let servos = ServoTerms { force, stiffness };
            let curvature = match r.byte("curvature")? {
                0 => Matrix::zeros(0, 0),
                1 => r.matrix("curvature", n, pairs(n))?,
                other => return Err(r.wrong("curvature", other.into())),
            };
            Ok(SampleData { model: Arc::new(model), potential, servos, curvature })
        })?;
        // Those of kind 4 know nothing of servo targets and have no guard.
        let more = kind >= 5;
        let of = |s: &SampleData, r: &mut Reader<'_>| chart_sample(r, s.model.data(), more);
        let chart: Vec<ChartSample> = match kind {
            4..=7 => samples.iter().map(|s| of(s, &mut r)).collect::<Result<_, _>>()?,
            _ => Vec::new(),
        };
        let guard = match if more { r.byte("guard")? } else { 0 } {
            0 => None,
            1 => {
                let metric = r.matrix("metric of the guard", n, n)?;
                Some(Guard { metric, stiffness: r.number("stiffness of the guard")? })
            }
            other => return Err(r.wrong("guard", other.into())),
        };
        let link_forces = match kind {
            7 => {
                let count = r.index("number of forces on links")?;
                r.list("forces on links", count, 7 * 8, link_force)?
            }
            _ => Vec::new(),
        };
        r.end()?;
        file.end()?;
        let kinematics = if kind >= 6 { Kinematics::Joints } else { Kinematics::Polynomials };
        let data = BlendData {
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
        };
        Ok(Self::new(data)?.with_blend(blend))
    }

    /// The numbers as JSON, for other programs; see [`BlendData`] and [`ReducedModel::to_json`].
    pub fn to_json(&self) -> String {
        crate::json::blend(self)
    }
}

fn link_force(r: &mut Reader<'_>) -> Result<LinkForce, FileError> {
    let link = r.index("link of a force")?;
    Ok(LinkForce { link, force: r.vector("force on a link")?, point: r.vector("its point")? })
}

fn chart_sample(r: &mut Reader<'_>, m: &ModelData, more: bool) -> Result<ChartSample, FileError> {
    let n = m.basis.columns();
    let (two, three) = (pairs(n), triples(n));
    let place = r.list("place", n, 8, |r| r.number("place"))?;
    let cubic = r.list("third order of the energy", three, 8, |r| r.number("third order"))?;
    Ok(ChartSample {
        place,
        cubic,
        rate: r.matrix("rate", n, n)?,
        stiffness: r.matrix("stiffness", n, n)?,
        twists: r.matrix("higher orders of effectors", m.basis.rows(), two + three)?,
        links: m
            .links
            .iter()
            .map(|_| r.matrix("second order of a link", 6, two))
            .collect::<Result<_, _>>()?,
        joints: m
            .joints
            .iter()
            .map(|j| r.matrix("second order of a joint", j.map.rows(), two))
            .collect::<Result<_, _>>()?,
        servos: match if more { r.byte("servos of a chart")? } else { 0 } {
            0 => Matrix::zeros(0, 0),
            1 => r.matrix("servos of a chart", m.servos.len(), n + two)?,
            other => return Err(r.wrong("servos of a chart", other.into())),
        },
    })
}
