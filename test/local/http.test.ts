import { request as httpRequest } from "node:http";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";

import { RealClock } from "../../src/local/clock.js";
import type { LocalEngineOptions } from "../../src/local/engine.js";
import type { CustomerChange } from "../../src/local/population.js";
import type { RequestReport } from "../../src/local/report.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { openConnection } from "../http/ingest/raw-connection.js";
import { propertyRuns } from "../support/property-runs.js";
import { DAY, iso, MODEL, START } from "./support/model.js";
import { serveLocally } from "./support/server.js";

interface Reply {
  status: number;
  headers: Headers;
  body: any; // oxlint-disable-line typescript/no-explicit-any -- tests check the answers
}

/** A local engine behind real HTTP, for one test. String and byte bodies are sent unchanged. */
async function serve(snapshot: Snapshot = MODEL, options: Partial<LocalEngineOptions> = {}) {
  const reports: RequestReport[] = [];
  let fire: (changes: readonly CustomerChange[]) => void = () => undefined;
  const fired = new Promise<readonly CustomerChange[]>((resolve) => (fire = resolve));
  const { engine, url } = await serveLocally(snapshot, {
    ...options,
    observe: (report) => void reports.push(report),
    timersFired: (changes) => fire(changes),
  });
  const send = async (method: string, path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(url + path, { method, ...init });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    engine,
    url,
    reports,
    /** Resolves with the next changes by timers. */
    fired,
    send,
    get: (path: string, headers: Record<string, string> = {}) => send("GET", path, { headers }),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      send("POST", path, {
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
  };
}

const event = { customerId: "a", event: "signed_up", properties: {} };

/** Each test has its own engine. */
let { url, reports, get, post, send } = {} as Awaited<ReturnType<typeof serve>>;
beforeEach(async () => {
  ({ url, reports, get, post, send } = await serve());
});

/** Expects the error envelope. */
function expectError({ status, headers, body }: Reply, expected: number, code: string): void {
  expect({ status, code: body.error?.code }).toEqual({ status: expected, code });
  expect(body.error.message).toMatch(/\.$/);
  expect(body.error.fix).toMatch(/\.$/);
  expect(body.error.requestId).toBe(headers.get("x-request-id"));
}

describe("sending", () => {
  test("a batch is answered with the states of all its customers, and a repetition as such, with the original id", async () => {
    const events = [
      { ...event, idempotencyKey: "k" },
      { type: "identify", customerId: "b", traits: { plan: "pro" } },
      event,
    ];
    const { status, body } = await post("/v1/events/batch", { events });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      accepted: 3,
      rejected: 0,
      eventIds: ["evt_0000000000000400", "evt_0000000000000402"],
      states: [{ customerId: "a" }, { customerId: "b", segments: ["paying"] }],
    });
    const again = await post("/events", events[0]);
    expect(again.body).toMatchObject({ eventId: "evt_0000000000000400", duplicate: true });
  });

  test("returns violations of a schema that is not strict with the state", async () => {
    const { post, reports } = await serve({ ...MODEL, strictSchema: false });
    const { status, body } = await post("/events", { customerId: "a", event: "unheard_of" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ state: { customerId: "a" }, diagnostics: [{ code: "UNKNOWN_EVENT", path: "event" }] });
    expect(body.diagnostics[0].message).toContain("unheard_of");
    expect(reports).toMatchObject([{ status: 202, diagnostics: [{ code: "UNKNOWN_EVENT" }], error: null }]);
  });

  test.each([
    ["no JSON", "{", 400, "MALFORMED_JSON"],
    ["an identify", { type: "identify", customerId: "a", traits: {} }, 400, "VALIDATION_ERROR"],
    ["U+0000", '{"customerId":"a","event":"signed_up","properties":{"source":"\\u0000"}}', 400, "VALIDATION_ERROR"],
    ["an undeclared event", { customerId: "a", event: "e" }, 422, "UNKNOWN_EVENT"],
    ["more than can be an event", " ".repeat(600_000), 413, "PAYLOAD_TOO_LARGE"],
  ])("refuses %s like the service", async (_, body, status, code) => {
    expectError(await post("/events", body), status, code);
    expect((await get("/customers")).body).toEqual({ data: [], nextCursor: null });
    expect(reports).toMatchObject([{ status, changes: [], error: { code } }]);
  });

  test("refuses a batch with one bad operation as a whole", async () => {
    const events = [event, { ...event, customerId: "" }, event];
    expectError(await post("/events/batch", { events }), 400, "VALIDATION_ERROR");
    expect((await get("/customers")).body.data).toEqual([]);
  });
});

