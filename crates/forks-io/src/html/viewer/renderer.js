// Draws batches of equal surfaces, ground grids and lines with three.js, and finds what is under a pixel.

/** Numbers per instance: three rows of an affine map (12), colour with opacity (4), number of the body + 1, glow. */
const INSTANCE = 18;

/** The attributes that they are: name, how many numbers, from which on. */
const ATTRIBUTES = [["row0", 4, 0], ["row1", 4, 4], ["row2", 4, 8], ["colour", 4, 12], ["mark", 2, 16]];

/** Instances of one surface, refilled for every picture. */
class Batch {
  constructor(surface) {
    this.surface = surface;
    this.count = 0;
    this.numbers = new Float32Array(16 * INSTANCE);
  }

  /** Room for one more instance: the offset of its numbers. */
  next() {
    const at = INSTANCE * this.count++;
    if (at + INSTANCE > this.numbers.length) {
      const larger = new Float32Array(2 * this.numbers.length);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    return at;
  }

  /** One more with its numbers. */
  add(numbers) {
    const at = this.next();
    this.numbers.set(numbers, at);
  }

  mark(at, colour, body, glow) {
    markInstance(this.numbers, at, colour, body, glow);
  }
}

/** Colour (0…255 each), number of the body (−1 for none) and glow of the instance at an offset. */
function markInstance(n, at, colour, body, glow) {
  for (let i = 0; i < 4; i++) n[at + 12 + i] = colour[i] / 255;
  n[at + 16] = body + 1;
  n[at + 17] = glow;
}

/**
 * Small surfaces as one: every corner carries the numbers of its instance. A browser that draws in software pays for
 * instances rather than for corners.
 */
class Unrolled {
  constructor(surfaces) {
    this.surfaces = surfaces;
    this.list = []; // the surface of every instance
    this.changed = false; // the list, since it was drawn
    this.numbers = new Float32Array(1024 * INSTANCE);
    this.clear();
  }

  clear() {
    this.count = 0;
    this.corners = 0;
  }

  /** One more, with its numbers. */
  add(surface, numbers) {
    if (this.list[this.count] !== surface) {
      this.list.length = this.count;
      this.list.push(surface);
      this.changed = true;
    }
    this.count++;
    const size = (INSTANCE * this.surfaces[surface].positions.length) / 3, at = INSTANCE * this.corners;
    while (at + size > this.numbers.length) {
      const larger = new Float32Array(2 * this.numbers.length);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.numbers.set(numbers, at);
    for (let done = INSTANCE; done < size; done *= 2) this.numbers.copyWithin(at + done, at, at + Math.min(done, size - done));
    this.corners += size / INSTANCE;
  }

  /** All corners and triangles. */
  geometry() {
    const all = this.list.slice(0, this.count).map((s) => this.surfaces[s]), corners = all.reduce((sum, s) => sum + s.positions.length, 0);
    const positions = new Float32Array(corners), normals = new Float32Array(corners);
    const triangles = new Uint32Array(all.reduce((sum, s) => sum + s.triangles.length, 0));
    let at = 0, first = 0;
    for (const s of all) {
      positions.set(s.positions, at);
      normals.set(s.normals, at);
      s.triangles.forEach((corner, i) => { triangles[first + i] = at / 3 + corner; });
      at += s.positions.length;
      first += s.triangles.length;
    }
    return { positions, normals, triangles };
  }
}

/** The layer of what a click can meet. */
const PICKED = 1;

/** In which order things are drawn that are not opaque; planes take two places each from the second on. */
const GHOSTS = 1, PLANES = 10, TRACE = 1000, TRANSLUCENT = 1001;

class Renderer {
  /** Throws if the browser has no WebGL 2. `surfaces` is a list of {positions, normals, triangles, pattern}. */
  constructor(canvas, surfaces) {
    THREE.ColorManagement.enabled = false; // our programs light in their own way
    this.canvas = canvas;
    const { context, software } = contextOf(canvas);
    if (!context) throw new Error("this browser offers no WebGL 2");
    this.software = software;
    this.three = new THREE.WebGLRenderer({ canvas, context, alpha: false });
    this.sharpness = 1; // of what the screen has, along each side
    this.three.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.three.debug.onShaderError = (gl, program, vertex, fragment) => {
      const log = [vertex, fragment].map((s) => gl.getShaderInfoLog(s)).join("");
      if (!gl.isContextLost()) throw new Error(`the graphics driver refuses a program: ${log}`);
    };
    this.scene = new THREE.Scene();
    this.scene.matrixWorldAutoUpdate = false;
    this.eye = new THREE.Camera(); // our programs have their own
    this.geometries = surfaces.map(geometryOf);
    this.unrolled = new Map(); // their geometries
    this.patterns = surfaces.map((s) => s.pattern);
    this.shared = this.uniforms({ clipFromWorld: new THREE.Matrix4(), eye: new THREE.Vector3(), lamp: new THREE.Vector3(), accent: new THREE.Vector3(), section: new THREE.Vector4() });
    this.drawn = new Map(); // what stands for a batch, by its kind and surface
    this.planes = [];
    this.solids = new Map();
    this.pick = this.material(SOLID_VERTEX, PICK_FRAGMENT, {}, { blending: THREE.NoBlending });
    this.target = new THREE.WebGLRenderTarget(PICK_SIZE, PICK_SIZE);
    this.makeTrace();
    this.square = new THREE.BufferGeometry();
    this.square.setAttribute("position", new THREE.BufferAttribute(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2));
    this.square.setIndex([0, 1, 2, 2, 1, 3]);
  }

