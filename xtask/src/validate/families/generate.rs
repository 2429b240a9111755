//! Seeded mechanisms of many kinds and sizes, as MJCF text: nobody tunes on them.

use std::fmt::Write as _;

use forks_mechanism::lie::{SplitMix64, glam::DVec3};

/// A mechanism whose effector is the body `tip`.
pub(super) struct Generated {
    pub(super) text: String,
    /// Axis of the cone of forces.
    pub(super) axis: DVec3,
    pub(super) gravity: bool,
}

/// The mechanism of a seed: six kinds in turn, sizes from 10 mm to 5 m.
pub(super) fn generate(seed: u64) -> Generated {
    let mut rng = SplitMix64::new(seed.wrapping_mul(0x5851_f42d).wrapping_add(17));
    let size = 10f64.powf(rng.range(-2.0, 0.7));
    let mut w = Writer { rng, size, bodies: String::new(), equalities: String::new(), count: 0 };
    let mut gravity = false;
    let planar = |w: &mut Writer| {
        let (s, c) = w.rng.range(0.0, core::f64::consts::TAU).sin_cos();
        DVec3::new(c, 0.0, s)
    };
    let axis = match seed % 6 {
        0 => {
            w.serial();
            w.rng.direction()
        }
        1 => {
            let flat = w.ladder();
            if flat { planar(&mut w) } else { w.rng.direction() }
        }
        2 => {
            w.four_bar();
            planar(&mut w)
        }
        3 => {
            w.balls();
            gravity = w.rng.uniform() < 0.5;
            w.rng.direction()
        }
        4 => {
            w.slides();
            w.rng.direction()
        }
        _ => {
            w.polygon();
            planar(&mut w)
        }
    };
    Generated { text: w.finish(seed), axis, gravity }
}

/// Springs of a mechanism of 1 m, N·m/rad, and mass of its links, kg; both grow with the volume.
const STIFFNESS: f64 = 500.0;
const MASS: f64 = 20.0;

#[derive(Clone, Copy)]
enum Kind {
    Hinge(DVec3),
    Slide(DVec3),
    Ball,
}

struct Writer {
    rng: SplitMix64,
    /// Size of the whole, m.
    size: f64,
    bodies: String,
    equalities: String,
    count: usize,
}

impl Writer {
    fn finish(self, seed: u64) -> String {
        format!(
            "<mujoco model=\"random-{seed:02}\"><compiler angle=\"radian\"/>\
             <option gravity=\"0 0 -9.81\"/>\n<worldbody>\n{}</worldbody>\n\
             <equality>{}</equality></mujoco>\n",
            self.bodies, self.equalities
        )
    }

    /// Opens a body at a place of its parent; returns its name.
    fn open(&mut self, at: DVec3) -> String {
        let name = format!("b{}", self.count);
        self.count += 1;
        // Writing to a string does not fail.
        let _ = writeln!(self.bodies, "<body name=\"{name}\" pos=\"{}\">", plain(at));
        name
    }

    fn close(&mut self) {
        self.bodies.push_str("</body>\n");
    }

    /// A sprung joint; `times` the usual stiffness, which is spread over two decades.
    fn joint(&mut self, kind: Kind, times: f64) {
        let spread = 10f64.powf(self.rng.range(-1.0, 1.0));
        let turning = STIFFNESS * self.size.powi(3) * spread * times;
        let mass = MASS * self.size.powi(3);
        let ratio = self.rng.range(0.02, 0.1);
        let (what, k, inertia) = match kind {
            Kind::Hinge(a) => {
                (format!("hinge\" axis=\"{}", plain(a)), turning, mass * self.size.powi(2))
            }
            Kind::Slide(a) => {
                (format!("slide\" axis=\"{}", plain(a)), turning / self.size.powi(2), mass)
            }
            Kind::Ball => ("ball".to_owned(), turning, mass * self.size.powi(2)),
        };
        let damping = 2.0 * ratio * (k * inertia).sqrt();
        let _ = writeln!(
            self.bodies,
            "<joint type=\"{what}\" stiffness=\"{k:e}\" damping=\"{damping:e}\"/>"
        );
    }

