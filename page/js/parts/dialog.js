// A dialog: a title, a button that closes it, and its content. On a phone the style makes it a sheet at the bottom.

import { h } from "../dom.js";

// Open a dialog of this class, until a reader presses its button, Escape or the page beside it. Returns its element.
export function openDialog(name, title, ...content) {
  const close = h("button", { type: "button", class: "bare", "aria-label": "Close", title: "Close", onclick: () => dialog.close() }, "✕");
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: name, "aria-label": title },
    h("div", { class: "dialog-head" }, h("h2", { tabindex: -1, autofocus: true }, title), close), content));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  (document.fullscreenElement ?? document.body).append(dialog);
  dialog.showModal();
  return dialog;
}
