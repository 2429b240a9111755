//! Forces of dampers: joints, combinations and bushings, on all coordinates (closing joints included).

use forks_mechanism::{
    JointId, Mechanism,
    lie::{Twist, Wrench},
    pull_back_wrenches,
};

use super::motion::TreeMotion;
use crate::springs::bushing_frames;

/// Adds −Dθ̇ of every damper to `f`; `q`, `v` and `f` of the whole mechanism.
pub(crate) fn add_damping(m: &Mechanism, motion: &TreeMotion, q: &[f64], v: &[f64], f: &mut [f64]) {
    for (i, j) in m.joints().iter().enumerate() {
        let range = m.velocity_range(JointId::new(i));
        let d = j.dof();
        for a in 0..d {
            let rate: f64 = (0..d).map(|b| j.damping.get(a, b) * v[range.start + b]).sum();
            f[range.start + a] -= rate;
        }
    }
    for s in m.combination_springs().iter().filter(|s| s.damping != 0.0) {
        let rate: f64 = s.combination.terms.iter().map(|(c, a)| a * v[m.velocity_index(*c)]).sum();
        for (c, a) in &s.combination.terms {
            f[m.velocity_index(*c)] -= a * s.damping * rate;
        }
    }
    if m.bushings().is_empty() {
        return;
    }
    let pulled = pull_back_wrenches(m, q, &bushing_wrenches(m, motion));
    f.iter_mut().zip(pulled).for_each(|(f, p)| *f += p);
}

/// Twist of a bushing's second frame relative to its first, in the second frame.
pub(crate) fn bushing_rate(m: &Mechanism, motion: &TreeMotion, i: usize) -> Twist {
    let b = &m.bushings()[i];
    let (_, world_from_b) = bushing_frames(b, &motion.world_from_link);
    let at_b = |link: usize| {
        let frame_from_link = world_from_b.inverse() * motion.world_from_link[link];
        frame_from_link.adjoint().apply(motion.twists[link])
    };
    at_b(b.link_b.index()) - at_b(b.link_a.index())
}

fn bushing_wrenches(m: &Mechanism, motion: &TreeMotion) -> Vec<Wrench> {
    let mut out = vec![Wrench::ZERO; m.links().len()];
    for (i, b) in m.bushings().iter().enumerate() {
        let rate = bushing_rate(m, motion, i);
        let force = Wrench::from_array(b.damping.mul_vec(&rate.to_array()).map(|x| -x));
        let poses = &motion.world_from_link;
        let (_, world_from_frame) = bushing_frames(b, poses);
        let mut act = |link: usize, w: Wrench| {
            let link_from_frame = poses[link].inverse() * world_from_frame;
            out[link] += link_from_frame.adjoint().apply_to_wrench(w);
        };
        act(b.link_b.index(), force);
        act(b.link_a.index(), -force);
    }
    out
}
