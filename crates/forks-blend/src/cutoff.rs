//! The smooth cutoff of the weights of neighbours: see [`crate::neighbours`].

/// What the weights' slopes need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cutoff {
    /// 1/R²; 0 where there are no more samples than wanted.
    pub(crate) inverse: f64,
    /// Σ_i −ψ'(t_i) t_i.
    steepness: f64,
}

/// ψ(t) and −ψ'(t).
fn bump(t: f64) -> (f64, f64) {
    if t >= 1.0 {
        return (0.0, 0.0);
    }
    let (cube, base) = (t * t * t, 1.0 - t * t * t * t);
    (base * base * base, 12.0 * cube * base * base)
}

impl Cutoff {
    /// R for squared distances of some samples.
    pub(crate) fn new(squared: impl Iterator<Item = f64> + Clone, wanted: f64) -> Self {
        let sums = |inverse: f64| {
            squared.clone().fold((0.0, 0.0), |(count, steep), d| {
                let (psi, slope) = bump(d * inverse);
                (count + psi, steep + slope * (d * inverse))
            })
        };
        let (count, largest) = squared.clone().fold((0.0, 0.0f64), |(n, m), d| (n + 1.0, m.max(d)));
        if count <= wanted || largest == 0.0 {
            return Self::default();
        }
        // The count falls with z = 1/R²: from `count` at 0 to that of samples here.
        let (mut low, mut high) = (0.0, 1.0 / largest);
        for _ in 0..200 {
            if sums(high).0 <= wanted {
                break;
            }
            (low, high) = (high, 2.0 * high);
        }
        let mut z = 0.5 * (low + high);
        for _ in 0..80 {
            let (found, steep) = sums(z);
            if found > wanted {
                low = z
            } else {
                high = z
            }
            // d count / dz = −steep / z
            let newton = if steep > 0.0 { z + (found - wanted) * z / steep } else { low };
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - z).abs() <= 2.0 * f64::EPSILON * z {
                break;
            }
            z = next;
        }
        Self { inverse: z, steepness: sums(z).1 }
    }

    /// ψ of a sample.
    pub(crate) fn factor(&self, squared: f64) -> f64 {
        bump(squared * self.inverse).0
    }

    /// −∂ log ψ_i/∂t_i times a weight that has ψ_i as a factor; 0 where ψ_i is.
    fn steep(&self, squared: f64, weight: f64) -> f64 {
        let (psi, slope) = bump(squared * self.inverse);
        if psi > 0.0 { weight * slope / psi } else { 0.0 }
    }

    /// Σ_i (U_i − U) α_i (−∂ log ψ_i/∂t_i) t_i, for [`Cutoff::slope`].
    pub(crate) fn pull(&self, samples: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
        samples.map(|(d, w, u)| u * self.steep(d, w) * (d * self.inverse)).sum()
    }

    /// The cutoff's part of ∂U/∂d_j² for a sample of weight `weight` and U_j − U = `excess`:
    /// its own ψ and that of all through R.
    pub(crate) fn slope(&self, squared: f64, weight: f64, excess: f64, pull: f64) -> f64 {
        if self.inverse == 0.0 || self.steepness == 0.0 {
            return 0.0;
        }
        let own = -excess * self.steep(squared, weight) * self.inverse;
        own + bump(squared * self.inverse).1 * self.inverse * pull / self.steepness
    }
}
