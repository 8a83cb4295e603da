import { describe, expect, it, vi } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { hashCredential, newCredential } from "../../../src/http/request/credentials.js";
import { Browser, formOf } from "../../support/browser.js";
import { useService } from "../../support/service.js";
import { createOrganization, createUser, formToken, invite, PASSWORD, signedIn, whoIs } from "./people.js";

const service = await useService();
const { sql } = service.db;
const organizationId = await createOrganization(sql, "acme");

let people = 0;
const newEmail = () => `person${++people}@example.com`;
const pathOf = (token: string) => `/invitation?token=${token}`;
const NEW = { password: PASSWORD, repeated: PASSWORD };

/** Invites a new address to acme, unless `more` gives one. */
async function invited(more: { email?: string; role?: string; invitedBy?: string } = {}) {
  const email = more.email ?? newEmail();
  return { email, token: await invite(sql, { organizationId, ...more, email }) };
}

/** The number of a user's passwords: one or none. */
const passwordsOf = async (email: string) =>
  (await sql`select from iam.identities as i join iam.users as u using (user_id) where u.email = ${email}`).length;

async function memberships(email: string) {
  return sql<{ slug: string; role: string }[]>`
    select o.slug, m.role
    from iam.memberships as m
    join iam.users as u on u.user_id = m.user_id
    join iam.organizations as o on o.organization_id = m.organization_id
    where u.email = ${email}
    order by o.slug`;
}

const users = (email: string) => sql`select user_id from iam.users where email = ${email}`;

describe("an invited person who is not a user yet", () => {
  it("chooses a password, becomes a user and a member, and is signed in", async () => {
    const { email, token } = await invited({ role: "administrator" });
    const browser = new Browser(service.url);
    const page = await browser.get(pathOf(token));
    expect(page.status).toBe(200);
    expect(page.text).toBe(
      `Join acme Invited ${email} By owner@acme.example As administrator Choose a password for your new account. E-mail address New password ` +
        "At least 12 characters. A few words that mean something only to you work well. Repeat the new password Create the account and join",
    );
    expect(page.html).toMatch(/type="email"\s+autocomplete="username"[^>]*readonly/);
    expect(page.html.match(/autocomplete="new-password"/g)).toHaveLength(2);

    const answer = await browser.submit(page, NEW);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(
      `You have joined acme You are signed in as ${email} , administrator of acme . Go to the console of acme When you sign in a program, ` +
        "it shows a code. Enter it on the page for devices .",
    );
    expect(await whoIs(browser)).toBe(email);
    expect(await memberships(email)).toEqual([{ slug: "acme", role: "administrator" }]);
    // And can sign in again.
    expect(await whoIs(await signedIn(service, email))).toBe(email);
    const [row] = await sql`select invitation_id as id from iam.invitations where email = ${email}`;
    // The audit log has no secrets.
    const common = { token_id: null, request_id: "req", project: null, environment: null };
    expect(await sql`select * from iam.audit_log where actor = ${email}`).toEqual([
      {
        ...common,
        organization_id: organizationId,
        audit_seq: expect.anything() as unknown,
        at: expect.any(Date) as Date,
        actor_user_id: (await users(email))[0]!["user_id"] as string,
        actor: email,
        action: "invitation.accepted",
        target: row!["id"] as string,
        details: { role: "administrator" },
      },
    ]);
  });

  it("joins once, and is signed in, if the form is sent twice", async () => {
    const { email, token } = await invited();
    const browser = new Browser(service.url);
    const page = await browser.get(pathOf(token));
    for (const { status, text } of await Promise.all([browser.submit(page, NEW), browser.submit(page, NEW)]))
      expect([status, text]).toEqual([200, expect.stringContaining("You have joined acme")]);
    // Also if the browser has the new session when the second click comes.
    expect((await browser.submit(page, NEW)).text).toContain("You have joined acme");
    expect(await whoIs(browser)).toBe(email);
    expect(await memberships(email)).toHaveLength(1);
  });

  it.each([
    [{ password: "short", repeated: "short" }, "Choose a password of at least 12 characters; this one has 5."],
    [{}, "Choose a password of at least 12 characters; this one has 0."],
    // Eleven characters of two code units each.
    [{ password: "😀".repeat(11) }, "Choose a password of at least 12 characters; this one has 11."],
    [{ password: "x".repeat(257) }, "Choose a password of at most 256 characters; this one has 257."],
    [{ password: PASSWORD, repeated: `${PASSWORD} ` }, "Enter the same password twice; the two were different."],
  ])("is told what is wrong with the password %j", async (fields: Record<string, string>, problem) => {
    const { email, token } = await invited();
    const browser = new Browser(service.url);
    const answer = await browser.fill(pathOf(token), fields);
    expect(answer.status).toBe(422);
    const [field, described] = problem.startsWith("Enter")
      ? ["repeated", "repeated-problem"]
      : ["password", "password-hint password-problem"];
    expect(answer.html).toContain(`<p class="error" role="alert" id="${field}-problem">${problem}</p>`);
    expect(answer.html).toMatch(new RegExp(`aria-describedby="${described}"\\s+aria-invalid="true"`));
    expect(answer.text).toContain(` ${problem} `);
    expect(await users(email)).toEqual([]);
    // The form of the answer still works.
    expect((await browser.submit(answer, NEW)).status).toBe(200);
    expect(await whoIs(browser)).toBe(email);
  });

  it("can choose the longest password, in any script, and does not adopt a planted session", async () => {
    const { email, token } = await invited();
    const password = "😀".repeat(256);
    const planted = `svc_session_${"0".repeat(48)}`;
    const [browser, thief] = [new Browser(service.url), new Browser(service.url)];
    for (const each of [browser, thief]) each.cookies.set("svc_session", planted);
    expect((await browser.fill(pathOf(token), { password, repeated: password })).status).toBe(200);
    expect(browser.cookies.get("svc_session")).not.toBe(planted);
    expect(await whoIs(thief)).toBeNull();
    expect((await new Browser(service.url).fill("/login", { email, password })).status).toBe(303);
  });
});

