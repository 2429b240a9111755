//! Where the effectors of a single model are and how fast, for contact: poses, and columns of
//! Jacobians on effector rates.
//!
//! All in world axes: with ξ' = (v; ω) = B' η an effector has moved by V(ω) v and turned by
//! exp(ω̂), as in [`effectors`](crate::effectors). The velocity of its origin and its angular
//! velocity are, with Q = ∂(V v)/∂ω,
//!
//! ```text
//! ṗ = V v̇ + Q ω̇,  Ω = V ω̇
//! V = (1 − c ω²) + b ω̂ + c ω ωᵀ
//! Q = −(b v + c ω×v)^ + c (v·ω) + k ωᵀ,  k = 2 b' ω×v + 2 c' ω×(ω×v) − c v
//! ```
//!
//! where b = (1 − cos θ)/θ², c = (θ − sin θ)/θ³, b' and c' are their derivatives by θ², and ^ makes
//! cross products.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Pose, Twist,
    glam::{DQuat, DVec3},
    so3::exp_rotation,
};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES, Lanes, Portable, Vectors, Wide, WideVectors},
    sqrt,
};

use crate::{
    Isa, ReducedModel, State,
    effectors::{Coefficients, FourMaps},
    kernel::{
        MAX_QUARTER_ANGLE_SQUARED, half_angle_series_of_lanes, pose_entries, pose_of, turned_by,
    },
};

/// Poses and motions of all effectors of a model that stands somewhere in a world, four of them
/// side by side.
#[derive(Clone, Debug)]
pub struct EffectorMotions {
    isa: Isa,
    count: usize,
    dof: usize,
    /// In world axes.
    maps: FourMaps,
    /// Four effectors each.
    fours: Vec<Four>,
}

/// Four effectors, component by component.
#[derive(Clone, Debug)]
struct Four {
    /// In the linearisation pose: position, quaternion (x, y, z, w).
    rest: [Lanes; 7],
    /// Now, likewise.
    pose: [Lanes; 7],
    /// B' η̇.
    rates: [Lanes; 6],
    /// V, row after row: the diagonal 3 × 3 block of the right Jacobian J_r.
    diagonal: [Lanes; 9],
    /// Q, row after row: its upper right block, which couples velocities with rotations.
    coupling: [Lanes; 9],
    /// |ṗ| and |Ω|.
    speeds: [Lanes; 2],
}

impl EffectorMotions {
    /// Effectors of a model, in the linearisation pose and at rest until they are
    /// [updated](EffectorMotions::update).
    pub fn new(model: &ReducedModel, world_from_model: &Pose) -> Self {
        let rests: Vec<Pose> =
            model.data().effectors.iter().map(|e| *world_from_model * e.rest).collect();
        Self::from_parts(&rests, &model.data().basis, model.isa())
    }

    /// From the rest poses and B (6E × n).
    fn from_parts(rests: &[Pose], basis: &Matrix, isa: Isa) -> Self {
        let (count, dof) = (rests.len(), basis.columns());
        let rotations: Vec<DQuat> = rests.iter().map(|rest| rest.rotation).collect();
        let maps = FourMaps::new(&rotations, basis);
        let mut fours = vec![Four::default(); count.div_ceil(LANES)];
        for (e, rest) in rests.iter().enumerate() {
            for (entry, x) in fours[e / LANES].rest.iter_mut().zip(pose_entries(rest)) {
                entry.0[e % LANES] = x;
            }
        }
        fours.iter_mut().for_each(|four| four.pose = four.rest);
        Self { isa, count, dof, maps, fours }
    }

    /// Number of effectors.
    pub fn count(&self) -> usize {
        self.count
    }

    /// B' of an effector, 6 × n_η: what η̇ moves it by in the linearisation pose, world axes,
    /// linear part first. Constant.
    pub fn map(&self, e: usize) -> Matrix {
        assert!(e < self.count, "effector {e} of {}", self.count);
        Matrix::from_fn(6, self.dof, |i, j| self.maps.entry(e, i, j))
    }

