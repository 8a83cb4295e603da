import { journey, step } from "svc-success";
import {
  addPenalty,
  createFine,
  insertNotification,
  notifyResult,
  receiveResult,
  fileAppeal,
  sendAppeal,
  sendFine,
} from "./events.js";

/**
 * A checklist of what the town has to do before the debt may be given to a collector. Steps count from the offence; a case that is paid
 * at once stays at the first one, and after two years nobody will go on with it.
 */
export const proceedings = journey("proceedings", {
  start: createFine.happened(),
  steps: [
    step("send", sendFine.happened()),
    step("notify", insertNotification.happened()),
    step("penalize", addPenalty.happened()),
  ],
  expiresAfter: "730d",
});

/**
 * An appeal to the prefecture, as a funnel: each step counts what was recorded after the one before. Most appeals are passed on within two
 * months; a decision can take years, and three quarters of the cases never get one.
 */
export const appeal = journey("appeal", {
  start: fileAppeal.happened(),
  steps: [
    step("pass_on", sendAppeal.happened(), { since: "previousStep" }),
    step("decide", receiveResult.happened(), { since: "previousStep" }),
    step("tell", notifyResult.happened(), { since: "previousStep" }),
  ],
  expiresAfter: "1825d",
});
