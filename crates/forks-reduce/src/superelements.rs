//! Problems with superelements, whose outputs become links.

use forks_mechanism::{
    HeldFrame, Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder, Preparation,
    Superelement, lie::Twist,
};

use crate::{
    attached::Attached,
    drive::Drive,
    effector::Effector,
    error::ReduceError,
    problem::{Problem, ProblemOptions},
};

impl Problem {
    /// Prepares a mechanism with superelements, whose outputs become links that may be effectors.
    /// Their numbers are those of the start pose, or of the pose of the linearisations that
    /// follow ([`Problem::with_elements`]).
    ///
    /// # Errors
    /// As [`Problem::new`]; superelements that do not fit the mechanism, outputs named as a link.
    pub fn with_superelements(
        m: &Mechanism,
        elements: Vec<Superelement>,
        effectors: &[&str],
        options: &ProblemOptions,
    ) -> Result<Self, ReduceError> {
        let first = *effectors.first().ok_or(ReduceError::NoEffector)?;
        let mut q = m.start_positions();
        if let Some(start) = &options.start {
            let tree = m.tree_position_count().min(start.len());
            q[..tree].copy_from_slice(&start[..tree]);
            m.fit_closures(&mut q);
        }
        let poses = m.link_poses(&q);
        for e in &elements {
            e.check(m, &poses)?;
        }
        let frames = |e: &Superelement| e.frames.iter().map(|f| f.link).collect::<Vec<_>>();
        let of_output =
            |name: &str| elements.iter().find(|e| e.outputs.iter().any(|o| o.name == name));
        // What stands for an effector before the outputs are links.
        let stands_for = |name: &str| match of_output(name) {
            Some(e) => Ok(frames(e).into_iter().find(|l| *l != LinkId::WORLD)),
            None => Effector::find(m, name).map(|e| Some(e.link)),
        };
        let mut wanted: Vec<LinkId> = elements.iter().flat_map(frames).collect();
        for name in effectors {
            wanted.extend(stands_for(name)?);
        }
        wanted.retain(|l| *l != LinkId::WORLD);
        let free = stands_for(first)?.filter(|l| !held_by(&elements, m, *l, &q));
        let preparation = Preparation {
            hold_root_of: free,
            wanted,
            default_stiffness: options.default_stiffness,
            servos: options.servos,
            start: options.start.clone(),
        };
        let mut prepared = preparation.apply(m)?;
        let (mechanism, attached) = with_outputs(&prepared.mechanism, elements)?;
        let effectors: Vec<Effector> = effectors
            .iter()
            .map(|name| Effector::find(&mechanism, name))
            .collect::<Result<_, _>>()?;
        let servos = prepared
            .servo_springs
            .iter()
            .map(|(id, spring)| Drive::servo(&mechanism, &m.servos()[id.index()].name, *spring))
            .collect();
        let start = mechanism.start_positions();
        prepared.mechanism = mechanism;
        Ok(Self { prepared, effectors, servos, start, attached })
    }

    /// The same problem with the superelements of another pose; links and outputs stay. Positions
    /// of the problem's own mechanism at that pose are those that [`Problem::positions_of`] gives.
    ///
    /// # Errors
    /// Superelements that do not fit.
    pub fn with_elements(
        &self,
        elements: Vec<Superelement>,
        q: &[f64],
    ) -> Result<Self, ReduceError> {
        let mut out = self.clone();
        let (found, expected) = (elements.len(), self.attached.len());
        if found != expected {
            let quantity = "the list of superelements";
            return Err(ReduceError::WrongLength { quantity, found, expected });
        }
        let poses = self.mechanism().link_poses(q);
        for (a, element) in out.attached.iter_mut().zip(elements) {
            a.notes = element.check(self.mechanism(), &poses)?;
            a.element = element;
        }
        Ok(out)
    }

    /// Positions of the problem's mechanism for positions of the tree joints of the mechanism that
    /// it was made of; outputs stand where `elements` say.
    pub fn positions_of(&self, tree: &[f64], elements: &[Superelement]) -> Vec<f64> {
        let m = self.mechanism();
        let mut q = self.start.clone();
        q[..tree.len()].copy_from_slice(tree);
        for (a, e) in self.attached.iter().zip(elements) {
            for (&link, o) in a.outputs.iter().zip(&e.outputs) {
                let Some(edge) = m.forest().carrying_edge(link) else { continue };
                let j = m.joint(edge.joint);
                let first = &e.frames[0].link_from_frame;
                let at = j.parent_from_joint.inverse() * *first * o.frame_from_output;
                q[m.position_range(edge.joint)].copy_from_slice(&at.log().to_array());
            }
        }
        m.fit_closures(&mut q);
        q
    }
}

/// True if superelements tie the tree of a link to the ground, or to what is held: a lever on a
/// flexure that nothing else carries.
fn held_by(elements: &[Superelement], m: &Mechanism, link: LinkId, q: &[f64]) -> bool {
    let Some(own) = m.unheld_root(link, q) else { return false };
    let root = |f: &HeldFrame| m.unheld_root(f.link, q);
    // Trees that are tied together, root by root; `None` is what stands.
    let tied: Vec<Vec<Option<JointId>>> = (elements.iter())
        .filter(|e| e.stiffness.max_abs() > 0.0)
        .map(|e| e.frames.iter().map(root).collect())
        .collect();
    let mut held: Vec<Option<JointId>> = vec![None];
    loop {
        let more: Vec<_> = (tied.iter())
            .filter(|t| t.iter().any(|r| held.contains(r)))
            .flatten()
            .filter(|r| !held.contains(r))
            .copied()
            .collect();
        if more.is_empty() {
            return held.contains(&Some(own));
        }
        held.extend(more);
    }
}

/// The mechanism with a link for every output.
fn with_outputs(
    m: &Mechanism,
    elements: Vec<Superelement>,
) -> Result<(Mechanism, Vec<Attached>), ReduceError> {
    let mut b = MechanismBuilder::from_mechanism(m);
    let mut attached = Vec::with_capacity(elements.len());
    let poses = m.link_poses(&m.start_positions());
    for element in elements {
        let notes = element.check(m, &poses)?;
        let first = &element.frames[0];
        let mut outputs = Vec::with_capacity(element.outputs.len());
        for o in &element.outputs {
            let link = b.add_link(Link::new(&o.name));
            let subspace = (0..6).map(Twist::unit).collect();
            let name = format!("{} on {}", o.name, element.name);
            b.add_joint(
                Joint::new(name, JointKind::General { subspace }, first.link, link)
                    .at(first.link_from_frame * o.frame_from_output),
            );
            outputs.push(link);
        }
        attached.push(Attached { element, outputs, notes });
    }
    Ok((b.build()?, attached))
}
