// The engine's review of a finished match: Maxie's chance of winning after each move, and the mover's loss.

import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { SEATS, SIDES } from "../text.js";
import { read, reviewFor, reviewOfMoves } from "./engine.js";
import { percent } from "./values.js";

export class Review {
  // changed() is called when the review is ready. `of`: the server reviews the "stored" match or its "moves"; empty for no review.
  constructor(match, changed, of = "") {
    this.match = match;
    this.of = of;
    this.changed = changed;
    this.available = false;
    this.asking = false;
    this.moves = /** @type {any[]} */ ([]); // { mark, chance, chance_lost, line } of each move; empty before the review is there
    this.button = h("button", { type: "button", class: "small", onclick: () => this.ask() }, "Analyse");
    this.told = h("span", { class: "quiet", role: "status" });
    this.element = h("span", { class: "review" }, this.button, this.told);
    this.over = false;
    this.show(false);
    if (of) {
      reviewFor(match).then((found) => {
        this.available = found;
        this.show(this.over);
      });
    }
  }

  // Offer the review of a match that is over, as the reader knows.
  show(over) {
    this.over = over;
    set(this.element, { hidden: !this.available || !over || !this.match.moves.length });
  }

  async ask() {
    const { match } = this;
    if (this.moves.length || this.asking) return;
    this.asking = true;
    set(this.button, { hidden: true });
    say(this.told, "Analysing…");
    try {
      const { players, moves } = await fetchJson(this.of === "stored" ? `review/${encodeURIComponent(match.id)}` : reviewOfMoves(match));
      if (moves.length !== match.moves.length) throw new Error("The review belongs to another match. Reload the page.");
      this.moves = moves;
      match.judged = moves.map(({ chance }) => chance);
      say(this.told, `Accuracy: ${SEATS.filter((seat) => players[seat]).map((seat) => `${SIDES[seat]} ${Math.round(players[seat].accuracy)} %`).join(", ")}`);
      this.changed();
    } catch (error) {
      say(this.told, error.message);
      set(this.button, { hidden: false });
    } finally {
      this.asking = false;
    }
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

  // Return the ply of the next marked move after a ply; after the last one, that of the first.
  nextMistake(ply) {
    const marked = this.moves.flatMap(({ mark }, n) => (mark ? [n + 1] : []));
    return marked.find((each) => each > ply) ?? marked[0];
  }

  // Return the loss of the move that led to a ply, in words.
  describe(ply) {
    if (!this.mark(ply)) return "";
    const { mark, chance_lost: lost } = this.moves[ply - 1];
    const [move] = this.better(ply);
    return `${mark} Chance of winning down ${percent(lost)}${move !== undefined ? `; better: ${this.match.game.text(move)}` : ""}`;
  }
}
