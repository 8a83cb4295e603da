import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { useDatabase } from "../support/database.js";
import type { TestEnvironment } from "./support/environment.js";
import { derived, everything } from "./support/kept.js";
import { customersOf, MODEL, outdated, POPULATION_THROUGH as AT } from "./support/population.js";
import {
  jobOf,
  JobRunner,
  poison,
  queue as put,
  recomputer,
  settle as settleIn,
  untilJob,
  type QueueOptions,
} from "./support/recompute.js";

const AMOUNT = 45;
const CUSTOMERS = customersOf(AMOUNT);
/** In the middle of a chunk. */
const BAD = CUSTOMERS[37]!;

const db = await useDatabase();
let environment: TestEnvironment;
let expected: object;

const runner = new JobRunner(db);

beforeAll(async () => {
  const undisturbed = await outdated(db.sql, AMOUNT);
  await put(db.sql, undisturbed, { at: AT });
  await runner.runNext();
  expected = await derived(undisturbed);
});
beforeEach(async () => {
  environment = await outdated(db.sql, AMOUNT);
});
afterEach(async () => {
  await runner.end();
  await db.sql`delete from svc.recomputes`;
});

const queue = (options: QueueOptions = {}) => put(db.sql, environment, { at: AT, ...options });

const settle = (id: string) => settleIn(db, id, { attemptsMax: 3 });

/** The version that each customer's state was computed under, in order of their ids. */
const versions = async () =>
  (
    await db.sql<{ version: number }[]>`
      select config_version as version from svc.customers
      where environment_id = ${environment.environmentId} order by customer_id`
  ).map(({ version }) => version);

/** Two ways in which a customer's recompute fails, each with its repair. */
const FAULTS: [name: string, fail: () => Promise<() => Promise<void>>, text: string][] = [
  ["its row cannot be written", () => poison(db.sql, [BAD]), "this row is poisoned"],
  [
    "its state cannot be read",
    async () => {
      const { environmentId } = environment;
      const [{ state }] = await db.sql<[{ state: string }]>`
        update svc.customers as c set state = '{"no": "state"}'
        from svc.customers as k
        where c.environment_id = ${environmentId} and c.customer_id = ${BAD}
          and k.environment_id = c.environment_id and k.customer_id = c.customer_id
        returning k.state::text as state`;
      return async () => {
        await db.sql`
          update svc.customers set state = ${state}::text::json
          where environment_id = ${environmentId} and customer_id = ${BAD}`;
      };
    },
    "Invalid time value",
  ],
];

it.each(FAULTS)(
  "if a customer fails because %s, the job is given up with an error that names it and the progress; repaired and queued again, it runs to the end",
  async (_name, fail, text) => {
    const repair = await fail();
    const id = await queue();
    const worker = recomputer(db, { pauseMs: 3_600_000 });
    const waiting = await untilJob(db.sql, id, ({ status }) => status === "retrying");
    await worker.stop();
    expect(waiting).toMatchObject({ attempt: 1, failures: 1 });
    expect(waiting.error).toMatch(new RegExp(`Customer "${BAD}": .+\\.$`));

    await db.sql`update svc.recomputes set next_attempt_at = now() where recompute_id = ${id}`;
    const job = await settle(id);
    expect(job).toMatchObject({ status: "dead_letter", attempt: 3, failures: 3, customers_total: AMOUNT });
    expect(job.customers_done, "all before it").toBe(CUSTOMERS.indexOf(BAD));
    expect(job.error).toContain(`Customer "${BAD}": `);
    expect(job.error).toContain(text);
    expect(job.error).toContain("Given up after 3 failed attempts in a row");
    expect(job.error).toContain(`${job.customers_done} of ${AMOUNT} customers are done and stay as recomputed`);
    expect(job.error).toContain(`svc recompute retry ${id}`);
    expect(await versions()).toEqual(CUSTOMERS.map((_customer, i) => (i < job.customers_done ? 2 : 1)));
    expect(await runner.claim(), "it is not tried again by itself").toBeNull();
    expect(await jobOf(db.sql, id)).toEqual(job);

    await repair();
    // As in the API.
    await db.sql`update svc.recomputes set status = 'queued', failures = 0, error = null, finished_at = null`;
    const done = { status: "completed", error: null, attempt: 4, failures: 0, customers_done: AMOUNT };
    expect(await settle(id)).toMatchObject(done);
    expect(await derived(environment)).toEqual(expected);
  },
);

it("only consecutive failures count: progress resets the count", async () => {
  const repairs = [await poison(db.sql, [CUSTOMERS[10]!]), await poison(db.sql, [CUSTOMERS[30]!])];
  const id = await queue();
  const worker = recomputer(db, { attemptsMax: 3 });
  for (const [i, repair] of repairs.entries()) {
    await untilJob(db.sql, id, ({ failures, customers_done: done }) => {
      worker.wake();
      return done === [10, 30][i] && failures === 1;
    });
    await repair();
  }
  await worker.stop();
  expect(await settle(id)).toMatchObject({ status: "completed", customers_done: AMOUNT });
  expect(await derived(environment)).toEqual(expected);
});

it("a dry run or preview that is given up has changed nothing, and says so", async () => {
  await FAULTS[1]![1]();
  const before = await everything(environment);
  for (const [options, said] of [
    [{ kind: "dry_run" }, (done) => `${done} of ${AMOUNT} customers are done; nothing was changed`],
    [{ kind: "preview", snapshot: MODEL }, () => "ask for the preview again"],
  ] as [QueueOptions, (done: number) => string][]) {
    const job = await settle(await queue(options));
    expect(job).toMatchObject({ status: "dead_letter", failures: 3 });
    expect(job.error).toContain(`Customer "${BAD}": `);
    expect(job.error).toContain(said(job.customers_done));
  }
  expect(await everything(environment)).toEqual(before);
});

it("a pinned version that cannot be read fails the run without naming a customer", async () => {
  await db.sql`
    update svc.config_versions set snapshot = jsonb_set(snapshot::jsonb, '{lifecycle}', '7')::json, hash = 'unknown'
    where project_id = (select project_id from svc.environments where environment_id = ${environment.environmentId}) and version = 2`;
  const id = await queue();
  const job = await settle(id);
  expect(job).toMatchObject({ status: "dead_letter", customers_done: 0 });
  expect(job.error).toMatch(/^The run failed: configuration version v2 is not valid: .+\. Given up after 3 failed/);
});
