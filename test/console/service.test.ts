import { beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { join } from "../http/admin/organization/support.js";
import { Browser, formOf, formsOf } from "../support/browser.js";
import { environmentId, snapshot } from "../support/service.js";
import { browserOf, startSession } from "./support/session.js";

const fixture = useSpec();
const OWNER = "owner@acme.example";
const BASE = "/console/acme/app/test";
let owner: Browser;

const HOME = { Accept: "text/html,application/xhtml+xml" };

beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      traits: {
        plan: { type: "string", enum: ["free", "pro"] },
        company: { type: "string", optional: true },
        products: { type: "array", items: { type: "string" }, optional: true },
        " site": { type: "string", optional: true },
      },
      signals: [
        { id: "quiet", severity: "critical", when: { kind: "trait", trait: "plan", operator: "eq", value: "free" } },
      ],
    }),
  );
  await fixture.batch([
    { type: "identify", customerId: "globex", traits: { plan: "pro", company: "123", products: ["crm", "api"] } },
    { customerId: "globex", event: "login", properties: { seats: 3 } },
    {
      type: "identify",
      customerId: "initech",
      traits: { plan: "free", company: "12345678901234567890", products: [], " site": "north" },
    },
  ]);
  await fixture.evaluate();
  owner = await browserOf(fixture.service, OWNER);
});

describe("access", () => {
  it("redirects to sign-in without a session, and then back to the same page", async () => {
    const page = `${BASE}/customers?lifecycle=active`;
    const answer = await new Browser(fixture.service.url).get(page);
    expect([answer.status, answer.location]).toEqual([303, `/login?next=${encodeURIComponent(page)}`]);
  });

  it.each([
    "customer?id=ada@example.com",
    "customer?id=a:b/c,d&at=2026-03-01T10:00:00Z",
    "customer?id=auth0|5f7c8",
    "customers?search=(x)![y]{z}",
  ])("leads back after signing in to an address that another program wrote: %s", async (page) => {
    const stranger = new Browser(fixture.service.url);
    const { location } = await stranger.get(`${BASE}/${page}`);
    expect(formOf((await stranger.get(location!)).html).hidden["next"]).toBe(`${BASE}/${page}`);
  });

  it("redirects / and /console to the first project", async () => {
    expect((await owner.get("/", { headers: HOME })).location).toBe("/console");
    for (const path of ["/console", "/console/"])
      expect((await owner.get(path)).location).toBe("/console/acme/app/test/today");
    expect((await owner.get("/console/acme")).location).toBe("/console/acme/app/test/today");
    expect((await owner.get("/", { headers: { Accept: "*/*" } })).status).toBe(404);
  });

  it("reveals nothing about organizations, projects and environments that a user cannot see", async () => {
    await fixture.service.owner("foreign");
    for (const path of [
      "/console/foreign/app/test/customers",
      "/console/acme/other/test/customers",
      "/console/acme/app/prod/customers",
    ]) {
      const { status, html, text } = await owner.get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(html).toContain("<h1>Not found</h1>");
      expect(text).not.toContain("GET /");
      expect(html).toContain('href="../../../../console"');
    }
  });

  it("tells a user without an organization so, and lets them sign out", async () => {
    const { sql } = fixture.service.db;
    await sql`insert into iam.users (user_id, email) values ('usr_alone', 'alone@example.com')`;
    const { status, html, text } = await (await browserOf(fixture.service, "alone@example.com")).get("/console");
    expect([status, text]).toEqual([404, expect.stringContaining("not a member of any organization")]);
    expect(html).toMatch(/<form method="post" action="logout">/);
  });

  it("shows how to create the first project, and lets those who may create it there", async () => {
    const bare = await fixture.service.owner("bare");
    await fixture.service.member(bare, "viewer");
    const told = await (await browserOf(fixture.service, `viewer@${bare.organizationId}.example`)).get("/console/bare");
    expect([told.status, told.text]).toEqual([404, expect.stringContaining("An administrator can create one here")]);
    expect(formsOf(told.html)).toHaveLength(1);

    await join(fixture.service, "owner@bare.example", fixture.owner.organizationId, "viewer");
    const browser = await browserOf(fixture.service, "owner@bare.example");
    const page = await browser.get("/console/bare");
    expect(page.text).toContain("svc projects create --name Shop --slug shop");
    expect(page.html).toContain('<a href="../console/acme">Go to the organization acme</a>');
    const make = (slug: string) => browser.submit(page, { name: "Shop", slug }, "../console/bare");
    const refused = await make('Not "a" slug');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Correct what is wrong")]);
    for (const value of ["Shop", "Not &quot;a&quot; slug"]) expect(refused.html).toContain(` value="${value}"`);
    const outdated = await browser.post("/console/bare", { name: "Shop", slug: "shop", form_token: "x" });
    expect([outdated.status, outdated.html]).toEqual([403, expect.stringContaining(' value="shop"')]);
    const [created, again] = [await make("shop"), await make("shop")];
    expect([again.status, again.text]).toEqual([200, created.text]);
    const valuesIn = (html: string) => html.match(/value="svc_(test|live)_\w+"/g);
    expect(valuesIn(again.html)).toEqual(valuesIn(created.html));
    expect([created.status, created.html]).toEqual([200, expect.stringMatching(/svc_test_\w+.*svc_live_/)]);
    expect(created.html).toContain('href="../console/bare/shop/test/today"');
    expect((await browser.get("/console/bare")).location).toBe("/console/bare/shop/test/today");
  });

  it("distinguishes projects with the same name", async () => {
    await fixture.service.db.sql`update svc.projects set name = 'Shop' where slug = 'app'`;
    const headers = (await owner.get(`${BASE}/today`)).html;
    expect(headers).toContain("<bdi>Shop</bdi>");
    await fixture.service.request("POST", "/projects", { by: fixture.owner, body: { name: "Shop", slug: "second" } });
    expect((await owner.get(`${BASE}/today`)).html).toMatch(/<bdi>Shop \(app\)<.*<bdi>Shop \(second\)</);
  });

  it("refuses a session as an API token", async () => {
    const text = await startSession(fixture.service.db.sql, OWNER);
    const { organizationId } = fixture.owner;
    const asToken = await fixture.service.request("GET", "/whoami", { by: { token: text, organizationId } });
    expect(asToken).toMatchObject({ status: 401, body: { error: { code: "INVALID_SESSION" } } });
  });
});

