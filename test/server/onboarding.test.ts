import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { openMailer } from "../../src/mail/mailer.js";
import { PASSWORD, signedIn, whoIs } from "../http/pages/people.js";
import { auditOf, join, userIdOf } from "../http/admin/organization/support.js";
import { Browser } from "../support/browser.js";
import { useService } from "../support/service.js";
import { startMailServer } from "../support/smtp.js";
import { refused, runServer } from "./support/run-server.js";

// An attacker creates a user with another person's address in its own organization, before the operator creates that person's organization.

const mail = await startMailServer();
const mailer = openMailer({ url: mail.url, from: "svc@example.com", onFailure: () => undefined });
const service = await useService({}, { mailer });
const { sql } = service.db;
const mallory = await service.owner("evil");
afterAll(() => mail.stop());
beforeEach(() => void mail.mails.splice(0));

let companies = 0;
/** A new address, and the organization that it will own. */
const somebody = () => {
  const slug = `newcorp${++companies}`;
  return { slug, email: `boss@${slug}.example` };
};
const run = (...args: string[]) => runServer(service.db.url, args);
const bootstrap = (slug: string, email: string, ...more: string[]) =>
  run("bootstrap", "--organization", slug, "--email", email, "--json", ...more);
const tokenIn = (text: string) => /svc_link_[0-9a-f]{48}/.exec(text)![0];
const operatorsLink = async (email: string) => tokenIn((await run("users", "link", "--email", email, "--json")).stdout);
const NEW = { password: PASSWORD, repeated: PASSWORD };

/** A link that the owner of evil requests: the secret in the answer, and the one in the mail. */
async function linkBy(path: string, body: object): Promise<{ shown: string; mailed: string }> {
  const reply = await service.request("POST", path, { by: mallory, body });
  expect(reply.status).toBe(201);
  return { shown: tokenIn((reply.body as { link: string }).link), mailed: tokenIn(mail.mails.at(-1)!.text) };
}
const invite = (email: string) => linkBy("/organization/invitations", { email, role: "developer" });
const resetPath = async (email: string) => `/organization/members/${await userIdOf(service, email)}/password-reset`;
const resetLink = async (email: string) => linkBy(await resetPath(email), {});

/** Opens an invitation or a password link and chooses PASSWORD. */
async function choosePassword(path: "invitation" | "password", token: string): Promise<Browser> {
  const browser = new Browser(service.url);
  const answer = await browser.fill(`/${path}?token=${token}`, NEW);
  expect(answer.status, answer.html).toBeLessThan(400);
  return browser;
}

async function organizationsOf(email: string): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`
    select o.slug from iam.users as u join iam.memberships as m using (user_id) join iam.organizations as o using (organization_id)
    where u.email = ${email} order by o.slug`;
  return rows.map(({ slug }) => slug);
}

it("bootstrap refuses an address that invitations refuse", async () => {
  expect(await bootstrap("oddcorp", "ada<ada@acme.example>")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--email must be an address, not `ada<ada@acme.example>`") as string,
  });
  expect(await organizationsOf("ada<ada@acme.example>")).toEqual([]);
});

const isThere = (email: string) =>
  refused(
    `A user "${email}" already exists, in the organizations: evil (developer). Its password may have been set by someone else. ` +
      "Ask the user. To remove its password and sign it out everywhere, add --reset-user; then " +
      `\`svc-server users link --email ${email}\` makes a link to set a new one.`,
  );

