// A game that somebody has written: its rules are with the server, which shows each position (server/web/custom_game_boards.py).
//
// A position is there at once, and what lies on it comes later: "known" is dispatched when it has come.

import { fetchJson } from "../api.js";

const OTHER = { maxie: "minnie", minnie: "maxie" };

export class Declared extends EventTarget {
  constructor(name, setup) {
    super();
    this.name = name;
    this.setup = setup;
    this.board = undefined; // what the class declares: null where it is shown as text
    this.fault = "";
    this.texts = new Map();
    this.waiting = [];
  }

  start() {
    return this.wait({ ply: 0, player: "maxie", line: [] });
  }

  // The position after a move: the server holds it against the rules when it shows the position.
  play(position, move) {
    return this.wait({ ply: position.ply + 1, player: OTHER[position.player], line: [...position.line, move] });
  }

  wait(position) {
    Object.assign(position, { shown: null, legal: [] });
    this.waiting.push(position);
    this.soon ??= setTimeout(() => this.fill(), 0);
    return position;
  }

  // The legal moves, as far as they are known: of the newest position.
  moves(position) {
    return position.legal.map((each) => each.move);
  }

  outcome(position) {
    return position.shown?.over ?? null;
  }

  text(move) {
    return this.texts.get(JSON.stringify(move)) ?? JSON.stringify(move);
  }

  // The cells to click on for a move, in order.
  clicks(position, move) {
    const key = JSON.stringify(move);
    return position.legal.find((each) => JSON.stringify(each.move) === key)?.squares ?? [];
  }

  async fill() {
    const asked = this.waiting;
    this.waiting = [];
    const longest = asked.reduce((a, b) => (b.line.length > a.line.length ? b : a));
    try {
      const told = await fetchJson(`game/${encodeURIComponent(this.name)}?setup=${coded(this.setup)}&moves=${coded(longest.line)}`);
      this.board = told.board;
      for (const position of asked) this.show(position, longest, told);
      for (const { move, text } of told.legal) this.texts.set(JSON.stringify(move), text);
      this.fault = "";
    } catch (error) {
      this.fault = error.message;
    }
    this.soon = undefined;
    if (this.waiting.length) this.soon = setTimeout(() => this.fill(), 0);
    this.dispatchEvent(new Event("known"));
  }

  show(position, longest, told) {
    const { line } = position;
    if (line.some((move, n) => String(move) !== String(longest.line[n]))) {
      this.waiting.push(position); // another way: it is asked for by itself
      return;
    }
    position.shown = told.positions[line.length];
    position.legal = line.length === longest.line.length ? told.legal : [];
    position.player = position.shown.player;
    told.positions.slice(1, line.length + 1).forEach((each, n) => this.texts.set(JSON.stringify(line[n]), each.move.text));
  }
}

// Data as JSON in an address, which may have few characters.
export const coded = (data) => encodeURIComponent(JSON.stringify(data)).replaceAll("%2C", ",").replaceAll("%5B", "[").replaceAll("%5D", "]");
