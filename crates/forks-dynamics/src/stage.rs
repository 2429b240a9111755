//! A stage of loading: gravity and spring preloads scaled together, wrenches by a factor of their
//! own.

use forks_mechanism::{
    CableHessian, CableTension, JointId, JointMatrix, LimitTerm, Mechanism,
    kinematics::loops,
    lie::{Mat6, Pose, Twist, Wrench, glam::DVec3},
    linalg::Matrix,
};

use crate::{
    cables::bracket_slope,
    loads::{LinkLoad, Loads, WrenchFrame, weight},
    logarithm::{RelativeTerm, linear_gradient, quadratic_term},
    springs::{StartRest, bushing_displacement, spring_gradient, spring_hessian},
};

/// Gravity at scale s; every spring is a mixture of s parts of itself and 1 − s parts of the same
/// spring at rest in the start pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) m: &'a Mechanism,
    pub(crate) loads: &'a Loads,
    /// Of gravity and preloads.
    pub(crate) scale: f64,
    /// Of the wrenches.
    pub(crate) wrench_scale: f64,
    /// `None` means scale 1.
    pub(crate) rest: Option<&'a StartRest>,
}

impl<'a> Stage<'a> {
    pub(crate) fn full(m: &'a Mechanism, loads: &'a Loads) -> Self {
        Self { m, loads, scale: 1.0, wrench_scale: 1.0, rest: None }
    }

