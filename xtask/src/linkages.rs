//! The linkages of \[R06\] under constant forces, moved by the adaptive solver and by the
//! full one.

use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptiveError, AdaptivePlan, AdaptiveState},
    dca::{DcaError, DcaPlan, DcaStatus, DcaWorkspace, dca},
};
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, SplitMix64, Wrench, glam::DVec3},
};
use forks_models::molecules::{neighbouring_links, scattered_links};
use serde::Deserialize;

/// Seed of mechanisms and places.
const SEED: u64 = 1;
/// Seed of the forces' directions.
const DIRECTIONS: u64 = 7;
/// Links of one segment of a millipede: three of the spine, ten of a leg.
const SEGMENT: usize = 13;

/// A linkage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Chain,
    Polymer,
    Bushy,
    Millipede,
    BicycleChain,
}

impl Kind {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Polymer => "polymer",
            Self::Bushy => "bushy",
            Self::Millipede => "millipede",
            Self::BicycleChain => "bicycle chain",
        }
    }

    /// The linkage of `links` links.
    pub(crate) fn mechanism(self, links: usize) -> Mechanism {
        match self {
            Self::Chain => forks_models::molecules::chain(links, SEED),
            Self::Polymer => forks_models::molecules::polymer(links, SEED),
            Self::Bushy => forks_models::molecules::bushy(links, SEED),
            Self::Millipede => forks_models::millipede(links / SEGMENT, SEED),
            Self::BicycleChain => forks_models::bicycle_chain(links),
        }
        .mechanism
    }
}

/// Where forces act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Placement {
    /// Links with neighbouring numbers from the middle on.
    Neighbouring,
    /// Links anywhere.
    Scattered,
    /// The tip of the middle leg of a millipede.
    Leg,
    /// The link opposite to the one on the ground of a bicycle chain.
    Opposite,
}

/// Constant forces on links, world axes, at the origins of the links' frames.
#[derive(Clone, Debug)]
pub(crate) struct Forces(pub(crate) Vec<(LinkId, DVec3)>);

impl Forces {
    /// `count` forces of `size` N in seeded random directions.
    pub(crate) fn new(m: &Mechanism, count: usize, placement: Placement, size: f64) -> Self {
        let links = m.links().len() - 1;
        let at = match placement {
            Placement::Neighbouring => neighbouring_links(m, count),
            Placement::Scattered => scattered_links(m, count, SEED),
            // Links are numbered segment by segment, the ground is 0.
            Placement::Leg => vec![LinkId::new((links / SEGMENT / 2 + 1) * SEGMENT)],
            Placement::Opposite => vec![LinkId::new(1 + links / 2)],
        };
        let mut random = SplitMix64::new(DIRECTIONS);
        Self(at.into_iter().map(|l| (l, size * random.direction())).collect())
    }

    /// A state at the start pose under the forces.
    pub(crate) fn state<'p>(
        &self,
        plan: &'p AdaptivePlan,
    ) -> Result<AdaptiveState<'p>, AdaptiveError> {
        let mut state = AdaptiveState::new(plan);
        for &(link, force) in &self.0 {
            state.set_force(link, Wrench::new(force, DVec3::ZERO), WrenchFrame::World)?;
        }
        Ok(state)
    }
}

/// The full solver on a mechanism at rest under the same forces.
pub(crate) struct Full<'m> {
    m: &'m Mechanism,
    plan: DcaPlan,
    work: DcaWorkspace,
    external: Vec<Wrench>,
    still: Vec<f64>,
}

impl<'m> Full<'m> {
    pub(crate) fn new(m: &'m Mechanism) -> Result<Self, DcaError> {
        let plan = DcaPlan::new(m)?;
        let work = DcaWorkspace::new(&plan).parallel(false);
        let external = vec![Wrench::ZERO; m.links().len()];
        Ok(Self { m, plan, work, external, still: vec![0.0; m.tree_velocity_count()] })
    }

