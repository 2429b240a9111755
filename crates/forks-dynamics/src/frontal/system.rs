//! The bordered system \[K + s, Gᵀ; G, 0\] front by front: put together, eliminated, solved.

use forks_mechanism::{Mechanism, lie::Mat6};

use super::{
    front::{Front, Nothing, Store},
    geometry::Geometry,
    plan::{Element, FrontPlan, Plan},
    stiffness::Stiffness,
};

/// What the system consists of.
#[derive(Clone, Debug)]
pub(crate) struct System<'a> {
    pub(crate) m: &'a Mechanism,
    pub(crate) plan: &'a Plan,
    pub(crate) geometry: &'a Geometry,
    /// K, taken over its size; `None` for the identity.
    pub(crate) stiffness: Option<&'a Stiffness>,
    /// One over the unit of stiffness.
    pub(crate) per_size: f64,
    /// Added to the diagonal of K, in that unit.
    pub(crate) shift: f64,
    /// Takes the symmetric part of K.
    pub(crate) symmetric: bool,
    /// Which equations take part, by their multipliers: the loops', then the tree joints'.
    pub(crate) rows: &'a [bool],
    pub(crate) nothing: Nothing,
}

/// L U of a system.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    pub(crate) store: Store,
    /// Multipliers of constraints in the system.
    pub(crate) multipliers: usize,
}

/// The front that is put together, and where each unknown stands in it.
struct Assembly<'a> {
    front: Front,
    place: &'a mut [u32],
}

impl Assembly<'_> {
    fn add(&mut self, i: usize, j: usize, x: f64) {
        let n = self.front.variables.len();
        self.front.a[self.place[i] as usize * n + self.place[j] as usize] += x;
    }

    /// A form by rows in the given unknowns; those without a number are zero.
    fn add_form(&mut self, at: &[Option<usize>], form: &[f64], factor: f64) {
        for (i, row) in at.iter().zip(form.chunks_exact(at.len())) {
            let Some(i) = *i else { continue };
            for (j, x) in at.iter().zip(row) {
                if let Some(j) = *j {
                    self.add(i, j, x * factor);
                }
            }
        }
    }

    /// A constraint's entry, in both triangles.
    fn tie(&mut self, row: usize, variable: usize, x: f64) {
        if x != 0.0 {
            self.add(row, variable, x);
            self.add(variable, row, x);
        }
    }
}

