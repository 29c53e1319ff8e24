// The rules, in pictures and with a map's own numbers, in a dialog for every view; and explanations of words in the text.

import { h, uniqueId } from "../dom.js";
import { GAME_NAMES, mapTitle, plural } from "../text.js";
import { openDialog } from "./dialog.js";

const WORDS = {
  Maxie: "The player who moves first: blue, with round markers. High values favour Maxie.",
  Minnie: "The player who moves second: orange, with square markers. Low values favour Minnie.",
  value: "A bot’s estimate of the position, in hundredths of an army. +200 is as good for Blue as a lead of two armies, −200 as good for Orange. 1,000,000 is a win.",
  chance: "How often a player wins from such a position, estimated from matches between equal engines; a draw counts as half a win. On Italy, a value of +17 armies means a chance of 75 %; on USA, World and the Grid of sixteen, about 60 %.",
  depth: "How many moves ahead the bot has searched completely.",
  nodes: "How many positions the bot has examined for this move.",
};

// A word that shows its explanation when it is clicked.
export function word(name, text = name) {
  const id = uniqueId("word");
  return h("span", { class: "word" },
    h("button", { type: "button", popovertarget: id, "aria-label": `${text}: what does it mean?` }, text),
    h("span", { id, popover: "auto", class: "meaning" }, WORDS[name]));
}

const IN_SHORT = {
  riskless: [
    "Choose a territory of yours, then a neighbour: all its armies go there.",
    "Where armies meet, the larger number wins and keeps the difference.",
    "After each move, every territory that a player holds trains one army.",
  ],
  tictactoe: ["Take turns to mark an empty cell.", "Three in a row, column or diagonal win; a full board is a draw."],
  hexapawn: [
    "Move a pawn one square straight ahead if it is empty, or one square diagonally ahead to capture.",
    "Reach the far row and you win. If you cannot move, you lose.",
  ],
};

// Return the rules of a game in a few lines; none for a game that the page does not know.
export const rulesInShort = (game) => (Object.hasOwn(IN_SHORT, game) ? IN_SHORT[game] : []);

// The rules of Riskless, each a title and a sentence below its picture in lessons.js.
const lessonWords = (setup) => [
  ["Move", "All armies of a territory go to a neighbour: they take it, join your own armies, or fight. A dashed line joins neighbours that do not touch."],
  ["Train", "After each move, every territory of both players trains one army. So the land that you leave stays yours."],
  ["Fight", "The larger number wins and keeps the difference. If the numbers are equal, the attacker wins."],
  ["Win", `You win with ${setup ? setup.armies_to_win : "as many"} armies${setup ? "" : " as the map asks for"}, or by taking the enemy’s last territory.`],
];

const onMap = ({ territories, territory_cap: cap, ply_limit: limit }) => `On this map: ${plural(territories.length, "territory", "territories")}, `
  + `at most ${cap} armies on each. The match is a draw after ${limit} moves, or when a position occurs for the third time.`;

// Return the rules of Riskless in pictures, which move once, and the button that moves them again.
function lessons(setup) {
  const places = lessonWords(setup).map(([title, words]) => h("li", null, h("div", { class: "lesson", "aria-hidden": "true" }), h("h3", null, title), h("p", null, words)));
  const again = h("button", { type: "button", class: "small" }, "Show again");
  import("./lessons.js").then(({ Lessons }) => {
    const pictures = new Lessons();
    places.forEach((place, n) => place.firstChild.append(pictures.elements[n]));
    again.addEventListener("click", () => pictures.play());
    pictures.play();
  }, () => again.remove());
  return { again, content: [
    h("p", null, "Two players, no dice. Blue moves first; then the players take turns, and nobody may pass."),
    h("ol", { class: "lessons" }, places), setup ? h("p", { class: "quiet" }, onMap(setup)) : null] };
}

// Return the rules of Riskless in pictures as a section below a lone card.
export function rulesSection() {
  const { again, content } = lessons(null);
  return h("section", { class: "rules-below" }, h("div", { class: "stage-head" }, h("h2", null, "The game that your bot plays"), again), ...content);
}

// Open the rules of a game, or of a match with the numbers of its setup.
export function showRules(game = "riskless", setup = /** @type {any} */ (null)) {
  const title = GAME_NAMES[game] ?? game;
  const { again, content } = game === "riskless" ? lessons(setup) : { again: null, content: [h("ol", null, rulesInShort(game).map((each) => h("li", null, each)))] };
  const dialog = openDialog("rules", `Rules: ${title}${setup?.map ? ` on ${mapTitle(setup.map)}` : ""}`,
    ...content,
    h("details", null, h("summary", null, "Glossary"),
      h("dl", null, Object.entries(WORDS).flatMap(([name, meaning]) => [h("dt", null, name), h("dd", null, meaning)]))));
  if (again) dialog.querySelector("h2")?.after(again);
}
