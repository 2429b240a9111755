//! From a mechanism as the user described it to the one that statics and reduction work on.
//!
//! A free root joint is held where nothing else holds its tree, free bodies beside the mechanism
//! stand still, springless coordinates may get a default spring, servos become springs that rest at
//! the start pose. Links, joints and their order stay the same.

use crate::{
    Cable, CableId, Combination, CombinationSpring, CombinationSpringId, Joint, JointId, JointKind,
    JointMatrix, JointSpring, LinkId, Mechanism, MechanismBuilder, ServoId, kinematics::loops,
    lie::Pose, spring::Transmission,
};

/// What to change before statics or reduction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preparation {
    /// Hold the free joint at the root of the tree that carries this link, where nothing else holds
    /// the tree ([`Mechanism::unheld_root`]).
    pub hold_root_of: Option<LinkId>,
    /// Links that matter: free bodies beside them ([`Mechanism::loose_links`]) stand still at the
    /// start pose, with all their joints, as nothing balances their weight. If empty, none does.
    pub wanted: Vec<LinkId>,
    /// Stiffness for every coordinate of a non-free joint whose own and servo stiffness are zero.
    pub default_stiffness: Option<f64>,
    /// Turn servos into springs that rest at the start pose; otherwise they are left out.
    pub servos: bool,
    /// Start pose (positions of the original mechanism's tree joints, further ones are not looked
    /// at); its own start pose if `None`.
    pub start: Option<Vec<f64>>,
}

/// The spring that stands for a servo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServoSpring {
    /// On a combination of coordinates.
    Combination(CombinationSpringId),
    /// A cable of its own along the path of the one that is driven.
    Cable(CableId),
}

impl From<CombinationSpringId> for ServoSpring {
    fn from(id: CombinationSpringId) -> Self {
        Self::Combination(id)
    }
}

impl From<CableId> for ServoSpring {
    fn from(id: CableId) -> Self {
        Self::Cable(id)
    }
}

/// A mechanism ready for statics and reduction.
#[derive(Clone, Debug)]
pub struct PreparedMechanism {
    /// The mechanism: same links and joints, in the same order.
    pub mechanism: Mechanism,
    /// The joint that was held, if any: it is of kind fixed now.
    pub held: Option<JointId>,
    /// Links of free bodies beside the mechanism that stand still.
    pub left_out: Vec<LinkId>,
    /// The springs that stand for servos, all of them; those of links that stand still move
    /// nothing.
    pub servo_springs: Vec<(ServoId, ServoSpring)>,
    /// Joints that stand still at the start pose.
    still: Vec<bool>,
    start: Vec<f64>,
}

