// The plain questions to the server. Each answer is JSON, or an Error with the server's own line. What is asked while
// the server is away is answered when it is back; the page says so meanwhile.

import { back, met, missed } from "./server.js";

export async function ask(path) {
  const answer = await reach(path);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return answer.json();
}

async function reach(path) {
  for (;;) {
    try {
      const answer = await fetch(`/api/${path}`, { headers: { Accept: "application/json" } });
      met();
      return answer;
    } catch {
      missed();
      await back();
    }
  }
}

const once = new Map();

// For what does not change while the page is open.
export function askOnce(path) {
  if (!once.has(path)) {
    const asked = ask(path);
    asked.catch(() => once.delete(path));
    once.set(path, asked);
  }
  return once.get(path);
}
