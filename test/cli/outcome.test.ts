import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokenServer } from "./support/broken-server.js";
import { cannedServer, json } from "./support/canned-server.js";
import type { Canned } from "./support/canned-server.js";
import { CERTIFICATE, KEY } from "./support/certificate.js";
import { svc } from "./support/run-svc.js";

const CREATE = ["keys", "create", "--name", "x"];
const JOB = {
  id: "rec_1",
  status: "completed",
  dry_run: false,
  environment: "test",
  customerId: null,
  pins: { configVersion: "v1" },
  error: null,
  progress: { customersTotal: null, customersDone: 0 },
  result: {},
};
/** What each of the commands reads before it changes something. */
const READ = { ...JOB, data: [{ version: "v1" }], nextCursor: null };

async function errorOf(url: string, argv: readonly string[]): Promise<string> {
  const env = { SVC_API_URL: url, SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
  const { stderr } = await svc([...argv, "--yes", "--project", "shop"], { env });
  return stderr.replaceAll(url, "<service>");
}

describe("where the connection breaks before the answer, nobody knows, and it is said how to see", () => {
  test.each([
    [CREATE, "svc keys list --env test"],
    [["recompute", "--all"], "svc recompute list --env test"],
    [["recompute", "retry", "rec_1"], "svc recompute status rec_1 --env test"],
    [["config", "rollback", "--version", "v1"], "svc config activations --env test"],
    [["customers", "release", "--all"], "svc customers list --set-aside --env test"],
    [["customers", "release", "--customer", "a b"], "svc customers inspect 'a b' --env test"],
  ])("%j", async (argv, seen) => {
    const { url } = await brokenServer({ read: () => json(READ) });
    expect(await errorOf(url, argv)).toBe(
      "error [OUTCOME_UNKNOWN]: <service> cannot be reached (connection closed); " +
        `it is not known whether this was carried out. See for yourself: ${seen}.\n`,
    );
  });
});

describe("where something else than the service answers, nobody knows either", () => {
  const PAGE = { type: "text/html", body: "<html></html>" };
  test.each<Canned>([
    { status: 502, ...PAGE },
    { status: 504, ...PAGE },
    { status: 201, ...PAGE },
    json({ other: true }, 201),
  ])("%j", async (canned) => {
    const { url } = await cannedServer(canned);
    expect(await errorOf(url, CREATE)).toMatch(
      /^error \[OUTCOME_UNKNOWN\]: <service> answered \d{3} with .*See for yourself: svc keys list --env test\.\n$/,
    );
  });

  test.each<Canned>([
    { status: 404, ...PAGE },
    { status: 302, ...PAGE },
    { status: 503, ...PAGE },
  ])("but a refusal it is: %j", async (canned) => {
    const { url } = await cannedServer(canned);
    expect(await errorOf(url, CREATE)).toContain("error [UNEXPECTED_ANSWER]");
  });
});

describe("where nothing was sent, it is said what to mend", () => {
  test("nothing listens there", async () => {
    expect(await errorOf("http://127.0.0.1:1", CREATE)).toMatch(/^error \[SERVICE_UNREACHABLE\].*refused/);
  });

  test("a certificate that is not trusted", async () => {
    const url = await secureServer();
    expect(await errorOf(url, CREATE)).toMatch(/^error \[SERVICE_UNREACHABLE\].*NODE_EXTRA_CA_CERTS/);
  });

  test("an address of https that should be one of http", async () => {
    const plain = (await cannedServer(json({}))).url.replace("http:", "https:");
    expect(await errorOf(plain, CREATE)).toMatch(/^error \[SERVICE_UNREACHABLE\].*http:\/\//);
  });
});

/** A service with a certificate of its own making. */
async function secureServer(): Promise<string> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
