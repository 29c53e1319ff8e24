// The tab "Engines": the engine of each player with its options, what it has sent with its latest move, and how fast its armies grow.

import { h, say } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SEATS, SEAT_NAMES, count, engine } from "../text.js";
import { word } from "./rules.js";
import { valueText } from "./values.js";

const PACE_PLIES = 10;

export class EngineDetails {
  constructor(match) {
    this.match = match;
    this.thinking = SEATS.map(() => h("p", { class: "thinking" }));
    this.pace = SEATS.map(() => h("p", { class: "pace quiet" }));
    this.element = h("div", null, SEATS.map((seat, n) => {
      const said = match.engines[seat];
      return h("div", { class: "more-of", "data-owner": seat },
        h("p", null, h("span", { class: "shape", "aria-hidden": "true" }), " ", h("strong", null, match.players[seat]), " plays ", word(SEAT_NAMES[seat])),
        said ? h("p", { class: "engine" }, engine(said)) : null, this.thinking[n], this.pace[n]);
    }));
  }

  // Show each player's analysis of its last move before a ply, with its value if `valued`, and its pace.
  show(ply, valued) {
    const { match } = this;
    const since = Math.max(0, ply - PACE_PLIES);
    const [now, before] = [ply, since].map((each) => match.game.score?.(match.positions[each]));
    SEATS.forEach((seat, n) => {
      let last = ply - 1;
      while (last >= 0 && match.seatOf(last) !== seat) last--;
      say(this.thinking[n], last >= 0 ? this.words(match.moves[last].thinking, last, valued) : "");
      const more = now && ply > since ? (now[seat].armies - before[seat].armies) / (ply - since) : null;
      say(this.pace[n], more === null ? "" : `${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(1)} armies a move`);
    });
  }

  words(thinking, ply, valued) {
    if (!thinking) return "";
    const parts = [];
    if (thinking.depth !== undefined && thinking.depth !== null) parts.push(`depth ${thinking.depth}`);
    if (valued && thinking.value !== undefined && thinking.value !== null) parts.push(`value ${valueText(thinking.value)}`);
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
}
