// The engine's review of a finished match: Maxie's chance of winning after each move, and the way from mistake to mistake.

import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { SEATS, SIDES, plural } from "../text.js";
import { mayReview, read, reviewOfMoves } from "./engine.js";
import { percent } from "./values.js";

const FEW = 5; // mistakes that the reader is led to before asking for all: those that cost most

export class Review {
  // changed(ply) is called after each change of what the review says; when it is ready, with the ply after the largest mistake.
  // go(ply) is called where the reader goes to a mistake. `of`: the server reviews the "stored" match or its "moves"; empty for no
  // review.
  constructor(match, { changed, go, of = "" }) {
    this.match = match;
    this.of = of;
    this.changed = changed;
    this.offered = false; // the server reviews such matches
    this.asking = false;
    this.moves = /** @type {any[]} */ ([]); // { mark, chance, chance_lost, line } of each move; empty before the review is there
    this.accuracy = /** @type {Record<string, number>} */ ({}); // of each player in per cent
    this.ply = 0;
    this.button = h("button", { type: "button", class: "button wordy", hidden: true, onclick: () => this.ask() }, "Analyse");
    this.next = h("button", { type: "button", class: "button wordy next-mistake", hidden: true, onclick: () => go(this.nextMistake()) });
    this.head = h("h2", { class: "mistake-head", hidden: true });
    this.isWhole = false; // all mistakes are shown
    this.all = h("button", { type: "button", class: "small all-mistakes", hidden: true, onclick: () => this.toggle() });
    this.told = h("p", { role: "status" });
    this.played = h("p", null);
    this.element = h("div", { class: "review", hidden: true }, this.told, this.head, this.played, this.all);
    this.over = false;
    if (of) {
      mayReview(match).then((offered) => {
        this.offered = offered;
        this.offer(this.over);
      });
    }
  }

  get ready() {
    return this.moves.length > 0;
  }

  // Offer the review of a match that is over, as the reader knows.
  offer(over) {
    this.over = over;
    set(this.button, { hidden: !this.offered || !over || this.ready || this.asking || !this.match.moves.length });
  }

  // Tell of the move that led to a ply, if it was a mistake.
  show(over, ply) {
    this.offer(over);
    this.ply = ply;
    set(this.element, { hidden: !this.told.textContent });
    if (!this.ready) return;
    const { mistakes, ranked } = this;
    set(this.head, { hidden: !ranked.length });
    set(this.next, { hidden: mistakes.every((each) => each === ply) });
    say(this.next, mistakes.some((each) => each > ply) ? "Next mistake" : "First mistake");
    set(this.all, { hidden: ranked.length <= FEW });
    say(this.all, this.isWhole ? `Show the ${FEW} largest` : `Show all ${ranked.length}`);
    say(this.head, this.heading(ply));
    this.played.replaceChildren(...this.words(ply));
  }

  // Show all mistakes, or the largest alone.
  toggle() {
    this.isWhole = !this.isWhole;
    this.changed();
  }

  // Return which of the shown mistakes a ply comes after, or how many there are.
  heading(ply) {
    const { mistakes, ranked } = this;
    const some = mistakes.length < ranked.length;
    if (mistakes.includes(ply)) return `${some ? "Large mistake" : "Mistake"} ${mistakes.indexOf(ply) + 1} of ${mistakes.length}`;
    if (this.mark(ply)) return "A smaller mistake";
    return some ? `${mistakes.length} large mistakes of ${ranked.length}` : plural(ranked.length, "mistake");
  }

  // Return the loss of the move that led to a ply, in words and elements; otherwise that of the largest mistake.
  words(ply) {
    const { match, ranked: [largest] } = this;
    if (!largest) return ["Neither player made a mistake."];
    if (!this.mark(ply)) return [h("strong", null, `The largest: move ${largest}`), h("span", null, this.loss(largest))];
    return [h("strong", null, `${match.game.text(match.moves[ply - 1].move)} `, h("span", { class: "mark" }, this.mark(ply))), h("span", null, this.loss(ply))];
  }

  // Return { words, seat }, the sentence about the mistake that led to a ply; null if it was none.
  sentence(ply) {
    if (!this.mark(ply)) return null;
    const seat = this.match.seatOf(ply - 1);
    const kind = ply === this.ranked[0] ? "The largest mistake," : this.mistakes.includes(ply) ? "A mistake" : "A small mistake";
    return { words: `${kind} by ${this.match.players[seat]}`, seat };
  }

  async ask() {
    const { match } = this;
    if (this.ready || this.asking) return;
    this.asking = true;
    this.tell("Analysing…");
    try {
      const { players, moves } = await fetchJson(this.of === "stored" ? `review/${encodeURIComponent(match.id)}` : reviewOfMoves(match));
      if (moves.length !== match.moves.length) throw new Error("The review belongs to another match. Reload the page.");
      this.asking = false;
      this.moves = moves;
      match.judged = moves.map(({ chance }) => chance);
      for (const seat of SEATS) if (players[seat]) this.accuracy[seat] = Math.round(players[seat].accuracy);
      set(this.told, { class: "unseen" }); // the scoreboard shows it
      this.tell(`Accuracy: ${SEATS.filter((seat) => players[seat]).map((seat) => `${SIDES[seat]} ${this.accuracy[seat]} %`).join(", ")}`, this.ranked[0]);
    } catch (error) {
      this.asking = false;
      this.tell(error.message);
    }
  }

  tell(words, ply = /** @type {number | undefined} */ (undefined)) {
    say(this.told, words);
    this.changed(ply);
  }

  // Plies after all mistakes, the one that cost most first.
  get ranked() {
    return this.moves.flatMap(({ mark }, n) => (mark ? [n + 1] : [])).sort((a, b) => this.lost(b) - this.lost(a));
  }

  // Return the chance of winning that the move lost which led to a ply.
  lost(ply) {
    return this.moves[ply - 1].chance_lost;
  }

  // Plies after the mistakes that graph, slider and list of moves mark, in the order of the match.
  get mistakes() {
    return this.ranked.slice(0, this.isWhole ? undefined : FEW).sort((a, b) => a - b);
  }

  // The mark of the move that led to a ply: ?!, ?, ??, or none.
  mark(ply) {
    return this.moves[ply - 1]?.mark ?? "";
  }

  // The better line of the engine instead of the move that led to a ply; empty if the move was as good.
  better(ply) {
    const { match } = this;
    return this.mark(ply) ? read(match.game, match.positions[ply - 1], this.moves[ply - 1].line) : [];
  }

  // Return the ply of the next mistake; after the last one, that of the first.
  nextMistake() {
    const { mistakes } = this;
    return mistakes.find((each) => each > this.ply) ?? mistakes[0];
  }

  // Return the mover's chance of winning after the move that led to a ply, beside that after the better move.
  loss(ply) {
    const { chance, chance_lost: lost } = this.moves[ply - 1];
    const seat = this.match.seatOf(ply - 1);
    const left = seat === "maxie" ? chance : 1 - chance;
    return `${SIDES[seat]}’s chance ${percent(left)} instead of ${percent(Math.min(1, left + lost))}`.replaceAll(" %", "\u00a0%"); // never a lone sign in a line
  }

  // Return what a mistake was, in one line.
  describe(ply) {
    return `${this.mark(ply)} ${this.loss(ply)}`;
  }
}
