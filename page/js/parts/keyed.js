// Lists that change while somebody reads them.

// Make `list` hold an element for each item, in their order. One whose key and words are as before stays the very same
// element: who has the focus on it keeps it, and who is about to press it finds it.
export function keyed(list, items, { key, words, make }) {
  const known = new Map([...list.children].map((each) => [each.dataset.key, each]));
  const wanted = items.map((item) => {
    const [name, text] = [String(key(item)), words(item)];
    const old = known.get(name);
    if (old && old.dataset.words === text) return old;
    const fresh = make(item);
    fresh.dataset.key = name;
    fresh.dataset.words = text;
    if (old?.contains(document.activeElement)) refocus(old, fresh);
    return fresh;
  });
  const stays = new Set(wanted);
  for (const each of Array.from(list.children)) if (!stays.has(each)) each.remove();
  wanted.forEach((each, n) => {
    if (list.children[n] !== each) list.insertBefore(each, list.children[n] ?? null);
  });
}

// Where an element is replaced by a newer one, the focus goes to what stands at its place there.
function refocus(old, fresh) {
  const focusable = "a, button, input, select";
  const n = [...old.querySelectorAll(focusable)].indexOf(document.activeElement);
  requestAnimationFrame(() => fresh.querySelectorAll(focusable)[n]?.focus());
}
