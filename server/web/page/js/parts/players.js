// The two players: seat, name, clock, armies. Their clocks run by themselves.

import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SEATS, SEAT_NAMES, clock, count, engine } from "../text.js";

export class Players {
  constructor(match) {
    this.match = match;
    this.cards = Object.fromEntries(SEATS.map((seat) => [seat, this.card(seat)]));
    this.element = h("div", { class: "players" }, SEATS.map((seat) => this.cards[seat].element));
    this.timer = setInterval(() => this.tick(), 100);
  }

  card(seat) {
    const name = this.match.players[seat];
    const time = h("span", { class: "clock", role: "timer", "aria-label": `Clock of ${SEAT_NAMES[seat]}` });
    const score = h("span", { class: "score", title: "armies, and the territories that they hold" });
    const thinking = h("p", { class: "thinking" });
    const element = h("section", { class: "player", "data-owner": seat, "aria-label": `${SEAT_NAMES[seat]}: ${name}` },
      h("span", { class: "shape", "aria-hidden": "true" }),
      h("div", { class: "who" },
        h("a", { class: "name", href: `#/bot/${encodeURIComponent(name)}`, title: name }, name),
        h("span", { class: "seat" }, SEAT_NAMES[seat]),
        this.match.engines[seat] ? h("span", { class: "engine" }, engine(this.match.engines[seat])) : null),
      score, time, thinking);
    return { element, time, score, thinking };
  }

  tick() {
    for (const seat of SEATS) {
      const ms = this.match.clockNow(seat);
      const { time, element } = this.cards[seat];
      say(time, ms === null ? "" : clock(ms));
      set(element, { "data-running": this.match.running === seat && !this.match.end, "data-low": ms !== null && ms < 5000 && !this.match.perMove });
    }
  }

  // Show the armies at a ply, and what each said of its last move up to it.
  show(ply) {
    const { match } = this;
    const score = match.game.score?.(match.positions[ply]);
    SEATS.forEach((seat, n) => {
      const card = this.cards[seat];
      if (score) say(card.score, `${score[seat].armies} armies on ${score[seat].places}`);
      let last = ply - 1;
      while (last >= 0 && last % 2 !== n) last--;
      say(card.thinking, last >= 0 ? this.words(match.moves[last].thinking, last) : "");
    });
    this.tick();
  }

  words(thinking, ply) {
    if (!thinking) return "";
    const parts = [];
    if (thinking.depth !== undefined && thinking.depth !== null) parts.push(`depth ${thinking.depth}`);
    if (thinking.value !== undefined && thinking.value !== null) parts.push(`value ${value(thinking.value)}`);
    if (thinking.nodes) parts.push(`${count(Number(thinking.nodes))} nodes`);
    const line = this.line(thinking.line ?? [], ply);
    if (line) parts.push(line);
    return parts.join(" · ");
  }

  // The main line in words, as far as it is one: what a bot says need not be legal.
  line(moves, ply) {
    const { game, positions } = this.match;
    if (game instanceof Declared) return moves.slice(0, 8).map((move) => game.text(move)).join(", ");
    let position = positions[ply];
    const said = [];
    for (const move of moves.slice(0, 8)) {
      if (!game.moves(position).some((each) => String(each) === String(move))) break;
      said.push(game.text(move));
      position = game.play(position, move);
    }
    return said.join(", ");
  }

  stop() {
    clearInterval(this.timer);
  }
}

const WON = 990000;

export function value(n) {
  if (Math.abs(n) >= WON) return n > 0 ? "Maxie wins" : "Minnie wins";
  return `${n > 0 ? "+" : ""}${Number.isInteger(n) ? n : n.toFixed(1)}`;
}
