// Standings and cross-tables.

import { to } from "../address.js";
import { h } from "../dom.js";
import { whole } from "../text.js";
import { ratingBar, ratingScale } from "./ratingbar.js";

const MOST_CROSSED = 40;

export function standing(rows, what) {
  const at = ratingScale(rows);
  const head = ["#", "Bot", what, "±", "", "Matches", "W", "D", "L", "Forfeits", "Crashes"];
  return scrolling("Standings", h("table", { class: "standing" },
    h("thead", null, h("tr", null, head.map((each) => (each ? h("th", { scope: "col" }, each) : h("td"))))),
    h("tbody", null, rows.map((row, n) => h("tr", null,
      h("td", null, n + 1),
      h("th", { scope: "row" }, h("a", { href: to("bot", row.bot) }, row.bot)),
      h("td", null, whole(row.middle)), h("td", null, row.error.toFixed(0)), h("td", null, ratingBar(row, at)),
      [row.matches, row.won, row.drawn, row.lost, row.forfeits, row.crash].map((each) => h("td", null, each)))))));
}

// The rows of an event's table as `standing` takes them.
export const eventRows = (rows) => rows.map((row) => ({
  ...row, matches: row.games, middle: row.elo, error: row.elo_error,
  forfeits: row.time + row.illegal + row.gone + row.other,
}));

// Who scored what against whom; each cell leads to the matches of the two.
export function cross(bots, crosses) {
  if (bots.length < 2 || bots.length > MOST_CROSSED) return null;
  const found = new Map(crosses.map((each) => [`${each.bot}\n${each.opponent}`, each]));
  const cell = (bot, opponent) => {
    if (bot === opponent) return h("td", { class: "same" }, "");
    const each = found.get(`${bot}\n${opponent}`);
    if (!each) return h("td", null, "");
    const games = each.won + each.drawn + each.lost;
    const points = each.won + each.drawn / 2;
    const share = games ? points / games : 0.5;
    const told = `${each.won} won, ${each.drawn} drawn, ${each.lost} lost`;
    const text = `${points % 1 ? `${Math.floor(points) || ""}½` : points}/${games}`;
    return h("td", { class: `share share-${Math.round(share * 4)}`, title: told },
      h("a", { href: to("versus", bot, opponent), "aria-label": `${text}: ${bot} against ${opponent}, ${told}` }, text));
  };
  return scrolling("Cross-table", h("table", { class: "cross" },
    h("caption", null, "Points of each row against each column"),
    h("thead", null, h("tr", null, h("td"), bots.map((_, n) => h("th", { scope: "col", title: bots[n] }, n + 1)))),
    h("tbody", null, bots.map((bot, n) => h("tr", null, h("th", { scope: "row" }, `${n + 1}. ${bot}`), bots.map((other) => cell(bot, other)))))));
}

const scrolling = (label, table) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
