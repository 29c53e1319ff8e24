// The picture of a Riskless map: territories as areas in the colours of their owners, with a blue circle for Maxie's armies, an orange
// square for Minnie's, and a small ring for none. Colours are never the only sign.

import { isStill } from "../preferences.js";
import { h, say, set, svg } from "../dom.js";
import { keyed } from "../parts/keyed.js";
import { SIDES } from "../text.js";
import { MoveAnimation, travelTime } from "./moveanimation.js";
import { MIN_DISTANCE, RADIUS, along, arrow, box, inReadingOrder, layOut, middle, overlap, placeBadge, roomFor, spread } from "./geometry.js";
import { Hatch } from "./hatch.js";
import { Land, RISKS } from "./land.js";
import { cachedMapData, loadMapData } from "./mapdata.js";
import { LINE_HEIGHT, NAME_GAP, placeInside, placeName, spellings } from "./names.js";
import { Zoom } from "./zoom.js";

const MIN_SCALE = 0.52; // pixels per unit: two territories are then at least 32 pixels apart
const [MIN_NAME_SCALE, MAX_NAME_SCALE] = [1.1, 1.6]; // scale of names and figures in pixels per unit: names have 12 to 18 pixels, figures at most 19
const FONT_FAMILY = "Arena, system-ui, \"DejaVu Sans\", sans-serif";
const NAME_FONT = `500 11px ${FONT_FAMILY}`; // as in the style
const BADGE_FONT = `700 12px ${FONT_FAMILY}`;
const EMPTY_MARK_SIZE = 0.3; // radius of the mark of an empty territory, relative to the others
const PRESS_RADIUS = RADIUS + 8; // radius of what can be pressed of a mark
const BADGE_HEIGHT = 18;
const BADGE_GAP = 1; // between a badge and the border of its land
const PLUS_DISTANCE = RADIUS + 4; // from the middle of a mark to that of its "+1"
const [PLUS_WIDTH, PLUS_HEIGHT] = [16, 12]; // room for it
const MIN_MARK_PX = 18; // diameter of a mark at least
const MAX_SIZE_WITH_NAMES = 2.8; // from this scale of names on, few fit anywhere
const NEAR_PX = 19; // between two places: marks so near to each other nearly touch
const MARK_SHARE = 0.55; // diameter of a mark, relative to the least distance of two places
const MIN_FIGURE = 0.91; // size of a number of armies at least, relative to that in the largest mark: 12 pixels
const NEAR_FIGURE_PX = 14; // height of the numbers near the last move at least, where their marks have room for that
const ROOM_FOR_THREE_PX = 24; // diameter of a mark in which three digits have room
const MIN_APART = 0.9; // distance of two marks, in the sum of their radii, from which on both can be read
const MARK_WITH_LINE = RADIUS + 1.5; // radius of a mark with the line around it
const MAX_MOVED = RADIUS / 2; // as far as a mark is moved from the middle of its land, so that it lies on no other
const NEAR_GAP = 2; // between such a mark and others
const MAX_SIZE_WITH_TEXT = 1.5; // from this scale of names on there is no room for text beside marks
const MIN_LINE_DISTANCE = 1.6 * RADIUS; // distance of a badge from its place from which on a line joins them
const MAX_NAME_DISTANCE = 3 * RADIUS; // the same from which on a label of the last move would seem to belong to other land
const MIN_NAMED_PX = 240; // width of a map from which on the territories of the last move have labels
const MAX_BADGE_DISTANCE = 5 * RADIUS; // the same from which on the numbers of a battle are left out: the words below the board have them
const [FIGURE_WIDE, FIGURE_HIGH] = [20, 14]; // room for a number of armies
const FIGURE_PX = 12; // height of a number in the largest mark, as in the style
const FIGURE_Y = 4.4; // of the line of a number, below the middle of its mark
const DESCENT = 2.5; // of the letters of a name below its line
const CLASH_MS = 320;
const WAVES = 5; // in which "+1" appears, from left to right: all at once would cover the board
const WAVE_MS = 50; // from one to the next
// A wave is a layer of its own as large as a fifth of the board, which is drawn anew where its opacity changes: it changes in few steps.
const FADING = [{ opacity: 0, easing: "step-end" }, { opacity: 0.9, offset: 0.1 }, { opacity: 0.9, offset: 0.6, easing: "steps(3)" }, { opacity: 0 }];
const NEAR_TIP_SIZE = 0.7; // size of the tip of an arrow between marks that nearly touch
const COMPARED_PX = 28; // from mark to mark, below which a phone's board zooms in on a move and on the better one
const BETTER_TIP_SIZE = 1.4; // size of the tip of the engine's arrow, relative to that of a move
const RING = RADIUS + 4; // radius of the ring around a mark that may be chosen
const LETTERS_STEP = 0.88; // from one size of names to the next smaller one
const LABEL_SIZES = [0, 1, 2].map((steps) => LETTERS_STEP ** steps); // sizes of the result of a move that are tried inside its target, relative to that of names: 10 pixels at least
const ASIDES = { won: "win, ", joined: "join, ", took: "empty, " }; // before the result of a move, which a map and a phone leave out
const SHORTEST = 8; // length of an arrow
const FINGER_PX = 22; // half of what a finger covers

const pen = h("canvas").getContext("2d");

const boards = new WeakMap(); // board of each picture
document.fonts.addEventListener("loadingdone", () => {
  for (const picture of document.querySelectorAll(".map")) boards.get(picture)?.relabel();
});

// Return a function that measures a text in this font.
const widthIn = (/** @type {string} */ font) => (/** @type {string} */ text) => {
  pen.font = font;
  return pen.measureText(text).width;
};

// Return the width of a sample, by which two fonts differ.
const fontWidth = () => widthIn(NAME_FONT)("Riskless Arena");

// Return the holder of a territory by its armies.
const ownerOf = (/** @type {number} */ n) => (n > 0 ? "maxie" : n < 0 ? "minnie" : "nobody");

// Return the result of a move in two words: the reader's armies on its target after it.
const outcome = ({ what, left }) => (what === "lost" ? "lose" : `${left} after`);

// Return how good a move is, as weigh() has it, to sort moves by: first by its risk, then by the armies that are left where it takes a territory.
const worth = (move) => (move.what === "joined" ? 0 : move.came - move.stood) + 1e6 * RISKS.indexOf(riskOf(move));

// Return the risk of a move, one of RISKS: its battle is lost, its target is open to a reply, or neither; null if the move is not known.
const riskOf = (move) => (!move ? null : move.what === "lost" ? "lost" : move.threats.length ? "open" : "safe");

// Return the risk in words, as elements, of which a phone leaves out the names.
function riskWords(move, target) {
  const { left, threats: [threat] } = move;
  if (move.what === "lost") return [h("span", null, `${target} `), `holds with ${left}`];
  return threat ? [`Risk: ${threat.armies}`, h("span", null, ` from ${threat.name}`)] : ["Safe"];
}