describe("an attacker who invites an address and opens the link itself", () => {
  it("gets no bootstrapped organization, and is signed out and loses its password with --reset-user", async () => {
    const { slug, email } = somebody();
    const browser = await choosePassword("invitation", (await invite(email)).shown);
    expect(await bootstrap(slug, email)).toEqual(isThere(email));
    expect(await organizationsOf(email)).toEqual(["evil"]);
    expect(await sql`select from iam.organizations where slug = ${slug}`).toEqual([]);
    expect(await whoIs(browser)).toBe(email);

    const made = await bootstrap(slug, email, "--reset-user");
    const stderr = `svc-server: ${email} was a user already; its organizations so far: evil (developer)\n`;
    expect(made).toMatchObject({ code: 0, stderr });
    expect(Object.keys(JSON.parse(made.stdout) as object)).toEqual(["organizationId", "accessToken"]);
    expect(await whoIs(browser)).toBeNull();
    await expect(signedIn(service, email)).rejects.toThrow("the sign-in was answered");
    // The owner of evil cannot reset the password: the user belongs to newcorp, too.
    expect((await service.request("POST", await resetPath(email), { by: mallory, body: {} })).status).toBe(403);
    expect(await organizationsOf(email)).toEqual(["evil", slug]);
    expect(await bootstrap(slug, email)).toMatchObject({ code: 0, stderr: "" });
  });

  it("keeps no headless token of any organization with --reset-user", async () => {
    const { slug, email } = somebody();
    await choosePassword("invitation", (await invite(email)).shown);
    const other = await service.owner(`other-${slug}`);
    await join(service, email, other.organizationId, "developer");
    const tokens: { id: string; organizationId: string; token: string }[] = [];
    for (const organization of ["evil", `other-${slug}`]) {
      const args = ["tokens", "create", "--organization", organization, "--label", "kept", "--email", email, "--json"];
      const made = JSON.parse((await run(...args)).stdout) as Record<"id" | "organizationId" | "accessToken", string>;
      tokens.push({ ...made, token: made.accessToken });
    }
    const answers = async () =>
      (await Promise.all(tokens.map((by) => service.request("GET", "/whoami", { by })))).map(({ status }) => status);
    expect(await answers()).toEqual([200, 200]);

    const made = await bootstrap(slug, email, "--reset-user");
    expect(await answers()).toEqual([401, 401]);
    expect(made.stderr).toContain(
      `svc-server: the headless tokens of ${email} were revoked, 2 in all; programs that used them need new ones\n`,
    );
    const { organizationId, accessToken } = JSON.parse(made.stdout) as Record<"organizationId" | "accessToken", string>;
    const fresh = { organizationId, token: accessToken };
    expect((await service.request("GET", "/whoami", { by: fresh })).status).toBe(200);
    for (const { organizationId: audited, id } of tokens) {
      expect(await auditOf(service, audited)).toContainEqual(
        expect.objectContaining({ action: "user.reset", actor: "operator", details: { email, revokedTokens: [id] } }),
      );
    }
  });

  it("gains nothing if the user leaves evil", async () => {
    const { slug, email } = somebody();
    await choosePassword("invitation", (await invite(email)).shown);
    await service.request("DELETE", `/organization/members/${await userIdOf(service, email)}`, { by: mallory });
    const { code, stderr } = await bootstrap(slug, email);
    expect([code, stderr]).toEqual([1, expect.stringContaining("in the organizations: none.")]);
  });
});

