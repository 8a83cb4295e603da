import { describe, expect, test } from "vitest";

import { join } from "../http/admin/organization/support.js";
import { cannedServer, json } from "./support/canned-server.js";
import { brokenServer } from "./support/broken-server.js";
import { useOwner } from "./support/owner.js";
import type { RunOptions } from "./support/run-svc.js";

// Members and invitations of an organization, its tokens, audit log and usage.

const service = useOwner();

const run = (line: string, options?: RunOptions) => service.svc(line.split(" "), options);
const documentOf = async <T>(line: string) => {
  const { code, stdout, stderr } = await run(`${line} --json`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as T;
};
/** Replaces what differs from run to run. */
const steady = (text: string) =>
  text
    .replaceAll(/(?<=token=)\S+|svc_token_\S+|(?<=[ \n])(inv|tok|usr)_\w+/g, "…")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, "<time>")
    .replaceAll(/\b(in \d+ \w+|\d+ \w+ ago|now)\b/g, "<when>")
    .replaceAll(/\d{4}-\d\d(?= {2})/g, "<month>");

describe("svc invitations, members", () => {
  test("an address is invited; a member gets another role and a password link, and is removed", async () => {
    const created = await run("invitations create bob@example.com --role developer --yes");
    expect({ ...created, stdout: steady(created.stdout) }).toMatchInlineSnapshot(`
      Invited bob@example.com as developer. No mail was sent: pass the link on.

      Link         https://svc.example.com/invitation?token=…
      Id           …
      Valid until  <time>
    `);
    const open = await documentOf<{ data: { id: string; email: string }[] }>("invitations list");
    expect(open.data).toMatchObject([{ email: "bob@example.com", role: "developer" }]);
    await service.db.sql`update iam.invitations set created_at = '2026-03-01Z', expires_at = '2026-03-08Z'`;
    expect((await run("invitations list")).stdout).toMatch(/^bob@example.com +developer +ended /m);
    expect((await run(`invitations revoke ${open.data[0]!.id} --yes`)).stdout).toBe(
      "Revoked the invitation of bob@example.com.\n",
    );
    expect((await run("invitations list")).stdout).toBe("No invitation is open.\n");

    await service.owner("bob");
    await join(service, "owner@bob.example", service.by.organizationId, "developer");
    const members = await documentOf<{ data: object[] }>("members list");
    expect(members.data).toMatchObject([
      { email: "owner@acme.example", role: "owner" },
      { email: "owner@bob.example", role: "developer" },
    ]);
    expect((await run("members update Owner@bob.example --role viewer --yes")).stdout).toBe(
      "owner@bob.example is viewer now.\n",
    );
    const link = await run("members reset-password owner@bob.example --yes");
    expect({ ...link, stdout: steady(link.stdout) }).toMatchInlineSnapshot(`
      exit 1
      ! error [FORBIDDEN]: You may not make a link to set this member's password. The member also belongs to an organization that this token is not an owner's of; the link would open that one, too. Ask the operator of this service, who can make such a link for everybody.
    `);
    expect((await run("members remove owner@bob.example --yes")).stdout).toBe(
      "Removed owner@bob.example. Its tokens for the organization are revoked.\n",
    );
    expect(await run("members remove owner@bob.example --yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [MEMBER_NOT_FOUND]: The organization has no member owner@bob.example. List the members: \`svc members list\`.
    `);
  });

  test("a failure before any change was requested is reported as such", async () => {
    const { url } = await brokenServer({ read: () => ({ status: 200, body: "{", cut: true }) });
    const { stderr } = await run("members remove owner@bob.example --yes", { at: url });
    expect(stderr).toMatch(/^error \[SERVICE_UNREACHABLE\]/);
  });

  test("a mail that the mail server rejected is reported as such", async () => {
    const made = { id: "inv_1", email: "bob@example.com", link: "https://svc.example.com/", expiresAt: "2026-03-21Z" };
    const { url } = await cannedServer(json({ ...made, mailed: false, mailFailed: true }, 201));
    const { stdout } = await run("invitations create bob@example.com --role viewer --yes", { at: url });
    expect(stdout).toContain("as viewer. The mail server refused the mail: pass the link on.\n");
  });

  test("a link that sets a password is printed once", async () => {
    const { stdout } = await run("members reset-password owner@acme.example --yes");
    expect(steady(stdout)).toMatchInlineSnapshot(`
      "The first person who opens this link sets the password.

      Link         https://svc.example.com/password?token=…
      Valid until  <time>
      "
    `);
  });

  test("the last owner cannot leave, and the error about an unknown role lists the roles", async () => {
    expect(await run("members update owner@acme.example --role viewer --yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [LAST_OWNER]: The organization would have no owner left. Make another member owner first.
    `);
    expect(await run("members update owner@acme.example --role admin --yes")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --role is "admin". Give one of: owner, administrator, developer, viewer.
    `);
  });
});

describe("svc tokens", () => {
  test("a token is created, works until it is revoked, and is then listed as revoked", async () => {
    const { accessToken, id } = await documentOf<{ accessToken: string; id: string }>(
      "tokens create --label ci --role viewer --expires-in-days 7 --yes",
    );
    const asToken: RunOptions = { by: { ...service.by, token: accessToken } };
    expect((await run("projects list", asToken)).stdout).toBe("The organization has no project.\n");
    expect((await run("tokens list", asToken)).stderr).toContain("FORBIDDEN");
    expect((await run(`tokens revoke ${id} --yes`)).stdout).toBe(`Revoked the token ci (${id}).\n`);
    expect((await run("projects list", asToken)).stderr).toContain("INVALID_SESSION");
    expect((await documentOf<{ data: object[] }>("tokens list")).data[0]).toMatchObject({
      id,
      label: "ci",
      role: "viewer",
    });
  });
});

describe("svc audit", () => {
  test("shows what was changed and by whom, for one action only if requested", async () => {
    const { stdout } = await run("audit --action member.role_changed --actor owner@acme.example --since 1h");
    expect(steady(stdout)).toMatchInlineSnapshot(`
      "At                          Action               By                  Where  What                      Details
      <time>  member.role_changed  owner@acme.example         …  email: "owner@bob.example", viewer, before developer
      "
    `);
    expect(await run("audit --since yesterday")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --since is "yesterday". Write how long ago, such as 7d, or a date such as 2026-03-01 or 2026-03-01T09:00:00Z.
    `);
  });
});

describe("svc usage", () => {
  test("shows usage of the plan; with --json each limit", async () => {
    expect(steady((await run("usage")).stdout)).toMatchInlineSnapshot(`
      "Plan                  standard
      Events in <month>     0 (no limit), resets <when>
      Projects              0 of 100
      Members, invitations  1 of 1,000
      Tokens                1 of 200
      Events are kept       forever
      Replaced histories    for 90 days, after a recompute
      Rate per key          50,000 operations a second, 100,000 at once
      "
    `);
    expect(await documentOf("usage")).toMatchObject({
      plan: "standard",
      used: { monthlyEvents: 0, projects: 0, members: 1 },
      limits: { monthlyEvents: null, webhooks: 50, stateBytes: 1_048_576 },
    });
  });
});
