// Button that shows the newest move of a live match.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

export class JumpButton {
  constructor(jump) {
    this.element = h("button", { type: "button", class: "small", hidden: true, onclick: jump }, "Jump to live");
  }

  // `behind`: number of moves that are not shown yet.
  show(behind) {
    set(this.element, { hidden: behind < 2, title: `${plural(behind, "move")} behind` });
    say(this.element, `Jump to live (${behind})`);
  }
}