impl Preparation {
    /// Applies the changes.
    ///
    /// # Errors
    /// A default stiffness or start pose that is not valid.
    pub fn apply(&self, original: &Mechanism) -> Result<PreparedMechanism, crate::BuildError> {
        let mut start = original.start_positions();
        if let Some(given) = &self.start {
            let expected = original.tree_position_count();
            let Some(tree) = given.get(..expected) else {
                return Err(crate::BuildError::WrongLength {
                    element: format!("start pose of '{}'", original.name()),
                    quantity: "positions",
                    found: given.len(),
                    expected,
                });
            };
            start[..expected].copy_from_slice(tree);
            original.fit_closures(&mut start);
        }
        let mut b = MechanismBuilder::from_mechanism(original);
        for (i, j) in b.joints_mut().iter_mut().enumerate() {
            j.start = start[original.position_range(JointId::new(i))].to_vec();
        }
        if let Some(k) = self.default_stiffness {
            add_default_springs(original, &mut b, k, self.servos);
        }
        let left_out = match &self.wanted[..] {
            [] => vec![],
            wanted => original.loose_links(wanted),
        };
        let mut still = vec![false; original.joints().len()];
        if !left_out.is_empty() {
            stand_still(original, &mut b, &left_out, &start, &mut still);
        }
        let mut servo_springs = Vec::new();
        if self.servos {
            let poses = original.link_poses(&start);
            for (i, s) in original.servos().iter().enumerate() {
                if let Transmission::Cable(id) = s.transmission {
                    let rest = [original.cable(id).length(&poses); 2];
                    let (name, stiffness, damping) = (s.name.clone(), s.stiffness, s.damping);
                    let branches = original.cable(id).branches.clone();
                    let cable = Cable { name, branches, stiffness, damping, rest };
                    servo_springs.push((ServoId::new(i), ServoSpring::Cable(b.add_cable(cable))));
                    continue;
                }
                let stands = s.combination.terms.iter().any(|(c, _)| still[c.joint.index()]);
                let terms = if stands { vec![] } else { s.combination.terms.clone() };
                let spring = CombinationSpring {
                    name: s.name.clone(),
                    combination: Combination { terms, offset: s.combination.offset },
                    stiffness: s.stiffness,
                    damping: s.damping,
                    rest: match stands {
                        true => s.combination.offset,
                        false => loops::combination_value(original, &s.combination, &start),
                    },
                };
                let spring = ServoSpring::Combination(b.add_combination_spring(spring));
                servo_springs.push((ServoId::new(i), spring));
            }
        }
        let held = match self.hold_root_of.filter(|&l| original.free_root(l).is_some()) {
            Some(link) => {
                // Springs count as they are now.
                b.clear_keyframes();
                let m = b.clone().build()?;
                m.unheld_root(link, &m.start_positions())
            }
            None => None,
        };
        if let Some(id) = held {
            hold(&mut b, id);
            still[id.index()] = true;
        }
        // Keyframes are for the original coordinates.
        b.clear_keyframes();
        Ok(PreparedMechanism { mechanism: b.build()?, held, left_out, servo_springs, still, start })
    }
}

impl PreparedMechanism {
    /// A mechanism as it is.
    pub fn unchanged(mechanism: Mechanism) -> Self {
        let (still, start) = (vec![false; mechanism.joints().len()], mechanism.start_positions());
        let (held, left_out, servo_springs) = (None, vec![], vec![]);
        Self { mechanism, held, left_out, servo_springs, still, start }
    }

    /// Positions of the original mechanism's tree joints for positions of the prepared one.
    pub fn original_positions(&self, original: &Mechanism, q: &[f64]) -> Vec<f64> {
        let mut out = self.start[..original.tree_position_count()].to_vec();
        for i in 0..original.joints().len() {
            let id = JointId::new(i);
            let target = original.position_range(id);
            if self.still[i] || target.end > out.len() {
                continue;
            }
            out[target].copy_from_slice(&q[self.mechanism.position_range(id)]);
        }
        out
    }
}

impl Mechanism {
    /// The same mechanism with the spring and damper that each servo is, at rest at positions `q`,
    /// added to the spring and damper of its joint; and the servos for which that is not possible:
    /// those that move several coordinates, or one of several of a joint with another spring.
    ///
    /// # Errors
    /// Positions that are not valid as rest positions.
    pub fn with_servos_in_joints(
        &self,
        q: &[f64],
    ) -> Result<(Self, Vec<ServoId>), crate::BuildError> {
        let mut b = MechanismBuilder::from_mechanism(self);
        let mut others = vec![];
        for (i, s) in self.servos().iter().enumerate() {
            let [(c, a)] = s.combination.terms[..] else {
                others.push(ServoId::new(i));
                continue;
            };
            let at = &q[self.position_range(c.joint)];
            let j = &mut b.joints_mut()[c.joint.index()];
            let (n, k) = (j.dof(), s.stiffness * a * a);
            let spring = j.spring.get_or_insert_with(|| JointSpring {
                stiffness: JointMatrix::zeros(n),
                rest: at.to_vec(),
            });
            let own = spring.stiffness.get(c.index, c.index);
            if n > 1 && spring.rest != at {
                others.push(ServoId::new(i));
                continue;
            }
            if own + k > 0.0 {
                spring.rest[c.index] = (own * spring.rest[c.index] + k * at[c.index]) / (own + k);
            }
            spring.stiffness.set(c.index, c.index, own + k);
            let damping = j.damping.get(c.index, c.index);
            j.damping.set(c.index, c.index, damping + s.damping * a * a);
        }
        Ok((b.build()?, others))
    }

