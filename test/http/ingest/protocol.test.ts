import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { INVALID_API_KEY, malformed, notMediaType } from "../../spec/support/refusals.js";
import { useIngest } from "./fixture.js";
import { headOf, openConnection } from "./raw-connection.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const event = { customerId: "c", event: "e" };
const PATHS = ["/v1/events", "/v1/events/batch"] as const;
const bodyFor = (path: string): unknown => (path === "/v1/events" ? event : { events: [event] });
/** More than the maximum of a batch, after decompression. */
const BOMB = gzipSync(Buffer.alloc(97 * 1024 * 1024, " "), { level: 1 });
const UNKNOWN_KEY = `svc_test_${"0".repeat(48)}`;

describe.each(PATHS)("POST %s", (path) => {
  it("answers INVALID_API_KEY to an unknown key, however long, whatever the body", async () => {
    for (const key of [UNKNOWN_KEY, `svc_test_${"0".repeat(4000)}`]) {
      for (const body of [bodyFor(path), "{", { wrong: true }]) {
        const request = () => fixture.post(path, body, { Authorization: `Bearer ${key}` });
        const reply = await fixture.refuses(request, 401, INVALID_API_KEY);
        expect(reply.headers.get("RateLimit-Limit")).toBeNull();
      }
    }
  });

  it("answers UNSUPPORTED_MEDIA_TYPE to another type, charset or encoding", async () => {
    for (const type of ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])
      expect((await fixture.post(path, bodyFor(path), { "Content-Type": type })).status).toBe(202);
    for (const type of ["application/x-ndjson", "application/json; charset=iso-8859-1"])
      await fixture.refuses(() => fixture.post(path, bodyFor(path), { "Content-Type": type }), 415, notMediaType);
    const reply = await fixture.refuses(() => fixture.post(path, bodyFor(path), { "Content-Encoding": "br" }), 415, {
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "The body's Content-Encoding is not supported.",
      fix: "Send the body uncompressed, or compressed with gzip.",
    });
    expect(reply.headers.get("Accept-Encoding")).toBe("gzip");
  });

  it.each([
    ["white space", " \n\t ", "The body is empty."],
    ["a second document", "{}{}", 'Expected the end of the document, but found "{" at line 1, column 3.'],
    ["single quotes", "{'a':1}", 'Expected a property name or "}", but found "\'" at line 1, column 2.'],
    ["a comment", '{\n"a":1, /**/}', 'Expected a property name, but found "/" at line 2, column 8.'],
    ["a trailing comma", '{"a":[1,\r\n2,\n]}', 'Expected a value, but found "]" at line 3, column 1.'],
    ["a missing comma", '{"a":[1 2]}', 'Expected "," or "]", but found "2" at line 1, column 9.'],
    ["NaN", '{"a":NaN}', 'Expected a value, but found "N" at line 1, column 6.'],
    ["a leading zero", '{"a":01}', 'Expected "," or "}", but found "1" at line 1, column 7.'],
    [
      "a control character in a text",
      '{"a":"\n"}',
      "A string contains the control character U+000A at line 1, column 7.",
    ],
    ["an unknown escape", '{"a":"\\x"}', "A string contains an escape that is not valid in JSON at line 1, column 7."],
    ["a text without an end", '{"a":"b', "The string that begins at line 1, column 6 has no end."],
    ["an emoji", "\u{1F600}", 'Expected a value, but found "\u{1F600}" at line 1, column 1.'],
    ["a byte order mark twice", "\ufeff\ufeff{}", "Expected a value, but found U+FEFF at line 1, column 1."],
    ["too much nesting", "[".repeat(20_000), "It is nested deeper than 10,000 levels."],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "The body is not valid UTF-8."],
  ])("answers MALFORMED_JSON to %s", async (_, body, reason) => {
    await fixture.refuses(() => fixture.post(path, body), 400, malformed(reason));
  });

  it.each([
    ["no gzip", Buffer.from("{}")],
    ["half of it", gzipSync("x".repeat(10_000)).subarray(0, 20)],
    ["nothing", Buffer.alloc(0)],
  ])("answers MALFORMED_JSON to Content-Encoding gzip with %s", async (_, body) => {
    const request = () => fixture.post(path, body, { "Content-Encoding": "gzip" });
    await fixture.refuses(request, 400, malformed("The body is not valid gzip."));
  });

  it("states the limit and its remainder in every answer to a valid key", async () => {
    await sql`update iam.plans set cloud_execution = false`;
    const unplanned = await fixture.post(path, bodyFor(path));
    await sql`update iam.plans set cloud_execution = true`;
    const bytes = path === "/v1/events" ? 524_288 : 100_663_296;
    const bomb = () => fixture.post(path, BOMB, { "Content-Encoding": "gzip" });
    const tooLarge = await fixture.refuses(bomb, 413, {
      code: "PAYLOAD_TOO_LARGE",
      message: "The body is too large.",
      reason: `At most ${bytes} bytes are read after decompression.`,
      fix: "Send less, or split it into several requests.",
    });
    const answers = [
      [402, unplanned],
      [413, tooLarge],
      [415, await fixture.post(path, "{}", { "Content-Type": "text/plain" })],
    ] as const;
    for (const [status, reply] of answers) {
      expect(reply.status).toBe(status);
      expect(reply.headers.get("RateLimit-Limit")).toBe("100000");
      const remaining = Number(reply.headers.get("RateLimit-Remaining"));
      expect(remaining).toBeGreaterThan(99_000);
      expect(remaining).toBeLessThanOrEqual(100_000);
      expect(reply.headers.get("Retry-After")).toBeNull();
    }
  });
});

it.each([
  ["a key that is not known", "/v1/events/batch", 401, "INVALID_API_KEY"],
  ["an address that is none", "/v1/nothing", 404, "NOT_FOUND"],
])(
  "%s is answered before the connection of a client that is still sending a large body is closed",
  async (_, path, status, code) => {
    const connection = openConnection(fixture.service.url);
    const headers = { Authorization: `Bearer ${UNKNOWN_KEY}`, Connection: "close", "Content-Type": "application/json" };
    connection.write(headOf(`POST ${path} HTTP/1.1`, { Host: "svc", ...headers, "Content-Length": 20_000_000 }));
    connection.write(" ".repeat(20_000_000));
    const answers = await connection.closed;
    expect(answers).toMatchObject([{ status, headers: { connection: "close" }, body: { error: { code } } }]);
    expect(connection.socket.bytesWritten).toBeGreaterThan(20_000_000);
    expect(connection.socket.errored).toBeNull();
  },
);
