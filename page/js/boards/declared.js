// The board that a game declares in its class: a grid of cells, or points and lines; otherwise the position as text.

import { h, set, svg } from "../dom.js";
import { SIDES } from "../text.js";
import { gridOf } from "./grid.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const SPAN = 520;
const EDGE = 40;
const RADIUS = 15;

export class DeclaredBoard {
  // onSpot(n) is called for each cell chosen by click or key.
  constructor(game, onSpot) {
    this.game = game;
    this.onSpot = onSpot;
    this.cells = /** @type {any} */ ([]);
    this.said = /** @type {any} */ ([]);
    this.picture = /** @type {any} */ (null); // points and lines, or text
    this.element = h("div", { class: "declared" });
  }

  // Call `then` immediately, because nothing moves.
  whenStill(then) {
    then();
  }

  // The first position comes with the class's declaration.
  build(board) {
    this.board = board;
    if (board === null) {
      this.picture = h("pre", { class: "picture" });
      this.element.replaceChildren(this.picture);
    } else if (board.kind === "grid") {
      this.buildGrid(board);
    } else {
      this.buildPoints(board);
    }
  }

  buildGrid({ columns, rows, a1_below: below, checkered }) {
    this.names = Array.from({ length: columns * rows }, (_, n) => `${LETTERS[n % columns]}${Math.floor(n / columns) + 1}`);
    this.cells = this.names.map((_, n) => {
      const dark = checkered && (n + Math.floor(n / columns) * (columns % 2 ? 0 : 1)) % 2 === 0;
      return h("button", { type: "button", class: "cell", "data-spot": n, "data-dark": dark, onclick: () => this.onSpot(n) });
    });
    this.element.replaceChildren(gridOf(this.cells, columns, below));
  }

  buildPoints({ places, lines, names }) {
    this.names = names;
    const xs = places.map(([x]) => x);
    const ys = places.map(([, y]) => y);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const wide = Math.max(Math.max(...xs) - left, Math.max(...ys) - top) || 1;
    const at = places.map(([x, y]) => [EDGE + ((x - left) / wide) * SPAN, EDGE + ((y - top) / wide) * SPAN]);
    const high = Math.max(...at.map(([, y]) => y)) + EDGE;
    this.cells = at.map(([x, y], n) => {
      const spot = svg("g", { class: "spot", "data-spot": n, onclick: () => this.onSpot(n) },
        svg("circle", { class: "reach", cx: x, cy: y, r: RADIUS + 8 }),
        svg("circle", { class: "ring", cx: x, cy: y, r: RADIUS + 5 }),
        svg("circle", { class: "empty", cx: x, cy: y, r: RADIUS / 2 }),
        svg("circle", { class: "maxie", cx: x, cy: y, r: RADIUS }),
        svg("rect", { class: "minnie", x: x - RADIUS * 0.9, y: y - RADIUS * 0.9, width: RADIUS * 1.8, height: RADIUS * 1.8, rx: 3 }),
        svg("text", { x, y: y + 5 }));
      spot.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.onSpot(n);
      });
      return spot;
    });
    this.picture = svg("svg", { class: "map points", role: "group", viewBox: `0 0 ${SPAN + 2 * EDGE} ${high.toFixed(0)}` },
      lines.map(([a, b]) => svg("line", { class: "road", x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1] })), this.cells);
    this.element.replaceChildren(this.picture);
  }

  show(position) {
    if (!position.shown) return;
    if (this.board === undefined) this.build(this.game.board);
    if (this.board === null) {
      this.picture.textContent = position.shown.picture;
      return;
    }
    const last = position.shown.move?.squares ?? [];
    this.said = this.cells.map((_, n) => this.words(position.shown, n));
    this.cells.forEach((cell, n) => {
      set(cell, { "data-owner": position.shown.owners[n] || "nobody", "data-last": last.includes(n), "aria-label": this.said[n] });
      const text = position.shown.texts[n] ?? "";
      const place = cell.querySelector("text") ?? cell;
      if (place.textContent !== text) place.textContent = text;
    });
    if (this.marked) this.mark(this.marked);
  }

  words({ owners, texts }, n) {
    return `${this.names[n]}: ${owners[n] ? SIDES[owners[n]] : texts[n] || "empty"}`;
  }

  mark(marks) {
    this.marked = marks;
    if (this.picture) set(this.picture, { "data-choosing": typeof marks?.selected === "number" });
    this.cells.forEach((cell, n) => {
      const source = marks?.sources.has(n);
      const target = marks?.targets.has(n);
      const chosen = marks?.selected === n;
      set(cell, {
        "data-source": source, "data-target": target, "data-selected": chosen,
        "aria-disabled": source || target ? null : "true",
        role: source || target ? "button" : null,
        tabindex: source || target ? 0 : null,
        "aria-label": `${this.said?.[n] ?? this.names[n]}${target ? ", legal target" : ""}${chosen ? ", chosen" : ""}`,
      });
    });
  }

  inWords(position) {
    if (!position.shown || this.board === null) return [];
    return position.shown.owners.flatMap((owner, n) => (owner || position.shown.texts[n] ? [this.words(position.shown, n)] : []));
  }
}
