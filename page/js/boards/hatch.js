// Hatching of Minnie's land, a second sign beside its colour. Its lines are equally far apart on the screen, on large and small boards and
// on cards. A narrower picture than LEAST_PX, such as that of a row of a list, has none: there lines would be noise, and the two sides
// differ in lightness. Nor have the shapes beside names, which differ in form.

import { h, set, svg, uniqueId } from "../dom.js";

export const LEAST_PX = 120; // width of a picture
const APART = 7; // pixels between two lines, as in the pattern of index.html
const TILE = 10; // pixels of a square on a canvas, whose diagonals are as far apart

// The pattern of one map, in its picture.
export class Hatch {
  constructor(picture) {
    this.picture = picture;
    this.id = uniqueId("hatch");
    this.element = svg("pattern", { id: this.id, width: APART, height: APART, patternUnits: "userSpaceOnUse" },
      svg("rect", { class: "hatch-ground", width: APART, height: APART }), svg("line", { class: "hatch-line", y2: APART }));
  }

  // Fit the lines to a scale, in pixels per unit, and to the width of the map in units.
  fit(scale, width) {
    set(this.element, { patternTransform: `rotate(45) scale(${(1 / scale).toFixed(3)})` });
    this.picture.style.setProperty("--hatch", scale * width < LEAST_PX ? "var(--minnie-land)" : `url(#${this.id})`);
  }
}

// Return a square of the pattern for a canvas.
export function hatchTile({ minnie, dark }) {
  const tile = h("canvas", { width: TILE, height: TILE });
  const context = tile.getContext("2d");
  context.fillStyle = minnie;
  context.fillRect(0, 0, TILE, TILE);
  context.strokeStyle = dark;
  for (const x of [-TILE, 0, TILE]) context.stroke(new Path2D(`M${x} ${TILE}L${x + TILE} 0`));
  return tile;
}
