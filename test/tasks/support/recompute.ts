import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { call } from "../../../src/db/api/call.js";
import type { RecomputeJob, StoredQuestion } from "../../../src/db/api/recompute.js";
import { connect } from "../../../src/db/connect.js";
import { Models } from "../../../src/evaluation/models.js";
import { canonicalJson, hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import type { Difference } from "../../../src/tasks/recompute/difference.js";
import { startRecomputer, type Recomputer, type RecomputerOptions } from "../../../src/tasks/recompute/recomputer.js";
import { runJob } from "../../../src/tasks/recompute/run-job.js";
import type { TestDatabase } from "../../support/database.js";
import { declared, type TestEnvironment } from "./environment.js";
import { runLog } from "../../support/run-log.js";
import { waitingForLock } from "../../support/locks.js";
import { changeTriggers } from "../../support/triggers.js";

export interface QueueOptions {
  kind?: RecomputeJob["kind"];
  customer?: string;
  /** Pinned; now unless given. */
  at?: string;
  /** Of a preview. */
  snapshot?: Snapshot;
  sample?: number;
  /** Of a backtest of the active version. */
  question?: StoredQuestion;
}

/** A job as the database keeps it. */
export interface JobRow {
  status: string;
  attempt: number;
  failures: number;
  error: string | null;
  customers_total: number | null;
  customers_done: number;
  last_customer_id: string | null;
  customers_changed: number;
  lifecycle_changed: number;
  health_changed: number;
  segments_entered: number;
  segments_exited: number;
  signals_raised: number;
  signals_cleared: number;
  rules_added: number;
  rules_removed: number;
  emissions_added: number;
}

/** Queues a job, like the API; returns its id. */
export async function queue(
  sql: Sql,
  { environmentId }: TestEnvironment,
  { kind = "recompute", customer, at = new Date().toISOString(), snapshot, sample, question }: QueueOptions = {},
): Promise<string> {
  const id = `rec_${randomBytes(10).toString("hex")}`;
  const model = snapshot && declared(snapshot);
  await sql`
    insert into svc.recomputes (
      environment_id, recompute_id, kind, customer_id, sample_size, version, snapshot, hash, question, pinned_at, requested_by
    )
    select
      e.environment_id, ${id}, ${kind}, ${customer ?? null}, ${sample ?? null}, e.active_version,
      ${model ? canonicalJson(model) : null}::text::json, coalesce(${model ? hashSnapshot(model) : null}, v.hash),
      ${question === undefined ? null : JSON.stringify(question)}::text::json, ${at}::text::timestamptz, 'test'
    from svc.environments as e
    left join svc.config_versions as v
      on ${kind} = 'backtest' and v.project_id = e.project_id and v.version = e.active_version
    where e.environment_id = ${environmentId}`;
  return id;
}

/** A worker's connections, without its loop. Usable again after `end()`. */
export class JobRunner {
  readonly #name = `test recompute ${randomBytes(4).toString("hex")}`;
  readonly #models = new Models();
  #session: Sql | undefined;

  constructor(private readonly db: TestDatabase) {}

  get session(): Sql {
    const options = { max: 1, lasting: true, applicationName: this.#name, asynchronousCommit: true };
    return (this.#session ??= connect(this.db.url, options));
  }

  claim(attemptsMax = 10): Promise<RecomputeJob | null> {
    return call(this.session, "claim_job", attemptsMax);
  }

  run(job: RecomputeJob, shouldContinue: () => boolean = () => true): Promise<boolean> {
    return runJob({ session: this.session, sql: this.db.sql, models: this.#models }, job, shouldContinue);
  }

  /** Takes the next job of any environment, or the one with this id, and runs it to its end. */
  async runNext(id?: string): Promise<RecomputeJob> {
    let job = await this.claim();
    while (job !== null && id !== undefined && job.recomputeId !== id) {
      await this.leave(job);
      job = await this.claim();
    }
    if (job === null) throw new Error("there is no job");
    await this.run(job);
    await this.leave(job);
    return job;
  }

  /** Queues a job and runs it to its end; returns its id. */
  async complete(environment: TestEnvironment, options: QueueOptions = {}): Promise<string> {
    const id = await queue(this.db.sql, environment, options);
    await this.runNext(id);
    return id;
  }

  async leave(job: RecomputeJob): Promise<void> {
    await call(this.session, "release_recompute", job);
  }

  fail(job: RecomputeJob, error: string, attemptsMax = 10): Promise<"retrying" | "dead_letter" | null> {
    return call(this.session, "fail_recompute", job, error, attemptsMax, 0.001);
  }

  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.end({ timeout: 1 });
  }

  /** Drops the connection that holds its job; the next use opens another one. */
  async disconnect(): Promise<void> {
    // Returns once the backends are gone.
    await this.db.sql`
      select pg_terminate_backend(pid, 10000)
      from pg_stat_activity where datname = current_database() and application_name = ${this.#name}`;
  }

  /** Simulates that its process was killed and the server has noticed. */
  async kill(): Promise<void> {
    await this.session.end({ timeout: 0 });
    await this.disconnect();
  }
}

/** A worker's loop that looks for jobs. */
export function recomputer(db: TestDatabase, options: Partial<RecomputerOptions> = {}): Recomputer {
  return startRecomputer({
    sql: db.sql,
    openSession: () =>
      connect(db.url, { max: 1, lasting: true, applicationName: "test recomputer", asynchronousCommit: true }),
    attemptsMax: 10,
    pauseMs: 1,
    logger: runLog(),
    ...options,
  });
}

export async function jobOf(sql: Sql, id: string): Promise<JobRow> {
  const [row] = await sql<[JobRow]>`
    select status, attempt, failures, error, customers_total, customers_done, last_customer_id, customers_changed, lifecycle_changed,
      health_changed, segments_entered, segments_exited, signals_raised, signals_cleared, rules_added::integer,
      rules_removed::integer, emissions_added::integer
    from svc.recomputes where recompute_id = ${id}`;
  return row;
}

/** The results of a job, by customer. */
export async function differencesOf(sql: Sql, id: string): Promise<Difference[]> {
  const rows = await sql<{ difference: Difference }[]>`
    select difference from svc.recompute_customers where recompute_id = ${id} order by customer_id`;
  return rows.map(({ difference }) => difference);
}

/** Polls a job until it satisfies `is`; returns it. */
export async function untilJob(sql: Sql, id: string, is: (job: JobRow) => boolean): Promise<JobRow> {
  for (;;) {
    const job = await jobOf(sql, id);
    if (is(job)) return job;
    await delay(5);
  }
}

/** Whether a job has ended. */
export const isOver = ({ status }: JobRow): boolean => status === "completed" || status === "dead_letter";

/** Lets a worker try a job until it is over. */
export async function settle(db: TestDatabase, id: string, options: Partial<RecomputerOptions> = {}): Promise<JobRow> {
  const worker = recomputer(db, options);
  try {
    return await untilJob(db.sql, id, (job) => {
      worker.wake();
      return isOver(job);
    });
  } finally {
    await worker.stop();
  }
}

/** Resolves once a session that runs a statement like this one waits for another's lock. */
export async function untilWaiting(sql: Sql, statement: string): Promise<void> {
  while ((await waitingForLock(sql, `%${statement}%`)) === 0) await delay(5);
}

/** Makes updates of these customers' rows fail until the returned function is called. */
export async function poison(sql: Sql, customers: readonly string[]): Promise<() => Promise<void>> {
  const name = `poison_${randomBytes(4).toString("hex")}`;
  const ids = customers.map((customer) => `'${customer}'`).join(", ");
  await changeTriggers(
    sql,
    `create function ${name}() returns trigger language plpgsql as 'begin raise exception $m$this row is poisoned$m$; end'`,
    `create trigger ${name} before update on svc.customers for each row when (old.customer_id in (${ids})) execute function ${name}()`,
  );
  return () => changeTriggers(sql, `drop trigger ${name} on svc.customers`, `drop function ${name}()`);
}
