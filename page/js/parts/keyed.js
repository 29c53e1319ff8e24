// Lists that change while they are read.

// Make `list` hold one element per item, in order. An item with the same key and text keeps its
// element, so that it keeps the focus and stays clickable.
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

// If an element is replaced by a newer one, move the focus to the corresponding place in it.
function refocus(old, fresh) {
  const focusable = "a, button, input, select";
  const n = [...old.querySelectorAll(focusable)].indexOf(document.activeElement);
  requestAnimationFrame(() => fresh.querySelectorAll(focusable)[n]?.focus());
}
