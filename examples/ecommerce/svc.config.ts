// The model of an online shop that sells to people: who buys for the first time, who comes back and at which rhythm, what is left in carts, what is
// sent back, and who is worth a personal word.
import { defineModel } from "svc-success";
import * as events from "./model/events.js";
import { score } from "./model/health.js";
import * as journeys from "./model/journeys.js";
import { stages } from "./model/lifecycle.js";
import * as rules from "./model/rules.js";
import * as segments from "./model/segments.js";
import * as signals from "./model/signals.js";
import { shopper } from "./model/traits.js";

export default defineModel({
  strictSchema: true,
  events,
  traits: shopper,
  lifecycle: stages,
  journeys,
  segments,
  health: score,
  rules,
  signals,
});
