// Standings and cross-tables.

import { addressOf } from "../router.js";
import { h, svg } from "../dom.js";
import { botTitle, plural, whole } from "../text.js";
import { ratingBar, ratingScale } from "./ratingbar.js";

const MAX_CROSS_TABLE = 40;
const FEW = 4; // bots of a cross-table whose names a phone, or a column beside others, has room for
// Deviation above which a rating is provisional.
const PROVISIONAL = 75;
const PROVISIONAL_TEXT = " (provisional)";

// Return a Glicko-2 rating as table columns, and as text.
export const rated = (each) => ({ ...each, middle: each.rating, error: 2 * each.deviation, provisional: each.deviation > PROVISIONAL });
const errorText = ({ error, provisional }) => `${error.toFixed(0)}${provisional ? PROVISIONAL_TEXT : ""}`;
export const ratingText = (each) => `${whole(each.rating)} ± ${errorText(rated(each))}`;

export function standing(rows, what) {
  const scale = ratingScale(rows);
  const more = formatColumns(rows);
  const ends = h("span", { class: "scale-of" }, (rows.length ? [scale.low, scale.high] : []).map((each) => h("span", null, whole(each))));
  const head = ["#", what, "±", "Bot", ends, more[0]?.heading].filter((each) => each !== undefined);
  const rest = [...more.slice(1).map(({ heading }) => heading), "Matches", "W", "D", "L", "Forfeits", "Crashes"];
  return scrolling("Standings", h("table", { class: "standing" },
    h("thead", null, h("tr", null, head.map((each) => h("th", { scope: "col" }, each)), rest.map((each) => h("th", { scope: "col", class: "rest" }, each)))),
    h("tbody", null, rows.map((row, n) => h("tr", null,
      h("td", null, row.rank ?? n + 1),
      h("td", null, h("strong", null, whole(row.middle)), row.provisional && h("abbr", { class: "quiet", title: "provisional" }, "?")), h("td", { class: "quiet" }, row.error.toFixed(0)),
      h("th", { scope: "row", title: row.bot }, h("a", { href: addressOf("bot", row.bot) }, botTitle(row.bot)), h("span", { class: "details-of" }, inWords(row))), h("td", null, ratingBar(row, scale)),
      more.slice(0, 1).map(({ value }) => h("td", null, value(row))),
      [...more.slice(1).map(({ value }) => value(row)), row.matches, row.won, row.drawn, row.lost, row.forfeits, row.crash].map((each) => h("td", { class: "rest" }, each)))))));
}

// Return the last columns of a row in words, which a phone shows below the bot.
function inWords({ won, drawn, lost, forfeits, crash }) {
  const faults = [forfeits && plural(forfeits, "forfeit"), crash && plural(crash, "crash", "crashes")];
  return [`${won} won, ${drawn} drawn, ${lost} lost`, ...faults].filter(Boolean).join(" · ");
}

// Columns that only some formats have: points for a Swiss, and the round reached for a knockout.
function formatColumns(rows) {
  if (rows.some(({ buchholz }) => typeof buchholz === "number")) {
    return [
      { heading: "Points", value: ({ points }) => points },
      { heading: "Buchholz", value: ({ buchholz }) => buchholz ?? "" },
      { heading: "Byes", value: ({ byes }) => byes },
    ];
  }
  return rows.some(({ reached }) => reached) ? [{ heading: "Reached", value: ({ reached }) => reached }] : [];
}

// Return the rows of an event's table in the form of `standing`.
export function eventRows(rows) {
  return rows.map((row) => ({
    ...row, matches: row.games, middle: row.elo, error: row.elo_error,
    forfeits: row.time + row.illegal + row.gone + row.other,
  }));
}

// Cross-table; each cell links to the matches of the two bots.
function cross(bots, crosses) {
  if (bots.length < 2 || bots.length > MAX_CROSS_TABLE) return null;
  const found = new Map(crosses.map((each) => [`${each.bot}\n${each.opponent}`, each]));
  const cell = (bot, opponent) => {
    if (bot === opponent) return h("td", { class: "same" }, "");
    const each = found.get(`${bot}\n${opponent}`);
    if (!each) return h("td", null, "");
    const games = each.won + each.drawn + each.lost;
    const points = each.won + each.drawn / 2;
    const share = games ? points / games : 0.5;
    const told = `${each.won} won, ${each.drawn} drawn, ${each.lost} lost`;
    const ahead = points - games / 2;
    const sign = ahead > 0 ? "+" : ahead < 0 ? "−" : "=";
    const text = `${points % 1 ? `${Math.floor(points) || ""}½` : points}/${games}`;
    return h("td", { class: `share share-${Math.round(share * 4)}`, title: told },
      h("a", { href: addressOf("versus", bot, opponent), "data-sign": sign, "aria-label": `${text}: ${botTitle(bot)} against ${botTitle(opponent)}, ${told}` }, text));
  };
  return scrolling("Cross-table", h("table", { class: "cross", "data-many": bots.length > FEW },
    h("caption", null, "Points of each row against each column"),
    h("thead", null, h("tr", null, h("td"), bots.map((_, n) => h("th", { scope: "col", title: bots[n] }, n + 1)))),
    h("tbody", null, bots.map((bot, n) => h("tr", null, h("th", { scope: "row" }, `${n + 1}.`, h("span", { class: "bot-of" }, ` ${botTitle(bot)}`)), bots.map((other) => cell(bot, other)))))));
}

// The cross-table of bots with its heading, if there is one, and whether it is too wide for the column beside their standings.
export function headToHead(rows, crosses) {
  const crossed = cross(rows.map((row) => row.bot), crosses);
  return { parts: crossed ? [h("h2", null, "Head to head"), crossed] : [], isWide: rows.length > FEW };
}

// Wins, draws and losses as one bar.
export function recordBar({ won, drawn, lost }) {
  const share = (n) => (100 * n) / (won + drawn + lost || 1);
  return svg("svg", { class: "record-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 4 }), svg("rect", { class: "won", width: share(won), height: 4 }),
    svg("rect", { class: "lost", x: 100 - share(lost), width: share(lost), height: 4 }));
}

// Part of a view that scrolls by itself if it is wider than the screen.
export const scrolling = (label, content) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, content);

// Table whose rows begin with a heading.
export const table = (label, columns, rows) => scrolling(label, h("table", null,
  h("thead", null, h("tr", null, columns.map((each) => h("th", { scope: "col" }, each)))),
  h("tbody", null, rows.map(([first, ...rest]) => h("tr", null, h("th", { scope: "row" }, first), rest.map((each) => h("td", null, each)))))));
