// The board of a game on squares: tic-tac-toe, with row 0 on top, and Hexapawn, with row 1 at the bottom.

import { h, set } from "../dom.js";
import { SIDES } from "../text.js";

const OWNERS = { X: "maxie", W: "maxie", O: "minnie", B: "minnie" };

// Return the cells, which are in the order of their numbers, as a grid. `below`: the first row is at the bottom.
export function gridOf(cells, columns, below) {
  const rows = Array.from({ length: cells.length / columns }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
  const grid = h("div", { class: `grid pawns ${columns > 5 ? "many" : ""}`, role: "group" }, (below ? rows.reverse() : rows).flat());
  for (const [name, n] of Object.entries({ columns, rows: rows.length })) grid.style.setProperty(`--${name}`, n);
  return grid;
}

export class GridBoard {
  constructor(game, onSpot) {
    this.game = game;
    this.pawns = !game.line;
    const { width, height } = game;
    const numbers = Array.from({ length: width * height }, (_, n) => n);
    this.cells = numbers.map((n) => h("button", { type: "button", class: "cell", "data-spot": n, onclick: () => onSpot(n) }));
    this.element = gridOf(this.cells, width, this.pawns);
  }

  // Call `then` immediately, because nothing moves.
  whenStill(then) {
    then();
  }

  show(position, move) {
    const marks = position.squares ?? position.cells;
    const last = move === null || move === undefined ? [] : [move].flat();
    const line = this.game.line?.(position) ?? [];
    this.cells.forEach((cell, n) => {
      const owner = OWNERS[marks[n]];
      set(cell, { "data-owner": owner ?? "nobody", "data-last": last.includes(n), "data-line": line.includes(n) });
      cell.dataset.words = this.words(n, marks[n]);
      set(cell, { "aria-label": cell.dataset.words });
    });
    set(this.element, { "aria-label": `Board, move ${position.ply}` });
  }

  words(n, mark) {
    const owner = OWNERS[mark];
    return `${this.game.square(n)}: ${owner ? SIDES[owner] : "empty"}`;
  }

  mark(marks) {
    this.cells.forEach((cell, n) => {
      const source = marks?.sources.has(n);
      const target = marks?.targets.has(n);
      const ahead = marks?.ahead;
      const premove = ahead?.cells.includes(n);
      set(cell, {
        "data-source": source && !ahead, "data-target": target && !ahead, "data-selected": marks?.selected === n, "data-premove": premove,
        "aria-disabled": source || target ? null : "true",
        "aria-label": `${cell.dataset.words ?? ""}${target ? `, ${ahead ? "possible" : "legal"} target` : ""}${marks?.selected === n ? ", chosen" : ""}${premove ? ", your next move" : ""}`,
      });
    });
  }

  inWords(position) {
    return [...(position.squares ?? position.cells)].flatMap((mark, n) => (mark === "." ? [] : [this.words(n, mark)]));
  }
}
