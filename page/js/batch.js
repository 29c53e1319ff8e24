// Small changes that come many times a second, made together: each picture that the browser makes of the page costs as much as
// many of them.

const REST_MS = 250; // from one picture to the next

const due = new Map();
let waiting = false;
let madeAt = -REST_MS;

// Call `change` in the next picture, with the changes of others; of one owner only the newest is made.
export function batch(owner, change) {
  due.set(owner, change);
  if (waiting) return;
  waiting = true;
  setTimeout(() => requestAnimationFrame(make), Math.max(0, madeAt + REST_MS - performance.now()));
}

// Do not make the change of this owner any more.
export const cancel = (owner) => due.delete(owner);

function make() {
  waiting = false;
  madeAt = performance.now();
  const changes = [...due.values()];
  due.clear();
  for (const change of changes) change();
}
