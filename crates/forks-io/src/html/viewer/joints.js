// Joints at one time: where they are, what their springs hold, how far loops are open.

/** Colour of an axis without a spring, of a spring that holds nothing and of the one that holds most, of a gap. */
const AXIS = [120, 128, 140, 255], SLACK = [70, 130, 200, 255], TIGHT = [214, 58, 58, 255], GAP = [214, 58, 58, 255];

/** What rounding of poses to single precision may open, over the distance from the origin. */
const ROUNDING = 2 ** -21;

/** Directions that stand for a spring in all of them. */
const ALL_AROUND = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((direction) => ({ direction, slides: false, stiffness: null, whole: true }));

class Joints {
  /** `list` as it stands in the page. */
  constructor(list) {
    const frame = ({ body, pose }) => ({ body, local: affineOfPose(pose, 0, UNIT_SCALE, new Float64Array(12)), world: new Float64Array(12) });
    this.all = (list ?? []).map((j) => {
      const axes = j.spring ? [...j.axes, ...ALL_AROUND] : j.axes, rest = new Float64Array(12);
      if (j.spring) affineOfPose(j.spring.rest, 0, UNIT_SCALE, rest);
      return { ...j, axes, rest, sides: j.sides.map(frame), energies: axes.map(() => 0), energy: 0, gap: 0, floor: 0 };
    });
    this.springs = this.all.some((j) => j.spring || j.axes.some((a) => a.stiffness !== null));
    this.loops = this.all.some((j) => j.closes);
    this.most = 0; // the greatest energy of a spring, J
    this.widest = [0, 0]; // the widest gap, and what rounding may open, m
  }

  /** Moves to where the bodies are; `affines` are world from body. */
  move(affines) {
    this.most = 0;
    this.widest = [0, 0];
    for (const joint of this.all) {
      for (const s of joint.sides) affineProduct(s.body === null ? IDENTITY : affines[s.body], s.local, s.world, 0);
      joint.axes.forEach((axis, k) => {
        joint.energies[k] = axis.stiffness === null ? 0 : 0.5 * axis.stiffness * this.stretch(joint, axis) ** 2;
        this.most = Math.max(this.most, joint.energies[k]);
      });
      if (joint.spring) {
        joint.energy = this.held(joint);
        this.most = Math.max(this.most, joint.energy);
      }
      if (!joint.closes) continue;
      joint.gap = this.opening(joint);
      joint.floor = ROUNDING * Math.max(...joint.sides.map(({ world: p }) => norm([p[3], p[7], p[11]])));
      [joint.gap, joint.floor].forEach((x, n) => { this.widest[n] = Math.max(this.widest[n], x); });
    }
  }

  /** From one side's origin to the other's, in the axes of the first side. */
  apart({ sides: [{ world: a }, { world: b }] }) {
    const d = [b[3] - a[3], b[7] - a[7], b[11] - a[11]];
    return [0, 1, 2].map((n) => a[n] * d[0] + a[4 + n] * d[1] + a[8 + n] * d[2]);
  }

