//! A model's numbers from bytes.

use alloc::vec::Vec;

use super::{
    CHECKSUM, FileError, HEADER, MAGIC, SCALAR, VERSION, path_kind, reader::Reader, section,
};
use crate::data::{BaseRest, EffectorRest, JointPath, JointRest, LinkRest, ModelData};

/// Least bytes of a name: its length.
const NAME: usize = 8;
/// Bytes of an index.
const INDEX: usize = 8;
/// Bytes of a pose.
const POSE: usize = 7 * 8;
/// Bytes of a twist or wrench.
const TWIST: usize = 6 * 8;

/// Numbers of things in a file.
struct Sizes {
    dof: usize,
    effectors: usize,
    servos: usize,
    links: usize,
    joints: usize,
    has_base: bool,
}

/// Reads a whole file.
pub fn read(bytes: &[u8]) -> Result<ModelData, FileError> {
    let declared = check_header(bytes)?;
    let mut file = Reader::new(content(bytes, declared)?, "after the last");
    let data = sections(&mut file)?;
    file.end()?;
    Ok(data)
}

/// The sections of a file of the declared length, its checksum compared.
pub fn content(bytes: &[u8], declared: u64) -> Result<&[u8], FileError> {
    if bytes.len() as u64 != declared || bytes.len() < HEADER + CHECKSUM {
        return Err(FileError::Length { found: bytes.len() as u64, declared });
    }
    let (content, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    let (stored, computed) = (u32_at(sum, 0), crc32fast::hash(content));
    if stored != computed {
        return Err(FileError::Checksum { stored, computed });
    }
    Ok(&content[HEADER..])
}

/// Magic, version and scalar of a reduced model; returns the declared length.
pub(crate) fn check_header(bytes: &[u8]) -> Result<u64, FileError> {
    header(bytes, MAGIC, VERSION)
}

/// Magic, version and scalar; returns the declared length.
pub fn header(bytes: &[u8], magic: [u8; 8], supported: u32) -> Result<u64, FileError> {
    let start = &bytes[..bytes.len().min(magic.len())];
    if start.is_empty() || start != &magic[..start.len()] {
        let found = start.into();
        return Err(match magic == MAGIC {
            true => FileError::NotAReducedModel { found },
            false => FileError::NotABlend { found },
        });
    }
    if bytes.len() < HEADER {
        let least = (HEADER + CHECKSUM) as u64;
        return Err(FileError::Length { found: bytes.len() as u64, declared: least });
    }
    let version = u32_at(bytes, 8);
    if version != supported {
        return Err(FileError::Version { found: version, supported });
    }
    let scalar = u32_at(bytes, 12);
    if scalar != SCALAR {
        return Err(FileError::Scalar { found: scalar, supported: SCALAR });
    }
    Ok(u64::from(u32_at(bytes, 20)) << 32 | u64::from(u32_at(bytes, 16)))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(core::array::from_fn(|i| bytes[at + i]))
}

fn sections(file: &mut Reader<'_>) -> Result<ModelData, FileError> {
    let mut r = file.section(section::SIZE)?;
    let n = Sizes {
        dof: r.index("number of coordinates")?,
        effectors: r.index("number of effectors")?,
        servos: r.index("number of servos")?,
        links: r.index("number of links")?,
        joints: r.index("number of joints")?,
        has_base: r.flag("whether there is a base")?,
    };
    let radius = r.number("radius")?;
    let range = r.raw_number("range")?;
    r.end()?;

    let mut r = file.section(section::SERV)?;
    let servos = r.list("servos", n.servos, NAME, |r| r.text("name"))?;
    r.end()?;

    let mut r = file.section(section::EFFE)?;
    let least = NAME + INDEX + 2 * POSE + TWIST;
    let effectors = r.list("effectors", n.effectors, least, effector)?;
    r.end()?;

    let mut r = file.section(section::DYNA)?;
    let basis = r.matrix("basis", n.effectors.saturating_mul(6), n.dof)?;
    let hessian = r.matrix("hessian", n.dof, n.dof)?;
    let mass = r.matrix("mass", n.dof, n.dof)?;
    let damping = r.matrix("damping", n.dof, n.dof)?;
    let servo_rest = r.matrix("servo_rest", n.dof, n.servos)?;
    r.end()?;

    let mut r = file.section(section::LINK)?;
    let links = r.list("links", n.links, NAME + 1 + POSE, |r| link(r, &n))?;
    r.end()?;

    let mut r = file.section(section::JOIN)?;
    let least = NAME + 4 + 3 * INDEX + 3 * POSE + TWIST;
    let joints = r.list("joints", n.joints, least, |r| joint(r, &n))?;
    r.end()?;

    let mut r = file.section(section::BASE)?;
    let base = if n.has_base { Some(base(&mut r, &n)?) } else { None };
    r.end()?;

    Ok(ModelData {
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
    })
}

fn effector(r: &mut Reader<'_>) -> Result<EffectorRest, FileError> {
    Ok(EffectorRest {
        name: r.text("name")?,
        link: r.index("link")?,
        link_from_effector: r.pose("link_from_effector")?,
        rest: r.pose("rest")?,
        static_wrench: r.wrench("static_wrench")?,
    })
}

fn link(r: &mut Reader<'_>, n: &Sizes) -> Result<LinkRest, FileError> {
    Ok(LinkRest {
        name: r.text("name")?,
        auxiliary: r.flag("auxiliary")?,
        rest: r.pose("rest")?,
        map: r.matrix("map", 6, n.dof)?,
        servo_map: r.matrix("servo_map", 6, n.servos)?,
    })
}

fn joint(r: &mut Reader<'_>, n: &Sizes) -> Result<JointRest, FileError> {
    let (name, closes_loop) = (r.text("name")?, r.flag("closes_loop")?);
    let (inner, outer) = (r.index("inner")?, r.index("outer")?);
    let inner_from_outer = r.pose("inner_from_outer")?;
    let reversed = r.flag("reversed")?;
    let parent_from_joint = r.pose("parent_from_joint")?;
    let child_from_joint = r.pose("child_from_joint")?;
    let dof = r.index("number of coordinates")?;
    // The path comes first: it has bytes for every coordinate, also where the maps have no columns.
    let path = path(r, dof)?;
    Ok(JointRest {
        name,
        closes_loop,
        inner,
        outer,
        inner_from_outer,
        reversed,
        parent_from_joint,
        child_from_joint,
        path,
        map: r.matrix("map", dof, n.dof)?,
        servo_map: r.matrix("servo_map", dof, n.servos)?,
        static_load: r.wrench("static_load")?,
        load_map: match r.flag("whether there is a load map")? {
            true => r.matrix("load_map", 6, n.dof)?,
            false => r.matrix("load_map", 0, 0)?,
        },
    })
}

fn path(r: &mut Reader<'_>, dof: usize) -> Result<JointPath, FileError> {
    match r.byte("kind of path")? {
        path_kind::EXPONENTIAL => Ok(JointPath::Exponential {
            columns: r.list("columns", dof, TWIST, |r| r.twist("columns"))?,
        }),
        path_kind::PRODUCT => {
            let factor = |r: &mut Reader<'_>| Ok((r.index("factor")?, r.twist("factor")?));
            Ok(JointPath::Product { factors: r.list("factors", dof, INDEX + TWIST, factor)? })
        }
        path_kind::SUBSPACE => Ok(JointPath::Subspace {
            before: r.pose("before")?,
            subspace: r.list("subspace", dof, TWIST, |r| r.twist("subspace"))?,
            start: r.list("start", dof, 8, |r| r.number("start"))?,
            after: r.pose("after")?,
            inverted: r.flag("inverted")?,
        }),
        other => Err(r.wrong("kind of path", other.into())),
    }
}

fn base(r: &mut Reader<'_>, n: &Sizes) -> Result<BaseRest, FileError> {
    Ok(BaseRest {
        link: r.index("link")?,
        inertia: r.matrix("inertia", 6, 6)?,
        coupling: r.matrix("coupling", 6, n.dof)?,
        inertia_slopes: slopes(r, n)?,
        coupling_slopes: r.list("coupling_slopes", n.dof, n.dof.saturating_mul(TWIST), |r| {
            r.matrix("coupling_slopes", 6, n.dof)
        })?,
        own_inertia: r.matrix("own_inertia", 6, 6)?,
        gravity: r.vector("gravity")?,
    })
}

fn slopes(r: &mut Reader<'_>, n: &Sizes) -> Result<Vec<forks_linalg::Matrix>, FileError> {
    r.list("inertia_slopes", n.dof, 6 * TWIST, |r| r.matrix("inertia_slopes", 6, 6))
}
