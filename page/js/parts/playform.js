// The form for a new match. Every field has a default, so that one click starts it.

import { fetchJson, fetchOnce } from "../api.js";
import { h, say, set } from "../dom.js";
import { GAME_NAMES, LARGE_MAPS, botTitle, inMapOrder, mapFacts, mapTitle, timeTitle } from "../text.js";
import { mapPicture, mapThumb } from "./mappicture.js";

const TIMES = ["300+3", "60+1", "900+10", "30/move"];
const LEVELS = {
  random: ["Beginner", "chooses moves at random"],
  greedy: ["Easy", "looks 1 move ahead"],
  minimax: ["Medium", "looks 2 moves ahead"],
  alphabeta: ["Hard", "looks far ahead"],
  jamboree: ["Hard", "looks far ahead, with several threads"],
  perfect: ["Solved maps", "never errs on maps that are solved"],
};
const KEPT = "arena-name";
const GUEST = /^guest-[0-9]{1,6}$/;

// The level of one of the server's own bots, its title, and how it plays, as in ["Easy", "Greedy", "looks 1 move ahead"].
function levelOf(name) {
  const [level, words] = LEVELS[name.split("-")[1]] ?? ["House", ""];
  return [level, botTitle(name).replace(/^House /, ""), words];
}

// The choice of one of the server's own bots. `rated`: its rating, null without one.
function levelChoice(bot, choose, rated) {
  const [level, title, words] = levelOf(bot);
  const rating = h("span");
  rated.then((found) => say(rating, found ? ` · ${Math.round(found)}` : ""));
  return h("label", { class: "choice" }, h("input", { type: "radio", name: "level", value: bot, "aria-label": `${level}: ${title}`, onchange: () => choose(bot) }),
    h("strong", null, level), h("span", { class: "quiet bot-of" }, title, rating), h("span", { class: "quiet" }, words));
}

