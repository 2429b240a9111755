//! Superelements: compliant bodies condensed to the frames that hold them, as plain data.
//!
//! With ξ the twists of k frames in exponential coordinates about the linearisation pose and g =
//! −(forces on the frames) there, the body has the energy gᵀξ + ½ ξᵀ K ξ. Outputs are frames that
//! ride on it: ξ_c = A ξ + ε, ε of covariance C₀ per unit load. Internal modes move neither.

use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DMat3, DVec3},
};
use forks_linalg::{Matrix, dense};

use crate::{LinkId, Mechanism};

/// Asymmetry of a symmetric matrix that is rounding, over its largest entry.
const SYMMETRY: f64 = 1e-9;
/// What rigid motions may leave, over ‖K‖ with lengths over the size.
const RIGID: f64 = 1e-9;
/// A negative eigenvalue above this part of the largest is worth a note.
const NEGATIVE: f64 = 1e-10;

/// A frame that holds a superelement.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldFrame {
    /// The link; may be the ground.
    pub link: LinkId,
    /// The frame in the link.
    pub link_from_frame: Pose,
}

/// A frame that rides on a superelement: a pad, a tip.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFrame {
    /// Name, as of a link.
    pub name: String,
    /// Its pose in the first frame at the linearisation pose.
    pub frame_from_output: Pose,
}

/// A compliant body between k frames, with p outputs and m internal modes. Twists and wrenches are
/// in each frame's own axes; coordinates come as frames, outputs, modes: 6k + 6p + m of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Superelement {
    /// Name.
    pub name: String,
    /// What holds it, k of them.
    pub frames: Vec<HeldFrame>,
    /// p frames that ride on it.
    pub outputs: Vec<OutputFrame>,
    /// K, 6k × 6k: second derivative of the energy in exponential coordinates of the frames, the
    /// outputs free to move under their loads.
    pub stiffness: Matrix,
    /// Forces of the body on the frames, then on the outputs, at the linearisation pose; zero at
    /// rest.
    pub forces: Vec<Wrench>,
    /// A, 6p × 6k: twists of the outputs per twist of the frames.
    pub output_map: Matrix,
    /// C₀, 6p × 6p: twists of the outputs per wrench on them, the frames held.
    pub output_compliance: Matrix,
    /// Stiffness of each internal mode, for amplitudes in which the mass is given.
    pub modes: Vec<f64>,
    /// Mass, (6k + 6p + m)²; what belongs to the links is not part of it.
    pub mass: Matrix,
    /// Damping, as large; may be 0 × 0.
    pub damping: Matrix,
}

/// Why numbers make no superelement.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuperelementError {
    /// A list or matrix of another size.
    #[error("superelement '{name}': {quantity} has {found} entries, expected {expected}")]
    Size {
        /// The superelement.
        name: String,
        /// What has the size.
        quantity: &'static str,
        /// Size found.
        found: usize,
        /// Size needed.
        expected: usize,
    },
    /// A number that is not finite.
    #[error("superelement '{name}': {quantity} is not finite")]
    NotFinite {
        /// The superelement.
        name: String,
        /// Where.
        quantity: &'static str,
    },
    /// No frame holds it.
    #[error("superelement '{name}' has no frame")]
    NoFrame {
        /// The superelement.
        name: String,
    },
    /// A link that is not there.
    #[error("superelement '{name}' is held by link {link} of {count}")]
    NoSuchLink {
        /// The superelement.
        name: String,
        /// The link's index.
        link: usize,
        /// Links that there are.
        count: usize,
    },
    /// A matrix that is not symmetric.
    #[error(
        "superelement '{name}': {quantity} is not symmetric: entries ({row}, {column}) and \
         ({column}, {row}) differ by {by:e} of the largest"
    )]
    Asymmetric {
        /// The superelement.
        name: String,
        /// Which matrix.
        quantity: &'static str,
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The difference over the largest entry.
        by: f64,
    },
    /// A rigid motion that meets forces, or leaves outputs behind.
    #[error(
        "superelement '{name}': {quantity} does not let rigid motion {motion} be free: {by:e} of \
         the largest entry is left"
    )]
    Rigid {
        /// The superelement.
        name: String,
        /// Which matrix.
        quantity: &'static str,
        /// 0 to 2: translations along the world's axes, 3 to 5: turns about them.
        motion: usize,
        /// What is left over ‖K‖, lengths over the size.
        by: f64,
    },
    /// A mode without stiffness.
    #[error("superelement '{name}': mode {mode} has the stiffness {value}; it must be positive")]
    Mode {
        /// The superelement.
        name: String,
        /// Which mode.
        mode: usize,
        /// Its stiffness.
        value: f64,
    },
}

/// Something about a superelement that may not have been meant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SuperelementNote {
    /// A matrix with a direction of negative energy.
    Negative {
        /// Which matrix.
        quantity: &'static str,
        /// Its least eigenvalue over the largest, lengths over the size.
        least: f64,
    },
}

