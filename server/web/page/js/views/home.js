// The start page: matches in progress, who is here to play against, what was played.

import { ask } from "../api.js";
import { h, say, set } from "../dom.js";
import { keyed } from "../parts/keyed.js";
import { liveItem, pastItem } from "../parts/matchlist.js";
import { onListing } from "../spectator.js";
import { plural } from "../text.js";

const PAGE = 12;

export class Home {
  constructor(main) {
    this.live = h("ul", { class: "cards" });
    this.bots = h("ul", { class: "bots" });
    this.nobody = h("p", { class: "quiet", hidden: true }, "No bot is connected.");
    this.past = h("ul", { class: "cards" });
    this.counted = h("p", { class: "quiet", role: "status" }, "Looking who is here …");
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.load() }, "Earlier matches");
    this.fault = h("p", { class: "fault", role: "alert" });
    main.replaceChildren(
      h("h1", null, "Matches"),
      h("section", null, h("h2", null, "In progress"), this.counted, this.live),
      h("section", null, h("h2", null, "Play against"), this.nobody, this.bots),
      h("section", null, h("h2", null, "Finished"), this.past, this.fault, this.more,
        h("p", { class: "quiet" }, "Or drop a record file anywhere on this page to see it played: ", h("a", { href: "#/file" }, "open a file"), ".")));
    this.stop = onListing((listing) => this.show(listing));
    this.next = "";
    this.load();
  }

  show({ matches, bots }) {
    const ids = matches.map((each) => each.match).join();
    keyed(this.live, matches, { key: ({ match }) => match, words: ({ ply }) => String(ply), make: liveItem });
    if (this.ids !== undefined && ids !== this.ids) this.reload();
    this.ids = ids;
    say(this.counted, matches.length ? `${plural(matches.length, "match", "matches")} in progress` : "No match is in progress.");
    keyed(this.bots, bots, { key: ({ name }) => name, words: JSON.stringify, make: (bot) => this.bot(bot) });
    set(this.nobody, { hidden: bots.length > 0 });
  }

  bot({ name, program, matches, capacity, benched, house }) {
    const busy = matches >= capacity;
    const state = benched || (matches ? `plays ${matches} of ${capacity}` : "free");
    return h("li", null,
      h("a", { class: "name", href: `#/bot/${encodeURIComponent(name)}` }, name),
      h("span", { class: "quiet" }, [house ? `the server's own ${program}` : program, state].filter(Boolean).join(" · ")),
      h("a", { class: "button", "data-busy": busy, href: `#/play/${encodeURIComponent(name)}`, "aria-label": `Play against ${name}` }, "Play"));
  }

  reload() {
    clearTimeout(this.reloading);
    this.reloading = setTimeout(() => {
      if (this.past.children.length > PAGE) return;
      this.next = "";
      this.load(true);
    }, 1200);
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
}
