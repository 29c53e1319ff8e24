// Buttons that zoom a picture, on the picture itself: in a corner on the sea, or else on the edge, where they cover nothing that matters.

import { h, set } from "../dom.js";
import { overlap } from "./geometry.js";

const INSET_PX = 6; // pixels from the edge of the frame
const STEP_PX = 8; // pixels between two places on an edge that are tried
const EDGE_COST = 4; // cost of a place that is no corner; the corners cost 0 to 3
const SIDE_BY_SIDE_COST = 2; // cost of buttons side by side
const NAME_COST = 3; // cost of a name below the buttons
const LAND_COST = 6;
const MARK_COST = 100;
const RESTED_MS = 120; // from the last scrolling until the buttons may change their place

export class ZoomKeys {
  // `by(factor)` zooms; `marks()` and `names()` return boxes in the frame's pixels, `land()` a function that tells if land lies in a box.
  constructor(frame, by, marks, names, land) {
    this.frame = frame;
    this.marks = marks;
    this.names = names;
    this.land = land;
    this.at = /** @type {any} */ (null);
    this.resting = /** @type {number | undefined} */ (undefined);
    const button = (label, text, larger) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => by(larger) }, text);
    this.larger = button("Larger", "+", true);
    this.smaller = button("Smaller", "−", false);
    this.element = h("div", { class: "zoom-keys" }, this.larger, this.smaller);
    frame.addEventListener("scroll", () => {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.place(), RESTED_MS);
    }, { passive: true });
  }

  able(smaller, larger) {
    set(this.smaller, { disabled: !smaller });
    set(this.larger, { disabled: !larger });
  }

  // Move the buttons if they cover a mark or if the picture has changed.
  place(changed = false) {
    const { offsetWidth, offsetHeight } = this.larger;
    if (!offsetWidth) return;
    const [marks, names] = [this.marks(), this.names()];
    const cost = ({ covered, rank }) => {
      const on = (boxes) => boxes.filter((each) => overlap(each, covered)).length;
      return rank + MARK_COST * on(marks) + NAME_COST * on(names);
    };
    if (!changed && this.at && cost(this.at) < MARK_COST) return;
    const isLand = this.land();
    let least = Infinity;
    for (const each of places([this.frame.clientWidth, this.frame.clientHeight], offsetWidth, offsetHeight)) {
      const apart = cost(each);
      if (apart >= least) continue;
      const whole = apart + (isLand(each.covered) ? LAND_COST : 0);
      if (whole < least) [this.at, least] = [each, whole];
    }
    const { covered, upright } = this.at;
    set(this.element, { "data-upright": upright });
    this.element.style.left = `${covered.x1}px`;
    this.element.style.top = `${covered.y1}px`;
  }
}

// Return the places for two buttons in a frame, one above the other or side by side: in the corners, then along the edges.
function places(frame, width, height) {
  return [true, false].flatMap((upright) => {
    const size = upright ? [width, 2 * height] : [2 * width, height];
    const [right, bottom] = size.map((length, axis) => frame[axis] - length - INSET_PX);
    const corners = [[right, bottom], [right, INSET_PX], [INSET_PX, bottom], [INSET_PX, INSET_PX]];
    const upwards = steps(bottom).flatMap((y) => [[right, y], [INSET_PX, y]]);
    const across = steps(right).flatMap((x) => [[x, bottom], [x, INSET_PX]]);
    return [...corners, ...upwards, ...across].filter((corner) => Math.min(...corner) >= INSET_PX).map(([x, y], n) => ({
      covered: { x1: x, y1: y, x2: x + size[0], y2: y + size[1] }, upright, rank: Math.min(n, EDGE_COST) + (upright ? 0 : SIDE_BY_SIDE_COST),
    }));
  });
}

const steps = (length) => Array.from({ length: Math.max(0, Math.floor((length - INSET_PX) / STEP_PX)) }, (_, n) => length - STEP_PX * n);
