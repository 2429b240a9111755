//! A mechanism in Rapier, the rival that runs in process: one rigid body per link without
//! colliders, hinges and balls as Rapier's joints, springs and dampers as its joint springs
//! (multibodies) or motors (impulse joints).
//!
//! Loops: joints that close them are impulse joints in both variants. Only with feature `rapier`,
//! which CI does not build: `cargo test -p forks-benches --features rapier` checks that it is the
//! same mechanism.

use forks_mechanism::{
    Joint, JointKind, LinkId, Mechanism,
    lie::{
        Pose, SpatialInertia,
        glam::{DQuat, DVec3},
    },
};
use rapier3d_f64::{
    math::Pose as RapierPose,
    prelude::{
        GenericJoint, GenericJointBuilder, IntegrationParameters, JointAxesMask, JointAxis,
        MassProperties, MotorModel, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle,
    },
};

/// How Rapier holds the tree joints together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RapierJoints {
    /// Reduced coordinates; a spring is Rapier's own of a joint coordinate, integrated implicitly.
    /// (Joint motors as springs were tried: no faster, and at steps of 1/60 s the helices do not
    /// stay finite.)
    Multibody,
    /// One constraint of maximal coordinates per locked direction; a spring is a joint motor.
    Impulse,
}

/// A mechanism in a Rapier world without gravity, contacts and sleep.
pub struct RapierWorld {
    world: PhysicsWorld,
    /// The body of every link, the ground first.
    bodies: Vec<RigidBodyHandle>,
}

impl RapierWorld {
    /// Puts a mechanism into its start pose at rest.
    ///
    /// `iterations` are Rapier's solver iterations, each of which is a substep; `None` for its
    /// default.
    ///
    /// # Errors
    /// What this file does not translate: joints other than hinges and balls, springs of balls and
    /// springs that are stressed at the start, couplings, bushings, servos, massless links.
    pub fn new(
        m: &Mechanism,
        joints: RapierJoints,
        dt: f64,
        iterations: Option<usize>,
    ) -> Result<Self, String> {
        let others = m.couplings().len()
            + m.combination_springs().len()
            + m.bushings().len()
            + m.servos().len();
        if others > 0 {
            return Err("couplings, bushings and servos are not translated".into());
        }
        let mut integration = IntegrationParameters { dt, ..Default::default() };
        if let Some(n) = iterations {
            integration.num_solver_iterations = n;
        }
        let mut world = PhysicsWorld {
            gravity: DVec3::ZERO,
            integration_parameters: integration,
            ..Default::default()
        };
        let poses = m.link_poses(&m.start_positions());
        let bodies = insert_bodies(&mut world, m, &poses)?;
        let mut this = Self { world, bodies };
        for e in m.forest().edges() {
            if e.reversed {
                return Err(format!("joint '{}' points at the ground", m.joint_label(e.joint)));
            }
            let j = m.joint(e.joint);
            match joints {
                RapierJoints::Impulse => this.insert_impulse(j)?,
                RapierJoints::Multibody => this.insert_multibody(j)?,
            }
        }
        for &id in m.forest().closures() {
            this.insert_impulse(m.joint(id))?;
        }
        Ok(this)
    }

    /// A force with fixed world components on a link from now on. It acts at the frame's origin;
    /// its moment about the centre of mass stays what it is now.
    pub fn push(&mut self, m: &Mechanism, link: LinkId, force: DVec3) {
        let body = &mut self.world.bodies[self.bodies[link.index()]];
        // Rapier's own centre of mass is not up to date before the first step.
        let arm = body.position().rotation * m.link(link).inertia.center_of_mass;
        body.add_force(force, true);
        body.add_torque(-arm.cross(force), true);
    }

    /// One step of dt; Rapier updates the poses of all bodies in it.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// World poses of all links, the ground first.
    pub fn poses(&self) -> Vec<Pose> {
        let pose = |h: &RigidBodyHandle| {
            let p = self.world.bodies[*h].position();
            Pose::new(p.rotation, p.translation)
        };
        self.bodies.iter().map(pose).collect()
    }

    /// Mass that can move, kg.
    pub fn moving_mass(&self) -> f64 {
        self.bodies[1..].iter().map(|&h| self.world.bodies[h].mass()).sum()
    }

