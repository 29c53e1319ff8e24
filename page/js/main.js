// The page's views, each by the name that its addresses begin with.

import { follow, go, onGone, read, to } from "./address.js";
import { apply } from "./comfort.js";
import { h, on, set } from "./dom.js";
import { kept } from "./kept.js";
import { Bars } from "./parts/bars.js";
import { acceptDrops, opened } from "./parts/dropped.js";
import { showRules } from "./parts/rules.js";
import { showSettings } from "./parts/settings.js";
import { playing } from "./playing.js";
import { back, compare, holdReload } from "./server.js";
import { spectator } from "./spectator.js";
import { Home } from "./views/home.js";

const VIEWS = new Map(/** @type {[string, (id: string) => Promise<any>][]} */ ([
  ["", async () => Home],
  ["match", async (id) => (plays(id) ? (await import("./views/seat.js")).SeatView : (await import("./views/match.js")).MatchView)],
  ["file", async () => (await import("./views/file.js")).FileView],
  ["play", async () => (await import("./views/play.js")).PlayView],
  ["table", async (event) => (event ? (await import("./views/event.js")).EventView : (await import("./views/table.js")).TableView)],
  ["event", async () => (await import("./views/event.js")).EventView],
  ["search", async () => (await import("./views/search.js")).SearchView],
  ["versus", async () => (await import("./views/versus.js")).VersusView],
  ["maps", async () => (await import("./views/maps.js")).MapsView],
  ["bot", async () => (await import("./views/bot.js")).BotView],
]));

const of = (sign) => /** @type {HTMLElement} */ (document.querySelector(sign)); // what the page itself has
const main = of("main");
let current = /** @type {any} */ (null);
let shown = "";
let asked = 0;

// Whether the reader plays this match, in this tab.
function plays(id) {
  return playing.matchId === id && (playing.state === "returning" || playing.state === "playing" || (playing.state === "over" && playing.follower !== null));
}

async function route() {
  const mine = ++asked; // a view that is still being loaded for an earlier address is not shown any more
  const [name, parameters] = read();
  // Another ply of what is shown is not another view.
  const key = name === "match" ? `match/${parameters[0]}/${plays(parameters[0])}` : name === "file" ? "file" : location.pathname + location.search;
  const ply = parameters[name === "match" ? 1 : 0];
  if (key === shown && current?.go && (name === "match" || ply !== undefined)) {
    current.go(ply);
    return;
  }
  const View = await load(name, parameters[0]);
  if (mine !== asked) return;
  current?.stop();
  if (current) window.scrollTo(0, 0);
  shown = key;
  document.title = titleOf(name, parameters);
  if (name !== "match" && name !== "play") playing.rest();
  current = new View(main, parameters);
  for (const link of document.querySelectorAll("header nav a")) {
    set(link, { "aria-current": link.getAttribute("href") === `/${name}` ? "page" : null });
  }
}

// What the tab says; a match says more when it is known.
function titleOf(name, /** @type {any} */ [what, other]) {
  const words = {
    match: "A match", file: "A record file", play: "Play", table: what ? `Ladder ${what}` : "Table", event: `Ladder ${what}`, bot: what,
    versus: `${what} against ${other}`, search: "Search", maps: what ? `Map ${what}` : "Maps",
  };
  return Object.hasOwn(words, name) ? `${words[name]} · Riskless Arena` : "Riskless Arena: watch and play";
}

// The view of a name. What cannot be loaded is of a server that is away, or that has another page by now.
async function load(name, parameter) {
  try {
    return await (VIEWS.get(name) ?? (async () => Home))(parameter);
  } catch {
    await compare();
    return Unloaded;
  }
}

class Unloaded {
  constructor(place) {
    place.replaceChildren(h("h1", null, "Not loaded yet"),
      h("p", { role: "status" }, "This view could not be loaded from the server. It is shown as soon as that can be done."),
      h("p", null, h("button", { type: "button", class: "button", onclick: () => location.reload() }, "Try now")));
    back().then(() => this.stopped || location.reload());
  }

  stop() {
    this.stopped = true;
  }
}

of(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the view's
  main.focus();
});
const bars = new Bars((match) => {
  const [name, [id]] = read();
  return name === "match" && id === match && plays(match);
});
main.before(bars.element);
of(".rules-button").addEventListener("click", () => showRules());
of("header nav").append(h("button", { type: "button", class: "rules-button", onclick: showSettings }, "Comfort"));
apply();
onGone(() => {
  const [name, [id]] = read();
  if (name === "match" && !playing.goesOn && playing.matchId !== id && kept(id)) playing.wake(id);
  route();
  bars.show();
});
on(playing, "started", (detail) => {
  go(to("match", detail));
});
let wasPlayed = false;
playing.addEventListener("change", () => {
  const [name, [id]] = read();
  const played = name === "match" && plays(id);
  if (played !== wasPlayed) route();
  wasPlayed = played;
});
holdReload(() => opened() !== null);
spectator();
acceptDrops();
follow(VIEWS);
const [name, [id]] = read();
playing.wake(name === "match" ? id : null);
wasPlayed = name === "match" && plays(id);
route();
