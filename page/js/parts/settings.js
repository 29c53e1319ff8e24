// The dialog in which a reader chooses the theme, sound and pace.

import { isReduced, setPreferences, preferences } from "../preferences.js";
import { h } from "../dom.js";
import { openDialog } from "./dialog.js";
import { sound } from "./sound.js";

const THEMES = [["system", "Same as system"], ["light", "Light"], ["dark", "Dark"]];
const PACES = [[0, "No animation"], [0.5, "Slow"], [1, "Normal"], [2, "Fast"]];

export function showSettings() {
  const { theme, pace } = preferences();
  const select = (choices, chosen, take) => {
    const element = h("select", { onchange: () => take(element.value) }, choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    return element;
  };
  const noise = h("input", { type: "checkbox", onchange: () => { setPreferences({ sound: noise.checked }); sound("quiet"); } });
  noise.checked = preferences().sound;
  const called = h("input", { type: "checkbox", onchange: async () => {
    const granted = called.checked && await Notification.requestPermission() === "granted";
    called.checked = granted;
    setPreferences({ notify: granted });
  } });
  called.checked = preferences().notify;
  openDialog("settings", "Settings",
    h("p", null, h("label", { class: "row" }, "Theme", select(THEMES, theme, (value) => setPreferences({ theme: value })))),
    h("p", null, h("label", { class: "row" }, "Pace", select(PACES, pace, (value) => setPreferences({ pace: Number(value) })))),
    h("p", null, h("label", { class: "tick" }, noise, " Sounds")),
    "Notification" in window ? h("p", null, h("label", { class: "tick" }, called, " Notify me when it is my turn")) : "",
    isReduced() ? h("p", { class: "quiet" }, "Your system asks for reduced motion: nothing moves by itself.") : "");
}
