import { describe, expect, it } from "vitest";
import { taken } from "../../http/ingest/fixture.js";
import { expectAccepted, expectTaken } from "../support/answers.js";
import { eventIdOf, useSpec } from "../support/fixture.js";
import { NOT_FOUND, notMediaType, wrongTypeOfSingle } from "../support/refusals.js";

// Sections "POST {base_url}/v1/events" and "Single-event response (HTTP 202)". Conflicts of keys are in the section "Errors".

const fixture = useSpec();

const event = { customerId: "c", event: "e", properties: { a: 1 }, timestamp: "2026-03-02T10:00:00Z" };

describe("All ingestion paths are under the `/v1` prefix. The unversioned path `/events` does not exist on the service. (Versioning, 1.)", () => {
  it.each(["/events", "/events/batch", "/v2/events", "/V1/events", "/v1/events/", "/v1/v1/events"])(
    "POST %s does not exist",
    async (path) => {
      await fixture.refuses(() => fixture.post(path, event), 404, NOT_FOUND);
    },
  );
});

describe("Headers: `Authorization: Bearer <API_KEY>`, `Content-Type: application/json`; optional `X-Request-ID`.", () => {
  it("without X-Request-ID", async () => {
    const headers = { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(event) };
    const response = await fetch(`${fixture.service.url}/v1/events`, init);
    expect(response.status).toBe(202);
    expect(response.headers.get("X-Request-ID")).toMatch(/^req_[0-9a-f]{32}$/);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", ""])("with the Content-Type %j", async (type) => {
    const body = JSON.stringify(event);
    await fixture.refuses(() => fixture.single(body, { "Content-Type": type }), 415, notMediaType);
  });
});

it("Only track operations are accepted here; identify must go through the batch endpoint; `type` values other than `track` are rejected.", async () => {
  const identify = { type: "identify", customerId: "c", traits: { plan: "pro" } };
  for (const operation of [identify, { ...event, type: "identify" }]) {
    await fixture.refuses(() => fixture.single(operation), 400, wrongTypeOfSingle("identify"));
  }
  expect((await fixture.batch([identify])).status).toBe(202);
});

describe("Success: HTTP 202 with the single-event response.", () => {
  it("| `eventId` | string (`evt_` prefix) | ID of the event |, | `accepted` | boolean | true when accepted |", async () => {
    const before = await fixture.stored();
    const reply = await fixture.single(event);
    expectTaken(reply);
    expect((await fixture.stored()).events - before.events).toBe(1);
    expect(await fixture.storedEvent(reply)).toMatchObject({
      environment: "test",
      customerId: "c",
      event: "e",
      properties: { a: 1 },
      occurredAt: "2026-03-02T10:00:00.000Z",
    });
  });

  it("| `queued` | boolean | true means durable ingestion accepted the event; downstream effects may continue asynchronously |", async () => {
    const reply = await fixture.single({ ...event, customerId: "queued" });
    expectTaken(reply);
    // Stored when the answer arrives, but not yet evaluated: the customer appears after a worker's turn.
    expect(await fixture.storedEvent(reply)).toMatchObject({ customerId: "queued", status: "pending" });
    expect((await fixture.admin("GET", "/projects/app/customers/queued")).status).toBe(404);
    await fixture.evaluate();
    expect((await fixture.storedEvent(reply)).status).toBe("processed");
    expect((await fixture.customer("queued")).lastEventAt).not.toBeNull();
  });
});

describe("Idempotency: same key and same canonical payload returns the original `eventId` and `duplicate: true`. | `duplicate` | boolean | true when the idempotency key repeated the same canonical payload |", () => {
  it.each([
    ["with everything", { ...event, idempotencyKey: "whole" }],
    ["without properties or timestamp", { customerId: "c", event: "e", idempotencyKey: "small" }],
  ])("%s", async (_name, keyed) => {
    const first = await fixture.single(keyed);
    expectTaken(first);
    const stored = await fixture.stored();
    for (const again of [await fixture.single(keyed), await fixture.single(keyed)]) {
      expectAccepted(again, taken(true, eventIdOf(first)));
    }
    expect(await fixture.stored()).toEqual(stored);
  });

  it("Property key order does not change the canonical payload.", async () => {
    const send = (properties: string) =>
      fixture.single(`{"customerId":"c","event":"e","properties":${properties},"idempotencyKey":"ordered"}`);
    const first = await send('{"a":1,"b":{"c":[1,2],"d":null}}');
    expectTaken(first);
    expectAccepted(await send('{"b":{"d":null,"c":[1,2]},"a":1}'), taken(true, eventIdOf(first)));
    expect((await send('{"b":{"d":null,"c":[2,1]},"a":1}')).status).toBe(409);
  });

  it("Idempotency keys are isolated per project and environment.", async () => {
    const keyed = (customerId: string) => ({ customerId, event: "e", idempotencyKey: "shared" });
    expectTaken(await fixture.single(keyed("in test")));
    const live = { Authorization: `Bearer ${fixture.keys.live}` };
    expectTaken(await fixture.single(keyed("in live"), live));
    expect((await fixture.single(keyed("in live"))).status).toBe(409);
    const created = await fixture.admin("POST", "/projects", { body: { name: "Other", slug: "other" } });
    const { test } = (created.body as { keys: { test: string } }).keys;
    const elsewhere = await fixture.single(keyed("in another project"), { Authorization: `Bearer ${test}` });
    expectTaken(elsewhere);
    const [row] = await fixture.service.db.sql`
      select project, environment from svc_inspect.events where event_id = ${eventIdOf(elsewhere)}`;
    expect(row).toEqual({ project: "other", environment: "test" });
  });
});
