// Vectors are arrays of three numbers, quaternions [w, x, y, z], matrices for the graphics card 16 numbers
// column after column. z is up, frames are right-handed.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** The unit vector along `a`; `fallback` if `a` is zero. */
function direction(a, fallback = [0, 0, 1]) {
  const length = norm(a);
  return length > 0 ? scaled(a, 1 / length) : fallback;
}

/** Two unit vectors that make a right-handed frame with the unit vector `n` as third. */
function frameAround(n) {
  const helper = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const first = direction(cross(helper, n));
  return [first, cross(n, first)];
}

/**
 * Slerp of the quaternions at `a[i]` and `b[j]`, along the shorter arc, into `out[k]`.
 * q and −q are the same rotation, so the sign of `b` is chosen for the smaller angle.
 */
function slerp(a, i, b, j, t, out, k) {
  let c = a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3];
  const sign = c < 0 ? -1 : 1;
  c *= sign;
  let u = 1 - t, v = t;
  if (c < 0.9995) { // for smaller angles the chord is as good, once its length is made 1
    const angle = Math.acos(c), s = Math.sin(angle);
    u = Math.sin(u * angle) / s;
    v = Math.sin(v * angle) / s;
  }
  v *= sign;
  let square = 0;
  for (let n = 0; n < 4; n++) {
    const q = u * a[i + n] + v * b[j + n];
    out[k + n] = q;
    square += q * q;
  }
  const inverse = 1 / Math.sqrt(square);
  for (let n = 0; n < 4; n++) out[k + n] *= inverse;
}

/**
 * Affine map of the pose (x, y, z, w, x, y, z) at `p[i]` after scaling: three rows of four numbers, into `out`.
 */
function affineOfPose(p, i, scale, out) {
  const w = p[i + 3], x = p[i + 4], y = p[i + 5], z = p[i + 6], [a, b, c] = scale;
  out[0] = a * (1 - 2 * (y * y + z * z)); out[1] = b * 2 * (x * y - w * z); out[2] = c * 2 * (x * z + w * y);
  out[4] = a * 2 * (x * y + w * z); out[5] = b * (1 - 2 * (x * x + z * z)); out[6] = c * 2 * (y * z - w * x);
  out[8] = a * 2 * (x * z - w * y); out[9] = b * 2 * (y * z + w * x); out[10] = c * (1 - 2 * (x * x + y * y));
  out[3] = p[i]; out[7] = p[i + 1]; out[11] = p[i + 2];
  return out;
}

/** Product of affine maps `a b` (three rows of four), into `out` from `k` on. */
function affineProduct(a, b, out, k) {
  for (let r = 0; r < 12; r += 4) {
    const x = a[r], y = a[r + 1], z = a[r + 2];
    out[k + r] = x * b[0] + y * b[4] + z * b[8];
    out[k + r + 1] = x * b[1] + y * b[5] + z * b[9];
    out[k + r + 2] = x * b[2] + y * b[6] + z * b[10];
    out[k + r + 3] = x * b[3] + y * b[7] + z * b[11] + a[r + 3];
  }
}

/** The point `v` mapped by an affine map (three rows of four). */
const affinePoint = (a, v) => [
  a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3],
  a[4] * v[0] + a[5] * v[1] + a[6] * v[2] + a[7],
  a[8] * v[0] + a[9] * v[1] + a[10] * v[2] + a[11],
];

/**
 * Affine map that stretches a unit surface along z (z from `low` to 1) between two points with a radius,
 * into `out` from `k` on. The sides around the axis are chosen from its direction alone.
 */
function affineBetween(from, to, radius, low, out, k) {
  const along = subtract(to, from), n = direction(along);
  const [u, v] = frameAround(n);
  const half = scaled(along, 1 / (1 - low)), origin = subtract(to, half);
  for (let r = 0; r < 3; r++) {
    out[k + 4 * r] = radius * u[r];
    out[k + 4 * r + 1] = radius * v[r];
    out[k + 4 * r + 2] = half[r];
    out[k + 4 * r + 3] = origin[r];
  }
}

/** Product of 4×4 matrices. */
function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let n = 0; n < 4; n++) sum += a[4 * n + r] * b[4 * c + n];
      out[4 * c + r] = sum;
    }
  }
  return out;
}

/** Perspective with a vertical angle of view, looking along −z. */
function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([
    f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
  ]);
}

/** World to camera, whose axes in the world are right, up and backward. */
function viewMatrix(right, up, backward, eye) {
  return new Float32Array([
    right[0], up[0], backward[0], 0, right[1], up[1], backward[1], 0, right[2], up[2], backward[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(backward, eye), 1,
  ]);
}

const typographic = (text) => text.replace(/-/g, "−").replace("e+", "e");

/** A number in at most six digits, with the sign that typography has. */
function shortNumber(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return typographic(size >= 1e7 || size < 1e-4 ? x.toExponential(3) : String(Number(x.toPrecision(6))));
}

/** A multiple of a step with the digits that tell it from the next. */
function tickNumber(x, step) {
  const last = Math.floor(Math.log10(step) + 1e-9), size = Math.abs(x);
  if (size < step / 2) return "0";
  if (size < 1e7 && last >= -5) return typographic(x.toFixed(Math.max(0, -last)));
  return typographic(x.toExponential(clamp(Math.floor(Math.log10(size) + 1e-9) - last, 0, 12)));
}
