import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

/** Few keys and small payloads, so that requests meet: keys are shared within and across requests. */
const operation = fc.record(
  {
    customerId: fc.constantFrom("a", "b"),
    event: fc.constantFrom("x", "y"),
    properties: fc.oneof(
      fc.constant({}),
      fc.dictionary(fc.constantFrom("p", "q"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
    ),
    timestamp: fc.constantFrom("2026-03-02T10:00:00Z", "2026-03-02T11:00:00+01:00", "2026-03-03T10:00:00Z"),
    idempotencyKey: fc.nat({ max: 400 }).map((n) => `key ${n}`),
  },
  { requiredKeys: ["customerId", "event", "idempotencyKey"] },
);
const request = fc.oneof(
  operation.map((body) => ({ path: "/v1/events", body })),
  fc.array(operation, { minLength: 1, maxLength: 6 }).map((events) => ({ path: "/v1/events/batch", body: { events } })),
);

const ids = ({ body }: Reply): string[] => {
  const { eventId, eventIds = [eventId] } = body as { eventId: string; eventIds?: string[] };
  return eventIds;
};

it("repeating any accepted request with its idempotency keys changes nothing", async () => {
  let accepted = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
      const replies: { sent: (typeof requests)[number]; reply: Reply }[] = [];
      for (const sent of requests) replies.push({ sent, reply: await fixture.post(sent.path, sent.body) });
      const stored = await fixture.stored();
      for (const { sent, reply } of replies) {
        const again = await fixture.post(sent.path, sent.body);
        expect(again.status).toBe(reply.status);
        if (reply.status === 202) {
          accepted += 1;
          expect(ids(again)).toEqual(ids(reply));
        } else {
          refused += 1;
          // Which of its keys is named may change, because later requests took keys too.
          expect(again.body).toMatchObject({ error: { code: "IDEMPOTENCY_CONFLICT" } });
        }
      }
      expect(await fixture.stored()).toEqual(stored);
    }),
    { numRuns: 120 },
  );
  // The generator is worth its while only where it makes both.
  expect(Math.min(accepted, refused)).toBeGreaterThan(20);
});
