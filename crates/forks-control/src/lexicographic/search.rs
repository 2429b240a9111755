//! The least value of a level's sum of squares along a line.

use super::problem::{Level, beyond};

/// Memory of [`LineSearch::least`].
#[derive(Clone, Debug, Default)]
pub(super) struct LineSearch {
    breaks: Vec<f64>,
}

impl LineSearch {
    #[cfg(test)]
    pub(super) fn memory(&self) -> (usize, usize) {
        (self.breaks.as_ptr() as usize, self.breaks.capacity())
    }

    /// t in 0…`most` where ½Σ w² excess²(x + t p)² is least; its slope rises along the line and is
    /// straight between the places where rows reach their bounds. Rows have `values` at x and
    /// change at `rates`.
    pub(super) fn least(
        &mut self,
        level: &Level,
        (values, rates): (&[f64], &[f64]),
        most: f64,
    ) -> f64 {
        let breaks = &mut self.breaks;
        breaks.clear();
        breaks.reserve(2 * level.len() + 1);
        for (i, (value, rate)) in values.iter().zip(rates).enumerate() {
            for bound in [level.lower[i], level.upper[i]] {
                let t = (bound - value) / rate;
                if t.is_finite() && t > 0.0 && t < most {
                    breaks.push(t);
                }
            }
        }
        let slope = |t: f64| -> f64 {
            let rows = values.iter().zip(rates.iter()).enumerate();
            let of = |(i, (v, r)): (usize, (&f64, &f64))| {
                let e = beyond(v + t * r, level.lower[i], level.upper[i]);
                level.weight[i].powi(2) * e * r
            };
            rows.map(of).sum()
        };
        breaks.sort_unstable_by(f64::total_cmp);
        breaks.push(most);
        let (mut from, mut before) = (0.0, slope(0.0));
        for &t in breaks.iter() {
            let after = slope(t);
            if after >= 0.0 {
                let share = if after > before { -before / (after - before) } else { 1.0 };
                return from + (t - from) * share.clamp(0.0, 1.0);
            }
            (from, before) = (t, after);
        }
        most
    }
}
