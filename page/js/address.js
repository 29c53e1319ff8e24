// The addresses of the page, and how it goes from one to another without being loaded anew: /match/ID/PLY, /bot/NAME …
// What an address says stands in its path; a name that a path cannot have, as a bot's that is called "..", in its query.

const DOTS = new Set([".", ".."]); // a browser takes these out of a path, however they are written

// The address of a view: to("match", id, ply). What is null, undefined or empty at the end is left out.
export function to(view, ...parts) {
  const given = parts.map((each) => String(each ?? ""));
  while (given.length && given[given.length - 1] === "") given.pop();
  if (!given.some((each) => DOTS.has(each) || each === "")) return `/${[view, ...given].map(encodeURIComponent).join("/")}`;
  return `/${view}?${given.map((each) => `name=${encodeURIComponent(each)}`).join("&")}`;
}

// The view of an address and what it says, as in ["match", [id, ply]].
export function read(place = location) {
  const [view = "", ...parts] = place.pathname.slice(1).split("/");
  return [decode(view), [...parts.filter(Boolean).map(decode), ...new URLSearchParams(place.search).getAll("name")]];
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const listeners = new Set();

// Tell whenever the page has gone to another address.
export function onGone(tell) {
  listeners.add(tell);
}

const tell = () => listeners.forEach((each) => each());

// Go to an address of the page.
export function go(address) {
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  tell();
}

// Let the address say where the reader is by now; that is no step that "back" undoes.
export const rename = (address) => history.replaceState(null, "", address);

// Older addresses, #/match/ID/PLY, lead to what they meant.
function translate(views) {
  if (!location.hash.startsWith("#/")) return false;
  const [view = "", ...parts] = location.hash.slice(2).split("/").map(decode);
  rename(view && views.has(view) ? to(view, ...parts) : "/");
  return true;
}

// Follow links within the page, and the browser's own steps back and on. `views` are the names of the views.
export function follow(views) {
  translate(views);
  window.addEventListener("hashchange", () => translate(views) && tell());
  window.addEventListener("popstate", () => location.hash.startsWith("#/") || tell());
  document.addEventListener("click", (event) => {
    const link = /** @type {any} */ (event.target).closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hash) return;
    if (!views.has(read(link)[0])) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
