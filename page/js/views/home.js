// The start page: a match on a large board, what the game is, who leads, matches in progress, who is here to play against, and
// what was played. docs/page.md says what each part answers.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h, say, set } from "../dom.js";
import { standingsNow } from "../home/leaders.js";
import { LiveCards } from "../home/livecards.js";
import { Primer } from "../home/primer.js";
import { Stage } from "../home/stage.js";
import { keyed } from "../parts/keyed.js";
import { pastItem } from "../parts/matchlist.js";
import { onListing } from "../spectator.js";
import { plural } from "../text.js";

const PAGE = 12;
const QUIET_MS = 1200; // from the last change of the listing to asking the store again

export class Home {
  constructor(main) {
    // What the server has put there stays until something moves.
    const first = main.querySelector(".stage.first");
    this.stage = new Stage(() => first?.replaceWith(this.stage.element));
    this.primer = new Primer();
    this.live = new LiveCards();
    this.leading = h("div", { class: "leading" });
    this.bots = h("ul", { class: "bots" });
    this.nobody = h("p", { class: "quiet", hidden: true }, "No bot is connected.");
    this.past = h("ul", { class: "cards" });
    this.counted = h("p", { class: "quiet" }, "Looking who is here …");
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.load() }, "Earlier matches");
    this.fault = h("p", { class: "fault", role: "alert" });
    main.replaceChildren(
      h("div", { class: "hero" },
        h("div", { class: "pitch" }, h("h1", null, "Programs fight for maps. Watch them, or play one."),
          h("a", { class: "button big", href: "/play" }, "Play"),
          this.primer.element, this.leading),
        first ?? this.stage.element),
      h("section", null, h("h2", null, "In progress"), this.counted, this.live.element),
      h("section", null, h("h2", null, "Play against"), this.nobody, this.bots),
      h("section", null, h("h2", null, "Finished"), this.past, this.fault, this.more,
        h("p", { class: "quiet" }, "Or drop a record file anywhere on this page to see it played: ", h("a", { href: "/file" }, "open a file"), ".")));
    this.next = "";
    this.unlist = onListing((listing) => this.show(listing));
    this.load();
  }

  show({ matches, bots }) {
    const ids = matches.map((each) => each.match).join();
    this.stage.offer(matches);
    this.live.show(matches);
    if (ids !== this.ids) this.reload(matches, this.ids === undefined ? 0 : QUIET_MS);
    this.ids = ids;
    say(this.counted, matches.length ? `${plural(matches.length, "match", "matches")} in progress` : "No match is in progress.");
    keyed(this.bots, bots, { key: ({ name }) => name, words: JSON.stringify, make: (bot) => this.bot(bot) });
    set(this.nobody, { hidden: bots.length > 0 });
  }

  bot({ name, program, matches, capacity, benched, house }) {
    const busy = matches >= capacity;
    const state = benched || (matches ? `plays ${matches} of ${capacity}` : "free");
    return h("li", null,
      h("a", { class: "name", href: to("bot", name) }, name),
      h("span", { class: "quiet" }, [house ? `the server's own ${program}` : program, state].filter(Boolean).join(" · ")),
      h("a", { class: "button", "data-busy": busy, href: to("play", name), "aria-label": `Play against ${name}` }, "Play"));
  }

  // What the store knows has changed, or will have in a moment.
  reload(matches, ms) {
    clearTimeout(this.reloading);
    this.reloading = setTimeout(() => {
      this.lead(matches);
      if (!ms || this.past.children.length > PAGE) return;
      this.next = "";
      this.load(true);
    }, ms);
  }

  async lead(matches) {
    try {
      this.leading.replaceChildren(...await standingsNow(matches));
      say(this.fault, "");
    } catch (error) {
      say(this.fault, error.message);
    }
  }

  async load(anew = false) {
    try {
      const { matches, next } = await ask(`records?limit=${PAGE}${this.next ? `&before=${encodeURIComponent(this.next)}` : ""}`);
      const items = matches.map(pastItem);
      if (anew) this.past.replaceChildren(...items);
      else this.past.append(...items);
      if (!this.past.children.length) this.past.append(h("li", { class: "quiet" }, "No match is finished yet."));
      this.next = next;
      this.more.hidden = !next;
      say(this.fault, "");
    } catch (error) {
      say(this.fault, error.message);
    }
  }

  stop() {
    clearTimeout(this.reloading);
    this.unlist();
    this.stage.stop();
    this.primer.stop();
    this.live.stop();
  }
}
