import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { propertyRuns } from "../../support/property-runs.js";
import { eventIds, expectHelpfulRefusal } from "./answers.js";
import { isStorable, readExactly } from "./exact-json.js";
import { batchOf, EVENT, useIngest } from "./fixture.js";
import { jsonText } from "./json-texts.js";
import { openConnection, type RawAnswer } from "./raw-connection.js";

const fixture = await useIngest();

/** Any character except lone surrogates; fast-check's unit "binary" takes seconds to build. */
const unit = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
const anyText = fc.string({ unit, maxLength: 20 });
const ODD_VALUES = ["", null, [], {}, 0, -0, 1e21, true, "track", "identify", "2026-03-02T10:00:00Z", "x".repeat(257)];
const anyValue = fc.oneof(fc.jsonValue({ maxDepth: 3, stringUnit: unit }), fc.constantFrom<unknown[]>(...ODD_VALUES));
const FIELDS = ["customerId", "event", "properties", "traits", "timestamp", "idempotencyKey", "type"];
const field = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...FIELDS) }, { weight: 1, arbitrary: anyText });
/** Nearly valid operations: a valid one with some members replaced by anything. */
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

const NOISE = '\\u0000 \\ud800 1e999 0e-20000 { [[[[ " , \u0000 NaN "__proto__":1,'.split(" ").concat("9".repeat(400));
/** Corruptions of a body, as by a broken client or a noisy line. */
const corruption = fc.oneof(
  { weight: 4, arbitrary: fc.constant((bytes: Buffer) => bytes) },
  fc.nat().map((n) => (bytes: Buffer) => bytes.subarray(0, n % (bytes.length + 1))),
  fc.tuple(fc.nat(), fc.nat(255)).map(([n, byte]) => (bytes: Buffer) => {
    const changed = Buffer.from(bytes);
    if (changed.length > 0) changed[n % changed.length] = byte;
    return changed;
  }),
  fc.tuple(fc.nat(), fc.constantFrom(...NOISE)).map(([n, piece]) => (bytes: Buffer) => {
    const at = n % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(at)]);
  }),
);

/** A body, mostly nearly valid. */
const body = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(document, corruption).map(([value, corrupt]) => corrupt(Buffer.from(JSON.stringify(value)))),
  },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

/** The compression of a body, with possible corruption afterwards. */
const compression = fc.oneof(
  fc.constant((bytes: Buffer) => gzipSync(bytes)),
  corruption.map((corrupt) => (bytes: Buffer) => corrupt(gzipSync(bytes))),
  fc.nat().map((n) => (bytes: Buffer) => {
    const at = n % (bytes.length + 1);
    return Buffer.concat([gzipSync(bytes.subarray(0, at)), gzipSync(bytes.subarray(at))]);
  }),
  fc.uint8Array({ maxLength: 40 }).map((rest) => (bytes: Buffer) => Buffer.concat([gzipSync(bytes), rest])),
  fc.constant((bytes: Buffer) => gzipSync(gzipSync(bytes))),
  fc.constant((bytes: Buffer) => bytes),
);

const PATHS = ["/v1/events", "/v1/events/batch"];
/** An invalid and a valid body, which are always among the examples. */
const WRONG = Buffer.from("[");
const validFor = (path: string) => Buffer.from(path === "/v1/events" ? EVENT : batchOf(EVENT));

