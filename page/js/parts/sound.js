// A short sound for each move that is shown, where the reader has switched sound on.

import { comfort } from "../comfort.js";

const REST_MS = 90; // between two sounds: bots may play a hundred plies a second
const LOUD = 0.08;
const TONES = { quiet: [330, 0.06], fight: [165, 0.12], over: [523, 0.4] }; // hertz, seconds

let context = null;
let last = -Infinity;

// `what` is "quiet", "fight" or "over".
export function sound(what) {
  const now = performance.now();
  if (!comfort().sound || document.hidden || now - last < REST_MS) return;
  last = now;
  context ??= new AudioContext();
  const [hertz, seconds] = TONES[what];
  const tone = context.createOscillator();
  const loud = context.createGain();
  tone.frequency.value = hertz;
  loud.gain.setValueAtTime(LOUD, context.currentTime);
  loud.gain.exponentialRampToValueAtTime(0.001, context.currentTime + seconds);
  tone.connect(loud).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + seconds);
}
