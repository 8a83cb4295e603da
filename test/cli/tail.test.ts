import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { served } from "./support/canned-server.js";
import { ended, start } from "./support/program.js";
import { type RunOptions, svc } from "./support/run-svc.js";
import { running } from "./support/running.js";

type Connection = (response: ServerResponse, request: IncomingMessage) => void;

/** A service with one handler per connection, in turn, and no further ones; records each connection's Last-Event-ID. */
async function scripted(...connections: Connection[]): Promise<{ url: string; lastIds: (string | undefined)[] }> {
  const lastIds: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const connection = connections[lastIds.length];
    lastIds.push(request.headers["last-event-id"] as string | undefined);
    connection?.(response, request);
  });
  return { url: await served(server), lastIds };
}

function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 1000\n\n${text}`);
}

function event(id: string, properties = "{}"): string {
  const item = `{"id":"${id}","customerId":"cus_1","event":"login","properties":${properties},"occurredAt":"2026-03-14T09:59:00.000Z","status":"pending"}`;
  return `id: ${id}\nevent: event\ndata: ${item}\n\n`;
}

const tail = (at: string, ...argv: string[]) =>
  running((options: RunOptions) => svc(["events", "tail", "--project", "shop", ...argv], { ...options, at }));

const refused = (code: string, message: string) => JSON.stringify({ error: { code, message, requestId: "req" } });
const ENDED = refused("INVALID_SESSION", "The access token is missing, unknown, expired or revoked.");

test("a lost connection is resumed where it was: no event is missed or repeated", async () => {
  const { url, lastIds } = await scripted(
    // Lost before the first event, and in the middle of one.
    (response) => {
      stream(response, "id: evt_1\ndata:\n\n");
      setImmediate(() => response.destroy());
    },
    (response) => {
      stream(response, `${event("evt_2")}${event("evt_3").slice(0, 60)}`);
      setImmediate(() => response.destroy());
    },
    (response) => {
      response.writeHead(503, { "content-type": "application/json" });
      response.end(refused("SERVICE_UNAVAILABLE", "The service has too much to do."));
    },
    // Ended by the service, as when it restarts.
    (response) => {
      stream(response, event("evt_3"));
      response.end();
    },
    (response) => {
      stream(response, event("evt_4"));
    },
  );
  const run = tail(url);
  await run.prints("2026-03-14 10:59:00 +01:00  cus_1  login\n".repeat(3));
  run.interrupt();
  const { code, stdout, stderr } = await run.result;
  expect(lastIds).toEqual([undefined, "evt_1", "evt_2", "evt_2", "evt_3"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "2026-03-14 10:59:00 +01:00  cus_1  login\n".repeat(3) });
  expect(stderr).toMatchInlineSnapshot(`
    "Waiting for events in test of shop. Ctrl+C stops.
    The connection to the service was lost; reconnecting …
    Reconnected.
    The connection to the service was lost; reconnecting …
    Reconnected.
    The connection to the service was lost; reconnecting …
    Reconnected.
    "
  `);
}, 20_000);

test("with --json each event is a line, with all digits of its numbers", async () => {
  const { url } = await scripted((response) => stream(response, event("evt_1", '{"n":12345678901234567890.10}')));
  const run = tail(url, "--json");
  await run.prints("\n");
  run.interrupt();
  const { code, stdout } = await run.result;
  expect({ code, stdout }).toMatchInlineSnapshot(`
    {"id":"evt_1","customerId":"cus_1","event":"login","properties":{"n":12345678901234567890.10},"occurredAt":"2026-03-14T09:59:00.000Z","status":"pending"}
  `);
});

test("a refusal by the service while it runs ends it, with the reason", async () => {
  const { url } = await scripted((response) => {
    stream(response, `${event("evt_1")}event: error\ndata: ${ENDED}\n\n`);
    response.end();
  });
  expect(await tail(url).result).toMatchInlineSnapshot(`
    exit 1
    ! Waiting for events in test of shop. Ctrl+C stops.
    ! error [INVALID_SESSION]: The access token is missing, unknown, expired or revoked. Set SVC_ACCESS_TOKEN to another token, or unset it and sign in: \`svc auth login\`.
    2026-03-14 10:59:00 +01:00  cus_1  login
  `);
});

