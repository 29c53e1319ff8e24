// Evaluation bar: both players above a bar that shows the chances of winning.

import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";
import { chanceAt, percent } from "./values.js";

export class EvalBar {
  // names: true if both players are named above the bar. wide: true for a bar that holds its number, with both players' armies
  // above it if they are named. own: the reader's seat, null for a spectator.
  constructor({ names = true, wide = false, own = /** @type {string | null} */ (null) } = {}) {
    this.own = own;
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("strong", { class: "share-of" }));
    this.armies = SEATS.map(() => h("strong", null));
    this.goals = SEATS.map(() => h("span", { class: "goal-of" }));
    this.bar = svg("svg", { class: "tug-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "minnie", width: 100, height: 4 }), svg("rect", { class: "maxie", width: 50, height: 4 }));
    this.element = h("div", { class: wide ? "tug wide" : "tug", "data-seat": own }, SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      names ? [h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n]] : null, this.shares[n],
      names && wide ? h("span", { class: "held" }, this.armies[n], this.goals[n]) : null)), this.bar);
  }

  // Show the evaluation at a ply; only the leader has a number, or the reader. `judged`: Maxie's chance by the engine's review.
  show(match, ply, judged = /** @type {number | undefined} */ (undefined)) {
    const share = standing(match, ply, judged);
    set(this.element, { "data-unknown": share === null });
    const score = match.game.score?.(match.positions[ply]);
    SEATS.forEach((seat, n) => {
      say(this.names[n], match.players[seat]);
      set(this.names[n], { title: match.players[seat] });
      say(this.armies[n], score ? String(score[seat].armies) : "");
      say(this.goals[n], score ? ` / ${match.setup.armies_to_win}` : "");
      const own = share === null ? null : n ? 1 - share : share;
      const told = own !== null && (this.own ? seat === this.own : own > 0.5 || (own === 0.5 && !n));
      say(this.shares[n], told ? worded(own, this.own !== null) : "");
    });
    set(this.bar.lastElementChild, { width: (100 * (share ?? 0.5)).toFixed(1) });
  }
}

// Return a chance in words; `yours`: it is the reader's.
function worded(share, yours) {
  if (share === 1) return yours ? "You won" : "wins";
  if (share === 0) return "You lost";
  const shown = percent(Math.max(0.01, Math.min(0.99, share)));
  return yours ? `You ${shown}` : shown;
}

// Return Maxie's chance to win at a ply: by the engine's review, else by the players' latest values, else by armies; null if
// none is known.
export function standing(match, ply, judged = /** @type {number | undefined} */ (undefined)) {
  const { end, moves, game, setup } = match;
  if (end && ply === moves.length && end.winner) return end.winner === "maxie" ? 1 : 0;
  if (end && ply === moves.length) return 0.5;
  if (judged !== undefined) return judged;
  if (!setup.armies_to_win || !game.score) return null;
  return chanceAt(match, ply);
}