    /// A rod from the frame of the open body to a place.
    fn rod(&mut self, to: DVec3, mass: f64) {
        let _ = writeln!(
            self.bodies,
            "<geom type=\"capsule\" fromto=\"0 0 0 {}\" size=\"{:e}\" mass=\"{:e}\" \
             contype=\"0\" conaffinity=\"0\"/>",
            plain(to),
            0.02 * self.size,
            mass * MASS * self.size.powi(3)
        );
    }

    /// The effector, fixed to the open body.
    fn tip(&mut self, at: DVec3) {
        let _ = writeln!(
            self.bodies,
            "<body name=\"tip\" pos=\"{}\"><geom type=\"sphere\" size=\"{:e}\" mass=\"{:e}\" \
             contype=\"0\" conaffinity=\"0\"/></body>",
            plain(at),
            0.01 * self.size,
            0.05 * MASS * self.size.powi(3)
        );
    }

    fn connect(&mut self, a: &str, b: &str, anchor: DVec3) {
        let _ = writeln!(
            self.equalities,
            "<connect body1=\"{a}\" body2=\"{b}\" anchor=\"{}\"/>",
            plain(anchor)
        );
    }

    fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.rng.below(most - least + 1)
    }

    /// A rod's way along a direction that wanders.
    fn wander(&mut self, along: DVec3, length: f64) -> DVec3 {
        let way = along + self.rng.direction() * self.rng.range(0.0, 0.8);
        way.normalize() * length * self.rng.range(0.6, 1.4)
    }

    /// Links one after the other, `mass` in all, with the tip at the end.
    fn chain(
        &mut self,
        n: usize,
        along: DVec3,
        mass: f64,
        mut joint: impl FnMut(&mut Self, usize),
    ) {
        let length = self.size / n as f64;
        let mut at = DVec3::ZERO;
        for k in 0..n {
            self.open(at);
            joint(self, k);
            at = self.wander(along, length);
            self.rod(at, mass / n as f64);
        }
        self.tip(at);
        (0..n).for_each(|_| self.close());
    }

    /// Hinges, slides and balls about random axes.
    fn serial(&mut self) {
        let (n, along) = (self.between(4, 14), self.rng.direction());
        self.chain(n, along, 1.0, |w, _| {
            let axis = w.rng.direction();
            match w.rng.below(5) {
                0 => w.joint(Kind::Ball, 1.0),
                1 => w.joint(Kind::Slide(axis), 4.0),
                _ => w.joint(Kind::Hinge(axis), 1.0),
            }
        });
    }

    /// Hanging balls, softer to the end.
    fn balls(&mut self) {
        let n = self.between(4, 10);
        self.chain(n, -DVec3::Z, 0.2, |w, k| w.joint(Kind::Ball, 4.0 * 0.8f64.powi(k as i32)));
    }

    /// Slides and hinges in turn.
    fn slides(&mut self) {
        let (n, along) = (self.between(3, 8), self.rng.direction());
        self.chain(n, along, 1.0, |w, k| {
            let axis = w.rng.direction();
            match k % 2 {
                0 => w.joint(Kind::Slide(axis), 1.0),
                _ => w.joint(Kind::Hinge(axis), 1.0),
            }
        });
    }

    /// Four points in a plane in general position.
    fn four_bar(&mut self) {
        let jitter = |w: &mut Self, x: f64, z: f64| {
            let (dx, dz) = (w.rng.range(-0.2, 0.2), w.rng.range(-0.2, 0.2));
            DVec3::new(x + dx, 0.0, z + dz) * w.size
        };
        let (a, d) = (DVec3::ZERO, jitter(self, 0.7, 0.0));
        let (b, c) = (jitter(self, 0.0, 0.5), jitter(self, 0.7, 0.5));
        let point = (b + c) * 0.5 + jitter(self, 0.0, 0.3) - b;
        let y = Kind::Hinge(DVec3::Y);
        self.open(a);
        self.joint(y, 1.0);
        self.rod(b - a, 0.3);
        let coupler = self.open(b - a);
        self.joint(y, 1.0);
        self.rod(c - b, 0.3);
        self.tip(point);
        self.close();
        self.close();
        let rocker = self.open(d);
        self.joint(y, 1.0);
        self.rod(c - d, 0.3);
        self.close();
        self.connect(&rocker, &coupler, c - d);
    }

    /// A closed chain of rods, one side of which is the ground.
    fn polygon(&mut self) {
        let n = self.between(5, 8);
        let corner = |w: &mut Self, k: usize| {
            let angle = core::f64::consts::TAU * (k as f64 + w.rng.range(-0.25, 0.25)) / n as f64;
            let r = w.size * w.rng.range(0.35, 0.65);
            DVec3::new(angle.cos() * r, 0.0, angle.sin() * r)
        };
        let corners: Vec<DVec3> = (0..n).map(|k| corner(self, k)).collect();
        let mut from = DVec3::ZERO;
        let mut last = String::new();
        for k in 0..n - 1 {
            last = self.open(corners[k] - from);
            self.joint(Kind::Hinge(DVec3::Y), 1.0);
            let rod = corners[k + 1] - corners[k];
            self.rod(rod, 1.0 / n as f64);
            if k == (n - 1) / 2 {
                self.tip(rod * 0.5);
            }
            from = corners[k];
        }
        (0..n - 1).for_each(|_| self.close());
        self.connect(&last, "world", corners[n - 1] - corners[n - 2]);
    }

    /// Two chains with rungs, none parallel; flat or, with a second hinge and balls, in space.
    fn ladder(&mut self) -> bool {
        let (levels, flat) = (self.between(2, 5), self.rng.uniform() < 0.5);
        let length = self.size / levels as f64;
        let width = length * self.rng.range(0.6, 1.4);
        let chain = |w: &mut Self| -> Vec<DVec3> {
            let step = |w: &mut Self| {
                let aside = DVec3::new(w.rng.range(-0.2, 0.2), 0.0, -w.rng.range(0.7, 1.3));
                aside * length
            };
            (0..levels).map(|_| step(w)).collect()
        };
        let (left, right) = (chain(self), chain(self));
        let right_root = DVec3::new(width, 0.0, 0.0);
        let (mut a, mut b, mut at) = (DVec3::ZERO, right_root, DVec3::ZERO);
        let mut rungs = Vec::new();
        for k in 0..levels {
            self.open(at);
            self.hinges(flat);
            at = left[k];
            self.rod(at, 0.3 / levels as f64);
            (a, b) = (a + left[k], b + right[k]);
            let rung = self.open(at);
            self.joint(if flat { Kind::Hinge(DVec3::Y) } else { Kind::Ball }, 1.0);
            self.rod(b - a, 0.3 / levels as f64);
            if k + 1 == levels {
                self.tip((b - a) * 0.5);
            }
            self.close();
            rungs.push((rung, b - a));
        }
        (0..levels).for_each(|_| self.close());
        at = right_root;
        for (k, (rung, anchor)) in rungs.iter().enumerate() {
            let side = self.open(at);
            self.hinges(flat);
            at = right[k];
            self.rod(at, 0.3 / levels as f64);
            self.connect(rung, &side, *anchor);
        }
        (0..levels).for_each(|_| self.close());
        flat
    }

    fn hinges(&mut self, flat: bool) {
        self.joint(Kind::Hinge(DVec3::Y), 1.0);
        if !flat {
            self.joint(Kind::Hinge(DVec3::X), 1.0);
        }
    }
}

fn plain(v: DVec3) -> String {
    format!("{:e} {:e} {:e}", v.x, v.y, v.z)
}

#[cfg(test)]
mod tests {
    use forks_import::{ImportOptions, parse_mjcf};
    use forks_reduce::{Problem, ProblemOptions};

    use super::*;

    #[test]
    fn every_kind_can_be_read_and_starts_with_closed_loops() {
        for seed in 0..24 {
            let made = generate(seed);
            let read = parse_mjcf(&made.text, &ImportOptions::default()).unwrap();
            let m = &read.mechanism;
            assert!(Problem::new(m, &["tip"], &ProblemOptions::default()).is_ok(), "{seed}");
            let q = m.start_positions();
            let poses = m.link_poses(&q);
            let gap = forks_mechanism::kinematics::constraint_error(
                m,
                &forks_mechanism::kinematics::connections(m),
                &poses,
            );
            let r = m.bounding_radius(&poses);
            assert!(gap.position_sum <= 1e-12 * r, "{seed}: {}", gap.position_sum / r);
            assert_eq!(made.text, generate(seed).text);
        }
    }
}
