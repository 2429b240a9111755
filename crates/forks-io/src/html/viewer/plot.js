// Numbers over time: one strip per unit, with a cursor at the time that is shown.

/** Colours of the curves in light and dark pages; the order is that of the series. */
const CURVES = {
  light: ["#0072b2", "#d55e00", "#00805d", "#b0508a", "#a06c00", "#2a8cc7", "#6b6b00", "#555555"],
  dark: ["#58b0ee", "#ff8a4c", "#35c99b", "#e79ac6", "#f0b429", "#8fd0ff", "#cfc84a", "#bbbbbb"],
};

/** About as many round numbers within a range as wanted, and the step between them. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? 10 * power;
  const numbers = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) numbers.push(i * step);
  return { numbers, step };
}

class Plot {
  /** Draws on a canvas whose width is given by the page and whose height it sets. */
  constructor(canvas, recording) {
    this.canvas = canvas;
    this.recording = recording;
    this.off = new Set(); // series that are switched off in the legend
    this.picture = document.createElement("canvas");
    const groups = new Map();
    recording.series.forEach((s, i) => {
      if (!groups.has(s.unit)) groups.set(s.unit, []);
      groups.get(s.unit).push(i);
    });
    this.strips = [...groups].map(([unit, members]) => ({ unit, members }));
    this.legend = []; // [left, top, right, bottom, series]
  }

  get empty() {
    return this.strips.length === 0;
  }

  /** Gives the canvas its height, which depends on the number of strips alone. */
  layOut() {
    this.each = this.strips.length === 1 ? 112 : 76;
    this.height = this.empty ? 0 : this.each * this.strips.length + 20;
    this.canvas.style.height = `${this.height}px`;
  }

  /** Draws everything but the cursor. */
  render(colours, dark) {
    if (this.empty) return;
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, { each } = this;
    Object.assign(this, { colours, curves: CURVES[dark ? "dark" : "light"], width, left: 70, right: width - 14 });
    for (const c of [this.canvas, this.picture]) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(this.height * ratio);
    }
    const pen = this.picture.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    this.strips.forEach((strip, n) => this.renderStrip(pen, strip, n * each));
    this.renderTimes(pen);
  }

  x(time) {
    const { start, end } = this.recording;
    return end > start ? this.left + ((time - start) / (end - start)) * (this.right - this.left) : this.left;
  }

  timeAt(x) {
    const { start, end } = this.recording;
    return start + clamp((x - this.left) / (this.right - this.left), 0, 1) * (end - start);
  }

  renderStrip(pen, strip, top) {
    const shown = strip.members.filter((i) => !this.off.has(i));
    let low = Infinity, high = -Infinity;
    for (const i of shown) {
      for (const v of this.recording.series[i].values) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
      const margin = Math.abs(low) > 0 ? 0.1 * Math.abs(low) : 1; // a constant lies in the middle
      low -= margin;
      high += margin;
    }
    const inner = [top + 22, top + this.each - 6];
    strip.y = (v) => inner[1] - ((v - low) / (high - low)) * (inner[1] - inner[0]);
    Object.assign(strip, { inner, top });
    pen.strokeStyle = this.colours.line;
    pen.fillStyle = this.colours.faint;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const { numbers, step } = ticks(low, high, 4);
    for (const v of numbers) {
      const y = Math.round(strip.y(v)) + 0.5;
      pen.beginPath();
      pen.moveTo(this.left, y);
      pen.lineTo(this.right, y);
      pen.stroke();
      pen.fillText(tickNumber(v, step), this.left - 6, y);
    }
    for (const i of shown) this.renderCurve(pen, strip, i);
  }

  /** A curve; where many frames fall on a pixel only their range is drawn there. */
  renderCurve(pen, strip, i) {
    const { times } = this.recording, { values } = this.recording.series[i];
    pen.strokeStyle = this.curves[i % this.curves.length];
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    pen.beginPath();
    const crowded = times.length > 4 * (this.right - this.left);
    for (let f = 0; f < times.length; ) {
      const x = this.x(times[f]);
      let low = values[f], high = low;
      for (f++; crowded && f < times.length && this.x(times[f]) < x + 1; f++) {
        low = Math.min(low, values[f]);
        high = Math.max(high, values[f]);
      }
      pen.lineTo(x, strip.y(low));
      if (high > low) pen.lineTo(x, strip.y(high));
    }
    pen.stroke();
  }

  renderTimes(pen) {
    const { start, end } = this.recording;
    if (!(end > start)) return;
    pen.fillStyle = this.colours.faint;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const y = this.each * this.strips.length + 2;
    const { numbers, step } = ticks(start, end, Math.max(2, Math.floor(this.width / 120)));
    for (const t of numbers) {
      pen.fillText(`${tickNumber(t, step)} s`, clamp(this.x(t), this.left, this.right - 12), y);
    }
  }

  /** Copies the picture and adds the cursor and the numbers at a time. */
  cursor(time) {
    if (this.empty || !this.picture.width) return;
    const ratio = window.devicePixelRatio || 1, pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.strokeStyle = this.colours.text;
    pen.globalAlpha = 0.6;
    pen.beginPath();
    const x = Math.round(this.x(time)) + 0.5;
    pen.moveTo(x, 16);
    pen.lineTo(x, this.each * this.strips.length);
    pen.stroke();
    pen.globalAlpha = 1;
    this.legend = [];
    const frame = this.recording.nearestFrame(time);
    for (const strip of this.strips) this.drawLegend(pen, strip, frame);
  }

  /** Names of a strip's series with their numbers, or names alone where there is no room. */
  drawLegend(pen, strip, frame) {
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    const { series } = this.recording;
    // Each has room for the longest number, so that names stay in place.
    const room = (i, number) => 30 + pen.measureText(`${series[i].name} ${number ? `−8.88888e−8 ${series[i].unit}` : ""}`).width;
    const total = strip.members.reduce((sum, i) => sum + room(i, true), 0), roomy = total <= this.right - this.left + 30;
    let x = this.left;
    for (const i of strip.members) {
      const { name, unit, values } = series[i], off = this.off.has(i);
      const number = off ? "(off)" : `${shortNumber(values[frame])} ${unit}`;
      pen.fillStyle = off ? this.colours.line : this.curves[i % this.curves.length];
      pen.fillRect(x, strip.top + 9, 10, 4);
      pen.fillStyle = off ? this.colours.faint : this.colours.text;
      pen.fillText(roomy ? `${name} ${number}` : name, x + 14, strip.top + 11);
      const next = x + room(i, roomy);
      this.legend.push([x, strip.top, next - 16, strip.top + 20, i]);
      x = next;
    }
  }

  /** The series whose name stands at a point, −1 for none. */
  seriesAt(x, y) {
    const hit = this.legend.find(([l, t, r, b]) => x >= l && x <= r && y >= t && y <= b);
    return hit ? hit[4] : -1;
  }
}