// Write a name of this size in its box; null hides it.
function write(element, placed, size) {
  set(element, { "data-crowded": !placed });
  if (!placed) return;
  const { lines, box: { x1, x2, y1 } } = placed;
  element.replaceChildren(...lines.map((text, n) => svg("tspan", { x: ((x1 + x2) / 2).toFixed(1), y: (y1 + ((n + 1) * LINE_HEIGHT - DESCENT) * size).toFixed(1) }, text)));
}

export class MapBoard {
  // onSpot(v) is called for each territory chosen by click or key. `whole`: nothing can be clicked, so the whole
  // map is visible at any size. `seat`: the reader's seat, whose territories are revealed at the start.
  constructor(game, onSpot, { whole = false, seat = /** @type {string | null} */ (null) } = {}) {
    this.game = game;
    this.sign = seat === null ? 0 : seat === "maxie" ? 1 : -1;
    this.onSpot = onSpot;
    this.picture = svg("svg", { class: "map", role: "img", "aria-label": "Map" }); // until the first position is shown
    boards.set(this.picture, this);
    this.hatch = new Hatch(this.picture);
    this.zoom = new Zoom(this.picture, [1, 1], whole ? 0 : MIN_SCALE, { scaled: () => this.label(), resized: () => this.resized() });
    this.element = this.zoom.element;
    this.followed = /** @type {number[][]} */ ([]); // latest moves
    // With a listener of their own for the focus, Tab would reach all elements of the picture.
    for (const [type, pointed] of /** @type {[string, boolean][]} */ ([["focusin", true], ["focusout", false]])) {
      this.element.addEventListener(type, ({ target }) => {
        const spot = /** @type {Element} */ (target).closest(".spot");
        if (spot) this.point(Number(/** @type {SVGElement} */ (spot).dataset.spot), pointed);
      });
    }
    this.element.addEventListener("pointerdown", ({ pointerType }) => { this.isFinger = pointerType === "touch"; });
    this.zoom.place.addEventListener("click", (event) => this.tap(event), { capture: true }); // not that of a button to zoom
    this.isFinger = false; // the last press was that of a finger
    this.tapped = /** @type {number[]} */ ([]); // territories of which the last tap may have meant each
    // Buttons that name what may be chosen, as large as a finger, for maps whose territories are smaller.
    this.offers = h("div", { class: "offers", role: "group", "aria-label": "Choose a territory" });
    this.march = new MoveAnimation();
    this.drawnAt = -Infinity;
    this.waiting = /** @type {(() => void) | null} */ (null); // callback for the arrival of the armies that travel
    this.layout = /** @type {any} */ (null);
    this.land = /** @type {any} */ (null);
    this.spots = /** @type {any} */ (null);
    this.names = /** @type {any} */ (null);
    this.shortNames = /** @type {string[]} */ ([]); // empty where a name has none
    this.isShort = false; // the short forms are written
    this.placed = /** @type {any[]} */ ([]); // lines and box of each name; null for those that their land has no room for
    this.letters = 1; // their scale
    this.nearest = 1; // scale of the numbers near the last move, relative to the others
    this.enlarged = /** @type {Map<number, number>} */ (new Map()); // the same of each mark there, as its neighbours leave room for
    this.fontWidth = 0; // of the font with which they were placed
    this.placedFor = ""; // what their places depend on, when they were placed last
    this.tag = /** @type {any} */ (null); // names of the territory that is pointed at and of the last move, where the map does not write them
    this.isChanging = false; // true until these names are written, once after several changes
    this.pointed = /** @type {number | null} */ (null); // territory below the pointer, or with the focus
    this.move = /** @type {any} */ (null);
    this.lead = /** @type {any} */ (null); // from a battle to its numbers, where these are far off
    this.better = /** @type {any[]} */ ([]); // arrow of the engine's better move, and the band around it
    this.advice = /** @type {any} */ (null); // the word at that arrow
    this.fought = /** @type {any[]} */ ([]); // boxes of the numbers of the last battle
    this.foretold = /** @type {any[]} */ ([]); // boxes of the results that may be chosen
    this.optionGround = /** @type {any} */ (null); // band around the arrows from the chosen territory to its targets
    this.options = /** @type {any[]} */ ([]); // these arrows, by risk
    this.replies = /** @type {any[]} */ ([]); // arrows of the replies that could retake a target, and the band around them
    this.suggested = /** @type {any} */ (null);
    this.compared = /** @type {number[]} */ ([]); // territories of the better move and of the one that was played, where a phone's board zooms in on them
    this.moveGround = /** @type {any} */ (null);
    this.fight = /** @type {any} */ (null);
    this.training = /** @type {any} */ (null);
    this.preview = h("p", { class: "preview", "aria-hidden": "true" }); // result of the move to the target that is pointed at; its label says it, too
    this.outcomes = /** @type {any} */ (null); // of the battles that may be chosen
    this.marked = /** @type {any} */ (null);
    this.choice = /** @type {number[]} */ ([]); // the chosen territory and its targets
    this.shown = /** @type {any} */ (null);
    const first = cachedMapData(game.setup);
    this.draw(first);
    loadMapData(game.setup).then((found) => found === first || this.draw(found));
  }

  draw(extra) {
    const { setup } = this.game;
    const layout = layOut(setup, extra.wraps, extra.cells, extra.marks);
    this.layout = layout;
    set(this.picture, { viewBox: `0 0 ${layout.width.toFixed(1)} ${layout.height.toFixed(1)}` });
    set(this.element, { "data-provisional": extra.cells === undefined });
    this.zoom.resize([layout.width, layout.height], layout.at);
    if (extra.cells === undefined) return; // nothing is seen before the land is known
    this.land = new Land(layout, extra, (type, v) => (type === "click" ? this.onSpot(v) : this.point(v, type === "enter")));
    set(this.zoom.land, { href: `#${this.land.id}` });
    this.spots = layout.at.map((_, v) => this.spot(v));
    this.names = setup.territories.map((name) => svg("text", { class: "place" }, name));
    this.placed = [];
    this.shortNames = extra.short_names;
    this.moveGround = svg("path", { class: "move-ground" });
    this.move = svg("path", { class: "move" });
    this.better = ["better-ground", "better"].map((name) => svg("path", { class: name }));
    this.advice = svg("g", { class: "fight advice" });
    this.optionGround = svg("path", { class: "option-ground" });
    this.options = RISKS.map((risk) => svg("path", { class: "option", "data-risk": risk }));
    this.replies = ["reply-ground", "reply"].map((name) => svg("path", { class: name, "data-risk": "open" }));
    this.lead = svg("path", { class: "lead" });
    this.fight = svg("g", { class: "fight" });
    this.outcomes = svg("g", { class: "outcomes", "aria-hidden": "true" });
    this.tag = svg("g", { class: "tag" });
    this.training = svg("g", { class: "training", "aria-hidden": "true" });
    this.order = inReadingOrder(layout.at);
    this.picture.replaceChildren(
      this.hatch.element,
      ...this.land.elements,
      this.lead,
      this.moveGround,
      this.move,
      ...this.better,
      ...this.order.map((v) => this.spots[v].group),
      ...this.replies,
      this.optionGround,
      ...this.options,
      ...this.names,
      this.tag,
      this.outcomes,
      this.training,
      this.march.element,
      this.fight,
      this.advice,
    );
    if (this.zoom.scale) this.label();
    if (this.shown) {
      const [position, move, before] = this.shown;
      this.shown = null;
      this.show(position, move, before);
    }
    if (this.marked) this.mark(this.marked);
  }

