// Standings and cross-tables.

import { addressOf } from "../router.js";
import { h, svg } from "../dom.js";
import { botTitle, plural, signed, whole } from "../text.js";
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

// The ratings of bots, with their errors as bars.
export function ratings(rows) {
  const scale = ratingScale(rows);
  const ends = h("span", { class: "scale-of" }, (rows.length ? [whole(scale.low), "95 % interval", whole(scale.high)] : []).map((each) => h("span", null, each)));
  return standing(rows, "Rating", ends, ({ middle, provisional }) => [whole(middle), provisional && h("abbr", { class: "quiet", title: "provisional" }, "?")], (row) => ratingBar(row, scale));
}

// The results of an event. The figure that decides the rank comes first: Elo if `byElo`, the points of a Swiss or of an arena, of other formats
// the share of the points.
export function scores(rows, { byElo = false, byPoints = false } = {}) {
  const ends = h("span", { class: "scale-of" }, "Won, drawn, lost");
  if (rows.some(isSwiss)) return standing(rows, "Points", ends, ({ points }) => points, recordBar); // a bye has some, too
  if (byElo) return standing(rows, "Elo", ends, ({ elo }) => signed(Math.round(elo) + 0), recordBar, [SCORE]);
  if (byPoints) return standing(rows, "Points", ends, ({ points }) => points, recordBar, [SCORE]);
  return standing(rows, SCORE.heading, ends, SCORE.value, recordBar);
}

// Return the share of the points of all matches, as in "52 %".
export const pointShare = ({ won, drawn, matches }) => `${Math.round((100 * (won + drawn / 2)) / (matches || 1))} %`;

const SCORE = { heading: "Score", value: pointShare };

const isSwiss = ({ buchholz }) => typeof buchholz === "number";

// Standings: the figure of each bot, its bar below `ends`, and its results. A column of noughts is left out.
function standing(rows, what, ends, figure, bar, more = /** @type {any[]} */ (formatColumns(rows))) {
  const head = ["#", what, "Bot", ends, more[0]?.heading].filter((each) => each !== undefined);
  const rest = [...more.slice(1), ...RESULTS].filter(({ value }) => rows.some((row) => value(row)));
  return scrolling("Standings", h("table", { class: "standing" },
    h("thead", null, h("tr", null, head.map((each) => h("th", { scope: "col" }, each)), rest.map(({ heading }) => h("th", { scope: "col", class: "rest" }, heading)))),
    h("tbody", null, rows.map((row, n) => h("tr", null,
      h("td", null, row.rank ?? n + 1),
      h("td", null, h("strong", null, figure(row))),
      h("th", { scope: "row", title: row.bot }, h("a", { href: addressOf("bot", row.bot) }, botTitle(row.bot)), h("span", { class: "details-of" }, inWords(row))), h("td", null, bar(row)),
      more.slice(0, 1).map(({ value }) => h("td", null, value(row))),
      rest.map(({ value }) => h("td", { class: "rest" }, value(row))))))));
}

// Return results in words.
export function inWords({ won, drawn, lost, forfeits, crash }) {
  const faults = [forfeits && plural(forfeits, "forfeit"), crash && plural(crash, "crash", "crashes")];
  return [`${won} won, ${drawn ? `${drawn} drawn, ` : ""}${lost} lost`, ...faults].filter(Boolean).join(" · ");
}

const RESULTS = [
  { heading: "Matches", value: ({ matches }) => matches },
  { heading: "W", value: ({ won }) => won },
  { heading: "D", value: ({ drawn }) => drawn },
  { heading: "L", value: ({ lost }) => lost },
  { heading: "Forfeits", value: ({ forfeits }) => forfeits },
  { heading: "Crashes", value: ({ crash }) => crash },
];

// Columns that only some formats have: Buchholz for a Swiss, and the round reached for a knockout.
function formatColumns(rows) {
  if (rows.some(isSwiss)) {
    return [
      { heading: "Buchholz", value: ({ buchholz }) => buchholz ?? "" },
      { heading: "Byes", value: ({ byes }) => byes },
    ];
  }
  return rows.some(({ reached }) => reached) ? [{ heading: "Reached", value: ({ reached }) => reached }] : [];
}

// Return the rows of an event's table in the form of `standing`.
export const eventRows = (rows) => rows.map((row) => ({ ...row, matches: row.games, forfeits: row.time + row.illegal + row.gone + row.other }));

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
    const told = inWords(each);
    const ahead = points - games / 2;
    const sign = ahead > 0 ? "+" : ahead < 0 ? "−" : "=";
    const text = `${points % 1 ? `${Math.floor(points) || ""}½` : points}/${games}`;
    return h("td", { class: `share share-${Math.round(share * 4)}`, title: told },
      h("a", { href: addressOf("versus", bot, opponent), "data-sign": sign, "aria-label": `${text}: ${botTitle(bot)} against ${botTitle(opponent)}, ${told}` }, text));
  };
  const many = bots.length > FEW;
  return scrolling("Cross-table", h("table", { class: "cross", "data-many": many },
    h("caption", null, "Points of the row in its matches against the column. + is ahead, − behind."),
    h("thead", null, h("tr", null, h("td"), bots.map((_, n) => h("th", { scope: "col", title: bots[n] }, many ? n + 1 : botTitle(bots[n]))))),
    h("tbody", null, bots.map((bot, n) => h("tr", null, h("th", { scope: "row", title: bot }, many && `${n + 1}. `, h("span", { class: "bot-of" }, botTitle(bot))), bots.map((other) => cell(bot, other)))))));
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
