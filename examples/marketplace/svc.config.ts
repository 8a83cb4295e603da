// The model of a marketplace for second-hand instruments. It has two kinds of customers, buyers and sellers, which the trait `side` tells apart; one
// model describes both, because one customer-success team looks after the balance between them.
import { defineModel } from "svc-success";
import * as events from "./model/events.js";
import { score } from "./model/health.js";
import * as journeys from "./model/journeys.js";
import { stages } from "./model/lifecycle.js";
import * as rules from "./model/rules.js";
import * as segments from "./model/segments.js";
import * as signals from "./model/signals.js";
import { party } from "./model/traits.js";

export default defineModel({
  strictSchema: true,
  events,
  traits: party,
  lifecycle: stages,
  journeys,
  segments,
  health: score,
  rules,
  signals,
});
