import { Agent, request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FailedCheck } from "../../../src/http/errors.js";
import { DOCS_URL, envelope, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
const state = { started: true, failed: [] as FailedCheck[] };
beforeAll(async () => {
  service = await startService({
    probes: { started: () => state.started, unready: () => Promise.resolve(state.failed) },
  });
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  service.request("POST", "/projects", { by: owner, body, headers });

/** Posts a body of undeclared length. */
function sendChunks(
  path: string,
  chunks: Buffer[],
  { agent, headers }: SendOptions = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}${path}`, {
      method: "POST",
      ...(agent && { agent }),
      headers: {
        Authorization: `Bearer ${owner.token}`,
        "X-Svc-Organization": owner.organizationId,
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
        ...headers,
      },
    });
    outgoing.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    for (const chunk of chunks) outgoing.write(chunk);
    outgoing.end();
  });
}

interface SendOptions {
  agent?: Agent;
  headers?: Record<string, string>;
}

describe("every answer", () => {
  it.each([
    ["GET", "/livez"],
    ["GET", "/whoami"],
    ["GET", "/nowhere"],
    ["DELETE", "/projects"],
    ["POST", "/projects"],
  ])("carries the request's id and the security headers: %s %s", async (method, path) => {
    const id = "~!trace/0123456789#" + "x".repeat(181);
    const { headers } = await service.request(method, path, { headers: { "X-Request-ID": id } });
    expect(headers.get("X-Request-ID")).toBe(id);
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    expect(headers.has("Access-Control-Allow-Origin")).toBe(false);
  });

  it.each(["two words", "a\tb", "one, two", "", "x".repeat(201), "ä"])(
    "gets a new id where the request's is not valid: %j",
    async (id) => {
      const reply = await service.request("GET", "/nowhere", { headers: { "X-Request-ID": id } });
      const answered = reply.headers.get("X-Request-ID");
      expect(answered).toMatch(/^req_[0-9a-f]{32}$/);
      expect(reply.body).toMatchObject({ error: { requestId: answered } });
    },
  );
});

describe("addresses and methods", () => {
  it.each(["/", "/events", "/whoami/", "/Whoami", "/projects/app/", "/__proto__", "/projects//overview"])(
    "answers NOT_FOUND for %s",
    async (path) => {
      const reply = await service.request("GET", path, { by: owner });
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(envelope("NOT_FOUND", "There is nothing at this address."));
    },
  );

  it.each([
    ["PUT", "/projects", "GET, HEAD, POST"],
    ["DELETE", "/projects", "GET, HEAD, POST"],
    ["POST", "/whoami", "GET, HEAD"],
    ["OPTIONS", "/projects/app/webhooks", "GET, HEAD, POST"],
  ])("answers METHOD_NOT_ALLOWED for %s %s", async (method, path, allowed) => {
    const reply = await service.request(method, path, { by: owner });
    expect(reply.status).toBe(405);
    expect(reply.headers.get("Allow")).toBe(allowed);
    expect(reply.body).toEqual(
      envelope("METHOD_NOT_ALLOWED", "This address does not answer to this method.", { fix: `Use ${allowed}.` }),
    );
  });

  it("answers HEAD like GET, without the body", async () => {
    const reply = await service.request("HEAD", "/whoami", { by: owner });
    expect(reply).toMatchObject({ status: 200, body: undefined });
  });
});

describe("bodies", () => {
  it("survive deep nesting and hostile keys", async () => {
    const deep = `{"name":${"[".repeat(7_000)}${"]".repeat(7_000)},"slug":"deep"}`;
    expect(await post(deep)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "name" } },
    });
    const hostile = '{"__proto__":{"name":"x"},"constructor":1,"slug":"hostile"}';
    const reply = await post(hostile);
    expect(reply.status).toBe(400);
    const paths = (reply.body as { error: { diagnostics: { path: string }[] } }).error.diagnostics.map(
      ({ path }) => path,
    );
    expect(paths.sort()).toEqual(["__proto__", "constructor", "name"]);
  });

  it("may be compressed with gzip, and with nothing else", async () => {
    const body = gzipSync(JSON.stringify({ name: "Zipped", slug: "zipped" }));
    expect((await post(body, { "Content-Encoding": "gzip" })).status).toBe(201);
    const other = await post(body, { "Content-Encoding": "br" });
    expect(other.status).toBe(415);
    expect(other.headers.get("Accept-Encoding")).toBe("gzip");
    expect(other.body).toEqual(
      envelope("UNSUPPORTED_MEDIA_TYPE", "The body's Content-Encoding is not supported.", {
        fix: "Send the body as it is, or compressed with gzip.",
      }),
    );
  });

  it("that are refused half-way leave the connection fit for the next request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const chunks = Array.from({ length: 64 }, () => Buffer.alloc(64 * 1024, 0x41));
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      statuses.push((await sendChunks("/projects", chunks, { agent })).status);
      const encoded = { agent, headers: { "Content-Encoding": "gzip" } };
      statuses.push((await sendChunks("/projects/app/config-versions", chunks, encoded)).status);
    }
    agent.destroy();
    expect(statuses).toEqual([413, 400, 413, 400, 413, 400]);
  });

  it("of unknown length are counted while they come", async () => {
    const chunks = Array.from({ length: 64 }, () => Buffer.alloc(1024, 0x20));
    const reply = await sendChunks("/projects", chunks);
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("that never arrive whole do not disturb the service", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n` +
        `X-Svc-Organization: ${owner.organizationId}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na`,
      () => socket.destroy(),
    );
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await service.request("GET", "/whoami", { by: owner })).status).toBe(200);
  });
});

