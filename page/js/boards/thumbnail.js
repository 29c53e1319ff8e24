// A thumbnail of a board: owners by colour, without names and figures. It is drawn on a canvas, because
// a page has many that move: only areas with a new owner are drawn again.

import { onPreferences } from "../preferences.js";
import { h } from "../dom.js";
import { Declared } from "../games/declared.js";
import { cancel, batch } from "../batch.js";
import { arrow, layOut } from "./geometry.js";
import { LEAST_PX, hatchTile } from "./hatch.js";
import { outlines } from "./land.js";
import { cachedMapData, loadMapData } from "./mapdata.js";

const WIDTH = 280; // CSS pixels; the style may make it smaller
const HEIGHT = 150;
const [ARROW_GAP, ARROW_HEAD] = [2, 1.1]; // pixels between a move's arrow and the middle of its target; size of its tip
const MARK_OWNERS = { X: "maxie", O: "minnie", W: "maxie", B: "minnie" };
const COAST_WIDTH = 4; // pixels, of which half lie on the sea
const COLOURS = ["maxie", "minnie", "dark", "nobody", "coast", "rule", "move"];

let colours = /** @type {any} */ (null); // cached, because reading them is slow
onPreferences(() => {
  colours = null;
});

export class Thumbnail {
  constructor(game) {
    this.game = game;
    this.element = h("canvas", { class: "small-board", "aria-hidden": "true", width: WIDTH, height: HEIGHT });
    this.position = /** @type {any} */ (null);
    this.move = /** @type {any} */ (null);
    this.layout = /** @type {any} */ (null);
    this.areas = /** @type {any} */ (null);
    this.roads = /** @type {any} */ (null);
    this.begun = false; // true once it was drawn on the page
    this.scale = 1;
    this.minnie = /** @type {any} */ (null); // fill of Minnie's land
    this.context = this.element.getContext("2d");
    this.ground = h("canvas", { width: WIDTH, height: HEIGHT }).getContext("2d"); // the map without the move
    this.owners = /** @type {any} */ (null); // owners of the areas as drawn there
    if (game.names) this.load(game.setup);
    this.unlisten = onPreferences(() => this.position && this.draw()); // its colours may have changed, with those of the page
  }

  // Nothing is drawn before the land is known: to work out land that the server has would take a phone longer than to wait for it.
  async load(setup) {
    const first = cachedMapData(setup);
    if (first.cells !== undefined) this.prepare(first);
    const found = await loadMapData(setup);
    if (found !== first) this.prepare(found);
  }

  prepare({ cells, wraps, marks }) {
    const layout = layOut(this.game.setup, wraps, cells, marks);
    this.layout = layout;
    this.scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
    this.areas = outlines(layout, cells).map((d) => new Path2D(d));
    this.roads = new Path2D(cells ? "" : layout.roads.flatMap(([v, w]) => layout.lines(v, w))
      .map(([a, b]) => `M${a.join(" ")}L${b.join(" ")}`).join(""));
    this.owners = null;
    this.drawSoon();
  }

  // Show a position and the move that led to it. During fast matches a board is drawn only as often as one can follow.
  show(position, move) {
    this.position = position;
    this.move = move;
    this.drawSoon();
  }

  // Draw with the other small boards; the first picture at once, so that no board is blank.
  drawSoon() {
    if (!this.position) return;
    if (this.areas && !this.begun && this.element.isConnected) {
      this.begun = true;
      this.draw();
    } else {
      batch(this, () => this.draw());
    }
  }