  // Return the scale of marks and names relative to the picture: they are readable on a small picture, and leave room on a large one.
  get size() {
    const scale = this.zoom.scale || 1;
    return Math.min(Math.max(scale, MIN_NAME_SCALE), MAX_NAME_SCALE) / scale;
  }

  // Return the scale of marks relative to that of names: the nearer the places are to each other, the smaller are the marks.
  get markScale() {
    const scale = this.zoom.scale || 1;
    return Math.min(1, Math.max(MIN_MARK_PX, MARK_SHARE * MIN_DISTANCE * scale) / (2 * RADIUS * this.size * scale));
  }

  // Return the scale of marks relative to the picture.
  get markSize() {
    return this.size * this.markScale;
  }

  // Return true if there is no room for text beside marks.
  get isSmall() {
    return this.zoom.isDistant && this.size > MAX_SIZE_WITH_TEXT;
  }

  // Return true if marks nearly touch: the arrow between them is thin.
  get isDense() {
    return this.zoom.isDistant && MIN_DISTANCE * this.zoom.scale < NEAR_PX;
  }

  // Place marks and names with as little overlap as possible at this zoom.
  label() {
    if (this.names) this.change(() => this.labelAll());
  }

  labelAll() {
    const { size, markSize, markScale, layout, zoom: { beside } } = this; // read before all is written: the browser would lay out the page again
    const movesApart = this.isSmall && this.zoom.isWhole;
    const figure = Math.max(MIN_FIGURE, markScale) / markScale;
    set(this.picture, { "data-dense": this.isDense });
    this.picture.style.setProperty("--size", size.toFixed(2));
    this.picture.style.setProperty("--figure", figure.toFixed(2));
    this.nearest = Math.max(1, NEAR_FIGURE_PX / (FIGURE_PX * figure * markSize * (this.zoom.scale || 1)));
    this.hatch.fit(this.zoom.scale, layout.width);
    layout.room = roomFor(layout.width, layout.height, beside);
    this.fontWidth = fontWidth();
    const placedFor = [this.zoom.scale, size, markSize, movesApart, this.fontWidth].join(" ");
    // Too slow for each frame of a gesture, and the same in a frame of another height.
    if (!this.placed.length || (!this.zoom.resting && placedFor !== this.placedFor)) {
      layout.at = movesApart ? spread(layout.middles, 2 * MARK_WITH_LINE * markSize, MAX_MOVED * markSize) : layout.middles;
      [this.placed, this.letters] = this.placeNames();
      this.placedFor = placedFor;
      set(this.picture, { "data-short": this.isShort });
    }
    const { placed, letters } = this;
    const reach = this.isSmall ? Math.min(PRESS_RADIUS, MIN_DISTANCE / 2 / size) : PRESS_RADIUS; // where marks would overlap, land is pressed instead
    placed.forEach((name, v) => {
      write(this.names[v], name, letters);
      this.names[v].style.fontSize = `${(11 * letters).toFixed(1)}px`;
      set(this.spots[v].group, { transform: `translate(${layout.at[v][0].toFixed(1)} ${layout.at[v][1].toFixed(1)}) scale(${markSize.toFixed(2)})` });
      set(this.spots[v].reach, { r: (reach / markScale).toFixed(1) });
      set(this.spots[v].number, { y: (FIGURE_Y * figure).toFixed(1) });
    });
    if (this.shown?.[1]) this.showMove(this.shown[1], this.shown[2]);
    this.compare();
    this.showOutcomes();
  }

  // Place names anew if a font has arrived with which they are wider or narrower.
  relabel() {
    if (this.zoom.scale && this.fontWidth !== fontWidth()) this.label();
  }

  // Return the place of each name that its land has room for, and the scale of all letters: as large as leaves none out that smaller ones
  // let in. Names are whole where all of them have room.
  /** @returns {[any[], number]} */
  placeNames() {
    const { size, markSize, layout, zoom, game: { names } } = this;
    const least = Math.min(size, MIN_NAME_SCALE / (zoom.scale || 1));
    const beside = (RADIUS + NAME_GAP) * markSize;
    const marks = layout.at.map(([x, y]) => box(x, y, 2 * beside, 2 * beside));
    const place = (ways, v, letters) => placeName(ways[v], layout.at[v], this.land.regions[v], marks, letters);
    if (least > MAX_SIZE_WITH_NAMES) return [layout.at.map(() => null), least];
    const [whole, short] = [names, names.map((name, v) => this.shortNames[v] || name)].map((each) => spellings(each, widthIn(NAME_FONT)));
    const smallestWhole = /** @type {any[]} */ ([]);
    this.isShort = layout.at.some((_, v) => {
      smallestWhole[v] = place(whole, v, least);
      return !smallestWhole[v];
    });
    const ways = this.isShort ? short : whole;
    const placeAll = (letters) => layout.at.map((_, v) => place(ways, v, letters));
    const smallest = this.isShort ? placeAll(least) : smallestWhole;
    for (let letters = size; letters > least; letters *= LETTERS_STEP) {
      const placed = placeAll(letters);
      if (placed.every((each, v) => each || !smallest[v])) return [placed, letters];
    }
    return [smallest, least];
  }

  // Return the boxes of the names on the map.
  get boxes() {
    return this.placed.flatMap((each) => each?.box ?? []);
  }

  // Show the engine's best move as an arrow; null for none.
  suggest(move) {
    this.suggested = move;
    this.drawSuggested();
    this.compare();
  }

  drawSuggested() {
    if (!this.advice) return;
    const move = this.suggested;
    this.clearBadges(this.advice, "data-advised");
    const parts = move ? this.layout.lines(...move) : [];
    for (const each of this.better) set(each, { d: move ? this.arrows(parts, BETTER_TIP_SIZE) : null });
    if (move) this.advice.append(this.badge("best", move[1], parts.at(-1), { taken: this.fought, hides: "data-advised" }));
  }

