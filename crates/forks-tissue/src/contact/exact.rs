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

use super::Near;

/// Part of the largest answer that is added to the diagonal: what elements share, contacts of many
/// vertices share too.
const SOFTNESS: f64 = 1e-10;

/// Velocity, over the largest of a place without contact, that counts as overlapping: ten times
/// what the law is solved to.
const OVERLAP: f64 = 1e-8;

/// The places that push with their impulses, and the number of solutions that were less exact than
/// asked; `None` where numbers are not finite.
pub(super) fn exact(
    solver: &mut Solver,
    step: &FreeStep<'_>,
    near: Vec<Near>,
    relaxation: f64,
) -> Option<(Vec<(Near, DVec3)>, u64)> {
    let most = near.iter().map(|c| step.velocity(&c.place).length()).fold(0.0, f64::max);
    let mut candidates = Candidates::new(&near);
    let mut held: Vec<usize> = Vec::new();
    let mut halves = Vec::new();
    let mut impulses: Vec<DVec3> = Vec::new();
    let mut inexact = 0;
    let mut end = (step.v.to_vec(), step.nodes.to_vec());
    loop {
        let shortfall = |k: usize| {
            let c = &near[k];
            target(c.gap, step.h, relaxation)
                - c.normal.dot(step.velocity_at(&c.place, (&end.0, &end.1)))
        };
        let joining = candidates.take(shortfall, OVERLAP * most + f64::MIN_POSITIVE);
        if joining.is_empty() {
            break;
        }
        for k in joining {
            halves.extend(step.halves(&near[k].place));
            held.push(k);
        }
        let places: Vec<&Near> = held.iter().map(|&k| &near[k]).collect();
        let status;
        (impulses, status) = solve(solver, step, &places, &halves, relaxation)?;
        inexact = u64::from(status != Status::Converged);
        end = step.with(places.iter().map(|c| &c.place).zip(impulses.iter().copied()));
    }
    let mut pushes = vec![DVec3::ZERO; near.len()];
    held.iter().zip(impulses).for_each(|(&k, i)| pushes[k] = i);
    let all = near.into_iter().zip(pushes);
    Some((all.filter(|(c, i)| i.dot(c.normal) > 0.0).collect(), inexact))
}

/// Places that have not joined, by what they follow.
struct Candidates(Vec<Vec<usize>>);

impl Candidates {
    fn new(near: &[Near]) -> Self {
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (k, c) in near.iter().enumerate() {
            // A node is an element of its own, and so is a point of a rigid body.
            let nodes = c.place.nodes.iter().map(|n| n.0);
            let key = if c.place.nodes.is_empty() { vec![usize::MAX, k] } else { nodes.collect() };
            groups.entry(key).or_default().push(k);
        }
        Self(groups.into_values().collect())
    }

    /// Takes the one of every group that falls shortest by more than a tolerance.
    fn take(&mut self, shortfall: impl Fn(usize) -> f64, tolerance: f64) -> Vec<usize> {
        let mut out = Vec::new();
        for group in &mut self.0 {
            let of = |(at, &k): (usize, &usize)| (at, shortfall(k));
            let worst = group.iter().enumerate().map(of).max_by(|a, b| a.1.total_cmp(&b.1));
            // Not a number joins as well: the law refuses it.
            if let Some((at, _)) = worst.filter(|(_, s)| !(*s <= tolerance)) {
                out.push(group.swap_remove(at));
            }
        }
        out.sort_unstable();
        out
    }
}

/// The normal velocity that a gap asks for at least.
fn target(gap: f64, h: f64, relaxation: f64) -> f64 {
    if gap > 0.0 { -gap / h } else { -gap / (h + relaxation) }
}

/// The law over places with their halves, three each.
fn solve(
    solver: &mut Solver,
    step: &FreeStep<'_>,
    places: &[&Near],
    halves: &[Vec<f64>],
    relaxation: f64,
) -> Option<(Vec<DVec3>, Status)> {
    let mut w = FreeStep::products(halves);
    let n = w.rows();
    let most = (0..n).fold(0.0f64, |m, i| m.max(w[(i, i)]));
    (0..n).for_each(|i| w[(i, i)] += SOFTNESS * most);
    let free: Vec<f64> = places.iter().flat_map(|c| step.velocity(&c.place).to_array()).collect();
    let mut problem = ContactProblem::new(step.h).ok()?;
    let body = problem.add_body(&w, &free).ok()?;
    let mut ids = Vec::with_capacity(places.len());
    for (k, c) in places.iter().enumerate() {
        let [t, b] = tangents(c.normal);
        let mut rows = Matrix::zeros(3, n);
        for (i, axis) in [c.normal, t, b].into_iter().enumerate() {
            let axis = axis.to_array();
            (0..3).for_each(|j| rows[(i, 3 * k + j)] = axis[j]);
        }
        let friction = Friction::Cone { mu: c.friction };
        let contact = Contact { gap: c.gap, relaxation, ..Contact::new(friction) };
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
    let impulse = |(c, id): (&&Near, _)| {
        let l = solver.impulse(id).ok()?;
        let [t, b] = tangents(c.normal);
        Some(c.normal * l[0] + t * l[1] + b * l[2])
    };
    let impulses: Option<Vec<DVec3>> = places.iter().zip(ids).map(impulse).collect();
    Some((impulses?, status))
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
        compared: usize,
        /// The most places that are near, and that push.
        most: [usize; 2],
    }

    impl Obstacles for Both {
        fn impulses(&mut self, step: &FreeStep<'_>) -> Vec<(Place, DVec3)> {
            let near = || self.contacts.near(step, step.link_poses());
            let all = near();
            let held: Vec<&Near> = all.iter().collect();
            let halves: Vec<_> = all.iter().flat_map(|c| step.halves(&c.place)).collect();
            let mut solver = Solver::new();
            let (rival, status) = solve(&mut solver, step, &held, &halves, 0.0).unwrap();
            let rival = step.with(all.iter().map(|c| &c.place).zip(rival));
            let (found, inexact) = exact(&mut solver, step, near(), 0.0).unwrap();
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
            let mut both = Both { contacts, compared: 0, most: [0; 2] };
            for _ in 0..30 {
                simulation.step_among(0.005, &Default::default(), Some(&mut both)).unwrap();
            }
            assert!(both.compared > 15, "{}", both.compared);
            assert!(both.most[0] > 20 && both.most[1] > 3, "{:?}", both.most);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
