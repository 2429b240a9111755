//! A mesh in all formats, in files that go when the test ends.

use std::path::PathBuf;

use forks_import::{Import, ImportError, ImportOptions, load_mjcf};

/// An L of thickness 0.5: not convex, volume 2.
pub(crate) const CORNERS: [[f64; 2]; 6] =
    [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];

pub(crate) fn vertices() -> Vec<[f64; 3]> {
    [0.0, 0.5].iter().flat_map(|&z| CORNERS.map(|[x, y]| [x, y, z])).collect()
}

pub(crate) fn faces() -> Vec<[usize; 3]> {
    let mut out = Vec::new();
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        out.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
    }
    for i in 0..6 {
        let j = (i + 1) % 6;
        out.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
    }
    out
}

pub(crate) fn obj(faces: &[[usize; 3]]) -> Vec<u8> {
    let mut s = String::new();
    vertices().iter().for_each(|[x, y, z]| s += &format!("v {x} {y} {z}\n"));
    faces.iter().for_each(|[a, b, c]| s += &format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    s.into_bytes()
}

pub(crate) fn floats(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect()
}

pub(crate) fn stl() -> Vec<u8> {
    let mut out = vec![0; 80];
    out.extend((faces().len() as u32).to_le_bytes());
    for f in faces() {
        out.extend([0; 12]);
        f.iter().for_each(|&i| out.extend(floats(&vertices()[i])));
        out.extend([0; 2]);
    }
    out
}

pub(crate) fn stl_text() -> Vec<u8> {
    let mut s = String::from("solid l\n");
    for f in faces() {
        s += "facet normal 0 0 0\nouter loop\n";
        f.map(|i| vertices()[i]).iter().for_each(|[x, y, z]| s += &format!("vertex {x} {y} {z}\n"));
        s += "endloop\nendfacet\n";
    }
    (s + "endsolid l\n").into_bytes()
}

pub(crate) fn msh() -> Vec<u8> {
    let counts = [vertices().len() as i32, 0, 0, faces().len() as i32];
    let mut out: Vec<u8> = counts.iter().flat_map(|n| n.to_le_bytes()).collect();
    vertices().iter().for_each(|v| out.extend(floats(v)));
    faces().iter().flatten().for_each(|&i| out.extend((i as i32).to_le_bytes()));
    out
}

/// A directory of mesh files that goes when the test ends.
pub(crate) struct Files(pub(crate) PathBuf);

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("forks-mesh-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("parts")).unwrap();
        let files = Self(path);
        files.write("l.obj", &obj(&faces()));
        files.write("l.stl", &stl());
        files.write("text.stl", &stl_text());
        files.write("l.msh", &msh());
        files
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    /// A model with one free body, whose geom refers to mesh `m`.
    pub(crate) fn load(&self, mesh: &str, geom: &str, around: &str) -> Result<Import, ImportError> {
        let text = format!(
            r#"<mujoco>{around}<asset><mesh name="m" {mesh}/></asset><worldbody>
<body name="b"><freejoint/><geom name="g" mesh="m" {geom}/></body></worldbody></mujoco>"#
        );
        self.write("model.xml", text.as_bytes());
        load_mjcf(&self.0.join("model.xml"), &ImportOptions::default())
    }

    /// Mass, centre and xx, yy, zz, xy, xz, yz of the body.
    pub(crate) fn inertia(&self, mesh: &str, geom: &str, around: &str) -> [f64; 10] {
        let i = self.load(mesh, geom, around).unwrap_or_else(|e| panic!("{e}"));
        let l = i.mechanism.links()[1].inertia;
        let (c, t) = (l.center_of_mass, l.inertia);
        let moments = [t.x_axis.x, t.y_axis.y, t.z_axis.z, t.y_axis.x, t.z_axis.x, t.z_axis.y];
        let mut out = [l.mass, c.x, c.y, c.z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        out[4..].copy_from_slice(&moments);
        out
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Nine printed digits, and single precision in MuJoCo.
pub(crate) fn same(what: &str, ours: [f64; 10], theirs: [f64; 10]) {
    let scale = [theirs[0], 3.0, 3.0, 3.0];
    for (k, (x, e)) in ours.into_iter().zip(theirs).enumerate() {
        let scale = scale.get(k).copied().unwrap_or(theirs[6].max(theirs[4]));
        assert!((x - e).abs() <= 1e-8 * scale, "{what} {k}: {x} instead of {e}");
    }
}

pub(crate) const LEGACY: [f64; 10] = [
    2080.71811,
    0.77436291,
    1.24215432,
    0.25,
    1587.30534266,
    615.06654948,
    2117.02060615,
    383.8923724,
    0.0,
    0.0,
];
pub(crate) const EXACT: [f64; 10] =
    [2000.0, 0.75, 1.25, 0.25, 4750.0 / 3.0, 1750.0 / 3.0, 6250.0 / 3.0, 375.0, 0.0, 0.0];
pub(crate) const CONVEX: [f64; 10] = [
    2500.0,
    0.86666667,
    1.33333333,
    0.25,
    1774.30555556,
    757.63888889,
    2427.77777778,
    305.55555556,
    0.0,
    0.0,
];
pub(crate) const SHELL: [f64; 10] = [
    13000.0,
    0.76923077,
    1.26923077,
    0.25,
    12328.52564103,
    5245.19230769,
    16365.38461538,
    2692.30769231,
    0.0,
    0.0,
];
