import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Changes } from "../../src/console/pages/version.js";
import type { Change } from "../../src/model/compare/compare.js";
import { type Condition, EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { textOf } from "../support/browser.js";
import { serveLocally } from "./support/server.js";

const conditions = (count: number): Condition => ({
  kind: "all",
  conditions: Array.from({ length: count }, (_, value) => ({ kind: "trait", trait: "seats", operator: "gte", value })),
});
const many = <Part>(count: number, make: (id: string) => Part) =>
  Array.from({ length: count }, (_, index) => make(`part-${index}`));

const LARGE: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: false,
  traits: { seats: { type: "number" } },
  segments: many(200, (id) => ({ id, when: conditions(24) })),
  signals: many(200, (id) => ({ id, severity: "info", when: conditions(24) })),
  rules: many(200, (id) => ({
    id,
    on: { kind: "traitsChanged" },
    when: conditions(24),
    then: { kind: "emit", type: "account.told" },
  })),
};

/** Pages of the console for this model, with a customer of these traits. */
async function open(model: Snapshot, traits: Record<string, unknown>) {
  const { engine, page } = await serveLocally(model);
  engine.accept([{ type: "identify", customerId: "ann", traits }], "batch");
  return page;
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

test("lists and figures of a large model show the first parts, and lists link to the others", async () => {
  const page = await open(LARGE, { seats: 1 });
  for (const [path, part] of [
    ["segments", "segment?id=part-199"],
    ["signals", "signals?signal=part-199"],
    ["rules", "rule?id=part-199"],
  ] as const) {
    const { html, text } = await page(path);
    expect(count(text, /seats at least 0 and/g), path).toBeGreaterThan(50);
    expect(count(text, /seats at least 0 and/g), path).toBeLessThan(100);
    const [, href] = new RegExp(`href="(${part.replace("?", "\\?")}[^"]*)">Shown`).exec(html)!;
    expect((await page(href!.replaceAll("&amp;", "&"))).text, path).toContain("seats at least 23");
  }
  const { html, text } = await page("segments?days=30");
  expect(text).toContain("Only the first 100 of 200 are shown; svc trends prints all of them.");
  expect(count(html, /<td/g)).toBeLessThan(4_000);
});

test("a segment of many conditions and its explanation show the first ones", async () => {
  const page = await open(
    { ...EMPTY_SNAPSHOT, strictSchema: false, segments: [{ id: "large", when: conditions(1_500) }] },
    { seats: 1 },
  );
  const only = "Only the first 1,000 conditions are shown";
  const segment = await page("segment?id=large");
  expect([count(segment.text, /seats at least/g), segment.text.includes(only)]).toEqual([999, true]);
  const customer = await page("customer?id=ann");
  expect([count(customer.text, /seats at least/g), customer.text.includes(only)]).toEqual([999, true]);
});

test("a rule of many conditions shows the first ones and its action", async () => {
  const rule = { id: "large", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "account.large" } } as const;
  const rules = [{ ...rule, when: conditions(1_500) }];
  const page = await open({ ...EMPTY_SNAPSHOT, strictSchema: false, rules }, { seats: 1 });
  const { text } = await page("rule?id=large");
  expect(count(text, /seats at least/g)).toBe(999);
  expect(text).toMatch(
    /On traits changed, if all of these: .*Only the first 1,000 conditions.* Then: emit "account.large"/,
  );
});

test("a customer with many traits and journeys shows the first ones", async () => {
  const journeys = many(30, (id) => ({
    id,
    start: { kind: "traitExists", trait: "trait-0" } as const,
    steps: [{ id: "wait", when: { kind: "traitExists", trait: "nothing" } as const }],
  }));
  const traits = Object.fromEntries(many(500, (id) => [id.replace("part", "trait"), 1]));
  const page = await open({ ...EMPTY_SNAPSHOT, strictSchema: false, journeys }, traits);
  const { html, text } = await page("customer?id=ann");
  const [, listed] = /<summary>Traits<\/summary>(.*?)<\/details>/s.exec(html)!;
  expect(count(listed!, /<dt>/g)).toBe(200);
  expect(textOf(listed!)).toContain("And 300 more; svc customers export has all of them.");
  expect(count(text, /And 10 more journeys/g)).toBe(2);
  expect(count(html, /<h3>/g)).toBe(20);
});

test("a customer with a long trait shows the start of it", async () => {
  const page = await open({ ...EMPTY_SNAPSHOT, strictSchema: false }, { note: "note ".repeat(10_000) });
  expect(count((await page("customer?id=ann")).html.split('id="history"')[0]!, /note /g)).toBe(400);
});

test("many differences between versions show the first ones", () => {
  const changes = many(2_000, (id): Change => ({
    kind: "added",
    subject: "segment",
    id,
    path: "segments",
    message: "new",
    before: null,
    after: null,
  }));
  const html = renderToString(h(Changes, { difference: { from: "v1", to: "v2", changes } as never }));
  expect(count(html, /<li>/g)).toBe(500);
  expect(textOf(html)).toMatch(
    /^2,000 differences: 2000 added ?\..*Only the first 500 are shown; svc config diff v1 v2 shows all\.$/,
  );
});
