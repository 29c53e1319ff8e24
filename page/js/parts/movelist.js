// The moves, each a link to its ply. The current one stays in sight.

import { loadMapData } from "../boards/mapdata.js";
import { h, say, set } from "../dom.js";
import { SIDES, isOfWords, spent } from "../text.js";

const MAX_NAME_LENGTH = 10; // letters from which on a name is shortened

export class MoveList {
  // review: the engine's review, whose mistakes are marked beside the moves.
  constructor(match, link, review) {
    this.match = match;
    this.review = review;
    this.link = link;
    this.items = [];
    this.tried = /** @type {HTMLElement[]} */ ([]); // moves of the reader's own line
    this.current = /** @type {any} */ (null);
    this.element = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
    new ResizeObserver(() => this.follow()).observe(this.element);
    this.shortNames = new Map(); // of the places that have one, for a narrow list
    if (match.game.names) loadMapData(match.game.setup).then(({ short_names: short }) => this.abbreviate(short));
  }

  abbreviate(short) {
    this.shortNames = new Map(this.match.game.names.map((name, v) => [name, short[v]]));
    for (const place of this.element.querySelectorAll(".text > span")) set(place, this.shortOf(place.textContent));
  }

  // Scroll until the current move is in sight.
  follow() {
    const current = this.tried.at(-1) ?? this.current?.element;
    if (!current) return;
    const [move, list] = [current, this.element].map((each) => each.getBoundingClientRect());
    // Not scrollIntoView, which would scroll the page too.
    if (move.top < list.top || move.bottom > list.bottom) this.element.scrollTop += move.top - (list.top + list.bottom) / 2;
  }

  // Show the moves up to the ply `seen`, and mark the move of `ply`. `tried`: the reader's own line after them, as Explorer has it.
  show(ply, seen, tried = /** @type {any[]} */ ([])) {
    const { match } = this;
    for (const each of this.tried) each.remove();
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
    this.tried = tried.map((each, n) => h("li", { class: "tried" }, h("span", { "aria-current": n === tried.length - 1 ? "step" : null, "data-owner": each.seat }, h("span", { class: "number" }, each.ply),
      h("span", { class: "shape", role: "img", "aria-label": SIDES[each.seat] }), h("span", { class: "text" }, this.parted(match.game.text(each.move))), h("span", { class: "battle" }, each.chances))));
    this.element.append(...this.tried);
    if (this.current) set(this.current.anchor, { "aria-current": null });
    this.current = this.items[ply - 1];
    if (this.current) set(this.current.anchor, { "aria-current": tried.length ? null : "step" });
    this.follow();
  }

  item(n) {
    const { move, ms } = this.match.moves[n];
    const { game, positions } = this.match;
    const told = game.told?.(positions[n], move);
    const fight = told && h("span", { class: "battle" }, told.what === "took" ? "moved in" : told.what === "joined" ? `joined ${told.stood}`
      : [`${told.came} vs ${told.stood} `, h("span", { class: "ending", "data-what": told.what }, told.what)]);
    const said = game.text(move);
    const text = h("span", { class: "text" }, this.parted(said));
    const time = ms === undefined ? "" : spent(ms);
    const mark = h("strong", { class: "mark" });
    const shape = h("span", { class: "shape", role: "img" });
    const anchor = h("a", { href: this.link(n + 1), title: time ? `${said} · ${time}` : said },
      h("span", { class: "number" }, n + 1), shape, text, mark, fight);
    return { played: this.match.moves[n], anchor, shape, text, mark, element: h("li", null, anchor) };
  }

  // Return the text of a move with an element for each of its places, so that each can be shortened.
  parted(/** @type {string} */ text) {
    return text.split(" → ").flatMap((each, n) => (
      [n ? " → " : null, h("span", { "data-long": each.length > MAX_NAME_LENGTH, ...this.shortOf(each) }, each)]));
  }

  // Return the attributes of a place with the short form of its name: a few words, as in "West. US", or a code of capital letters.
  shortOf(name) {
    const short = this.shortNames.get(name);
    return { "data-short": short, "data-words": isOfWords(short) };
  }
}
