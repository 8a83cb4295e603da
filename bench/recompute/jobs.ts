import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { StoredQuestion } from "../../src/db/api/recompute.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import type { BenchDatabase } from "../lib/database.js";
import { SNAPSHOT } from "../lib/events.js";

const JOB_MS_MAX = 10 * 60_000;

export interface JobOptions {
  kind: "recompute" | "dry_run" | "backtest";
  version: number;
  customerId?: string;
}

/** The model with two changed thresholds: of a state and of a segment. */
function changed(): Snapshot {
  const other = structuredClone(SNAPSHOT);
  const [first] = other.lifecycle!.states[0]!.transitions;
  if (first?.when.kind === "count") first.when.value = 8;
  const when = other.segments[0]!.when;
  if (when?.kind === "count") when.value = 50;
  return other;
}

/** The model with a health score, which a backtest needs. */
function scored(): Snapshot {
  const of = { event: "feature_used" };
  return {
    ...SNAPSHOT,
    health: {
      components: [
        { id: "usage", weight: 2, score: { kind: "scale", of: { kind: "count", of, within: "30d" }, from: 0, to: 10 } },
        {
          id: "recency",
          weight: 1,
          score: {
            kind: "steps",
            of: { kind: "daysSince", which: "last", of },
            steps: [
              [3, 100],
              [14, 60],
              [30, 20],
            ],
            otherwise: 0,
          },
        },
      ],
      bands: [
        { id: "good", from: 50 },
        { id: "poor", from: 0 },
      ],
    },
  };
}

/** Versions that are not active; jobs are pinned to them. */
export const CHANGED = 2;
export const SCORED = 3;

/** Stores these versions. */
export async function addVersions({ sql, environmentId }: BenchDatabase): Promise<void> {
  for (const [version, snapshot] of [
    [CHANGED, changed()],
    [SCORED, scored()],
  ] as const) {
    await sql`
      insert into svc.config_versions (project_id, version, hash, snapshot, author)
      select e.project_id, ${version}, ${hashSnapshot(snapshot)}, ${canonicalJson(snapshot)}::text::json, 'bench'
      from svc.environments as e
      where e.environment_id = ${environmentId}`;
  }
}

/** A year, week by week. */
function weekly(): StoredQuestion {
  const now = Date.now();
  const ago = (days: number) => new Date(now - days * 86_400_000).toISOString();
  const range = { every: "7d", from: ago(365), to: ago(0), end: ago(0) };
  return {
    ...range,
    outcome: `state:${SNAPSHOT.lifecycle!.states.at(-1)!.name}`,
    within: "30d",
    traits: "then",
    against: null,
  };
}

/** Queues a job and waits until a worker has completed it; returns how many seconds it ran. */
export async function runJob(
  { sql, environmentId }: BenchDatabase,
  { kind, version, customerId }: JobOptions,
): Promise<number> {
  const id = `rec_${randomBytes(10).toString("hex")}`;
  await sql`
    insert into svc.recomputes (environment_id, recompute_id, kind, customer_id, version, hash, question, pinned_at, requested_by)
    select
      ${environmentId}, ${id}, ${kind}, ${customerId ?? null}, ${version}, case when ${kind} = 'backtest' then 'bench' end,
      case when ${kind} = 'backtest' then ${JSON.stringify(weekly())}::text::json end, now(), 'bench'`;
  const deadline = performance.now() + JOB_MS_MAX;
  while (performance.now() < deadline) {
    const [job] = await sql<[{ status: string; error: string | null; seconds: number }]>`
      select status, error, extract(epoch from finished_at - started_at)::float8 as seconds
      from svc.recomputes where environment_id = ${environmentId} and recompute_id = ${id}`;
    if (job.status === "completed") return job.seconds;
    if (job.error !== null) throw new Error(`the ${kind} failed: ${job.error}`);
    await delay(50);
  }
  throw new Error(`the ${kind} did not end in ${JOB_MS_MAX / 1_000} s`);
}
