// The rules of Riskless in twenty seconds: an example of nine plies on five territories, explained move by move.

import { MapBoard } from "../boards/map.js";
import { h, say } from "../dom.js";
import { Match } from "../match.js";
import { isStill } from "../preferences.js";
import { SIDES } from "../text.js";

const STEP_MS = 2000;
const SETUP = {
  territories: ["Oslo", "Riga", "Kyiv", "Rome", "Bari"],
  neighbours: [[1, 3], [0, 2, 3, 4], [1, 4], [0, 1, 4], [1, 2, 3]],
  places: [[0, 0], [20, 2], [40, 0], [9, 14], [31, 14]],
  territory_cap: 50, armies_to_win: 50, ply_limit: 100,
  start: [["maxie", 3], null, ["minnie", 4], null, null],
};
const MOVES = [[0, 1], [2, 4], [1, 2], [4, 1], [2, 4], [1, 0], [4, 1], [0, 1], [1, 0]];
const WORDS = [
  "Two players, one map, no dice. Blue moves first, then Orange.",
  "A move sends all armies from a territory to a neighbour.",
  "Then every held territory trains one more army.",
  "When armies meet, they fight: the larger number wins…",
  "…and keeps the difference: 7 against 1 leaves 6.",
  "If the numbers are equal, the attacker wins.",
  "A territory that you leave has only its new army.",
  "So a long march leaves your home open.",
  "Too few: the defender holds, with the armies left.",
  "Take the last territory or be the first with enough armies, and you win. Your turn!",
];

export class Primer {
  constructor() {
    this.match = new Match({ match: "primer", game: "riskless", setup: SETUP, players: SIDES, time_control: "1/move", engines: {} });
    for (const move of MOVES) this.match.add({ move });
    this.board = /** @type {MapBoard | null} */ (null); // drawn when it is first in sight: on a phone it is far below
    this.place = h("div", { class: "zoom" }, h("div", { class: "whole" })); // as high as the board
    this.words = h("p", { class: "told" });
    this.sight = new IntersectionObserver(([{ isIntersecting }]) => this.seen(isIntersecting));
    this.run = h("button", { type: "button", class: "small", onclick: () => this.toggle() }, "Pause");
    this.element = h("section", { class: "primer", "aria-label": "Riskless in 20 seconds" },
      h("div", { class: "stage-head" }, h("h2", null, "Riskless in 20 seconds"),
        h("button", { type: "button", class: "small", onclick: () => this.go((this.at + 1) % WORDS.length) }, "Next"), this.run),
      this.place, this.words);
    this.go(0);
    this.running = undefined;
    this.wanted = !isStill();
    say(this.run, this.wanted ? "Pause" : "Play");
    this.sight.observe(this.element);
  }

  // Play while visible, unless the reader has stopped it.
  seen(inSight) {
    clearInterval(this.running);
    if (inSight && !this.board) this.draw();
    this.running = inSight && this.wanted ? setInterval(() => document.hidden || this.go((this.at + 1) % WORDS.length), STEP_MS) : undefined;
  }

  draw() {
    this.board = new MapBoard(this.match.game, () => null, { whole: true });
    this.place.replaceWith(this.board.element);
    this.go(this.at);
  }

  go(ply) {
    const { match } = this;
    this.at = ply;
    this.board?.show(match.positions[ply], ply ? MOVES[ply - 1] : null, ply ? match.positions[ply - 1] : null);
    say(this.words, WORDS[ply]);
  }

  toggle() {
    this.wanted = !this.wanted;
    say(this.run, this.wanted ? "Pause" : "Play");
    this.seen(true);
  }

  stop() {
    this.sight.disconnect();
    this.seen(false);
  }
}
