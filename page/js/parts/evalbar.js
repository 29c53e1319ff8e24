// Evaluation bar: both players above one bar. It shows the chances of winning or, where it is wide, the race to the goal, with the
// leader's chance in its middle.

import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";

export class EvalBar {
  // names: true if both players are named above the bar. wide: true for a thin bar with its number beside it; if the players are named,
  // their armies are beside their names, `title` is between them, and the bar is their race. own: the reader's seat, null for a
  // spectator.
  constructor({ names = true, wide = false, own = /** @type {string | null} */ (null), title = /** @type {HTMLElement | null} */ (null) } = {}) {
    this.own = own;
    this.wide = wide;
    this.names = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("strong", { class: "share-of" }));
    this.armies = SEATS.map(() => h("strong", { class: "held" }));
    this.goal = h("span");
    this.runs = SEATS.map((seat) => svg("svg", { "data-owner": seat, viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { height: 4 })));
    this.race = names && wide ? h("p", { class: "race" }, this.runs[0], h("span", { class: "finish" }, h("span", null, "First to "), this.goal, h("span", null, " armies")), this.runs[1]) : null;
    this.bar = this.race ? null : svg("svg", { class: "tug-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "minnie", width: 100, height: 4 }), svg("rect", { class: "maxie", width: 50, height: 4 }));
    this.element = h("div", { class: wide ? "tug wide" : "tug", "data-seat": own, "data-unknown": true }, title, SEATS.map((seat, n) => h("p", { class: "tug-side", "data-owner": seat },
      names ? [h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), this.names[n]] : null, this.shares[n],
      this.race && this.armies[n])), this.race ?? this.bar);
  }

  // Show the chances and the race at a ply; only the leader has a number, or the reader.
  show(match, ply) {
    const share = chanceAt(match, ply);
    const over = Boolean(match.end) && ply === match.moves.length;
    const chances = percentages(share ?? 0.5);
    set(this.element, { "data-unknown": share === null, "data-even": chances.maxie === 50 });
    SEATS.forEach((seat, n) => {
      say(this.names[n], match.players[seat]);
      set(this.names[n], { title: match.players[seat] });
      const leads = chances[seat] > 50 || (chances[seat] === 50 && !n);
      const told = share !== null && (this.own ? seat === this.own : leads);
      say(this.shares[n], told ? this.worded(over ? match.end : null, seat, chances[seat]) : "");
    });
    if (this.race) this.showRace(match, ply);
    else set(this.bar.lastElementChild, { width: chances.maxie });
    // The bars run on from move to move, but not from one match to the next.
    if (match !== this.match) for (const run of this.element.getAnimations({ subtree: true })) run.finish();
    this.match = match;
  }

  // Show both players' armies, and their shares of the goal, in a game that is won by a number of armies.
  showRace({ game, positions, setup }, ply) {
    const score = game.score?.(positions[ply]);
    set(this.element, { "data-goal": Boolean(score) });
    if (score) say(this.goal, String(setup.armies_to_win));
    SEATS.forEach((seat, n) => {
      say(this.armies[n], score ? String(score[seat].armies) : "");
      set(this.runs[n].firstElementChild, { width: score ? Math.min(100, Math.round((100 * score[seat].armies) / setup.armies_to_win)) : 0 });
    });
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
