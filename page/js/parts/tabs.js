// A row of tabs. One of them is chosen, by a press or with the arrow keys.

import { h, set } from "../dom.js";

export class Tabs {
  // chosen(n) is called when the n-th tab is chosen, and once for the first one.
  constructor(label, names, chosen) {
    this.chosen = chosen;
    this.tabs = names.map((name, n) => h("button", { type: "button", class: "small", role: "tab", onclick: () => this.choose(n) }, name));
    this.element = h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event) => this.key(event) }, this.tabs);
    this.choose(0);
  }

  choose(n) {
    this.tabs.forEach((tab, k) => set(tab, { "aria-selected": String(k === n), tabindex: k === n ? 0 : -1 }));
    this.chosen(n);
  }

  isChosen(n) {
    return this.tabs[n].ariaSelected === "true";
  }

  focus() {
    this.tabs.find((tab) => tab.ariaSelected === "true").focus();
  }

  // Offer a tab, or hide it.
  offer(n, offered) {
    set(this.tabs[n], { hidden: !offered });
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation(); // these keys also lead through a match
    const offered = this.tabs.filter((tab) => !tab.hidden);
    const next = offered.at((offered.indexOf(event.target) + step) % offered.length);
    this.choose(this.tabs.indexOf(next));
    next.focus();
  }
}
