// Playback of a match: the shown ply, and the time of the next one. Plies of a live match are queued and shown at a pace that a
// person can follow, even if its bots play faster; a slow bot keeps its own pace. A board that falls behind its match becomes
// faster, and then leaves out plies.

import { preferences } from "./preferences.js";

export const BEAT_MS = 600; // from one ply to the next, including the animation
export const SPEEDS = [0.5, 1, 2, 4, 8];
const MAX_PLIES_AT_PACE = 4; // plies behind a live match up to which the pace stays the same
const PLIES_PER_HURRY = 8; // plies behind beyond these for which it is faster by the pace
const FIRST_PLIES_BEHIND = 10; // plies behind a live match of fast bots where a spectator begins
const MAX_PLIES_BEHIND = 40; // plies behind a live match from which on some are left out
const FAST_MS = 200; // from one ply to the next: bots that play faster are faster than one can see
const PLIES_IN_PIECE = 8; // plies that are shown in one piece after others were left out,
const MAX_PLIES_BEHIND_IN_PIECE = 60; // up to so many plies behind

export class Playback {
  // show(ply) draws a ply; changed() is called after a pause and after queued plies. `live`: more plies may come. `atOnce`: the newest
  // ply is shown without a queue, as in the reader's own match. moment(ply) returns the ply of a turning point after this one, if any.
  constructor(match, show, { changed = /** @type {() => void} */ (() => undefined), live = false, atOnce = false, moment = /** @type {(ply: number) => number | undefined} */ (() => undefined) } = {}) {
    this.match = match;
    this.show = show;
    this.changed = changed;
    this.live = live;
    this.atOnce = atOnce;
    this.moment = moment;
    this.catchesUp = live; // false where the reader has chosen an earlier ply
    this.whole = 0; // ply up to which none is left out
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
    return this.match.endsAt(this.at);
  }

  // Return the number of plies of a live match that were played and not shown yet.
  get behind() {
    return this.live ? this.last - this.at : 0;
  }

  // Return the end of the match if the reader may know it: that of a live match is told when its last ply has been shown.
  get end() {
    return this.live && !this.atOnce && this.seen < this.last ? null : this.match.end;
  }

  // Return the number of plies that the reader may know of.
  get known() {
    return this.live && !this.atOnce && !this.end ? this.seen : this.last;
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
      this.due = setTimeout(() => this.step(), Math.max(0, this.shownAt + this.beat - performance.now()));
    } else if (!this.isOpen) {
      this.pause();
    }
  }

  // Return the ms from one ply to the next.
  get beat() {
    const late = this.catchesUp ? Math.max(0, this.behind - MAX_PLIES_AT_PACE) : 0;
    return BEAT_MS / this.speed / (preferences().pace || 1) / (1 + late / PLIES_PER_HURRY);
  }

  // Return the next ply to be shown; far behind a live match it is one before the next turning point, or one near the newest.
  get next() {
    const most = this.at < this.whole ? MAX_PLIES_BEHIND_IN_PIECE : MAX_PLIES_BEHIND;
    if (!this.catchesUp || this.behind <= most) return this.at + 1;
    const first = this.last - MAX_PLIES_BEHIND;
    const moment = this.moment(first + PLIES_IN_PIECE / 2) ?? this.last;
    const next = Math.max(first, Math.min(moment - PLIES_IN_PIECE / 2, this.last - PLIES_IN_PIECE));
    this.whole = next + PLIES_IN_PIECE;
    return next;
  }

  step() {
    this.due = undefined;
    const [cut, next] = this.cuts;
    if (cut && this.at >= cut[1]) {
      this.cuts.shift();
      if (next) this.put(next[0]);
      else this.pause();
    } else if (this.at < this.last) {
      this.put(this.next);
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
    this.catchesUp = this.running;
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

// Return a spectator's first ply: the newest one, but an earlier one if the bots are faster than one can see.
function entry({ moves }) {
  const times = moves.map(({ ms }) => ms ?? 0);
  const mean = times.reduce((sum, ms) => sum + ms, 0) / (times.length || 1);
  return mean < FAST_MS ? Math.max(0, moves.length - FIRST_PLIES_BEHIND) : moves.length;
}
