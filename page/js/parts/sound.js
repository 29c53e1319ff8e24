// A short sound for each shown move, if sound is switched on.

import { preferences } from "../preferences.js";

const MIN_PAUSE_MS = 90; // between two sounds: bots may play a hundred plies a second
const VOLUME = 0.08;
const TONES = { quiet: [[330], 0.06], capture: [[262, 392], 0.1], loss: [[165], 0.14], over: [[392, 523, 659], 0.25], defeat: [[330, 262, 196], 0.25] }; // hertz one after another, seconds of each

let context = null;
let last = -Infinity;

// `what` is one of TONES.
export function sound(what) {
  const now = performance.now();
  if (!preferences().sound || document.hidden || now - last < MIN_PAUSE_MS) return;
  last = now;
  context ??= new AudioContext();
  const [notes, seconds] = TONES[what];
  notes.forEach((hertz, n) => {
    const [tone, loud] = [context.createOscillator(), context.createGain()];
    const begin = context.currentTime + n * seconds;
    tone.frequency.value = hertz;
    loud.gain.setValueAtTime(VOLUME, begin);
    loud.gain.exponentialRampToValueAtTime(0.001, begin + seconds);
    tone.connect(loud).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + seconds);
  });
}
