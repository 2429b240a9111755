//! The same work with wider registers where the processor has them. Nothing is fused: results are equal to the last bit.

/// Work that is compiled once per instruction set; everything that it calls and that takes time has to be inlined.
pub(crate) trait Work {
    /// Result.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does it with AVX2 if there is that.
#[inline(always)]
pub(crate) fn wide<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return v3.vectorize(x86::OnAvx2(work));
    }
    work.run()
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86 {
    use super::Work;

    pub(super) struct OnAvx2<W>(pub(super) W);

    impl<W: Work> pulp::NullaryFnOnce for OnAvx2<W> {
        type Output = W::Output;

        #[inline(always)]
        fn call(self) -> W::Output {
            self.0.run()
        }
    }
}
