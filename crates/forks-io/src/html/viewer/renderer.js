// Draws batches of equal surfaces, ground grids and lines with WebGL 2, and finds what is under a pixel.

/** Numbers per instance: three rows of an affine map (12), colour with opacity (4), number of the body + 1, glow. */
const INSTANCE = 18;

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

  /** Colour (0…255 each), number of the body (−1 for none) and glow of the instance at an offset. */
  mark(at, colour, body, glow) {
    const n = this.numbers;
    for (let i = 0; i < 4; i++) n[at + 12 + i] = colour[i] / 255;
    n[at + 16] = body + 1;
    n[at + 17] = glow;
  }
}

class Renderer {
  /** Throws if the browser has no WebGL 2. `surfaces` is a list of {positions, normals, triangles, pattern}. */
  constructor(canvas, surfaces) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, stencil: true });
    if (!gl) throw new Error("this browser offers no WebGL 2");
    this.gl = gl;
    this.canvas = canvas;
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.pick = this.program(SOLID_VERTEX, PICK_FRAGMENT);
    this.shadow = this.program(SHADOW_VERTEX, SHADOW_FRAGMENT);
    this.grid = this.program(GRID_VERTEX, GRID_FRAGMENT);
    this.line = this.program(LINE_VERTEX, LINE_FRAGMENT);
    this.instances = gl.createBuffer();
    this.surfaces = surfaces.map((s) => this.upload(s));
    this.square = this.vertices(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2);
    this.trace = { count: 0, ...this.vertices(new Float32Array(0), 4) };
    this.pickTarget = this.smallTarget();
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // colours are multiplied by their opacity beforehand
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`the graphics driver refuses a shader: ${gl.getShaderInfoLog(shader)}`);
      }
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`the graphics driver refuses a program: ${gl.getProgramInfoLog(program)}`);
    }
    const places = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
    for (let i = 0; i < count; i++) {
      const { name } = gl.getActiveUniform(program, i);
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  /** A vertex array with one attribute of `size` numbers. */
  vertices(numbers, size) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, size, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    return { array, buffer };
  }

  upload(surface) {
    const gl = this.gl, { array } = this.vertices(surface.positions, 3);
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, surface.normals, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, surface.triangles, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    for (const [place, size, offset] of [[2, 4, 0], [3, 4, 4], [4, 4, 8], [5, 4, 12], [6, 2, 16]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 4 * INSTANCE, 4 * offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindVertexArray(null);
    return { array, indices: surface.triangles.length, pattern: surface.pattern };
  }

  /** The square of pixels around the pointer that is drawn to find what is there. */
  smallTarget() {
    const gl = this.gl, target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    for (const [format, place] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]]) {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, PICK_SIZE, PICK_SIZE);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return target;
  }

  /** Fits the drawing buffer to the canvas. */
  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
  }

  use({ program, places }, values) {
    const gl = this.gl;
    gl.useProgram(program);
    for (const [name, value] of Object.entries(values)) {
      const place = places[name];
      if (place === undefined) continue; // the compiler may drop what has no effect
      if (typeof value === "number") gl.uniform1f(place, value);
      else if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
      else gl[`uniform${value.length}fv`](place, value);
    }
  }

  drawBatches(batches, places) {
    const gl = this.gl;
    for (const batch of batches) {
      if (batch.count === 0) continue;
      const surface = this.surfaces[batch.surface];
      gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
      gl.bufferData(gl.ARRAY_BUFFER, batch.numbers.subarray(0, INSTANCE * batch.count), gl.STREAM_DRAW);
      if (places.pattern) gl.uniform1i(places.pattern, surface.pattern);
      gl.bindVertexArray(surface.array);
      gl.drawElementsInstanced(gl.TRIANGLES, surface.indices, gl.UNSIGNED_INT, 0, batch.count);
    }
  }

  /** Points of a line as position and time, four numbers each. */
  setTrace(numbers) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.trace.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
    this.trace.count = numbers.length / 4;
  }

  /**
   * Draws a picture. `content` is what `Scene.at` returns, `colours` are those of the page.
   */
  draw(camera, content, colours) {
    const gl = this.gl;
    this.resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...colours.sky, 1);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    const clipFromWorld = camera.matrix(this.canvas.width / this.canvas.height), eye = camera.eye();
    const [right, up, backward] = camera.axes();
    const lamp = direction(add(add(scaled(right, -0.35), scaled(up, 0.55)), backward));
    const solid = { clipFromWorld, eye, lamp, accent: colours.accent, opacity: 1 };

    gl.disable(gl.BLEND);
    this.use(this.solid, solid);
    this.drawBatches(content.opaque, this.solid.places);
    this.drawBatches(content.arrows, this.solid.places);

    gl.enable(gl.BLEND);
    gl.depthMask(false);
    // Forces act at surfaces, so most arrows start inside a body: that part shows through it.
    gl.depthFunc(gl.GREATER);
    this.use(this.solid, { opacity: 0.35 });
    this.drawBatches(content.arrows, this.solid.places);
    gl.depthFunc(gl.LEQUAL);
    for (const plane of content.planes) this.drawPlane(camera, clipFromWorld, plane, content, colours);
    if (content.trace && this.trace.count > 1) {
      this.use(this.line, { clipFromWorld, colour: colours.trace, now: content.now });
      gl.bindVertexArray(this.trace.array);
      gl.drawArrays(gl.LINE_STRIP, 0, this.trace.count);
    }
    this.use(this.solid, solid);
    this.drawBatches(content.translucent, this.solid.places);
    gl.depthMask(true);
    gl.bindVertexArray(null);
  }

  drawPlane(camera, clipFromWorld, plane, content, colours) {
    const gl = this.gl, { origin, right, up, normal } = plane;
    const offset = subtract(camera.target, origin), centre = [dot(offset, right), dot(offset, up)];
    const reach = 6 * Math.max(camera.distance, 0.3 * camera.size);
    const { step, fade } = gridStep(camera.distance);
    // Lines a little nearer to the eye than surfaces that lie in the plane.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-1, -1);
    this.use(this.grid, {
      clipFromWorld, origin, right, up, centre, reach, stride: step, fade, line: colours.grid, fill: plane.fill,
    });
    gl.bindVertexArray(this.square.array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    if (normal[2] < 0.3) { // walls get no shadows
      gl.disable(gl.POLYGON_OFFSET_FILL);
      return;
    }
    // Shadows: each pixel is darkened once, however many bodies lie above each other.
    gl.clear(gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.polygonOffset(-2, -2);
    const level = [...normal, -dot(normal, origin)];
    this.use(this.shadow, { clipFromWorld, plane: level, colour: [0, 0, 0, 0.16] });
    this.drawBatches(content.casting, this.shadow.places);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /** Number of the body under a pixel (from the upper left corner of the canvas), −1 if there is none. */
  bodyAt(x, y, camera, content) {
    const gl = this.gl, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    // The part of clip space around the pixel, stretched over the small target.
    const sx = width / PICK_SIZE, sy = height / PICK_SIZE;
    const cx = (2 * x) / width - 1, cy = 1 - (2 * y) / height;
    const stretch = new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 1, 0, -sx * cx, -sy * cy, 0, 1]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickTarget);
    gl.viewport(0, 0, PICK_SIZE, PICK_SIZE);
    gl.clearColor(0, 0, 0, 0);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND);
    this.use(this.pick, { clipFromWorld: product(stretch, camera.matrix(width / height)) });
    this.drawBatches(content.opaque, this.pick.places);
    this.drawBatches(content.translucent, this.pick.places);
    const pixels = new Uint8Array(4 * PICK_SIZE * PICK_SIZE);
    gl.readPixels(0, 0, PICK_SIZE, PICK_SIZE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindVertexArray(null);
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

/** Pixels along each side of the square that is searched for bodies around a click. */
const PICK_SIZE = 9;

/** Spacing of grid lines for a distance of the eye, and how visible the finer lines still are. */
function gridStep(distance) {
  const level = Math.log10(0.15 * distance), whole = Math.floor(level);
  return { step: 10 ** whole, fade: 1 - 0.8 * (level - whole) };
}
