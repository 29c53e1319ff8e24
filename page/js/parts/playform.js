// What a person chooses before a match. Everything has a value at once, so that one press begins it.

import { h } from "../dom.js";
import { GAME_NAMES } from "../text.js";
import { mapPicture } from "./mappicture.js";

const TIMES = { "300+3": "5 min + 3 s", "60+1": "1 min + 1 s", "900+10": "15 min + 10 s", "30/move": "30 s a move" };
const KEPT = "arena-name";
const GUEST = /^guest-[0-9]{1,6}$/;

export function playForm(about, opponent, begin) {
  const options = (pairs) => pairs.map(([value, text]) => h("option", { value }, text));
  const name = h("input", { name: "name", required: true, maxlength: 64, autocomplete: "nickname", value: guest() });
  const token = h("input", { name: "token", type: "password", maxlength: 128, autocomplete: "off" });
  const who = h("select", { name: "opponent" });
  const game = h("select", { name: "game" }, options(about.games.map((each) => [each, GAME_NAMES[each] ?? each])));
  const map = h("select", { name: "map" }, options(about.maps.map((each) => [each, each])));
  const time = h("select", { name: "time" }, options(Object.entries(TIMES)));
  const seat = h("select", { name: "seat" }, options([["maxie", "Maxie, who moves first"], ["minnie", "Minnie"], ["", "as it comes"]]));
  const start = h("button", { type: "submit", class: "button" }, "Start the match");
  const houses = new Set();
  const row = (text, input) => h("label", { class: "row" }, h("span", null, text), input);
  const mapRow = row("Map", map);
  const shown = h("div", { class: "map-shown" });
  const form = h("form", { class: "play-form" },
    row("Against", who), row("Your name", name),
    row(about.anyone ? "Token, if your name has one" : about.guests ? "Token (a guest needs none against the server's own bots)" : "Your token (the host made it with arena token create)", token),
    row("Game", game), mapRow, row("Time", time), row("Your seat", seat), start);
  if (about.games.includes("riskless")) game.value = "riskless";
  map.value = about.map;
  const vouch = () => {
    token.required = !about.anyone && !(about.guests && GUEST.test(name.value.trim()) && houses.has(who.value));
  };
  name.addEventListener("input", vouch);
  let anybody = false; // whether the match is for whoever takes it
  who.addEventListener("change", () => {
    anybody = who.value === "";
    vouch();
  });
  const showMap = () => {
    mapRow.hidden = game.value !== "riskless";
    shown.replaceChildren(...(mapRow.hidden || !map.value ? [] : [mapPicture(map.value)]));
  };
  for (const each of [game, map]) each.addEventListener("change", showMap);
  showMap();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep(name.value);
    begin({
      name: name.value.trim(), token: token.value, opponent: who.value, game: game.value, map: map.value,
      time_control: control(time.value), seat: seat.value || null,
    });
  });
  let known = null;
  return {
    element: h("div", { class: "play-place" }, form, shown),
    // Under which name a match is taken, and with which token; null where something is missing, which the browser then tells.
    who: () => {
      const missing = token.required;
      token.required = !about.anyone;
      const good = form.reportValidity();
      token.required = missing;
      if (good) keep(name.value);
      return good ? { name: name.value.trim(), token: token.value } : null;
    },
    setBusy: (busy) => { start.disabled = busy; },
    setBots: (bots) => {
      houses.clear();
      for (const bot of bots) if (bot.house) houses.add(bot.name);
      const names = bots.map((bot) => bot.name).filter((each) => each !== name.value.trim());
      if (opponent && !names.includes(opponent)) names.unshift(opponent);
      vouch();
      if (names.join("\n") === known) return;
      const chosen = who.value || opponent;
      known = names.join("\n");
      who.replaceChildren(...options([...names.map((each) => [each, each]), ["", "whoever takes it, a person too"]]));
      if (anybody) who.value = "";
      else if (names.includes(chosen)) who.value = chosen;
      vouch();
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