describe("what is no HTTP", () => {
  const raw = async (text: string) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.write(text);
    await new Promise((resolve) => socket.once("close", resolve));
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    return { status: Number(head.split(" ")[1]), head, body: JSON.parse(body) as { error: Record<string, unknown> } };
  };

  it.each([
    ["nonsense", "nonsense\r\n\r\n", 400, "VALIDATION_ERROR"],
    [
      "headers that are too large",
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`,
      431,
      "HEADERS_TOO_LARGE",
    ],
  ])("is answered with the envelope too: %s", async (_what, text, status, code) => {
    const reply = await raw(text);
    expect(reply.status).toBe(status);
    expect(reply.head).toMatch(/\r\nX-Request-ID: req_[0-9a-f]{32}\r\n/);
    expect(reply.body.error).toMatchObject({
      code,
      message: expect.any(String) as string,
      fix: expect.any(String) as string,
      docs: `${DOCS_URL}/api#${code}`,
    });
  });
});

describe("probes", () => {
  const probe = (path: string) => service.request("GET", path);
  const unavailable = (reason: string, checks: FailedCheck[]) =>
    envelope("SERVICE_UNAVAILABLE", "The service is not available for the moment. Send the same request again.", {
      reason,
      checks,
    });

  it.each(["/livez", "/startupz", "/readyz", "/health"])("%s is ok without credentials", async (path) => {
    expect(await probe(path)).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("are 503 before startup completed, but for /livez", async () => {
    state.started = false;
    try {
      for (const path of ["/startupz", "/readyz", "/health"]) {
        const reply = await probe(path);
        expect(reply.status).toBe(503);
        expect(reply.headers.get("Retry-After")).toBe("1");
        const message = "Startup has not completed.";
        expect(reply.body).toEqual(unavailable(message, [{ name: "startup", message }]));
      }
      expect((await probe("/livez")).status).toBe(200);
    } finally {
      state.started = true;
    }
  });

  it("of readiness are 503 with the reasons while something is missing", async () => {
    state.failed = [
      { name: "migrations", message: "The database lacks a migration." },
      { name: "worker", message: "No worker is alive." },
    ];
    try {
      for (const path of ["/readyz", "/health"]) {
        const reply = await probe(path);
        expect(reply.status).toBe(503);
        expect(reply.body).toEqual(unavailable("The database lacks a migration. No worker is alive.", state.failed));
      }
      expect((await probe("/startupz")).status).toBe(200);
    } finally {
      state.failed = [];
    }
  });
});