    /// Poses and motions at a state. Allocates nothing.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    #[inline]
    pub fn update(&mut self, state: &State) {
        assert_eq!(state.dof, self.dof, "coordinates of the state");
        let (eta, velocity) = (&state.eta, &state.velocity);
        self.isa.run(Update { motions: self, eta, velocity });
    }

    /// World from effector.
    #[inline]
    pub fn pose(&self, e: usize) -> Pose {
        pose_of(self.entries(e, |four| &four.pose))
    }

    /// B' η̇: the rates that `EffectorMotions::columns` are for.
    pub fn rates(&self, e: usize) -> [f64; 6] {
        self.entries(e, |four| &four.rates)
    }

    /// How fast the effector's origin moves, m/s, and how fast the effector turns, rad/s.
    #[inline]
    pub fn speeds(&self, e: usize) -> [f64; 2] {
        self.entries(e, |four| &four.speeds)
    }

    /// Numbers of one effector.
    #[inline(always)]
    fn entries<const N: usize>(&self, e: usize, of: impl Fn(&Four) -> &[Lanes; N]) -> [f64; N] {
        let entries = of(&self.fours[e / LANES]);
        core::array::from_fn(|i| entries[i].0[e % LANES])
    }

    /// Velocity of the effector's origin and its angular velocity, world axes.
    pub fn velocity(&self, e: usize) -> (DVec3, DVec3) {
        let (four, lane) = (&self.fours[e / LANES], e % LANES);
        let times = |m: &[Lanes; 9], x: DVec3| {
            DVec3::from_array(
                [0, 3, 6]
                    .map(|i| m[i].0[lane] * x.x + m[i + 1].0[lane] * x.y + m[i + 2].0[lane] * x.z),
            )
        };
        let [x, y, z, p, q, r] = self.rates(e);
        let (dv, d_o) = (DVec3::new(x, y, z), DVec3::new(p, q, r));
        (times(&four.diagonal, dv) + times(&four.coupling, d_o), times(&four.diagonal, d_o))
    }

    /// Twist of the effector in its own frame.
    pub fn body_twist(&self, e: usize) -> Twist {
        let back = self.pose(e).rotation.conjugate();
        let (linear, angular) = self.velocity(e);
        Twist::new(back * linear, back * angular)
    }

    /// Velocities of a point of an effector along up to four axes, world axes: their columns, one
    /// per rate of B' η̇, and the first of them now. For work that runs on an instruction set `l`
    /// already; nothing is fused if the model's is the portable one.
    ///
    /// # Panics
    /// If there is no such effector.
    #[inline(always)]
    pub fn point_columns<L: Arithmetic>(
        &self,
        l: L,
        e: usize,
        point: DVec3,
        axes: &Vectors,
    ) -> ([Lanes; 6], f64) {
        let (four, lane) = (&self.fours[e / LANES], e % LANES);
        match self.isa {
            Isa::Portable => four.columns_apart(lane, point, axes),
            _ => four.columns(l, lane, point, axes),
        }
    }
}

impl Default for Four {
    fn default() -> Self {
        // Where there is no effector there is a rotation, too.
        let mut rest = [Lanes::default(); 7];
        rest[6] = Lanes([1.0; LANES]);
        let (pose, rates, speeds) = (rest, Default::default(), Default::default());
        Self {
            rest,
            pose,
            rates,
            diagonal: Default::default(),
            coupling: Default::default(),
            speeds,
        }
    }
}

