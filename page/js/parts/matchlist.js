// Lists of matches: one link each, with the players and the state.

import { addressOf } from "../router.js";
import { h, parts } from "../dom.js";
import { OPEN_POOL, SIDES, botTitle, day, gameTitle, other, plural, result as inWords, when } from "../text.js";

export const matchLink = (match) => addressOf("match", match);

// `loser`: the seat that has lost, if one has.
export const against = (players, loser = "") => h("span", { class: "pairing" },
  h("span", { class: "side-name", "data-owner": "maxie", "data-lost": loser === "maxie" }, h("span", { class: "shape", role: "img", "aria-label": `${SIDES.maxie}:` }), botTitle(players.maxie)),
  h("span", { class: "side-name", "data-owner": "minnie", "data-lost": loser === "minnie" }, h("span", { class: "versus" }, "v"), h("span", { class: "shape", role: "img", "aria-label": `${SIDES.minnie}:` }), botTitle(players.minnie)));

// A finished match, with its event unless it is the open pool; `event` is empty on the page of the event. To reach the goal is the usual end, of which the score tells enough.
export function pastItem({ match, event, game, map, players, finished, plies, result }) {
  const titles = Object.fromEntries(Object.entries(players).map(([seat, name]) => [seat, botTitle(name)]));
  return h("li", null, h("a", { class: "card", href: addressOf("match", match) },
    against(players, result.winner && other(result.winner)),
    h("span", { class: "outcome", "data-usual": result.reason === "armies" }, result.reason === "armies" ? `${titles[result.winner]} won` : inWords(result, titles, "won")),
    parts([event === OPEN_POOL ? "" : event, gameTitle(game, map), plural(plies, "move"), when(finished)].filter(Boolean), "quiet")));
}

// Finished matches, newest first, under the days of their ends.
export function byDay(matches) {
  const days = new Map();
  for (const each of matches) days.set(day(each.finished), [...(days.get(day(each.finished)) ?? []), each]);
  return [...days].flatMap(([title, found]) => [h("h3", null, title), h("ul", { class: "cards" }, found.map(pastItem))]);
}
