// A picture larger than its frame: zoomed by buttons, by two fingers, by two taps and by Ctrl with the wheel, moved by scrolling or
// dragging.

import { h, set, svg } from "../dom.js";
import { isStill } from "../preferences.js";

const ZOOM_STEP = 1.35;
const MAX_SCALE = 6;
const MAX_INITIAL_SCALE = 1.8; // initial scale of a picture that can be zoomed
const MIN_HEIGHT_PX = 160; // least height of the frame
const MIN_UNCUT_SHARE = 0.75; // of the least scale: a picture that fits whole at this scale is not cut, in a window wider than a tablet's
const MIN_SHARE_WITH_MARKS = 0.9; // of the least scale: below it marks and names would cover a phone's map
const LAND_MARGIN = 8; // pixels between the land of a choice and the edge
const FINGER_PX = 44; // between two points that a finger can tell apart
const MIN_FINGER_PX = 32; // the same on the whole picture, which is not given up for a little more
const MARGIN = 40; // pixels between a point and the edge, for the point to be visible
const TAP_SHARE = 2.4; // of the least scale, to which two taps zoom in: two territories are then at least 76 pixels apart, and their names are large
const MAX_FOLLOW_SHARE = 1.7; // of the least scale, to which moves that are followed zoom in
const MIN_FOLLOW_GAIN = 1.35; // of the scale of the whole picture, below which moves that are followed are not worth a part of it
const CORNERS = ["right top", "left bottom", "right bottom", "left top"]; // of the frame, where the overview may be, the best first
const MARK_PX = 12; // from the middle of a place to the edge of its mark
const OVERVIEW_GAP = 8; // pixels from there to the edge, as in the style
const GLIDE_MS = 250;
const SETTLE_MS = 400; // from a movement of the picture until a press is meant for what is there now
const REST_MS = 120; // without a change by the wheel or by fingers, after which their gesture is over
const DRAG_PX = 5; // a shorter movement is a click

// Unlike matchMedia(), `innerWidth` would lay out the page anew.
const TABLET = matchMedia("(max-width: 832px)"); // a window that is used with a finger
const HANDHELD = matchMedia("(max-width: 960px)"); // the same, with phones on their side
const PHONE = matchMedia("(max-width: 36rem), (max-width: 60rem) and (max-height: 30rem)"); // a phone's window

