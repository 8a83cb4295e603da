import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "vitest";

import { hashCredential, newCredential } from "../../src/http/request/credentials.js";
import { useOAuthService } from "../http/oauth/fixture.js";
import type { Actor } from "../support/service.js";
import { type RunOptions, steady, svc } from "./support/run-svc.js";
import { useDirectory } from "../support/directory.js";

// Concurrent sign-ins at the real service: each waits five seconds before it asks whether it was approved.

const service = useOAuthService();
const root = await useDirectory();

interface Person {
  owner: Actor;
  /** A directory for sessions, which does not exist yet. */
  home: string;
}

/** An owner of an organization on a machine without a session. */
async function person(slug: string): Promise<Person> {
  return { owner: await service.owner(slug), home: path.join(root, slug, "config", "svc") };
}

/** A person who has signed in, with the stored session. */
async function signedIn(slug: string): Promise<Person & { session: Kept }> {
  const who = await person(slug);
  const token = newCredential("token");
  await service.db.sql`
    insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, client_id, expires_at)
    select ${token.hash}, svc.random_id('tok_'), 'session', user_id, 'test', 'svc-cli', now() + interval '1 day'
    from iam.access_tokens where token_hash = ${hashCredential(who.owner.token)}`;
  const session = {
    accessToken: token.text,
    expiresAt: "2026-06-12T10:00:00.000Z",
    organization: { id: who.owner.organizationId, slug },
    email: `owner@${slug}.example`,
  };
  await mkdir(who.home, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ sessions: { [service.url]: session } });
  await writeFile(path.join(who.home, "session.json"), text, { mode: 0o600 });
  return { ...who, session };
}

/** Runs a command against the service; replaces what differs from run to run. */
async function run({ owner, home }: Person, argv: readonly string[], options: RunOptions = {}) {
  const env = { SVC_API_URL: service.url, ...options.env };
  return steady(await svc(argv, { ...options, configDirectory: home, env }), [
    [service.url, "<service>"],
    [owner.organizationId, "<org>"],
    [/org_[0-9a-z]{20,}/g, "<other>"],
    [/\b[A-Z]{4}-[A-Z]{4}\b/g, "<code>"],
  ]);
}

/** Signs in; the person approves in a browser as soon as the code is shown. */
async function login(who: Person, argv: readonly string[] = []) {
  let decided: Promise<unknown> | undefined;
  const decide = async (userCode: string) => {
    const browser = await service.browser(who.owner);
    await browser.get("/device");
    await browser.submit({ user_code: userCode, decision: "approve" });
  };
  const result = await run(who, ["auth", "login", ...argv], {
    onStderr: (text) => {
      const code = /approve the code .*?([A-Z]{4}-[A-Z]{4})/.exec(text)?.[1];
      if (code !== undefined) decided ??= decide(code);
    },
  });
  await decided;
  return result;
}

interface Kept {
  accessToken: string;
}

async function sessionOf({ home }: Person): Promise<Kept | undefined> {
  const text = await readFile(path.join(home, "session.json"), "utf8");
  return (JSON.parse(text) as { sessions: Record<string, Kept> }).sessions[service.url];
}

const isGood = async ({ owner }: Person, session: Kept | undefined) =>
  (await service.request("GET", "/whoami", { by: { ...owner, token: session!.accessToken } })).status === 200;

/** The number of valid session tokens of the person. */
async function goodTokens({ owner }: Person): Promise<number> {
  const [row] = await service.db.sql<[{ n: number }]>`
    select count(*)::integer as n from iam.access_tokens
    where kind = 'session' and revoked_at is null
      and user_id = (select user_id from iam.access_tokens where token_hash = ${hashCredential(owner.token)})`;
  return row.n;
}

/** Makes the person a viewer in the organization of `other`. */
async function join({ owner }: Person, other: Actor): Promise<void> {
  await service.db.sql`
    insert into iam.memberships (organization_id, user_id, role)
    select ${other.organizationId}, user_id, 'viewer' from iam.access_tokens where token_hash = ${hashCredential(owner.token)}`;
}

