//! Which shapes of one mechanism may touch each other, as MuJoCo has it.

use crate::{JointKind, LinkId, Mechanism, Shape};

impl Mechanism {
    /// True if two shapes may touch each other: their masks meet, and so may their links.
    pub fn shapes_may_touch(&self, a: &Shape, b: &Shape) -> bool {
        a.mask.meets(b.mask) && self.links_may_touch(a.link, b.link)
    }

    /// True if shapes of two links may touch each other.
    ///
    /// Links that are welded together count as one body. Shapes of one body do not touch, nor do
    /// those of a body and of the one that carries it, which meet in their joint; but what the
    /// ground carries may touch the ground. Nor do those of links that are
    /// [excluded](crate::MechanismBuilder::exclude_contact). Joints that close loops and couplings
    /// change nothing.
    pub fn links_may_touch(&self, a: LinkId, b: LinkId) -> bool {
        if self.exclusions().iter().any(|p| *p == [a, b] || *p == [b, a]) {
            return false;
        }
        let [one, two] = [a, b].map(|l| self.welded_body(l));
        let grounded = one == LinkId::WORLD || two == LinkId::WORLD;
        let carries = |one, two| self.carrying_body(two) == Some(one);
        one != two && (grounded || !(carries(one, two) || carries(two, one)))
    }

    /// The link nearest to the ground among those that are welded to a link; the ground if it is
    /// welded to that.
    pub fn welded_body(&self, link: LinkId) -> LinkId {
        let welds = |joint| matches!(self.joint(joint).kind, JointKind::Fixed);
        let path = self.forest().path_to_ground(link).take_while(|e| welds(e.joint));
        path.last().map_or(link, |e| e.inner)
    }

    /// The [body](Mechanism::welded_body) that carries another; `None` for the ground. Massless
    /// links between the joints of one body are none.
    pub fn carrying_body(&self, body: LinkId) -> Option<LinkId> {
        let mut path = self.forest().path_to_ground(body).map(|e| e.inner);
        path.find(|l| !self.link(*l).auxiliary).map(|l| self.welded_body(l))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContactMask, Joint, Link, MechanismBuilder, lie::glam::DVec3};

    /// World, welded foot, turning `a`, on two joints `b`, welded to it `tip`, on that `c`.
    fn chain() -> Mechanism {
        let mut m = MechanismBuilder::new("chain");
        let hinge = || JointKind::Revolute { axis: DVec3::Y };
        let steps = [
            ("foot", JointKind::Fixed, false),
            ("a", hinge(), false),
            ("between", hinge(), true),
            ("b", hinge(), false),
            ("tip", JointKind::Fixed, false),
            ("c", hinge(), false),
            ("d", hinge(), false),
        ];
        let mut parent = LinkId::WORLD;
        for (name, kind, auxiliary) in steps {
            let link = Link::new(name);
            let link = m.add_link(if auxiliary { link.auxiliary() } else { link });
            m.add_joint(Joint::new(name, kind, parent, link));
            parent = link;
        }
        let [c, a] = [6, 2].map(LinkId::new);
        m.exclude_contact(c, a);
        m.build().unwrap()
    }

    #[test]
    fn neighbours_and_excluded_links_do_not_touch() {
        let m = chain();
        let link = |name: &str| m.find_link(name).unwrap();
        // MuJoCo 4.0.0 has contacts for the same pairs where spheres of 1 m are on all bodies.
        let expected = [
            ("world", "foot", false),
            ("world", "a", true),
            ("foot", "a", true),
            ("a", "b", false),
            ("a", "tip", false),
            ("b", "tip", false),
            ("tip", "c", false),
            ("b", "c", false),
            ("a", "c", false),
            ("a", "d", true),
            ("b", "d", true),
            ("c", "d", false),
        ];
        for (a, b, may) in expected {
            let [i, j] = [link(a), link(b)];
            assert_eq!(m.links_may_touch(i, j), may, "{a}, {b}");
            assert_eq!(m.links_may_touch(j, i), may, "{b}, {a}");
        }
    }

    #[test]
    fn masks_meet_one_way_or_the_other() {
        let mask = |own, touches| ContactMask { own, touches };
        assert!(ContactMask::default().meets(ContactMask::default()));
        assert!(mask(2, 0).meets(mask(0, 2)) && mask(0, 2).meets(mask(2, 0)));
        assert!(!mask(1, 0).meets(mask(1, 0)) && !mask(1, 2).meets(mask(1, 4)));
    }
}
