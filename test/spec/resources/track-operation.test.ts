import { beforeAll, describe, expect, it } from "vitest";
import { happened } from "../../engine/support/builders.js";
import { expectTaken } from "../support/answers.js";
import { documentOf, DOCUMENT_BYTES, eventIdOf, FORMS, nameOf, useSpec } from "../support/fixture.js";
import {
  badTimestamp,
  empty,
  required,
  tooLarge,
  tooLong,
  wrongType,
  wrongTypeOfOperation,
  wrongTypeOfSingle,
} from "../support/refusals.js";

// Section "Track operation (single-event body and batch element)".

const fixture = useSpec();

const valid = { customerId: "c", event: "e" };
const without = (field: string): object => Object.fromEntries(Object.entries(valid).filter(([name]) => name !== field));

describe.each(FORMS)("Track operation, as %s", (_, sendTo, prefix) => {
  const send = (operation: unknown) => sendTo(fixture, operation);
  const readBack = async (operation: unknown) => {
    const reply = await send(operation);
    expect(reply.status).toBe(202);
    return fixture.storedEvent(reply);
  };

  describe.each<[field: "customerId" | "event", row: string]>([
    [
      "customerId",
      "`customerId` | string | yes | stable customer ID from the caller's system, max 256 characters |, | `customerId` length | 256 characters | track",
    ],
    ["event", "`event` | string | yes | event name, max 256 characters |, | `event` length | 256 characters | track"],
  ])("%s: | %s |", (field) => {
    it("is required", async () => {
      await fixture.refuses(() => send(without(field)), 400, required(prefix + field));
    });

    it.each([5, null, true, ["c"]])("is a string: %j is refused", async (value) => {
      const operation = { ...valid, [field]: value };
      await fixture.refuses(() => send(operation), 400, wrongType(prefix + field, "a string", value));
    });

    it("of 256 characters is accepted and reads back", async () => {
      expect(await readBack({ ...valid, [field]: nameOf(256) })).toMatchObject({ [field]: nameOf(256) });
    });

    it("of 257 characters is refused", async () => {
      await fixture.refuses(() => send({ ...valid, [field]: nameOf(257) }), 400, tooLong(prefix + field));
    });
  });

  describe("| `properties` | JSON object | no | max 64 KiB serialized; default `{}` |, | `properties` size | 64 KiB serialized | track |", () => {
    it("left out is {}", async () => {
      expect((await readBack(valid)).properties).toEqual({});
    });

    it("reads back as it was sent, values of every JSON type", async () => {
      const properties = { text: "é😀", number: -1.5, yes: true, no: false, nothing: null, list: [1, "a"], object: {} };
      expect((await readBack({ ...valid, properties })).properties).toEqual(properties);
    });

    it.each(["p", 5, null, [], true])("is an object: %j is refused", async (properties) => {
      const operation = { ...valid, properties };
      await fixture.refuses(() => send(operation), 400, wrongType(`${prefix}properties`, "an object", properties));
    });

    it("of 64 KiB is accepted and reads back", async () => {
      const properties = documentOf(DOCUMENT_BYTES);
      expect((await readBack({ ...valid, properties })).properties).toEqual(properties);
    });

    it("of 64 KiB and one byte is refused", async () => {
      const properties = documentOf(DOCUMENT_BYTES + 1);
      expect(Buffer.byteLength(JSON.stringify(properties))).toBe(64 * 1024 + 1);
      await fixture.refuses(() => send({ ...valid, properties }), 400, tooLarge(`${prefix}properties`));
    });
  });

  describe("| `timestamp` | string, ISO 8601 with timezone | no | default: ingestion time; a value without timezone is rejected |", () => {
    it("left out is the time of ingestion", async () => {
      const before = Date.now() - 1000;
      const { occurredAt, acceptedAt } = await readBack(valid);
      expect(occurredAt).toBe(acceptedAt);
      expect(Date.parse(occurredAt)).toBeGreaterThan(before);
    });

    it.each([
      ["2026-03-02T10:00:00Z", "2026-03-02T10:00:00.000Z"],
      ["2026-03-02T10:00:00.123+05:30", "2026-03-02T04:30:00.123Z"],
      ["2026-03-01T23:30:00-02:00", "2026-03-02T01:30:00.000Z"],
    ])("%s is accepted and reads back as the instant %s", async (timestamp, instant) => {
      expect((await readBack({ ...valid, timestamp })).occurredAt).toBe(instant);
    });

    it.each(["2026-03-02T10:00:00", "2026-03-02T10:00:00.123", "2026-03-02 10:00", "2026-03-02"])(
      "%s, without timezone, is refused",
      async (timestamp) => {
        const refusal = badTimestamp(`${prefix}timestamp`, timestamp, "The timestamp has no timezone.");
        await fixture.refuses(() => send({ ...valid, timestamp }), 400, refusal);
      },
    );

    it.each(["", "yesterday", "02.03.2026 10:00 Z", "1772445600"])(
      "%j is not ISO 8601 and refused",
      async (timestamp) => {
        const reason = "The timestamp is not an ISO 8601 date-time with timezone.";
        await fixture.refuses(
          () => send({ ...valid, timestamp }),
          400,
          badTimestamp(`${prefix}timestamp`, timestamp, reason),
        );
      },
    );

    it.each([1772445600, null])("is a string: %j is refused", async (timestamp) => {
      const refusal = wrongType(`${prefix}timestamp`, "a string", timestamp);
      await fixture.refuses(() => send({ ...valid, timestamp }), 400, refusal);
    });
  });

  describe("| `idempotencyKey` | string | no | non-empty, max 256 characters |, | `idempotencyKey` length | 256 characters, non-empty | track |", () => {
    const field = `${prefix}idempotencyKey`;

    it("left out, each request is an event of its own", async () => {
      const before = await fixture.stored();
      for (const reply of [await send(valid), await send(valid)]) expect(reply.status).toBe(202);
      expect((await fixture.stored()).events - before.events).toBe(2);
    });

    it("empty is refused", async () => {
      await fixture.refuses(() => send({ ...valid, idempotencyKey: "" }), 400, empty(field));
    });

    it.each([5, null])("is a string: %j is refused", async (idempotencyKey) => {
      await fixture.refuses(
        () => send({ ...valid, idempotencyKey }),
        400,
        wrongType(field, "a string", idempotencyKey),
      );
    });

    it("of 256 characters is accepted and kept whole", async () => {
      const idempotencyKey = prefix + nameOf(256 - prefix.length);
      expect(idempotencyKey).toHaveLength(256);
      const first = await send({ ...valid, idempotencyKey });
      expect(first.status).toBe(202);
      expect(eventIdOf(await send({ ...valid, idempotencyKey }))).toBe(eventIdOf(first));
      const otherEnd = { ...valid, idempotencyKey: `${idempotencyKey.slice(0, 255)}z` };
      expect(eventIdOf(await send(otherEnd))).not.toBe(eventIdOf(first));
    });

    it("of 257 characters is refused", async () => {
      await fixture.refuses(() => send({ ...valid, idempotencyKey: nameOf(257) }), 400, tooLong(field));
    });
  });

  describe("| `type` | string, only `track` | no | other values rejected; in a batch, omitted means `track` |", () => {
    it.each([
      ["omitted", valid],
      ["track", { ...valid, type: "track" }],
    ])("%s is a track operation", async (_name, operation) => {
      expect(await readBack(operation)).toMatchObject({ event: "e" });
    });

    it.each(["page", "Track", "", null, 5])("%j is refused", async (type) => {
      const refusal = prefix === "" ? wrongTypeOfSingle(type) : wrongTypeOfOperation(`${prefix}type`, type);
      await fixture.refuses(() => send({ ...valid, type }), 400, refusal);
    });
  });

  it("There is no age cutoff on `timestamp` at ingestion.", async () => {
    for (const timestamp of ["1999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"]) {
      expect((await readBack({ ...valid, timestamp })).occurredAt).toBe(timestamp);
    }
  });
});

describe("Track operation, evaluated", () => {
  beforeAll(() =>
    fixture.deploy({
      events: { visit: { properties: {} } },
      segments: [
        { id: "recent", when: happened("visit", { within: "7d" }) },
        { id: "long_ago", when: happened("visit") },
      ],
    }),
  );
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const visit = async (customerId: string, timestamp: string) => {
    expectTaken(await fixture.single({ customerId, event: "visit", timestamp }));
    await fixture.evaluate();
  };

  it("Event windows use occurrence time.", async () => {
    await visit("old", daysAgo(8));
    expect((await fixture.customer("old")).segments).toEqual(["long_ago"]);
    await visit("new", daysAgo(6));
    expect((await fixture.customer("new")).segments).toEqual(["long_ago", "recent"]);
  });

  it("`last_event_at` stays the latest known timestamp.", async () => {
    const latest = daysAgo(1);
    for (const timestamp of [daysAgo(5), latest, daysAgo(400)]) await visit("late", timestamp);
    expect((await fixture.customer("late")).lastEventAt).toBe(latest);
    const [row] = await fixture.service.db.sql`
      select svc.iso(last_event_at) as at from svc_inspect.customers where customer_id = 'late'`;
    expect(row).toEqual({ at: latest });
  });
});
