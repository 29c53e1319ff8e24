// A name and its token, stored by this tab under a key, and the form that asks for both.

import { h, say } from "../dom.js";
import { saveToken, savedToken } from "../saved.js";
import { failed, loneCard } from "./cards.js";

const UNAUTHORIZED = 401;

export class Account {
  // beside: content of the section beside the form, for a reader without a token. open() shows the content that the token opens; left() is called
  // when the reader signs out.
  constructor(key, place, { about, label, button, beside, open, left = /** @type {() => void} */ (() => undefined) }) {
    this.key = key;
    this.place = place;
    this.words = { about, label, button };
    this.beside = h("section", { class: "briefing" }, beside);
    this.open = open;
    this.left = left;
    this.fault = h("p", { class: "fault", role: "alert" });
    this.who = savedToken(key);
  }

  begin() {
    if (this.who) this.open();
    else this.ask();
  }

  ask() {
    const field = (words, name, type) => h("label", { class: "row" }, words, h("input", { name, type, required: true, maxlength: 128, autocomplete: "off" }));
    const form = h("form", { class: "play-form", onsubmit: (event) => {
      event.preventDefault();
      const given = new FormData(event.target);
      this.who = { name: String(given.get("name")).trim(), token: String(given.get("token")) };
      this.open();
    } }, h("p", null, this.words.about), field(this.words.label, "name", "text"), field("Token", "token", "password"), h("button", { class: "button" }, this.words.button));
    this.place.replaceChildren(loneCard(form, this.beside));
  }

  keep() {
    saveToken(this.key, this.who);
  }

  leave() {
    saveToken(this.key, null);
    this.who = null;
    this.left();
    this.ask();
  }

  // Show the server's refusal. An unknown token is removed. If nothing else is shown, a button tries again.
  refused(error) {
    if (error.status === UNAUTHORIZED) this.leave();
    if (this.place.hasChildNodes()) say(this.fault, error.message);
    else this.place.replaceChildren(failed(error));
  }
}
