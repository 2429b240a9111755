//! A flexure hinge between ground and a lever, of finite elements, and its pseudo-rigid-body model:
//! a hinge in the middle with the stiffness of beam theory.
//!
//! A beam along x bends in x and z; h(x) is its height, b its width along y:
//!
//! ```text
//! θ/M = ∫ 12 dx / (E b h³)
//! leaf        h = t                        L / (E I),  I = b t³/12
//! circular    h = t + 2R − 2√(R² − x²)     [Paros, Weisbord 1965], with s = R/t:
//!   12/(E b R²) [ 2s³(6s² + 4s + 1)/((2s + 1)(4s + 1)²)
//!               + 12 s⁴(2s + 1)/(4s + 1)^(5/2) atan √(4s + 1) ]
//! ```

use forks_deform::{
    Attachment, Material, Model, SoftBody, SoftError, SoftOptions, SoftSimulation, TetMesh, Window,
    dynamics::mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DVec3},
        },
    },
};

use crate::CondenseError;

/// Heights along the hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Profile {
    /// The same height over a length, m.
    Leaf(f64),
    /// Two half circles of a radius, m, cut from above and from below.
    Circular(f64),
}

/// A hinge between two blocks, its neck at the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Notch {
    /// Heights.
    pub profile: Profile,
    /// t, the least height, m.
    pub neck: f64,
    /// b, m.
    pub width: f64,
    /// Lengths of the blocks in the ground and in the lever, m; their ends are as high as the
    /// hinge's.
    pub blocks: [f64; 2],
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// kg/m³.
    pub density: f64,
    /// Cells along the hinge, an even number, over its width and over its height.
    pub cells: [usize; 3],
    /// Cells along each block.
    pub block_cells: usize,
    /// Elements of ten nodes.
    pub quadratic: bool,
}

impl Default for Notch {
    /// Polyoxymethylene, 10 mm wide: radius 5 mm, neck 0.5 mm, a lever of 45 mm.
    fn default() -> Self {
        Self {
            profile: Profile::Circular(5e-3),
            neck: 5e-4,
            width: 0.01,
            blocks: [5e-3, 0.04],
            young: 2.8e9,
            poisson: 0.35,
            density: 1410.0,
            cells: [16, 3, 2],
            block_cells: 2,
            quadratic: true,
        }
    }
}

/// Ground, lever, and the tissue that is both and the hinge between them.
#[derive(Clone, Debug)]
pub struct BuiltNotch {
    /// The lever, which moves freely, without tissue.
    pub skeleton: Mechanism,
    /// The same with the mass of the nodes in the lever.
    pub mechanism: Mechanism,
    /// The tissue.
    pub body: SoftBody,
    /// Nodes of the lever's end face, about the lever's origin.
    pub end: Vec<usize>,
}

impl Notch {
    /// Half of the hinge's length, m.
    pub fn half_length(&self) -> f64 {
        match self.profile {
            Profile::Leaf(length) => 0.5 * length,
            Profile::Circular(radius) => radius,
        }
    }

    /// h at x, m.
    pub fn height(&self, x: f64) -> f64 {
        match self.profile {
            Profile::Leaf(_) => self.neck,
            Profile::Circular(r) => self.neck + 2.0 * (r - (r * r - (x * x).min(r * r)).sqrt()),
        }
    }

    /// From the neck to the end of the lever, m.
    pub fn reach(&self) -> f64 {
        self.half_length() + self.blocks[1]
    }

    /// θ/M of beam theory, rad/(N·m).
    pub fn beam_compliance(&self) -> f64 {
        match self.profile {
            Profile::Leaf(length) => 12.0 * length / (self.young * self.width * self.neck.powi(3)),
            Profile::Circular(r) => {
                let s = r / self.neck;
                let (a, b) = (2.0 * s + 1.0, 4.0 * s + 1.0);
                let rational = 2.0 * s.powi(3) * (6.0 * s * s + 4.0 * s + 1.0) / (a * b * b);
                let turning = 12.0 * s.powi(4) * a / b.powf(2.5) * b.sqrt().atan();
                12.0 / (self.young * self.width * r * r) * (rational + turning)
            }
        }
    }

