import type { Sql, TransactionSql } from "postgres";
import { describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { Passwords } from "../../../src/console/sign-in/passwords.js";
import { hashCredential, newCredential } from "../../../src/http/request/credentials.js";
import { Browser } from "../../support/browser.js";
import { lockWaiter } from "../../support/locks.js";
import { useService } from "../../support/service.js";
import { createOrganization, createUser, PASSWORD, passwordLink, signedIn, whoIs } from "./people.js";

const service = await useService();
const { sql } = service.db;

let people = 0;
const pathOf = (token: string) => `/password?token=${token}`;
const OTHER = "another horse battery";
const NEW = { password: OTHER, repeated: OTHER };

async function newUser(password: string | null = PASSWORD) {
  const email = `person${++people}@example.com`;
  return { email, userId: await createUser(sql, email, password) };
}
const linkOf = (userId: string, seconds?: number) => passwordLink(sql, userId, seconds);
const open = (path: string) => new Browser(service.url).get(path);
/** Opens a link in a new browser and sets the password there. */
const use = (token: string) => new Browser(service.url).fill(pathOf(token), NEW);

async function signIn(email: string, password: string) {
  const browser = new Browser(service.url);
  return (await browser.fill("/login", { email, password })).status;
}

describe("a link sets a password", () => {
  it("after which the new one signs in and the old one does not, and ends every session of the user and nobody else's", async () => {
    const { email, userId } = await newUser();
    const token = await linkOf(userId);
    const grace = (await newUser()).email;
    const [browser, second, other] = [
      await signedIn(service, email),
      await signedIn(service, email),
      await signedIn(service, grace),
    ];
    const page = await browser.get(pathOf(token));
    expect(page.text).toBe(
      "Set a password Setting a password signs you out in every browser and on every command line. E-mail address New password At least 12 characters. " +
        "A few words that mean something only to you work well. Repeat the new password Set the password",
    );
    expect(page.html).toContain(`value="${email}"`);
    const answer = await browser.submit(page, NEW);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(
      `The password is set Every browser and command line that was signed in as ${email} has been signed out. Sign in with the new password .`,
    );
    for (const signedOut of [browser, second]) expect(await whoIs(signedOut)).toBeNull();
    expect(await whoIs(other)).toBe(grace);
    expect([await signIn(email, PASSWORD), await signIn(email, OTHER)]).toEqual([422, 303]);
  });

  it("once, if its form is sent twice, and says so each time", async () => {
    const { email, userId } = await newUser();
    const browser = new Browser(service.url);
    const page = await browser.get(pathOf(await linkOf(userId)));
    for (const { status, text } of await Promise.all([browser.submit(page, NEW), browser.submit(page, NEW)]))
      expect([status, text]).toEqual([200, expect.stringContaining("The password is set")]);
    expect(await signIn(email, OTHER)).toBe(303);
  });

  it("also of a user without one, stored as argon2id with OWASP's parameters", async () => {
    const { email, userId } = await newUser(null);
    await use(await linkOf(userId));
    const [row] = await sql`select password_hash as hash from iam.identities where user_id = ${userId}`;
    expect(row!["hash"]).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await signIn(email, OTHER)).toBe(303);
  });

  it("and explains what is wrong with a weak one", async () => {
    const { email, userId } = await newUser();
    const token = await linkOf(userId);
    const browser = new Browser(service.url);
    const shouted = ` ${email.toUpperCase()}`;
    const answer = await browser.fill(pathOf(token), { password: shouted, repeated: shouted });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("Choose a password that is not your e-mail address.");
    // The link was not used up.
    expect((await browser.submit(answer, NEW)).status).toBe(200);
  });
});

describe("setting a password ends", () => {
  it("the user's command-line tokens, pending devices and other links, but no headless token", async () => {
    const { userId } = await newUser();
    const organizationId = await createOrganization(sql, `acme-${people}`);
    const add = (hash: string, kind: string, organization: string | null) => sql`
      insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, label, expires_at)
      values (${Buffer.from(hash)}, ${hash}, ${kind}, ${userId}, ${organization}, 'test', now() + interval '1 day')`;
    await add(`session-${userId}`, "session", null);
    await add(`headless-${userId}`, "headless", organizationId);
    const otherLink = await linkOf(userId);
    await sql`
      insert into iam.device_authorizations (
        device_code_hash, user_code, client_id, address, created_at, expires_at, interval_seconds, status, user_id, decided_at
      )
      values (
        ${Buffer.from(userId)}, ${userId}, 'svc-cli', '192.0.2.1', now(), now() + interval '10 minutes', 5, 'approved', ${userId}, now()
      )`;
    await use(await linkOf(userId));
    expect(
      await sql`select kind, revoked_at is not null as revoked from iam.access_tokens where user_id = ${userId} order by kind`,
    ).toEqual([
      { kind: "headless", revoked: false },
      { kind: "session", revoked: true },
    ]);
    expect(await sql`select status from iam.device_authorizations where user_id = ${userId}`).toEqual([
      { status: "denied" },
    ]);
    expect((await open(pathOf(otherLink))).status).toBe(410);
  });

  it("a sign-in with the old one that is in progress", async () => {
    const { email, userId } = await newUser();
    const { passwordHash } = await call(sql, "begin_sign_in", email, "192.0.2.1");
    const common = { email, address: "192.0.2.1", userId, passwordHash: passwordHash!, previousHash: null };
    const finish = () => call(sql, "finish_sign_in", { ...common, sessionHash: newCredential("session").hash });
    const token = await linkOf(userId);
    // Whichever comes first, no session of the old password remains.
    const [wasSet] = await Promise.all([call(sql, "set_password", hashCredential(token), "$argon2id$new"), finish()]);
    expect(wasSet).toBe(true);
    expect(await finish()).toBe(false);
    expect(await sql`select from iam.sessions where user_id = ${userId}`).toHaveLength(0);
  });

  it("all but one of a user's links that are used at once", async () => {
    const { userId } = await newUser();
    const links = await Promise.all(Array.from({ length: 6 }, () => linkOf(userId)));
    const answers = await Promise.all(
      links.map((link, i) => call(sql, "set_password", hashCredential(link), `$argon2id$${i}`)),
    );
    expect(answers.filter((wasSet) => wasSet)).toHaveLength(1);
    const [row] = await sql`select password_hash from iam.identities where user_id = ${userId}`;
    expect(row).toEqual({ password_hash: `$argon2id$${answers.indexOf(true)}` });
  });
});

