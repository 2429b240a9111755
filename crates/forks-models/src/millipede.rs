//! A long spine with many legs.

use crate::{Parametric, molecules::Rods};
use forks_mechanism::LinkId;

/// A millipede: per segment three spine rods, the last of which carries a leg of ten rods at its
/// far end; rods as in [`crate::molecules::chain`]. `millipede(1000, seed)` has a spine of 3,000
/// links and 1,000 legs: 13,000 links. Effector: the last spine rod.
pub fn millipede(segments: usize, seed: u64) -> Parametric {
    let segments = segments.max(1);
    let mut rods = Rods::new(format!("millipede-{}", 13 * segments), seed);
    let mut spine = LinkId::WORLD;
    for _ in 0..segments {
        spine = rods.add_chain(spine, 3);
        rods.add_chain(spine, 10);
    }
    rods.finish(spine)
}
