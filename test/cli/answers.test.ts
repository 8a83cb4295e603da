import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";

import { version } from "../../src/cli/core/version.js";
import { type Canned, cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const SESSION = { SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };

async function whoami(answer: Canned, ...options: string[]) {
  const { url } = await cannedServer(answer);
  const { code, stdout, stderr } = await svc(["whoami", ...options], { env: { ...SESSION, SVC_API_URL: url } });
  const shown = (text: string) => text.replaceAll(url, "<service>");
  return { code, stdout: shown(stdout), stderr: shown(stderr) };
}

const EXPIRED = json({ error: { code: "INVALID_SESSION", message: "The session has expired.", requestId: "r1" } }, 401);

describe("a failure is one line that says what to do", () => {
  test("nothing listens there", async () => {
    const closed = await closedAddress();
    const result = await svc(["whoami"], { env: { ...SESSION, SVC_API_URL: closed } });
    expect({ ...result, stderr: result.stderr.replace(closed, "<service>") }).toMatchInlineSnapshot(`
      exit 1
      ! error [SERVICE_UNREACHABLE]: <service> cannot be reached (connection refused). Start the service, or set SVC_API_URL to its address.
    `);
  });

  test("another program's page", async () => {
    expect(await whoami({ status: 200, type: "text/html", body: "<h1>Hi</h1>" })).toMatchInlineSnapshot(`
      exit 1
      ! error [UNEXPECTED_ANSWER]: <service> answered 200 with a web page, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc is of the same version.
    `);
  });

  test("another program's error", async () => {
    expect(await whoami({ status: 502, type: "text/html", body: "Bad Gateway" })).toMatchInlineSnapshot(`
      exit 1
      ! error [UNEXPECTED_ANSWER]: <service> answered 502 with a web page, not as this version of svc expects. Try again in a moment, and check that SVC_API_URL is the address of the service.
    `);
  });

  test("a redirect is not followed", async () => {
    const answer = { status: 302, body: "", headers: { location: "https://example.com/" } };
    expect(await whoami(answer)).toMatchInlineSnapshot(`
      exit 1
      ! error [UNEXPECTED_ANSWER]: <service> answered 302 with a redirect, not as this version of svc expects. It leads to https://example.com/: set SVC_API_URL to the service's own address.
    `);
  });

  test("JSON of another version", async () => {
    expect(await whoami(json({ email: "ada@example.com" }))).toMatchInlineSnapshot(`
      exit 1
      ! error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc is of the same version.
    `);
  });

  test.each([
    ["an older service", "0.0.9"],
    ["a service of the same version", version()],
  ])("%s is told with both versions", async (_what, theirs) => {
    const { url } = await cannedServer({
      ...json({ email: "ada@example.com" }),
      respond: ({ url: asked }) =>
        json(asked === "/openapi.json" ? { info: { title: "svc", version: theirs } } : { email: "ada@example.com" }),
    });
    const { stderr } = await svc(["whoami"], { env: { ...SESSION, SVC_API_URL: url } });
    expect(stderr.replaceAll(url, "<service>").replaceAll(version(), "<version>")).toMatchSnapshot();
  });

  test("a server that closes every connection at once", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout, stderr } = await svc(["whoami"], { env: { ...SESSION, SVC_API_URL: url } });
    expect({ code, stdout, stderr: stderr.replaceAll(url, "<service>") }).toMatchInlineSnapshot(`
      exit 1
      ! error [SERVICE_UNREACHABLE]: <service> cannot be reached (connection closed). Start the service, or set SVC_API_URL to its address.
    `);
  });

  test("a service that speaks no TLS", async () => {
    const { url } = await cannedServer(EXPIRED);
    const secure = url.replace("http:", "https:");
    const { stderr } = await svc(["whoami"], { env: { ...SESSION, SVC_API_URL: secure } });
    expect(stderr.replaceAll(secure, "<service>")).toMatchInlineSnapshot(`
      "error [SERVICE_UNREACHABLE]: <service> cannot be reached (no TLS there). Begin its address with http:// in SVC_API_URL.
      "
    `);
  });

  test("an operation that the service does not know", async () => {
    const error = { code: "NOT_FOUND", message: "There is nothing at this address.", requestId: "r1" };
    expect(await whoami(json({ error }, 404))).toMatchInlineSnapshot(`
      exit 1
      ! error [UNEXPECTED_ANSWER]: <service> answered 404 with "There is nothing at this address.", not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc is of the same version.
    `);
  });

  test("an expired session", async () => {
    expect(await whoami(EXPIRED)).toMatchInlineSnapshot(`
      exit 1
      ! error [INVALID_SESSION]: The session has expired. Set SVC_ACCESS_TOKEN to another token, or unset it and sign in: \`svc auth login\`.
    `);
  });

  test("a fault of the service names the request", async () => {
    const error = { code: "INTERNAL_ERROR", message: "The service failed on this request.", requestId: "r1" };
    expect(await whoami(json({ error }, 500))).toMatchInlineSnapshot(`
      exit 1
      ! error [INTERNAL_ERROR]: The service failed on this request. Request: r1.
    `);
  });

  test("text from the service cannot rewrite the terminal", async () => {
    const error = { code: "FORBIDDEN", message: "no\u001b[2Jthing\r\nerror: fake", requestId: "r1" };
    const { stderr } = await whoami(json({ error }, 403));
    expect(stderr).toBe("error [FORBIDDEN]: no\\u001b[2Jthing\\u000d\\u000aerror: fake.\n");
  });
});