describe.each([
  ["a new password ends", "set_password"],
  ["the operator ends", "operator_lock_out_user"],
] as const)("a command line whose sign-in %s", (_, ending) => {
  /** Ends the user's sign-ins, asks with the user's token for a browser link, and uses that link. */
  async function newRace() {
    const { email, userId } = await newUser();
    const [token, link] = [newCredential("token").hash, newCredential("link").hash];
    await sql`
      insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, client_id, expires_at)
      values (${token}, svc.random_id('tok_'), 'session', ${userId}, 'svc', 'svc-cli', now() + interval '1 day')`;
    const password = hashCredential(await linkOf(userId));
    return {
      end: async (by: Sql | TransactionSql): Promise<unknown> =>
        ending === "set_password" ? call(by, ending, password, "$argon2id$new") : call(by, ending, email),
      ask: (by: Sql | TransactionSql, hash = link) => call(by, "create_sign_in_link", token, "svc-cli", hash),
      use: () => call(sql, "use_sign_in_link", link, newCredential("session").hash, null),
    };
  }

  it("signs no browser in by a link that it asked for just before", async () => {
    const { end, ask, use } = await newRace();
    let ended: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      expect(await ask(tx)).not.toBeNull();
      ended = end(sql);
      await Promise.race([ended, lockWaiter(tx, `%${ending}%`)]);
    });
    await ended;
    expect(await use()).toBe(false);
  });

  it.each([false, true])("gets no link that it asks for meanwhile (had one: %s)", async (hadOne) => {
    const { end, ask, use } = await newRace();
    if (hadOne) await ask(sql, newCredential("link").hash);
    let asked: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      await end(tx);
      asked = ask(sql);
      await Promise.race([asked, lockWaiter(tx, "%create_sign_in_link%")]);
    });
    expect(await asked).toBeNull();
    expect(await use()).toBe(false);
  });
});

describe("a link that is not valid says so", () => {
  const fix =
    "Ask an owner of your organization, or the operator of this service, for a new link. Request ID: req Go to the console";

  it("if it is unknown, or of another kind", async () => {
    const text = `No such link This link does not set a password. ${fix}`;
    for (const token of ["", "x", `svc_link_${"0".repeat(48)}`, "a".repeat(5_000)])
      expect(await open(pathOf(token))).toMatchObject({ status: 404, text });
    const token = await linkOf((await newUser()).userId);
    const browser = new Browser(service.url);
    expect((await browser.get(`/invitation?token=${token}`)).status).toBe(404);
    const form_token = await browser.formToken();
    expect((await browser.post("/invitation", { form_token, token, ...NEW })).status).toBe(404);
  });

  it.each([
    ["has expired", 0],
    ["was already used", 3_600],
  ])("that it %s", async (what, seconds) => {
    const token = await linkOf((await newUser()).userId, seconds);
    if (seconds > 0) await use(token);
    const text = `The link ${what} This link can no longer be used to set a password. ${fix}`;
    expect(await open(pathOf(token))).toMatchObject({ status: 410, text });
  });

  it("also to a form that was open before, which leaves the password unchanged", async () => {
    const { email, userId } = await newUser();
    const token = await linkOf(userId);
    const browser = new Browser(service.url);
    const page = await browser.get(pathOf(token));
    await sql`update iam.password_links set used_at = now() where user_id = ${userId}`;
    expect((await browser.submit(page, NEW)).status).toBe(410);
    expect(await signIn(email, PASSWORD)).toBe(303);
  });
});

describe("passwords", () => {
  it("are processed two at a time, with fifty waiting; further ones are asked to retry, and an invalid hash fails alone", async () => {
    const passwords = new Passwords();
    const broken = Array.from({ length: 5 }, () => passwords.verify("not a hash", PASSWORD));
    for (const { status } of await Promise.allSettled(broken)) expect(status).toBe("rejected");
    const verified = Array.from({ length: 52 }, () => passwords.verify(null, PASSWORD));
    expect(() => passwords.requireRoom()).toThrow(
      expect.objectContaining({ status: 503, headers: { "Retry-After": "1" } }),
    );
    await expect(passwords.hash(PASSWORD)).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(await Promise.all(verified)).toEqual(Array(52).fill(false));
    passwords.requireRoom();
    expect(await passwords.verify(null, PASSWORD)).toBe(false);
  });
});
