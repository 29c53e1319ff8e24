// An invitation: its owner chooses names for bots, and each token is shown once.

import { readAs, changeAs, bearer } from "../api.js";
import { h, set } from "../dom.js";
import { saveToken } from "../saved.js";
import { failed, loneCard } from "../parts/cards.js";
import { nameForm, newToken } from "../parts/newtoken.js";
import { rulesSection } from "../parts/rules.js";
import { plural, when } from "../text.js";

const STEPS = [
  "Choose a name for it. You then see its token, once: keep it like a password.",
  "Connect your bot with the command that is shown with the token.",
  "It plays rated matches by itself. Its rating, its matches and their logs are on the page of your bots.",
];

export class JoinView {
  constructor(main, [code = ""]) {
    this.secret = bearer(code);
    this.tokens = h("div");
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading…"));
    this.steps = h("section", { class: "briefing", hidden: true }, h("h2", null, "How your bot gets to play"), h("ol", null, STEPS.map((each) => h("li", null, h("span", null, each)))));
    main.replaceChildren(h("h1", null, "You are invited"), this.tokens, loneCard(this.place, this.steps), rulesSection());
    this.load();
  }

  async load() {
    try {
      const found = await readAs(this.secret, "join");
      if (!this.stopped) this.show(found);
    } catch (error) {
      if (!this.stopped) this.place.replaceChildren(failed(error));
    }
  }

  show({ owner, bots, left, until }) {
    const taken = bots.filter((each) => !each.retired).map((each) => each.name);
    set(this.steps, { hidden: !left });
    this.place.replaceChildren(
      left ? h("section", null, h("h2", null, taken.length ? "Another bot" : `Choose a name for your bot, ${owner}`),
        nameForm("Take this name", (name) => this.take(name)),
        h("p", { class: "quiet" }, `You can register ${plural(left, taken.length ? "more name" : "name")} until ${when(until)}.`)) : h("p", null, "This invitation has no names left."),
      taken.length ? h("p", null, `Yours: ${taken.join(", ")}. `, h("a", { href: "/me" }, "Your bots")) : "");
  }

  async take(name) {
    const given = await changeAs(this.secret, `join?name=${encodeURIComponent(name)}`);
    saveToken("bot", given);
    this.tokens.append(newToken(given));
    await this.load();
  }

  stop() {
    this.stopped = true;
  }
}