impl std::fmt::Display for SuperelementNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Negative { quantity, least } => {
                write!(f, "{quantity} has an eigenvalue of {least:e} of the largest")
            }
        }
    }
}

impl Superelement {
    /// Number of coordinates: 6 per frame and output, 1 per mode.
    pub fn coordinates(&self) -> usize {
        6 * (self.frames.len() + self.outputs.len()) + self.modes.len()
    }

    /// World poses of frames, then outputs, for poses of the links at the linearisation pose.
    ///
    /// # Panics
    /// If there is no frame, or a link has no pose.
    pub fn world_poses(&self, world_from_link: &[Pose]) -> Vec<Pose> {
        let of = |f: &HeldFrame| world_from_link[f.link.index()] * f.link_from_frame;
        let mut out: Vec<Pose> = self.frames.iter().map(of).collect();
        let first = out[0];
        out.extend(self.outputs.iter().map(|o| first * o.frame_from_output));
        out
    }

    /// Checks the numbers for a mechanism whose links are at these poses: sizes, symmetry, and,
    /// where the forces balance, that rigid motions cost nothing (loaded: turn the forces). Notes
    /// tell of directions with negative energy.
    ///
    /// # Errors
    /// The first thing that is wrong, with its numbers.
    pub fn check(
        &self,
        m: &Mechanism,
        world_from_link: &[Pose],
    ) -> Result<Vec<SuperelementNote>, SuperelementError> {
        self.check_sizes(m)?;
        let poses = self.world_poses(world_from_link);
        let size = extent(&poses);
        self.symmetric("the stiffness", &self.stiffness)?;
        self.symmetric("the compliance of the outputs", &self.output_compliance)?;
        self.symmetric("the mass", &self.mass)?;
        self.symmetric("the damping", &self.damping)?;
        self.check_rigid(&poses, size)?;
        let matrices = [
            ("the stiffness", &self.stiffness, size),
            ("the compliance of the outputs", &self.output_compliance, 1.0 / size),
            ("the mass", &self.mass, size),
            ("the damping", &self.damping, size),
        ];
        let negative = |(quantity, x, size): (&'static str, &Matrix, f64)| {
            let least = least_eigenvalue(&scaled(x, 6 * poses.len(), size));
            (least < -NEGATIVE).then_some(SuperelementNote::Negative { quantity, least })
        };
        Ok(matrices.into_iter().filter_map(negative).collect())
    }

    fn check_sizes(&self, m: &Mechanism) -> Result<(), SuperelementError> {
        let name = || self.name.clone();
        if self.frames.is_empty() {
            return Err(SuperelementError::NoFrame { name: name() });
        }
        let count = m.links().len();
        for f in &self.frames {
            let link = f.link.index();
            if link >= count {
                return Err(SuperelementError::NoSuchLink { name: name(), link, count });
            }
        }
        let (k, p, all) = (6 * self.frames.len(), 6 * self.outputs.len(), self.coordinates());
        let damped = if self.damping.rows() == 0 { 0 } else { all };
        for (quantity, x, rows, columns) in [
            ("the stiffness", &self.stiffness, k, k),
            ("the map of the outputs", &self.output_map, p, k),
            ("the compliance of the outputs", &self.output_compliance, p, p),
            ("the mass", &self.mass, all, all),
            ("the damping", &self.damping, damped, damped),
        ] {
            for (found, expected) in [(x.rows(), rows), (x.columns(), columns)] {
                // A matrix without rows has no columns to count.
                if found != expected && x.rows() + rows > 0 {
                    return Err(SuperelementError::Size {
                        name: name(),
                        quantity,
                        found,
                        expected,
                    });
                }
            }
            if !x.is_finite() {
                return Err(SuperelementError::NotFinite { name: name(), quantity });
            }
        }
        let (found, expected) = (self.forces.len(), self.frames.len() + self.outputs.len());
        if found != expected {
            let quantity = "the list of forces";
            return Err(SuperelementError::Size { name: name(), quantity, found, expected });
        }
        let poses = self.frames.iter().map(|f| &f.link_from_frame);
        let poses = poses.chain(self.outputs.iter().map(|o| &o.frame_from_output));
        let forces = self.forces.iter().flat_map(|w| w.to_array());
        if !(poses.into_iter().all(Pose::is_finite) && forces.into_iter().all(f64::is_finite)) {
            return Err(SuperelementError::NotFinite { name: name(), quantity: "a pose or force" });
        }
        let bad = self.modes.iter().position(|k| !(*k > 0.0 && k.is_finite()));
        match bad {
            Some(mode) => {
                Err(SuperelementError::Mode { name: name(), mode, value: self.modes[mode] })
            }
            None => Ok(()),
        }
    }

    fn symmetric(&self, quantity: &'static str, x: &Matrix) -> Result<(), SuperelementError> {
        let largest = x.max_abs();
        for row in 0..x.rows() {
            for column in 0..row {
                let by = (x[(row, column)] - x[(column, row)]).abs() / largest;
                if by > SYMMETRY {
                    let name = self.name.clone();
                    return Err(SuperelementError::Asymmetric { name, quantity, row, column, by });
                }
            }
        }
        Ok(())
    }

