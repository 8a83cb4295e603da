import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pastOf } from "../console/support/backtest.js";
import { startSession } from "../console/support/session.js";
import {
  activeWithin,
  addTo,
  all,
  counted,
  emit,
  happened,
  healthOf,
  inactiveFor,
  inBand,
  raise,
  rule,
  snapshotOf,
  trait,
} from "../engine/support/builders.js";
import { userIdOf } from "../http/admin/organization/support.js";
import { eventIdOf, useSpec } from "../spec/support/fixture.js";
import { faultsOf, unfold } from "../support/axe.js";
import { JobRunner } from "../tasks/support/recompute.js";
import { usePage } from "./support/page.js";

/** 256 characters that a browser cannot wrap. */
const LONG = `<img src=x onerror=alert(1)>‮evil🦊${"x".repeat(222)}`;
const DAY_MS = 86_400_000;

const fixture = useSpec();
let worker: JobRunner;
/** Ids in the addresses of pages. */
const ids: Record<string, string> = {};

const isPro = trait("plan", "eq", "pro");
const MODEL = snapshotOf({
  events: {
    login: { properties: { seats: { type: "string", optional: true } } },
    ...Object.fromEntries(["signed_up", "invited", "paid", LONG].map((name) => [name, { properties: {} }])),
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] } },
  states: {
    new: [["customer_with_a_rather_long_name", happened("paid")]],
    customer_with_a_rather_long_name: [["gone", inactiveFor("10d")]],
    gone: [["customer_with_a_rather_long_name", happened("invited")]],
  },
  journeys: {
    onboarding: {
      start: happened("signed_up"),
      steps: [
        ["invite", happened("invited")],
        ["pay", happened("paid")],
      ],
      expiresAfter: "30d",
    },
  },
  segments: { paying: all(isPro, activeWithin("365d")), chosen: null },
  health: healthOf({ usage: counted("login", 4, { within: "30d" }) }, { good: 50, poor: 0 }),
  signals: {
    lost: { severity: "critical", message: "Call them", when: all(isPro, inBand("poor")) },
    asked: { severity: "warning", message: LONG },
  },
  rules: {
    ask: rule("login", raise("asked"), { when: isPro }),
    choose: rule("signed_up", addTo("chosen")),
    greet: rule("login", emit("account.greeted"), { once: true }),
  },
});

