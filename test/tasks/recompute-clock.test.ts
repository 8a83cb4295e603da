import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { docBlocks } from "../support/doc-blocks.js";
import { TestEnvironment } from "./support/environment.js";
import { jobOf, JobRunner } from "./support/recompute.js";

const db = await useDatabase();
const quietAfter = (span: string) =>
  snapshotOf({ states: { new: [["active", happened("login")]], active: [["quiet", inactiveFor(span)]], quiet: [] } });
const FAULTS = readFileSync(new URL("../../docs/operations/faults.md", import.meta.url), "utf8");
const customersAhead = docBlocks(FAULTS).find(({ code }) => code.includes("evaluated_through > now()"))!.code;
const MINUTE = 60_000;
const fromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString();

it("a recompute returns customers to the present that were evaluated while the database's clock was ahead", async () => {
  const environment = await TestEnvironment.create(db.sql, quietAfter("1m"));
  const runner = new JobRunner(db);
  const document = async () =>
    (await environment.document()) as unknown as { lifecycle: string; evaluatedThrough: string };
  await environment.take({}, [{ at: fromNow(0), event: "login" }]);
  // Less than the five minutes within which clocks may differ.
  await environment.evaluate({ at: fromNow(4), settleSeconds: 0 });
  const early = await document();
  expect(early.lifecycle).toBe("quiet");
  await runner.complete(environment);
  expect(await document()).toEqual(early);

  const environmentAhead = { at: fromNow(24 * 60), settleSeconds: 0 };
  await environment.take(environmentAhead, [{ at: fromNow(0), event: "login" }]);
  await environment.evaluate(environmentAhead);
  expect(await document()).toMatchObject({ lifecycle: "quiet" });
  expect(await db.sql.unsafe(customersAhead)).toMatchObject([{ customer_id: "c1", lifecycle: "quiet" }]);
  for (const at of [fromNow(0), fromNow(24 * 60)]) {
    await runner.complete(environment, { at });
    const { lifecycle, evaluatedThrough } = await document();
    expect(lifecycle).toBe("active");
    expect(Date.parse(evaluatedThrough)).toBeLessThanOrEqual(Date.now());
  }
  expect(await db.sql.unsafe(customersAhead)).toEqual([]);
  await runner.end();
});

it("a recompute includes customers that were created while the database's clock was ahead", async () => {
  const environment = await TestEnvironment.create(db.sql, quietAfter("20h"));
  const runner = new JobRunner(db);
  await environment.take({}, [{ at: fromNow(0), event: "login" }]);
  await db.sql`
    update svc.customers set created_at = ${fromNow(24 * 60)}::text::timestamptz
    where environment_id = ${environment.environmentId}`;
  await environment.evaluate({ at: fromNow(24 * 60), settleSeconds: 0 });
  expect(await environment.document()).toMatchObject({ lifecycle: "quiet" });
  const id = await runner.complete(environment, { customer: "c1" });
  expect(await jobOf(db.sql, id)).toMatchObject({ customers_total: 1, customers_done: 1 });
  expect(await environment.document()).toMatchObject({ lifecycle: "active" });
  await runner.end();
});
