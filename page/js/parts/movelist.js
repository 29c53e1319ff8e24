// The moves, each a link to its ply. The current one stays in sight.

import { h, say, set } from "../dom.js";
import { SIDES, spent } from "../text.js";

const OPEN_SHEET = ".viewer:is([data-sheet=half], [data-sheet=full]) > .sheet"; // of a phone
const MAX_NAME_LENGTH = 10; // letters from which on a name is shortened
const MAX_SHIFT_PX = 48; // by which the sentences above the list may have moved it down

export class MoveList {
  // review: the engine's review, whose marks stand beside the moves.
  constructor(match, link, review) {
    this.match = match;
    this.review = review;
    this.link = link;
    this.items = [];
    this.current = /** @type {any} */ (null);
    this.element = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
    let before = "";
    new ResizeObserver(([{ contentRect: { width } }]) => {
      const size = `${width} ${this.frame.clientHeight}`; // in an open sheet each new move changes the height of the list
      if (size !== before) this.follow();
      before = size;
    }).observe(this.element);
  }

  // Return the element that scrolls: the list itself, or the open sheet that contains all of it.
  get frame() {
    const sheet = this.element.closest(OPEN_SHEET);
    return sheet?.clientHeight ? sheet : this.element;
  }

  // Return the distance of the current move from the middle of its frame; 0 if the move is in sight, or at most so many pixels beside it.
  distance(beside = 0) {
    if (!this.current) return 0;
    const { frame } = this;
    const [move, box] = [this.current.element, frame].map((each) => each.getBoundingClientRect());
    const top = frame === this.element ? box.top : frame.querySelector(".controls").getBoundingClientRect().bottom;
    return move.top >= top - beside && move.bottom <= box.bottom + beside ? 0 : move.top - (top + box.bottom) / 2;
  }

  // Scroll until the current move is in sight.
  follow() {
    const distance = this.distance();
    if (distance) this.frame.scrollTop += distance; // not scrollIntoView, which would scroll the page too
  }

  // Show the moves up to the ply `seen`, and mark the move of `ply`.
  show(ply, seen) {
    const { match } = this;
    const followed = this.frame === this.element || !this.distance(MAX_SHIFT_PX); // a reader of the sheet may look at something else
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
    if (followed) this.follow();
  }

  item(n) {
    const { move, ms } = this.match.moves[n];
    const { game, positions } = this.match;
    const told = game.told?.(positions[n], move);
    const fight = told && (told.what === "won" || told.what === "lost")
      ? h("span", { class: "battle" }, `${told.came} vs ${told.stood}`, h("span", { class: "what" }, ` ${told.what}`)) : null;
    const said = game.text(move);
    const text = h("span", { class: "text" }, parted(said));
    const time = ms === undefined ? "" : spent(ms);
    const mark = h("strong", { class: "mark" });
    const shape = h("span", { class: "shape", role: "img" });
    const anchor = h("a", { href: this.link(n + 1), title: time ? `${said} · ${time}` : said },
      h("span", { class: "number" }, n + 1), shape, text, mark, fight);
    return { played: this.match.moves[n], anchor, shape, text, mark, element: h("li", null, anchor) };
  }
}

// Return the text of a move with an element for each of its places, so that each can be shortened.
const parted = (/** @type {string} */ text) => text.split(" → ").flatMap((each, n) => (
  [n ? " → " : null, h("span", { "data-long": each.length > MAX_NAME_LENGTH }, each)]));
