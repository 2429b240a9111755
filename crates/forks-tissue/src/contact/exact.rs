//! Impulses of the contact law, found over few of the places that are near.
//!
//! A fine skin on coarse tissue has a thousand vertices near a plane where ten hold the weight. The
//! law is solved over some places; the step is ended with their impulses; where another one would
//! overlap, the deepest of every element joins. Places that never join have no impulse and do not
//! overlap: what is found solves the law over all of them.

use std::collections::BTreeMap;

use forks_contact::{
    Contact, ContactProblem, Friction, Method, Settings, Side, Solver, Status, tangents,
};
use forks_deform::{
    FreeStep,
    dynamics::mechanism::{lie::glam::DVec3, linalg::Matrix},
};

use super::{Id, Near};

/// Part of the largest answer that is added to the diagonal: what elements share, contacts of many
/// vertices share too.
const SOFTNESS: f64 = 1e-10;

/// Velocity, over the largest of a place without contact, that counts as overlapping: ten times
/// what the law is solved to.
const OVERLAP: f64 = 1e-8;

/// Rounds after which places that do not push stay: they might come and go for ever.
const LEAVING: usize = 8;

/// The law over places near obstacles, step after step.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    solver: Solver,
    /// What pushed in the last step.
    last: BTreeMap<Id, DVec3>,
    /// Solutions that were less exact than asked, of the last call.
    pub(super) inexact: u64,
}

/// Places that the law is solved over.
#[derive(Default)]
struct Held {
    numbers: Vec<usize>,
    impulses: Vec<DVec3>,
    /// Three each.
    halves: Vec<Vec<f64>>,
}

impl Exact {
    pub(super) fn new() -> Self {
        Self { solver: Solver::new(), last: BTreeMap::new(), inexact: 0 }
    }

    /// Nothing pushes.
    pub(super) fn rest(&mut self) {
        self.last.clear();
        self.inexact = 0;
    }

    /// The places that push with their impulses; `None` where numbers are not finite.
    pub(super) fn impulses(
        &mut self,
        step: &FreeStep<'_>,
        near: Vec<Near>,
        relaxation: f64,
    ) -> Option<Vec<(Near, DVec3)>> {
        let most = near.iter().map(|c| step.velocity(&c.place).length()).fold(0.0, f64::max);
        let tolerance = OVERLAP * most + f64::MIN_POSITIVE;
        let mut waiting = Waiting::new(&near);
        let mut held = Held::default();
        // What pushed will push.
        let warm = |k: usize| self.last.get(&near[k].id).copied();
        for k in waiting.take_all(|k| warm(k).is_some()) {
            held.join(step, k, &near[k], warm(k).unwrap_or_default());
        }
        self.inexact = 0;
        let mut end = (step.v.to_vec(), step.nodes.to_vec());
        for round in 0.. {
            if round > 0 || held.numbers.is_empty() {
                let shortfall = |k: usize| {
                    let c = &near[k];
                    let separates = c.normal.dot(step.velocity_at(&c.place, (&end.0, &end.1)));
                    target(c.gap, step.h, relaxation) - separates
                };
                let joining = waiting.take_worst(shortfall, tolerance);
                if joining.is_empty() {
                    break;
                }
                if round < LEAVING {
                    let pushes =
                        |k: usize, i: DVec3| i != DVec3::ZERO || shortfall(k) >= -tolerance;
                    held.leave(pushes).for_each(|k| waiting.put_back(k));
                }
                joining.into_iter().for_each(|k| held.join(step, k, &near[k], DVec3::ZERO));
            }
            let status = held.solve(&mut self.solver, step, &near, relaxation)?;
            self.inexact = u64::from(status != Status::Converged);
            let places = held.numbers.iter().map(|&k| &near[k].place);
            end = step.with(places.zip(held.impulses.iter().copied()));
        }
        let mut pushes = vec![DVec3::ZERO; near.len()];
        held.numbers.iter().zip(held.impulses).for_each(|(&k, i)| pushes[k] = i);
        let all = near.into_iter().zip(pushes);
        let out: Vec<(Near, DVec3)> = all.filter(|(c, i)| i.dot(c.normal) > 0.0).collect();
        self.last = out.iter().map(|(c, i)| (c.id, *i)).collect();
        Some(out)
    }
}

impl Held {
    fn join(&mut self, step: &FreeStep<'_>, k: usize, near: &Near, impulse: DVec3) {
        self.numbers.push(k);
        self.impulses.push(impulse);
        self.halves.extend(step.halves(&near.place));
    }