/** Deploys two versions, sends events and makes one of everything that has a page. */
beforeAll(async () => {
  const { service } = fixture;
  const make = async (path: string, body: object, status = 201) => {
    const created = await fixture.admin("POST", path, { body });
    expect([path, created.status]).toEqual([path, status]);
    return created.body as { id: string; key: { id: string } };
  };
  const event = (customerId: string, event: string, daysAgo: number, properties: object = {}) => ({
    ...{ customerId, event, properties },
    timestamp: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
  });
  const url = `https://example.com/${"hooks-".repeat(30)}`;
  const several = (count: number, name: string, apart = 1) =>
    Array.from({ length: count }, (_, n) => event(`c${n}`, name, apart * n));

  worker = new JobRunner(service.db);
  await fixture.deploy({ ...MODEL, segments: [...MODEL.segments, { id: "vip", when: isPro }] });
  await fixture.deploy(MODEL);
  ids["webhook"] = (await make("/projects/app/webhooks?env=test", { url, eventTypes: ["account.*"] })).id;
  await fixture.batch([
    ...["globex", LONG].map((customerId) => ({ type: "identify", customerId, traits: { plan: "pro" } })),
    ...[9, 6, 3].map((days) => event("globex", "login", days)),
    ...several(12, "signed_up", 2),
    ...several(8, "invited"),
    ...several(5, "paid"),
    ...pastOf(Date.now()).map(({ properties: _, ...operation }) => operation),
  ]);
  ids["event"] = eventIdOf(await fixture.batch([event(LONG, "login", 20, { seats: LONG, [LONG]: 1 })]));
  await fixture.evaluate();
  const [{ id, ...delivery }] = await service.db.sql<[{ id: string }]>`
    select
      svc.emission_id(emission_seq) as id, environment_id as "environmentId", webhook_id as "webhookId",
      emission_seq as "emissionSeq", 1 as attempt, now() as "attemptedAt", 5 as "latencyMs", 200 as "statusCode", ${LONG} as response
    from svc.deliveries join svc.emissions using (environment_id, emission_seq) where customer_id = ${LONG}`;
  ids["delivery"] = id;
  await service.db.sql`select svc_api.record_attempts(${JSON.stringify([delivery])}::text::jsonb)`;

  ids["member"] = await userIdOf(service, "owner@acme.example");
  const email = `guest-${"x".repeat(200)}@example.com`;
  ids["invitation"] = (await make("/organization/invitations", { email, role: "viewer" })).id;
  ids["key"] = (await make("/projects/app/keys?env=test", { name: LONG.replace("‮", "") })).key.id;
  ids["token"] = (await make("/organization/tokens", { label: LONG.replace("‮", ""), role: "developer" })).id;
  await make("/projects/app/recomputes?env=test", { customerId: LONG, dryRun: true }, 202);
  await service.db.sql`update svc.projects set name = ${"w".repeat(100)}`;
});
afterAll(() => worker.end());
/** Signed in as the owner. No page reloads by itself, so that none does while it is looked at. */
const browser = usePage(async (context) => {
  const { url, db } = fixture.service;
  await context.addCookies([{ name: "svc_session", value: await startSession(db.sql, "owner@acme.example"), url }]);
  await context.route("**/console/acme/**", async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const response = await route.fetch();
    const { refresh: _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
});

/** The address of a page: `environment/path?query`, with names of ids in braces. */
const addressOf = (path: string) =>
  `${fixture.service.url}/console/acme/app/${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!)}`;

const press = (key: string) => Promise.all([browser.page.waitForEvent("load"), browser.page.keyboard.press(key)]);
const heading = () => browser.page.getByRole("heading", { level: 1 }).innerText();
const region = (name: string) => browser.page.getByRole("region", { name, exact: true }).innerText();

const runJobOfPage = () => worker.runNext(new URL(browser.page.url()).searchParams.get("id")!);

async function expectAccessible(): Promise<void> {
  await unfold(browser.page);
  expect(await faultsOf(browser.page)).toEqual([]);
  expect(browser.complaints).toEqual([]);
}

describe("accessible, wide or narrow, light or dark, with all unfolded, without requests to other hosts", () => {
  it.each([
    ...["test/today", "test/customers?health=good&sort=health", "test/customer?id=globex&at=5d"],
    ...["test/lifecycle", "test/transitions?entered=new"],
    ...["test/journeys", "test/journey?id=onboarding", "test/journey-runs?id=onboarding"],
    ...["test/segments", "test/segment?id=paying", "test/health", "test/signals"],
    ...["test/rules", "test/rule?id=greet"],
    ...["test/events?tail=1", "test/event?id={event}", "test/violations"],
    ...["test/emissions", "test/emission?id={delivery}"],
    ...["test/deliveries", "test/webhook?id={webhook}"],
    ...["test/delivery?webhook={webhook}&id={delivery}", "test/resend?webhook={webhook}&id={delivery}"],
    ...["test/operations", "test/recomputes", "test/audit-log", "test/quarantine"],
    ...["test/settings", "test/members", "test/member?id={member}", "test/invitation?id={invitation}"],
    ...["test/keys", "test/key?id={key}", "test/tokens", "test/token?id={token}"],
    // An environment without data.
    ...["live/today", "live/customers", "live/events", "live/deliveries", "live/operations"],
  ])("%s", async (path) => {
    const answer = await browser.page.goto(addressOf(path));
    expect(answer!.status()).toBe(200);
    await expectAccessible();
  });

  it("a page that refuses a filter", async () => {
    const answer = await browser.page.goto(addressOf("test/signals?since=soon"));
    expect(answer!.status()).toBe(400);
    // The browser complains about the status.
    browser.complaints.length = 0;
    await expectAccessible();
  });
});

it("the keyboard leads from Today to who needs a call, and why", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/today"));
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
  await page.getByRole("region", { name: "List of raised signals" }).getByRole("link").first().focus();
  await press("Enter");
  expect(await heading()).toBe(LONG.replace("‮", "\\u202e"));
  expect(await region("Why")).toMatch(/usage scores 25, which counts 100 %: count of "login" within 30d was 1/);
  expect(await region("Why")).toMatch(/Signal lost: raised/);
  expect(await region("What happened")).toMatch(/signal\.raised .*"lost"/);
  await expectAccessible();
});

it("finds a customer, looks at it as of a day, and comes back", async () => {
  const { page, complaints } = browser;
  await page.goto(addressOf("test/customers"));
  await page.getByRole("searchbox", { name: "Name or id" }).fill("GLOB");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "globex" }).click();
  await page.getByLabel("As it stood on").fill("7d");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("status").innerText()).toContain("by a replay under v2");
  expect(await region("Health")).toContain("25");
  await page.getByRole("link", { name: "Now", exact: true }).click();
  expect(await region("Health")).toContain("75");
  expect(complaints).toEqual([]);
});

it("the keyboard leads from an arrow of the lifecycle to the customers who made that transition", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/lifecycle"));
  await page.getByRole("link", { name: "new to customer_with_a_rather_long_name: 5" }).focus();
  await Promise.all([page.waitForURL(/transitions/), page.keyboard.press("Enter")]);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(5);
});

it("a delivery is resent by keyboard", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/delivery?webhook={webhook}&id={delivery}"));
  await page.getByRole("link", { name: "Send it again" }).focus();
  await press("Enter");
  await page.getByRole("button", { name: "Send it again" }).focus();
  await press("Enter");
  await page.getByText("next attempt").waitFor();
});

