// Ways to share a match: a link, code to embed it, and files to download.

import { addressOf } from "../router.js";
import { capitalized, h, say, set } from "../dom.js";

// ply() returns the reader's ply; null for the newest. A match in progress has no film yet.
export function share(id, ply, { over }) {
  const told = h("span", { class: "quiet", role: "status" });
  const link = h("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => link.select() });
  const code = h("input", { type: "text", readonly: true, "aria-label": "Embed in your page", onfocus: () => code.select() });
  const picture = h("a", { class: "button plain", href: `/picture${addressOf("match", id)}.png`, download: `${id}.png` }, "Picture (PNG)");
  const refresh = () => {
    link.value = location.origin + addressOf("match", id, ply());
    code.value = `<iframe src="${location.origin}${addressOf("embed", id, ply())}" width="800" height="640" title="A match on Riskless Arena"></iframe>`;
    set(picture, { href: `/picture${addressOf("match", id, ply())}.png` });
    say(told, "");
  };
  const copying = (what, input, style = "") => h("button", { type: "button", class: style, onclick: async () => say(told, await copy(input) ? `${capitalized(what)} copied.` : "Press Ctrl-C to copy.") }, `Copy ${what}`);
  const files = [picture,
    over && h("a", { class: "button plain", href: `/film/${encodeURIComponent(id)}.gif`, download: `${id}.gif` }, "Highlights (GIF)"),
    over && h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(id)}?download` }, "Moves (JSONL)")];
  const element = /** @type {any} */ (h("details", { class: "share", ontoggle: () => toggle() }, h("summary", { class: "button plain" }, "Share"),
    h("div", { class: "share-box" },
      h("label", null, "Link", h("span", { class: "copied" }, link, copying("link", link, "button"))),
      h("label", null, "Embed in your page", h("span", { class: "copied" }, code, copying("HTML", code))),
      h("div", { class: "files", role: "group", "aria-label": "Download" }, h("span", null, "Download"), files),
      told)));
  const leave = (/** @type {any} */ { target, key }) => {
    if (key ? key === "Escape" : !element.contains(target)) element.open = false;
  };
  const toggle = () => {
    refresh();
    for (const type of ["pointerdown", "keydown"]) {
      if (element.open) document.addEventListener(type, leave);
      else document.removeEventListener(type, leave);
    }
  };
  element.addEventListener("pointerdown", refresh);
  element.addEventListener("focusin", (event) => event.target === picture && refresh());
  return element;
}

// Return true if the text of an input was copied. Without TLS a page may not write to the clipboard by itself.
export async function copy(input) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    return false;
  }
}
