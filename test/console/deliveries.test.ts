import { beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { formOf } from "../support/browser.js";
import { environmentId, snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const page = (path: string, browser = owner) => browser.get(`${BASE}/${path}`);
/** The ids of the deliveries that a page of a webhook lists. */
const listed = (html: string) => [...html.matchAll(/href="delivery\?webhook=\w+&amp;id=(\w+)"/g)].map(([, id]) => id!);

let owner: Browser;
let webhook: string;
/** The ids of the deliveries, oldest first: delivered, failed, pending. */
let ids: string[];

async function webhookAt(url: string, env = "test"): Promise<string> {
  const body = { url, eventTypes: ["customer.active"] };
  const created = await fixture.admin("POST", `/projects/app/webhooks?env=${env}`, { body });
  expect(created.status).toBe(201);
  return (created.body as { id: string }).id;
}

/** Records an attempt like a worker. */
async function attempt(emission: string, statusCode: number | null, more: object = {}): Promise<void> {
  const { sql } = fixture.service.db;
  const [delivery] = await sql`
    select
      d.environment_id as "environmentId", d.webhook_id as "webhookId", d.emission_seq as "emissionSeq", d.attempts + 1 as attempt,
      now() as "attemptedAt"
    from svc.deliveries as d where d.webhook_id = ${webhook} and d.emission_seq = svc_inspect.emission_seq(${emission})`;
  const noted = [{ ...delivery, latencyMs: 120, statusCode, ...more }];
  await sql`select svc_api.record_attempts(${JSON.stringify(noted)}::text::jsonb)`;
}

beforeAll(async () => {
  const { sql } = fixture.service.db;
  await fixture.deploy(snapshot({ display: { name: "plan" } }));
  webhook = await webhookAt("https://example.com/hook");
  for (const customerId of ["globex", "initech", "umbrella"]) {
    await fixture.batch([{ customerId, event: "login", properties: { seats: 3 } }]);
    await fixture.evaluate();
  }
  const rows = await sql<{ id: string }[]>`
    select svc.emission_id(emission_seq) as id from svc.deliveries where webhook_id = ${webhook}
    order by emission_seq`;
  ids = rows.map(({ id }) => id);
  await attempt(ids[0]!, 500, { response: "<h1>Oops</h1>" });
  await sql`update svc.deliveries set next_attempt_at = now() where webhook_id = ${webhook}`;
  await attempt(ids[0]!, 204);
  await attempt(ids[1]!, 410, { response: "gone" });
  // A 410 answer disables the webhook.
  await fixture.admin("PATCH", `/projects/app/webhooks/${webhook}?env=test`, { body: { disabled: false } });
  owner = await browserOf(fixture.service, "owner@acme.example");
});

describe("the webhooks", () => {
  it("are listed with status, success, latency and pending deliveries, each number linked to its deliveries", async () => {
    const { status, html, text } = await page("deliveries");
    expect(status).toBe(200);
    expect(text).toContain(
      "https://example.com/hook customer.active enabled 50 % of 2 33.3 % 120 ms 95 % within 120 ms 1 oldest",
    );
    expect(html).toContain(`href="webhook?id=${webhook}&amp;days=7#days"`);
    expect(listed((await page(`webhook?id=${webhook}&status=pending`)).html)).toEqual([ids[2]]);
  });

  it("show why one is disabled", async () => {
    const id = await webhookAt("https://example.org/other");
    await fixture.admin("PATCH", `/projects/app/webhooks/${id}?env=test`, { body: { disabled: true } });
    expect((await page("deliveries")).text).toMatch(
      /example\.org\/other customer\.active disabled (now|\d+ seconds? ago) : \w+/,
    );
    await fixture.admin("DELETE", `/projects/app/webhooks/${id}?env=test`);
  });
});

describe("a webhook", () => {
  it("shows the results of its deliveries by day, in numbers that add up", async () => {
    const { html, text } = await page(`webhook?id=${webhook}&days=7`);
    expect(text).toContain("1 delivered and 1 failed within 7 days");
    expect([...html.matchAll(/<td>\d{4}-\d\d-\d\d<\/td>/g)]).toHaveLength(7);
  });

  it("shows what it is told of customers", async () => {
    const sent = async () => /Customer data sent (.*?) Id /.exec((await page(`webhook?id=${webhook}`)).text)?.[1];
    expect(await sent()).toBe("only its id");
    const change = (include: string[]) =>
      fixture.admin("PATCH", `/projects/app/webhooks/${webhook}?env=test`, { body: { include } });
    await change(["name", "traits.plan"]);
    expect(await sent()).toBe("its id, name, traits.plan");
    await change([]);
  });

  it.each<[string, () => number[]]>([
    ["", () => [2, 1, 0]],
    ["&status=failed", () => [1]],
    ["&eventType=customer.active", () => [2, 1, 0]],
    ["&eventType=customer.gone", () => []],
    ["&search=globex", () => [0]],
    ["&search=nobody", () => []],
    ["&search=emi_0000000000000000", () => []],
  ])("lists its deliveries, newest first, filtered by %s", async (query, expected) => {
    const { status, html } = await page(`webhook?id=${webhook}${query}`);
    expect([status, listed(html)]).toEqual([200, expected().map((n) => ids[n])]);
  });

  it("searches a customer's id as it is given, and hints at pasted spaces", async () => {
    const { html, text } = await page(`webhook?id=${webhook}&search=+globex`);
    expect([listed(html), text]).toEqual([[], expect.stringContaining("A filter begins or ends with a space")]);
  });

  it("says that a filter takes one type, not a pattern", async () => {
    const { status, text } = await page(`webhook?id=${webhook}&eventType=customer.*`);
    expect([status, text]).toEqual([400, expect.stringContaining("`eventType` must be a whole type, without *.")]);
  });

  it("finds a delivery by id", async () => {
    expect(listed((await page(`webhook?id=${webhook}&search=${ids[1]}`)).html)).toEqual([ids[1]]);
  });
});

describe("a delivery", () => {
  it("shows the message, each attempt with its answer, and its cause", async () => {
    const { status, html, text } = await page(`delivery?webhook=${webhook}&id=${ids[0]}`);
    expect(status).toBe(200);
    expect(text).toMatch(/Status delivered (now|\d+ seconds? ago) To/);
    expect(text).toMatch(/2 .* HTTP 204 120 ms empty .*1 .* HTTP 500 120 ms <h1>Oops<\/h1>/);
    expect(text).toContain(`webhook-id: ${ids[0]}`);
    expect(text).toContain('"customerId": "globex"');
    expect(html).toMatch(/href="customer\?id=globex(&amp;at=[^"]+)?#emi_\w+"/);
    expect(html).toMatch(/by <a href="event\?id=evt_\w+">an event<\/a>/);
    expect((await page(`delivery?webhook=${webhook}&id=${ids[2]}`)).text).toContain("Status pending , next attempt");
  });
});

describe("resending", () => {
  const RESEND = `${BASE}/resend`;
  const confirmation = (id: string) => page(`resend?webhook=${webhook}&id=${id}`);
  const statusOf = async (id: string) => {
    const [row] = await fixture.service.db.sql<[{ status: string }]>`
      select status from svc.deliveries where webhook_id = ${webhook} and emission_seq = svc_inspect.emission_seq(${id})`;
    return row.status;
  };

  it("asks once, and leads back to the delivery, which is then pending; the page says so to a second person", async () => {
    expect((await page(`delivery?webhook=${webhook}&id=${ids[1]}`)).html).toContain('href="resend?');
    const { html, text } = await confirmation(ids[1]!);
    expect(text).not.toContain("live : the message");
    const fields = formOf(html, "resend").hidden;
    const { status, location } = await owner.post(RESEND, fields);
    expect([status, location]).toEqual([303, `/console/acme/app/test/delivery?webhook=${webhook}&id=${ids[1]}`]);
    expect(await statusOf(ids[1]!)).toBe("pending");
    expect((await confirmation(ids[1]!)).text).toContain("It is already waiting");
    expect((await owner.post(RESEND, fields)).status).toBe(303);
  });

  it("is offered to those who may resend, and refused to others", async () => {
    await fixture.service.member(fixture.owner, "viewer");
    const viewer = await browserOf(fixture.service, `viewer@${fixture.owner.organizationId}.example`);
    const { html } = await page(`delivery?webhook=${webhook}&id=${ids[0]}`, viewer);
    expect(html).not.toContain('href="resend?');
    const ask = await page(`resend?webhook=${webhook}&id=${ids[0]}`, viewer);
    expect(ask.text).toContain("Your role does not allow you to send deliveries again");
    const token = await viewer.formToken(`${BASE}/deliveries`);
    const refused = await viewer.post(RESEND, { form_token: token, webhook, id: ids[0]! });
    expect(refused.status).toBe(403);
    expect(await statusOf(ids[0]!)).toBe("delivered");
  });

  it("to a webhook that has been disabled is refused with the reason", async () => {
    const fields = formOf((await confirmation(ids[0]!)).html, "resend").hidden;
    const enable = (disabled: boolean) =>
      fixture.admin("PATCH", `/projects/app/webhooks/${webhook}?env=test`, { body: { disabled } });
    await enable(true);
    const { status, text } = await owner.post(RESEND, fields);
    expect([status, text]).toEqual([409, expect.stringContaining("is disabled: nothing is delivered there")]);
    expect((await confirmation(ids[0]!)).text).toContain("The webhook is disabled");
    await enable(false);
  });

  it("warns in live", async () => {
    const id = await webhookAt("https://example.com/live", "live");
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
      values (${await environmentId(sql, "app", "live")}, 65536, 'globex', 'customer.active', 'lifecycle', '{}', now(), 'timer')`;
    await fixture.admin("POST", `/projects/app/webhooks/${id}/deliveries/emi_0000000000010000/resend?env=live`);
    const { text } = await owner.get(`/console/acme/app/live/resend?webhook=${id}&id=emi_0000000000010000`);
    expect(text).toContain("This is live : the message reaches the real receiver");
  });
});
