import { describe, expect, it, onTestFinished } from "vitest";
import { call } from "../../src/db/api/call.js";
import { hashCredential } from "../../src/http/request/credentials.js";
import { auditOf, join, timestamp, userIdOf } from "../http/admin/organization/support.js";
import { inClientTransaction, runAsOperator } from "../../src/server/operator.js";
import { useService, type Actor } from "../support/service.js";
import { refused, runServer } from "./support/run-server.js";

// `svc-server users` and `svc-server tokens`, while a service runs on the same database.

const service = await useService();
const { sql } = service.db;
const acme = await service.owner("acme");

const run = (args: string[], env?: Record<string, string>) => runServer(service.db.url, args, env);
const whoami = (by: Actor) => service.request("GET", "/whoami", { by });

it("a command fails if its connection is lost, instead of ending without a word", async () => {
  const lost = runAsOperator(service.db.url, (sql) => sql`select pg_terminate_backend(pg_backend_pid())`);
  await expect(lost).rejects.toThrow(/CONNECTION_CLOSED|terminating connection/);
});

it("limits of time that the database sets by default do not end an export or an import", async () => {
  const limits = ["idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"];
  for (const limit of limits) await sql.unsafe(`alter database ${service.db.name} set ${limit} = '1s'`);
  onTestFinished(() => sql.unsafe(`alter database ${service.db.name} reset all`).then(() => undefined));
  const { rows } = await inClientTransaction(service.db.url, "", (client) =>
    client.query("select name, setting from pg_settings where name = any($1) order by name", [limits]),
  );
  expect(rows).toEqual(limits.map((name) => ({ name, setting: "0" })));
});

describe("svc-server users list", () => {
  it("prints a line for each user, or all as JSON", async () => {
    await service.owner("beta");
    await join(service, "owner@beta.example", acme.organizationId, "viewer");
    const id = await userIdOf(service, "owner@acme.example");
    await sql`
      insert into iam.identities (provider, subject, user_id, password_hash) values ('password', ${id}, ${id}, 'x')`;
    expect(await run(["users", "list"])).toEqual({
      code: 0,
      stdout:
        "owner@acme.example\tacme:owner\tpassword, address not verified\nowner@beta.example\tacme:viewer,beta:owner\tno password\n",
      stderr: "",
    });
    const { stdout } = await run(["users", "list", "--json"]);
    const userOf = async (slug: string) => {
      const email = `owner@${slug}.example`;
      return { userId: await userIdOf(service, email), email, createdAt: timestamp, emailVerifiedAt: null };
    };
    const as = (role: string, slug: string) => ({ slug, role });
    expect(JSON.parse(stdout)).toEqual([
      { ...(await userOf("acme")), hasPassword: true, organizations: [as("owner", "acme")] },
      { ...(await userOf("beta")), hasPassword: false, organizations: [as("viewer", "acme"), as("owner", "beta")] },
    ]);
  });
});

