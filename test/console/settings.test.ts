import { decodeHTML } from "entities";
import { beforeAll, describe, expect, it } from "vitest";
import { auditOf, join, userIdOf } from "../http/admin/organization/support.js";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser, formsOf, type Visited } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const OWNER = "owner@acme.example";
const HOSTILE = `<script>alert(1)</script> ‮evil 🦊 ${"x".repeat(210)}`;
const EVENT = { customerId: "globex", event: "login" };
const browsers = {} as Record<"owner" | "administrator" | "viewer", Browser>;
const emails = {} as Record<keyof typeof browsers, string>;

const at = (path: string) => `${BASE}/${path}`;
const page = (path: string, by = browsers.owner) => by.get(at(path));

/** Opens a page, fills in its form with this hidden `as`, or its only form, and sends it. */
async function fill(path: string, fields: Record<string, string>, by = browsers.owner): Promise<Visited> {
  const { html } = await by.get(at(path));
  const { as } = fields;
  const forms = formsOf(html).filter(({ action, hidden }) => action !== "../../../../logout" && hidden["as"] === as);
  expect(forms).toHaveLength(1);
  const headers = { Referer: fixture.service.url + at(path) };
  return by.post(at(forms[0]!.action), { ...forms[0]!.hidden, ...fields }, headers);
}

/** The secret that a page shows; no other page may show it. */
function secretOf({ status, html, text, headers }: Visited): string {
  expect([status, headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  expect(text).toContain("it is not shown again");
  return /<input id="secret" class="secret" value="([^"]+)" readonly/.exec(html)![1]!;
}

const idOf = (html: string, path: string, name: string) =>
  new RegExp(`href="${path}\\?id=(\\w+)"><bdi>${name}<`).exec(html)![1]!;

const member = (email: string, role: string) =>
  fixture.service.db.sql`
    with u as (insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${email}) returning user_id)
    insert into iam.memberships (organization_id, user_id, role)
    select ${fixture.owner.organizationId}, user_id, ${role} from u`;

beforeAll(async () => {
  emails.owner = OWNER;
  for (const role of ["administrator", "viewer"] as const) {
    emails[role] = `${role}@acme.example`;
    await member(emails[role], role);
  }
  for (const role of ["owner", "administrator", "viewer"] as const)
    browsers[role] = await browserOf(fixture.service, emails[role]);
});

describe("the organization", () => {
  it("shows the current role, and links to all settings", async () => {
    const { status, html, text } = await page("settings", browsers.viewer);
    expect(status).toBe(200);
    expect(text).toContain(`Organization acme Id ${fixture.owner.organizationId} You viewer@acme.example`);
    expect(text).toContain("Your role viewer: can read");
    for (const path of ["members", "keys", "tokens", "operations"]) expect(html).toContain(`href="${path}"`);
    expect(html).not.toContain('href="audit-log"');
    expect((await page("settings", browsers.administrator)).html).toContain('href="audit-log"');
    expect(text).toContain("Your role does not allow you to change it; ask an administrator.");
    expect(html).not.toContain('name="timeZone"');
  });

  it("accepts another time zone from an administrator, and reports an unknown one", async () => {
    const { status, location } = await fill("settings", { timeZone: "europe/berlin" }, browsers.administrator);
    expect([status, location]).toEqual([303, at("settings")]);
    expect((await page("settings")).text).toContain("Europe/Berlin : days of trends begin at midnight there");
    for (const timeZone of ["Mars/Base", "Factory"]) {
      const refused = await fill("settings", { timeZone });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("not one that this service knows")]);
      expect(refused.html).toContain('aria-label="Console"');
    }
  });

  it("is shown in UTC if only the database knows its time zone", async () => {
    const { sql } = fixture.service.db;
    const [before] = await sql<[{ zone: string }]>`select time_zone as zone from iam.organizations`;
    await sql`update iam.organizations set time_zone = 'Factory'`;
    for (const path of ["today", "customers", "lifecycle", "settings"])
      expect([path, (await page(path)).status]).toEqual([path, 200]);
    await sql`update iam.organizations set time_zone = ${before.zone}`;
  });
});

