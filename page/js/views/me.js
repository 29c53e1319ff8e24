// An owner's bots, opened with the token of any of them: their results, tokens and match logs.

import { addressOf } from "../router.js";
import { fetchJson, readAs, changeAs, basic } from "../api.js";
import { h, say, set } from "../dom.js";
import { Account } from "../parts/account.js";
import { pastItem } from "../parts/matchlist.js";
import { noBotYet } from "../parts/newcomer.js";
import { nameForm, newToken } from "../parts/newtoken.js";
import { rulesSection } from "../parts/rules.js";
import { ratingText, scrolling } from "../parts/tables.js";
import { GAME_NAMES, plural, spent, when } from "../text.js";

const LISTED = 6;

export class MeView {
  constructor(main) {
    this.tokens = h("div");
    this.place = h("div");
    this.account = new Account("bot", this.place, {
      about: "Log in with the token of any of your bots to see the ratings and match logs of all your bots, and to get new tokens.", label: "Name of one of your bots", button: "Show my bots",
      beside: noBotYet(), open: () => this.open(), left: () => this.tokens.replaceChildren(),
    });
    main.replaceChildren(h("h1", null, "Your bots"), this.tokens, this.account.fault, this.place, rulesSection());
    this.account.begin();
  }

  async open() {
    say(this.account.fault, "");
    try {
      const found = await readAs(basic(this.account.who), "me");
      this.account.keep();
      // A bot without finished matches has no page yet.
      const known = await Promise.all(found.bots.map((each) => (each.retired ? null : fetchJson(`bot?name=${encodeURIComponent(each.name)}`).catch(() => null))));
      if (!this.stopped) this.show(found, known);
    } catch (error) {
      if (!this.stopped) this.account.refused(error);
    }
  }

  show({ owner, bots, left, until, events }, known) {
    const retired = bots.filter((each) => each.retired).map((each) => each.name);
    this.place.replaceChildren(
      h("div", { class: "signed-in" }, h("p", { class: "quiet" }, `Signed in as ${owner} with the token of ${this.account.who.name}.`), h("button", { type: "button", class: "small", onclick: () => this.account.leave() }, "Sign out")),
      ...bots.flatMap((each, n) => (each.retired ? [] : [this.one(each, known[n], events)])),
      ...(left ? [h("section", null, h("h2", null, "Another bot"), nameForm("Add the bot", (name) => this.changeToken("create", name)),
        h("p", { class: "quiet" }, `You can register ${plural(left, "more name")} until ${when(until)}.`))] : []),
      ...(retired.length ? [h("p", { class: "quiet" }, `Retired: ${retired.join(", ")}`)] : []));
  }

  one({ name, created, rotated }, known, events) {
    const act = (word) => () => this.changeToken(word, name).catch((error) => say(this.account.fault, error.message));
    const sure = h("span", { class: "sure", role: "group", "aria-label": `Retire ${name}?`, hidden: true }, h("span", null, "Its name and its matches are kept. Retire it?"),
      h("button", { type: "button", class: "small danger", onclick: act("revoke") }, "Yes, retire"),
      h("button", { type: "button", class: "small", onclick: () => set(sure, { hidden: true }) }, "No"));
    const standings = known?.standings ?? [];
    return h("section", { "aria-label": name }, h("h2", null, h("a", { href: addressOf("bot", name) }, name)),
      h("p", null, standings.length ? standings.map((each) => `${GAME_NAMES[each.game] ?? each.game}: ${ratingText(each)} from ${plural(each.matches, "rated match", "rated matches")}`).join("; ") : "No rated matches yet."),
      h("p", { class: "actions" }, h("button", { type: "button", class: "small", onclick: act("rotate") }, "New token"),
        h("button", { type: "button", class: "small danger", onclick: () => set(sure, { hidden: false }) }, "Retire"), sure,
        h("span", { class: "quiet" }, `Token from ${when(rotated ?? created)}`)),
      events.length > 0 && h("ul", { class: "plain" }, events.map((each) => this.event(each, name))),
      known && h("ul", { class: "cards logs" }, known.matches.slice(0, LISTED).map((match) => this.match(match))));
  }

  // An event that has yet to end, with the button that enters a bot or withdraws it.
  event({ event, state, begins, bots }, name) {
    const inside = bots.includes(name);
    const act = () => this.change(`me/${inside ? "withdraw" : "enter"}?event=${encodeURIComponent(event)}&name=${encodeURIComponent(name)}`)
      .catch((error) => say(this.account.fault, error.message));
    const stands = `${state === "open" ? `starts ${when(begins)}` : state}${inside ? `, with ${name}` : ""} `;
    return h("li", null, h("a", { href: addressOf("event", event) }, event), `, ${stands}`,
      h("button", { type: "button", class: "small", onclick: act }, inside ? `Withdraw from ${event}` : `Enter ${event}`));
  }

  match(past) {
    const item = pastItem(past);
    const place = h("div");
    const open = h("button", { type: "button", class: "small", onclick: async () => {
      try {
        place.replaceChildren(logTable(await readAs(basic(this.account.who), `log/${encodeURIComponent(past.match)}`, "GET")));
      } catch (error) {
        place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
      }
    } }, "Log");
    item.append(open, place);
    return item;
  }

  // If the token that opened this page changes, use the new one.
  changeToken(word, name) {
    return this.change(`token/${word}?name=${encodeURIComponent(name)}`, (given) => {
      if (given.token) this.tokens.replaceChildren(newToken(given));
      if (name === this.account.who.name) this.account.who = given;
    });
  }

  // Send a change, and show the bots anew. Until then nothing can be pressed: what it opens would be gone.
  async change(path, changed = (/** @type {any} */ _answer) => {}) {
    say(this.account.fault, "");
    this.place.inert = true;
    try {
      changed(await changeAs(basic(this.account.who), path));
      if (this.account.who.token) await this.open();
      else this.account.leave();
    } finally {
      this.place.inert = false;
    }
  }

  stop() {
    this.stopped = true;
  }
}

// Steps of a match as the server saw them. The words are last, because they may be long.
function logTable({ game, steps }) {
  const time = (ms) => (ms === null || ms === undefined ? "" : spent(ms));
  // The server writes a move of Riskless as "A B", or as "New A > B".
  const words = (what) => (game === "riskless" ? what.replace(/^([^\s[{"]+) (\S+)$/, "$1 → $2").replace(" > ", " → ") : what);
  const columns = ["At", "Ply", "Took", "Left", "What"];
  return scrolling("Log", h("table", null,
    h("thead", null, h("tr", null, columns.map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", null, steps.map(({ at, what, ply, took, left, wrong }) => h("tr", null,
      [`${(at / 1000).toFixed(1)} s`, ply ?? "", time(took), time(left), `${ply === null ? what : words(what)}${wrong ? `: ${wrong}` : ""}`].map((each) => h("td", null, each)))))));
}