    /// The mesh: cells are shorter where the hinge is thin.
    ///
    /// # Errors
    /// Sizes that cannot be.
    pub fn mesh(&self) -> Result<TetMesh, CondenseError> {
        let [nx, ny, nz] = self.cells;
        let half = self.half_length();
        let count = self.blocks.map(|l| if l > 0.0 { self.block_cells } else { 0 });
        let length = (count[0] + nx + count[1]) as f64;
        // Heights double within √(t R) of the neck of two circles.
        let stretch = match self.profile {
            Profile::Leaf(_) => 0.0,
            Profile::Circular(r) => (r / self.neck).sqrt().asinh(),
        };
        let along = |i: f64| {
            let s = 2.0 * (i - count[0] as f64) / nx as f64 - 1.0;
            if s < -1.0 {
                -half - self.blocks[0] * (count[0] as f64 - i) / count[0] as f64
            } else if s > 1.0 {
                half + self.blocks[1] * (i - (count[0] + nx) as f64) / count[1] as f64
            } else if stretch > 0.0 {
                half * (stretch * s).sinh() / stretch.sinh()
            } else {
                half * s
            }
        };
        let place = |p: DVec3| {
            let x = along(p.x);
            DVec3::new(x, self.width * (p.y - 0.5), self.height(x) * (p.z - 0.5))
        };
        let cells = [count[0] + nx + count[1], ny, nz];
        let mesh = TetMesh::kuhn(cells, DVec3::new(length, 1.0, 1.0))
            .and_then(|m| m.mapped(place))
            .map_err(|e| SoftError::Mechanism(e.to_string()))?;
        Ok(if self.quadratic { mesh.quadratic() } else { mesh })
    }

    /// Builds it.
    ///
    /// # Errors
    /// Sizes or constants that cannot be.
    pub fn build(&self) -> Result<BuiltNotch, CondenseError> {
        let soft = |e: &dyn core::fmt::Display| SoftError::Mechanism(e.to_string());
        let mesh = self.mesh()?;
        let model = Model::StVenantKirchhoff(Window::None);
        let material = Material::new(model, self.young, self.poisson, self.density);
        let material = material.map_err(|e| soft(&e))?;
        let skeleton = self.lever().map_err(|e| soft(&e))?;
        let (half, reach) = (self.half_length() * (1.0 - 1e-9), self.reach() * (1.0 - 1e-9));
        let x = mesh.nodes();
        let which = |is: &dyn Fn(f64) -> bool| (0..x.len()).filter(|n| is(x[*n].x)).collect();
        let (ground, lever) = (which(&|x| x < -half), which(&|x| x > half));
        let end = which(&|x| x > reach);
        let lists = vec![(LinkId::WORLD, ground), (LinkId::new(1), lever)];
        let body = SoftBody::new(mesh, material)?.attached(&skeleton, &Attachment::Nodes(lists))?;
        let whole = SoftSimulation::new(&skeleton, body.clone(), SoftOptions::default())?;
        let mechanism = whole.mechanism().clone();
        Ok(BuiltNotch { skeleton, mechanism, body, end })
    }

    /// A lever of 1 g whose origin is the middle of its end.
    fn lever(&self) -> Result<Mechanism, forks_deform::dynamics::mechanism::BuildError> {
        let (mass, length) = (1e-3, self.reach());
        let across = mass * length * length / 12.0;
        let middle = DVec3::new(-0.5 * length, 0.0, 0.0);
        let turned = DMat3::from_diagonal(DVec3::new(0.1 * across, across, across));
        let mut b = MechanismBuilder::new("flexure");
        let inertia = SpatialInertia::new(mass, middle, turned);
        let lever = b.add_link(Link::new("lever").with_inertia(inertia));
        let mut joint = Joint::new("lever", JointKind::Free, LinkId::WORLD, lever);
        joint.start = joint.closest_positions(&Pose::from_translation(DVec3::X * length));
        b.add_joint(joint);
        b.build()
    }
}
