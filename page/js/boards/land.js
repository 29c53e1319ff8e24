// The land of a map: coasts, an area for each territory in the colour of its owner, and continents by outline and name.

import { set, svg } from "../dom.js";
import { landAround } from "./cells.js";
import { LINE_HEIGHT, Region, edgesOf, spellings } from "./names.js";

const DESCENT = 2.5; // of the letters of a name below its line
const LETTER_SPACING = 1.2; // between the letters of a continent's name

export class Land {
  // `cells`: the areas of each territory, null if there is no drawn land, and undefined if it is not loaded yet;
  // `tell(type, v)` is called with "click", "enter" and "leave" of each; `width` measures a line of a continent's name.
  constructor(layout, { continents, cells }, tell, width) {
    const rings = cells === undefined ? [] : ringsOf(layout, cells);
    const drawn = rings.map(outline);
    this.drawn = drawn;
    this.frames = ["frame-ground", "frame"].map((name) => svg("path", { class: name })); // around all targets
    this.regions = rings.map((each) => new Region(each.flatMap(edgesOf)));
    this.areas = drawn.map((d, v) => svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    this.continents = (cells ? continents : []).map(([name, members]) => ({
      members,
      region: new Region(border(layout, members.map((v) => cells[v]))),
      ways: spellings(name.toUpperCase(), (line) => width(line) + LETTER_SPACING * line.length).filter(({ short }) => !short),
      element: svg("text", { class: "continent" }),
      below: /** @type {number[]} */ ([]), // territories below the name
    }));
    this.held = new Set();
    this.elements = [
      svg("path", { class: "shelf", d: drawn.join("") }), svg("path", { class: "coast", d: drawn.join("") }), ...this.areas, ...this.frames,
      ...this.continents.map(({ region }) => svg("path", { class: "border-of", d: region.edges.map(line).join("") })),
      ...this.continents.map(({ element }) => element),
    ];
  }

  // Place the continents' names in the space that the territories' names leave.
  label({ at }, space) {
    for (const each of this.continents) {
      const { members, region, ways, element } = each;
      const mean = [0, 1].map((axis) => members.reduce((sum, v) => sum + at[v][axis], 0) / members.length);
      const placed = space.place(ways, members, region, mean);
      write(element, placed, space.size);
      each.below = placed ? members.filter((v) => this.regions[v].meets(placed.box)) : [];
      this.hide(each);
      element.style.fontSize = `${(12 * space.size).toFixed(1)}px`;
    }
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
    if (owner === "nobody") this.held.delete(v);
    else this.held.add(v);
    for (const each of this.continents) if (each.below.includes(v)) this.hide(each);
  }

  // The name of a continent is on land that nobody holds, where it is easy to read.
  hide({ element, below }) {
    set(element, { "data-held": below.some((v) => this.held.has(v)) });
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

// Write a name in its box; null hides it.
export function write(element, placed, size) {
  set(element, { "data-crowded": !placed });
  if (!placed) return;
  const { lines, box: { x1, x2, y1 } } = placed;
  element.replaceChildren(...lines.map((text, n) => svg("tspan", { x: ((x1 + x2) / 2).toFixed(1), y: (y1 + ((n + 1) * LINE_HEIGHT - DESCENT) * size).toFixed(1) }, text)));
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
