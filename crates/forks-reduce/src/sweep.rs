//! The frontier sweep: one pass over the joints of any graph gives the effectors' compliance; one pass
//! back over its tape gives every joint's displacement, every link's twist and the joint loads.
//!
//! Cases ([A16] §4) and their generalisation:
//! - chain and split (Eq. 10, 12): `C_cc = Ad C_pp Adᵀ + J C_θ Jᵀ`, `C_c* = Ad C_p*` ([`Sweep::append`]),
//! - merge and loop closure: conditioning on ξ_c − Ad ξ_p − Jθ = 0 ([`Sweep::close`]); Eq. 14 inverts
//!   rank-deficient compliances first and is not used,
//! - couplings: conditioning on their rows; springs on combinations and bushings: information,
//! - loaded poses: information with the geometric terms of [`crate::prestress`].

use forks_dynamics::Loads;
use forks_mechanism::{
    Combination, Coordinate, JointId, JointMatrix, LinkId, Mechanism,
    dense::Matrix,
    lie::{Mat6, Pose, Wrench},
    loops,
};

use crate::{
    error::ReduceError,
    frontier::{Frontier, Record, Rows, Variable},
    motion::{JointCompliance, ScaledMotion, joint_compliance, scale_pose, scale_twist, scaled_motion},
    plan::{Plan, plan},
    prestress::{Prestress, bracket_form, bushing_adjoints, gamma, prestress},
};

/// The state about which a mechanism is linearised.
pub(crate) struct State<'a> {
    pub(crate) q: &'a [f64],
    /// Loads and multipliers of an equilibrium; `None` for an unstressed rest pose.
    pub(crate) loaded: Option<(&'a Loads, &'a [f64])>,
}

/// An entry of the tape.
pub(crate) enum Op {
    /// A tree edge was appended.
    Append(usize),
    /// A loop-closing joint's coordinates were added.
    Close(JointId),
    /// An output row was added.
    Output { variable: Variable, rows: Rows },
    /// An update of the frontier.
    Update(Record),
}

/// Energy of geometric terms that waits until its variables are resisted.
struct Pending {
    rows: Rows,
    lambda: Matrix,
}

pub(crate) struct Sweep<'a> {
    pub(crate) m: &'a Mechanism,
    pub(crate) q: &'a [f64],
    pub(crate) r: f64,
    pub(crate) world_from_link: Vec<Pose>,
    pub(crate) motions: Vec<ScaledMotion>,
    pub(crate) tape: Vec<Op>,
    pub(crate) frontier: Frontier,
    pub(crate) plan: Plan,
    /// Compliance of the joints that were appended, by joint index.
    pub(crate) compliance: Vec<Option<JointCompliance>>,
    pub(crate) outputs: Vec<Variable>,
    prestress: Option<Prestress>,
    owners: Vec<JointId>,
    uses: Vec<u32>,
    pending: Vec<Pending>,
    records: Vec<Record>,
}

/// First variable of a link.
pub(crate) fn link_variables(l: LinkId) -> [Variable; 6] {
    core::array::from_fn(|i| (6 * l.index() + i) as Variable)
}

impl<'a> Sweep<'a> {
    pub(crate) fn coordinate_variable(&self, velocity_index: usize) -> Variable {
        (6 * self.m.links().len() + velocity_index) as Variable
    }

    fn joint_variables(&self, id: JointId) -> Vec<Variable> {
        self.m.velocity_range(id).map(|v| self.coordinate_variable(v)).collect()
    }

