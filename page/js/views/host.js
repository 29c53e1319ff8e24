// The host's page, opened with an admin's token: connected, suspended and banned bots, their names, and the notice to all clients.

import { addressOf } from "../router.js";
import { readAs, changeAs, basic } from "../api.js";
import { h, say } from "../dom.js";
import { Account } from "../parts/account.js";
import { copied } from "../parts/share.js";
import { table } from "../parts/tables.js";
import { plural, when } from "../text.js";

const AGAIN_MS = 5000;
const RENAMING_MS = 1000;

export class HostView {
  constructor(main) {
    this.place = h("div", { class: "words" });
    this.bots = h("div");
    this.bans = h("div");
    this.renames = h("div");
    this.actionFailed = false;
    this.actions = 0; // how many have begun
    this.account = new Account("host", this.place, {
      about: "Log in with an admin’s token to see the connected bots, to rename, hide or ban them, and to send a notice to all visitors.", label: "Admin name", button: "Log in",
      beside: [h("h2", null, "No admin’s token yet?"), h("p", null, "Create one on the machine that runs this server:"), copied("Command", "arena token create NAME --role admin"),
        h("p", null, "To let people connect bots, invite them:"), copied("Command of an invitation", "arena invite NAME --bots 2")],
      open: () => this.open(),
    });
    main.replaceChildren(h("h1", null, "Host"), this.account.fault, this.place);
    this.account.begin();
  }

  // Reload regularly while the page is visible.
  async open() {
    if (!(await this.ask(""))) return;
    this.account.keep();
    const field = (label, name) => h("label", { class: "row" }, label, h("input", { name, required: name !== "text", maxlength: 100, autocomplete: "off" }));
    // Each button is an action with the values of the fields.
    const form = (title, buttons, fields) => h("form", { class: "search-form", "aria-label": title, onsubmit: (event) => {
      event.preventDefault();
      this.act(event.submitter.value, Object.fromEntries(new FormData(event.target)));
    } }, fields, Object.entries(buttons).map(([value, words]) => h("button", { value }, words)));
    this.place.replaceChildren(
      h("section", null, h("h2", null, "Connected"), this.bots),
      h("section", null, h("h2", null, "Names"), this.renames,
        form("Rename", { rename: "Rename" }, [field("Bot", "name"), field("New name", "to")]),
        h("p", { class: "quiet" }, "A bot that is renamed or hidden is disconnected, and loses a match in progress. Its token, ratings and matches stay.")),
      h("section", null, h("h2", null, "Bans and notices"), this.bans,
        form("Ban", { ban: "Ban" }, [field("Name or address", "name"), field("Reason", "text")]),
        form("Owner", { ban: "Ban all bots", hide: "Hide all names" }, [field("Owner", "owner"), field("Reason", "text")]),
        form("Notice", { notice: "Show for an hour" }, [field("Notice", "text")])));
    this.again();
  }

  again() {
    clearTimeout(this.timer);
    if (this.account.who && !this.stopped) this.timer = setTimeout(async () => (document.hidden || (await this.ask("")), this.again()), this.waiting ? RENAMING_MS : AGAIN_MS);
  }

  async act(action, given) {
    const values = Object.entries(given).map(([name, value]) => [name, String(value).trim()]);
    await this.ask(`?${new URLSearchParams([["do", action], ...values])}`);
    this.again();
  }

  // The fault of an action stays until the next action. An answer is not shown after a later action has begun: it may be older than the action.
  async ask(query) {
    if (query) this.actions += 1;
    const before = this.actions;
    try {
      const found = await (query ? changeAs : readAs)(basic(this.account.who), `host${query}`);
      if (this.stopped || this.actions > before) return false;
      if (query) this.actionFailed = false;
      if (!this.actionFailed) say(this.account.fault, "");
      this.show(found);
      return true;
    } catch (error) {
      if (query) this.actionFailed = true;
      if (!this.stopped) this.account.refused(error);
      return false;
    }
  }

  show({ bots, spectators, directives, renames }) {
    const columns = ["Bot", "Matches", "Forfeits", "Suspended", ""];
    const button = (words, action, given) => h("button", { type: "button", class: "small", onclick: () => this.act(action, given) }, words);
    this.bots.replaceChildren(
      h("p", { class: "quiet" }, bots ? `${plural(bots.length, "bot")}, ${plural(spectators, "spectator")}` : "The server is too busy to list its bots."),
      bots?.length ? table("Connected bots", columns, bots.map((each) => [
        h("span", null, h("a", { href: addressOf("bot", each.name) }, each.name), h("span", { class: "details-of" }, connection(each))),
        `${each.matches} of ${each.capacity}`, each.forfeits, each.suspended,
        h("span", { class: "sure" }, ["Kick", "Ban", "Hide"].map((words) => button(words, words.toLowerCase(), { name: each.name })))])) : "");
    this.renames.replaceChildren(renames.length ? table("Renamed bots", ["Bot", "New name", "", ""], renames.map(({ name, other, problem }) => [
      name, other, problem === null ? "in progress" : problem || "done", problem === "" ? button("Undo", "rename", { name: other, to: name }) : ""])) : "");
    this.bans.replaceChildren(directives.length ? table("Bans and notices", ["What", "Text", "Until", ""], directives.map(({ kind, subject, text, until }) => [
      kind === "notice" ? "notice" : kind === "owner" ? `owner ${subject}` : subject, text, until ? when(until) : "",
      button("Lift", "lift", kind === "notice" ? {} : { [kind === "owner" ? "owner" : "name"]: subject })]))
      : h("p", { class: "quiet" }, "None."));
    this.waiting = renames.some((each) => each.problem === null);
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }
}

// Return who connected a bot, for how long, from where, and with which program.
const connection = ({ owner, seconds, address, program }) => [owner, seconds === null ? "" : lasted(seconds), address, program].filter(Boolean).join(" · ");

const lasted = (seconds) => (seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`);
