// A shop that sells gifts to other shops: a year of orders and returns. Everything is about money and time here, so this is the example for
// sums, averages, distinct counts and latest values, and for the three questions that every shop asks of a customer: how recently, how
// often, and how much.
import { defineModel } from "svc-success";
import * as events from "./model/events.js";
import { score } from "./model/health.js";
import * as journeys from "./model/journeys.js";
import { stages } from "./model/lifecycle.js";
import * as rules from "./model/rules.js";
import * as segments from "./model/segments.js";
import * as signals from "./model/signals.js";

export default defineModel({
  strictSchema: true,
  events,
  lifecycle: stages,
  journeys,
  segments,
  health: score,
  rules,
  signals,
});
