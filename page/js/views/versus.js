// Two bots: their scores against each other, and all their matches.

import { navigate, addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h } from "../dom.js";
import { facts, failed, loneCard } from "../parts/cards.js";
import { PagedList } from "../parts/paged.js";
import { inWords, recordBar } from "../parts/tables.js";
import { GAME_NAMES, botTitle, plural } from "../text.js";

export class VersusView {
  constructor(main, [bot = "", opponent = ""]) {
    this.scores = h("div", { class: "scores" });
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
    return loneCard(h("form", { class: "play-form", onsubmit: submit }, h("p", null, "All matches of two bots against each other, and the score."), name("Bot", "bot", bot), name("Against", "opponent", ""), h("button", { class: "button" }, "Compare")));
  }

  async load(bot, opponent) {
    try {
      const found = await fetchJson(`versus?bot=${encodeURIComponent(bot)}&opponent=${encodeURIComponent(opponent)}`);
      if (this.stopped) return;
      this.scores.replaceChildren(...(found.length ? found.map((each) => score([bot, opponent], each)) : [h("p", { class: "quiet" }, "They have not played a rated match against each other.")]));
    } catch (error) {
      this.scores.replaceChildren(failed(error));
    }
    this.matches.hidden = false;
  }

  stop() {
    this.stopped = true;
  }
}

// Both bots' points, and from the first one's view how the matches ended.
function score(bots, each) {
  const { game, won, drawn, lost } = each;
  const points = [won + drawn / 2, lost + drawn / 2];
  return h("section", null,
    facts(bots.map((bot, n) => [botTitle(bot), points[n]])),
    recordBar(each),
    h("p", { class: "quiet" }, `${GAME_NAMES[game] ?? game} · ${inWords(each)} · ${plural(won + drawn + lost, "rated match", "rated matches")}`));
}
