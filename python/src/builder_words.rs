//! What a builder is told, from Python's words.

use forks_mechanism::{
    CableBranch, CableNode, CableObstacle, CablePoint, Combination, Coordinate, Geometry,
    JointKind, LinkId, MechanismBuilder, ObstacleKind,
    lie::{Pose, glam::DVec3},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::arrays::Input;

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> PyErr {
    let known: Vec<&str> = known.filter(|n| !n.is_empty()).collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    PyValueError::new_err(format!("no {kind} '{name}'; there are: {known}"))
}

/// A link by its name; 'world' is the ground.
pub(crate) fn link(b: &MechanismBuilder, name: &str) -> PyResult<LinkId> {
    if name == "world" {
        return Ok(LinkId::WORLD);
    }
    let names = b.links().iter().map(|l| &*l.name);
    // From the end: what is named is mostly what was added last.
    let i = names.clone().rposition(|n| n == name);
    i.map(LinkId::new).ok_or_else(|| unknown("link", name, names))
}

/// A cable by its name.
pub(crate) fn cable(b: &MechanismBuilder, name: &str) -> PyResult<forks_mechanism::CableId> {
    let names = b.cables().iter().map(|c| &*c.name);
    let i = names.clone().position(|n| n == name);
    i.map(forks_mechanism::CableId::new).ok_or_else(|| unknown("cable", name, names))
}

/// A coordinate: a joint's name, its first one; or (name, index).
pub(crate) fn coordinate(b: &MechanismBuilder, x: &Bound<'_, PyAny>) -> PyResult<Coordinate> {
    let (name, index) = match x.extract::<String>() {
        Ok(name) => (name, 0),
        Err(_) => x.extract::<(String, usize)>().map_err(|_| {
            PyTypeError::new_err("a coordinate is a joint's name, or (name, index)")
        })?,
    };
    let names = b.joints().iter().map(|j| &*j.name);
    let i = names.clone().rposition(|n| n == name && !name.is_empty());
    let joint = i.map(forks_mechanism::JointId::new).ok_or_else(|| unknown("joint", &name, names));
    Ok(Coordinate { joint: joint?, index })
}

/// Coordinates with coefficients: a coordinate alone, or a dict.
pub(crate) fn combination(
    b: &MechanismBuilder,
    x: &Bound<'_, PyAny>,
    offset: f64,
) -> PyResult<Combination> {
    let Ok(dict) = x.cast::<PyDict>() else {
        return Ok(Combination { terms: vec![(coordinate(b, x)?, 1.0)], offset });
    };
    if dict.is_empty() {
        return Err(PyValueError::new_err("the dict of joints is empty"));
    }
    let term = |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let wrong = |_| PyTypeError::new_err(format!("the coefficient of {k} is no number"));
        Ok((coordinate(b, &k)?, v.extract::<f64>().map_err(wrong)?))
    };
    Ok(Combination { terms: dict.iter().map(term).collect::<PyResult<_>>()?, offset })
}

/// Three numbers.
pub(crate) fn vector(name: &str, x: &Bound<'_, PyAny>) -> PyResult<DVec3> {
    let input = Input::new(name, x, &[3])?;
    Ok(DVec3::from_slice(input.as_slice()))
}

/// A pose of seven numbers, the origin by default; the quaternion is scaled to length 1.
pub(crate) fn pose(name: &str, x: Option<&Bound<'_, PyAny>>) -> PyResult<Pose> {
    x.map_or(Ok(Pose::IDENTITY), |x| crate::arrays::pose(name, x))
}

/// What a joint lets move.
pub(crate) fn kind(name: &str, axis: Option<&Bound<'_, PyAny>>) -> PyResult<JointKind> {
    let along = || match axis {
        Some(x) => vector("axis", x),
        None => Err(PyValueError::new_err(format!("a {name} joint needs an axis"))),
    };
    let none = |kind| match axis {
        None => Ok(kind),
        Some(_) => Err(PyValueError::new_err(format!("a {name} joint has no axis"))),
    };
    match name {
        "revolute" => Ok(JointKind::Revolute { axis: along()? }),
        "prismatic" => Ok(JointKind::Prismatic { axis: along()? }),
        "cylindrical" => Ok(JointKind::Cylindrical { axis: along()? }),
        "fixed" => none(JointKind::Fixed),
        "spherical" => none(JointKind::Spherical),
        "planar" => none(JointKind::Planar),
        "free" => none(JointKind::Free),
        _ => Err(PyValueError::new_err(format!(
            "kind is '{name}', expected 'revolute', 'prismatic', 'cylindrical', 'fixed', \
             'spherical', 'planar' or 'free'"
        ))),
    }
}

/// What sizes a form has.
pub(crate) struct Sizes<'a, 'py> {
    pub(crate) radius: Option<f64>,
    pub(crate) half_length: Option<f64>,
    pub(crate) radii: Option<&'a Bound<'py, PyAny>>,
    pub(crate) half_extents: Option<&'a Bound<'py, PyAny>>,
    pub(crate) points: Option<&'a Bound<'py, PyAny>>,
}

