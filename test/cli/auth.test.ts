import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";

import { hashCredential } from "../../src/http/request/credentials.js";
import { startOAuthService, type OAuthService } from "../http/oauth/fixture.js";
import type { Actor } from "../support/service.js";
import { type RunOptions, svc } from "./support/run-svc.js";

// Sign-ins against the real service, at the same time: each waits five seconds before it asks whether it was approved.

let service: OAuthService;
let root: string;
beforeAll(async () => {
  service = await startOAuthService();
  root = await mkdtemp(path.join(tmpdir(), "svc-auth-"));
});
afterAll(async () => {
  await service.stop();
  await rm(root, { recursive: true, force: true });
});

interface Person {
  owner: Actor;
  /** A folder for sessions, which is not there yet. */
  home: string;
}

/** An owner of an organization, at a machine where nobody has signed in. */
async function person(slug: string): Promise<Person> {
  return { owner: await service.owner(slug), home: path.join(root, slug, "config", "svc") };
}

/** Runs a command against the service; what differs from run to run is replaced. */
async function run({ owner, home }: Person, argv: readonly string[], options: RunOptions = {}) {
  const env = { SVC_API_URL: service.url, ...options.env };
  const result = await svc(argv, { ...options, configDirectory: home, env });
  const shown = (text: string) =>
    text
      .replaceAll(service.url, "<service>")
      .replaceAll(home, "<config>")
      .replaceAll(owner.organizationId, "<org>")
      .replaceAll(/org_[0-9a-z]{20,}/g, "<other>")
      .replaceAll(/\b[A-Z]{4}-[A-Z]{4}\b/g, "<code>");
  return { code: result.code, stdout: shown(result.stdout), stderr: shown(result.stderr) };
}

interface LoginOptions extends RunOptions {
  decision?: "approve" | "deny";
  /** Done when the code is shown, before the person decides. */
  first?: (userCode: string) => Promise<unknown>;
}

/** Signs in; the person decides at a browser as soon as the code is shown. */
async function login(who: Person, argv: readonly string[] = [], options: LoginOptions = {}) {
  const { decision = "approve", first, ...more } = options;
  let decided: Promise<unknown> | undefined;
  const decide = async (userCode: string) => {
    await first?.(userCode);
    const browser = await service.browser(who.owner);
    await browser.get("/device");
    await browser.submit("/device", { user_code: userCode, decision });
  };
  const result = await run(who, ["auth", "login", ...argv], {
    ...more,
    onStderr: (text) => {
      const code = /approve the code .*?([A-Z]{4}-[A-Z]{4})/.exec(text)?.[1];
      if (code !== undefined) decided ??= decide(code);
    },
  });
  await decided;
  return result;
}

