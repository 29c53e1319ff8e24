// What a reader has chosen for comfort: light or dark, sound, and how fast armies travel. It is kept in the browser.

const KEY = "arena-comfort";
const DEFAULTS = { theme: "system", sound: false, pace: 1 };
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const listeners = new Set();

let chosen = read();

export const comfort = () => chosen;

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const tell of listeners) tell(chosen);
});

// Tell of each change, also of the system between light and dark.
export function onComfort(tell) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export function choose(change) {
  chosen = { ...chosen, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // storage may be switched off: then it lasts as long as the page
  }
  apply();
  for (const tell of listeners) tell(chosen);
}

// Whether nothing is to move by itself.
export const isStill = () => still.matches || chosen.pace === 0;

export function apply() {
  const root = document.documentElement;
  if (chosen.theme === "system") delete root.dataset.theme;
  else root.dataset.theme = chosen.theme;
}

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return {
      theme: ["system", "light", "dark"].includes(found.theme) ? found.theme : DEFAULTS.theme,
      sound: found.sound === true,
      pace: [0, 0.5, 1, 2].includes(found.pace) ? found.pace : DEFAULTS.pace,
    };
  } catch {
    return DEFAULTS;
  }
}
