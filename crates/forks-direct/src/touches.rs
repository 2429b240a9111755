//! Contacts of a mechanism in a world, as touches that stay or as loads.

use forks_control::{controller::Touch, task::Frame};
use forks_mechanism::lie::{
    Pose, Wrench,
    glam::{DQuat, DVec3},
};
use forks_rom::{EffectorLoad, LoadFrame};
use forks_sim::{ContactPoint, MechanismHandle, Owner, World};

/// Sides of contacts of a mechanism that push in a world: effector, what is on the other side, and
/// the force on the effector's side over the impulse of the contact.
fn sides(
    world: &World,
    m: MechanismHandle,
) -> impl Iterator<Item = (usize, Owner, f64, &ContactPoint)> {
    world.contacts().iter().filter(|c| c.is_touching()).flat_map(move |c| {
        let [a, b] = c.owners;
        [(a, b, -1.0), (b, a, 1.0)].into_iter().filter_map(move |(own, other, sign)| match own {
            Owner::Effector { mechanism, effector } if mechanism == m => {
                Some((effector, other, sign, c))
            }
            _ => None,
        })
    })
}

/// Points at which effectors, whose frames are given, stand on what does not move.
pub(crate) fn touches(
    world: &World,
    m: MechanismHandle,
    stands: &[usize],
    frames: &[Frame],
) -> Vec<Touch> {
    let mut out = Vec::new();
    for &e in stands {
        let found: Vec<(f64, &ContactPoint)> = sides(world, m)
            .filter(|(own, other, ..)| *own == e && *other == Owner::World)
            .map(|(_, _, sign, c)| (sign, c))
            .collect();
        let Ok(pose) = world.effector_pose(m, e) else { continue };
        for (sign, c) in spread(found) {
            let up = DQuat::from_rotation_arc(DVec3::Z, (c.normal * sign).normalize());
            let point = Pose { rotation: up, translation: c.position };
            let at = frames[e];
            let link_from_frame = at.link_from_frame * (pose.inverse() * point);
            let frame = Frame { link: at.link, link_from_frame };
            out.push(Touch { frame, friction: world.friction(c), gap: 0.0 });
        }
    }
    out
}

/// Points of an effector that stand for all: one that pushes most, then those that are farthest
/// from the ones before.
fn spread(found: Vec<(f64, &ContactPoint)>) -> Vec<(f64, &ContactPoint)> {
    const MOST: usize = 4;
    if found.len() <= MOST {
        return found;
    }
    let force = |c: &&(f64, &ContactPoint)| c.1.impulse.length();
    let Some(first) = found.iter().max_by(|a, b| force(a).total_cmp(&force(b))) else {
        return found;
    };
    let mut out = vec![*first];
    while out.len() < MOST {
        let apart = |c: &&(f64, &ContactPoint)| {
            let from = out.iter().map(|o| o.1.position.distance(c.1.position));
            from.fold(f64::INFINITY, f64::min)
        };
        match found.iter().max_by(|a, b| apart(a).total_cmp(&apart(b))) {
            Some(next) => out.push(*next),
            None => break,
        }
    }
    out
}

/// Forces of all contacts of the last step but those at `stands` on the ground, as loads at the
/// effectors' origins, world axes.
pub(crate) fn loads(world: &World, m: MechanismHandle, stands: &[usize]) -> Vec<EffectorLoad> {
    let settings = world.settings();
    let rate = settings.substeps as f64 / settings.step;
    let mut out: Vec<EffectorLoad> = Vec::new();
    for (effector, other, sign, c) in sides(world, m) {
        if other == Owner::World && stands.contains(&effector) {
            continue;
        }
        let origin = world.effector_pose(m, effector).map_or(c.position, |p| p.translation);
        let force = c.impulse * (sign * rate);
        let wrench = Wrench::new(force, (c.position - origin).cross(force));
        match out.iter_mut().find(|l| l.effector == effector) {
            Some(l) => {
                l.wrench =
                    Wrench::new(l.wrench.force + wrench.force, l.wrench.torque + wrench.torque)
            }
            None => out.push(EffectorLoad { effector, wrench, frame: LoadFrame::World }),
        }
    }
    out
}