impl Four {
    /// The power of the force n and the torque (p − origin) × n: (Vᵀ n; Qᵀ n + Vᵀ ((p − origin) ×
    /// n)).
    #[inline(always)]
    fn columns<L: Arithmetic>(
        &self,
        l: L,
        lane: usize,
        point: DVec3,
        axes: &Vectors,
    ) -> ([Lanes; 6], f64) {
        let of = |x: &Lanes| l.splat(x.0[lane % LANES]);
        let Self { pose: [x, y, z, ..], diagonal: v, coupling: q, rates, .. } = self;
        let force = WideVectors([l.load(&axes.x), l.load(&axes.y), l.load(&axes.z)]);
        let arm = WideVectors([point.x - of(x), point.y - of(y), point.z - of(z)]);
        let torque = arm.cross(force);
        let mut columns = [l.splat(0.0); 6];
        let mut rate = l.splat(0.0);
        for i in 0..3 {
            let v = WideVectors([of(&v[i]), of(&v[3 + i]), of(&v[6 + i])]);
            let q = WideVectors([of(&q[i]), of(&q[3 + i]), of(&q[6 + i])]);
            let (slid, swung) = (v.dot(force), q.dot(force) + v.dot(torque));
            columns[i] = slid;
            columns[3 + i] = swung;
            rate = swung * of(&rates[3 + i]) + rate + slid * of(&rates[i]);
        }
        (columns.map(|x| x.store()), rate.store().0[0])
    }

    /// The same without fused multiply-adds.
    #[inline(never)]
    fn columns_apart(&self, lane: usize, point: DVec3, axes: &Vectors) -> ([Lanes; 6], f64) {
        self.columns(Portable, lane, point, axes)
    }
}

/// All effectors as a kernel.
struct Update<'a> {
    motions: &'a mut EffectorMotions,
    /// Both padded.
    eta: &'a [f64],
    velocity: &'a [f64],
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let EffectorMotions { maps, fours, .. } = self.motions;
        for (i, four) in fours.iter_mut().enumerate() {
            let twist = maps.twists(l, i, self.eta);
            four.move_by(l, twist, maps.twists(l, i, self.velocity));
        }
    }
}

impl Four {
    /// At the twists B' η and the rates B' η̇.
    #[inline(always)]
    fn move_by<L: Arithmetic>(&mut self, l: L, twist: [Wide<L>; 6], rate: [Wide<L>; 6]) {
        let ([vx, vy, vz, ox, oy, oz], [dx, dy, dz, dp, dq, dr]) = (twist, rate);
        let (v, o) = (WideVectors([vx, vy, vz]), WideVectors([ox, oy, oz]));
        let t = o.dot(o);
        let Angles { cosine, half_sinc, b, c, db, dc } = Angles::at(l, t);
        let once = o.cross(v);
        let twice = o.cross(once);
        // V
        let along = plus_cross(o.scaled(b), outer(o.scaled(c), o, 1.0 - c * t));
        // Q, with k = 2 b' ω×v + 2 c' ω×(ω×v) − c v
        let (db, dc, cv) = (db + db, dc + dc, v.scaled(c));
        let k = once.scaled(db).plus_scaled(twice, dc) - cv;
        let across = minus_cross(v.scaled(b).plus_scaled(once, c), outer(k, o, cv.dot(o)));
        let mut rest = [l.splat(0.0); 7];
        for (rest, x) in rest.iter_mut().zip(&self.rest) {
            *rest = l.load(x);
        }
        let [x, y, z, p, q, r, s] = rest;
        let WideVectors([x, y, z]) = WideVectors([x, y, z]) + times(&along, v);
        let [p, q, r, s] = turned_by(o.scaled(half_sinc), cosine, [p, q, r, s]);
        put(&mut self.pose, &[x, y, z, p, q, r, s]);
        let (linear, angular) = (WideVectors([dx, dy, dz]), WideVectors([dp, dq, dr]));
        let velocity = times(&along, linear) + times(&across, angular);
        let turning = times(&along, angular);
        let speeds = [velocity.dot(velocity).sqrt(), turning.dot(turning).sqrt()];
        put(&mut self.rates, &rate);
        put(&mut self.diagonal, &along);
        put(&mut self.coupling, &across);
        put(&mut self.speeds, &speeds);
    }
}

/// What the angles of four rotations with ω² = t give.
struct Angles<L: Arithmetic> {
    /// cos ½θ.
    cosine: Wide<L>,
    /// ½ sin ½θ / ½θ.
    half_sinc: Wide<L>,
    b: Wide<L>,
    c: Wide<L>,
    db: Wide<L>,
    dc: Wide<L>,
}

