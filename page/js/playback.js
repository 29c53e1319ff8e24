// Playback of a match: the shown ply, and the time of the next one. Plies of a live match are queued and shown at a pace that a
// person can follow, even if its bots play faster; a slow bot keeps its own pace.

import { preferences } from "./preferences.js";

export const BEAT_MS = 600; // from one ply to the next, including the animation
export const SPEEDS = [0.5, 1, 2, 4, 8];

export class Playback {
  // show(ply) draws a ply; changed() is called after a pause and after queued plies. `live`: more plies may come. `atOnce`: the newest
  // ply is shown without a queue, as in the reader's own match.
  constructor(match, show, { changed = /** @type {() => void} */ (() => undefined), live = false, atOnce = false } = {}) {
    this.match = match;
    this.show = show;
    this.changed = changed;
    this.live = live;
    this.atOnce = atOnce;
    this.speed = 1;
    this.at = live ? (atOnce ? match.moves.length : entry(match)) : 0;
    this.seen = this.at; // highest ply shown so far
    this.running = live;
    this.shownAt = -Infinity;
    this.due = undefined;
    this.cuts = /** @type {number[][]} */ ([]); // highlights still to be played, as [first, last] ply
  }

  get last() {
    return this.match.moves.length;
  }

  // Return true if more plies may come.
  get isOpen() {
    return this.live && !this.match.end;
  }

  // Return true if the newest ply of a live match or of the reader's own match is shown.
  get follows() {
    return this.running && this.at === this.last && this.live;
  }

  get isOver() {
    return Boolean(this.match.end) && this.at === this.last;
  }

  // Return the number of plies of a live match that were played and not shown yet.
  get behind() {
    return this.live ? this.last - this.at : 0;
  }

  // Handle a change of the match.
  grown() {
    if (this.at > this.last) this.put(this.last); // a move was taken back
    else if (this.atOnce && this.running) {
      this.put(this.last);
      this.running = this.isOpen;
    } else {
      this.schedule();
      this.changed();
    }
  }

  put(ply) {
    this.at = ply;
    this.seen = Math.max(this.seen, ply);
    this.shownAt = performance.now();
    this.show(ply);
  }

  schedule() {
    if (!this.running || this.due !== undefined || this.atOnce) return;
    if (this.at < this.last || this.cuts.length > 1) {
      const beat = BEAT_MS / this.speed / (preferences().pace || 1);
      this.due = setTimeout(() => this.step(), Math.max(0, this.shownAt + beat - performance.now()));
    } else if (!this.isOpen) {
      this.pause();
    }
  }

  step() {
    this.due = undefined;
    const [cut, next] = this.cuts;
    if (cut && this.at >= cut[1]) {
      this.cuts.shift();
      if (next) this.put(next[0]);
      else this.pause();
    } else if (this.at < this.last) {
      this.put(this.at + 1);
    }
    this.schedule();
  }

  // Play parts of the match, one after another.
  playCuts(cuts) {
    this.go(cuts[0][0]);
    this.cuts = cuts;
    this.play();
  }

  // Continue from here, or from the start if the match is over.
  play() {
    if (this.running) return;
    this.running = true;
    if (this.isOver) this.put(0);
    else this.shownAt = performance.now();
    this.schedule();
    this.changed();
  }

  pause() {
    clearTimeout(this.due);
    this.due = undefined;
    if (!this.running) return;
    this.running = false;
    this.changed();
  }

  // Mark all plies as seen, and stay at the current ply.
  reveal() {
    this.seen = this.last;
    this.pause();
  }

  // Show a ply and stay there; the newest of a live match is followed.
  go(ply) {
    this.cuts = [];
    const to = Math.max(0, Math.min(this.last, ply));
    clearTimeout(this.due);
    this.due = undefined;
    this.running = to === this.last && this.isOpen;
    this.put(to);
    this.changed();
  }

  // Show the newest ply, and continue from there.
  jump() {
    this.go(this.last);
  }

  // Change the speed, also for the next due ply.
  hurry(speed) {
    this.speed = speed;
    clearTimeout(this.due);
    this.due = undefined;
    this.schedule();
  }

  stop() {
    clearTimeout(this.due);
    this.running = false;
  }
}

// Return a spectator's first ply: the newest one of slow bots, the start if the bots are faster than one can see.
function entry({ moves }) {
  const times = moves.map(({ ms }) => ms ?? 0);
  const mean = times.reduce((sum, ms) => sum + ms, 0) / (times.length || 1);
  return mean < BEAT_MS / 2 ? 0 : moves.length;
}
