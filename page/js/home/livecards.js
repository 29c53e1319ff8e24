// The matches in progress, each as a card with a small animated board.

import { h, say, set } from "../dom.js";
import { Thumbnail } from "../boards/thumbnail.js";
import { Declared } from "../games/declared.js";
import { SEATS, botTitle, gameTitle, headline } from "../text.js";
import { cancel, batch } from "../batch.js";
import { matchLink } from "../parts/matchlist.js";
import { EvalBar } from "../parts/evalbar.js";
import { followLive } from "../parts/livematches.js";

const MAX_WATCHED = 48; // matches that are watched at once: a connection may watch 64

export class LiveCards {
  constructor() {
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
    card.unwatch = seen && watched < MAX_WATCHED ? followLive(id, (state) => this.moved(card, state), () => null) : null;
  }

  // Show these matches. A finished match keeps its place until another one needs it, so that nothing on the page moves.
  show(matches) {
    const ids = new Set(matches.map((each) => each.match));
    const fresh = matches.filter((each) => !this.cards.has(each.match));
    const over = [...this.cards].filter(([id]) => !ids.has(id))
      .sort(([, a], [, b]) => Number(Boolean(a.board)) - Number(Boolean(b.board))); // first those that were over before they were drawn
    for (const match of matches) if (this.cards.has(match.match)) this.tell(this.cards.get(match.match), match);
    for (const match of fresh) {
      const card = this.add(match);
      const [old] = over.splice(0, 1);
      if (old) old[1].element.replaceWith(card.element);
      else this.element.append(card.element);
      if (old) this.drop(...old);
      this.tell(card, match);
    }
    for (const [, card] of over) {
      set(card.link, { "data-over": true });
      if (!card.ended) say(card.words, "Over");
    }
  }

  tell(card, match) {
    if (card.ended) return;
    if (card.words.textContent) batch(card, () => say(card.words, words(match)));
    else say(card.words, words(match));
  }

  add(match) {
    const players = Object.fromEntries(SEATS.map((seat) => [seat, botTitle(match.players[seat])]));
    const card = {
      words: h("span", { class: "quiet line" }), picture: h("span", { class: "picture-of" }), tug: new EvalBar(), link: /** @type {any} */ (null),
      element: /** @type {any} */ (null), board: /** @type {any} */ (null), unwatch: /** @type {any} */ (null), ended: false,
    };
    card.link = h("a", { class: "card live", href: matchLink(match.match) },
      card.picture, card.tug.element, card.words);
    card.element = h("li", { "data-match": match.match }, card.link);
    card.tug.show({ players, moves: [], positions: [], setup: {}, game: {}, end: null }, 0);
    this.cards.set(match.match, card);
    this.sight.observe(card.element);
    return card;
  }

  moved(card, match) {
    if (match.end && !card.ended) {
      card.ended = true;
      cancel(card);
      say(card.words, headline(match.end, match.players, null, null));
    }
    batch(card.tug, () => card.tug.show(match, match.moves.length));
    if (match.game instanceof Declared) return; // its positions are on the server
    if (!card.board) {
      card.board = new Thumbnail(match.game);
      card.picture.replaceChildren(card.board.element);
    }
    card.board.show(match.last, match.moves.length ? match.moves[match.moves.length - 1].move : null);
  }

  drop(id, card) {
    cancel(card);
    cancel(card.tug);
    this.sight.unobserve(card.element);
    card.unwatch?.();
    card.board?.stop();
    card.element.remove();
    this.cards.delete(id);
  }

  stop() {
    for (const [id, card] of this.cards) this.drop(id, card);
  }
}

const words = ({ game, map, ply }) => `${gameTitle(game, map)} · move ${ply}`;