    /// Runs the sweep. `effectors` are distinct links, `outputs` combinations whose response is wanted.
    pub(crate) fn run(
        m: &'a Mechanism,
        state: &State<'a>,
        effectors: &[LinkId],
        outputs: &[Combination],
    ) -> Result<Self, ReduceError> {
        let world_from_link = m.link_poses(state.q);
        let r = m.bounding_radius(&world_from_link);
        let motions: Vec<ScaledMotion> =
            m.forest().edges().iter().map(|e| scaled_motion(m, e, state.q, r)).collect();
        let prestress = match state.loaded {
            None => None,
            Some((loads, multipliers)) => Some(prestress(
                m, &motions, &world_from_link, r, loads, effectors, multipliers,
            )?),
        };
        let variables = 6 * m.links().len() + m.velocity_count();
        let mut sweep = Self {
            m,
            q: state.q,
            r,
            world_from_link,
            motions,
            tape: Vec::new(),
            frontier: Frontier::new(variables),
            plan: plan(m, effectors, outputs, prestress.is_some()),
            compliance: (0..m.joints().len()).map(|_| None).collect(),
            outputs: vec![Variable::MAX; outputs.len()],
            prestress,
            owners: coordinate_owners(m),
            uses: vec![0; variables],
            pending: Vec::new(),
            records: Vec::new(),
        };
        let outputs: Vec<Combination> = outputs.iter().map(|c| sweep.entered_part(c)).collect();
        sweep.count_uses(effectors, &outputs);
        let agenda = Agenda::new(&sweep, &outputs);
        sweep.process(agenda, &outputs)?;
        sweep.finish()?;
        Ok(sweep)
    }

    /// A combination without the coordinates of free bodies that are left out.
    fn entered_part(&self, c: &Combination) -> Combination {
        let left_out = |j: JointId| {
            let j = self.m.joint(j);
            self.plan.left_out.contains(&j.child) || self.plan.left_out.contains(&j.parent)
        };
        let terms = c.terms.iter().filter(|(c, _)| !left_out(c.joint)).copied().collect();
        Combination { terms, offset: c.offset }
    }

    /// Counts how often each variable is still needed, so that it can be dropped as soon as it is not.
    fn count_uses(&mut self, effectors: &[LinkId], outputs: &[Combination]) {
        let m = self.m;
        for i in 0..self.plan.edges.len() {
            self.use_link(m.forest().edges()[self.plan.edges[i]].inner);
        }
        // Effectors stay live for ever.
        effectors.iter().for_each(|&l| self.use_link(l));
        for &id in m.forest().closures() {
            self.use_link(m.joint(id).parent);
            self.use_link(m.joint(id).child);
        }
        for b in m.bushings() {
            self.use_link(b.link_a);
            self.use_link(b.link_b);
        }
        let combinations = m
            .couplings()
            .iter()
            .flat_map(|c| c.terms.iter().map(|t| &t.combination))
            .chain(m.combination_springs().iter().map(|s| &s.combination))
            .chain(outputs);
        for c in combinations {
            for (coordinate, _) in &c.terms {
                let v = self.coordinate_variable(m.velocity_index(*coordinate));
                self.uses[v as usize] += 1;
            }
        }
    }

    fn use_link(&mut self, l: LinkId) {
        if l != LinkId::WORLD {
            link_variables(l).iter().for_each(|&v| self.uses[v as usize] += 1);
        }
    }

    fn process(&mut self, mut agenda: Agenda, outputs: &[Combination]) -> Result<(), ReduceError> {
        let m = self.m;
        // Outputs of no coordinate at all stay at rest.
        for (i, c) in outputs.iter().enumerate().filter(|(_, c)| c.terms.is_empty()) {
            self.add_output(i, c);
        }
        for step in 0..self.plan.edges.len() {
            let k = self.plan.edges[step];
            let e = m.forest().edges()[k];
            let label = |_| ReduceError::Singular { joint: m.joint_label(e.joint) };
            self.append(k).map_err(label)?;
            let mut due = agenda.link_done(e.outer);
            due.extend(agenda.joint_done(e.joint));
            // A closure makes coordinates of its own live, which may complete couplings.
            while let Some(task) = due.pop() {
                let more = self.perform(task, outputs, &mut agenda).map_err(label)?;
                due.extend(more);
            }
            self.release_link(e.inner);
            self.drop_if_unused(&link_variables(e.outer));
        }
        Ok(())
    }

