import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { body, mutantOf } from "../../../fuzz/bodies.js";
import { Part } from "../../../fuzz/part.js";
import { Stored } from "../../../fuzz/stored.js";
import { propertyRuns } from "../../support/property-runs.js";
import { DOCS_URL, environmentId } from "../../support/service.js";
import { batchOf, EVENT, useIngest } from "./fixture.js";
import { openConnection, type RawAnswer } from "./raw-connection.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

it("answers any body with 202 or a clear refusal, stores exactly what it accepted, and nothing that it refused", async () => {
  const part = new Part("ingestion", 0);
  const stored = new Stored(sql, await environmentId(sql, "app", "test"), part);
  const statuses = new Set<string>();
  const any = fc.oneof({ weight: 2, arbitrary: body }, { weight: 1, arbitrary: body.chain((one) => mutantOf([one])) });
  await fc.assert(
    fc.asyncProperty(any, async (one) => {
      const before = await fixture.stored();
      const inTitleCase = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
      const headers = Object.entries(one.headers).map(([name, value]) => [inTitleCase(name), value]);
      const reply = await fixture.post(one.path, one.bytes, Object.fromEntries(headers) as Record<string, string>);
      statuses.add(`${one.headers["content-encoding"] ?? "identity"} ${reply.status}`);
      if (reply.status !== 202) {
        expect(one.isSound, JSON.stringify(reply.body)).toBe(false);
        expectClear(reply.status, reply.headers.get("X-Request-ID"), reply.body);
        expect(await fixture.stored()).toEqual(before);
      }
      await stored.compare(reply.status === 202 ? [{ body: one, answer: JSON.stringify(reply.body) }] : []);
      expect(part.shown).toEqual([]);
    }),
    { numRuns: propertyRuns(250) },
  );
  expect([...statuses]).toEqual(expect.arrayContaining(["identity 202", "identity 400", "gzip 202"]));
  expect(part.compared).toBeGreaterThan(100);
});

const visible = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const headerLine = (name: string, values: fc.Arbitrary<string | null>) =>
  values.map((value) => (value === null ? "" : `${name}: ${value}\r\n`));
const JSON_TYPES = ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"];
const OTHER_TYPES = "text/plain,application/json; charset=latin1,application/json; charset,multipart/form-data,".split(
  ",",
);
const ENCODINGS = [null, null, null, "identity", "gzip", "GZIP", "br", "gzip, gzip", ""];

type Framing = (bytes: Buffer) => [headers: string, body: Buffer];
const byLength: Framing = (bytes) => [`Content-Length: ${bytes.length}\r\n`, bytes];
const chunked = (bytes: Buffer) =>
  bytes.length === 0
    ? Buffer.from("0\r\n\r\n")
    : Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
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
const types = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...JSON_TYPES) },
  fc.constantFrom(null, ...OTHER_TYPES),
  visible,
);
const head = fc
  .tuple(
    headerLine("Content-Type", types),
    headerLine("Content-Encoding", fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...ENCODINGS) }, visible)),
    headerLine("Expect", fc.constantFrom(null, null, null, "100-continue", "200-ok")),
    headerLine("X-Request-ID", fc.oneof(fc.constant(null), visible)),
    fc.oneof(
      { weight: 9, arbitrary: fc.constant("") },
      visible.map((noise) => `${noise}\r\n`),
    ),
  )
  .map((lines) => lines.join(""));

it("answers a request clearly, whatever its headers say, or not at all if it is incomplete, and nothing hangs", async () => {
  const statuses = new Set<number>();
  const path = fc.constantFrom("/v1/events", "/v1/events/batch");
  const validFor = (of: string) => Buffer.from(of === "/v1/events" ? EVENT : batchOf(EVENT));
  const bytes = fc.oneof(
    fc.constant(null),
    body.map((one) => one.bytes),
  );
  await fc.assert(
    fc.asyncProperty(path, head, framing, bytes, fc.boolean(), async (to, lines, frame, given, zip) => {
      const sent = given ?? validFor(to);
      const [length, framed] = frame(zip && /encoding: gzip\r/i.test(lines) ? gzipSync(sent) : sent);
      const start = `POST ${to} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${fixture.keys.test}\r\nConnection: close\r\n`;
      const request = Buffer.concat([Buffer.from(`${start}${lines}${length}\r\n`), framed]);
      for (const answer of await exchange(request)) {
        statuses.add(answer.status);
        if (answer.status !== 202) expectClear(answer.status, answer.headers["x-request-id"], answer.body);
      }
    }),
    {
      numRuns: propertyRuns(150),
      examples: [
        ["/v1/events", "Content-Type: application/json\r\n", byLength, null, false],
        ["/v1/events/batch", "Content-Type: application/json\r\n", byLength, Buffer.from("["), false],
        ["/v1/events/batch", "Content-Type: text/plain\r\n", byLength, null, false],
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

/** Expects a refusal that a client can act on: a 4xx status, and an envelope with a fix and the request's id. */
function expectClear(status: number, requestId: string | null | undefined, answer: unknown): void {
  expect(status, JSON.stringify(answer)).toBeGreaterThanOrEqual(400);
  expect(status, JSON.stringify(answer)).toBeLessThan(500);
  const nonBlank = expect.stringMatching(/\S/) as string;
  expect(answer).toMatchObject({ error: { code: nonBlank, message: nonBlank, requestId: nonBlank, fix: nonBlank } });
  const { error } = answer as { error: { code: string; docs: string; requestId: string } };
  expect([error.docs, error.requestId]).toEqual([`${DOCS_URL}/api#${error.code}`, requestId]);
}