    /// Those that are not to stay leave, and are given.
    fn leave(&mut self, stays: impl Fn(usize, DVec3) -> bool) -> impl Iterator<Item = usize> {
        let all = std::mem::take(self);
        let mut left = vec![];
        let mut halves = all.halves.into_iter();
        for (k, i) in all.numbers.into_iter().zip(all.impulses) {
            let own = halves.by_ref().take(3);
            if stays(k, i) {
                self.numbers.push(k);
                self.impulses.push(i);
                self.halves.extend(own);
            } else {
                own.for_each(drop);
                left.push(k);
            }
        }
        left.into_iter()
    }

    /// Impulses of the law, from those that are there.
    fn solve(
        &mut self,
        solver: &mut Solver,
        step: &FreeStep<'_>,
        near: &[Near],
        relaxation: f64,
    ) -> Option<Status> {
        let mut w = FreeStep::products(&self.halves);
        let n = w.rows();
        let most = (0..n).fold(0.0f64, |m, i| m.max(w[(i, i)]));
        (0..n).for_each(|i| w[(i, i)] += SOFTNESS * most);
        let places = || self.numbers.iter().map(|&k| &near[k]);
        let free: Vec<f64> = places().flat_map(|c| step.velocity(&c.place).to_array()).collect();
        let mut problem = ContactProblem::new(step.h).ok()?;
        let body = problem.add_body(&w, &free).ok()?;
        let axes = |c: &Near| {
            let [t, b] = tangents(c.normal);
            [c.normal, t, b]
        };
        let mut ids = Vec::with_capacity(self.numbers.len());
        for (k, (c, impulse)) in places().zip(&self.impulses).enumerate() {
            let mut rows = Matrix::zeros(3, n);
            for (i, axis) in axes(c).into_iter().enumerate() {
                let axis = axis.to_array();
                (0..3).for_each(|j| rows[(i, 3 * k + j)] = axis[j]);
            }
            let contact = Contact {
                gap: c.gap,
                relaxation,
                warm: axes(c).map(|axis| axis.dot(*impulse)),
                ..Contact::new(Friction::Cone { mu: c.friction })
            };
            ids.push(problem.add_contact(&contact, &[Side::of(body, rows.as_slice())]).ok()?);
        }
        // Sweeps with the robust method behind them: it alone costs a factor of all rows.
        let settings = Settings {
            method: Method::Fallback,
            tolerance: 1e-9,
            absolute_tolerance: 1e-12,
            max_sweeps: 300,
            ..Settings::default()
        };
        let status = solver.solve(&problem, &settings).status;
        let impulse = |(c, id): (&Near, _)| {
            let l = solver.impulse(id).ok()?;
            Some(axes(c).into_iter().zip(l).map(|(axis, l)| axis * l).sum())
        };
        let impulses: Option<Vec<DVec3>> = places().zip(ids).map(impulse).collect();
        self.impulses = impulses?;
        Some(status)
    }
}

/// Places that have not joined, by what they follow.
struct Waiting {
    groups: Vec<Vec<usize>>,
    /// Group of every place.
    group: Vec<usize>,
}