  // On a phone, zoom in on the move and on the engine's better one if they would lie over one another.
  compare() {
    const move = this.advice && this.suggested;
    const moves = move && this.shown?.[1] ? [move, this.shown[1]] : [];
    const length = ([v, w]) => Math.hypot(...[0, 1].map((axis) => this.layout.middles[v][axis] - this.layout.middles[w][axis])) * this.zoom.whole;
    const shortest = Math.min(...moves.map(length));
    const compared = this.zoom.isPhone && shortest < COMPARED_PX ? moves.flat() : [];
    if (String(compared) === String(this.compared)) return;
    this.compared = compared;
    if (!this.choice.length) this.zoom.choose(compared.map((v) => this.layout.middles[v]), compared.flatMap((v) => this.land.regions[v].corners), { enough: (this.zoom.whole * COMPARED_PX) / shortest });
  }

  // On a phone whose whole map is too small for names, keep the latest moves in sight, unless something is chosen or compared; without moves, show the whole map.
  follow(moves) {
    this.followed = moves;
    if (!this.land || this.choice.length || this.compared.length) return;
    const ways = moves.map((_, n) => moves.slice(n).flat().flatMap((v) => this.land.regions[v].corners));
    this.zoom.follow(this.zoom.isCrowded ? ways : []);
  }

  // Fit the picture to a frame of another size, keep the latest moves in sight, and place their names there.
  resized() {
    this.change(() => {
      this.zoom.fit();
      this.follow(this.followed);
    });
  }

  // Make changes after which the names beside the map's own are written anew, once: to find their places takes long.
  change(make) {
    const isPart = this.isChanging;
    this.isChanging = true;
    make();
    this.isChanging = isPart;
    this.showTag();
  }

  // Return the arrows along a move's lines as an SVG path: two for a move around the map. Between marks that are near to each other the
  // arrow begins below the first one, so that it is long enough to be seen.
  arrows(parts, head = 1) {
    const { size, markSize } = this;
    return parts.map((line, n) => {
      const [[x1, y1], [x2, y2]] = line;
      const end = n === parts.length - 1 ? (RADIUS + 4) * markSize : 0;
      const start = Math.min(n ? 0 : RADIUS * markSize, Math.hypot(x2 - x1, y2 - y1) - end - SHORTEST * size);
      return arrow(line, start, end, head * (this.isDense ? NEAR_TIP_SIZE : 1) * size);
    }).join("");
  }

  // Show the name of a territory while it is pointed at, and the result of a move there.
  point(v, pointed) {
    if (!pointed && this.pointed !== v) return;
    this.pointed = pointed ? v : null;
    if (this.spots) this.drawReply();
    this.showTag();
    this.showPreview();
  }

  showPreview() {
    const { selected = null, targets, ahead } = this.marked ?? {};
    const v = this.pointed;
    if (v === null || selected === null || ahead || !targets.has(v) || !this.shown) {
      this.preview.replaceChildren();
      return;
    }
    const [result, ...threats] = this.game.foretell(this.shown[0], [selected, v]).split(" · ");
    this.preview.replaceChildren(...[`→ ${this.game.names[v]}, ${result}`, ...threats].map((each) => h("span", null, each)));
  }

