// The matches in progress, each a card with a small board that moves.

import { h, say } from "../dom.js";
import { SmallBoard } from "../boards/small.js";
import { Declared } from "../games/declared.js";
import { GAME_NAMES, control } from "../text.js";
import { forget, together } from "../together.js";
import { against, matchLink } from "../parts/matchlist.js";
import { followLive } from "../parts/watching.js";

const MOST = 48; // matches that are watched at once: a connection may watch 64

export class LiveCards {
  constructor() {
    this.element = h("ul", { class: "cards boards" });
    this.cards = new Map();
    // Only what is in sight is watched: nobody else need be told of it.
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
    card.unwatch = seen && watched < MOST ? followLive(id, (state) => this.moved(card, state), () => null) : null;
  }

  // Show these matches, in their order. A card of a match that goes on stays the very same element.
  show(matches) {
    const ids = new Set(matches.map((each) => each.match));
    for (const [id, card] of this.cards) if (!ids.has(id)) this.drop(id, card);
    matches.forEach((match, n) => {
      const card = this.cards.get(match.match) ?? this.add(match);
      if (card.words.textContent) together(card, () => say(card.words, words(match)));
      else say(card.words, words(match));
      if (this.element.children[n] !== card.element) this.element.insertBefore(card.element, this.element.children[n] ?? null);
    });
  }

  add(match) {
    const card = { words: h("span", { class: "quiet" }), picture: h("span", { class: "picture-of" }), element: /** @type {any} */ (null), board: /** @type {any} */ (null), unwatch: /** @type {any} */ (null) };
    card.element = h("li", { "data-match": match.match },
      h("a", { class: "card live", href: matchLink(match.match) }, card.picture, against(match.players), card.words));
    this.cards.set(match.match, card);
    this.sight.observe(card.element);
    return card;
  }

  moved(card, match) {
    if (match.game instanceof Declared) return; // its positions are with the server
    if (!card.board) {
      card.board = new SmallBoard(match.game);
      card.picture.replaceChildren(card.board.element);
    }
    card.board.show(match.last, match.moves.length ? match.moves[match.moves.length - 1].move : null);
  }

  drop(id, card) {
    forget(card);
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

const words = ({ game, map, time_control, ply }) =>
  `${GAME_NAMES[game] ?? game}${map ? ` ${map}` : ""} · ${control(time_control)} · ply ${ply}`;
