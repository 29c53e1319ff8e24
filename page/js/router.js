// Addresses of the page, and navigation between them without reloading: /match/ID/PLY, /bot/NAME …
// Parameters are in the path. A name that a path cannot contain, such as "..", is in the query.

const DOTS = new Set([".", ".."]); // browsers remove these from a path, in any encoding

// Return the address of a view: to("match", id, ply). Trailing null, undefined or empty arguments are omitted.
export function addressOf(view, ...parts) {
  const given = parts.map((each) => String(each ?? ""));
  while (given.length && given[given.length - 1] === "") given.pop();
  if (!given.some((each) => DOTS.has(each) || each === "")) return `/${[view, ...given].map(encodeURIComponent).join("/")}`;
  return `/${view}?${given.map((each) => `name=${encodeURIComponent(each)}`).join("&")}`;
}

// Return the view and parameters of an address, such as ["match", [id, ply]].
export function parseAddress(place = /** @type {URL | Location} */ (location)) {
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

// Call a listener after each navigation.
export function onNavigate(tell) {
  listeners.add(tell);
}

const tell = () => listeners.forEach((each) => each());

// Navigate to an address of the page. Another ply of the match or file that is shown gets no entry in the history: one step back leaves the match.
export function navigate(address) {
  if (matchAt(address) && matchAt(address) === matchAt(location.href)) replaceAddress(address);
  else if (address !== location.pathname + location.search) history.pushState({ within: true }, "", address);
  tell();
}

// Return the match or file that an address shows, without its ply; null for another view.
function matchAt(address) {
  const [view, [id]] = parseAddress(new URL(address, location.href));
  return view === "match" ? `match/${id}` : view === "file" ? view : null;
}

// Update the address to the reader's current place, without a new entry in the history.
export const replaceAddress = (address) => history.replaceState(history.state, "", address);

// Return true if the reader came from another view of the page.
export const hasCome = () => Boolean(history.state?.within);

// Redirect old addresses, #/match/ID/PLY.
function translate(views) {
  if (!location.hash.startsWith("#/")) return false;
  const [view = "", ...parts] = location.hash.slice(2).split("/").map(decode);
  replaceAddress(view && views.has(view) ? addressOf(view, ...parts) : "/");
  return true;
}

// Handle links within the page, and the browser's back and forward buttons. `views` are the names of the views.
export function start(views) {
  translate(views);
  window.addEventListener("hashchange", () => translate(views) && tell());
  window.addEventListener("popstate", () => location.hash.startsWith("#/") || tell());
  document.addEventListener("click", (event) => {
    const link = /** @type {any} */ (event.target).closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hash) return;
    if (!views.has(parseAddress(link)[0])) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
