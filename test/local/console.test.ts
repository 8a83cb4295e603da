import { describe, expect, onTestFinished, test } from "vitest";
import { RealClock } from "../../src/local/clock.js";
import type { LocalEngineOptions } from "../../src/local/engine.js";
import { startLocalServer } from "../../src/local/server.js";
import { DAY, HOUR, iso, localEngine, MODEL, START } from "./support/model.js";
import { textOf } from "../support/browser.js";

/** A local engine with a console and a manual clock. */
async function serve(options: Partial<LocalEngineOptions> = {}) {
  const { engine } = localEngine(MODEL, options);
  const server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
  onTestFinished(() => server.stop());
  const { url } = server;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + path, { redirect: "manual", headers });
    return { status: answer.status, location: answer.headers.get("location"), html: await answer.text() };
  };
  return {
    engine,
    url,
    get,
    /** Includes what is above `main`: the clock. */
    text: async (path: string) => textOf((await get(path)).html.replaceAll(/<.?main[^>]*>/g, "")),
    send: (events: object[]) =>
      fetch(`${url}/events/batch`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ events }),
      }),
    move: async (fields: Record<string, string>, origin = url) => {
      const answer = await fetch(`${url}/console/clock`, {
        method: "POST",
        redirect: "manual",
        headers: { origin },
        body: new URLSearchParams(fields),
      });
      return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
    },
  };
}

test("a browser is redirected to the console, and a terminal gets the help", async () => {
  const { get } = await serve();
  expect(await get("/", { accept: "text/html" })).toMatchObject({ status: 303, location: "console" });
  expect((await get("/console")).location).toBe("console/today");
  expect((await get("/", { accept: "*/*" })).html).toContain("/console");
});

const signedUp = { customerId: "globex", event: "signed_up", properties: {} };
const created = { customerId: "globex", event: "project_created", properties: { seats: 1 } };

describe("the clock", () => {
  test("moves customers when it moves ahead, and shows past states when it is moved back", async () => {
    const { engine, text, send, move } = await serve();
    await send([signedUp]);
    expect(await text("/console/customers")).toMatch(/globex trial now/);

    expect(await move({ to: String(START + 22 * DAY), back: "customers" })).toMatchObject({
      status: 303,
      location: "../console/customers",
    });
    expect(engine.clock.now()).toBe(START + 22 * DAY);
    expect(await text("/console/customers")).toMatch(/globex quiet 1 day ago/);

    await move({ to: String(START + 20 * DAY), back: "customer?id=globex" });
    expect(engine.clock.now()).toBe(START + 22 * DAY);
    expect(await text("/console/customers")).toMatch(/As of 2026-01-21 00:00 .*globex trial 20 days ago/);
    expect(await text("/console/customer?id=globex")).not.toMatch(/trial → quiet/);

    await move({ advance: "0", back: "customers" });
    expect(await text("/console/customer?id=globex")).toMatch(/trial → quiet by time alone/);
  });

  test("moves ahead by steps", async () => {
    const { engine, move } = await serve();
    await move({ advance: "7d", back: "today" });
    expect(engine.clock.now()).toBe(START + 7 * DAY);
  });

  test("of the machine cannot be moved ahead, which the page says", async () => {
    const { get, move } = await serve({ clock: new RealClock() });
    expect((await get("/console/customers")).html).not.toContain("+7d");
    const { status, text } = await move({ to: String(Date.now() + DAY), back: "customers" });
    expect([status, text]).toEqual([400, expect.stringContaining("cannot be moved")]);
  });

  test("cannot be moved by another site or to an invalid instant, and redirects to no other site", async () => {
    const { engine, move } = await serve();
    expect(await move({ advance: "7d" }, "https://evil.example")).toMatchObject({ status: 403 });
    for (const to of ["soon", "1e300", ""])
      expect(await move({ to, back: "customers" })).toMatchObject({ status: 400 });
    expect(engine.clock.now()).toBe(START);
    for (const back of ["//evil.example", "https://evil.example", "customers/../../x"])
      expect((await move({ advance: "0", back })).location).toBe("../console");
  });
});

describe("the pages", () => {
  test("explain a customer's state, and show what happened with its causes", async () => {
    const { text, send, move } = await serve();
    await send([{ type: "identify", customerId: "globex", traits: { plan: "pro" } }, signedUp, created, created]);
    const page = await text("/console/customer?id=globex");
    expect(page).toMatch(/State activated/);
    expect(page).toMatch(/to quiet , when ✗ no event for 21d .* comes by itself in 21 days/);
    expect(page).toMatch(/Segment builders : a member/);
    expect(page).toMatch(/trial → activated by event/);
    expect(page).toMatch(/Traits plan: "pro"/);
    await move({ advance: "1d", back: "customers" });
    expect(await text(`/console/customer?id=globex&at=${iso(START - DAY)}`)).toContain("There is no customer");
  });

  test("list, filter and page customers as the service does", async () => {
    const { get, text, send } = await serve();
    const ids = Array.from({ length: 60 }, (_, index) => `c${String(index).padStart(2, "0")}`);
    await send(ids.map((customerId) => ({ ...signedUp, customerId })));
    await send([
      { ...created, customerId: "c59" },
      { ...created, customerId: "c59" },
    ]);
    const first = await text("/console/customers");
    expect(first).toMatch(/c49 .*Next page/);
    expect(first).not.toContain("c50");
    expect(await text("/console/customers?cursor=50")).toMatch(/c50 .*c59 .*First page/);
    expect(await text("/console/customers?segment=builders")).toMatch(/c59 activated/);
    expect(await text("/console/customers?search=C59")).toMatch(/c59/);
    for (const query of ["lifecycle=nope", "inactive=soon", "cursor=x", "cursor=99"])
      expect([query, (await get(`/console/customers?${query}`)).status]).toEqual([query, 400]);
    expect((await get("/console/nowhere", { accept: "text/html" })).html).toContain("<h1>Not found</h1>");
  });

  test("show which customers time alone changes next, or when the wait for late events ends", async () => {
    const { engine, text, send } = await serve({ settleMs: HOUR });
    await send([{ ...signedUp, customerId: "late", timestamp: iso(START - 2 * DAY) }, signedUp]);
    expect(await text("/console/today")).toMatch(/Next changes by time alone .* late in 19 days globex in 21 days/);
    await send([{ ...signedUp, customerId: "overdue", timestamp: iso(START - 40 * DAY) }]);
    expect(engine.document("overdue")!.nextDueAt).toBe(iso(START - 19 * DAY));
    expect(await text("/console/today")).toMatch(
      /Next changes by time alone .* overdue in 1 day late in 19 days globex in 21/,
    );
  });

  test("show what changed, from memory", async () => {
    const { text, send } = await serve();
    await send([signedUp, created, created]);
    expect(await text("/console/today")).toMatch(/to trial 1 globex .*builders entered 1 globex .*globex in 14 days/);
  });
});
