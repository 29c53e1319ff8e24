// Graph of a match: Blue's chance of winning above the middle, Orange's below it, both bots' own values as thin lines, and the
// key moments. In a game without chances it has the values alone.

import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES, plural } from "../text.js";
import { roundStep } from "./axis.js";
import { word } from "./rules.js";
import { scaleOf, valueText } from "./values.js";

const WIDTH = 600;
const HEIGHT = 150;
const MARGIN = 8; // above and below the curve
const MIN_AXIS_PLIES = 10; // plies on the axis, at least
const MAX_TICKS = 6; // on the axis of moves, at most
const MAX_SHARE_WITH_BUTTON = 0.7; // of the match, up to which the button has room in the part that was not shown
const MARK_PX = 6; // from the middle of a mark to where the pointer no longer finds it
const MIN_VISIBLE_LEAD = 0.2; // of the range from even to won: a smaller lead in armies is hardly to be seen

export class Plot {
  // go(ply) is called when the reader clicks, reveal() for the part that was not shown yet; `review`: the engine's review.
  constructor(match, { go, reveal, review }) {
    this.match = match;
    this.review = review;
    this.scale = scaleOf(match);
    this.most = MIN_AXIS_PLIES; // number of plies on the axis
    this.at = 0;
    this.seen = 0;
    this.points = /** @type {number[][]} */ ([]);
    this.turns = /** @type {any[]} */ ([]);
    const { ticks } = this.scale;
    this.areas = SEATS.map((seat) => svg("path", { class: "area", "data-owner": seat }));
    this.lines = SEATS.map((seat) => svg("path", { class: "line", "data-owner": seat }));
    this.curve = svg("path", { class: "line chances" });
    this.unseen = svg("rect", { class: "unseen-part", y: 0, height: HEIGHT });
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.pointer = svg("line", { class: "pointer", y1: 0, y2: HEIGHT });
    this.marks = svg("path", { class: "moments" });
    this.here = svg("path", { class: "here" });
    this.grid = svg("path", { class: "tick" });
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      this.unseen, this.areas, ticks.map(({ share }) => svg("line", { class: share ? "tick" : "zero", x1: 0, x2: WIDTH, y1: this.y(share), y2: this.y(share) })),
      this.grid, this.lines, this.curve, this.cursor, this.pointer, this.marks, this.here);
    this.svg.addEventListener("click", (event) => go(this.plyAt(event)));
    this.svg.addEventListener("pointermove", (event) => this.hover(this.plyAt(event)));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.words = h("p", { class: "quiet" });
    this.axis = ticks.map(({ share, text, seat }) => {
      const label = h("span", { "data-owner": seat }, text);
      label.style.top = `${((this.y(share) / HEIGHT) * 100).toFixed(1)}%`;
      return label;
    });
    this.plies = h("div", { class: "plies", "aria-hidden": "true" });
    this.keys = SEATS.map((seat, n) => h("span", { class: "key", "data-owner": seat, hidden: true }, `${SIDES[seat]}’s `, n ? "value" : word("value")));
    this.chanceKey = h("span", { class: "key chance-key" }, word("chance", "Chance of winning"));
    this.judgeKey = h("span", null, " by the engine");
    this.chanceKey.append(this.judgeKey);
    this.turnKey = h("span", { class: "key turn-key" });
    this.rest = h("button", { type: "button", class: "small", hidden: true, title: "The rest of the match, with its result", onclick: reveal }, "Show the rest");
    this.element = h("figure", { class: "plot" }, h("figcaption", null, this.chanceKey, this.keys, this.turnKey),
      h("div", { class: "scaled" }, h("div", { class: "axis", "aria-hidden": "true" }, this.axis), h("div", { class: "drawn" }, this.svg, this.rest, this.plies)), this.words);
  }

  // Return the ply under the pointer, or that of a mark beside it.
  plyAt({ clientX }) {
    const { left, width } = this.svg.getBoundingClientRect();
    const at = ((clientX - left) / width) * this.most;
    const mark = this.turns.find(({ ply }) => Math.abs(ply - at) * width < MARK_PX * this.most);
    return mark?.ply ?? Math.max(0, Math.min(this.seen, Math.round(at)));
  }

  y(share) {
    return HEIGHT / 2 - share * (HEIGHT / 2 - MARGIN);
  }

  x(n) {
    return ((n / this.most) * WIDTH).toFixed(1);
  }

  path(points) {
    return points.length ? `M${points.map(([n, share]) => `${this.x(n)} ${this.y(share).toFixed(1)}`).join("L")}` : null;
  }

  // Round marks at plies, as lines without a length, because the picture is stretched.
  dots(points) {
    return points.map(([n, share]) => `M${this.x(n)} ${this.y(share).toFixed(1)}h0`).join("") || null;
  }

  // Show the match up to the last ply that was shown, on an axis as long as the reader may know, and mark the current ply.
  // `turns`: the turning points that the reader has seen, as { ply, words }.
  show({ at, seen, known, end }, turns) {
    const { match } = this;
    const judged = match.judged.length > 0;
    this.at = at;
    this.seen = seen;
    this.most = Math.max(known, MIN_AXIS_PLIES);
    this.points = match.positions.slice(0, seen + 1).flatMap((_, ply) => {
      const share = chanceAt(match, ply);
      return share === null ? [] : [[ply, 2 * share - 1]];
    });
    this.turns = turns;
    const told = this.showValues(judged);
    const led = this.points.some(([, share]) => Math.abs(share) >= MIN_VISIBLE_LEAD);
    const hasChances = Boolean(match.setup.armies_to_win) || judged;
    const chances = this.points.length > 1 && hasChances;
    set(this.element, { hidden: !told && !(chances && (end || led || judged)) });
    set(this.chanceKey, { hidden: !hasChances });
    set(this.judgeKey, { hidden: !judged });
    set(this.turnKey, { hidden: !match.game.told && !judged, "data-judged": judged });
    say(this.turnKey, judged ? "Mistake" : "Key moment");
    set(this.rest, { hidden: seen > MAX_SHARE_WITH_BUTTON * known });
    set(this.unseen, { x: this.x(seen), width: Math.max(0, WIDTH - Number(this.x(seen))), hidden: seen >= known });
    this.draw(chances, judged);
    this.rule();
    this.tell(at);
  }

  // Show both bots' values, and return true if there are any; later ones have their keys from the start, so that they move nothing.
  // The engine's review takes their place.
  showValues(judged) {
    const { match, seen } = this;
    const values = SEATS.map((seat) => match.moves.flatMap(({ thinking }, n) => (
      match.seatOf(n) === seat && typeof thinking?.value === "number" ? [[n + 1, this.scale.at(thinking.value)]] : [])));
    values.forEach((points, side) => {
      set(this.lines[side], { d: judged ? null : this.path(points.filter(([n]) => n <= seen)) });
      set(this.keys[side], { hidden: judged || !points.length });
    });
    return values.some((points) => points.length > 0);
  }

  draw(chances, judged) {
    const { points } = this;
    SEATS.forEach((_, side) => {
      const part = points.map(([n, share]) => [n, side ? Math.min(0, share) : Math.max(0, share)]);
      set(this.areas[side], { d: chances ? `${this.path([[part[0][0], 0], ...part, [part[part.length - 1][0], 0]])}Z` : null });
    });
    set(this.curve, { d: chances ? this.path(points) : null });
    set(this.svg, { "data-chances": chances });
    const on = ({ ply }) => points.find(([n]) => n === ply) ?? [ply, 0];
    set(this.marks, { d: this.dots(this.turns.map(on)), "data-judged": judged });
    set(this.here, { d: chances ? this.dots([on({ ply: this.at })]) : null });
    set(this.cursor, { x1: this.x(this.at), x2: this.x(this.at) });
  }

  // Write the numbers of moves below the graph, the last one always.
  rule() {
    const { most } = this;
    if (this.ruled === most) return;
    this.ruled = most;
    const step = roundStep(most, MAX_TICKS);
    const marked = Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step).filter((n) => n === 0 || most - n > step / 2);
    set(this.grid, { d: marked.slice(1).map((n) => `M${this.x(n)} 0V${HEIGHT}`).join("") || null });
    this.plies.replaceChildren(...[...marked, most].map((n) => {
      const label = h("span", null, n || "Start");
      label.style.left = `${((100 * n) / most).toFixed(1)}%`;
      return label;
    }));
  }

  hover(ply) {
    set(this.pointer, { x1: ply === null ? null : this.x(ply), x2: ply === null ? null : this.x(ply), "data-shown": ply !== null });
    this.tell(ply ?? this.at, ply !== null);
  }

  // `pointed`: the sentence about a turning point is told, which otherwise stands below the board.
  tell(ply, pointed = false) {
    const { match } = this;
    const value = match.moves[ply - 1]?.thinking?.value;
    const text = [
      ply ? `Move ${ply}` : "Start",
      odds(chanceAt(match, ply)),
      typeof value === "number" ? opinion(SIDES[match.seatOf(ply - 1)], valueText(value)) : "",
      match.game.score ? difference(match.game.score(match.positions[ply])) : "",
      (pointed && this.turns.find((each) => each.ply === ply)?.words) || this.scale.words,
    ].filter(Boolean).join(" · ");
    say(this.words, text);
    set(this.svg, { "aria-label": `The match move by move. ${text}` });
  }
}

// Return the chance of the player who is ahead, or the result.
function odds(share) {
  if (share === null) return "";
  const { maxie, minnie } = percentages(share);
  if (maxie === minnie) return "even";
  const [side, chance] = maxie > minnie ? [SIDES.maxie, maxie] : [SIDES.minnie, minnie];
  return chance === 100 ? `${side} wins` : `${side} ${chance} %`;
}

// Return a bot's value in words: a number, or who is sure to win.
const opinion = (side, value) => (value.endsWith(" wins") ? `${side} sees that ${value}` : `${side}’s value ${value}`);

function difference({ maxie, minnie }) {
  const n = maxie.armies - minnie.armies;
  if (!n) return "equal armies";
  return `${n > 0 ? SIDES.maxie : SIDES.minnie} has ${plural(Math.abs(n), "more army", "more armies")}`;
}
