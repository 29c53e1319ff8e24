// Two bots: their scores against each other, and all their matches.

import { navigate, addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h } from "../dom.js";
import { failed } from "../parts/failed.js";
import { PagedList } from "../parts/paged.js";
import { recordBar } from "../parts/tables.js";
import { GAME_NAMES, botTitle, plural } from "../text.js";

export class VersusView {
  constructor(main, [bot = "", opponent = ""]) {
    this.scores = h("div");
    if (!bot || !opponent) {
      main.replaceChildren(h("h1", null, "Two bots"), this.choose(bot));
      return;
    }
    this.matches = h("section", { hidden: true }, h("h2", null, "Matches"), // not moved by the scores
      new PagedList(`search?bot=${encodeURIComponent(bot)}&opponent=${encodeURIComponent(opponent)}`, "They have not played against each other yet.").element);
    main.replaceChildren(
      h("h1", null, h("a", { href: addressOf("bot", bot) }, botTitle(bot)), " against ", h("a", { href: addressOf("bot", opponent) }, botTitle(opponent))),
      this.scores, this.matches);
    this.load(bot, opponent);
  }

  // Both names are needed.
  choose(bot) {
    const name = (label, field, value) => h("label", { class: "row" }, label, h("input", { name: field, value, required: true, maxlength: 64, autocomplete: "off" }));
    const submit = (event) => {
      event.preventDefault();
      const given = new FormData(event.target);
      navigate(addressOf("versus", given.get("bot"), given.get("opponent")));
    };
    return h("form", { class: "play-form lone", onsubmit: submit }, h("p", null, "All matches of two bots against each other, and the score."), name("Bot", "bot", bot), name("Against", "opponent", ""), h("button", { class: "button" }, "Compare"));
  }

  async load(bot, opponent) {
    try {
      const found = await fetchJson(`versus?bot=${encodeURIComponent(bot)}&opponent=${encodeURIComponent(opponent)}`);
      if (this.stopped) return;
      this.scores.replaceChildren(...(found.length ? found.map((each) => score(bot, each)) : [h("p", { class: "quiet" }, "They have not played a rated match against each other.")]));
    } catch (error) {
      this.scores.replaceChildren(failed(error));
    }
    this.matches.hidden = false;
  }

  stop() {
    this.stopped = true;
  }
}

function score(bot, each) {
  const { game, won, drawn, lost } = each;
  const all = won + drawn + lost;
  return h("section", null, h("h2", null, GAME_NAMES[game] ?? game),
    h("p", null, h("strong", null, `${won + drawn / 2} of ${all}`), ` for ${botTitle(bot)}: ${won} won, ${drawn} drawn, ${lost} lost in ${plural(all, "rated match", "rated matches")}`),
    recordBar(each));
}
