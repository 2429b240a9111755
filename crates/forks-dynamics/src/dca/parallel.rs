//! Work shared among threads: the same results, bit by bit, for any number of them.

/// Entries that one thread fills at a time.
#[cfg(feature = "rayon")]
const CHUNK: usize = 256;

/// Sets every entry from its index; in chunks on several threads if `parallel`.
pub(super) fn fill<T: Send>(parallel: bool, out: &mut [T], make: impl Fn(usize) -> T + Sync) {
    #[cfg(feature = "rayon")]
    if parallel && out.len() > CHUNK {
        use rayon::prelude::*;
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(c, part)| {
            part.iter_mut().enumerate().for_each(|(i, x)| *x = make(CHUNK * c + i));
        });
        return;
    }
    let _ = parallel;
    out.iter_mut().enumerate().for_each(|(i, x)| *x = make(i));
}

/// Both, at the same time if `parallel`.
pub(super) fn join(parallel: bool, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    #[cfg(feature = "rayon")]
    if parallel {
        rayon::join(a, b);
        return;
    }
    let _ = parallel;
    a();
    b();
}
