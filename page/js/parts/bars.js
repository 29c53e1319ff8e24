// What stands above every view: that the reader's match goes on, that the server is away, that there is a newer page.

import { go, to } from "../address.js";
import { h, say, set } from "../dom.js";
import { playing } from "../playing.js";
import { onServer } from "../server.js";
import { clock, other } from "../text.js";

const TICK_MS = 250;

export class Bars {
  // isShown(match): whether the reader's match is what the page shows.
  constructor(isShown) {
    this.isShown = isShown;
    this.mine = new MatchBar();
    this.server = h("p", { class: "bar fault-bar", role: "status", hidden: true });
    this.reload = h("button", { type: "button", onclick: () => location.reload() }, "Reload");
    this.newer = h("p", { class: "bar", role: "status", hidden: true }, "The server has been upgraded, and this page is an old one. ", this.reload);
    this.element = h("div", { class: "bars" }, this.server, this.newer, this.mine.element);
    onServer(({ away, newer }) => {
      set(this.server, { hidden: !away });
      say(this.server, away ? "The server does not answer. The page tries again by itself and goes on as soon as it does." : "");
      set(this.newer, { hidden: !newer });
    });
    playing.addEventListener("change", () => this.show());
    setInterval(() => this.show(), TICK_MS);
  }

  show() {
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
    go(to("match", playing.matchId));
    playing.comeBack(this.token.value || undefined);
  }

  show(shown) {
    set(this.element, { hidden: !shown });
    if (!shown) return;
    const away = playing.state === "elsewhere" || playing.state === "token";
    if (playing.state !== "token") this.token.remove();
    else if (!this.token.isConnected) this.words.after(this.token);
    set(this.here, { hidden: !away });
    set(this.link, { hidden: away, href: to("match", playing.matchId) });
    say(this.words, this.told());
  }

  told() {
    const { match, entry } = playing;
    const opponent = match ? match.players[other(playing.seat)] : entry.asked?.opponent || "somebody";
    const head = `Your match against ${opponent} goes on`;
    if (playing.state === "elsewhere") return `${head} in another tab.`;
    if (playing.state === "token") return `${head}. To come back to it give your token.`;
    if (playing.lostAt !== null) return `${head}. ${playing.note}`;
    if (!match || !playing.moves.length) return `${head}.`;
    return `${head}: your turn, ${clock(match.clockNow(playing.seat))} left.`;
  }
}
