// Armies on their way: from one move's source to its target, before the target shows what came of it.

import { svg } from "../dom.js";
import { comfort, isStill } from "../comfort.js";

const LONGEST_MS = 240;
const SHORTEST_MS = 60; // below that nobody sees anything
const SHARE = 0.6; // of the time from one move to the next

// How long armies travel where the last move was drawn so many ms ago: less the faster the moves come, 0 for not at all.
export function travelTime(sinceLast) {
  if (isStill() || document.hidden) return 0;
  const ms = Math.min(LONGEST_MS / comfort().pace, SHARE * sinceLast);
  return ms < SHORTEST_MS ? 0 : ms;
}

export class March {
  constructor() {
    this.element = svg("g", { class: "march", "aria-hidden": "true" });
    this.over = null;
  }

  // Send `mark`, drawn around 0 0, along straight parts of a way for so many ms; then call `arrived`.
  go(mark, parts, ms, arrived) {
    this.stop();
    const points = parts.flat();
    const steps = points.map(([x, y], n) => ({
      transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`,
      // Where the map goes round, the way leaves it on one side and enters it on the other at the same moment.
      offset: points.length === 2 ? n : [0, 0.5, 0.5, 1][n],
    }));
    this.element.replaceChildren(mark);
    this.over = arrived;
    this.animation = mark.animate(steps, { duration: ms, easing: parts.length === 1 ? "ease-in-out" : "linear", fill: "forwards" });
    this.animation.onfinish = () => this.stop();
  }

  // Be there at once.
  stop() {
    const { over, animation } = this;
    this.over = null;
    this.animation = null;
    animation?.cancel();
    this.element.replaceChildren();
    over?.();
  }
}
