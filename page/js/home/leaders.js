// Who leads: the best bots of the game that is played most, and the standings of the event that is going on.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { GAME_NAMES, plural, whole } from "../text.js";

const MOST = 5;

const row = ({ bot, middle, error }, n) => h("tr", null,
  h("td", null, n + 1),
  h("th", { scope: "row" }, h("a", { href: to("bot", bot) }, bot)),
  h("td", null, whole(middle)), h("td", { class: "quiet" }, `± ${error.toFixed(0)}`));

const table = (caption, rows) => h("table", { class: "leaders" }, h("caption", null, caption), h("tbody", null, rows.map(row)));

// What there is to show now, as elements: the standings of the event of which most matches are in progress, and the best bots.
export async function standingsNow(matches) {
  const rated = await ask("table");
  const counts = new Map(rated.events.map(({ event }) => [event, 0]));
  for (const { event } of matches) if (counts.has(event)) counts.set(event, counts.get(event) + 1);
  const [event, live] = most(counts);
  return [live ? eventPanel(event, live, await ask(`table?event=${encodeURIComponent(event)}`)) : null, leaders(rated)].filter(Boolean);
}

const most = (counts) => [...counts].sort((a, b) => b[1] - a[1])[0] ?? [null, 0];

function leaders({ standings }) {
  const counts = new Map();
  for (const { game, matches } of standings) counts.set(game, (counts.get(game) ?? 0) + matches);
  const [game] = most(counts);
  if (!game) return null;
  const best = standings.filter((each) => each.game === game).slice(0, MOST)
    .map((each) => ({ bot: each.bot, middle: each.rating, error: 2 * each.deviation }));
  return h("section", { class: "panel" }, h("h2", null, "Leaders"), table(`${GAME_NAMES[game] ?? game}: rating, with its 95 % error`, best),
    h("a", { href: "/table" }, "The whole table"));
}

function eventPanel(event, live, { rows, counted }) {
  const best = rows.slice(0, MOST).map((each) => ({ bot: each.bot, middle: each.elo, error: each.elo_error }));
  return h("section", { class: "panel" }, h("h2", null, `Now: ${event}`),
    best.length
      ? table(`Elo, with its 95 % error, after ${plural(counted, "match", "matches")}; ${live} in progress`, best)
      : h("p", { class: "quiet" }, `No match of it is finished yet; ${live} in progress.`),
    h("a", { href: to("event", event) }, "The whole event"));
}