    /// The same mechanism with every spring, cable and bushing at rest at positions `q`.
    ///
    /// # Errors
    /// Positions that are not valid as rest positions.
    pub fn unstressed_at(&self, q: &[f64]) -> Result<Mechanism, crate::BuildError> {
        let poses = self.link_poses(q);
        let mut b = MechanismBuilder::from_mechanism(self);
        for (i, j) in b.joints_mut().iter_mut().enumerate() {
            if let Some(s) = &mut j.spring {
                s.rest = q[self.position_range(JointId::new(i))].to_vec();
            }
        }
        for s in b.combination_springs_mut() {
            s.rest = loops::combination_value(self, &s.combination, q);
        }
        for c in b.cables_mut() {
            c.rest = c.rest_unstressed_at(c.length(&poses));
        }
        for x in b.bushings_mut() {
            // The stiffness is given in the second link's frame: the first one's moves.
            let second = poses[x.link_b.index()] * x.b_from_bushing;
            x.a_from_bushing = poses[x.link_a.index()].inverse() * second;
        }
        b.build()
    }
}

fn hold(b: &mut MechanismBuilder, id: JointId) {
    let j = &mut b.joints_mut()[id.index()];
    j.parent_from_joint = j.parent_from_joint * j.kind.motion(&j.start);
    fix(j);
}

fn fix(j: &mut Joint) {
    j.held = j.dof() > 0;
    j.kind = JointKind::Fixed;
    j.start.clear();
    j.reference.clear();
    j.armature.clear();
    j.friction.clear();
    j.limits.clear();
    j.damping = JointMatrix::zeros(0);
    j.spring = None;
}

/// Fixes all joints among `links`, which nothing ties to other links, where they are at the start.
/// Links on a free joint are fixed to the ground, so that they load nothing.
fn stand_still(
    original: &Mechanism,
    b: &mut MechanismBuilder,
    links: &[LinkId],
    start: &[f64],
    still: &mut [bool],
) {
    let mut loose = vec![false; original.links().len()];
    links.iter().for_each(|l| loose[l.index()] = true);
    let poses = original.link_poses(start);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        let (parent, child) = (loose[j.parent.index()], loose[j.child.index()]);
        if !parent && !child {
            continue;
        }
        still[i] = true;
        if !parent {
            j.parent = LinkId::WORLD;
        }
        if !child {
            j.child = LinkId::WORLD;
        }
        let pose = |l: LinkId| if l == LinkId::WORLD { Pose::IDENTITY } else { poses[l.index()] };
        j.parent_from_joint = pose(j.parent).inverse() * pose(j.child) * j.child_from_joint;
        fix(j);
    }
    b.remove_combinations_of(still);
}

/// Tendons, sprung or driven, do not count as stiffness of a coordinate; servos only where they are
/// used.
fn add_default_springs(original: &Mechanism, b: &mut MechanismBuilder, k: f64, servos: bool) {
    let mut driven: Vec<Vec<bool>> =
        original.joints().iter().map(|j| vec![false; j.dof()]).collect();
    for s in original.servos().iter().filter(|_| servos) {
        if s.transmission == Transmission::Joint && s.stiffness != 0.0 {
            for (c, _) in &s.combination.terms {
                driven[c.joint.index()][c.index] = true;
            }
        }
    }
    let closures: Vec<JointId> = original.forest().closures().to_vec();
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        if matches!(j.kind, JointKind::Free) || closures.contains(&JointId::new(i)) || j.dof() == 0
        {
            continue;
        }
        let mut spring = j.spring.clone().unwrap_or_else(|| JointSpring {
            stiffness: JointMatrix::zeros(j.dof()),
            rest: j.start.clone(),
        });
        let empty: Vec<usize> =
            (0..j.dof()).filter(|&c| spring.stiffness.is_zero_row(c) && !driven[i][c]).collect();
        if empty.is_empty() {
            continue;
        }
        for &c in &empty {
            spring.stiffness.set(c, c, k);
            // The new spring rests at the start pose; its neighbours keep their own rest.
            if j.kind.has_scalar_coordinates() {
                spring.rest[c] = j.start[c];
            }
        }
        if empty.len() == j.dof() {
            spring.rest.clone_from(&j.start);
        }
        j.spring = Some(spring);
    }
}
