//! Couplings: Σ pₖ(ℓₖ) = 0 as y − y₀ = p(x − x₀) with a polynomial of degree four or less, between
//! joints where both sides are single coordinates, between fixed tendons otherwise.

use forks_mechanism::{Combination, CouplingTerm};

use super::{
    WriteError, Writer,
    combinations::summed,
    xml::{Xml, numbers},
};

impl Writer<'_> {
    pub(crate) fn couplings(&mut self, x: &mut Xml) -> Result<(), WriteError> {
        for c in self.m.couplings() {
            let owner = format!("coupling '{}'", c.name);
            let Some(terms) = self.terms_on_tree(&owner, &c.terms)? else { continue };
            let Some((y, other)) = sides(&terms) else {
                let reason = "MJCF couples one combination to a polynomial of another";
                self.refuse(&owner, "", reason)?;
                continue;
            };
            let p = self.polynomial(y, other);
            if p.len() > 5 {
                self.refuse(&owner, "", "MJCF's polynomials end at the fourth power")?;
                continue;
            }
            let mut attributes = self.equality(&c.name);
            let single = |t: &CouplingTerm| matches!(summed(&t.combination).as_slice(), [(_, 1.0)]);
            let joints = single(y) && other.is_none_or(single);
            for (k, t) in std::iter::once(y).chain(other).enumerate() {
                if joints {
                    let coordinate = t.combination.terms[0].0;
                    let joint = self.coordinate_name(coordinate).expect("closures were replaced");
                    attributes.push((["joint1", "joint2"][k], joint));
                } else {
                    let tendon = self.tendon_name(&c.name);
                    self.tendon(&owner, &t.combination, &[("name", tendon.clone())])?;
                    attributes.push((["tendon1", "tendon2"][k], tendon));
                }
            }
            let mut coefficients = [0.0; 5];
            coefficients[..p.len()].copy_from_slice(&p);
            attributes.push(("polycoef", numbers(&coefficients)));
            x.empty(if joints { "joint" } else { "tendon" }, &attributes);
        }
        Ok(())
    }

    /// The terms on tree coordinates.
    fn terms_on_tree(
        &mut self,
        owner: &str,
        terms: &[CouplingTerm],
    ) -> Result<Option<Vec<CouplingTerm>>, WriteError> {
        let mut out = Vec::new();
        for t in terms {
            let Some(combination) = self.required_on_tree(owner, &t.combination)? else {
                return Ok(None);
            };
            out.push(CouplingTerm { combination, polynomial: t.polynomial.clone() });
        }
        Ok(Some(out))
    }

    /// p of y − y₀ = p(x − x₀) from s (y + o) + c + r(x + o′) = 0.
    fn polynomial(&self, y: &CouplingTerm, other: Option<&CouplingTerm>) -> Vec<f64> {
        let (c, s) = (y.polynomial[0], y.polynomial[1]);
        let mut p = match other {
            None => vec![0.0],
            Some(t) => shifted(&t.polynomial, self.offset_at_start(&t.combination)),
        };
        for (i, r) in p.iter_mut().enumerate() {
            *r = -(*r + if i == 0 { c } else { 0.0 }) / s;
        }
        p[0] -= self.offset_at_start(&y.combination);
        // −0 and 0 read the same.
        p.iter_mut().for_each(|r| *r += 0.0);
        while p.len() > 1 && p.last() == Some(&0.0) {
            p.pop();
        }
        p
    }

    /// ℓ in the start pose: ℓ = (length − length in the start pose) + this.
    fn offset_at_start(&self, c: &Combination) -> f64 {
        c.terms.iter().map(|(q, a)| a * self.start[self.m.position_index(*q)]).sum::<f64>()
            + c.offset
    }
}

/// The side that stands alone (its polynomial has degree one) and the other one.
fn sides(terms: &[CouplingTerm]) -> Option<(&CouplingTerm, Option<&CouplingTerm>)> {
    let linear = |t: &CouplingTerm| {
        t.polynomial.len() >= 2
            && t.polynomial[1] != 0.0
            && t.polynomial[2..].iter().all(|&c| c == 0.0)
    };
    match terms {
        [y] if linear(y) => Some((y, None)),
        [y, x] if linear(y) => Some((y, Some(x))),
        [x, y] if linear(y) => Some((y, Some(x))),
        _ => None,
    }
}

/// Coefficients of p(d + δ) as a polynomial of d (Horner's scheme).
fn shifted(p: &[f64], delta: f64) -> Vec<f64> {
    let mut out = p.to_vec();
    if out.is_empty() {
        return vec![0.0];
    }
    if delta == 0.0 {
        return out;
    }
    for first in 0..out.len() {
        for k in (first..out.len() - 1).rev() {
            out[k] += delta * out[k + 1];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shifted;

    #[test]
    fn shifting_keeps_the_values() {
        let p = [1.0, -2.0, 0.5, 3.0, -1.0];
        let s = shifted(&p, 0.75);
        let value = |p: &[f64], x: f64| p.iter().rev().fold(0.0, |a, c| a * x + c);
        for x in [-1.0, 0.0, 0.5, 2.0] {
            // Sums of five terms below 100: a few units in the last place of that.
            assert!((value(&s, x) - value(&p, x + 0.75)).abs() < 1e-13 * 100.0);
        }
    }
}
