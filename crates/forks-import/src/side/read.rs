//! From the text of a side file to its entries.

use forks_mechanism::{
    JointKind,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    JointEntry, LoopEnd, LoopEntry, SideFile,
    table::{Entry, Source, Table},
};
use crate::{
    ImportError, Location,
    read::{label, orientation::unit_quaternion},
    urdf::roll_pitch_yaw,
};

/// Kinds of closures; synonyms stand together.
const KINDS: [&[&str]; 6] = [
    &["weld", "fixed"],
    &["hinge", "revolute"],
    &["ball", "connect", "spherical"],
    &["slide", "prismatic"],
    &["cylindrical"],
    &["planar"],
];

/// The joint of a closure; the axis is z where none is given, and not used by all kinds.
pub(super) fn loop_kind(word: &str, axis: Option<DVec3>) -> Option<JointKind> {
    let axis = axis.unwrap_or(DVec3::Z);
    let kind = KINDS.iter().position(|words| words.contains(&word))?;
    Some(match kind {
        0 => JointKind::Fixed,
        1 => JointKind::Revolute { axis },
        2 => JointKind::Spherical,
        3 => JointKind::Prismatic { axis },
        4 => JointKind::Cylindrical { axis },
        _ => JointKind::Planar,
    })
}

pub(super) fn one_of_kinds() -> String {
    let words: Vec<&str> = KINDS.iter().flat_map(|w| w.iter().copied()).collect();
    format!("must be one of {}", words.join(", "))
}

/// Reads the text of a side file.
pub(super) fn parse(text: &str, file: Option<String>) -> Result<SideFile, ImportError> {
    let source = Source { text, file };
    let document = DeTable::parse(text).map_err(|e| ImportError::Toml {
        at: Box::new(source.at(e.span().map_or(0, |s| s.start))),
        problem: e.message().to_owned(),
    })?;
    let root = Table {
        source: &source,
        element: "side file",
        table: document.get_ref(),
        at: Location { file: source.file.clone(), line: 0 },
    };
    root.only(&["effectors", "joints", "loops"])?;
    let mut side = SideFile { file: source.file.clone(), ..SideFile::default() };
    if let Some(e) = root.get("effectors") {
        side.effectors = effectors(&e)?;
    }
    if let Some(e) = root.get("joints") {
        for (name, value) in e.table("side file")?.table {
            side.joints.push(joint(&source, name, value)?);
        }
    }
    if let Some(e) = root.get("loops") {
        for (i, value) in e.array()?.iter().enumerate() {
            let closure = closure(&e.item(value), i)?;
            if !closure.name.is_empty() && side.loops.iter().any(|l| l.name == closure.name) {
                return Err(ImportError::DuplicateName {
                    at: Box::new(closure.at),
                    kind: "loop",
                    name: closure.name,
                });
            }
            side.loops.push(closure);
        }
    }
    Ok(side)
}

fn effectors(e: &Entry<'_, '_>) -> Result<Vec<(Location, String)>, ImportError> {
    let mut out: Vec<(Location, String)> = Vec::new();
    for value in e.array()? {
        let item = e.item(value);
        let name = item.string()?;
        if out.iter().any(|(_, n)| n == name) {
            return Err(item.invalid("is given twice"));
        }
        out.push((item.at(), name.to_owned()));
    }
    Ok(out)
}

fn joint(
    source: &Source<'_>,
    name: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<JointEntry, ImportError> {
    let element = label("joint", Some(name.get_ref()));
    let entry = Entry { source, element: &element, key: "joints", value };
    let mut table = entry.table(&element)?;
    table.at = source.at(name.span().start);
    if name.get_ref().is_empty() {
        return Err(table.error("a joint without a name cannot be meant"));
    }
    table.only(&["stiffness", "damping", "armature", "friction", "rest", "start"])?;
    let not_negative = |key| table.get(key).map(|e| e.not_negative()).transpose();
    let numbers = |key| table.get(key).map(|e| e.numbers()).transpose();
    Ok(JointEntry {
        name: name.get_ref().to_string(),
        stiffness: not_negative("stiffness")?,
        damping: not_negative("damping")?,
        armature: not_negative("armature")?,
        friction: not_negative("friction")?,
        rest: numbers("rest")?,
        start: numbers("start")?,
        at: table.at.clone(),
    })
}

fn closure(entry: &Entry<'_, '_>, index: usize) -> Result<LoopEntry, ImportError> {
    let by_index = format!("loop #{index}");
    let table = entry.table(&by_index)?;
    let name = table.get("name").map(|e| e.string()).transpose()?;
    let element = name.map_or(by_index.clone(), |n| label("loop", Some(n)));
    let table = entry.table(&element)?;
    table.only(&["name", "type", "axis", "a", "b", "stiffness", "damping"])?;
    let kind = table.required("type")?;
    let axis = table.get("axis").map(|e| direction(&e)).transpose()?;
    let joint = loop_kind(kind.string()?, axis).ok_or_else(|| kind.invalid(one_of_kinds()))?;
    if let Some(e) = table.get("axis")
        && matches!(joint, JointKind::Fixed | JointKind::Spherical | JointKind::Planar)
    {
        return Err(e.invalid(match joint {
            JointKind::Planar => {
                "has no meaning here; the plane is that of the frames' x and y axes"
            }
            _ => "has no meaning for this type of closure",
        }));
    }
    let not_negative = |key| table.get(key).map(|e| e.not_negative()).transpose();
    Ok(LoopEntry {
        name: name.unwrap_or("").to_owned(),
        kind: joint,
        a: end(&table, "a")?,
        b: end(&table, "b")?,
        stiffness: not_negative("stiffness")?,
        damping: not_negative("damping")?,
        at: table.at.clone(),
    })
}

fn direction(e: &Entry<'_, '_>) -> Result<DVec3, ImportError> {
    let axis = DVec3::from_array(e.fixed::<3>()?);
    let length = axis.length();
    if length > 0.0 && length.is_finite() { Ok(axis) } else { Err(e.invalid("has no direction")) }
}

/// `"link"`, or `{ link = "…", xyz = […], rpy = […] }` (or `quat_wxyz` for `rpy`).
fn end(around: &Table<'_, '_>, key: &'static str) -> Result<LoopEnd, ImportError> {
    let e = around.required(key)?;
    if let DeValue::String(_) = e.value.get_ref() {
        return Ok(LoopEnd { at: e.at(), link: e.string()?.into(), frame: Pose::IDENTITY });
    }
    let element = format!("{}, {key}", around.element);
    let table = e.table(&element)?;
    table.only(&["link", "xyz", "rpy", "quat_wxyz"])?;
    let link = table.required("link")?.string()?.to_owned();
    let xyz = table.get("xyz").map(|e| e.fixed::<3>()).transpose()?;
    let rotation = match (table.get("rpy"), table.get("quat_wxyz")) {
        (Some(_), Some(_)) => {
            return Err(table.error("the orientation is given twice, by 'rpy' and 'quat_wxyz'"));
        }
        (Some(rpy), None) => roll_pitch_yaw(rpy.fixed::<3>()?),
        (None, Some(q)) => {
            unit_quaternion(q.fixed::<4>()?).ok_or_else(|| q.invalid("is the zero quaternion"))?
        }
        (None, None) => DQuat::IDENTITY,
    };
    let translation = xyz.map_or(DVec3::ZERO, DVec3::from_array);
    Ok(LoopEnd { at: e.at(), link, frame: Pose::new(rotation, translation) })
}
