//! Loads on the instances of a batch.

use forks_linalg::simd::Arithmetic;

use forks_lie::Wrench;

use crate::{
    EffectorLoad, LoadFrame, Stepper,
    effectors::{WorldTwist, WorldWrench},
    step::add_load,
};

/// Loads on the effectors of some instances.
pub(super) trait Loads: Copy + Sync {
    /// Those of the instances from `first` on.
    fn from(self, first: usize) -> Self;

    /// The sum of the loads at a place (instance, effector), in world axes; `None` without any.
    fn on<L: Arithmetic>(
        self,
        l: L,
        stepper: &Stepper,
        place: (usize, usize),
        twist: impl Fn() -> WorldTwist,
    ) -> Option<WorldWrench>;
}

/// A list per instance.
#[derive(Debug)]
pub(super) struct Lists<'a, A> {
    lists: &'a [A],
    /// Every list has one load per effector, in their order.
    complete: bool,
}

impl<A> Clone for Lists<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Lists<'_, A> {}

impl<'a, A: AsRef<[EffectorLoad]>> Lists<'a, A> {
    /// # Panics
    /// If a load acts on an effector that does not exist.
    pub(super) fn new(lists: &'a [A], effectors: usize) -> Self {
        let mut complete = true;
        for list in lists {
            let list = list.as_ref();
            crate::load::assert_effectors(list, effectors);
            let in_order = list.iter().enumerate().all(|(e, load)| load.effector == e);
            complete &= in_order && list.len() == effectors;
        }
        Self { lists, complete }
    }
}

impl<A: AsRef<[EffectorLoad]> + Sync> Loads for Lists<'_, A> {
    #[inline(always)]
    fn from(self, first: usize) -> Self {
        Self { lists: &self.lists[first..], ..self }
    }

    #[inline(always)]
    fn on<L: Arithmetic>(
        self,
        l: L,
        stepper: &Stepper,
        (instance, e): (usize, usize),
        twist: impl Fn() -> WorldTwist,
    ) -> Option<WorldWrench> {
        let list = self.lists.get(instance)?.as_ref();
        let list = if self.complete { &list[e..=e] } else { list };
        let mut sum = None;
        for load in list.iter().filter(|load| load.effector == e) {
            add_load(l, sum.get_or_insert_default(), load, stepper, &twist());
        }
        sum
    }
}

/// A wrench on every effector of every instance, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrenches<'a> {
    pub(super) rows: &'a [[f64; 6]],
    pub(super) effectors: usize,
    pub(super) frame: LoadFrame,
}

impl Loads for Wrenches<'_> {
    #[inline(always)]
    fn from(self, first: usize) -> Self {
        Self { rows: &self.rows[first * self.effectors..], ..self }
    }

    #[inline(always)]
    fn on<L: Arithmetic>(
        self,
        l: L,
        stepper: &Stepper,
        (instance, e): (usize, usize),
        twist: impl Fn() -> WorldTwist,
    ) -> Option<WorldWrench> {
        let wrench = Wrench::from_array(*self.rows.get(instance * self.effectors + e)?);
        let load = EffectorLoad { effector: e, wrench, frame: self.frame };
        let mut sum = WorldWrench::default();
        add_load(l, &mut sum, &load, stepper, &twist());
        Some(sum)
    }
}
