import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { useIngest, taken } from "./fixture.js";
import { headOf, openConnection, type RawAnswer, type RawConnection } from "./raw-connection.js";

const connections: RawConnection[] = [];
const limits = { headersMsMax: 1_000, requestMsMax: 1_500, checkMs: 50 };
const fixture = await useIngest({}, { limits });
/** A service on which a whole request can take long, but its body cannot. */
const slow = await useIngest({}, { limits: { bodyLookMs: 200 } });
afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  expect((await fixture.single({ customerId: "c", event: "after" })).status).toBe(202);
});

const BODY = JSON.stringify({ customerId: "c", event: "e" });
const ANY_TEXT = expect.any(String) as string;
const NEW_ID = expect.stringMatching(/^req_[0-9a-f]{32}$/) as string;

function open(text: string | Buffer = "", url = fixture.service.url): RawConnection {
  const connection = openConnection(url);
  connections.push(connection);
  if (text.length > 0) connection.write(text);
  return connection;
}

/** The head of a request for a single event with the id "req"; undefined headers are omitted. */
function head(
  more: Record<string, string | undefined> = {},
  line = "POST /v1/events HTTP/1.1",
  key = fixture.keys.test,
): string {
  const headers = { Host: "svc", Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return headOf(line, { ...headers, "X-Request-ID": "req", ...more });
}

const whole = (more: Record<string, string | undefined> = {}, body = BODY): string =>
  head({ "Content-Length": String(Buffer.byteLength(body)), ...more }) + body;

/** Expects the error envelope, with the same id in header and body. */
function expectError(answer: RawAnswer | undefined, status: number, code: string, requestId: string): void {
  expect(answer).toMatchObject({
    status,
    headers: { "x-request-id": requestId, "content-type": "application/json; charset=utf-8" },
    body: { error: { code, requestId, message: ANY_TEXT, fix: ANY_TEXT } },
  });
  expect(answer?.headers["x-request-id"]).toBe(
    (answer?.body as { error: { requestId: string } } | undefined)?.error.requestId,
  );
}

/** Sends a text repeatedly until the server closes the connection. */
async function trickle(connection: RawConnection, text: string): Promise<void> {
  for (let n = 0; !connection.socket.closed; n++) {
    if (connection.socket.writable) connection.write(text[n % text.length]!);
    await delay(20);
  }
}

async function answersOf(connection: RawConnection, count: number): Promise<RawAnswer[]> {
  await expect.poll(() => connection.answers().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return connection.answers();
}

it("a client that is too slow is answered REQUEST_TIMEOUT, with its request ID if it sent one", async () => {
  const before = await fixture.stored();
  /** What is sent at once, what repeatedly, and the ID in the answer. */
  const clients: [start: string, trickling: string, requestId: string][] = [
    ["", "", NEW_ID],
    ["POST /v1/events HTTP/1.1\r\nHost: svc\r\nX-Slow: ", "a", NEW_ID],
    [head({ "Content-Length": "100000" }), " ", "req"],
    [head({ "Transfer-Encoding": "chunked" }), "1\r\n \r\n", "req"],
    // Silent before the end of its body.
    [head({ "Content-Length": String(BODY.length + 1) }) + BODY, "", "req"],
  ];
  const answers = clients.map(async ([start, trickling]) => {
    const connection = open(start);
    const [[answer]] = await Promise.all([connection.closed, trickling && trickle(connection, trickling)]);
    return answer;
  });
  // Bodies that arrive more slowly than the minimum rate.
  const stalled = ["identity", "gzip"].map(async (encoding) => {
    const sent = { "Content-Length": "100000", "Content-Encoding": encoding };
    return (await open(head(sent, undefined, slow.keys.test), slow.service.url).closed)[0];
  });
  for (const [index, answer] of (await Promise.all(answers)).entries())
    expectError(answer, 408, "REQUEST_TIMEOUT", clients[index]![2]);
  for (const answer of await Promise.all(stalled)) {
    expectError(answer, 408, "REQUEST_TIMEOUT", "req");
    expect(answer?.body).toMatchObject({ error: { reason: "The body arrived too slowly." } });
    expect(answer?.headers["connection"]).toBe("close");
  }
  expect(await fixture.stored()).toEqual(before);
});

describe("a client that closes its half of the connection", () => {
  const sent = (text: string) => {
    const connection = open();
    connection.socket.end(text);
    return connection.closed;
  };

  it("still gets the answers to its requests, and is refused before the end of headers or body, and nothing is stored", async () => {
    const answers = await sent(whole({ "X-Request-ID": "1" }) + whole({ "X-Request-ID": "2" }));
    expect(answers.map(({ headers }) => headers["x-request-id"])).toEqual(["1", "2"]);
    expect(answers[0]).toMatchObject({ status: 202, body: taken() });
    const before = await fixture.stored();
    const [ofBody] = await sent(head({ "Content-Length": String(BODY.length + 1) }) + BODY);
    expectError(ofBody, 400, "VALIDATION_ERROR", "req");
    const [ofHeaders] = await sent("POST /v1/events HTTP/1.1\r\nHost: s");
    expectError(ofHeaders, 400, "VALIDATION_ERROR", NEW_ID);
    expect(await fixture.stored()).toEqual(before);
  });
});

describe("an invalid request is refused, and the connection closed", () => {
  const large = "a".repeat(20_000);
  const inChunks = { "Transfer-Encoding": "chunked" };
  const both = { "Content-Length": String(BODY.length), ...inChunks };
  it.each<[string, () => string | Buffer, status?: number, code?: string, requestId?: string]>([
    ["20 KB of headers", () => head({ "X-Large": large }), 431, "HEADERS_TOO_LARGE"],
    ["a request line of 20 KB", () => head({}, `POST /v1/events?${large} HTTP/1.1`), 431, "HEADERS_TOO_LARGE"],
    ["a length and chunks", () => head(both) + BODY],
    ["two lengths", () => head({ "Content-Length": "2\r\nContent-Length: 3" })],
    ["a negative length", () => head({ "Content-Length": "-1" })],
    ["a length that is no number", () => head({ "Content-Length": "0x10" })],
    ["a chunk of no size", () => `${head(inChunks)}x\r\n`, 400, "VALIDATION_ERROR", "req"],
    ["20 KB about a chunk", () => `${head(inChunks)}5;${large}\r\n`, 400, "VALIDATION_ERROR", "req"],
    ["a header that continues", () => "GET /livez HTTP/1.1\r\nHost: svc\r\n more\r\nA b\r\n\r\n"],
    ["HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", () => Buffer.from("16030100c8010000c40303", "hex")],
    ["an address that cannot be read", () => head({}, "GET http://[::1/ HTTP/1.1"), 400, "VALIDATION_ERROR", "req"],
    ["a tunnel", () => head({}, "CONNECT example.com:80 HTTP/1.1"), 405, "METHOD_NOT_ALLOWED", "req"],
  ])("%s", async (_, text, status = 400, code = "VALIDATION_ERROR", requestId = NEW_ID) => {
    const connection = open(text());
    const answers = await answersOf(connection, 1);
    expectError(answers[0], status, code, requestId);
    connection.end();
    expect(await connection.closed).toHaveLength(1);
  });

  it("also if the client continues to send", async () => {
    const connection = open("nonsense\r\n\r\n");
    const [[answer, ...more]] = await Promise.all([connection.closed, trickle(connection, "more ")]);
    expectError(answer, 400, "VALIDATION_ERROR", NEW_ID);
    expect(more).toEqual([]);
  });

  it("but a request without Host, or with two, is refused alone", async () => {
    const wrong = [whole({ Host: undefined }), whole({ Host: "svc\r\nHost: other" })];
    const [without, two, accepted] = await answersOf(open(wrong.join("") + whole()), 3);
    for (const refused of [without, two]) expectError(refused, 400, "VALIDATION_ERROR", "req");
    expect(two?.body).toMatchObject({ error: { message: "The request has several headers Host." } });
    expect(accepted).toMatchObject({ status: 202 });
  });
});

it("a request that offers another protocol is answered, and the connection closed before the next request", async () => {
  const offer = { Connection: "Upgrade", Upgrade: "websocket" };
  for (const [request, status] of [
    [whole(offer), 202],
    [head(offer, "GET /livez HTTP/1.1"), 200],
    [whole({ ...offer, Expect: "100-continue" }), 202],
  ] as const) {
    const answers = await open(request + whole()).closed;
    expect(answers.filter((answer) => answer.status !== 100)).toMatchObject([
      { status, headers: { connection: "close" } },
    ]);
  }
});

describe("requests on one connection", () => {
  it("are answered in order, also if invalid input comes after them", async () => {
    const requests = Array.from({ length: 20 }, (_, n) => [n % 3 === 2 ? 400 : 202, `r${n}`] as const);
    const texts = requests.map(([status, id]) => whole({ "X-Request-ID": id }, status === 400 ? "{" : BODY));
    const answers = await open(`${texts.join("")}nonsense\r\n\r\n`).closed;
    expectError(answers.pop(), 400, "VALIDATION_ERROR", NEW_ID);
    expect(answers.map(({ status, headers }) => [status, headers["x-request-id"]])).toEqual(requests);
  });

  it("are answered before an unfinished one", async () => {
    const unfinished = head({ "Content-Length": "1000", "X-Request-ID": "2" });
    const answers = await open(whole({ "X-Request-ID": "1" }) + unfinished).closed;
    expect(answers.map(({ status }) => status)).toEqual([202, 408]);
    expectError(answers[1], 408, "REQUEST_TIMEOUT", "2");
  });

  it("end with a body that is longer than its declared length", async () => {
    const before = await fixture.stored();
    const answers = await open(whole({ "Content-Length": String(BODY.length - 1) })).closed;
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expectError(answers[0], 400, "MALFORMED_JSON", "req");
    expectError(answers[1], 400, "VALIDATION_ERROR", NEW_ID);
    expect(await fixture.stored()).toEqual(before);
  });
});

describe("a client that expects 100 Continue before its body", () => {
  const asking = (more: Record<string, string> = {}) =>
    head({ Expect: "100-continue", "Content-Length": String(BODY.length), ...more });

  it("is asked for the body if the headers are valid", async () => {
    const connection = open(asking());
    expect(await answersOf(connection, 1)).toMatchObject([{ status: 100 }]);
    connection.write(BODY);
    expect((await answersOf(connection, 2))[1]).toMatchObject({ status: 202, body: taken() });
    // Another expectation is ignored.
    connection.write(whole({ Expect: "something-else" }));
    expect((await answersOf(connection, 3))[2]).toMatchObject({ status: 202, body: taken() });
  });

  it.each<[string, Record<string, string>, number, string]>([
    ["a bad key", { Authorization: "Bearer svc_test_unknown" }, 401, "INVALID_API_KEY"],
    ["a body that is too large", { "Content-Length": "600000" }, 413, "PAYLOAD_TOO_LARGE"],
    ["another type", { "Content-Type": "text/plain" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
  ])("is refused without its body for %s", async (_, more, status, code) => {
    const answers = await open(asking(more)).closed;
    expect(answers).toHaveLength(1);
    expectError(answers[0], status, code, "req");
  });
});
