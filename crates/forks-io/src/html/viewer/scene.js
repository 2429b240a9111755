// What is shown: bodies, bars, arrows of contact forces and axes, placed for one time.

/** Surfaces that the viewer adds to those of the recording: a rod and a tip with z from −1 or 0 to 1. */
function ownSurfaces() {
  const slices = 20, rod = { positions: [], normals: [], triangles: [] }, tip = { positions: [], normals: [], triangles: [] };
  for (let i = 0; i < slices; i++) {
    const a = (2 * Math.PI * i) / slices, x = Math.cos(a), y = Math.sin(a), j = (i + 1) % slices;
    rod.positions.push(x, y, -1, x, y, 1);
    rod.normals.push(x, y, 0, x, y, 0);
    rod.triangles.push(2 * i, 2 * j, 2 * j + 1, 2 * i, 2 * j + 1, 2 * i + 1);
    // Side of the tip, then its base.
    tip.positions.push(x, y, 0, 0, 0, 1, x, y, 0, 0, 0, 0);
    tip.normals.push(x, y, 0.4, x, y, 0.4, 0, 0, -1, 0, 0, -1);
    tip.triangles.push(4 * i, 4 * j, 4 * i + 1, 4 * j + 2, 4 * i + 2, 4 * i + 3);
  }
  return [rod, tip].map((s) => ({
    positions: new Float32Array(s.positions), normals: new Float32Array(s.normals), triangles: new Uint32Array(s.triangles), pattern: 0,
  }));
}

/** How far the sides of a round surface may be off its roundness, pixels; the same for shadows. */
const ROUNDNESS = 0.25, SHADOW_ROUNDNESS = 1;

/** Corners of a surface that is unrolled rather than drawn as an instance. */
const SMALL = 128;

/** Triangles of a skin that casts a shadow where the browser draws in software. */
const SHADOWED = 5000;

/** Arrows of forces are no longer than this many times that of a typical force. */
const LONGEST_ARROW = 4;

class Scene {
  constructor(recording) {
    const data = recording.data;
    this.recording = recording;
    this.poses = new Float64Array(POSE * recording.bodies.length);
    this.hidden = new Set();
    this.selected = -1;
    this.show = { ground: true, axes: false, trace: true, contacts: true, labels: false, joints: false, gaps: false };
    this.joints = new Joints(data.joints);
    this.section = { axis: -1, part: 0.5 }; // what lies beyond a plane across an axis is cut off
    this.arrowScale = 1;
    this.pull = null; // what pulls a body: {body, point, target}
    this.surfaces = data.surfaces.map((s) => ({
      positions: new Float32Array(bytesOf(s.positions)),
      normals: new Float32Array(bytesOf(s.normals)),
      triangles: new Uint32Array(bytesOf(s.triangles)),
      pattern: s.pattern,
    }));
    this.levels = this.surfaces.map((_, i) => [[i, Infinity]]); // of every surface, fine to coarse: the number of one, its corners around
    data.surfaces.forEach(({ round }, i) => {
      if (!round) return;
      this.levels[i] = [[i, round.slices]];
      for (const text of round.coarser) {
        this.levels[i].push([this.surfaces.length, round.slices / 2 ** this.levels[i].length]);
        this.surfaces.push(withoutUnused({ ...this.surfaces[i], triangles: new Uint32Array(bytesOf(text)) }));
      }
    });
    this.rod = this.surfaces.length;
    this.tip = this.rod + 1;
    this.surfaces.push(...ownSurfaces());
    this.skins = recording.skins.map((skin) => {
      const size = 3 * skin.corners;
      this.surfaces.push({ positions: new Float32Array(size), normals: new Float32Array(size), triangles: skin.triangles, pattern: 0 });
      return { skin, surface: this.surfaces.length - 1 };
    });
    this.reaches = this.surfaces.map((s) => reachOf(s.positions));
    const prepared = (parts) => parts.map((p) => {
      const around = Math.max(...p.scale.slice(0, this.surfaces[p.surface].pattern === 2 ? 3 : 2));
      const reach = this.reaches[p.surface].radius * Math.max(...p.scale);
      return { ...p, affine: affineOfPose(p.pose, 0, p.scale, new Float64Array(12)), around, reach };
    });
    this.bodies = recording.bodies.map((b) => ({ ...b, parts: prepared(b.parts) }));
    this.scenery = prepared(data.scenery);
    this.typicalForce = recording.typicalForce();
    this.measure();
    this.batches = [0, 1, 2, 3].map(() => this.surfaces.map((_, i) => new Batch(i)));
    this.affines = this.bodies.map(() => new Float64Array(12)); // world from body
    this.placed = new Float32Array(INSTANCE); // the part that is being placed
    this.unrolls = false; // small parts: the browser draws in software
    this.unrolled = [0, 1, 2].map(() => new Unrolled(this.surfaces)); // of every pattern
    this.castingUnrolled = new Unrolled(this.surfaces);
    this.watch = () => null; // the camera's lens
  }

