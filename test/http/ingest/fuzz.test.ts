import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

const anyText = fc.string({ unit: "binary", maxLength: 20 });
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }),
  fc.constantFrom<unknown>(
    "",
    null,
    [],
    {},
    0,
    -0,
    1e21,
    true,
    "track",
    "identify",
    "2026-03-02T10:00:00Z",
    "x".repeat(257),
  ),
);
const field = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom("customerId", "event", "properties", "traits", "timestamp", "idempotencyKey", "type"),
  },
  { weight: 1, arbitrary: anyText },
);
/** Operations that are nearly right: a right one with some members replaced by anything. */
const operation = fc.tuple(fc.boolean(), fc.dictionary(field, anyValue, { maxKeys: 1 })).map(([track, changes]) => ({
  ...(track ? { customerId: "c", event: "e", properties: {} } : { type: "identify", customerId: "c", traits: {} }),
  ...changes,
}));
const document = fc.oneof(
  { weight: 4, arbitrary: operation },
  { weight: 4, arbitrary: fc.record({ events: fc.array(operation, { maxLength: 2 }) }) },
  fc.record({ events: anyValue }),
  fc.dictionary(field, anyValue),
  anyValue,
);

/** What a broken client or a line of noise makes of a body. */
const corruption = fc.oneof(
  { weight: 4, arbitrary: fc.constant((bytes: Buffer) => bytes) },
  fc.nat().map((n) => (bytes: Buffer) => bytes.subarray(0, n % (bytes.length + 1))),
  fc.tuple(fc.nat(), fc.nat(255)).map(([n, byte]) => (bytes: Buffer) => {
    const changed = Buffer.from(bytes);
    if (changed.length > 0) changed[n % changed.length] = byte;
    return changed;
  }),
  fc
    .tuple(
      fc.nat(),
      fc.constantFrom(
        "\\u0000",
        "\\ud800",
        "1e999",
        "0e-20000",
        "{",
        "[[[[",
        '"',
        ",",
        "\u0000",
        "NaN",
        "9".repeat(400),
        '"__proto__":1,',
      ),
    )
    .map(([n, piece]) => (bytes: Buffer) => {
      const at = n % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(at)]);
    }),
);

describe.each(["/v1/events", "/v1/events/batch"])("%s", (path) => {
  it("answers anything with 202 or a clear refusal, and stores nothing of what it refused", async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(document, corruption, async (value, corrupt) => {
        const body = corrupt(Buffer.from(JSON.stringify(value)));
        const before = await fixture.stored();
        const reply = await fixture.post(path, body);
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        expect([202, 400, 409]).toContain(reply.status);
        if (reply.status !== 202) {
          expect(reply.body).toMatchObject({
            error: { code: expect.any(String), message: expect.any(String), requestId: "req" },
          });
          expect(await fixture.stored()).toEqual(before);
        }
      }),
      { numRuns: 300 },
    );
    expect(statuses.get(202)).toBeGreaterThan(10);
    expect(statuses.get(400)).toBeGreaterThan(50);
  });

  it("stores exactly what JSON.parse reads, whatever the properties", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(anyText, fc.jsonValue({ maxDepth: 4, stringUnit: "binary" })),
        async (properties) => {
          const event = { customerId: "c", event: "e", properties };
          const text = JSON.stringify(path === "/v1/events" ? event : { events: [event] });
          const reply = await fixture.post(path, text);
          if (text.includes("\\u0000")) {
            expect(reply.status).toBe(400);
            return;
          }
          expect(reply.status).toBe(202);
          const { eventId, eventIds = [eventId] } = reply.body as { eventId: string; eventIds?: string[] };
          const [row] = await fixture.service.db.sql<[{ properties: unknown }]>`
          select properties from svc.events where svc.event_id(event_seq) = ${eventIds[0] ?? ""}`;
          // jsonb has no negative zero; the round trip takes it away here too.
          const positiveZeros = (_: string, value: unknown) => (Object.is(value, -0) ? 0 : value);
          expect(row.properties).toEqual(JSON.parse(JSON.stringify(properties), positiveZeros));
        },
      ),
      { numRuns: 100 },
    );
  });
});
