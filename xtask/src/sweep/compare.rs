//! Where the facts of two programs about one model differ.
//!
//! # Tolerances
//! Both sides compute in f64 from the same decimal numbers, along different ways; what they may
//! differ by is rounding times the condition of what is computed.
//! - An entry of M: 1e-9 of √(M_ii M_jj), the largest that an entry of a positive matrix can be,
//!   and 1e-13 of the largest entry: a small inertia far from its axis's origin is the difference
//!   of large numbers.
//! - Generalised forces: 1e-9 of the largest, or of g √(m M_ii), which no weight of m exceeds: of
//!   an arm in balance only the rounding of its weights is left.
//! - Accelerations, in the norm √(aᵀ M a): 1e-7 of the largest of this norm of a, the forces' norm
//!   √(fᵀ M⁻¹ f) and g √m, the bound of the weights' norm, for it is the forces whose rounding the
//!   solution magnifies; 1e-6 under equalities.
//! - Gains, stiffness, masses, positions of keyframes: 1e-9 of the number (dampratio and
//!   springdamper go through M).
//! - Gaps of equalities: 1e-9 of the gap and of the largest position, at least 1e-9.
//!
//! Where inertia misses these, [`Rounding::COARSE`] is tried, and the verdict says so: MuJoCo keeps
//! vertices of meshes in single precision (1e-6), and turns inertia to principal axes until
//! products are below 1e-12 kg m².

use super::{
    drives::{drives, keyframes, springs},
    facts::{EqualityFact, Facts, JointFact, LinkFact},
    near::{EXACT, near},
    places,
};

/// What takes part in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Everything.
    All,
    /// Links, joints, masses, mass matrix and bias: what a lenient reading keeps too.
    Inertia,
}

/// How two programs are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// Joints are matched by name instead of by order, and a root link may be part of the ground.
    pub(super) by_name: bool,
    pub(super) depth: Depth,
    pub(super) inertia: Rounding,
}

/// How far inertia, and what follows from it, may be apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounding {
    pub(super) relative: f64,
    /// kg m²
    pub(super) absolute: f64,
}

impl Rounding {
    /// Two ways of f64.
    pub(super) const FINE: Self = Self { relative: EXACT, absolute: 0.0 };
    /// Inertia of meshes and of very small bodies as MuJoCo has it.
    pub(super) const COARSE: Self = Self { relative: 1e-6, absolute: 1e-12 };

    /// For accelerations, which magnify: a hundred times, a thousand under equalities.
    pub(super) fn of_accelerations(self, constrained: bool) -> f64 {
        self.relative * if constrained { 1e3 } else { 1e2 }
    }
}

/// The joints of one program among those of another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matching {
    /// Our place of each of their positions.
    pub(super) positions: Vec<usize>,
    /// Our place of each of their velocities.
    pub(super) velocities: Vec<usize>,
}

impl Matching {
    /// Numbers in their order put in ours.
    pub(super) fn to_ours(places: &[usize], theirs: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; theirs.len()];
        places.iter().zip(theirs).for_each(|(p, x)| out[*p] = *x);
        out
    }
}

pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

impl Comparison {
    /// Matches the joints; a sentence where they are not the same ones.
    pub(super) fn joints(
        &self,
        ours: &[JointFact],
        theirs: &[JointFact],
    ) -> Result<Matching, String> {
        if ours.len() != theirs.len() {
            return Err(format!("{} joints, theirs {}", ours.len(), theirs.len()));
        }
        let mut matching = Matching { positions: vec![], velocities: vec![] };
        for (i, their) in theirs.iter().enumerate() {
            let our = if self.by_name {
                ours.iter().find(|o| o.name == their.name)
            } else {
                ours.get(i).filter(|o| o.name == their.name)
            };
            let Some(our) = our else {
                let here = ours.get(i).map_or("", |o| &o.name);
                return Err(format!("joint {i} is '{here}', theirs '{}'", their.name));
            };
            if our.kind != their.kind {
                return Err(format!(
                    "joint '{}' is a {}, theirs {}",
                    our.name, our.kind, their.kind
                ));
            }
            if !their.link.is_empty() && our.link != their.link {
                let theirs = &their.link;
                return Err(format!(
                    "joint '{}' carries '{}', theirs '{theirs}'",
                    our.name, our.link
                ));
            }
            let (positions, velocities) = their.widths();
            let put = |places: &mut Vec<usize>, at: usize, first: usize, width: usize| {
                places.resize(places.len().max(at + width), usize::MAX);
                (0..width).for_each(|k| places[at + k] = first + k);
            };
            put(&mut matching.positions, their.positions, our.positions, positions);
            put(&mut matching.velocities, their.velocities, our.velocities, velocities);
        }
        Ok(matching)
    }