impl<L: Arithmetic> Angles<L> {
    #[inline(always)]
    fn at(l: L, t: Wide<L>) -> Self {
        let y = (t * 0.25).rounded();
        if y.any_above(MAX_QUARTER_ANGLE_SQUARED) {
            let [cosine, half_sinc, b, c, db, dc] = &far(t.store());
            return Self {
                cosine: l.load(cosine),
                half_sinc: l.load(half_sinc),
                b: l.load(b),
                c: l.load(c),
                db: l.load(db),
                dc: l.load(dc),
            };
        }
        let [p, q, dp, dq] = half_angle_series_of_lanes(l, y);
        let cosine = 1.0 - y * p;
        let half_sinc = (0.5 * (1.0 - y * q)).rounded();
        let double = half_sinc + half_sinc;
        // p' + q' cos ½θ − q (p + y p')
        let bend = dq * cosine + dp - q * (y * dp + p);
        Self {
            cosine,
            half_sinc,
            b: (half_sinc * double).rounded(),
            c: (0.25 * (q * cosine + p)).rounded(),
            db: (-0.5 * half_sinc * (y * dq + q)).rounded(),
            dc: (0.0625 * bend).rounded(),
        }
    }
}

/// [`Angles`] one after the other, where some rotation is beyond π.
#[cold]
fn far(t: Lanes) -> [Lanes; 6] {
    let mut out = [Lanes::default(); 6];
    for (lane, t) in t.0.into_iter().enumerate() {
        let Coefficients { b, c, db, dc } = Coefficients::at(Portable, t);
        // The same for any axis.
        let half = exp_rotation(DVec3::X * sqrt(t));
        let half_sinc = if t > 0.0 { half.x / sqrt(t) } else { 0.5 };
        for (out, x) in out.iter_mut().zip([half.w, half_sinc, b, c, db, dc]) {
            out.0[lane] = x;
        }
    }
    out
}

/// Stores groups of lanes.
#[inline(always)]
fn put<L: Arithmetic, const N: usize>(out: &mut [Lanes; N], x: &[Wide<L>; N]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = x.store();
    }
}

/// diagonal + a bᵀ, row after row.
#[inline(always)]
fn outer<L: Arithmetic>(a: WideVectors<L>, b: WideVectors<L>, diagonal: Wide<L>) -> [Wide<L>; 9] {
    let WideVectors([x, y, z]) = a;
    let ([xx, xy, xz], [yx, yy, yz], [zx, zy, zz]) = (b.scaled(x).0, b.scaled(y).0, b.scaled(z).0);
    [xx + diagonal, xy, xz, yx, yy + diagonal, yz, zx, zy, zz + diagonal]
}

/// m + â.
#[inline(always)]
fn plus_cross<L: Arithmetic>(a: WideVectors<L>, m: [Wide<L>; 9]) -> [Wide<L>; 9] {
    let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = m;
    let WideVectors([x, y, z]) = a;
    [xx, xy - z, xz + y, yx + z, yy, yz - x, zx - y, zy + x, zz]
}

/// m − â.
#[inline(always)]
fn minus_cross<L: Arithmetic>(a: WideVectors<L>, m: [Wide<L>; 9]) -> [Wide<L>; 9] {
    let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = m;
    let WideVectors([x, y, z]) = a;
    [xx, xy + z, xz - y, yx - z, yy, yz + x, zx + y, zy - x, zz]
}

/// m x.
#[inline(always)]
fn times<L: Arithmetic>(m: &[Wide<L>; 9], x: WideVectors<L>) -> WideVectors<L> {
    let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = *m;
    let row = |a, b, c| WideVectors([a, b, c]).dot(x);
    WideVectors([row(xx, xy, xz), row(yx, yy, yz), row(zx, zy, zz)])
}

#[cfg(test)]
mod tests {
    use forks_lie::se3::right_jacobian;