    /// Turns the forces into the links' axes at positions `q` of all joints.
    pub(crate) fn place(&mut self, q: &[f64], forces: &Forces) {
        let poses = self.m.link_poses(q);
        for &(link, force) in &forces.0 {
            let body = poses[link.index()].rotation.conjugate() * force;
            self.external[link.index()] = Wrench::new(body, DVec3::ZERO);
        }
    }

    /// Solves under the forces as they were placed last.
    pub(crate) fn solve(&mut self, q: &[f64]) -> Result<(), String> {
        let q = &q[..self.m.tree_position_count()];
        let (still, external) = (&self.still, &self.external);
        match dca(&self.plan, &mut self.work, q, still, still, external) {
            Ok(DcaStatus::Solved { .. }) => Ok(()),
            Ok(other) => Err(format!("full solver: {other:?}")),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Accelerations of all coordinates, those of closing joints last.
    pub(crate) fn accelerations(&self) -> &[f64] {
        self.work.accelerations()
    }

    /// Steps q ← q + h² q̈ from the start pose, for trees of hinges; positions after the last one.
    pub(crate) fn run(
        &mut self,
        forces: &Forces,
        steps: usize,
        h: f64,
    ) -> Result<Vec<f64>, String> {
        let mut q = self.m.start_positions();
        for _ in 0..steps {
            self.place(&q, forces);
            self.solve(&q)?;
            q.iter_mut().zip(self.accelerations()).for_each(|(q, a)| *q += h * h * a);
        }
        Ok(q)
    }
}

/// World positions of the centres of mass of all moving links.
pub(crate) fn centers(m: &Mechanism, q: &[f64]) -> Vec<DVec3> {
    centers_at(m, &m.link_poses(q))
}

/// The same from the links' world poses.
pub(crate) fn centers_at(m: &Mechanism, poses: &[Pose]) -> Vec<DVec3> {
    let links = m.links().iter().zip(poses).skip(1);
    links.map(|(l, p)| p.transform_point(l.inertia.center_of_mass)).collect()
}

/// Largest distance of corresponding points.
pub(crate) fn largest_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_where_they_should_be() {
        let m = Kind::Millipede.mechanism(5 * SEGMENT);
        let leg = Forces::new(&m, 1, Placement::Leg, 2.0);
        let [(tip, force)] = leg.0[..] else { panic!("one force") };
        assert!((force.length() - 2.0).abs() < 1e-15);
        // The tip carries nothing; three segments end with it.
        assert!(m.joints().iter().all(|j| j.parent != tip), "{}", tip.index());
        assert_eq!(tip.index(), 3 * SEGMENT);
        let m = Kind::BicycleChain.mechanism(30);
        let opposite = Forces::new(&m, 1, Placement::Opposite, 1.0).0[0].0;
        assert_eq!(opposite, forks_models::bicycle_chain(30).effectors[0]);
    }

    #[test]
    fn an_adaptive_run_that_leaves_nothing_out_is_the_full_one() {
        use forks_dynamics::adaptive::{AdaptiveOptions, ErrorMeasure, Target};

        let m = Kind::Polymer.mechanism(60);
        let forces = Forces::new(&m, 4, Placement::Scattered, 1.0);
        let plan = AdaptivePlan::new(&m, &AdaptiveOptions::default()).expect("links have mass");
        let mut state = forces.state(&plan).expect("links of the mechanism");
        let target = Target::new(ErrorMeasure::RelativeJoint, 0.0);
        (0..50).for_each(|_| assert_eq!(state.step(&target).joints_moved, m.joints().len()));
        let mut full = Full::new(&m).expect("links have mass");
        let q = full.run(&forces, 50, plan.options().time_step).expect("solved");
        let difference = largest_distance(&centers(&m, state.positions()), &centers(&m, &q));
        let moved = largest_distance(&centers(&m, &m.start_positions()), &centers(&m, &q));
        // Some hundred roundings per step, turned over 60 links.
        assert!(difference <= 50.0 * 1e2 * 60.0 * f64::EPSILON * moved, "{difference:e} {moved:e}");
    }
}
