// Evaluation bar: both players above a bar that shows the chances of winning.

import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";

export class EvalBar {
  // names: true if both players are named above the bar. wide: true for a bar that holds its number, with both players' armies
  // above it if they are named, how near they are to the goal, and `title` between them. own: the reader's seat, null for a spectator.
  constructor({ names = true, wide = false, own = /** @type {string | null} */ (null), title = /** @type {HTMLElement | null} */ (null) } = {}) {
    this.own = own;
    this.wide = wide;
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("strong", { class: "share-of" }));
    this.armies = SEATS.map(() => h("strong", null));
    this.goals = SEATS.map(() => h("span", { class: "goal-of" }));
    this.races = SEATS.map(() => svg("svg", { class: "race", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { height: 4 })));
    this.bar = svg("svg", { class: "tug-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "minnie", width: 100, height: 4 }), svg("rect", { class: "maxie", width: 50, height: 4 }));
    this.element = h("div", { class: wide ? "tug wide" : "tug", "data-seat": own }, title, SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      names ? [h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n]] : null, this.shares[n],
      names && wide ? h("span", { class: "held" }, this.armies[n], this.goals[n], this.races[n]) : null)), this.bar);
  }

  // Show the chances at a ply; only the leader has a number, or the reader.
  show(match, ply) {
    const share = chanceAt(match, ply);
    const over = Boolean(match.end) && ply === match.moves.length;
    const chances = percentages(share ?? 0.5);
    set(this.element, { "data-unknown": share === null });
    const score = match.game.score?.(match.positions[ply]);
    SEATS.forEach((seat, n) => {
      say(this.names[n], match.players[seat]);
      set(this.names[n], { title: match.players[seat] });
      say(this.armies[n], score ? String(score[seat].armies) : "");
      say(this.goals[n], score ? ` / ${match.setup.armies_to_win}` : "");
      set(this.races[n], { hidden: !score });
      if (score) set(this.races[n].firstElementChild, { width: Math.min(100, Math.round((100 * score[seat].armies) / match.setup.armies_to_win)) });
      const leads = chances[seat] > 50 || (chances[seat] === 50 && !n);
      const told = share !== null && (this.own ? seat === this.own : leads);
      say(this.shares[n], told ? this.worded(over ? match.end : null, seat, chances[seat]) : "");
    });
    set(this.bar.lastElementChild, { width: chances.maxie });
  }

  // Return a player's chance in words, or the result.
  worded(end, seat, chance) {
    if (!end) return this.own ? `You ${chance} %` : `${chance} %${this.wide ? " to win" : ""}`;
    const even = end.reason === "server_fault" ? "Void" : "Draw";
    if (!end.winner) return this.wide || this.own ? even : "";
    if (!this.own) return this.wide ? "Winner" : "wins"; // after a name it is a sentence
    return end.winner === seat ? "You won" : "You lost";
  }
}
