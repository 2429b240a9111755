//! Where all slots are and how they move: one outward pass.

use forks_mechanism::{
    Mechanism,
    lie::{
        Pose, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::simd::{Arithmetic, Kernel},
};

use super::plan::SweepPlan;
use crate::{
    constrained::MechanismEnergy,
    springs::joint_energy,
    tree::{
        block::{Transform, bracket, turn_back},
        compile::{Carrier, Slot},
        motion::MultiMotion,
    },
};

/// A slot at a state, in its own frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Inner slot's frame from this one.
    pub(super) from_outer: Transform,
    /// Body twist.
    pub(super) twist: Twist,
    /// Acceleration where no coordinate accelerates.
    pub(super) bias: Twist,
    /// Gravity.
    pub(super) fall: DVec3,
    /// World frame from this one.
    pub(super) turn: DQuat,
    pub(super) origin: DVec3,
}

const GROUND: Place = Place {
    from_outer: Transform::IDENTITY,
    twist: Twist::ZERO,
    bias: Twist::ZERO,
    fall: DVec3::ZERO,
    turn: DQuat::IDENTITY,
    origin: DVec3::ZERO,
};

/// All slots at a state.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) places: Vec<Place>,
    pub(super) multi: Vec<MultiMotion>,
}

impl Motion {
    pub(super) fn new(plan: &SweepPlan) -> Self {
        Self {
            places: vec![GROUND; plan.tree.slots.len()],
            multi: vec![MultiMotion::NONE; plan.tree.multi.len()],
        }
    }

    /// At positions and velocities of the tree.
    pub(super) fn update(&mut self, plan: &SweepPlan, gravity: DVec3, q: &[f64], v: &[f64]) {
        plan.isa.run(Update { motion: self, plan, gravity, q, v });
    }

    #[inline(always)]
    fn compute(&mut self, plan: &SweepPlan, gravity: DVec3, q: &[f64], v: &[f64]) {
        let tree = &plan.tree;
        self.places[0].fall = gravity;
        for (i, s) in tree.slots.iter().enumerate().skip(1) {
            let inner = self.places[s.inner as usize];
            let zero = plan.joints[i].turn;
            self.places[i] = match s.carrier {
                Carrier::Revolute => revolute(s, zero, &inner, q, v),
                Carrier::Prismatic => prismatic(s, zero, &inner, q, v),
                Carrier::Fixed => moved(&inner, s.at_zero, zero, Twist::ZERO, Twist::ZERO),
                Carrier::Multi(k) => {
                    let j = &tree.multi[k as usize];
                    let (at, to) = (s.position as usize, s.velocity as usize);
                    let v = &v[to..to + s.dof as usize];
                    let (pose, motion) = j.motion(&q[at..at + j.positions as usize], v);
                    self.multi[k as usize] = motion;
                    let turn = zero * pose.rotation;
                    let translation = s.at_zero.translation + s.at_zero.rotation * pose.translation;
                    let from_outer = Transform { rotation: DMat3::from_quat(turn), translation };
                    let relative = motion.columns.combine(v);
                    moved(&inner, from_outer, turn, relative, motion.rate)
                }
            };
        }
    }

    /// True if all twists are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.places.iter().all(|p| p.twist.is_finite())
    }

    /// World pose of a slot.
    pub(super) fn slot_pose(&self, slot: usize) -> Pose {
        Pose { rotation: self.places[slot].turn, translation: self.places[slot].origin }
    }

    /// World pose of a link.
    pub(super) fn pose(&self, plan: &SweepPlan, link: usize) -> Pose {
        let slot = plan.slot(link);
        let (at, from) = (&self.places[slot], &plan.joints[slot].slot_from_link);
        Pose {
            rotation: (at.turn * from.rotation).normalize(),
            translation: at.origin + at.turn * from.translation,
        }
    }

    /// Energy but for what is no part of a single tree joint.
    pub(super) fn energy(
        &self,
        m: &Mechanism,
        plan: &SweepPlan,
        q: &[f64],
        v: &[f64],
    ) -> MechanismEnergy {
        let mut out = MechanismEnergy::default();
        let gravity = self.places[0].fall;
        for (i, s) in plan.tree.slots.iter().enumerate().skip(1) {
            let (at, j) = (&self.places[i], &plan.joints[i]);
            let inertia = &s.inertia;
            let momentum = inertia.apply(&at.twist);
            out.kinetic +=
                0.5 * (momentum.force.dot(at.twist.linear) + momentum.torque.dot(at.twist.angular));
            let height = gravity.dot(at.origin) * inertia.mass + at.fall.dot(inertia.moment);
            out.gravitational -= j.weight * height;
            let velocities = s.velocity as usize..(s.velocity + s.dof) as usize;
            match s.carrier {
                Carrier::Revolute | Carrier::Prismatic => {
                    let rate = v[velocities.start];
                    let delta = q[s.position as usize] - j.spring.rest;
                    out.kinetic += 0.5 * j.spring.armature * rate * rate;
                    out.elastic += match j.spring.limited {
                        true => joint_energy(m, j.joint, q),
                        false => 0.5 * j.spring.stiffness * delta * delta,
                    };
                }
                Carrier::Multi(k) => {
                    let armature = &plan.tree.multi[k as usize].armature;
                    let rates = v[velocities].iter().zip(armature);
                    out.kinetic += rates.map(|(v, a)| 0.5 * a * v * v).sum::<f64>();
                    if m.joint(j.joint).spring.is_some() || m.joint(j.joint).has_limit_springs() {
                        out.elastic += joint_energy(m, j.joint, q);
                    }
                }
                Carrier::Fixed => {}
            }
        }
        out
    }
}

