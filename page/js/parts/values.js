// Meaning of values: chances of winning if a curve was fitted to matches, otherwise the game's own unit, in hundredths.

import { SIDES, signed } from "../text.js";

const MIN_CERTAIN_VALUE = 990000; // values beyond this are certain wins

// Steepness of the curve on a map: 1 / (1 + e^(-k v / G)) is Maxie's chance of winning, a draw counted as half, where a bot's
// value is v armies and G armies win. docs/page.md describes how k was fitted.
const STEEP = { italy: 14.5, m2: 2.3, poland: 10.8, usa: 21.9, world: 23.8 };
const DEFAULT_STEEPNESS = 16.7; // of italy, poland, usa and world together

// The chance that Maxie wins, from a value in hundredths of an army.
export const chance = (value, { map, armies_to_win: goal }) =>
  1 / (1 + Math.exp((-(Object.hasOwn(STEEP, map ?? "") ? STEEP[map] : DEFAULT_STEEPNESS) * value) / 100 / goal));

export const percent = (share) => `${Math.round(100 * share)} %`;

// Who is more likely to win by a value, and how likely, as in "Blue wins 63 %"; empty where no curve was fitted.
export function winChances(value, setup) {
  if (!setup.armies_to_win || Math.abs(value) >= MIN_CERTAIN_VALUE) return "";
  const share = chance(value, setup);
  return share >= 0.5 ? `${SIDES.maxie} wins ${percent(share)}` : `${SIDES.minnie} wins ${percent(1 - share)}`;
}

export function valueText(n) {
  if (Math.abs(n) >= MIN_CERTAIN_VALUE) return `${n > 0 ? SIDES.maxie : SIDES.minnie} wins`;
  return signed(Number.isInteger(n) ? n : n.toFixed(1));
}
