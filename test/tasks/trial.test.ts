import { beforeAll, beforeEach, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { Models } from "../../src/evaluation/models.js";
import { evaluateEnvironment, runTrial } from "../../src/tasks/evaluate/evaluate-environment.js";
import { happened, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";
import { changeTriggers } from "../support/triggers.js";
import { TestEnvironment } from "./support/environment.js";

const AT = "2026-03-02T10:00:00.000Z";
const MODEL = snapshotOf({ states: { new: [["activated", happened("login")]], activated: [] } });

const db = await useDatabase();
let environment: TestEnvironment;
beforeAll(async () => {
  // Writing the customer "poison" is canceled, like a statement that takes too long.
  await changeTriggers(
    db.sql,
    `create function public.poison() returns trigger language plpgsql security definer as $$
    begin
      raise exception using errcode = '57014', message = 'canceling statement due to statement timeout';
    end $$`,
    `create trigger poison after insert or update on svc.customers for each row
    when (new.customer_id = 'poison' and new.state is not null) execute function public.poison()`,
  );
});
beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
});

it("only a customer whose evaluation never ends is set aside, with the reason", async () => {
  const customers = Array.from({ length: 40 }, (_, i) => (i === 25 ? "poison" : `c${i}`));
  await environment.ingest(customers.map((customer) => ({ customer, at: AT, event: "login" })));
  const dependencies = { sql: db.sql, models: new Models(), settleSeconds: 0, logger: runLog(), at: Date.parse(AT) };
  const { environmentId } = environment;
  await expect(evaluateEnvironment(dependencies, environmentId)).rejects.toThrow();
  await call(db.sql, "suspect_environment", environmentId, "An evaluation of this environment failed.");
  let trials = 0;
  while ((await evaluateEnvironment(dependencies, environmentId)) === "suspected") {
    await runTrial(dependencies, environmentId, "w1").catch(() => undefined);
    trials++;
    expect(trials).toBeLessThan(60);
  }
  expect(await environment.setAside()).toEqual([
    { customer: "poison", error: expect.stringContaining("statement timeout") as string },
  ]);
  for (const customer of customers.filter((one) => one !== "poison")) {
    expect(await environment.document(customer)).toMatchObject({ lifecycle: "activated" });
  }
  expect(await db.sql`select from svc.suspect_environments where environment_id = ${environmentId}`).toHaveLength(0);
});

it("a trial belongs to its worker until that worker is gone", async () => {
  const { environmentId } = environment;
  const full = { customers: 500, operations: 5_000 };
  await call(db.sql, "suspect_environment", environmentId, "reason");
  await db.sql`insert into svc.workers (worker_id) values ('alive')`;
  expect(await call(db.sql, "begin_trial", { environmentId, workerId: "alive" }, full)).toMatchObject(full);
  expect(await call(db.sql, "begin_trial", { environmentId, workerId: "other" }, full)).toBeNull();
  await call(db.sql, "remove_worker", "alive");
  expect(await call(db.sql, "begin_trial", { environmentId, workerId: "other" }, full)).toMatchObject({
    customers: 62,
  });
});

it("environments that a dead worker was evaluating are suspected, and its jobs are unlocked", async () => {
  const { environmentId } = environment;
  await db.sql`delete from graphile_worker._private_jobs`;
  await environment.ingest([{ customer: "c", at: AT, event: "login" }]);
  await db.sql`select svc.request_evaluation(array[${environmentId}::integer])`;
  await db.sql`update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now()`;
  await call(db.sql, "remove_worker", "dead");
  expect(
    await db.sql`select environment_id from svc.suspect_environments where environment_id = ${environmentId}`,
  ).toEqual([{ environment_id: environmentId }]);
  expect(await db.sql`select from graphile_worker.jobs where locked_by is not null`).toHaveLength(0);
});

it.each([
  ["08006", "connection to the remote node postgres@10.0.0.7:5432 failed"],
  ["XX000", "server closed the connection unexpectedly"],
])("an environment whose node cannot be reached (%s) is left to the tick, and not suspected", async (code, message) => {
  const away = Object.assign(Object.create(db.sql) as typeof db.sql, {
    begin: () => Promise.reject(Object.assign(new Error(message), { code })),
  });
  const dependencies = { sql: away, models: new Models(), settleSeconds: 0, logger: runLog() };
  expect(await evaluateEnvironment(dependencies, environment.environmentId)).toBe("away");
});

it("a fault of the database sets no customer aside", async () => {
  await changeTriggers(
    db.sql,
    `create function public.full() returns trigger language plpgsql as $$
    begin
      raise exception using errcode = '53100', message = 'could not extend file: No space left on device';
    end $$`,
    "create trigger full_disk before insert on svc.lifecycle_transitions for each row execute function public.full()",
  );
  await environment.ingest([{ customer: "c", at: AT, event: "login" }]);
  const dependencies = { sql: db.sql, models: new Models(), settleSeconds: 0, logger: runLog(), at: Date.parse(AT) };
  const { environmentId } = environment;
  await call(db.sql, "suspect_environment", environmentId, "reason");
  for (let i = 0; i < 20; i++) {
    await expect(runTrial(dependencies, environmentId, "w1")).rejects.toThrow("No space left");
  }
  await changeTriggers(db.sql, "drop trigger full_disk on svc.lifecycle_transitions");
  expect(await runTrial(dependencies, environmentId, "w1")).toBe(true);
  expect(await environment.setAside()).toEqual([]);
  expect(await environment.document("c")).toMatchObject({ lifecycle: "activated" });
  expect(await db.sql`select from svc.suspect_environments where environment_id = ${environmentId}`).toHaveLength(0);
});
