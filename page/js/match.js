// A match as the page keeps it: what a view, a record or a start says, and every position so far.

import { Declared } from "./games/declared.js";
import { rules } from "./games/index.js";
import { control } from "./text.js";

const NO_ODDS = { maxie: "", minnie: "" };

export class Match {
  constructor({ match, event = "", game, setup, players, time_control, time_odds = NO_ODDS, engines }) {
    this.id = match;
    this.event = event;
    this.gameName = game;
    this.setup = setup;
    this.players = players;
    this.engines = engines ?? {}; // by seat what chooses the moves, of players who say so
    const shared = control(time_control), odds = time_odds ?? NO_ODDS;
    const [maxie, minnie] = [odds.maxie || shared, odds.minnie || shared]; // time odds: not the same for both
    this.control = maxie === minnie ? maxie : `${maxie} : ${minnie}`;
    this.perMove = maxie.endsWith("/move") && minnie.endsWith("/move");
    this.game = rules(game, setup);
    this.moves = [];
    this.positions = [this.game.start()];
    this.clocks = null;
    this.clocksAt = 0;
    this.running = null; // whose clock runs
    this.end = null;
    this.started = null; // when, of a match from a record
    this.expected = null; // the ply of a move of one's own that the server has not acknowledged
  }

  static fromView(view) {
    const match = new Match(view);
    view.moves.forEach((played) => match.add(played));
    match.setClocks(view.clocks, view.mover);
    return match;
  }

  // Throws an Error in words for what is no record, or one whose moves the rules do not allow.
  static fromRecord(record) {
    if (record?.format !== "arena-record/1") throw new Error("this is no record: its format is not arena-record/1");
    const match = new Match(record);
    record.moves.forEach((played, ply) => {
      const legal = match.game instanceof Declared || match.game.moves(match.last).some((move) => String(move) === String(played.move));
      if (!legal) throw new Error(`the record's move at ply ${ply} is not legal`);
      match.add(played);
    });
    match.end = record.result;
    match.started = record.started;
    return match;
  }

  get last() {
    return this.positions[this.positions.length - 1];
  }

  add(played) {
    this.positions.push(this.game.play(this.last, played.move));
    this.moves.push(played);
  }

  // A move of one's own, before the server has said anything of it.
  expect(move) {
    this.expected = this.moves.length;
    this.add({ move });
    this.stopClock();
  }

  // The server has taken it.
  acknowledge(ply, ms, seat, left) {
    if (this.expected === ply) this.expected = null;
    if (this.moves[ply] && this.moves[ply].ms === undefined) this.moves[ply] = { ...this.moves[ply], ms };
    if (this.clocks) this.setClocks({ ...this.nowClocks(), [`${seat}_ms`]: left }, this.end ? null : this.last.player);
  }

  // The server has not taken it.
  takeBack(ply) {
    if (this.expected !== ply) return;
    this.expected = null;
    this.moves.length = ply;
    this.positions.length = ply + 1;
  }

  setClocks(clocks, running) {
    this.clocks = clocks;
    this.clocksAt = performance.now();
    this.running = running;
  }

  nowClocks() {
    return { maxie_ms: this.clockNow("maxie"), minnie_ms: this.clockNow("minnie") };
  }

  stopClock() {
    if (this.clocks) this.setClocks(this.nowClocks(), null);
  }

  clockNow(seat) {
    if (!this.clocks) return null;
    const gone = this.running === seat && !this.end ? performance.now() - this.clocksAt : 0;
    return Math.max(0, this.clocks[`${seat}_ms`] - gone);
  }
}
