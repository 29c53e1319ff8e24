// An event, updated while it is played: progress, boards, table, due matches and sequential test.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { capitalized, h, say, set } from "../dom.js";
import { LiveCards } from "../home/livecards.js";
import { head, page } from "../parts/cards.js";
import { matchLink } from "../parts/matchlist.js";
import { pastRow } from "../parts/pastrow.js";
import { eventRows, headToHead, scores, scrolling, table } from "../parts/tables.js";
import { onLobbyListing } from "../spectator.js";
import { GAME_NAMES, botTitle, eventTitle, mapTitle, minus, plural, timeTitle, whole } from "../text.js";

const BOARDS = 4;
const AGAIN_MS = 1500;
const RECENT_MS = 60_000; // before the newest end of a match, in which others that ended keep places for the next ones

export class EventView {
  constructor(main, [event]) {
    this.event = event;
    this.drawn = "";
    this.told = /** @type {any} */ (null);
    this.running = 0; // matches in progress
    this.about = h("span");
    this.far = h("span", null, "Loading…");
    this.coming = h("span");
    this.test = h("div");
    this.live = new LiveCards({ keepsPlaces: true });
    this.live.element.classList.add("now");
    this.counted = h("span");
    this.playing = h("section", { class: "playing", "aria-label": "Now", hidden: true },
      h("div", { class: "stage-head" }, h("h2", null, this.counted), h("a", { class: "button plain small", href: "/" }, "Live boards")), this.live.element);
    this.standings = h("div");
    this.strengths = h("div");
    this.elo = h("details", { hidden: true }, h("summary", null, "Elo"), this.strengths);
    this.wide = h("div");
    this.crossed = h("section", { hidden: true });
    this.due = h("section", { hidden: true });
    this.bracket = h("section", { hidden: true });
    this.past = h("section");
    this.fault = h("p", { class: "fault", role: "alert" });
    this.tables = page(h("section", null, h("h2", null, "Standings"), this.standings, this.elo, this.wide), [this.crossed, this.due], this.bracket, this.past);
    set(this.tables, { hidden: true }); // until there is something to show
    main.replaceChildren(
      head(h("h1", null, eventTitle(event)), h("p", null, h("span", { class: "status" }, this.far, " ", this.coming), " ", this.about)),
      this.test, this.fault, this.playing, this.tables);
    this.unlist = onLobbyListing(({ matches, events = [] }) => {
      this.count(events.find((each) => each.event === event));
      this.list(matches.filter((each) => each.event === event));
    });
    this.load();
  }

  // Show some of the matches in progress; each end of a match reloads the table. A match stays until the next one takes its
  // place, so that nothing below moves.
  list(matches) {
    this.live.show(matches.slice(0, BOARDS));
    this.running = matches.length;
    const ids = matches.map(({ match }) => match).join();
    if (this.ids !== undefined && ids !== this.ids) this.loadSoon();
    this.ids = ids;
    this.showPlaying();
  }

  showPlaying() {
    const goesOn = this.told && !this.told.finished && !this.stage?.startsWith("open");
    const { size } = this.live.cards;
    set(this.playing, { hidden: this.ids === undefined || (!goesOn && !size) });
    const over = size - this.running; // negative where not all matches have a board
    const running = over > 0 ? `${this.running} in progress, ${over} finished` : `${plural(this.running, "match", "matches")} in progress`;
    say(this.counted, this.running > BOARDS ? `${BOARDS} of ${running}` : this.running ? running : size ? "Just finished" : "No match in progress");
  }

  // Show the start time, the entries and the current round, from the listing, which is newer than the loaded data.
  count(listed) {
    const stage = listed ? `${listed.state} ${listed.round} ${listed.entries}` : "";
    if (this.stage !== undefined && this.stage !== stage) this.loadSoon();
    this.stage = stage;
    this.tellFar();
    clearInterval(this.ticking);
    const begins = Date.now() + (listed?.begins_ms ?? 0);
    const tell = () => say(this.coming, listed ? stand(listed, begins - Date.now()) : "");
    tell();
    if (listed?.state === "open") this.ticking = setInterval(tell, 1000);
  }

