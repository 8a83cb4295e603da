import { beforeEach, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { hashCredential, newCredential } from "../../../src/http/request/credentials.js";
import { openMailer } from "../../../src/mail/mailer.js";
import { Browser } from "../../support/browser.js";
import { lockWaiter } from "../../support/locks.js";
import { startService, useService } from "../../support/service.js";
import { startMailServer } from "../../support/smtp.js";
import { createUser, PASSWORD, passwordLink, signedIn, whoIs } from "./people.js";

// How a user gets a link that sets a password: by the current password, or by mail.

const failures: string[] = [];
const mail = await startMailServer();
const mailer = openMailer({ url: mail.url, from: "svc@example.com", onFailure: (_, reason) => failures.push(reason) });
const service = await useService({}, { mailer });
const { sql } = service.db;

const OTHER = "another horse battery";
const NEW = { password: OTHER, repeated: OTHER };
let people = 0;

async function newUser(password: string | null = PASSWORD) {
  const email = `person${++people}@example.com`;
  return { email, userId: await createUser(sql, email, password) };
}
const signIn = async (email: string, password: string) =>
  (await new Browser(service.url).fill("/login", { email, password })).status;

// Reset the request counts of network addresses.
beforeEach(() => sql`delete from iam.throttles`);

describe("a signed-in user changes the password", () => {
  it("by the current one, after signing in if signed out, and is signed out everywhere", async () => {
    const { email } = await newUser();
    const [browser, other] = [new Browser(service.url), await signedIn(service, email)];
    expect(await browser.get("/change-password")).toMatchObject({
      status: 303,
      location: "/login?next=%2Fchange-password",
    });
    const back = await browser.fill("/login?next=%2Fchange-password", { email, password: PASSWORD });
    expect(back.location).toBe("/change-password");
    const page = await browser.get("/change-password");
    expect(page.text).toBe(
      "Change your password E-mail address Current password Continue If you forgot your password, have a link mailed to you .",
    );
    const answer = await browser.submit(page, { password: PASSWORD });
    expect([answer.status, answer.headers.get("Location")]).toEqual([303, "password"]);
    const form = await browser.get("/password");
    // The first of two clicks ends the session to which the form belongs.
    for (let click = 1; click <= 2; click++)
      expect((await browser.submit(form, NEW)).text).toContain("The password is set");
    expect(await whoIs(browser)).toBeNull();
    expect(await whoIs(other)).toBeNull();
    expect([await signIn(email, PASSWORD), await signIn(email, OTHER)]).toEqual([422, 303]);
  });

  it("by one link if the form is sent twice: a second one would end the first", async () => {
    const { email, userId } = await newUser();
    const browser = await signedIn(service, email);
    const page = await browser.get("/change-password");
    const click = () => browser.submit(page, { password: PASSWORD });
    for (const { status, location } of await Promise.all([click(), click()]))
      expect([status, location]).toEqual([303, "/password"]);
    expect(await sql`select from iam.password_links where user_id = ${userId}`).toHaveLength(1);
    expect((await browser.get("/password")).status).toBe(200);
  });

  it("not by a wrong one, which counts as an attempt", async () => {
    const { email } = await newUser();
    const browser = await signedIn(service, email);
    for (let attempt = 0; attempt < 5; attempt++) {
      const answer = await browser.fill("/change-password", { password: "not my password" });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain("This is not your password. Check it, then try again.");
    }
    expect((await browser.fill("/change-password", { password: PASSWORD })).status).toBe(429);
    expect(await sql`select from iam.password_links where created_by = ${email}`).toEqual([]);
    expect(await whoIs(browser)).toBe(email);
  });

  it("not with a form from before the session ended, which says so", async () => {
    const { email, userId } = await newUser();
    const browser = await signedIn(service, email);
    const page = await browser.get("/change-password");
    await sql`delete from iam.sessions where user_id = ${userId}`;
    const answer = await browser.submit(page, { password: PASSWORD });
    expect([answer.status, answer.text]).toEqual([403, expect.stringMatching(/^You are signed out /)]);
  });

  it("not by a password that has been changed meanwhile, nor in a session that has ended", async () => {
    const { email, userId } = await newUser();
    const browser = await signedIn(service, email);
    const [{ hash }] = await sql<
      [{ hash: Buffer }]
    >`select session_hash as hash from iam.sessions where user_id = ${userId}`;
    const { passwordHash } = await call(sql, "begin_sign_in", email, "192.0.2.1");
    const begin = () => call(sql, "begin_password_change", hash, passwordHash!, newCredential("link").hash);
    expect(await begin()).toBe(true);
    await sql`update iam.identities set password_hash = '$argon2id$new' where user_id = ${userId}`;
    expect(await begin()).toBe(false);
    await sql`update iam.identities set password_hash = ${passwordHash} where user_id = ${userId}`;
    await sql`update iam.sessions set expires_at = now() where user_id = ${userId}`;
    expect(await begin()).toBe(false);
    expect((await browser.get("/change-password")).status).toBe(303);
  });
});

it("a link that sets the password goes before a change of it by the current one that begins meanwhile", async () => {
  const { userId } = await newUser();
  const [session, link] = [newCredential("session").hash, hashCredential(await passwordLink(sql, userId))];
  await sql`
    insert into iam.sessions (session_hash, user_id, expires_at) values (${session}, ${userId}, now() + interval '1 hour')`;
  const [{ hash }] = await sql<[{ hash: string }]>`
    select password_hash as hash from iam.identities where user_id = ${userId}`;
  let answers: Promise<boolean>[] = [];
  await sql.begin(async (tx) => {
    // Stops the first one after it has locked the user, before it locks the password.
    await tx`select from iam.password_links where link_hash = ${link} for update`;
    answers = [call(sql, "set_password", link, "$argon2id$new")];
    await lockWaiter(tx, "%set_password%");
    answers.push(call(sql, "begin_password_change", session, hash, newCredential("link").hash));
    await lockWaiter(tx, "%begin_password_change%");
  });
  expect(await Promise.all(answers)).toEqual([true, false]);
});

describe("a user who forgot the password", () => {
  const ask = (email: string) => new Browser(service.url).fill("/forgotten-password", { email });
  const SENT =
    "Check your mail If there is an account for EMAIL , a link to set a new password is on its way. It works once, for 24 hours. " +
    "If no mail arrives within a few minutes, ask an owner of your organization, or the operator of this service, for a link.";
  const mails = async (count: number) => {
    await expect.poll(() => mail.mails.length, { timeout: 20_000 }).toBe(count);
    return mail.mails.splice(0);
  };

  it("gets a link by mail, sets another with it, and has a verified address then", async () => {
    const { email, userId } = await newUser(null);
    const login = await new Browser(service.url).get("/login");
    expect(login.html).toContain('<a href="forgotten-password">');
    const answer = await ask(` ${email.toUpperCase()} `);
    expect([answer.status, answer.text]).toEqual([200, SENT.replace("EMAIL", email.toUpperCase())]);
    const [sent] = await mails(1);
    expect(sent).toMatchObject({ to: [email], headers: { subject: "Set your password" } });
    const [link] = /https?:\S+/.exec(sent!.text)!;
    expect(sent!.text.replace(/svc_link_\w+/, "SECRET").replace(/\d{4}-\S+ \S+ UTC/, "THEN"))
      .toBe(`Somebody asked on the sign-in page for a link by which you can set a new password. It works once:

${service.url}/password?token=SECRET

It stops working at THEN. If you did not ask for it, do nothing: your password stays as it is.
`);
    const { pathname, search } = new URL(link);
    await new Browser(service.url).fill(pathname + search, NEW);
    expect(await signIn(email, OTHER)).toBe(303);
    const [user] = await sql`select email_verified_at is not null as verified from iam.users where user_id = ${userId}`;
    expect(user).toEqual({ verified: true });
  });

  it("gets one link if the form is sent twice: a second one would end the first", async () => {
    const { email, userId } = await newUser();
    const browser = new Browser(service.url);
    const page = await browser.get("/forgotten-password");
    for (const { status } of await Promise.all([browser.submit(page, { email }), browser.submit(page, { email })]))
      expect(status).toBe(200);
    expect(await sql`select from iam.password_links where user_id = ${userId}`).toHaveLength(1);
    await mails(1);
  });

  it("cannot learn whether a user exists", async () => {
    const { email } = await newUser();
    const [known, unknown] = [await ask(email), await ask("nobody@example.com")];
    expect(unknown.text).toBe(known.text.replace(email, "nobody@example.com"));
    expect((await mails(1))[0]!.to).toEqual([email]);
  });

  it("gets at most three mails at once, whoever requests them; only the last link works", async () => {
    const { email, userId } = await newUser();
    for (let asked = 0; asked < 4; asked++) {
      const answer = await call(sql, "request_password_link", email, `192.0.2.${asked}`, newCredential("link").hash);
      expect([answer.waitSeconds, answer.mail?.to]).toEqual([null, asked < 3 ? email : undefined]);
    }
    const open = await sql`select from iam.password_links where user_id = ${userId} and used_at is null`;
    expect(open).toHaveLength(1);
  });

  it("has to enter an address, and to wait after ten requests from one network address", async () => {
    for (const wrong of ["", "nobody", "a b@example.com", `${"a".repeat(250)}@example.com`]) {
      const answer = await ask(wrong);
      expect(answer.status).toBe(422);
      expect(answer.text).toContain("This is not an e-mail address.");
    }
    for (let asked = 0; asked < 10; asked++) expect((await ask(`nobody${asked}@example.com`)).status).toBe(200);
    const late = await ask("nobody@example.com");
    expect([late.status, late.text]).toEqual([
      429,
      expect.stringMatching(/Too many links were requested from your network\. Wait \d+ seconds/),
    ]);
    expect(late.html).toMatch(/<input id="email"[^>]* value="nobody@example\.com"/);
  });

  it("sees no failure of the mail server, which is logged", async () => {
    const { email } = await newUser();
    await mail.stop();
    expect((await ask(email)).status).toBe(200);
    await expect.poll(() => failures.length, { timeout: 20_000 }).toBe(1);
  });
});

it("a service that sends no mail refers to owners and the operator", async () => {
  const mailless = await startService();
  const { status, text } = await new Browser(mailless.url).get("/forgotten-password");
  expect([status, text]).toEqual([
    404,
    "No mail This service does not send mail. Ask an owner of your organization, or the operator of this service, for a link to set a new password. Request ID: req Go to the console",
  ]);
  expect((await new Browser(mailless.url).get("/login")).html).not.toContain("forgotten-password");
  await mailless.stop();
});