export function playForm(about, opponent, begin) {
  const options = (pairs) => pairs.map(([value, text]) => h("option", { value }, text));
  const name = h("input", { name: "name", required: true, maxlength: 64, autocomplete: "nickname", value: guest() });
  const token = h("input", { name: "token", type: "password", maxlength: 128, autocomplete: "off" });
  const others = h("select", { name: "opponent" });
  const game = h("select", { name: "game" }, options(about.games.map((each) => [each, GAME_NAMES[each] ?? each])));
  const time = h("select", { name: "time" }, options(TIMES.map((each) => [each, timeTitle(each)])));
  const seat = h("select", { name: "seat" }, options([["maxie", "Blue (first)"], ["minnie", "Orange"], ["", "Random"]]));
  const start = h("button", { type: "submit", class: "button big" }, "Start the match");
  const go = h("div", { class: "go" }, start);
  const ratings = fetchJson("table").then(({ standings }) => new Map(standings.filter(({ game: each }) => each === "riskless").map((each) => [each.bot, each.rating])), () => new Map());
  const easiest = Object.values(LEVELS).map(([level]) => level);
  const house = [...about.house].sort((a, b) => easiest.indexOf(levelOf(a)[0]) - easiest.indexOf(levelOf(b)[0]));
  const levels = h("div", { class: "choices-of opponents" }, house.map((bot) => levelChoice(bot, (who) => choose(who), ratings.then((found) => found.get(bot)))),
    h("label", { class: "choice" }, h("input", { type: "radio", name: "level", value: "", "aria-label": "Other: any bot, or a person", onchange: () => choose(listed[0] ?? "") }),
      h("strong", null, "Other"), h("span", { class: "quiet" }, "Any bot, or a person")));
  const picture = h("figure", { class: "chosen-map" });
  const showMap = async (map) => {
    const told = h("span");
    picture.replaceChildren(mapPicture(map), h("figcaption", null, h("strong", null, mapTitle(map)), told));
    const known = await fetchOnce("maps").catch(() => []); // without them the map has its name alone
    const found = known.find(({ name: each }) => each === map);
    if (found) say(told, mapFacts(found));
  };
  const maps = h("fieldset", null, h("legend", null, "Map"), h("div", { class: "choices-of maps-of" }, inMapOrder(about.maps).map((each) => (
    h("label", { class: "choice", "data-small": !LARGE_MAPS.includes(each) }, h("input", { type: "radio", name: "map", value: each, checked: each === about.map, onchange: () => showMap(each) }), mapThumb(each))))));
  showMap(about.map);
  const row = (text, input) => h("label", { class: "row" }, h("span", null, text), input);
  const rival = row("Challenge", others);
  const advanced = h("details", { open: about.anyone || !about.guests }, h("summary", null, "Advanced"),
    row("Your name", name),
    row(about.anyone ? "Token, if your name has one" : about.guests ? "Token (not needed for guests)" : "Your token (from the host: arena token create)", token),
    row("Game", game));
  const steps = h("div", { class: "steps" },
    h("fieldset", null, h("legend", null, "Opponent"), house.length ? [levels, rival] : set(others, { "aria-label": "Opponent" })),
    maps,
    h("div", { class: "terms" }, row("Time", time), row("You play", seat), advanced, go));
  const form = h("form", { class: "play-form" }, steps, picture);
  if (about.games.includes("riskless")) game.value = "riskless";
  let chosen = opponent || null; // the opponent's name; "" for anyone who accepts, null before the bots are listed
  let listed = /** @type {string[]} */ ([]); // the opponents of the list, "" at its end
  const choose = (who) => {
    chosen = who;
    token.required = !about.anyone && !(about.guests && GUEST.test(name.value.trim()) && house.includes(chosen));
    rival.hidden = house.includes(chosen);
    for (const each of levels.querySelectorAll("input")) each.checked = each.value === (rival.hidden ? chosen : "");
    others.selectedIndex = listed.indexOf(chosen);
  };
  name.addEventListener("input", () => choose(chosen));
  others.addEventListener("change", () => choose(listed[others.selectedIndex]));
  const offerMaps = () => { maps.hidden = picture.hidden = game.value !== "riskless"; };
  game.addEventListener("change", offerMaps);
  offerMaps();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep(name.value);
    begin({
      name: name.value.trim(), token: token.value, opponent: chosen, game: game.value, map: String(new FormData(form).get("map") ?? about.map),
      time_control: control(time.value), seat: seat.value || null,
    });
  });
  // Unfold a section with a missing value.
  form.addEventListener("invalid", () => { form.querySelector("details").open = true; }, true);
  return {
    element: form,
    beside: steps, // the column of the button, which may hold more below it
    // Return the name and token for the match; null if a value is missing, which the browser then reports.
    who: () => {
      const missing = token.required;
      token.required = !about.anyone;
      const good = form.reportValidity();
      token.required = missing;
      if (good) keep(name.value);
      return good ? { name: name.value.trim(), token: token.value } : null;
    },
    go, // where the form is sent, and what becomes of it is told
    // asking: a match was asked for, which may be cancelled; playing: a match goes on.
    setBusy: (asking, playing) => {
      start.hidden = asking;
      start.disabled = playing;
    },
    setBots: (bots) => {
      const names = bots.map((bot) => bot.name).filter((each) => !house.includes(each) && each !== name.value.trim());
      if (opponent && !house.includes(opponent) && !names.includes(opponent)) names.unshift(opponent);
      const found = [...names, ""];
      if (found.join("\n") === listed.join("\n") && listed.length) return;
      listed = found;
      others.replaceChildren(...options(listed.map((each) => [each, each ? botTitle(each) : "Anyone who accepts"])));
      choose(house.includes(chosen) || listed.includes(chosen) ? chosen : house[0] ?? listed[0]);
    },
  };
}

function control(text) {
  const [base, increment] = text.replace("/move", "").split("+");
  return { base_ms: 1000 * Number(base), increment_ms: 1000 * Number(increment ?? 0), per_move: text.endsWith("/move") };
}

function guest() {
  const fresh = `guest-${Math.floor(100_000 + 900_000 * Math.random())}`;
  try {
    return localStorage.getItem(KEPT) ?? fresh;
  } catch {
    return fresh; // storage may be switched off
  }
}

function keep(name) {
  try {
    localStorage.setItem(KEPT, name);
  } catch {
    return; // the name is typed again next time
  }
}
