// Animation of a move: armies travel from its source to its target, before the target shows the result.

import { svg } from "../dom.js";
import { preferences, isStill } from "../preferences.js";

const MAX_MS = 380;
const MIN_MS = 120; // shorter animations are invisible
const MAX_TIME_SHARE = 0.65; // of the time from one move to the next

// Return the duration of an animation if the last move was drawn `sinceLast` ms ago: shorter for faster moves, 0 for none.
export function travelTime(sinceLast) {
  if (isStill() || document.hidden) return 0;
  const ms = Math.min(MAX_MS / preferences().pace, MAX_TIME_SHARE * sinceLast);
  return ms < MIN_MS ? 0 : ms;
}

export class MoveAnimation {
  constructor() {
    this.element = svg("g", { class: "march", "aria-hidden": "true" });
    this.over = null;
  }

  // Move `mark`, drawn around 0 0, along the straight parts of a path for so many ms; then call `arrived`.
  go(mark, parts, ms, arrived) {
    this.stop();
    const points = parts.flat();
    const steps = points.map(([x, y], n) => ({
      transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`,
      // On a map that wraps around, the path leaves it on one side and enters it on the other at the same moment.
      offset: points.length === 2 ? n : [0, 0.5, 0.5, 1][n],
    }));
    this.element.replaceChildren(mark);
    this.over = arrived;
    this.animation = mark.animate(steps, { duration: ms, easing: parts.length === 1 ? "ease-in-out" : "linear", fill: "forwards" });
    this.animation.onfinish = () => this.stop();
  }

  // Jump to the end.
  stop() {
    const { over, animation } = this;
    this.over = null;
    this.animation = null;
    animation?.cancel();
    this.element.replaceChildren();
    over?.();
  }
}
