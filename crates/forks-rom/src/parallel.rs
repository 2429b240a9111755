//! Work on several threads, where there are some and they pay.

/// Calls `f` with every item and its place: on the threads of the current pool if `pays`, else one
/// after the other.
pub fn for_each<T: Send>(items: &mut [T], pays: bool, f: impl Fn(usize, &mut T) + Sync) {
    #[cfg(feature = "rayon")]
    if pays && items.len() > 1 && rayon::current_num_threads() > 1 {
        use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
        items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item));
        return;
    }
    let _ = pays;
    items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
}

/// [`for_each`] over chunks of numbers; in one piece where several threads do not pay.
pub fn for_each_chunk<T: Send>(
    items: &mut [T],
    size: usize,
    pays: bool,
    f: impl Fn(usize, &mut [T]) + Sync,
) {
    #[cfg(feature = "rayon")]
    if pays && items.len() > size && rayon::current_num_threads() > 1 {
        use rayon::{
            iter::{IndexedParallelIterator, ParallelIterator},
            slice::ParallelSliceMut,
        };
        items.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| f(i, chunk));
        return;
    }
    let _ = (size, pays);
    f(0, items);
}