describe("a missing permission", () => {
  it.each<[string, "administrator" | "viewer", string, boolean]>([
    ["members", "viewer", "Your role does not allow you to see or create invitations; ask an owner.", true],
    ["members", "administrator", "Your role does not allow you to see or create invitations; ask an owner.", true],
    ["tokens", "administrator", "Your role does not allow you to see or create access tokens; ask an owner.", true],
    ["token?id=tok_1", "viewer", "Your role does not allow you to see or revoke access tokens; ask an owner.", true],
    ["invitation?id=inv_1", "viewer", "Your role does not allow you to see or revoke invitations; ask an owner.", true],
    ["keys", "viewer", "Your role does not allow you to create keys; ask an administrator.", true],
    ["keys", "administrator", "New key Name", false],
  ])("%s tells who may, as %s", async (path, role, says, isWithout) => {
    const { status, html, text } = await page(path, browsers[role]);
    expect([status, text]).toEqual([200, expect.stringContaining(says)]);
    expect(html.includes('method="post" action="../../../../logout"')).toBe(true);
    expect(formsOf(html)).toHaveLength(isWithout ? 1 : 2);
  });

  it("a form that does not say what to change changes nothing", async () => {
    const before = await auditOf(fixture.service, fixture.owner.organizationId);
    const token = await browsers.owner.formToken(at("keys"));
    for (const [path, fields] of [
      ["member", { id: "usr_1", role: "viewer" }],
      ["member", { as: "zz", id: "usr_1", role: "viewer" }],
      ["key", { id: "key_1", grace: "0m" }],
    ] as const) {
      const { status, text } = await browsers.owner.post(at(path), { ...fields, form_token: token });
      expect([status, text]).toEqual([400, expect.stringContaining("does not say what to change")]);
    }
    expect(await auditOf(fixture.service, fixture.owner.organizationId)).toEqual(before);
  });

  it.each<[string, Record<string, string>]>([
    ["settings", { timeZone: "UTC" }],
    ["members", { email: "eve@example.com", role: "owner" }],
    ["member", { as: "role", id: "usr_1", role: "owner" }],
    ["member", { as: "password", id: "usr_1" }],
    ["member", { as: "removal", id: "usr_1" }],
    ["invitation", { id: "inv_1" }],
    ["keys", { name: "mine" }],
    ["key", { as: "rotate", id: "key_1", grace: "0m" }],
    ["key", { as: "revoke", id: "key_1" }],
    ["tokens", { label: "mine" }],
    ["token", { id: "tok_1" }],
  ])("a form of %s is refused to a viewer", async (path, fields) => {
    const before = await auditOf(fixture.service, fixture.owner.organizationId);
    const token = await browsers.viewer.formToken(at("keys"));
    const refused = await browsers.viewer.post(at(path), { ...fields, form_token: token });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Your role "viewer" may not')]);
    expect(await auditOf(fixture.service, fixture.owner.organizationId)).toEqual(before);
  });
});

