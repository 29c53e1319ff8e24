// Who is ahead, over the match: each bot's own values as lines, and the difference of armies behind them.

import { h, say, set, svg } from "../dom.js";
import { SEATS } from "../text.js";
import { value } from "./players.js";

const WIDTH = 600;
const HEIGHT = 150;
const SOFT = 300; // hundredths of an army up to which the scale is about linear

const soft = (n) => Math.asinh(n / SOFT);

export class Plot {
  constructor(match, go) {
    this.match = match;
    this.area = svg("path", { class: "area" });
    this.lines = SEATS.map((seat) => svg("path", { class: "line", "data-owner": seat }));
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      this.area, svg("line", { class: "zero", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }), this.lines, this.cursor);
    this.svg.addEventListener("click", (event) => {
      const { left, width } = this.svg.getBoundingClientRect();
      go(Math.round(((event.clientX - left) / width) * this.most));
    });
    this.words = h("p", { class: "quiet" });
    this.element = h("figure", { class: "plot" },
      h("figcaption", null,
        h("span", { class: "key", "data-owner": "maxie" }, "Maxie’s value"),
        h("span", { class: "key", "data-owner": "minnie" }, "Minnie’s value"),
        match.game.score ? h("span", { class: "key area-key" }, "armies") : null),
      this.svg, this.words);
  }

  show(ply) {
    const { match } = this;
    this.most = Math.max(match.moves.length, 10);
    const values = SEATS.map((_, seat) => match.moves.flatMap(({ thinking }, n) => (
      n % 2 === seat && typeof thinking?.value === "number" ? [[n + 1, soft(thinking.value)]] : [])));
    const armies = match.game.score ? match.positions.map((each) => {
      const { maxie, minnie } = match.game.score(each);
      return soft(100 * (maxie.armies - minnie.armies));
    }) : [];
    const top = Math.max(1, ...armies.map(Math.abs), ...values.flat().map(([, y]) => Math.min(Math.abs(y), soft(10000))));
    const x = (n) => ((n / this.most) * WIDTH).toFixed(1);
    const y = (n) => (HEIGHT / 2 - Math.max(-1, Math.min(1, n / top)) * (HEIGHT / 2 - 4)).toFixed(1);
    set(this.area, { d: armies.length > 1
      ? `M0 ${HEIGHT / 2}${armies.map((n, at) => `L${x(at)} ${y(n)}`).join("")}L${x(armies.length - 1)} ${HEIGHT / 2}Z` : null });
    this.lines.forEach((line, seat) => set(line, {
      d: values[seat].length ? `M${values[seat].map(([at, n]) => `${x(at)} ${y(n)}`).join("L")}` : null,
    }));
    set(this.cursor, { x1: x(ply), x2: x(ply) });
    const said = match.moves[ply - 1]?.thinking?.value;
    const text = typeof said === "number" ? `At ply ${ply} the mover says ${value(said)}; up is good for Maxie` : "Up is good for Maxie";
    say(this.words, text);
    set(this.svg, { "aria-label": `Values over the match. ${text}` });
  }
}