  // Show how far the event is. Before it starts, the time until then is shown instead.
  tellFar() {
    if (this.told) say(this.far, this.stage?.startsWith("open") ? "" : far(this.told));
    this.showPlaying();
  }

  loadSoon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      this.load();
    }, AGAIN_MS);
  }

  async load() {
    const name = encodeURIComponent(this.event);
    try {
      const [told, records, found] = await Promise.all([fetchJson(`event?name=${name}`), fetchJson(`records?event=${name}&limit=12`),
        fetchJson(`table?event=${name}`).catch(() => null)]);
      if (this.stopped) return;
      this.show(told, records.matches, found);
      say(this.fault, "");
    } catch (error) {
      if (this.stopped) return;
      const unplayed = error.status === 404;
      say(this.far, unplayed && !this.stage?.startsWith("open") ? "No event with this name has matches yet." : "");
      say(this.fault, unplayed ? "" : error.message);
    }
  }

  show(told, matches, found) {
    const words = JSON.stringify([told, matches, found]);
    if (words === this.drawn) return; // unchanged content keeps its focus and scroll position
    this.drawn = words;
    const { plan, counted, finished } = told;
    say(this.about, plan ? about(plan) : "");
    this.told = told;
    const newest = Math.max(...matches.map((each) => Date.parse(each.finished)));
    if (!finished) this.live.fill(matches.filter((each) => newest - Date.parse(each.finished) < RECENT_MS), BOARDS);
    this.tellFar();
    set(this.tables, { hidden: false });
    this.test.replaceChildren(...(plan?.sprt ? [sprt(plan.sprt, plan)] : []));
    const rows = found ? eventRows(found.rows) : [];
    const { parts: between, isWide } = headToHead(rows, found?.crosses ?? []);
    this.standings.replaceChildren(...(rows.length
      ? [scores(rows, ranking(plan)), h("p", { class: "quiet" }, `From ${plural(found.counted, "match", "matches")}. `, ranking(plan).byElo ? "Ranked by Elo, which counts the strength of the opponents. " : "", files(this.event))]
      : [h("p", { class: "quiet" }, "No match has finished yet.")]));
    set(this.elo, { hidden: !rows.length });
    this.strengths.replaceChildren(table("Elo", ["Bot", "Above the average", "95 % error"], rows.map((row) => [botTitle(row.bot), whole(row.elo), `± ${row.elo_error.toFixed(0)}`])));
    this.wide.replaceChildren(...(isWide ? between : []));
    fill(this.crossed, isWide ? [] : between);
    fill(this.bracket, found?.bracket?.length ? bracket(found.bracket, rows.find(({ reached }) => reached === "champion"), matches) : []);
    fill(this.due, plan?.due.length && !finished ? due(plan) : []);
    this.past.replaceChildren(...(matches.length ? [h("h2", null, "Latest matches"), h("ul", { class: "cards rows" }, matches.map((each) => pastRow({ ...each, event: "" }))),
      counted > matches.length ? h("p", null, h("a", { class: "button plain", href: `/search?event=${encodeURIComponent(this.event)}` }, "All matches")) : null].filter(Boolean) : []));
  }

  stop() {
    this.stopped = true;
    this.unlist();
    clearTimeout(this.waiting);
    clearInterval(this.ticking);
    this.live.stop();
  }
}

function about({ kind, game, maps, format, rounds, time_control, bots }) {
  const each = rounds === null ? "open-ended" : plural(rounds, "round");
  const where = [GAME_NAMES[game] ?? game, maps.map(mapTitle).join(", ")].filter(Boolean).join(" ");
  return `${kind === "match" ? "A match" : title(format)} of ${plural(Object.keys(bots).length, "bot")}, ${each} · ${where} · ${timeTitle(time_control)}`;
}

function stand({ state, entries, round, rounds }, left) {
  if (state !== "open") return state === "paused" ? "Paused." : round ? `Round ${round}${rounds ? ` of ${rounds}` : ""}.` : "";
  const seconds = Math.max(0, Math.round(left / 1000));
  const [days, rest] = [Math.floor(seconds / 86400), seconds % 86400];
  const hours = [rest / 3600, (rest % 3600) / 60, rest % 60].map((each) => String(Math.floor(each)).padStart(2, "0")).join(":");
  return `Starts in ${days ? `${plural(days, "day")} ` : ""}${hours} · ${plural(entries, "entry", "entries")}.`;
}

