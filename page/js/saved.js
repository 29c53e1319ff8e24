// Data to find a match of the reader again: in this tab after a reload or a crash, and in another
// tab. This tab's match is in sessionStorage. localStorage holds it for other tabs while it is played, without
// the token, which opens more than a match. The token of an owner or a host stays in this tab alone.

const TAB_KEY = "arena-match";
const SHARED_KEY_PREFIX = "arena-match:";

// { match, name, session, token, asked }; `match` is null until the requested match starts.
export function savedMatch(match = null) {
  const all = [own(), ...shared()].filter(Boolean);
  return all.find((each) => each.match === match) ?? (match === null ? all[0] ?? null : null);
}

export function saveMatch(entry) {
  write(() => {
    sessionStorage.setItem(TAB_KEY, JSON.stringify(entry));
    if (entry.match) localStorage.setItem(SHARED_KEY_PREFIX + entry.match, JSON.stringify({ ...entry, token: "" }));
  });
}

export function forgetMatch(match) {
  write(() => {
    if (own()?.match === match) sessionStorage.removeItem(TAB_KEY);
    if (match) localStorage.removeItem(SHARED_KEY_PREFIX + match);
  });
}

// { name, token } of the reader's bot, or of the host as which the reader is signed in; or null.
export const savedToken = (of) => read(() => sessionStorage.getItem(`arena-token:${of}`));

export function saveToken(of, entry) {
  write(() => (entry ? sessionStorage.setItem(`arena-token:${of}`, JSON.stringify(entry)) : sessionStorage.removeItem(`arena-token:${of}`)));
}

// Call a listener whenever another tab has stored or removed a match.
export function onMatchForgotten(tell) {
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(SHARED_KEY_PREFIX) && newValue === null) tell(key.slice(SHARED_KEY_PREFIX.length));
  });
}

const own = () => read(() => sessionStorage.getItem(TAB_KEY));

function shared() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(SHARED_KEY_PREFIX)).sort().map((key) => read(() => localStorage.getItem(key)));
  } catch {
    return []; // storage may be switched off
  }
}

function read(item) {
  try {
    return JSON.parse(item());
  } catch {
    return null; // switched off, or written by another program
  }
}

function write(change) {
  try {
    change();
  } catch {
    return; // switched off: the match lasts as long as the page
  }
}
