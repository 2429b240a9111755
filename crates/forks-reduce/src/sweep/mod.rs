//! The frontier sweep: one pass over the joints of any graph gives the effectors' compliance; one
//! pass back over its tape gives every joint's displacement, every link's twist and the joint
//! loads.
//!
//! Cases (\[A16\] §4) and their generalisation:
//! - chain and split (Eq. 10, 12): `C_cc = Ad C_pp Adᵀ + J C_θ Jᵀ`, `C_c* = Ad C_p*`
//!   ([`Sweep::append`]),
//! - merge and loop closure: conditioning on ξ_c − Ad ξ_p − Jθ = 0 ([`Sweep::close`]); Eq. 14
//!   inverts rank-deficient compliances first and is not used,
//! - couplings: conditioning on their rows; springs on combinations, bushings, cables and
//!   superelements: information; outputs of these are appended with several parents,
//! - loaded poses: information with the geometric terms of [`crate::prestress`].

mod agenda;
mod append;
mod close;
mod couple;
mod energy;
mod liveness;
mod superelement;

use std::ops::Range;

use forks_dynamics::{Cancel, Loads};
use forks_mechanism::{Combination, JointId, LinkId, Mechanism, lie::Pose, linalg::Matrix};

use self::{
    agenda::{Agenda, Task},
    energy::Pending,
};
use crate::{
    attached::Attached,
    error::ReduceError,
    frontier::{Frontier, Record, Rows, Singular, Variable},
    motion::{JointCompliance, ScaledMotion, joint_compliance, tree_motions},
    plan::{Plan, plan},
    prestress::{Prestress, prestress},
};

/// The state about which a mechanism is linearised.
pub(crate) struct State<'a> {
    pub(crate) q: &'a [f64],
    /// Loads and multipliers of an equilibrium; `None` for an unstressed rest pose.
    pub(crate) loaded: Option<(&'a Loads, &'a [f64])>,
    /// Superelements.
    pub(crate) attached: &'a [Attached],
    /// Stops the sweep.
    pub(crate) cancel: &'a Cancel,
}

/// An entry of the tape.
pub(crate) enum Op {
    /// A tree edge was appended.
    Append(usize),
    /// A loop-closing joint's coordinates were added.
    Close(JointId),
    /// A multiple of a coordinate was added to an output.
    Output { variable: Variable, weight: f64, source: Variable },
    /// An update of the frontier; `exact` where it is a constraint, not part of an energy.
    Update { record: Box<Record>, exact: bool },
    /// The energy ½ (Rx)ᵀ Λ (Rx), for which the updates beside it stand.
    Energy { rows: Box<Rows>, lambda: Matrix },
}

pub(crate) struct Sweep<'a> {
    pub(crate) m: &'a Mechanism,
    pub(crate) q: &'a [f64],
    pub(crate) attached: &'a [Attached],
    pub(crate) r: f64,
    pub(crate) world_from_link: Vec<Pose>,
    pub(crate) motions: Vec<ScaledMotion>,
    pub(crate) tape: Vec<Op>,
    pub(crate) frontier: Frontier,
    pub(crate) plan: Plan,
    /// Compliance of every joint.
    pub(crate) compliance: Vec<JointCompliance>,
    pub(crate) outputs: Vec<Variable>,
    /// By joint: output, velocity coordinate, weight.
    output_terms: Vec<Vec<(usize, usize, f64)>>,
    prestress: Option<Prestress>,
    owners: Vec<JointId>,
    uses: Vec<u32>,
    pending: Vec<Pending>,
    /// The greatest stiffness of a spring.
    stiffest: f64,
    records: Vec<Record>,
}

/// First variable of a link.
pub(crate) fn link_variables(l: LinkId) -> [Variable; 6] {
    core::array::from_fn(|i| (6 * l.index() + i) as Variable)
}

/// The variables of a joint's coordinates, at most six.
struct JointVariables {
    all: [Variable; 6],
    dof: usize,
}

impl JointVariables {
    fn as_slice(&self) -> &[Variable] {
        &self.all[..self.dof]
    }
}

impl<'a> Sweep<'a> {
    pub(crate) fn coordinate_variable(&self, velocity_index: usize) -> Variable {
        (6 * self.m.links().len() + velocity_index) as Variable
    }

    fn joint_variables(&self, id: JointId) -> JointVariables {
        self.variables_at(self.m.velocity_range(id))
    }

    fn variables_at(&self, range: Range<usize>) -> JointVariables {
        let first = self.coordinate_variable(range.start);
        JointVariables { all: core::array::from_fn(|i| first + i as Variable), dof: range.len() }
    }

    /// Runs the sweep. `effectors` are distinct links, `outputs` combinations whose response is
    /// wanted.
    pub(crate) fn run(
        m: &'a Mechanism,
        state: &State<'a>,
        effectors: &[LinkId],
        outputs: &[Combination],
    ) -> Result<Self, ReduceError> {
        let mut sweep = Self::prepared(m, state, effectors, outputs)?;
        sweep.outputs = outputs.iter().map(|_| sweep.frontier.new_variable()).collect();
        sweep.count_uses(effectors);
        sweep.process(Agenda::new(m, state.attached), state.cancel)?;
        sweep.finish()?;
        Ok(sweep)
    }