impl Waiting {
    fn new(near: &[Near]) -> Self {
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (k, c) in near.iter().enumerate() {
            // A node is an element of its own, and so is a point of a rigid body.
            let nodes = c.place.nodes.iter().map(|n| n.0);
            let key = if c.place.nodes.is_empty() { vec![usize::MAX, k] } else { nodes.collect() };
            groups.entry(key).or_default().push(k);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let mut group = vec![0; near.len()];
        for (g, all) in groups.iter().enumerate() {
            all.iter().for_each(|&k| group[k] = g);
        }
        Self { groups, group }
    }

    /// Takes all that are wanted.
    fn take_all(&mut self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut out = Vec::new();
        for group in &mut self.groups {
            out.extend(group.extract_if(.., |k| wanted(*k)));
        }
        out.sort_unstable();
        out
    }

    /// Takes the one of every group that falls shortest by more than a tolerance.
    fn take_worst(&mut self, shortfall: impl Fn(usize) -> f64, tolerance: f64) -> Vec<usize> {
        let mut out = Vec::new();
        for group in &mut self.groups {
            let of = |(at, &k): (usize, &usize)| (at, shortfall(k));
            let worst = group.iter().enumerate().map(of).max_by(|a, b| a.1.total_cmp(&b.1));
            // Not a number joins as well: the law refuses it.
            if let Some((at, _)) = worst.filter(|(_, s)| s.is_nan() || *s > tolerance) {
                out.push(group.swap_remove(at));
            }
        }
        out.sort_unstable();
        out
    }

    fn put_back(&mut self, k: usize) {
        self.groups[self.group[k]].push(k);
    }
}

/// The normal velocity that a gap asks for at least.
fn target(gap: f64, h: f64, relaxation: f64) -> f64 {
    if gap > 0.0 { -gap / h } else { -gap / (h + relaxation) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use forks_deform::{Obstacles, Place};

    use super::*;
    use crate::{TissueScene, contact::Contacts, spec::TissueSpec};

    /// Solves over all places too.
    struct Both {
        contacts: Contacts,
        exact: Exact,
        compared: usize,
        /// The most places that are near, and that push.
        most: [usize; 2],
    }

    impl Obstacles for Both {
        fn impulses(&mut self, step: &FreeStep<'_>) -> Vec<(Place, DVec3)> {
            let near = || self.contacts.near(step, step.link_poses());
            let all = near();
            let mut held = Held::default();
            (0..all.len()).for_each(|k| held.join(step, k, &all[k], DVec3::ZERO));
            let status = held.solve(&mut Solver::new(), step, &all, 0.0).unwrap();
            let rival = step.with(all.iter().map(|c| &c.place).zip(held.impulses));
            let found = self.exact.impulses(step, near(), 0.0).unwrap();
            let inexact = self.exact.inexact;
            self.most = [self.most[0].max(all.len()), self.most[1].max(found.len())];
            let found: Vec<_> = found.into_iter().map(|(c, i)| (c.place, i)).collect();
            let end = step.with(found.iter().map(|(p, i)| (p, *i)));
            if status == Status::Converged && inexact == 0 {
                self.compared += 1;
                let scale = step.nodes.iter().map(|v| v.length()).fold(0.0, f64::max);
                for c in &all {
                    let separates = c.normal.dot(step.velocity_at(&c.place, (&end.0, &end.1)));
                    assert!(separates - target(c.gap, step.h, 0.0) > -1e-7 * scale);
                }
                // With friction a law over more points than carry has many solutions.
                let smooth = all.iter().all(|c| c.friction == 0.0);
                for (a, b) in end.1.iter().zip(&rival.1).filter(|_| smooth) {
                    assert!((*a - *b).length() < 1e-6 * scale, "{a} {b} {scale}");
                }
            }
            found
        }
    }

    /// A sphere as OBJ.
    fn ball(rings: usize, columns: usize) -> String {
        let mut out = String::from("v 0 0 0.05\nv 0 0 -0.05\n");
        for i in 1..rings {
            for j in 0..columns {
                let a = std::f64::consts::PI * i as f64 / rings as f64;
                let b = std::f64::consts::TAU * j as f64 / columns as f64;
                let x = DVec3::new(a.sin() * b.cos(), a.sin() * b.sin(), a.cos()) * 0.05;
                writeln!(out, "v {} {} {}", x.x, x.y, x.z).unwrap();
            }
        }
        let at = |i: usize, j: usize| 3 + (i - 1) * columns + j % columns;
        for j in 0..columns {
            writeln!(out, "f 1 {} {}", at(1, j), at(1, j + 1)).unwrap();
            writeln!(out, "f 2 {} {}", at(rings - 1, j + 1), at(rings - 1, j)).unwrap();
            for i in 1..rings - 1 {
                writeln!(out, "f {} {} {}", at(i, j), at(i + 1, j), at(i + 1, j + 1)).unwrap();
                writeln!(out, "f {} {} {}", at(i, j), at(i + 1, j + 1), at(i, j + 1)).unwrap();
            }
        }
        out
    }

    #[test]
    fn few_places_solve_the_law_over_all() {
        let folder = std::env::temp_dir().join(format!("forks-few-places-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("ball.obj"), ball(17, 16)).unwrap();
        for (aside, cell, friction) in
            [(0.0, 0.05, 0.0), (0.3, 0.05, 0.3), (3.0, 0.05, 0.3), (1.0, 0.03, 0.0)]
        {
            let text = format!(
                "title = 'ball'
                world = {{ step = 0.005, gravity = [{aside}, 0.0, -9.81] }}
                [[tissue]]
                mesh = {{ lattice = 'ball.obj', cell = {cell} }}
                surface = 'ball.obj'
                material = {{ young = 2e4, poisson = 0.3, density = 1000.0 }}
                position = [0.0, 0.0, 0.052]
                friction = {friction}
                [[ground]]
                form = 'plane'
                friction = {friction}"
            );
            let spec = TissueSpec::parse(&text, "ball.toml").unwrap();
            let TissueScene { mut simulation, contacts, .. } =
                TissueScene::build(spec, &folder).unwrap();
            let mut both = Both { contacts, exact: Exact::new(), compared: 0, most: [0; 2] };
            for _ in 0..30 {
                simulation.step_among(0.005, &Default::default(), Some(&mut both)).unwrap();
            }
            assert!(both.compared > 15, "{}", both.compared);
            assert!(both.most[0] > 20 && both.most[1] > 3, "{:?}", both.most);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
