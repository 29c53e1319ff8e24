// The page's addresses: #/ #/match/ID/PLY #/play/BOT #/table/EVENT #/bot/NAME #/file/PLY

import { set } from "./dom.js";
import { acceptDrops } from "./parts/dropped.js";
import { Home } from "./views/home.js";

const VIEWS = {
  "": async () => Home,
  match: async () => (await import("./views/match.js")).MatchView,
  file: async () => (await import("./views/file.js")).FileView,
  play: async () => (await import("./views/play.js")).PlayView,
  table: async () => (await import("./views/table.js")).TableView,
  bot: async () => (await import("./views/bot.js")).BotView,
};

const main = document.querySelector("main");
let current = null;
let shown = "";
let asked = 0;

async function route() {
  const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const parameters = rest.map(decode);
  // Another ply of what is shown is not another view.
  const key = name === "match" ? `match/${parameters[0]}` : name === "file" ? "file" : location.hash;
  const ply = parameters[name === "match" ? 1 : 0];
  if (key === shown && current?.go && (name === "match" || ply !== undefined)) {
    current.go(ply);
    return;
  }
  const mine = ++asked;
  const View = await (VIEWS[name] ?? VIEWS[""])();
  if (mine !== asked) return;
  current?.stop();
  shown = key;
  document.title = "Riskless Arena";
  current = new View(main, parameters);
  for (const link of document.querySelectorAll("header nav a")) {
    set(link, { "aria-current": link.hash === `#/${name}` ? "page" : null });
  }
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the view's
  main.focus();
});
window.addEventListener("hashchange", route);
acceptDrops();
route();