    fn insert_impulse(&mut self, j: &Joint) -> Result<(), String> {
        let [a, b] = [j.parent, j.child].map(|l| self.bodies[l.index()]);
        self.world.insert_impulse_joint(a, b, with_motor(j, translate(j)?)?);
        Ok(())
    }

    fn insert_multibody(&mut self, j: &Joint) -> Result<(), String> {
        let [a, b] = [j.parent, j.child].map(|l| self.bodies[l.index()]);
        let (stiffness, damping) = compliance(j)?;
        let handle = self
            .world
            .insert_multibody_joint(a, b, translate(j)?)
            .ok_or_else(|| format!("joint '{}' is none of a tree", j.name))?;
        let (multibody, link) =
            self.world.multibody_joints.get_mut(handle).ok_or("a joint got lost")?;
        let link = multibody.link_mut(link).ok_or("a link got lost")?;
        let (first, count) = (link.assembly_id(), link.joint().ndofs());
        link.joint.set_spring(JointAxis::AngX as usize, stiffness, 0.0);
        // Rapier gives every angle a damping of its own, 0.1, unless it is overwritten.
        multibody.damping_mut().rows_mut(first, count).fill(damping);
        Ok(())
    }
}

fn insert_bodies(
    world: &mut PhysicsWorld,
    m: &Mechanism,
    poses: &[Pose],
) -> Result<Vec<RigidBodyHandle>, String> {
    let mut bodies = Vec::with_capacity(poses.len());
    for (i, (link, pose)) in m.links().iter().zip(poses).enumerate() {
        let body = if i == 0 {
            RigidBodyBuilder::fixed()
        } else if link.inertia.mass > 0.0 {
            RigidBodyBuilder::dynamic()
                .additional_mass_properties(mass_properties(&link.inertia))
                .can_sleep(false)
        } else {
            return Err(format!("link '{}' has no mass", link.name));
        };
        bodies.push(world.insert_body(body.pose(to_rapier(pose))));
    }
    Ok(bodies)
}

fn mass_properties(i: &SpatialInertia) -> MassProperties {
    MassProperties::with_inertia_matrix(i.center_of_mass, i.mass, i.inertia)
}

fn to_rapier(p: &Pose) -> RapierPose {
    RapierPose::from_parts(p.translation, p.rotation)
}

/// The joint without its spring; a hinge turns about x of Rapier's joint frame.
fn translate(j: &Joint) -> Result<GenericJoint, String> {
    let (locked, turn) = match j.kind {
        JointKind::Revolute { axis } => {
            (JointAxesMask::LOCKED_REVOLUTE_AXES, DQuat::from_rotation_arc(DVec3::X, axis))
        }
        JointKind::Spherical => (JointAxesMask::LOCKED_SPHERICAL_AXES, DQuat::IDENTITY),
        _ => return Err(format!("joint '{}' is {}", j.name, j.kind.name())),
    };
    if j.start.iter().zip(&j.reference).any(|(a, b)| a != b) || j.armature.iter().any(|a| *a != 0.0)
    {
        return Err(format!("joint '{}' does not start at its zero pose", j.name));
    }
    let frame = Pose::from_rotation(turn);
    Ok(GenericJointBuilder::new(locked)
        .local_frame1(to_rapier(&(j.parent_from_joint * frame)))
        .local_frame2(to_rapier(&(j.child_from_joint * frame)))
        .contacts_enabled(false)
        .build())
}

/// With stiffness and damping as a motor that holds angle 0.
fn with_motor(j: &Joint, mut data: GenericJoint) -> Result<GenericJoint, String> {
    let (stiffness, damping) = compliance(j)?;
    if stiffness != 0.0 || damping != 0.0 {
        data.set_motor_model(JointAxis::AngX, MotorModel::ForceBased);
        data.set_motor(JointAxis::AngX, 0.0, 0.0, stiffness, damping);
    }
    Ok(data)
}

