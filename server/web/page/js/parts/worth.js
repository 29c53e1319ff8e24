// What values mean.

const WON = 990000; // from here on a value says who wins
const SOFT = 300; // hundredths of an army up to which the scale is about linear
const FULL = Math.asinh(10000 / SOFT);

// A value for Maxie on a scale from -1 to 1 that keeps small differences apart and large ones on the picture.
export const worth = (value) => Math.max(-1, Math.min(1, Math.asinh(value / SOFT) / FULL));

// Some values to write beside that scale, in hundredths of an army.
export const TICKS = [5000, 1000, 0, -1000, -5000];

export function armies(value) {
  const n = value / 100;
  return `${n > 0 ? "+" : n < 0 ? "−" : ""}${Math.abs(n)}`;
}

export function value(n) {
  if (Math.abs(n) >= WON) return n > 0 ? "Maxie wins" : "Minnie wins";
  return `${n > 0 ? "+" : ""}${Number.isInteger(n) ? n : n.toFixed(1)}`;
}