describe("svc-server users link", () => {
  const LINK = /^(https?:\/\/\S+)\/password\?token=(svc_link_[0-9a-f]{48})$/;

  /** The address of a link, and its stored row. */
  async function linkOf(text: string): Promise<{ base: string; kept: unknown }> {
    const [, base, secret] = LINK.exec(text)!;
    const [kept] = await sql`
      select u.email, l.created_by as "createdBy", l.used_at is null as open, extract(hour from l.expires_at - l.created_at)::int
        + 24 * extract(day from l.expires_at - l.created_at)::int as hours
      from iam.password_links as l join iam.users as u on u.user_id = l.user_id
      where l.link_hash = ${hashCredential(secret!)}`;
    return { base: base!, kept: kept && { ...kept } };
  }

  it("prints a link for any user, and records it in the audit logs of all its organizations", async () => {
    await service.owner("linked");
    await join(service, "owner@linked.example", acme.organizationId, "viewer");
    const { code, stdout, stderr } = await run(["users", "link", "--email", " Owner@linked.example "]);
    expect(stderr).toBe(
      "note: nothing answers at http://127.0.0.1:4400 now; set SVC_PUBLIC_URL, or SVC_HOST and SVC_PORT, as for the service, or start it\n",
    );
    const [comment, link, ...rest] = stdout.split("\n");
    expect([code, rest]).toEqual([0, [""]]);
    expect(comment).toMatch(
      /^# Whoever opens this link sets the password of owner@linked\.example\. It works once, until \d{4}-\S+Z:$/,
    );
    expect(await linkOf(link!)).toEqual({
      base: "http://127.0.0.1:4400",
      kept: { email: "owner@linked.example", createdBy: "operator", open: true, hours: 24 },
    });
    const target = await userIdOf(service, "owner@linked.example");
    const details = { email: "owner@linked.example" };
    const entry = { action: "password_reset.created", actor: "operator", requestId: null, target, details };
    expect((await auditOf(service, acme.organizationId)).at(-1)).toEqual(entry);
    const [row] = await sql`
      select count(*)::int as entries from iam.audit_log where action = 'password_reset.created' and target = ${target}`;
    expect(row).toEqual({ entries: 2 });
  });

  it("invalidates the previous link, and prints JSON", async () => {
    const link = async () => JSON.parse((await run(OWNERS_LINK)).stdout) as { link: string };
    const [first, second] = [await link(), await link()];
    const LINKED = expect.stringMatching(LINK) as unknown;
    expect(second).toEqual({ email: "owner@acme.example", expiresAt: timestamp, link: LINKED });
    expect((await linkOf(first.link)).kept).toMatchObject({ open: false });
    expect((await linkOf(second.link)).kept).toMatchObject({ open: true });
  });

  const OWNERS_LINK = ["users", "link", "--email", "owner@acme.example", "--json"];
  const baseOf = async (env: Record<string, string>) =>
    (await linkOf((JSON.parse((await run(OWNERS_LINK, env)).stdout) as { link: string }).link)).base;

  it("leads to SVC_PUBLIC_URL, else to host and port, but to the running service whatever the command's settings", async () => {
    expect(await baseOf({ SVC_PUBLIC_URL: "https://svc.example.com/", SVC_PORT: "0" })).toBe("https://svc.example.com");
    expect(await baseOf({ SVC_HOST: "::1", SVC_PORT: "8080" })).toBe("http://[::1]:8080");
    await call(sql, "store_public_url", "http://127.0.0.1:4412");
    onTestFinished(() => sql`delete from svc.public_url`.then(() => undefined));
    expect(await baseOf({ SVC_PORT: "0" })).toBe("http://127.0.0.1:4412");
  });

  it("reports in one line what is wrong", async () => {
    expect(await run(["users", "link", "--email", "nobody@example.com"])).toEqual(
      refused(
        'There is no user "nobody@example.com". `svc-server users list` shows the users; `svc-server bootstrap` makes one.',
      ),
    );
    expect(await run(["users", "link", "--email", "owner@acme.example"], { SVC_PORT: "0" })).toEqual(
      refused("SVC_PUBLIC_URL must be set when SVC_PORT is 0: the link has to lead to the service"),
    );
  });
});