    fn perform(
        &mut self,
        task: Task,
        outputs: &[Combination],
        agenda: &mut Agenda,
    ) -> Result<Vec<Task>, crate::frontier::Singular> {
        match task {
            Task::Close(id) => {
                self.close(id)?;
                return Ok(agenda.joint_done(id));
            }
            Task::Bushing(i) => self.add_bushing(i)?,
            Task::Couple(i) => self.couple(i)?,
            Task::Spring(i) => self.add_combination_spring(i)?,
            Task::Output(i) => self.add_output(i, &outputs[i]),
        }
        Ok(vec![])
    }

    /// Chain and split, Eq. 10 and 12.
    fn append(&mut self, k: usize) -> Result<(), crate::frontier::Singular> {
        let e = self.m.forest().edges()[k];
        let id = e.joint;
        let compliance = self.spring_compliance(id);
        let (inner, outer) = (link_variables(e.inner), link_variables(e.outer));
        let coordinates = self.joint_variables(id);
        let carried = self.prestress.as_ref().map(|p| p.carried[k]);
        let loaded = carried.is_some() && !coordinates.is_empty();
        let keep = loaded
            || compliance.free.columns() > 0
            || coordinates.iter().any(|&v| self.uses[v as usize] > 0);
        let grounded = e.inner == LinkId::WORLD;
        self.tape.push(Op::Append(k));
        let motion = &self.motions[k];
        if keep {
            self.frontier.add_independent(&coordinates, &compliance.compliance, &compliance.free);
        }
        let mut rows = Rows { variables: Vec::new(), matrix: Matrix::zeros(6, 0) };
        if !grounded {
            rows = joined(rows, &inner, &to_matrix(&motion.ad.matrix()));
        }
        if keep {
            rows = joined(rows, &coordinates, &columns_matrix(motion));
        }
        self.frontier.add_dependent(&outer, &rows);
        if !keep {
            let c = projected_compliance(motion, &compliance.compliance);
            self.frontier.add_covariance(&outer, &c);
        }
        self.compliance[id.index()] = Some(compliance);
        self.add_geometric_terms(k, carried, loaded)?;
        if keep {
            self.drop_if_unused(&coordinates);
        }
        Ok(())
    }

    /// θᵀΓξ_inner, the joint's curvature and the loads on the outer link.
    fn add_geometric_terms(
        &mut self,
        k: usize,
        carried: Option<Wrench>,
        loaded: bool,
    ) -> Result<(), crate::frontier::Singular> {
        let e = self.m.forest().edges()[k];
        let coordinates = self.joint_variables(e.joint);
        if loaded {
            self.add_spring_curvature(e.joint)?;
        }
        if let (Some(w), true) = (carried, loaded) {
            let d = coordinates.len();
            if e.inner != LinkId::WORLD {
                let g = gamma(&self.motions[k], w);
                let lambda = Matrix::from_fn(d + 6, d + 6, |i, j| match (i < d, j < d) {
                    (true, false) => g[(i, j - d)],
                    (false, true) => g[(j, i - d)],
                    _ => 0.0,
                });
                let variables = [&coordinates[..], &link_variables(e.inner)].concat();
                self.add_energy(variables, lambda)?;
            }
            if let Some(b) = self.curvature(&e, w) {
                self.add_energy(coordinates.clone(), Matrix::from_fn(d, d, |i, j| -b.get(i, j)))?;
            }
        }
        if let Some(p) = &self.prestress {
            let h = p.link_hessian[e.outer.index()].to_mat6();
            if h != Mat6::ZERO {
                self.add_energy(link_variables(e.outer).to_vec(), to_matrix(&h))?;
            }
        }
        Ok(())
    }

