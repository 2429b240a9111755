// What comes from the program: frames as they are made, kept as a recording that grows.

/** Frames that are kept, and bytes of them; the older half goes when there are more. */
const MOST_FRAMES = 7200, MOST_BYTES = 128e6;

/** A recording whose end is now. */
class LiveRecording extends Recording {
  constructor(data) {
    super(data);
    this.capacity = 0;
    this.contactFrames = [[]];
    const corners = this.skins.reduce((sum, s) => sum + s.corners, 0);
    const bytes = 8 + 4 * POSE * this.bodies.length + 8 * this.series.length + 6 * corners;
    this.most = Math.max(16, Math.min(MOST_FRAMES, Math.floor(MOST_BYTES / bytes)));
    this.grow(16);
  }

  /** Room for more frames; the views onto it are as long as there are frames. */
  grow(capacity) {
    const stride = POSE * this.bodies.length, count = this.times.length;
    const larger = (old, Kind, size) => { const out = new Kind(size); out.set(old); return out; };
    this.room = {
      times: larger(this.times, Float64Array, capacity),
      poses: larger(this.poses, Float32Array, capacity * stride),
      values: this.series.map((s) => larger(s.values, Float64Array, capacity)),
      skins: this.skins.map((s) => ({
        boxes: larger(s.boxes, Float32Array, capacity * BOX), places: larger(s.places, Uint16Array, capacity * 3 * s.corners),
      })),
    };
    this.capacity = capacity;
    this.look(count);
  }

  look(count) {
    this.times = this.room.times.subarray(0, count);
    this.poses = this.room.poses.subarray(0, count * POSE * this.bodies.length);
    this.series.forEach((s, i) => { s.values = this.room.values[i].subarray(0, count); });
    this.skins.forEach((s, i) => {
      s.boxes = this.room.skins[i].boxes.subarray(0, count * BOX);
      s.places = this.room.skins[i].places.subarray(0, count * 3 * s.corners);
    });
    this.start = this.times[0];
    this.end = this.times[count - 1];
  }

  /** Forgets what is after a time, and all but the newest where there are too many. */
  cut(time) {
    let count = this.frames;
    while (count > 1 && this.times[count - 1] >= time) count--;
    this.contactFrames.length = count;
    this.look(count);
  }

  append(frame) {
    if (frame.time <= this.end) this.cut(frame.time);
    if (this.frames >= this.most) {
      const gone = this.most >> 1, stride = POSE * this.bodies.length;
      this.room.times.copyWithin(0, gone);
      this.room.poses.copyWithin(0, gone * stride);
      this.room.values.forEach((v) => v.copyWithin(0, gone));
      this.skins.forEach((s, i) => {
        this.room.skins[i].boxes.copyWithin(0, gone * BOX);
        this.room.skins[i].places.copyWithin(0, gone * 3 * s.corners);
      });
      this.contactFrames.splice(0, gone);
      this.look(this.frames - gone);
    }
    const count = this.frames;
    // The first frame of the page and the first that comes may be of one time.
    const at = frame.time <= this.end ? count - 1 : count;
    if (at === this.capacity) this.grow(Math.min(2 * this.capacity, this.most));
    this.room.times[at] = frame.time;
    this.room.poses.set(frame.poses, at * POSE * this.bodies.length);
    frame.values.forEach((v, i) => { this.room.values[i][at] = v; });
    frame.skins.forEach(({ box, places }, i) => {
      this.room.skins[i].boxes.set(box, at * BOX);
      this.room.skins[i].places.set(places, at * places.length);
    });
    this.contactFrames[at] = frame.contacts;
    this.look(at + 1);
  }

  contactsAt(time) {
    return this.contactFrames[this.frameAt(time)] ?? [];
  }

  get mayTouch() {
    return true;
  }
}

/** Reads a frame as the program writes it, see `frame.rs`; null if it is of another picture. */
function readFrame(buffer, recording) {
  const view = new DataView(buffer), number = (i) => view.getUint32(16 + 4 * i, true);
  const [flags, bodies, series, contacts, skins] = [0, 1, 2, 3, 4].map(number);
  if (bodies !== recording.bodies.length || series !== recording.series.length || skins !== recording.skins.length) return null;
  let at = 36;
  const single = (count) => { const out = new Float32Array(buffer, at, count); at += 4 * count; return out; };
  const poses = single(POSE * bodies), values = single(series), c = single(6 * contacts), list = [];
  for (let k = 0; k < c.length; k += 6) list.push([[c[k], c[k + 1], c[k + 2]], [c[k + 3], c[k + 4], c[k + 5]]]);
  const surfaces = recording.skins.map(({ corners }) => {
    const box = single(BOX), places = new Uint16Array(buffer, at, 3 * corners);
    at += 4 * Math.ceil(3 * corners / 2);
    return { box, places };
  });
  return {
    time: view.getFloat64(0, true), step: view.getFloat32(8, true), pace: view.getFloat32(12, true),
    moving: (flags & 1) === 1, poses, values, contacts: list, skins: surfaces,
  };
}
