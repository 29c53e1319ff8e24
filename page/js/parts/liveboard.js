// A small board of a match in progress, that moves.

import { addressOf } from "../router.js";
import { makeBoard } from "../boards/index.js";
import { h, say } from "../dom.js";
import { watch, requestView } from "../spectator.js";
import { SEATS, botTitle, headline } from "../text.js";
import { Follower } from "./follow.js";

export class LiveBoard {
  // `place` keeps what it shows until this board has something to show.
  constructor({ match, players }, place) {
    // What is to be looked at is not walked through by Tab: the card leads to the match itself.
    this.ground = h("div", { class: "board mini-board", inert: true });
    this.place = place;
    this.board = /** @type {any} */ (null);
    this.leaving = /** @type {any} */ (undefined); // timer after its match is over
    this.told = h("span", { class: "quiet outcome" }, "\u00a0"); // as high as the first words
    this.card = h("a", { class: "card live", href: addressOf("match", match) },
      h("span", { class: "pairing" },
        SEATS.map((seat) => h("span", { class: "side-name", "data-owner": seat }, h("span", { class: "shape", "aria-hidden": "true" }), botTitle(players[seat])))),
      this.ground, this.told);
    this.follower = new Follower((found, fresh) => this.show(found, fresh), () => requestView(match));
    this.unwatch = watch(match, (message) => message.type === "error" || this.follower.take(message));
  }

  // Bots may play a hundred plies a second: the newest position is drawn, once a picture.
  show(match, fresh) {
    if (fresh) {
      this.board = makeBoard(match.game, () => null, { whole: true });
      this.ground.replaceChildren(this.board.element);
      this.place.replaceChildren(this.card);
    }
    this.due ??= requestAnimationFrame(() => {
      this.due = undefined;
      const last = match.moves.length;
      this.board.show(match.last, last ? match.moves[last - 1].move : null, last ? match.positions[last - 1] : null);
      say(this.told, match.end ? headline(match.end, match.players) : `Move ${last}`);
    });
  }

  stop() {
    this.unwatch();
    clearTimeout(this.leaving);
    cancelAnimationFrame(this.due);
  }
}
