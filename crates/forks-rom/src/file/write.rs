//! A model's numbers to bytes. Every structure is taken apart by name, so that a new field cannot
//! be forgotten.

use alloc::vec::Vec;

use forks_lie::Pose;
use forks_linalg::Matrix;

use super::{CHECKSUM, HEADER, MAGIC, SCALAR, VERSION, path_kind, section};
use crate::data::{BaseRest, EffectorRest, JointPath, JointRest, LinkRest, ModelData};

/// The bytes of a file.
pub(super) fn write(data: &ModelData) -> Vec<u8> {
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
    let mut out = Writer::new(MAGIC, VERSION, SCALAR);
    out.section(section::SIZE, |out| {
        let lengths = [effectors.len(), servos.len(), links.len(), joints.len()];
        out.count(basis.columns());
        lengths.into_iter().for_each(|n| out.count(n));
        out.flag(base.is_some());
        out.numbers([*radius, *range]);
    });
    out.section(section::SERV, |out| servos.iter().for_each(|name| out.text(name)));
    out.section(section::EFFE, |out| effectors.iter().for_each(|e| out.effector(e)));
    out.section(section::DYNA, |out| {
        [basis, hessian, mass, damping, servo_rest].into_iter().for_each(|m| out.matrix(m));
    });
    out.section(section::LINK, |out| links.iter().for_each(|l| out.link(l)));
    out.section(section::JOIN, |out| joints.iter().for_each(|j| out.joint(j)));
    out.section(section::BASE, |out| base.iter().for_each(|b| out.base(b)));
    out.finish()
}

/// A file as it grows.
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The header.
    pub fn new(magic: [u8; 8], version: u32, scalar: u32) -> Self {
        let mut out = Self { bytes: magic.into() };
        out.bytes.extend(version.to_le_bytes());
        out.bytes.extend(scalar.to_le_bytes());
        out.count(0); // the length, known at the end
        out
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A count of bytes, then the bytes.
    pub fn block(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend(bytes);
    }

    /// Length and checksum.
    pub fn finish(mut self) -> Vec<u8> {
        let length = (self.bytes.len() + CHECKSUM) as u64;
        self.bytes[HEADER - 8..HEADER].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&self.bytes);
        self.bytes.extend(sum.to_le_bytes());
        self.bytes
    }

    /// A name, a count of bytes and the content.
    pub fn section(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.bytes.extend(name.as_bytes());
        self.count(0);
        let start = self.bytes.len();
        content(self);
        let size = (self.bytes.len() - start) as u64;
        self.bytes[start - 8..start].copy_from_slice(&size.to_le_bytes());
    }

    /// A count or an index.
    pub fn count(&mut self, n: usize) {
        self.bytes.extend((n as u64).to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.bytes.push(u8::from(flag));
    }

    /// Numbers, one after the other.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = f64>) {
        self.bytes.extend(numbers.into_iter().flat_map(f64::to_le_bytes));
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend(text.as_bytes());
    }

    /// Position, then quaternion w, x, y, z.
    pub fn pose(&mut self, pose: &Pose) {
        let (p, q) = (pose.translation, pose.rotation);
        self.numbers([p.x, p.y, p.z, q.w, q.x, q.y, q.z]);
    }

    /// Row by row.
    pub fn matrix(&mut self, m: &Matrix) {
        self.numbers(m.as_slice().iter().copied());
    }

    fn effector(&mut self, e: &EffectorRest) {
        let EffectorRest { name, link, link_from_effector, rest, static_wrench } = e;
        self.text(name);
        self.count(*link);
        self.pose(link_from_effector);
        self.pose(rest);
        self.numbers(static_wrench.to_array());
    }

    fn link(&mut self, l: &LinkRest) {
        let LinkRest { name, auxiliary, rest, map, servo_map } = l;
        self.text(name);
        self.flag(*auxiliary);
        self.pose(rest);
        self.matrix(map);
        self.matrix(servo_map);
    }

    fn joint(&mut self, j: &JointRest) {
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
        self.text(name);
        self.flag(*closes_loop);
        self.count(*inner);
        self.count(*outer);
        self.pose(inner_from_outer);
        self.flag(*reversed);
        self.pose(parent_from_joint);
        self.pose(child_from_joint);
        self.count(map.rows());
        self.path(path);
        self.matrix(map);
        self.matrix(servo_map);
        self.numbers(static_load.to_array());
        self.flag(load_map.rows() > 0);
        self.matrix(load_map);
    }

    fn path(&mut self, path: &JointPath) {
        match path {
            JointPath::Exponential { columns } => {
                self.bytes.push(path_kind::EXPONENTIAL);
                self.numbers(columns.iter().flat_map(|c| c.to_array()));
            }
            JointPath::Product { factors } => {
                self.bytes.push(path_kind::PRODUCT);
                for (i, column) in factors {
                    self.count(*i);
                    self.numbers(column.to_array());
                }
            }
            JointPath::Subspace { before, subspace, start, after, inverted } => {
                self.bytes.push(path_kind::SUBSPACE);
                self.pose(before);
                self.numbers(subspace.iter().flat_map(|c| c.to_array()));
                self.numbers(start.iter().copied());
                self.pose(after);
                self.flag(*inverted);
            }
        }
    }

    fn base(&mut self, b: &BaseRest) {
        let BaseRest {
            link,
            inertia,
            coupling,
            inertia_slopes,
            coupling_slopes,
            own_inertia,
            gravity,
        } = b;
        self.count(*link);
        self.matrix(inertia);
        self.matrix(coupling);
        inertia_slopes.iter().for_each(|s| self.matrix(s));
        coupling_slopes.iter().for_each(|s| self.matrix(s));
        self.matrix(own_inertia);
        self.numbers(gravity.to_array());
    }
}
