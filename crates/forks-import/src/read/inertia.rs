//! Inertia of bodies: `<inertial>`, or the sum of the geoms; bounds, balance and total mass.

use forks_mechanism::{
    dense,
    lie::{
        Matrix, Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

use super::{
    Attributes, Compiler, Reader,
    body::{RawBody, RawTree},
    geom::{GeomMass, MassSource},
    orientation::rotation,
};
use crate::{ImportError, note::Effect};

/// Masses and moments below this do not count in a moving body, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// Reads an inertial element.
pub(crate) fn read(a: &Attributes<'_>, c: &Compiler) -> Result<SpatialInertia, ImportError> {
    a.required("pos")?;
    a.required("mass")?;
    let center = a.vector("pos")?.expect("required");
    let mass = a.not_negative("mass")?.expect("required");
    let turned = ["quat", "axisangle", "euler", "xyaxes", "zaxis"].into_iter().any(|n| a.has(n));
    let Some([xx, yy, zz, xy, xz, yz]) = a.array::<6>("fullinertia")? else {
        let moments = a.vector("diaginertia")?.unwrap_or(DVec3::ZERO);
        if moments.min_element() < 0.0 {
            return Err(a.invalid("diaginertia", "has a negative number"));
        }
        return Ok(principal(mass, Pose::new(rotation(a, c)?, center), moments));
    };
    if turned || a.has("diaginertia") {
        return Err(a.error("'fullinertia' excludes an orientation and 'diaginertia'"));
    }
    let tensor =
        DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
    let inertia = SpatialInertia::new(mass, center, tensor);
    let moments = inertia.principal_moments();
    if moments[0] <= 0.0 && c.least_inertia <= 0.0 {
        return Err(a.invalid(
            "fullinertia",
            format!("is not positive definite: its smallest principal moment is {}", moments[0]),
        ));
    }
    Ok(inertia)
}

/// A body given by its principal frame.
pub(crate) fn principal(mass: f64, body_from_principal: Pose, moments: DVec3) -> SpatialInertia {
    let d = DMat3::from_diagonal(moments);
    let q = body_from_principal.rotation;
    let tensor = if q == DQuat::IDENTITY {
        d
    } else {
        let r = DMat3::from_quat(q);
        let t = r * d * r.transpose();
        (t + t.transpose()) * 0.5
    };
    SpatialInertia::new(mass, body_from_principal.translation, tensor)
}

impl Reader<'_> {
    /// The inertia of every body, as the compiler settings make it.
    pub(crate) fn inertias(&mut self, tree: &RawTree) -> Result<Vec<SpatialInertia>, ImportError> {
        let mut out = vec![SpatialInertia::ZERO];
        for body in &tree.bodies[1..] {
            let mut inertia = self.body_inertia(body)?;
            if inertia == SpatialInertia::ZERO {
                // MuJoCo's place for what the bounds give to a body without inertia.
                inertia.center_of_mass = body.position;
            }
            let inertia = self.bounded(inertia);
            out.push(if inertia.is_zero() { SpatialInertia::ZERO } else { inertia });
        }
        if let Some(total) = self.compiler.total_mass {
            let sum: f64 = out.iter().map(|i| i.mass).sum();
            if sum > LEAST {
                let s = total / sum;
                for i in &mut out {
                    *i = SpatialInertia::new(i.mass * s, i.center_of_mass, i.inertia * s);
                }
            }
        }
        self.check_moving_bodies(tree, &out)?;
        Ok(out)
    }

    fn body_inertia(&mut self, body: &RawBody) -> Result<SpatialInertia, ImportError> {
        let from_geoms = match self.compiler.inertia_from_geom {
            Some(true) => !body.geoms.is_empty(),
            Some(false) => false,
            None => body.inertial.is_none(),
        };
        if !from_geoms {
            return Ok(body.inertial.unwrap_or(SpatialInertia::ZERO));
        }
        let mut total: Option<SpatialInertia> = None;
        for g in &body.geoms {
            match self.geom_inertia(g) {
                Ok(i) if i.mass > 0.0 => total = Some(total.map_or(i, |t| t.combined(&i))),
                Ok(_) => {}
                Err(reason) => self.unknown_geom(body, g, &reason)?,
            }
        }
        Ok(total.unwrap_or(SpatialInertia::ZERO))
    }

    /// The inertia of a geom in its body, or why it is not known.
    fn geom_inertia(&mut self, g: &GeomMass) -> Result<SpatialInertia, String> {
        match &g.source {
            MassSource::Known(mass, moments) => Ok(principal(*mass, g.body_from_geom, *moments)),
            MassSource::Unknown(reason) => Err(reason.clone()),
            MassSource::Mesh { mesh, mass, density } => {
                let m = self.assets.mass(*mesh)?;
                let mass = mass.unwrap_or(density * m.amount);
                let own = SpatialInertia::new(mass, m.unit.center_of_mass, m.unit.inertia * mass);
                Ok(own.transformed(&g.body_from_geom))
            }
        }
    }

    /// A geom of unknown mass matters where the body moves.
    fn unknown_geom(
        &mut self,
        body: &RawBody,
        g: &GeomMass,
        reason: &str,
    ) -> Result<(), ImportError> {
        if body.moves && !self.options.lenient {
            return Err(ImportError::Element {
                at: Box::new(g.at.clone()),
                element: g.label.clone(),
                problem: format!(
                    "the moving {} takes its inertia from this geom, but {reason}; give the body an inertial element",
                    body.label
                ),
            });
        }
        self.notes.add(&g.label, "mass", Effect::Ignored, reason, &g.at);
        Ok(())
    }

    /// `boundmass`, `boundinertia`, then `balanceinertia`, on principal moments.
    fn bounded(&self, i: SpatialInertia) -> SpatialInertia {
        let c = &self.compiler;
        let p = i.principal_moments();
        let violates = p[0] + p[1] < p[2];
        let balance = c.balance_inertia && violates;
        if i.mass >= c.least_mass && p[0] >= c.least_inertia && !balance {
            return i;
        }
        let mass = i.mass.max(c.least_mass);
        let m = Matrix::from_fn(3, 3, |r, k| i.inertia.col(k)[r]);
        let Some((values, vectors)) = dense::symmetric_eigen(&m) else { return i };
        let mut moments = DVec3::from_slice(&values).max(DVec3::splat(c.least_inertia));
        if c.balance_inertia && moments.x + moments.y < moments.z {
            moments = DVec3::splat((moments.x + moments.y + moments.z) / 3.0);
        }
        let column = |k| DVec3::new(vectors[(0, k)], vectors[(1, k)], vectors[(2, k)]);
        let r = DMat3::from_cols(column(0), column(1), column(2));
        let t = r * DMat3::from_diagonal(moments) * r.transpose();
        SpatialInertia::new(mass, i.center_of_mass, (t + t.transpose()) * 0.5)
    }

    /// A body with joints needs mass, its own or that of bodies welded to it.
    fn check_moving_bodies(
        &mut self,
        tree: &RawTree,
        inertias: &[SpatialInertia],
    ) -> Result<(), ImportError> {
        let mut heavy: Vec<bool> =
            inertias.iter().map(|i| i.mass >= LEAST && i.principal_moments()[0] >= LEAST).collect();
        for i in (1..tree.bodies.len()).rev() {
            let b = &tree.bodies[i];
            if heavy[i] && b.joints.is_empty() {
                heavy[b.parent] = true;
            }
        }
        for (b, heavy) in tree.bodies.iter().zip(heavy) {
            if b.joints.is_empty() || heavy {
                continue;
            }
            let reason = "the body has joints but no mass or inertia, neither its own nor from bodies welded to it";
            if !self.options.lenient {
                return Err(ImportError::Element {
                    at: Box::new(b.at.clone()),
                    element: b.label.clone(),
                    problem: reason.into(),
                });
            }
            self.notes.add(&b.label, "mass", Effect::Approximated, reason, &b.at);
        }
        Ok(())
    }
}
