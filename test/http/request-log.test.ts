import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../src/db/connect.js";
import { createLogger } from "../../src/server/log.js";
import { waitingForLock } from "../support/locks.js";
import { useService } from "../support/service.js";
import { headOf, openConnection } from "./ingest/raw-connection.js";

type Line = Record<string, unknown>;

const guide = await readFile(new URL("../../docs/operations/logs.md", import.meta.url), "utf8");

let lines: Line[] = [];
/** The fields of all lines so far. */
const seen = new Set<string>();
const log = createLogger("debug", {
  write: (written) => {
    const line = JSON.parse(written) as Line;
    // Koa's message about a broken connection is not the line of a request.
    if (line["msg"] !== "an answer could not be sent") lines.push(line);
  },
});

// No provider listens there.
const service = await useService({ log }, { ai: { baseUrl: "http://127.0.0.1:1/v1", apiKey: null, model: "none" } });
const { sql } = service.db;
const ada = await service.owner("acme");
const { body } = await service.request("POST", "/projects", { by: ada, body: { name: "App", slug: "app" } });
const key = (body as { keys: { test: string } }).keys.test;
beforeEach(forget);

function forget(): void {
  for (const name of lines.flatMap(Object.keys)) seen.add(name);
  lines = [];
}

/** The line of a request of the organization that was answered, or refused by the client's fault. */
const line = (method: string, route: string, status: number, more: object = {}): unknown => ({
  time: expect.any(String) as string,
  pid: process.pid,
  requestId: "req",
  durationMs: expect.any(Number) as number,
  level: "info",
  method,
  route,
  status,
  organization: ada.organizationId,
  msg: `the request was ${status < 400 ? "answered" : "refused"}`,
  ...more,
});
const asAda = { Authorization: `Bearer ${ada.token}`, "X-Svc-Organization": ada.organizationId };
const authorized = { Authorization: `Bearer ${key}` };
/** Expects one line with these members, possibly only after the answer. */
const expectLine = (members: object) =>
  vi.waitFor(() => expect(lines).toEqual([expect.objectContaining(members) as unknown]));
const UNAVAILABLE = "the request failed: something that it needs is unavailable or overloaded";

it("logs a request as one line with its route's pattern, status and duration, not customer ids, unknown paths and queries", async () => {
  await service.request("GET", "/projects/app", { by: ada });
  expect(lines).toEqual([line("GET", "/projects/:project", 200)]);
  forget();
  await service.request("GET", "/projects/app/customers/person-at-home?env=test", { by: ada });
  await service.request("GET", "/person-at-home");
  await service.request("PATCH", "/projects/app/customers/person-at-home", { by: ada });
  expect(JSON.stringify(lines)).not.toContain("person-at-home");
  expect(lines.map(({ route, status, code, level }) => ({ route, status, code, level }))).toEqual([
    { route: "/projects/:project/customers/:customerId", status: 404, code: "CUSTOMER_NOT_FOUND", level: "info" },
    { route: undefined, status: 404, code: "NOT_FOUND", level: "info" },
    { route: undefined, status: 405, code: "METHOD_NOT_ALLOWED", level: "info" },
  ]);
});

describe("ingestion", () => {
  const operation = { type: "track", customerId: "c1", event: "login", timestamp: "2026-03-02T10:00:00Z" };

  it("logs how many operations were accepted", async () => {
    const events = [operation, operation, { type: "identify", customerId: "c1", traits: {} }];
    await service.request("POST", "/v1/events/batch", { headers: authorized, body: { events } });
    await service.request("POST", "/v1/events", { headers: authorized, body: operation });
    expect(lines.map(({ route, status, operations }) => ({ route, status, operations }))).toEqual([
      { route: "/v1/events/batch", status: 202, operations: 3 },
      { route: "/v1/events", status: 202, operations: 1 },
    ]);
  });

  it("logs the code of a refusal, also of a frozen environment, and nothing that was sent", async () => {
    await service.request("POST", "/v1/events", { headers: authorized, body: '{"type": "track", "secret-person' });
    const headers = { Authorization: "Bearer svc_test_wrong" };
    await service.request("POST", "/v1/events", { headers, body: operation });
    expect(JSON.stringify(lines)).not.toContain("secret-person");
    expect(lines).toEqual([
      line("POST", "/v1/events", 400, { code: "MALFORMED_JSON" }),
      expect.objectContaining({ status: 401, code: "INVALID_API_KEY" }),
    ]);
    forget();
    await sql`update svc.environments set frozen_at = now()`;
    await service.request("POST", "/v1/events", { headers: authorized, body: operation });
    await sql`update svc.environments set frozen_at = null`;
    expect(lines).toEqual([
      line("POST", "/v1/events", 503, { code: "SERVICE_UNAVAILABLE", reason: "The environment is frozen." }),
    ]);
  });
});

it("logs an internal error as one line at error, with its cause", async () => {
  await sql`alter function svc_api.whoami(bytea, text) rename to whoami_gone`;
  await service.request("GET", "/whoami", { by: ada });
  await sql`alter function svc_api.whoami_gone(bytea, text) rename to whoami`;
  const err = expect.objectContaining({ code: "42883", message: expect.stringContaining("does not exist") }) as unknown;
  const failed = { level: "error", code: "INTERNAL_ERROR", err, msg: "the request failed" };
  expect(lines).toEqual([line("GET", "/whoami", 500, failed)]);
});

