import type { IngestFixture } from "../../http/ingest/fixture.js";

export interface Allowance {
  /** Operations regained per second. */
  perSecond: number;
  /** Operations that remain for every key, regardless of how long a test takes. */
  left: number;
}

/** Gives the organization a plan with a burst of 1,000 operations, of which some remain. */
export async function setAllowance({ service }: IngestFixture, { perSecond, left }: Allowance): Promise<void> {
  const { sql } = service.db;
  await sql`update iam.plans set rate_per_second = ${perSecond}, rate_burst = 1000`;
  await sql`update svc.key_usage set tokens = ${left}, refilled_at = now() + interval '9 seconds'`;
}

/** Restores the original plan. */
export async function resetAllowance({ service }: IngestFixture): Promise<void> {
  const { sql } = service.db;
  await sql`update iam.plans set rate_per_second = 50000, rate_burst = 100000`;
  await sql`update svc.key_usage set tokens = 100000, refilled_at = now()`;
}
