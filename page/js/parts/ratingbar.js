// A rating with its error bar: a point, and the interval of 95 %.

import { svg } from "../dom.js";

const WIDTH = 160;

// The scale that all rows of a table share.
export function ratingScale(rows) {
  const low = Math.min(...rows.map(({ middle, error }) => middle - error));
  const high = Math.max(...rows.map(({ middle, error }) => middle + error));
  return (n) => 6 + ((n - low) / (high - low || 1)) * (WIDTH - 12);
}

export function ratingBar({ middle, error }, at) {
  const words = `${middle.toFixed(0)} plus or minus ${error.toFixed(0)}`;
  const [a, b] = [at(middle - error), at(middle + error)];
  return svg("svg", { class: "rating-bar", viewBox: `0 0 ${WIDTH} 20`, width: WIDTH, height: 20, role: "img", "aria-label": words },
    svg("path", { d: `M${a.toFixed(1)} 10H${b.toFixed(1)}M${a.toFixed(1)} 5v10M${b.toFixed(1)} 5v10` }),
    svg("circle", { cx: at(middle).toFixed(1), cy: 10, r: 4.5 }));
}
