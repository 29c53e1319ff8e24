// Small changes that come many times a second, made together: each picture that the browser makes of the page costs as much as
// many of them.

const REST_MS = 250; // from one picture to the next
const WORK_MS = 8; // of one picture: a phone that needs longer makes the other changes in the next one

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
  const changes = [...due];
  due.clear();
  let made = 0;
  while (made < changes.length && performance.now() - madeAt < WORK_MS) changes[made++][1]();
  for (const [owner, change] of changes.slice(made)) if (!due.has(owner)) due.set(owner, change);
  if (waiting || !due.size) return;
  waiting = true;
  requestAnimationFrame(make);
}
