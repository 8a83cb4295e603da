import { describe, expect, test } from "vitest";
import { RealClock } from "../../src/local/clock.js";
import { emit, healthOf, inactiveFor, rule, snapshotOf, trait } from "../engine/support/builders.js";
import { textOf } from "../support/browser.js";
import { DAY, HOUR, iso, MODEL, START } from "./support/model.js";
import { serveLocally } from "./support/server.js";

/** A local engine with a console, and a browser's requests. */
async function serve(...given: Parameters<typeof serveLocally>) {
  const local = await serveLocally(...given);
  const { engine, url, page } = local;
  return {
    ...local,
    text: async (path: string) => (await page(path)).text,
    send: (...events: Parameters<typeof engine.accept>[0]) => engine.accept(events, "batch"),
    visit: async (path: string, accept = "text/html") => {
      const answer = await fetch(url + path, { redirect: "manual", headers: { accept } });
      return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
    },
    move: async (fields: Record<string, string>, origin = url) => {
      const body = new URLSearchParams(fields);
      const answer = await fetch(`${url}/console/clock`, {
        ...{ method: "POST", redirect: "manual", headers: { origin }, body },
      });
      return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
    },
  };
}

test("a browser is redirected to the console, and a terminal gets the help", async () => {
  const { visit } = await serve();
  expect(await visit("/")).toMatchObject({ status: 303, location: "console" });
  expect((await visit("/console")).location).toBe("console/today");
  expect((await visit("/", "*/*")).text).toContain("/console");
});

const signedUp = { customerId: "globex", event: "signed_up", properties: {} };
const created = { customerId: "globex", event: "project_created", properties: { seats: 1 } };

describe("the clock", () => {
  test("moves customers when it moves ahead, and shows past states when it is moved back", async () => {
    const { clock, text, send, move } = await serve();
    send(signedUp);
    expect(await text("customers")).toMatch(/globex trial now/);

    expect(await move({ to: String(START + 22 * DAY), back: "customers" })).toMatchObject({
      status: 303,
      location: "../console/customers",
    });
    expect(clock.now()).toBe(START + 22 * DAY);
    expect(await text("customers")).toMatch(/globex quiet 1 day ago/);

    await move({ to: String(START + 20 * DAY), back: "customer?id=globex" });
    expect(clock.now()).toBe(START + 22 * DAY);
    expect(await text("customers")).toMatch(/As of 2026-01-21 00:00 .*globex trial 20 days ago/);
    expect(await text("customer?id=globex")).not.toMatch(/trial → quiet/);

    await move({ advance: "0", back: "customers" });
    expect(await text("customer?id=globex")).toMatch(/trial → quiet by time alone/);
    await move({ advance: "7d", back: "today" });
    expect(clock.now()).toBe(START + 29 * DAY);
  });

  test("of the machine cannot be moved ahead, which the page says", async () => {
    const { page, move } = await serve(MODEL, { clock: new RealClock() });
    expect((await page("customers")).html).not.toContain("+7d");
    const { status, text } = await move({ to: String(Date.now() + DAY), back: "customers" });
    expect([status, text]).toEqual([400, expect.stringContaining("cannot be moved")]);
  });

  test("cannot be moved by another site or to an invalid instant, and redirects to no other site", async () => {
    const { clock, move } = await serve();
    expect(await move({ advance: "7d" }, "https://evil.example")).toMatchObject({ status: 403 });
    for (const to of ["soon", "1e300", ""])
      expect(await move({ to, back: "customers" })).toMatchObject({ status: 400 });
    expect(clock.now()).toBe(START);
    for (const back of ["//evil.example", "https://evil.example", "customers/../../x"])
      expect((await move({ advance: "0", back })).location).toBe("../console");
  });
});

