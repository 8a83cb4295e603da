import { beforeAll, describe, expect, it } from "vitest";
import { happened } from "../../engine/support/builders.js";
import { expectTaken, type Refusal } from "../support/answers.js";
import { documentOf, DOCUMENT_BYTES, eventIdOf, nameOf, useSpec, type StoredEvent } from "../support/fixture.js";
import * as refusals from "../support/refusals.js";

// Section "Track operation (single-event body and batch element)".

const fixture = useSpec();

const valid = { customerId: "c", event: "e" };

const sendBoth = async (operation: object) => [await fixture.single(operation), await fixture.batch([operation])];

/** Sends an operation alone and in a batch, and expects it to be stored like this. */
async function readsBack(operation: object, stored: Partial<StoredEvent>): Promise<void> {
  for (const reply of await sendBoth(operation)) {
    expect(reply.status).toBe(202);
    const event = await fixture.storedEvent(reply);
    expect(event).toEqual({ ...event, ...stored });
  }
}

type Refused = [what: string, values: unknown[], refusal: (field: string, value: never) => Refusal];

/** Values of a field that are refused, alone and in a batch. */
const refuses = (field: string, cases: Refused[]) =>
  it.each(cases)("%s is refused", async (_what, values, refusal) => {
    for (const value of values) {
      const operation = { ...valid, [field]: value };
      await fixture.refusesOperation(operation, 400, (prefix) => refusal(prefix + field, value as never));
    }
  });

const notString = (field: string, value: unknown) => refusals.wrongType(field, "a string", value);
const badTimestamp = (reason: string) => (field: string, value: string) => refusals.badTimestamp(field, value, reason);

describe.each([
  [
    "customerId",
    "`customerId` | string | yes | stable customer ID from the caller's system, max 256 characters |, | `customerId` length | 256 characters | track",
  ],
  ["event", "`event` | string | yes | event name, max 256 characters |, | `event` length | 256 characters | track"],
])("%s: | %s |", (field) => {
  refuses(field, [
    ["left out", [undefined], refusals.required],
    ["no string", [5, null, true, ["c"]], notString],
    ["of 257 characters", [nameOf(257)], refusals.tooLong],
  ]);

  it("of 256 characters is accepted and reads back", () =>
    readsBack({ ...valid, [field]: nameOf(256) }, { [field]: nameOf(256) }));
});

describe("| `properties` | JSON object | no | max 64 KiB serialized; default `{}` |, | `properties` size | 64 KiB serialized | track |", () => {
  refuses("properties", [
    ["no object", ["p", 5, null, [], true], (field, value) => refusals.wrongType(field, "an object", value)],
    ["of 64 KiB and one byte", [documentOf(DOCUMENT_BYTES + 1)], refusals.tooLarge],
  ]);

  it("left out is {}", () => readsBack(valid, { properties: {} }));

  it.each([
    [
      "values of every JSON type",
      { text: "é😀", number: -1.5, yes: true, no: false, nothing: null, list: [1, "a"], object: {} },
    ],
    ["64 KiB", documentOf(64 * 1024)],
  ])("reads back as it was sent: %s", (_name, properties) => readsBack({ ...valid, properties }, { properties }));
});

describe("| `timestamp` | string, ISO 8601 with timezone | no | default: ingestion time; a value without timezone is rejected |", () => {
  refuses("timestamp", [
    [
      "without timezone",
      ["2026-03-02T10:00:00", "2026-03-02T10:00:00.123", "2026-03-02 10:00", "2026-03-02"],
      badTimestamp("The timestamp has no timezone."),
    ],
    [
      "not ISO 8601",
      ["", "yesterday", "02.03.2026 10:00 Z", "1772445600"],
      badTimestamp("The timestamp is not an ISO 8601 date-time with timezone."),
    ],
    ["no string", [1772445600, null], notString],
  ]);

  it("left out is the time of ingestion", async () => {
    const before = Date.now() - 1000;
    for (const reply of await sendBoth(valid)) {
      const { occurredAt, acceptedAt } = await fixture.storedEvent(reply);
      expect(occurredAt).toBe(acceptedAt);
      expect(Date.parse(occurredAt)).toBeGreaterThan(before);
    }
  });

  it.each([
    ["2026-03-02T10:00:00Z", "2026-03-02T10:00:00.000Z"],
    ["2026-03-02T10:00:00.123+05:30", "2026-03-02T04:30:00.123Z"],
    ["2026-03-01T23:30:00-02:00", "2026-03-02T01:30:00.000Z"],
  ])("%s is accepted and reads back as the instant %s", (timestamp, occurredAt) =>
    readsBack({ ...valid, timestamp }, { occurredAt }),
  );

  it.each(["1999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"])(
    "There is no age cutoff on `timestamp` at ingestion: %s",
    (timestamp) => readsBack({ ...valid, timestamp }, { occurredAt: timestamp }),
  );
});

describe("| `idempotencyKey` | string | no | non-empty, max 256 characters |, | `idempotencyKey` length | 256 characters, non-empty | track |", () => {
  refuses("idempotencyKey", [
    ["empty", [""], refusals.empty],
    ["no string", [5, null], notString],
    ["of 257 characters", [nameOf(257)], refusals.tooLong],
  ]);

  it("left out, each request is a separate event", async () => {
    const before = await fixture.stored();
    for (const reply of [...(await sendBoth(valid)), ...(await sendBoth(valid))]) expect(reply.status).toBe(202);
    expect((await fixture.stored()).events - before.events).toBe(4);
  });

  it("of 256 characters is accepted and kept whole", async () => {
    const send = async (end: string) =>
      (await sendBoth({ ...valid, idempotencyKey: nameOf(255) + end })).map((reply) => eventIdOf(reply));
    const [first, ...others] = [...(await send("y")), ...(await send("y"))];
    expect(others).toEqual([first, first, first]);
    expect(await send("z")).not.toContain(first);
  });
});

describe("| `type` | string, only `track` | no | other values rejected; in a batch, omitted means `track` |", () => {
  refuses("type", [
    [
      "another value",
      ["page", "Track", "", null, 5],
      (field, value) =>
        field === "type" ? refusals.wrongTypeOfSingle(value) : refusals.wrongTypeOfOperation(field, value),
    ],
  ]);

  it.each([[undefined], ["track"]])("%s is a track operation", (type) => readsBack({ ...valid, type }, { event: "e" }));
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
