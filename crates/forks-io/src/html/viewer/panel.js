// The list of bodies, and numbers of the selected one.

class Panel {
  /** `actions` has `select(body)`, `hide(bodies, hidden)` and `follow()`. */
  constructor(scene, actions) {
    this.scene = scene;
    this.actions = actions;
    this.list = document.getElementById("bodies");
    this.rows = scene.bodies.map((body, b) => this.row(body, b));
    this.list.append(...this.rows);
    this.filter = document.getElementById("filter");
    this.filter.addEventListener("input", () => this.applyFilter());
    document.getElementById("show-all").addEventListener("click", () => actions.hide(this.matching(), false));
    document.getElementById("hide-all").addEventListener("click", () => actions.hide(this.matching(), true));
    document.getElementById("follow").addEventListener("click", () => actions.follow());
    for (const note of scene.recording.data.notes) {
      const paragraph = document.createElement("p");
      paragraph.textContent = note;
      document.getElementById("notes").append(paragraph);
    }
    document.getElementById("notes").hidden = scene.recording.data.notes.length === 0;
    document.getElementById("body-tools").hidden = scene.bodies.length === 0;
    document.getElementById("joints-label").hidden = scene.joints.all.length === 0;
    document.getElementById("gaps-label").hidden = !scene.joints.loops;
    if (!scene.recording.mayTouch) {
      for (const id of ["contacts-label", "arrows-label"]) document.getElementById(id).hidden = true;
    }
  }

  row(body, b) {
    const row = document.createElement("li"), swatch = document.createElement("span"), name = document.createElement("span");
    const box = document.createElement("input");
    swatch.className = "swatch";
    swatch.style.background = `rgb(${body.colour.slice(0, 3).join(" ")})`;
    name.className = "name";
    name.textContent = body.name === "" ? `#${b}` : body.name;
    name.title = name.textContent;
    box.type = "checkbox";
    box.checked = true;
    box.title = "Show";
    box.setAttribute("aria-label", `Show ${name.textContent}`);
    box.addEventListener("click", (e) => e.stopPropagation());
    box.addEventListener("change", () => this.actions.hide([b], !box.checked));
    row.addEventListener("click", () => this.actions.select(this.scene.selected === b ? -1 : b));
    row.addEventListener("dblclick", () => { this.actions.select(b); this.actions.follow(); });
    row.tabIndex = 0;
    row.addEventListener("keydown", (e) => { if (e.key === "Enter" && e.target === row) row.click(); });
    row.append(swatch, name, box);
    return row;
  }

  /** Bodies whose names contain what is looked for. */
  matching() {
    const wanted = this.filter.value.trim().toLowerCase();
    return this.scene.bodies.flatMap((body, b) => (body.name.toLowerCase().includes(wanted) ? [b] : []));
  }

  applyFilter() {
    const shown = new Set(this.matching());
    this.rows.forEach((row, b) => { row.hidden = !shown.has(b); });
  }

  /** Brings the rows up to date with what is hidden and selected. */
  update(followed) {
    const { scene } = this;
    this.rows.forEach((row, b) => {
      row.classList.toggle("selected", b === scene.selected);
      row.classList.toggle("off", scene.hidden.has(b));
      row.lastChild.checked = !scene.hidden.has(b);
    });
    if (scene.selected >= 0) this.rows[scene.selected].scrollIntoView({ block: "nearest" });
    document.getElementById("details").hidden = scene.selected < 0;
    document.getElementById("follow").setAttribute("aria-pressed", String(followed >= 0));
  }

  /** Position, rotation and speed of the selected body. */
  details() {
    const { scene } = this, b = scene.selected;
    if (b < 0) return;
    const k = POSE * b, p = scene.poses, fixed = (x, n) => x.toFixed(n).replace("-", "−");
    const digits = clamp(3 - Math.floor(Math.log10(scene.radius)), 0, 9);
    const sign = p[k + 3] < 0 ? -1 : 1; // the shorter turn
    const vector = [p[k + 4], p[k + 5], p[k + 6]].map((x) => sign * x), s = norm(vector);
    const angle = (2 * Math.atan2(s, sign * p[k + 3]) * 180) / Math.PI;
    const rows = [
      ["position (m)", ...[0, 1, 2].map((n) => fixed(p[k + n], digits))],
      ["turned (°)", fixed(angle, 2), "", ""],
      ["about", ...direction(vector, [0, 0, 1]).map((x) => fixed(x, 3))],
      ["speed (m/s)", shortNumber(this.speed(b)), "", ""],
    ];
    document.getElementById("details-name").textContent = this.rows[b].querySelector(".name").textContent;
    const table = document.getElementById("details-table");
    table.replaceChildren(...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return row;
    }));
  }

  /** Speed of the origin between the frames around the time that is shown. */
  speed(b) {
    const { recording, now } = this.scene, j = clamp(recording.frameAt(now) + 1, 1, recording.frames - 1);
    if (recording.frames < 2) return 0;
    const step = recording.times[j] - recording.times[j - 1];
    return norm(subtract(recording.position(j, b), recording.position(j - 1, b))) / step;
  }
}
