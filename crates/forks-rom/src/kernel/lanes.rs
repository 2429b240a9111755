//! Four numbers at once: the operations that kernels are written in.

/// Numbers per lane group.
pub(crate) const LANES: usize = 4;

/// Four numbers, aligned for one load.
pub(crate) use forks_lie::Lanes as Lane4;

/// Operations on four numbers at once.
pub(crate) trait Lanes: Copy {
    /// Four numbers in a register.
    type V: Copy;
    /// Four equal numbers.
    fn splat(self, x: f64) -> Self::V;
    /// Reads four numbers.
    #[inline(always)]
    fn load(self, x: &Lane4) -> Self::V {
        self.read(&x.0)
    }
    /// Reads four numbers from anywhere.
    fn read(self, x: &[f64; LANES]) -> Self::V;
    /// Writes four numbers.
    fn store(self, x: Self::V) -> Lane4;
    /// a + b.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b + c, rounded once or twice according to the instruction set.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// c − a b, as [`Lanes::mul_add`].
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// a with its sign turned where b is negative.
    fn turn_sign(self, a: Self::V, b: Self::V) -> Self::V;
    /// 1/√a.
    fn inverse_root(self, a: Self::V) -> Self::V;
    /// a where x is above a limit, else b.
    fn select_above(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V;
    /// True if some x is above a limit.
    fn any_above(self, x: Self::V, limit: f64) -> bool;
    /// √a.
    fn root(self, a: Self::V) -> Self::V;
    /// True if no x is NaN.
    fn all_ordered(self, x: Self::V) -> bool;
}

/// Plain Rust without fused multiply-adds: the same bits on every target.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Lanes for Portable {
    type V = [f64; LANES];

    #[inline(always)]
    fn splat(self, x: f64) -> Self::V {
        [x; LANES]
    }
    #[inline(always)]
    fn read(self, x: &[f64; LANES]) -> Self::V {
        *x
    }
    #[inline(always)]
    fn store(self, x: Self::V) -> Lane4 {
        Lane4(x)
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        core::array::from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        core::array::from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        core::array::from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        core::array::from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        core::array::from_fn(|i| c[i] - a[i] * b[i])
    }
    #[inline(always)]
    fn turn_sign(self, a: Self::V, b: Self::V) -> Self::V {
        const SIGN: u64 = 1 << 63;
        core::array::from_fn(|i| f64::from_bits(a[i].to_bits() ^ (b[i].to_bits() & SIGN)))
    }
    #[inline(always)]
    fn select_above(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V {
        core::array::from_fn(|i| if x[i] > limit { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn any_above(self, x: Self::V, limit: f64) -> bool {
        (x[0] > limit) | (x[1] > limit) | (x[2] > limit) | (x[3] > limit)
    }
    #[inline(always)]
    fn inverse_root(self, a: Self::V) -> Self::V {
        a.map(|x| 1.0 / crate::scalar::sqrt(x))
    }
    #[inline(always)]
    fn root(self, a: Self::V) -> Self::V {
        a.map(crate::scalar::sqrt)
    }
    #[inline(always)]
    fn all_ordered(self, x: Self::V) -> bool {
        !(x[0].is_nan() | x[1].is_nan() | x[2].is_nan() | x[3].is_nan())
    }
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(crate) use x86::Avx2Lanes;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86 {
    use core::arch::x86_64::{__m256d, _CMP_GT_OQ, _CMP_UNORD_Q};

    use pulp::x86::V3;

    use super::{LANES, Lane4, Lanes};

    /// AVX2 with fused multiply-adds.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2Lanes(pub(crate) V3);

    impl Lanes for Avx2Lanes {
        type V = __m256d;

        #[inline(always)]
        fn splat(self, x: f64) -> Self::V {
            self.0.avx._mm256_set1_pd(x)
        }
        #[inline(always)]
        fn read(self, x: &[f64; LANES]) -> Self::V {
            pulp::cast(*x)
        }
        #[inline(always)]
        fn store(self, x: Self::V) -> Lane4 {
            Lane4(pulp::cast(x))
        }
        #[inline(always)]
        fn add(self, a: Self::V, b: Self::V) -> Self::V {
            self.0.avx._mm256_add_pd(a, b)
        }
        #[inline(always)]
        fn sub(self, a: Self::V, b: Self::V) -> Self::V {
            self.0.avx._mm256_sub_pd(a, b)
        }
        #[inline(always)]
        fn mul(self, a: Self::V, b: Self::V) -> Self::V {
            self.0.avx._mm256_mul_pd(a, b)
        }
        #[inline(always)]
        fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
            self.0.fma._mm256_fmadd_pd(a, b, c)
        }
        #[inline(always)]
        fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
            self.0.fma._mm256_fnmadd_pd(a, b, c)
        }
        #[inline(always)]
        fn turn_sign(self, a: Self::V, b: Self::V) -> Self::V {
            let sign = self.0.avx._mm256_and_pd(b, self.splat(-0.0));
            self.0.avx._mm256_xor_pd(a, sign)
        }
        #[inline(always)]
        fn select_above(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_GT_OQ>(x, self.splat(limit));
            self.0.avx._mm256_blendv_pd(b, a, mask)
        }
        #[inline(always)]
        fn any_above(self, x: Self::V, limit: f64) -> bool {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_GT_OQ>(x, self.splat(limit));
            self.0.avx._mm256_movemask_pd(mask) != 0
        }
        #[inline(always)]
        fn inverse_root(self, a: Self::V) -> Self::V {
            self.0.avx._mm256_div_pd(self.splat(1.0), self.0.avx._mm256_sqrt_pd(a))
        }
        #[inline(always)]
        fn root(self, a: Self::V) -> Self::V {
            self.0.avx._mm256_sqrt_pd(a)
        }
        #[inline(always)]
        fn all_ordered(self, x: Self::V) -> bool {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_UNORD_Q>(x, x);
            self.0.avx._mm256_movemask_pd(mask) == 0
        }
    }
}
