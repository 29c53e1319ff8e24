// A picture that is larger than its place: zoomed by buttons, by two fingers and by Ctrl with the wheel, moved by scrolling or
// dragging.

import { h, set } from "../dom.js";

const STEP = 1.35;
const MOST = 6;
const LARGEST = 1.8; // of a picture that is seen whole
const LOWEST_PX = 240;
const BELOW_PX = 104; // what stands below the picture and should be in sight with it
const NARROW_PX = 576; // the window of a phone, on which that takes a line more
const LINE_PX = 26;
const WHOLE_HIGH = 0.62; // of the window, of a picture that is only looked at
const WHOLE_LEAST_PX = 240;
const WHOLE_BELOW_PX = 50; // what stands below it
const DRAG_PX = 5; // below that it is a click

export class Zoom {
  // least: pixels a unit of the picture must have, so that what is to be pressed can be; 0 for a picture that is only looked at,
  // whole. scaled(pixels a unit) is told of each change.
  constructor(picture, size, least, scaled) {
    this.picture = picture;
    this.size = size;
    this.least = least;
    this.scaled = scaled;
    this.factor = null; // null: as large as it must be
    this.scale = 0;
    this.drawn = null; // the size of the picture that was drawn last
    const button = (label, text, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    this.smaller = button("Smaller", "−", () => this.by(1 / STEP));
    this.larger = button("Larger", "+", () => this.by(STEP));
    this.place = h("div", least ? { class: "zoomed", tabindex: 0, role: "region", "aria-label": "Board" } : { class: "whole" }, picture);
    this.element = h("div", { class: "zoom" }, this.place, least ? h("div", { class: "zoom-keys" }, this.smaller, this.larger) : null);
    new ResizeObserver(() => this.fit()).observe(this.place);
    if (!least) return;
    this.place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? 1.15 : 1 / 1.15, event);
    }, { passive: false });
    this.place.addEventListener("pointerdown", (event) => this.drag(event));
    this.place.addEventListener("touchstart", (event) => this.pinch(event), { passive: true });
  }

  // How high the place may be, so that what belongs to the picture is in sight with it.
  get room() {
    const top = this.place.getBoundingClientRect().top + window.scrollY;
    if (!this.least) {
      const [most, left] = [window.innerHeight * WHOLE_HIGH, window.innerHeight - top - WHOLE_BELOW_PX];
      return Math.max(WHOLE_LEAST_PX, left < WHOLE_LEAST_PX ? most : Math.min(most, left)); // where one scrolls to it, that is all there is
    }
    return Math.max(LOWEST_PX, window.innerHeight - top - BELOW_PX - (window.innerWidth < NARROW_PX ? LINE_PX : 0));
  }

  // The scale at which all of the picture is seen.
  get whole() {
    return Math.min(this.place.clientWidth / this.size[0], this.room / this.size[1], LARGEST);
  }

  // The picture has another size.
  resize(size) {
    this.size = size;
    this.fit();
  }

  fit() {
    if (!this.place.clientWidth) return;
    const scale = Math.max(this.whole, Math.min(this.factor ?? this.least, MOST));
    set(this.smaller, { disabled: scale <= this.whole * 1.001 });
    set(this.larger, { disabled: scale >= MOST });
    if (Math.abs(scale - this.scale) < 0.001 && this.drawn === this.size) return;
    this.drawn = this.size;
    this.scale = scale;
    this.place.style.height = `${Math.ceil(Math.min(this.room, this.size[1] * scale)) + 2}px`;
    this.picture.style.width = `${(this.size[0] * scale).toFixed(1)}px`;
    this.picture.style.height = `${(this.size[1] * scale).toFixed(1)}px`;
    this.scaled(scale);
  }

  // Zoom around the middle of what is seen, or around the pointer.
  by(factor, pointer) {
    const { place } = this;
    const box = place.getBoundingClientRect();
    const x = pointer ? pointer.clientX - box.left : place.clientWidth / 2;
    const y = pointer ? pointer.clientY - box.top : place.clientHeight / 2;
    const [left, top, before] = [place.scrollLeft + x, place.scrollTop + y, this.scale];
    this.factor = Math.max(this.whole, Math.min(MOST, this.scale * factor));
    this.fit();
    place.scrollLeft = (left * this.scale) / before - x;
    place.scrollTop = (top * this.scale) / before - y;
  }

  // See to it that a point of the picture is in sight.
  reveal([x, y]) {
    const { place, scale } = this;
    const margin = 40;
    const along = (at, start, length, whole) => (whole <= length || (at > start + margin && at < start + length - margin) ? start : at - length / 2);
    place.scrollLeft = along(x * scale, place.scrollLeft, place.clientWidth, place.scrollWidth);
    place.scrollTop = along(y * scale, place.scrollTop, place.clientHeight, place.scrollHeight);
  }

  // Two fingers: what lies between them stays there.
  pinch({ touches }) {
    if (touches.length !== 2) return;
    let before = apart(touches);
    const move = (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      const now = apart(event.touches);
      const [a, b] = event.touches;
      this.by(now / before, { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
      before = now;
    };
    this.place.addEventListener("touchmove", move, { passive: false });
    const up = () => {
      this.place.removeEventListener("touchmove", move);
      for (const type of ["touchend", "touchcancel"]) this.place.removeEventListener(type, up);
    };
    for (const type of ["touchend", "touchcancel"]) this.place.addEventListener(type, up);
  }

  drag(down) {
    if (down.pointerType !== "mouse" || down.button) return;
    const { place } = this;
    const [left, top] = [place.scrollLeft, place.scrollTop];
    let moved = false;
    const move = (event) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      moved ||= Math.hypot(x, y) > DRAG_PX;
      if (moved) place.scrollTo(left - x, top - y);
    };
    const up = () => {
      window.removeEventListener("pointermove", move);
      // The click that ends a drag chooses nothing.
      if (moved) place.addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up, { once: true });
  }
}

const apart = (/** @type {TouchList} */ [a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
