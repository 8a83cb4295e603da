import { rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { version } from "../../src/cli/core/package.js";
import { project } from "../dsl-compiler/project.js";
import { authorizationServer, GRANTED, refused, type Script, TOKEN } from "./support/authorization-server.js";
import { json } from "./support/canned-server.js";
import { type RunOptions, steady, svc } from "./support/run-svc.js";

/** Signs in at a service with scripted answers; returns the output after the instructions. */
async function login(script: Script, argv: readonly string[] = [], options: RunOptions = {}) {
  const { url, seen } = await authorizationServer(script);
  const home = path.join(await project({}), "svc");
  const env = { SVC_API_URL: url, NO_COLOR: "1", ...options.env };
  const result = await svc(["auth", "login", ...argv], { configDirectory: home, ...options, env });
  const shown = steady(result, [
    [url, "<service>"],
    [options.configDirectory ?? home, "<config>"],
    [version(), "<version>"],
    [/^[^]*Ctrl\+C stops waiting\.\n/g, ""],
  ]);
  const isRevoked = seen.some(({ url, body }) => url === "/oauth/revoke" && body.includes(`token=${TOKEN}`));
  return { ...shown, asked: seen.map((request) => request.url), isRevoked, home };
}

/** The error of a failed sign-in. */
async function failure(...given: Parameters<typeof login>): Promise<string> {
  const { code, stdout, stderr } = await login(...given);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  return stderr;
}

const PENDING = refused("authorization_pending");

describe("waiting for the approval", () => {
  test("continues until the request is approved or denied", async () => {
    const { code, asked } = await login({ token: [PENDING, PENDING, PENDING, GRANTED] });
    expect(code).toBe(0);
    expect(asked).toEqual([
      "/oauth/device_authorization",
      ...Array.from({ length: 4 }, () => "/oauth/token"),
      "/organizations?limit=200",
      "/whoami",
    ]);
  });

  test("slows down if the service says that it polls too often", async () => {
    const begun = performance.now();
    expect((await login({ token: [refused("slow_down"), GRANTED] })).code).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(5_000);
  });

  test("survives a service that is temporarily unavailable, and says so once", async () => {
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

  test("ends when the codes expire, and if the service refuses", async () => {
    const EXPIRED =
      "error [SIGN_IN_EXPIRED]: Nobody approved the sign-in in time, and its code has expired. Sign in again: `svc auth login`.\n";
    const { stderr, home } = await login({ token: [refused("expired_token")] });
    expect(stderr).toBe(EXPIRED);
    expect(await readdir(home)).toEqual([]);
    expect(await failure({ token: [PENDING], codes: { expires_in: 0.05 } })).toBe(EXPIRED);
    expect(await failure({ token: [refused("access_denied")] })).toBe(
      "error [SIGN_IN_DENIED]: The sign-in was denied in the browser. Sign in again: `svc auth login`.\n",
    );
    expect(await failure({ token: [refused("invalid_grant")] })).toBe(
      "error [SIGN_IN_FAILED]: The service refused: It was refused: invalid_grant. Sign in again: `svc auth login`.\n",
    );
  });
});

test("does not start if the service has no sign-in for programs or another version, is busy, or is not there", async () => {
  const notFound = { error: { code: "NOT_FOUND", message: "There is no such path." } };
  const scripts: Script[] = [
    { begin: json(notFound, 404) },
    {
      begin: json({ codes: [] }),
      other: ({ url }) => (url === "/openapi.json" ? json({ info: { title: "svc", version: "0.0.9" } }) : undefined),
    },
    { begin: { status: 502, type: "text/html", body: "<h1>Bad Gateway</h1>" } },
    { begin: refused("temporarily_unavailable", { "retry-after": "7" }, 429) },
  ];
  let errors = "";
  for (const script of scripts) errors += await failure(script);
  errors += (await svc(["auth", "login"], { env: { SVC_API_URL: "http://127.0.0.1:1" } })).stderr;
  expect(errors).toMatchInlineSnapshot(`
    "error [UNEXPECTED_ANSWER]: <service> answered 404 with JSON of another shape, not as this version of svc expects. Check that SVC_API_URL is the address of the service, and that svc has the same version.
    error [UNEXPECTED_ANSWER]: <service> answered 200 with JSON of another shape, not as this version of svc expects. The service has version 0.0.9, svc <version>: use the svc that came with the service.
    error [SIGN_IN_FAILED]: <service> answered 502. Try again in a moment.
    error [SIGN_IN_FAILED]: It was refused: temporarily_unavailable. Try again in 7 seconds.
    error [SERVICE_UNREACHABLE]: http://127.0.0.1:1 cannot be reached (connection refused). Start the service, or set SVC_API_URL to its address.
    "
  `);
});

describe("the token", () => {
  test("is never printed, not even if it cannot be used", async () => {
    const odd = json({ access_token: TOKEN, token_type: "odd", expires_in: 60 });
    const stderr = await failure({ token: [odd] }, ["--debug"]);
    expect(stderr).toContain("error [UNEXPECTED_ANSWER]");
    expect(stderr).not.toContain(TOKEN);
  });

  test.each([
    ["the user is in no organization", { organizations: [] }],
    ["the organizations cannot be read", { other: ({ url }) => (url.startsWith("/organ") ? json({}) : undefined) }],
  ] satisfies [string, Script][])("is ended where %s", async (_what, script) => {
    const { code, stderr, isRevoked } = await login(script);
    expect({ code, stderr }).toMatchSnapshot();
    expect(isRevoked).toBe(true);
  });

  test("is revoked if the session cannot be stored in the end", async () => {
    const home = path.join(await project({}), "svc");
    const granted = () => {
      rmSync(home, { recursive: true });
      writeFileSync(home, "");
      return GRANTED;
    };
    const { code, stderr, isRevoked } = await login({ token: [granted] }, [], { configDirectory: home });
    expect({ code, stderr, isRevoked }).toEqual({
      code: 1,
      stderr:
        "error [SESSION_NOT_SAVED]: A session cannot be kept in <config> (EEXIST). Make it a directory that you may write to, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.\n",
      isRevoked: true,
    });
  });

  test("that cannot be revoked is reported", async () => {
    expect(await failure({ organizations: [], revoke: refused("server_error", {}, 500) })).toBe(
      "The new token could not be revoked (It was refused: server_error): it stays valid until it expires.\n" +
        "error [ORGANIZATION_REQUIRED]: You are in no organization. Ask an owner of an organization to invite you, then sign in again.\n",
    );
  });
});

describe("with several organizations", () => {
  const two = ["acme", "initech"].map((slug, n) => ({ id: `org_${n + 1}`, slug, role: "owner" }));
  const several = (argv: string[], options?: RunOptions) => login({ organizations: two }, argv, options);

  test.each(["initech", "org_2"])("takes the one named by slug or id: %s", async (name) => {
    expect((await several(["--organization", name])).stdout).toContain("organization initech (org_2), until");
  });

  test("asks for one on a terminal; if none is chosen, the token is revoked", async () => {
    const { stdout, stderr } = await several([], { terminal: true, input: "2\r" });
    expect(stdout).toContain("organization initech");
    expect(stderr).toContain("You are in several organizations:\n  1  acme (org_1)\n  2  initech (org_2)\n");
    expect(stderr).toContain("Which one to work in? (1–2) ");
    const none = await several([], { terminal: true, input: "\u0003" });
    expect(none.stderr).toMatch(/error \[CANCELLED\]: Cancelled, nothing was changed\.\n$/);
    expect(none.isRevoked).toBe(true);
  });

  test.each([
    ["if there is no terminal", [], "You are in 2 organizations"],
    ["if the user is not in the named one", ["--organization", "hooli"], 'You are in no organization "hooli"'],
  ])("lists them %s", async (_where, argv, error) => {
    expect(await several(argv)).toMatchObject({
      code: 1,
      stderr: `error [ORGANIZATION_REQUIRED]: ${error}. Sign in with --organization and one of: acme (org_1), initech (org_2).\n`,
      isRevoked: true,
    });
  });
});

test("the token of SVC_ACCESS_TOKEN takes precedence over the session, and sign-in says so", async () => {
  const env = { SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };
  expect((await login({}, [], { env })).stderr).toBe(
    "SVC_ACCESS_TOKEN is set and takes precedence over this session: unset it to work with the session.\n",
  );
});

test("texts of the service cannot rewrite the terminal", async () => {
  const { url } = await authorizationServer({
    codes: {
      user_code: "A\u001b[2J",
      verification_uri: "http://x/\u001b]0;",
      verification_uri_complete: "http://x/\r",
    },
  });
  const { stderr } = await svc(["auth", "login"], { env: { SVC_API_URL: url } });
  // oxlint-disable-next-line no-control-regex
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  expect(stderr).toContain("\\u001b[2J");
});