  uniforms(values) {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  }

  material(vertexShader, fragmentShader, uniforms, options) {
    return new THREE.RawShaderMaterial({
      vertexShader, fragmentShader, glslVersion: THREE.GLSL3, side: THREE.DoubleSide,
      uniforms: { ...this.shared, ...this.uniforms(uniforms) }, ...options,
    });
  }

  /** Options of what is not opaque. */
  blended() {
    return {
      transparent: true, depthWrite: false, blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.OneMinusSrcAlphaFactor,
    };
  }

  /** The material of a kind of batch for a pattern. */
  solid(kind, pattern) {
    const key = `${kind} ${pattern}`;
    if (!this.solids.has(key)) {
      // Forces act at surfaces, so most arrows start inside a body: that part shows through it.
      const options = {
        opaque: {}, arrows: {}, ghosts: { ...this.blended(), depthFunc: THREE.GreaterDepth }, translucent: this.blended(),
      }[kind];
      const opacity = kind === "ghosts" ? 0.35 : 1;
      this.solids.set(key, this.material(SOLID_VERTEX, SOLID_FRAGMENT, { pattern, opacity }, options));
    }
    return this.solids.get(key);
  }

  add(object, order) {
    object.frustumCulled = false;
    object.geometry.boundingSphere = new THREE.Sphere(); // three.js would look for one to sort by; the order says it
    object.renderOrder = order;
    this.scene.add(object);
    return object;
  }

