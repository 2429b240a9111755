//! The binary part of a file: numbers, the accessors that describe them, and the container of both.

use serde_json::{Value, json};

use crate::IoError;

/// glTF's numbers for types and uses.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// Numbers written so far; everything is four bytes wide, so all of it is aligned.
#[derive(Default)]
pub(super) struct Binary {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Binary {
    /// Vectors, with bounds; `vertex` if they are corners of a surface.
    pub(super) fn vectors<const N: usize>(&mut self, vectors: &[[f32; N]], vertex: bool) -> usize {
        let kind = match N {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            _ => "VEC4",
        };
        let bytes = vectors.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let accessor = self.accessor(bytes, vertex.then_some(VERTICES), FLOAT, kind, vectors.len());
        let bound = |pick: fn(f32, f32) -> f32| {
            let all = vectors.iter().copied();
            all.reduce(|a, b| std::array::from_fn(|i| pick(a[i], b[i])))
                .unwrap_or([0.0; N])
                .to_vec()
        };
        self.accessors[accessor]["min"] = json!(bound(f32::min));
        self.accessors[accessor]["max"] = json!(bound(f32::max));
        accessor
    }

    /// Numbers of corners.
    pub(super) fn indices(&mut self, indices: &[u32]) -> usize {
        let bytes = indices.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.accessor(bytes, Some(INDICES), UNSIGNED_INT, "SCALAR", indices.len())
    }

    fn accessor(
        &mut self,
        bytes: Vec<u8>,
        target: Option<u32>,
        component: u32,
        kind: &str,
        count: usize,
    ) -> usize {
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component,
            "type": kind, "count": count,
        }));
        self.accessors.len() - 1
    }

    /// The file: twelve bytes, then the header and the numbers as chunks padded to four bytes.
    pub(super) fn container(self, mut header: Value) -> Vec<u8> {
        if !self.bytes.is_empty() {
            header["accessors"] = json!(self.accessors);
            header["bufferViews"] = json!(self.views);
            header["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        let mut text = header.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut chunks = chunk(*b"JSON", &text);
        if !self.bytes.is_empty() {
            chunks.extend(chunk(*b"BIN\0", &self.bytes));
        }
        let mut file = b"glTF".to_vec();
        file.extend(2_u32.to_le_bytes());
        file.extend((chunks.len() as u32 + 12).to_le_bytes());
        file.extend(chunks);
        file
    }
}

fn chunk(kind: [u8; 4], bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    [&length, &kind, bytes].concat()
}

/// The numbers in single precision.
pub(super) fn singles<const N: usize>(
    numbers: &[f64; N],
    place: impl FnOnce() -> String,
) -> Result<[f32; N], IoError> {
    let single = numbers.map(|x| x as f32);
    match single.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(IoError::TooLarge { place: place(), value: numbers[i] }),
        None => Ok(single),
    }
}
