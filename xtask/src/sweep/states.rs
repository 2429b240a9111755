//! What two programs compute at one pose with one set of velocities; tolerances are those of
//! [`super::compare`].

use super::{
    compare::{Comparison, Depth, Matching, Rounding, largest},
    facts::{Facts, JointFact, StateFact},
    near::{EXACT, near},
};

/// Relative size of singular values below which accelerations magnify rounding a hundred thousand
/// times.
const SINGULAR: f64 = 1e-5;
/// m/s²
const STANDARD_GRAVITY: f64 = 9.80665;

impl Comparison {
    /// What differs in a state; `notes` takes what is no fault.
    pub(super) fn state(
        &self,
        matching: &Matching,
        facts: (&Facts, &Facts),
        ours: &StateFact,
        theirs: &StateFact,
        notes: &mut Vec<String>,
    ) -> Vec<String> {
        let mut out = Vec::new();
        let places = &matching.velocities;
        let n = places.len();
        self.mass_matrix(places, ours, theirs, &mut out);
        let diagonal = (0..n).map(|i| theirs.mass_matrix[i * n + i].abs()).fold(0.0, f64::max);
        // No weight is more than g √(m M_ii) on a coordinate.
        let mass = facts.0.moving_mass.unwrap_or(0.0);
        let weight = STANDARD_GRAVITY * (mass * diagonal).sqrt();
        let mut force = |what: &str, ours: &[f64], theirs: &[f64], scale: f64, skip: &[bool]| {
            let worst = (0..n)
                .filter(|i| !skip.get(*i).is_some_and(|s| *s))
                .map(|i| (i, (ours[places[i]] - theirs[i]).abs()))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            let bound = self.inertia.relative * scale + STANDARD_GRAVITY * self.inertia.absolute;
            if let Some((i, d)) = worst.filter(|(_, d)| !(*d <= bound)) {
                let (ours, theirs) = (ours[places[i]], theirs[i]);
                let joint = joint_of(&facts.1.joints, i);
                out.push(format!("{what}[{joint}] {ours}, theirs {theirs} (off by {d:.1e})"));
            }
        };
        force("bias", &ours.bias, &theirs.bias, largest(&theirs.bias).max(weight), &[]);
        if self.depth == Depth::All {
            // Springs of free joints are noted.
            let mut free = vec![false; n];
            for j in facts.1.joints.iter().filter(|j| j.kind == "free" && j.stiffness != 0.0) {
                free[j.velocities..j.velocities + 6].fill(true);
            }
            let scale = largest(&theirs.spring).max(1e-9);
            force("spring force", &ours.spring, &theirs.spring, scale, &free);
            let scale = largest(&theirs.damper).max(1e-9);
            force("damper force", &ours.damper, &theirs.damper, scale, &[]);
            self.gaps(facts, ours, theirs, &mut out);
            // Open equalities have rows of no meaning.
            if theirs.acceleration.is_some()
                && rank(ours.rank, theirs, notes, &mut out)
                && !free.contains(&true)
                && !is_singular(theirs, notes)
                && !is_massless(theirs, notes)
            {
                let scale = STANDARD_GRAVITY * mass.sqrt();
                self.acceleration(places, ours, theirs, scale, &mut out);
            }
        }
        out.into_iter().map(|d| format!("{} pose: {d}", theirs.label)).collect()
    }

    fn mass_matrix(
        &self,
        places: &[usize],
        ours: &StateFact,
        theirs: &StateFact,
        out: &mut Vec<String>,
    ) {
        let n = places.len();
        let their = |i: usize, j: usize| theirs.mass_matrix[i * n + j];
        let Rounding { relative: tolerance, absolute } = self.inertia;
        let floor = 1e-13 * largest(&theirs.mass_matrix) + absolute;
        let mut worst = (0.0, 0, 0);
        for i in 0..n {
            for j in 0..n {
                let size = tolerance * (their(i, i) * their(j, j)).abs().sqrt() + floor;
                let d = (ours.mass_matrix[places[i] * n + places[j]] - their(i, j)).abs();
                // Numbers that are not finite are the worst.
                let excess = if d == 0.0 { 0.0 } else { d / size };
                let excess = if excess.is_nan() { f64::INFINITY } else { excess };
                if excess > worst.0 {
                    worst = (excess, i, j);
                }
            }
        }
        let (excess, i, j) = worst;
        if !(excess <= 1.0) {
            let (ours, theirs) = (ours.mass_matrix[places[i] * n + places[j]], their(i, j));
            out.push(format!(
                "M[{i}][{j}] {ours}, theirs {theirs} ({excess:.1e} of the tolerance)"
            ));
        }
    }

    fn gaps(
        &self,
        facts: (&Facts, &Facts),
        ours: &StateFact,
        theirs: &StateFact,
        out: &mut Vec<String>,
    ) {
        let (Some(ours), Some(theirs)) = (&ours.gaps, &theirs.gaps) else { return };
        let (Some(our), Some(their)) = (&facts.0.equalities, &facts.1.equalities) else { return };
        if ours.len() != our.len() || theirs.len() != their.len() || our.len() != their.len() {
            return; // said where equalities are compared
        }
        let scale = 1.0 + largest(theirs);
        for ((i, e), (j, _)) in self.order(our).into_iter().zip(self.order(their)) {
            if !near(ours[i], theirs[j], EXACT, scale) {
                let what = format!("{} {}", e.kind, e.name);
                out.push(format!("{what} is open by {}, theirs {}", ours[i], theirs[j]));
            }
        }
    }