describe("a form that is refused", () => {
  /** The fields of the only form with a text field, or of the one with this `as`, as the page shows them. */
  const shown = ({ html }: Visited, as?: string) => {
    const form = [...html.matchAll(/<form [^>]*method="post".*?<\/form>/gs)].find(([text]) =>
      as === undefined ? !text.includes("logout") : text.includes(`name="as" value="${as}"`),
    )![0];
    const texts = [...form.matchAll(/<input id="\w+" name="(\w+)"[^>]*? value="([^"]*)"/g)];
    const choices = [...form.matchAll(/name="(\w+)">(?:(?!<\/select>).)*<option value="([^"]*)" selected>/g)];
    return Object.fromEntries([...texts, ...choices].map(([, name, value]) => [name, decodeHTML(value!)]));
  };
  const NOTE = /<div class="error" tabindex="-1" autofocus>.*<p role="alert">.*<\/div><form [^>]*method="post"/s;

  it.each<[string, string, Record<string, string>, number]>([
    ["settings", "settings", { timeZone: 'Mars "/Base' }, 400],
    ["keys", "keys", { name: "  " }, 400],
    ["keys with a cursor", "keys?cursor=", { name: "x\u202ey 🦊" }, 400],
    ["tokens", "tokens", { label: "CI", role: "developer", days: "9999" }, 400],
    ["members", "members", { email: "viewer@acme.example", role: "developer" }, 409],
  ])("is shown again with what was entered: %s", async (_, path, fields, status) => {
    const refused = await fill(path, fields);
    expect(refused.status).toBe(status);
    expect(refused.html).toMatch(NOTE);
    expect(shown(refused)).toEqual(fields);
    expect(refused.path).toBe(at(path));
  });

  it("is shown again on the first page if the cursor of its page has become invalid", async () => {
    const opened = await page("keys");
    const { hidden } = formsOf(opened.html).find(({ action }) => action === "keys")!;
    const fields = { name: " " };
    const refused = await browsers.owner.post(at("keys?cursor=outdated"), { ...hidden, ...fields });
    expect([refused.status, refused.html]).toEqual([400, expect.stringMatching(NOTE)]);
    expect(shown(refused)).toEqual(fields);
  });

  it("keeps what was entered by somebody who has lost the permission", async () => {
    const { html } = await page("members");
    const { sql } = fixture.service.db;
    const setRole = (role: string) =>
      sql`update iam.memberships set role = ${role} where user_id = ${owner} and organization_id = ${fixture.owner.organizationId}`;
    const owner = await userIdOf(fixture.service, OWNER);
    const fields = { email: "eve@example.com", role: "developer" };
    await setRole("administrator");
    const { hidden } = formsOf(html).find(({ action }) => action === "members")!;
    const refused = await browsers.owner.post(at("members"), { ...hidden, ...fields });
    await setRole("owner");
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Your role "administrator" may not')]);
    expect(shown(refused)).toEqual(fields);
  });

  it("keeps what was entered while another role of a member was chosen, and the other forms as they are", async () => {
    const refused = await fill(`member?id=${await userIdOf(fixture.service, OWNER)}`, {
      as: "role",
      role: "developer",
    });
    expect([refused.status, shown(refused, "role")]).toEqual([409, { role: "developer" }]);
    expect(refused.html.match(/autofocus/g)).toHaveLength(1);
  });

  it("says why although the form is no longer on the page", async () => {
    const secret = await fill("keys", { name: "gone" });
    secretOf(secret);
    const id = idOf((await page("keys")).html, "key", "gone");
    const opened = await page(`key?id=${id}`);
    const form = formsOf(opened.html).find(({ hidden }) => hidden["as"] === "rotate")!;
    await fill(`key?id=${id}`, { as: "revoke" });
    const refused = await browsers.owner.post(at(form.action), { ...form.hidden, grace: "7d" });
    expect([refused.status, refused.text]).toEqual([409, expect.stringMatching(/^API key gone .*Status revoked/)]);
    expect(refused.html).toContain('<h1>API key gone</h1><div class="error" tabindex="-1" autofocus>');
  });

  it("because of a new sign-in is shown again, to be sent once more", async () => {
    const { html } = await page("keys");
    const again = await browserOf(fixture.service, OWNER);
    const { hidden } = formsOf(html).find(({ action }) => action === "keys")!;
    const outdated = await again.post(at("keys"), { ...hidden, name: "kept" });
    expect([outdated.status, outdated.text]).toEqual([403, expect.stringContaining("submit it again")]);
    expect(shown(outdated)).toEqual({ name: "kept" });
    secretOf(await again.submit(outdated, { name: "kept" }, "keys"));
  });

  it("because the session has ended is kept until its sender has signed in again", async () => {
    const browser = await browserOf(fixture.service, OWNER);
    const session = browser.cookies.get("svc_session")!;
    const opened = await browser.get(at("keys?cursor="));
    browser.cookies.delete("svc_session");
    const fields = { name: "late" };
    const kept = await browser.submit(opened, fields, "keys");
    expect([kept.status, kept.text]).toEqual([403, expect.stringContaining("This page keeps what you entered.")]);
    expect(kept.html).toContain(
      `href="../../../../login?next=${encodeURIComponent(at("keys?cursor="))}" target="_blank"`,
    );
    expect(kept.html).not.toContain("form_token");
    // Still signed out, and then signed in.
    expect((await browser.submit(kept)).status).toBe(403);
    browser.cookies.set("svc_session", session);
    const back = await browser.submit(kept);
    expect([back.status, shown(back)]).toEqual([403, fields]);
    secretOf(await browser.submit(back, fields, "keys"));
  });
});

