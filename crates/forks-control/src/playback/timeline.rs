//! States over time, to go back to: snapshots, inputs between them, branches.

/// A place on a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The branch, from zero in the order in which they began.
    pub branch: usize,
    /// Steps since the beginning of everything.
    pub step: usize,
}

/// A place that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no step {step} on branch {branch}: it ends at {end}, of {branches} branches")]
pub struct TimelineError {
    /// The branch that was asked for.
    pub branch: usize,
    /// The step.
    pub step: usize,
    /// Last step of the branch; 0 without it.
    pub end: usize,
    /// How many branches there are.
    pub branches: usize,
}

/// The part of a timeline from where it left another one.
#[derive(Clone, Debug)]
struct Branch<S, I> {
    parent: Option<usize>,
    /// Step at which it begins.
    start: usize,
    /// One per step.
    inputs: Vec<I>,
    /// Steps and states, the first one at `start`.
    snapshots: Vec<(usize, S)>,
    /// Steps between snapshots.
    every: usize,
}

/// States `S` that inputs `I` move on, with the way back.
///
/// A state is kept every so many steps, and all inputs; going back restores the last snapshot and
/// replays the inputs, so that a step that is a function of state and input gives the same bits.
/// A step after going back starts a branch. No branch keeps more snapshots than are allowed: where
/// they are full every second one goes and the rest is twice as far apart.
#[derive(Clone, Debug)]
pub struct Timeline<S, I> {
    branches: Vec<Branch<S, I>>,
    state: S,
    at: At,
    every: usize,
    most: usize,
}

impl<S: Clone, I> Timeline<S, I> {
    /// From a state on, with a snapshot every `every` steps (at least 1) and at most `most` of them
    /// per branch (at least 2).
    pub fn new(state: S, every: usize, most: usize) -> Self {
        let (every, most) = (every.max(1), most.max(2));
        let snapshots = vec![(0, state.clone())];
        let first = Branch { parent: None, start: 0, inputs: vec![], snapshots, every };
        Self { branches: vec![first], state, at: At { branch: 0, step: 0 }, every, most }
    }

    /// The state now.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Where it is.
    pub fn at(&self) -> At {
        self.at
    }

    /// Number of branches.
    pub fn branch_count(&self) -> usize {
        self.branches.len()
    }

    /// First and last step of a branch, and the branch that it left.
    pub fn branch(&self, branch: usize) -> Option<(usize, usize, Option<usize>)> {
        self.branches.get(branch).map(|b| (b.start, b.start + b.inputs.len(), b.parent))
    }

    /// Number of snapshots of all branches.
    pub fn snapshot_count(&self) -> usize {
        self.branches.iter().map(|b| b.snapshots.len()).sum()
    }

    /// Moves on by one step; behind the end of its branch it begins another one.
    ///
    /// # Errors
    /// What the step refuses: nothing changes then.
    pub fn advance<E>(
        &mut self,
        input: I,
        step: impl FnOnce(&mut S, &I) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = self.state.clone();
        step(&mut next, &input)?;
        let At { branch, step: now } = self.at;
        let here = &self.branches[branch];
        if now < here.start + here.inputs.len() {
            let snapshots = vec![(now, self.state.clone())];
            let (parent, every) = (Some(branch), self.every);
            self.branches.push(Branch { parent, start: now, inputs: vec![], snapshots, every });
            self.at.branch = self.branches.len() - 1;
        }
        self.at.step += 1;
        let (now, most) = (self.at.step, self.most);
        let here = &mut self.branches[self.at.branch];
        here.inputs.push(input);
        if (now - here.start).is_multiple_of(here.every) {
            here.snapshots.push((now, next.clone()));
            if here.snapshots.len() > most {
                here.every *= 2;
                let (start, every) = (here.start, here.every);
                here.snapshots.retain(|(s, _)| (s - start).is_multiple_of(every));
            }
        }
        self.state = next;
        Ok(())
    }

    /// Goes to a step of a branch, before its beginning on those that it left.
    ///
    /// # Errors
    /// A place that is not there; a step that fails as it is replayed gives its own error. The
    /// state stays in both cases.
    pub fn go<E: From<TimelineError>>(
        &mut self,
        to: At,
        mut step: impl FnMut(&mut S, &I) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = self.branch(to.branch).map(|b| b.1);
        if end.is_none_or(|e| to.step > e) {
            let (branch, branches, end) = (to.branch, self.branches.len(), end.unwrap_or(0));
            return Err(TimelineError { branch, step: to.step, end, branches }.into());
        }
        let mut branch = to.branch;
        while let Some(parent) = self.branches[branch].parent
            && to.step <= self.branches[branch].start
        {
            branch = parent;
        }
        let here = &self.branches[branch];
        let last = here.snapshots.partition_point(|(s, _)| *s <= to.step).max(1) - 1;
        let (from, snapshot) = &here.snapshots[last];
        let mut state = snapshot.clone();
        for input in &here.inputs[from - here.start..to.step - here.start] {
            step(&mut state, input)?;
        }
        (self.state, self.at) = (state, At { branch, step: to.step });
        Ok(())
    }
}
