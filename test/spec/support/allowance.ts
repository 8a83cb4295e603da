import type { IngestFixture } from "../../http/ingest/fixture.js";

export interface Allowance {
  /** What comes back each second. */
  perSecond: number;
  /** What is left of every key; no time of a test adds to it. */
  left: number;
}

/** Gives the organization a plan of at most 1,000 operations at once, some of which are left. */
export async function setAllowance({ service }: IngestFixture, { perSecond, left }: Allowance): Promise<void> {
  const { sql } = service.db;
  await sql`update iam.plans set rate_per_second = ${perSecond}, rate_burst = 1000`;
  await sql`update svc.key_usage set tokens = ${left}, refilled_at = now() + interval '1 hour'`;
}

/** Gives it back the plan that it began with. */
export async function resetAllowance({ service }: IngestFixture): Promise<void> {
  const { sql } = service.db;
  await sql`update iam.plans set rate_per_second = 50000, rate_burst = 100000`;
  await sql`update svc.key_usage set tokens = 100000, refilled_at = now()`;
}
