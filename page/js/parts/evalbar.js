// Evaluation bar: each player has as much of it as its chance of winning. The label of the player ahead names it.

import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";

export class EvalBar {
  // names: true if both players are named above the bar. wide: true for a bar with its label inside; if the players are named, each
  // also has its armies and the way to the goal, and `title` is between them. own: the reader's seat, null for a spectator.
  constructor({ names = true, wide = false, own = /** @type {string | null} */ (null), title = /** @type {HTMLElement | null} */ (null) } = {}) {
    this.own = own;
    this.wide = wide;
    this.counts = names && wide;
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.leaders = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("span"));
    this.aims = SEATS.map(() => h("span", { class: "to-win" }));
    const labels = SEATS.map((seat, n) => h("strong", { class: "share-of", "data-owner": seat }, wide ? [this.leaders[n], " ", this.shares[n], " ", this.aims[n]] : this.shares[n]));
    this.armies = SEATS.map(() => h("strong"));
    this.goals = SEATS.map(() => h("span", { class: "goal-of" }));
    this.progress = SEATS.map(() => strip("progress", svg("rect", { height: 4 })));
    this.bar = svg("rect", { class: "maxie", width: 50, height: 4 });
    const sides = names ? SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n],
      this.counts ? [h("span", { class: "held" }, this.armies[n], this.goals[n]), this.progress[n]] : labels[n])) : null;
    this.element = h("div", { class: wide ? "tug wide" : "tug", "data-unknown": true }, title, sides,
      h("p", { class: "tug-bar", title: "Chance of winning" }, strip("", svg("rect", { class: "minnie", width: 100, height: 4 }), this.bar), wide ? labels : null));
  }

  // Show the chances at a ply, and each player's armies.
  show(match, ply) {
    const share = chanceAt(match, ply);
    const end = ply === match.moves.length ? match.end : null;
    const told = share !== null && !(end && this.wide); // the sentence about a match beside a wide bar tells the result
    const chances = percentages(share ?? 0.5);
    const ahead = SEATS.find((seat) => chances[seat] > 50);
    set(this.element, { "data-unknown": share === null });
    set(this.bar, { width: chances.maxie });
    SEATS.forEach((seat, n) => {
      say(this.names[n], match.players[seat]);
      set(this.names[n], { title: match.players[seat] });
      say(this.leaders[n], told && seat === ahead ? this.own === seat ? "You" : match.players[seat] : "");
      const words = told && seat === (ahead ?? "maxie") ? this.worded(end, seat, chances) : "";
      say(this.shares[n], words);
      say(this.aims[n], words.endsWith("%") ? "to win" : "");
    });
    if (this.counts) this.count(match, ply);
    // The bars run on from move to move, but not from one match to the next.
    if (match !== this.match) for (const run of this.element.getAnimations({ subtree: true })) run.finish();
    this.match = match;
  }

  // Show both players' armies, and their shares of the goal, in a game that is won by a number of armies.
  count({ game, positions, setup }, ply) {
    const score = game.score?.(positions[ply]);
    set(this.element, { "data-goal": Boolean(score) });
    SEATS.forEach((seat, n) => {
      say(this.armies[n], score ? String(score[seat].armies) : "");
      say(this.goals[n], score ? ` / ${setup.armies_to_win}` : "");
      set(this.progress[n].firstElementChild, { width: score ? Math.min(100, Math.round((100 * score[seat].armies) / setup.armies_to_win)) : 0 });
    });
  }

  // Return the chance of a player in words that follow its name, or "wins" on a card. Where nobody is ahead, a card says nothing.
  worded(end, seat, chances) {
    if (end?.winner) return "wins";
    if (chances[seat] !== 50) return `${chances[seat]} %`;
    return this.wide ? "Even" : "";
  }
}

const strip = (name, ...rects) => svg("svg", { class: name, viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, ...rects);