/** What it printed after the instructions. */
function afterInstructions({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) {
  return { code, stdout, stderr: stderr.replace(/^[^]*Ctrl\+C stops waiting\.\n/, "") };
}

interface Kept {
  accessToken: string;
}

async function sessionOf({ home }: Person): Promise<Kept | undefined> {
  const { sessions } = JSON.parse(await readFile(path.join(home, "session.json"), "utf8")) as {
    sessions: Record<string, Kept>;
  };
  return sessions[service.url];
}

async function isGood({ owner }: Person, session: Kept | undefined): Promise<boolean> {
  const by = { ...owner, token: session?.accessToken ?? "" };
  return (await service.request("GET", "/whoami", { by })).status === 200;
}

/** How many tokens the person has of sign-ins that are good. */
async function goodTokens({ owner }: Person): Promise<number> {
  const [row] = await service.db.sql<[{ n: number }]>`
    select count(*)::integer as n from iam.access_tokens
    where kind = 'session' and revoked_at is null
      and user_id = (select user_id from iam.access_tokens where token_hash = ${hashCredential(owner.token)})`;
  return row.n;
}

/** Makes the person a viewer in somebody else's organization. */
async function join({ owner }: Person, other: Actor): Promise<void> {
  await service.db.sql`
    insert into iam.memberships (organization_id, user_id, role)
    select ${other.organizationId}, user_id, 'viewer' from iam.access_tokens where token_hash = ${hashCredential(owner.token)}`;
}

describe.concurrent("signing in", () => {
  test("shows the code, waits for the approval and keeps the session where nobody else reads it; signing out ends it", async ({
    expect,
  }) => {
    const ada = await person("acme");
    expect(await login(ada)).toMatchInlineSnapshot(`
      ! To sign in to <service>, open this address and approve the code <code>:
      !
      !   <service>/device?user_code=<code>
      !
      ! On another device, open <service>/device and type the code.
      ! The code is good for 10 minutes. Ctrl+C stops waiting.
      Signed in to <service> as owner@acme.example, organization acme (<org>), until 2026-06-12 12:00:00 +02:00 (in 90 days).
    `);
    expect((await stat(ada.home)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(ada.home, "session.json"))).mode & 0o777).toBe(0o600);
    const session = await sessionOf(ada);
    expect(session).toEqual({
      accessToken: expect.stringMatching(/^svc_token_/) as string,
      expiresAt: "2026-06-12T10:00:00.000Z",
      organization: { id: ada.owner.organizationId, slug: "acme" },
      email: "owner@acme.example",
    });
    expect(await isGood(ada, session)).toBe(true);

    expect(await run(ada, ["whoami"])).toMatchInlineSnapshot(`
      User          owner@acme.example
      Organization  acme (<org>), as owner
      API           <service>
      Signed in     until 2026-06-12 12:00:00 +02:00 (in 90 days)
    `);
    expect((await run(ada, ["whoami", "--json"])).stdout).toMatchInlineSnapshot(`
      "{"user":{"email":"owner@acme.example"},"organization":{"id":"<org>","slug":"acme","role":"owner"},"api":{"url":"<service>"},"credentials":{"from":"session","expiresAt":"2026-06-12T10:00:00.000Z"},"organizations":[{"id":"<org>","slug":"acme","role":"owner"}]}
      "
    `);

    expect(await run(ada, ["auth", "logout"])).toMatchInlineSnapshot(`
      Signed out of <service>.
    `);
    expect(await isGood(ada, session)).toBe(false);
    expect(await sessionOf(ada)).toBeUndefined();
    expect(await run(ada, ["whoami"])).toMatchInlineSnapshot(`
      exit 1
      ! error [NOT_SIGNED_IN]: You are not signed in to <service>. Sign in: \`svc auth login\`; where nobody can, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
    `);
    expect(await run(ada, ["auth", "logout"])).toMatchInlineSnapshot(`
      There is no session at <service>.
    `);
  });

  test("again replaces the session, and ends the one before", async ({ expect }) => {
    const ada = await person("again");
    await login(ada);
    const before = await sessionOf(ada);
    expect((await login(ada, ["--no-browser"])).stderr).toMatchInlineSnapshot(`
      "You are signed in to <service> as owner@again.example, organization again. Signing in again replaces that session.
      To sign in to <service>, open this address and approve the code <code>:

        <service>/device?user_code=<code>

      On another device, open <service>/device and type the code.
      The code is good for 10 minutes. Ctrl+C stops waiting.
      "
    `);
    expect(await isGood(ada, before)).toBe(false);
    expect(await isGood(ada, await sessionOf(ada))).toBe(true);
    expect(await goodTokens(ada)).toBe(1);
  });

  test("prints one document with --json, without the token", async ({ expect }) => {
    const ada = await person("json");
    expect((await login(ada, ["--json"])).stdout).toMatchInlineSnapshot(`
      "{"user":{"email":"owner@json.example"},"organization":{"id":"<org>","slug":"json","role":"owner"},"api":{"url":"<service>"},"expiresAt":"2026-06-12T10:00:00.000Z"}
      "
    `);
    expect((await run(ada, ["auth", "logout", "--json"])).stdout).toMatchInlineSnapshot(`
      "{"api":{"url":"<service>"},"session":true,"revoked":true}
      "
    `);
  });

  test("that is denied leaves nothing behind", async ({ expect }) => {
    const ada = await person("denied");
    expect(afterInstructions(await login(ada, [], { decision: "deny" }))).toMatchInlineSnapshot(`
      exit 1
      ! error [SIGN_IN_DENIED]: The sign-in was denied in the browser. Sign in again: \`svc auth login\`.
    `);
    await expect(stat(path.join(ada.home, "session.json"))).rejects.toThrow("ENOENT");
    expect(await goodTokens(ada)).toBe(0);
  });

  test("waits longer where the service says that it asks too often", async ({ expect }) => {
    const ada = await person("slow");
    // As if it had asked in two seconds from now: its first question comes too early, and so does each that waits no longer than that.
    const first = (userCode: string) => service.db.sql`
      update iam.device_authorizations set last_polled_at = now() + interval '2 seconds'
      where user_code = ${userCode.replace("-", "")}`;
    expect((await login(ada, [], { first })).code).toBe(0);
  });

  test("ends the token where the session cannot be kept after all", async ({ expect }) => {
    const ada = await person("unkept");
    const first = async () => {
      await rm(ada.home, { recursive: true });
      await writeFile(ada.home, "");
    };
    expect(afterInstructions(await login(ada, [], { first }))).toMatchInlineSnapshot(`
      exit 1
      ! error [SESSION_NOT_SAVED]: A session cannot be kept in <config> (EEXIST). Make it a directory that you may write to, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
    `);
    expect(await goodTokens(ada)).toBe(0);
  });
});