    /// Second derivative of the outer link's motion along the load; the load is in the outer frame.
    fn curvature(&self, e: &forks_mechanism::TreeEdge, carried: Wrench) -> Option<JointMatrix> {
        let j = self.m.joint(e.joint);
        let qj = &self.q[self.m.position_range(e.joint)];
        let unscaled = Wrench::new(carried.force / self.r, carried.torque);
        if !e.reversed {
            return j.curvature(qj, unscaled);
        }
        // Outer is the parent: its motion is the inverse of the child's, ξ_outer = −Ad ξ_child.
        let child = j.parent_from_child(qj).adjoint().transpose_apply(unscaled);
        j.curvature(qj, -child)
    }

    fn spring_compliance(&self, id: JointId) -> JointCompliance {
        let j = self.m.joint(id);
        joint_compliance(j.dof(), j.spring.as_ref().map(|s| &s.stiffness))
    }

    /// What a stressed spring's Hessian has beyond its stiffness (spherical, planar and free joints).
    fn add_spring_curvature(&mut self, id: JointId) -> Result<(), crate::frontier::Singular> {
        let j = self.m.joint(id);
        let Some(spring) = &j.spring else { return Ok(()) };
        if self.prestress.is_none() || j.kind.has_scalar_coordinates() {
            return Ok(());
        }
        let h = forks_dynamics::joint_hessian(self.m, id, self.q);
        let d = j.dof();
        let extra = Matrix::from_fn(d, d, |a, b| h.get(a, b) - spring.stiffness.get(a, b));
        self.add_energy(self.joint_variables(id), extra)
    }

    /// Loop closure: E⁻¹-corrected ξ_c − Ad ξ_p − J θ = 0.
    fn close(&mut self, id: JointId) -> Result<(), crate::frontier::Singular> {
        let j = self.m.joint(id);
        let qj = &self.q[self.m.position_range(id)];
        let expected =
            self.world_from_link[j.parent.index()] * j.parent_from_child(qj);
        // Where the loop is open, the joint's side is carried over to the child's frame by the gap.
        let child_from_expected = self.world_from_link[j.child.index()].inverse() * expected;
        let ad_gap = child_from_expected.adjoint();
        let child_from_parent = child_from_expected * j.parent_from_child(qj).inverse();
        let ad = scale_pose(&child_from_parent, self.r).adjoint();
        let motion = ScaledMotion {
            ad,
            columns: j
                .columns(qj)
                .as_slice()
                .iter()
                .map(|c| scale_twist(ad_gap.apply(*c), self.r))
                .collect(),
        };
        let compliance = self.spring_compliance(id);
        let coordinates = self.joint_variables(id);
        self.tape.push(Op::Close(id));
        // Held until the closure's own terms are in.
        coordinates.iter().for_each(|&v| self.uses[v as usize] += 1);
        self.frontier.add_independent(&coordinates, &compliance.compliance, &compliance.free);
        self.compliance[id.index()] = Some(compliance);
        let mut rows = Rows { variables: Vec::new(), matrix: Matrix::zeros(6, 0) };
        if j.child != LinkId::WORLD {
            rows = joined(rows, &link_variables(j.child), &Matrix::identity(6));
        }
        if j.parent != LinkId::WORLD {
            rows = joined(rows, &link_variables(j.parent), &negated(&to_matrix(&ad.matrix())));
        }
        rows = joined(rows, &coordinates, &negated(&columns_matrix(&motion)));
        self.condition(rows)?;
        self.add_closure_terms(id, &motion)?;
        self.release_link(j.parent);
        self.release_link(j.child);
        self.release(&coordinates);
        Ok(())
    }

    /// ½ λᵀ ad_{Ad ξ_p} ξ_c and the closing joint's curvature, λ the wrench on the child.
    fn add_closure_terms(
        &mut self,
        id: JointId,
        motion: &ScaledMotion,
    ) -> Result<(), crate::frontier::Singular> {
        let m = self.m;
        let Some(p) = &self.prestress else { return Ok(()) };
        let j = m.joint(id);
        let k = m.forest().closures().iter().position(|&c| c == id).unwrap_or(0);
        let w = p.closure_wrench[k];
        self.add_spring_curvature(id)?;
        if j.parent != LinkId::WORLD && j.child != LinkId::WORLD {
            let form = bracket_form(w, &motion.ad, &forks_mechanism::lie::Adjoint::IDENTITY);
            self.add_bilinear(j.parent, j.child, &form)?;
        }
        let qj = &self.q[self.m.position_range(id)];
        let unscaled = Wrench::new(w.force / self.r, w.torque);
        if let Some(b) = j.curvature(qj, unscaled) {
            let d = b.dof();
            let coordinates = self.joint_variables(id);
            self.add_energy(coordinates, Matrix::from_fn(d, d, |i, k| b.get(i, k)))?;
        }
        Ok(())
    }