describe("an invited user", () => {
  it("signs in, is led back, and joins by one click", async () => {
    const email = newEmail();
    await createUser(sql, email);
    const { token } = await invited({ email, role: "viewer" });
    const browser = new Browser(service.url);
    const stranger = await browser.get(pathOf(token));
    expect(stranger.text).toBe(
      `Join acme Invited ${email} By owner@acme.example As viewer There is an account with this e-mail address. Sign in with it to return here. ` +
        "If it has no password yet, or you forgot it, ask an owner of your organization or the operator of this service for a link to set one.",
    );
    const link = /<a href="([^"]+)">Sign in with it/.exec(stranger.html)![1]!;
    const back = await browser.fill(`/${link}`, { email, password: PASSWORD });
    expect(back).toMatchObject({ status: 303, location: "/invitation" });

    const page = await browser.get(back.location!);
    expect(formOf(page.html).fields).toEqual([]);
    const session = browser.cookies.get("svc_session");
    const answer = await browser.submit(page);
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^You have joined acme You are signed in as \S+ , viewer of acme \./);
    expect(browser.cookies.get("svc_session")).toBe(session);
    expect(await memberships(email)).toEqual([{ slug: "acme", role: "viewer" }]);
  });

  it.each([PASSWORD, null])("keeps the account, whoever has the link: its password stays %j", async (password) => {
    const email = newEmail();
    await createUser(sql, email, password);
    const { token } = await invited({ email });
    const holder = new Browser(service.url);
    expect((await holder.get(pathOf(token))).html).not.toContain('type="password"');
    const form_token = await holder.formToken();
    const replacement = "another horse battery";
    const answer = await holder.post("/invitation", {
      form_token,
      token,
      password: replacement,
      repeated: replacement,
    });
    expect(answer).toMatchObject({ status: 303, location: "/invitation" });
    expect(await whoIs(holder)).toBeNull();
    expect(await memberships(email)).toEqual([]);
    if (password === null) expect(await passwordsOf(email)).toBe(0);
    else expect(await whoIs(await signedIn(service, email))).toBe(email);
  });

  it("keeps an account that was created while the form was open", async () => {
    const { email, token } = await invited();
    let joined: Promise<boolean> | undefined;
    await sql.begin(async (tx) => {
      await tx`insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${email})`;
      joined = call(sql, "accept_invitation", {
        linkHash: hashCredential(token),
        requestId: "req",
        previousHash: null,
        sessionHash: newCredential("session").hash,
        passwordHash: "$argon2id$of-the-holder",
      });
      await vi.waitFor(async () => expect(await tx`select from pg_locks where not granted`).toHaveLength(1));
    });
    expect(await joined).toBe(false);
    expect(await memberships(email)).toEqual([]);
    expect(await passwordsOf(email)).toBe(0);
  });

  it("is asked to sign out first if another user is signed in, who cannot join, and led back", async () => {
    await createUser(sql, "other@example.com");
    const { email, token } = await invited();
    const browser = await signedIn(service, "other@example.com");
    const page = await browser.get(pathOf(token));
    expect(page.text).toBe(
      `Join acme Invited ${email} By owner@acme.example As developer You are signed in as other@example.com , but the invitation is for somebody else. ` +
        "Sign out to continue as the person invited. Sign out",
    );
    expect(formOf(page.html).action).toBe("logout");
    const answer = await browser.post("/invitation", { form_token: await formToken(browser), token, ...NEW });
    expect(answer).toMatchObject({ status: 303, location: "/invitation" });
    expect([...(await memberships("other@example.com")), ...(await users(email))]).toEqual([]);
    const left = await browser.submit(page);
    expect(left.location).toBe("/invitation");
    expect((await browser.get("/invitation")).text).toContain("Create the account and join");
    expect(await whoIs(browser)).toBeNull();
  });
});

