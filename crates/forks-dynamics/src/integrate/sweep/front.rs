//! A front: a slot that loops tie to others, and what is eliminated with it.

use forks_mechanism::linalg::simd::LANES;

use crate::integrate::blocks::Factorised;

/// A multiplier's pivot below this part of what its equation's slots would give by themselves is
/// rounding: the square of what counts as redundant in an equation.
pub(super) const REDUNDANT: f64 = 1e-12;
/// A multiplier is eliminated if no inertia grows by more than this factor over its slot's own.
pub(super) const GROWTH: f64 = 1e4;
/// What is allowed to a pivot that was chosen before.
pub(super) const SLACK: f64 = 100.0;

/// How a factorisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Tree(Factorised),
    /// The elimination that was planned is not sound here.
    Unsound,
}

/// The matrix that a front leaves to another, and where its unknowns stand there.
#[derive(Clone, Debug)]
pub(super) struct Child {
    pub(super) rest: usize,
    /// Chunks of its rows.
    pub(super) width: usize,
    /// Places of the multipliers that wait.
    pub(super) scalars: Vec<u16>,
    /// Blocks of the slots around.
    pub(super) blocks: Vec<u16>,
}

/// A row that occurs in a front for the first time: its multiplier's place and the slots' blocks.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) group: usize,
    pub(super) row: usize,
    pub(super) place: usize,
    pub(super) blocks: Vec<u16>,
}

/// A slot that loops tie to others, and what is eliminated with it.
///
/// Unknowns stand in chunks of four: the joint's coordinates and the multipliers, then two chunks
/// for each slot around, then two for the slot itself. Rows are not padded.
#[derive(Clone, Debug)]
pub(super) struct Front {
    pub(super) slot: usize,
    /// Nothing but the joint ties the slot to others.
    pub(super) tree: bool,
    pub(super) dof: usize,
    /// Multipliers: those eliminated here, in order, then those that wait.
    pub(super) rows: Vec<usize>,
    pub(super) pivots: usize,
    pub(super) around: Vec<u32>,
    pub(super) fresh: Vec<Fresh>,
    pub(super) children: Vec<Child>,
    /// Which matrix of the pool takes what is left.
    pub(super) rest: usize,
    /// Where L and U begin.
    pub(super) kept: usize,
    /// Where the right-hand side is kept.
    pub(super) solution: usize,
}

impl Front {
    /// Coordinates and multipliers.
    pub(super) fn scalars(&self) -> usize {
        self.dof + self.rows.len()
    }

    /// Chunks of the coordinates and multipliers.
    pub(super) fn head(&self) -> usize {
        self.scalars().div_ceil(LANES)
    }

    /// Rows of the unknowns once the slot's twist is replaced.
    pub(super) fn size(&self) -> usize {
        self.scalars() + 6 * self.around.len()
    }

    /// Chunks of their columns.
    pub(super) fn width(&self) -> usize {
        self.head() + 2 * self.around.len()
    }

    /// Unknowns that are eliminated.
    pub(super) fn eliminated(&self) -> usize {
        self.dof + self.pivots
    }

    /// Multipliers that wait.
    pub(super) fn waiting(&self) -> &[usize] {
        &self.rows[self.pivots..]
    }

    /// Chunks of the rows of what is left.
    pub(super) fn rest_width(&self) -> usize {
        self.waiting().len().div_ceil(LANES) + 2 * self.around.len()
    }

    /// The block of a slot: one around, or the slot itself.
    pub(super) fn block_of_slot(&self, slot: usize) -> usize {
        let at = self.around.iter().position(|&s| s as usize == slot);
        at.unwrap_or(self.around.len())
    }

    pub(super) fn place_of_row(&self, row: usize) -> usize {
        let at = self.rows.iter().position(|&r| r == row);
        self.dof + at.expect("a multiplier of this front")
    }
}
