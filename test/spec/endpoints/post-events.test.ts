import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccepted, expectTaken } from "../support/answers.js";
import { eventIdOf, startSpec, type SpecFixture } from "../support/fixture.js";
import { conflict, INVALID_API_KEY, NOT_FOUND, notMediaType, wrongTypeOfSingle } from "../support/refusals.js";

// Section "POST {base_url}/v1/events".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const event = { customerId: "c", event: "e", properties: { a: 1 }, timestamp: "2026-03-02T10:00:00Z" };

describe("All ingestion paths are under the `/v1` prefix. The unversioned path `/events` does not exist on the service.", () => {
  it.each(["/events", "/events/batch"])("POST %s", async (path) => {
    await fixture.refuses(() => fixture.post(path, event), 404, NOT_FOUND);
  });
});

describe("Headers: `Authorization: Bearer <API_KEY>`, `Content-Type: application/json`; optional `X-Request-ID`.", () => {
  it("with all three", async () => {
    expectTaken(await fixture.single(event, { "X-Request-ID": "req" }));
  });

  it("without X-Request-ID", async () => {
    const response = await fetch(`${fixture.service.url}/v1/events`, {
      method: "POST",
      headers: { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" },
      body: JSON.stringify(event),
    });
    expect(response.status).toBe(202);
    expect(response.headers.get("X-Request-ID")).toMatch(/^req_[0-9a-f]{32}$/);
  });

  it("without Authorization", async () => {
    await fixture.refuses(() => fixture.single(event, { Authorization: "" }), 401, INVALID_API_KEY);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", ""])("with the Content-Type %j", async (type) => {
    const body = JSON.stringify(event);
    await fixture.refuses(() => fixture.single(body, { "Content-Type": type }), 415, notMediaType);
  });
});

describe("Only track operations are accepted here; identify must go through the batch endpoint; `type` values other than `track` are rejected.", () => {
  it.each(["identify", "page"])("type %s", async (type) => {
    await fixture.refuses(() => fixture.single({ ...event, type }), 400, wrongTypeOfSingle(type));
  });

  it("an identify operation as the batch endpoint takes it", async () => {
    const identify = { type: "identify", customerId: "c", traits: { plan: "pro" } };
    await fixture.refuses(() => fixture.single(identify), 400, wrongTypeOfSingle("identify"));
    expect((await fixture.batch([identify])).status).toBe(202);
  });
});

describe("Success: HTTP 202 with the single-event response.", () => {
  it("the event is stored as it was sent", async () => {
    const reply = await fixture.single(event);
    expectTaken(reply);
    expect(await fixture.storedEvent(reply)).toMatchObject({
      environment: "test",
      customerId: "c",
      event: "e",
      properties: { a: 1 },
      occurredAt: "2026-03-02T10:00:00.000Z",
    });
  });
});

describe("Idempotency: same key and same canonical payload returns the original `eventId` and `duplicate: true`.", () => {
  it.each([
    ["with everything", { ...event, idempotencyKey: "whole" }],
    ["without properties or timestamp", { customerId: "c", event: "e", idempotencyKey: "small" }],
  ])("%s", async (_name, keyed) => {
    const first = await fixture.single(keyed);
    expectTaken(first);
    const stored = await fixture.stored();
    const repeated = { eventId: eventIdOf(first), accepted: true, queued: true, duplicate: true };
    expectAccepted(await fixture.single(keyed), repeated);
    expect(await fixture.stored()).toEqual(stored);
  });
});

describe("Same key with a different customer, event, properties or explicit timestamp returns 409 `IDEMPOTENCY_CONFLICT`.", () => {
  beforeAll(async () => {
    expectTaken(await fixture.single({ ...event, idempotencyKey: "used" }));
  });

  it.each([
    ["customer", { ...event, customerId: "other" }],
    ["event", { ...event, event: "other" }],
    ["properties", { ...event, properties: { a: 2 } }],
    ["explicit timestamp", { ...event, timestamp: "2026-03-02T10:00:01Z" }],
    ["explicit timestamp, left out", { customerId: "c", event: "e", properties: { a: 1 } }],
  ])("a different %s", async (_name, other) => {
    const request = () => fixture.single({ ...other, idempotencyKey: "used" });
    await fixture.refuses(request, 409, conflict("idempotencyKey", "used"));
  });
});