  makeTrace() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(4), 4));
    const material = this.material(LINE_VERTEX, LINE_FRAGMENT, { colour: new THREE.Vector3(), now: 0 }, this.blended());
    this.trace = this.add(new THREE.Line(geometry, material), TRACE);
  }

  /** Points of a line as position and time, four numbers each. */
  setTrace(numbers) {
    this.trace.geometry.dispose();
    this.trace.geometry = new THREE.BufferGeometry();
    this.trace.geometry.setAttribute("position", new THREE.BufferAttribute(numbers, 4));
    this.trace.geometry.boundingSphere = new THREE.Sphere();
    this.tracePoints = numbers.length / 4;
  }

  /** Fits the drawing buffer to the canvas. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = this.sharpness * Math.min(window.devicePixelRatio || 1, 2);
    if (this.width === width && this.height === height && this.ratio === ratio) return;
    Object.assign(this, { width, height, ratio });
    this.three.setPixelRatio(ratio);
    this.three.setSize(Math.max(1, width), Math.max(1, height), false);
  }

  /** Shows the instances of a batch in a material. */
  show(key, batch, material, order, picked) {
    let mesh = this.drawn.get(key);
    if (!mesh && batch.count === 0) return;
    if (!mesh) {
      const geometry = new THREE.InstancedBufferGeometry(), of = this.geometries[batch.surface];
      for (const name of ["position", "normal"]) geometry.setAttribute(name, of.attributes[name]);
      geometry.setIndex(of.index);
      mesh = this.add(new THREE.Mesh(geometry, material), order);
      if (picked) mesh.layers.enable(PICKED);
      this.drawn.set(key, mesh);
    }
    mesh.visible = batch.count > 0;
    if (!mesh.visible) return;
    if (mesh.numbers?.array !== batch.numbers) {
      // A larger one: three.js keeps the size of what it has on the graphics card.
      mesh.geometry.dispose();
      mesh.numbers = new THREE.InstancedInterleavedBuffer(batch.numbers, INSTANCE).setUsage(THREE.DynamicDrawUsage);
      for (const [name, size, at] of ATTRIBUTES) mesh.geometry.setAttribute(name, new THREE.InterleavedBufferAttribute(mesh.numbers, size, at));
    }
    mesh.numbers.clearUpdateRanges();
    mesh.numbers.addUpdateRange(0, INSTANCE * batch.count);
    mesh.numbers.needsUpdate = true;
    mesh.geometry.instanceCount = batch.count;
  }

  /** Shows what is unrolled in a material. */
  showUnrolled(key, unrolled, material, order, picked) {
    if (!this.drawn.has(key)) {
      if (unrolled.count === 0) return;
      const mesh = this.add(new THREE.Mesh(geometryOf(unrolled.geometry()), material), order);
      if (picked) mesh.layers.enable(PICKED);
      this.drawn.set(key, mesh);
    }
    const mesh = this.drawn.get(key);
    mesh.visible = unrolled.count > 0;
    if (mesh.visible) mesh.geometry = this.unrolledGeometry(unrolled);
  }

  /** The geometry of what is unrolled with its numbers, once for a picture. */
  unrolledGeometry(unrolled) {
    const known = this.unrolled.get(unrolled);
    if (known?.picture === this.picture) return known.geometry;
    const stale = unrolled.changed || unrolled.list.length !== unrolled.count || known?.numbers.array !== unrolled.numbers;
    if (known && stale) known.geometry.dispose();
    unrolled.list.length = unrolled.count;
    unrolled.changed = false;
    const geometry = stale ? geometryOf(unrolled.geometry()) : known.geometry;
    const numbers = stale ? new THREE.InterleavedBuffer(unrolled.numbers, INSTANCE).setUsage(THREE.DynamicDrawUsage) : known.numbers;
    if (stale) {
      geometry.boundingSphere = new THREE.Sphere();
      for (const [name, size, at] of ATTRIBUTES) geometry.setAttribute(name, new THREE.InterleavedBufferAttribute(numbers, size, at));
    }
    numbers.clearUpdateRanges();
    numbers.addUpdateRange(0, INSTANCE * unrolled.corners);
    numbers.needsUpdate = true;
    this.unrolled.set(unrolled, { geometry, numbers, picture: this.picture });
    return geometry;
  }

  /** Brings everything in the scene to a picture. */
  place(camera, content, colours) {
    const { clipFromWorld, eye, lamp, accent, section } = this.shared;
    this.picture = content;
    content.unrolled.forEach((u, pattern) => this.showUnrolled(`opaque unrolled ${pattern}`, u, this.solid("opaque", pattern), 0, true));
    section.value.fromArray(content.section);
    clipFromWorld.value.fromArray(camera.matrix(this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight)));
    eye.value.fromArray(camera.eye());
    const [right, up, backward] = camera.axes();
    lamp.value.fromArray(direction(add(add(scaled(right, -0.35), scaled(up, 0.55)), backward)));
    if (colours) accent.value.fromArray(colours.accent);
    // Surfaces that have changed their form keep their numbers where they are.
    for (const surface of content.moved) {
      for (const name of ["position", "normal"]) this.geometries[surface].attributes[name].needsUpdate = true;
    }
    for (const [kind, list, order, picked] of [
      ["opaque", content.opaque, 0, true], ["arrows", content.arrows, 0, false], ["ghosts", content.arrows, GHOSTS, false],
      ["translucent", content.translucent, TRANSLUCENT, true],
    ]) {
      for (const batch of list) this.show(`${kind} ${batch.surface}`, batch, this.solid(kind, this.patterns[batch.surface]), order, picked);
    }
  }

  /**
   * Draws a picture. `content` is what `Scene.at` returns, `colours` are those of the page.
   */
  draw(camera, content, colours) {
    this.resize();
    this.place(camera, content, colours);
    content.planes.forEach((plane, k) => this.placePlane(camera, plane, k, content, colours));
    for (let k = content.planes.length; k < this.planes.length; k++) this.hidePlane(k);
    this.trace.visible = content.trace && this.tracePoints > 1;
    this.trace.material.uniforms.colour.value.fromArray(colours.trace);
    this.trace.material.uniforms.now.value = content.now;
    const [r, g, b] = colours.sky.map((c) => Math.round(255 * c));
    this.three.setClearColor((r << 16) | (g << 8) | b, 1);
    this.three.render(this.scene, this.eye);
  }

  hidePlane(k) {
    this.planes[k].grid.visible = false;
    for (const [key, mesh] of this.drawn) if (key.startsWith(`shadow ${k} `)) mesh.visible = false;
  }

  /** A grid, and the shadows on it. */
  placePlane(camera, plane, k, content, colours) {
    this.planes[k] ??= this.makePlane(k);
    const { grid, shadow } = this.planes[k], { origin, right, up, normal } = plane, { uniforms } = grid.material;
    const offset = subtract(camera.target, origin), { step, fade } = gridStep(camera.distance);
    grid.visible = true;
    for (const [name, value] of Object.entries({ origin, right, up, centre: [dot(offset, right), dot(offset, up)], line: colours.grid, fill: plane.fill })) {
      uniforms[name].value.fromArray(value);
    }
    uniforms.reach.value = 6 * Math.max(camera.distance, 0.3 * camera.size);
    uniforms.stride.value = step;
    uniforms.fade.value = fade;
    const level = normal[2] >= 0.3; // walls get no shadows
    shadow.uniforms.plane.value.fromArray([...normal, -dot(normal, origin)]);
    const cast = level ? content.castingUnrolled : NOTHING;
    this.showUnrolled(`shadow ${k} unrolled`, cast, shadow, PLANES + 2 * k + 1, false);
    for (const batch of content.casting) this.show(`shadow ${k} ${batch.surface}`, level ? batch : { ...batch, count: 0 }, shadow, PLANES + 2 * k + 1, false);
  }

  makePlane(k) {
    const three = () => new THREE.Vector3();
    // Lines a little nearer to the eye than surfaces that lie in the plane.
    const near = (units) => ({ ...this.blended(), polygonOffset: true, polygonOffsetFactor: units, polygonOffsetUnits: units });
    const numbers = { origin: three(), right: three(), up: three(), centre: new THREE.Vector2(), reach: 1, stride: 1, fade: 1, line: three(), fill: new THREE.Vector4() };
    const grid = this.material(GRID_VERTEX, GRID_FRAGMENT, numbers, near(-1));
    // Each pixel is darkened once, however many bodies lie above each other.
    const once = { stencilWrite: true, stencilFunc: THREE.NotEqualStencilFunc, stencilRef: k + 1, stencilZPass: THREE.ReplaceStencilOp };
    const shadow = this.material(SHADOW_VERTEX, SHADOW_FRAGMENT, { plane: new THREE.Vector4(), colour: new THREE.Vector4(0, 0, 0, 0.16) }, { ...near(-2), ...once });
    return { grid: this.add(new THREE.Mesh(this.square, grid), PLANES + 2 * k), shadow };
  }

  /** Number of the body under a pixel (from the upper left corner of the canvas), −1 if there is none. */
  bodyAt(x, y, camera, content) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.place(camera, content);
    // The part of clip space around the pixel, stretched over the small target.
    const sx = width / PICK_SIZE, sy = height / PICK_SIZE;
    const cx = (2 * x) / width - 1, cy = 1 - (2 * y) / height;
    const stretch = new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 1, 0, -sx * cx, -sy * cy, 0, 1]);
    this.shared.clipFromWorld.value.fromArray(product(stretch, camera.matrix(width / height)));
    this.scene.overrideMaterial = this.pick;
    this.eye.layers.set(PICKED);
    this.three.setRenderTarget(this.target);
    this.three.setClearColor(0, 0);
    this.three.render(this.scene, this.eye);
    const pixels = new Uint8Array(4 * PICK_SIZE * PICK_SIZE);
    this.three.readRenderTargetPixels(this.target, 0, 0, PICK_SIZE, PICK_SIZE, pixels);
    this.three.setRenderTarget(null);
    this.scene.overrideMaterial = null;
    this.eye.layers.set(0);
    let best = -1, nearest = Infinity;
    const middle = (PICK_SIZE - 1) / 2;
    for (let i = 0; i < PICK_SIZE * PICK_SIZE; i++) {
      const body = pixels[4 * i] + 256 * pixels[4 * i + 1] + 65536 * pixels[4 * i + 2] - 1;
      const away = Math.hypot((i % PICK_SIZE) - middle, Math.floor(i / PICK_SIZE) - middle);
      if (body >= 0 && away < nearest) [best, nearest] = [body, away];
    }
    return best;
  }
}

/** WebGL 2 on a canvas, and whether it draws in software; edges are smooth where a graphics card does. */
function contextOf(canvas) {
  const probe = document.createElement("canvas").getContext("webgl2"), info = probe?.getExtension("WEBGL_debug_renderer_info");
  const name = probe ? String(probe.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : probe.RENDERER)) : "";
  probe?.getExtension("WEBGL_lose_context")?.loseContext();
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  return { context: canvas.getContext("webgl2", { alpha: true, stencil: true, antialias: !software }), software };
}

function geometryOf({ positions, normals, triangles }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
  return geometry;
}

/** Unrolled of no surfaces. */
const NOTHING = new Unrolled([]);

/** Pixels along each side of the square that is searched for bodies around a click. */
const PICK_SIZE = 9;

/** Spacing of grid lines for a distance of the eye, and how visible the finer lines still are. */
function gridStep(distance) {
  const level = Math.log10(0.15 * distance), whole = Math.floor(level);
  return { step: 10 ** whole, fade: 1 - 0.8 * (level - whole) };
}
