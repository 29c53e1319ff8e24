// Is the server there, and is it still the one that this page came from? A page whose server was upgraded reloads
// itself, for the files of the old one are gone.

const RELOADED_KEY = "arena-reloaded";
const TRY_MS = 1500;
const PATIENCE_MS = 4000;
const OWN_DIGEST = new URL(import.meta.url).pathname.split("/")[2]; // the digest of this page's files

let away = false;
let newer = false;
let reloading = false;
let trying = null;
const listeners = new Set();
const holders = new Set();
let waiting = [];

// { away, newer }: whether the server does not answer, and whether it has another page than this.
export function onServer(listener) {
  listeners.add(listener);
  listener({ away, newer });
}

// While one of these says so the page does not reload by itself: something would be lost.
export function holdReload(holds) {
  holders.add(holds);
}

// Whether the page is about to reload by itself: nobody need be asked whether it may.
export const isReloading = () => reloading;

function tell() {
  for (const each of listeners) each({ away, newer });
}

// Somebody got no answer.
export function noAnswer() {
  if (!away) {
    away = true;
    tell();
  }
  trying ??= setInterval(look, TRY_MS);
}

// Somebody got an answer.
export function answered() {
  clearInterval(trying);
  trying = null;
  if (!away) return;
  away = false;
  tell();
  const ready = waiting;
  waiting = [];
  for (const each of ready) each();
  checkVersion();
}

// Resolved as soon as the server answers again.
export const whenBack = () => new Promise((resolve) => {
  waiting.push(resolve);
});

async function look() {
  try {
    await fetch("/healthz", { cache: "no-store", signal: /** @type {any} */ (AbortSignal).timeout(PATIENCE_MS) });
    answered();
  } catch {
    noAnswer();
  }
}

// Look whether the server has another page by now, and reload where nothing is lost by that.
export async function checkVersion() {
  try {
    const answer = await fetch("/api/about", { cache: "no-store" });
    if (!answer.ok) return;
    const { page } = await answer.json();
    newer = page !== OWN_DIGEST;
    tell();
    if (newer) reload(page);
  } catch {
    noAnswer();
  }
}

function reload(page) {
  if ([...holders].some((holds) => holds())) return;
  try {
    // Where something on the way keeps an old page, reloading again and again would not help.
    if (sessionStorage.getItem(RELOADED_KEY) === page) return;
    sessionStorage.setItem(RELOADED_KEY, page);
  } catch {
    return;
  }
  reloading = true;
  location.reload();
}
