import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { expectAccepted, expectBatchTaken } from "../support/answers.js";
import { startSpec, type SpecFixture } from "../support/fixture.js";
import { batchSize } from "../support/refusals.js";

// Section "Batch request and response".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const track = (event: string) => ({ customerId: "c", event });
const identify = { type: "identify", customerId: "c", traits: { plan: "pro" } };

describe("Request: `{ events: [ <track or identify operation>, ... ] }`, 1 to 1,000 elements.", () => {
  it.each([
    ["one element", [track("e")], 1],
    ["track operations", [track("a"), { ...track("b"), type: "track" }], 2],
    ["identify operations", [identify, identify], 0],
    ["both", [identify, track("a"), identify, track("b")], 2],
    ["1,000 elements", Array.from({ length: 1000 }, (_, n) => track(`e${n}`)), 1000],
  ])("%s", async (_name, events, ids) => {
    expectBatchTaken(await fixture.batch(events), events.length, ids);
  });

  it.each([0, 1001])("%i elements are refused", async (count) => {
    await fixture.refuses(() => fixture.batch(Array(count).fill(track("e"))), 400, batchSize(count));
  });

  const fix = 'Send {"events": [ … ]}.';
  it.each([
    ["an array of operations", [track("e")], { message: "The body must be a JSON object.", fix }],
    ["no `events`", {}, { message: "`events` must be an array.", field: "events", fix }],
    [
      "one operation as `events`",
      { events: track("e") },
      { message: "`events` must be an array.", field: "events", fix },
    ],
    [
      "another field beside `events`",
      { events: [track("e")], environment: "live" },
      { message: "`environment` is not a field of a batch.", field: "environment", fix: "Remove it." },
    ],
  ])("%s is refused", async (_name, body, refusal) => {
    await fixture.refuses(() => fixture.post("/v1/events/batch", body), 400, { code: "VALIDATION_ERROR", ...refusal });
  });
});

describe("Response (HTTP 202)", () => {
  it("| `accepted` | integer | number of operations accepted |", async () => {
    const before = await fixture.stored();
    const reply = await fixture.batch([track("a"), identify, track("b")]);
    expectAccepted(reply, { accepted: 3, rejected: 0, eventIds: [EVENT_ID, EVENT_ID] });
    const after = await fixture.stored();
    expect([after.events - before.events, after.traitUpdates - before.traitUpdates]).toEqual([2, 1]);
  });

  it("| `rejected` | integer | number rejected (0 on success, since validation is atomic) |", async () => {
    expectAccepted(await fixture.batch([identify]), { accepted: 1, rejected: 0, eventIds: [] });
  });

  it("| `eventIds` | array of string | IDs for track operations only |", async () => {
    const reply = await fixture.batch([track("first"), identify, track("second"), track("third")]);
    expectBatchTaken(reply, 4, 3);
    const { eventIds } = reply.body as { eventIds: string[] };
    const rows = await fixture.service.db.sql<{ id: string; event: string }[]>`
      select event_id as id, event from svc_inspect.events where event_id = any(${eventIds})`;
    const names = new Map(rows.map(({ id, event }) => [id, event]));
    expect(eventIds.map((id) => names.get(id))).toEqual(["first", "second", "third"]);
  });
});
