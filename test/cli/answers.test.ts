import { createServer } from "node:http";
import { describe, expect, test } from "vitest";

import { version } from "../../src/cli/core/package.js";
import { type Canned, cannedServer, json, served } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

async function whoami(answer: Canned, ...options: string[]) {
  return svc(["whoami", ...options], { at: (await cannedServer(answer)).url });
}

const EXPIRED = json({ error: { code: "INVALID_SESSION", message: "The session has expired.", requestId: "r1" } }, 401);

describe("a failure is one line that says what to do", () => {
  const error = (code: string, message: string, status: number) =>
    json({ error: { code, message, requestId: "r1" } }, status);
  const page = (status: number, body: string) => ({ status, type: "text/html", body });
  const versioned = (version: string) => json({ info: { title: "svc", version } });

  test("whatever answers", async () => {
    const answers: Canned[] = [
      page(200, "<h1>Hi</h1>"),
      page(502, "Bad Gateway"),
      { status: 302, body: "", headers: { location: "https://example.com/" } },
      json({ email: "ada@example.com" }),
      { status: 200, body: "no" },
      versioned(version()),
      versioned("0.0.9"),
      error("NOT_FOUND", "There is no such path.", 404),
      EXPIRED,
      error("INTERNAL_ERROR", "The service failed on this request.", 500),
      // It cannot rewrite the terminal.
      error("FORBIDDEN", "no\u001b[2Jthing\r\nerror: fake", 403),
    ];
    const errors: string[] = [];
    for (const answer of answers) {
      const { stderr, ...rest } = await whoami(answer);
      expect(rest).toEqual({ code: 1, stdout: "" });
      errors.push(stderr.replaceAll(version(), "<version>"));
    }
    expect(errors.join("")).toMatchInlineSnapshot(`
      "error [UNEXPECTED_ANSWER]: <service> answered 200 with a web page, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc has the same version.
      error [UNEXPECTED_ANSWER]: <service> answered 502 with a web page, not as this version of svc expects. Try again in a moment, and check that SVC_API_URL is the address of the service.
      error [UNEXPECTED_ANSWER]: <service> answered 302 with a redirect, not as this version of svc expects. It redirects to https://example.com/: set SVC_API_URL to the service's own address.
      error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc has the same version.
      error [UNEXPECTED_ANSWER]: <service> answered 200 with no JSON, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc has the same version.
      error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. The service and svc both have version <version>: check what is between them, such as a proxy.
      error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. The service has version 0.0.9, svc <version>: use the svc that came with the service.
      error [UNEXPECTED_ANSWER]: <service> answered 404 with "There is no such path.", not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc has the same version.
      error [INVALID_SESSION]: The session has expired. Set SVC_ACCESS_TOKEN to another token, or unset it and sign in: \`svc auth login\`.
      error [INTERNAL_ERROR]: The service failed on this request. Request: r1.
      error [FORBIDDEN]: no\\u001b[2Jthing\\u000d\\u000aerror: fake.
      "
    `);
  });

  test("an answer without an inner member is not understood if the service has another version, and otherwise a fault in svc", async () => {
    const errorOf = async (theirs: string) => {
      const { url } = await cannedServer(({ url }) =>
        url === "/openapi.json" ? versioned(theirs) : json({ data: [{}], nextCursor: null }),
      );
      const { stderr, ...rest } = await svc(["config", "versions", "--project", "app"], { at: url });
      expect(rest).toEqual({ code: 1, stdout: "" });
      return stderr.replaceAll(version(), "<version>");
    };
    expect(await errorOf("0.0.9")).toMatchInlineSnapshot(`
      "error [UNEXPECTED_ANSWER]: An answer of <service> is not as this version of svc expects (Cannot read properties of undefined (reading 'replace')). The service has version 0.0.9, svc <version>: use the svc that came with the service.
      "
    `);
    expect(await errorOf(version())).toMatch(/^error \[INTERNAL_ERROR\]: .* This is a fault in svc: /);
  });

  test("nor is an item of a stream without a member", async () => {
    const { url } = await cannedServer(({ url }) =>
      url === "/openapi.json"
        ? versioned("0.0.9")
        : { status: 200, type: "text/event-stream", body: "id: 1\nevent: event\ndata: {}\n\n" },
    );
    const { code, stderr } = await svc(["events", "tail", "--project", "app"], { at: url });
    expect([code, stderr]).toEqual([1, expect.stringContaining("The service has version 0.0.9, svc ")]);
  });

  test("nothing listens there, or a server that closes every connection, does not speak TLS, or changes the protocol", async () => {
    const errorOf = async (at: string) => (await svc(["whoami"], { at })).stderr;
    expect(await errorOf("http://127.0.0.1:1")).toBe(
      "error [SERVICE_UNREACHABLE]: <service> cannot be reached (connection refused). Start the service, or set SVC_API_URL to its address.\n",
    );
    const closing = createServer().on("connection", (socket) => socket.destroy());
    expect(await errorOf(await served(closing))).toContain("cannot be reached (connection closed). Start");
    const upgrade = { status: 101, body: "", headers: { connection: "upgrade", upgrade: "websocket" } };
    expect(await errorOf((await cannedServer(upgrade)).url)).toContain("switches to another protocol (101)). Start");
    expect(await errorOf((await cannedServer(EXPIRED)).url.replace("http:", "https:"))).toBe(
      "error [SERVICE_UNREACHABLE]: <service> cannot be reached (that port does not speak TLS). Begin its address with http:// in SVC_API_URL.\n",
    );
  });
});

