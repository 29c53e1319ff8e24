// Banners above every view: the reader's match in progress, an outage of the server, a newer version of the page.

import { navigate, addressOf } from "../router.js";
import { h, on, say, set } from "../dom.js";
import { playing } from "../playing.js";
import { onServer } from "../server.js";
import { spectator } from "../spectator.js";
import { botTitle, clock, other } from "../text.js";

const TICK_MS = 250;
const MAX_MS = 2 ** 31 - 1; // maximum of a timer

export class Banners {
  // isShown(match): true if the page shows the reader's match.
  constructor(isShown) {
    this.isShown = isShown;
    this.mine = new MatchBar();
    this.server = h("p", { class: "bar fault-bar", role: "status", hidden: true });
    this.reload = h("button", { type: "button", onclick: () => location.reload() }, "Reload");
    this.newer = h("p", { class: "bar", role: "status", hidden: true }, "This page is out of date: the server has been upgraded. ", this.reload);
    this.notice = h("p", { class: "bar", role: "status", hidden: true });
    this.element = h("div", { class: "bars" }, this.notice, this.server, this.newer, this.mine.element);
    spectator().addEventListener("welcome", () => set(this.notice, { hidden: true }));
    on(spectator(), "notice", ({ text, until }) => {
      clearTimeout(this.ends);
      if (until) this.ends = setTimeout(() => set(this.notice, { hidden: true }), Math.min(MAX_MS, Date.parse(until) - Date.now()));
      set(this.notice, { hidden: !text });
      say(this.notice, text);
    });
    this.away = false;
    onServer(({ away, newer }) => {
      this.away = away;
      this.show();
      say(this.server, away ? "The server does not answer. Reconnecting…" : "");
      set(this.newer, { hidden: !newer });
    });
    playing.addEventListener("change", () => this.show());
    setInterval(() => this.show(), TICK_MS);
  }

  show() {
    // The view of the reader's match reports its state itself, once it has the match.
    const said = playing.lostAt !== null && playing.match !== null && playing.goesOn && this.isShown(playing.matchId);
    set(this.server, { hidden: !this.away || said });
    this.mine.show(playing.goesOn && !this.isShown(playing.matchId));
  }
}

class MatchBar {
  constructor() {
    this.words = h("span", null);
    this.link = h("a", { class: "button", href: "/" }, "Back to the match");
    this.here = h("button", { type: "button", class: "button", onclick: () => this.comeBack() }, "Play here");
    this.token = h("input", { type: "password", "aria-label": "Your token", placeholder: "Your token", maxlength: 128, autocomplete: "off" });
    this.element = h("section", { class: "bar match-bar", "aria-label": "Your match", hidden: true }, this.words, this.link, this.here);
  }

  comeBack() {
    navigate(addressOf("match", playing.matchId));
    playing.comeBack(this.token.value || undefined);
  }

  show(shown) {
    set(this.element, { hidden: !shown });
    if (!shown) return;
    const away = playing.state === "elsewhere" || playing.state === "token";
    if (playing.state !== "token") this.token.remove();
    else if (!this.token.isConnected) this.words.after(this.token);
    set(this.here, { hidden: !away });
    set(this.link, { hidden: away, href: addressOf("match", playing.matchId) });
    say(this.words, this.told());
  }

  told() {
    const { match, entry } = playing;
    const opponent = match ? match.players[other(playing.seat)] : botTitle(entry.asked?.opponent || "an opponent");
    const head = `Your match against ${opponent} is still on`;
    if (playing.state === "elsewhere") return `${head}, in another tab.`;
    if (playing.state === "token") return `${head}. Enter your token to return to it.`;
    if (!match || !playing.moves.length) return `${head}.`;
    return `${head}: your turn, ${clock(match.clockNow(playing.seat))} left.`;
  }
}
