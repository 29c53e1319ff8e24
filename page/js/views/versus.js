// Two bots: what one has scored against the other, and all their matches.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { Paged } from "../parts/paged.js";
import { GAME_NAMES, plural } from "../text.js";

export class VersusView {
  constructor(main, [bot = "", opponent = ""]) {
    this.scores = h("div");
    main.replaceChildren(
      h("h1", null, h("a", { href: to("bot", bot) }, bot), " against ", h("a", { href: to("bot", opponent) }, opponent)),
      this.scores,
      h("h2", null, "Their matches"),
      new Paged(`search?bot=${encodeURIComponent(bot)}&opponent=${encodeURIComponent(opponent)}`).element);
    this.load(bot, opponent);
  }

  async load(bot, opponent) {
    try {
      const found = await ask(`versus?bot=${encodeURIComponent(bot)}&opponent=${encodeURIComponent(opponent)}`);
      if (this.stopped) return;
      this.scores.replaceChildren(...(found.length ? found.map((each) => score(bot, each)) : [h("p", { class: "quiet" }, "They have played no rated match.")]));
    } catch (error) {
      this.scores.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  stop() {
    this.stopped = true;
  }
}

function score(bot, { game, won, drawn, lost }) {
  const all = won + drawn + lost;
  return h("section", null, h("h2", null, GAME_NAMES[game] ?? game),
    h("p", null, h("strong", null, `${won + drawn / 2} of ${all}`), ` for ${bot}: ${won} won, ${drawn} drawn, ${lost} lost in ${plural(all, "rated match", "rated matches")}`),
    h("meter", { min: 0, max: all, value: won + drawn / 2, "aria-label": `Points of ${bot}` }));
}
