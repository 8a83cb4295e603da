import { describe, expect, it } from "vitest";
import { svc } from "../../cli/support/run-svc.js";
import { expectAccepted, expectBatchTaken } from "../support/answers.js";
import { useSpec } from "../support/fixture.js";
import { badTimestamp, NOT_FOUND } from "../support/refusals.js";

// Section "Backfill".

const fixture = useSpec();

/** A record of the caller as an event, with an explicit timestamp and a deterministic key. */
const record = (n: number) => ({
  customerId: `c${n % 7}`,
  event: "imported",
  properties: { n },
  timestamp: new Date(Date.UTC(2024, 0, 1 + (n % 365))).toISOString(),
  idempotencyKey: `crm:invoice:${n}`,
});
const records = (from: number, count: number) => Array.from({ length: count }, (_, n) => record(from + n));

describe("There is no import endpoint and no backfill command.", () => {
  it.each(["/v1/import", "/v1/backfill", "/v1/events/import"])("POST %s", async (path) => {
    await fixture.refuses(() => fixture.post(path, { events: [record(0)] }), 404, NOT_FOUND);
  });

  it.each(["import", "backfill"])("svc %s", async (command) => {
    const { code, stdout, stderr } = await svc([command]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`error [USAGE]: There is no command "svc ${command}"`);
  });
});

describe("Historical data is sent as track operations through `POST /v1/events/batch` (1 to 1,000 per request), with explicit timestamps and deterministic idempotency keys", () => {
  it("1,000 records keep their instants", async () => {
    expectBatchTaken(await fixture.batch(records(1000, 1000)), 1000);
    const [row] = await fixture.service.db.sql`
      select count(*)::integer as events, svc.iso(min(occurred_at)) as first, svc.iso(max(occurred_at)) as last
      from svc_inspect.events where event = 'imported'`;
    expect(row).toEqual({ events: 1000, first: "2024-01-01T00:00:00.000Z", last: "2024-12-30T00:00:00.000Z" });
  });

  it("a repetition after a lost answer stores nothing twice", async () => {
    const first = await fixture.batch(records(5000, 300));
    expectBatchTaken(first, 300);
    const stored = await fixture.stored();
    expectAccepted(await fixture.batch(records(5000, 300)), first.body);
    expect(await fixture.stored()).toEqual(stored);
    // The next chunk can overlap with stored records.
    expectBatchTaken(await fixture.batch(records(5200, 300)), 300);
    expect((await fixture.stored()).events - stored.events).toBe(200);
  });
});

it("Batches are all-or-nothing; a caller advances its checkpoint only after HTTP 202.", async () => {
  const chunk: object[] = records(9000, 500);
  chunk[499] = { ...record(9499), timestamp: "2024-01-01 00:00" };
  const refusal = badTimestamp("events[499].timestamp", "2024-01-01 00:00", "The timestamp has no timezone.");
  await fixture.refuses(() => fixture.batch(chunk), 400, refusal);
  expectBatchTaken(await fixture.batch(records(9000, 500)), 500);
});
