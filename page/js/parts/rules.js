// The rules, with a map's own numbers, in a dialog for every view; and explanations of words in the text.

import { h } from "../dom.js";
import { GAME_NAMES, mapTitle, plural } from "../text.js";

const WORDS = {
  ply: "One move by one player. Ply 0 is the start, 1 is Maxie’s first move, 2 is Minnie’s reply.",
  Maxie: "The player who moves first: blue, with round markers. High values favour Maxie.",
  Minnie: "The player who moves second: orange, with square markers. Low values favour Minnie.",
  value: "A bot’s estimate of the position, in hundredths of an army. +200 is as good for Blue as a lead of two armies, −200 as good for Orange. 1,000,000 is a win.",
  chance: "How often a player with this value went on to win, in matches between equal engines with the same number of armies to win; a draw counts as half. On Italy, +17 armies won 3 of 4 matches. On USA and World the same lead mostly won more often, and on the Grid of sixteen, where most matches are drawn, less often.",
  depth: "How many plies ahead the bot has searched completely.",
  nodes: "How many positions the bot has examined for this move.",
};

let made = 0;

// A word that shows its explanation when it is clicked.
export function word(name, text = name) {
  const id = `word-${made++}`;
  return h("span", { class: "word" },
    h("button", { type: "button", popovertarget: id, "aria-label": `${text}: what does it mean?` }, text),
    h("span", { id, popover: "auto", class: "meaning" }, WORDS[name]));
}

const RULES = {
  riskless: (setup) => [
    "Two players, no dice. Blue moves first. The players take turns, and nobody may pass.",
    "A move sends all armies from one of your territories to a neighbouring one.",
    "They take an empty territory, join your own armies, or fight the enemy’s: the larger number wins, and loses as many as the smaller one had. If the numbers are equal, the attacker wins with no armies left.",
    "Then every territory of both players trains one army, so the territory that you left stays yours.",
    ...(setup ? [
      `On this map: ${plural(setup.territories.length, "territory", "territories")}, at most ${setup.territory_cap} armies on each.`,
      `You win with ${setup.armies_to_win} armies, or by taking the enemy’s last territory. The match is a draw after ${setup.ply_limit} moves, or when a position occurs for the third time.`,
    ] : ["You win with as many armies as the map asks for, or by taking the enemy’s last territory."]),
  ],
  tictactoe: () => ["Blue and Orange take turns to mark an empty cell; Blue starts. Three in a row, column or diagonal win; a full board is a draw."],
  hexapawn: () => [
    "Blue’s pawns move up, Orange’s down: one square straight ahead if it is empty, or one square diagonally ahead to capture.",
    "Reach the far row and you win. If you cannot move, you lose.",
  ],
};

const dialog = h("dialog", { class: "rules", "aria-labelledby": "rules-title" });
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

// Open the rules of a game, or of a match with the numbers of its setup.
export function showRules(game = "riskless", setup = /** @type {any} */ (null)) {
  const rules = Object.hasOwn(RULES, game) ? RULES[game](setup) : [];
  const title = GAME_NAMES[game] ?? game;
  dialog.replaceChildren(
    h("h2", { id: "rules-title", tabindex: -1, autofocus: true }, `Rules: ${title}${setup?.map ? ` on ${mapTitle(setup.map)}` : ""}`),
    h("ol", null, rules.map((each) => h("li", null, each))),
    h("h3", null, "Glossary"),
    h("dl", null, Object.entries(WORDS).flatMap(([name, meaning]) => [h("dt", null, name), h("dd", null, meaning)])),
    h("form", { method: "dialog" }, h("button", { type: "submit", class: "button" }, "Close")));
  (document.fullscreenElement ?? document.body).append(dialog);
  dialog.showModal();
}
