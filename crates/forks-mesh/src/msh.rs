//! MSH: MuJoCo's binary form. Four counts (vertices, normals, texture coordinates, triangles), then
//! these in turn in numbers of four bytes.

use forks_geometry::mesh::Mesh;

use crate::binary::{point, word};

/// Reads vertices and triangles.
pub(crate) fn parse(bytes: &[u8]) -> Result<Mesh, String> {
    let count = |i: usize| {
        let n = word(bytes, 4 * i).map(i32::from_le_bytes).unwrap_or(-1);
        usize::try_from(n).map_err(|_| "its counts are cut off or negative".to_owned())
    };
    let (vertices, normals, texture, faces) = (count(0)?, count(1)?, count(2)?, count(3)?);
    // Counts are below 2³¹: no sum can overflow.
    let first_face = 16 + 12 * vertices + 12 * normals + 8 * texture;
    if bytes.len() != first_face + 12 * faces {
        return Err("its length does not fit the counts that it names".into());
    }
    let index = |at: usize| {
        let i = word(bytes, at).map_or(-1, i32::from_le_bytes);
        usize::try_from(i).map_err(|_| "a face has a negative vertex number".to_owned())
    };
    let vertices = (0..vertices).filter_map(|i| point(bytes, 16 + 12 * i)).collect();
    let faces = (0..faces)
        .map(|i| {
            let at = first_face + 12 * i;
            Ok([index(at)?, index(at + 4)?, index(at + 8)?])
        })
        .collect::<Result<_, String>>()?;
    Ok(Mesh { vertices, faces })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn counts_decide_what_follows() {
        let mut bytes: Vec<u8> = [3i32, 1, 1, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let floats = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 1.0, 9.0, 9.0];
        bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0i32, 1, 2].iter().flat_map(|n| n.to_le_bytes()));
        let m = parse(&bytes).unwrap();
        assert_eq!((m.vertices[2].y, m.faces), (2.5, vec![[0, 1, 2]]));
        assert!(parse(&bytes[1..]).is_err());
        bytes[0] = 0xff;
        assert!(parse(&bytes).is_err() && parse(&[]).is_err());
    }
}