  /** Box around everything that moves at any time, its size and its lowest point. */
  measure() {
    const [low, high] = this.box = this.boxOf(0, this.recording.frames);
    this.radius = norm(subtract(high, low)) / 2;
    this.lowest = low[2];
  }

  /** Box around everything that moves in some of the frames; scenery counts where nothing else does. */
  boxOf(first, end) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const include = (p, r) => {
      for (let n = 0; n < 3; n++) {
        low[n] = Math.min(low[n], p[n] - r[n]);
        high[n] = Math.max(high[n], p[n] + r[n]);
      }
    };
    const includePart = (affine, part) => {
      include([affine[3], affine[7], affine[11]], this.halfSizes(affine, part.surface));
    };
    const recording = this.recording, point = [0, 0, 0], world = new Float64Array(12), whole = new Float64Array(12);
    const parts = this.bodies.reduce((sum, b) => sum + b.parts.length, this.bodies.length);
    const every = Math.max(1, Math.floor(((end - first) * parts) / 200000));
    for (let f = first; f < end; f += every) {
      this.bodies.forEach((body, b) => {
        affineOfPose(recording.poses, POSE * (this.bodies.length * f + b), UNIT_SCALE, world);
        include([world[3], world[7], world[11]], point);
        for (const part of body.parts) {
          affineProduct(world, part.affine, whole, 0);
          includePart(whole, part);
        }
      });
    }
    for (const { boxes } of recording.skins) {
      for (let k = first * BOX; k < end * BOX; k += BOX) {
        include(boxes.subarray(k, k + 3), point);
        include([0, 1, 2].map((n) => boxes[k + n] + 65535 * boxes[k + 3 + n]), point);
      }
    }
    for (const segment of recording.data.segments) {
      for (const end of segment.ends) if (end.body === null) include(end.point, point);
    }
    if (this.bodies.length === 0) {
      for (const part of this.scenery) includePart(part.affine, part);
    }
    if (!(low[0] <= high[0])) { low.fill(-1); high.fill(1); }
    if (norm(subtract(high, low)) === 0) include(low.slice(), [1e-3, 1e-3, 1e-3]); // a single point
    return [low, high];
  }

  /** Half the sides of a box along the world's axes around a surface that an affine map places. */
  halfSizes(affine, surface) {
    const { radius, cube } = this.reaches[surface];
    return [0, 4, 8].map((r) => {
      const x = Math.abs(affine[r]), y = Math.abs(affine[r + 1]), z = Math.abs(affine[r + 2]);
      return Math.min(radius * Math.hypot(x, y, z), cube * (x + y + z));
    });
  }

  /** Moves everything to a time. The result is what `Renderer.draw` takes. */
  at(time) {
    this.now = time;
    this.recording.posesAt(time, this.poses);
    for (const kind of this.batches) for (const batch of kind) batch.count = 0;
    for (const u of [...this.unrolled, this.castingUnrolled]) u.clear();
    this.lens = this.watch();
    for (const part of this.scenery) this.place(null, part, -1, 0);
    this.affines.forEach((affine, b) => affineOfPose(this.poses, POSE * b, UNIT_SCALE, affine));
    this.bodies.forEach((body, b) => {
      if (this.hidden.has(b)) return;
      for (const part of body.parts) this.place(this.affines[b], part, b, b === this.selected ? 1 : 0);
      if (this.show.axes || (b === this.selected && body.parts.length === 0)) this.placeAxes(b);
    });
    for (const segment of this.recording.data.segments) this.placeSegment(segment);
    if (this.show.joints || this.show.gaps) this.placeJoints();
    const moved = this.skins.filter(({ skin }) => !this.hidden.has(skin.body)).map((s) => this.placeSkin(s, time));
    if (this.show.contacts) for (const [p, force] of this.recording.contactsAt(time)) this.placeForce(p, force);
    if (this.pull) this.placePull(this.pull);
    const [opaque, translucent, casting, arrows] = this.batches;
    const planes = this.show.ground ? this.planes() : [];
    const { unrolled, castingUnrolled } = this;
    return { opaque, translucent, casting, arrows, unrolled, castingUnrolled, moved, planes, trace: this.show.trace, section: this.sectionPlane(), now: time };
  }

  /** Normal and distance of the plane that cuts; zero and one where nothing is cut. */
  sectionPlane() {
    const { axis, part } = this.section;
    if (axis < 0) return [0, 0, 0, 1];
    const at = this.box[0][axis] + part * (this.box[1][axis] - this.box[0][axis]);
    return [0, 1, 2].map((n) => (n === axis ? 1 : 0)).concat(at);
  }

  /** The batch for a colour: what is not quite opaque is drawn after the rest. */
  batch(surface, colour) {
    return this.batches[colour[3] < 255 ? 1 : 0][surface];
  }

  place(affine, part, body, glow) {
    const { placed, lens } = this;
    if (affine) affineProduct(affine, part.affine, placed, 0); else placed.set(part.affine);
    markInstance(placed, 0, part.colour, body, glow);
    const middle = [placed[3], placed[7], placed[11]], around = lens ? part.around * lens.pixels(middle, part.reach) : Infinity;
    const put = (surface, batches, unrolled) => {
      const { positions, pattern } = this.surfaces[surface];
      if (this.unrolls && unrolled && positions.length <= 3 * SMALL) unrolled(pattern).add(surface, placed);
      else batches[surface].add(placed);
    };
    if (!lens || lens.sees(middle, part.reach)) {
      const clear = part.colour[3] < 255;
      put(this.level(part.surface, around, ROUNDNESS), this.batches[clear ? 1 : 0], clear ? null : (pattern) => this.unrolled[pattern]);
    }
    if (body >= 0) put(this.level(part.surface, around, SHADOW_ROUNDNESS), this.batches[2], () => this.castingUnrolled);
  }

  /** The coarsest of a surface whose sides are not further off a circle of `around` pixels than `most`. */
  level(surface, around, most) {
    const levels = this.levels[surface];
    if (!levels) return surface;
    const fine = levels.findLastIndex(([, corners]) => around * (1 - Math.cos(Math.PI / corners)) <= most);
    return levels[Math.max(0, fine)][0];
  }

  /** Brings a skin into its form at a time; the number of its surface. */
  placeSkin({ skin, surface }, time) {
    const { positions, normals, triangles } = this.surfaces[surface];
    this.recording.skinAt(skin, time, positions);
    smoothNormals(positions, triangles, normals);
    const batch = this.batch(surface, skin.colour), at = batch.next();
    batch.numbers.set(IDENTITY, at);
    batch.mark(at, skin.colour, skin.body, skin.body === this.selected ? 1 : 0);
    // In software the shadow of a fine skin costs as much as the skin.
    if (!this.unrolls || triangles.length <= 3 * SHADOWED) this.cast(batch, at);
    return surface;
  }

  /** The same instance once more among those that cast shadows. */
  cast(batch, at) {
    const shadows = this.batches[2][batch.surface], copy = shadows.next();
    shadows.numbers.set(batch.numbers.subarray(at, at + INSTANCE), copy);
  }

  arrow(batches, from, to, radius, colour, body) {
    const along = subtract(to, from), length = norm(along);
    if (length === 0) return;
    const head = Math.min(6 * radius, 0.6 * length), neck = add(from, scaled(along, 1 - head / length));
    this.stretch(batches[this.rod], from, neck, radius, -1, [colour, body, 0]);
    this.stretch(batches[this.tip], neck, to, 2.4 * radius, 0, [colour, body, 0]);
  }

  /** A rod or a tip (whose z starts at `low`) from one point to another; the offset of its numbers. */
  stretch(batch, from, to, radius, low, mark) {
    const at = batch.next();
    affineBetween(from, to, radius, low, batch.numbers, at);
    batch.mark(at, ...mark);
    return at;
  }

  placeSegment({ owner, ends, radius, colour }) {
    if (owner !== null && this.hidden.has(owner)) return;
    const [from, to] = ends.map((e) => (e.body === null ? e.point : affinePoint(this.affines[e.body], e.point)));
    if (norm(subtract(to, from)) === 0) return;
    const body = owner === null ? -1 : owner, glow = body >= 0 && body === this.selected ? 1 : 0;
    const batch = this.batch(this.rod, colour);
    this.cast(batch, this.stretch(batch, from, to, radius ?? 0.006 * this.radius, -1, [colour, body, glow]));
  }

  /** Axes as rods, gaps of loops as rods from side to side; both are seen through bodies. */
  placeJoints() {
    const { joints, show } = this, batch = this.batches[3][this.rod], length = 0.12 * this.radius;
    joints.move(this.affines);
    for (const joint of joints.all) {
      const owner = joint.sides[1].body ?? joint.sides[0].body ?? -1;
      if (this.hidden.has(owner)) continue;
      if (show.joints) joint.axes.forEach((axis, k) => {
        const thick = axis.stiffness === null ? 0.003 : 0.006;
        this.stretch(batch, ...joints.ends(joint, k, length), thick * this.radius, -1, [joints.colour(joint, k), owner, 0]);
      });
      if (show.gaps && joint.gap > joint.floor) {
        const [from, to] = joint.sides.map(({ world }) => [world[3], world[7], world[11]]);
        this.stretch(batch, from, to, 0.004 * this.radius, -1, [GAP, owner, 0]);
      }
    }
  }

  placeAxes(b) {
    const length = 0.09 * this.radius, origin = affinePoint(this.affines[b], [0, 0, 0]);
    [[214, 58, 58, 255], [47, 158, 68, 255], [43, 108, 217, 255]].forEach((colour, n) => {
      const tip = affinePoint(this.affines[b], [0, 1, 2].map((k) => (k === n ? length : 0)));
      this.arrow(this.batches[0], origin, tip, 0.03 * length, colour, b);
    });
  }

  /** From the point of a body that is pulled to where it is pulled. */
  placePull({ body, point, target }) {
    this.arrow(this.batches[3], affinePoint(this.affines[body], point), target, 0.006 * this.radius, this.forceColour, -1);
  }

  /** An arrow that is a third of the scene's radius long for the largest force of the recording. */
  placeForce(point, force) {
    if (this.typicalForce === 0) return;
    // An impact would otherwise make all other arrows too short to see, or its own leave the picture.
    const relative = Math.min(norm(force) / this.typicalForce, LONGEST_ARROW);
    const tip = add(point, scaled(direction(force), 0.25 * this.radius * this.arrowScale * relative));
    this.arrow(this.batches[3], point, tip, 0.006 * this.radius, this.forceColour, -1);
  }

  /** Where a ray first meets a body, as a distance along it; null if it does not. */
  hit(b, [eye, along]) {
    const world = affineOfPose(this.poses, POSE * b, UNIT_SCALE, new Float64Array(12)), whole = new Float64Array(12);
    let nearest = Infinity;
    for (const part of this.bodies[b].parts) {
      affineProduct(world, part.affine, whole, 0);
      nearest = Math.min(nearest, meetSurface(this.surfaces[part.surface], whole, eye, along));
    }
    for (const { skin, surface } of this.skins) {
      if (skin.body === b) nearest = Math.min(nearest, meetSurface(this.surfaces[surface], IDENTITY, eye, along));
    }
    for (const { owner, ends, radius } of this.recording.data.segments) {
      if (owner !== b) continue;
      const [from, to] = ends.map((e) => (e.body === null ? e.point : affinePoint(this.affines[e.body], e.point)));
      nearest = Math.min(nearest, meetBar(from, to, radius ?? 0.006 * this.radius, eye, along));
    }
    return nearest < Infinity ? nearest : null;
  }

  /** Planes of the recording; without one a ground under the lowest point. */
  planes() {
    const planes = this.recording.data.planes.filter((p) => p.body === null || !this.hidden.has(p.body)).map((p) => {
      const local = affineOfPose(p.pose, 0, UNIT_SCALE, new Float64Array(12)), a = new Float64Array(12);
      affineProduct(p.body === null ? IDENTITY : this.affines[p.body], local, a, 0);
      const column = (n) => [a[n], a[4 + n], a[8 + n]], opacity = (0.22 * p.colour[3]) / 255;
      return { origin: column(3), right: column(0), up: column(1), normal: column(2), fill: [...p.colour.slice(0, 3).map((c) => c / 255), opacity] };
    });
    if (planes.length > 0) return planes;
    return [{ origin: [0, 0, this.ground()], right: [1, 0, 0], up: [0, 1, 0], normal: [0, 0, 1], fill: [0, 0, 0, 0] }];
  }

  /** Height of the ground where the recording has no plane: 0 if that is just below everything, else under it. */
  ground() {
    return this.lowest >= 0 && this.lowest < 2 * this.radius ? 0 : this.lowest;
  }

  /** Path of the origin of a body: position and time of each frame. */
  path(body) {
    const { recording } = this, numbers = new Float32Array(4 * recording.frames);
    for (let f = 0; f < recording.frames; f++) numbers.set([...recording.position(f, body), recording.times[f]], 4 * f);
    return numbers;
  }
}

