// Names on a map: where each of them fits.

import { RADIUS, box, overlap, touches } from "./geometry.js";

export const LINE_HEIGHT = 11; // height of a line of names
export const NAME_GAP = 2; // between a mark and a name
const SEARCH_STEP = 3; // between two places that are tried
const TOUCHING = RADIUS / 2; // distance of a name on the sea from its land
const ASIDE_COST = 0.25; // cost of a unit to the left or right of the middle
const BORDER_GAP = 1.5; // between a name and the border of its land

// Part of a picture, from the edges around it.
export class Region {
  constructor(edges) {
    this.edges = edges;
    const [xs, ys] = [0, 1].map((axis) => edges.flatMap(([a, b]) => [a[axis], b[axis]]));
    this.bounds = { x1: Math.min(...xs), x2: Math.max(...xs), y1: Math.min(...ys), y2: Math.max(...ys) };
  }

  // Return true if the point is inside: a ray to the right then crosses an odd number of edges.
  contains([x, y]) {
    return this.edges.filter(([[x1, y1], [x2, y2]]) => (y1 > y) !== (y2 > y) && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)).length % 2 === 1;
  }

  isCrossed(by) {
    return overlap(this.bounds, by) && this.edges.some((edge) => touches(edge, by));
  }

  // Return true if the whole box is inside.
  encloses(each) {
    return this.contains(middle(each)) && !this.isCrossed(each);
  }

  meets(each) {
    return overlap(this.bounds, each) && (this.isCrossed(each) || this.contains(middle(each)));
  }
}

// Return the edges of a ring of corners.
export const edgesOf = (ring) => ring.map((corner, n) => [corner, ring[(n + 1) % ring.length]]);

// The room for names on a map at a scale of marks and names.
export class NameSpace {
  // regions: the land of each territory; beside: from the middle of a mark to its names.
  constructor({ at, room }, regions, size, beside) {
    this.at = at;
    this.room = room;
    this.regions = regions;
    this.size = size;
    this.beside = beside;
    this.marks = at.map(([x, y]) => box(x, y, 2 * beside, 2 * beside));
    this.taken = /** @type {any[]} */ ([]); // boxes of the names placed so far
  }

  // Place the name of a territory where it fits in one line or in two: above or below its mark on its land, else on the sea along its
  // coast, so that nobody asks whose name it is. Returns { lines, box, ground }, or null if it fits nowhere. `ways`: its lines, the best first.
  place(ways, v) {
    const [land, [x, y]] = [this.regions[v], this.at[v]];
    const around = grown(land.bounds, (TOUCHING + Math.max(...ways.map(({ width }) => width))) * this.size);
    const others = this.regions.filter((region) => region !== land && overlap(region.bounds, around));
    const isBelow = (each) => each.x1 < x && each.x2 > x;
    const rules = [
      ["land", land.bounds, (each) => isBelow(each) && land.encloses(grown(each, BORDER_GAP * this.size))],
      ["sea", around, (each) => this.isAlong(land, each) && this.isNearest(v, each) && ![land, ...others].some((region) => region.meets(each))],
    ];
    for (const [ground, bounds, fits] of rules) {
      for (const { lines, width } of ways) {
        const found = this.find([width * this.size, lines.length * LINE_HEIGHT * this.size], bounds, fits, [x, y]);
        if (!found) continue;
        this.taken.push(grown(found, this.size));
        return { lines, box: found, ground };
      }
    }
    return null;
  }

  // Return true if a box lies along the coast of this land.
  isAlong(land, each) {
    return land.edges.some(([corner]) => distance(corner, each) < TOUCHING * this.size);
  }

  // Return the box of this width and height within `bounds` that `fits` and covers nothing, as near to a point as possible.
  find([width, height], bounds, fits, [x, y]) {
    const covered = [...this.marks, ...this.taken].filter((each) => overlap(each, bounds));
    const step = SEARCH_STEP * this.size;
    const below = y + this.beside + height / 2;
    let [best, least] = [/** @type {any} */ (null), Infinity];
    for (const left of steps(bounds.x1, bounds.x2 - width, x - width / 2, step)) {
      for (const top of steps(bounds.y1, bounds.y2 - height, below - height / 2, step)) {
        const each = { x1: left, x2: left + width, y1: top, y2: top + height };
        const cost = distance([x, y], each) + ASIDE_COST * Math.abs(left + width / 2 - x);
        if (cost >= least || !within(each, this.room) || covered.some((other) => overlap(other, each)) || !fits(each)) continue;
        [best, least] = [each, cost];
      }
    }
    return best;
  }

  // Return true if no other territory's mark is as near to the box as that of `v`.
  isNearest(v, each) {
    const least = distance(this.at[v], each);
    return this.at.every((point, w) => distance(point, each) > least || w === v);
  }
}

// Return the ways to write each name: in one line, and in two. `width` measures a line.
export const allSpellings = (/** @type {string[]} */ names, width) => names.map((name) => {
  const parts = name.match(/[^ -]+-?/g) ?? [name];
  return [[name], ...(parts.length > 1 ? [halves(parts)] : [])].map((lines) => ({ lines, width: Math.max(...lines.map(width)) }));
});

// Return a name in two lines of about the same length.
function halves(parts) {
  const split = (n) => [parts.slice(0, n).join(" "), parts.slice(n).join(" ")];
  const longest = (n) => Math.max(...split(n).map((each) => each.length));
  return split(parts.slice(1).map((_, n) => n + 1).reduce((a, b) => (longest(b) < longest(a) ? b : a)));
}

const middle = ({ x1, x2, y1, y2 }) => /** @type {[number, number]} */ ([(x1 + x2) / 2, (y1 + y2) / 2]);
const grown = ({ x1, x2, y1, y2 }, by) => ({ x1: x1 - by, x2: x2 + by, y1: y1 - by, y2: y2 + by });
const within = (a, b) => a.x1 >= b.x1 && a.x2 <= b.x2 && a.y1 >= b.y1 && a.y2 <= b.y2;

// Return the distance of a point from a box.
const distance = ([x, y], { x1, x2, y1, y2 }) => Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));

// Return the numbers from `low` to `high` that are whole steps from `origin`.
function steps(low, high, origin, step) {
  const first = origin + Math.ceil((low - origin) / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, n) => first + n * step);
}
