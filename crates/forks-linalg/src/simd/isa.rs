//! Which instruction set a kernel runs on.

use super::{Arithmetic, Portable};

/// An instruction set for the kernels.
///
/// Results are equal to the last bit for one instruction set, and agree to 1e-14 between them.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Isa {
    /// No fused multiply-adds: the same bits on every target.
    #[default]
    Portable,
    /// AVX2 with fused multiply-adds (x86-64, feature `simd`); from [`Isa::detect`].
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx2(Avx2),
}

/// Proof that the processor has AVX2 and fused multiply-adds.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(pulp::x86::V3);

/// Work that is compiled once per instruction set. Everything that it calls and that takes time has
/// to be inlined.
pub trait Kernel {
    /// Result.
    type Output;
    /// Does the work.
    fn run<L: Arithmetic>(self, l: L) -> Self::Output;
}

impl Isa {
    /// The fastest one that this processor has.
    pub fn detect() -> Self {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if let Some(v3) = pulp::x86::V3::try_new() {
            return Self::Avx2(Avx2(v3));
        }
        Self::Portable
    }

    /// `portable` or `avx2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Self::Avx2(_) => "avx2",
        }
    }

    /// Does a kernel's work with this instruction set.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable => kernel.run(Portable),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Self::Avx2(Avx2(v3)) => v3.vectorize(x86::OnAvx2 { kernel, v3 }),
        }
    }
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86 {
    use super::{super::registers::Avx2Lanes, Kernel};

    pub(super) struct OnAvx2<K> {
        pub(super) kernel: K,
        pub(super) v3: pulp::x86::V3,
    }

    impl<K: Kernel> pulp::NullaryFnOnce for OnAvx2<K> {
        type Output = K::Output;

        #[inline(always)]
        fn call(self) -> K::Output {
            self.kernel.run(Avx2Lanes(self.v3))
        }
    }
}
