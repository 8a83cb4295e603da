// The model: what happens, what is known, where each customer stands, and what is done about it.
// A "customer" here is an account (a company), not a single user: events of all its users carry the account's id.
// `svc validate` checks it, `svc dev` tries it on your machine, `svc deploy` ships it as a new version.
import { defineModel } from "svc-success";
import { shown } from "./model/display.js";
import * as events from "./model/events.js";
import { score } from "./model/health.js";
import * as journeys from "./model/journeys.js";
import { stages } from "./model/lifecycle.js";
import * as rules from "./model/rules.js";
import * as segments from "./model/segments.js";
import * as signals from "./model/signals.js";
import { account } from "./model/traits.js";

export default defineModel({
  // Events and traits that are not declared here are refused, so a misspelt name is found by the developer who sends it.
  strictSchema: true,
  events,
  traits: account,
  lifecycle: stages,
  journeys,
  segments,
  health: score,
  rules,
  signals,
  display: shown,
});
