//! Variants of the mechanisms of the list that nobody looked at: other axes, other effectors.

use forks_mechanism::{
    LinkId, Mechanism,
    lie::{SplitMix64, glam::DVec3},
};

/// A variant's letter and what is other than in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// `-a`: the axis turned over.
    TurnedOver,
    /// `-b`: an axis at random, in the plane in which a planar mechanism moves.
    Turned,
    /// `-c`: another link as effector.
    Elsewhere,
    /// `-m`: two to four effectors, the list's first.
    Many,
}

pub(super) const ALL: [(char, Variant); 4] = [
    ('a', Variant::TurnedOver),
    ('b', Variant::Turned),
    ('c', Variant::Elsewhere),
    ('m', Variant::Many),
];

/// Most effectors of a variant.
const MOST: usize = 4;

impl Variant {
    /// Axis and effectors of the variant of a mechanism of the list; the same for a name always.
    pub(super) fn of(
        self,
        name: &str,
        m: &Mechanism,
        (effectors, axis, planar): (&[String], DVec3, bool),
    ) -> (Vec<String>, DVec3) {
        let seed = name.bytes().fold(7, |h: u64, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let mut rng = SplitMix64::new(seed);
        let links = moving(m);
        let mut pick = |taken: &[String]| -> Option<String> {
            let free: Vec<&String> = links.iter().filter(|l| !taken.contains(l)).collect();
            (!free.is_empty()).then(|| free[rng.below(free.len())].clone())
        };
        match self {
            Self::TurnedOver => (effectors.to_vec(), -axis),
            Self::Turned => {
                let way = rng.direction();
                let flat = DVec3::new(way.x, 0.0, way.z);
                (effectors.to_vec(), if planar { flat } else { way })
            }
            Self::Elsewhere => {
                (pick(effectors).map_or_else(|| effectors.to_vec(), |other| vec![other]), axis)
            }
            Self::Many => {
                let mut all = effectors.to_vec();
                let count = 2 + seed as usize % (MOST - 1);
                while all.len() < count
                    && let Some(other) = pick(&all)
                {
                    all.push(other);
                }
                (all, axis)
            }
        }
    }
}

/// Names of the links that joints carry.
fn moving(m: &Mechanism) -> Vec<String> {
    let outer = m.forest().edges().iter().map(|e| e.outer);
    let fixed = |l: &LinkId| m.link(*l).name.is_empty();
    outer.filter(|l| !fixed(l)).map(|l| m.link(l).name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_differ_from_the_list_where_they_say_and_are_the_same_each_time() {
        let m = forks_models::arm20().mechanism;
        let list = (&["arm0".to_owned()][..], DVec3::Z, true);
        let of = |v: Variant| v.of("arm-c", &m, list);
        assert_eq!(of(Variant::TurnedOver), (list.0.to_vec(), -DVec3::Z));
        let (effectors, axis) = of(Variant::Turned);
        assert!(effectors == list.0 && axis != DVec3::Z && axis.y == 0.0);
        let (effectors, axis) = of(Variant::Elsewhere);
        assert!(effectors.len() == 1 && effectors != list.0 && axis == DVec3::Z);
        let (effectors, _) = of(Variant::Many);
        assert!((2..=MOST).contains(&effectors.len()) && effectors[0] == list.0[0]);
        assert_eq!(of(Variant::Many), of(Variant::Many));
    }
}
