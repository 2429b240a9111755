//! A model's numbers as JSON. A checked model has finite numbers only.

use alloc::string::String;
use core::fmt::{self, Write as _};

use forks_lie::Pose;
use forks_linalg::Matrix;

use crate::{BaseRest, EffectorRest, JointPath, JointRest, LinkRest, ModelData};

/// The model on one line.
pub fn json(data: &ModelData) -> String {
    let ModelData {
        radius,
        range,
        effectors,
        basis,
        hessian,
        mass,
        damping,
        servo_rest,
        servos,
        links,
        joints,
        base,
    } = data;
    Object::default()
        .field("radius", number(*radius))
        .field("range", if range.is_finite() { number(*range) } else { "null".into() })
        .field("effectors", list(effectors.iter().map(effector)))
        .field("basis", matrix(basis))
        .field("hessian", matrix(hessian))
        .field("mass", matrix(mass))
        .field("damping", matrix(damping))
        .field("servo_rest", matrix(servo_rest))
        .field("servos", list(servos.iter().map(|s| text(s))))
        .field("links", list(links.iter().map(link)))
        .field("joints", list(joints.iter().map(joint)))
        .field("base", base.as_ref().map_or("null".into(), self::base))
        .end()
}

fn effector(e: &EffectorRest) -> String {
    let EffectorRest { name, link, link_from_effector, rest, static_wrench } = e;
    Object::default()
        .field("name", text(name))
        .field("link", show(link))
        .field("link_from_effector", pose(link_from_effector))
        .field("rest", pose(rest))
        .field("static_wrench", numbers(static_wrench.to_array()))
        .end()
}

fn link(l: &LinkRest) -> String {
    let LinkRest { name, auxiliary, rest, map, servo_map } = l;
    Object::default()
        .field("name", text(name))
        .field("auxiliary", show(auxiliary))
        .field("rest", pose(rest))
        .field("map", matrix(map))
        .field("servo_map", matrix(servo_map))
        .end()
}

fn joint(j: &JointRest) -> String {
    let JointRest {
        name,
        closes_loop,
        inner,
        outer,
        inner_from_outer,
        reversed,
        parent_from_joint,
        child_from_joint,
        path,
        map,
        servo_map,
        static_load,
        load_map,
    } = j;
    Object::default()
        .field("name", text(name))
        .field("closes_loop", show(closes_loop))
        .field("inner", show(inner))
        .field("outer", show(outer))
        .field("inner_from_outer", pose(inner_from_outer))
        .field("reversed", show(reversed))
        .field("parent_from_joint", pose(parent_from_joint))
        .field("child_from_joint", pose(child_from_joint))
        .field("path", self::path(path))
        .field("map", matrix(map))
        .field("servo_map", matrix(servo_map))
        .field("static_load", numbers(static_load.to_array()))
        .field("load_map", matrix(load_map))
        .end()
}

fn path(p: &JointPath) -> String {
    let twists = |t: &[forks_lie::Twist]| list(t.iter().map(|t| numbers(t.to_array())));
    match p {
        JointPath::Exponential { columns } => {
            Object::default().field("kind", text("exponential")).field("columns", twists(columns))
        }
        JointPath::Product { factors } => {
            let factor = |(i, column): &(usize, forks_lie::Twist)| {
                let column = numbers(column.to_array());
                Object::default().field("coordinate", show(i)).field("column", column).end()
            };
            let factors = list(factors.iter().map(factor));
            Object::default().field("kind", text("product")).field("factors", factors)
        }
        JointPath::Subspace { before, subspace, start, after, inverted } => Object::default()
            .field("kind", text("subspace"))
            .field("before", pose(before))
            .field("subspace", twists(subspace))
            .field("start", numbers(start.iter().copied()))
            .field("after", pose(after))
            .field("inverted", show(inverted)),
    }
    .end()
}

fn base(b: &BaseRest) -> String {
    // All fields by name, so that a new one is not forgotten.
    let BaseRest {
        link,
        inertia,
        coupling,
        inertia_slopes: slopes,
        coupling_slopes,
        own_inertia,
        gravity,
    } = b;
    Object::default()
        .field("link", show(link))
        .field("inertia", matrix(inertia))
        .field("coupling", matrix(coupling))
        .field("inertia_slopes", list(slopes.iter().map(matrix)))
        .field("coupling_slopes", list(coupling_slopes.iter().map(matrix)))
        .field("own_inertia", matrix(own_inertia))
        .field("gravity", numbers(gravity.to_array()))
        .end()
}

/// Position and quaternion of a pose.
pub fn pose(p: &Pose) -> String {
    let [x, y, z, w] = p.rotation.to_array();
    Object::default()
        .field("position", numbers(p.translation.to_array()))
        .field("quaternion_wxyz", numbers([w, x, y, z]))
        .end()
}

/// A list of rows.
pub fn matrix(m: &Matrix) -> String {
    list((0..m.rows()).map(|i| numbers(m.row(i).iter().copied())))
}

/// A list of numbers.
pub fn numbers(x: impl IntoIterator<Item = f64>) -> String {
    list(x.into_iter().map(number))
}

/// The fewest digits that read back as the same number: `{:?}` of a finite number is JSON.
pub fn number(x: f64) -> String {
    debug_assert!(x.is_finite(), "numbers of a model are checked");
    alloc::format!("{x:?}")
}

/// What shows itself as JSON does.
pub fn show(x: &dyn fmt::Display) -> String {
    alloc::format!("{x}")
}

/// Items between brackets.
pub fn list(items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (i, item) in items.enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(&item);
    }
    out.push(']');
    out
}

/// A string between quotes.
pub fn text(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Fields of an object so far.
#[derive(Default)]
pub struct Object(String);

impl Object {
    /// With one more field.
    pub fn field(mut self, name: &str, value: String) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&text(name));
        self.0.push(':');
        self.0.push_str(&value);
        self
    }

    /// The object between braces.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