    /// ξ_aᵀ B ξ_b.
    fn add_bilinear(
        &mut self,
        a: LinkId,
        b: LinkId,
        form: &Mat6,
    ) -> Result<(), crate::frontier::Singular> {
        let lambda = Matrix::from_fn(12, 12, |i, j| match (i < 6, j < 6) {
            (true, false) => form.rows[i][j - 6],
            (false, true) => form.rows[j][i - 6],
            _ => 0.0,
        });
        self.add_energy([link_variables(a), link_variables(b)].concat(), lambda)
    }

    fn add_bushing(&mut self, i: usize) -> Result<(), crate::frontier::Singular> {
        let b = &self.m.bushings()[i];
        let (from_a, from_b) = bushing_adjoints(b, &self.world_from_link, self.r);
        let mut rows = Rows { variables: Vec::new(), matrix: Matrix::zeros(6, 0) };
        if b.link_b != LinkId::WORLD {
            rows = joined(rows, &link_variables(b.link_b), &to_matrix(&from_b.matrix()));
        }
        if b.link_a != LinkId::WORLD {
            rows = joined(rows, &link_variables(b.link_a), &negated(&to_matrix(&from_a.matrix())));
        }
        let k = match &self.prestress {
            None => b.stiffness,
            Some(_) => {
                forks_dynamics::bushing_gradient_and_hessian(b, &self.world_from_link).1
            }
        };
        // Stiffness against dimensionless relative twists.
        let r = |i: usize| if i < 3 { self.r } else { 1.0 };
        let lambda = Matrix::from_fn(6, 6, |i, j| k.get(i, j) * r(i) * r(j));
        self.add_spring_energy(rows, &lambda)?;
        let gradient = self.prestress.as_ref().map(|p| p.bushing_gradient[i]);
        if let Some(g) = gradient.filter(|_| b.link_a != LinkId::WORLD && b.link_b != LinkId::WORLD) {
            // Relative twist ζ = ξ_b − ξ_a − ½[ξ_a, ξ_b] + …
            self.add_bilinear(b.link_a, b.link_b, &-bracket_form(g, &from_a, &from_b))?;
        }
        self.release_link(b.link_a);
        self.release_link(b.link_b);
        Ok(())
    }

    /// A coupling: condition on Σ p′ₖ aₖᵀ δθ = 0.
    fn couple(&mut self, i: usize) -> Result<(), crate::frontier::Singular> {
        let m = self.m;
        let c = &m.couplings()[i];
        let mut terms: Vec<(Coordinate, f64)> = Vec::new();
        for t in &c.terms {
            let slope = t.evaluate(loops::combination_value(m, &t.combination, self.q)).1;
            terms.extend(t.combination.terms.iter().map(|(c, a)| (*c, a * slope)));
        }
        let rows = self.combination_rows(&terms);
        self.condition(rows)?;
        let force = self.prestress.as_ref().map_or(0.0, |p| p.coupling_force[i]);
        for t in &c.terms {
            let bend = t.evaluate(loops::combination_value(m, &t.combination, self.q)).2;
            if force * bend != 0.0 {
                let rows = self.combination_rows(&t.combination.terms);
                self.add_energy_rows(rows, Matrix::from_fn(1, 1, |_, _| -force * bend))?;
            }
            self.release_combination(&t.combination);
        }
        Ok(())
    }

