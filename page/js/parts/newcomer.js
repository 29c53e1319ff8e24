// Steps by which a reader without a bot gets one to play, for the views that are about bots.

import { h } from "../dom.js";

const STEPS = [
  "Ask the host of this server for an invitation, which is a link.",
  "Choose a name for your bot there. You see its token once.",
  "Connect your bot with the command that is shown with the token.",
];

// Return a title, the steps, and the way to play without a bot.
export const noBotYet = () => [
  h("h2", null, "No bot yet?"), h("ol", null, STEPS.map((each) => h("li", null, h("span", null, each)))),
  h("p", null, "You need no bot to ", h("a", { href: "/play" }, "play a match yourself"), ".")];
