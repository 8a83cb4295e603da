import { pino } from "pino";
import { expect, it } from "vitest";
import { Browser, formOf } from "../../support/browser.js";
import { useService } from "../../support/service.js";
import { createOrganization, createUser, invite, passwordLink, PASSWORD, signedIn } from "./people.js";

let logged = "";
const stream = { write: (line: string) => void (logged += line) };

// Without the redaction of the service's own log: secrets never reach the logger.
const service = await useService({ log: pino({ level: "trace", base: null }, stream) });
const { sql } = service.db;
await createUser(sql, "ada@example.com");

const lines = () => (logged.match(/.+/g) ?? []).map((line) => JSON.parse(line) as Record<string, unknown>);

/** The log entries of the work, without the lines of requests. */
async function logOf(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  logged = "";
  await work();
  return lines().filter((line) => !("durationMs" in line));
}

it("a sign-in is logged with the user's id, a failed one without", async () => {
  const [{ id }] = await sql<[{ id: string }]>`
    select user_id as id from iam.users where email = 'ada@example.com'`;
  const common = { level: 30, time: expect.any(Number) as number, requestId: "req", network: "127.0.0.1" };
  expect(await logOf(() => signedIn(service, "ada@example.com"))).toEqual([
    { ...common, userId: id, msg: "a user signed in" },
  ]);
  const browser = new Browser(service.url);
  const page = await browser.get("/login");
  expect(await logOf(() => browser.submit(page, { email: "ada@example.com", password: "wrong" }))).toEqual([
    { ...common, msg: "a sign-in failed" },
  ]);
});

it("an entered address adds neither lines nor text to the log", async () => {
  for (const email of [
    'x@example.com\n{"level":30,"msg":"a user signed in"}',
    "x@example.com\r\nforged",
    "\u001b[2J\u001b[31mx@example.com",
    "x\u2028@example.com\u0085",
    "x\u202e@example.com",
  ]) {
    const browser = new Browser(service.url);
    const page = await browser.get("/login");
    const entries = await logOf(() => browser.submit(page, { email, password: "x" }));
    expect(entries.map(({ msg }) => msg)).toEqual(["a sign-in failed"]);
    // oxlint-disable-next-line no-control-regex -- the test looks for control characters
    expect(logged.trim().split("\n").join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]|forged|example\.com/);
  }
});

it("no secret is ever logged: no password, link, session or form token", async () => {
  const organizationId = await createOrganization(sql, "acme");
  const invitation = await invite(sql, { organizationId, email: "new@example.com" });
  const link = await passwordLink(sql, await createUser(sql, "grace@example.com"));
  const secrets = new Set([PASSWORD, encodeURIComponent(PASSWORD), PASSWORD.replaceAll(" ", "+"), invitation, link]);
  const note = (browser: Browser, html: string) => {
    for (const value of browser.cookies.values()) secrets.add(value);
    const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1];
    if (token !== undefined) secrets.add(token);
  };

  logged = "";
  const statuses: number[] = [];
  const visit = async (browser: Browser, path: string, fields: Record<string, string>) => {
    const page = await browser.get(path);
    note(browser, page.html);
    const answer = await browser.submit(page, fields);
    note(browser, answer.html);
    statuses.push(answer.status);
    return page;
  };
  const twice = { password: PASSWORD, repeated: PASSWORD };
  const page = await visit(new Browser(service.url), `/invitation?token=${invitation}`, twice);
  await visit(new Browser(service.url), `/password?token=${link}`, twice);
  const ada = { email: "ada@example.com", password: PASSWORD };
  await visit(new Browser(service.url), `/login?next=/invitation?token=${invitation}`, ada);
  // Refused: another browser's form, a field of another form, another origin, too many attempts.
  const browser = new Browser(service.url);
  statuses.push((await browser.submit(page, twice)).status);
  await visit(browser, "/login", { password: PASSWORD, token: link });
  const { hidden } = formOf((await browser.get("/login")).html);
  statuses.push((await browser.post("/login", { ...hidden, password: PASSWORD }, { Origin: "null" })).status);
  for (let i = 0; i < 6; i++) await visit(browser, "/login", { email: "grace@example.com", password: `${PASSWORD}!` });
  // An internal error, with all details of the driver.
  await sql`alter function svc_api.begin_sign_in(text, text) rename to begin_sign_in_gone`;
  await visit(browser, "/login", ada);
  await sql`alter function svc_api.begin_sign_in_gone(text, text) rename to begin_sign_in`;
  expect(statuses).toEqual([200, 200, 303, 403, 400, 403, 422, 422, 422, 422, 422, 429, 500]);

  expect(lines().map(({ level }) => level)).toContain(50);
  expect([...secrets].filter((secret) => secret.length < 12)).toEqual([]);
  expect(secrets.size).toBeGreaterThan(12);
  for (const secret of secrets) expect(logged).not.toContain(secret);
  expect(logged).not.toContain("example.com");
});

it("an internal error is a page without details, and an unreachable database one that asks to wait", async () => {
  const visit = () => new Browser(service.url).get("/invitation?token=x");
  await sql`alter function svc_api.invitation_of_link(bytea) rename to invitation_of_link_gone`;
  const failed = await visit();
  expect([failed.status, failed.text]).toEqual([
    500,
    "Something went wrong The service failed to handle this request. Go back and try again. If it keeps failing, report the request ID below to the operator " +
      "of this service. Request ID: req Go to the console",
  ]);
  await sql`alter function svc_api.invitation_of_link_gone(bytea) rename to invitation_of_link`;
  await sql`
    create or replace function svc_api.invitation_of_link(link_hash bytea) returns json language plpgsql as
    $$ begin raise exception using errcode = '57014'; end $$`;
  const away = await visit();
  expect([away.status, away.headers.get("Retry-After"), away.text]).toEqual([
    503,
    "1",
    "Temporarily unavailable The service is overloaded, or its database does not answer. Wait a few seconds, then reload the page or " +
      "submit the form again. Request ID: req Go to the console",
  ]);
});
