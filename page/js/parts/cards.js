// Cards that stand alone: of a view that is one short form or one sentence, and in the place of data that the server could not send.

import { h } from "../dom.js";

export const loneCard = (...content) => h("div", { class: "lone" }, content);

// `failed` has a button to try again.
export const failed = (error) => h("div", { class: "failed" }, h("p", { class: "fault", role: "alert" }, error.message),
  h("button", { type: "button", onclick: () => location.reload() }, "Try again"));
