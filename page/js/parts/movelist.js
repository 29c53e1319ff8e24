// The moves, each a link to its ply.

import { h, say, set } from "../dom.js";
import { SIDES, spent } from "../text.js";

export class MoveList {
  // review: the engine's review, whose marks stand beside the moves.
  constructor(match, link, review) {
    this.match = match;
    this.review = review;
    this.link = link;
    this.items = [];
    this.element = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
  }

  // Show the moves up to the ply `seen`, and mark the move of `ply`.
  show(ply, seen) {
    const { match } = this;
    const moves = match.moves.slice(0, seen);
    while (this.items.length > moves.length) this.items.pop().element.remove();
    moves.forEach((played, n) => {
      const old = this.items[n];
      if (old?.played === played) return;
      this.items[n] = this.item(n); // the duration of the reader's move is known only later
      if (old) old.element.replaceWith(this.items[n].element);
      else this.element.append(this.items[n].element);
    });
    // The text of a move of a user-defined game, and its player, may arrive later than the move.
    this.items.forEach(({ anchor, shape, text, mark }, n) => {
      const seat = match.seatOf(n);
      set(anchor, { "data-owner": seat });
      set(shape, { "aria-label": SIDES[seat] });
      say(text, match.game.text(match.moves[n].move));
      say(mark, this.review.mark(n + 1));
    });
    if (this.current) set(this.current.anchor, { "aria-current": null });
    this.current = this.items[ply - 1];
    if (!this.current) return;
    set(this.current.anchor, { "aria-current": "step" });
    const { element } = this.current;
    // Not scrollIntoView: that would scroll the page too.
    const top = element.offsetTop - this.element.offsetTop;
    if (top < this.element.scrollTop || top + element.offsetHeight > this.element.scrollTop + this.element.clientHeight) {
      this.element.scrollTop = top - this.element.clientHeight / 2;
    }
  }

  item(n) {
    const { move, ms } = this.match.moves[n];
    const { game, positions } = this.match;
    const told = game.told?.(positions[n], move);
    const fight = told && (told.what === "won" || told.what === "lost")
      ? h("span", { class: "battle" }, `${told.came} vs ${told.stood} ${told.what}`) : null;
    const text = h("span", { class: "text" }, game.text(move));
    const mark = h("strong", { class: "mark" });
    const shape = h("span", { class: "shape", role: "img" });
    const anchor = h("a", { href: this.link(n + 1) },
      h("span", { class: "number" }, n + 1), shape, text, mark,
      h("span", { class: "more" }, fight, h("span", { class: "ms" }, ms === undefined ? "" : spent(ms))));
    return { played: this.match.moves[n], anchor, shape, text, mark, element: h("li", null, anchor) };
  }
}