    /// A sweep that has not moved yet.
    fn prepared(
        m: &'a Mechanism,
        state: &State<'a>,
        effectors: &[LinkId],
        outputs: &[Combination],
    ) -> Result<Self, ReduceError> {
        let (mut motions, world_from_link) = tree_motions(m, state.q);
        let r = m.bounding_radius(&world_from_link);
        motions.iter_mut().for_each(|motion| motion.scale(r));
        let prestress = match state.loaded {
            None => None,
            Some((loads, multipliers)) => {
                let poses = (&world_from_link[..], r);
                let acting = (loads, multipliers, state.attached);
                Some(prestress(m, &motions, poses, acting, effectors)?)
            }
        };
        let compliance: Vec<JointCompliance> = m
            .joints()
            .iter()
            .map(|j| joint_compliance(j.dof(), j.spring.as_ref().map(|s| &s.stiffness)))
            .collect();
        let plan = plan(m, effectors, outputs, &compliance, prestress.is_some(), state.attached);
        let variables = 6 * m.links().len() + m.velocity_count();
        Ok(Self {
            m,
            q: state.q,
            attached: state.attached,
            r,
            world_from_link,
            motions,
            tape: Vec::with_capacity(plan.edges.len()),
            frontier: Frontier::new(variables),
            output_terms: output_terms(m, outputs, &plan.left_out),
            plan,
            compliance,
            outputs: Vec::new(),
            prestress,
            owners: coordinate_owners(m),
            uses: vec![0; variables],
            pending: Vec::new(),
            stiffest: greatest_stiffness(m),
            records: Vec::new(),
        })
    }

    fn process(&mut self, mut agenda: Agenda, cancel: &Cancel) -> Result<(), ReduceError> {
        let m = self.m;
        for step in 0..self.plan.edges.len() {
            if cancel.is_asked() {
                return Err(ReduceError::Cancelled);
            }
            let k = self.plan.edges[step];
            let e = m.forest().edges()[k];
            let label = |_| ReduceError::Singular { joint: m.joint_label(e.joint) };
            self.append(k).map_err(label)?;
            self.add_to_outputs(e.joint);
            let mut due = agenda.link_done(e.outer);
            due.extend(agenda.joint_done(e.joint));
            while let Some(task) = due.pop() {
                self.perform(task, &mut agenda, &mut due).map_err(label)?;
            }
            self.release_link(e.inner);
            self.drop_if_unused(&link_variables(e.outer));
        }
        Ok(())
    }

    fn perform(
        &mut self,
        task: Task,
        agenda: &mut Agenda,
        due: &mut Vec<Task>,
    ) -> Result<(), Singular> {
        match task {
            Task::Close(i) => {
                self.close(i)?;
                // A closure makes coordinates of its own live, which may complete couplings.
                let joint = self.m.forest().closures()[i];
                self.add_to_outputs(joint);
                due.extend(agenda.joint_done(joint));
                Ok(())
            }
            Task::Bushing(i) => self.add_bushing(i),
            Task::Cable(i) => self.add_cable(i),
            Task::Couple(i) => self.couple(i),
            Task::Spring(i) => self.add_combination_spring(i),
            Task::Superelement(i) => self.add_superelement(i),
        }
    }

    /// Settles what waited to the end and checks that every motion is resisted.
    fn finish(&mut self) -> Result<(), ReduceError> {
        // Motions that only geometric terms resist: one of their joints is the singular one.
        let waiting = self.unresisted_joints();
        let label = |_| ReduceError::Singular { joint: waiting.join("', '") };
        self.settle_all_pending().map_err(label)?;
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

/// Of the joints' springs.
fn greatest_stiffness(m: &Mechanism) -> f64 {
    let springs = m.joints().iter().filter_map(|j| Some((j.dof(), j.spring.as_ref()?)));
    springs.flat_map(|(n, s)| (0..n).map(move |i| s.stiffness.get(i, i))).fold(0.0, f64::max)
}

/// By joint: the outputs that its coordinates take part in, without joints of links that are left
/// out.
fn output_terms(
    m: &Mechanism,
    outputs: &[Combination],
    left_out: &[LinkId],
) -> Vec<Vec<(usize, usize, f64)>> {
    let mut is_left_out = vec![false; m.links().len()];
    left_out.iter().for_each(|l| is_left_out[l.index()] = true);
    let mut terms = vec![Vec::new(); m.joints().len()];
    for (i, output) in outputs.iter().enumerate() {
        for (c, weight) in &output.terms {
            let j = m.joint(c.joint);
            if !is_left_out[j.parent.index()] && !is_left_out[j.child.index()] {
                terms[c.joint.index()].push((i, m.velocity_index(*c), *weight));
            }
        }
    }
    terms
}

/// The joint of every velocity coordinate.
fn coordinate_owners(m: &Mechanism) -> Vec<JointId> {
    let mut owners = vec![JointId::new(0); m.velocity_count()];
    for id in (0..m.joints().len()).map(JointId::new) {
        owners[m.velocity_range(id)].fill(id);
    }
    owners
}

fn columns_matrix(motion: &ScaledMotion) -> Matrix {
    let columns: Vec<[f64; 6]> = motion.columns.as_slice().iter().map(|c| c.to_array()).collect();
    Matrix::from_fn(6, columns.len(), |i, j| columns[j][i])
}
