// The whole map in the size of a thumb, beside the board, with a frame around the part that the board shows. A tap there moves the board.

import { h, set } from "../dom.js";
import { HEIGHT, Thumbnail, WIDTH } from "./thumbnail.js";

export class Overview {
  constructor(game, zoom) {
    this.zoom = zoom;
    this.thumbnail = new Thumbnail(game);
    this.frame = h("span", { class: "overview-frame" });
    // The board itself can be scrolled by keys and is described in words.
    this.element = h("div", { class: "overview", "aria-hidden": "true", hidden: true }, this.thumbnail.element, this.frame);
    zoom.place.addEventListener("scroll", () => this.place(), { passive: true });
    this.element.addEventListener("pointerdown", (event) => this.go(event));
    this.element.addEventListener("pointermove", (event) => event.buttons && this.go(event));
  }

  show(position, move) {
    this.thumbnail.show(position, move);
  }

  // Return the scale of the thumbnail, and the left and upper edge of the map on it.
  get drawn() {
    const [width, height] = this.zoom.size;
    const scale = Math.min(WIDTH / width, HEIGHT / height);
    return { scale, left: (WIDTH - width * scale) / 2, top: (HEIGHT - height * scale) / 2 };
  }

  // Draw the frame where the board is; if the board shows the whole map, there is nothing to draw.
  place() {
    const { place, scale, size: [width, height] } = this.zoom;
    const [seenWidth, seenHeight] = [place.clientWidth / scale, place.clientHeight / scale];
    const cut = seenWidth < width - 1 || seenHeight < height - 1;
    set(this.element, { hidden: !cut });
    if (!cut) return;
    const { scale: small, left, top } = this.drawn;
    const { style } = this.frame;
    style.left = `${(100 * (left + (place.scrollLeft / scale) * small)) / WIDTH}%`;
    style.top = `${(100 * (top + (place.scrollTop / scale) * small)) / HEIGHT}%`;
    style.width = `${(100 * Math.min(seenWidth, width) * small) / WIDTH}%`;
    style.height = `${(100 * Math.min(seenHeight, height) * small) / HEIGHT}%`;
  }

  // Move the board so that the point that was pressed is in its middle.
  go({ clientX, clientY }) {
    const box = this.element.getBoundingClientRect();
    const { place, scale } = this.zoom;
    const { scale: small, left, top } = this.drawn;
    const [x, y] = [(clientX - box.left) * (WIDTH / box.width) - left, (clientY - box.top) * (HEIGHT / box.height) - top];
    place.scrollTo((x / small) * scale - place.clientWidth / 2, (y / small) * scale - place.clientHeight / 2);
  }

  stop() {
    this.thumbnail.stop();
  }
}
