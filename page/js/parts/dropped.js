// Record files of the reader's own: dropped on the page, or opened. They never leave the browser.

import { go } from "../address.js";

const MOST_BYTES = 64 * 1024 * 1024;

let last = /** @type {any} */ (null);

// { name, lines, fault } of the file that was opened last; its fault is why it cannot be read, in words. Null before the first.
export const opened = () => last;

export async function openFile(file) {
  last = { name: file.name, ...(await read(file)) };
  go("/file");
}

async function read(file) {
  if (file.size > MOST_BYTES) return { lines: [], fault: `${file.name} is larger than 64 MB` };
  try {
    return { lines: (await file.text()).split("\n").filter((line) => line.trim()) };
  } catch (error) {
    return { lines: [], fault: `${file.name} cannot be read: ${error.message}` };
  }
}

// Let a file be dropped anywhere on the page.
export function acceptDrops() {
  window.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  window.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    openFile(file);
  });
}
