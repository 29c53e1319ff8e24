// What a match of the reader's own needs to be found again: by this tab after a reload or a crash, and by another
// tab. This tab's own is in its sessionStorage. localStorage has it for other tabs while the match goes on, without
// the token, which opens more than a match.

const OWN = "arena-match";
const SHARED = "arena-match:";

// { match, name, session, token, asked }; `match` is null while one is only asked for.
export function kept(match = null) {
  const all = [own(), ...shared()].filter(Boolean);
  return all.find((each) => each.match === match) ?? (match === null ? all[0] ?? null : null);
}

export function keep(entry) {
  write(() => {
    sessionStorage.setItem(OWN, JSON.stringify(entry));
    if (entry.match) localStorage.setItem(SHARED + entry.match, JSON.stringify({ ...entry, token: "" }));
  });
}

export function forget(match) {
  write(() => {
    if (own()?.match === match) sessionStorage.removeItem(OWN);
    if (match) localStorage.removeItem(SHARED + match);
  });
}

// Tell whenever another tab has kept or forgotten a match.
export function onForgotten(tell) {
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(SHARED) && newValue === null) tell(key.slice(SHARED.length));
  });
}

const own = () => read(() => sessionStorage.getItem(OWN));

function shared() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(SHARED)).sort().map((key) => read(() => localStorage.getItem(key)));
  } catch {
    return []; // storage may be switched off
  }
}

function read(item) {
  try {
    return JSON.parse(item());
  } catch {
    return null; // switched off, or not what this page wrote
  }
}

function write(change) {
  try {
    change();
  } catch {
    return; // switched off: then the match lasts as long as the page
  }
}
