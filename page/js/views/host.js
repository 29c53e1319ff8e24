// The host's page, opened with an admin's token: connected, suspended and banned bots, and the notice to all clients.

import { addressOf } from "../router.js";
import { fetchAs, basic } from "../api.js";
import { h, say } from "../dom.js";
import { Account } from "../parts/account.js";
import { table } from "../parts/tables.js";
import { plural, when } from "../text.js";

const AGAIN_MS = 5000;

export class HostView {
  constructor(main) {
    this.place = h("div");
    this.bots = h("div");
    this.bans = h("div");
    this.account = new Account("host", this.place, { label: "Admin name", button: "Open", open: () => this.open() });
    main.replaceChildren(h("h1", null, "Host"), this.account.fault, this.place);
    this.account.begin();
  }

  // Reload regularly while the page is visible.
  async open() {
    if (!(await this.ask(""))) return;
    this.account.keep();
    const field = (label, name) => h("label", { class: "row" }, label, h("input", { name, maxlength: 100, autocomplete: "off" }));
    const form = (title, button, fields, act) => h("form", { class: "search-form", "aria-label": title, onsubmit: (event) => {
      event.preventDefault();
      act(new FormData(event.target));
    } }, fields, h("button", { class: "button" }, button));
    this.place.replaceChildren(
      h("h2", null, "Connected"), this.bots,
      h("h2", null, "Bans and notices"), this.bans,
      form("Ban", "Ban", [field("Name or address", "name"), field("Reason", "text")], (given) => this.act("ban", given.get("name"), given.get("text"))),
      form("Notice", "Show for an hour", [field("Notice", "text")], (given) => this.act("notice", "", given.get("text"))));
    this.again();
  }

  again() {
    clearTimeout(this.timer);
    if (this.account.who && !this.stopped) this.timer = setTimeout(async () => (document.hidden || (await this.ask("")), this.again()), AGAIN_MS);
  }

  act(action, name, text) {
    return this.ask(`?${new URLSearchParams({ do: action, name: String(name).trim(), text: String(text).trim() })}`);
  }

  async ask(query) {
    try {
      const found = await fetchAs(basic(this.account.who), `host${query}`);
      if (this.stopped) return false;
      say(this.account.fault, "");
      this.show(found);
      return true;
    } catch (error) {
      if (!this.stopped) this.account.refused(error);
      return false;
    }
  }

  show({ bots, spectators, directives }) {
    const columns = ["Bot", "Online", "Address", "Program", "Matches", "Forfeits", "Suspended", ""];
    const button = (words, press) => h("button", { type: "button", class: "small", onclick: press }, words);
    this.bots.replaceChildren(
      h("p", { class: "quiet" }, `${plural(bots.length, "bot")}, ${plural(spectators, "spectator")}`),
      bots.length ? table("Connected bots", columns, bots.map((each) => [
        h("a", { href: addressOf("bot", each.name) }, each.name), each.seconds === null ? "" : lasted(each.seconds), each.address ?? "", each.program,
        `${each.matches} of ${each.capacity}`, each.forfeits, each.suspended,
        h("span", { class: "sure" }, button("Kick", () => this.act("kick", each.name, "")), button("Ban", () => this.act("ban", each.name, "")))])) : "");
    this.bans.replaceChildren(directives.length ? table("Bans and notices", ["What", "Text", "Until", ""], directives.map(({ kind, subject, text, until }) => [
      kind === "notice" ? "notice" : kind === "owner" ? `owner ${subject}` : subject, text, until ? when(until) : "", button("Lift", () => this.act("lift", subject, ""))]))
      : h("p", { class: "quiet" }, "None."));
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }
}

const lasted = (seconds) => (seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`);