    use super::*;

    /// A dozen products of numbers of size 10, a few times.
    const BOUND: f64 = 640.0 * f64::EPSILON;

    /// Effectors at body twists, with rates of them: those of the first and the second of two
    /// coordinates.
    fn motions(rests: &[Pose], twists: &[[Twist; 2]], isa: Isa) -> EffectorMotions {
        let entry = |i: usize, j: usize| twists[i / 6][j].to_array()[i % 6];
        let basis = Matrix::from_fn(6 * rests.len(), 2, entry);
        let mut out = EffectorMotions::from_parts(rests, &basis, isa);
        let (eta, velocity) = (&[1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0]);
        isa.run(Update { motions: &mut out, eta, velocity });
        out
    }

    fn check(motions: &EffectorMotions, e: usize, rest: &Pose, [twist, rate]: &[Twist; 2]) {
        let expected = *rest * Pose::exp(*twist);
        let difference = motions.pose(e).to_array().into_iter().zip(expected.to_array());
        assert!(difference.into_iter().all(|(x, y)| (x - y).abs() < BOUND), "{e}");
        let body = right_jacobian(*twist).mul_vec(&rate.to_array());
        for (x, y) in motions.body_twist(e).to_array().iter().zip(body) {
            assert!((x - y).abs() < BOUND, "{e}");
        }
        let (v, w) = motions.velocity(e);
        let [speed, turning] = motions.speeds(e);
        assert!((speed - v.length()).abs() < BOUND && (turning - w.length()).abs() < BOUND);
        let point = DVec3::new(0.4, -1.5, 0.9);
        let axes = [DVec3::new(3.0, -1.0, 2.0), DVec3::Y, DVec3::new(-0.5, 1.0, 1.0)];
        let (columns, first) = Isa::detect().run(Columns { motions, e, point, axes });
        let rates = motions.rates(e);
        let of = |i: usize| columns.iter().zip(rates).map(|(c, x)| c[i] * x).sum::<f64>();
        let moved = v + w.cross(point - expected.translation);
        for (i, axis) in axes.into_iter().enumerate() {
            assert!((of(i) - axis.dot(moved)).abs() < BOUND, "{e}, {i}");
        }
        assert!((first - of(0)).abs() < BOUND);
    }

    struct Columns<'a> {
        motions: &'a EffectorMotions,
        e: usize,
        point: DVec3,
        axes: [DVec3; 3],
    }

    impl Kernel for Columns<'_> {
        type Output = ([Lanes; 6], f64);

        fn run<L: Arithmetic>(self, l: L) -> Self::Output {
            self.motions.point_columns(l, self.e, self.point, &Vectors::of_three(self.axes))
        }
    }

    #[test]
    fn poses_velocities_and_columns_are_those_of_the_right_jacobian() {
        let axis = DVec3::new(0.48, -0.6, 0.64);
        // Angles beyond π beside smaller ones, and groups without any.
        let angles = [0.0, 1e-9, 1e-4, 0.1, 1.0, 3.13, 4.0, 2.5, 6.0, 3.15];
        let rate = Twist::new(DVec3::new(-0.2, 1.1, 0.5), DVec3::new(0.8, 0.3, -1.2));
        let twists = angles.map(|a| [Twist::new(DVec3::new(0.4, 0.9, -0.7), axis * a), rate]);
        let rest = |i: usize| {
            let turn = DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5) * DQuat::from_xyzw(0.6, 0.0, 0.0, 0.8);
            let turn = if i < 5 { turn } else { DQuat::IDENTITY };
            Pose::new(turn, DVec3::new(1.0, -0.3, 0.2))
        };
        let rests: Vec<Pose> = (0..angles.len()).map(rest).collect();
        for isa in [Isa::Portable, Isa::detect()] {
            let motions = motions(&rests, &twists, isa);
            for (e, (rest, twists)) in rests.iter().zip(&twists).enumerate() {
                check(&motions, e, rest, twists);
            }
        }
    }
}
