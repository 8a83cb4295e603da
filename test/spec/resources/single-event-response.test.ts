import { afterAll, beforeAll, expect, it } from "vitest";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { expectAccepted, expectTaken } from "../support/answers.js";
import { eventIdOf, startSpec, type SpecFixture } from "../support/fixture.js";

// Section "Single-event response (HTTP 202)".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const event = { customerId: "c", event: "e", properties: { a: 1 } };

it("| `eventId` | string (`evt_` prefix) | ID of the event |", async () => {
  const reply = await fixture.single(event);
  expectTaken(reply);
  expect(await fixture.storedEvent(reply)).toMatchObject(event);
});

it("| `accepted` | boolean | true when accepted |", async () => {
  const before = await fixture.stored();
  expect((await fixture.single(event)).body).toEqual({
    eventId: EVENT_ID,
    accepted: true,
    queued: true,
    duplicate: false,
  });
  expect((await fixture.stored()).events - before.events).toBe(1);
});

it("| `queued` | boolean | true means durable ingestion accepted the event; downstream effects may continue asynchronously |", async () => {
  const reply = await fixture.single({ ...event, customerId: "queued" });
  expectTaken(reply);
  // Stored when the answer comes, not yet evaluated: the customer appears once a worker has had its turn.
  expect(await fixture.storedEvent(reply)).toMatchObject({ customerId: "queued", status: "pending" });
  expect((await fixture.admin("GET", "/projects/app/customers/queued")).status).toBe(404);
  await fixture.evaluate();
  expect((await fixture.customer("queued")).lastEventAt).not.toBeNull();
});

it("| `duplicate` | boolean | true when the idempotency key repeated the same canonical payload |", async () => {
  const keyed = { ...event, idempotencyKey: "k" };
  const first = await fixture.single(keyed);
  expectTaken(first);
  const stored = await fixture.stored();
  const repeated = { eventId: eventIdOf(first), accepted: true, queued: true, duplicate: true };
  expectAccepted(await fixture.single(keyed), repeated);
  expectAccepted(await fixture.single(keyed), repeated);
  expect(await fixture.stored()).toEqual(stored);
});
