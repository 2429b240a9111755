//! What instruction sets do with four numbers in a register.

use super::{LANES, Lanes};

/// What an instruction set does with four numbers in a register. Algorithms use
/// [`Wide`](super::Wide).
pub trait Registers: Copy {
    /// Four numbers in a register.
    type V: Copy;
    /// Four equal numbers.
    fn equal(self, x: f64) -> Self::V;
    /// Four numbers from memory.
    fn get(self, x: &[f64; LANES]) -> Self::V;
    /// Four numbers to memory.
    fn put(self, x: Self::V) -> Lanes;
    /// a + b.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b + c, rounded once or twice according to the instruction set.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// c − a b, as [`Registers::mul_add`].
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// a with its sign turned where b is negative.
    fn turn_sign(self, a: Self::V, b: Self::V) -> Self::V;
    /// √a.
    fn root(self, a: Self::V) -> Self::V;
    /// 1/√a.
    fn inverse_root(self, a: Self::V) -> Self::V;
    /// The sums of the lanes of four registers.
    fn sums_of(self, a: [Self::V; LANES]) -> Self::V;
    /// The columns of four rows.
    fn columns_of(self, a: [Self::V; LANES]) -> [Self::V; LANES];
    /// a where x is above a limit, else b.
    fn choose(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V;
    /// True if some x is above a limit.
    fn exceeds(self, x: Self::V, limit: f64) -> bool;
    /// True if no x is NaN.
    fn ordered(self, x: Self::V) -> bool;
}

/// Plain Rust without fused multiply-adds: the same bits on every target.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Registers for Portable {
    type V = [f64; LANES];

    #[inline(always)]
    fn equal(self, x: f64) -> Self::V {
        [x; LANES]
    }
    #[inline(always)]
    fn get(self, x: &[f64; LANES]) -> Self::V {
        *x
    }
    #[inline(always)]
    fn put(self, x: Self::V) -> Lanes {
        Lanes(x)
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
    fn choose(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V {
        core::array::from_fn(|i| if x[i] > limit { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn exceeds(self, x: Self::V, limit: f64) -> bool {
        (x[0] > limit) | (x[1] > limit) | (x[2] > limit) | (x[3] > limit)
    }
    #[inline(always)]
    fn sums_of(self, a: [Self::V; LANES]) -> Self::V {
        core::array::from_fn(|i| (a[i][0] + a[i][1]) + (a[i][2] + a[i][3]))
    }
    #[inline(always)]
    fn columns_of(self, a: [Self::V; LANES]) -> [Self::V; LANES] {
        core::array::from_fn(|i| core::array::from_fn(|j| a[j][i]))
    }
    #[inline(always)]
    fn inverse_root(self, a: Self::V) -> Self::V {
        a.map(|x| 1.0 / crate::sqrt(x))
    }
    #[inline(always)]
    fn root(self, a: Self::V) -> Self::V {
        a.map(crate::sqrt)
    }
    #[inline(always)]
    fn ordered(self, x: Self::V) -> bool {
        !(x[0].is_nan() | x[1].is_nan() | x[2].is_nan() | x[3].is_nan())
    }
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(super) use x86::Avx2Lanes;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86 {
    use core::arch::x86_64::{__m256d, _CMP_GT_OQ, _CMP_UNORD_Q};

    use pulp::x86::V3;

    use super::{LANES, Lanes, Registers};

    /// AVX2 with fused multiply-adds.
    #[derive(Clone, Copy)]
    pub(in crate::simd) struct Avx2Lanes(pub(in crate::simd) V3);

    impl Registers for Avx2Lanes {
        type V = __m256d;

        #[inline(always)]
        fn equal(self, x: f64) -> Self::V {
            self.0.avx._mm256_set1_pd(x)
        }
        #[inline(always)]
        fn get(self, x: &[f64; LANES]) -> Self::V {
            pulp::cast(*x)
        }
        #[inline(always)]
        fn put(self, x: Self::V) -> Lanes {
            Lanes(pulp::cast(x))
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
            let sign = self.0.avx._mm256_and_pd(b, self.equal(-0.0));
            self.0.avx._mm256_xor_pd(a, sign)
        }
        #[inline(always)]
        fn choose(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_GT_OQ>(x, self.equal(limit));
            self.0.avx._mm256_blendv_pd(b, a, mask)
        }
        #[inline(always)]
        fn exceeds(self, x: Self::V, limit: f64) -> bool {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_GT_OQ>(x, self.equal(limit));
            self.0.avx._mm256_movemask_pd(mask) != 0
        }
        #[inline(always)]
        fn sums_of(self, [a, b, c, d]: [Self::V; LANES]) -> Self::V {
            let avx = self.0.avx;
            // The sums of the halves of a, b, a, b; then of c, d, c, d.
            let (ab, cd) = (avx._mm256_hadd_pd(a, b), avx._mm256_hadd_pd(c, d));
            let crossed = avx._mm256_permute2f128_pd::<0x21>(ab, cd);
            avx._mm256_add_pd(avx._mm256_blend_pd::<0b1100>(ab, cd), crossed)
        }
        #[inline(always)]
        fn columns_of(self, [a, b, c, d]: [Self::V; LANES]) -> [Self::V; LANES] {
            let avx = self.0.avx;
            let (low, high) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
            let (low_2, high_2) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
            [
                avx._mm256_permute2f128_pd::<0x20>(low, low_2),
                avx._mm256_permute2f128_pd::<0x20>(high, high_2),
                avx._mm256_permute2f128_pd::<0x31>(low, low_2),
                avx._mm256_permute2f128_pd::<0x31>(high, high_2),
            ]
        }
        #[inline(always)]
        fn inverse_root(self, a: Self::V) -> Self::V {
            self.0.avx._mm256_div_pd(self.equal(1.0), self.0.avx._mm256_sqrt_pd(a))
        }
        #[inline(always)]
        fn root(self, a: Self::V) -> Self::V {
            self.0.avx._mm256_sqrt_pd(a)
        }
        #[inline(always)]
        fn ordered(self, x: Self::V) -> bool {
            let mask = self.0.avx._mm256_cmp_pd::<_CMP_UNORD_Q>(x, x);
            self.0.avx._mm256_movemask_pd(mask) == 0
        }
    }
}
