// Ways to share a match, in a dialog: a link, code to embed it, and files to download.

import { Thumbnail } from "../boards/thumbnail.js";
import { h, say, set } from "../dom.js";
import { addressOf } from "../router.js";
import { gameTitle } from "../text.js";
import { openDialog } from "./dialog.js";
import { against } from "./matchlist.js";

// Return the button that opens the dialog, about the position where the reader of `viewer` is. A match in progress has no film yet.
export function share(id, viewer, { over }) {
  const link = h("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => link.select() });
  const code = h("input", { type: "text", readonly: true, "aria-label": "Embed in your page", onfocus: () => code.select() });
  const picture = h("a", { class: "button plain", download: `${id}.png` }, "Picture");
  const files = [picture,
    over && h("a", { class: "button plain", href: `/film/${encodeURIComponent(id)}.gif`, download: `${id}.gif` }, "Highlights"),
    over && h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(id)}?download` }, "Moves")];
  const copyLink = copyButton(link, "Copy link", "button");
  const more = h("details", null, h("summary", null, "Embed or download"),
    h("label", null, "Embed in your page", h("span", { class: "copied" }, code, copyButton(code, "Copy HTML"))),
    h("div", { class: "files", role: "group", "aria-label": "Download" }, h("span", null, "Download"), files));
  const open = () => {
    const at = viewer.ply;
    link.value = location.origin + addressOf("match", id, at);
    code.value = `<iframe src="${location.origin}${addressOf("embed", id, at)}" width="800" height="640" title="A match on Riskless Arena"></iframe>`;
    set(picture, { href: `/picture${addressOf("match", id, at)}.png` });
    set(more, { open: false });
    const board = preview(viewer);
    const dialog = openDialog("share-box", at === null ? "Share this match" : at ? `Share move ${at}` : "Share the start", board.element, link, copyLink, more);
    dialog.addEventListener("close", board.stop);
  };
  return h("button", { type: "button", class: "button plain", "aria-haspopup": "dialog", onclick: open }, "Share");
}

// Return what the link shows: the position, the players and the map.
function preview({ match, at }) {
  const board = new Thumbnail(match.game);
  board.show(match.positions[at], at ? match.moves[at - 1].move : null);
  return {
    element: h("div", { class: "shared" }, h("span", { class: "picture-of" }, board.element),
      h("p", null, against(match.players), h("span", { class: "quiet" }, gameTitle(match.gameName, match.setup.map)))),
    stop: () => board.stop(),
  };
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