describe("with --json a failure is the one document on standard output", () => {
  test("the service's error keeps all its members", async () => {
    const result = await whoami(EXPIRED, "--json");
    expect(result).toMatchInlineSnapshot(`
      exit 1
      {"error":{"code":"INVALID_SESSION","message":"The session has expired.","requestId":"r1","fix":"set SVC_ACCESS_TOKEN to another token, or unset it and sign in: \`svc auth login\`"}}
    `);
  });

  test("one of our own has the envelope's members", async () => {
    const { code, stdout, stderr } = await whoami({ status: 200, body: "no" }, "--json");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchInlineSnapshot(`
      {
        "error": {
          "code": "UNEXPECTED_ANSWER",
          "fix": "check that SVC_API_URL is the address of the service, and that svc is of the same version",
          "message": "<service> answered 200 with no JSON, not as this version of svc expects",
          "requestId": "cli_<random>",
        },
      }
    `);
  });
});

test("--debug adds the stack on standard error", async () => {
  const { url } = await cannedServer(EXPIRED);
  const { stderr } = await svc(["--debug", "whoami"], { env: { ...SESSION, SVC_API_URL: url } });
  expect(stderr).toMatch(/^ {4}at .*api/m);
  expect(stderr).toMatch(/\nerror \[INVALID_SESSION\]: .*\n$/);
});

test("a number with more digits than JavaScript holds passes unchanged, in and out", async () => {
  const body = '{"eventId":"evt_1","accepted":true,"queued":true,"duplicate":false,"n":12345678901234567890}';
  const { url, seen } = await cannedServer({ status: 202, body });
  const argv = ["events", "send", "paid", "--customer", "007", "--props", '{"id": 12345678901234567890}', "--json"];
  const { stdout } = await svc(argv, { env: { SVC_API_URL: url, SVC_API_KEY: "svc_test_x" } });
  expect(seen[0]?.body).toBe('{"customerId":"007","event":"paid","properties":{"id": 12345678901234567890}}');
  expect(stdout).toBe(`${body}\n`);
});

describe("tables", () => {
  const rows = json({
    data: [
      {
        id: "whk_0123456789abcdef0123",
        url: `https://example.com/${"long/".repeat(20)}`,
        eventTypes: ["customer.*", "segment.*"],
        maxEventAge: null,
        maxConcurrency: 10,
        maxPerSecond: null,
        createdAt: "2026-03-01T09:30:00.000Z",
        failingSince: null,
        disabledAt: null,
        disabledReason: null,
      },
    ],
    nextCursor: "abc",
  });
  const argv = ["webhooks", "list", "--project", "p", "--limit", "1"];

  test("fit the terminal, and keep ids whole", async () => {
    const { url } = await cannedServer(rows);
    const env = { ...SESSION, SVC_API_URL: url, NO_COLOR: "1" };
    const { stdout } = await svc(argv, { env, terminal: true, columns: 100 });
    expect(stdout).toMatchInlineSnapshot(`
      "Webhook                   URL                                                      Events    Status
      whk_0123456789abcdef0123  https://example.com/long/long/long/long/long/long/long…  custome…  enabled
      Too narrow for: Created, Limits.
      "
    `);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("are whole where there is no terminal", async () => {
    const { url } = await cannedServer(rows);
    const { stdout, stderr } = await svc(argv, { env: { ...SESSION, SVC_API_URL: url } });
    expect(stdout).toContain("long/".repeat(20));
    expect(stderr).toBe("There are more: add --cursor abc\n");
  });

  test.each([
    ["a terminal", {}, [], true],
    ["NO_COLOR", { NO_COLOR: "1" }, [], false],
    ["--no-color", {}, ["--no-color"], false],
    ["a dumb terminal", { TERM: "dumb" }, [], false],
  ])("have colour or not: %s", async (_what, variables, options, colored) => {
    const { url } = await cannedServer(rows);
    const env = { ...SESSION, SVC_API_URL: url, ...variables };
    const { stdout } = await svc([...argv, ...options], { env, terminal: true });
    expect(stdout.includes("\u001b[")).toBe(colored);
  });
});

/** An address at which something listened a moment ago. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
}
