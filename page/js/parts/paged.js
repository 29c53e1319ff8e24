// A list of finished matches that goes on when it is asked to.

import { fetchJson } from "../api.js";
import { h, say } from "../dom.js";
import { plural } from "../text.js";
import { pastRow } from "./pastrow.js";

const PAGE = 24;
const ANSWERS = 4; // that are asked for at the most until one has a match in it
const NO_MATCH = "none"; // where an id is expected

export class PagedList {
  // question: what is asked for, as in "search?map=m2"; none: what is said if there is no match; `since` and `until`: only matches that
  // ended from the first of these times on, and before the second one, as the server writes them; counts: true if `told` is how
  // many there are.
  constructor(question, none, { since = "", until = "", counts = false } = {}) {
    this.none = none;
    this.question = question;
    this.since = since;
    this.counts = counts;
    this.next = until && `${until}|${NO_MATCH}`;
    this.list = h("ul", { class: "cards rows" });
    this.told = h("p", { class: "quiet", role: "status" }, "Loading…");
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.load() }, "Load older matches");
    this.element = h("div", null, this.list, this.told, this.more);
    this.load();
  }

  async load() {
    const question = `${this.question}${this.question.includes("?") ? "&" : "?"}limit=${PAGE}`;
    try {
      let found = [];
      for (let answers = 0; answers < ANSWERS && !found.length && (this.next || !answers); answers++) {
        const { matches, next } = await fetchJson(this.next ? `${question}&before=${encodeURIComponent(this.next)}` : question);
        found = matches.filter((each) => each.finished >= this.since);
        this.next = found.length < matches.length ? "" : next;
      }
      this.list.append(...found.map(pastRow));
      this.more.hidden = !this.next;
      const { length } = this.list.children;
      if (!length) say(this.told, this.next ? "Nothing found so far. There are older matches." : this.none);
      else if (this.next && !found.length && !this.counts) say(this.told, "No older ones found so far.");
      else say(this.told, this.counts ? `${plural(length, "match", "matches")}${this.next ? " so far" : ""}` : "");
    } catch (error) {
      say(this.told, error.message);
    }
  }
}
