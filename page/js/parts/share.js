// Ways to share a match, in a dialog: a link, code to embed it, and files to download.

import { addressOf } from "../router.js";
import { h, say, set } from "../dom.js";
import { openDialog } from "./dialog.js";

// Return the button that opens the dialog. ply() returns the reader's ply; null for the newest. A match in progress has no film yet.
export function share(id, ply, { over }) {
  const link = h("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => link.select() });
  const code = h("input", { type: "text", readonly: true, "aria-label": "Embed in your page", onfocus: () => code.select() });
  const picture = h("a", { class: "button plain", download: `${id}.png` }, "Picture");
  const preview = h("img", { class: "shared", alt: "", width: 1200, height: 630 });
  const files = [picture,
    over && h("a", { class: "button plain", href: `/film/${encodeURIComponent(id)}.gif`, download: `${id}.gif` }, "Highlights"),
    over && h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(id)}?download` }, "Moves")];
  const copyLink = copyButton(link, "Copy link", "button");
  const more = h("details", null, h("summary", null, "Embed or download"),
    h("label", null, "Embed in your page", h("span", { class: "copied" }, code, copyButton(code, "Copy HTML"))),
    h("div", { class: "files", role: "group", "aria-label": "Download" }, h("span", null, "Download"), files));
  const open = () => {
    const at = ply();
    link.value = location.origin + addressOf("match", id, at);
    code.value = `<iframe src="${location.origin}${addressOf("embed", id, at)}" width="800" height="640" title="A match on Riskless Arena"></iframe>`;
    const shot = `/picture${addressOf("match", id, at)}.png`;
    set(picture, { href: shot });
    set(preview, { src: shot });
    set(more, { open: false });
    openDialog("share-box", at === null ? "Share this match" : at ? `Share move ${at}` : "Share the start", preview, link, copyLink, more);
  };
  return h("button", { type: "button", class: "button plain", "aria-haspopup": "dialog", onclick: open }, "Share");
}

// A text to copy, with its button.
export function copied(label, value) {
  const input = h("input", { type: "text", readonly: true, value, "aria-label": label, onfocus: () => input.select() });
  return h("span", { class: "copied" }, input, copyButton(input, "Copy"));
}

// Return the button that copies the text of an input, and says so until the reader goes on to something else.
function copyButton(input, text, style = "") {
  const button = h("button", { type: "button", class: style, "aria-live": "polite", onclick: async () => say(button, (await copy(input)) ? "Copied" : "Press Ctrl-C") }, text);
  const left = ({ relatedTarget }) => relatedTarget !== input && relatedTarget !== button && say(button, text);
  for (const each of [input, button]) each.addEventListener("blur", left);
  return button;
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
