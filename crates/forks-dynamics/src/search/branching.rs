//! Leaving an unstable equilibrium along its most unstable motion.
//!
//! Under symmetric loads the symmetric pose stays an equilibrium after it has lost its stability (a
//! column over its critical load, a pendulum upside down). A nudge along the unstable motion and a
//! descent end on the branch that a real mechanism takes.

use super::Search;
use crate::{
    equilibrium::PathEventKind,
    newton::{Point, closed, displaced, relax},
    stability::Stability,
    stage::Stage,
};
use forks_mechanism::linalg::dot;

/// First nudge (radians, lengths over r); halved until the forces point outwards.
const NUDGE: f64 = 0.02;
const SMALLEST_NUDGE: f64 = 1e-5;
/// Unstable equilibria left one after the other.
const MAX_DEPARTURES: usize = 6;

/// How leaving a point ended.
pub(crate) enum Leaving {
    /// The point is stable: loads without a potential hide it from the tangent's symmetric part.
    NotUnstable,
    /// A motion is resisted by nothing, none drives the point away.
    Neutral,
    /// At an equilibrium that is not unstable.
    Left(Box<Point>),
    /// No stable equilibrium was found.
    Nowhere,
}

impl Search<'_> {
    /// A stable equilibrium on the same stage, downhill from an unstable one: in the direction of
    /// [`PathEventKind::Branching`], or in the opposite one if only there a branch begins nearby.
    pub(crate) fn leave(
        &mut self,
        stage: &Stage<'_>,
        from: &Point,
        part: f64,
        tolerance: f64,
        polish: usize,
    ) -> Leaving {
        if self.options.max_relaxation_steps == 0 {
            return Leaving::NotUnstable;
        }
        match self.judge(stage, from) {
            Stability::Unstable => {}
            Stability::Free(_) => return Leaving::Neutral,
            Stability::Stable => return Leaving::NotUnstable,
        }
        let Some(mut direction) = self.unstable_direction(stage, from) else {
            return Leaving::Nowhere;
        };
        let first = self.descended(stage, from, &direction, tolerance, polish);
        if let Some(p) = first.as_ref().filter(|p| !self.is_far(from, p)) {
            return self.left(part, from, p.clone());
        }
        direction.iter_mut().for_each(|x| *x = -*x);
        let second = self.descended(stage, from, &direction, tolerance, polish);
        match second.filter(|p| first.is_none() || !self.is_far(from, p)).or(first) {
            Some(p) => self.left(part, from, p),
            None => Leaving::Nowhere,
        }
    }

    /// The equilibrium downhill in a direction; saddles on the way are left too.
    fn descended(
        &mut self,
        stage: &Stage<'_>,
        from: &Point,
        direction: &[f64],
        tolerance: f64,
        polish: usize,
    ) -> Option<Point> {
        let mut at = self.nudged(stage, from, direction)?;
        for _ in 0..MAX_DEPARTURES {
            // Near the saddle forces are small: only rounding counts as the end.
            let end = self.options.tolerance;
            let relaxed = relax(stage, &self.scaling, at, self.options, end, &mut self.work);
            let next = self.solve(stage, &relaxed, tolerance, polish)?;
            match self.judge(stage, &next) {
                Stability::Unstable => {}
                // Where equilibria form a circle there is nothing better than one of them.
                Stability::Free(_) | Stability::Stable => return Some(next),
            }
            let direction = self.unstable_direction(stage, &next)?;
            at = self.nudged(stage, &next, &direction)?;
        }
        None
    }

    fn unstable_direction(&self, stage: &Stage<'_>, at: &Point) -> Option<Vec<f64>> {
        at.tangent(stage, &self.scaling).unstable_direction(self.m, &self.scaling, &at.space)
    }

    fn left(&mut self, part: f64, from: &Point, to: Point) -> Leaving {
        let kind = match self.is_far(from, &to) {
            true => PathEventKind::SnapThrough,
            false => PathEventKind::Branching,
        };
        self.record(part, kind, from, &to);
        Leaving::Left(Box::new(to))
    }

    /// The point a little along `direction`, where the forces go on in that direction.
    fn nudged(&self, stage: &Stage<'_>, from: &Point, direction: &[f64]) -> Option<Point> {
        let largest = direction.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut size = NUDGE;
        while size >= SMALLEST_NUDGE {
            let next = displaced(stage, &self.scaling, from, direction, size / largest)
                .and_then(|p| closed(stage, &self.scaling, p));
            if let Some(next) = next.filter(|p| dot(p.unbalanced(), direction) > 0.0) {
                return Some(next);
            }
            size *= 0.5;
        }
        None
    }
}
