// Evaluation bar: each player has as much of it as its chance of winning. The label of the player ahead, at its end of the bar, tells
// the chance, and at the end of the match who won.

import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";

export class EvalBar {
  // names: true if both players are named above the bar. armies: true if each is named with its armies and the goal. `title` is between
  // the players. own: the reader's seat, null for a spectator.
  constructor({ names = true, armies = names, own = /** @type {string | null} */ (null), title = /** @type {HTMLElement | null} */ (null) } = {}) {
    this.own = own;
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.leaders = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("span"));
    this.armies = SEATS.map(() => h("strong"));
    this.goals = SEATS.map(() => h("span", { class: "goal-of" }));
    this.labels = SEATS.map((seat, n) => h("strong", { class: "share-of", "data-owner": seat }, this.leaders[n], " ", this.shares[n]));
    this.bar = svg("rect", { class: "maxie", width: 50, height: 4 });
    const sides = names ? SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n],
      armies ? h("span", { class: "held" }, this.armies[n], this.goals[n]) : null)) : null;
    this.element = h("div", { class: "tug", "data-unknown": true }, title, sides, this.place = h("p", { class: "tug-bar" },
      svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "minnie", width: 100, height: 4 }), this.bar),
      this.labels));
  }

  // Show the chances at a ply, and each player's armies.
  show(match, ply) {
    const share = chanceAt(match, ply);
    const end = ply === match.moves.length ? match.end : null;
    const chances = percentages(share ?? 0.5);
    const ahead = SEATS.find((seat) => chances[seat] > 50);
    const score = match.game.score?.(match.positions[ply]);
    set(this.element, { "data-unknown": share === null });
    set(this.place, { title: end ? null : "Chance of winning" });
    set(this.bar, { width: chances.maxie });
    SEATS.forEach((seat, n) => {
      const name = match.players[seat];
      say(this.names[n], name);
      set(this.names[n], { title: name });
      say(this.armies[n], score ? String(score[seat].armies) : "");
      say(this.goals[n], score ? ` / ${match.setup.armies_to_win}` : "");
      this.labels[n].style.maxWidth = `${Math.max(50, chances[seat])}%`; // on its own part of the bar
      say(this.leaders[n], share === null || seat !== ahead ? "" : this.own === seat ? "You" : name);
      say(this.shares[n], share === null || seat !== (ahead ?? "maxie") ? "" : end ? this.result(end) : ahead ? `${chances[seat]} % to win` : "Even");
    });
  }

  // Return the result of a match in words that follow the winner's name.
  result({ winner, reason }) {
    if (reason === "server_fault") return "Void";
    if (!winner) return "Draw";
    return winner === this.own ? "win" : "wins";
  }
}
