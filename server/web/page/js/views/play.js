// Where a match of one's own is asked for.

import { ask } from "../api.js";
import { h, say, set } from "../dom.js";
import { playForm } from "../parts/playform.js";
import { playing } from "../playing.js";
import { onListing } from "../spectator.js";

export class PlayView {
  constructor(main, [opponent]) {
    this.status = h("p", { class: "status", role: "status" });
    this.cancel = h("button", { type: "button", hidden: true, onclick: () => playing.withdraw() }, "Ask for no match after all");
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    main.replaceChildren(h("h1", null, "Play"), this.place, this.status, this.cancel);
    this.onChange = () => this.show();
    playing.addEventListener("change", this.onChange);
    this.prepare(opponent ?? "");
  }

  async prepare(opponent) {
    try {
      this.form = playForm(await ask("about"), opponent, (asked) => playing.ask(asked));
      if (this.stopped) return;
      this.form.setBots([]); // whom the address names can be asked before the first listing has come
      this.unlist = onListing(({ bots }) => this.form.setBots(bots));
      this.place.replaceChildren(this.form.element);
      this.show();
    } catch (error) {
      say(this.status, error.message);
    }
  }

  show() {
    const asking = playing.state === "asking";
    this.form?.setBusy(asking || playing.goesOn);
    set(this.cancel, { hidden: !asking });
    say(this.status, playing.goesOn ? "Your match goes on: this form is for the next one." : playing.note || playing.fault);
  }

  stop() {
    this.stopped = true;
    this.unlist?.();
    playing.removeEventListener("change", this.onChange);
  }
}
