// The two players: seat, name, clock, armies. Their clocks run by themselves.

import { to } from "../address.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SEATS, SEAT_NAMES, botOf, clock, count, engine, other } from "../text.js";
import { word } from "./rules.js";
import { odds, told } from "./worth.js";

const PACE_PLIES = 10;

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
    const score = h("span", { class: "score", title: "armies of those that win, how many more than the opponent has, the territories that they hold, and how many more each ply brings" });
    const thinking = h("p", { class: "thinking" });
    const bar = this.match.setup.armies_to_win ? h("div", { class: "goal", "aria-hidden": "true" }, h("span", { class: "reached" })) : null;
    const element = h("section", { class: "player", "data-owner": seat, "aria-label": `${SEAT_NAMES[seat]}: ${name}` },
      h("span", { class: "shape", "aria-hidden": "true" }),
      h("div", { class: "who" },
        h("a", { class: "name", href: to("bot", botOf(name)), title: name === botOf(name) ? name : `Another process of ${botOf(name)}` }, name),
        h("span", { class: "seat" }, word(SEAT_NAMES[seat])),
        this.match.engines[seat] ? h("span", { class: "engine", title: engine(this.match.engines[seat]) }, engine(this.match.engines[seat])) : null),
      score, time, bar, thinking);
    return { element, time, score, thinking, reached: bar?.firstElementChild };
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
      if (score) this.count(card, seat, score, ply);
      let last = ply - 1;
      while (last >= 0 && last % 2 !== n) last--;
      say(card.thinking, last >= 0 ? this.words(match.moves[last].thinking, last) : "");
    });
    this.tick();
  }

  // How far a player is: armies of those that win, how many more than the opponent, on how many territories, and how fast they
  // become more.
  count({ score, reached }, seat, scores, ply) {
    const { game, positions, setup } = this.match;
    const { armies, places } = scores[seat];
    const ahead = armies - scores[other(seat)].armies;
    const since = Math.max(0, ply - PACE_PLIES);
    const more = ply > since ? (armies - game.score(positions[since])[seat].armies) / (ply - since) : 0;
    const pace = ply > since ? `, ${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(1)} a ply` : "";
    say(score, `${armies} of ${setup.armies_to_win} armies to win${ahead > 0 ? `, leads by ${ahead}` : ""}, on ${places}${pace}`);
    reached.style.width = `${Math.min(100, (100 * armies) / setup.armies_to_win).toFixed(1)}%`;
  }

  words(thinking, ply) {
    if (!thinking) return "";
    const parts = [];
    if (thinking.depth !== undefined && thinking.depth !== null) parts.push(`depth ${thinking.depth}`);
    if (thinking.value !== undefined && thinking.value !== null) parts.push(`value ${told(thinking.value)}`, odds(thinking.value, this.match.setup));
    if (thinking.nodes) parts.push(`${count(Number(thinking.nodes))} nodes`);
    const line = this.line(thinking.line ?? [], ply);
    if (line) parts.push(line);
    return parts.filter(Boolean).join(" · ");
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
