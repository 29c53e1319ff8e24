// Frames of views: the head of a page, its two columns, and cards that stand alone, of a view that is one short form or one sentence, and in
// the place of data that the server could not send.

import { h } from "../dom.js";

// The title, a line about it, and at the right what to do.
export const head = (title, line, ...actions) => h("div", { class: "head" }, h("div", null, title, line), h("div", { class: "actions" }, actions));

// The first section of a page, the cards beside it, and the sections below it. On a phone, the cards are below the first section.
export const page = (first, cards, ...rest) => h("div", { class: "page" }, first, cards.length ? h("div", { class: "aside" }, cards) : null, h("div", null, rest));

// Figures with the name of each: pairs of a name and a value.
export const facts = (pairs) => h("dl", { class: "facts" }, pairs.map(([what, ...value]) => h("div", null, h("dt", null, what), h("dd", null, value))));

export const loneCard = (...content) => h("div", { class: "lone" }, content);

// `failed` has a button to try again.
export const failed = (error) => h("div", { class: "failed" }, h("p", { class: "fault", role: "alert" }, error.message),
  h("button", { type: "button", onclick: () => location.reload() }, "Try again"));