/// Stiffness and damping of a hinge; both 0 for a ball.
fn compliance(j: &Joint) -> Result<(f64, f64), String> {
    let hinge = matches!(j.kind, JointKind::Revolute { .. });
    let unstressed = j.spring.as_ref().is_none_or(|s| s.rest == j.start);
    let plain = hinge || (j.spring.is_none() && j.damping.is_zero());
    if !(unstressed && plain) {
        return Err(format!("the spring of joint '{}' is not translated", j.name));
    }
    if !hinge {
        return Ok((0.0, 0.0));
    }
    let stiffness = j.spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0));
    Ok((stiffness, j.damping.get(0, 0)))
}

#[cfg(test)]
mod tests {
    use forks_dynamics::integrate::{Simulation, SimulationOptions, SimulationStatus};
    use forks_mechanism::lie::Wrench;
    use forks_models::{HelixJoints, Parametric};

    use super::*;

    const STEPS: usize = 100;
    const H: f64 = 1e-3;
    const FORCE: f64 = 100.0;

    fn cases() -> [Parametric; 3] {
        [
            forks_models::helix(20, HelixJoints::Alternating),
            forks_models::ladder(4),
            forks_models::arm20(),
        ]
    }

    /// Where the first effector's frame goes in the full solver's implicit steps.
    fn displacement(p: &Parametric, h: f64, steps: usize) -> DVec3 {
        let (m, e) = (&p.mechanism, p.effectors[0].index());
        let mut q = m.start_positions();
        q.truncate(m.tree_position_count());
        let still = vec![0.0; m.tree_velocity_count()];
        let mut s = Simulation::new(m, &q, &still, SimulationOptions::default());
        let (start, force) = (s.link_poses()[e], DVec3::X * FORCE);
        for _ in 0..steps {
            let mut wrenches = vec![Wrench::ZERO; m.links().len()];
            // As in Rapier: the moment about the centre of mass stays what it is at the start.
            let turn = s.link_poses()[e].rotation;
            let arm = |turn: DQuat| turn * m.links()[e].inertia.center_of_mass;
            let torque = (arm(turn) - arm(start.rotation)).cross(force);
            wrenches[e] = Wrench::new(turn.conjugate() * force, turn.conjugate() * torque);
            s.set_loads(&still, &wrenches);
            assert_eq!(s.step(h), SimulationStatus::Completed);
        }
        s.link_poses()[e].translation - start.translation
    }

    #[test]
    fn masses_and_start_poses_are_the_mechanisms() {
        for p in cases() {
            let m = &p.mechanism;
            for joints in [RapierJoints::Multibody, RapierJoints::Impulse] {
                let mut w = RapierWorld::new(m, joints, H, None).unwrap();
                w.step();
                assert!((w.moving_mass() - m.moving_mass()).abs() < 1e-12 * m.moving_mass());
                // Nothing moves what is at rest: Rapier's frames accumulate rounding along the
                // chain.
                let expected = m.link_poses(&m.start_positions());
                for (a, b) in w.poses().iter().zip(expected) {
                    let d = a.twist_to(&b);
                    assert!(d.linear.length() + d.angular.length() < 1e-12, "{}: {d:?}", m.name());
                }
            }
        }
    }

    /// Rapier's multibody with one iteration is of first order like our implicit scheme: the two
    /// differ by less than ours changes when the step is refined.
    #[test]
    fn a_multibody_moves_like_the_full_solver() {
        for p in cases() {
            let m = &p.mechanism;
            let (coarse, fine) = (displacement(&p, H, STEPS), displacement(&p, H / 4.0, 4 * STEPS));
            let start = m.link_poses(&m.start_positions())[p.effectors[0].index()].translation;
            let mut w = RapierWorld::new(m, RapierJoints::Multibody, H, Some(1)).unwrap();
            w.push(m, p.effectors[0], DVec3::X * FORCE);
            (0..STEPS).for_each(|_| w.step());
            let theirs = w.poses()[p.effectors[0].index()].translation - start;
            let (difference, refined) = (theirs.distance(coarse), coarse.distance(fine));
            assert!(difference < refined, "{}: {theirs} against {coarse}", m.name());
        }
    }

    #[test]
    fn what_is_not_translated_is_refused() {
        let p = forks_models::octahedral_truss();
        let world = RapierWorld::new(&p.mechanism, RapierJoints::Multibody, H, None);
        assert!(world.is_err());
    }
}
