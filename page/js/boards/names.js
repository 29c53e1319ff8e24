// Names on a map: each stands inside its own land, or is not written. All are whole, or all that have a short form are short.

import { box, overlap, touches } from "./geometry.js";

export const LINE_HEIGHT = 11; // height of a line of names
export const NAME_GAP = 4; // between a mark, or the ring around it, and a name
const [STEP_ASIDE, STEP_DOWN] = [3, 2]; // between two places that are tried, from the middle of the mark: so smaller letters fit wherever larger ones do
const ASIDE_COST = 0.25; // cost of a unit to the left or right of the middle
const BORDER_GAP = 1.5; // between a name and the border of its land

// Part of a picture, from the edges around it.
export class Region {
  constructor(edges) {
    this.edges = edges;
    const [xs, ys] = [0, 1].map((axis) => edges.flatMap(([a, b]) => [a[axis], b[axis]]));
    this.bounds = { x1: Math.min(...xs), x2: Math.max(...xs), y1: Math.min(...ys), y2: Math.max(...ys) };
  }

  // Return two opposite corners of the box around it.
  get corners() {
    const { x1, x2, y1, y2 } = this.bounds;
    return [[x1, y1], [x2, y2]];
  }

  // Return true if the point is inside: a ray to the right then crosses an odd number of edges.
  contains([x, y]) {
    let isInside = false;
    for (const [[x1, y1], [x2, y2]] of this.edges) {
      if ((y1 > y) !== (y2 > y) && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) isInside = !isInside;
    }
    return isInside;
  }

  // Return true if the whole box is inside.
  encloses(each) {
    return !this.edges.some((edge) => touches(edge, each)) && this.contains([(each.x1 + each.x2) / 2, (each.y1 + each.y2) / 2]);
  }

  // Return true if the box covers a part of it.
  meets(each) {
    return overlap(each, this.bounds) && (this.edges.some((edge) => touches(edge, each)) || this.encloses(each));
  }
}

// Return the edges of a ring of corners.
export const edgesOf = (ring) => ring.map((corner, n) => [corner, ring[(n + 1) % ring.length]]);

// Return { lines, box } of a name inside its `land`, as near to the middle of its mark as possible; null if it does not fit.
// `ways`: spellings, the best first; `marks`: boxes that the name may not cover; `size`: scale of its letters.
export function placeName(ways, at, land, marks, size) {
  for (const { lines, width } of ways) {
    const found = placeInside([width * size, lines.length * LINE_HEIGHT * size], at, land, marks, BORDER_GAP * size);
    if (found) return { lines, box: found };
  }
  return null;
}

// Return the box of this width and height inside the `land` and `gap` from its border, as near to a point as possible, that covers none of the `marks`; null
// if it does not fit.
export function placeInside([wide, high], [x, y], land, marks, gap) {
  const { bounds: { x1, x2, y1, y2 } } = land;
  const near = marks.filter((mark) => overlap(mark, land.bounds));
  let [best, least] = [/** @type {any} */ (null), Infinity];
  const downs = steps(y1 + high / 2 - y, y2 - high / 2 - y, STEP_DOWN).reverse();
  for (const aside of nearestFirst(steps(x1 + wide / 2 - x, x2 - wide / 2 - x, STEP_ASIDE))) {
    if (ASIDE_COST * Math.abs(aside) >= least) break;
    for (const down of downs) {
      const each = box(x + aside, y + down, wide, high);
      const cost = distance([x, y], each) + ASIDE_COST * Math.abs(aside);
      if (cost >= least || near.some((mark) => overlap(mark, each)) || !land.encloses(grown(each, gap))) continue;
      [best, least] = [each, cost];
    }
  }
  return best;
}

// Return the spellings of each name, the best first: in one line, and in two. `width` measures a line.
export const spellings = (/** @type {string[]} */ names, width) => names.map((name) => {
  const parts = name.match(/[^ -]+-?/g) ?? [name];
  return [[name], ...(parts.length > 1 ? [halves(parts)] : [])].map((lines) => ({ lines, width: Math.max(...lines.map(width)) }));
});

// Return a name in two lines of about the same length.
function halves(parts) {
  const split = (n) => [parts.slice(0, n).join(" "), parts.slice(n).join(" ")];
  const longest = (n) => Math.max(...split(n).map((each) => each.length));
  return split(parts.slice(1).map((_, n) => n + 1).reduce((a, b) => (longest(b) < longest(a) ? b : a)));
}

const grown = ({ x1, x2, y1, y2 }, by) => ({ x1: x1 - by, x2: x2 + by, y1: y1 - by, y2: y2 + by });

// Return the distance of a point from a box.
const distance = ([x, y], { x1, x2, y1, y2 }) => Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));

const nearestFirst = (/** @type {number[]} */ asides) => asides.sort((a, b) => Math.abs(a) - Math.abs(b));

// Return the multiples of a step from `low` to `high`.
function steps(low, high, step) {
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, n) => (first + n) * step);
}
