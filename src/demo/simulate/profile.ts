/** Who a customer is and what the customer is going to do: everything that is drawn once, before the days are played. */
import type { Calendar } from "./calendar.js";
import { type Cohort, COHORTS } from "./cohorts.js";
import { INDUSTRIES, type Industry, nameCompany } from "./names.js";
import { Random } from "./random.js";

export type Plan = "starter" | "pro" | "enterprise";
type Feature = "board" | "timeline" | "dashboard" | "automation" | "integration" | "api";
type CancellationReason = "price" | "missing_feature" | "no_longer_needed" | "competitor" | "other";

export const TRIAL_DAYS = 14;

export interface Profile {
  customerId: string;
  companyName: string;
  cohort: Cohort;
  industry: Industry;
  country: string;
  currency: "EUR" | "USD" | "GBP";
  source: "self_serve" | "sales" | "partner";
  /** The day of the history on which the customer signs up. */
  signUpDay: number;
  /** Probability of being active on a usual working day. */
  presence: number;
  /** Mean number of feature uses a session. */
  depth: number;
  /** Mean number of sessions a day of activity. */
  sessions: number;
  features: Record<Feature, number>;
  /** Team members in the end, and the days from sign-up until they are all there. */
  team: number;
  teamGrowthDays: number;
  /** The plan bought at the end of the trial; null where the trial just ends. */
  plan: Plan | null;
  /** Days after sign-up at which habits turn: what the turn is depends on the cohort. */
  turn: number;
  /** Days from the turn until activity has ended (faders) or has come back (comebacks). */
  turnLength: number;
  cancellation: { day: number; reason: CancellationReason } | null;
}

const COUNTRIES = { DE: 0.2, US: 0.3, GB: 0.16, FR: 0.1, NL: 0.08, ES: 0.06, SE: 0.05, CA: 0.05 };

/** Draws a customer. `index` counts customers from 0 and names the customer's own stream of random numbers. */
export function drawProfile(
  seed: number,
  index: number,
  cohort: Cohort,
  calendar: Calendar,
  taken: Set<string>,
): Profile {
  const random = new Random(seed, "profile", index);
  const habits = COHORTS[cohort];
  const industry = random.weighted(INDUSTRIES);
  const country = random.weighted(COUNTRIES);
  const signUpDay = drawSignUpDay(random, cohort, calendar);
  const turn = random.whole(TRIAL_DAYS + 4, 60);
  const looksAround = cohort === "dabbler" && random.chance(0.35);
  const profile: Profile = {
    ...nameCompany(random, industry, taken),
    cohort,
    industry,
    country,
    currency: country === "GB" ? "GBP" : country === "US" || country === "CA" ? "USD" : "EUR",
    source: random.weighted({ self_serve: 0.68, sales: 0.22, partner: 0.1 }),
    signUpDay,
    presence: random.between(...habits.presence) * (looksAround ? 2 : 1),
    depth: looksAround ? 0 : random.between(...habits.depth),
    sessions: random.between(...habits.sessions),
    features: drawFeatures(random, habits.deepFeatures),
    team: random.whole(...habits.team),
    teamGrowthDays: random.whole(10, 70),
    plan: random.chance(habits.converts) ? random.weighted(habits.plans) : null,
    turn,
    turnLength: cohort === "comeback" ? random.whole(17, 38) : random.whole(12, 35),
    cancellation: null,
  };
  return { ...profile, cancellation: drawCancellation(random, profile) };
}

/**
 * A third of the customers come in the first three weeks, after the launch, some with a campaign of the last two weeks; the rest
 * evenly, fewer at weekends. Those whose story
 * needs room (faders, quitters, comebacks) come early enough for it to be told.
 */
function drawSignUpDay(random: Random, cohort: Cohort, calendar: Calendar): number {
  const needsRoom = cohort === "fader" || cohort === "quitter" || cohort === "comeback";
  const last = Math.max(0, Math.floor(calendar.days * (needsRoom ? 0.65 : 0.99)) - 1);
  const wave = random.weighted({ launch: 0.34, campaign: needsRoom ? 0 : 0.14, between: 0.52 });
  const [from, to] = { launch: [0, 20], campaign: [last - 13, last], between: [0, last] }[wave] as [number, number];
  const day = random.whole(Math.max(0, from), Math.min(to, last));
  return calendar.activity(day) < 0.5 && random.chance(0.7) ? Math.max(0, day - 2) : day;
}

/** Nobody uses everything: each customer has favourites, and some never touch the deep features at all. */
function drawFeatures(random: Random, deep: number): Record<Feature, number> {
  return {
    board: random.between(0.5, 1.5),
    timeline: random.between(0.1, 1.2),
    dashboard: random.between(0.1, 1),
    automation: random.chance(0.25) ? 0 : random.between(0.2, 1.2) * deep,
    integration: random.chance(0.35) ? 0 : random.between(0.2, 1.2) * deep,
    api: random.chance(0.5) ? 0 : random.between(0.2, 1) * deep,
  };
}

function drawCancellation(random: Random, { cohort, turn, turnLength, plan }: Profile): Profile["cancellation"] {
  if (cohort === "quitter") {
    const reason = random.weighted({
      price: 0.35,
      missing_feature: 0.25,
      competitor: 0.25,
      no_longer_needed: 0.1,
      other: 0.05,
    });
    return { day: turn, reason };
  }
  if (cohort === "fader" && plan !== null && random.chance(0.3)) {
    const day = turn + turnLength + random.whole(3, 12);
    return { day, reason: random.weighted({ no_longer_needed: 0.6, price: 0.3, other: 0.1 }) };
  }
  return null;
}

/** How lively the customer is on a day, from 0 to 1: the habits' turn, and the eager first days. */
export function liveliness(profile: Profile, daysSinceSignUp: number): number {
  const sinceTurn = daysSinceSignUp - profile.turn;
  switch (profile.cohort) {
    case "lead":
    case "neverStarted":
      return 0;
    case "fader":
      return sinceTurn <= 0 ? 1 : Math.max(0, 1 - sinceTurn / profile.turnLength) ** 1.5;
    case "comeback":
      return sinceTurn > 0 && sinceTurn <= profile.turnLength ? 0 : 1;
    case "quitter":
      return profile.cancellation !== null && daysSinceSignUp >= profile.cancellation.day ? 0 : 1;
    case "dabbler":
      // The first week is curiosity; then it fades within two months.
      return daysSinceSignUp < 7 ? 1 : Math.max(0.08, 1 - daysSinceSignUp / 55);
    case "champion":
    case "steady":
    case "climber":
      return daysSinceSignUp < 5 ? 1 : 0.92;
  }
}

/** The bad days: for two days in a row the integrations and the API fail for many hours. */

export interface Incident {
  /** Whether the incident touches the customer on this day. */
  hits(profile: Profile, day: number): boolean;
  severity(day: number): "major" | "critical";
  /** The minute of the day at which monitoring sees it. */
  minute(day: number): number;
}

/** The first day is a Tuesday some three and a half weeks before the end, so that its effects can still be seen in the segments. */
export function planIncident(calendar: Calendar): Incident {
  const first = calendar.tuesdayBefore(Math.min(24, Math.ceil(calendar.days / 3)));
  return {
    hits: (profile, day) =>
      (day === first || day === first + 1) && (profile.features.integration > 0.1 || profile.features.api > 0.1),
    severity: (day) => (day === first ? "critical" : "major"),
    minute: (day) => (day === first ? 10 * 60 + 20 : 14 * 60 + 5),
  };
}