it("logs a request that cannot be served as one warning, also if it is the language model's provider that is missing", async () => {
  await sql`
    create or replace function svc_api.invitation_of_link(link_hash bytea) returns json language plpgsql as
    $$ begin raise exception using errcode = '57014'; end $$`;
  await fetch(`${service.url}/invitation?token=x`, { headers: { "X-Request-ID": "req" } });
  await expectLine({ level: "warn", status: 503, code: "SERVICE_UNAVAILABLE", msg: UNAVAILABLE });
  forget();
  const body = { task: "explain-config", facts: {} };
  await service.request("POST", "/projects/app/ai/answers", { by: ada, body });
  const reason = "It cannot be reached, or its answer broke off.";
  const route = "/projects/:project/ai/answers";
  await expectLine({ level: "warn", route, status: 502, code: "AI_UNAVAILABLE", reason, msg: UNAVAILABLE });
});

it("logs a successful probe at debug", async () => {
  const PROBES = ["/livez", "/startupz", "/readyz", "/health"];
  for (const probe of PROBES) await service.request("GET", probe);
  expect(lines.map(({ level, route }) => [level, route])).toEqual(PROBES.map((probe) => ["debug", probe]));
});

it("logs what was done for a client that disconnected meanwhile", async () => {
  const leaving = new AbortController();
  await sql.begin(async (tx) => {
    await tx`lock svc.ingest_batches in exclusive mode`;
    const headers = { ...authorized, "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: '{"customerId":"c2","event":"login"}', signal: leaving.signal };
    const answer = fetch(`${service.url}/v1/events`, request).catch((error: unknown) => (error as Error).name);
    await expect.poll(() => waitingForLock(sql)).toBe(1);
    leaving.abort();
    expect(await answer).toBe("AbortError");
  });
  await expectLine({ route: "/v1/events", status: 202, operations: 1 });
});

it("logs a request that ends before its body as one line, with the client's answer", async () => {
  const connection = openConnection(service.url);
  const headers = { Host: "x", ...authorized, "X-Request-ID": "req", "Content-Type": "application/json" };
  connection.write(headOf("POST /v1/events HTTP/1.1", { ...headers, "Content-Length": 100, Expect: "100-continue" }));
  await expect.poll(() => connection.answers()).toMatchObject([{ status: 100 }]);
  connection.socket.end("{");
  await connection.closed;
  await expectLine({ requestId: "req", route: "/v1/events", status: 400, code: "VALIDATION_ERROR" });
});

it.each([
  ["refused", "POST", "/v1/events"],
  ["served", "GET", "/livez"],
])("logs a request that was %s before its body turned out malformed as invalid HTTP", async (_, method, route) => {
  const connection = openConnection(service.url);
  const headers = { Host: "x", Connection: "close", "Transfer-Encoding": "chunked", "X-Request-ID": "req" };
  connection.write(`${headOf(`${method} ${route} HTTP/1.1`, headers)}1\r\nx\r\nno length\r\n`);
  expect(await connection.closed).toMatchObject([{ status: 400 }]);
  await vi.waitFor(() =>
    expect(lines).toEqual([line(method, route, 400, { code: "VALIDATION_ERROR", organization: undefined })]),
  );
});

it("logs a stream after its end, and a client that disconnects before its stream begins", async () => {
  const abort = new AbortController();
  const path = "/projects/app/events/stream?env=test";
  const response = await fetch(service.url + path, { headers: asAda, signal: abort.signal });
  expect([response.status, lines]).toEqual([200, []]);
  abort.abort();
  await expectLine({ level: "info", status: 200, clientGone: true });
  forget();
  const other = connect(service.db.url, { max: 1, applicationName: "svc test lock" });
  const { socket } = openConnection(service.url);
  await other.begin(async (tx) => {
    await tx`lock table iam.memberships in access exclusive mode`;
    socket.write(headOf(`GET ${path} HTTP/1.1`, { Host: "svc", ...asAda }));
    await expect.poll(() => waitingForLock(sql), { timeout: 10_000 }).toBe(1);
    socket.destroy();
    await once(socket, "close");
  });
  await other.end();
  await expectLine({ level: "info", route: "/projects/:project/events/stream", clientGone: true });
});

it("logs invalid HTTP with its status, code and request id", async () => {
  const connection = openConnection(service.url);
  connection.write("secret-person\r\n\r\n");
  const requestId = (await connection.closed)[0]!.headers["x-request-id"];
  await expectLine({ level: "info", requestId, status: 400, code: "VALIDATION_ERROR", msg: "the request was refused" });
});

it("matches the guide's example line, that of a batch", async () => {
  const [, shown] = /^```json\n(.*?)^```$/ms.exec(guide)!;
  const events = [{ customerId: "c", event: "e" }];
  await service.request("POST", "/v1/events/batch", { headers: authorized, body: { events } });
  const kinds = (line: Line) => Object.entries(line).map(([name, value]) => [name, typeof value]);
  const [logged] = lines as [Line];
  const expected = JSON.parse(shown!) as Line;
  expect(kinds(logged).sort()).toEqual(kinds(expected).sort());
  for (const name of ["level", "method", "route", "status", "msg"]) expect(logged[name]).toBe(expected[name]);
});

it("has every field of these lines in the guide", async () => {
  const described = [...guide.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
  expect([...seen].sort()).toEqual(expect.arrayContaining(["err", "operations", "requestId", "route"]));
  const common = ["level", "time", "pid", "msg"];
  expect([...seen].filter((name) => !described.includes(name) && !common.includes(name))).toEqual([]);
});
