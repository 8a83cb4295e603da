/**
 * The kinds of customers, and the share of each. A cohort defines what a customer will do, never what the model should derive from it:
 * states and segments are for the service to find.
 */
import type { Random } from "./random.js";

export interface CohortTraits {
  share: number;
  /** How the product is used. Values are drawn from the ranges. */
  use: {
    /** The probability of being at work in the product on a usual working day. */
    presence: readonly [number, number];
    /** Feature uses a session. */
    depth: readonly [number, number];
    /** Sessions on a day of activity. */
    sessions: readonly [number, number];
    /** Team members by the end of the growth; 1 is a person alone. */
    team: readonly [number, number];
    /** How often the deep features (automation, integration, api) are chosen: 1 is as often as the simple ones. */
    deepFeatures: number;
  };
  /** The probability that the trial ends with a subscription, and to which plan. */
  trial: { converts: number; plans: { starter: number; pro: number; enterprise: number } };
}

const NOBODY = {
  use: { presence: [0, 0], depth: [0, 0], sessions: [0, 0], team: [1, 1], deepFeatures: 0 },
  trial: { converts: 0, plans: { starter: 1, pro: 0, enterprise: 0 } },
} as const;

export const COHORTS = {
  /** Understood the product in the first days, uses it deeply and on every working day, brings the whole team. */
  champion: {
    share: 0.15,
    use: { presence: [0.88, 0.98], depth: [1.6, 2.8], sessions: [2, 3.5], team: [8, 30], deepFeatures: 1.1 },
    trial: { converts: 1, plans: { starter: 0, pro: 0.6, enterprise: 0.4 } },
  },
  /** The broad middle: a team that uses what it needs, week after week. */
  steady: {
    share: 0.25,
    use: { presence: [0.55, 0.85], depth: [0.9, 1.8], sessions: [1, 2], team: [3, 12], deepFeatures: 0.35 },
    trial: { converts: 0.96, plans: { starter: 0.55, pro: 0.4, enterprise: 0.05 } },
  },
  /** Starts small on the small plan and outgrows it: invites, large projects, an upgrade for some. */
  climber: {
    share: 0.08,
    use: { presence: [0.65, 0.9], depth: [1.3, 2.4], sessions: [1.2, 2.6], team: [12, 36], deepFeatures: 0.7 },
    trial: { converts: 1, plans: { starter: 0.8, pro: 0.2, enterprise: 0 } },
  },
  /** One person who tries it now and then; a third sign in and find nothing to do. Few ever pay; most trials run out in silence. */
  dabbler: {
    share: 0.16,
    use: { presence: [0.12, 0.3], depth: [0.3, 1.1], sessions: [1, 1.4], team: [1, 2], deepFeatures: 0.1 },
    trial: { converts: 0.15, plans: { starter: 1, pro: 0, enterprise: 0 } },
  },
  /** A good start, then less from week to week until all use has stopped. Some of them cancel, most just stop, and stop paying. */
  fader: {
    share: 0.12,
    use: { presence: [0.55, 0.85], depth: [0.9, 2], sessions: [1, 2], team: [2, 9], deepFeatures: 0.3 },
    trial: { converts: 0.85, plans: { starter: 0.7, pro: 0.3, enterprise: 0 } },
  },
  /** Active until the day of the cancellation: the price, a missing feature, a competitor. */
  quitter: {
    share: 0.06,
    use: { presence: [0.55, 0.85], depth: [0.9, 2], sessions: [1, 2], team: [2, 10], deepFeatures: 0.4 },
    trial: { converts: 0.9, plans: { starter: 0.6, pro: 0.35, enterprise: 0.05 } },
  },
  /** Stops for some weeks, long enough to be called at risk, and returns when somebody calls or a project starts. */
  comeback: {
    share: 0.07,
    use: { presence: [0.65, 0.9], depth: [1.2, 2.2], sessions: [1.2, 2.4], team: [3, 12], deepFeatures: 0.5 },
    trial: { converts: 1, plans: { starter: 0.5, pro: 0.45, enterprise: 0.05 } },
  },
  /** Signs up, looks once or twice, and is never seen again. */
  neverStarted: { ...NOBODY, share: 0.09 },
  /** Known from sales by its traits alone: no account yet. */
  lead: { ...NOBODY, share: 0.02 },
} satisfies Record<string, CohortTraits>;

export type Cohort = keyof typeof COHORTS;

/** Assigns cohorts in proportion to their shares, exact to one customer for any number of customers. */
export function dealCohorts(random: Random, customers: number): Cohort[] {
  const names = Object.keys(COHORTS) as Cohort[];
  const dealt = names.flatMap((name) => Array<Cohort>(Math.floor(COHORTS[name].share * customers)).fill(name));
  while (dealt.length < customers) dealt.push("steady");
  // Fisher-Yates, so that a cohort does not sign up as a block.
  for (let last = dealt.length - 1; last > 0; last--) {
    const other = random.whole(0, last);
    [dealt[last], dealt[other]] = [dealt[other]!, dealt[last]!];
  }
  return dealt;
}
