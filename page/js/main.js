// The page's views, each by the name that its addresses begin with.

import { start, navigate, onNavigate, parseAddress, addressOf, hasCome } from "./router.js";
import { apply } from "./preferences.js";
import { h, on, set } from "./dom.js";
import { savedMatch } from "./saved.js";
import { Banners } from "./parts/banners.js";
import { loneCard } from "./parts/cards.js";
import { acceptDrops, openedFile } from "./parts/recordfiles.js";
import { showRules } from "./parts/rules.js";
import { showSettings } from "./parts/settings.js";
import { playing } from "./playing.js";
import { whenBack, checkVersion, holdReload } from "./server.js";
import { spectator } from "./spectator.js";
import { botTitle, eventTitle, mapTitle } from "./text.js";
import { Home } from "./views/home.js";

const VIEWS = new Map(/** @type {[string, (id: string) => Promise<any>][]} */ ([
  ["", async () => Home],
  ["match", async (id) => (plays(id) ? (await import("./views/seat.js")).SeatView : (await import("./views/match.js")).MatchView)],
  ["tv", async () => (await import("./views/tv.js")).TvView],
  ["file", async () => (await import("./views/file.js")).FileView],
  ["play", async () => (await import("./views/play.js")).PlayView],
  ["table", async (event) => (event ? (await import("./views/event.js")).EventView : (await import("./views/table.js")).TableView)],
  ["event", async () => (await import("./views/event.js")).EventView],
  ["search", async () => (await import("./views/search.js")).SearchView],
  ["versus", async () => (await import("./views/versus.js")).VersusView],
  ["maps", async () => (await import("./views/maps.js")).MapsView],
  ["join", async () => (await import("./views/join.js")).JoinView],
  ["host", async () => (await import("./views/host.js")).HostView],
  ["me", async () => (await import("./views/me.js")).MeView],
  ["bot", async () => (await import("./views/bot.js")).BotView],
]));

const TABS = { tv: "", event: "table", bot: "table", versus: "table" }; // of views that have no tab of their own

const NAMED = new Set(["match", "event", "bot"]); // views of one thing: without its name there is nothing to show

const of = (sign) => /** @type {HTMLElement} */ (document.querySelector(sign)); // what the page itself has
const main = of("main");
let current = /** @type {any} */ (null);
let shown = "";
let asked = 0;

// Return the tab to which a view without a tab of its own belongs.
const tabOf = (name, id) => (name === "match" ? (plays(id) ? "play" : "") : TABS[name]);

// Whether the reader plays this match, in this tab.
function plays(id) {
  return playing.matchId === id && (playing.state === "returning" || playing.state === "playing" || (playing.state === "over" && playing.follower !== null));
}

async function route() {
  const mine = ++asked; // a view that is still being loaded for an earlier address is not shown any more
  const [name, parameters] = parseAddress();
  // Another ply of what is shown is not another view.
  const key = name === "match" ? `match/${parameters[0]}/${plays(parameters[0])}` : name === "file" ? "file" : location.pathname + location.search;
  const ply = parameters[name === "match" ? 1 : 0];
  if (key === shown && current?.go && (name === "match" || ply !== undefined)) {
    current.go(ply);
    return;
  }
  const View = NAMED.has(name) && !parameters[0] ? Nowhere : await load(name, parameters[0]);
  if (mine !== asked) return;
  current?.stop();
  const moved = current !== null;
  if (moved) window.scrollTo(0, 0);
  shown = key;
  document.title = titleOf(name, parameters);
  if (name !== "match" && name !== "play") playing.rest();
  current = new View(main, parameters);
  if (moved && !main.contains(document.activeElement)) main.focus({ preventScroll: true }); // what had the focus is gone
  for (const link of document.querySelectorAll("header nav a")) {
    const tab = link.getAttribute("href");
    set(link, { "aria-current": tab === `/${name}` ? "page" : tab === `/${tabOf(name, parameters[0])}` ? "true" : null });
  }
}

// What the tab says; a match says more when it is known.
function titleOf(name, /** @type {any} */ [what, other]) {
  if (NAMED.has(name) && !what) return "Page not found · Riskless Arena";
  const words = {
    match: "Match", file: "Record file", play: "Play", tv: "Arena TV", table: eventTitle(what) || "Ratings", event: eventTitle(what), bot: botTitle(what ?? ""),
    versus: other ? `${botTitle(what)} against ${botTitle(other)}` : "Two bots", search: "Search", join: "Invitation", me: "Your bots", host: "Host", maps: what ? mapTitle(what) : "Maps",
  };
  return Object.hasOwn(words, name) ? `${words[name]} · Riskless Arena` : "Riskless Arena: watch and play";
}

// The view of a name. What cannot be loaded is of a server that is away, or that has another page by now.
async function load(name, parameter) {
  try {
    return await (VIEWS.get(name) ?? (async () => Nowhere))(parameter);
  } catch {
    await checkVersion();
    return Unloaded;
  }
}

class Nowhere {
  constructor(place) {
    place.replaceChildren(h("h1", null, "Page not found"), loneCard(h("p", null, "The address may be mistyped, or from an older version."),
      h("a", { class: "button", href: "/" }, "Back to the start page")));
  }

  stop() {}
}

class Unloaded {
  constructor(place) {
    place.replaceChildren(h("h1", null, "Not loaded yet"), loneCard(
      h("p", { role: "status" }, "The server could not send this view. It will appear as soon as the server answers."),
      h("button", { type: "button", class: "button", onclick: () => location.reload() }, "Try again")));
    whenBack().then(() => this.stopped || location.reload());
  }

  stop() {
    this.stopped = true;
  }
}

of(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the view's
  main.focus();
});
const bars = new Banners((match) => {
  const [name, [id]] = parseAddress();
  return name === "match" && id === match && plays(match);
});
main.before(bars.element);
of(".rules-button").addEventListener("click", () => {
  const { gameName, setup } = current?.viewer?.match ?? {};
  showRules(gameName, setup);
});
of(".settings-button").addEventListener("click", showSettings);
of(".back").addEventListener("click", (event) => {
  if (!hasCome()) return; // to the start page
  event.preventDefault();
  history.back();
});
apply();
onNavigate(() => {
  const [name, [id]] = parseAddress();
  if (name === "match" && !playing.goesOn && playing.matchId !== id && savedMatch(id)) playing.wake(id);
  route();
  bars.show();
});
on(playing, "started", (detail) => {
  navigate(addressOf("match", detail));
});
let wasPlayed = false;
playing.addEventListener("change", () => {
  const [name, [id]] = parseAddress();
  const played = name === "match" && plays(id);
  if (played !== wasPlayed) route();
  wasPlayed = played;
});
holdReload(() => openedFile() !== null);
spectator();
acceptDrops();
start(VIEWS);
const [name, [id]] = parseAddress();
playing.wake(name === "match" ? id : null);
wasPlayed = name === "match" && plays(id);
route();
// Installed or not, the page opens without a network; a browser that has no such thing does without.
window.addEventListener("load", () => navigator.serviceWorker?.register("/sw.js").catch(() => null));
