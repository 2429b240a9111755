//! Seeded random contact problems.

use forks_contact::{
    BodyId, ConstraintId, Contact, ContactProblem, Friction, Row, Side, point_jacobian,
};
use forks_contact::{
    lie::{
        SpatialInertia, SplitMix64, Twist,
        glam::{DMat3, DVec3},
    },
    linalg::Matrix,
};

/// Random numbers and vectors.
pub(crate) struct Rng(SplitMix64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995_7f4a_7c15))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0.uniform()
    }

    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        self.0.range(low, high)
    }

    /// 10^x with x uniform.
    pub(crate) fn log(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.range(low, high))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0))
    }

    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }
}

/// A body of a random problem: its system matrix A, and its velocities before the step and free at
/// its end.
pub(crate) struct RandomBody {
    pub(crate) id: BodyId,
    pub(crate) system: Matrix,
    pub(crate) free: Vec<f64>,
    pub(crate) rigid: bool,
}

/// A random problem with what an oracle needs to judge it.
pub(crate) struct Random {
    pub(crate) problem: ContactProblem,
    pub(crate) bodies: Vec<RandomBody>,
    /// Jacobian blocks (body, 3 × n or 1 × n) of every constraint.
    pub(crate) blocks: Vec<Vec<(usize, Vec<f64>)>>,
    pub(crate) contacts: Vec<Option<Contact>>,
    pub(crate) ids: Vec<ConstraintId>,
}

pub(crate) const STEP: f64 = 1e-3;

impl Random {
    fn new() -> Self {
        Self {
            problem: ContactProblem::new(STEP).unwrap(),
            bodies: vec![],
            blocks: vec![],
            contacts: vec![],
            ids: vec![],
        }
    }

    fn rigid(&mut self, mass: f64, half: DVec3, velocity: Twist) {
        let [x, y, z] = (half * half).to_array();
        let moments = DVec3::new(y + z, x + z, x + y) * (mass / 3.0);
        let inertia = SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments));
        let id = self.problem.add_rigid_body(&inertia, velocity).unwrap();
        let system = Matrix::from_fn(6, 6, |i, j| inertia.matrix().get(i, j));
        self.bodies.push(RandomBody {
            id,
            system,
            free: velocity.to_array().to_vec(),
            rigid: true,
        });
    }

    /// A reduced model of n coordinates: A = F Fᵀ + diagonal.
    fn dense(&mut self, rng: &mut Rng, n: usize, mass: f64) {
        let f = Matrix::from_fn(n, n, |_, _| rng.range(-1.0, 1.0));
        let shift = rng.log(-1.0, 0.0);
        let a = Matrix::from_fn(n, n, |i, j| {
            let sum: f64 = f.row(i).iter().zip(f.row(j)).map(|(x, y)| x * y).sum();
            mass * (sum + if i == j { shift } else { 0.0 })
        });
        let inverse = inverse(&a);
        let free: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
        let id = self.problem.add_body(&inverse, &free).unwrap();
        self.bodies.push(RandomBody { id, system: a, free, rigid: false });
    }

    pub(crate) fn contact(&mut self, contact: Contact, blocks: Vec<(usize, Vec<f64>)>) {
        let sides: Vec<Side<'_>> =
            blocks.iter().map(|(b, j)| Side::of(self.bodies[*b].id, j)).collect();
        let id = self.problem.add_contact(&contact, &sides).unwrap();
        self.ids.push(id);
        self.blocks.push(blocks);
        self.contacts.push(Some(contact));
    }

    pub(crate) fn row(&mut self, row: Row, blocks: Vec<(usize, Vec<f64>)>) {
        let sides: Vec<Side<'_>> =
            blocks.iter().map(|(b, j)| Side::of(self.bodies[*b].id, j)).collect();
        let id = self.problem.add_row(&row, &sides).unwrap();
        self.ids.push(id);
        self.blocks.push(blocks);
        self.contacts.push(None);
    }
}

/// Two tangents of a contact. Not those of the library: with others these would be other problems
/// than the ones that the README's figures are about.
fn tangents(normal: DVec3) -> [DVec3; 2] {
    let a = normal.abs();
    let axis = if a.x <= a.y && a.x <= a.z {
        DVec3::X
    } else if a.y <= a.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let first = axis.cross(normal).normalize_or(DVec3::X);
    [first, normal.cross(first)]
}

