import { beforeAll, describe, expect, it } from "vitest";
import { eventIds } from "../../http/ingest/answers.js";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import type { Reply } from "../../support/service.js";
import { emit, rule, snapshotOf, trait } from "../../engine/support/builders.js";
import { setAllowance } from "../support/allowance.js";
import { expectAccepted, expectBatchTaken, limitHeaders } from "../support/answers.js";
import { useSpec } from "../support/fixture.js";
import { batchSize, conflict, notMediaType, required } from "../support/refusals.js";

// Sections "POST {base_url}/v1/events/batch" and "Batch request and response".

const fixture = useSpec();

const track = (event: string, more: object = {}) => ({ customerId: "c", event, ...more });
const identify = { type: "identify", customerId: "c", traits: { plan: "pro" } };

/** The names of the events whose ids an answer contains, in its order. */
async function namesOf(reply: Reply): Promise<string[]> {
  const rows = await fixture.service.db.sql<{ event: string }[]>`
    select v.event from unnest(${eventIds(reply)}::text[]) with ordinality as i (id, n)
    join svc_inspect.events as v on v.event_id = i.id order by i.n`;
  return rows.map(({ event }) => event);
}

it("Same headers: with another Content-Type", async () => {
  const request = () => fixture.batch([track("e")], { "Content-Type": "text/plain" });
  await fixture.refuses(request, 415, notMediaType);
});

describe("Request: `{ events: [ <track or identify operation>, ... ] }`, 1 to 1,000 elements.", () => {
  it.each([
    ["one element", [track("e", { type: "track" })], 1],
    ["identify operations", [identify, identify], 0],
  ])("%s", async (_name, events, ids) => {
    expectBatchTaken(await fixture.batch(events), events.length, ids);
  });

  it("| operations per batch | 1 to 1,000 | batch |: 1,000 are accepted and read back in order", async () => {
    const events = Array.from({ length: 1000 }, (_, n) => track(`e${n}`));
    const reply = await fixture.batch(events);
    expectBatchTaken(reply, 1000);
    expect(await namesOf(reply)).toEqual(events.map(({ event }) => event));
  });

  it.each([0, 1001])(
    "| 400 | `BATCH_SIZE_INVALID` | batch has fewer than 1 or more than 1,000 operations |: %i are refused",
    async (count) => {
      await fixture.refuses(() => fixture.batch(Array(count).fill(track("e"))), 400, batchSize(count));
    },
  );

  const fix = 'Send {"events": [ … ]}.';
  const noArray = { message: "`events` must be an array.", field: "events", fix };
  it.each([
    ["an array of operations", [track("e")], { message: "The body must be a JSON object.", fix }],
    ["no `events`", {}, noArray],
    ["one operation as `events`", { events: track("e") }, noArray],
    [
      "another field beside `events`",
      { events: [track("e")], environment: "live" },
      { message: "`environment` is not a field of a batch.", field: "environment", fix: "Remove it." },
    ],
  ])("%s is refused", async (_name, body, refusal) => {
    await fixture.refuses(() => fixture.post("/v1/events/batch", body), 400, { code: "VALIDATION_ERROR", ...refusal });
  });
});

describe("Success: HTTP 202 with `{accepted, rejected, eventIds}`.", () => {
  it("| `accepted` | integer | number of operations accepted |, | `rejected` | integer | number rejected (0 on success, since validation is atomic) |, | `eventIds` | array of string | IDs for track operations only |", async () => {
    const before = await fixture.stored();
    const reply = await fixture.batch([track("first"), identify, track("second"), track("third")]);
    expectAccepted(reply, { accepted: 4, rejected: 0, eventIds: [EVENT_ID, EVENT_ID, EVENT_ID] });
    expect(await namesOf(reply)).toEqual(["first", "second", "third"]);
    const after = await fixture.stored();
    expect([after.events - before.events, after.traitUpdates - before.traitUpdates]).toEqual([3, 1]);
  });
});

it("Operations are evaluated in array order, so an identify affects the track operations after it.", async () => {
  const watch = rule("opened", emit("plan.watched"), { when: trait("plan", "eq", "pro") });
  const declared = { events: { opened: { properties: {} } }, traits: { plan: { type: "string" } } } as const;
  await fixture.deploy(snapshotOf({ ...declared, rules: { watch } }));
  const becomes = (plan: string) => ({ type: "identify", customerId: "ordered", traits: { plan } });
  const opened = { customerId: "ordered", event: "opened" };
  expectBatchTaken(await fixture.batch([opened, becomes("pro"), opened, becomes("free"), opened]), 5, 3);
  await fixture.evaluate();
  const rows = await fixture.service.db.sql`
    select result from svc_inspect.rule_executions where customer_id = 'ordered' order by execution_seq`;
  expect(rows.map(({ result }) => result as string)).toEqual(["fail", "pass", "fail"]);
});

describe("The whole batch is validated before ingestion. Any invalid operation or idempotency conflict rejects the whole request with no partial acceptance.", () => {
  beforeAll(async () => {
    expectBatchTaken(await fixture.batch([track("e", { idempotencyKey: "used" })]), 1);
  });

  it.each([0, 999])("an invalid operation in place %i of 1,000", async (place) => {
    const events: object[] = Array.from({ length: 1000 }, (_, n) => track(`e${n}`));
    events[place] = { event: "e" };
    await fixture.refuses(() => fixture.batch(events), 400, required(`events[${place}].customerId`));
  });

  it("an idempotency conflict with an earlier request", async () => {
    const events = [track("a"), track("b", { idempotencyKey: "free" }), track("other", { idempotencyKey: "used" })];
    const refusal = conflict("events[2].idempotencyKey", "used");
    await fixture.refuses(() => fixture.batch(events), 409, refusal);
    // The key of the refused batch is still unused.
    expectBatchTaken(await fixture.batch([track("another", { idempotencyKey: "free" })]), 1);
  });
});

it("Each operation counts as one event against the rate limit.", async () => {
  await setAllowance(fixture, { perSecond: 1, left: 100 });
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