describe("a form that is sent twice, as by a double click", () => {
  const sendTwice = async (path: string, fields: Record<string, string>, which: string) => {
    const opened = await page(path);
    const send = () => browsers.owner.submit(opened, fields, which);
    // The third comes just after the answer.
    return [...(await Promise.all([send(), send()])), await send()];
  };

  it("makes one key, and each answer shows its secret", async () => {
    const secrets = (await sendTwice("keys", { name: "double" }, "keys")).map(secretOf);
    expect(new Set(secrets).size).toBe(1);
    const { html } = await page("keys");
    expect(html.match(/<bdi>double</g)).toHaveLength(1);
    const id = idOf(html, "key", "double");
    const rotated = (await sendTwice(`key?id=${id}`, { grace: "0m" }, "rotate")).map(secretOf);
    expect(new Set(rotated).size).toBe(1);
    expect(rotated[0]).not.toBe(secrets[0]);
  });

  it("starts one recompute, and leads to it each time", async () => {
    await fixture.deploy(snapshot({ strictSchema: false }));
    const answers = await sendTwice("recomputes", {}, "recomputes");
    expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
    expect((await page("recomputes")).html.match(/href="recompute\?id=/g)).toHaveLength(1);
  });

  it("is refused each time, if it is refused", async () => {
    for (const refused of await sendTwice("keys", { name: " " }, "keys")) expect(refused.status).toBe(400);
  });
});

describe("keys", () => {
  it("cannot be created in a frozen environment, and the page says why", async () => {
    const { sql } = fixture.service.db;
    await sql`update svc.environments set frozen_at = now() where name = 'test'`;
    const refused = await fill("keys", { name: "frozen" });
    await sql`update svc.environments set frozen_at = null`;
    expect(refused.status).toBe(503);
    expect(refused.text).toContain("The environment is frozen: it moves to another database.");
    expect(refused.text).not.toContain("overloaded");
  });

  it("are created with a secret that is shown once and works", async () => {
    const visited = await fill("keys", { name: "backend" });
    const secret = secretOf(visited);
    expect(secret).toMatch(/^svc_test_/);
    const headers = { Authorization: `Bearer ${secret}` };
    expect((await fixture.service.request("POST", "/v1/events", { headers, body: EVENT })).status).toBe(202);
    const { html, text } = await page("keys", browsers.viewer);
    expect(text).toMatch(/backend svc_test_\w+… works .* (now|\d+ seconds? ago) by owner@acme\.example/);
    expect(html).not.toContain(secret);
    const own = await page(`key?id=${idOf(html, "key", "backend")}`);
    expect([own.status, own.html.includes(secret)]).toEqual([200, false]);
  });

  it.each(["0m", "24h"])("are rotated, while the old one works for %s", async (grace) => {
    const name = `rotated ${grace}`;
    const old = secretOf(await fill("keys", { name }));
    const id = idOf((await page("keys")).html, "key", name);
    const made = await fill(`key?id=${id}`, { as: "rotate", grace });
    const secret = secretOf(made);
    expect(made.text).toContain(grace === "0m" ? "The old key has stopped working." : "The old key works until");
    const statusOf = async (key: string) => {
      const headers = { Authorization: `Bearer ${key}` };
      return (await fixture.service.request("POST", "/v1/events", { headers, body: EVENT })).status;
    };
    expect([await statusOf(secret), await statusOf(old)]).toEqual([202, grace === "0m" ? 401 : 202]);
    const after = await page(`key?id=${id}`);
    expect(after.text).toContain(grace === "0m" ? "Status revoked" : "Status replaced, ends in 23 hours");
    expect(after.html).not.toContain('name="grace"');
    const again = await browsers.owner.post(at("key"), {
      ...{ as: "rotate", id, grace },
      form_token: formsOf(after.html)[0]!.hidden["form_token"]!,
    });
    expect([again.status, again.text]).toEqual([409, expect.stringContaining(id)]);
  });

  it("are revoked immediately, with a warning in live", async () => {
    const live = (path: string) => `/console/acme/app/live/${path}`;
    const created = await browsers.administrator.get(live("keys"));
    expect(created.text).toContain("Create the key, live");
    const id = /href="key\?id=(\w+)"/.exec(created.html)![1]!;
    const asked = await browsers.administrator.get(live(`key?id=${id}`));
    expect(asked.text).toMatch(/This is live : .*Rotate it, live .*Revoke it, live/);
    const form = formsOf(asked.html).find(({ hidden }) => hidden["as"] === "revoke")!;
    const done = await browsers.administrator.post(live("key"), form.hidden);
    expect([done.status, done.location]).toEqual([303, live("keys")]);
    const headers = { Authorization: `Bearer ${fixture.keys.live}` };
    expect((await fixture.service.request("POST", "/v1/events", { headers, body: EVENT })).status).toBe(401);
    expect((await browsers.viewer.get(live(`key?id=${id}`))).text).toMatch(/Status revoked (now|\d+ seconds? ago)/);
    expect((await page(`key?id=${id}`)).status).toBe(404);
  });

  it("escape hostile names, and bad names are refused within the page frame", async () => {
    const name = HOSTILE.replace("‮", "").slice(0, 256);
    const visited = await fill("keys", { name });
    secretOf(visited);
    const list = await page("keys");
    for (const { html, text } of [visited, list]) {
      expect(html).not.toContain("<script>");
      expect(text).toContain("<script>alert(1)</script> evil 🦊 xxx");
    }
    const refused = await fill("keys", { name: HOSTILE });
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('aria-label="Console"')]);
    expect(refused.html).not.toContain("<script>");
    // Only the field has the character as it was typed.
    expect(refused.html.replace(/ value="[^"]*"/g, "")).not.toContain("‮");
  });
});

describe("access tokens", () => {
  const whoami = (token: string) =>
    fixture.service.request("GET", "/whoami", { by: { token, organizationId: fixture.owner.organizationId } });

  it("are created with a secret that is shown once and works, and revoked", async () => {
    expect((await page("tokens")).text).toContain("Access tokens");
    const visited = await fill("tokens", { label: "CI", role: "developer", days: "7" });
    const secret = secretOf(visited);
    expect(visited.text).toContain("It acts as you, as developer at most, until");
    const body = { user: { email: OWNER }, organization: { role: "developer" } };
    expect(await whoami(secret)).toMatchObject({ status: 200, body });
    const { html, text } = await page("tokens");
    expect(text).toContain("CI owner@acme.example , as developer at most works , expires in 6 days");
    expect(html).not.toContain(secret);
    const id = idOf(html, "token", "CI");
    const { status, location } = await fill(`token?id=${id}`, {});
    expect([status, location]).toEqual([303, at("tokens")]);
    expect((await whoami(secret)).status).toBe(401);
    const after = await page(`token?id=${id}`);
    expect(after.text).toContain("Status revoked");
    expect(formsOf(after.html)).toHaveLength(1);
  });

  it("have all permissions of their creator and the longest lifetime by default", async () => {
    const secret = secretOf(await fill("tokens", { label: HOSTILE.slice(0, 25), role: "", days: "" }));
    expect(await whoami(secret)).toMatchObject({ body: { organization: { role: "owner" } } });
    const { html, text } = await page("tokens");
    expect(html).not.toContain("<script>");
    expect(text).toContain("<script>alert(1)</script> owner@acme.example works , expires in 89 days");
    expect((await fill("tokens", { label: "long", role: "", days: "0.5" })).status).toBe(400);
  });
});

describe("invitations", () => {
  it("are made with a link that is shown once and opens, listed, and revoked", async () => {
    expect((await page("members")).text).toContain("There are no open invitations.");
    const made = await fill("members", { email: "bob@example.com", role: "developer" });
    const link = new URL(secretOf(made));
    expect(made.text).toMatch(/Invitation for bob@example\.com .*valid until .* No mail was sent: pass the link on/);
    const open = async () => {
      const browser = await browserOf(fixture.service, OWNER);
      browser.cookies.delete("svc_session");
      return browser.get(link.pathname + link.search);
    };
    const opened = await open();
    expect([opened.status, opened.text]).toEqual([200, expect.stringContaining("Join acme")]);
    const { html, text } = await page("members");
    expect(text).toContain("bob@example.com developer owner@acme.example in 6 days");
    expect(html).not.toContain(link.search);
    const id = idOf(html, "invitation", "bob@example.com");
    expect((await page(`invitation?id=${id}`)).text).toContain("invited bob@example.com as developer");
    await fixture.service.db.sql`update iam.invitations set expires_at = now() - interval '1 hour'`;
    expect((await page("members")).text).toContain("bob@example.com developer owner@acme.example expired");
    expect((await page(`invitation?id=${id}`)).text).toContain("the link expired on");
    expect((await page("audit-log?action=invitation.created")).text).toMatch(
      /inv_\w+ role: "developer", email: "bob@example\.com"$/,
    );
    const done = await fill(`invitation?id=${id}`, {});
    expect([done.status, done.location]).toEqual([303, at("members")]);
    expect((await open()).status).toBe(410);
    expect((await page(`invitation?id=${id}`)).status).toBe(404);
  });

  it("of a member, or with an invalid address, are refused with the API's message", async () => {
    const taken = await fill("members", { email: emails.viewer, role: "owner" });
    expect([taken.status, taken.text]).toEqual([
      409,
      expect.stringMatching(/already\. Change the member's role instead\. Request/),
    ]);
    expect((await fill("members", { email: "<b>@x", role: "viewer" })).status).toBe(400);
  });

  it("beyond the plan are refused, with advice", async () => {
    const { sql } = fixture.service.db;
    await sql`update iam.plans set members = 3`;
    const { status, text } = await fill("members", { email: "eve@example.com", role: "viewer" });
    expect([status, text]).toEqual([429, expect.stringContaining("The plan allows 3 members and open invitations")]);
    expect(text).toContain("Plan limit reached");
    expect(text).toContain("Remove a member or revoke an invitation");
    await sql`update iam.plans set members = default`;
  });

  it("and members have separate sections", async () => {
    const { sql } = fixture.service.db;
    await sql`
      insert into iam.invitations (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
      select ${fixture.owner.organizationId}, svc.random_id('inv_'), sha256(i::text::bytea), 'guest-' || i || '@example.com', 'viewer',
        ${OWNER}, now() + interval '1 day'
      from generate_series(10, 70) as i`;
    const first = await page("members");
    const next = /<a href="(members\?invitations=[^"]+)">Next page/.exec(first.html)![1]!;
    const second = await page(next.replaceAll("&amp;", "&"));
    expect(second.text).toMatch(/owner@acme\.example .*guest-70@example\.com/);
    expect(second.text).not.toContain("guest-10@");
    // The link of an entry leads to the page of the list that contains it.
    const href = /href="(invitation\?id=\w+&amp;cursor=[^"]+)"><bdi>guest-70@/.exec(second.html)![1]!;
    expect((await page(href.replaceAll("&amp;", "&"))).text).toContain("invited guest-70@example.com");
    await sql`delete from iam.invitations`;
  });
});

