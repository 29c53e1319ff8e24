// The land of a map: coasts, an area for each territory in the colour of its owner, and continents by outline and name.

import { set, svg } from "../dom.js";
import { landAround } from "./cells.js";
import { box, overlap } from "./geometry.js";

const NAME_OFF = 5; // from the centre of a continent's name to its line
const NAME_WIDE = 2.5; // width divided by height of such a name's room
const NAME_ROOM = 30; // maximum room that is looked for
const LETTER = 9.5; // width of a letter of a continent's name
const LINE = 12; // height of such a name
const ON_NAME = 12; // cost of a territory's name below it

export class Land {
  // `cells`: the areas of each territory, null if there is no drawn land, and undefined if it is not loaded yet;
  // `tell(type, v)` is called with "click", "enter" and "leave" of each.
  constructor(layout, { continents, cells }, tell) {
    const drawn = cells === undefined ? [] : outlines(layout, cells);
    this.areas = drawn.map((d, v) => svg("path", {
      class: "area-of", d, "data-owner": "nobody",
      onclick: () => tell("click", v), onpointerenter: () => tell("enter", v), onpointerleave: () => tell("leave", v),
    }));
    const known = cells ? continents : [];
    this.names = known.map(([name, members]) => ({ members, element: svg("text", { class: "continent" }, name) }));
    this.elements = [
      svg("path", { class: "shelf", d: drawn.join("") }), svg("path", { class: "coast", d: drawn.join("") }), ...this.areas,
      ...known.map(([, members]) => svg("path", { class: "border-of", d: border(layout, members.map((v) => cells[v])) })),
      ...this.names.map(({ element }) => element),
    ];
  }

  // Place the continents' names, where the territories' names have these boxes.
  label(layout, taken) {
    for (const { members, element } of this.names) set(element, middle(layout, members, LETTER * element.textContent.length, taken));
  }

  own(v, owner) {
    if (this.areas[v]) set(this.areas[v], { "data-owner": owner });
  }

  // `choice` is "source", "target", "selected" or null.
  mark(v, choice) {
    if (this.areas[v]) set(this.areas[v], { "data-choice": choice });
  }
}

// Return the land of each territory as an SVG path.
export const outlines = (layout, cells) => (cells
  ? layout.at.map((_, v) => cells[v].map((ring) => path(ring.map((corner) => layout.point(corner)))).join(""))
  : landAround(layout).map(path));

// Return the common outline of several areas: the edges that belong to only one of them.
function border(layout, areas) {
  const edges = new Map();
  for (const ring of areas.flat()) {
    ring.forEach((corner, n) => {
      const next = ring[(n + 1) % ring.length];
      const key = [String(corner), String(next)].sort().join(" ");
      if (!edges.delete(key)) edges.set(key, [corner, next]);
    });
  }
  return [...edges.values()].map((edge) => `M${edge.map((corner) => layout.point(corner).map((n) => n.toFixed(1)).join(" ")).join("L")}`).join("");
}

// Return the position of a continent's name, which is so wide: among its territories, as far from all marks and names as possible.
function middle({ at }, members, wide, taken) {
  const mean = (axis) => members.reduce((sum, v) => sum + at[v][axis], 0) / members.length;
  const centre = [mean(0), mean(1)];
  const spots = [centre, ...members.flatMap((v) => members.map((w) => [(at[v][0] + at[w][0]) / 2, (at[v][1] + at[w][1]) / 2 + NAME_OFF]))];
  const room = ([x, y]) => Math.min(...at.map(([a, b]) => Math.hypot((a - x) / NAME_WIDE, b - y)));
  const below = ([x, y]) => taken.filter((each) => overlap(each, box(x, y - NAME_OFF, wide, LINE))).length;
  const good = (spot) => Math.min(room(spot), NAME_ROOM) - Math.hypot(spot[0] - centre[0], spot[1] - centre[1]) / 20 - ON_NAME * below(spot);
  const [x, y] = spots.sort((a, b) => good(b) - good(a))[0];
  return { x: x.toFixed(1), y: y.toFixed(1) };
}

const path = (corners) => `M${corners.map((corner) => corner.map((n) => n.toFixed(1)).join(" ")).join("L")}Z`;
