// A board of the size of a thumb: who holds what, by colour, without names and figures. It is drawn on a canvas, for
// many are on a page at once and all of them move.

import { onComfort } from "../comfort.js";
import { h } from "../dom.js";
import { Declared } from "../games/declared.js";
import { layOut } from "./geometry.js";
import { outline } from "./land.js";
import { PLAIN, surroundings } from "./surroundings.js";

const WIDE = 280; // CSS pixels; the style may make it smaller
const HIGH = 150;
const REST_MS = 250; // from one picture to the next
const GRIDS = { X: "maxie", O: "minnie", W: "maxie", B: "minnie" };

export class SmallBoard {
  constructor(game) {
    this.game = game;
    this.element = h("canvas", { class: "small-board", "aria-hidden": "true", width: WIDE, height: HIGH });
    this.position = null;
    this.move = null;
    this.drawnAt = -REST_MS;
    if (game.names) this.prepare(PLAIN);
    if (game.names) surroundings(game.setup).then((found) => found === PLAIN || this.prepare(found));
    this.forget = onComfort(() => this.drawSoon()); // its colours may be others
  }

  prepare({ cells, wraps }) {
    const layout = layOut(this.game.setup, wraps);
    const margin = cells ? 0 : 20;
    this.layout = layout;
    this.scale = Math.min(WIDE / (layout.width - 2 * margin), HIGH / (layout.height - 2 * margin));
    this.areas = layout.at.map(([x, y], v) => {
      if (cells) return new Path2D(outline(layout, cells[v]));
      const disc = new Path2D();
      disc.arc(x, y, 22, 0, 2 * Math.PI);
      return disc;
    });
    this.roads = new Path2D(cells ? "" : layout.roads.flatMap(([v, w]) => layout.lines(v, w))
      .map(([a, b]) => `M${a.join(" ")}L${b.join(" ")}`).join(""));
    this.drawSoon();
  }

  // Show a position and the move that led to it. A board whose match hurries is drawn not oftener than it can be followed.
  show(position, move) {
    this.position = position;
    this.move = move;
    this.drawSoon();
  }

  drawSoon() {
    if (!this.position) return;
    this.due ??= setTimeout(() => requestAnimationFrame(() => this.draw()), Math.max(0, this.drawnAt + REST_MS - performance.now()));
  }

  draw() {
    this.due = undefined;
    this.drawnAt = performance.now();
    const context = this.element.getContext("2d");
    const style = getComputedStyle(this.element);
    const colour = (name) => style.getPropertyValue(`--small-${name}`);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDE, HIGH);
    if (this.game.names) this.drawMap(context, colour);
    else if (!(this.game instanceof Declared)) this.drawGrid(context, colour);
  }

  drawMap(context, colour) {
    const { layout, scale, position, move } = this;
    context.translate((WIDE - layout.width * scale) / 2, (HIGH - layout.height * scale) / 2);
    context.scale(scale, scale);
    context.lineWidth = 1 / scale;
    context.strokeStyle = colour("rule");
    context.stroke(this.roads);
    this.areas.forEach((area, v) => {
      const n = position.armies[v];
      context.fillStyle = colour(n > 0 ? "maxie" : n < 0 ? "minnie" : "nobody");
      context.fill(area);
      context.stroke(area);
    });
    if (!move) return;
    context.strokeStyle = colour("move");
    context.lineWidth = 3 / scale;
    for (const [a, b] of layout.lines(...move)) context.stroke(new Path2D(`M${a.join(" ")}L${b.join(" ")}`));
  }

  drawGrid(context, colour) {
    const { game: { width, height }, position } = this;
    const cell = Math.min(WIDE / width, HIGH / height);
    const marks = position.squares ?? position.cells;
    context.translate((WIDE - width * cell) / 2, (HIGH - height * cell) / 2);
    [...marks].forEach((mark, n) => {
      const row = Math.floor(n / width);
      const [x, y] = [(n % width) * cell, (position.squares ? height - 1 - row : row) * cell];
      context.fillStyle = colour("nobody");
      context.fillRect(x + 1, y + 1, cell - 2, cell - 2);
      if (!GRIDS[mark]) return;
      context.fillStyle = colour(GRIDS[mark]);
      context.beginPath();
      if (GRIDS[mark] === "maxie") context.arc(x + cell / 2, y + cell / 2, cell * 0.3, 0, 2 * Math.PI);
      else context.rect(x + cell * 0.22, y + cell * 0.22, cell * 0.56, cell * 0.56);
      context.fill();
    });
  }

  stop() {
    clearTimeout(this.due);
    this.forget();
  }
}