describe.each(PATHS)("POST %s", (path) => {
  /** Sends a body; a refusal must give a reason and store nothing. Returns the status. */
  async function expectSense(bytes: Buffer, headers: Record<string, string>): Promise<number> {
    const before = await fixture.stored();
    const reply = await fixture.post(path, bytes, headers);
    if (reply.status !== 202) {
      expect([400, 409]).toContain(reply.status);
      expectHelpfulRefusal(reply);
      expect(await fixture.stored()).toEqual(before);
    }
    return reply.status;
  }

  it("answers anything, compressed or not, with 202 or a clear refusal, and stores nothing that it refused", async () => {
    const statuses = new Set<string>();
    await fc.assert(
      fc.asyncProperty(body, fc.option(compression, { freq: 2 }), async (bytes, compress) => {
        const sent = compress === null ? bytes : compress(bytes);
        const encoding = compress === null ? "identity" : "gzip";
        statuses.add(`${encoding} ${await expectSense(sent, { "Content-Encoding": encoding })}`);
      }),
      {
        // Every other one compressed.
        numRuns: propertyRuns(120),
        examples: [
          [validFor(path), null],
          [validFor(path), gzipSync],
          [WRONG, null],
          [WRONG, gzipSync],
        ],
      },
    );
    const both = ["identity", "gzip"].flatMap((encoding) => [202, 400].map((status) => `${encoding} ${status}`));
    expect([...statuses]).toEqual(expect.arrayContaining(both));
  });

  it("stores every number and text exactly, however it is written, or refuses what cannot be stored", async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(jsonText, async (value) => {
        const event = `{"customerId":"c","event":"e","properties":{"x":${value}}}`;
        const reply = await fixture.post(path, path === "/v1/events" ? event : batchOf(event));
        statuses.add(reply.status);
        if (!isStorable(value) || levels(JSON.parse(value)) > 99) {
          expect(reply.status).toBe(400);
          expect(expectHelpfulRefusal(reply)).toBe("VALIDATION_ERROR");
          return;
        }
        expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 202 });
        expect(readExactly(await propertiesOf(eventIds(reply)[0]!))).toEqual({ "'x": readExactly(value) });
      }),
      { numRuns: propertyRuns(60), examples: [["1.50"], ["1e400"]] },
    );
    expect([...statuses]).toEqual(expect.arrayContaining([202, 400]));
  });
});

it("any text is stored exactly in every place where it is allowed", async () => {
  const hard = "__proto__|constructor|null|'; drop table svc.events; --|\\u0000|\ufeff|\u202e|e\u0301|%_".split("|");
  const name = fc
    .oneof(fc.constantFrom(...hard), fc.string({ unit, minLength: 1, maxLength: 200 }))
    .filter((text) => !text.includes("\0"));
  let keys = 0;
  await fc.assert(
    fc.asyncProperty(name, name, name, name, async (customerId, event, key, text) => {
      const idempotencyKey = `${++keys} ${key}`;
      const reply = await fixture.batch([
        { customerId, event, idempotencyKey, properties: { [text]: text } },
        { type: "identify", customerId, traits: { [text]: text } },
      ]);
      expect(reply).toMatchObject({ status: 202 });
      const [row] = await fixture.service.db.sql<[{ kept: string[]; properties: object; traits: object }]>`
        select array[v.customer_id, v.event, k.idempotency_key] as kept, v.properties, t.traits
        from svc.events as v
        join svc.idempotency_keys as k using (environment_id, event_seq)
        join svc.trait_updates as t on t.environment_id = v.environment_id and t.operation_seq = v.event_seq + 1
        where svc.event_id(v.event_seq) = ${eventIds(reply)[0]!}`;
      expect(row.kept).toEqual([customerId, event, idempotencyKey]);
      expect([row.properties, row.traits].map(Object.entries)).toEqual([[[text, text]], [[text, text]]]);
    }),
    { numRuns: propertyRuns(60) },
  );
});

function levels(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, member) => Math.max(most, levels(member)), 0);
}

/** The text of the stored properties, because a number can exceed the range of doubles. */
async function propertiesOf(id: string): Promise<string> {
  const [row] = await fixture.service.db.sql<[{ properties: string }]>`
    select properties::text as properties from svc.events where svc.event_id(event_seq) = ${id}`;
  return row.properties;
}