/// A form by its name and sizes; sizes that it does not have are refused.
pub(crate) fn form(name: &str, s: &Sizes<'_, '_>) -> PyResult<Geometry> {
    let given = [
        ("radius", s.radius.is_some()),
        ("half_length", s.half_length.is_some()),
        ("radii", s.radii.is_some()),
        ("half_extents", s.half_extents.is_some()),
        ("points", s.points.is_some()),
    ];
    let takes: &[&str] = match name {
        "plane" => &[],
        "sphere" => &["radius"],
        "capsule" | "cylinder" => &["radius", "half_length"],
        "ellipsoid" => &["radii"],
        "box" => &["half_extents"],
        "hull" => &["points"],
        _ => {
            return Err(PyValueError::new_err(format!(
                "form is '{name}', expected 'plane', 'sphere', 'capsule', 'cylinder', \
                 'ellipsoid', 'box' or 'hull'"
            )));
        }
    };
    for (size, is_given) in given {
        if is_given != takes.contains(&size) {
            let takes = if takes.is_empty() { "no sizes".into() } else { takes.join(" and ") };
            return Err(PyValueError::new_err(format!("a {name} takes {takes}")));
        }
    }
    let number = |x: Option<f64>| x.unwrap_or_default();
    let three = |name, x: Option<&Bound<'_, PyAny>>| x.map_or(Ok(DVec3::ZERO), |x| vector(name, x));
    Ok(match name {
        "sphere" => Geometry::Sphere { radius: number(s.radius) },
        "capsule" => {
            Geometry::Capsule { radius: number(s.radius), half_length: number(s.half_length) }
        }
        "cylinder" => {
            Geometry::Cylinder { radius: number(s.radius), half_length: number(s.half_length) }
        }
        "ellipsoid" => Geometry::Ellipsoid { radii: three("radii", s.radii)? },
        "box" => Geometry::Box { half_extents: three("half_extents", s.half_extents)? },
        "hull" => match s.points {
            Some(x) => {
                let input = Input::rows("points", x, 3)?;
                let (rows, _) = input.as_slice().as_chunks::<3>();
                Geometry::Hull { points: rows.iter().map(|p| DVec3::from_array(*p)).collect() }
            }
            None => Geometry::Hull { points: vec![] },
        },
        _ => Geometry::Plane,
    })
}

/// The branches of a cable: one path, or dicts of 'path' and 'strands'.
pub(crate) fn branches(
    b: &MechanismBuilder,
    path: &Bound<'_, PyAny>,
) -> PyResult<Vec<CableBranch>> {
    let stops: Vec<Bound<'_, PyAny>> = path
        .try_iter()
        .map_err(|_| PyTypeError::new_err("path is no list of stops"))?
        .collect::<PyResult<_>>()?;
    let is_branch = |x: &Bound<'_, PyAny>| {
        x.cast::<PyDict>().is_ok_and(|d| d.contains("path").unwrap_or(false))
    };
    if !stops.iter().any(is_branch) {
        return Ok(vec![CableBranch { divisor: 1.0, nodes: nodes(b, &stops)? }]);
    }
    let branch = |x: &Bound<'_, PyAny>| {
        let d = x.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err("a cable's branches are dicts of 'path' and 'strands'")
        })?;
        only(d, "branch", &["path", "strands"])?;
        let divisor = d.get_item("strands")?.map_or(Ok(1.0), |s| s.extract())?;
        let path = d
            .get_item("path")?
            .ok_or_else(|| PyValueError::new_err("a branch of a cable has no 'path'"))?;
        let stops: Vec<Bound<'_, PyAny>> = path.try_iter()?.collect::<PyResult<_>>()?;
        Ok(CableBranch { divisor, nodes: nodes(b, &stops)? })
    };
    stops.iter().map(branch).collect()
}

fn nodes(b: &MechanismBuilder, stops: &[Bound<'_, PyAny>]) -> PyResult<Vec<CableNode>> {
    stops.iter().enumerate().map(|(i, stop)| node(b, i, stop)).collect()
}

/// (link, point), or a dict of what may be wrapped.
fn node(b: &MechanismBuilder, i: usize, x: &Bound<'_, PyAny>) -> PyResult<CableNode> {
    let Ok(d) = x.cast::<PyDict>() else {
        return Ok(CableNode::Point(point(b, &format!("stop {i} of the path"), x)?));
    };
    only(d, "obstacle", &["sphere", "cylinder", "link", "at", "side"])?;
    let (kind, radius) = match (d.get_item("sphere")?, d.get_item("cylinder")?) {
        (Some(r), None) => (ObstacleKind::Sphere, r),
        (None, Some(r)) => (ObstacleKind::Cylinder, r),
        _ => {
            return Err(PyValueError::new_err(format!(
                "stop {i} of the path: an obstacle is a 'sphere' or a 'cylinder' of a radius"
            )));
        }
    };
    let name: String = match d.get_item("link")? {
        Some(l) => l.extract()?,
        None => "world".into(),
    };
    let at = d.get_item("at")?;
    let side = d.get_item("side")?.filter(|s| !s.is_none());
    Ok(CableNode::Obstacle(CableObstacle {
        link: link(b, &name)?,
        link_from_obstacle: pose("at", at.as_ref())?,
        kind,
        radius: radius.extract()?,
        side: side.map(|s| point(b, "side", &s)).transpose()?,
    }))
}

fn point(b: &MechanismBuilder, what: &str, x: &Bound<'_, PyAny>) -> PyResult<CablePoint> {
    let (name, position): (String, Bound<'_, PyAny>) = x.extract().map_err(|_| {
        PyTypeError::new_err(format!("{what} is no (link, point) and no dict of an obstacle"))
    })?;
    Ok(CablePoint { link: link(b, &name)?, position: vector(what, &position)? })
}

/// Refuses keys that mean nothing.
fn only(d: &Bound<'_, PyDict>, what: &str, known: &[&str]) -> PyResult<()> {
    for k in d.keys() {
        let key: String = k.extract()?;
        if !known.contains(&&*key) {
            let known = known.join(", ");
            return Err(PyValueError::new_err(format!("'{key}' of a {what} is none of {known}")));
        }
    }
    Ok(())
}
