//! The outward pass over positions and velocities that all algorithms share.

use forks_mechanism::lie::{
    Twist, Wrench,
    glam::{DMat3, DVec3},
};

use super::{
    block::{Transform, bracket, turn_back},
    compile::{Carrier, Slot, Tree, transform},
    loads::LinkLoads,
    motion::MultiMotion,
};

/// Where a slot is and how it moves, in its own frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// Inner slot's frame from this slot's.
    pub(crate) from_outer: Transform,
    /// Body twist.
    pub(crate) twist: Twist,
    /// Velocity product c = ad_v S θ̇ + Ṡ θ̇; hybrid dynamics adds S_p θ̈_p.
    pub(crate) product: Twist,
}

impl Moving {
    const GROUND: Self =
        Self { from_outer: Transform::IDENTITY, twist: Twist::ZERO, product: Twist::ZERO };
}

/// State of all slots, and the external wrenches on them.
#[derive(Clone, Debug)]
pub(crate) struct Kinematics {
    pub(crate) slots: Vec<Moving>,
    pub(crate) multi: Vec<MultiMotion>,
    /// External wrenches in slot frames, lifted weight included; used where `loaded`.
    external: Vec<Wrench>,
    world_vector: Vec<DVec3>,
    loaded: bool,
}

impl Kinematics {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self {
            slots: vec![Moving::GROUND; tree.slots.len()],
            multi: vec![MultiMotion::NONE; tree.multi.len()],
            external: vec![Wrench::ZERO; tree.slots.len()],
            world_vector: vec![DVec3::ZERO; tree.slots.len()],
            loaded: false,
        }
    }

    /// Positions, twists and velocity products of all slots.
    pub(crate) fn update(&mut self, tree: &Tree, q: &[f64], v: &[f64]) {
        assert_eq!(q.len(), tree.position_count(), "length of q");
        assert_eq!(v.len(), tree.velocity_count(), "length of v");
        assert_eq!(self.slots.len(), tree.slots.len(), "workspace of another tree: slots");
        assert_eq!(self.multi.len(), tree.multi.len(), "workspace of another tree: joints");
        for (i, s) in tree.slots.iter().enumerate().skip(1) {
            let inner = self.slots[s.inner as usize].twist;
            self.slots[i] = match s.carrier {
                Carrier::Revolute => revolute(s, &inner, q, v),
                Carrier::Prismatic => prismatic(s, &inner, q, v),
                Carrier::Fixed => Moving {
                    from_outer: s.at_zero,
                    twist: s.at_zero.twist_outward(&inner),
                    product: Twist::ZERO,
                },
                Carrier::Multi(k) => self.multi(tree, s, k as usize, &inner, q, v),
            };
        }
    }

    fn multi(
        &mut self,
        tree: &Tree,
        s: &Slot,
        k: usize,
        inner: &Twist,
        q: &[f64],
        v: &[f64],
    ) -> Moving {
        let j = &tree.multi[k];
        let (at, to) = (s.position as usize, s.velocity as usize);
        let v = &v[to..to + s.dof as usize];
        let (pose, motion) = j.motion(&q[at..at + j.positions as usize], v);
        self.multi[k] = motion;
        let m = transform(&pose);
        let from_outer = Transform {
            rotation: s.at_zero.rotation * m.rotation,
            translation: s.at_zero.translation + s.at_zero.rotation * m.translation,
        };
        let relative = motion.columns.combine(v);
        let twist = from_outer.twist_outward(inner) + relative;
        Moving { from_outer, twist, product: bracket(&twist, &relative) + motion.rate }
    }

    /// External wrenches and lifted weight in slot frames, for the positions of the last update.
    pub(crate) fn load(&mut self, tree: &Tree, loads: &LinkLoads<'_>) {
        let lifted = loads.gravity && !tree.compensation.is_empty();
        self.loaded = lifted || !loads.wrenches.is_empty();
        if !self.loaded {
            return;
        }
        if loads.wrenches.is_empty() {
            self.external.fill(Wrench::ZERO);
        } else {
            assert_eq!(loads.wrenches.len(), tree.link_count(), "number of link wrenches");
            for (i, w) in self.external.iter_mut().enumerate() {
                *w = tree.wrench_in_slot(i, &loads.wrenches[tree.links[i].link.index()]);
            }
        }
        if lifted {
            self.lift(tree);
        }
    }

    fn lift(&mut self, tree: &Tree) {
        self.world_vector_in_slots(tree, tree.gravity);
        for (i, s) in tree.slots.iter().enumerate().skip(1) {
            let up = self.world_vector[i] * -tree.compensation[i];
            self.external[i].force += up * s.inertia.mass;
            self.external[i].torque += s.inertia.moment.cross(up);
        }
    }

    /// A vector given in world axes, in the axes of every slot.
    pub(crate) fn world_vector_in_slots(&mut self, tree: &Tree, v: DVec3) -> &[DVec3] {
        self.world_vector[0] = v;
        for (i, s) in tree.slots.iter().enumerate().skip(1) {
            let inner = self.world_vector[s.inner as usize];
            self.world_vector[i] = turn_back(&self.slots[i].from_outer.rotation, inner);
        }
        &self.world_vector
    }

    /// Where the private buffers are, and their capacities.
    #[cfg(test)]
    pub(crate) fn buffers(&self) -> [(usize, usize); 2] {
        let (e, w) = (&self.external, &self.world_vector);
        [(e.as_ptr() as usize, e.capacity()), (w.as_ptr() as usize, w.capacity())]
    }

    /// The external wrench on a slot, if there are any.
    #[inline(always)]
    pub(crate) fn external(&self, slot: usize) -> Option<&Wrench> {
        self.loaded.then(|| &self.external[slot])
    }
}

