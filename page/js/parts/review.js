// The engine's review of a finished match: Maxie's chance of winning after each move, and the way from mistake to mistake.

import { fetchJson } from "../api.js";
import { undecided } from "../chances.js";
import { h, say, set } from "../dom.js";
import { SEATS, SIDES, other, plural } from "../text.js";
import { mayReview, read, reviewOfMoves } from "./engine.js";
import { percent } from "./values.js";

const DECISIVE = 5; // mistakes that are told one after the other, and marked on the slider and on the graph

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
    this.ply = 0;
    this.button = h("button", { type: "button", class: "button wordy", hidden: true, onclick: () => this.ask() }, "Analyse");
    this.shape = h("span", { class: "shape", role: "img", hidden: true }); // whose mistake it was
    this.number = h("span");
    this.heading = h("h2", null, this.shape, this.number);
    const step = (label, text, to) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => go(to()) }, text);
    this.head = h("div", { class: "mistake-head", hidden: true }, this.heading,
      step("Previous mistake", "‹", () => first(this.decisive.reverse(), (each) => each < this.ply)),
      step("Next mistake", "›", () => first(this.decisive, (each) => each > this.ply)));
    this.played = h("p", { class: "played" });
    this.told = h("p", { role: "status" });
    this.element = h("div", { class: "review", hidden: true }, this.head, this.told, this.played);
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
    const { mistakes: { length }, decisive } = this;
    set(this.head, { hidden: !length });
    const marked = this.mark(ply);
    say(this.number, marked ? this.name(ply) : length > decisive.length ? `${decisive.length} largest of ${length} mistakes` : plural(length, "mistake"));
    const seat = marked ? this.match.seatOf(ply - 1) : null;
    set(this.shape, { hidden: !seat, "aria-label": seat && `${SIDES[seat]}:` });
    set(this.heading, { "data-owner": seat });
    this.played.replaceChildren(...this.words(ply));
  }

  // Return which mistake led to a ply: its number among the marks of the graph.
  name(ply) {
    const { decisive: { length }, decisive, largest } = this;
    if (!decisive.includes(ply)) return "A smaller mistake";
    if (length === 1) return "The only mistake";
    return `${ply === largest ? "Largest mistake ·" : "Mistake"} ${decisive.indexOf(ply) + 1} of ${length}`;
  }

  // Return the ply whose position is shown at a ply: before a mistake, one sees what could have been played instead.
  shownPly(ply) {
    return this.mark(ply) ? ply - 1 : ply;
  }

  // Return how the mover's chance fell from that with the better move with the move that led to a ply, the better move and this one, a line for each arrow on the map, with the chance after it,
  // and the reason; after a move that was no mistake, return the loss of the largest mistake.
  words(ply) {
    const { match, largest } = this;
    if (!largest) return ["Neither player made a mistake."];
    if (!this.mark(ply)) return [h("strong", null, `The largest: move ${largest}`), h("span", null, this.loss(largest))];
    const { best, left } = this.chances(ply);
    const [better] = this.better(ply);
    const seat = match.seatOf(ply - 1);
    const fall = h("span", { class: "fall" }, h("span", { "data-owner": seat }, match.players[seat]), h("strong", null, ` ${best.replace("\u00a0%", "")} → ${left}`));
    const line = (name, move, chance, { mark = "", kind = /** @type {string | null} */ (null) }) => h("span", { class: "of-arrow", "data-kind": kind },
      h("strong", null, h("span", { class: "which" }, `${name}: `), `${match.game.text(move)}${mark ? "\u00a0" : " "}`, mark ? h("span", { class: "mark" }, mark) : null), h("span", null, chance));
    const reason = this.reason(ply);
    return [fall, better && line("Best", better, best, { kind: "better" }), line("Played", match.moves[ply - 1].move, left, { mark: this.mark(ply) }),
      reason && h("span", { class: "reason" }, reason)].filter(Boolean);
  }

  // Return in a sentence why the move that led to a ply was a mistake, as far as the next move or the better one tells; empty if neither does.
  reason(ply) {
    const { match: { game, moves, positions }, match } = this;
    if (!game.told) return "";
    const [before, after] = [positions[ply - 1], positions[ply]];
    const [{ move }, reply] = moves.slice(ply - 1, ply + 1);
    const [better] = this.better(ply);
    const seat = match.seatOf(ply - 1);
    if (game.told(before, move).what === "lost") return `The attack on ${game.names[move[1]]} fails.`;
    if (better && game.outcome(game.play(before, better))?.winner === seat) return "The better move wins the match at once.";
    const answer = reply && game.told(after, reply.move);
    if (answer?.what === "won") return `${match.players[other(seat)]} takes ${game.names[reply.move[1]]}${reply.move[1] === move[1] ? " back" : ""} at once, ${answer.came} against ${answer.stood}.`;
    const taken = better && game.told(before, better);
    return taken?.what === "won" ? `The better move takes ${game.names[better[1]]}, ${taken.came} against ${taken.stood}.` : "";
  }

  // Return { words, seat }, the sentence about the mistake that led to a ply; null if it was none.
  sentence(ply) {
    if (!this.mark(ply)) return null;
    const seat = this.match.seatOf(ply - 1);
    return { words: `${ply === this.largest ? "The largest mistake," : "A mistake"} by ${this.match.players[seat]}`, seat };
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
      match.judged = this.judge();
      const accuracy = SEATS.filter((seat) => players[seat]).map((seat) => `${match.players[seat]} ${Math.round(players[seat].accuracy)} %`);
      this.tell(`Accuracy: ${accuracy.join(", ")}`.replaceAll(" %", "\u00a0%"), this.largest);
    } catch (error) {
      this.asking = false;
      this.tell(error.message);
    }
  }

  // Return Maxie's chance after each move: before a mistake, that with the better move, which is searched more deeply.
  judge() {
    return this.moves.map(({ chance }, n) => (this.mark(n + 2) && !this.mark(n + 1) ? this.before(n + 2) : chance));
  }

  tell(words, ply = /** @type {number | undefined} */ (undefined)) {
    say(this.told, words);
    this.changed(ply);
  }

  // Plies after the mistakes, in the order of the match.
  get mistakes() {
    return this.moves.flatMap(({ mark }, n) => (mark ? [n + 1] : []));
  }

  // Plies after the mistakes that cost most, in the order of the match.
  get decisive() {
    return this.mistakes.sort((a, b) => this.lost(b) - this.lost(a)).slice(0, DECISIVE).sort((a, b) => a - b);
  }

  // The ply after the mistake that cost most; undefined if there is none.
  get largest() {
    const { mistakes } = this;
    return mistakes.find((ply) => mistakes.every((each) => this.lost(each) <= this.lost(ply)));
  }

  // Return the chance of winning that the move lost which led to a ply.
  lost(ply) {
    return this.moves[ply - 1].chance_lost;
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

  // Return Maxie's chance before the move that led to a ply: that with the better move.
  before(ply) {
    const { chance, chance_lost: lost } = this.moves[ply - 1];
    return undecided(this.match.seatOf(ply - 1) === "maxie" ? chance + lost : chance - lost);
  }

  // Return Maxie's chance after the move that led to a ply.
  after(ply) {
    return undecided(this.moves[ply - 1].chance);
  }

  // Return the mover's chance of winning with the better move, and after the one that was played.
  chances(ply) {
    const own = (share) => (this.match.seatOf(ply - 1) === "maxie" ? share : 1 - share);
    const [best, left] = [this.before(ply), this.after(ply)].map((each) => percent(own(each)).replace(" %", "\u00a0%")); // never a lone sign in a line
    return { best, left };
  }

  // Return the same in a sentence.
  loss(ply) {
    const { best, left } = this.chances(ply);
    return `${this.match.players[this.match.seatOf(ply - 1)]}’s chance falls from ${best} to ${left}`;
  }

  // Return what a mistake was, in one line.
  describe(ply) {
    return `${this.mark(ply)} ${this.loss(ply)}`;
  }
}

// Return the first of some plies that fits; after the last one, the first of all.
const first = (plies, fits) => plies.find(fits) ?? plies[0];
