//! What becomes possible when: closures, bushings, cables, superelements, couplings and springs
//! wait for their links and joints.

use forks_mechanism::{Coordinate, JointId, LinkId, Mechanism};

use crate::attached::Attached;

#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Close(usize),
    Bushing(usize),
    Cable(usize),
    Couple(usize),
    Spring(usize),
    Superelement(usize),
}

/// Counts down what each task still waits for.
pub(super) struct Agenda {
    tasks: Vec<(Task, usize)>,
    by_link: Vec<Vec<usize>>,
    by_joint: Vec<Vec<usize>>,
}

impl Agenda {
    pub(super) fn new(m: &Mechanism, attached: &[Attached]) -> Self {
        let mut a = Self {
            tasks: vec![],
            by_link: vec![vec![]; m.links().len()],
            by_joint: vec![vec![]; m.joints().len()],
        };
        for (i, &id) in m.forest().closures().iter().enumerate() {
            a.add_for_links(Task::Close(i), [m.joint(id).parent, m.joint(id).child]);
        }
        for (i, b) in m.bushings().iter().enumerate() {
            a.add_for_links(Task::Bushing(i), [b.link_a, b.link_b]);
        }
        for (i, c) in m.cables().iter().enumerate().filter(|(_, c)| !c.is_idle()) {
            a.add_for_links(Task::Cable(i), c.links());
        }
        for (i, s) in attached.iter().enumerate() {
            a.add_for_links(Task::Superelement(i), s.links());
        }
        for (i, c) in m.couplings().iter().enumerate() {
            a.add_for_joints(Task::Couple(i), c.terms.iter().flat_map(|t| &t.combination.terms));
        }
        for (i, c) in m.combination_springs().iter().enumerate() {
            a.add_for_joints(Task::Spring(i), c.combination.terms.iter());
        }
        a
    }

    fn add_for_links(&mut self, task: Task, links: impl IntoIterator<Item = LinkId>) {
        let t = self.tasks.len();
        let ends: Vec<LinkId> = links.into_iter().filter(|&l| l != LinkId::WORLD).collect();
        ends.iter().for_each(|l| self.by_link[l.index()].push(t));
        self.tasks.push((task, ends.len()));
    }

    fn add_for_joints<'b>(
        &mut self,
        task: Task,
        terms: impl Iterator<Item = &'b (Coordinate, f64)>,
    ) {
        let t = self.tasks.len();
        let mut joints: Vec<JointId> = terms.map(|(c, _)| c.joint).collect();
        joints.sort();
        joints.dedup();
        joints.iter().for_each(|j| self.by_joint[j.index()].push(t));
        self.tasks.push((task, joints.len()));
    }

    pub(super) fn link_done(&mut self, l: LinkId) -> Vec<Task> {
        Self::count_down(&mut self.tasks, &self.by_link[l.index()])
    }

    pub(super) fn joint_done(&mut self, j: JointId) -> Vec<Task> {
        Self::count_down(&mut self.tasks, &self.by_joint[j.index()])
    }

    fn count_down(tasks: &mut [(Task, usize)], waiting: &[usize]) -> Vec<Task> {
        let mut due = vec![];
        for &t in waiting {
            tasks[t].1 -= 1;
            if tasks[t].1 == 0 {
                due.push(tasks[t].0);
            }
        }
        due
    }
}
