//! Which shapes of one mechanism may touch each other, as MuJoCo has it.

use crate::{JointId, JointKind, LinkId, Mechanism};

impl Mechanism {
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

    /// The links at a joint's ends, child first, that are bodies and can move; massless ones
    /// between the joints of a body stand for it.
    pub fn moving_ends(&self, joint: JointId) -> [Option<LinkId>; 2] {
        let j = self.joint(joint);
        let mut child = j.child;
        while self.link(child).auxiliary {
            let carried = self.forest().edges().iter().find(|e| e.inner == child);
            let Some(e) = carried else { break };
            child = e.outer;
        }
        let mut parent = j.parent;
        while self.link(parent).auxiliary {
            let Some(e) = self.forest().carrying_edge(parent) else { break };
            parent = e.inner;
        }
        [child, parent].map(|l| (self.welded_body(l) != LinkId::WORLD).then_some(l))
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
