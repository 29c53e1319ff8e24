// The best bots of the game that is played most, and the standings of the running event.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h } from "../dom.js";
import { GAME_NAMES, botTitle, eventTitle, plural, whole } from "../text.js";

const MAX_ROWS = 5;
const MIN_MATCHES = 30; // minimum number of matches before a rating is shown

// Return the row of a bot: its rating, or the number of its matches if these are too few for a meaningful one.
const row = ({ bot, middle, error, matches }, n) => h("tr", null,
  h("td", null, n + 1),
  h("th", { scope: "row" }, h("a", { href: addressOf("bot", bot), title: bot }, botTitle(bot))),
  matches < MIN_MATCHES
    ? h("td", { class: "quiet", colspan: 2 }, plural(matches, "match", "matches"))
    : [h("td", null, whole(middle)), h("td", { class: "quiet" }, `± ${error.toFixed(0)}`)]);

const table = (caption, rows) => h("table", { class: "leaders" }, h("caption", null, caption), h("tbody", null, rows.map(row)));

// Return elements for these matches and ratings: the standings of the event with the most matches in progress, and the best bots.
export async function standingsNow(matches, rated) {
  const counts = new Map(rated.events.map(({ event }) => [event, 0]));
  for (const { event } of matches) if (counts.has(event)) counts.set(event, counts.get(event) + 1);
  const [event, live] = most(counts);
  return [live ? eventPanel(event, live, await fetchJson(`table?event=${encodeURIComponent(event)}`)) : null, leaders(rated)].filter(Boolean);
}

const most = (counts) => [...counts].sort((a, b) => b[1] - a[1])[0] ?? [null, 0];

function leaders({ standings }) {
  const counts = new Map();
  for (const { game, matches } of standings) counts.set(game, (counts.get(game) ?? 0) + matches);
  const [game] = most(counts);
  if (!game) return null;
  const best = standings.filter((each) => each.game === game).slice(0, MAX_ROWS)
    .map((each) => ({ ...each, middle: each.rating, error: 2 * each.deviation }));
  return h("section", { class: "panel" }, h("h2", null, "Leaders"), table(`${GAME_NAMES[game] ?? game} ratings, ± 95 % error`, best),
    h("a", { href: "/table" }, "All ratings"));
}

function eventPanel(event, live, { rows, counted }) {
  const best = rows.slice(0, MAX_ROWS).map((each) => ({ ...each, matches: each.games, middle: each.elo, error: each.elo_error }));
  return h("section", { class: "panel" }, h("h2", null, `Now: ${eventTitle(event)}`),
    best.length
      ? table(`Elo, ± 95 % error, after ${plural(counted, "match", "matches")}; ${live} live`, best)
      : h("p", { class: "quiet" }, `No match has finished yet; ${live} live.`),
    h("a", { href: addressOf("event", event) }, "Open the event"));
}
