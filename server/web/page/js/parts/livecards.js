// The matches in progress, each a card with a small board that moves.

import { h, say } from "../dom.js";
import { SmallBoard } from "../boards/small.js";
import { Declared } from "../games/declared.js";
import { GAME_NAMES, control } from "../text.js";
import { against, matchLink } from "./matchlist.js";
import { followLive } from "./watching.js";

const MOST = 48; // matches whose boards move: a connection may watch 64

export class LiveCards {
  constructor() {
    this.element = h("ul", { class: "cards boards" });
    this.cards = new Map();
  }

  // Show these matches, in their order. A card of a match that goes on stays the very same element.
  show(matches) {
    const ids = new Set(matches.map((each) => each.match));
    for (const [id, card] of this.cards) if (!ids.has(id)) this.drop(id, card);
    matches.forEach((match, n) => {
      const card = this.cards.get(match.match) ?? this.add(match);
      say(card.words, words(match));
      if (this.element.children[n] !== card.element) this.element.insertBefore(card.element, this.element.children[n] ?? null);
    });
  }

  add(match) {
    const card = { words: h("span", { class: "quiet" }), element: null, board: null, unwatch: null };
    const picture = h("span", { class: "picture-of" });
    card.element = h("li", null, h("a", { class: "card live", href: matchLink(match.match) }, picture, against(match.players), card.words));
    this.cards.set(match.match, card);
    if (this.cards.size <= MOST) card.unwatch = followLive(match.match, (state) => this.moved(card, picture, state), () => null);
    return card;
  }

  moved(card, picture, match) {
    if (match.game instanceof Declared) return; // its positions are with the server
    if (!card.board) {
      card.board = new SmallBoard(match.game);
      picture.replaceChildren(card.board.element);
    }
    card.board.show(match.last, match.moves.length ? match.moves[match.moves.length - 1].move : null);
  }

  drop(id, card) {
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
