import { readdir } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { version } from "../../src/cli/core/package.js";
import { project } from "../dsl-compiler/project.js";
import { authorizationServer, GRANTED, refused, type Script, TOKEN } from "./support/authorization-server.js";
import { json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

/** Signs in at a service that answers by a script, and returns what was printed after the instructions. */
async function login(script: Script, argv: readonly string[] = []) {
  const { url, seen } = await authorizationServer(script);
  const home = path.join(await project({}), "svc");
  const { code, stdout, stderr } = await svc(["auth", "login", ...argv], {
    env: { SVC_API_URL: url },
    configDirectory: home,
  });
  const shown = (text: string) =>
    text
      .replaceAll(url, "<service>")
      .replaceAll(version(), "<version>")
      .replace(/^[^]*Ctrl\+C stops waiting\.\n/, "");
  return { code, stdout: shown(stdout), stderr: shown(stderr), asked: seen.map((request) => request.url), home, seen };
}

const PENDING = refused("authorization_pending");

describe("waiting for the approval", () => {
  test("goes on until somebody has decided", async () => {
    const { code, asked } = await login({ token: [PENDING, PENDING, PENDING, GRANTED] });
    expect(code).toBe(0);
    expect(asked).toEqual([
      "/oauth/device_authorization",
      ...Array.from({ length: 4 }, () => "/oauth/token"),
      "/organizations?limit=200",
      "/whoami",
    ]);
  });

  test("outlasts a service that is away for a while, and says so once", async () => {
    const busy = refused("temporarily_unavailable", { "retry-after": "0" }, 503);
    const failed = refused("server_error", {}, 500);
    const { code, stderr } = await login({ token: [busy, failed, PENDING, busy, GRANTED] });
    expect(code).toBe(0);
    expect(stderr).toMatchInlineSnapshot(`
      "It was refused: temporarily_unavailable. Trying again until the code expires.
      It was refused: temporarily_unavailable. Trying again until the code expires.
      "
    `);
  });

  test("ends with the codes", async () => {
    const { code, stderr, home } = await login({ token: [refused("expired_token")] });
    expect({ code, stderr }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "error [SIGN_IN_EXPIRED]: Nobody approved the sign-in in time, and its code has expired. Sign in again: \`svc auth login\`.
      ",
      }
    `);
    expect(await readdir(home)).toEqual([]);
    expect((await login({ token: [PENDING], codes: { expires_in: 0.05 } })).stderr).toBe(stderr);
  });

  test("ends where the service refuses", async () => {
    expect((await login({ token: [refused("invalid_grant")] })).stderr).toMatchInlineSnapshot(`
      "error [SIGN_IN_FAILED]: The service refused: It was refused: invalid_grant. Sign in again: \`svc auth login\`.
      "
    `);
  });
});

describe("it is not begun", () => {
  test("where the service has no sign-in for programs", async () => {
    const begin = json({ error: { code: "NOT_FOUND", message: "There is no such path." } }, 404);
    expect((await login({ begin })).stderr).toMatchInlineSnapshot(`
      "error [UNEXPECTED_ANSWER]: <service> answered 404 with JSON of another shape, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc is of the same version.
      "
    `);
  });

  test("where the service is of another version", async () => {
    const other: Script["other"] = ({ url }) =>
      url === "/openapi.json" ? json({ openapi: "3.1.1", info: { title: "svc", version: "0.0.9" } }) : undefined;
    expect((await login({ begin: json({ codes: [] }), other })).stderr).toMatchInlineSnapshot(`
      "error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. The service is of version 0.0.9, svc of <version>: use the svc that came with the service.
      "
    `);
  });

  test("where a proxy answers", async () => {
    const begin = { status: 502, type: "text/html", body: "<h1>Bad Gateway</h1>" };
    expect((await login({ begin })).stderr).toMatchInlineSnapshot(`
      "error [SIGN_IN_FAILED]: <service> answered 502. Try again in a moment.
      "
    `);
  });

  test("where too many were", async () => {
    const begin = refused("temporarily_unavailable", { "retry-after": "7" }, 429);
    expect((await login({ begin })).stderr).toMatchInlineSnapshot(`
      "error [SIGN_IN_FAILED]: It was refused: temporarily_unavailable. Try again in 7 seconds.
      "
    `);
  });

  test("where nothing listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise((resolve) => server.close(resolve));
    const { code, stderr } = await svc(["auth", "login"], { env: { SVC_API_URL: url } });
    expect({ code, stderr: stderr.replaceAll(url, "<service>") }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "error [SERVICE_UNREACHABLE]: <service> cannot be reached (connection refused). Start the service, or set SVC_API_URL to its address.
      ",
      }
    `);
  });
});

describe("the token", () => {
  test("is never printed, not even where it cannot be used", async () => {
    const odd = json({ access_token: TOKEN, token_type: "odd", expires_in: 60 });
    const { code, stdout, stderr } = await login({ token: [odd] }, ["--debug"]);
    expect(code).toBe(1);
    expect(stderr).toContain("error [UNEXPECTED_ANSWER]");
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test.each([
    ["the user is in no organization", { organizations: [] }],
    ["the organizations cannot be read", { other: ({ url }) => (url.startsWith("/organ") ? json({}) : undefined) }],
  ] satisfies [string, Script][])("is ended where %s", async (_what, script) => {
    const { code, stderr, seen } = await login(script);
    expect({ code, stderr }).toMatchSnapshot();
    expect(seen.find(({ url }) => url === "/oauth/revoke")?.body).toContain(`token=${TOKEN}`);
  });

  test("that cannot be ended is told of", async () => {
    const { stderr } = await login({ organizations: [], revoke: refused("server_error", {}, 500) });
    expect(stderr).toMatchInlineSnapshot(`
      "The token that was made could not be revoked (It was refused: server_error): it stays good until it expires.
      error [ORGANIZATION_REQUIRED]: You are in no organization. Ask an owner of an organization to invite you, then sign in again.
      "
    `);
  });
});

test("what the service shows cannot rewrite the terminal", async () => {
  const { url } = await authorizationServer({
    codes: {
      user_code: "A\u001b[2J",
      verification_uri: "http://x/\u001b]0;",
      verification_uri_complete: "http://x/\r",
    },
  });
  const { stderr } = await svc(["auth", "login"], { env: { SVC_API_URL: url } });
  // eslint-disable-next-line no-control-regex
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  expect(stderr).toContain("\\u001b[2J");
});
