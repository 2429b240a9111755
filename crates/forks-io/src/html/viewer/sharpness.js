// How sharp pictures are: as the screen where pictures come quickly; where they do not, as sharp as twenty a second
// allow while something moves, and as the screen once it rests.

/** Time between pictures, ms, above which they get less sharp and below which sharper again. */
const SLOW = 1000 / 20, QUICK = 1000 / 45;

/** The least sharpness, along each side; the factor from one to the next; pictures that one is judged by. */
const BLURRED = 0.4, COARSER = 0.8, JUDGED = 5;

/** Time without a change after which a picture is sharp, ms. */
const REST = 250;

class Sharpness {
  constructor() {
    this.moving = 1;
    this.times = []; // from the last pictures to the browser's next turns, ms
    this.last = -Infinity;
    this.judged = true; // the last picture has been
  }

  /** The browser's turn, whether there is something to draw or not: what rarely changes is not slow. */
  turn(now) {
    if (this.judged) return;
    this.judged = true;
    this.times.push(now - this.last);
    if (this.times.length < JUDGED) return;
    const middle = this.times.sort((a, b) => a - b)[JUDGED >> 1];
    this.times = [];
    if (middle > SLOW) this.moving = Math.max(BLURRED, COARSER * this.moving);
    if (middle < QUICK) this.moving = Math.min(1, this.moving / COARSER);
  }

  /** A picture is drawn: how sharp. */
  drawn(now) {
    if (now - this.last > REST) this.times = []; // something begins to move
    this.last = now;
    this.judged = false;
    return this.moving;
  }

  /** True if nothing has changed for a while. */
  still(now) {
    return now - this.last > REST;
  }
}