describe("the pages", () => {
  test("explain a customer's state, and show what happened with its causes", async () => {
    const { text, page: serving, send, move } = await serve();
    send({ type: "identify", customerId: "globex", traits: { plan: "pro" } }, signedUp, created, created);
    const page = await text("customer?id=globex");
    expect(page).toMatch(/State activated/);
    expect(page).toMatch(/to quiet , when ✗ no event for 21d .* comes by itself in 21 days/);
    expect(page).toMatch(/Segment builders : a member/);
    expect(page).toMatch(/trial → activated by event/);
    expect(page).toMatch(/Traits plan: "pro"/);
    expect(await text("today")).toMatch(/to trial 1 globex .*builders entered 1 globex .*globex in 14 days/);
    await move({ advance: "1d", back: "customers" });
    const past = await text(`customer?id=globex&at=${iso(START)}`);
    expect(page, "its past begins with its arrival").not.toContain("What led to it");
    await move({ advance: "21d", back: "customers" });
    const [, href] = /href="([^"]+)">What led to it</.exec((await serving("customer?id=globex")).html)!;
    const before = await text(href!.replaceAll("&amp;", "&"));
    expect(before).toMatch(
      /State activated .*to quiet , when ✗ no event for 21d .* comes by itself now \(22 Jan 2026, 00:00\)/,
    );
    expect(past).toMatch(/As of .*, under the local model, by what had arrived by then\. Ages count from then\./);
    expect(past).not.toMatch(/without a model|today's traits/);
  });

  test("show the traits of a past instant, also numbers with many digits that have changed since", async () => {
    const { text, send, move } = await serve(snapshotOf({ events: {}, traits: { account: { type: "number" } } }));
    const account = (account: number) => send({ type: "identify", customerId: "globex", traits: { account } });
    account(12345678901234567000);
    await move({ advance: "1d", back: "customers" });
    account(98765432109876540000);
    expect(await text("customer?id=globex")).toContain("account 98765432109876540000");
    expect(await text(`customer?id=globex&at=${iso(START + HOUR)}`)).toContain("account 12345678901234567000");
  });

  test("say of an instant before an import that the past begins when it arrived", async () => {
    const { page, send } = await serve();
    send({ ...signedUp, timestamp: iso(START - 60 * DAY) });
    const { status, text } = await page(`customer?id=globex&at=${iso(START - 30 * DAY)}`);
    expect([status, text]).toEqual([404, expect.stringContaining("There is no customer")]);
    expect(text).toContain("from the arrival of its first operation on, also if its events are older");
    expect(text).not.toContain("It may have been erased");
  });

  test("say of a span whether it ends before it begins or lies ahead", async () => {
    const { page } = await serve();
    for (const [span, message] of [
      ["from=2030-01-01&to=2020-01-01", "The span ends before it begins. Write a day no later than 2020-01-01."],
      ["from=2030-01-01", "from is in the future. Write a day no later than 2026-01-01."],
      ["from=2030-01-01&to=2031-01-01", "from is in the future. Write a day no later than 2026-01-01."],
    ] as const) {
      const { status, text } = await page(`lifecycle?${span}`);
      expect([status, text.replaceAll("`", "")]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  test("list, filter and page customers as the service does", async () => {
    const { page, text, send, visit } = await serve();
    const ids = Array.from({ length: 60 }, (_, index) => `c${String(index).padStart(2, "0")}`);
    send(...ids.map((customerId) => ({ ...signedUp, customerId })));
    send({ ...created, customerId: "c59" }, { ...created, customerId: "c59" });
    const first = await text("customers");
    expect(first).toMatch(/c49 .*Next page/);
    expect(first).not.toContain("c50");
    expect(await text("customers?cursor=50")).toMatch(/c50 .*c59 .*First page/);
    expect(await text("customers?segment=builders")).toMatch(/c59 activated/);
    expect(await text("customers?search=C59")).toMatch(/c59/);
    for (const query of ["lifecycle=nope", "inactive=soon", "cursor=x", "cursor=99"])
      expect([query, (await page(`customers?${query}`)).status]).toEqual([query, 400]);
    expect((await visit("/console/nowhere")).text).toContain("<h1>Not found</h1>");
  });

  test("show which customers time alone changes next, or when the wait for late events ends", async () => {
    const { engine, text, send } = await serve(MODEL, { settleMs: HOUR });
    send({ ...signedUp, customerId: "late", timestamp: iso(START - 2 * DAY) }, signedUp);
    expect(await text("today")).toMatch(/Next changes by time alone .* late in 19 days globex in 21 days/);
    send({ ...signedUp, customerId: "overdue", timestamp: iso(START - 40 * DAY) });
    expect(engine.document("overdue")!.nextDueAt).toBe(iso(START - 19 * DAY));
    expect(await text("today")).toMatch(
      /Next changes by time alone .* overdue as soon as no more past events arrive, at the latest in 1 day late in 19 days globex in 21/,
    );
  });

  test("of the model's parts show the effects of the events day by day", async () => {
    const pro = trait("plan", "eq", "pro");
    const model = snapshotOf({
      traits: { plan: { type: "string" } },
      segments: { paying: pro },
      signals: { silent: { when: inactiveFor("7d") } },
      rules: { tell: rule({ kind: "traitsChanged" }, emit("account.pays"), { when: pro }) },
      health: healthOf({ plan: { kind: "map", trait: "plan", values: { pro: 100 } } }, { good: 50, bad: 0 }),
    });
    const { engine, clock, page, text, send } = await serve(model);
    const identify = (customerId: string, plan: string) => send({ type: "identify", customerId, traits: { plan } });
    identify("ann", "pro");
    identify("bob", "free");
    clock.moveTo(START + 2 * DAY);
    identify("bob", "pro");

    const segments = await page("segments?days=7");
    expect(segments.html).toContain('href="customers?segment=paying">2</a>');
    expect(segments.text).toMatch(/3 Jan 2026 2 2 Jan 2026 1 1 Jan 2026 1 31 Dec 2025 0/);
    const segment = await page("segment?id=paying");
    expect(segment.text).toContain("3 Jan 2026 1 0 2 Jan 2026 0 0 1 Jan 2026 1 0");
    expect(segment.html.match(/href="customer\?id=(ann|bob)"/g)).toHaveLength(2);
    expect((await page("segment?id=nope")).status).toBe(404);

    const health = await page("health?days=7");
    expect(health.html).toContain('href="customers?health=good">2</a>');
    expect(health.text).toContain("3 Jan 2026 100 100 100 2 Jan 2026 0 0 100");

    expect(await text("rules")).toMatch(/tell 2 0 1 0 On traits changed, if plan is "pro" ?: emit "account.pays"/);
    const shown = await page("rule?id=tell&result=pass");
    expect(shown.html.match(/href="customer\?id=(ann|bob)&amp;kind=emission#emi_\w+"/g)).toHaveLength(2);

    expect(await text("signals")).toContain("No raised signals match.");
    clock.moveTo(START + 7 * DAY);
    engine.advance();
    const signals = await page("signals");
    expect(signals.html).toContain('href="signals?signal=silent">2</a>');
    expect(signals.html).toContain('href="customer?id=ann"');
    expect((await page("signals?since=soon")).status).toBe(400);
  });

  test("show events with their effects, emissions with their rule run, and violations, and leave deliveries out", async () => {
    const greet = rule("signed_up", emit("account.greeted"), { when: trait("plan", "eq", "pro") });
    const { page, text, send } = await serve({ ...MODEL, strictSchema: false, rules: [{ id: "greet", ...greet }] });
    const { outcomes } = send(
      { type: "identify", customerId: "globex", traits: { plan: "pro" } },
      { ...signedUp, properties: { source: "mars" } },
      { customerId: "initech", event: "unheard_of", properties: {} },
    );
    const [, known, unknown] = outcomes.map(({ eventId }) => eventId);
    const { html } = await page("events");
    const sections = [...html.matchAll(/<nav class="side".*<\/nav>/gs)].map(([nav]) => textOf(nav).trim());
    expect(sections).toEqual([expect.stringMatching(/Customers .*Events .*Emissions/)]);
    expect(html).not.toContain('href="deliveries"');
    expect((await page("deliveries")).status).toBe(404);
    expect([...html.matchAll(/<td><a href="event\?id=(\w+)"/g)].map(([, id]) => id)).toEqual([unknown, known]);
    expect((await page("events?customer=initech&since=1h&type=unheard_of")).html).toContain(`id=${unknown}`);
    expect(await text("events?status=pending")).toContain("No events match these filters");
    expect((await page("events?since=soon")).status).toBe(400);

    const event = await page(`event?id=${known}`);
    expect(event.text).toMatch(/State new → trial .* Rule greet acted.* account\.greeted/);
    const [, emission] = /href="emission\?id=(\w+)">(?:<bdi>)?account\.greeted/.exec(event.html)!;
    expect((await page("emissions?source=rule&customer=globex")).html).toContain(`emission?id=${emission}`);
    const shown = await page(`emission?id=${emission}`);
    expect(shown.text).toMatch(/Made by the rule greet .* plan is "pro" it is pro/);
    expect(shown.html).toContain(`href="event?id=${known}"`);
    for (const missing of ["event?id=evt_1", "emission?id=emi_1"]) expect((await page(missing)).status).toBe(404);

    expect(await text("violations")).toMatch(
      /signed_up properties\.source \w+ 1 .* of globex .* unheard_of event UNKNOWN_EVENT 1 /,
    );
  });
});