    fn acceleration(
        &self,
        places: &[usize],
        ours: &StateFact,
        theirs: &StateFact,
        weight: f64,
        out: &mut Vec<String>,
    ) {
        let Some(their) = &theirs.acceleration else { return };
        let Some(our) = &ours.acceleration else {
            out.push("no acceleration, theirs has one".into());
            return;
        };
        let n = places.len();
        let energy = |x: &[f64]| {
            let product = |row: &[f64]| row.iter().zip(x).map(|(m, x)| m * x).sum::<f64>();
            let rows = theirs.mass_matrix.chunks(n.max(1));
            let sum: f64 = rows.zip(x).map(|(row, x)| x * product(row)).sum();
            // Not `max`, which would drop NaN.
            if sum < 0.0 { 0.0 } else { sum.sqrt() }
        };
        let difference: Vec<f64> = (0..n).map(|i| our[places[i]] - their[i]).collect();
        let scale = energy(their).max(theirs.force_size).max(weight);
        let tolerance = self.inertia.of_accelerations(!theirs.singular_values.is_empty());
        let d = energy(&difference);
        if !(d <= tolerance * scale) {
            let i = (0..n).max_by(|a, b| difference[*a].abs().total_cmp(&difference[*b].abs()));
            let i = i.unwrap_or(0);
            let (ours, theirs) = (our[places[i]], their[i]);
            out.push(format!(
                "acceleration[{i}] {ours}, theirs {theirs} (off by {d:.1e} of {scale:.1e})"
            ));
        }
    }
}

/// True where a coordinate moves no more mass than roundings of the others' make up: its
/// acceleration is a rounding of the forces over one of the masses.
fn is_massless(theirs: &StateFact, notes: &mut Vec<String>) -> bool {
    let n = theirs.mass_matrix.len().isqrt();
    let floor = 1e-13 * largest(&theirs.mass_matrix);
    // Cholesky's pivots: what mass is left once the other coordinates have moved freely.
    let mut m = theirs.mass_matrix.clone();
    for k in 0..n {
        let pivot = m[k * n + k];
        // Massless coordinates with equalities have accelerations through these alone.
        if !(pivot > floor) {
            let label = &theirs.label;
            notes.push(format!(
                "{label} pose: velocity {k} moves a mass of {pivot:.1e}, accelerations not compared"
            ));
            return true;
        }
        for i in k + 1..n {
            let factor = m[i * n + k] / pivot;
            for j in k + 1..n {
                m[i * n + j] -= factor * m[k * n + j];
            }
        }
    }
    false
}

/// The joint that owns a velocity.
fn joint_of(joints: &[JointFact], velocity: usize) -> String {
    let owner = joints.iter().filter(|j| j.velocities <= velocity).max_by_key(|j| j.velocities);
    owner.map_or(velocity.to_string(), |j| format!("'{}'", j.name))
}

/// True where both see the same rank; a note where singular values leave it to the tolerance.
fn rank(ours: usize, theirs: &StateFact, notes: &mut Vec<String>, out: &mut Vec<String>) -> bool {
    if ours == theirs.rank {
        return true;
    }
    let largest = theirs.singular_values.first().copied().unwrap_or(0.0);
    // Empty where we count more than they have rows.
    let between = theirs.singular_values.get(ours.min(theirs.rank)..ours.max(theirs.rank));
    let between = between.unwrap_or_default();
    let values: Vec<f64> = between.iter().map(|x| x / largest).collect();
    let listed = values.iter().map(|x| format!("{x:.1e}")).collect::<Vec<_>>().join(", ");
    // Both tolerances are relative to sizes that differ by the scaling of rows: a value that lies
    // near is for neither of them to decide.
    if values.iter().all(|x| (1e-11..1e-5).contains(x)) && !values.is_empty() {
        notes.push(format!(
            "{} pose: rank {ours}, theirs {}: singular values {listed} of the largest",
            theirs.label, theirs.rank
        ));
    } else {
        out.push(format!("rank {ours}, theirs {} ({listed})", theirs.rank));
    }
    false
}

/// True where accelerations mean nothing: equalities that repeat each other up to rounding of the
/// file's numbers, or that contradict each other in their second derivatives.
fn is_singular(theirs: &StateFact, notes: &mut Vec<String>) -> bool {
    let values = &theirs.singular_values;
    let (Some(largest), Some(last)) = (values.first(), values.get(theirs.rank.wrapping_sub(1)))
    else {
        return false;
    };
    let near = last / largest < SINGULAR;
    if near || theirs.contradiction > SINGULAR {
        let why = match near {
            true => format!("singular value {:.1e} of the largest", last / largest),
            false => "the equalities contradict each other in second order".into(),
        };
        notes.push(format!("{} pose: singular, accelerations not compared ({why})", theirs.label));
        return true;
    }
    false
}