/// Inverse of a symmetric positive definite matrix by Gauss–Jordan, symmetrised.
pub(crate) fn inverse(a: &Matrix) -> Matrix {
    let n = a.rows();
    let mut w =
        Matrix::from_fn(
            n,
            2 * n,
            |i, j| {
                if j < n { a[(i, j)] } else { f64::from(u8::from(j - n == i)) }
            },
        );
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| w[(i, k)].abs().total_cmp(&w[(j, k)].abs())).unwrap();
        for j in 0..2 * n {
            let (x, y) = (w[(k, j)], w[(p, j)]);
            w[(k, j)] = y;
            w[(p, j)] = x;
        }
        let pivot = w[(k, k)];
        w.row_mut(k).iter_mut().for_each(|x| *x /= pivot);
        for i in (0..n).filter(|&i| i != k) {
            let f = w[(i, k)];
            for j in 0..2 * n {
                w[(i, j)] -= f * w[(k, j)];
            }
        }
    }
    Matrix::from_fn(n, n, |i, j| 0.5 * (w[(i, n + j)] + w[(j, n + i)]))
}

fn friction(rng: &mut Rng) -> Friction {
    let mut mu = || if rng.chance(0.1) { 0.0 } else { rng.range(0.05, 1.5) };
    let (a, b) = (mu(), mu());
    match rng.below(12) {
        0 => Friction::Pyramid { mu: [a, b] },
        1 => Friction::EllipticCone { mu: [a, b] },
        2 => Friction::Box { limit: [a * 1e-3, b * 1e-3] },
        _ => Friction::Cone { mu: a },
    }
}

/// Friction that keeps the problem convex.
fn convex_friction(rng: &mut Rng) -> Friction {
    let mut limit = || rng.log(-3.0, 0.0);
    let limit = [limit(), limit()];
    if rng.chance(0.5) { Friction::NONE } else { Friction::Box { limit } }
}

/// Without cones a problem is convex, and its velocities are unique.
pub(crate) fn convex_problem(seed: u64) -> Random {
    cloud(&mut Rng::new(seed), true)
}

/// One of three families, by seed.
pub(crate) fn random_problem(seed: u64) -> Random {
    let mut rng = Rng::new(seed);
    match seed % 3 {
        0 => stack(&mut rng),
        1 => cloud(&mut rng, false),
        _ => grasp(&mut rng),
    }
}

/// Boxes on each other, heavy ones on light ones too, with four contacts or more per face.
fn stack(rng: &mut Rng) -> Random {
    let mut out = Random::new();
    let count = 1 + rng.below(8);
    let gravity = DVec3::new(0.0, 0.0, -9.81) * STEP;
    let mu = rng.range(0.1, 1.2);
    for _ in 0..count {
        let push = if rng.chance(0.3) { 0.3 * rng.vector() } else { DVec3::ZERO };
        let spin = if rng.chance(0.3) { 0.3 * rng.vector() } else { DVec3::ZERO };
        let mass = rng.log(-3.0, 3.0);
        out.rigid(mass, DVec3::new(0.2, 0.2, 0.1), Twist { linear: gravity + push, angular: spin });
    }
    let axes = [DVec3::Z, DVec3::X, DVec3::Y];
    for b in 0..count {
        let corners = 4 + rng.below(2);
        for c in 0..corners {
            let x = if c & 1 == 0 { -0.2 } else { 0.2 };
            let y = if c & 2 == 0 { -0.2 } else { 0.2 };
            let p = if c < 4 { DVec3::new(x, y, -0.1) } else { DVec3::new(0.01, 0.03, -0.1) };
            let mut blocks = vec![(b, point_jacobian(p, axes, 1.0).to_vec())];
            if b > 0 {
                let q = p + DVec3::new(0.0, 0.0, 0.2);
                blocks.push((b - 1, point_jacobian(q, axes, -1.0).to_vec()));
            }
            let mut contact = Contact::new(Friction::Cone { mu });
            contact.relaxation = 0.01;
            contact.gap = if rng.chance(0.5) { -1e-4 * rng.unit() } else { 0.0 };
            out.contact(contact, blocks);
        }
    }
    out
}

