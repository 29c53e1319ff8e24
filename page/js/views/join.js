// An invitation: its owner chooses names for bots, and each token is shown once.

import { readAs, changeAs, bearer } from "../api.js";
import { h } from "../dom.js";
import { saveToken } from "../saved.js";
import { nameForm, newToken } from "../parts/newtoken.js";
import { plural, when } from "../text.js";

export class JoinView {
  constructor(main, [code = ""]) {
    this.secret = bearer(code);
    this.tokens = h("div");
    this.place = h("div", { class: "lone" }, h("p", { class: "quiet" }, "Loading…"));
    main.replaceChildren(h("h1", null, "You are invited"), this.tokens, this.place);
    this.load();
  }

  async load() {
    try {
      const found = await readAs(this.secret, "join");
      if (!this.stopped) this.show(found);
    } catch (error) {
      if (!this.stopped) this.place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  show({ owner, bots, left, until }) {
    const taken = bots.filter((each) => !each.retired).map((each) => each.name);
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