describe("the customers", () => {
  it("are listed with their state, each linked to its page", async () => {
    const { status, html, text } = await owner.get(`${BASE}/customers`);
    expect(status).toBe(200);
    expect(html).toContain('href="customer?id=globex"');
    expect(text).toMatch(/globex active .* paying/);
    expect(text).toMatch(/initech new .* quiet/);
  });

  it.each([
    ["lifecycle=active", ["globex"]],
    ["signal=quiet", ["initech"]],
    ["segment=paying", ["globex"]],
    ["search=TECH", ["initech"]],
    ["trait=plan&value=pro", ["globex"]],
    ["trait=company&value=123", ["globex"]],
    ["trait=company&value=12345678901234567890", ["initech"]],
    ["trait=products&value=crm", ["globex"]],
    ["trait=plan&value=%3C%3Dg", ["initech"]],
    ["trait=+site&value=north", ["initech"]],
    ["inactive=1d", []],
  ])("are filtered by %s", async (query, expected) => {
    const { html } = await owner.get(`${BASE}/customers?${query}`);
    const ids = [...html.matchAll(/href="customer\?id=(\w+)"/g)].map(([, id]) => id);
    expect(ids.filter((id) => id === "globex" || id === "initech")).toEqual(expected);
  });

  it("are not listed for a trait without a value", async () => {
    const { status, text } = await owner.get(`${BASE}/customers?trait=plan&value=`);
    expect([status, text]).toEqual([400, expect.stringContaining("Type the value of plan, with its capital letters.")]);
  });

  it("are not listed for a value without its trait", async () => {
    const { html, text } = await owner.get(`${BASE}/customers?value=pro`);
    expect(text).toContain('Choose the trait whose value is "pro".');
    expect(html).not.toContain('href="customer?id=globex"');
  });

  it("are searched beyond empty pages, up to a limit", async () => {
    const { sql } = fixture.service.db;
    const id = await environmentId(sql, "app", "live");
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, traits)
      select ${id}, 'many-' || lpad(n::text, 5, '0'), now(), json_build_object('plan', case n when 5000 then 'far' when 12000 then 'further' end)
      from generate_series(1, 12000) as n`;
    const page = async (value: string) =>
      (await owner.get(`/console/acme/app/live/customers?trait=plan&value=${value}`)).text;
    expect(await page("far")).toContain("many-05000");
    expect(await page("further")).toContain("The search continues on the next page.");
    await sql`delete from svc.customers where environment_id = ${id}`;
  });
});

describe("a customer", () => {
  it("shows state, segments, signals, explanation and history", async () => {
    const { status, html, text } = await owner.get(`${BASE}/customer?id=initech`);
    expect(status).toBe(200);
    expect(html).toContain("<h1>initech</h1>");
    expect(text).toContain("State new");
    expect(text).toContain("quiet critical");
    expect(text).toMatch(/to active , when .*count of "login" at least 1 .*1 more needed/);
    expect(text).toMatch(/Traits plan: "free"/);
  });

  it("shows a list of values without the signs of JSON", async () => {
    expect((await owner.get(`${BASE}/customer?id=globex`)).text).toContain("products crm, api");
    expect((await owner.get(`${BASE}/customer?id=initech`)).text).toContain("products []");
  });

  it("can be shown at a past instant", async () => {
    const { status, text } = await owner.get(`${BASE}/customer?id=globex&at=${new Date().toISOString()}`);
    expect([status, text]).toEqual([200, expect.stringContaining("by a replay under v1 with today's traits")]);
    const before = await owner.get(`${BASE}/customer?id=globex&at=7d`);
    expect([before.status, before.text]).toEqual([404, expect.stringContaining("Its first event may be later")]);
  });
});

describe("what led to a customer's state", () => {
  it("is one click away, unless the customer began in the state", async () => {
    await fixture.batch([{ type: "identify", customerId: "became active", traits: { plan: "pro" } }]);
    await fixture.evaluate();
    await fixture.batch(
      ["began active", "became active"].map((customerId) => ({ customerId, event: "login", properties: { seats: 1 } })),
    );
    await fixture.evaluate();
    const linkOf = async (id: string) => {
      const { text, html } = await owner.get(`${BASE}/customer?${new URLSearchParams({ id }).toString()}`);
      expect(text).toContain("State active");
      return /href="([^"]+)">What led to it</.exec(html)?.[1]?.replaceAll("&amp;", "&");
    };
    expect(await linkOf("began active")).toBeUndefined();
    const before = await owner.get(`${BASE}/${await linkOf("became active")}`);
    expect(before.text).toMatch(/State new .*to active , when .*count of "login" at least 1 .*1 more needed/);
  });
});

it("pages have a policy that forbids external resources and scripts", async () => {
  const { headers, html } = await owner.get(`${BASE}/customers`);
  expect(headers.get("Content-Security-Policy")).toBe(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
  expect(html).not.toMatch(/<script|style="|https?:/);
  const [, style] = /href="([^"]*style\.css\?v=\w+)"/.exec(html)!;
  const sheet = await owner.get(new URL(style!, `http://x${BASE}/customers`).pathname);
  expect([sheet.status, sheet.headers.get("Content-Type")]).toEqual([200, "text/css; charset=utf-8"]);
});
