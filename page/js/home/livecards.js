// The matches in progress, each as a card with a small animated board.

import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { Thumbnail } from "../boards/thumbnail.js";
import { Declared } from "../games/declared.js";
import { isSettled, summary } from "../story.js";
import { SEATS, botTitle, gameTitle, plural } from "../text.js";
import { cancel, batch } from "../batch.js";
import { Match } from "../match.js";
import { matchLink } from "../parts/matchlist.js";
import { followLive } from "../parts/livematches.js";
import { startThumb } from "../parts/mappicture.js";
import { Scoreboard } from "../parts/scoreboard.js";

const OVER_MS = 2000; // display time of a match's end, in which the next match may take its place
const MAX_DRAWN_AT_ONCE = 12; // cards up to which a new one has its map before it is known to be in sight
const MAX_WATCHED = 48; // matches that are watched at once: a connection may watch 64

export class LiveCards {
  // isOnStage(id) returns true for a match that a large board of the view shows, and which therefore has no card. changed() is called when a
  // card has left. `keepsPlaces`: a match that is over stays until the next one takes its place.
  constructor({ isOnStage = /** @type {(id: string) => boolean} */ (() => false), changed = /** @type {() => void} */ (() => undefined), keepsPlaces = false } = {}) {
    this.isOnStage = isOnStage;
    this.listed = /** @type {any[]} */ ([]);
    this.changed = changed;
    this.keepsPlaces = keepsPlaces;
    this.element = h("ul", { class: "cards boards" });
    this.cards = new Map();
    // Watch only visible matches, to save traffic.
    this.sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.look(/** @type {any} */ (target).dataset.match, isIntersecting);
    });
  }

  look(id, seen) {
    const card = this.cards.get(id);
    if (!card) return;
    card.unwatch?.();
    card.unwatch = null;
    const watched = [...this.cards.values()].filter((each) => each.unwatch).length;
    card.unwatch = seen && watched < MAX_WATCHED ? followLive(id, (state) => this.moved(card, state), () => this.gone(id)) : null;
    if (seen && card.map) this.drawStart(id, card);
  }

  // Draw a built-in map at its start until a position is known.
  drawStart(id, card) {
    const { map } = card;
    card.map = "";
    startThumb(map, (board) => {
      if (card.board || this.cards.get(id) !== card) return false;
      this.place(card, board);
      return true;
    });
  }

  place(card, board) {
    card.board?.stop();
    card.board = board;
    card.picture.replaceChildren(board.element);
  }

  // Show the listed matches that no large board shows. A match that is over, or on a large board by now, gives its place to a new one, or
  // leaves it soon, but not while the reader is at the card of a match in progress.
  show(listed) {
    this.listed = listed;
    const matches = listed.filter(({ match: id }) => !this.isOnStage(id) || (this.cards.has(id) && isAtReader(this.cards.get(id))));
    const ids = new Set(matches.map((each) => each.match));
    const fresh = spread(matches.filter((each) => !this.cards.has(each.match)));
    const over = [...this.cards].filter(([id]) => !ids.has(id))
      .sort(([, a], [, b]) => Number(Boolean(a.state)) - Number(Boolean(b.state))); // first those that were over before they were drawn
    for (const match of matches) if (this.cards.has(match.match)) this.tell(this.cards.get(match.match), match);
    for (const match of fresh) {
      const isTwin = [...this.cards].some(([id, { pairing }]) => ids.has(id) && pairing === pairingOf(match));
      const card = this.add(match);
      set(card.element, { "data-twin": isTwin });
      const [old] = over.splice(0, 1);
      if (old && !old[1].element.dataset.settled && (this.keepsPlaces || !isTwin)) old[1].element.replaceWith(card.element);
      else this.element.insertBefore(card.element, this.element.querySelector("[data-settled]"));
      if (old) this.drop(...old);
      this.tell(card, match);
      if (card.map && this.cards.size <= MAX_DRAWN_AT_ONCE) this.drawStart(match.match, card);
    }
    for (const [id, card] of over) if (!card.state?.end) this.gone(id);
  }

  // Show a listed match, of which no more may be known.
  tell(card, listed) {
    card.title = gameTitle(listed.game, listed.map);
    set(card.picture, { "data-title": card.title });
    say(card.place, card.title);
    if (!card.state) say(card.words, listed.ply ? plural(listed.ply, "move") : "Starting…");
  }

  add(match) {
    const players = Object.fromEntries(SEATS.map((seat) => [seat, botTitle(match.players[seat])]));
    const card = {
      mark: h("span", { class: "shape", role: "img" }), words: h("span"), place: h("span", { class: "quiet line" }), summary: h("span", { class: "summary-of" }),
      picture: h("span", { class: "picture-of" }), scoreboard: new Scoreboard({ compact: true }), link: /** @type {any} */ (null),
      element: /** @type {any} */ (null), board: /** @type {any} */ (null), unwatch: /** @type {any} */ (null),
      pairing: pairingOf(match), state: /** @type {any} */ (null), leaving: /** @type {any} */ (undefined), title: "", drawn: false,
      map: match.game === "riskless" ? match.map ?? "" : "", // to be drawn at its start
    };
    card.link = h("a", { class: "card live", href: matchLink(match.match) },
      card.picture, card.scoreboard.element, card.summary);
    card.summary.append(card.mark, card.words, card.place);
    card.element = h("li", { "data-match": match.match }, card.link);
    card.scoreboard.show({ players, bots: match.players, moves: [], positions: [], judged: [], setup: {}, game: {}, end: null }, 0);
    this.cards.set(match.match, card);
    this.sight.observe(card.element);
    return card;
  }

  moved(card, match) {
    card.state = match;
    this.draw(card);
  }

  // A large board shows a match, or no longer shows it.
  restage(id) {
    if (this.isOnStage(id) === this.cards.has(id) && this.listed.some((each) => each.match === id)) this.show(this.listed);
  }

  draw(card) {
    const match = card.state;
    const ply = match.moves.length;
    const over = Boolean(match.end);
    if (over && !this.keepsPlaces) card.leaving ??= setTimeout(() => this.gone(match.id), OVER_MS);
    batch(card, () => {
      const { words, seat } = summary(match, ply);
      card.scoreboard.show(match, ply);
      set(card.link, { "data-over": over });
      set(card.summary, { "data-owner": seat });
      set(card.mark, { "aria-label": seat && match.players[seat] });
      say(card.words, words);
    });
    // Nothing is at stake any more: the others come first, as soon as the reader is not at this card.
    if (!card.element.dataset.settled && !this.keepsPlaces && isSettled(match, ply) && !isAtReader(card)) {
      this.leaveUndecided(card.element);
      card.element.dataset.settled = "true";
    }
    if (match.game instanceof Declared) return; // its positions are on the server
    if (!card.drawn && !(card.board && isSameLand(card.board.game.setup, match.game.setup))) this.place(card, new Thumbnail(match.game));
    card.drawn = true;
    card.board.show(match.positions[ply], ply ? match.moves[ply - 1].move : null);
  }

  gone(id) {
    const card = this.cards.get(id);
    if (!card) return;
    if (!this.keepsPlaces) this.drop(id, card);
    else if (!card.state?.end) {
      set(card.link, { "data-over": true });
      set(card.summary, { "data-owner": null });
      say(card.words, "Finished");
    }
  }

  // Show the ends of finished matches, in new cards until there are `count`.
  fill(matches, count) {
    for (const match of matches) {
      if (!this.cards.has(match.match) && this.cards.size < count) this.element.append(this.add(match).element);
      const card = this.cards.get(match.match);
      if (card && !card.state?.end) this.complete(match, card);
    }
  }

  async complete(match, card) {
    this.tell(card, match);
    this.gone(match.match);
    const record = await fetchJson(`record/${encodeURIComponent(match.match)}`).catch(() => null); // without it, the card is still a link
    if (record && this.cards.get(match.match) === card) this.moved(card, Match.fromRecord(record));
  }

  drop(id, card) {
    clearTimeout(card.leaving);
    cancel(card);
    this.sight.unobserve(card.element);
    card.unwatch?.();
    card.board?.stop();
    // The last card takes the place that is then empty, so that all others keep theirs.
    if (!card.element.dataset.settled && card.element.isConnected) this.leaveUndecided(card.element);
    this.swapWithLast(card.element, "[data-settled]");
    card.element.remove();
    this.cards.delete(id);
    this.changed();
  }

  // Move an undecided card behind the others. The last one takes its place; if it is no twin, the last that is no twin does, so that twins stay behind.
  leaveUndecided(element) {
    if (!element.matches("[data-twin]")) this.swapWithLast(element, "li:not([data-settled], [data-twin])");
    this.swapWithLast(element, "li:not([data-settled])");
  }

  // Exchange the places of a card and of the last one that fits the selector, unless the reader is at that one.
  swapWithLast(element, selector) {
    const last = [...this.element.querySelectorAll(selector)].at(-1);
    if (!last || last === element || isAtReader({ element: last })) return;
    const next = last.nextSibling === element ? last : last.nextSibling;
    element.replaceWith(last);
    this.element.insertBefore(element, next);
  }

  stop() {
    for (const [id, card] of this.cards) this.drop(id, card);
  }
}

const isAtReader = (card) => card.element.matches(":hover, :focus-within");
const isSameLand = (one, other) => JSON.stringify(one.places) === JSON.stringify(other.places);

// Return the same text for the matches of two players on a map, whoever of them moves first.
const pairingOf = ({ game, map, players }) => JSON.stringify([game, map, SEATS.map((seat) => players[seat]).sort()]);

// Return the matches in an order in which the first match of two players on a map comes before all their others.
function spread(matches) {
  const seen = new Map();
  return matches.map((each) => {
    const earlier = seen.get(pairingOf(each)) ?? 0;
    seen.set(pairingOf(each), earlier + 1);
    return { each, earlier };
  }).sort((a, b) => a.earlier - b.earlier).map(({ each }) => each);
}
