// The reader's preferences: theme, sound, pace and notifications, stored in the browser.

const KEY = "arena-comfort";
const DEFAULTS = { theme: "system", sound: false, pace: 1, notify: false };
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const listeners = new Set();

let chosen = read();

export const preferences = () => chosen;

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const tell of listeners) tell(chosen);
});

// Call a listener after each change, also when the system changes between light and dark.
export function onPreferences(tell) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export function setPreferences(change) {
  chosen = { ...chosen, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // if storage is switched off, preferences last as long as the page
  }
  apply();
  for (const tell of listeners) tell(chosen);
}

// Notify a reader who looks at another window. The service worker does it, because on a phone a page may not.
export async function notify(title, body) {
  if (!chosen.notify || !document.hidden || window.Notification?.permission !== "granted") return;
  const worker = await navigator.serviceWorker.getRegistration();
  worker?.showNotification(title, { body, tag: "arena-turn", data: location.href });
}

export const isReduced = () => still.matches; // the system asks for it
// Return true if animations are switched off.
export const isStill = () => isReduced() || chosen.pace === 0;

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
      notify: found.notify === true,
      pace: [0, 0.5, 1, 2].includes(found.pace) ? found.pace : DEFAULTS.pace,
    };
  } catch {
    return DEFAULTS;
  }
}