/// Random points and normals between rigid bodies, reduced bodies and the world; joint limits,
/// bilateral rows.
fn cloud(rng: &mut Rng, convex: bool) -> Random {
    let mut out = Random::new();
    let count = 1 + rng.below(8);
    for _ in 0..count {
        let mass = if convex { rng.log(-0.5, 0.5) } else { rng.log(-3.0, 3.0) };
        if rng.chance(0.5) {
            let half = DVec3::new(rng.range(0.05, 0.3), rng.range(0.05, 0.3), rng.range(0.05, 0.3));
            out.rigid(mass, half, Twist { linear: rng.vector(), angular: rng.vector() });
        } else {
            let n = 1 + rng.below(12);
            out.dense(rng, n, mass.clamp(10f64.powf(-2.5), 10f64.powf(2.5)));
        }
    }
    for _ in 0..1 + rng.below(40) {
        let a = rng.below(count);
        let b = rng.below(count + 1);
        let n = rng.direction();
        let [s, t] = tangents(n);
        let mut blocks = vec![(a, side(rng, &out.bodies[a], [n, s, t], 1.0))];
        if b < count && b != a {
            blocks.push((b, side(rng, &out.bodies[b], [n, s, t], -1.0)));
        }
        let mut contact = Contact::new(if convex { convex_friction(rng) } else { friction(rng) });
        if rng.chance(0.3) {
            contact.gap = rng.log(-5.0, -2.0);
        }
        if !convex && rng.chance(0.3) {
            contact.restitution = rng.unit();
            contact.approach = normal_velocity(&out, &blocks);
        }
        if rng.chance(0.1) {
            contact.compliance = rng.log(-8.0, -4.0);
            contact.relaxation = rng.range(0.0, 0.01);
        }
        let repeat = rng.chance(0.1);
        if repeat && out.blocks.len() < 39 {
            out.contact(contact, blocks.clone());
        }
        if out.blocks.len() < 40 {
            out.contact(contact, blocks);
        }
    }
    for _ in 0..rng.below(4) {
        let a = rng.below(count);
        let n = out.bodies[a].free.len();
        let mut j = vec![0.0; n];
        j[rng.below(n)] = 1.0;
        let row = match rng.below(3) {
            0 => Row::unilateral(if rng.chance(0.5) { 0.0 } else { 1e-3 }),
            1 => Row::bilateral(0.0),
            _ => Row::friction(rng.log(-4.0, 0.0)),
        };
        out.row(row, vec![(a, j)]);
    }
    out
}

/// A body held by reduced fingers that squeeze it, some of them nearly rigid.
fn grasp(rng: &mut Rng) -> Random {
    let mut out = Random::new();
    let mass = rng.log(-2.0, 1.0);
    out.rigid(
        mass,
        DVec3::splat(0.03),
        Twist { linear: 0.01 * rng.vector(), angular: DVec3::ZERO },
    );
    let fingers = 2 + rng.below(4);
    let mu = rng.range(0.1, 1.2);
    for _ in 0..fingers {
        let n = 1 + rng.below(6);
        let scale = rng.log(-3.0, 3.0);
        out.dense(rng, n, scale * mass);
    }
    let total = fingers * (1 + rng.below(8));
    for c in 0..total.min(40) {
        let f = 1 + c % fingers;
        let n = rng.direction();
        let [s, t] = tangents(n);
        let p = 0.03 * -n + 0.005 * rng.vector();
        let ours = point_jacobian(p, [n, s, t], 1.0).to_vec();
        let theirs = side(rng, &out.bodies[f], [n, s, t], -1.0);
        out.contact(Contact::new(Friction::Cone { mu }), vec![(0, ours), (f, theirs)]);
    }
    out
}

fn side(rng: &mut Rng, body: &RandomBody, axes: [DVec3; 3], sign: f64) -> Vec<f64> {
    if body.rigid {
        return point_jacobian(0.2 * rng.vector(), axes, sign).to_vec();
    }
    (0..3 * body.free.len()).map(|_| rng.range(-1.0, 1.0)).collect()
}

/// J v of the first row.
pub(crate) fn normal_velocity(random: &Random, blocks: &[(usize, Vec<f64>)]) -> f64 {
    blocks
        .iter()
        .map(|(b, j)| random.bodies[*b].free.iter().zip(j).map(|(v, j)| v * j).sum::<f64>())
        .sum()
}
