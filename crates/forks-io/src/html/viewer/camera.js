// A camera that turns about a point with z up, and the mouse and touch gestures that move it.

/** Vertical angle of view. */
const FIELD_OF_VIEW = 0.7;

class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.distance = 1;
    this.azimuth = -0.6; // of the direction from the target to the eye, about z from −y
    this.elevation = 0.35;
    this.size = 1; // of the scene; bounds the distance and the depth range
  }

  /** Axes of the camera in the world: right, up, backward (from the target to the eye). */
  axes() {
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth);
    const ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    const right = [ca, sa, 0], backward = [sa * ce, -ca * ce, se];
    return [right, cross(backward, right), backward];
  }

  eye() {
    return add(this.target, scaled(this.axes()[2], this.distance));
  }

  /** World to clip space. */
  matrix(aspect) {
    const [right, up, backward] = this.axes();
    const far = this.distance + 30 * this.size;
    const near = Math.max(0.02 * this.distance, far * 1e-4);
    return product(perspective(FIELD_OF_VIEW, aspect, near, far), viewMatrix(right, up, backward, this.eye()));
  }

  /** Length in the world of one pixel at the target. */
  pixel(height) {
    return (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
  }

  /**
   * What of the world is in the picture: `sees(point, radius)` says whether a ball may be, `pixels(point, nearer)` how
   * many pixels a metre is long at a point that is by so much nearer to the eye.
   */
  lens(width, height) {
    const [right, up, backward] = this.axes(), eye = this.eye(), slope = Math.tan(FIELD_OF_VIEW / 2);
    const depth = (p) => dot(subtract(eye, p), backward), sides = [[right, (slope * width) / Math.max(1, height)], [up, slope]];
    return {
      sees: (p, radius) => sides.every(([axis, s]) => Math.abs(dot(subtract(p, eye), axis)) - s * depth(p) <= radius * Math.hypot(1, s)),
      pixels: (p, nearer) => height / (2 * slope * Math.max(depth(p) - nearer, 0.02 * this.distance)),
    };
  }

  /** The ray through a pixel: [eye, direction]. */
  ray(x, y, width, height) {
    const [right, up, backward] = this.axes(), s = (2 * Math.tan(FIELD_OF_VIEW / 2)) / height;
    const across = add(scaled(right, (x - width / 2) * s), scaled(up, (height / 2 - y) * s));
    return [this.eye(), direction(subtract(across, backward))];
  }

  turn(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = clamp(this.elevation + 0.008 * dy, -Math.PI / 2, Math.PI / 2);
  }

  /** Moves the scene with the pointer. */
  move(dx, dy, height) {
    const [right, up] = this.axes(), s = this.pixel(height);
    this.target = add(this.target, add(scaled(right, -dx * s), scaled(up, dy * s)));
  }

  /** Zooms by a factor; what is under the pixel (dx, dy) away from the middle stays there. */
  zoom(factor, dx, dy, height) {
    const distance = clamp(this.distance * factor, 1e-3 * this.size, 20 * this.size);
    const f = distance / this.distance;
    this.move(-(1 - f) * dx, -(1 - f) * dy, height);
    this.distance = distance;
  }

  /** Shows a box of the world, given by its lowest and highest corner, from where the eye is. */
  fit([low, high], aspect) {
    this.target = scaled(add(low, high), 0.5);
    this.size = norm(subtract(high, low)) / 2;
    const axes = this.axes(), slope = 0.9 * Math.tan(FIELD_OF_VIEW / 2);
    this.distance = 0.1 * this.size;
    for (let corner = 0; corner < 8; corner++) {
      const p = subtract([0, 1, 2].map((n) => (corner & (1 << n) ? high : low)[n]), this.target);
      const [right, up, backward] = axes.map((a) => dot(a, p));
      const needed = Math.max(Math.abs(right) / aspect, Math.abs(up)) / slope;
      this.distance = Math.max(this.distance, needed + backward);
    }
  }

  /** One of the named directions; false for other names. */
  look(name) {
    const views = { front: [0, 0], side: [Math.PI / 2, 0], top: [0, Math.PI / 2] };
    if (!(name in views)) return false;
    [this.azimuth, this.elevation] = views[name];
    return true;
  }
}

/**
 * Lets pointers on a canvas move the camera. `changed()` is called after each move, `clicked(x, y)` with
 * pixels from the upper left corner when a pointer went down and up in the same place. Where `grab(x, y)`
 * gives something, the pointer moves that.
 */
function attachGestures(canvas, camera, { changed, clicked, grab }) {
  const pointers = new Map(); // id → last position
  let travelled = 0, held = null;
  const place = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (e) => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(e.pointerId);
    canvas.classList.add("turning");
    if (pointers.size === 0) {
      travelled = 0;
      const plain = e.button === 0 && !e.shiftKey && !e.ctrlKey;
      held = plain ? grab(...place(e)) : null;
    }
    pointers.set(e.pointerId, [e.clientX, e.clientY]);
    e.preventDefault();
  });

  // What is held follows at once; the camera with the next picture.
  const raw = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
  canvas.addEventListener(raw, (e) => { if (held && pointers.has(e.pointerId)) held.move(...place(e)); });

  canvas.addEventListener("pointermove", (e) => {
    const last = pointers.get(e.pointerId);
    if (!last) return;
    const now = [e.clientX, e.clientY], dx = now[0] - last[0], dy = now[1] - last[1];
    travelled += Math.hypot(dx, dy);
    if (!held && pointers.size === 1) {
      const panning = (e.buttons & 6) !== 0 || e.shiftKey || e.ctrlKey;
      if (panning) camera.move(dx, dy, canvas.clientHeight); else camera.turn(dx, dy);
    } else if (!held) {
      // Two fingers: each moves the picture by half, and their distance is the zoom.
      const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
      const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
      const after = Math.hypot(now[0] - other[0], now[1] - other[1]);
      camera.move(dx / 2, dy / 2, canvas.clientHeight);
      if (before > 0 && after > 0) camera.zoom(before / after, 0, 0, canvas.clientHeight);
    }
    pointers.set(e.pointerId, now);
    changed();
  });

  const up = (e) => {
    if (!pointers.delete(e.pointerId) || pointers.size > 0) return;
    canvas.classList.remove("turning");
    if (held) held.end();
    held = null;
    if (e.type === "pointerup" && e.button === 0 && travelled < 4) clicked(...place(e));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());

  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    const lines = e.deltaMode === 1 ? 30 : e.deltaMode === 2 ? 300 : 1;
    const factor = Math.exp(clamp(e.deltaY * lines, -240, 240) * 0.0015);
    camera.zoom(factor, e.clientX - box.left - box.width / 2, e.clientY - box.top - box.height / 2, canvas.clientHeight);
    changed();
  }, { passive: false });
}
