//! Inertia of bodies: `<inertial>`, or the sum of the geoms; bounds, balance and total mass.

use forks_mechanism::{
    LinkId, MechanismBuilder,
    lie::{
        Digits, DigitsOf, Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::{Matrix, dense},
};

use super::{
    Attributes, Compiler, Reader,
    geom::{GeomMass, MassSource},
    inertial_fault::InertialFault,
    orientation::rotation,
    tree::{RawBody, RawTree},
};
use crate::{ImportError, inertia, note::Effect};

/// Masses and moments below this do not count in a moving body, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// A negative moment of this part of the largest one is the rounding of a file's digits.
const NOISE: f64 = 1e-6;

/// Reads an inertial element, and what is wrong with its moments.
pub(crate) fn read(
    a: &Attributes<'_>,
    c: &Compiler,
) -> Result<(SpatialInertia, Option<InertialFault>), ImportError> {
    a.required("pos")?;
    a.required("mass")?;
    let center = a.vector("pos")?.expect("required");
    let mass = a.not_negative("mass")?.expect("required");
    let turned = ["quat", "axisangle", "euler", "xyaxes", "zaxis"].into_iter().any(|n| a.has(n));
    let Some([xx, yy, zz, xy, xz, yz]) = a.array::<6>("fullinertia")? else {
        let moments = a.vector("diaginertia")?.unwrap_or(DVec3::ZERO);
        let negative = moments.min_element() < 0.0;
        let fault = negative.then(|| InertialFault::new(a, "diaginertia", "has a negative number"));
        return Ok((principal(mass, Pose::new(rotation(a, c)?, center), moments), fault));
    };
    if turned || a.has("diaginertia") {
        return Err(a.error("'fullinertia' excludes an orientation and 'diaginertia'"));
    }
    let tensor =
        DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
    let inertia = SpatialInertia::new(mass, center, tensor);
    let moments = inertia.principal_moments();
    let fault = (moments[0] <= 0.0 && c.least_inertia <= 0.0).then(|| {
        let smallest = Digits(moments[0]);
        let problem =
            format!("is not positive definite: its smallest principal moment is {smallest}");
        InertialFault::new(a, "fullinertia", problem)
    });
    Ok((inertia, fault))
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
            let inertia = self.bounded(body, inertia);
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
                    "the moving {} takes its inertia from this geom, but {reason}; give the body \
                    an inertial element",
                    body.label
                ),
            });
        }
        self.notes.add(&g.label, "mass", Effect::Ignored, reason, &g.at);
        Ok(())
    }

    /// `boundmass`, `boundinertia`, then `balanceinertia`, on principal moments.
    fn bounded(&mut self, body: &RawBody, i: SpatialInertia) -> SpatialInertia {
        let c = &self.compiler;
        let p = i.principal_moments();
        let violates = p[0] + p[1] < p[2];
        let balance = c.balance_inertia && violates;
        // Negative moments are refused, or balanced; nothing else hides them.
        let negative = body.inertial_fault.is_some() && p[0] < -NOISE * p[2].abs();
        let bounded = i.mass >= c.least_mass && p[0] >= c.least_inertia;
        if !balance && (bounded || (negative && !c.balance_inertia && c.least_inertia <= 0.0)) {
            return i;
        }
        let mass = i.mass.max(c.least_mass);
        let m = Matrix::from_fn(3, 3, |r, k| i.inertia.col(k)[r]);
        let Some((values, vectors)) = dense::symmetric_eigen(&m) else { return i };
        let mut moments = DVec3::from_slice(&values).max(DVec3::splat(c.least_inertia));
        if c.balance_inertia && (moments.x + moments.y < moments.z || negative) {
            moments = DVec3::splat((moments.x + moments.y + moments.z) / 3.0);
            // What the file asks for itself is exact, but for moments that MuJoCo refuses.
            if !c.asks_for_balance || body.inertial_fault.is_some() {
                let what = if negative { "are not positive" } else { "violate A + B >= C" };
                let reason = format!(
                    "principal moments of inertia {} {what}; replaced by their mean, {}",
                    DigitsOf(&p),
                    Digits(moments.x)
                );
                self.notes.add(&body.label, "inertia", Effect::Approximated, reason, &body.at);
            }
        }
        let column = |k| DVec3::new(vectors[(0, k)], vectors[(1, k)], vectors[(2, k)]);
        let r = DMat3::from_cols(column(0), column(1), column(2));
        let t = r * DMat3::from_diagonal(moments) * r.transpose();
        SpatialInertia::new(mass, i.center_of_mass, (t + t.transpose()) * 0.5)
    }

    /// Inertia that no body has is refused where it moves one.
    pub(crate) fn judge_inertias(
        &mut self,
        bodies: &[RawBody],
        link_of_body: &[LinkId],
        builder: &mut MechanismBuilder,
    ) -> Result<(), ImportError> {
        for found in builder.impossible_inertias() {
            let Some(i) = link_of_body.iter().position(|l| *l == found.link) else { continue };
            let body = &bodies[i];
            let refused = |problem| match &body.inertial_fault {
                Some(fault) => fault.error(),
                None => ImportError::Element {
                    at: Box::new(body.at.clone()),
                    element: format!("link '{}'", body.name),
                    problem,
                },
            };
            let (effect, reason) =
                inertia::judge(&found, builder, self.compiler.balance_inertia).map_err(refused)?;
            self.notes.add(&body.label, "inertia", effect, reason, &body.at);
        }
        Ok(())
    }

    /// A body with joints needs mass, its own or that of bodies welded to it.
    fn check_moving_bodies(
        &mut self,
        tree: &RawTree,
        inertias: &[SpatialInertia],
    ) -> Result<(), ImportError> {
        // Negative moments are judged with everything that is welded to the body.
        let counts = |p: f64| p >= LEAST || p <= -LEAST;
        let mut heavy: Vec<bool> =
            inertias.iter().map(|i| i.mass >= LEAST && counts(i.principal_moments()[0])).collect();
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
            let reason = "the body has joints but no mass or inertia, neither its own nor from \
                bodies welded to it";
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