    fn add_combination_spring(&mut self, i: usize) -> Result<(), crate::frontier::Singular> {
        let s = &self.m.combination_springs()[i];
        if s.stiffness > 0.0 && !s.combination.terms.is_empty() {
            let rows = self.combination_rows(&s.combination.terms);
            self.add_spring_energy(rows, &Matrix::from_fn(1, 1, |_, _| s.stiffness))?;
        }
        self.release_combination(&s.combination);
        Ok(())
    }

    fn add_output(&mut self, index: usize, c: &Combination) {
        let rows = self.combination_rows(&c.terms);
        let variable = self.frontier.new_variable();
        self.outputs[index] = variable;
        self.frontier.add_dependent(&[variable], &rows);
        self.tape.push(Op::Output { variable, rows });
        self.release_combination(c);
    }

    /// One row over joint coordinates; repeated coordinates are added up.
    fn combination_rows(&self, terms: &[(Coordinate, f64)]) -> Rows {
        let mut variables: Vec<Variable> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for (c, a) in terms {
            let v = self.coordinate_variable(self.m.velocity_index(*c));
            match variables.iter().position(|&x| x == v) {
                Some(i) => weights[i] += a,
                None => {
                    variables.push(v);
                    weights.push(*a);
                }
            }
        }
        let matrix = Matrix::from_fn(1, weights.len(), |_, j| weights[j]);
        Rows { variables, matrix }
    }

    fn condition(&mut self, rows: Rows) -> Result<(), crate::frontier::Singular> {
        if rows.variables.is_empty() {
            return Ok(());
        }
        let free = self.frontier.free_count();
        self.frontier.condition(rows, &mut self.records)?;
        self.flush();
        if self.frontier.free_count() < free {
            self.settle_pending()?;
        }
        Ok(())
    }

    /// Energy of a real spring: at once, whether its variables are resisted or not.
    fn add_spring_energy(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
    ) -> Result<(), crate::frontier::Singular> {
        let free = self.frontier.free_count();
        if self.frontier.is_resisted(&rows) {
            self.frontier.inform(rows, lambda, &mut self.records)?;
        } else {
            self.frontier.inform_free(rows, lambda, &mut self.records)?;
        }
        self.flush();
        if self.frontier.free_count() < free {
            self.settle_pending()?;
        }
        Ok(())
    }

    fn add_energy(
        &mut self,
        variables: Vec<Variable>,
        lambda: Matrix,
    ) -> Result<(), crate::frontier::Singular> {
        let matrix = Matrix::identity(variables.len());
        self.add_energy_rows(Rows { variables, matrix }, lambda)
    }

    /// Geometric energy, which may be negative and small: waits until its variables are resisted, so
    /// that no division by a small stiffness is needed.
    fn add_energy_rows(
        &mut self,
        rows: Rows,
        lambda: Matrix,
    ) -> Result<(), crate::frontier::Singular> {
        if self.frontier.is_resisted(&rows) {
            self.frontier.inform(rows, &lambda, &mut self.records)?;
            self.flush();
        } else {
            rows.variables.iter().for_each(|&v| self.uses[v as usize] += 1);
            self.pending.push(Pending { rows, lambda });
        }
        Ok(())
    }

