// A bot: its ratings over time, its results by game, map and seat, how its losses ended, its matches.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h, svg } from "../dom.js";
import { pastItem } from "../parts/matchlist.js";
import { GAME_NAMES, SEAT_NAMES, plural, reason } from "../text.js";

const LISTED = 20;

export class BotView {
  constructor(main, [name]) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    main.replaceChildren(
      h("h1", null, name),
      h("p", null, h("a", { class: "button", href: to("play", name) }, "Play against it")),
      this.place);
    this.load(name);
  }

  async load(name) {
    try {
      const found = await ask(`bot?name=${encodeURIComponent(name)}`);
      this.place.replaceChildren(
        ...found.standings.map((each) => standing(each, found.history[each.game] ?? [])),
        results(name, found.matches),
        h("section", null, h("h2", null, "Latest matches"), h("ul", { class: "cards" }, found.matches.slice(0, LISTED).map(pastItem))));
    } catch (error) {
      this.place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  stop() {}
}

function standing({ game, rating, deviation, matches, won, drawn, lost, forfeits, crash }, history) {
  return h("section", null, h("h2", null, GAME_NAMES[game] ?? game),
    h("p", null, h("strong", null, `${rating.toFixed(0)} ± ${(2 * deviation).toFixed(0)}`),
      ` from ${plural(matches, "rated match", "rated matches")}: ${won} won, ${drawn} drawn, ${lost} lost, ${plural(forfeits, "forfeit")}, ${plural(crash, "crash", "crashes")}`),
    history.length > 1 ? curve(history) : null);
}

// The rating match by match, within its band of two deviations.
function curve(history) {
  const [width, height] = [600, 140];
  const low = Math.min(...history.map((each) => each.rating - 2 * each.deviation));
  const high = Math.max(...history.map((each) => each.rating + 2 * each.deviation));
  const at = (n, value) => `${((n / (history.length - 1)) * width).toFixed(1)} ${(height - ((value - low) / (high - low || 1)) * height).toFixed(1)}`;
  const upper = history.map((each, n) => at(n, each.rating + 2 * each.deviation));
  const lower = history.map((each, n) => at(n, each.rating - 2 * each.deviation)).reverse();
  const last = history[history.length - 1];
  return h("figure", { class: "plot" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Rating over ${history.length} matches, from ${history[0].rating.toFixed(0)} to ${last.rating.toFixed(0)}` },
    svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    svg("path", { class: "line", "data-owner": "maxie", d: `M${history.map((each, n) => at(n, each.rating)).join("L")}` })),
    h("figcaption", { class: "quiet" }, `${low.toFixed(0)} to ${high.toFixed(0)}, over ${plural(history.length, "match", "matches")}`));
}

function results(name, matches) {
  const groups = new Map();
  const losses = new Map();
  for (const { game, map, players, result } of matches) {
    if (result.reason === "server_fault") continue;
    const seat = players.maxie === name ? "maxie" : "minnie";
    const what = !result.winner ? "draws" : result.winner === seat ? "wins" : "losses";
    const key = `${GAME_NAMES[game] ?? game}${map ? ` ${map}` : ""}\n${SEAT_NAMES[seat]}`;
    const row = groups.get(key) ?? { wins: 0, draws: 0, losses: 0 };
    row[what] += 1;
    groups.set(key, row);
    if (what === "losses") losses.set(result.reason, (losses.get(result.reason) ?? 0) + 1);
  }
  const numbers = ({ wins, draws, losses: lost }) => [wins, draws, lost].map((each) => h("td", null, each));
  return h("section", { class: "columns" },
    h("div", null, h("h2", null, "By map and seat"), h("table", { class: "results" },
      h("thead", null, h("tr", null, ["Game and map", "Seat", "W", "D", "L"].map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", null, [...groups].sort().map(([key, row]) => {
        const [where, seat] = key.split("\n");
        return h("tr", null, h("th", { scope: "row" }, where), h("td", null, seat), numbers(row));
      })))),
    h("div", null, h("h2", null, "How its losses ended"), losses.size
      ? h("table", null, h("tbody", null, [...losses].sort((a, b) => b[1] - a[1]).map(([why, n]) => h("tr", null, h("th", { scope: "row" }, reason(why)), h("td", null, n)))))
      : h("p", { class: "quiet" }, "It has lost none of these.")),
    h("p", { class: "quiet" }, `From its latest ${plural(matches.length, "match", "matches")}.`));
}
