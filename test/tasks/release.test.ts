import { beforeEach, expect, it } from "vitest";
import { happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [["quiet", inactiveFor("21d")]], quiet: [] },
});
const AT = "2026-03-01T10:00:00.000Z";
const LATER = "2026-03-02T10:00:00.000Z";
const AHEAD = "2026-03-05T10:00:00.000Z";

const db = await useDatabase();
let environment: TestEnvironment;

beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
});

const setAside = () => db.sql`select svc_api.set_aside_customer(${environment.environmentId}, 'c1', 'Error: once')`;

it("a customer that was set aside is evaluated once it is released, with all that came meanwhile", async () => {
  await environment.take({ at: AT }, [
    { at: AT, event: "login" },
    { at: AT, event: "login", occurred: AHEAD },
  ]);
  expect(await environment.pending()).toEqual([{ customer: "c1", notBefore: AHEAD }]);
  await setAside();
  await environment.take({ at: LATER }, [{ at: LATER, event: "other" }]);
  expect(await environment.setAside()).toHaveLength(1);
  // While it is set aside, what comes waits too.
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
