import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setAllowance } from "../support/allowance.js";
import { expectBatchTaken, limitHeaders } from "../support/answers.js";
import { startSpec, type SpecFixture } from "../support/fixture.js";
import { conflict, INVALID_API_KEY, notMediaType, required } from "../support/refusals.js";

// Section "POST {base_url}/v1/events/batch".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const track = (event: string, more: object = {}) => ({ customerId: "c", event, ...more });

describe("Same headers. Body: `{events: [...]}`, 1 to 1,000 track or identify operations.", () => {
  it("without Authorization", async () => {
    await fixture.refuses(() => fixture.batch([track("e")], { Authorization: "" }), 401, INVALID_API_KEY);
  });

  it("with another Content-Type", async () => {
    const request = () => fixture.batch([track("e")], { "Content-Type": "text/plain" });
    await fixture.refuses(request, 415, notMediaType);
  });
});

it("Operations are evaluated in array order, so an identify affects the track operations after it.", async () => {
  await fixture.deploy({
    events: { opened: { properties: {} } },
    traits: { plan: { type: "string" } },
    rules: [
      {
        id: "watch",
        on: { kind: "event", of: { event: "opened" } },
        when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" },
        then: { kind: "emit", type: "plan.watched" },
      },
    ],
  });
  const identify = (plan: string) => ({ type: "identify", customerId: "ordered", traits: { plan } });
  const opened = { customerId: "ordered", event: "opened" };
  const operations = [opened, identify("pro"), opened, identify("free"), opened];
  expectBatchTaken(await fixture.batch(operations), 5, 3);
  await fixture.evaluate();
  const rows = await fixture.service.db.sql`
    select result from svc_inspect.rule_executions where customer_id = 'ordered' order by execution_seq`;
  expect(rows.map(({ result }) => result as string)).toEqual(["fail", "pass", "fail"]);
});

describe("The whole batch is validated before ingestion. Any invalid operation or idempotency conflict rejects the whole request with no partial acceptance.", () => {
  beforeAll(async () => {
    expectBatchTaken(await fixture.batch([track("e", { idempotencyKey: "used" })]), 1);
  });

  it.each([0, 1, 999])("an invalid operation in place %i of 1,000", async (place) => {
    const events: object[] = Array.from({ length: 1000 }, (_, n) => track(`e${n}`));
    events[place] = { event: "e" };
    await fixture.refuses(() => fixture.batch(events), 400, required(`events[${place}].customerId`));
  });

  it("an idempotency conflict with an earlier request", async () => {
    const events = [track("a"), track("b", { idempotencyKey: "free" }), track("other", { idempotencyKey: "used" })];
    const refusal = conflict("events[2].idempotencyKey", "used");
    await fixture.refuses(() => fixture.batch(events), 409, refusal);
    // The key of the refused batch is as free as before.
    expectBatchTaken(await fixture.batch([track("another", { idempotencyKey: "free" })]), 1);
  });

  it("a violation of a strict schema, beside operations of all kinds that are right", async () => {
    await fixture.deploy({ strictSchema: true, events: { e: { properties: {} } } });
    const before = await fixture.stored();
    const reply = await fixture.batch([
      track("e"),
      { type: "identify", customerId: "c", traits: {} },
      track("undeclared"),
    ]);
    expect(reply.status).toBe(422);
    expect(await fixture.stored()).toEqual(before);
    await fixture.deploy({});
  });
});

it("Success: HTTP 202 with `{accepted, rejected, eventIds}`.", async () => {
  expectBatchTaken(
    await fixture.batch([track("a"), { type: "identify", customerId: "c", traits: {} }, track("b")]),
    3,
    2,
  );
});

it("Each operation counts as one event against the rate limit.", async () => {
  await setAllowance(fixture, { perSecond: 1, left: 100 });
  const identify = { type: "identify", customerId: "c", traits: {} };
  const keyed = track("k", { idempotencyKey: "counted" });
  const reply = await fixture.batch([track("a"), identify, keyed, keyed]);
  expect(reply.status).toBe(202);
  expect(limitHeaders(reply)).toEqual({
    "RateLimit-Limit": "1000",
    "RateLimit-Remaining": "96",
    "RateLimit-Reset": null,
    "Retry-After": null,
  });
});
