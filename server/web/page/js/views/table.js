// The tables: ratings of each game, ladders, and who scored what against whom.

import { ask } from "../api.js";
import { h } from "../dom.js";
import { ratingBar, ratingScale } from "../parts/ratingbar.js";
import { GAME_NAMES, plural } from "../text.js";

export class TableView {
  constructor(main, [event]) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    main.replaceChildren(h("h1", null, event ? `Ladder ${event}` : "Table"), this.place);
    this.load(event);
  }

  async load(event) {
    try {
      const parts = event ? ladder(await ask(`table?event=${encodeURIComponent(event)}`)) : ratings(await ask("table"));
      this.place.replaceChildren(...parts);
    } catch (error) {
      this.place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  stop() {}
}

function ratings({ standings, crosses, events }) {
  const games = [...new Set(standings.map((each) => each.game))];
  const parts = games.flatMap((game) => {
    const rows = standings.filter((each) => each.game === game).map((each) => ({
      ...each, middle: each.rating, error: 2 * each.deviation,
    }));
    return [h("h2", null, GAME_NAMES[game] ?? game), h("p", { class: "quiet" }, "Glicko-2 ratings of rated matches, with their 95 % error."), standing(rows, "Rating"), cross(rows.map((row) => row.bot), crosses[game] ?? [])];
  });
  if (!parts.length) parts.push(h("p", { class: "quiet" }, "No rated match is finished yet."));
  if (events.length) {
    parts.push(h("h2", null, "Events"), h("ul", { class: "events" }, events.map(({ event, matches }) => h("li", null,
      h("a", { href: `#/table/${encodeURIComponent(event)}` }, event), h("span", { class: "quiet" }, ` ${plural(matches, "match", "matches")}`)))));
  }
  return parts;
}

function ladder({ rows, crosses, counted }) {
  const shown = rows.map((row) => ({
    ...row, matches: row.games, middle: row.elo, error: row.elo_error,
    forfeits: row.time + row.illegal + row.gone + row.other,
  }));
  return [
    h("p", { class: "quiet" }, `From ${plural(counted, "match", "matches")}; Elo relative to the average, with its 95 % error.`),
    standing(shown, "Elo"), cross(shown.map((row) => row.bot), crosses),
  ];
}

function standing(rows, what) {
  const at = ratingScale(rows);
  const head = ["#", "Bot", what, "±", "", "Matches", "W", "D", "L", "Forfeits", "Crashes"];
  return scrolling("Standings", h("table", { class: "standing" },
    h("thead", null, h("tr", null, head.map((each) => (each ? h("th", { scope: "col" }, each) : h("td"))))),
    h("tbody", null, rows.map((row, n) => h("tr", null,
      h("td", null, n + 1),
      h("th", { scope: "row" }, h("a", { href: `#/bot/${encodeURIComponent(row.bot)}` }, row.bot)),
      h("td", null, row.middle.toFixed(0)), h("td", null, row.error.toFixed(0)), h("td", null, ratingBar(row, at)),
      [row.matches, row.won, row.drawn, row.lost, row.forfeits, row.crash].map((each) => h("td", null, each)))))));
}

function cross(bots, crosses) {
  if (bots.length < 2 || bots.length > 40) return null;
  const found = new Map(crosses.map((each) => [`${each.bot}\n${each.opponent}`, each]));
  const cell = (bot, opponent) => {
    if (bot === opponent) return h("td", { class: "same" }, "");
    const each = found.get(`${bot}\n${opponent}`);
    if (!each) return h("td", null, "");
    const games = each.won + each.drawn + each.lost;
    const points = each.won + each.drawn / 2;
    const share = games ? points / games : 0.5;
    return h("td", { class: `share share-${Math.round(share * 4)}`, title: `${each.won} won, ${each.drawn} drawn, ${each.lost} lost` },
      `${points % 1 ? `${Math.floor(points) || ""}½` : points}/${games}`);
  };
  return scrolling("Cross-table", h("table", { class: "cross" },
    h("caption", null, "Points of each row against each column"),
    h("thead", null, h("tr", null, h("td"), bots.map((_, n) => h("th", { scope: "col", title: bots[n] }, n + 1)))),
    h("tbody", null, bots.map((bot, n) => h("tr", null, h("th", { scope: "row" }, `${n + 1}. ${bot}`), bots.map((other) => cell(bot, other)))))));
}

const scrolling = (label, table) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
