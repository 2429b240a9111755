
// The viewer with hands: it plays what comes, sends what is asked for, and lets bodies be pulled.

/** Pictures of plots per second while frames come. */
const PLOTS_PER_SECOND = 5;

/** What survives when the page loads anew because other things are drawn. */
const KEPT = "forks-view";

class LiveViewer extends Viewer {
  constructor(recording) {
    super(recording);
    this.following = true; // the present is shown
    this.chosen = new Set(); // bodies that shall be effectors
    this.status = { moving: false, servos: [], pinned: [], feels: [], speed: 1, stiffness: 1 };
    this.plotted = 0;
    this.pictures = {}; // of keyframes, by their numbers
    this.taken = null; // the picture of a moment that is about to be kept
    document.getElementById("loop-label").hidden = true;
    this.attachHands();
    this.recall();
    this.connect();
    window.forks = this; // for tests
  }

  attachHands() {
    const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
    on("reset", "click", () => this.send({ type: "reset" }));
    on("resume", "click", () => this.resume());
    on("pin", "click", () => this.pin());
    on("keep", "click", () => this.keepMoment());
    on("effector", "click", () => this.choose());
    const number = (id) => Number(document.getElementById(id).value);
    on("reduce", "click", () => this.send({ type: "reduce", bodies: [...this.chosen], modes: number("modes") }));
    on("place", "click", () => this.send({ type: "place", bodies: [...this.chosen], range: number("range"), samples: number("samples") }));
    on("extend", "click", () => this.send({ type: "extend", bodies: [...this.chosen] }));
    on("cancel", "click", () => this.send({ type: "cancel" }));
    on("unreduce", "click", () => this.send({ type: "unreduce" }));
    // Keys act on the picture again.
    on("by", "change", () => this.canvas.focus());
    on("stiffness", "input", (e) => this.send({ type: "stiffness", value: 10 ** Number(e.target.value) }));
    on("speed", "change", (e) => this.send({ type: "speed", factor: Number(e.target.value) }));
    window.addEventListener("pagehide", () => this.keep());
  }

  // The socket.

