// A match as the page stores it: the data of a view, a record or a start, and every position so far.

import { Declared } from "./games/declared.js";
import { rules } from "./games/index.js";
import { SEATS, botTitle, control, timeTitle } from "./text.js";

const NO_ODDS = { maxie: "", minnie: "" };

export class Match {
  constructor({ match, event = "", game, setup, players, time_control, time_odds = NO_ODDS, engines }) {
    this.id = match;
    this.event = event;
    this.gameName = game;
    this.setup = setup;
    this.bots = players; // their exact names
    this.players = Object.fromEntries(SEATS.map((seat) => [seat, botTitle(players[seat])]));
    this.engines = engines ?? {}; // engine descriptions by seat, for players who announce one
    const shared = control(time_control), odds = time_odds ?? NO_ODDS;
    const [maxie, minnie] = [odds.maxie || shared, odds.minnie || shared]; // time odds: different time controls for the two players
    this.control = maxie === minnie ? timeTitle(maxie) : `${timeTitle(maxie)} : ${timeTitle(minnie)}`;
    this.perMove = maxie.endsWith("/move") && minnie.endsWith("/move");
    this.game = rules(game, setup);
    this.moves = [];
    this.positions = [this.game.start()];
    this.clocks = null;
    this.clocksAt = 0;
    this.running = null; // the seat whose clock runs
    this.absent = /** @type {Record<string, number>} */ ({}); // by seat: time at which a disconnected player loses the match
    this.end = null;
    this.watching = 0; // number of spectators, as of the newest move
    this.judged = /** @type {number[]} */ ([]); // Maxie's chance of winning after each move, by the engine's review
    this.started = null; // start time, for a match from a record
    this.expected = null; // ply of the reader's move that the server has not acknowledged
  }

  static fromView(view) {
    const match = new Match(view);
    view.moves.forEach((played) => match.add(played));
    match.setClocks(view.clocks, view.mover);
    match.setAbsent(view.absent ?? {});
    return match;
  }

  // Throws an Error with a message if the record is invalid or a move is illegal.
  static fromRecord(record) {
    if (record?.format !== "arena-record/1") throw new Error("this is not a record: its format is not arena-record/1");
    const match = new Match(record);
    record.moves.forEach((played, ply) => {
      const text = String(played.move);
      const legal = match.game instanceof Declared || match.game.moves(match.last).some((move) => String(move) === text);
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

  // Return the arguments of a board for a ply: its position or, with `shown`, that before its move, and the move with the position from
  // which it was played.
  scene(ply, shown = ply) {
    const { positions, moves } = this;
    return ply ? [positions[shown], moves[ply - 1].move, positions[ply - 1]] : [positions[0], null, null];
  }

  // Return true if the match ended with the move that led to this ply.
  endsAt(ply) {
    return Boolean(this.end) && ply === this.moves.length;
  }

  // Who plays the move at a ply, from 0: in some games a player may move again.
  seatOf(ply) {
    return this.positions[ply].player;
  }

  add(played) {
    this.positions.push(this.game.play(this.last, played.move));
    this.moves.push(played);
  }

  // Play the reader's move before the server has answered.
  expect(move) {
    this.expected = this.moves.length;
    this.add({ move });
    this.stopClock();
  }

  // Confirm the move: the server has accepted it.
  acknowledge(ply, ms, seat, left) {
    if (this.expected === ply) this.expected = null;
    if (this.moves[ply] && this.moves[ply].ms === undefined) this.moves[ply] = { ...this.moves[ply], ms };
    if (this.clocks) this.setClocks({ ...this.nowClocks(), [`${seat}_ms`]: left }, this.end ? null : this.last.player);
  }

  // Take the move back: the server has refused it.
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

  // absent: remaining ms of each disconnected player.
  setAbsent(absent) {
    const now = performance.now();
    this.absent = Object.fromEntries(Object.entries(absent).map(([seat, ms]) => [seat, now + ms]));
  }

  // Return the ms until a disconnected player loses, by absence or by its clock; null if it is connected.
  returnsIn(seat) {
    if (this.absent[seat] === undefined || this.end) return null;
    const left = Math.max(0, this.absent[seat] - performance.now());
    return this.running === seat ? Math.min(left, this.clockNow(seat) ?? left) : left;
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
