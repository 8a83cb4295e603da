import { beforeAll, expect, it } from "vitest";
import { hashCredential, newCredential } from "../../src/http/request/credentials.js";
import { createUser, PASSWORD, passwordLink, whoIs } from "../http/pages/people.js";
import { Browser } from "../support/browser.js";
import { useService } from "../support/service.js";

const service = await useService();
const ADA = "ada@example.com";
let userId: string;

beforeAll(async () => void (userId = await createUser(service.db.sql, ADA)));

/** A token as from `svc auth login`. */
async function signedInToken(client = "svc-cli"): Promise<string> {
  const { text, hash } = newCredential("token");
  await service.db.sql`
    insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, client_id, expires_at)
    values (${hash}, svc.random_id('tok_'), 'session', ${userId}, 'svc', ${client}, now() + interval '1 day')`;
  return text;
}

const ask = (token: string) =>
  fetch(`${service.url}/oauth/browser_link`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "svc-cli", token }),
  });

/** The path and query of a new link. */
async function newLink(): Promise<string> {
  const created = (await (await ask(await signedInToken())).json()) as {
    email: string;
    uri: string;
    expiresAt: string;
  };
  expect(created.email).toBe(ADA);
  expect(Date.parse(created.expiresAt) - Date.now()).toBeLessThanOrEqual(5 * 60_000);
  const { pathname, search } = new URL(created.uri);
  return pathname + search;
}

it("signs a browser in once, after showing as whom, and leaves no secret in the address", async () => {
  const link = await newLink();
  const browser = new Browser(service.url);
  const sent = await browser.send("GET", link);
  expect([sent.status, sent.location]).toEqual([303, "/sign-in"]);
  const page = await browser.get("/sign-in");
  expect(page.html).toContain("signs this browser in as <strong>ada@example.com</strong>");
  expect(await whoIs(browser)).toBeNull();

  const answer = await browser.submit(page);
  expect([answer.status, answer.location]).toEqual([303, "/console"]);
  expect(await whoIs(browser)).toBe(ADA);

  const other = new Browser(service.url);
  expect((await other.get(link)).status).toBe(410);
  expect((await other.get("/sign-in")).html).toContain("works once, for five minutes");
});

it("signs a browser in whose user clicked twice", async () => {
  const browser = new Browser(service.url);
  const page = await browser.get(await newLink());
  const answers = await Promise.all([browser.submit(page), browser.submit(page)]);
  expect(answers.map(({ status, location }) => [status, location])).toEqual(Array(2).fill([303, "/console"]));
  // Also if the browser has the new session when the second click comes.
  expect(await browser.submit(page)).toMatchObject({ status: 303, location: "/console" });
  expect(await whoIs(browser)).toBe(ADA);
});

it("stops working when it expires, when a newer one is created, and when the password is set", async () => {
  const [first, second] = [await newLink(), await newLink()];
  expect((await new Browser(service.url).get(first)).status).toBe(410);
  expect((await new Browser(service.url).get(second)).status).toBe(200);

  await service.db.sql`update iam.sign_in_links set expires_at = now()`;
  expect((await new Browser(service.url).get(second)).status).toBe(410);

  const third = await newLink();
  const token = await passwordLink(service.db.sql, userId);
  const set = await new Browser(service.url).fill(`/password?token=${token}`, {
    password: PASSWORD,
    repeated: PASSWORD,
  });
  expect(set.status).toBe(200);
  expect((await new Browser(service.url).get(third)).status).toBe(410);
});

it("used by two browsers at once signs in only one of them", async () => {
  const link = await newLink();
  const browsers = [new Browser(service.url), new Browser(service.url)];
  const pages = await Promise.all(browsers.map((browser) => browser.get(link)));
  const answers = await Promise.all(browsers.map((browser, index) => browser.submit(pages[index]!)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410]);
});

it("is created only for a session of the same client, never for a program's token or an ended session", async () => {
  const { token } = await service.owner("acme");
  const ended = await signedInToken();
  await service.db.sql`update iam.access_tokens set revoked_at = now() where token_hash = ${hashCredential(ended)}`;
  for (const refused of [token, ended, await signedInToken("another"), "svc_token_unknown"]) {
    const answer = await ask(refused);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: "invalid_grant" }]);
  }
});

it("is swept after it has expired", async () => {
  await newLink();
  const { sql } = service.db;
  await sql`update iam.sign_in_links set expires_at = now()`;
  await sql`select svc_api.sweep_iam()`;
  expect(await sql`select from iam.sign_in_links`).toHaveLength(0);
});
