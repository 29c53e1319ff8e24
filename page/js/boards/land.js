// The land of a map: for each territory an area in the tint of its continent, and over it the colour of its owner.

import { set, svg } from "../dom.js";
import { landAround } from "./cells.js";

const TINTS = 8;

export class Land {
  // `cells` has the areas of each territory, is null where nobody has drawn them, and undefined where that is not known yet;
  // `tell(type, v)` hears "click", "enter" and "leave" of each.
  constructor(layout, { continents, cells }, tell) {
    const tints = layout.at.map((_, v) => continents.findIndex(([, members]) => members.includes(v)));
    const drawn = cells === undefined ? [] : outlines(layout, cells);
    this.areas = drawn.map((d, v) => svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    this.elements = [
      ...drawn.map((d, v) => svg("path", { class: tints[v] < 0 ? "ground" : `ground tint-${tints[v] % TINTS}`, d })), ...this.areas,
    ];
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
  }

  // `choice` is "source", "target", "selected" or null.
  mark(v, choice) {
    if (this.areas[v]) set(this.areas[v], { "data-choice": choice });
  }
}

// The land of each territory as an SVG path.
export const outlines = (layout, cells) => (cells
  ? layout.at.map((_, v) => cells[v].map((ring) => path(ring.map((corner) => layout.point(corner)))).join(""))
  : landAround(layout).map(path));

const path = (corners) => `M${corners.map((corner) => corner.map((n) => n.toFixed(1)).join(" ")).join("L")}Z`;
