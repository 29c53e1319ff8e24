// The end of a match, over its board: winner, reason, and possible next steps.

import { h, say, set } from "../dom.js";
import { SEATS, SIDES, headline, how, other, result } from "../text.js";

export class GameOver {
  // seat: the reader's seat, null for a spectator.
  constructor(seat = /** @type {string | null} */ (null)) {
    this.seat = seat;
    this.words = h("p", { class: "finale-words" });
    this.reason = h("p", { class: "quiet" });
    this.armies = SEATS.map(() => h("span", null));
    this.score = h("p", { class: "finale-score" }, SEATS.map((each, n) => h("span", { "data-owner": each },
      h("span", { class: "shape", role: "img", "aria-label": SIDES[each] }), this.armies[n])));
    this.place = h("div", { class: "finale-actions" });
    this.element = h("section", { class: "finale", "aria-label": "Result", hidden: true },
      h("div", { class: "finale-box" }, this.words, this.reason, this.score, this.place));
  }

  // Scroll until the end is in sight.
  reveal() {
    this.element.firstElementChild.scrollIntoView({ block: "nearest" });
  }

  // Show the end of a match, or hide it.
  show(match, shown) {
    set(this.element, { hidden: !shown });
    if (!shown) return;
    const { end, players, game } = match;
    const score = game.score?.(match.last);
    const armies = score ? SEATS.map((seat) => score[seat].armies) : null;
    set(this.element, { "data-owner": end.winner });
    say(this.words, headline(end, players, this.seat, armies));
    say(this.reason, this.why(end, players));
    set(this.score, { hidden: !armies || Boolean(this.seat) || end.reason === "server_fault" });
    SEATS.forEach((seat, n) => {
      say(this.armies[n], armies ? String(armies[n]) : "");
      set(this.armies[n].parentElement, { "data-won": end.winner === seat });
    });
  }

  // Return why the match is over, as it follows the headline.
  why(end, players) {
    if (end.reason === "server_fault") return "server error";
    const told = how(end, players);
    const loser = end.winner && !this.seat ? players[other(end.winner)] : null; // a player knows who the opponent was
    if (loser && !told.includes(loser)) return `against ${loser}${told}`;
    if (!this.seat || !end.winner || end.winner === this.seat) return told.replace(/^:? /, "");
    return end.reason === "resignation" ? `${players[end.winner]} wins` : result(end, players); // who has resigned knows why
  }
}
