// The land of a map: coasts, an area for each territory in the colour of its owner, and the outlines of continents, or of all land.

import { set, svg } from "../dom.js";
import { landAround } from "./cells.js";
import { Region, edgesOf } from "./names.js";

export class Land {
  // `cells`: the areas of each territory, null if there is no drawn land, and undefined if it is not loaded yet;
  // `tell(type, v)` is called with "click", "enter" and "leave" of each.
  constructor(layout, { continents, cells }, tell) {
    const rings = cells === undefined ? [] : ringsOf(layout, cells);
    const drawn = rings.map(outline);
    this.drawn = drawn;
    this.frames = ["frame-ground", "frame"].map((name) => svg("path", { class: name })); // around all targets
    this.regions = rings.map((each) => new Region(each.flatMap(edgesOf)));
    this.areas = drawn.map((d, v) => svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    const parts = continents.length ? continents.map(([, members]) => members) : [drawn.map((_, v) => v)];
    const borders = cells ? parts.map((members) => border(layout, members.map((v) => cells[v]))) : [];
    this.elements = [
      svg("path", { class: "shelf", d: drawn.join("") }), svg("path", { class: "coast", d: drawn.join("") }), ...this.areas, ...this.frames,
      ...borders.map((edges) => svg("path", { class: "border-of", d: edges.map(line).join("") })),
    ];
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
  }

  // `choice` is "source", "target", "selected" or null.
  mark(v, choice) {
    if (this.areas[v]) set(this.areas[v], { "data-choice": choice });
  }

  // Draw a line around the land of each of these territories, above that of their neighbours.
  frameTargets(targets) {
    const d = [...targets].map((v) => this.drawn[v] ?? "").join("") || null;
    for (const frame of this.frames) set(frame, { d });
  }
}

// Return the land of each territory as SVG paths.
export const outlines = (layout, cells) => ringsOf(layout, cells).map(outline);

// Return the rings of corners of each territory's land, in the units of the picture.
const ringsOf = (layout, cells) => (cells ? cells.map((rings) => rings.map((ring) => ring.map(layout.point))) : landAround(layout).map((ring) => [ring]));

// Return the common border of several areas: the edges that belong to only one of them.
function border(layout, areas) {
  const edges = new Map();
  for (const edge of areas.flat().flatMap(edgesOf)) {
    const key = edge.map(String).sort().join(" ");
    if (!edges.delete(key)) edges.set(key, edge);
  }
  return [...edges.values()].map((edge) => edge.map(layout.point));
}

const points = (corners) => corners.map((corner) => corner.map((n) => n.toFixed(1)).join(" ")).join("L");
const line = (edge) => `M${points(edge)}`;
const outline = (rings) => rings.map((ring) => `M${points(ring)}Z`).join("");
