import { beforeAll, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const plan = (value: string) => ({ kind: "trait", trait: "plan", operator: "eq", value }) as const;
let browser: Browser;

const page = (path: string, base = BASE) => browser.get(`${base}/${path}`);
const customersIn = (html: string) => [...html.matchAll(/href="customer\?id=(\w+)"/g)].map(([, id]) => id);

beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      signals: [
        { id: "quiet", severity: "info", when: plan("free") },
        { id: "leaving", severity: "critical", message: "Call <b>now</b>", when: plan("free") },
        { id: "asked", severity: "warning", for: "7d" },
      ],
      rules: [
        {
          id: "ask",
          on: { kind: "event", of: { event: "login" } },
          then: { kind: "raiseSignal", signal: "asked" },
        },
      ],
      health: {
        components: [
          {
            id: "usage",
            weight: 3,
            score: { kind: "scale", of: { kind: "count", of: { event: "login" } }, from: 0, to: 2 },
          },
          { id: "contract", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 100, free: 20 } } },
        ],
        bands: [
          { id: "good", from: 60 },
          { id: "bad", from: 0 },
        ],
      },
    }),
  );
  await fixture.batch([
    { type: "identify", customerId: "initech", traits: { plan: "free" } },
    { type: "identify", customerId: "hooli", traits: { plan: "free" } },
    { customerId: "globex", event: "login", properties: { seats: 3 } },
    { customerId: "globex", event: "login", properties: { seats: 4 } },
  ]);
  await fixture.evaluate();
  browser = await browserOf(fixture.service, "owner@acme.example");
});

describe("signals", () => {
  it("are shown by severity, worst first, each with its customer and message", async () => {
    const { status, text, html } = await page("signals");
    expect(status).toBe(200);
    expect(customersIn(html)).toEqual(["initech", "hooli", "globex", "initech", "hooli"]);
    expect(text.indexOf("Critical")).toBeLessThan(text.indexOf("Warning"));
    expect(text).toContain("Call <b>now</b>");
  });

  it("are shown with their meaning and count, which matches the linked list", async () => {
    const { text, html } = await page("signals");
    expect(text).toContain('plan is "free"');
    expect(text).toMatch(/Rules decide: ask raises it ?; it clears itself after 7d/);
    expect(html).toContain('href="signals?signal=leaving">2</a>');
    expect(customersIn((await page("signals?signal=leaving")).html)).toHaveLength(2);
  });

  it.each([
    ["severity=warning", ["globex"]],
    ["signal=quiet&since=1d", ["initech", "hooli"]],
    ["since=2099-01-01", []],
  ])("are filtered by %s", async (query, expected) => {
    expect(customersIn((await page(`signals?${query}`)).html)).toEqual(expected);
  });

  it("say what is wrong with a filter, and keep all filters", async () => {
    const { status, text, html } = await page("signals?since=soon&severity=info");
    expect([status, text]).toEqual([400, expect.stringContaining("is neither a duration nor a date")]);
    expect(html).toContain('value="soon"');
    expect((await page("signals?signal=nope")).status).toBe(400);
  });
});

describe("health", () => {
  it("shows the size of each band, which matches the linked list", async () => {
    const { status, text, html } = await page("health");
    expect(status).toBe(200);
    expect(text).toMatch(/good 60 to 100 1 33 % bad from 0, below 60 2 67 %/);
    expect(html).toContain('href="customers?health=bad">2</a>');
    expect(customersIn((await page("customers?health=bad")).html)).toHaveLength(2);
  });

  it("shows the components of the score, and its quartiles over time", async () => {
    const { text } = await page("health?days=7");
    expect(text).toMatch(/usage 3 75 % count of "login": 0 points at 0, 100 points at 2/);
    expect(text).toContain("plan: 100 points for pro, 20 for free, else 0");
    expect(text).toContain("Median and quartiles of the scores over the last 7 days, median now");
  });

  it("says after a deploy that customers are still in the bands of the previous version", async () => {
    const before = "computed under another version than the active";
    expect((await page("health")).text).not.toContain(before);
    const { body } = await fixture.admin("GET", "/projects/app/config-versions/v1");
    const { health } = (body as { snapshot: Snapshot }).snapshot;
    const bands = health!.bands.map((band) => ({ ...band, from: band.from / 2 }));
    await fixture.deploy(snapshot({ health: { ...health!, bands } }));
    const { text, html } = await page("health");
    expect(text).toContain(`The state of 3 customers was ${before} v2. They keep the bands of that version until`);
    expect(html).toContain('<a href="recomputes">a recompute</a>');
  });
});

it("an environment without a model says so", async () => {
  for (const path of ["signals", "health"]) {
    const { status, text } = await page(path, "/console/acme/app/live");
    expect([path, status, text]).toEqual([
      path,
      200,
      expect.stringContaining("No model is deployed yet; this page will show its"),
    ]);
  }
});
