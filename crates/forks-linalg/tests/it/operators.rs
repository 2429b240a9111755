//! Which operations of an expression are fused.

use forks_linalg::simd::{Arithmetic, Isa, Kernel, LANES, Lanes, Unfused};

/// 1 + ε, whose square's last bits a rounded product loses.
const A: f64 = 1.0 + f64::EPSILON;

/// Results of expressions, all lanes equal.
struct Expressions;

impl Kernel for Expressions {
    type Output = [Lanes; 9];
    // A product less itself: what fusing leaves of its rounding is what is looked at.
    #[allow(clippy::eq_op)]
    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Self::Output {
        let (a, c, u) = (l.splat(A), l.splat(A * A), Unfused(l).splat(A));
        [
            (c - a * a).store(),
            (a * a - a * a).store(),
            (a * a + a * a).store(),
            (1.0 - a * a).store(),
            (a * a).store(),
            ((a * a).rounded() - c).store(),
            (3.0 * a + 1.0).store(),
            (Unfused(l).splat(A * A) - u * u).store(),
            (a * a * a).store(),
        ]
    }
}

#[test]
fn products_in_sums_are_fused_where_the_instruction_set_can() {
    let fused = |a: f64, b: f64, c: f64| match Isa::detect() {
        Isa::Portable => a * b + c,
        #[allow(unreachable_patterns)]
        _ => f64::mul_add(a, b, c),
    };
    let plain = |a: f64, b: f64, c: f64| a * b + c;
    for (isa, f) in
        [(Isa::Portable, &plain as &dyn Fn(f64, f64, f64) -> f64), (Isa::detect(), &fused)]
    {
        let expected = [
            f(-A, A, A * A),
            f(-A, A, A * A),
            f(A, A, A * A),
            f(-A, A, 1.0),
            A * A,
            0.0,
            f(3.0, A, 1.0),
            0.0,
            A * A * A,
        ];
        for (found, x) in isa.run(Expressions).iter().zip(expected) {
            assert_eq!(found.0, [x; LANES], "{}", isa.name());
        }
    }
}