    /// The energy is the same wherever the whole is: with ζ_i a rigid twist in frame i and w_i the
    /// forces, frames and outputs c,
    ///
    /// K ζ = ½ ad_ζᵀ w + ½ Aᵀ ad_ζcᵀ w_c,  A ζ = ζ_c − ½ C₀ ad_ζcᵀ w_c.
    ///
    /// Where the forces do not balance other loads act on the body, and nothing is known.
    fn check_rigid(&self, poses: &[Pose], size: f64) -> Result<(), SuperelementError> {
        let (k, p) = (self.frames.len(), self.outputs.len());
        let middle = poses.iter().map(|p| p.translation).sum::<DVec3>() / poses.len() as f64;
        let unit = |i: usize| if i % 6 < 3 { size } else { 1.0 };
        let largest = scaled(&self.stiffness, 6 * k, size).max_abs();
        let motions: [Vec<Twist>; 6] =
            core::array::from_fn(|motion| rigid_twists(poses, motion, middle, size));
        let work =
            |zeta: &[Twist]| -> f64 { zeta.iter().zip(&self.forces).map(|(t, w)| t.dot(*w)).sum() };
        if motions.iter().any(|zeta| work(zeta).abs() > RIGID * largest) {
            return Ok(());
        }
        for (motion, zeta) in motions.iter().enumerate() {
            let stacked: Vec<f64> = zeta[..k].iter().flat_map(|t| t.to_array()).collect();
            let turned: Vec<f64> = zeta
                .iter()
                .zip(&self.forces)
                .flat_map(|(t, w)| t.ad_transpose(*w).to_array().map(|x| 0.5 * x))
                .collect();
            let (on_frames, on_outputs) = turned.split_at(6 * k);
            let mut left = self.stiffness.mul_vec(&stacked);
            left.iter_mut().zip(on_frames).for_each(|(l, t)| *l -= t);
            let error = |quantity, by| {
                let name = self.name.clone();
                Err(SuperelementError::Rigid { name, quantity, motion, by })
            };
            let mut off = vec![0.0; 6 * p];
            if p > 0 {
                let passed = self.output_map.transpose_mul_vec(on_outputs);
                left.iter_mut().zip(passed).for_each(|(l, t)| *l -= t);
                off = self.output_map.mul_vec(&stacked);
                let yielded = self.output_compliance.mul_vec(on_outputs);
                let rigid = zeta[k..].iter().flat_map(|t| t.to_array());
                for ((off, y), t) in off.iter_mut().zip(yielded).zip(rigid) {
                    *off += y - t;
                }
            }
            let by = left.iter().enumerate().fold(0.0f64, |m, (i, x)| m.max((x * unit(i)).abs()));
            if by > RIGID * largest {
                return error("the stiffness", by / largest);
            }
            let by = off.iter().enumerate().fold(0.0f64, |m, (i, x)| m.max(x.abs() / unit(i)));
            if by > RIGID {
                return error("the map of the outputs", by);
            }
        }
        Ok(())
    }
}

/// Twist of every frame in its own axes for a unit motion of the whole: along an axis by the size,
/// or about it through the middle.
fn rigid_twists(poses: &[Pose], motion: usize, middle: DVec3, size: f64) -> Vec<Twist> {
    let axis = DMat3::IDENTITY.col(motion % 3);
    let twist = |p: &Pose| {
        let (linear, angular) = match motion < 3 {
            true => (axis * size, DVec3::ZERO),
            false => (axis.cross(p.translation - middle), axis),
        };
        let back = p.rotation.conjugate();
        Twist::new(back * linear, back * angular)
    };
    poses.iter().map(twist).collect()
}

/// Largest distance of the frames from their mean; 1 where there is none.
fn extent(poses: &[Pose]) -> f64 {
    let middle = poses.iter().map(|p| p.translation).sum::<DVec3>() / poses.len() as f64;
    let size = poses.iter().fold(0.0f64, |m, p| m.max(p.translation.distance(middle)));
    if size > 0.0 && size.is_finite() { size } else { 1.0 }
}

/// The matrix for twists (v/size; ω); rows after the twists are left alone.
fn scaled(x: &Matrix, twists: usize, size: f64) -> Matrix {
    let unit = |i: usize| if i < twists && i % 6 < 3 { size } else { 1.0 };
    Matrix::from_fn(x.rows(), x.columns(), |i, j| unit(i) * x[(i, j)] * unit(j))
}

/// The least eigenvalue over the largest in size; 0 for an empty matrix.
fn least_eigenvalue(x: &Matrix) -> f64 {
    let Some((values, _)) = dense::symmetric_eigen(&x.symmetric_part()) else { return 0.0 };
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let least = values.iter().fold(0.0f64, |m, v| m.min(*v));
    if largest > 0.0 { least / largest } else { 0.0 }
}
