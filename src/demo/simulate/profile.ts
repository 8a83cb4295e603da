/** A customer's identity and plans: everything that is drawn once, before the days are played. */
import type { Calendar } from "./calendar.js";
import { type Cohort, COHORTS, type CohortTraits } from "./cohorts.js";
import type { EventLog } from "./operations.js";
import { Random } from "./random.js";

export type Plan = "starter" | "pro" | "enterprise";
type Feature = "board" | "timeline" | "dashboard" | "automation" | "integration" | "api";

export const TRIAL_DAYS = 14;

const COUNTRIES = { DE: 0.2, US: 0.3, GB: 0.16, FR: 0.1, NL: 0.08, ES: 0.06, SE: 0.05, CA: 0.05 };

const FIRST = `
  Amber Aspen Birch Bluebell Bramble Canyon Cedar Cobalt Copper Coral Crescent Delta Driftwood Ember
  Falcon Fern Flint Garnet Glacier Granite Harbor Hazel Heron Indigo Juniper Kestrel Lantern Larch
  Lumen Maple Meadow Mistral Nimbus Oakfield Onyx Orchard Pebble Pinewood Quarry Raven Ridge Saffron
  Sierra Silver Summit Thistle Tundra Willow Wren Zephyr
`
  .trim()
  .split(/\s+/);

const SECOND = {
  software: ["Software", "Labs", "Systems", "Cloud", "Digital"],
  retail: ["Outfitters", "Market", "Trading", "Goods", "Stores"],
  finance: ["Capital", "Credit", "Partners", "Insurance", "Ledger"],
  health: ["Clinics", "Health", "Care", "Pharma", "Dental"],
  education: ["Academy", "Learning", "Press", "Campus", "Tutors"],
  other: ["Logistics", "Studios", "Works", "Energy", "Travel"],
} as const;

type Industry = keyof typeof SECOND;

/** Reasons for cancelling of customers who did not fade away. */
const REASONS = { price: 0.35, missing_feature: 0.25, competitor: 0.25, no_longer_needed: 0.1, other: 0.05 };

const INDUSTRIES: Record<Industry, number> = {
  software: 0.34,
  retail: 0.16,
  finance: 0.13,
  health: 0.12,
  education: 0.1,
  other: 0.15,
};

/** A company's name, and the customer id made from it. `taken` contains the ids assigned so far; a repeated name gets a number. */
function nameCompany(random: Random, industry: Industry, taken: Set<string>) {
  const name = `${random.pick(FIRST)} ${random.pick(SECOND[industry])}`;
  for (let number = 1; ; number++) {
    const companyName = number === 1 ? name : `${name} ${number}`;
    const customerId = companyName.toLowerCase().replaceAll(" ", "-");
    if (taken.has(customerId)) continue;
    taken.add(customerId);
    return { companyName, customerId };
  }
}

export type Profile = ReturnType<typeof drawProfile>;

/** Everything needed to play a customer's days. */
export interface Life {
  profile: Profile;
  log: EventLog;
  random: Random;
  calendar: Calendar;
  incident: ReturnType<typeof planIncident>;
}

/** Draws a customer. `index` counts customers from 0 and selects the customer's separate stream of random numbers. */
export function drawProfile(seed: number, index: number, cohort: Cohort, calendar: Calendar, taken: Set<string>) {
  const random = new Random(seed, "profile", index);
  const { use, trial }: CohortTraits = COHORTS[cohort];
  const industry = random.weighted(INDUSTRIES);
  const country = random.weighted(COUNTRIES);
  const signUpDay = drawSignUpDay(random, cohort, calendar);
  const turn = random.whole(TRIAL_DAYS + 4, 60);
  const looksAround = cohort === "dabbler" && random.chance(0.35);
  const profile = {
    ...nameCompany(random, industry, taken),
    cohort,
    industry,
    country,
    currency: country === "GB" ? "GBP" : country === "US" || country === "CA" ? "USD" : "EUR",
    source: random.weighted({ self_serve: 0.68, sales: 0.22, partner: 0.1 }),
    /** The day of the history on which the customer signs up. */
    signUpDay,
    /** Probability of being active on a usual working day. */
    presence: random.between(...use.presence) * (looksAround ? 2 : 1),
    /** Mean number of feature uses a session. */
    depth: looksAround ? 0 : random.between(...use.depth),
    /** Mean number of sessions a day of activity. */
    sessions: random.between(...use.sessions),
    features: drawFeatures(random, use.deepFeatures),
    /** Team members in the end, and the days from sign-up until they are all there. */
    team: random.whole(...use.team),
    teamGrowthDays: random.whole(10, 70),
    /** The plan bought at the end of the trial; null if the trial just ends. */
    plan: random.chance(trial.converts) ? random.weighted(trial.plans) : null,
    /** Days after sign-up at which habits change, in a way that depends on the cohort. */
    turn,
    /** Days from the turn until activity has ended (faders) or returned (comebacks). */
    turnLength: cohort === "comeback" ? random.whole(17, 38) : random.whole(12, 35),
  };
  return { ...profile, cancellation: drawCancellation(random, profile) };
}

/**
 * A third of the customers sign up in the first three weeks, after the launch, some during a campaign in the last two weeks, the rest evenly, with
 * fewer at weekends. Those whose story needs time (faders, quitters, comebacks) sign up early enough for it.
 */
function drawSignUpDay(random: Random, cohort: Cohort, calendar: Calendar): number {
  const needsRoom = cohort === "fader" || cohort === "quitter" || cohort === "comeback";
  const last = Math.max(0, Math.floor(calendar.days * (needsRoom ? 0.65 : 0.99)) - 1);
  const wave = random.weighted({ launch: 0.34, campaign: needsRoom ? 0 : 0.14, between: 0.52 });
  const [from, to] = { launch: [0, 20], campaign: [last - 13, last], between: [0, last] }[wave] as [number, number];
  const day = random.whole(Math.max(0, from), Math.min(to, last));
  return calendar.activity(day) < 0.5 && random.chance(0.7) ? Math.max(0, day - 2) : day;
}

type Habits = { cohort: Cohort; plan: Plan | null; turn: number; turnLength: number };

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

/** The day of cancellation, counted from sign-up, and the reason; null for a customer that does not cancel. */
function drawCancellation(random: Random, { cohort, turn, turnLength, plan }: Habits) {
  if (cohort === "quitter") {
    return { day: turn, reason: random.weighted(REASONS) };
  }
  if (cohort === "fader" && plan !== null && random.chance(0.3)) {
    const day = turn + turnLength + random.whole(3, 12);
    return { day, reason: random.weighted({ no_longer_needed: 0.6, price: 0.3, other: 0.1 }) };
  }
  return null;
}

/** The customer's activity on a day, from 0 to 1, given the change of habits and the eager first days. */
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

/**
 * The incident, two days on which integrations and API fail: a Tuesday about three and a half weeks before the end, so that segments still
 * show it, and the next day.
 */
export function planIncident(calendar: Calendar) {
  const first = calendar.tuesdayBefore(Math.min(24, Math.ceil(calendar.days / 3)));
  return {
    /** Whether the incident touches the customer on this day. */
    hits: (profile: Profile, day: number) =>
      (day === first || day === first + 1) && (profile.features.integration > 0.1 || profile.features.api > 0.1),
    severity: (day: number) => (day === first ? "critical" : "major"),
    /** The minute of the day at which monitoring detects it. */
    minute: (day: number) => (day === first ? 10 * 60 + 20 : 14 * 60 + 5),
  };
}
