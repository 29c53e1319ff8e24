// Keeps a Match as the server's view, update and end messages tell it.

import { Declared } from "../games/declared.js";
import { Match } from "../match.js";

export class Follower {
  // changed(match, fresh): `fresh` when all of it came anew. again() asks for all of it.
  constructor(changed, again) {
    this.match = null;
    this.changed = changed;
    this.again = again;
  }

  take(message) {
    if (message.type === "view") this.view(message);
    else if (message.type === "update" && this.match) this.update(message);
    else if (message.type === "end" && this.match) this.end(message);
  }

  view(message) {
    const fresh = !this.match;
    const match = Match.fromView(message);
    if (fresh) this.match = match;
    else Object.assign(this.match, { game: match.game, moves: match.moves, positions: match.positions, end: null });
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.changed(this.match, false));
    this.match.setClocks(message.clocks, message.mover);
    this.changed(this.match, fresh);
  }

  update({ ply, played, clocks }) {
    const { match } = this;
    if (ply < match.moves.length) return;
    if (ply > match.moves.length) {
      this.again();
      return;
    }
    match.add(played);
    match.setClocks(clocks, match.game.outcome(match.last) ? null : match.last.player);
    this.changed(match, false);
  }

  end({ winner, reason, detail, moves, clocks }) {
    const { match } = this;
    // A watcher that was slow is told of the last moves by the end itself.
    for (const move of moves.slice(match.moves.length)) match.add({ move });
    match.end = { winner, reason, detail };
    match.setClocks(clocks, null);
    this.changed(match, false);
  }
}