describe("whatever its headers say, a request", () => {
  const visible = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
  const headerLine = (name: string, values: fc.Arbitrary<string | null>) =>
    values.map((value) => (value === null ? "" : `${name}: ${value}\r\n`));
  const JSON_TYPES = ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"];
  const OTHER_TYPES =
    "text/plain,application/json; charset=latin1,application/json; charset,multipart/form-data,".split(",");
  const ENCODINGS = [null, null, null, "identity", "gzip", "GZIP", "br", "gzip, gzip", ""];
  const EXPECTATIONS = [null, null, null, "100-continue", "200-ok"];

  type Framing = (bytes: Buffer) => [headers: string, body: Buffer];
  const byLength: Framing = (bytes) => [`Content-Length: ${bytes.length}\r\n`, bytes];
  /** How the body's length is declared, rightly or wrongly; slow-clients.test.ts has more of the wrong ones. */
  const framing = fc.constantFrom<Framing>(
    byLength,
    byLength,
    (bytes) => [`Transfer-Encoding: chunked\r\n`, chunked(bytes)],
    (bytes) => [`Content-Length: ${bytes.length + 1}\r\n`, bytes],
    (bytes) => [`Content-Length: ${Math.max(0, bytes.length - 1)}\r\n`, bytes],
    (bytes) => ["", bytes],
    (bytes) => ["Content-Length: 99999999999999999999\r\n", bytes],
    (bytes) => ["Transfer-Encoding: chunked\r\n", chunked(bytes).subarray(0, -4)],
    (bytes) => ["Transfer-Encoding: gzip\r\n", bytes],
  );
  const chunked = (bytes: Buffer) =>
    bytes.length === 0
      ? Buffer.from("0\r\n\r\n")
      : Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);

  const head = fc
    .tuple(
      headerLine(
        "Content-Type",
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...JSON_TYPES) },
          fc.constantFrom(null, ...OTHER_TYPES),
          visible,
        ),
      ),
      headerLine("Content-Encoding", fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...ENCODINGS) }, visible)),
      headerLine("Expect", fc.constantFrom(...EXPECTATIONS)),
      headerLine("X-Request-ID", fc.oneof(fc.constant(null), visible)),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant("") },
        visible.map((noise) => `${noise}\r\n`),
      ),
    )
    .map((lines) => lines.join(""));

  it.each(PATHS)("to %s is answered clearly, or not at all if incomplete, and nothing hangs", async (path) => {
    const statuses = new Set<number>();
    const valid = validFor(path);
    await fc.assert(
      fc.asyncProperty(
        head,
        framing,
        fc.oneof(fc.constant(valid), body),
        fc.boolean(),
        async (lines, frame, bytes, zip) => {
          const [length, framed] = frame(zip && /encoding: gzip\r/i.test(lines) ? gzipSync(bytes) : bytes);
          const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${fixture.keys.test}\r\nConnection: close\r\n`;
          const request = Buffer.concat([Buffer.from(`${start}${lines}${length}\r\n`), framed]);
          for (const answer of await exchange(request)) {
            statuses.add(answer.status);
            expectClear(answer);
          }
        },
      ),
      {
        numRuns: propertyRuns(80),
        examples: [
          ["Content-Type: application/json\r\n", byLength, valid, false],
          ["Content-Type: application/json\r\n", byLength, WRONG, false],
          ["Content-Type: text/plain\r\n", byLength, valid, false],
        ],
      },
    );
    expect([...statuses]).toEqual(expect.arrayContaining([202, 400, 415]));
    expect((await fixture.single({ customerId: "c", event: "after" })).status).toBe(202);
  });

  /** Writes a request, closes our half of the connection, and returns the answers until the service closes its half, except interim ones. */
  async function exchange(request: Buffer): Promise<RawAnswer[]> {
    const connection = openConnection(fixture.service.url);
    connection.socket.end(request);
    return (await connection.closed).filter(({ status }) => status !== 100);
  }

  function expectClear({ status, headers, body: answer }: RawAnswer): void {
    expect(headers["x-request-id"]).toMatch(/\S/);
    if (status === 202) return;
    expect(status, JSON.stringify(answer)).toBeGreaterThanOrEqual(400);
    expect(status, JSON.stringify(answer)).toBeLessThan(500);
    const nonBlank = expect.stringMatching(/\S/) as string;
    expect(answer).toMatchObject({ error: { code: nonBlank, message: nonBlank, requestId: nonBlank, fix: nonBlank } });
  }
});
