// Brings everything together: playback, keys, colours of the page, and when to draw.

class Viewer {
  constructor(recording) {
    this.recording = recording;
    this.scene = new Scene(this.recording);
    this.camera = new Camera();
    this.canvas = document.getElementById("scene");
    this.scene.watch = () => this.camera.lens(this.canvas.clientWidth, this.canvas.clientHeight);
    this.plot = new Plot(document.getElementById("plot"), this.recording);
    this.panel = new Panel(this.scene, {
      select: (b) => this.select(b),
      hide: (bodies, hidden) => this.hide(bodies, hidden),
      follow: () => this.follow(),
    });
    this.time = this.recording.start;
    this.speed = 1;
    this.followed = -1;
    this.playing = false;
    this.pace = new Sharpness();
    this.startRenderer();
    this.attach();
    this.plot.layOut();
    this.fit();
    this.readColours();
    this.readAddress();
    requestAnimationFrame((now) => this.tick(now));
  }

  startRenderer() {
    try {
      this.renderer = new Renderer(this.canvas, this.scene.surfaces);
      this.scene.unrolls = this.renderer.software;
    } catch (error) {
      this.fail(`The 3D view cannot be shown: ${error.message}. The plots and numbers still work.`);
    }
  }

  fail(message) {
    this.renderer = null;
    const box = document.getElementById("failure");
    box.textContent = message;
    box.hidden = false;
  }

