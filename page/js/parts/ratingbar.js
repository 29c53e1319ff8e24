// A rating with its error bar: a point, and the interval of 95 %.

import { svg } from "../dom.js";

const MARGIN = 3; // of the width of a bar, in per cent

// The scale that all rows of a table share, from the lowest to the highest end of a bar.
export function ratingScale(rows) {
  const low = Math.min(...rows.map(({ middle, error }) => middle - error));
  const high = Math.max(...rows.map(({ middle, error }) => middle + error));
  const at = (n) => `${(MARGIN + ((n - low) / (high - low || 1)) * (100 - 2 * MARGIN)).toFixed(1)}%`;
  return { low, high, at };
}

export function ratingBar({ middle, error }, { at }) {
  const words = `${middle.toFixed(0)} plus or minus ${error.toFixed(0)}`;
  const [a, b] = [at(middle - error), at(middle + error)];
  return svg("svg", { class: "rating-bar", height: 20, role: "img", "aria-label": words },
    svg("line", { x1: a, x2: b, y1: 10, y2: 10 }), [a, b].map((x) => svg("line", { x1: x, x2: x, y1: 5, y2: 15 })),
    svg("circle", { cx: at(middle), cy: 10, r: 4.5 }));
}
