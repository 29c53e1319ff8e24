// Message in the place of data that the server could not send, with a button to try again.

import { h } from "../dom.js";

export const failed = (error) => h("div", { class: "failed" }, h("p", { class: "fault", role: "alert" }, error.message),
  h("button", { type: "button", onclick: () => location.reload() }, "Try again"));