describe("members", () => {
  const memberPage = async (email: string) => `member?id=${await userIdOf(fixture.service, email)}`;

  it("are listed, each linked to its page, which only owners can change", async () => {
    const { html, text } = await page("members", browsers.administrator);
    expect(text).toMatch(
      /administrator@acme\.example administrator .*owner@acme\.example owner .*viewer@acme\.example viewer/,
    );
    const path = `member?id=${idOf(html, "member", emails.viewer)}`;
    const own = await page(path, browsers.administrator);
    expect(own.text).toContain("Your role does not allow you to change or remove members; ask an owner.");
    expect(formsOf(own.html)).toHaveLength(1);
  });

  it("can be given another role", async () => {
    const path = await memberPage(emails.viewer);
    const { status, location } = await fill(path, { as: "role", role: "developer" });
    expect([status, location]).toEqual([303, at("members")]);
    expect((await page("members")).text).toContain("viewer@acme.example developer");
    expect((await page("settings", browsers.viewer)).text).toContain("Your role developer: can also change test");
    expect((await page("audit-log?action=member.role_changed")).text).toContain(
      `email: "${emails.viewer}", developer, before viewer`,
    );
    await fill(path, { as: "role", role: "viewer" });
  });

  it("keep the last owner, with the API's message within the page frame", async () => {
    const path = await memberPage(OWNER);
    expect((await page(path)).text).toContain("This is you");
    for (const fields of [{ as: "role", role: "viewer" }, { as: "removal" }]) {
      const { status, html, text } = await fill(path, fields);
      expect([status, text]).toEqual([
        409,
        expect.stringContaining("The organization would have no owner left. Make another"),
      ]);
      expect(html).toContain('aria-label="Console"');
      expect(formsOf(html).find(({ hidden }) => hidden["as"] === fields.as)!.action).toBe(path);
    }
  });

  it("are not redirected to another site by the Referer header", async () => {
    const form_token = await browsers.owner.formToken(at("keys"));
    for (const referer of ["https://evil.example/console/acme/app/test/members", `${fixture.service.url}/docs`, "x"]) {
      const { status, html } = await browsers.owner.post(
        at("members"),
        { form_token, email: "x" },
        { Referer: referer },
      );
      expect([status, html]).toEqual([400, expect.stringContaining('<a href="today">Today</a>')]);
    }
  });

  it("get a working link to set a password, which is shown once", async () => {
    const visited = await fill(await memberPage(emails.viewer), { as: "password" });
    const link = new URL(secretOf(visited));
    expect(visited.text).toContain("Link to set a password");
    const opened = await (await browserOf(fixture.service, OWNER)).get(link.pathname + link.search);
    expect([opened.status, opened.html]).toEqual([200, expect.stringContaining(emails.viewer)]);
  });

  it("get no link from those who do not own all of their organizations", async () => {
    const other = await fixture.service.owner("elsewhere");
    await join(fixture.service, emails.viewer, other.organizationId, "viewer");
    const path = await memberPage(emails.viewer);
    const refused = await fill(path, { as: "password" });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("that you are not an owner of")]);
    await join(fixture.service, OWNER, other.organizationId, "owner");
    expect((await fill(path, { as: "password" })).status).toBe(200);
    await fixture.service.db.sql`delete from iam.memberships where organization_id = ${other.organizationId}`;
  });

  it("can be removed, and then see nothing", async () => {
    const { status, location } = await fill(await memberPage(emails.viewer), { as: "removal" });
    expect([status, location]).toEqual([303, at("members")]);
    expect((await page("members")).text).not.toContain(emails.viewer);
    expect((await page("settings", browsers.viewer)).status).toBe(404);
  });
});
