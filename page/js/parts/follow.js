// Updates a Match from the server's view, presence, update, thought and end messages.

import { Declared } from "../games/declared.js";
import { Match } from "../match.js";

export class Follower {
  // changed(match, fresh): `fresh` if all data is new. again() requests all data.
  constructor(changed, again) {
    this.match = /** @type {any} */ (null);
    this.changed = changed;
    this.again = again;
  }

  take(message) {
    if (message.type === "view") this.view(message);
    else if (message.type === "presence" && this.match) this.presence(message);
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
      // The reader's move may still be on its way, and the end of the match stays.
      const onItsWay = expected === match.moves.length ? moves[expected] : null;
      Object.assign(this.match, { game: match.game, moves: match.moves, positions: match.positions, absent: match.absent, end });
      if (onItsWay) this.match.add(onItsWay);
    }
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.changed(this.match, false));
    if (!this.match.end) this.match.setClocks(message.clocks, message.mover);
    this.changed(this.match, fresh);
  }

  presence({ absent }) {
    this.match.setAbsent(absent);
    this.changed(this.match, false);
  }

  update({ ply, played, clocks, watching }) {
    const { match } = this;
    match.watching = watching ?? 0;
    if (ply > match.moves.length) {
      this.again();
      return;
    }
    if (ply < match.moves.length) {
      // The move is known from a turn, an end or the reader, but not its duration.
      const known = match.moves[ply];
      match.moves[ply] = { ...known, ...played };
    } else {
      match.add(played);
      match.setClocks(clocks, match.game.outcome(match.last) ? null : match.last.player);
    }
    this.changed(match, false);
  }

  // A player's analysis of a move, sent after the answer to it.
  thought({ ply, thinking }) {
    const { match } = this;
    if (!match.moves[ply]) return;
    match.moves[ply] = { ...match.moves[ply], thinking };
    this.changed(match, false);
  }

  // Add the moves of a turn or an end: new ones appear immediately.
  catchUp(moves) {
    if (!this.match) return;
    for (const move of moves.slice(this.match.moves.length)) this.match.add({ move });
  }

  // Handle the record of the match, whose end was missed.
  finish({ result, moves }) {
    const { match } = this;
    for (const played of moves.slice(match.moves.length)) match.add(played);
    this.end({ ...result, moves: moves.map(({ move }) => move), clocks: match.clocks && match.nowClocks() });
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
