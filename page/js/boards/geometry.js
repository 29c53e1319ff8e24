// Layout of a map's picture: its scale, its roads, and the badges beside the territories.

export const RADIUS = 13;
export const MIN_DISTANCE = 62; // between two places
const MAX_WIDTH = 1500;
const MIN_WIDTH = 300;
const MARGIN = 40;
const SHORE_MARGIN = 16; // margin around drawn land
const ALONG_STEP = 8; // size of the boxes along a line
const SPREAD_STEPS = 16;
const NEIGHBOURHOOD_SHARE = 0.72; // in the usual length of a road: what is so near to two places that are joined as in a grid meets at its corners

// Return the picture's size, the position of each territory's mark (`middles`; `at` is where a very small map moves it), its neighbourhood, the room for words, and the straight lines of its roads.
// `cells` has the corners of all land; null leaves room for a neighbourhood, and undefined means that it is not loaded yet. `marks` has
// the middle of each territory's mark where its land is drawn, null for its place.
export function layOut(setup, wraps, cells = /** @type {any} */ (undefined), marks = /** @type {number[][] | null} */ (null)) {
  const { places, neighbours } = setup;
  const corners = [...places, ...(cells ?? []).flat(2)];
  const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const scale = Math.min(MIN_DISTANCE / nearest(places), MAX_WIDTH / (wide || 1));
  const roads = neighbours.flatMap((beside, v) => beside.filter((w) => w > v).map((w) => [v, w]));
  const lengths = roads.map(([v, w]) => Math.hypot(places[v][0] - places[w][0], places[v][1] - places[w][1])).sort((a, b) => a - b);
  const near = NEIGHBOURHOOD_SHARE * lengths[Math.floor(lengths.length / 2)] * scale;
  const margin = cells ? SHORE_MARGIN : cells === null ? Math.max(MARGIN, near + 2) : MARGIN;
  const width = Math.max(MIN_WIDTH, wide * scale + 2 * margin);
  const indent = (width - wide * scale) / 2;
  const point = ([x, y]) => [indent + (x - left) * scale, margin + (y - top) * scale];
  const at = (marks ?? places).map(point);
  const height = high * scale + 2 * margin;
  const edges = wraps ? [indent - margin, indent + wide * scale + margin] : null;
  const layout = {
    width,
    height,
    room: roomFor(width, height),
    middles: at,
    at,
    near,
    point,
    roads,
    lines: (v, w) => lines(layout.at[v], layout.at[w], edges),
  };
  return layout;
}

// Return the points, moved by at most `most` so that two of them are at least `least` apart, as far as they have room for that.
export function spread(points, least, most) {
  const moved = points.map((each) => [...each]);
  for (let step = 0; step < SPREAD_STEPS; step++) {
    moved.forEach((a, v) => moved.slice(0, v).forEach((b) => {
      const [dx, dy] = [a[0] - b[0], a[1] - b[1]];
      const apart = Math.hypot(dx, dy) || 1;
      if (apart >= least) return;
      const share = (least - apart) / apart / 2;
      [[a, share], [b, -share]].forEach(([each, by]) => { each[0] += by * dx; each[1] += by * dy; });
    }));
    moved.forEach((each, v) => {
      const [dx, dy] = [each[0] - points[v][0], each[1] - points[v][1]];
      const share = Math.min(1, most / (Math.hypot(dx, dy) || 1));
      [each[0], each[1]] = [points[v][0] + share * dx, points[v][1] + share * dy];
    });
  }
  return moved;
}

// Return the box in which words may lie. `beside`: how much wider than the map its frame is, on each side.
export function roomFor(width, height, beside = 0) {
  return { x1: 2 - beside, x2: width - 2 + beside, y1: 2, y2: height - 2 };
}

// Return the numbers of places from the top left to the bottom right, row by row.
export function inReadingOrder(at) {
  const row = ([, y]) => Math.floor(y / MIN_DISTANCE);
  return at.map((_, v) => v).sort((v, w) => row(at[v]) - row(at[w]) || at[v][0] - at[w][0]);
}

function nearest(places) {
  let best = Infinity;
  for (let i = 0; i < places.length; i++) {
    for (let j = 0; j < i; j++) {
      best = Math.min(best, Math.hypot(places[i][0] - places[j][0], places[i][1] - places[j][1]));
    }
  }
  return best || 1;
}

// Return the lines from a to b; on a picture that wraps around, a long road leaves it on one side and enters on the other.
function lines(a, b, edges) {
  if (!edges || Math.abs(b[0] - a[0]) <= (edges[1] - edges[0]) / 2) return [[a, b]];
  const middle = (a[1] + b[1]) / 2;
  const [out, into] = a[0] < b[0] ? edges : [edges[1], edges[0]];
  return [[a, [out, middle]], [[into, middle], b]];
}

