// The picture of a Riskless map: territories as areas of their continents, with a blue circle where Maxie stands, an orange
// square where Minnie does, and a small ring where nobody does. Colours are never the only sign.

import { h, set, svg } from "../dom.js";
import { SEAT_NAMES } from "../text.js";
import { March, travelTime } from "./march.js";
import { RADIUS, arrow, inReadingOrder, layOut, placeBadge, placeNames } from "./geometry.js";
import { Land } from "./land.js";
import { atFirst, surroundings } from "./surroundings.js";
import { Zoom } from "./zoom.js";

const LEAST_SCALE = 0.52; // pixels a unit: two territories are then 32 pixels apart or more
const READABLE = 0.95; // what names and figures are drawn as large as, in pixels a unit, where the picture is smaller
const FONT = "11px system-ui, \"DejaVu Sans\", sans-serif"; // as the style has it
const OUTLINE = 3; // around each name
const FIGHT_HIGH = 18;

const pen = h("canvas").getContext("2d");

export class MapBoard {
  // onSpot(v) is told of each territory that is clicked or chosen by key. `whole`: nothing is to be pressed, so that all of the
  // map is in sight however small its place is.
  constructor(game, onSpot, { whole = false } = {}) {
    this.game = game;
    this.onSpot = onSpot;
    this.picture = svg("svg", { class: "map", role: "img", "aria-label": "Map" }); // until the first position is shown
    this.zoom = new Zoom(this.picture, [1, 1], whole ? 0 : LEAST_SCALE, () => this.label());
    this.element = this.zoom.element;
    this.march = new March();
    this.drawnAt = -Infinity;
    this.travelled = /** @type {any} */ (null);
    this.layout = /** @type {any} */ (null);
    this.land = /** @type {any} */ (null);
    this.spots = /** @type {any} */ (null);
    this.names = /** @type {any} */ (null);
    this.widths = /** @type {number[]} */ ([]); // of the names as they are drawn at their size
    this.boxes = /** @type {any[]} */ ([]); // of those that are shown, where they stand
    this.fight = /** @type {any} */ (null);
    this.shown = /** @type {any} */ (null);
    const first = atFirst(game.setup);
    this.draw(first);
    surroundings(game.setup).then((found) => found === first || this.draw(found));
  }

  draw(extra) {
    const { setup } = this.game;
    const layout = layOut(setup, extra.wraps, extra.cells === null);
    this.layout = layout;
    set(this.picture, { viewBox: `0 0 ${layout.width.toFixed(1)} ${layout.height.toFixed(1)}` });
    this.land = new Land(layout, extra, (type, v) => (type === "click" ? this.onSpot(v) : this.point(v, type === "enter")));
    this.spots = layout.at.map((_, v) => this.spot(v));
    this.names = setup.territories.map((name) => svg("text", { class: "place" }, name));
    pen.font = FONT;
    this.widths = setup.territories.map((name) => pen.measureText(name).width + OUTLINE);
    this.move = svg("path", { class: "move" });
    this.fight = svg("g", { class: "fight" });
    this.picture.replaceChildren(
      ...this.land.elements,
      ...layout.roads.flatMap(([v, w]) => layout.lines(v, w).map(([[x1, y1], [x2, y2]]) => svg("line", {
        class: "road", x1, y1, x2, y2,
      }))),
      this.move,
      ...inReadingOrder(layout.at).map((v) => this.spots[v].group),
      ...this.names,
      this.march.element,
      this.fight,
    );
    this.zoom.resize([layout.width, layout.height]);
    if (this.shown) {
      const [position, move, before] = this.shown;
      this.shown = null;
      this.show(position, move, before);
    }
    if (this.marked) this.mark(this.marked);
  }

  // How much larger than the picture marks and names are drawn, so that they can be read where the picture is small.
  get size() {
    return Math.max(1, READABLE / (this.zoom.scale || 1));
  }

  // Put marks and names where there is room for them at this zoom.
  label() {
    if (!this.names) return;
    const { size, layout } = this;
    const placed = placeNames(this.widths, layout, size);
    this.boxes = placed.filter(({ crowded }) => !crowded).map((each) => each.box);
    placed.forEach(({ x, y, crowded }, v) => {
      set(this.names[v], { x: x.toFixed(1), y: y.toFixed(1), "data-crowded": crowded });
      this.names[v].style.fontSize = `${(11 * size).toFixed(1)}px`;
      set(this.spots[v].group, { transform: `translate(${layout.at[v][0].toFixed(1)} ${layout.at[v][1].toFixed(1)}) scale(${size.toFixed(2)})` });
    });
    if (this.shown?.[1]) this.showMove(this.shown[1], this.shown[2]);
  }

  // A name that had no room is shown while its territory is pointed at.
  point(v, pointed) {
    set(this.names[v], { "data-pointed": pointed });
  }