/** A surface without the corners that none of its triangles has. */
function withoutUnused({ positions, normals, triangles, pattern }) {
  const number = new Map(), kept = [];
  for (const corner of triangles) {
    if (!number.has(corner)) {
      number.set(corner, kept.length);
      kept.push(corner);
    }
  }
  const part = (numbers) => new Float32Array(kept.flatMap((c) => [...numbers.subarray(3 * c, 3 * c + 3)]));
  return { positions: part(positions), normals: part(normals), triangles: triangles.map((c) => number.get(c)), pattern };
}

const UNIT_SCALE = [1, 1, 1];
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];

/** Normals of corners: the mean of those of the triangles around, by their area. */
function smoothNormals(positions, triangles, normals) {
  normals.fill(0);
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k], 3 * triangles[k + 1], 3 * triangles[k + 2]];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const i of [a, b, c]) { normals[i] += x; normals[i + 1] += y; normals[i + 2] += z; }
  }
}

/** Distance along a ray to a surface that an affine map places (Möller and Trumbore); Infinity without one. */
function meetSurface({ positions, triangles }, affine, eye, along) {
  let nearest = Infinity;
  const corner = (i) => affinePoint(affine, positions.subarray(3 * i, 3 * i + 3));
  for (let k = 0; k < triangles.length; k += 3) {
    const a = corner(triangles[k]), u = subtract(corner(triangles[k + 1]), a), v = subtract(corner(triangles[k + 2]), a);
    const p = cross(along, v), volume = dot(u, p);
    if (volume === 0) continue;
    const from = subtract(eye, a), x = dot(from, p) / volume, q = cross(from, u), y = dot(along, q) / volume;
    const t = dot(v, q) / volume;
    if (x >= 0 && y >= 0 && x + y <= 1 && t > 0 && t < nearest) nearest = t;
  }
  return nearest;
}

/** Distance along a ray to where it passes a bar, Infinity if it passes by more than three radii. */
function meetBar(from, to, radius, eye, along) {
  const axis = subtract(to, from), length = norm(axis), n = direction(axis), w = subtract(eye, from);
  const c = dot(along, n), slope = 1 - c * c;
  if (slope < 1e-12) return Infinity;
  const t = (c * dot(w, n) - dot(w, along)) / slope, s = clamp(dot(w, n) + t * c, 0, length);
  const near = add(from, scaled(n, s)), onRay = Math.max(0, dot(subtract(near, eye), along));
  return norm(subtract(add(eye, scaled(along, onRay)), near)) < 3 * radius ? onRay : Infinity;
}

/** Largest distance from the origin of a surface's points, and half the side of the cube around the origin that holds them. */
function reachOf(positions) {
  let square = 0, cube = 0;
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = [positions[i], positions[i + 1], positions[i + 2]].map(Math.abs);
    square = Math.max(square, x * x + y * y + z * z);
    cube = Math.max(cube, x, y, z);
  }
  return { radius: Math.sqrt(square), cube };
}
