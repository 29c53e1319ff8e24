// The land of a map: coasts, an area for each territory in the colour of its owner, the borders between continents, waters where two
// territories touch without a road, and the roads over the sea. On a map without drawn land, all roads.

import { set, svg, uniqueId } from "../dom.js";
import { landAround } from "./cells.js";
import { Region, edgesOf } from "./names.js";

export const RISKS = [null, "lost", "open", "safe"]; // of a move to a territory, from the lowest line around its land to the highest; null: it is not known

export class Land {
  // `cells`: the areas of each territory, null if there is no drawn land, and undefined if it is not loaded yet; `ferries`: the roads over the sea;
  // `tell(type, v)` is called with "click", "enter" and "leave" of each.
  constructor(layout, { continents, cells, ferries }, tell) {
    const rings = cells === undefined ? [] : ringsOf(layout, cells);
    const drawn = rings.map(outline);
    this.drawn = drawn;
    this.ground = svg("path", { class: "frame-ground" }); // around all targets
    this.frames = RISKS.map((risk) => svg("path", { class: "frame", "data-risk": risk })); // the same, by risk
    this.regions = rings.map((each) => new Region(each.flatMap(edgesOf)));
    this.areas = drawn.map((d, v) => svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    this.id = uniqueId("land"); // of all areas
    const roads = new Set(layout.roads.map(String));
    const continentOf = (v) => continents.findIndex(([, members]) => members.includes(v));
    const borders = cells ? bordersOf(rings) : [];
    // A border shows that two territories are neighbours. So on drawn land only roads over the sea are lines: below the land, from coast to coast.
    const drawnRoads = (cells ? ferries : layout.roads).flatMap(([v, w]) => layout.lines(v, w)).map(([[x1, y1], [x2, y2]]) => (
      svg("line", { class: cells ? "road ferry" : "road", x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1) })));
    const between = (/** @type {string} */ name, separates) => svg("path", { class: name, d: borders.filter(separates).flatMap(({ edges }) => edges.map(line)).join("") });
    this.elements = [
      svg("path", { class: "shelf", d: drawn.join("") }), ...(cells ? drawnRoads : []),
      svg("path", { class: "coast", d: drawn.join("") }), svg("g", { id: this.id }, this.areas),
      between("border-of", ({ pair: [v, w] }) => continentOf(v) !== continentOf(w)),
      ...["water-side", "water"].map((name) => between(name, ({ pair }) => !roads.has(String(pair)))),
      ...(cells ? [] : drawnRoads), this.ground, ...this.frames,
    ];
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
  }

  // `choice` is "source", "target", "selected" or null, `risk` one of RISKS.
  mark(v, choice, risk) {
    if (this.areas[v]) set(this.areas[v], { "data-choice": choice, "data-risk": risk });
  }

  // Draw a line around the land of each of these territories, above that of their neighbours, in the colour of its risk. `risk(v)`: one of RISKS.
  frameTargets(targets, risk) {
    const around = (each) => each.map((v) => this.drawn[v] ?? "").join("") || null;
    set(this.ground, { d: around([...targets]) });
    this.frames.forEach((frame, n) => set(frame, { d: around([...targets].filter((v) => risk(v) === RISKS[n])) }));
  }
}

// Return the land of each territory as SVG paths.
export const outlines = (layout, cells) => ringsOf(layout, cells).map(outline);

// Return the rings of corners of each territory's land, in the units of the picture.
const ringsOf = (layout, cells) => (cells ? cells.map((rings) => rings.map((ring) => ring.map(layout.point))) : landAround(layout).map((ring) => [ring]));

// Return the borders between the territories with these rings: each pair, the lower first, with the edges that both have.
function bordersOf(rings) {
  const edges = new Map();
  rings.forEach((each, v) => each.flatMap(edgesOf).forEach((edge) => {
    const key = edge.map(String).sort().join(" ");
    edges.set(key, { edge, territories: [...(edges.get(key)?.territories ?? []), v] });
  }));
  const borders = new Map();
  for (const { edge, territories: pair } of edges.values()) {
    if (pair.length < 2) continue;
    const known = borders.get(String(pair)) ?? { pair, edges: [] };
    known.edges.push(edge);
    borders.set(String(pair), known);
  }
  return [...borders.values()];
}

const points = (corners) => corners.map((corner) => corner.map((n) => n.toFixed(1)).join(" ")).join("L");
const line = (edge) => `M${points(edge)}`;
const outline = (rings) => rings.map((ring) => `M${points(ring)}Z`).join("");
