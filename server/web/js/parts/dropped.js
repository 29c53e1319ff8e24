// Record files of the reader's own: dropped on the page, or opened. They never leave the browser.

const MOST_BYTES = 64 * 1024 * 1024;

export let opened = null; // { name, lines } of the last file

export async function openFile(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 64 MB`);
  const lines = (await file.text()).split("\n").filter((line) => line.trim());
  opened = { name: file.name, lines };
  if (location.hash === "#/file") window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = "#/file";
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
    openFile(file).catch((error) => console.error(error));
  });
}