describe("reading", () => {
  test("returns customers, one by one and in pages", async () => {
    await post("/events/batch", { events: ["c", "a", "b"].map((customerId) => ({ ...event, customerId })) });
    expect((await get("/customers/b")).body).toMatchObject({ customerId: "b", lifecycle: "trial" });

    const first = await get("/customers?limit=2");
    expect(first.body.data.map((state: { customerId: string }) => state.customerId)).toEqual(["a", "b"]);
    const second = await get(`/customers?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ data: [{ customerId: "c" }], nextCursor: null });
  });

  test("returns emissions, and the explanation of a customer's state", async () => {
    await post("/events", event);
    const { body } = await get("/customers/a/timeline");
    expect(body).toMatchObject({
      data: [
        { type: "customer.created" },
        { type: "customer.trial", cause: { type: "event" } },
        { type: "journey.started" },
      ],
      nextCursor: null,
    });
    const explanation = await get("/customers/a/explanation");
    expect(explanation.body).toMatchObject({ lifecycle: { state: "trial", transitions: [{ to: "activated" }, {}] } });
  });

  test("accepts any character in a customer id", async () => {
    const customerId = "a/b c?%#é😀";
    await post("/events", { ...event, customerId });
    expect((await get(`/customers/${encodeURIComponent(customerId)}`)).body).toMatchObject({ customerId });
  });

  test.each([
    ...["nobody", "nobody/timeline", "nobody/explanation", "%E0%A4%A"].map((of) => [
      `/${of}`,
      404,
      "CUSTOMER_NOT_FOUND",
    ]),
    ...["limit=0", "cursor=!", "limit=1&limit=2", "x=1"].map((query) => [`?${query}`, 400, "VALIDATION_ERROR"]),
  ] as [string, number, string][])("GET /customers%s is refused with %i", async (path, status, code) => {
    expectError(await get(`/customers${path}`), status, code);
  });

  test("GET / lists the requests, with an event that the model accepts", async () => {
    const { body } = await get("/");
    const sample = /events -H 'content-type: application\/json' -d '(.*)'/.exec(body as string)?.[1];
    expect((await post("/events", sample)).status).toBe(202);
  });

  test("refuses unknown paths and methods", async () => {
    expectError(await get("/nowhere"), 404, "NOT_FOUND");
    const reply = await send("PUT", "/clock");
    expectError(reply, 405, "METHOD_NOT_ALLOWED");
    expect(reply.headers.get("allow")).toBe("GET, HEAD, POST");
  });

  test("DELETE /customers removes all customers", async () => {
    await post("/events", event);
    expect((await send("DELETE", "/customers")).status).toBe(204);
    expectError(await get("/customers/a"), 404, "CUSTOMER_NOT_FOUND");
  });
});

describe("the clock", () => {
  test("moves by a duration or to an instant, and returns what happened", async () => {
    await post("/events", event);
    expect((await get("/clock")).body).toEqual({ now: iso(START), kind: "test", nextDueAt: iso(START + 21 * DAY) });
    expect((await post("/clock", { advance: "20d" })).body).toEqual({
      now: iso(START + 20 * DAY),
      evaluated: 0,
      emissions: [],
      nextDueAt: iso(START + 21 * DAY),
    });
    expect((await post("/clock", { to: "2026-03-01T00:00:00Z" })).body).toMatchObject({
      now: "2026-03-01T00:00:00.000Z",
      evaluated: 1,
      emissions: [
        { customerId: "a", type: "customer.quiet", at: iso(START + 21 * DAY) },
        { customerId: "a", type: "journey.expired", at: iso(START + 30 * DAY) },
      ],
      nextDueAt: null,
    });
  });

  test.each([
    [{ to: "2025-12-31T23:59:59.999Z" }],
    [{ to: "2026-01-01" }],
    [{ advance: "1y" }],
    [{ advance: "1d", to: "2027-01-01T00:00:00Z" }],
    [{}],
    [null],
  ])("does not move by %j", async (body) => {
    expectError(await post("/clock", body), 400, "VALIDATION_ERROR");
    expect((await get("/clock")).body.now).toBe(iso(START));
  });

  test("cannot be moved if it is the machine's", async () => {
    const { post } = await serve(MODEL, { clock: new RealClock() });
    expectError(await post("/clock", { advance: "1d" }), 400, "VALIDATION_ERROR");
  });

  test("fires timers when they are due if it is the machine's", async () => {
    // The timers of a late event wait for this time.
    const { post, get, fired } = await serve(MODEL, { clock: new RealClock(), settleMs: 50 });
    await post("/events", { ...event, timestamp: iso(Date.now() - 29 * DAY) });
    expect(await fired).toMatchObject([{ customerId: "a", entries: [{ type: "customer.quiet" }] }]);
    expect((await get("/customers/a")).body.lifecycle).toBe("quiet");
  });
});

describe("a web page", () => {
  /** fetch cannot send another Host. */
  const withHost = (url: string, host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(`${url}/clock`, { headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject).end();
    });

  test.each([
    ["evil.example", 403],
    ["127.0.0.1.evil.example:4401", 403],
    ["LOCALHOST:1", 200],
  ])("with a rebound host name is refused: Host %s, %i", async (host, status) => {
    expect(await withHost(url, host)).toBe(status);
  });

  test.each(["null", "http://127.0.0.1:4401"])("is recognized by its Origin: %s", async (origin) => {
    expectError(await post("/events", event, { origin }), 403, "FORBIDDEN");
    expect((await get("/customers")).body.data).toEqual([]);
  });

  test("cannot read anything: there are no CORS headers", async () => {
    const { headers } = await get("/clock");
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

test("a request id is returned, and an invalid one is replaced", async () => {
  expect((await get("/clock", { "x-request-id": "my-id" })).headers.get("x-request-id")).toBe("my-id");
  expect((await get("/clock", { "x-request-id": "my id" })).headers.get("x-request-id")).toMatch(/^req_/);
});

test("a request without the Host header gets an explanation", async () => {
  const connection = openConnection(url);
  connection.write("GET /clock HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect(await connection.closed).toMatchObject([
    { status: 400, body: { error: { code: "VALIDATION_ERROR", message: "The request has no header Host." } } },
  ]);
});

test("never answers an internal error, whatever is sent", async () => {
  const single = { customerId: fc.anything(), event: fc.constantFrom("signed_up", 1), properties: fc.anything() };
  const body = fc.oneof(fc.record(single), fc.record({ events: fc.array(fc.anything()) }));
  const written = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  const text = fc.oneof(fc.json(), fc.string({ unit: "binary" }), {
    weight: 2,
    arbitrary: body.map((value) => JSON.stringify(value, written)),
  });
  const path = fc.oneof(
    fc.constantFrom("/events", "/v1/events/batch", "/clock", "/customers", "/customers/a/timeline", "/"),
    fc.webPath().map((tail) => `/customers/${tail}`),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("POST", "DELETE", "PUT"), path, text, async (method, target, body) => {
      const { status, body: answer } = await send(method, target, {
        body,
        headers: { "content-type": "application/json" },
      });
      expect(status).toBeLessThan(500);
      if (status >= 400) expect(answer).toMatchObject({ error: { code: expect.any(String) as string } });
    }),
    { numRuns: propertyRuns(100) },
  );
  expect(reports.every(({ status }) => status < 500)).toBe(true);
});

describe("calls of the tracking API", () => {
  const strict: Snapshot = {
    ...MODEL,
    strictSchema: true,
    tracking: { customer: ["userId"], events: { Start: "signed_up" } },
  };

  test("are evaluated like in the service, and what the service would quarantine is reported", async () => {
    const local = await serve(strict);
    const batch = [
      { type: "track", userId: "a", event: "Signed Up", messageId: "1" },
      { type: "track", userId: "b", event: "Start", messageId: "2" },
      { type: "track", event: "Start" },
      { type: "track", userId: "c", event: "Nothing of the model" },
      { type: "alias", userId: "a", previousId: "b" },
    ];
    const { status, body } = await local.post("/v1/batch", { batch, sentAt: new Date().toISOString() });
    expect([status, body.quarantined]).toEqual([200, 2]);
    expect(local.reports).toMatchObject([
      {
        diagnostics: [
          { index: 2, code: "MISSING_CUSTOMER" },
          { index: 4, code: "ALIAS_NOT_SUPPORTED" },
          { index: 3, code: "UNKNOWN_EVENT" },
        ],
      },
    ]);
    expect((await local.get("/customers")).body).toMatchObject({ data: [{ customerId: "a" }, { customerId: "b" }] });

    // A group call is pointed to the id that would help; a user id would not.
    const accounts = await serve({ ...strict, tracking: { customer: ["groupId", "userId"], events: {} } });
    await accounts.post("/v1/group", { userId: "u", traits: {} });
    const message = "The call has no groupId, which is the customer.";
    expect(accounts.reports).toMatchObject([{ diagnostics: [{ code: "MISSING_CUSTOMER", message }] }]);
  });

  test("an event that a strict schema would quarantine is accepted with a mark, and changes nothing", async () => {
    const local = await serve({ ...strict, onViolation: "quarantine" });
    const { status, body } = await local.post("/events", { customerId: "a", event: "nothing" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ accepted: true, quarantined: { code: "UNKNOWN_EVENT", path: "event" } });
    expect((await local.get("/customers")).body).toEqual({ data: [], nextCursor: null });
  });

  test("an event that would be quarantined can be sent again with its key, under a model that accepts it", async () => {
    const local = await serve({ ...strict, onViolation: "quarantine" });
    const event = { customerId: "a", event: "nothing", idempotencyKey: "once" };
    const { body: held } = await local.post("/events", event);
    expect(held).toMatchObject({ duplicate: false, quarantined: { code: "UNKNOWN_EVENT" } });
    local.engine.replaceModel({ snapshot: { ...strict, strictSchema: false }, hash: "another" });
    for (const duplicate of [false, true]) {
      const { body } = await local.post("/events", event);
      expect(body).toMatchObject({ duplicate, state: { customerId: "a" } });
    }
  });
});
