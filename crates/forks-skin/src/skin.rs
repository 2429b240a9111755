//! A skin: vertices, how they follow the reduced coordinates, and triangles between them.

use forks_rom::{
    ReducedModel,
    lie::{Pose, Twist, glam::DVec3},
    linalg::Matrix,
};

use crate::{SkinError, kernel::VertexBlocks};

/// How vertices follow.
#[derive(Clone, Debug, PartialEq)]
pub enum Following {
    /// Each has a twist of its own in world axes, as a link has: x = X + V(ω) v.
    Twist,
    /// Each is displaced within a link: x = H_l (r + u). One link per vertex, an index into the
    /// model's links.
    Link(Vec<usize>),
}

/// A surface that follows a reduced model.
#[derive(Clone, Debug)]
pub struct Skin {
    name: String,
    rest: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    following: Following,
    map: Matrix,
    pub(crate) blocks: VertexBlocks,
}

impl PartialEq for Skin {
    /// Everything else follows from the numbers.
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.rest, &self.faces) == (&other.name, &other.rest, &other.faces)
            && (&self.following, &self.map) == (&other.following, &other.map)
    }
}

impl Skin {
    /// A skin of a model. `rest` are world positions at the linearisation pose. `map` has 6 rows
    /// per vertex (twists) or 3 (displacements in the vertex's link), one column per reduced
    /// coordinate and then one per servo.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, links or vertices that are not there.
    pub fn new(
        name: impl Into<String>,
        model: &ReducedModel,
        rest: Vec<DVec3>,
        faces: Vec<[u32; 3]>,
        following: Following,
        map: Matrix,
    ) -> Result<Self, SkinError> {
        let name = name.into();
        let (count, links) = (rest.len(), model.data().links.len());
        let columns = model.dof() + model.data().servos.len();
        let rows = if following == Following::Twist { 6 } else { 3 };
        let size = |quantity, found, expected| match found == expected {
            true => Ok(()),
            false => Err(SkinError::Size { name: name.clone(), quantity, found, expected }),
        };
        size("rows of the map", map.rows(), rows * count)?;
        if count > 0 {
            size("columns of the map", map.columns(), columns)?;
        }
        let index = |quantity, found, count| match found < count {
            true => Ok(()),
            false => Err(SkinError::Index { name: name.clone(), quantity, found, count }),
        };
        for v in faces.iter().flatten() {
            index("vertex", *v as usize, count)?;
        }
        if let Following::Link(parents) = &following {
            size("the list of links", parents.len(), count)?;
            parents.iter().try_for_each(|l| index("link", *l, links))?;
        }
        let finite = |v: usize| {
            let own = (rows * v..rows * (v + 1)).flat_map(|i| map.row(i));
            rest[v].is_finite() && own.into_iter().all(|x| x.is_finite())
        };
        if let Some(vertex) = (0..count).find(|v| !finite(*v)) {
            return Err(SkinError::NotFinite { name, vertex });
        }
        let local: Vec<DVec3> = match &following {
            Following::Twist => rest.clone(),
            Following::Link(parents) => {
                let at = |l: &usize| model.data().links[*l].rest.inverse();
                parents.iter().zip(&rest).map(|(l, x)| at(l).transform_point(*x)).collect()
            }
        };
        let blocks = VertexBlocks::new(&local, &map, rows, columns);
        Ok(Self { name, rest, faces, following, map, blocks })
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// True without vertices.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// World positions at the linearisation pose, m.
    pub fn rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// Triangles, counter-clockwise from outside.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// How the vertices follow.
    pub fn following(&self) -> &Following {
        &self.following
    }

    /// Rows per vertex by columns; see [`Skin::new`].
    pub fn map(&self) -> &Matrix {
        &self.map
    }

    /// Position of one vertex at reduced coordinates and servo targets (none: all are 0), without
    /// lanes: the rival of [`SkinBuffer`](crate::SkinBuffer) in tests.
    pub fn position(
        &self,
        model: &ReducedModel,
        vertex: usize,
        eta: &[f64],
        drive: &[f64],
    ) -> DVec3 {
        let rows = if self.following == Following::Twist { 6 } else { 3 };
        let row = |i: usize| {
            let x = eta.iter().chain(drive);
            self.map.row(rows * vertex + i).iter().zip(x).map(|(m, x)| m * x).sum::<f64>()
        };
        match &self.following {
            Following::Twist => {
                let twist = Twist::from_array(std::array::from_fn(row));
                self.rest[vertex] + Pose::exp(twist).translation
            }
            Following::Link(parents) => {
                let link = parents[vertex];
                let local =
                    model.data().links[link].rest.inverse().transform_point(self.rest[vertex]);
                let pose = model.link_pose(link, eta, drive);
                pose.transform_point(local + DVec3::new(row(0), row(1), row(2)))
            }
        }
    }
}
