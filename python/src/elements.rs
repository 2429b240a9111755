//! Numbers of a mechanism's elements by name: `joint:hinge.stiffness`.

use std::fmt::{self, Write as _};

use forks_mechanism::{JointMatrix, JointSpring, Mechanism, MechanismBuilder};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Kinds of elements.
const KINDS: [&str; 6] = ["joint", "link", "servo", "cable", "spring", "frame"];

/// Where a number is.
struct Address<'a> {
    kind: &'a str,
    /// A * stands for any characters.
    name: &'a str,
    quantity: &'a str,
}

impl<'a> Address<'a> {
    fn read(text: &'a str) -> PyResult<Self> {
        let parts = text.split_once(':').and_then(|(kind, rest)| {
            let (name, quantity) = rest.rsplit_once('.')?;
            Some(Self { kind, name, quantity })
        });
        let parts = parts.ok_or_else(|| {
            PyValueError::new_err(format!(
                "'{text}' is no address of a number; expected KIND:NAME.QUANTITY, as \
                 joint:hinge.stiffness"
            ))
        })?;
        match KINDS.contains(&parts.kind) {
            true => Ok(parts),
            false => Err(PyValueError::new_err(format!(
                "{text}: '{}' is none of {}",
                parts.kind,
                KINDS.join(", ")
            ))),
        }
    }