  draw() {
    const { context } = this;
    colours ??= this.colours();
    if (!colours) {
      this.drawSoon();
      return;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    if (this.areas) this.drawMap(context);
    else if (this.game.names) return;
    else if (!(this.game instanceof Declared)) this.drawGrid(context);
  }

  // Return the style's current colours, light or dark, by name; null while the board is not on the page.
  colours() {
    const style = getComputedStyle(this.element);
    const found = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--small-${name}`)]));
    return found.rule ? found : null;
  }

  toMap(context) {
    const { layout, scale } = this;
    context.setTransform(scale, 0, 0, scale, (WIDTH - layout.width * scale) / 2, (HEIGHT - layout.height * scale) / 2);
  }

  drawMap(context) {
    const { layout, scale, move } = this;
    this.drawAreas();
    context.drawImage(this.ground.canvas, 0, 0);
    if (!move) return;
    this.toMap(context);
    context.lineCap = context.lineJoin = "round";
    const lines = layout.lines(...move);
    const path = new Path2D(lines.map((line, n) => arrow(line, 0, n === lines.length - 1 ? ARROW_GAP / scale : 0, ARROW_HEAD / scale)).join(""));
    for (const [colour, width] of /** @type {[string, number][]} */ ([["rule", 7], ["move", 3.5]])) {
      context.strokeStyle = colours[colour];
      context.lineWidth = width / scale;
      context.stroke(path);
    }
  }

  // Redraw changed areas.
  drawAreas() {
    const { ground, position } = this;
    if (!this.owners || this.drawnIn !== colours) {
      this.owners = this.areas.map(() => null);
      this.drawnIn = colours;
      this.minnie = this.hatch();
      ground.setTransform(1, 0, 0, 1, 0, 0);
      ground.clearRect(0, 0, WIDTH, HEIGHT);
      this.toMap(ground);
      ground.lineWidth = 1 / this.scale;
      ground.strokeStyle = colours.rule;
      ground.stroke(this.roads);
      ground.lineJoin = "round";
      ground.lineWidth = COAST_WIDTH / this.scale;
      ground.strokeStyle = colours.coast;
      for (const area of this.areas) ground.stroke(area);
      ground.lineWidth = 1 / this.scale;
      ground.strokeStyle = colours.rule;
    }
    this.areas.forEach((area, v) => {
      const n = position.armies[v];
      const owner = n > 0 ? "maxie" : n < 0 ? "minnie" : "nobody";
      if (owner === this.owners[v]) return;
      this.owners[v] = owner;
      ground.fillStyle = owner === "minnie" ? this.minnie : colours[owner];
      ground.fill(area);
      ground.stroke(area);
    });
  }

  // Return the fill of Minnie's land: hatched, unless the picture is too small on the screen.
  hatch() {
    const shown = this.element.clientWidth || WIDTH;
    if (shown < LEAST_PX) return colours.minnie;
    const pattern = /** @type {CanvasPattern} */ (this.ground.createPattern(hatchTile(colours), "repeat"));
    pattern.setTransform(new DOMMatrix().scale(Math.max(1, WIDTH / shown) / this.scale));
    return pattern;
  }

  drawGrid(context) {
    const { game: { width, height }, position } = this;
    const cell = Math.min(WIDTH / width, HEIGHT / height);
    const marks = position.squares ?? position.cells;
    context.translate((WIDTH - width * cell) / 2, (HEIGHT - height * cell) / 2);
    [...marks].forEach((mark, n) => {
      const row = Math.floor(n / width);
      const [x, y] = [(n % width) * cell, (position.squares ? height - 1 - row : row) * cell];
      context.fillStyle = colours.nobody;
      context.fillRect(x + 1, y + 1, cell - 2, cell - 2);
      if (!MARK_OWNERS[mark]) return;
      context.fillStyle = colours[MARK_OWNERS[mark]];
      context.beginPath();
      if (MARK_OWNERS[mark] === "maxie") context.arc(x + cell / 2, y + cell / 2, cell * 0.3, 0, 2 * Math.PI);
      else context.rect(x + cell * 0.22, y + cell * 0.22, cell * 0.56, cell * 0.56);
      context.fill();
    });
  }

  stop() {
    cancel(this);
    this.unlisten();
  }
}