test("with --json the refusal is the last line; with a session, it advises to sign in again", async () => {
  const { url } = await scripted(
    ...Array.from({ length: 2 }, (): Connection => (response) => stream(response, `event: error\ndata: ${ENDED}\n\n`)),
  );
  const { code, stdout } = await tail(url, "--json").result;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INVALID_SESSION" } });
  const configDirectory = await project({});
  const session = {
    ...{ accessToken: "svc_token_x", expiresAt: "2026-04-01T00:00:00.000Z", email: "ada@acme.example" },
    organization: { id: "org_1", slug: "acme" },
  };
  const text = JSON.stringify({ sessions: { [url]: session } });
  await writeFile(path.join(configDirectory, "session.json"), text, { mode: 0o600 });
  const argv = ["events", "tail", "--project", "shop"];
  expect((await svc(argv, { configDirectory, env: { SVC_API_URL: url } })).stderr).toMatch(
    /\[INVALID_SESSION\]: The access token is missing, unknown, expired or revoked. Sign in again: `svc auth login`\.\n$/,
  );
});

test("control characters in events and in messages of the service do not reach the terminal", async () => {
  const error = refused("SERVICE_UNAVAILABLE", "Too \u001b[2Jmuch\u061c\u200b\u200e\u200f\u2060\ufeff to do.");
  const { url } = await scripted((response) => {
    const hostile = event("evt_1", '{"n":"\\u001b[2J"}').replace("cus_1", "a\\u001b[2Jb");
    stream(response, `${hostile}event: error\ndata: ${error}\n\n`);
    response.end();
  });
  const run = tail(url);
  await run.says("reconnecting");
  run.interrupt();
  const { stdout, stderr } = await run.result;
  expect(stdout).toBe('2026-03-14 10:59:00 +01:00  a\\u001b[2Jb  login  {"n":"\\u001b[2J"}\n');
  expect(stderr).toMatchInlineSnapshot(`
    "Waiting for events in test of shop. Ctrl+C stops.
    Too \\u001b[2Jmuch\\u061c\\u200b\\u200e\\u200f\\u2060\\ufeff to do.; reconnecting …
    "
  `);
});

test("does not wait for a service that was never reached, and reports an answer that is no event stream", async () => {
  const { code, stderr } = await tail("http://127.0.0.1:1").result;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error \[SERVICE_UNREACHABLE\]: <service> cannot be reached \(connection refused\)\..*\n$/);
  const { url } = await scripted((response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html></html>");
  });
  expect((await tail(url).result).stderr).toMatch(
    /^error \[UNEXPECTED_ANSWER\]: <service> answered 200 with something other than text\/event-stream, not as .*\n$/,
  );
});

/** The program as users run it. */
const spawned = (at: string, ...argv: string[]) => start(["events", "tail", "--project", "p", ...argv], { at });

test("SIGTERM ends the process with exit code 0, whatever the service does", async () => {
  const { url } = await scripted((response) => stream(response, event("evt_1")));
  const child = spawned(url, "--json");
  child.stdout.once("data", () => child.kill("SIGTERM"));
  const { code, stdout, stderr } = await ended(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Waiting for events in test of p. Ctrl+C stops.\n" });
  expect(JSON.parse(stdout)).toMatchObject({ id: "evt_1" });
});

test("ends when the reader of the pipe ends", async () => {
  const { url } = await scripted((response) => {
    stream(response, event("evt_1"));
    const timer = setInterval(() => response.write(event("evt_2")), 10);
    response.once("close", () => clearInterval(timer));
  });
  const child = spawned(url);
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
});