    /// The elements of the name.
    fn elements(&self, b: &mut MechanismBuilder) -> PyResult<Vec<usize>> {
        let names = names(b, self.kind);
        let exact = names.iter().position(|n| n == self.name);
        let found: Vec<usize> = match exact {
            Some(i) => vec![i],
            None => (0..names.len()).filter(|&i| matches(self.name, &names[i])).collect(),
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let known: Vec<&str> = names.iter().map(|n| &**n).filter(|n| !n.is_empty()).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        let (kind, name) = (self.kind, self.name);
        Err(PyValueError::new_err(format!("no {kind} '{name}'; there are: {known}")))
    }
}

/// Gives numbers of a mechanism new values.
pub(crate) fn change(b: &mut MechanismBuilder, values: &[(String, f64)]) -> PyResult<()> {
    for (text, value) in values {
        let wrong = |why: String| PyValueError::new_err(format!("{text}: {why}"));
        if !value.is_finite() {
            return Err(wrong(format!("the value is {value}; numbers must be finite")));
        }
        let address = Address::read(text)?;
        for i in address.elements(b)? {
            exchange(b, &address, i, Some(*value)).map_err(wrong)?;
        }
    }
    Ok(())
}

/// The number at an address, the same for all elements that it stands for.
pub(crate) fn value(b: &mut MechanismBuilder, text: &str) -> PyResult<f64> {
    let wrong = |why: String| PyValueError::new_err(format!("{text}: {why}"));
    let address = Address::read(text)?;
    let mut found = None;
    for i in address.elements(b)? {
        let x = exchange(b, &address, i, None).map_err(wrong)?;
        if *found.get_or_insert(x) != x {
            return Err(wrong("the elements have different numbers".into()));
        }
    }
    found.ok_or_else(|| wrong("there is nothing".into()))
}

fn names(b: &mut MechanismBuilder, kind: &str) -> Vec<String> {
    match kind {
        "joint" => b.joints().iter().map(|x| x.name.clone()).collect(),
        "link" => b.links().iter().map(|x| x.name.clone()).collect(),
        "servo" => b.servos_mut().iter().map(|x| x.name.clone()).collect(),
        "cable" => b.cables().iter().map(|x| x.name.clone()).collect(),
        "spring" => b.combination_springs_mut().iter().map(|x| x.name.clone()).collect(),
        _ => b.frames_mut().iter().map(|x| x.name.clone()).collect(),
    }
}

/// True if a name is of a pattern in which * stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let (last, between) = parts.split_last().unwrap_or((&"", &[]));
    for part in between {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// The number at an address, and a new one in its place if there is one.
fn exchange(
    b: &mut MechanismBuilder,
    at: &Address<'_>,
    i: usize,
    new: Option<f64>,
) -> Result<f64, String> {
    let replace = |x: &mut f64| Ok(std::mem::replace(x, new.unwrap_or(*x)));
    match (at.kind, at.quantity) {
        ("joint", quantity) => joint(b, i, quantity, new),
        ("link", "mass") => {
            let inertia = &mut b.links_mut()[i].inertia;
            let old = inertia.mass;
            if let Some(mass) = new {
                if old == 0.0 {
                    return Err("the link has no mass to which its inertia belongs".into());
                }
                inertia.mass = mass;
                inertia.inertia *= mass / old;
            }
            Ok(old)
        }
        ("servo", "stiffness") => replace(&mut b.servos_mut()[i].stiffness),
        ("servo", "damping") => replace(&mut b.servos_mut()[i].damping),
        ("cable", "stiffness") => replace(&mut b.cables_mut()[i].stiffness),
        ("cable", "damping") => replace(&mut b.cables_mut()[i].damping),
        ("cable", "rest") => {
            let [lower, upper] = &mut b.cables_mut()[i].rest;
            if lower == upper {
                *lower = new.unwrap_or(*lower);
            }
            replace(upper)
        }
        ("spring", "stiffness") => replace(&mut b.combination_springs_mut()[i].stiffness),
        ("spring", "damping") => replace(&mut b.combination_springs_mut()[i].damping),
        ("spring", "rest") => replace(&mut b.combination_springs_mut()[i].rest),
        ("frame", quantity) => {
            let p = &mut b.frames_mut()[i].link_from_frame.translation;
            match quantity {
                "x" => replace(&mut p.x),
                "y" => replace(&mut p.y),
                "z" => replace(&mut p.z),
                _ => Err(unknown(at)),
            }
        }
        _ => Err(unknown(at)),
    }
}

fn joint(
    b: &mut MechanismBuilder,
    i: usize,
    quantity: &str,
    new: Option<f64>,
) -> Result<f64, String> {
    let j = &mut b.joints_mut()[i];
    let dof = j.dof();
    let replace = |x: &mut f64| Ok(std::mem::replace(x, new.unwrap_or(*x)));
    if dof == 0 && matches!(quantity, "stiffness" | "damping" | "armature" | "rest") {
        return Err("the joint does not move".into());
    }
    match quantity {
        "stiffness" => {
            let zero = JointMatrix::zeros(dof);
            let old = one(j.spring.as_ref().map_or(&zero, |s| &s.stiffness))?;
            if let Some(k) = new {
                let stiffness = JointMatrix::isotropic(dof, k);
                let rest = j.spring.take().map_or_else(|| j.start.clone(), |s| s.rest);
                j.spring = Some(JointSpring { stiffness, rest });
            }
            Ok(old)
        }
        "damping" => {
            let old = one(&j.damping)?;
            if let Some(d) = new {
                j.damping = JointMatrix::isotropic(dof, d);
            }
            Ok(old)
        }
        "armature" => {
            let old = one(&JointMatrix::diagonal(&j.armature))?;
            if let Some(a) = new {
                j.armature.fill(a);
            }
            Ok(old)
        }
        "rest" => match j.spring.as_mut().map(|s| &mut s.rest[..]) {
            Some([x]) => replace(x),
            Some(_) => Err("the joint has several coordinates".into()),
            None => Err("the joint has no spring".into()),
        },
        "x" => replace(&mut j.parent_from_joint.translation.x),
        "y" => replace(&mut j.parent_from_joint.translation.y),
        "z" => replace(&mut j.parent_from_joint.translation.z),
        _ => Err(unknown(&Address { kind: "joint", name: "", quantity })),
    }
}

/// The number of which a matrix is a multiple of the identity.
fn one(m: &JointMatrix) -> Result<f64, String> {
    let s = m.get(0, 0);
    let all = (0..m.dof()).flat_map(|i| (0..m.dof()).map(move |j| (i, j)));
    match all.into_iter().all(|(i, j)| m.get(i, j) == if i == j { s } else { 0.0 }) {
        true => Ok(s),
        false => Err("the joint has a matrix that is no one number".into()),
    }
}

fn unknown(at: &Address<'_>) -> String {
    let known = match at.kind {
        "joint" => "stiffness, damping, armature, rest, x, y, z",
        "link" => "mass",
        "servo" => "stiffness, damping",
        "frame" => "x, y, z",
        _ => "stiffness, damping, rest",
    };
    format!("'{}' is none of a {}'s {known}", at.quantity, at.kind)
}

/// FNV-1a of everything that a mechanism is made of, as text with all digits.
pub(crate) fn fingerprint(m: &Mechanism) -> String {
    struct Hash(u64);
    impl fmt::Write for Hash {
        fn write_str(&mut self, s: &str) -> fmt::Result {
            for byte in s.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // Nothing of a hash can fail.
    let _ = write!(hash, "{m:?}");
    format!("{:016x}", hash.0)
}
