// Record files of the reader, dropped on the page or opened. They never leave the browser.

import { navigate } from "../router.js";

const MAX_BYTES = 64 * 1024 * 1024;

let last = /** @type {any} */ (null);

// { name, lines, fault } of the last opened file; `fault` is the reason that it cannot be read. Null before the first file.
export const openedFile = () => last;

export async function openFile(file) {
  last = { name: file.name, ...(await read(file)) };
  navigate("/file");
}

async function read(file) {
  if (file.size > MAX_BYTES) return { lines: [], fault: `${file.name} is larger than 64 MB` };
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
