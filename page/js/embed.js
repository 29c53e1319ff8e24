// A match within a page of somebody else's: to look at, and nothing else. Nobody can be led to play here by a click.

import { read, rename, to } from "./address.js";
import { h } from "./dom.js";
import { MatchView } from "./views/match.js";

const [, [id = "", ply]] = read();
const shown = new MatchView(document.querySelector("main"), [id, ply], { view: "embed" });

// Plies are shown here; whatever else there is has a page of its own, which no other page may show.
document.addEventListener("click", (event) => {
  const link = /** @type {any} */ (event.target).closest?.("a[href]");
  if (!link) return;
  const [view, [, at]] = read(link);
  if (view !== "embed") {
    link.target = "_blank";
    return;
  }
  event.preventDefault();
  rename(to("embed", id, at));
  shown.go(at);
});
document.body.append(h("p", { class: "embedded-from" },
  h("a", { href: to("match", id), target: "_blank", rel: "noopener" }, "Open in Riskless Arena")));