describe("an address is verified", () => {
  it("by the mailed link, which differs from the answered one", async () => {
    const { slug, email } = somebody();
    const { shown, mailed } = await invite(email);
    expect(mailed).not.toBe(shown);
    await choosePassword("invitation", mailed);
    const made = await bootstrap(slug, email);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("was a user already")]);
    // Both are used up.
    expect((await new Browser(service.url).get(`/invitation?token=${shown}`)).status).toBe(410);
  });

  it("no longer once a password is set by an answered link, and again by a mailed one", async () => {
    const { slug, email } = somebody();
    await choosePassword("invitation", (await invite(email)).mailed);
    await choosePassword("password", (await resetLink(email)).shown);
    expect(await bootstrap(slug, email)).toEqual(isThere(email));
    await choosePassword("password", (await resetLink(email)).mailed);
    expect(await bootstrap(slug, email)).toMatchObject({ code: 0 });
  });

  it("by an operator's link", async () => {
    const { slug, email } = somebody();
    await choosePassword("invitation", (await invite(email)).shown);
    await choosePassword("password", await operatorsLink(email));
    expect(await bootstrap(slug, email)).toMatchObject({ code: 0 });
    expect((await run("users", "list")).stdout).toContain(
      `${email}\tevil:developer,${slug}:owner\tpassword, address verified\n`,
    );
  });

  it("not by an open link of another organization's owner, which becomes invalid when the user becomes an owner", async () => {
    const { slug, email } = somebody();
    await bootstrap(slug, email);
    await sql`
      insert into iam.memberships (organization_id, user_id, role)
      values (${mallory.organizationId}, ${await userIdOf(service, email)}, 'viewer')`;
    await sql`delete from iam.memberships as m using iam.organizations as o
      where o.organization_id = m.organization_id and o.slug = ${slug}`;
    const { shown } = await resetLink(email);
    expect(await bootstrap(slug, email)).toMatchObject({ code: 0 });
    expect((await new Browser(service.url).get(`/password?token=${shown}`)).status).toBe(410);
  });
});

it("the operator's link signs a browser in as any user, once, even before the user has a password", async () => {
  const { slug, email } = somebody();
  await bootstrap(slug, email);
  const { link } = JSON.parse((await run("users", "sign-in", "--email", email, "--json")).stdout) as { link: string };
  const path = `/sign-in?token=${tokenIn(link)}`;
  const browser = new Browser(service.url);
  expect((await browser.submit(await browser.get(path))).location).toBe("/console");
  expect(await whoIs(browser)).toBe(email);
  expect((await new Browser(service.url).get(path)).status).toBe(410);
  const [entry] = await sql`
    select actor, target, details from iam.audit_log where action = 'sign_in_link.created' order by audit_seq desc limit 1`;
  expect(entry).toEqual({ actor: "operator", target: await userIdOf(service, email), details: { email } });
  expect(await run("users", "sign-in", "--email", "nobody@example.com")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no user "nobody@example.com".') as string,
  });
});

describe("bootstrap", () => {
  it("succeeds as before for the organization's own user, verified or not", async () => {
    const { slug, email } = somebody();
    const first = await bootstrap(slug, email);
    await choosePassword("password", await operatorsLink(email));
    await sql`update iam.users set email_verified_at = null where email = ${email}`;
    const second = await bootstrap(slug, email);
    expect(second).toMatchObject({ code: 0, stderr: "" });
    const [before, now] = [first, second].map(({ stdout }) => JSON.parse(stdout) as { organizationId: string });
    expect(now!.organizationId).toBe(before!.organizationId);
  });

  it("prints for people, outside its output, a link by which the owner opens the console", async () => {
    const { slug, email } = somebody();
    const args = ["bootstrap", "--organization", slug, "--email", email];
    const { stdout, stderr } = await runServer(service.db.url, args, { SVC_PUBLIC_URL: service.url });
    expect(stdout).toMatch(
      /^# The token is shown only now.*\nexport SVC_ORGANIZATION=\S+\nexport SVC_ACCESS_TOKEN=\S+\n$/,
    );
    expect(stderr).toMatch(
      new RegExp(`^svc-server: the console, signed in as ${email} \\(once, within five minutes\\): ${service.url}/`),
    );
    const { pathname, search } = new URL(stderr.trim().split(" ").at(-1)!);
    const browser = new Browser(service.url);
    expect((await browser.submit(await browser.get(pathname + search))).location).toBe("/console");
    expect(await whoIs(browser)).toBe(email);
  });

  it("invalidates an open invitation of the address", async () => {
    const { slug, email } = somebody();
    const { shown } = await invite(email);
    const browser = new Browser(service.url);
    const page = await browser.get(`/invitation?token=${shown}`);
    await bootstrap(slug, email);
    expect((await browser.submit(page, NEW)).status).toBe(303);
    expect(await organizationsOf(email)).toEqual([slug]);
  });
});
