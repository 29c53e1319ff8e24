// What a view shows in the place of data that the server could not send.

import { h } from "../dom.js";

export const failed = (error) => h("div", { class: "failed" }, h("p", { class: "fault", role: "alert" }, error.message),
  h("button", { type: "button", onclick: () => location.reload() }, "Try again"));