describe.concurrent("of several organizations", () => {
  test("one is named, by its slug or its id", async ({ expect }) => {
    const ada = await person("named");
    const other = await service.owner("named-two");
    await join(ada, other);
    expect(afterInstructions(await login(ada, ["--organization", "named-two"]))).toMatchInlineSnapshot(`
      Signed in to <service> as owner@named.example, organization named-two (<other>), until 2026-06-12 12:00:00 +02:00 (in 90 days).
    `);
    expect(await run(ada, ["whoami"])).toMatchInlineSnapshot(`
      User          owner@named.example
      Organization  named-two (<other>), as viewer
      API           <service>
      Signed in     until 2026-06-12 12:00:00 +02:00 (in 90 days)
      Also in       named (<org>)
    `);
    await login(ada, ["--organization", ada.owner.organizationId]);
    expect((await run(ada, ["whoami"])).stdout).toContain("Organization  named (<org>), as owner");
  });

  test("one is asked for on a terminal", async ({ expect }) => {
    const ada = await person("asked");
    await join(ada, await service.owner("asked-two"));
    const env = { NO_COLOR: "1" };
    const { code, stdout, stderr } = afterInstructions(await login(ada, [], { terminal: true, input: "2\r", env }));
    expect(code).toBe(0);
    expect(stdout).toContain("organization asked-two");
    expect(stderr).toContain("You are in several organizations:\n  1  asked (<org>)\n  2  asked-two (<other>)\n");
    expect(stderr).toContain("Which one to work in? (1–2) ");
  });

  test("none is chosen: the token is ended", async ({ expect }) => {
    const ada = await person("unchosen");
    await join(ada, await service.owner("unchosen-two"));
    const result = afterInstructions(await login(ada, [], { terminal: true, input: "\u0003", env: { NO_COLOR: "1" } }));
    expect(result.stderr).toMatch(/error \[CANCELLED\]: Cancelled, nothing was changed\.\n$/);
    expect(await goodTokens(ada)).toBe(0);
  });

  test("they are named where nobody can be asked, and where another was wanted", async ({ expect }) => {
    const ada = await person("unasked");
    await join(ada, await service.owner("unasked-two"));
    expect(afterInstructions(await login(ada))).toMatchInlineSnapshot(`
      exit 1
      ! error [ORGANIZATION_REQUIRED]: You are in 2 organizations. Sign in with --organization and one of: unasked (<org>), unasked-two (<other>).
    `);
    expect(afterInstructions(await login(ada, ["--organization", "initech"]))).toMatchInlineSnapshot(`
      exit 1
      ! error [ORGANIZATION_REQUIRED]: You are in no organization "initech". Sign in with --organization and one of: unasked (<org>), unasked-two (<other>).
    `);
    expect(await goodTokens(ada)).toBe(0);
  });
});