describe("svc-server tokens", () => {
  const create = (...more: string[]) => run(["tokens", "create", "--organization", "acme", "--label", "CI", ...more]);

  it("create makes a token of the oldest owner, as output for a shell to evaluate", async () => {
    const { code, stdout } = await create();
    expect(code).toBe(0);
    const [, organizationId, token] = /^# .*\nexport SVC_ORGANIZATION=(\S+)\nexport SVC_ACCESS_TOKEN=(\S+)\n$/.exec(
      stdout,
    )!;
    const reply = await whoami({ token: token!, organizationId: organizationId! });
    expect(reply.body).toMatchObject({ user: { email: "owner@acme.example" }, organization: { role: "owner" } });
    const entry = { action: "token.created", actor: "operator", requestId: null, details: { label: "CI", role: null } };
    expect((await auditOf(service, acme.organizationId)).at(-1)).toMatchObject(entry);
  });

  it("create makes one of another member, with a lower role and fewer days, and prints JSON", async () => {
    await service.owner("member");
    await join(service, "owner@member.example", acme.organizationId, "administrator");
    const { stdout } = await create(
      ...["--email", "Owner@member.example", "--role", "viewer", "--expires-in-days", "1", "--json"],
    );
    const made = JSON.parse(stdout) as { accessToken: string; createdAt: string; expiresAt: string };
    expect(made).toEqual({
      organizationId: acme.organizationId,
      id: expect.stringMatching(/^tok_/) as unknown,
      label: "CI",
      role: "viewer",
      user: { id: await userIdOf(service, "owner@member.example"), email: "owner@member.example" },
      createdAt: timestamp,
      expiresAt: timestamp,
      lastUsedAt: null,
      revokedAt: null,
      accessToken: expect.stringMatching(/^svc_token_[0-9a-f]{48}$/) as unknown,
    });
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(86_400_000);
    const reply = await whoami({ ...acme, token: made.accessToken });
    expect(reply.body).toMatchObject({ organization: { role: "viewer" } });
  });

  it("list shows tokens newest first without their secrets, revoke invalidates one", async () => {
    const by = await service.owner("listed");
    const args = ["--organization", "listed", "--label", "night build", "--role", "developer", "--json"];
    const made = JSON.parse((await run(["tokens", "create", ...args])).stdout) as { id: string; accessToken: string };
    const state =
      /^(\S+)\tnight build\tdeveloper\towner@listed\.example\t(expires|revoked) \S+Z\n\S+\tbootstrap\tall\t.*\n$/;
    const list = async () => state.exec((await run(["tokens", "list", "--organization", "listed"])).stdout)!.slice(1);
    expect(await list()).toEqual([made.id, "expires"]);
    const headless = { ...by, token: made.accessToken };
    expect((await whoami(headless)).status).toBe(200);

    const revoked = await run(["tokens", "revoke", made.id]);
    expect(revoked).toMatchObject({ code: 0, stderr: "" });
    expect(revoked.stdout).toMatch(new RegExp(`^${made.id} \\(night build\\) was revoked at \\S+Z\\.\\n$`));
    expect((await whoami(headless)).status).toBe(401);
    expect(await list()).toEqual([made.id, "revoked"]);
    const entry = { action: "token.revoked", actor: "operator", requestId: null, target: made.id };
    expect((await auditOf(service, by.organizationId)).at(-1)).toEqual({ ...entry, details: { label: "night build" } });

    const document = await run(["tokens", "list", "--organization", "listed", "--json"]);
    expect(document.stdout).not.toContain("svc_token_");
    expect((JSON.parse(document.stdout) as unknown[])[0]).toEqual(
      JSON.parse((await run(["tokens", "revoke", made.id, "--json"])).stdout),
    );
  });

  it.each([
    [
      ["list", "--organization", "nowhere"],
      'There is no organization "nowhere". `svc-server users list` shows the organizations of every user.',
    ],
    [
      ["create", "--organization", "acme", "--label", "x", "--email", "nobody@example.com"],
      'The organization "acme" has no member "nobody@example.com". `svc-server users list` shows the users with their organizations.',
    ],
    [
      ["create", "--organization", "acme", "--label", "a\nb"],
      "--label must have 1 to 256 characters, none of which controls the terminal or changes the direction of text",
    ],
    [
      ["create", "--organization", "acme", "--label", "x", "--expires-in-days", "soon"],
      "--expires-in-days must be a whole number from 1 to 90",
    ],
    [
      ["revoke", "tok_1"],
      'There is no headless token "tok_1". `svc-server tokens list --organization <slug>` shows the tokens of an organization.',
    ],
  ])("%j fails with one line", async (args, line) => {
    expect(await run(["tokens", ...args])).toEqual(refused(line));
  });

  it.each([
    [["tokens"], "Name a command of tokens: list, create or revoke."],
    [["users"], "Name a command of users: list, link or sign-in."],
    [["users", "link"], "Missing required argument: email"],
    [["tokens", "list", "--organization", "acme", "--all"], "Unknown argument: all"],
  ])("%j is a usage error", async (args, message) => {
    const stderr = `${message}\nRun svc-server --help for the commands.\n`;
    expect(await run(args)).toEqual({ code: 2, stdout: "", stderr });
  });
});
