// The dialog in which a reader chooses light or dark, sound, and how fast armies travel.

import { choose, comfort } from "../comfort.js";
import { h } from "../dom.js";
import { sound } from "./sound.js";

const THEMES = [["system", "as the system"], ["light", "light"], ["dark", "dark"]];
const PACES = [[0, "not at all"], [0.5, "slowly"], [1, "as usual"], [2, "quickly"]];

const dialog = h("dialog", { class: "keys", "aria-labelledby": "comfort-title" });
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

export function showSettings() {
  const { theme, pace } = comfort();
  const select = (choices, chosen, take) => {
    const element = h("select", { onchange: () => take(element.value) }, choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    return element;
  };
  const noise = h("input", { type: "checkbox", onchange: () => { choose({ sound: noise.checked }); sound("quiet"); } });
  noise.checked = comfort().sound;
  dialog.replaceChildren(
    h("h2", { id: "comfort-title" }, "Comfort"),
    h("p", null, h("label", null, "Light or dark ", select(THEMES, theme, (value) => choose({ theme: value })))),
    h("p", null, h("label", null, "Armies travel ", select(PACES, pace, (value) => choose({ pace: Number(value) })))),
    h("p", null, h("label", { class: "tick" }, noise, " A sound for each move")),
    h("p", { class: "quiet" }, "Where the system asks for reduced motion nothing moves by itself."),
    h("form", { method: "dialog" }, h("button", { type: "submit", class: "button" }, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}