export class Zoom {
  // least: pixels per unit from which on territories are easily clicked, the first step of zooming; 0 for a picture that cannot be zoomed. scaled(pixels per unit) is called after each change,
  // and resized(), which fits the picture, when the frame has another size.
  constructor(picture, size, least, { scaled, resized }) {
    this.picture = picture;
    this.size = size;
    this.least = least;
    this.scaled = scaled;
    this.factor = /** @type {number | null} */ (null); // pixels per unit chosen by the reader, 0 for the whole picture; null: see ownScale()
    this.near = /** @type {number[][]} */ ([]); // points around the land of a choice on which the picture is zoomed in
    this.points = /** @type {number[][]} */ ([]); // of a choice
    this.places = /** @type {number[][]} */ ([]); // of all marks
    this.enough = Infinity; // scale at which a finger can tell them apart
    this.follows = false; // what the picture is zoomed in on are the latest moves
    this.movedAt = -Infinity; // time at which the picture began to move by itself
    this.decidedAt = -Infinity; // time at which the last choice was over
    this.resting = /** @type {number | undefined} */ (undefined); // timer of the end of a gesture that zooms
    this.scale = 0;
    this.height = 0; // of the frame
    this.sought = /** @type {number[][]} */ ([]); // points revealed last, or to reveal when the picture has a size
    this.isDragged = false; // the reader has moved the picture since points were revealed last
    this.revealed = false; // true once points were revealed at this scale: from then on the picture glides
    this.drawn = null; // size of the last drawn picture
    this.place = h("div", least ? { class: "zoomed", tabindex: 0, role: "region", "aria-label": "Board" } : { class: "whole" }, picture);
    const button = (label, text, larger) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.step(larger) }, text);
    this.smaller = button("Zoom out", "−", false);
    this.larger = button("Zoom in", "+", true);
    this.keys = least ? h("div", { class: "zoom-keys" }, this.smaller, this.larger) : null;
    this.land = svg("use"); // of the picture, in the overview of it
    this.sight = svg("rect"); // the part of it in sight
    this.overview = svg("svg", { "aria-hidden": "true" }, this.land, this.sight);
    this.back = least ? h("button", { type: "button", class: "whole-map", "aria-label": "Whole map", title: "Whole map", hidden: true, onclick: () => this.showWhole() }, this.overview) : null;
    this.again = least ? h("button", { type: "button", class: "small follow-moves", hidden: true, onclick: () => this.glide(this.near, null) }, "Follow the moves") : null;
    this.element = h("div", { class: "zoom" }, this.place, this.keys, this.back, this.again);
    new ResizeObserver(() => resized()).observe(this.place);
    if (!least) return;
    this.place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? 1.15 : 1 / 1.15, event);
    }, { passive: false });
    this.place.addEventListener("dblclick", (event) => this.tapTwice(event));
    this.place.addEventListener("pointerdown", (event) => this.drag(event));
    this.place.addEventListener("touchstart", (event) => this.pinch(event), { passive: true });
    this.place.addEventListener("touchmove", () => { this.isDragged = true; }, { passive: true });
    this.place.addEventListener("scroll", () => this.showSight(true), { passive: true });
  }

  // Return the least scale at which a whole picture is not cut.
  get tight() {
    return this.least * MIN_UNCUT_SHARE;
  }

  // Return true if the picture cannot be zoomed, or if its territories are so small that marks and names would cover them.
  get isDistant() {
    return !this.least || this.scale < (TABLET.matches ? MIN_SHARE_WITH_MARKS * this.least : 0.999 * this.tight);
  }

  // Return true if names would have no room on the whole picture of a phone.
  get isCrowded() {
    return this.isPhone && this.whole < MIN_SHARE_WITH_MARKS * this.least;
  }

  // Return the maximum height of the frame: what is below it stays in sight, unless a picture on a laptop would be cut for that alone.
  get room() {
    const { place, size, tight } = this;
    if (!this.least) return place.clientHeight; // as set by the style
    const table = place.closest(".table-top");
    // A board that stays in sight while its page is scrolled has moved down this far.
    const moved = table && getComputedStyle(table).position === "sticky" ? table.getBoundingClientRect().top - table.parentElement.getBoundingClientRect().top : 0;
    const top = place.getBoundingClientRect().top + window.scrollY - moved;
    const below = parseFloat(getComputedStyle(place).getPropertyValue("--below"));
    const lowest = !TABLET.matches && place.clientWidth >= size[0] * tight ? size[1] * tight : 0;
    return Math.max(MIN_HEIGHT_PX, lowest, window.innerHeight - top - below);
  }

  // Return true if the frame is as high as its room, by the style. Otherwise it is as high as the picture.
  get fills() {
    return getComputedStyle(this.place).getPropertyValue("--fill").trim() === "room";
  }

  // Return the scale at which the whole picture is visible.
  get whole() {
    return Math.min(this.place.clientWidth / this.size[0], this.room / this.size[1], this.least ? MAX_INITIAL_SCALE : Infinity);
  }

  // Return true if the whole picture is visible.
  get isWhole() {
    return this.scale <= this.whole * 1.001;
  }

  // Return the width of the frame to the left and to the right of the picture, in units.
  get beside() {
    return Math.max(0, this.place.clientWidth / this.scale - this.size[0]) / 2;
  }

  // Handle a new size of the picture, and new places of its marks.
  resize(size, places) {
    this.size = size;
    this.places = places;
    set(this.overview, { viewBox: `0 0 ${size.map((each) => each.toFixed(1)).join(" ")}` });
    this.fit();
  }

  fit() {
    const { room } = this;
    if (!this.place.clientWidth || !room) return;
    const { whole } = this;
    const height = Math.ceil(this.fills ? room : Math.min(room, this.size[1] * Math.max(whole, this.factor ?? whole))) + 2;
    const scale = Math.max(whole, Math.min(this.factor ?? this.ownScale(height), MAX_SCALE));
    set(this.smaller, { disabled: scale <= whole * 1.001 });
    set(this.larger, { disabled: scale >= MAX_SCALE });
    if (Math.abs(scale - this.scale) < 0.001 && height === this.height && this.drawn === this.size) return;
    this.drawn = this.size;
    this.scale = scale;
    this.height = height;
    if (this.least) {
      set(this.back, { hidden: this.isWhole });
      set(this.again, { hidden: !(this.isWhole && this.isPhone && this.follows && this.factor === 0) });
      this.place.style.height = `${height}px`;
      this.picture.style.width = `${(this.size[0] * scale).toFixed(1)}px`;
      this.picture.style.height = `${(this.size[1] * scale).toFixed(1)}px`;
    }
    this.scaled(scale);
    if (!this.revealed || (this.isZoomedIn && !this.isDragged)) this.reveal(this.sought);
    this.showSight();
  }

  // Mark the part in sight on the overview. Move the overview to a corner where it covers nothing of a choice and the fewest places, or hide it
  // if there is none. `stays`: it leaves its corner only for a choice, while the picture is moved below it.
  showSight(stays = false) {
    const { place, back, scale, near, points, places, corner } = this;
    if (!back || back.hidden) return;
    const size = [place.clientWidth, place.clientHeight];
    const [x, y] = corner.map((start) => Math.max(0, -start) / scale);
    const [width, height] = size.map((length, axis) => Math.min(length / scale, this.size[axis]));
    set(this.sight, { x: x.toFixed(1), y: y.toFixed(1), width: width.toFixed(1), height: height.toFixed(1) });
    const own = [back.offsetWidth + 2 * OVERVIEW_GAP, back.offsetHeight + 2 * OVERVIEW_GAP];
    const covered = (name, each, gap) => each.filter((point) => point.every((at, axis) => {
      const offset = at * scale + corner[axis];
      return name.includes(["left", "top"][axis]) ? offset > -gap && offset < own[axis] + gap : offset > size[axis] - own[axis] - gap && offset < size[axis] + gap;
    })).length;
    const names = [...new Set([back.dataset.corner ?? CORNERS[0], ...CORNERS])].filter((name) => name !== "left bottom" || this.hidesKeys);
    const free = names.filter((name) => !covered(name, points, FINGER_PX / 2));
    const cost = (name) => covered(name, near, 0) + covered(name, places, MARK_PX);
    if (!stays) free.sort((a, b) => cost(a) - cost(b));
    set(back, { "data-corner": free[0] ?? names[0], "data-covers": !free.length });
  }

  // Let a point of the picture be in the middle of the frame, as far as the picture reaches.
  centre(/** @type {number[]} */ [x, y]) {
    const { place, scale } = this;
    place.scrollTo(x * scale - place.clientWidth / 2, y * scale - place.clientHeight / 2);
  }

  get isHandheld() {
    return Boolean(this.least) && HANDHELD.matches;
  }

  // Return true if the picture zooms in on its choice: on the whole picture, a finger could not tell the points apart.
  get zoomsIn() {
    return this.near.length > 0 && this.isHandheld && (this.follows || this.whole < (this.enough * MIN_FINGER_PX) / FINGER_PX);
  }

  get isPhone() {
    return Boolean(this.least) && PHONE.matches;
  }

  // Return true if the land of a choice fills the frame.
  get isZoomedIn() {
    return this.zoomsIn && this.factor === null;
  }

  // Return the scale at which a frame of this height shows a choice, if the picture zooms in on it: no larger than a finger needs. 0 for the
  // whole picture.
  ownScale(height) {
    if (!this.zoomsIn) return 0;
    return Math.min(this.scaleFor(this.near, height), this.follows ? MAX_FOLLOW_SHARE * this.least : this.enough);
  }

  // Return the scale at which these points fill a frame of this height.
  scaleFor(near, height) {
    const { place: { clientWidth: width } } = this;
    const [wide, high] = spans(near).map(([least, most]) => most - least);
    return Math.min((width - 2 * LAND_MARGIN - 2) / wide, (height - 2 * LAND_MARGIN - 2) / high);
  }

  // On a phone, zoom in on the latest moves when the last one leaves the frame. `ways`: corners of the land of the latest moves, from one to the next of fewer,
  // of which the first is shown that is small enough for a part of the picture; the whole picture if none is. What the reader has chosen stays.
  follow(ways) {
    const { place, scale, whole } = this;
    if (!scale || (this.near.length && !this.follows)) return;
    if (!ways.length) {
      if (this.follows) this.glide([], null);
      this.follows = false;
      return;
    }
    const size = [place.clientWidth, place.clientHeight];
    const { corner } = this;
    const isInside = ways.at(-1).every((point) => point.every((at, axis) => at * scale + corner[axis] > 0 && at * scale + corner[axis] < size[axis]));
    if (this.follows && this.factor === null && isInside) return;
    const gain = (corners) => Math.min(...spans(corners).map(([least, most], axis) => (size[axis] - 2 * LAND_MARGIN) / (most - least)), MAX_FOLLOW_SHARE * this.least) / whole;
    const near = ways.find((corners) => gain(corners) >= MIN_FOLLOW_GAIN) ?? [];
    if (this.factor !== null) {
      if (this.follows && near.length) this.near = near;
      return;
    }
    this.points = [];
    if (!near.length && !this.near.length) return;
    this.follows = near.length > 0;
    this.glide(near, null);
  }

  // Show the points of a choice and, where a finger could not tell them apart, zoom in on its land, which has these corners; without points,
  // back to the whole picture. `beyond`: corners of what is also worth seeing, if there is room. `enough`: the scale that a finger needs.
  // A scale that the reader has chosen before stays.
  choose(points, corners, { beyond = /** @type {number[][]} */ ([]), enough = FINGER_PX / leastDistance(points) } = {}) {
    const land = [...points, ...corners];
    const all = [...land, ...beyond];
    const near = this.scaleFor(all, this.height) < enough ? land : all;
    if (this.follows && this.factor === 0) this.factor = null;
    this.follows = false;
    const isSame = this.near.length > 0 && points[0] === this.near[0];
    if (this.points.length && !points.length) this.decidedAt = performance.now();
    this.points = points;
    this.enough = enough;
    if (!this.isHandheld && this.factor) this.near = near;
    else if (this.near.length || !this.factor) this.glide(near, isSame ? this.factor : null);
    if (points.length) this.reveal(points);
  }

  // Let the picture move to the land of a choice, or to another scale.
  glide(near, factor) {
    const { place, picture } = this;
    const before = picture.getBoundingClientRect();
    for (const each of picture.getAnimations()) each.cancel();
    const { corner: [x, y] } = this;
    const centre = [place.clientWidth / 2 - x, place.clientHeight / 2 - y].map((each) => each / this.scale);
    this.near = near;
    this.factor = factor;
    this.fit();
    // Without a choice, the middle of what was in sight stays there.
    this.centre(near.length ? middleOf(near) : centre);
    if (!near.length) {
      this.revealed = false; // at once: the glide shows the way
      this.reveal(this.sought);
    }
    this.showSight();
    const now = picture.getBoundingClientRect();
    if (now.left === before.left && now.top === before.top && now.width === before.width) return;
    this.movedAt = performance.now();
    if (isStill()) return;
    const transform = `translate(${before.left - now.left}px, ${before.top - now.top}px) scale(${before.width / now.width})`;
    picture.animate([{ transformOrigin: "0 0", transform }, { transformOrigin: "0 0", transform: "none" }], { duration: GLIDE_MS, easing: "ease-out" });
  }

  // Return true if a press at this time may be meant for what was there before the picture moved.
  isMoving(time) {
    return time < this.movedAt + SETTLE_MS;
  }

  // Handle another room for the frame. A picture that the reader has moved stays there.
  refit() {
    const { scale } = this;
    this.fit();
    if (HANDHELD.matches && this.scale !== scale) this.movedAt = performance.now(); // a phone's address bar came or went below the finger
    if (!this.isDragged) this.reveal(this.sought);
  }

  // Return where the picture begins in the frame. While it glides there, it is seen elsewhere.
  get corner() {
    const { place, scale, size: [width, height] } = this;
    return [[place.clientWidth, width, place.scrollLeft], [place.clientHeight, height, place.scrollTop]]
      .map(([length, extent, scrolled]) => Math.max(0, (length - extent * scale) / 2) - scrolled);
  }

  // Return the part of the picture in sight as a box.
  get sightBox() {
    const { place, scale, corner: [left, top] } = this;
    return { x1: -left / scale, y1: -top / scale, x2: (place.clientWidth - left) / scale, y2: (place.clientHeight - top) / scale };
  }

  // Return the parts of the picture that the overview covers, as boxes: one or none.
  get overviewBoxes() {
    const { back, scale } = this;
    if (!back || back.hidden || back.matches("[data-covers]")) return [];
    const { x1, x2, y1, y2 } = this.sightBox;
    const { corner = "" } = back.dataset;
    const [width, height] = [back.offsetWidth, back.offsetHeight].map((length) => (length + OVERVIEW_GAP) / scale);
    return [{
      x1: corner.includes("left") ? x1 : x2 - width, x2: corner.includes("left") ? x1 + width : x2,
      y1: corner.includes("top") ? y1 : y2 - height, y2: corner.includes("top") ? y1 + height : y2,
    }];
  }

  // Zoom by a button. Between the whole picture and the least scale there is no step, and between the whole picture and a choice there is one.
  step(larger) {
    if (this.zoomsIn && (!larger || this.factor === 0)) {
      this.glide(this.near, larger ? null : 0);
      return;
    }
    const next = this.scale * (larger ? ZOOM_STEP : 1 / ZOOM_STEP);
    this.by((next >= this.least ? next : larger ? this.least : this.whole) / this.scale);
  }

  showWhole() {
    if (this.zoomsIn) this.glide(this.near, 0);
    else this.by(this.whole / this.scale);
    this.place.focus({ preventScroll: true }); // the button is hidden
  }

  // Return true if the style hides the buttons until the keyboard is on them.
  get hidesKeys() {
    return getComputedStyle(this.keys).clipPath !== "none";
  }

  // Zoom in on a point that is tapped twice, or back to the whole picture. While a territory is chosen, two taps do nothing, and so do two of which
  // the first has played a move.
  tapTwice(event) {
    if (!this.hidesKeys || (this.near.length && !this.follows) || this.isMoving(event.timeStamp) || event.timeStamp < this.decidedAt + SETTLE_MS) return;
    this.by((this.isWhole ? TAP_SHARE * this.least : this.whole) / this.scale, event);
  }

  // Zoom around the centre of the visible part, or around the pointer.
  by(factor, pointer) {
    const { place } = this;
    const box = place.getBoundingClientRect();
    const x = pointer ? pointer.clientX - box.left : place.clientWidth / 2;
    const y = pointer ? pointer.clientY - box.top : place.clientHeight / 2;
    const { corner: [left, top], scale: before } = this;
    clearTimeout(this.resting);
    this.resting = pointer && setTimeout(() => {
      this.resting = undefined;
      this.scaled(this.scale);
    }, REST_MS);
    const scale = Math.min(MAX_SCALE, this.scale * factor);
    this.factor = scale > this.whole * 1.001 ? scale : 0;
    this.fit();
    place.scrollLeft = ((x - left) * this.scale) / before - x;
    place.scrollTop = ((y - top) * this.scale) / before - y;
  }

  // Scroll until the first of these points of the picture and most of the others are visible; as soon as it has a size, if it has
  // none yet.
  reveal(points) {
    const { place, scale } = this;
    this.sought = points;
    this.isDragged = false;
    if (!scale || !this.least || !points.length) return;
    if (this.isZoomedIn) {
      this.centre(middleOf(this.near));
      return;
    }
    const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = place;
    const spans = [[clientWidth, scrollWidth], [clientHeight, scrollHeight]];
    const shows = (offset, point) => spans.every(([length], axis) => inside(point[axis] * scale, offset[axis], length));
    const worth = (offset) => points.reduce((sum, point, n) => sum + (shows(offset, point) ? (n ? 1 : points.length) : 0), 0);
    const here = [scrollLeft, scrollTop];
    const all = spans.map(([length, whole], axis) => holding(points.map((point) => point[axis] * scale), here[axis], length, whole));
    const around = points.map((point) => spans.map(([length, whole], axis) => holding([point[axis] * scale], here[axis], length, whole, true)));
    const [left, top] = [all, ...around].reduce((a, b) => (worth(b) > worth(a) ? b : a), here);
    if (left !== scrollLeft || top !== scrollTop) {
      place.scrollTo({ left, top, behavior: this.revealed && !isStill() ? "smooth" : "auto" });
      this.movedAt = performance.now();
    }
    this.revealed = true;
  }

  // Zoom with two fingers: the point between them stays in place.
  pinch({ touches }) {
    if (touches.length !== 2) return;
    let before = apart(touches);
    const move = (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      const now = apart(event.touches);
      const [a, b] = event.touches;
      this.by(now / before, { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
      before = now;
    };
    this.place.addEventListener("touchmove", move, { passive: false });
    const up = () => {
      this.place.removeEventListener("touchmove", move);
      for (const type of ["touchend", "touchcancel"]) this.place.removeEventListener(type, up);
    };
    for (const type of ["touchend", "touchcancel"]) this.place.addEventListener(type, up);
  }

  drag(down) {
    if (down.pointerType !== "mouse" || down.button) return;
    const { place } = this;
    const [left, top] = [place.scrollLeft, place.scrollTop];
    let moved = false;
    const move = (event) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      moved ||= Math.hypot(x, y) > DRAG_PX;
      if (!moved) return;
      this.isDragged = true;
      place.scrollTo(left - x, top - y);
    };
    const up = () => {
      window.removeEventListener("pointermove", move);
      if (!moved) return;
      // The click at the end of a drag selects nothing. It comes at once, or never where the drag has ended beside the board.
      const swallow = (/** @type {Event} */ event) => event.stopPropagation();
      place.addEventListener("click", swallow, { capture: true });
      setTimeout(() => place.removeEventListener("click", swallow, { capture: true }));
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up, { once: true });
  }
}

// Return the least and the greatest number of the points on each axis.
export const spans = (points) => [0, 1].map((axis) => points.map((point) => point[axis])).map((numbers) => [Math.min(...numbers), Math.max(...numbers)]);

// Return the distance of the two nearest points.
const leastDistance = (points) => Math.min(...points.flatMap(([x, y], n) => points.slice(n + 1).map(([a, b]) => Math.hypot(x - a, y - b))));

const middleOf = (points) => spans(points).map(([least, most]) => (least + most) / 2);

const inside = (at, start, length) => at > start + MARGIN && at < start + length - MARGIN;

// Return the offset nearest to `start` at which a frame of this length holds all the numbers; with `centred`, a moved frame has them in
// its middle.
function holding(numbers, start, length, whole, centred = false) {
  if (numbers.every((at) => inside(at, start, length))) return start;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const least = high + 2 * MARGIN - length;
  const most = low - 2 * MARGIN;
  const offset = centred || least > most ? (low + high - length) / 2 : Math.max(least, Math.min(start, most));
  return Math.max(0, Math.min(offset, whole - length));
}

const apart = (/** @type {TouchList} */ [a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
