/** The whole simulated history: simulates the customers one by one, then merges their operations in chronological order. */
import { introduce, subscribe } from "./account.js";
import { Calendar } from "./calendar.js";
import { dealCohorts } from "./cohorts.js";
import { drawProfile, type Life, planIncident } from "./profile.js";
import { EventLog, type PlacedOperation, type SimulatedOperation } from "./operations.js";
import { Random } from "./random.js";
import { playDay, sufferIncident, takeFirstSteps } from "./usage.js";

export interface HistoryOptions {
  seed: number;
  customers: number;
  /** Length of the history in days. */
  days: number;
  /** The instant at which the history ends, in milliseconds since 1970. */
  base: number;
}

export const DEFAULT_HISTORY = { seed: 1, customers: 500, days: 120 };

/** Simulates the operations of all customers, in chronological order. Depends only on the options: equal options give byte-identical operations. */
export function simulateHistory(options: HistoryOptions): SimulatedOperation[] {
  const { seed, customers, days, base } = options;
  const calendar = new Calendar(base, days);
  const incident = planIncident(calendar);
  const taken = new Set<string>();
  const all: PlacedOperation[] = [];
  for (const [customer, cohort] of dealCohorts(new Random(seed, "cohorts"), customers).entries()) {
    const profile = drawProfile(seed, customer, cohort, calendar, taken);
    const log = new EventLog(profile.customerId, base);
    const random = new Random(seed, "days", customer);
    live({ profile, log, random, calendar, incident }, new Random(seed, "account", customer));
    for (const placed of log.operations(`demo-${seed}`)) all.push(placed);
  }
  // The operations of one instant stay in the order of the customers.
  all.sort((one, other) => one.at - other.at);
  return all.map(({ operation }) => operation);
}

function live(life: Life, accountRandom: Random): void {
  const { profile, random, calendar } = life;
  const signedUpAt = calendar.instant(profile.signUpDay, calendar.workingMinute(random));
  introduce(life, signedUpAt);
  if (profile.cohort === "lead") return;
  takeFirstSteps(life, signedUpAt);
  if (profile.cohort === "neverStarted") return;
  const end = subscribe({ ...life, random: accountRandom });
  // A closed account does nothing more, not even on the day it ends.
  for (let day = profile.signUpDay + 1; day < (end ?? calendar.days); day++) {
    sufferIncident(life, day);
    playDay(life, day);
  }
}
