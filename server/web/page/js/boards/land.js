// The land of a map: for each territory an area in the tint of its continent, and over it the colour of its owner.

import { set, svg } from "../dom.js";
import { RADIUS } from "./geometry.js";

const TINTS = 8;

export class Land {
  // `cells` has the areas of each territory, or is null where nobody has found them; `tell(type, v)` hears "click", "enter"
  // and "leave" of each.
  constructor(layout, { continents, cells }, tell) {
    const tints = layout.at.map((_, v) => continents.findIndex(([, members]) => members.includes(v)));
    const outlines = layout.at.map((_, v) => (cells?.[v] ? outline(layout, cells[v]) : null));
    this.areas = outlines.map((d, v) => d && svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    this.elements = cells
      ? [...outlines.map((d, v) => svg("path", { class: tints[v] < 0 ? "ground" : `ground tint-${tints[v] % TINTS}`, d })), ...this.areas]
      : continents.map(([, members], n) => strip(layout, members, n));
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
  }

  // `choice` is "source", "target", "selected" or null.
  mark(v, choice) {
    if (this.areas[v]) set(this.areas[v], { "data-choice": choice });
  }
}

// The areas of a territory as an SVG path.
export const outline = (layout, rings) => rings.map((ring) => (
  `M${ring.map((corner) => layout.point(corner).map((n) => n.toFixed(1)).join(" ")).join("L")}Z`)).join("");

// A continent of a map without cells: what lies along its roads.
function strip(layout, members, n) {
  const inside = layout.roads.filter(([v, w]) => members.includes(v) && members.includes(w));
  return svg("g", { class: `tint tint-${n % TINTS}` },
    inside.flatMap(([v, w]) => layout.lines(v, w).map(([[x1, y1], [x2, y2]]) => svg("line", { x1, y1, x2, y2 }))),
    members.map((v) => svg("circle", { cx: layout.at[v][0], cy: layout.at[v][1], r: 2.1 * RADIUS })));
}
