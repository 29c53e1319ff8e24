// HTTP requests to the server. Each answer is JSON of the request's shape, or an Error with the server's own
// line. Requests during an outage are answered afterwards; the page reports the outage meanwhile.

import { capitalized } from "./dom.js";
import { whenBack, answered, noAnswer } from "./server.js";
import { mismatch, shapeOf } from "./shapes.js";

const MAX_LINE = 300;
const GATEWAY_TIMEOUT = 504;
const MAX_TIMEOUTS = 10; // a proxy that waits 25 s gives up ten times on the slowest answer

const JSON_ONLY = { Accept: "application/json" };
const secretly = (secret, method) => /** @type {RequestInit} */ ({ method, headers: { ...JSON_ONLY, Authorization: secret }, credentials: "omit", cache: "no-store" });

export const fetchJson = async (path) => read(path, await reach(path, { headers: JSON_ONLY }));

// Send a request with a secret in its header that changes nothing.
export const readAs = async (secret, path, method = "POST") => read(path, await reach(path, secretly(secret, method)));

// Send a request for a change with a secret in its header, once: after a lost answer nobody knows whether the change was made.
export async function changeAs(secret, path) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, secretly(secret, "POST"));
  } catch {
    noAnswer();
    throw new Error("The server did not answer. Check whether the change was made before you try again.");
  }
  answered();
  return read(path, answer);
}

// Return the secret of a request: for a bot and its token, or for an invitation code.
export const basic = ({ name, token }) => `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${token}`)))}`;
export const bearer = (code) => `Bearer ${code}`;

async function read(path, answer) {
  const text = await answer.text();
  if (!answer.ok) {
    const line = isLine(answer, text) ? capitalized(text.trim()) : `The server could not answer (${answer.status}). Try again in a moment.`;
    throw Object.assign(new Error(line), { status: answer.status });
  }
  const found = parse(text);
  const wrong = found === undefined ? "it is not JSON" : mismatch(found, shapeOf(path));
  if (wrong) throw new Error(`The server's answer to /api/${path.split("?")[0]} cannot be read: ${wrong}.`);
  return found;
}

// Return true if the error is a line of the server, and not a proxy's page.
const isLine = (answer, text) => text.trim() && text.length < MAX_LINE && (answer.headers.get("Content-Type") ?? "").startsWith("text/plain");

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Request until there is an answer. If a proxy gives up on a slow answer, the server still makes it, for the repeated request.
async function reach(path, options) {
  for (let timeouts = 0; ; ) {
    try {
      const answer = await fetch(`/api/${path}`, options);
      answered();
      if (answer.status !== GATEWAY_TIMEOUT || timeouts === MAX_TIMEOUTS) return answer;
      timeouts += 1;
    } catch {
      noAnswer();
      await whenBack();
    }
  }
}

const once = new Map();

// Fetch data that does not change while the page is open.
export function fetchOnce(path) {
  if (!once.has(path)) {
    const asked = fetchJson(path);
    asked.catch(() => once.delete(path));
    once.set(path, asked);
  }
  return once.get(path);
}