  attach() {
    const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
    attachGestures(this.canvas, this.camera, {
      changed: () => this.changed(), clicked: (x, y) => this.click(x, y), grab: (x, y) => this.grab(x, y),
    });
    // three.js puts everything back onto the graphics card itself.
    this.canvas.addEventListener("webglcontextrestored", () => this.changed());
    for (const name of ["ground", "axes", "trace", "contacts", "labels", "joints", "gaps"]) {
      on(`show-${name}`, "change", (e) => { this.scene.show[name] = e.target.checked; this.changed(); });
    }
    on("arrow-scale", "input", (e) => { this.scene.arrowScale = 10 ** Number(e.target.value); this.changed(); });
    on("section-axis", "change", (e) => {
      this.scene.section.axis = Number(e.target.value);
      document.getElementById("section-place").hidden = this.scene.section.axis < 0;
      this.changed();
    });
    on("section-place", "input", (e) => { this.scene.section.part = Number(e.target.value); this.changed(); });
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.look(button.dataset.view));
    }
    on("play", "click", () => this.play(!this.playing));
    on("back", "click", () => this.stepFrames(-1));
    on("forward", "click", () => this.stepFrames(1));
    const slider = document.getElementById("time");
    slider.min = this.recording.start;
    slider.max = this.recording.end;
    on("time", "input", () => this.goTo(Number(slider.value)));
    const speeds = document.getElementById("speed");
    for (const s of SPEEDS) speeds.append(new Option(`${s}×`, String(s), s === 1, s === 1));
    on("speed", "change", () => { this.speed = Number(speeds.value); });
    on("help-button", "click", () => this.toggle("help-button", "help"));
    on("panel-button", "click", () => this.toggle("panel-button", "panel"));
    if (window.matchMedia("(max-width: 720px)").matches) this.toggle("panel-button", "panel");
    this.attachPlot();
    window.addEventListener("keydown", (e) => this.key(e));
    window.addEventListener("hashchange", () => this.readAddress());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColours());
    new ResizeObserver(() => this.resized()).observe(document.getElementById("view"));
    new ResizeObserver(() => this.resized()).observe(document.getElementById("plots"));
  }

  attachPlot() {
    const canvas = document.getElementById("plot");
    document.getElementById("plots").hidden = this.plot.empty;
    let dragging = false;
    canvas.addEventListener("pointerdown", (e) => {
      const series = this.plot.seriesAt(e.offsetX, e.offsetY);
      if (series >= 0) {
        if (!this.plot.off.delete(series)) this.plot.off.add(series);
        this.resized();
        return;
      }
      dragging = true;
      canvas.setPointerCapture(e.pointerId);
      this.goTo(this.plot.timeAt(e.offsetX));
    });
    canvas.addEventListener("pointermove", (e) => { if (dragging) this.goTo(this.plot.timeAt(e.offsetX)); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { dragging = false; });
  }

  toggle(button, element) {
    const box = document.getElementById(element);
    box.hidden = !box.hidden;
    document.getElementById(button).setAttribute("aria-expanded", String(!box.hidden));
  }

  /** Colours of the page as numbers for the graphics card and as text for the plots. */
  readColours() {
    const style = getComputedStyle(document.documentElement), text = (name) => style.getPropertyValue(`--${name}`).trim();
    const numbers = (name) => [1, 3, 5].map((i) => parseInt(text(name).slice(i, i + 2), 16) / 255);
    this.colours = {
      sky: numbers("sky"), grid: numbers("grid"), accent: numbers("accent"), trace: numbers("trace"),
      text: text("text"), faint: text("faint"), line: text("line"),
    };
    this.scene.forceColour = [...numbers("force").map((c) => 255 * c), 255];
    this.dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    this.resized();
  }

  /** What stands behind `#` in the address, see the documentation of the writer. */
  readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.play(!wanted.has("t") && wanted.get("play") !== "0" && !calm);
    if (Number.isFinite(parseFloat(wanted.get("t")))) this.goTo(parseFloat(wanted.get("t")));
    if (wanted.has("view")) this.look(wanted.get("view"));
    const body = parseInt(wanted.get("select"), 10);
    if (body >= 0 && body < this.scene.bodies.length) this.select(body);
  }

  changed() {
    this.dirty = true;
  }

  /** The plots are drawn with the next picture: here the browser is about to paint and would show them empty. */
  resized() {
    this.plotStale = true;
    this.changed();
  }

  play(on) {
    this.playing = on && this.recording.end > this.recording.start;
    if (this.playing && this.time >= this.recording.end) this.time = this.recording.start;
    const button = document.getElementById("play");
    button.textContent = this.playing ? "❚❚" : "▶";
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.changed();
  }

  goTo(time) {
    this.time = clamp(time, this.recording.start, this.recording.end);
    this.changed();
  }

  stepFrames(n) {
    this.play(false);
    const { recording } = this, at = recording.frameAt(this.time);
    // From between two frames one step back is the frame before.
    const from = n < 0 && recording.times[at] < this.time ? at + 1 : at;
    this.goTo(recording.times[clamp(from + n, 0, recording.frames - 1)]);
  }

  changeSpeed(n) {
    const i = clamp(SPEEDS.indexOf(this.speed) + n, 0, SPEEDS.length - 1);
    this.speed = SPEEDS[i];
    document.getElementById("speed").value = String(this.speed);
  }

  fit() {
    const view = document.getElementById("view");
    this.camera.fit(this.scene.box, view.clientWidth / Math.max(1, view.clientHeight));
    this.changed();
  }

  /** Shows everything, from a named direction or from where the eye is. */
  look(name) {
    if (name !== "fit" && !this.camera.look(name)) return;
    this.unfollow();
    this.fit();
  }

  select(b) {
    this.scene.selected = b;
    if (this.followed >= 0) this.followed = b;
    this.keepInPlace();
    if (this.renderer) this.renderer.setTrace(b >= 0 ? this.scene.path(b) : new Float32Array(0));
    this.panel.update(this.followed);
    this.changed();
  }

  hide(bodies, hidden) {
    for (const b of bodies) if (hidden) this.scene.hidden.add(b); else this.scene.hidden.delete(b);
    this.panel.update(this.followed);
    this.changed();
  }

  follow() {
    this.followed = this.followed >= 0 ? -1 : this.scene.selected;
    this.keepInPlace();
    this.panel.update(this.followed);
    this.changed();
  }

  unfollow() {
    this.followed = -1;
    this.panel.update(-1);
  }

  /** Remembers where the followed body is now, so that the camera moves by what it moves from here on. */
  keepInPlace() {
    this.followedAt = this.followed >= 0 ? [...this.scene.poses.slice(POSE * this.followed, POSE * this.followed + 3)] : null;
  }

  /** What a pointer that goes down takes hold of, with `move(x, y)` and `end()`; null for the camera. */
  grab() {
    return null;
  }

  click(x, y) {
    if (this.renderer) this.select(this.renderer.bodyAt(x, y, this.camera, this.scene.at(this.time)));
  }

  key(e) {
    const typing = e.target.matches("input[type=search], select");
    const handles = e.target.matches("button, input") && (e.key === " " || e.key.startsWith("Arrow"));
    if (typing || handles || e.ctrlKey || e.metaKey || e.altKey) return;
    const check = (id) => () => document.getElementById(id).click();
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => this.stepFrames(e.shiftKey ? -10 : -1),
      ArrowRight: () => this.stepFrames(e.shiftKey ? 10 : 1),
      ArrowUp: () => this.changeSpeed(1),
      ArrowDown: () => this.changeSpeed(-1),
      Home: () => this.goTo(this.recording.start),
      End: () => this.goTo(this.recording.end),
      Escape: () => { this.unfollow(); this.select(-1); },
      f: () => { if (this.scene.selected >= 0) this.follow(); },
      h: () => { const b = this.scene.selected; if (b >= 0) this.hide([b], !this.scene.hidden.has(b)); },
      g: check("show-ground"), a: check("show-axes"), t: check("show-trace"), c: check("show-contacts"), n: check("show-labels"),
      j: check("show-joints"), l: check("show-gaps"),
      0: () => this.look("fit"), 1: () => this.look("front"), 3: () => this.look("side"), 7: () => this.look("top"),
      "?": () => this.toggle("help-button", "help"),
    };
    if (!(e.key in actions)) return;
    actions[e.key]();
    e.preventDefault();
  }

  tick(now) {
    // A tab in the background wakes up late; do not jump by the time it slept.
    const passed = Math.min((now - (this.last ?? now)) / 1000, 0.1);
    this.last = now;
    this.pace.turn(now);
    if (this.playing) this.advance(passed * this.speed);
    if (this.dirty) {
      this.dirty = false;
      if (this.renderer) this.renderer.sharpness = this.pace.drawn(now);
      this.draw();
    } else if (this.renderer?.sharpness < 1 && this.pace.still(now)) {
      this.renderer.sharpness = 1;
      this.draw();
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  advance(seconds) {
    const { start, end } = this.recording;
    this.time += seconds;
    if (this.time > end) {
      if (document.getElementById("loop").checked) this.time = start + ((this.time - start) % (end - start));
      else { this.time = end; this.play(false); }
    }
    this.changed();
  }

  draw() {
    const content = this.scene.at(this.time);
    if (this.followed >= 0) {
      const before = this.followedAt;
      this.keepInPlace();
      if (before) this.camera.target = add(this.camera.target, subtract(this.followedAt, before));
    }
    if (this.renderer) {
      this.renderer.draw(this.camera, content, this.colours);
      this.drawTriad();
      this.drawTag();
      this.drawLabels();
    }
    document.getElementById("joint-note").textContent = this.scene.joints.note(this.scene.show);
    if (this.plotStale) this.plot.render(this.colours, this.dark);
    this.plotStale = false;
    this.plot.cursor(this.time);
    this.panel.details();
    this.showTime();
    document.documentElement.dataset.drawn = this.renderer ? "scene" : "numbers"; // for tests
  }

  showTime() {
    const { recording } = this, frame = recording.nearestFrame(this.time);
    const digits = clamp(3 - Math.floor(Math.log10(recording.end - recording.start || 1)), 0, 9);
    document.getElementById("time").value = this.time;
    document.getElementById("clock").textContent = `${this.time.toFixed(digits)} / ${recording.end.toFixed(digits)} s`;
    document.getElementById("frame").textContent = `${frame + 1} of ${recording.frames}`;
    const { step } = gridStep(this.camera.distance);
    document.getElementById("scale-note").textContent =
      this.scene.show.ground ? `grid ${shortNumber(step)} m, bold ${shortNumber(10 * step)} m` : "";
  }

  /** The axes of the world in the corner, the ones that point away first. */
  drawTriad() {
    const canvas = document.getElementById("triad"), ratio = window.devicePixelRatio || 1, size = 76;
    canvas.width = canvas.height = size * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "bold 12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 2;
    const [right, up, backward] = this.camera.axes();
    const axes = [["x", "#d63a3a"], ["y", "#2f9e44"], ["z", "#3b7ddd"]].map(([name, colour], n) => ({ name, colour, n }));
    axes.sort((a, b) => backward[a.n] - backward[b.n]);
    for (const { name, colour, n } of axes) {
      const x = size / 2 + 24 * right[n], y = size / 2 - 24 * up[n];
      pen.strokeStyle = pen.fillStyle = colour;
      pen.beginPath();
      pen.moveTo(size / 2, size / 2);
      pen.lineTo(x, y);
      pen.stroke();
      pen.fillText(name, x + 8 * right[n], y - 8 * up[n]);
    }
  }

  /** Where the origin of a body is on the canvas; null behind the eye. */
  pixelOf(b, m) {
    return this.pixelAt(this.scene.poses.slice(POSE * b, POSE * b + 3), m);
  }

  /** Where a point of the world is on the canvas; null behind the eye. */
  pixelAt([x, y, z], m = this.camera.matrix(this.canvas.clientWidth / this.canvas.clientHeight)) {
    const [cx, cy, cw] = [0, 1, 3].map((r) => m[r] * x + m[4 + r] * y + m[8 + r] * z + m[12 + r]);
    return cw <= 0 ? null : [(0.5 + (0.5 * cx) / cw) * this.canvas.clientWidth, (0.5 - (0.5 * cy) / cw) * this.canvas.clientHeight];
  }

  /** The name of the selected body beside it. */
  drawTag() {
    const tag = document.getElementById("tag"), b = this.scene.selected;
    const at = b < 0 || this.scene.hidden.has(b) ? null : this.pixelOf(b);
    tag.hidden = at === null;
    if (tag.hidden) return;
    tag.textContent = this.scene.bodies[b].name || `#${b}`;
    tag.style.transform = `translate(${Math.round(at[0] + 10)}px, ${Math.round(at[1] - 26)}px)`;
  }

  /** The names of all bodies and the gaps of loops, at most as many as can be read. */
  drawLabels() {
    const box = document.getElementById("labels"), { show, hidden, poses, joints } = this.scene, all = [];
    if (show.labels) {
      this.scene.bodies.forEach((body, b) => {
        if (!hidden.has(b)) all.push([body.name || `#${b}`, poses.subarray(POSE * b, POSE * b + 3)]);
      });
    }
    if (show.gaps) {
      for (const { name, gap, floor, closes, sides: [{ world: p }] } of joints.all) {
        if (closes) all.push([`${name}: ${gapSize(gap, floor)}`, [p[3], p[7], p[11]]]);
      }
    }
    all.length = Math.min(all.length, MOST_LABELS);
    while (box.childElementCount < all.length) box.append(document.createElement("span"));
    while (box.childElementCount > all.length) box.lastChild.remove();
    const m = this.camera.matrix(this.canvas.clientWidth / this.canvas.clientHeight);
    all.forEach(([name, place], k) => {
      const at = this.pixelAt(place, m), label = box.children[k];
      label.hidden = at === null;
      label.textContent = name;
      if (at) label.style.transform = `translate(${Math.round(at[0] + 4)}px, ${Math.round(at[1] - 7)}px)`;
    });
  }
}

/** Names that are shown at once. */
const MOST_LABELS = 120;

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** What stands in the page. */
const readAnimation = () => JSON.parse(document.getElementById("animation").textContent);