// Show a section that has content.
function fill(section, content) {
  section.replaceChildren(...content);
  set(section, { hidden: !content.length });
}

// Return whether Elo or the points rank the bots, which have not all played as often: as the server ranks an open pool, a ladder, an arena.
const ranking = (plan) => ({ byElo: !plan || (plan.kind !== "event" && plan.format !== "knockout"), byPoints: plan?.format === "arena" });

// Links to the table and the dates of events for other programs.
function files(event) {
  const name = encodeURIComponent(event);
  const links = [["CSV", `/api/table.csv?event=${name}`], ["JSON", `/api/table?event=${name}`], ["Calendar of all events", "/events.ics"]];
  return h("span", null, links.flatMap(([what, href], n) => [n ? " · " : "", h("a", { href }, what)]));
}

// The encounters of a knockout, one column per round; winners are bold. `matches`: the newest of the event.
function bracket(rounds, champion, matches) {
  const [{ first: one, second: two }] = rounds[rounds.length - 1];
  const final = champion && matches.find(({ players }) => [players.maxie, players.minnie].sort().join() === [one, two].sort().join());
  const side = (bot, points, won) => (won ? h("strong", null, `${botTitle(bot)} ${points}`) : h("span", null, bot ? `${botTitle(bot)} ${points}` : "…"));
  return [h("h2", null, "Bracket"),
    champion ? h("p", null, "Champion: ", h("a", { href: addressOf("bot", champion.bot) }, h("b", null, botTitle(champion.bot))),
      final ? [" ", h("a", { class: "button plain small", href: matchLink(final.match) }, "Watch the final")] : null) : null,
    scrolling("Bracket", h("div", { class: "bracket" }, rounds.map((each, n) => h("section", null,
      h("h3", null, n === rounds.length - 1 ? "Final" : `Round ${n + 1}`),
      h("ul", null, each.map(({ first, second, first_points, second_points, winner }) => h("li", null,
        side(first, first_points, winner !== null && first === winner), side(second, second_points, winner !== null && second === winner))))))))].filter(Boolean);
}

const title = (format) => capitalized(format).replaceAll("_", " ");

function far({ plan, counted, finished, cancel_reason: why }) {
  const played = Math.max(counted, plan?.played ?? 0);
  if (why) return `Cancelled: ${why}. ${plural(played, "match", "matches")} played.`;
  if (finished) return `Finished: ${plural(played, "match", "matches")} played.`;
  if (!plan) return `${plural(played, "match", "matches")} played.`;
  return plan.matches === null ? `In progress: ${plural(played, "match", "matches")} played.` : `In progress: ${played} of ${plan.matches} matches played.`;
}

function sprt({ elo0, elo1, llr, lower, upper, verdict, pairs }, { bots }) {
  const [first, second] = Object.keys(bots).map(botTitle);
  const said = {
    open: `Undecided after ${plural(pairs, "pair")}.`,
    H0: `Decided: ${first} is ${minus(elo0)} Elo above ${second}, not ${minus(elo1)}.`,
    H1: `Decided: ${first} is ${minus(elo1)} Elo above ${second}, not ${minus(elo0)}.`,
  }[verdict];
  return h("section", { class: "sprt" }, h("h2", null, "Sequential test"),
    h("p", null, `${said} The log likelihood ratio is ${minus(llr.toFixed(2))}; the test ends at ${minus(lower.toFixed(2))} (${minus(elo0)} Elo) or ${minus(upper.toFixed(2))} (${minus(elo1)} Elo).`),
    h("meter", { min: lower, max: upper, value: llr, "aria-label": "Log likelihood ratio" }, minus(llr.toFixed(2))));
}

function due({ kind, due: matches }) {
  return [h("h2", null, kind === "event" ? "Open pairings" : "Next"), h("ol", { class: "due" }, matches.map(({ maxie, minnie, map, round }) => h("li", null,
    h("a", { href: addressOf("versus", maxie, minnie) }, `${botTitle(maxie)} v ${botTitle(minnie)}`), h("span", { class: "quiet" }, ` ${[map && mapTitle(map), `round ${round}`].filter(Boolean).join(" · ")}`))))];
}
