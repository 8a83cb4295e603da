import { afterAll, beforeAll, expect, it } from "vitest";
import { startLocalServer, type LocalServer } from "../../src/local/server.js";
import { localEngine, MODEL } from "../local/support/model.js";
import { textOf } from "../support/browser.js";

const { engine } = localEngine({
  ...MODEL,
  strictSchema: false,
  rules: [
    {
      id: "greet",
      on: { kind: "event", of: { event: "signed_up" } },
      when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" },
      then: { kind: "emit", type: "account.greeted" },
    },
  ],
});
let server: LocalServer;
/** The ids of accepted events; null for traits. */
let ids: (string | null)[];
beforeAll(async () => {
  server = await startLocalServer({
    engine,
    port: 0,
    observe: () => undefined,
    timersFired: () => undefined,
  });
  const { outcomes } = engine.accept(
    [
      { type: "identify", customerId: "globex", traits: { plan: "pro" } },
      { type: "track", customerId: "globex", event: "signed_up", properties: { source: "mars" } },
      { type: "track", customerId: "initech", event: "unheard_of", properties: {} },
    ],
    "batch",
  );
  ids = outcomes.map(({ eventId }) => eventId);
});
afterAll(() => server.stop());

async function page(path: string): Promise<{ status: number; html: string; text: string }> {
  const answer = await fetch(`${server.url}/console/${path}`);
  const html = await answer.text();
  return { status: answer.status, html, text: textOf(html) };
}

it("svc dev shows events and emissions, and leaves deliveries out", async () => {
  const { html } = await page("events");
  const sections = [...html.matchAll(/<nav class="side".*<\/nav>/gs)].map(([nav]) => textOf(nav).trim());
  expect(sections).toEqual([expect.stringMatching(/Customers .*Events .*Emissions/)]);
  expect(html).not.toContain('href="deliveries"');
  expect((await page("deliveries")).status).toBe(404);
  expect([...html.matchAll(/<td><a href="event\?id=(\w+)"/g)].map(([, id]) => id)).toEqual([ids[2], ids[1]]);
  expect((await page("events?customer=initech&since=1h&type=unheard_of")).html).toContain(`id=${ids[2]}`);
  expect((await page("events?status=pending")).text).toContain("No events match these filters");
  expect((await page("events?since=soon")).status).toBe(400);
});

it("svc dev shows an event with its effects, and an emission with its rule run", async () => {
  const { text, html } = await page(`event?id=${ids[1]}`);
  expect(text).toMatch(/State new → trial .* Rule greet acted.* account\.greeted/);
  const [, emission] = /href="emission\?id=(\w+)">(?:<bdi>)?account\.greeted/.exec(html)!;
  expect((await page("emissions?source=rule&customer=globex")).html).toContain(`emission?id=${emission}`);
  const shown = await page(`emission?id=${emission}`);
  expect(shown.text).toMatch(/Made by the rule greet .* plan is "pro" it is pro/);
  expect(shown.html).toContain(`href="event?id=${ids[1]}"`);
  for (const missing of ["event?id=evt_1", "emission?id=emi_1"]) expect((await page(missing)).status).toBe(404);
});

it("svc dev shows violations of the current model's schema", async () => {
  const { status, text } = await page("violations");
  expect(status).toBe(200);
  expect(text).toMatch(/signed_up properties\.source \w+ 1 .* of globex .* unheard_of event UNKNOWN_EVENT 1 /);
});
