// Names on a map: all of them have their place, or none has.

import { RADIUS, box, overlap, touches } from "./geometry.js";

export const LINE_HEIGHT = 11; // height of a line of names
export const NAME_GAP = 2; // between a mark and a name
const [SEARCH_STEP, SEA_STEP] = [3, 5]; // between two places that are tried, on land and on the sea
const MAX_LEADER = 12 * RADIUS; // distance of a name on the sea from the middle of its mark: a longer line would look like a road
const DIRECTIONS = Array.from({ length: 48 }, (_, n) => [Math.sin((n * Math.PI) / 24), Math.cos((n * Math.PI) / 24)]); // the first is down
const PASSING_SHARE = 1.4; // width of what a line passes of a mark, relative to the distance of names from its middle
const MAX_TRIES = 8; // to find room for all names, after each with the one first that had none
const MIN_LEADER = 6; // length from which on there is a line
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

// The room for the names of a map at a scale of letters.
export class NameSpace {
  // regions: the land of each territory; beside: from the middle of a mark to its names.
  constructor({ at, room }, regions, size, beside) {
    this.at = at;
    this.room = room;
    this.regions = regions;
    this.size = size;
    this.beside = beside;
    this.marks = at.map(([x, y]) => box(x, y, 2 * beside, 2 * beside));
    this.cores = at.map(([x, y]) => box(x, y, PASSING_SHARE * beside, PASSING_SHARE * beside)); // which no line to another mark touches
    this.taken = /** @type {any[]} */ ([]); // boxes of the names placed so far
    this.lines = /** @type {any[]} */ ([]); // from these on the sea to their marks
  }

  // Place the name of every territory in one line or in two: on its land, else on the sea, with a line to its mark unless it lies beside it.
  // `all`: the ways to write each, the best first. Returns { lines, box, ground, leader } of each, or null if one of them fits nowhere.
  placeAll(all) {
    const onLand = all.map((ways, v) => this.onLand(ways, v));
    const { length } = this.taken;
    let order = [...all.keys()].filter((v) => !onLand[v]);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const placed = [...onLand];
      const crowded = order.find((v) => !(placed[v] = this.onSea(all[v], v)));
      if (crowded === undefined) return placed;
      if (crowded === order[0]) return null; // also without any other
      order = [crowded, ...order.filter((v) => v !== crowded)];
      this.taken.length = length;
      this.lines = [];
    }
    return null;
  }

  // As near to the mark as possible.
  onLand(ways, v) {
    const [land, [x, y]] = [this.regions[v], this.at[v]];
    const { bounds } = land;
    const covered = [...this.marks, ...this.taken].filter((each) => overlap(each, bounds));
    for (const { lines, width: wide } of ways) {
      const [width, height] = [wide * this.size, lines.length * LINE_HEIGHT * this.size];
      let [best, least] = [/** @type {any} */ (null), Infinity];
      const across = nearestFirst(steps(bounds.x1, bounds.x2 - width, x - width / 2, SEARCH_STEP * this.size), x - width / 2);
      const down = nearestFirst(steps(bounds.y1, bounds.y2 - height, y + this.beside, SEARCH_STEP * this.size), y - height / 2);
      for (const left of across) {
        if (ASIDE_COST * Math.abs(left + width / 2 - x) >= least) break;
        for (const top of down) {
          const each = { x1: left, x2: left + width, y1: top, y2: top + height };
          const cost = distance([x, y], each) + ASIDE_COST * Math.abs(left + width / 2 - x);
          if (cost >= least || !within(each, this.room) || covered.some((other) => overlap(other, each)) || !land.encloses(grown(each, BORDER_GAP * this.size))) continue;
          [best, least] = [each, cost];
        }
      }
      if (!best) continue;
      this.taken.push(grown(best, this.size));
      return { lines, box: best, ground: "land", leader: null };
    }
    return null;
  }

  // The shorter the line, the better.
  onSea(ways, v) {
    const [x, y] = this.at[v];
    for (let far = this.beside; far < MAX_LEADER; far += SEA_STEP * this.size) {
      for (const { lines, width: wide } of ways) {
        const [width, height] = [wide * this.size, lines.length * LINE_HEIGHT * this.size];
        for (const [dx, dy] of DIRECTIONS) {
          const each = box(x + dx * (far + width / 2), y + dy * (far + height / 2), width, height);
          const line = this.leader(v, each);
          if (!this.fitsOnSea(v, each, line)) continue;
          this.taken.push(grown(each, this.size));
          if (line) this.lines.push(line);
          return { lines, box: each, ground: "sea", leader: line };
        }
      }
    }
    return null;
  }

  fitsOnSea(v, each, line) {
    const isCovered = (other) => overlap(other, each);
    if (!within(each, this.room) || this.marks.some(isCovered) || this.taken.some(isCovered) || this.lines.some((other) => touches(other, each))) return false;
    const space = grown(each, this.size);
    return !this.regions.some((region) => region.meets(space)) && this.isFree(line, v);
  }

  // Return the line from a mark to a name, as two points; null if the name lies beside the mark.
  leader(v, { x1, x2, y1, y2 }) {
    const [x, y] = this.at[v];
    const end = [Math.max(x1, Math.min(x, x2)), Math.max(y1, Math.min(y, y2))];
    const length = Math.hypot(end[0] - x, end[1] - y);
    if (length < this.beside + MIN_LEADER * this.size) return null;
    const share = this.beside / length;
    return [[x + share * (end[0] - x), y + share * (end[1] - y)], end];
  }

  // Return true if a line to the mark of `v` crosses no other mark, no name and no other line.
  isFree(line, v) {
    return !line || !(this.cores.some((mark, w) => w !== v && touches(line, mark)) || this.taken.some((name) => touches(line, name))
      || this.lines.some((other) => cross(line, other)));
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

// Return true if two lines cross.
function cross([a, b], [c, d]) {
  const side = ([x1, y1], [x2, y2], [x, y]) => Math.sign((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1));
  return side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
}

const middle = ({ x1, x2, y1, y2 }) => /** @type {[number, number]} */ ([(x1 + x2) / 2, (y1 + y2) / 2]);
const grown = ({ x1, x2, y1, y2 }, by) => ({ x1: x1 - by, x2: x2 + by, y1: y1 - by, y2: y2 + by });
const within = (a, b) => a.x1 >= b.x1 && a.x2 <= b.x2 && a.y1 >= b.y1 && a.y2 <= b.y2;

// Return the distance of a point from a box.
const distance = ([x, y], { x1, x2, y1, y2 }) => Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));

const nearestFirst = (numbers, from) => numbers.sort((a, b) => Math.abs(a - from) - Math.abs(b - from));

// Return the numbers from `low` to `high` that are whole steps from `origin`.
function steps(low, high, origin, step) {
  const first = origin + Math.ceil((low - origin) / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, n) => first + n * step);
}
