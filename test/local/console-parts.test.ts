import { expect, onTestFinished, test } from "vitest";
import { startLocalServer } from "../../src/local/server.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { textOf } from "../support/browser.js";
import { DAY, localEngine, START } from "./support/model.js";

const pro = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
const MODEL: Snapshot = {
  ...EMPTY_SNAPSHOT,
  traits: { plan: { type: "string" } },
  segments: [{ id: "paying", when: pro }],
  signals: [{ id: "silent", severity: "warning", when: { kind: "inactiveFor", duration: "7d" } }],
  rules: [{ id: "tell", on: { kind: "traitsChanged" }, when: pro, then: { kind: "emit", type: "account.pays" } }],
  health: {
    components: [{ id: "plan", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 100 } } }],
    bands: [
      { id: "good", from: 50 },
      { id: "bad", from: 0 },
    ],
  },
};

/** Pages of the console for a model that is being written. */
async function open() {
  const { engine, clock } = localEngine(MODEL, {});
  const server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
  onTestFinished(() => server.stop());
  const page = async (path: string) => {
    const response = await fetch(`${server.url}/console/${path}`);
    const html = await response.text();
    return { status: response.status, html, text: textOf(html) };
  };
  return { engine, clock, page };
}

test("the pages of the model's parts show the effects of the events day by day", async () => {
  const { engine, clock, page } = await open();
  engine.accept([{ type: "identify", customerId: "ann", traits: { plan: "pro" } }], "batch");
  engine.accept([{ type: "identify", customerId: "bob", traits: { plan: "free" } }], "batch");
  clock.moveTo(START + 2 * DAY);
  engine.accept([{ type: "identify", customerId: "bob", traits: { plan: "pro" } }], "batch");

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

  expect((await page("rules")).text).toMatch(/tell 2 0 1 0 On traits changed, if plan is "pro" ?: emit "account.pays"/);
  const rule = await page("rule?id=tell&result=pass");
  expect(rule.html.match(/href="customer\?id=(ann|bob)&amp;kind=emission#emi_\w+"/g)).toHaveLength(2);

  expect((await page("signals")).text).toContain("No raised signals match.");
  clock.moveTo(START + 7 * DAY);
  engine.advance();
  const signals = await page("signals");
  expect(signals.html).toContain('href="signals?signal=silent">2</a>');
  expect(signals.html).toContain('href="customer?id=ann"');
  expect((await page("signals?since=soon")).status).toBe(400);
});
