// Evaluation bar: both players above a bar that shows the chances of winning.

import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";
import { chance, percent } from "./values.js";

export class EvalBar {
  // names: true if both players are named above the bar.
  constructor({ names = true } = {}) {
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("strong", { class: "share-of" }));
    this.bar = svg("svg", { class: "tug-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "minnie", width: 100, height: 4 }), svg("rect", { class: "maxie", width: 50, height: 4 }));
    this.element = h("div", { class: "tug" }, SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      names ? [h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n]] : null, this.shares[n])), this.bar);
  }

  // Show the evaluation at a ply; only the leader has a number. `judged`: Maxie's chance by the engine's review.
  show(match, ply, judged = /** @type {number | undefined} */ (undefined)) {
    const share = standing(match, ply, judged);
    set(this.element, { "data-unknown": share === null });
    SEATS.forEach((seat, n) => {
      say(this.names[n], match.players[seat]);
      set(this.names[n], { title: match.players[seat] });
      const own = share === null ? null : n ? 1 - share : share;
      say(this.shares[n], own === null || own < 0.5 || (n && own === 0.5) ? "" : own === 1 ? "wins" : percent(Math.min(0.99, own)));
    });
    set(this.bar.lastElementChild, { width: (100 * (share ?? 0.5)).toFixed(1) });
  }
}

// Return Maxie's chance to win at a ply: by the engine's review, else by the latest value of a player, else by armies; null
// if none is known.
export function standing(match, ply, judged = /** @type {number | undefined} */ (undefined)) {
  const { end, moves, positions, game, setup } = match;
  if (end && ply === moves.length && end.winner) return end.winner === "maxie" ? 1 : 0;
  if (end && ply === moves.length) return 0.5;
  if (judged !== undefined) return judged;
  if (!setup.armies_to_win || !game.score) return null;
  const said = moves[ply - 1]?.thinking?.value;
  if (typeof said === "number") return chance(said, setup);
  const { maxie, minnie } = game.score(positions[ply]);
  return chance(100 * (maxie.armies - minnie.armies), setup);
}