/// Acceleration of the ground: falling frames are at rest, so gravity is a ground that accelerates
/// up.
pub(crate) fn ground_acceleration(tree: &Tree, loads: &LinkLoads<'_>) -> Twist {
    let linear = if loads.gravity { -tree.gravity } else { DVec3::ZERO };
    Twist { linear, angular: DVec3::ZERO }
}

#[inline(always)]
fn revolute(s: &Slot, inner: &Twist, q: &[f64], v: &[f64]) -> Moving {
    let (sin, cos) = (q[s.position as usize] - s.reference).sin_cos();
    let k = &s.at_zero.rotation;
    let rotation = DMat3 {
        x_axis: k.x_axis * cos + k.y_axis * sin,
        y_axis: k.y_axis * cos - k.x_axis * sin,
        z_axis: k.z_axis,
    };
    let from_outer = Transform { rotation, translation: s.at_zero.translation };
    let rate = v[s.velocity as usize];
    let mut twist = from_outer.twist_outward(inner);
    // ad_v (0; z θ̇), in which ω's own z part has no share.
    let product = Twist {
        linear: DVec3::new(twist.linear.y * rate, -twist.linear.x * rate, 0.0),
        angular: DVec3::new(twist.angular.y * rate, -twist.angular.x * rate, 0.0),
    };
    twist.angular.z += rate;
    Moving { from_outer, twist, product }
}

#[inline(always)]
fn prismatic(s: &Slot, inner: &Twist, q: &[f64], v: &[f64]) -> Moving {
    let travel = q[s.position as usize] - s.reference;
    let k = &s.at_zero;
    let from_outer =
        Transform { rotation: k.rotation, translation: k.translation + k.rotation.z_axis * travel };
    let rate = v[s.velocity as usize];
    let mut twist = from_outer.twist_outward(inner);
    // ad_v (z θ̇; 0).
    let linear = DVec3::new(twist.angular.y * rate, -twist.angular.x * rate, 0.0);
    twist.linear.z += rate;
    Moving { from_outer, twist, product: Twist { linear, angular: DVec3::ZERO } }
}
