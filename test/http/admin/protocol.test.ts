import { Agent } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openRequest } from "../open-request.js";
import { refused, useApi } from "./support/api.js";

const api = useApi();
const credentials = () => ({
  Authorization: `Bearer ${api.owner.token}`,
  "X-Svc-Organization": api.owner.organizationId,
  "Content-Type": "application/json",
});
const ask = (method: string, path: string, options: object = { by: api.owner }) =>
  api.service.request(method, path, options);
const post = (body: unknown, headers: Record<string, string> = {}) =>
  ask("POST", "/projects", { by: api.owner, body, headers });

/** Posts a body without a declared length. */
async function sendChunks(path: string, chunks: Buffer[], agent?: Agent, headers: Record<string, string> = {}) {
  const sent = { ...credentials(), "Transfer-Encoding": "chunked", ...headers };
  const options = { method: "POST", headers: sent, ...(agent && { agent }) };
  const response = await openRequest(api.service.url + path, options, ...chunks);
  return { status: response.statusCode, body: JSON.parse(await text(response)) as unknown };
}

it("no answer is cached, or sends a referrer to other sites", async () => {
  for (const request of ["GET /livez", "GET /whoami", "GET /nowhere", "DELETE /projects", "POST /projects"]) {
    const [method = "", path = ""] = request.split(" ");
    expect(Object.fromEntries((await ask(method, path, {})).headers), request).toMatchObject({
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
    });
  }
});

describe("addresses and methods", () => {
  it("match exactly; HEAD is answered like GET, without the body", async () => {
    for (const path of ["/", "/events", "/whoami/", "/Whoami", "/projects/app/", "/__proto__", "/projects//overview"])
      expect(await ask("GET", path), path).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await ask("HEAD", "/whoami")).toMatchObject({ status: 200, body: undefined });
  });

  it("are answered with METHOD_NOT_ALLOWED if another method is allowed", async () => {
    for (const [method, path, allowed] of [
      ["PUT", "/projects", "GET, HEAD, POST"],
      ["OPTIONS", "/whoami", "GET, HEAD"],
    ] as const) {
      const reply = await ask(method, path);
      expect(reply).toMatchObject(refused(405, "METHOD_NOT_ALLOWED", { fix: `Use ${allowed}.` }));
      expect(reply.headers.get("Allow")).toBe(allowed);
    }
  });
});

describe("bodies", () => {
  it("can be compressed with gzip, and nothing else", async () => {
    const body = gzipSync(JSON.stringify({ name: "Zipped", slug: "zipped" }));
    expect((await post(body, { "Content-Encoding": "gzip" })).status).toBe(201);
    const other = await post(body, { "Content-Encoding": "br" });
    const message = "The body's Content-Encoding is not supported.";
    expect(other).toMatchObject(refused(415, "UNSUPPORTED_MEDIA_TYPE", { message }));
    expect(other.headers.get("Accept-Encoding")).toBe("gzip");
  });

  // Without a declared length, bodies are measured while they arrive.
  it("that are refused halfway leave the connection usable for the next request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const chunks = Array.from({ length: 64 }, () => Buffer.alloc(64 * 1024, 0x41));
    const statuses: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      statuses.push((await sendChunks("/projects", chunks, agent)).status);
      const encoded = { "Content-Encoding": "gzip" };
      statuses.push((await sendChunks("/projects/app/config-versions", chunks, agent, encoded)).status);
    }
    agent.destroy();
    expect(statuses).toEqual([413, 400, 413, 400, 413, 400]);
  });
});