    /// All that differs in the facts beside states.
    pub(super) fn facts(&self, ours: &Facts, theirs: &Facts) -> Vec<String> {
        let mut out = Vec::new();
        match (&ours.links, &theirs.links) {
            (Some(ours), Some(theirs)) => self.links(ours, theirs, &mut out),
            _ => moving_mass(ours, theirs, &mut out),
        }
        if self.depth == Depth::Inertia {
            return out;
        }
        let meshes = theirs.has_meshes;
        if let (Some(ours), Some(theirs)) = (&ours.frames, &theirs.frames) {
            places::frames(meshes, ours, theirs, &mut out);
        }
        if let (Some(ours), Some(theirs)) = (&ours.shapes, &theirs.shapes) {
            places::shapes(meshes, ours, theirs, &mut out);
        }
        for their in &theirs.joints {
            if let Some(our) = ours.joints.iter().find(|o| o.name == their.name) {
                springs(self.inertia.relative, our, their, &mut out);
            }
        }
        drives("servo", self.inertia.relative, &ours.servos, &theirs.servos, &mut out);
        drives("tendon spring", self.inertia.relative, &ours.tendons, &theirs.tendons, &mut out);
        if let (Some(ours), Some(theirs)) = (&ours.equalities, &theirs.equalities) {
            self.equalities(ours, theirs, &mut out);
        }
        keyframes(&ours.keyframes, &theirs.keyframes, &mut out);
        out
    }

    fn links(&self, ours: &[LinkFact], theirs: &[LinkFact], out: &mut Vec<String>) {
        // The root link of a URDF may be part of the ground.
        let root = |name: &str| {
            self.by_name
                && ours.iter().any(|l| l.name == name && l.parent == "world")
                && !theirs.iter().any(|l| l.name == name)
        };
        let kept: Vec<&LinkFact> = ours.iter().filter(|l| !root(&l.name)).collect();
        if kept.len() != theirs.len() {
            out.push(format!("{} links, theirs {}", kept.len(), theirs.len()));
            return;
        }
        for (i, their) in theirs.iter().enumerate() {
            let our = match self.by_name {
                true => kept.iter().find(|o| o.name == their.name),
                false => kept.get(i).filter(|o| o.name == their.name),
            };
            let Some(our) = our else {
                out.push(format!("link {i} is '{}', theirs '{}'", kept[i].name, their.name));
                return;
            };
            let parent = if root(&our.parent) { "world" } else { &our.parent };
            if parent != their.parent {
                let (name, theirs) = (&our.name, &their.parent);
                out.push(format!("link '{name}' hangs on '{parent}', theirs on '{theirs}'"));
            }
            if !near(our.mass, their.mass, self.inertia.relative, 0.0) {
                let (name, ours, theirs) = (&our.name, our.mass, their.mass);
                out.push(format!("mass of '{name}' {ours}, theirs {theirs}"));
            }
        }
    }

    fn equalities(&self, ours: &[EqualityFact], theirs: &[EqualityFact], out: &mut Vec<String>) {
        let (ours, theirs) = (self.order(ours), self.order(theirs));
        if ours.len() != theirs.len() {
            out.push(format!("{} equalities, theirs {}", ours.len(), theirs.len()));
            return;
        }
        for ((_, our), (_, their)) in ours.into_iter().zip(theirs) {
            let what = |e: &EqualityFact| {
                let name = if self.by_name { "" } else { &e.name };
                let ends = e.links.iter().chain(&e.joints).map(|x| format!("'{x}'"));
                format!("{} '{name}' of {}", e.kind, ends.collect::<Vec<_>>().join(", "))
            };
            if what(our) != what(their) {
                out.push(format!("equality: {}, theirs {}", what(our), what(their)));
            }
        }
    }

    /// Loops before couplings, and by joints where order means nothing; with their places in the
    /// list.
    pub(super) fn order<'e>(&self, list: &'e [EqualityFact]) -> Vec<(usize, &'e EqualityFact)> {
        let mut out: Vec<_> = list.iter().enumerate().collect();
        out.sort_by_key(|(_, e)| {
            let joints = if self.by_name { e.joints.as_slice() } else { &[] };
            (e.kind == "coupling", joints)
        });
        out
    }
}

fn moving_mass(ours: &Facts, theirs: &Facts, out: &mut Vec<String>) {
    if let (Some(ours), Some(theirs)) = (ours.moving_mass, theirs.moving_mass)
        && !near(ours, theirs, EXACT, 0.0)
    {
        out.push(format!("moving mass {ours}, theirs {theirs}"));
    }
}
