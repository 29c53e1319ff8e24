// Form that requests a match for the reader.

import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { keyed } from "../parts/keyed.js";
import { playForm } from "../parts/playform.js";
import { playing } from "../playing.js";
import { onLobbyListing } from "../spectator.js";
import { SIDES, botTitle, control, gameTitle, other, timeTitle } from "../text.js";

const LISTING_MS = 1500; // a server that is busy may list its bots later than that

export class PlayView {
  constructor(main, [opponent]) {
    this.status = h("p", { class: "status", role: "status" });
    this.cancel = h("button", { type: "button", class: "button plain big", hidden: true, onclick: () => playing.withdraw() }, "Cancel");
    this.place = h("div", { class: "form-place" }, h("p", { class: "quiet" }, "Loading…"));
    this.offers = h("ul", { class: "bots" });
    this.open = h("section", { hidden: true }, h("h2", null, "Open challenges"), this.offers);
    main.replaceChildren(h("h1", null, "Play"), this.place, this.status, this.cancel);
    this.form = /** @type {any} */ (null);
    this.listing = /** @type {any} */ ({ bots: [], challenges: [] });
    this.onChange = () => this.show();
    playing.addEventListener("change", this.onChange);
    this.prepare(opponent ?? "", new URLSearchParams(location.search).get("map"));
  }

  // The form is shown together with the first listing, which names the bots that can be challenged. `map`: chosen at first, if the server has it.
  async prepare(opponent, map) {
    const listed = new Promise((resolve) => {
      this.unlist = onLobbyListing((listing) => {
        this.listing = listing;
        resolve(null);
        this.list();
      });
      setTimeout(resolve, LISTING_MS);
    });
    try {
      const [about] = await Promise.all([fetchJson("about"), listed]);
      if (this.stopped) return;
      this.form = playForm(about.maps.includes(map) ? { ...about, map } : about, opponent, (asked) => playing.ask(asked));
      this.list();
      this.form.go.prepend(this.status);
      this.form.go.append(this.cancel);
      this.form.beside.append(this.open); // where a challenge that arrives moves nothing
      this.place.replaceChildren(this.form.element);
      this.show();
    } catch (error) {
      say(this.status, error.message);
    }
  }

  // Without a listing, an opponent named in the address can be challenged.
  list() {
    if (!this.form) return;
    const { bots, challenges } = this.listing;
    this.form.setBots(bots);
    this.offer(challenges.filter((each) => each.challenge !== playing.challenge));
  }

  // Show the open challenges of other players.
  offer(challenges) {
    keyed(this.offers, challenges, { key: ({ challenge }) => challenge, words: JSON.stringify, make: (each) => this.one(each) });
    set(this.open, { hidden: !challenges.length });
  }

  one({ challenge, challenger, game, map, time_control, seat }) {
    const mine = seat ? `you play ${SIDES[other(seat)]}` : "";
    const asked = { opponent: challenger, game, map, time_control, seat: seat ? other(seat) : null };
    return h("li", null, h("span", { class: "name" }, botTitle(challenger)),
      h("span", { class: "quiet" }, [gameTitle(game, map ?? ""), timeTitle(control(time_control)), mine].filter(Boolean).join(" · ")),
      h("button", { type: "button", class: "button", "aria-label": `Play ${botTitle(challenger)}`, onclick: () => {
        const who = this.form.who();
        if (who) playing.accept({ ...who, challenge, asked });
      } }, "Accept"));
  }

  show() {
    const asking = playing.state === "asking";
    this.form?.setBusy(asking, playing.goesOn);
    set(this.cancel, { hidden: !asking });
    say(this.status, playing.goesOn ? "Your match is still on. Set up the next one here." : playing.note || playing.fault);
  }

  stop() {
    this.stopped = true;
    this.unlist?.();
    playing.removeEventListener("change", this.onChange);
  }
}
