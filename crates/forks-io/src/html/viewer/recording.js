// The recording: decoded numbers, and what there is at any time between frames.

/** Bytes of a base-64 text. */
function bytesOf(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer; // little-endian, as is every machine that runs a browser
}

/** Numbers of a pose in arrays: x, y, z, then the quaternion w, x, y, z. */
const POSE = 7;

/** Numbers of the box around a skin: its lowest corner, and a step along each side, of which there are 65535. */
const BOX = 6;

class Recording {
  constructor(data) {
    if (data.format !== "forks-animation" || data.version !== 1) throw new Error("unknown format of the recording");
    this.data = data;
    this.bodies = data.bodies;
    this.times = new Float64Array(bytesOf(data.times));
    this.poses = new Float32Array(bytesOf(data.poses));
    this.series = data.series.map((s) => ({ name: s.name, unit: s.unit, values: new Float64Array(bytesOf(s.values)) }));
    this.contactStarts = new Uint32Array(bytesOf(data.contacts.starts));
    this.contactNumbers = new Float32Array(bytesOf(data.contacts.numbers));
    this.skins = (data.skins ?? []).map((s) => ({
      ...s, triangles: new Uint32Array(bytesOf(s.triangles)), boxes: new Float32Array(bytesOf(s.boxes)), places: new Uint16Array(bytesOf(s.places)),
    }));
    this.start = this.times[0];
    this.end = this.times[this.times.length - 1];
  }

  /** There may be contacts. */
  get mayTouch() {
    return this.contactNumbers.length > 0;
  }

  get frames() {
    return this.times.length;
  }

  /** Number of the last frame that is not after the time. */
  frameAt(time) {
    let low = 0, high = this.times.length; // times[low] <= time < times[high]
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle; else high = middle;
    }
    return low;
  }

  /** The frame nearest to a time. */
  nearestFrame(time) {
    const i = this.frameAt(time);
    return i + 1 < this.frames && this.times[i + 1] - time < time - this.times[i] ? i + 1 : i;
  }

  /** Poses of all bodies at a time, interpolated, into an array of seven numbers for each. */
  posesAt(time, out) {
    const i = this.frameAt(time), j = Math.min(i + 1, this.frames - 1);
    const t = j > i ? clamp((time - this.times[i]) / (this.times[j] - this.times[i]), 0, 1) : 0;
    const stride = POSE * this.bodies.length, p = this.poses;
    for (let b = 0; b < this.bodies.length; b++) {
      const k = POSE * b, from = stride * i + k, to = stride * j + k;
      for (let n = 0; n < 3; n++) out[k + n] = p[from + n] + t * (p[to + n] - p[from + n]);
      slerp(p, from + 3, p, to + 3, t, out, k + 3);
    }
    return out;
  }

  /** Corners of a skin at a time, interpolated, three numbers each. */
  skinAt({ corners, boxes, places }, time, out) {
    const last = boxes.length / BOX - 1, i = Math.min(this.frameAt(time), last), j = Math.min(i + 1, last);
    const t = j > i ? clamp((time - this.times[i]) / (this.times[j] - this.times[i]), 0, 1) : 0;
    for (let n = 0; n < 3 * corners; n++) {
      const a = n % 3, from = boxes[BOX * i + a] + boxes[BOX * i + 3 + a] * places[3 * corners * i + n];
      const to = boxes[BOX * j + a] + boxes[BOX * j + 3 + a] * places[3 * corners * j + n];
      out[n] = from + t * (to - from);
    }
  }

  /** Position of a body in a frame. */
  position(frame, body) {
    const k = POSE * (this.bodies.length * frame + body);
    return [this.poses[k], this.poses[k + 1], this.poses[k + 2]];
  }

  /** Contacts of the frame at or before a time as [position, force]. Nothing says which is which between frames. */
  contactsAt(time) {
    const i = this.frameAt(time), out = [], c = this.contactNumbers;
    for (let k = 6 * this.contactStarts[i]; k < 6 * this.contactStarts[i + 1]; k += 6) {
      out.push([[c[k], c[k + 1], c[k + 2]], [c[k + 3], c[k + 4], c[k + 5]]]);
    }
    return out;
  }

  /** A contact force that nine of ten of the whole recording do not exceed; 0 without contacts. */
  typicalForce() {
    const c = this.contactNumbers, forces = new Float64Array(c.length / 6);
    for (let k = 0; k < forces.length; k++) forces[k] = Math.hypot(c[6 * k + 3], c[6 * k + 4], c[6 * k + 5]);
    const pushing = forces.filter((f) => f > 0).sort();
    return pushing.length > 0 ? pushing[Math.floor(0.9 * (pushing.length - 1))] : 0;
  }
}