    /// The two rests of a spring with their weights; weights of zero are left out.
    fn mixture<T: Copy>(
        &self,
        own: T,
        start: impl FnOnce(&'a StartRest) -> T,
    ) -> [Option<(T, f64)>; 2] {
        match self.rest {
            Some(rest) if self.scale < 1.0 => {
                [Some((own, self.scale)), Some((start(rest), 1.0 - self.scale))]
            }
            _ => [Some((own, 1.0)), None],
        }
    }

    /// Derivatives of the energy of coordinate `i`'s springs beyond its limits; ranges are those
    /// that are between the ones widened to the start pose and their own.
    fn limit_term(&self, id: JointId, i: usize, q: &[f64]) -> LimitTerm {
        let at = self.m.position_range(id).start + i;
        let start = self.rest.filter(|_| self.scale < 1.0).map(|r| (r.q[at], self.scale));
        self.m.joint(id).limit_term(i, q[at], start)
    }

    /// Gradient of a joint's spring energy, if it has a spring.
    pub(crate) fn joint_gradient(&self, id: JointId, q: &[f64]) -> Option<Vec<f64>> {
        if !self.m.joint(id).has_limit_springs() {
            return self.spring_gradient(id, q);
        }
        let mut out =
            self.spring_gradient(id, q).unwrap_or_else(|| vec![0.0; self.m.joint(id).dof()]);
        for (i, o) in out.iter_mut().enumerate() {
            *o += self.limit_term(id, i, q).gradient;
        }
        Some(out)
    }

    fn spring_gradient(&self, id: JointId, q: &[f64]) -> Option<Vec<f64>> {
        let j = self.m.joint(id);
        let s = j.spring.as_ref()?;
        let range = self.m.position_range(id);
        let mut out = vec![0.0; j.dof()];
        let rests = self.mixture(s.rest.as_slice(), |r| &r.q[range.clone()]);
        for (rest, weight) in rests.into_iter().flatten() {
            let g = spring_gradient(&j.kind, &s.stiffness, rest, &q[range.clone()]);
            out.iter_mut().zip(g).for_each(|(o, g)| *o += weight * g);
        }
        Some(out)
    }

    /// Hessian of a joint's spring energy, if it has a spring.
    pub(crate) fn joint_hessian(&self, id: JointId, q: &[f64]) -> Option<JointMatrix> {
        if !self.m.joint(id).has_limit_springs() {
            return self.spring_hessian(id, q);
        }
        let d = self.m.joint(id).dof();
        let mut out = self.spring_hessian(id, q).unwrap_or_else(|| JointMatrix::zeros(d));
        for i in 0..d {
            let own = out.get(i, i);
            out.set(i, i, own + self.limit_term(id, i, q).hessian);
        }
        Some(out)
    }

    fn spring_hessian(&self, id: JointId, q: &[f64]) -> Option<JointMatrix> {
        let j = self.m.joint(id);
        let s = j.spring.as_ref()?;
        if j.kind.has_scalar_coordinates() {
            return Some(s.stiffness.clone());
        }
        let range = self.m.position_range(id);
        let d = j.dof();
        let mut data = vec![0.0; d * d];
        let rests = self.mixture(s.rest.as_slice(), |r| &r.q[range.clone()]);
        for (rest, weight) in rests.into_iter().flatten() {
            let h = spring_hessian(&j.kind, &s.stiffness, rest, &q[range.clone()]);
            data.iter_mut().zip(h.as_slice()).for_each(|(o, h)| *o += weight * h);
        }
        Some(JointMatrix::new(d, data))
    }

    /// k (ℓ − rest) of a combination spring.
    pub(crate) fn combination_force(&self, i: usize, q: &[f64]) -> f64 {
        let s = &self.m.combination_springs()[i];
        let value = loops::combination_value(self.m, &s.combination, q);
        self.mixture(s.rest, |r| r.combinations[i])
            .into_iter()
            .flatten()
            .map(|(rest, weight)| weight * s.stiffness * (value - rest))
            .sum()
    }

    /// The spring of a cable at a length.
    fn cable_tension(&self, i: usize, length: f64) -> CableTension {
        let c = &self.m.cables()[i];
        let mut out = CableTension::default();
        for (rest, weight) in self.mixture(c.rest, |r| r.cables[i]).into_iter().flatten() {
            let t = c.tension_with_rest(length, rest);
            out.energy += weight * t.energy;
            out.force += weight * t.force;
            out.stiffness += weight * t.stiffness;
        }
        out
    }

    /// Adds the wrenches that a cable's spring exerts on its links.
    pub(crate) fn add_cable(&self, i: usize, poses: &[Pose], wrenches: &mut [Wrench]) {
        let c = &self.m.cables()[i];
        let pull = self.cable_tension(i, c.length(poses)).force;
        if pull != 0.0 {
            c.length_and_gradient(poses, |l, w| wrenches[l.index()] -= w * pull);
        }
    }

    /// By cable: its path with derivatives, and the second derivative of its energy in the twists
    /// of its links, 6k × 6k; and to `add` the wrenches on these, with the slopes that this leaves
    /// out: see [`bracket_slope`].
    pub(crate) fn cable_forms(
        &self,
        poses: &[Pose],
        mut add: impl FnMut(usize, LinkLoad),
    ) -> Vec<(CableHessian, Matrix)> {
        let forms = self.m.cables().iter().enumerate().map(|(i, c)| {
            if c.stiffness == 0.0 {
                return (CableHessian::default(), Matrix::zeros(0, 0));
            }
            let path = c.length_and_hessian(poses);
            let t = self.cable_tension(i, path.length);
            for (l, g) in path.links.iter().zip(&path.gradient) {
                let wrench = *g * -t.force;
                add(l.index(), LinkLoad { wrench, slope: bracket_slope(wrench) });
            }
            let form = path.of_function(t.force, t.stiffness);
            (path, form)
        });
        forms.collect()
    }

    /// Gradient and Hessian of a bushing's energy in local relative twist coordinates.
    pub(crate) fn bushing_term(&self, i: usize, world_from_link: &[Pose]) -> RelativeTerm {
        let b = &self.m.bushings()[i];
        let k = b.stiffness.to_mat6();
        let mut out = quadratic_term(Twist::ZERO, &Mat6::ZERO);
        for (delta, weight) in self.bushing_displacements(i, world_from_link) {
            let t = quadratic_term(delta, &k);
            out.gradient += t.gradient * weight;
            out.hessian += t.hessian.scale(weight);
        }
        out
    }

    /// Gradient of a bushing's energy in local relative twist coordinates.
    pub(crate) fn bushing_gradient(&self, i: usize, world_from_link: &[Pose]) -> Wrench {
        let k = &self.m.bushings()[i].stiffness;
        let mut out = Wrench::ZERO;
        for (delta, weight) in self.bushing_displacements(i, world_from_link) {
            out += linear_gradient(delta, &k.mul_vec(&delta.to_array())) * weight;
        }
        out
    }

    fn bushing_displacements(
        &self,
        i: usize,
        world_from_link: &[Pose],
    ) -> impl Iterator<Item = (Twist, f64)> {
        let now = bushing_displacement(&self.m.bushings()[i], world_from_link);
        self.mixture(Pose::IDENTITY, |r| r.bushings[i])
            .into_iter()
            .flatten()
            .map(move |(rest, weight)| ((rest.inverse() * now).log(), weight))
    }

    /// True if all loads have a potential: no dead torque, no follower.
    pub(crate) fn has_potential(&self) -> bool {
        self.loads.wrenches.iter().all(|w| match w.frame {
            WrenchFrame::World => w.wrench.torque == DVec3::ZERO,
            WrenchFrame::Body => w.wrench == Wrench::ZERO,
        })
    }

    /// External loads link by link; links without load are not visited.
    pub(crate) fn for_each_load(
        &self,
        world_from_link: &[Pose],
        mut f: impl FnMut(usize, LinkLoad),
    ) {
        let scaled = |l: LinkLoad, scale: f64| LinkLoad {
            wrench: l.wrench * scale,
            slope: l.slope.scale(scale),
        };
        if self.loads.gravity {
            for (i, l) in self.m.links().iter().enumerate().skip(1) {
                if l.inertia.mass != 0.0 {
                    f(i, scaled(weight(self.m, i, &world_from_link[i]), self.scale));
                }
            }
        }
        for w in &self.loads.wrenches {
            let link = w.link.index();
            f(link, scaled(w.link_load(&world_from_link[link]), self.wrench_scale));
        }
    }
}