    /// Applies waiting energies whose variables have become resisted.
    fn settle_pending(&mut self) -> Result<(), crate::frontier::Singular> {
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|p| self.frontier.is_resisted(&p.rows));
        self.pending = waiting;
        for p in ready {
            let variables = p.rows.variables.clone();
            self.frontier.inform(p.rows, &p.lambda, &mut self.records)?;
            self.flush();
            self.release(&variables);
        }
        // Coordinates that waited for their free motion to be used up.
        let coordinates: Vec<Variable> = self
            .frontier
            .live_variables()
            .iter()
            .copied()
            .filter(|&v| self.is_coordinate(v) && self.uses[v as usize] == 0)
            .collect();
        self.drop_if_unused(&coordinates);
        Ok(())
    }

    fn flush(&mut self) {
        self.tape.extend(self.records.drain(..).map(Op::Update));
    }

    pub(crate) fn is_coordinate(&self, v: Variable) -> bool {
        let first = 6 * self.m.links().len();
        (first..first + self.m.velocity_count()).contains(&(v as usize))
    }

    /// The joint that a coordinate variable belongs to.
    fn owner(&self, v: Variable) -> JointId {
        self.owners[v as usize - 6 * self.m.links().len()]
    }

    fn release_link(&mut self, l: LinkId) {
        if l != LinkId::WORLD {
            self.release(&link_variables(l));
        }
    }

    fn release_combination(&mut self, c: &Combination) {
        let variables: Vec<Variable> = c
            .terms
            .iter()
            .map(|(c, _)| self.coordinate_variable(self.m.velocity_index(*c)))
            .collect();
        self.release(&variables);
    }

    fn release(&mut self, variables: &[Variable]) {
        variables.iter().for_each(|&v| self.uses[v as usize] -= 1);
        self.drop_if_unused(variables);
    }

    /// Drops variables that nothing needs any more. A coordinate that is still free stays; one that was
    /// free leaves its row of C on the tape, because its value cannot be had from its own spring.
    fn drop_if_unused(&mut self, variables: &[Variable]) {
        for &v in variables {
            if self.uses[v as usize] > 0 || !self.frontier.is_live(v) {
                continue;
            }
            if self.is_coordinate(v) {
                if self.frontier.is_free(v) {
                    continue;
                }
                let owner = self.owner(v);
                let was_free = self.compliance[owner.index()]
                    .as_ref()
                    .is_some_and(|c| c.free.columns() > 0);
                if was_free {
                    self.tape.push(Op::Update(self.frontier.value_record(v)));
                }
            }
            self.frontier.drop_variable(v);
        }
    }

    /// Settles what waited to the end and checks that every motion is resisted.
    fn finish(&mut self) -> Result<(), ReduceError> {
        let label = |_| ReduceError::Singular { joint: "at the end of the sweep".into() };
        for p in std::mem::take(&mut self.pending) {
            let variables = p.rows.variables.clone();
            if self.frontier.is_resisted(&p.rows) {
                self.frontier.inform(p.rows, &p.lambda, &mut self.records).map_err(label)?;
            } else {
                self.frontier.inform_free(p.rows, &p.lambda, &mut self.records).map_err(label)?;
            }
            self.flush();
            self.release(&variables);
        }
        if self.frontier.free_count() > 0 {
            return Err(ReduceError::Unresisted { joints: self.unresisted_joints() });
        }
        self.settle_pending().map_err(label)
    }

    fn unresisted_joints(&self) -> Vec<String> {
        let mut joints: Vec<JointId> = self
            .frontier
            .free_variables()
            .into_iter()
            .filter(|&v| self.is_coordinate(v))
            .map(|v| self.owner(v))
            .collect();
        joints.sort();
        joints.dedup();
        joints.into_iter().map(|j| self.m.joint_label(j)).collect()
    }
}

/// What becomes possible once links and joints are live.
#[derive(Clone, Copy, Debug)]
enum Task {
    Close(JointId),
    Bushing(usize),
    Couple(usize),
    Spring(usize),
    Output(usize),
}

/// Counts down what each task still waits for.
struct Agenda {
    tasks: Vec<(Task, usize)>,
    by_link: Vec<Vec<usize>>,
    by_joint: Vec<Vec<usize>>,
}