describe.concurrent("a session", () => {
  test("that was revoked, or has expired", async ({ expect }) => {
    const ada = await person("ended");
    await login(ada);
    await service.revoke((await sessionOf(ada))!.accessToken);
    expect(await run(ada, ["whoami"])).toMatchInlineSnapshot(`
      exit 1
      ! error [INVALID_SESSION]: The access token is missing, unknown, expired or revoked. Sign in again: \`svc auth login\`.
    `);
    expect(await run(ada, ["whoami"], { now: Date.parse("2026-07-01") })).toMatchInlineSnapshot(`
      exit 1
      ! error [NOT_SIGNED_IN]: Your session at <service> ended on 2026-06-12 12:00:00 +02:00. Sign in again: \`svc auth login\`.
    `);
    // Signing out of a session that ended is no failure.
    expect((await run(ada, ["auth", "logout"])).code).toBe(0);
  });

  test("comes after SVC_ACCESS_TOKEN", async ({ expect }) => {
    const ada = await person("variable");
    const env = { SVC_ACCESS_TOKEN: ada.owner.token, SVC_ORGANIZATION: ada.owner.organizationId };
    expect(afterInstructions(await login(ada, [], { env })).stderr).toMatchInlineSnapshot(`
      "SVC_ACCESS_TOKEN is set and goes before this session: unset it to work as who has signed in.
      "
    `);
    expect((await run(ada, ["whoami"], { env })).stdout).toMatch(/Signed in +by SVC_ACCESS_TOKEN\n/);
    expect(await run(ada, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      ! SVC_ACCESS_TOKEN is set, which this does not touch: unset it yourself.
      Signed out of <service>.
    `);
    expect(await run(ada, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      ! SVC_ACCESS_TOKEN is set, which this does not touch: unset it yourself.
      There is no session at <service>.
    `);
    expect((await run(ada, ["whoami"], { env })).code).toBe(0);
  });

  test("works in another organization by SVC_ORGANIZATION; a wrong one is told with those that are right", async ({
    expect,
  }) => {
    const ada = await person("moved");
    const other = await service.owner("moved-two");
    await join(ada, other);
    await login(ada, ["--organization", "moved"]);
    const inOther = { SVC_ORGANIZATION: other.organizationId };
    expect((await run(ada, ["whoami"], { env: inOther })).stdout).toContain("moved-two (<other>), as viewer");
    const wrong = { SVC_ORGANIZATION: "org_of_nobody" };
    expect((await run(ada, ["whoami"], { env: wrong })).stderr).toMatchInlineSnapshot(`
      "error [ORGANIZATION_NOT_FOUND]: There is no such organization, or it is not one of yours. Correct SVC_ORGANIZATION; yours: moved (<org>), moved-two (<other>).
      "
    `);
    expect((await run(ada, ["projects", "list"], { env: wrong })).stderr).toMatchInlineSnapshot(`
      "error [ORGANIZATION_NOT_FOUND]: There is no such organization, or it is not one of yours. Correct SVC_ORGANIZATION, which is an organization's id: \`svc whoami\` names yours.
      "
    `);
  });

  test("lists the projects of its organization", async ({ expect }) => {
    const ada = await person("builder");
    await login(ada);
    expect(await run(ada, ["projects", "list"])).toMatchInlineSnapshot(`
      The organization has no project.
    `);
    await service.request("POST", "/projects", { by: ada.owner, body: { name: "The Shop", slug: "shop" } });
    const env = { NO_COLOR: "1" };
    const { stdout } = await run(ada, ["projects", "list"], { terminal: true, columns: 80, env });
    expect(stdout.replaceAll(/20\d\d-\d\d-\d\d \d\d:\d\d:\d\d \+\d\d:00/g, "<instant>")).toMatchInlineSnapshot(`
      "Project  Name      Created
      shop     The Shop  <instant>
      "
    `);
    const { stdout: json } = await run(ada, ["projects", "list", "--json"]);
    expect(JSON.parse(json)).toMatchObject({ data: [{ slug: "shop", name: "The Shop" }], nextCursor: null });
  });
});
