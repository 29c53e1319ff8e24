// The rules, with a map's own numbers, in a dialog for every view; and explanations of words in the text.

import { h } from "../dom.js";
import { GAME_NAMES, mapTitle, plural } from "../text.js";

const WORDS = {
  ply: "One move by one player. On this page 0 is the start, 1 Maxie’s first move, 2 Minnie’s answer.",
  Maxie: "The player who moves first, blue and round. High values are good for Maxie.",
  Minnie: "The player who moves second, orange and square. Low values are good for Minnie.",
  value: "What a bot estimates of the position, in hundredths of an army: +200 is as good for Maxie as two armies more, −200 as good for Minnie. 1,000,000 is a win.",
  chance: "What a value has been worth: of the matches between equal engines in which the same was said, with as many armies still to win, so many were won, a draw counted as half. On italy +17 armies won 3 of 4, on usa and world as a rule more, on m2, where most matches are drawn, less.",
  depth: "How many plies the bot has searched ahead to the end.",
  nodes: "How many positions the bot has looked at for this move.",
};

let made = 0;

// A word that shows its explanation when it is clicked.
export function word(name, text = name) {
  const id = `word-${made++}`;
  return h("span", { class: "word" },
    h("button", { type: "button", popovertarget: id, "aria-label": `${text}: what is that?` }, text),
    h("span", { id, popover: "auto", class: "meaning" }, WORDS[name]));
}

const RULES = {
  riskless: (setup) => [
    "Two players, no dice. Maxie moves first; the players take turns, and nobody may pass.",
    "A move sends all armies of one of your territories to a neighbour of it.",
    "Into an empty territory they march; in one of your own they join; in the enemy’s they fight: the larger number wins and loses as many as the smaller one had. With equal numbers the attacker wins, with nobody left.",
    "Then every territory of both players trains one army. The one that was left has at least that one, and stays yours.",
    ...(setup ? [
      `Here: ${plural(setup.territories.length, "territory", "territories")}, at most ${setup.territory_cap} armies on each.`,
      `Whoever has ${setup.armies_to_win} armies wins, and so does whoever takes the enemy’s last territory. After ${setup.ply_limit} moves it is a draw, as it is when a position comes up for the third time.`,
    ] : ["Whoever has as many armies as the map asks for wins, and so does whoever takes the enemy’s last territory."]),
  ],
  tictactoe: () => ["Blue and Orange take an empty cell in turn, Blue first. Three in a row, a column or a diagonal win; a full board is a draw."],
  hexapawn: () => [
    "Maxie’s pawns walk up, Minnie’s down: one square straight on to an empty square, or one diagonally on to take.",
    "Who reaches the far row wins; who cannot move has lost.",
  ],
};

const dialog = h("dialog", { class: "rules", "aria-labelledby": "rules-title" });
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

// Open the rules of a game, or of a match with the numbers of its setup.
export function showRules(game = "riskless", setup = /** @type {any} */ (null)) {
  const rules = Object.hasOwn(RULES, game) ? RULES[game](setup) : [];
  const title = GAME_NAMES[game] ?? game;
  dialog.replaceChildren(
    h("h2", { id: "rules-title", tabindex: -1, autofocus: true }, `The rules: ${title}${setup?.map ? ` on ${mapTitle(setup.map)}` : ""}`),
    h("ol", null, rules.map((each) => h("li", null, each))),
    h("h3", null, "Words"),
    h("dl", null, Object.entries(WORDS).flatMap(([name, meaning]) => [h("dt", null, name), h("dd", null, meaning)])),
    h("form", { method: "dialog" }, h("button", { type: "submit", class: "button" }, "Close")));
  (document.fullscreenElement ?? document.body).append(dialog);
  dialog.showModal();
}