  connect() {
    const address = new URL(location.href);
    const socket = new WebSocket(`ws://${address.host}/socket${address.search}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.linked("connected", true));
    socket.addEventListener("message", (e) => {
      if (typeof e.data === "string") this.hear(JSON.parse(e.data)); else this.see(e.data);
    });
    socket.addEventListener("close", () => {
      this.linked("the program has gone, or does not answer", false);
      setTimeout(() => this.connect(), 1000);
    });
    this.socket = socket;
  }

  linked(text, fine) {
    const box = document.getElementById("link");
    box.textContent = text;
    box.classList.toggle("lost", !fine);
  }

  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  hear(message) {
    if (message.type === "problem") {
      const box = document.getElementById("problem");
      box.textContent = message.text;
      box.hidden = false;
      clearTimeout(this.forgetting);
      this.forgetting = setTimeout(() => { box.hidden = true; }, 12000);
    }
    if (message.type !== "status") return;
    if (this.status.picture !== undefined && this.status.picture !== message.picture) {
      this.keep();
      location.reload();
      return;
    }
    this.status = message;
    this.playing = message.moving;
    this.speed = message.speed;
    document.getElementById("speed").value = String(message.speed);
    this.showPlaying();
    this.showHands();
  }

  see(buffer) {
    const frame = readFrame(buffer, this.recording);
    if (!frame) return; // of the picture before, while this page loads anew
    const back = frame.time < this.recording.end;
    this.recording.append(frame);
    if (back) this.following = true;
    const slider = document.getElementById("time");
    slider.min = this.recording.start;
    slider.max = this.recording.end;
    if (this.following) this.time = this.recording.end;
    const strong = frame.contacts.map(([, f]) => norm(f)).filter((f) => f > 0).sort((x, y) => x - y);
    const middle = strong[strong.length >> 1] ?? 0, typical = this.scene.typicalForce;
    // Arrows keep their scale unless forces outgrow it.
    if (middle > 0 && (typical === 0 || middle > 3 * typical)) this.scene.typicalForce = middle;
    document.getElementById("step-time").textContent = frame.step > 0 ? `${shortNumber(Number(frame.step.toPrecision(3)))} µs` : "–";
    document.getElementById("pace-factor").textContent = frame.moving ? `${frame.pace.toFixed(2)}×` : "–";
    const now = performance.now();
    if (now - this.plotted > 1000 / PLOTS_PER_SECOND || !frame.moving) {
      this.plotted = now;
      this.showModelNumbers();
      this.plotStale = true;
    }
    this.received = (this.received ?? 0) + 1;
    this.changed();
  }

  // What is shown.

  showPlaying() {
    const button = document.getElementById("play");
    button.textContent = this.status.moving ? "❚❚" : "▶";
    button.setAttribute("aria-label", this.status.moving ? "Pause" : "Play");
  }

  showHands() {
    const { status } = this, get = (id) => document.getElementById(id), b = this.scene.selected;
    const stiffness = get("stiffness");
    if (document.activeElement !== stiffness) stiffness.value = Math.log10(status.stiffness);
    get("stiffness-note").textContent = `${shortNumber(Number(status.stiffness.toPrecision(3)))} N/m`;
    get("by-label").hidden = !status.commanded;
    get("method").hidden = !status.can_reduce;
    const busy = status.working != null, models = status.models ?? [];
    get("reduce").disabled = this.chosen.size === 0;
    get("place").disabled = this.chosen.size === 0 || busy;
    get("extend").disabled = this.chosen.size === 0 && models.length === 0 || busy;
    get("unreduce").hidden = models.length === 0;
    get("cancel").hidden = !busy;
    get("working").textContent = status.working ?? "";
    this.showModels(models);
    this.showKeys(status.keys ?? []);
    const feels = b >= 0 && status.feels.includes(b);
    get("pin").disabled = !feels;
    get("pin").setAttribute("aria-pressed", String(status.pinned.includes(b)));
    get("effector").disabled = !feels;
    get("effector").setAttribute("aria-pressed", String(this.chosen.has(b)));
    this.showMarks();
    this.showServos();
  }

  /** The mechanism and its models: time of a step, how far off, where to save. */
  showModels(models) {
    const table = document.getElementById("models"), key = JSON.stringify(models);
    if (table.dataset.of === key) return;
    table.dataset.of = key;
    const cell = (text, title = "") => Object.assign(document.createElement("td"), { textContent: text, title });
    const row = (...cells) => { const r = document.createElement("tr"); r.append(...cells); return r; };
    table.replaceChildren(...(models.length === 0 ? [] : [row(cell(""), cell("µs/step"), cell("off by"), cell(""))]), ...["full", ...models.map(([name]) => name)]
      .filter(() => models.length > 0).flatMap((name) => {
        const said = models.find(([n]) => n === name)?.[1], link = document.createElement("td");
        if (said) {
          const save = Object.assign(document.createElement("a"), { href: `/model/${name}${location.search}`, textContent: "save", title: "Save the model as a file" });
          save.download = `${name}.forks`;
          link.append(save);
        }
        const first = row(cell(name), cell("–"), cell(said ? "–" : ""), link), note = cell(said ?? "");
        first.dataset.model = name;
        note.colSpan = 4;
        note.className = "said";
        return said ? [first, row(note)] : [first];
      }));
  }

  /** The strip of keyframes: pictures where this page saw them being kept. */
  showKeys(keys) {
    const strip = document.getElementById("keys"), key = JSON.stringify(keys);
    if (strip.dataset.of === key) return;
    strip.dataset.of = key;
    const known = new Set(keys.map(({ id }) => String(id)));
    for (const id of Object.keys(this.pictures)) if (!known.has(id)) delete this.pictures[id];
    const newest = keys.at(-1);
    if (this.taken && newest && !newest.given && !(newest.id in this.pictures)) this.pictures[newest.id] = this.taken;
    this.taken = null;
    strip.replaceChildren(...keys.map(({ id, name, time, given }) => {
      const box = document.createElement("div"), button = document.createElement("button");
      button.title = `Go to ${name}${given ? "" : `, kept at ${time.toPrecision(4)} s`}`;
      if (this.pictures[id]) button.append(Object.assign(new Image(), { src: this.pictures[id], alt: "" }));
      button.append(name);
      button.addEventListener("click", () => { this.following = true; this.send({ type: "recall", id }); });
      box.append(button);
      if (!given) {
        const drop = Object.assign(document.createElement("button"), { className: "drop", textContent: "×", title: `Forget ${name}` });
        drop.addEventListener("click", () => this.send({ type: "forget", id }));
        box.append(drop);
      }
      return box;
    }));
  }

  /** Keeps the present, with its picture. */
  keepMoment() {
    const small = Object.assign(document.createElement("canvas"), { width: 144, height: 96 }), { width, height } = this.canvas;
    // The present is what the program keeps; what was drawn lasts until the browser paints.
    this.goTo(this.recording.end);
    this.draw();
    const part = Math.min(width / 3, height / 2);
    small.getContext("2d").drawImage(this.canvas, (width - 3 * part) / 2, (height - 2 * part) / 2, 3 * part, 2 * part, 0, 0, 144, 96);
    this.taken = small.toDataURL("image/jpeg", 0.7);
    this.send({ type: "keep" });
  }

  /** The numbers of the models now. */
  showModelNumbers() {
    const at = (name, unit) => {
      const s = this.recording.series.find((x) => x.name === name && x.unit === unit), x = s?.values.at(-1);
      return Number.isFinite(x) ? shortNumber(Number(x.toPrecision(3))) : "–";
    };
    for (const row of document.querySelectorAll("#models tr[data-model]")) {
      const { model } = row.dataset;
      row.children[1].textContent = at(model, "µs per step");
      if (model !== "full") row.children[2].textContent = `${at(`${model} off by`, "mm")} mm`;
    }
  }

  /** Effectors and pins in the list of bodies. */
  showMarks() {
    this.panel.rows.forEach((row, b) => {
      let marks = row.querySelector(".marks");
      if (!marks) {
        marks = Object.assign(document.createElement("span"), { className: "marks" });
        row.insertBefore(marks, row.lastChild);
      }
      marks.textContent = [this.chosen.has(b) ? "effector" : "", this.status.pinned.includes(b) ? "pinned" : ""].filter(Boolean).join(", ");
    });
  }

  showServos() {
    const box = document.getElementById("servos"), { servos } = this.status;
    if (box.childElementCount !== servos.length) {
      box.replaceChildren(...servos.map((s, index) => {
        const label = document.createElement("label"), name = document.createElement("span"), slider = document.createElement("input");
        name.textContent = name.title = s.name;
        Object.assign(slider, { type: "range", min: s.range[0], max: s.range[1], step: "any", value: s.target });
        slider.setAttribute("aria-label", `Target of ${s.name}`);
        slider.addEventListener("input", () => this.send({ type: "servo", index, target: Number(slider.value) }));
        label.append(name, slider, document.createElement("output"));
        return label;
      }));
    }
    servos.forEach((s, i) => {
      const [, slider, note] = box.children[i].children;
      if (document.activeElement !== slider) slider.value = s.target;
      note.textContent = shortNumber(Number(s.target.toPrecision(3)));
    });
  }

  draw() {
    this.scene.pull = this.pulled ?? null;
    super.draw();
    const note = document.getElementById("pull-force");
    if (this.pulled) {
      const { body, point, target } = this.pulled, world = affineOfPose(this.scene.poses, POSE * body, UNIT_SCALE, new Float64Array(12));
      const stretch = norm(subtract(target, affinePoint(world, point))), spring = this.pulled.by === "spring";
      const force = Number((this.status.stiffness * stretch).toPrecision(3)), off = Math.round(1e5 * stretch) / 100;
      note.textContent = spring ? `${shortNumber(force)} N` : `${off} mm off`;
    } else {
      note.textContent = "–";
    }
    document.getElementById("resume").hidden = this.following || this.time >= this.recording.end;
  }

  /** Brings what is shown into view: it may be far from where it began. */
  fit() {
    if (this.status) {
      const frame = this.recording.frameAt(this.time);
      this.scene.box = this.scene.boxOf(frame, frame + 1);
    }
    super.fit();
  }

  // Playback goes to the program.

  play(on) {
    if (!this.socket) { super.play(false); return; } // the page begins
    this.following = true;
    this.send({ type: on ? "play" : "pause" });
  }

  advance() {}

  goTo(time) {
    super.goTo(time);
    this.following = this.time >= this.recording.end;
  }

  stepFrames(n) {
    if (n > 0 && this.time >= this.recording.end) {
      this.following = true;
      this.send({ type: "step", count: n });
    } else {
      super.stepFrames(n);
      this.playing = this.status.moving;
    }
  }

  changeSpeed(n) {
    super.changeSpeed(n);
    this.send({ type: "speed", factor: this.speed });
  }

  /** The program goes on from the moment that is shown. */
  resume() {
    const { time } = this;
    this.following = true;
    this.send({ type: "rewind", time });
  }

  key(e) {
    const typing = e.target.matches("input[type=search], select") || e.ctrlKey || e.metaKey || e.altKey;
    const actions = { r: () => this.send({ type: "reset" }), p: () => this.pin(), e: () => this.choose(), k: () => this.keepMoment(), d: () => this.changeDrag() };
    if (!typing && e.key in actions) { actions[e.key](); e.preventDefault(); return; }
    super.key(e);
  }

  // Hands on bodies.

  select(b) {
    super.select(b);
    if (this.status) this.showHands();
  }

  pin() {
    if (this.scene.selected >= 0) this.send({ type: "pin", body: this.scene.selected });
  }

  choose() {
    const b = this.scene.selected;
    if (b < 0 || !this.status.feels.includes(b)) return;
    if (!this.chosen.delete(b)) this.chosen.add(b);
    this.showHands();
  }

  /** What brings bodies to the mouse. */
  dragsBy() {
    return this.status.commanded ? document.getElementById("by").value : "spring";
  }

  changeDrag() {
    const by = document.getElementById("by");
    if (this.status.commanded) by.selectedIndex = (by.selectedIndex + 1) % by.options.length;
  }

  /** Takes hold of the body under the pointer where it is touched. */
  grab(x, y) {
    if (!this.renderer || !this.following) return null;
    const content = this.scene.at(this.time), body = this.renderer.bodyAt(x, y, this.camera, content);
    if (body < 0 || !this.status.feels.includes(body)) return null;
    const { clientWidth, clientHeight } = this.canvas, ray = this.camera.ray(x, y, clientWidth, clientHeight);
    const origin = [...this.scene.poses.slice(POSE * body, POSE * body + 3)];
    const distance = this.scene.hit(body, ray) ?? dot(subtract(origin, ray[0]), ray[1]);
    const at = add(ray[0], scaled(ray[1], distance));
    const normal = this.camera.axes()[2];
    this.pulled = { body, point: this.inBody(body, at), target: at, by: this.dragsBy() };
    let moved = false;
    return {
      move: (px, py) => {
        const [eye, along] = this.camera.ray(px, py, clientWidth, clientHeight);
        // In the plane through the point that faces the eye.
        const t = dot(subtract(at, eye), normal) / dot(along, normal);
        this.pulled.target = add(eye, scaled(along, t));
        moved = true;
        this.send({ type: "pull", ...this.pulled });
        this.changed();
      },
      end: () => {
        this.pulled = null;
        if (moved) this.send({ type: "release" });
        this.changed();
      },
    };
  }

  /** A point of the world in a body. */
  inBody(b, p) {
    const k = POSE * b, q = this.scene.poses, d = [p[0] - q[k], p[1] - q[k + 1], p[2] - q[k + 2]];
    const [w, v] = [q[k + 3], [q[k + 4], q[k + 5], q[k + 6]]];
    // R(q)ᵀ d = d + 2 w (d × v) + 2 v × (v × d), turned back.
    const c = cross(d, v);
    return add(d, add(scaled(c, 2 * w), scaled(cross(v, cross(v, d)), 2)));
  }

  // The same view after the page loads anew.

  keep() {
    const { target, distance, azimuth, elevation } = this.camera;
    const kept = { target, distance, azimuth, elevation, chosen: [...this.chosen], selected: this.scene.selected, pictures: this.pictures };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  }

  recall() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
      if (!kept) return;
      const { target, distance, azimuth, elevation, chosen, selected, pictures } = kept;
      Object.assign(this.camera, { target, distance, azimuth, elevation });
      this.pictures = pictures ?? {};
      this.chosen = new Set(chosen.filter((b) => b < this.scene.bodies.length));
      if (selected >= 0 && selected < this.scene.bodies.length) this.select(selected);
    } catch {
      // Another program's, or none: the view begins as usual.
    }
  }
}

const viewer = new LiveViewer(new LiveRecording(readAnimation()));