/// [`Motion::update`] with an instruction set.
struct Update<'a> {
    motion: &'a mut Motion,
    plan: &'a SweepPlan,
    gravity: DVec3,
    q: &'a [f64],
    v: &'a [f64],
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) {
        self.motion.compute(self.plan, self.gravity, self.q, self.v);
    }
}

/// Where a joint takes a slot that moves by `relative` against the inner one.
#[inline(always)]
fn moved(inner: &Place, from_outer: Transform, turn: DQuat, relative: Twist, rate: Twist) -> Place {
    let twist = from_outer.twist_outward(&inner.twist) + relative;
    let bias = from_outer.twist_outward(&inner.bias) + bracket(&twist, &relative) + rate;
    place(inner, from_outer, turn, twist, bias)
}

#[inline(always)]
fn place(inner: &Place, from_outer: Transform, turn: DQuat, twist: Twist, bias: Twist) -> Place {
    Place {
        from_outer,
        twist,
        bias,
        fall: turn_back(&from_outer.rotation, inner.fall),
        turn: renormalized(inner.turn * turn),
        origin: inner.origin + inner.turn * from_outer.translation,
    }
}

/// A quaternion of almost length one, at length one.
#[inline(always)]
fn renormalized(q: DQuat) -> DQuat {
    q * (1.5 - 0.5 * q.length_squared())
}

/// A hinge about z. Half the angle gives both the quaternion and the matrix.
#[inline(always)]
fn revolute(s: &Slot, zero: DQuat, inner: &Place, q: &[f64], v: &[f64]) -> Place {
    let (sin, cos) = (0.5 * (q[s.position as usize] - s.reference)).sin_cos();
    let turn = DQuat::from_xyzw(
        zero.x * cos + zero.y * sin,
        zero.y * cos - zero.x * sin,
        zero.z * cos + zero.w * sin,
        zero.w * cos - zero.z * sin,
    );
    let (double_sin, double_cos) = (2.0 * sin * cos, 1.0 - 2.0 * sin * sin);
    let k = &s.at_zero.rotation;
    let rotation = DMat3 {
        x_axis: k.x_axis * double_cos + k.y_axis * double_sin,
        y_axis: k.y_axis * double_cos - k.x_axis * double_sin,
        z_axis: k.z_axis,
    };
    let from_outer = Transform { rotation, translation: s.at_zero.translation };
    let rate = v[s.velocity as usize];
    let mut twist = from_outer.twist_outward(&inner.twist);
    let mut bias = from_outer.twist_outward(&inner.bias);
    // ad_v (0; z θ̇), in which ω's own z part has no share.
    bias.linear += DVec3::new(twist.linear.y * rate, -twist.linear.x * rate, 0.0);
    bias.angular += DVec3::new(twist.angular.y * rate, -twist.angular.x * rate, 0.0);
    twist.angular.z += rate;
    place(inner, from_outer, turn, twist, bias)
}

/// A slide along z.
#[inline(always)]
fn prismatic(s: &Slot, zero: DQuat, inner: &Place, q: &[f64], v: &[f64]) -> Place {
    let travel = q[s.position as usize] - s.reference;
    let k = &s.at_zero;
    let from_outer =
        Transform { rotation: k.rotation, translation: k.translation + k.rotation.z_axis * travel };
    let rate = v[s.velocity as usize];
    let mut twist = from_outer.twist_outward(&inner.twist);
    let mut bias = from_outer.twist_outward(&inner.bias);
    // ad_v (z θ̇; 0).
    bias.linear += DVec3::new(twist.angular.y * rate, -twist.angular.x * rate, 0.0);
    twist.linear.z += rate;
    place(inner, from_outer, zero, twist, bias)
}
