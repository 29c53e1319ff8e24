// A new token, shown once, and the form that asks for a name.

import { h, say } from "../dom.js";
import { copied } from "./share.js";

export function newToken({ name, token }) {
  const server = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
  const field = (label, value) => h("label", { class: "row" }, label, copied(label, value));
  return h("section", { class: "play-form sheet-of", role: "group", "aria-label": `Token of ${name}` },
    h("h2", null, `The token of ${name}`),
    h("p", null, "This is the only time it is shown. Anyone who has it can play as your bot and change your bots: keep it like a password."),
    field("Token", token),
    field("Connect your bot", `arena bot my_bot.py --name ${quoted(name)} --token ${token} --url ${server}`));
}

// Quote a name for a command, in a shell of any system.
const quoted = (name) => (/^[\w.-]+$/.test(name) ? name : `"${name.replace(/["\\$`]/g, "\\$&")}"`);

// Form with the name of a bot. `take` is called with it; its rejection is shown.
export function nameForm(button, take) {
  const name = h("input", { name: "name", required: true, maxlength: 64, autocomplete: "off" });
  const fault = h("p", { class: "fault", role: "alert" });
  const press = h("button", { class: "button" }, button);
  return h("form", { class: "play-form", onsubmit: async (event) => {
    event.preventDefault();
    press.disabled = true;
    say(fault, "");
    try {
      await take(name.value.trim());
    } catch (error) {
      say(fault, error.message);
    }
    press.disabled = false;
  } }, h("label", { class: "row" }, "Name of the bot", name), press, fault);
}
