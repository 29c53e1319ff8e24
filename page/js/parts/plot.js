// Graph of a match: Blue's chance of winning above the middle, Orange's below it, and the key moments.

import { chanceAt, hasChances, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS } from "../text.js";
import { roundStep } from "./axis.js";
import { word } from "./rules.js";
import { percent } from "./values.js";

const WIDTH = 600;
const HEIGHT = 150;
const MARGIN = 8; // above and below the curve
const MIN_AXIS_PLIES = 10; // plies on the axis of a match that goes on, at least
const MAX_TICKS = 6; // on the axis of moves, at most
const MARK_PX = 6; // from the middle of a mark to where the pointer no longer finds it
const REACHES = [0.25, 0.5, 1]; // of the axis, to each side of even chances: as much as the curve needs, so that it is not flat early in a match
const TICKS = [0.8, 0, -0.8]; // heights of the labels, relative to the reach
const FOLDED_SHARE = 1 / 3; // of the match: as long as less of it was seen, the curve is not worth its room

export class Plot {
  // go(ply) is called when the reader clicks, reveal() for the part that was not shown yet, where the reader may know of one.
  constructor(match, { go, reveal = /** @type {() => void} */ (() => undefined) }) {
    this.match = match;
    this.most = MIN_AXIS_PLIES; // number of plies on the axis
    this.reach = 1; // of the other axis
    this.at = 0;
    this.best = /** @type {number | null} */ (null); // Maxie's chance on the board, with the move that is better than the next one; null if the next one is as good
    this.seen = 0;
    this.points = /** @type {number[][]} */ ([]);
    this.tried = /** @type {number[][]} */ ([]); // the same of the reader's own line
    this.turns = /** @type {any[]} */ ([]);
    this.areas = SEATS.map((seat) => svg("path", { class: "area", "data-owner": seat }));
    this.curve = svg("path", { class: "line chances" });
    this.line = svg("path", { class: "tried" });
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.pointer = svg("line", { class: "pointer", y1: 0, y2: HEIGHT });
    this.drops = svg("path", { class: "drop" }); // from the chance before a mistake to that after it
    this.marks = [null, ...SEATS].map((seat) => svg("path", { class: "moments", "data-owner": seat })); // key moments, and mistakes by the player who made them
    this.here = svg("path", { class: "here" });
    this.grid = svg("path", { class: "tick" });
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      this.areas, TICKS.map((height) => svg("line", { class: height ? "tick" : "zero", x1: 0, x2: WIDTH, y1: this.y(height), y2: this.y(height) })),
      this.grid, this.curve, this.line, this.drops, this.cursor, this.pointer, this.marks, this.here);
    this.svg.addEventListener("click", (event) => go(this.plyAt(event)));
    this.svg.addEventListener("pointermove", (event) => this.hover(this.plyAt(event)));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.words = h("p", { class: "quiet" });
    this.head = h("figcaption", null, word("chance", "Chance of winning"));
    this.axis = TICKS.map((height) => {
      const label = h("span", { "data-owner": height > 0 ? "maxie" : height < 0 ? "minnie" : null });
      label.style.top = `${((this.y(height) / HEIGHT) * 100).toFixed(1)}%`;
      return label;
    });
    const halves = SEATS.map((seat) => h("span", { class: "half", "data-owner": seat, "aria-hidden": "true" }, match.players[seat])); // whose each half is
    this.plies = h("div", { class: "plies", "aria-hidden": "true" });
    this.chief = h("button", { type: "button", class: "chief", onclick: () => go(this.chiefPly) });
    this.rest = h("button", { type: "button", class: "veil", hidden: true, onclick: reveal }, h("span", null, "Result hidden"), h("span", null, "Show it"));
    this.element = h("figure", { class: "plot" }, this.head,
      h("div", { class: "scaled" }, h("div", { class: "axis", "aria-hidden": "true" }, this.axis), h("div", { class: "drawn" }, this.svg, halves, this.chief, this.rest, this.plies)), this.words);
  }

  // Return the ply under the pointer, or that of a mark beside it.
  plyAt({ clientX }) {
    const { left, width } = this.svg.getBoundingClientRect();
    const at = ((clientX - left) / width) * this.most;
    const mark = this.turns.find(({ ply }) => Math.abs(ply - at) * width < MARK_PX * this.most);
    return mark?.ply ?? Math.max(0, Math.min(this.seen, Math.round(at)));
  }

  y(share) {
    return HEIGHT / 2 - (share / this.reach) * (HEIGHT / 2 - MARGIN);
  }

  x(n) {
    return ((n / this.most) * WIDTH).toFixed(1);
  }

  path(points) {
    return `M${points.map(([n, share]) => `${this.x(n)} ${this.y(share).toFixed(1)}`).join("L")}`;
  }

  // Round marks at plies, as lines without a length, because the picture is stretched.
  dots(points) {
    return points.map(([n, share]) => `M${this.x(n)} ${this.y(share).toFixed(1)}h0`).join("") || null;
  }

  // Show the match up to the last ply that was shown, on an axis as long as the reader may know, and mark the ply on the board. Who plays is
  // not told the chances before the end.
  // `turns`: the turning points that the reader has seen, as { ply, words, weight }. `best`: before a mistake, Maxie's chance with the better move.
  // `tried`: moves of the reader's own line, which begins at the ply `seen`.
  show({ at, best, seen, known, end, atOnce, tried = /** @type {any[]} */ ([]) }, turns) {
    const { match } = this;
    const judged = match.judged.length > 0;
    this.at = at;
    this.best = best;
    this.seen = seen;
    this.most = Math.max(known, end ? 1 : MIN_AXIS_PLIES); // at the end as long as the slider, which lies over it on a phone
    this.points = match.positions.slice(0, seen + 1).flatMap((_, ply) => {
      const share = ply === at ? best ?? chanceAt(match, ply) : chanceAt(match, ply);
      return share === null ? [] : [[ply, 2 * share - 1]];
    });
    this.tried = tried.flatMap(({ ply, share }) => (share === null ? [] : [[ply, 2 * share - 1]]));
    const farthest = Math.max(0, ...this.points.concat(this.tried).map(([, share]) => Math.abs(share)));
    this.reach = REACHES.find((reach) => farthest <= reach) ?? 1;
    this.axis.forEach((label, n) => say(label, percent(0.5 + Math.abs(TICKS[n] * this.reach) / 2))); // as in the bar, the chance of the player who is ahead
    this.turns = turns;
    set(this.element, { hidden: !hasChances(match) || (atOnce && !end) });
    set(this.rest, { hidden: seen >= known || tried.length > 0 });
    set(this.element, { "data-folded": seen < FOLDED_SHARE * known });
    this.rest.style.left = `${((100 * seen) / this.most).toFixed(1)}%`;
    if (this.points.length) this.draw(judged);
    this.rule();
    this.tell(at);
  }

  draw(judged) {
    const { points } = this;
    // Each area ends where the curve crosses the middle.
    const crossed = points.flatMap(([n, share], k) => {
      const [m, before] = points[k - 1] ?? [n, share];
      return before * share < 0 ? [[m + ((n - m) * before) / (before - share), 0], [n, share]] : [[n, share]];
    });
    SEATS.forEach((_, side) => {
      const part = crossed.map(([n, share]) => [n, side ? Math.min(0, share) : Math.max(0, share)]);
      set(this.areas[side], { d: `${this.path([[part[0][0], 0], ...part, [part[part.length - 1][0], 0]])}Z` });
    });
    set(this.curve, { d: this.path(points) });
    const on = ({ ply }) => points.concat(this.tried).find(([n]) => n === ply) ?? [ply, 0];
    set(this.line, { d: this.tried.length ? this.path([points[points.length - 1], ...this.tried]) : null });
    const owner = ({ ply }) => (judged ? this.match.seatOf(ply - 1) : null);
    for (const each of this.marks) set(each, { d: this.dots(this.turns.filter((turn) => owner(turn) === (each.dataset.owner ?? null)).map(on)) });
    set(this.drops, { d: judged && this.turns.map(({ ply, drop }) => this.path(drop.map((share, n) => [ply - 1 + n, 2 * share - 1]))).join("") });
    this.showChief(on, judged);
    set(this.here, { d: this.dots([on({ ply: this.at })]) });
    set(this.cursor, { x1: this.x(this.at), x2: this.x(this.at) });
  }

  // Name the weightiest turning point above the graph, with a line down to its mark.
  showChief(on, judged) {
    const chief = this.turns.reduce((best, each) => (each.weight > (best?.weight ?? 0) ? each : best), null);
    set(this.chief, { hidden: !chief });
    if (!chief) return;
    const [ply, share] = on(chief);
    this.chiefPly = ply;
    say(this.chief, judged ? "Largest mistake" : "Turning point");
    set(this.chief, { title: chief.words, "data-judged": judged, "data-before": ply > this.most / 2 });
    this.chief.style.left = `${((100 * ply) / this.most).toFixed(1)}%`;
    this.chief.style.setProperty("--depth", (this.y(share) / HEIGHT).toFixed(3));
  }

  // Write the numbers of moves below the graph, the last one always, and in the place of the first one what they number.
  rule() {
    const { most } = this;
    if (this.ruled === most) return;
    this.ruled = most;
    const step = roundStep(most, MAX_TICKS);
    const marked = Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step).filter((n) => n === 0 || most - n > 0.6 * step);
    set(this.grid, { d: marked.slice(1).map((n) => `M${this.x(n)} 0V${HEIGHT}`).join("") || null });
    this.plies.replaceChildren(...[...marked, most].map((n) => {
      const label = h("span", null, n || "Move");
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
    const turn = pointed && this.turns.find((each) => each.ply === ply)?.words;
    const isBefore = this.best !== null && !pointed;
    const moment = isBefore ? `Before move ${ply + 1}` : ply ? `Move ${ply}` : "Start";
    const own = this.tried.find(([n]) => n === ply);
    const text = [own ? `Your move ${ply}` : moment, odds(own ? (own[1] + 1) / 2 : isBefore ? this.best : chanceAt(this.match, ply), this.match.players), turn].filter(Boolean).join(" · ");
    say(this.words, text);
    set(this.svg, { "aria-label": `The match move by move. ${text}` });
  }
}

// Return the chance of the player who is ahead, or the result. `players`: their names.
function odds(share, players) {
  if (share === null) return "";
  const { maxie, minnie } = percentages(share);
  if (maxie === minnie) return "even";
  const [side, chance] = maxie > minnie ? [players.maxie, maxie] : [players.minnie, minnie];
  return chance === 100 ? `${side} wins` : `${side} ${chance} %`;
}