describe("a link that is not valid says so", () => {
  const open = async (token: string, browser = new Browser(service.url)) => {
    const { status, text } = await browser.get(pathOf(token));
    return { status, text };
  };
  it("unknown, or repeated in the address", async () => {
    const text =
      "No such invitation This link belongs to no invitation. Check that the link is complete, or ask the person who sent it to invite you again. " +
      "Request ID: req Go to the console";
    const { token } = await invited();
    const unknown = ["", "x", `svc_link_${"0".repeat(48)}`, "a".repeat(5_000), "%00", `${token}&token=${token}`];
    for (const each of unknown) expect(await open(each)).toEqual({ status: 404, text });
  });

  const ended = (what: string) =>
    `The invitation ${what} The invitation to acme can no longer be accepted. Ask an owner of the organization to invite you again.`;
  const accepted =
    "The invitation was already accepted The invitation to acme is no longer needed: the person invited has already joined. " +
    "If it was you, sign in. If it was not, tell an owner of the organization.";

  it.each([
    ["expires_at", ended("has expired")],
    ["revoked_at", ended("was withdrawn")],
    ["accepted_at", accepted],
  ])("ended by %s, also to a form that was open before", async (column, says) => {
    const { email, token } = await invited();
    const browser = new Browser(service.url);
    const page = await browser.get(pathOf(token));
    await sql`update iam.invitations set ${sql(column)} = now() where link_hash = ${hashCredential(token)}`;
    expect(await open(token)).toEqual({ status: 410, text: `${says} Request ID: req Go to the console` });
    expect((await browser.submit(page, NEW)).status).toBe(410);
    expect(await users(email)).toEqual([]);
    expect(await whoIs(browser)).toBeNull();
  });

  it("of a member, who keeps the role", async () => {
    const email = newEmail();
    const userId = await createUser(sql, email);
    await sql`
      insert into iam.memberships (organization_id, user_id, role) values (${organizationId}, ${userId}, 'owner')`;
    const { token } = await invited({ email, role: "viewer" });
    const browser = await signedIn(service, email);
    expect((await open(token, browser)).status).toBe(410);
    const form_token = await formToken(browser);
    expect((await browser.post("/invitation", { form_token, token })).status).toBe(410);
    expect(await memberships(email)).toEqual([{ slug: "acme", role: "owner" }]);
  });

  it("to all but one of several browsers that use it at once, and to the user who used it", async () => {
    const { email, token } = await invited();
    const browsers = Array.from({ length: 4 }, () => new Browser(service.url));
    const pages = await Promise.all(browsers.map((browser) => browser.get(pathOf(token))));
    const answers = await Promise.all(browsers.map((browser, i) => browser.submit(pages[i]!, NEW)));
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(await memberships(email)).toHaveLength(1);
    expect(await sql`select from iam.audit_log where actor = ${email}`).toHaveLength(1);
    const winner = browsers[answers.findIndex(({ status }) => status === 200)];
    expect(await open(token, winner)).toEqual({
      status: 410,
      text: "You are a member of acme The invitation to acme is no longer needed: you have already joined. There is nothing to do. Request ID: req Go to the console",
    });
  });
});

it("an invitation escapes its addresses and its token", async () => {
  const invitedBy = "<script>alert(1)</script>@acme.example";
  const { token } = await invited({ email: `<b>"x"@example.com`, invitedBy });
  const browser = new Browser(service.url);
  const { html } = await browser.get(pathOf(token));
  expect(html).not.toMatch(/<script|<b>/);
  expect(html).toContain("<dd>&lt;b>&quot;x&quot;@example.com</dd>");
  expect(html).toContain("<dd>&lt;script>alert(1)&lt;/script>@acme.example</dd>");
  const form_token = await browser.formToken();
  expect((await browser.post("/invitation", { form_token, token: `"><script>` })).html).not.toContain("<script");
});
