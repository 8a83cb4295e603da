import { afterAll, beforeEach, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";
import { JobRunner } from "./support/recompute.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [["quiet", inactiveFor("21d")]], quiet: [] },
});
const AT = "2026-03-01T10:00:00.000Z";
const LATER = "2026-03-02T10:00:00.000Z";
const AHEAD = "2026-03-05T10:00:00.000Z";

const db = await useDatabase();
const runner = new JobRunner(db);
afterAll(() => runner.end());
let environment: TestEnvironment;

beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
});

const setAside = () => db.sql`select svc_api.set_aside_customer(${environment.environmentId}, 'c1', 'Error: once')`;

it("a customer that was set aside is evaluated once it is released, with all operations sent meanwhile", async () => {
  await environment.take({ at: AT }, [
    { at: AT, event: "login" },
    { at: AT, event: "login", occurred: AHEAD },
  ]);
  expect(await environment.pending()).toEqual([{ customer: "c1", notBefore: AHEAD }]);
  await setAside();
  await environment.take({ at: LATER }, [{ at: LATER, event: "other" }]);
  expect(await environment.setAside()).toHaveLength(1);
  // While it is set aside, new operations wait too.
  await environment.take({ at: LATER }, [{ at: LATER, event: "other" }]);
  expect((await environment.pending()).map(({ notBefore }) => notBefore)).toEqual(["infinity", "infinity", "infinity"]);

  expect(await environment.release("c1")).toBe(1);
  expect(await environment.setAside()).toEqual([]);
  await environment.evaluate({ at: LATER });
  expect(await environment.document()).toMatchObject({ lastEventAt: LATER, nextDueAt: AHEAD });
  expect(await environment.pending(), "it is put off again").toEqual([{ customer: "c1", notBefore: AHEAD }]);
  await environment.evaluate({ at: AHEAD });
  expect(await environment.pending()).toEqual([]);
  expect(await environment.document()).toMatchObject({ lastEventAt: AHEAD, lifecycle: "activated" });
});

it("a timer that fell due meanwhile fires after the release", async () => {
  await environment.take({ at: AT }, [{ at: AT, event: "login" }]);
  await setAside();
  await environment.evaluate({ at: "2026-04-01T00:00:00.000Z" });
  expect(await environment.document()).toMatchObject({ lifecycle: "activated" });
  await environment.release(null);
  await environment.evaluate({ at: "2026-04-01T00:00:00.000Z" });
  expect(await environment.emitted()).toContain("customer.quiet 2026-03-22T10:00:00.000Z timer");
});

it("a customer that was recomputed while it was set aside, and has no timer, is not due when it is released", async () => {
  await environment.take({}, [{ at: AT, event: "login" }]);
  await environment.send([{ at: "now", event: "login" }]);
  await setAside();
  await runner.complete(environment);
  await environment.release("c1");
  const due = await call(db.sql, "list_due_customers", environment.by, environment.place, { limit: 10 });
  expect(JSON.parse(due)).toMatchObject({ data: [] });
});

it("only a customer that would have more than 1 MiB of traits is set aside, and it continues when some are removed", async () => {
  const many = (value: string | null, from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`trait-${from + n}`, value]));
  const text = "x".repeat(1_000);
  for (let from = 0; from < 1_000; from += 50)
    await environment.ingest([{ at: AT, traits: many(text, from, from + 50) }]);
  await environment.evaluate({ at: AT });
  expect(await environment.setAside()).toEqual([]);

  await environment.take({ at: LATER }, [
    { at: LATER, traits: many(text, 1_000, 1_050) },
    { at: LATER, event: "login", customer: "other" },
  ]);
  expect(await environment.setAside()).toMatchObject([
    {
      customer: "c1",
      error: expect.stringMatching(/^Error: the traits would take \d+ bytes, more than 1048576: remove some/),
    },
  ]);
  expect(await environment.document("other")).toMatchObject({ lifecycle: "activated" });

  await environment.ingest([{ at: LATER, traits: many(null, 0, 1_000) }]);
  await environment.release("c1");
  await environment.evaluate({ at: LATER });
  expect(Object.keys((await environment.document()).traits)).toHaveLength(50);
  expect(await environment.pending()).toEqual([]);
});