impl System<'_> {
    pub(crate) fn factorize(&self) -> Factors {
        let plan = self.plan;
        let mut place = vec![0u32; plan.layout.count()];
        let mut rests: Vec<Option<Front>> = vec![None; plan.fronts.len()];
        let mut unused: Vec<Front> = Vec::new();
        let mut out = Factors { store: Store::default(), multipliers: 0 };
        let first_row = plan.layout.row(0);
        for (i, step) in plan.fronts.iter().enumerate() {
            let mut front = unused.pop().unwrap_or_default();
            front.variables.clear();
            for child in step.children.iter().filter_map(|&c| rests[c].as_ref()) {
                front.variables.extend(&child.variables[..child.summed]);
            }
            for &v in &step.own {
                let row = v.checked_sub(first_row);
                if row.is_none_or(|r| self.rows[r]) {
                    front.variables.push(v);
                    out.multipliers += usize::from(row.is_some());
                }
            }
            front.summed = front.variables.len();
            front.variables.extend(&step.around);
            if step.carrier.is_some() {
                let twist = plan.layout.twist(step.link).expect("a link that is carried");
                front.variables.extend(twist..twist + 6);
            }
            for (k, &v) in front.variables.iter().enumerate() {
                place[v] = k as u32;
            }
            front.clear(front.variables.len());
            let mut assembly = Assembly { front, place: &mut place };
            for &c in &step.children {
                if let Some(child) = rests[c].take() {
                    add_child(&mut assembly, &child);
                    unused.push(child);
                }
            }
            self.assemble(step, &mut assembly);
            front = assembly.front;
            if self.symmetric {
                front.symmetrise();
            }
            let last = i + 1 == plan.fronts.len();
            front.eliminate(&self.nothing, last, &mut out.store);
            match front.variables.is_empty() {
                true => unused.push(front),
                false => rests[i] = Some(front),
            }
        }
        out
    }

    fn assemble(&self, step: &FrontPlan, out: &mut Assembly<'_>) {
        let layout = self.plan.layout;
        if let (Some(k), Some(twist)) = (self.stiffness, layout.twist(step.link))
            && let Some(load) = &k.links[step.link]
        {
            let at: [Option<usize>; 6] = core::array::from_fn(|i| Some(twist + i));
            out.add_form(&at, load.rows.as_flattened(), self.per_size);
        }
        step.elements.iter().for_each(|e| self.element(*e, out));
        if let Some(e) = step.carrier {
            self.substitute(e, out);
            self.joint(e, self.inner(e), out);
        }
    }

    fn inner(&self, edge: usize) -> Option<usize> {
        self.plan.layout.twist(self.m.forest().edges()[edge].inner.index())
    }

    /// Velocity coordinates of a branch: tree joints first, then closing joints.
    fn coordinates(&self, branch: usize) -> std::ops::Range<usize> {
        let forest = self.m.forest();
        let joint = match branch.checked_sub(forest.edges().len()) {
            None => forest.edges()[branch].joint,
            Some(k) => forest.closures()[k],
        };
        self.m.velocity_range(joint)
    }

    /// A joint's own stiffness, and what its motion adds to the force on its inner link.
    fn joint(&self, branch: usize, inner: Option<usize>, out: &mut Assembly<'_>) {
        let coordinates = self.coordinates(branch);
        let Some(k) = self.stiffness else {
            coordinates.for_each(|x| out.add(x, x, 1.0));
            return;
        };
        let d = coordinates.len();
        for (y, row) in coordinates.clone().enumerate() {
            for (z, column) in coordinates.clone().enumerate() {
                out.add(row, column, k.joints[branch][y * d + z] * self.per_size);
            }
            out.add(row, row, self.shift);
            if let Some(inner) = inner {
                for (i, x) in k.turned[row].iter().enumerate().filter(|x| *x.1 != 0.0) {
                    out.add(inner + i, row, x * self.per_size);
                }
            }
        }
    }

    fn element(&self, element: Element, out: &mut Assembly<'_>) {
        let (m, layout, g) = (self.m, self.plan.layout, self.geometry);
        let forest = m.forest();
        let twist = |link: forks_mechanism::LinkId| layout.twist(link.index());
        let six = |t: Option<usize>| (0..6).map(move |i| t.map(|t| t + i));
        match element {
            Element::Edge(e) => {
                let (inner, outer) = (self.inner(e), twist(forest.edges()[e].outer));
                for i in 0..6 {
                    let row = layout.edge(e) + i;
                    if !self.rows[row - layout.row(0)] {
                        continue;
                    }
                    out.tie(row, outer.expect("links have twists") + i, 1.0);
                    for j in 0..6 {
                        if let Some(inner) = inner {
                            out.tie(row, inner + j, -g.carry[e].rows[i][j]);
                        }
                    }
                    for x in self.coordinates(e) {
                        out.tie(row, x, -g.columns[x][i]);
                    }
                }
                self.joint(e, inner, out);
            }
            Element::Closure(k) => {
                let branch = forest.edges().len() + k;
                let joint = m.joint(forest.closures()[k]);
                let own = self.coordinates(branch);
                let columns = g.closure_columns(branch, k, own.clone());
                let at: Vec<Option<usize>> = six(twist(joint.parent))
                    .chain(own.map(Some))
                    .chain(six(twist(joint.child)))
                    .collect();
                if let Some(s) = self.stiffness {
                    out.add_form(&at, &s.closures[k], self.per_size);
                }
                for (v, (relative, _)) in at.iter().zip(&columns) {
                    let Some(v) = *v else { continue };
                    let entries = g.slopes[k].mul_vec(&relative.to_array());
                    for i in (0..6).filter(|i| self.rows[6 * k + i]) {
                        out.tie(layout.row(6 * k + i), v, entries[i]);
                    }
                }
                self.joint(branch, twist(joint.parent), out);
            }
            Element::Bushing(b) => {
                let Some(s) = self.stiffness else { return };
                let pair = &m.bushings()[b];
                let at: Vec<_> = six(twist(pair.link_a)).chain(six(twist(pair.link_b))).collect();
                out.add_form(&at, &s.bushings[b], self.per_size);
            }
            Element::Cable(c) => {
                let Some(s) = self.stiffness else { return };
                let links = m.cables()[c].links();
                let at: Vec<_> = links.into_iter().flat_map(|l| six(twist(l))).collect();
                out.add_form(&at, &s.cables[c], self.per_size);
            }
            Element::Spring(i) => {
                let Some(s) = self.stiffness else { return };
                add_combination(&s.springs[i], self.per_size, out);
            }
            Element::Coupling(c) => {
                let row = 6 * forest.closures().len() + c;
                if self.rows[row] {
                    for &(k, a) in &g.couplings[c] {
                        out.tie(layout.row(row), k, a);
                    }
                }
                if let Some(s) = self.stiffness {
                    s.couplings[c].iter().for_each(|t| add_combination(t, self.per_size, out));
                }
            }
        }
    }

    /// Puts ξ = A ξ_inner + C x for the twist that stands last.
    fn substitute(&self, edge: usize, out: &mut Assembly<'_>) {
        let n = out.front.variables.len();
        let kept = n - 6;
        let carry = &self.geometry.carry[edge];
        // Where each kept unknown gets its share of the six columns.
        let mut shares: Vec<(usize, [f64; 6])> = Vec::with_capacity(12);
        for x in self.coordinates(edge) {
            shares.push((out.place[x] as usize, self.geometry.columns[x]));
        }
        if let Some(inner) = self.inner(edge) {
            for j in 0..6 {
                let column = core::array::from_fn(|i| carry.rows[i][j]);
                shares.push((out.place[inner + j] as usize, column));
            }
        }
        let a = &mut out.front.a;
        for row in a.chunks_exact_mut(n) {
            let (row, twist) = row.split_at_mut(kept);
            if twist.iter().all(|x| *x == 0.0) {
                continue;
            }
            for (at, share) in &shares {
                row[*at] += twist.iter().zip(share).map(|(t, s)| t * s).sum::<f64>();
            }
        }
        let (rows, twist) = a.split_at_mut(kept * n);
        for (at, share) in &shares {
            let row = &mut rows[at * n..at * n + kept];
            for (t, s) in twist.chunks_exact(n).zip(share).filter(|t| *t.1 != 0.0) {
                row.iter_mut().zip(t).for_each(|(r, t)| *r += s * t);
            }
        }
        for i in 0..kept {
            a.copy_within(i * n..i * n + kept, i * kept);
        }
        a.truncate(kept * kept);
        out.front.variables.truncate(kept);
    }

    /// x with \[K + s, Gᵀ; G, 0\] x = b, in place on all unknowns.
    pub(crate) fn solve(&self, factors: &Factors, b: &mut [f64]) {
        let layout = self.plan.layout;
        let place = |step: &FrontPlan| {
            let e = step.carrier?;
            Some((e, layout.twist(step.link)?, self.inner(e)))
        };
        let six = |b: &[f64], at: usize| -> [f64; 6] { core::array::from_fn(|i| b[at + i]) };
        debug_assert_eq!(factors.store.fronts(), self.plan.fronts.len());
        for (i, step) in self.plan.fronts.iter().enumerate() {
            if let Some((e, twist, inner)) = place(step) {
                let force = six(b, twist);
                if force != [0.0; 6] {
                    for x in self.coordinates(e) {
                        b[x] += dot(&self.geometry.columns[x], &force);
                    }
                    if let Some(inner) = inner {
                        let carried = self.geometry.carry[e].transpose_mul_vec(&force);
                        (0..6).for_each(|i| b[inner + i] += carried[i]);
                    }
                }
            }
            factors.store.forward(i, b);
        }
        for (i, step) in self.plan.fronts.iter().enumerate().rev() {
            factors.store.backward(i, b);
            if let Some((e, twist, inner)) = place(step) {
                let carry: &Mat6 = &self.geometry.carry[e];
                let mut t = inner.map_or([0.0; 6], |i| carry.mul_vec(&six(b, i)));
                for x in self.coordinates(e) {
                    let c = &self.geometry.columns[x];
                    (0..6).for_each(|i| t[i] += c[i] * b[x]);
                }
                b[twist..twist + 6].copy_from_slice(&t);
            }
        }
    }
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add_combination(term: &(f64, Vec<(usize, f64)>), factor: f64, out: &mut Assembly<'_>) {
    let (k, terms) = term;
    for &(i, a) in terms {
        for &(j, b) in terms {
            out.add(i, j, factor * k * a * b);
        }
    }
}

fn add_child(out: &mut Assembly<'_>, child: &Front) {
    let n = out.front.variables.len();
    for (i, from) in child.variables.iter().zip(child.a.chunks_exact(child.variables.len())) {
        let at = out.place[*i] as usize;
        let row = &mut out.front.a[at * n..(at + 1) * n];
        for (j, x) in child.variables.iter().zip(from) {
            row[out.place[*j] as usize] += x;
        }
    }
}