  /** How far a spring is from its rest: rad, or m. */
  stretch(joint, { direction: u, slides, rest, start }) {
    if (slides) return dot(this.apart(joint), u) - rest;
    const [{ world: a }, { world: b }] = joint.sides;
    // R = AᵀB of the rotations; its trace is 1 + 2 cos, its skew part sin times the axis.
    const r = (i, j) => a[i] * b[j] + a[4 + i] * b[4 + j] + a[8 + i] * b[8 + j];
    const sine = 0.5 * dot([r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)], u);
    const angle = Math.atan2(sine, 0.5 * (r(0, 0) + r(1, 1) + r(2, 2) - 1));
    return angle + 2 * Math.PI * Math.round((start - angle) / (2 * Math.PI)) - rest;
  }

  /** What a spring in all directions holds: half of its twist from rest, times its stiffness, times the twist. */
  held({ sides: [{ world: a }, { world: b }], rest, spring: { stiffness } }) {
    const there = motionBetween(rest, motionBetween(a, b)), turn = rotationLog(there);
    const p = [there[3], there[7], there[11]], angle = norm(turn), c = cross(turn, p);
    // The left Jacobian's inverse brings the translation to the twist's linear part.
    const f = angle < 1e-3 ? 1 / 12 + angle ** 2 / 720 : (1 - 0.5 * angle / Math.tan(0.5 * angle)) / angle ** 2;
    const twist = [...add(add(p, scaled(c, -0.5)), scaled(cross(turn, c), f)), ...turn];
    return 0.5 * twist.reduce((sum, x, i) => sum + x * stiffness[i].reduce((row, k, j) => row + k * twist[j], 0), 0);
  }

  /** How far the sides of a loop are apart where the joint does not let them slide, m. */
  opening(joint) {
    let d = this.apart(joint);
    for (const { direction, slides } of joint.axes) if (slides) d = subtract(d, scaled(direction, dot(d, direction)));
    return norm(d);
  }

  /** Colour of an axis by the energy of its spring. */
  colour(joint, k) {
    const { stiffness, whole } = joint.axes[k];
    if (stiffness === null && !whole) return AXIS;
    const energy = whole ? joint.energy : joint.energies[k], part = this.most > 0 ? Math.sqrt(Math.max(0, energy) / this.most) : 0;
    return SLACK.map((c, n) => c + part * (TIGHT[n] - c));
  }

  /** The two ends of an axis of some length. */
  ends(joint, k, length) {
    const { world } = joint.sides[0], u = joint.axes[k].direction;
    return [-0.5, 0.5].map((s) => affinePoint(world, scaled(u, s * length)));
  }

  /** What stands in the panel. */
  note(show) {
    const said = [];
    if (show.joints && this.springs) said.push(`springs hold up to ${withUnit(this.most, "J")}`);
    if (show.gaps && this.loops) said.push(`loops open by ${gapSize(...this.widest)} at most`);
    return said.join(", ");
  }
}

/** The pose b in a, both affine. */
function motionBetween(a, b) {
  const out = new Float64Array(12), d = [b[3] - a[3], b[7] - a[7], b[11] - a[11]];
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) out[4 * i + j] = a[i] * b[j] + a[4 + i] * b[4 + j] + a[8 + i] * b[8 + j];
    out[4 * i + 3] = a[i] * d[0] + a[4 + i] * d[1] + a[8 + i] * d[2];
  }
  return out;
}

/** The rotation of an affine pose as a vector: axis times angle, up to half a turn. */
function rotationLog(m) {
  const skew = scaled([m[9] - m[6], m[2] - m[8], m[4] - m[1]], 0.5), sine = norm(skew), cosine = 0.5 * (m[0] + m[5] + m[10] - 1);
  const angle = Math.atan2(sine, cosine);
  if (cosine > -0.9) return scaled(skew, sine > 1e-9 ? angle / sine : 1);
  // Near half a turn the axis is the largest column of R + Rᵀ + (1 − tr R) 1.
  const column = (j) => [0, 1, 2].map((i) => m[4 * i + j] + m[4 * j + i] + (i === j ? 1 - (m[0] + m[5] + m[10]) : 0));
  const axis = [0, 1, 2].map(column).reduce((a, b) => (norm(b) > norm(a) ? b : a));
  return scaled(axis, (dot(axis, skew) < 0 ? -angle : angle) / norm(axis));
}

/** A gap, or that it is less than rounding may open. */
const gapSize = (gap, floor) => (gap > floor ? withUnit(gap, "m") : `less than ${withUnit(floor, "m")}`);

/** A number of three digits with a prefix to its unit. */
function withUnit(x, unit) {
  if (!(x > 0)) return `0 ${unit}`;
  const steps = ["n", "µ", "m", "", "k", "M"], at = clamp(Math.floor(Math.log10(x) / 3) + 3, 0, 5);
  return `${shortNumber(Number((x * 10 ** (9 - 3 * at)).toPrecision(3)))} ${steps[at]}${unit}`;
}
