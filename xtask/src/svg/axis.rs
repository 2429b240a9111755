//! Axes: ranges, scales and ticks.

use super::error::PlotError;

/// Numbers beyond this leave no room for widening a range.
const LARGEST: f64 = 1e300;
/// Differences below this cannot be divided into steps.
const SMALLEST: f64 = 1e-290;

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios; positive numbers only.
    Logarithmic,
}

/// An axis: what it shows, in which unit, on which scale.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    name: String,
    unit: String,
    scale: Scale,
}

impl Axis {
    /// A linear axis. The unit stands in brackets behind the name; `""` for plain numbers.
    pub(crate) fn linear(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub(crate) fn logarithmic(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), scale: Scale::Logarithmic }
    }

    /// Name and unit as they stand beside the axis.
    pub(crate) fn label(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, self.unit)
        }
    }

    /// How numbers are spread.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }
}

/// A tick: where it stands (0 lower end, 1 upper end) and its text; minor ticks have none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: Option<String>,
}

/// The range that an axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    scale: Scale,
    // Logarithms to base ten for a logarithmic scale.
    lower: f64,
    upper: f64,
}

impl Range {
    /// The least range that shows all numbers with some room; `values` is not empty and finite, and
    /// positive for a logarithmic axis.
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Result<Self, PlotError> {
        let (lower, upper) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
        match axis.scale {
            Scale::Linear if lower.abs().max(upper.abs()) < LARGEST => {
                Ok(Self::linear(lower, upper, 0.04))
            }
            Scale::Linear => Err(PlotError::RangeTooWide { axis: axis.label(), lower, upper }),
            Scale::Logarithmic => {
                let lo = lower.log10().floor();
                let hi = upper.log10().ceil();
                Ok(Self { scale: Scale::Logarithmic, lower: lo, upper: hi.max(lo + 1.0) })
            }
        }
    }

    /// A linear range with room at both ends. Where all numbers are (nearly) equal it is widened so
    /// that neighbouring ticks still have different numbers.
    pub(super) fn linear(lower: f64, upper: f64, room: f64) -> Self {
        let (size, span) = (lower.abs().max(upper.abs()), upper - lower);
        let extra = if span > (1e-9 * size).max(SMALLEST) {
            room * span
        } else if size > SMALLEST {
            0.05 * size
        } else {
            0.5
        };
        Self { scale: Scale::Linear, lower: lower - extra, upper: upper + extra }
    }

    /// Both ends moved apart so that the range is `span` long.
    pub(super) fn widened(self, span: f64) -> Self {
        let extra = 0.5 * (span - (self.upper - self.lower)).max(0.0);
        Self { lower: self.lower - extra, upper: self.upper + extra, ..self }
    }

    /// Length of a linear range.
    pub(super) fn span(&self) -> f64 {
        self.upper - self.lower
    }

    /// Place of a number: 0 at the lower end, 1 at the upper one.
    pub(super) fn place(&self, x: f64) -> f64 {
        let x = if self.scale == Scale::Logarithmic { x.log10() } else { x };
        (x - self.lower) / (self.upper - self.lower)
    }

    /// Ticks, about `wanted` of them with a number.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(wanted),
            Scale::Logarithmic => self.decade_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let step = round_step(self.span() / wanted.max(1) as f64);
        let (first, last) = ((self.lower / step).ceil() as i64, (self.upper / step).floor() as i64);
        (first..=last)
            .map(|k| Tick { at: self.place(k as f64 * step), text: Some(tick_text(k, step)) })
            .collect()
    }

    /// Numbers at powers of ten, every n-th of them if there are many; short ticks at 2…9 in
    /// between if there are few.
    fn decade_ticks(&self, wanted: usize) -> Vec<Tick> {
        let (first, last) = (self.lower as i32, self.upper as i32);
        let stride = ((last - first) as usize).div_ceil(wanted.max(1)).max(1) as i32;
        let mut out = Vec::new();
        for decade in first..=last {
            let at = (f64::from(decade) - self.lower) / self.span();
            if (decade - first) % stride == 0 {
                out.push(Tick { at, text: Some(format!("1e{decade}")) });
            }
            if stride == 1 && decade < last {
                out.extend(
                    (2..10)
                        .map(|m| Tick { at: at + f64::from(m).log10() / self.span(), text: None }),
                );
            }
        }
        out
    }
}

/// The next number of the form 1, 2 or 5 times a power of ten.
fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let lead = [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= raw * (1.0 - 1e-9));
    lead.unwrap_or(10.0) * power
}

/// `k` steps as text: plain decimals where they are short, an exponent otherwise.
fn tick_text(k: i64, step: f64) -> String {
    if k == 0 {
        return "0".into();
    }
    let value = k as f64 * step;
    // Digits behind the leading one that tell neighbouring ticks apart.
    let exponent = value.abs().log10().floor() as i32;
    let step_exponent = (step * (1.0 + 1e-9)).log10().floor() as i32;
    if (-4..6).contains(&exponent) && step_exponent >= -6 {
        format!("{value:.*}", (-step_exponent).max(0) as usize)
    } else {
        format!("{value:.*e}", (exponent - step_exponent).max(0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(r: Range, wanted: usize) -> Vec<String> {
        r.ticks(wanted).into_iter().filter_map(|t| t.text).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers_inside_the_range() {
        let r = Range::linear(-0.03, 1.02, 0.0);
        assert_eq!(texts(r, 5), ["0", "0.5", "1.0"]);
        let t = r.ticks(5);
        assert!((t[0].at - 0.03 / 1.05).abs() < 1e-15);
    }

    #[test]
    fn neighbouring_ticks_never_share_a_text() {
        for (lo, hi) in [
            (0.0, 1.0),
            (1e-12, 3e-12),
            (-4e9, 5e9),
            (1e6, 1e6 + 1.0),
            (0.1, 0.1),
            (0.0, 0.0),
            (1e300, 1.5e300),
            (5e-324, 5e-324),
            (0.0, 5e-324),
            (-1e-3, 7.0),
            (99_999.0, 100_001.0),
        ] {
            let t = texts(Range::linear(lo, hi, 0.04), 6);
            assert!((2..=14).contains(&t.len()), "{lo}..{hi}: {t:?}");
            assert!(t.windows(2).all(|w| w[0] != w[1]), "{lo}..{hi}: {t:?}");
        }
    }

    #[test]
    fn tick_texts_read_back_as_their_place() {
        let r = Range::linear(-2.7e-7, 8.1e-7, 0.04);
        for t in r.ticks(6) {
            let value: f64 = t.text.unwrap().parse().unwrap();
            assert!((r.place(value) - t.at).abs() < 1e-12);
        }
    }

    #[test]
    fn decades_carry_numbers_and_stay_few() {
        let axis = Axis::logarithmic("error", "");
        let r = Range::of(&axis, [3e-9, 0.2].into_iter()).unwrap();
        assert_eq!(texts(r, 12).first().map(String::as_str), Some("1e-9"));
        assert_eq!(texts(r, 12).last().map(String::as_str), Some("1e0"));
        assert!(texts(Range::of(&axis, [1e-300, 1e300].into_iter()).unwrap(), 6).len() <= 7);
        assert!((r.place(1e-9)).abs() < 1e-15 && (r.place(1.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_range_beyond_f64_is_an_error() {
        let e = Range::of(&Axis::linear("x", "m"), [-1.7e308, 1.7e308].into_iter()).unwrap_err();
        assert!(matches!(e, PlotError::RangeTooWide { .. }));
    }
}
