// Joints at one time: where they are, what their springs hold, how far loops are open.

/** Colour of an axis without a spring, of a spring that holds nothing and of the one that holds most, of a gap. */
const AXIS = [120, 128, 140, 255], SLACK = [70, 130, 200, 255], TIGHT = [214, 58, 58, 255], GAP = [214, 58, 58, 255];

/** What rounding of poses to single precision may open, over the distance from the origin. */
const ROUNDING = 2 ** -21;

class Joints {
  /** `list` as it stands in the page. */
  constructor(list) {
    const frame = ({ body, pose }) => ({ body, local: affineOfPose(pose, 0, UNIT_SCALE, new Float64Array(12)), world: new Float64Array(12) });
    this.all = (list ?? []).map((j) => ({ ...j, sides: j.sides.map(frame), energies: j.axes.map(() => 0), gap: 0, floor: 0 }));
    this.springs = this.all.some((j) => j.axes.some((a) => a.stiffness !== null));
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

  /** How far the sides of a loop are apart where the joint does not let them slide, m. */
  opening(joint) {
    let d = this.apart(joint);
    for (const { direction, slides } of joint.axes) if (slides) d = subtract(d, scaled(direction, dot(d, direction)));
    return norm(d);
  }

  /** Colour of an axis by the energy of its spring. */
  colour(joint, k) {
    if (joint.axes[k].stiffness === null) return AXIS;
    const part = this.most > 0 ? Math.sqrt(joint.energies[k] / this.most) : 0;
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

/** A gap, or that it is less than rounding may open. */
const gapSize = (gap, floor) => (gap > floor ? withUnit(gap, "m") : `less than ${withUnit(floor, "m")}`);

/** A number of three digits with a prefix to its unit. */
function withUnit(x, unit) {
  if (!(x > 0)) return `0 ${unit}`;
  const steps = ["n", "µ", "m", "", "k", "M"], at = clamp(Math.floor(Math.log10(x) / 3) + 3, 0, 5);
  return `${shortNumber(Number((x * 10 ** (9 - 3 * at)).toPrecision(3)))} ${steps[at]}${unit}`;
}
