// Keeps a Match as the server's view, update, thought and end messages tell it.

import { Declared } from "../games/declared.js";
import { Match } from "../match.js";

export class Follower {
  // changed(match, fresh): `fresh` when all of it came anew. again() asks for all of it.
  constructor(changed, again) {
    this.match = /** @type {any} */ (null);
    this.changed = changed;
    this.again = again;
  }

  take(message) {
    if (message.type === "view") this.view(message);
    else if (message.type === "update" && this.match) this.update(message);
    else if (message.type === "thought" && this.match) this.thought(message);
    else if (message.type === "end" && this.match) this.end(message);
  }

  view(message) {
    const fresh = !this.match;
    const match = Match.fromView(message);
    if (fresh) {
      this.match = match;
    } else {
      const { moves, expected, end } = this.match;
      // A move of one's own may be on its way yet, and what ended the match stays.
      const onItsWay = expected === match.moves.length ? moves[expected] : null;
      Object.assign(this.match, { game: match.game, moves: match.moves, positions: match.positions, end });
      if (onItsWay) this.match.add(onItsWay);
    }
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.changed(this.match, false));
    if (!this.match.end) this.match.setClocks(message.clocks, message.mover);
    this.changed(this.match, fresh);
  }

  update({ ply, played, clocks }) {
    const { match } = this;
    if (ply > match.moves.length) {
      this.again();
      return;
    }
    if (ply < match.moves.length) {
      // Known already from a turn, an end or one's own hand; but not how long it took.
      const known = match.moves[ply];
      match.moves[ply] = { ...known, ...played };
    } else {
      match.add(played);
      match.setClocks(clocks, match.game.outcome(match.last) ? null : match.last.player);
    }
    this.changed(match, false);
  }

  // What a player said of a move, told after the answer to it.
  thought({ ply, thinking }) {
    const { match } = this;
    if (!match.moves[ply]) return;
    match.moves[ply] = { ...match.moves[ply], thinking };
    this.changed(match, false);
  }

  // The moves up to now, as a turn or an end has them: what is new of them is on the board at once.
  catchUp(moves) {
    if (!this.match) return;
    for (const move of moves.slice(this.match.moves.length)) this.match.add({ move });
  }

  end({ winner, reason, detail, moves, clocks }) {
    const { match } = this;
    this.catchUp(moves);
    match.takeBack(moves.length);
    match.end = { winner, reason, detail };
    match.setClocks(clocks, null);
    this.changed(match, false);
  }
}