impl Agenda {
    fn new(s: &Sweep<'_>, outputs: &[Combination]) -> Self {
        let m = s.m;
        let mut a = Self {
            tasks: vec![],
            by_link: vec![vec![]; m.links().len()],
            by_joint: vec![vec![]; m.joints().len()],
        };
        for &id in m.forest().closures() {
            a.add_for_links(Task::Close(id), [m.joint(id).parent, m.joint(id).child]);
        }
        for (i, b) in m.bushings().iter().enumerate() {
            a.add_for_links(Task::Bushing(i), [b.link_a, b.link_b]);
        }
        for (i, c) in m.couplings().iter().enumerate() {
            a.add_for_joints(Task::Couple(i), c.terms.iter().flat_map(|t| &t.combination.terms));
        }
        for (i, c) in m.combination_springs().iter().enumerate() {
            a.add_for_joints(Task::Spring(i), c.combination.terms.iter());
        }
        for (i, c) in outputs.iter().enumerate() {
            a.add_for_joints(Task::Output(i), c.terms.iter());
        }
        a
    }

    fn add_for_links(&mut self, task: Task, links: [LinkId; 2]) {
        let t = self.tasks.len();
        let ends: Vec<LinkId> = links.into_iter().filter(|&l| l != LinkId::WORLD).collect();
        ends.iter().for_each(|l| self.by_link[l.index()].push(t));
        self.tasks.push((task, ends.len()));
    }

    fn add_for_joints<'b>(
        &mut self,
        task: Task,
        terms: impl Iterator<Item = &'b (Coordinate, f64)>,
    ) {
        let t = self.tasks.len();
        let mut joints: Vec<JointId> = terms.map(|(c, _)| c.joint).collect();
        joints.sort();
        joints.dedup();
        joints.iter().for_each(|j| self.by_joint[j.index()].push(t));
        self.tasks.push((task, joints.len()));
    }

    fn link_done(&mut self, l: LinkId) -> Vec<Task> {
        Self::count_down(&mut self.tasks, &self.by_link[l.index()])
    }

    fn joint_done(&mut self, j: JointId) -> Vec<Task> {
        Self::count_down(&mut self.tasks, &self.by_joint[j.index()])
    }

    fn count_down(tasks: &mut [(Task, usize)], waiting: &[usize]) -> Vec<Task> {
        let mut due = vec![];
        for &t in waiting {
            tasks[t].1 -= 1;
            if tasks[t].1 == 0 {
                due.push(tasks[t].0);
            }
        }
        due
    }
}

/// The joint of every velocity coordinate.
fn coordinate_owners(m: &Mechanism) -> Vec<JointId> {
    let mut owners = vec![JointId::new(0); m.velocity_count()];
    for id in (0..m.joints().len()).map(JointId::new) {
        owners[m.velocity_range(id)].fill(id);
    }
    owners
}

fn to_matrix(m: &Mat6) -> Matrix {
    Matrix::from_fn(6, 6, |i, j| m.rows[i][j])
}

fn negated(m: &Matrix) -> Matrix {
    Matrix::from_fn(m.rows(), m.columns(), |i, j| -m[(i, j)])
}

fn columns_matrix(motion: &ScaledMotion) -> Matrix {
    let columns: Vec<[f64; 6]> = motion.columns.iter().map(|c| c.to_array()).collect();
    Matrix::from_fn(6, columns.len(), |i, j| columns[j][i])
}

/// Appends variables with their columns to an expression.
fn joined(rows: Rows, variables: &[Variable], matrix: &Matrix) -> Rows {
    let old = rows.variables.len();
    let mut all = rows.variables;
    all.extend(variables);
    Rows {
        matrix: Matrix::from_fn(matrix.rows(), all.len(), |i, j| {
            if j < old { rows.matrix[(i, j)] } else { matrix[(i, j - old)] }
        }),
        variables: all,
    }
}

/// J C_θ Jᵀ.
fn projected_compliance(motion: &ScaledMotion, c: &Matrix) -> [[f64; 6]; 6] {
    let columns: Vec<[f64; 6]> = motion.columns.iter().map(|c| c.to_array()).collect();
    let mut out = [[0.0; 6]; 6];
    for a in 0..columns.len() {
        for b in 0..columns.len() {
            let s = c[(a, b)];
            if s != 0.0 {
                for i in 0..6 {
                    for j in 0..6 {
                        out[i][j] += s * columns[a][i] * columns[b][j];
                    }
                }
            }
        }
    }
    out
}