it("a dry run is found from the operations page by keyboard, and becomes a recompute", async () => {
  const { page } = browser;
  await worker.runNext();
  await page.goto(addressOf("test/operations"));
  await page.getByRole("link", { name: "Dry run", exact: true }).focus();
  await press("Enter");
  await expectAccessible();
  await page.getByRole("link", { name: "Start this recompute" }).focus();
  await press("Enter");
  await expectAccessible();
  await page.getByRole("button", { name: "Recompute in test" }).focus();
  await press("Enter");
  expect(await heading()).toBe("Recompute");
  await runJobOfPage();
});

it("a version is previewed by keyboard, and its page is accessible while it runs and when it is done", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/version?id=v1"));
  await page.getByRole("combobox", { name: "What it would change in test" }).selectOption("all");
  await page.getByRole("button", { name: "Preview it" }).focus();
  await press("Enter");
  await page.goto(page.url());
  expect(await page.getByRole("main").innerText()).toContain("waiting for its turn");
  await expectAccessible();
  await runJobOfPage();
  await page.reload();
  expect(await page.getByRole("main").innerText()).toContain("completed");
  expect(await region("Customers that change")).toContain("+vip");
  await expectAccessible();
  await page.getByRole("link", { name: "Back to v1" }).focus();
  await press("Enter");
  expect(page.url()).toBe(addressOf("test/version?id=v1"));
});

it("a version is backtested against the active one by keyboard, for a long name too, and the model's page lists it", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/version?id=v1"));
  await page.getByRole("combobox", { name: "What v1 should predict in test" }).selectOption("event:login");
  await page.getByRole("combobox", { name: "Within" }).selectOption("30d");
  await expectAccessible();
  await page.getByRole("button", { name: "Backtest it and compare with v2" }).focus();
  await press("Enter");
  await page.goto(page.url());
  expect(await page.getByRole("main").innerText()).toContain("waiting for its turn");
  await runJobOfPage();
  await page.reload();
  expect(await page.getByRole("img").count()).toBe(4);
  await expectAccessible();
  await page.getByRole("link", { name: "Before you believe it" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#notes$/);

  await page.goto(addressOf("test/model"));
  await page.getByRole("combobox", { name: "What v2 should predict in test" }).selectOption(`event:${LONG}`);
  await page.getByRole("button", { name: "Backtest it" }).click();
  await page.getByText("waiting for its turn").waitFor();
  await runJobOfPage();
  await page.goto(page.url());
  await expectAccessible();
  await page.goto(addressOf("test/model"));
  expect(await region("Backtests")).toContain("v1 compared with v2");
  await expectAccessible();
});

it("a member is invited by keyboard, and the link is selected at once", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/settings"));
  await page.getByRole("link", { name: "Members" }).focus();
  await press("Enter");
  await page.getByLabel("E-mail address").focus();
  await page.keyboard.type("bob@example.com");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.name")).toBe("role");
  await page.keyboard.type("dev");
  await page.keyboard.press("Tab");
  await press("Enter");
  expect(await heading()).toBe("Invitation for bob@example.com");
  while ((await page.evaluate("document.activeElement.id")) !== "secret") await page.keyboard.press("Tab");
  expect(await page.evaluate("getSelection().toString()")).toMatch(/\/invitation\?token=svc_link_[0-9a-f]{48}$/);
  await expectAccessible();
  await page.getByRole("link", { name: "Members" }).focus();
  await press("Enter");
  expect(await page.getByRole("row", { name: "bob@example.com" }).innerText()).toContain("developer");
});

it("a refused form is in view with the reason and what was entered, and the next Tab leads to its field", async () => {
  const { page, complaints } = browser;
  await page.setViewportSize({ width: 390, height: 500 });
  await page.goto(addressOf("test/members"));
  await page.getByLabel("E-mail address").fill("owner@acme.example");
  await page.getByLabel("Role").selectOption("administrator");
  await page.getByRole("button", { name: "Invite" }).focus();
  await press("Enter");
  expect(await heading()).toBe("Members");
  expect(await page.evaluate("document.activeElement.innerText")).toContain("Change the member's role instead.");
  const reason = page.getByRole("alert");
  await expect.poll(async () => (await reason.boundingBox())!.y).toBeLessThan(500);
  await page.keyboard.press("Tab");
  expect(await page.evaluate("[document.activeElement.name, document.activeElement.value]")).toEqual([
    "email",
    "owner@acme.example",
  ]);
  expect(await page.getByLabel("Role").inputValue()).toBe("administrator");
  // The browser complains about the status.
  complaints.length = 0;
  await expectAccessible();
  await page.setViewportSize({ width: 1280, height: 720 });
});

it("pages are accessible for viewers too, who get no forms", async () => {
  const { sql } = fixture.service.db;
  await sql`update iam.memberships set role = 'viewer' where organization_id = ${fixture.owner.organizationId}`;
  for (const path of ["members", "keys"]) {
    await browser.page.goto(addressOf(`test/${path}`));
    expect(await browser.page.locator("main form").count(), path).toBe(0);
    await expectAccessible();
  }
});
