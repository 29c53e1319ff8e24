// The moves, each a link to its ply.

import { h, say, set } from "../dom.js";
import { SEATS, SEAT_NAMES, spent } from "../text.js";

export class MoveList {
  constructor(match, link) {
    this.match = match;
    this.link = link;
    this.items = [];
    this.element = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
  }

  show(ply) {
    const { match } = this;
    while (this.items.length > match.moves.length) this.items.pop().element.remove();
    match.moves.forEach((played, n) => {
      const old = this.items[n];
      if (old?.played === played) return;
      this.items[n] = this.item(n); // of a move of one's own it is known only later how long it took
      if (old) old.element.replaceWith(this.items[n].element);
      else this.element.append(this.items[n].element);
    });
    // What a move of somebody's own game reads like may come later than the move.
    this.items.forEach(({ text }, n) => say(text, match.game.text(match.moves[n].move)));
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
    const seat = SEATS[n % 2];
    const told = game.told?.(positions[n], move);
    const fight = told && (told.what === "won" || told.what === "lost")
      ? h("span", { class: "battle" }, `${told.came} × ${told.stood} ${told.what}`) : null;
    const text = h("span", { class: "text" }, game.text(move));
    const anchor = h("a", { href: this.link(n + 1), "data-owner": seat },
      h("span", { class: "number" }, n + 1),
      h("span", { class: "shape", role: "img", "aria-label": SEAT_NAMES[seat] }),
      text,
      h("span", { class: "more" }, fight, h("span", { class: "ms" }, ms === undefined ? "" : spent(ms))));
    return { played: this.match.moves[n], anchor, text, element: h("li", null, anchor) };
  }
}