  spot(v) {
    const side = 1.8 * RADIUS;
    const number = svg("text", { class: "armies", y: FIGURE_Y });
    const reach = svg("circle", { class: "reach", r: PRESS_RADIUS });
    const group = svg("g", { class: "spot", "data-spot": v },
      reach,
      svg("circle", { class: "focus", r: RADIUS + 10 }),
      svg("circle", { class: "halo", r: RING }),
      svg("circle", { class: "ring", r: RING }),
      svg("circle", { class: "empty", r: EMPTY_MARK_SIZE * RADIUS }),
      svg("circle", { class: "maxie", r: RADIUS }),
      svg("rect", { class: "minnie", x: -side / 2, y: -side / 2, width: side, height: side, rx: 3 }),
      number);
    group.addEventListener("click", () => this.onSpot(v));
    group.addEventListener("pointerenter", () => this.point(v, true));
    group.addEventListener("pointerleave", () => this.point(v, false));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.onSpot(v);
    });
    return { group, number, reach };
  }

  // Show a position; `move` led to it from `before`, or both are null. If `before` is the position itself, the move was played from it.
  show(position, move, before) {
    if (this.shown?.[0] === position && this.shown[1] === move) return; // its animation may be running
    this.march.stop(); // the armies of the last move arrive at once
    const follows = before !== null && before !== position && this.shown?.[0] === before;
    this.shown = [position, move, before];
    set(this.picture, { "data-mistake": move !== null && before === position });
    this.tapped = [];
    if (!this.spots) return; // draw() shows it
    const now = performance.now();
    const travel = follows ? travelTime(now - this.drawnAt) : 0;
    this.drawnAt = now;
    const held = (/** @type {number} */ n) => (this.sign ? n * this.sign > 0 : n !== 0);
    const sought = move ? [move[1], move[0]] : position.armies.flatMap((n, v) => (held(n) ? [v] : []));
    if (!this.choice.length) this.zoom.reveal(sought.map((v) => this.layout.at[v])); // a choice stays in sight
    position.armies.forEach((n, v) => this.showSpot(v, travel && v === move[1] ? before.armies[v] : n));
    if (!move || this.zoom.scale) this.showMove(move, before); // otherwise label() shows it as soon as the board has a size
    if (travel) {
      this.march.go(this.token(before.armies[move[0]]), this.layout.lines(...move), travel, () => {
        this.showSpot(move[1], position.armies[move[1]]);
        this.clash(move, position, before);
        const { waiting } = this;
        this.waiting = null;
        waiting?.();
      });
    }
    const { maxie, minnie } = this.game.score(position);
    set(this.picture, {
      "aria-label": `Map, move ${position.ply}: Blue has ${maxie.armies} armies on ${maxie.places} territories, `
        + `Orange ${minnie.armies} on ${minnie.places}`,
    });
  }

  // Call `then` at once if no armies travel. Otherwise call it when they arrive, which they do at the latest when the next move is shown;
  // it replaces the callback that waits.
  whenStill(then) {
    if (this.march.over === null) then();
    else this.waiting = then;
  }

  showSpot(v, n) {
    const { group, number } = this.spots[v];
    const owner = ownerOf(n);
    for (const each of [group, this.names[v]]) set(each, { "data-owner": owner });
    this.land.own(v, owner);
    say(number, n ? String(Math.abs(n)) : "");
  }

  // Create the mark of travelling armies, around 0 0.
  token(n) {
    const side = 1.8 * RADIUS;
    const inner = svg("g", { class: "spot", "data-owner": n > 0 ? "maxie" : "minnie", transform: `scale(${this.markSize.toFixed(2)})` },
      svg("circle", { class: "maxie", r: RADIUS }),
      svg("rect", { class: "minnie", x: -side / 2, y: -side / 2, width: side, height: side, rx: 3 }),
      svg("text", { class: "armies", y: FIGURE_Y }, Math.abs(n)));
    return svg("g", null, inner);
  }

  drawMove(d, /** @type {string | null} */ owner = null) {
    set(this.move, { d, "data-owner": owner });
    set(this.moveGround, { d });
    set(this.lead, { d: null });
    this.ring(null);
  }

  // Ring the target of the last move; null for none.
  ring(target) {
    this.spots.forEach(({ group }, v) => set(group, { "data-last": v === target }));
  }

  showMove(move, before) {
    this.clearBadges(this.fight, "data-fought");
    this.training.querySelector(".clash")?.remove(); // that of the last battle
    this.drawMove(null);
    this.fought = [];
    this.enlarge(move ?? []);
    if (move) this.showFight(move, this.game.told(before, move), this.layout.lines(...move));
    this.drawSuggested();
    this.showTag();
  }

  // Enlarge the marks at both ends of a move and around them, where all are small and these have room; and those of three digits, which have no room in a small mark.
  enlarge(move) {
    const { markSize, isSmall, nearest, layout: { at }, shown: [{ armies }], game: { setup: { neighbours } } } = this;
    const reach = RADIUS * markSize; // of a mark as it usually is
    const long = new Set(2 * reach * (this.zoom.scale || 1) < ROOM_FOR_THREE_PX ? armies.flatMap((n, v) => (Math.abs(n) > 99 ? [v] : [])) : []);
    const [near, beside] = isSmall ? [[...move].reverse(), move.flatMap((v) => neighbours[v])] : [[], []];
    const around = new Set(nearest > 1 ? [...near, ...long, ...beside] : []);
    this.enlarged.clear();
    for (const v of around) {
      if (!armies[v]) continue;
      const room = at.map(([x, y], w) => {
        if (w === v) return Infinity;
        const other = reach * (armies[w] ? this.enlarged.get(w) ?? 1 : EMPTY_MARK_SIZE);
        return (Math.hypot(x - at[v][0], y - at[v][1]) - other - NEAR_GAP * markSize) / reach;
      });
      const scale = Math.min(nearest, ...room);
      if (scale > 1) this.enlarged.set(v, scale);
    }
    const hidden = this.crowdedOut([...around]);
    this.spots.forEach(({ group }, v) => {
      set(group, { "data-long": long.has(v), "data-hidden": hidden.has(v) });
      group.style.setProperty("--near", (this.enlarged.get(v) ?? 1).toFixed(2));
    });
  }

  // Return the territories whose marks would cover others on a very small map, which leaves them out: the marks `first` stay, then those of
  // territories that border on the enemy, then the larger armies.
  crowdedOut(first) {
    const { markSize, isSmall, layout: { at }, shown: [{ armies }], game: { setup: { neighbours } } } = this;
    if (!isSmall) return new Set();
    const borders = (/** @type {number} */ v) => neighbours[v].some((w) => armies[w] * armies[v] < 0);
    const rank = (/** @type {number} */ v) => (first.includes(v) ? 0 : borders(v) ? 1 : 2);
    const held = armies.flatMap((n, v) => (n ? [v] : [])).sort((v, w) => rank(v) - rank(w) || Math.abs(armies[w]) - Math.abs(armies[v]));
    const kept = /** @type {number[]} */ ([]);
    const radius = (/** @type {number} */ v) => RADIUS * markSize * (this.enlarged.get(v) ?? 1);
    for (const v of held) {
      if (kept.every((w) => Math.hypot(at[v][0] - at[w][0], at[v][1] - at[w][1]) > MIN_APART * (radius(v) + radius(w)))) kept.push(v);
    }
    return new Set(held.filter((v) => !kept.includes(v)));
  }

  // Draw the arrow of a move, and the numbers of its battle, which would cover those of the territories on a small picture.
  showFight(move, { what, came, stood }, parts) {
    this.drawMove(this.arrows(parts), ownerOf(this.shown[2].armies[move[0]]));
    if (this.isShort) for (const each of parts.flatMap(along)) this.hideNames(each, "data-fought"); // of a code below an arrow, nothing is left
    if (this.isSmall) {
      this.ring(move[1]);
      return;
    }
    if (what !== "won" && what !== "lost") return;
    const shown = { lead: this.lead, taken: this.boxesOf(move), noted: this.fought };
    this.fight.append(this.badge(`${came} vs ${stood}`, move[1], parts.at(-1), shown));
  }

  // Write a few words beside the territory `v`, connected by `line`, with the least overlap; `lead`: path that joins them if they are far from each other; `hides`: attribute of the names below the words;
  // `taken`: boxes of other words; `noted` gets the box of these; `foreign`: land on which they may not lie; `room`: box in which
  // they lie; `radii`: those of the marks that they may not cover; `always`: even where they cover others, or are `farthest` from the territory.
  badge(text, v, line, { lead = /** @type {any} */ (null), hides = "data-fought", taken = /** @type {any[]} */ ([]), noted = /** @type {any[]} */ ([]), foreign = /** @type {any[]} */ ([]), farthest = MAX_BADGE_DISTANCE, room = this.layout.room, radii = this.radii, always = false } = {}) {
    const { size, layout } = this;
    const { spot, covers } = placeBadge(v, this.badgeSize(text), radii, taken, this.boxes, foreign, { ...layout, room }, size, line);
    if (covers && !always) return svg("g");
    const [x, y] = middle(spot);
    const [left, top] = layout.at[v];
    const [dx, dy] = [Math.abs(left - x) - (spot.x2 - spot.x1) / 2, Math.abs(top - y) - (spot.y2 - spot.y1) / 2];
    const far = Math.hypot(Math.max(0, dx), Math.max(0, dy)) / size;
    if (far > farthest && !always) return svg("g");
    if (lead && far > MIN_LINE_DISTANCE) set(lead, { d: arrow([[left, top], [x, y]], RADIUS * this.markSize, 0) });
    return this.drawBadge(text, spot, { hides, noted });
  }

  // Return the width and height of a badge with these words.
  /** @returns {[number, number]} */
  badgeSize(text, size = this.size) {
    return [(12 + widthIn(BADGE_FONT)(text)) * size, BADGE_HEIGHT * size];
  }

  // Return the radii of all marks, with their rings, relative to the size of names.
  get radii() {
    const { markScale } = this;
    const { selected = null, sources, targets } = this.marked ?? {};
    const radius = (/** @type {number} */ n) => markScale * (n ? 1 : EMPTY_MARK_SIZE) * RADIUS;
    return this.shown[0].armies.map((n, w) => (this.enlarged.get(w) ?? 1) * (w === selected || targets?.has(w) || (selected === null && sources?.has(w)) ? RING * markScale : radius(n)));
  }

  drawBadge(text, spot, { hides, noted }) {
    noted.push(spot);
    this.hideNames(spot, hides);
    const [x, y] = middle(spot);
    const size = (spot.y2 - spot.y1) / BADGE_HEIGHT;
    const width = (spot.x2 - spot.x1) / size;
    return svg("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size.toFixed(2)})` },
      svg("rect", { x: -width / 2, y: -BADGE_HEIGHT / 2, width, height: BADGE_HEIGHT, rx: BADGE_HEIGHT / 2 }), svg("text", { y: 4 }, text));
  }

  // Hide the names below a box with this attribute.
  hideNames(covered, hides) {
    this.placed.forEach((each, v) => each && overlap(each.box, covered) && set(this.names[v], { [hides]: true }));
  }

  // Write the whole name of the territory that is pointed at, if the map does not. Do the same for the territories of the last move. While a territory
  // is chosen, name instead of these its targets that have no name on the map.
  showTag() {
    if (this.isChanging || !this.tag) return;
    this.clearBadges(this.tag, "data-tagged");
    if (!this.shown) return;
    const { pointed } = this;
    const chosen = this.choice.length && this.zoom.isHandheld ? this.nameChoice() : [];
    const targets = this.zoom.isHandheld || this.choice.length === 2 ? [] : this.choice.slice(1); // the list names a single one
    const last = this.choice.length ? [] : this.shown[1] ?? [];
    const taken = [...this.fought, ...this.foretold, ...chosen];
    if (last.length) this.nameMove(last, taken);
    const isNamed = pointed === null || pointed === this.choice[0] || last.includes(pointed) || (chosen.length && this.choice.includes(pointed));
    for (const v of new Set([...(isNamed ? [] : [pointed]), ...targets])) {
      const isPointed = v === pointed;
      const own = this.placed[v];
      if (isPointed ? this.isWritten(v) : own) continue;
      const place = this.layout.at[v];
      const lead = svg("path", { class: "lead" });
      const others = isPointed ? taken : [...taken, ...this.boxes.filter((each) => each !== own?.box)];
      const badge = this.badge(this.game.names[v], v, [place, place], { taken: others, noted: taken, hides: "data-tagged", lead, always: isPointed });
      this.tagName(v, lead, badge);
    }
  }

  // Return true if the map writes the name of a territory, whole and below no badge.
  isWritten(v) {
    return Boolean(this.placed[v]) && (!this.isShort || !this.shortNames[v]) && !this.names[v].matches("[data-fought], [data-advised], [data-foretold]");
  }

  // Write a name in a label instead of on the map, with a line to the label, unless the label is empty because it has no room.
  tagName(v, lead, label) {
    if (!label.hasChildNodes()) return;
    this.tag.append(lead, label);
    set(this.names[v], { "data-tagged": true });
  }

  // Return the box in which the labels of names may lie: what is in sight.
  get labelRoom() {
    return this.zoom.isWhole ? this.layout.room : this.zoom.sightBox;
  }

  // Return the land of all other territories that `isCounted`.
  landBeside(v, isCounted = (/** @type {number} */ _w) => true) {
    return this.land.regions.filter((_, w) => w !== v && isCounted(w));
  }

  // Name the territories of the last move that the map abbreviates or leaves out, because the sentence below the board has their names: in a label
  // beside the territory and on no other land, which has the short form if there is no room for the whole name. `taken` gets the boxes of the labels.
  nameMove(move, taken) {
    const { layout, zoom, labelRoom: room } = this;
    if (zoom.place.clientWidth < MIN_NAMED_PX) return;
    const line = layout.lines(...move).at(-1);
    const covered = [...zoom.overviewBoxes, ...layout.lines(...move).flatMap(along)];
    for (const v of [...move].reverse()) {
      if (this.isWritten(v)) continue;
      const short = this.shortNames[v];
      const lead = svg("path", { class: "lead" });
      const foreign = this.landBeside(v);
      const label = (/** @type {string} */ name) => this.badge(name, v, line,
        { room, lead, foreign, noted: taken, taken: [...taken, ...covered], hides: "data-tagged", farthest: MAX_NAME_DISTANCE });
      const whole = label(this.game.names[v]);
      this.tagName(v, lead, whole.hasChildNodes() || !short ? whole : label(short));
    }
  }

  // Where a finger chooses, write the whole names of the targets that the map abbreviates or leaves out: in sight, beside the arrows, and as far
  // as there is room on no other land and on no number. Then name the chosen territory, too, if there is room beside it. Return their boxes.
  nameChoice() {
    const { choice, layout, zoom, labelRoom: room } = this;
    const [selected, ...targets] = choice;
    const covered = [...this.foretold, ...zoom.overviewBoxes, ...targets.flatMap((v) => layout.lines(selected, v)).flatMap(along)];
    const named = /** @type {any[]} */ ([]);
    const { radii, shown: [{ armies }] } = this;
    const own = radii.map((radius, v) => (choice.includes(v) ? radius : 0)); // marks without which there may be no room
    const held = radii.map((radius, v) => (armies[v] ? radius : own[v]));
    for (const v of [...targets, ...choice.slice(0, 1)]) {
      if (this.isWritten(v)) continue;
      const lead = svg("path", { class: "lead" });
      const foreign = this.landBeside(v);
      const others = this.landBeside(v, (w) => choice.includes(w));
      const label = (/** @type {number[]} */ uncovered, /** @type {any[]} */ avoided, farthest = Infinity) => this.badge(this.game.names[v], v, [layout.at[v], layout.at[v]],
        { room, lead, noted: named, taken: [...covered, ...named], hides: "data-tagged", radii: uncovered, foreign: avoided, farthest });
      const ways = /** @type {[number[], any[], number?][]} */ (v === selected ? [[held, others, MIN_LINE_DISTANCE]]
        : [[held, foreign, MAX_BADGE_DISTANCE], [held, others], [held, []], [own, []]]);
      const badge = ways.reduce((found, way) => (found?.hasChildNodes() ? found : label(...way)), /** @type {any} */ (null));
      this.tagName(v, lead, set(badge, { "data-risk": riskOf(this.moves.get(v)), "data-chosen": v === selected }));
    }
    return named;
  }

  // Return the boxes of the names of these territories on the map.
  boxesOf(territories) {
    return territories.flatMap((v) => this.placed[v]?.box ?? []);
  }

  // Remove badges, and show the names below them again.
  clearBadges(group, hides) {
    group.replaceChildren();
    for (const name of this.names) set(name, { [hides]: null });
  }

  // Show the result of a move: a ring after a battle, and "+1" on the territories that train, from left to right.
  clash(move, position, before) {
    if (isStill()) return;
    const { size, layout } = this;
    const at = (v, what) => svg("g", { transform: `translate(${layout.at[v].map((n) => n.toFixed(1)).join(" ")}) scale(${size.toFixed(2)})` }, what);
    const { what } = this.game.told(before, move);
    const rings = what === "won" || what === "lost" ? [at(move[1], svg("circle", { class: "clash", r: RADIUS + 3, "data-what": what }))] : [];
    const trained = size > MAX_SIZE_WITH_TEXT ? [] : position.armies.flatMap((n, v) => (n && v !== move[0] && Math.abs(n) < this.game.cap ? [v] : []));
    const taken = [...this.boxes, ...this.fought, ...this.figures(position)];
    const pluses = trained.sort((v, w) => layout.at[v][0] - layout.at[w][0]).flatMap((v) => {
      const side = this.freeSide(v, taken);
      return side ? [at(v, svg("text", { x: side * PLUS_DISTANCE, y: 1 - RADIUS, "data-owner": position.armies[v] > 0 ? "maxie" : "minnie" }, "+1"))] : [];
    });
    const length = Math.ceil(pluses.length / WAVES);
    const waves = Array.from({ length: WAVES }, (_, n) => svg("g", null, n ? [] : rings, pluses.slice(n * length, (n + 1) * length)));
    this.training.replaceChildren(...waves);
    const animations = waves.map((wave, n) => wave.animate(FADING, { duration: CLASH_MS, delay: n * WAVE_MS, fill: "both" }));
    animations[WAVES - 1].onfinish = () => waves[0].isConnected && this.training.replaceChildren(); // not the waves of the next move
  }

  // Return the boxes of the numbers of armies.
  figures({ armies }) {
    const { size, layout } = this;
    return layout.at.filter((_, v) => armies[v]).map(([x, y]) => box(x, y, FIGURE_WIDE * size, FIGURE_HIGH * size));
  }

  // Return on which side above a mark "+1" touches none of the `taken` boxes: 1 for the right, -1 for the left, undefined for none.
  freeSide(v, taken) {
    const { size, layout: { at: places } } = this;
    const [x, y] = places[v];
    return [1, -1].find((side) => {
      const covered = box(x + side * PLUS_DISTANCE * size, y - (RADIUS + 3) * size, PLUS_WIDTH * size, PLUS_HEIGHT * size);
      return !taken.some((each) => overlap(each, covered));
    });
  }

  words(v, n) {
    const owner = n > 0 ? "maxie" : "minnie";
    return `${this.game.names[v]}: ${n ? `${SIDES[owner]} ${Math.abs(n)}` : "empty"}`;
  }

  // Set the territories that can be chosen: `sources` and `targets` are sets, `selected` a number or null. null: none.
  mark(marks) {
    const before = this.marked?.selected ?? null;
    const isUnmarked = !marks && !this.marked;
    this.marked = marks;
    if (!this.spots || isUnmarked) return;
    const { selected = null, targets = [] } = marks ?? {};
    if (!marks || selected !== before) {
      this.tapped = [];
      this.offers.scrollTop = 0;
    }
    const choice = selected === null ? [] : [selected, ...targets];
    const { moves } = this;
    const risk = (/** @type {number} */ v) => riskOf(moves.get(v));
    const retakers = [...moves.values()].flatMap(({ threats }) => threats.slice(0, 1).map(({ from }) => from)); // the list names them
    const corners = (/** @type {number[]} */ each) => each.flatMap((v) => this.land.regions[v].corners);
    if (String(choice) !== String(this.choice)) this.zoom.choose(choice.map((v) => this.layout.middles[v]), corners(choice), { beyond: corners(retakers) });
    this.choice = choice;
    this.showPreview();
    set(this.picture, { role: marks ? "group" : "img", "data-choosing": selected !== null });
    this.spots.forEach(({ group }, v) => {
      const source = marks?.sources.has(v);
      const target = marks?.targets.has(v);
      const ahead = marks?.ahead;
      const premove = ahead?.cells.includes(v);
      const foretold = target && !ahead && marks.selected !== null ? `, ${this.game.foretell(this.shown[0], [marks.selected, v])}` : "";
      const said = () => `${this.words(v, this.shown?.[0].armies[v] ?? 0)}${target ? `, ${ahead ? "possible" : "legal"} target${foretold}` : ""}${marks?.selected === v ? ", chosen" : ""}${premove ? ", your next move" : ""}`;
      set(group, {
        "data-source": source && !ahead, "data-target": target && !ahead, "data-selected": marks?.selected === v,
        "data-ahead": target && Boolean(ahead), "data-premove": premove, "data-risk": risk(v),
        role: source || target ? "button" : null,
        // Tab goes through the sources, and then through the targets. A focused element keeps its focus when it can no longer be chosen.
        tabindex: target || (source && (selected === null || selected === v)) ? 0 : source || group === document.activeElement ? -1 : null,
        "aria-label": source || target ? said() : null,
      });
      this.land.mark(v, marks?.selected === v ? "selected" : target ? "target" : source ? "source" : null, risk(v));
      set(this.names[v], { "data-reach": target, "data-risk": risk(v) });
    });
    this.land.frameTargets(targets, risk);
    this.showOutcomes();
    this.showOffers();
  }

  // A finger covers several territories of a small map: choose the one that may be chosen there if no other one was pressed, and offer
  // them otherwise. Name a territory that may not be chosen. Ignore the second press of a double one, below which the map has moved.
  tap(event) {
    if (event.detail && this.zoom.isMoving(event.timeStamp)) {
      event.stopPropagation();
      return;
    }
    if (!this.isFinger || !this.spots || this.marked?.ahead?.cells.length) return; // any click cancels a premove
    const spot = event.target.closest(".spot");
    if (event.detail === 0 && spot?.matches("[role=button]")) return; // a screen reader presses what it has read
    const pressed = spot ? Number(spot.dataset.spot) : this.land.areas.indexOf(event.target);
    const near = this.marked ? this.near(event, pressed) : [];
    const isClear = near.length === 1 && (pressed < 0 || pressed === near[0]);
    this.tapped = isClear ? [] : near.filter((v) => v !== this.marked.selected);
    this.showOffers();
    this.point(pressed < 0 ? this.pointed : pressed, pressed >= 0 && !near.includes(pressed));
    if (!isClear && !(this.tapped.length && this.offers.offsetParent)) return; // a wide window has no offers
    event.stopPropagation();
    if (isClear) this.onSpot(near[0]);
    else this.offers.querySelector("button")?.focus({ preventScroll: true }); // a screen reader reads it
  }

  // Return the territories that may be chosen and are below a finger; none if it pressed the chosen territory, or another one to move from.
  near({ clientX, clientY }, pressed) {
    const { sources, targets, selected = null } = this.marked;
    if (selected !== null && sources.has(pressed) && !targets.has(pressed)) return [];
    const { left, top } = this.picture.getBoundingClientRect();
    const { layout: { at }, zoom: { scale } } = this;
    const choice = selected === null ? sources : new Set([selected, ...targets]);
    return this.order.filter((v) => choice.has(v) && (v === pressed || Math.hypot(left + at[v][0] * scale - clientX, top + at[v][1] * scale - clientY) < FINGER_PX));
  }

  // Return the moves from the chosen territory, by their targets, as weigh() has them; none where nothing is known of them, as of a premove.
  get moves() {
    const { selected = null, targets, ahead } = this.marked ?? {};
    return new Map(selected === null || ahead || !this.shown ? [] : [...targets].map((v) => [v, this.game.weigh(this.shown[0], [selected, v])]));
  }

  // Offer what the last tap may have meant; otherwise all targets of the chosen territory, the best first.
  showOffers() {
    const { selected = null, targets } = this.marked ?? {};
    const offered = this.tapped.length ? this.tapped : selected === null ? [] : this.order.filter((v) => targets.has(v));
    const armies = (v) => this.shown[0].armies[v];
    const { moves } = this;
    if (moves.size) offered.sort((v, w) => worth(moves.get(w)) - worth(moves.get(v)));
    const aside = (v) => ASIDES[moves.get(v)?.what] ?? "";
    const result = (v) => (moves.has(v) ? outcome(moves.get(v)) : String(Math.abs(armies(v)) || "empty"));
    const isFocused = () => this.offers.contains(document.activeElement);
    const wasFocused = isFocused();
    keyed(this.offers, offered, {
      key: (v) => v,
      words: (v) => JSON.stringify([armies(v), moves.get(v)]),
      make: (v) => h("button", { type: "button", "data-risk": riskOf(moves.get(v)), onclick: () => this.onSpot(v) },
        h("strong", { "data-owner": ownerOf(armies(v)) }, armies(v) ? h("span", { class: "shape" }) : null, this.game.names[v]),
        h("span", { class: "result" }, h("span", null, aside(v)), result(v)),
        moves.has(v) ? h("span", { class: "risk" }, riskWords(moves.get(v), this.game.names[v])) : null),
    });
    if (!wasFocused || isFocused()) return;
    const next = this.picture.querySelector("[data-selected]") ?? this.picture.querySelector("[data-target]") ?? this.zoom.place;
    next.focus({ preventScroll: true });
  }

  // Return an arrow from a territory to a target as an SVG path; empty where their marks leave no room for one.
  option(source, target) {
    const { size, markSize, layout } = this;
    const end = ((this.shown?.[0].armies[target] ? 1 : EMPTY_MARK_SIZE) * RADIUS + 3) * markSize;
    return layout.lines(source, target).map((line, n, { length }) => {
      const [from, to] = [n ? 0 : (RADIUS + 1) * markSize, n === length - 1 ? end : 0];
      const [[x1, y1], [x2, y2]] = line;
      return Math.hypot(x2 - x1, y2 - y1) < from + to + SHORTEST * size ? "" : arrow(line, from, to, size);
    }).join("");
  }

  // Draw an arrow to the target that is pointed at, from the strongest territory that could retake it.
  drawReply() {
    const [threat] = this.moves.get(this.pointed)?.threats ?? [];
    for (const each of this.replies) set(each, { d: threat ? this.option(threat.from, this.pointed) : null });
  }

  // Draw an arrow from the chosen territory to each target.
  drawOptions(selected, targets) {
    const { moves } = this;
    const drawn = selected === null ? [] : [...targets].map((v) => ({ d: this.option(selected, v), risk: riskOf(moves.get(v)) }));
    const all = (each) => each.map(({ d }) => d).join("") || null;
    set(this.optionGround, { d: all(drawn) });
    this.options.forEach((each, n) => set(each, { d: all(drawn.filter(({ risk }) => risk === RISKS[n])) }));
    this.drawReply();
  }

  // Show at each target how its battle would end, or how many armies would stand there, where that covers no mark and no other result;
  // not on a phone, whose list has them.
  showOutcomes() {
    const { selected = null, targets, ahead } = this.marked ?? {};
    const [from, to] = ahead?.cells ?? [];
    if (to === undefined) this.drawOptions(selected, targets);
    else this.drawOptions(from, [to]); // of a premove
    this.clearBadges(this.outcomes, "data-foretold");
    this.foretold = [];
    if (selected !== null && !ahead && this.shown && !this.zoom.isPhone) this.foretell(selected, targets);
    this.showTag();
  }

  // Write the result of each move inside the land of its target; as numbers alone if their words do not fit in all lands. What does not fit then lies as near as possible.
  foretell(selected, targets) {
    const inWords = this.placeResults(selected, targets, outcome);
    const placed = inWords.every(({ inside }) => inside) ? inWords : this.placeResults(selected, targets, (move) => outcome(move).replace(" after", ""));
    for (const { v, text, line, inside, taken } of placed) {
      const lead = svg("path", { class: "lead" });
      const options = { hides: "data-foretold", lead, taken: [...taken, ...this.foretold], noted: this.foretold };
      const badge = inside ? this.drawBadge(text, inside, options) : this.badge(text, v, line, options);
      this.outcomes.append(lead, set(badge, { "data-risk": riskOf(this.moves.get(v)) }));
    }
  }

  // Return for each target { v, text, line, inside, taken }: the text that `wordsOf` returns for its move; the line of the arrow to it; the box of the text inside its land,
  // beside its name or in the place of the name, if need be on the arrow or in smaller letters, null if it does not fit; and the boxes of the names nearby.
  placeResults(selected, targets, wordsOf) {
    const { size, radii, moves, layout: { at, lines } } = this;
    const marks = at.map(([x, y], w) => box(x, y, 2 * radii[w] * size, 2 * radii[w] * size));
    const found = /** @type {any[]} */ ([]);
    for (const v of targets) {
      const text = wordsOf(moves.get(v));
      const line = lines(selected, v).at(-1);
      const own = this.boxesOf([v]);
      const others = this.boxesOf([selected, ...[...targets].filter((w) => w !== v)]);
      const covered = [...marks, ...others, ...found.flatMap(({ inside }) => inside ?? [])];
      const place = (scale, /** @type {any[]} */ ...more) => placeInside(this.badgeSize(text, scale * size), at[v], this.land.regions[v], [...covered, ...more], BADGE_GAP * size);
      const inside = LABEL_SIZES.reduce((best, scale) => best ?? place(scale, ...along(line), ...own) ?? place(scale, ...along(line)) ?? place(scale), /** @type {any} */ (null));
      found.push({ v, text, line, inside, taken: [...others, ...own] });
    }
    return found;
  }

  // Describe the position in words, territory by territory.
  inWords(position) {
    return position.armies.flatMap((n, v) => (n ? [this.words(v, n)] : []));
  }
}
