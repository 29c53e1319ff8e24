// Graph of a match: each bot's values and the engine's chances as lines, the difference of armies behind them, and
// its turning points.

import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES, plural } from "../text.js";
import { word } from "./rules.js";
import { swings } from "./swings.js";
import { winChances, scaleOf, valueText } from "./values.js";

const WIDTH = 600;
const HEIGHT = 150;
const LEAD = 0.2; // of the range from even to won: a smaller lead in armies is hardly to be seen

export class Plot {
  // go(ply) is called when the reader clicks; `review`: the engine's review.
  constructor(match, go, review) {
    this.match = match;
    this.review = review;
    this.scale = scaleOf(match);
    this.most = 1; // number of plies on the axis
    this.seen = 0;
    const { ticks } = this.scale;
    this.area = svg("path", { class: "area" });
    this.lines = SEATS.map((seat) => svg("path", { class: "line", "data-owner": seat }));
    this.engine = svg("path", { class: "line engine" });
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.pointer = svg("line", { class: "pointer", y1: 0, y2: HEIGHT });
    this.marks = svg("path", { class: "swings" });
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      this.area, ticks.map(({ share }) => svg("line", { class: share ? "tick" : "zero", x1: 0, x2: WIDTH, y1: this.y(share), y2: this.y(share) })),
      this.lines, this.engine, this.marks, this.cursor, this.pointer);
    const plyAt = (event) => {
      const { left, width } = this.svg.getBoundingClientRect();
      return Math.max(0, Math.min(this.seen, Math.round(((event.clientX - left) / width) * this.most)));
    };
    this.svg.addEventListener("click", (event) => go(plyAt(event)));
    this.svg.addEventListener("pointermove", (event) => this.hover(plyAt(event)));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.words = h("p", { class: "quiet" });
    this.axis = ticks.map(({ share, text }) => {
      const label = h("span", null, text);
      label.style.top = `${((this.y(share) / HEIGHT) * 100).toFixed(1)}%`;
      return label;
    });
    this.range = h("span", null);
    this.plies = h("p", { class: "plies" }, match.setup.armies_to_win ? [word("chance", `${SIDES.maxie}’s chance`), " by move "] : "move ", this.range);
    this.keys = SEATS.map((seat, n) => h("span", { class: "key", "data-owner": seat, hidden: true }, `${SIDES[seat]}’s `, n ? "value" : word("value")));
    this.engineKey = h("span", { class: "key engine-key", hidden: true }, "the engine’s ", word("chance"));
    this.element = h("figure", { class: "plot" },
      h("figcaption", null, this.engineKey,
        this.keys,
        match.game.score ? h("span", { class: "key area-key" }, "by armies alone") : null),
      h("div", { class: "scaled" }, h("div", { class: "axis", "aria-hidden": "true" }, this.axis), h("div", null, this.svg, this.plies)), this.words);
  }

  y(share) {
    return HEIGHT / 2 - share * (HEIGHT / 2 - 6);
  }

  x(n) {
    return ((n / this.most) * WIDTH).toFixed(1);
  }

  // Show the data up to the ply `seen`, and mark `ply`. A replay has its graph and its keys from the start, so that they move nothing.
  show(ply, seen) {
    const { match } = this;
    this.seen = seen;
    this.most = Math.max(match.moves.length, 10);
    const path = (points) => points.map(([n, share]) => `${this.x(n)} ${this.y(share).toFixed(1)}`).join("L");
    const ahead = match.game.score ? match.positions.slice(0, seen + 1).map((each, n) => {
      const { maxie, minnie } = match.game.score(each);
      return [n, this.scale.at(100 * (maxie.armies - minnie.armies))];
    }) : [];
    set(this.area, { d: ahead.length > 1 ? `M0 ${HEIGHT / 2}L${path(ahead)}L${this.x(ahead.length - 1)} ${HEIGHT / 2}Z` : null });
    SEATS.forEach((seat, side) => {
      const values = match.moves.flatMap(({ thinking }, n) => (
        match.seatOf(n) === seat && typeof thinking?.value === "number" ? [[n + 1, this.scale.at(thinking.value)]] : []));
      const past = values.filter(([n]) => n <= seen);
      set(this.lines[side], { d: past.length ? `M${path(past)}` : null });
      set(this.keys[side], { hidden: !values.length });
    });
    const judged = this.review.moves.slice(0, seen);
    const armies = match.end ? match.game.score && match.moves.length > 1 : ahead.length > 1 && ahead.some(([, share]) => Math.abs(share) >= LEAD);
    set(this.element, { hidden: !armies && !judged.length && this.keys.every((key) => key.hidden) });
    set(this.engineKey, { hidden: !judged.length });
    set(this.engine, { d: judged.length ? `M${path(judged.map(({ chance }, n) => [n + 1, 2 * chance - 1]))}` : null });
    const marked = judged.flatMap(({ mark }, n) => (mark ? [{ ply: n + 1, words: this.review.describe(n + 1) }] : []));
    this.turns = judged.length ? marked : swings(match).filter((each) => each.ply <= seen);
    set(this.marks, { d: this.turns.map((each) => `M${this.x(each.ply)} ${HEIGHT - 12}l-4 10h8z`).join("") || null });
    set(this.cursor, { x1: this.x(ply), x2: this.x(ply) });
    say(this.range, `0 to ${this.most}`);
    this.at = ply;
    this.tell(ply);
  }

  hover(ply) {
    set(this.pointer, { x1: ply === null ? null : this.x(ply), x2: ply === null ? null : this.x(ply), "data-shown": ply !== null });
    this.tell(ply ?? this.at);
  }

  tell(ply) {
    const { match } = this;
    const said = match.moves[ply - 1]?.thinking?.value;
    const turn = this.turns.find((each) => each.ply === ply);
    const text = [
      typeof said === "number" ? `Move ${ply}: ${[winChances(said, match.setup), `${SIDES[match.seatOf(ply - 1)]}’s value ${valueText(said)}`].filter(Boolean).join(" by ")}` : `Move ${ply}`,
      match.game.score ? `${difference(match.game.score(match.positions[ply]))}` : "",
      turn ? turn.words : this.scale.words,
    ].filter(Boolean).join("; ");
    say(this.words, text);
    set(this.svg, { "aria-label": `Values over the match. ${text}` });
  }
}

function difference({ maxie, minnie }) {
  const n = maxie.armies - minnie.armies;
  if (!n) return "equal armies";
  return `${n > 0 ? SIDES.maxie : SIDES.minnie} has ${plural(Math.abs(n), "more army", "more armies")}`;
}
