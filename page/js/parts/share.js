// Ways to share a match, in a dialog: a link, code to embed it, and files to download.

import { addressOf } from "../router.js";
import { capitalized, h, say, set } from "../dom.js";
import { openDialog } from "./dialog.js";

// Return the button that opens the dialog. ply() returns the reader's ply; null for the newest. A match in progress has no film yet.
export function share(id, ply, { over }) {
  const told = h("span", { class: "quiet", role: "status" });
  const link = h("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => link.select() });
  const code = h("input", { type: "text", readonly: true, "aria-label": "Embed in your page", onfocus: () => code.select() });
  const picture = h("a", { class: "button plain", download: `${id}.png` }, "Picture");
  const copying = (what, input, style = "") => h("button", { type: "button", class: style, onclick: async () => say(told, await copy(input) ? `${capitalized(what)} copied.` : "Press Ctrl-C to copy.") }, `Copy ${what}`);
  const files = [picture,
    over && h("a", { class: "button plain", href: `/film/${encodeURIComponent(id)}.gif`, download: `${id}.gif` }, "Highlights"),
    over && h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(id)}?download` }, "Moves")];
  const copyLink = copying("link", link, "button");
  const more = h("details", null, h("summary", null, "Embed or download"),
    h("label", null, "Embed in your page", h("span", { class: "copied" }, code, copying("HTML", code))),
    h("div", { class: "files", role: "group", "aria-label": "Download" }, h("span", null, "Download"), files));
  const open = () => {
    const at = ply();
    link.value = location.origin + addressOf("match", id, at);
    code.value = `<iframe src="${location.origin}${addressOf("embed", id, at)}" width="800" height="640" title="A match on Riskless Arena"></iframe>`;
    set(picture, { href: `/picture${addressOf("match", id, at)}.png` });
    say(told, "");
    set(more, { open: false });
    openDialog("share-box", at === null ? "Share this match" : at ? `Share move ${at}` : "Share the start", link, copyLink, more, told);
  };
  return h("button", { type: "button", class: "button plain", "aria-haspopup": "dialog", onclick: open }, "Share");
}

// A text to copy, with its button, which says that it was copied.
export function copied(label, value) {
  const input = h("input", { type: "text", readonly: true, value, "aria-label": label, onfocus: () => input.select() });
  const button = h("button", { type: "button", "aria-live": "polite", onclick: async () => say(button, (await copy(input)) ? "Copied" : "Press Ctrl-C") }, "Copy");
  return h("span", { class: "copied" }, input, button);
}

// Return true if the text of an input was copied. Without TLS a page may not write to the clipboard by itself.
async function copy(input) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    return false;
  }
}