test("--debug adds the stack on standard error", async () => {
  const { url } = await cannedServer(EXPIRED);
  const { stderr } = await svc(["--debug", "whoami"], { at: url });
  expect(stderr).toMatch(/^ {4}at .*api/m);
  expect(stderr).toMatch(/\nerror \[INVALID_SESSION\]: .*\n$/);
});

test("a number with more digits than JavaScript can hold passes unchanged, in and out", async () => {
  const body = '{"eventId":"evt_1","accepted":true,"queued":true,"duplicate":false,"n":12345678901234567890}';
  const { url, seen } = await cannedServer({ status: 202, body });
  const argv = ["events", "send", "paid", "--customer", "007", "--props", '{"id": 12345678901234567890}', "--json"];
  const { stdout } = await svc(argv, { env: { SVC_API_URL: url, SVC_API_KEY: "svc_test_x" } });
  expect(seen[0]?.body).toBe('{"customerId":"007","event":"paid","properties":{"id": 12345678901234567890}}');
  expect(stdout).toBe(`${body}\n`);
});

describe("tables", () => {
  const webhook = {
    ...{ id: "whk_0123456789abcdef0123", url: `https://example.com/${"long/".repeat(20)}` },
    ...{ eventTypes: ["customer.*", "segment.*"], maxEventAge: null, maxConcurrency: 10, maxPerSecond: null },
    ...{ createdAt: "2026-03-01T09:30:00.000Z", failingSince: null, disabledAt: null, disabledReason: null },
  };
  const rows = json({ data: [webhook], nextCursor: "abc" });
  const argv = ["webhooks", "list", "--project", "p", "--limit", "1"];

  test("fit the terminal, and do not cut ids", async () => {
    const { url } = await cannedServer(rows);
    const { stdout } = await svc(argv, { at: url, env: { NO_COLOR: "1" }, terminal: true, columns: 100 });
    expect(stdout).toMatchInlineSnapshot(`
      "Webhook                   URL                                                      Events    Status
      whk_0123456789abcdef0123  https://example.com/long/long/long/long/long/long/long…  custome…  enabled
      The terminal is too narrow for: Include, Format, Created, Limits.
      "
    `);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("are not cut if there is no terminal", async () => {
    const { url } = await cannedServer(rows);
    const { stdout, stderr } = await svc(argv, { at: url });
    expect(stdout).toContain("long/".repeat(20));
    expect(stderr).toBe("There are more: add --cursor abc\n");
  });

  test.each([
    ["a terminal", {}, [], true],
    ["NO_COLOR", { NO_COLOR: "1" }, [], false],
    ["--no-color", {}, ["--no-color"], false],
    ["a dumb terminal", { TERM: "dumb" }, [], false],
  ])("are coloured or not: %s", async (_what, variables, options, colored) => {
    const { url } = await cannedServer(rows);
    const { stdout } = await svc([...argv, ...options], { at: url, env: variables, terminal: true });
    expect(stdout.includes("\u001b[")).toBe(colored);
  });
});