const BADGE_DIRECTIONS = [[0, -1], [0, 1], [1, 0], [-1, 0], ...[1, 0.5].flatMap((x) => [1, 0.5].flatMap((y) => [[x, -y], [-x, -y], [x, y], [-x, y]]))];
const BADGE_DISTANCES = Array.from({ length: 8 }, (_, n) => 1 + 0.7 * n); // of a badge from its place, in gaps
const FARTHER_COST = 0.25; // cost of each of these steps; a badge on a mark costs 2 and more
const NAME_COST = 0.3; // cost of a name below a badge: it is hidden

// Return the box of a badge of this width and height near the place `v`, with the least overlap of the marks, whose radii
// are `radii`, of the line [from, to], of the boxes `taken` by other badges, of the boxes of `names`, and of the `foreign` land; and whether it
// covers a mark, a badge or foreign land.
export function placeBadge(v, [width, height], radii, taken, names, foreign, layout, size, [from, to]) {
  const [x, y] = layout.at[v];
  const gap = RADIUS * size + 5 * size;
  const marks = layout.at.map(([a, b], w) => box(a, b, 2 * radii[w] * size, 2 * radii[w] * size));
  const occupied = [...marks, ...taken];
  const badges = taken.filter(({ x1, x2 }) => x2 - x1 > ALONG_STEP); // not those along a line
  let [best, least] = [/** @type {any} */ (null), Infinity];
  for (const [n, far] of BADGE_DISTANCES.entries()) {
    if (least <= FARTHER_COST * n) break;
    for (const [dx, dy] of BADGE_DIRECTIONS) {
      const [a, b] = [x + dx * (far * gap + width / 2), y + dy * (far * gap + height / 2)];
      const spot = box(a, b, width, height);
      const outside = spot.x1 < layout.room.x1 || spot.x2 > layout.room.x2 || spot.y1 < layout.room.y1 || spot.y2 > layout.room.y2;
      const known = FARTHER_COST * n + (outside ? 1000 : 0);
      if (known >= least) continue;
      const crosses = badges.some((each) => touches([[x, y], [a, b]], each)); // the line to it
      const lower = known + (crosses ? 1 : 0) + (touches([from, to], spot) ? 1 : 0)
        + 2 * occupied.filter((each) => overlap(spot, each)).reduce((sum, each) => sum + 1 + covered(spot, each), 0)
        + NAME_COST * names.filter((each) => overlap(spot, each)).length;
      if (lower >= least) continue; // the land takes the most time
      const cost = lower + (foreign.some((each) => each.meets(spot)) ? 1 : 0);
      if (cost < least) [best, least] = [spot, cost];
    }
  }
  return { spot: best, covers: occupied.some((each) => overlap(best, each)) || foreign.some((each) => each.meets(best)) };
}

export const box = (x, y, w, h) => ({ x1: x - w / 2, x2: x + w / 2, y1: y - h / 2, y2: y + h / 2 });
export const middle = ({ x1, x2, y1, y2 }) => [(x1 + x2) / 2, (y1 + y2) / 2];
export const overlap = (a, b) => a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;

// Return the share of `b` that lies below `a`, which overlaps it.
const covered = (a, b) => ((Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1)) * (Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1))) / ((b.x2 - b.x1) * (b.y2 - b.y1));

// Return true if the line touches the box. Names are placed by thousands of such questions, so nothing is allocated here.
export function touches(/** @type {number[][]} */ line, each) {
  const [[x1, y1], [x2, y2]] = line;
  if (Math.max(x1, x2) < each.x1 || Math.min(x1, x2) > each.x2 || Math.max(y1, y2) < each.y1 || Math.min(y1, y2) > each.y2) return false;
  // All corners of the box on one side of the line: the line passes by.
  const side = (x2 - x1) * (each.y1 - y1) - (y2 - y1) * (each.x1 - x1);
  const across = (y2 - y1) * (each.x2 - each.x1);
  const down = (x2 - x1) * (each.y2 - each.y1);
  return side - Math.max(0, across) + Math.min(0, down) <= 0 && side - Math.min(0, across) + Math.max(0, down) >= 0;
}

// Return small boxes along a line.
export function along(/** @type {number[][]} */ [a, b]) {
  const count = Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / ALONG_STEP);
  return Array.from({ length: count + 1 }, (_, n) => box(a[0] + ((b[0] - a[0]) * n) / count, a[1] + ((b[1] - a[1]) * n) / count, ALONG_STEP, ALONG_STEP));
}

// A straight arrow from a to b that begins and ends outside the marks; its points as an SVG path. `head`: how large its tip is.
export function arrow(/** @type {number[][]} */ [a, b], startGap, endGap, head = 1) {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const from = [a[0] + ux * startGap, a[1] + uy * startGap];
  const tip = [b[0] - ux * endGap, b[1] - uy * endGap];
  if (!endGap) return `M${point(from)}L${point(tip)}`;
  const side = (s) => [tip[0] - head * (9 * ux + s * 6 * uy), tip[1] - head * (9 * uy - s * 6 * ux)];
  return `M${point(from)}L${point(tip)}M${point(side(1))}L${point(tip)}L${point(side(-1))}`;
}

const point = (/** @type {number[]} */ [x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