  spot(v) {
    const side = 1.8 * RADIUS;
    const number = svg("text", { class: "armies", y: 4.8 });
    const title = svg("title");
    const group = svg("g", { class: "spot", "data-spot": v },
      title,
      svg("circle", { class: "reach", r: RADIUS + 8 }),
      svg("circle", { class: "focus", r: RADIUS + 10 }),
      svg("circle", { class: "halo", r: RADIUS + 5 }),
      svg("circle", { class: "ring", r: RADIUS + 5 }),
      svg("circle", { class: "empty", r: 0.5 * RADIUS }),
      svg("circle", { class: "maxie", r: RADIUS }),
      svg("rect", { class: "minnie", x: -side / 2, y: -side / 2, width: side, height: side, rx: 3 }),
      number);
    group.addEventListener("click", () => this.onSpot(v));
    for (const type of ["pointerenter", "focus"]) group.addEventListener(type, () => this.point(v, true));
    for (const type of ["pointerleave", "blur"]) group.addEventListener(type, () => this.point(v, false));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.onSpot(v);
    });
    return { group, number, title };
  }

  // Show a position; `move` led to it from `before`, or both are null.
  show(position, move, before) {
    if (this.shown?.[0] === position) return; // its armies may be on their way
    const follows = before !== null && this.shown?.[0] === before;
    this.shown = [position, move, before];
    this.march.stop();
    const now = performance.now();
    const travel = follows ? travelTime(now - this.drawnAt) : 0;
    this.drawnAt = now;
    if (move) this.zoom.reveal(this.layout.at[move[1]]);
    position.armies.forEach((n, v) => this.showSpot(v, travel && v === move[1] ? before.armies[v] : n));
    if (travel) {
      this.fight.replaceChildren();
      set(this.move, { d: null });
      this.march.go(this.token(before.armies[move[0]]), this.layout.lines(...move), travel, () => {
        this.showSpot(move[1], position.armies[move[1]]);
        this.showMove(move, before);
        const { travelled } = this;
        this.travelled = null;
        travelled?.();
      });
    } else {
      this.showMove(move, before);
    }
    const { maxie, minnie } = this.game.score(position);
    set(this.picture, {
      "aria-label": `Map, ply ${position.ply}: Maxie has ${maxie.armies} armies on ${maxie.places} territories, `
        + `Minnie ${minnie.armies} on ${minnie.places}`,
    });
  }

  // Call `then` when no armies are on their way.
  whenStill(then) {
    if (this.march.over === null) then();
    else this.travelled = then;
  }

  showSpot(v, n) {
    const { group, number, title } = this.spots[v];
    const owner = n > 0 ? "maxie" : n < 0 ? "minnie" : "nobody";
    set(group, { "data-owner": owner });
    this.land.own(v, owner);
    number.textContent = n ? Math.abs(n) : "";
    title.textContent = this.words(v, n);
  }

  // Armies that travel, around 0 0.
  token(n) {
    const side = 1.8 * RADIUS;
    const inner = svg("g", { class: "spot", "data-owner": n > 0 ? "maxie" : "minnie", transform: `scale(${this.size.toFixed(2)})` },
      svg("circle", { class: "maxie", r: RADIUS }),
      svg("rect", { class: "minnie", x: -side / 2, y: -side / 2, width: side, height: side, rx: 3 }),
      svg("text", { class: "armies", y: 4.8 }, Math.abs(n)));
    return svg("g", null, inner);
  }

  showMove(move, before) {
    this.fight.replaceChildren();
    set(this.move, { d: null });
    if (!move) return;
    const { size, layout } = this;
    const parts = layout.lines(...move);
    set(this.move, {
      d: parts.map((line, n) => arrow(line, n ? 0 : RADIUS * size, n === parts.length - 1 ? (RADIUS + 4) * size : 0)).join(""),
      "data-owner": before.player,
    });
    const told = this.game.told(before, move);
    if (told.what !== "won" && told.what !== "lost") return;
    const text = `${told.came} × ${told.stood}`;
    const width = 10 + text.length * 7;
    const [x, y] = placeBadge(move[1], [width * size, FIGHT_HIGH * size], this.boxes, layout, size, parts[parts.length - 1]);
    this.fight.append(svg("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size.toFixed(2)})` },
      svg("rect", { x: -width / 2, y: -FIGHT_HIGH / 2, width, height: FIGHT_HIGH, rx: FIGHT_HIGH / 2 }), svg("text", { y: 4 }, text)));
  }

  words(v, n) {
    const owner = n > 0 ? "maxie" : "minnie";
    return `${this.game.names[v]}: ${n ? `${SEAT_NAMES[owner]} ${Math.abs(n)}` : "empty"}`;
  }

  // What may be chosen now: `sources` and `targets` are sets, `selected` a number or null. null: nothing may.
  mark(marks) {
    this.marked = marks;
    set(this.picture, { role: marks ? "group" : "img" });
    this.spots.forEach(({ group, title }, v) => {
      const source = marks?.sources.has(v);
      const target = marks?.targets.has(v);
      const said = `${title.textContent}${target ? ", legal target" : ""}${marks?.selected === v ? ", chosen" : ""}`;
      set(group, {
        "data-source": source, "data-target": target, "data-selected": marks?.selected === v,
        role: source || target ? "button" : null,
        // What has the focus keeps it when it can no longer be chosen, as after a move.
        tabindex: source || target ? 0 : group === document.activeElement ? -1 : null,
        "aria-label": source || target ? said : null,
      });
      this.land.mark(v, marks?.selected === v ? "selected" : target ? "target" : source ? "source" : null);
    });
  }

  // The position in words, territory by territory.
  inWords(position) {
    return position.armies.flatMap((n, v) => (n ? [this.words(v, n)] : []));
  }
}
