// Creation of elements. Text is only ever set as text, so no name or message of a bot can become markup.

const SVG = "http://www.w3.org/2000/svg";

// h("a", { href: "/" }, "text", child): attributes that begin with "on" are listeners; null and false are left out.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  set(element, attributes || {});
  element.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

let made = 0; // ids so far

// Return an id that no other element of the page has.
export const uniqueId = (/** @type {string} */ name) => `${name}-${made++}`;

// Call `take` with the detail of each CustomEvent of a type. Returns a function that stops it.
export function on(target, type, take) {
  const listener = (event) => take(event.detail);
  target.addEventListener(type, listener);
  return () => target.removeEventListener(type, listener);
}

// Return a line with a capital at its start, as a sentence on the page has.
export const capitalized = (line) => line.charAt(0).toUpperCase() + line.slice(1);

// Return one line of several parts. Where they have no room, the last ones are left out whole.
export const parts = (/** @type {string[]} */ texts, name = "") => h("span", { class: `parts ${name}` }, texts.map((each, n) => h("span", null, n ? ` · ${each}` : each)));

// Set the text only if it changes, because a screen reader would read it again.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
