// The two players: seat, name, clock, armies. Their clocks run by themselves.

import { addressOf } from "../router.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SEATS, SEAT_NAMES, SIDES, botOf, clock, count, engine, other, plural } from "../text.js";
import { word } from "./rules.js";
import { valueText } from "./values.js";

const PACE_PLIES = 10;
const LOW_MS = 5000;
export const SHORT_MS = 20_000; // left on the reader's own clock

export class Players {
  // own: the reader's seat, null for a spectator.
  constructor(match, own = /** @type {string | null} */ (null)) {
    this.own = own;
    this.match = match;
    this.cards = Object.fromEntries(SEATS.map((seat) => [seat, this.card(seat)]));
    this.element = h("div", { class: "players" }, SEATS.map((seat) => this.cards[seat].element));
    // Details on demand: the engine and its options, and its analysis.
    this.details = h("div", null, SEATS.map((seat) => this.cards[seat].more));
    this.behind = false;
    this.timer = setInterval(() => this.tick(), 100);
  }

  card(seat) {
    const [name, bot] = [this.match.players[seat], this.match.bots[seat]];
    const time = h("span", { class: "clock", role: "timer", "aria-label": `Clock of ${SIDES[seat]}` });
    const armies = h("strong", { class: "armies-of" });
    const [goal, places, lead] = ["goal-of", "places-of", "lead-of"].map((each) => h("span", { class: each }));
    const unit = h("span", { class: "unit-of" }, " armies");
    const score = h("span", { class: "score", title: "Armies needed to win, territories, and the lead in armies" }, goal, unit, places, lead);
    const accuracy = h("span", { class: "accuracy" });
    const thinking = h("p", { class: "thinking" });
    const pace = h("p", { class: "pace quiet" });
    const element = h("section", { class: "player", "data-owner": seat, "aria-label": `${SIDES[seat]}: ${name}` },
      h("span", { class: "shape", "aria-hidden": "true" }),
      h("a", { class: "name", href: addressOf("bot", botOf(bot)), title: bot === botOf(bot) ? bot : `Another process of ${botOf(bot)}` }, seat === this.own ? "You" : name),
      time, this.match.setup.armies_to_win ? h("span", { class: "count" }, armies, score) : null, accuracy);
    const said = this.match.engines[seat];
    const more = h("div", { class: "more-of", "data-owner": seat }, h("p", null, h("span", { class: "shape", "aria-hidden": "true" }), " ", h("strong", null, name), " plays ", word(SEAT_NAMES[seat])),
      said ? h("p", { class: "engine" }, engine(said)) : null, thinking, pace);
    return { element, time, accuracy, armies, goal, places, lead, thinking, pace, more };
  }

  tick() {
    for (const seat of SEATS) {
      // During delayed playback the current clocks are not shown.
      const ms = this.behind || (this.match.end && this.match.perMove) ? null : this.match.clockNow(seat);
      const { time, element } = this.cards[seat];
      say(time, ms === null ? "" : clock(ms));
      set(element, { "data-running": !this.behind && this.match.running === seat && !this.match.end, "data-low": ms !== null && ms < (seat === this.own ? SHORT_MS : LOW_MS) && !this.match.perMove });
    }
  }

  // Show the armies at a ply, and each player's analysis of its last move. `behind`: newer plies were played.
  show(ply, behind) {
    const { match } = this;
    this.behind = behind;
    const score = match.game.score?.(match.positions[ply]);
    SEATS.forEach((seat) => {
      const card = this.cards[seat];
      if (score) this.count(card, seat, score, ply);
      let last = ply - 1;
      while (last >= 0 && match.seatOf(last) !== seat) last--;
      say(card.thinking, last >= 0 ? this.words(match.moves[last].thinking, last) : "");
    });
    this.tick();
  }

  // Show each player's accuracy in per cent, by the engine's review.
  judge(accuracy) {
    for (const seat of SEATS) {
      if (accuracy[seat] !== undefined) this.cards[seat].accuracy.replaceChildren(h("strong", null, `${accuracy[seat]} %`), " accuracy");
    }
  }

  // Return a player's progress: armies of those needed to win, territories, and the lead in armies.
  count({ armies: number, goal, places: held, lead, pace }, seat, scores, ply) {
    const { game, positions, setup } = this.match;
    const { armies, places } = scores[seat];
    const ahead = armies - scores[other(seat)].armies;
    say(number, String(armies));
    say(goal, ` / ${setup.armies_to_win}`);
    say(held, ` · ${plural(places, "territory", "territories")}`);
    say(lead, ahead > 0 ? ` · +${ahead}` : "");
    const since = Math.max(0, ply - PACE_PLIES);
    const more = ply > since ? (armies - game.score(positions[since])[seat].armies) / (ply - since) : 0;
    say(pace, ply > since ? `${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(1)} armies a move` : "");
  }

  words(thinking, ply) {
    if (!thinking) return "";
    const parts = [];
    if (thinking.depth !== undefined && thinking.depth !== null) parts.push(`depth ${thinking.depth}`);
    if (thinking.value !== undefined && thinking.value !== null) parts.push(`value ${valueText(thinking.value)}`);
    if (thinking.nodes) parts.push(`${count(Number(thinking.nodes))} nodes`);
    const line = this.line(thinking.line ?? [], ply);
    if (line) parts.push(line);
    return parts.filter(Boolean).join(" · ");
  }

  // Return the main line in words, up to the first illegal move of the bot's line.
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