describe.concurrent("signing in", () => {
  test("shows the code, waits for the approval and stores the session readable by its owner only; signing out ends it", async ({
    expect,
  }) => {
    const ada = await person("acme");
    expect(await login(ada)).toMatchInlineSnapshot(`
      ! To sign in to <service>, open this address and approve the code <code>:
      !
      !   <service>/device?user_code=<code>
      !
      ! On another device, open <service>/device and type the code.
      ! The code is valid for 10 minutes. Ctrl+C stops waiting.
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

    const opened = await run(ada, ["console", "--no-browser"]);
    expect(opened.stdout).toMatch(
      /^<service>\/sign-in\?token=svc_link_[0-9a-f]{48}\n\nUntil .+, the first person who opens it is signed in as owner@acme\.example\.$/m,
    );
    expect(JSON.parse((await run(ada, ["console", "--no-browser", "--json"])).stdout)).toEqual({
      link: expect.stringContaining("/sign-in?token=svc_link_") as string,
      expiresAt: expect.stringMatching(/Z$/) as string,
    });

    expect(await run(ada, ["auth", "logout"])).toMatchInlineSnapshot(`
      Signed out of <service>.
    `);
    expect(await run(ada, ["console", "--no-browser", "--directory", "."])).toMatchInlineSnapshot(`
      ! This does not sign the browser in. Sign in there, or here first: \`svc auth login --directory .\`. If you have no password yet, ask the service's operator for a link: \`svc-server users sign-in --email <address>\`.
      <service>/console
    `);
    expect(await isGood(ada, session)).toBe(false);
    expect(await sessionOf(ada)).toBeUndefined();
    expect(await run(ada, ["whoami"])).toMatchInlineSnapshot(`
      exit 1
      ! error [NOT_SIGNED_IN]: You are not signed in to <service>. Sign in: \`svc auth login\`; where that is not possible, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
    `);
    expect(await run(ada, ["auth", "logout"])).toMatchInlineSnapshot(`
      There is no session at <service>.
    `);
  });

  test("again replaces and ends the previous session; with --json it prints one document, without the token", async ({
    expect,
  }) => {
    const ada = await signedIn("again");
    expect(await isGood(ada, ada.session)).toBe(true);
    const { stdout, stderr } = await login(ada, ["--no-browser", "--json"]);
    expect(stderr).toMatch(
      /^You are signed in to <service> as owner@again\.example, organization again\. Signing in again replaces that session\.\n/,
    );
    expect(JSON.parse(stdout)).toEqual({
      user: { email: "owner@again.example" },
      organization: { id: "<org>", slug: "again", role: "owner" },
      api: { url: "<service>" },
      expiresAt: "2026-06-12T10:00:00.000Z",
    });
    expect(await isGood(ada, ada.session)).toBe(false);
    expect(await isGood(ada, await sessionOf(ada))).toBe(true);
    expect(await goodTokens(ada)).toBe(1);
    expect((await run(ada, ["auth", "logout", "--json"])).stdout).toBe(
      '{"api":{"url":"<service>"},"session":true,"revoked":true}\n',
    );
  });
});

describe.concurrent("a session", () => {
  test("works in another organization by SVC_ORGANIZATION; an error about a wrong one lists the right ones", async ({
    expect,
  }) => {
    const ada = await signedIn("moved");
    const other = await service.owner("moved-two");
    await join(ada, other);
    const inOther = { SVC_ORGANIZATION: other.organizationId };
    expect(await run(ada, ["whoami"], { env: inOther })).toMatchInlineSnapshot(`
      User          owner@moved.example
      Organization  moved-two (<other>), as viewer
      API           <service>
      Signed in     until 2026-06-12 12:00:00 +02:00 (in 90 days)
      Also in       moved (<org>)
    `);
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
    const ada = await signedIn("builder");
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
