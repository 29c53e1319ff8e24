// A match or an event within a page of somebody else's: to look at, and nothing else. Nobody can be led to play here by a click.

import { parseAddress, replaceAddress, addressOf } from "./router.js";
import { h } from "./dom.js";
import { MatchView } from "./views/match.js";

const main = document.querySelector("main");
const [, [id = "", part = ""]] = parseAddress();
const isEvent = id === "event";
const isNamed = Boolean(isEvent ? part : id);
let shown = /** @type {any} */ (null);
if (!isNamed) {
  main?.replaceChildren(h("h1", null, "There is nothing to show"),
    h("p", { class: "fault", role: "alert" }, "The address names no match and no event. It must be /embed/ID for a match, or /embed/event/NAME."));
} else if (isEvent) {
  import("./views/event.js").then(({ EventView }) => {
    shown = new EventView(main, [part]);
  });
} else {
  shown = new MatchView(main, [id, part], { view: "embed" });
}

// Plies are shown here; whatever else there is has a page of its own, which no other page may show.
document.addEventListener("click", (event) => {
  const link = /** @type {any} */ (event.target).closest?.("a[href]");
  if (!link) return;
  const [view, [, at]] = parseAddress(link);
  if (view !== "embed") {
    link.target = "_blank";
    return;
  }
  event.preventDefault();
  replaceAddress(addressOf("embed", id, at));
  shown.go(at);
});
// Introduction for a reader who has never heard of the arena, and the link to it.
const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
document.body.append(h("footer", { class: "embedded-from" },
  h("a", { href: !isNamed ? "/" : isEvent ? addressOf("event", part) : addressOf("match", id), target: "_blank", rel: "noopener", "aria-label": "Open in Riskless Arena" },
    h("img", { src: icon?.href, alt: "", width: 20, height: 20 }), h("span", null, "Open in "), "Riskless Arena"),
  h("span", { class: "quiet" }, "Bots fight over maps. Watch them live, or play against one.")));
