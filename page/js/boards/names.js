// Names on a map: where each of them fits, and how short it has to be there.

import { RADIUS, box, overlap, touches } from "./geometry.js";

export const LINE_HEIGHT = 11; // height of a line of names
const NAME_GAP = 2; // between a mark and a name
const SEARCH_STEP = 3; // between two places that are tried
const MAX_SEA_DISTANCE = 6 * RADIUS; // maximum distance of a name from its land, on the sea
const TOUCHING = RADIUS / 2; // distance of a name from its land up to which no line is needed
const ASIDE_COST = 0.25; // cost of a unit to the left or right of the middle
const COMPASS = /^(North|East|South|West)(?:ern)? (?=.)/;
const CODES = "Alabama AL,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,Florida FL,Georgia GA,Idaho ID,Illinois IL,"
  + "Indiana IN,Iowa IA,Kansas KS,Kentucky KY,Louisiana LA,Maine ME,Maryland MD,Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,"
  + "Missouri MO,Montana MT,Nebraska NE,Nevada NV,New Hampshire NH,New Jersey NJ,New Mexico NM,New York NY,North Carolina NC,North Dakota ND,"
  + "Ohio OH,Oklahoma OK,Oregon OR,Pennsylvania PA,Rhode Island RI,South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,Utah UT,Vermont VT,"
  + "Virginia VA,Washington WA,West Virginia WV,Wisconsin WI,Wyoming WY";
const STATES = Object.fromEntries(CODES.split(",").map((each) => [each.slice(0, -3), each.slice(-2)]));

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
  // regions: the land of each territory; gap: between a mark and a name.
  constructor({ at, room }, regions, size, gap = NAME_GAP) {
    this.at = at;
    this.room = room;
    this.regions = regions;
    this.size = size;
    this.beside = (RADIUS + gap) * size; // from the middle of a mark to its names
    this.marks = at.map(([x, y]) => box(x, y, 2 * this.beside, 2 * this.beside));
    this.taken = /** @type {any[]} */ ([]); // boxes of the names placed so far
  }

  // Place the best spelling of the name of a territory that fits: on its land, else on the sea, from where a line may lead to its mark.
  // Returns { lines, short, box, ground, lead }, or null if none fits. `ways`: the spellings, the best first.
  place(ways, v) {
    const [land, from] = [this.regions[v], this.at[v]];
    const around = grown(land.bounds, MAX_SEA_DISTANCE * this.size);
    const others = this.regions.filter((region) => region !== land && overlap(region.bounds, around));
    const isAfloat = (each) => this.isNearest(v, each) && !land.meets(each) && !others.some((region) => region.meets(each)); // the quickest first
    const leadOf = (each) => (this.isBeside(land, each) ? null : this.lead(each, from));
    const rules = [
      ["land", land.bounds, (each) => land.encloses(each)],
      ["sea", around, (each) => isAfloat(each) && this.isClear(leadOf(each), v, others)],
    ];
    for (const [ground, bounds, fits] of rules) {
      for (const { lines, width, short } of ways) {
        const found = this.find([width * this.size, lines.length * LINE_HEIGHT * this.size], bounds, fits, from);
        if (!found) continue;
        const lead = ground === "sea" ? leadOf(found) : null;
        this.taken.push(grown(found, this.size), ...along(lead).map((point) => box(...point, SEARCH_STEP, SEARCH_STEP)));
        return { lines, short, box: found, ground, lead };
      }
    }
    return null;
  }

  // Return true if a box on the sea touches this land, so that nobody asks whose name it is.
  isBeside(land, each) {
    return land.edges.some(([corner]) => distance(corner, each) < TOUCHING * this.size);
  }

  // Return the line from a box to a mark.
  lead({ x1, x2, y1, y2 }, [x, y]) {
    const [a, b] = [Math.max(x1, Math.min(x, x2)), Math.max(y1, Math.min(y, y2))];
    const share = this.beside / Math.hypot(a - x, b - y);
    return [[a, b], [x + (a - x) * share, y + (b - y) * share]];
  }

  // Return true if a line from the territory `v` crosses neither a name, nor a mark of another territory, nor the land of the others.
  isClear(line, v, others) {
    const covered = [...this.marks.filter((_, w) => w !== v), ...this.taken];
    return !along(line).some((point) => others.some((region) => region.contains(point)) || covered.some((each) => distance(point, each) === 0));
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

// Return the ways to write a name: in one line, in two lines, and short. `width` measures a line.
function spellings(name, short, width) {
  const parts = name.match(/[^ -]+-?/g) ?? [name];
  return [
    { lines: [name], short: false },
    ...(parts.length > 1 ? [{ lines: halves(parts), short: false }] : []),
    ...(short === name ? [] : [{ lines: [short], short: true }]),
    ...(short !== name && /\. .* /.test(short) ? [{ lines: halves(short.split(" ")), short: true }] : []),
  ].map((way) => ({ ...way, width: Math.max(...way.lines.map(width)) }));
}

// Return the spellings of all names.
export function allSpellings(names, width) {
  const short = shortNames(names);
  return names.map((each) => spellings(each, short.get(each) ?? each, width));
}

// Return a name in two lines of about the same length.
function halves(parts) {
  const split = (n) => [parts.slice(0, n).join(" "), parts.slice(n).join(" ")];
  const longest = (n) => Math.max(...split(n).map((each) => each.length));
  return split(parts.slice(1).map((_, n) => n + 1).reduce((a, b) => (longest(b) < longest(a) ? b : a)));
}

// Return the short forms, by name, that everybody knows: the postal code of a state, "NC", or a point of the compass as its letter,
// "N. Europe". Other names have none, nor have two names whose short form would be the same.
export function shortNames(/** @type {string[]} */ names) {
  const forms = names.map((name) => (Object.hasOwn(STATES, name) ? STATES[name] : name.replace(COMPASS, (_, word) => `${word[0]}. `)));
  return new Map(names.flatMap((name, n) => (forms[n] !== name && forms.indexOf(forms[n]) === forms.lastIndexOf(forms[n]) ? [[name, forms[n]]] : [])));
}

const middle = ({ x1, x2, y1, y2 }) => /** @type {[number, number]} */ ([(x1 + x2) / 2, (y1 + y2) / 2]);
const grown = ({ x1, x2, y1, y2 }, by) => ({ x1: x1 - by, x2: x2 + by, y1: y1 - by, y2: y2 + by });
const within = (a, b) => a.x1 >= b.x1 && a.x2 <= b.x2 && a.y1 >= b.y1 && a.y2 <= b.y2;

// Return the distance of a point from a box.
const distance = ([x, y], { x1, x2, y1, y2 }) => Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));

// Return points along a line; none for no line.
function along(line) {
  if (!line) return [];
  const [[x1, y1], [x2, y2]] = line;
  const count = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / SEARCH_STEP);
  return Array.from({ length: count + 1 }, (_, n) => /** @type {[number, number]} */ ([x1 + ((x2 - x1) * n) / (count || 1), y1 + ((y2 - y1) * n) / (count || 1)]));
}

// Return the numbers from `low` to `high` that are whole steps from `origin`.
function steps(low, high, origin, step) {
  const first = origin + Math.ceil((low - origin) / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, n) => first + n * step);
}
