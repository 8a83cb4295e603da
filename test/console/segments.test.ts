import { beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const HOSTILE = `<script>alert(1)</script> ‮evil ${"ä".repeat(200)}`;
let browser: Browser;

const page = (path: string) => browser.get(`${BASE}/${path}`);

beforeAll(async () => {
  const paying = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
  const seen = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
  await fixture.deploy(
    snapshot({
      segments: [
        { id: "paying", when: paying },
        { id: "busy", when: { kind: "all", conditions: [paying, seen] } },
        { id: "chosen" },
        { id: "empty", when: { kind: "not", condition: { kind: "activeWithin", duration: "7d" } } },
      ],
      rules: [
        {
          id: "choose",
          on: { kind: "event", of: { event: "login" } },
          then: { kind: "addToSegment", segment: "chosen" },
        },
      ],
    }),
  );
  browser = await browserOf(fixture.service, "owner@acme.example");
});

it("an environment without customers shows empty segments", async () => {
  const { status, html } = await page("segments");
  expect([status, html.match(/href="customers\?segment=\w+">0</g)]).toEqual([
    200,
    expect.objectContaining({ length: 4 }),
  ]);
});

describe("with customers", () => {
  beforeAll(async () => {
    await fixture.batch([
      { type: "identify", customerId: "globex", traits: { plan: "pro" } },
      { customerId: "globex", event: "login", properties: { seats: 3 } },
      { type: "identify", customerId: "initech", traits: { plan: "pro" } },
      { type: "identify", customerId: HOSTILE, traits: { plan: "pro" } },
      { customerId: "umbrella", event: "login", properties: { seats: 1 } },
    ]);
    await fixture.evaluate();
  });

  it("segments are shown with their meaning and size, which matches the linked list", async () => {
    const { text, html } = await page("segments");
    expect(text).toContain('plan is "pro" and count of "login" at least 1');
    expect(text).toMatch(/Rules decide: choose adds customers/);
    for (const [segment, size] of [
      ["paying", 3],
      ["busy", 1],
      ["chosen", 2],
    ] as const) {
      expect(html).toContain(`href="customers?segment=${segment}">${size}</a>`);
      const list = await page(`customers?segment=${segment}`);
      expect(list.html.match(/<tr/g)).toHaveLength(size + 1);
    }
  });

  it("a segment shows its members with their state, and who entered and left", async () => {
    const { status, html, text } = await page("segment?id=busy&days=7");
    expect(status).toBe(200);
    expect(text).toMatch(/all of these: plan is "pro" count of "login" at least 1/);
    expect(html).toContain('href="customers?segment=busy&amp;lifecycle=active">1</a>');
    expect(html).toContain('href="customer?id=globex"');
    expect(text).toContain("Customers that entered and left over the last 7 days");
    expect(html.match(/<tr/g)!.length).toBeGreaterThan(14);
  });

  it("a segment with hostile names and members is escaped", async () => {
    const { html, text } = await page("segment?id=paying");
    expect(html).not.toContain("<script");
    expect(text).toContain("<script>alert(1)</script> \\u202eevil");
  });

  it("an unknown segment links to the others, and an invalid cursor is reported", async () => {
    const hostile = await page(`segment?${new URLSearchParams({ id: HOSTILE }).toString()}`);
    expect([hostile.status, hostile.html.includes("<script")]).toEqual([404, false]);
    expect((await page("segment?id=nope")).text).toContain('The active model has no segment " nope "');
    const wrong = await page("segment?id=paying&cursor=x");
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("cursor is not one of this list")]);
  });

  it("a segment that was removed from the model keeps its customers, and says so", async () => {
    await fixture.deploy(snapshot({ segments: [], rules: [] }));
    const { text, html } = await page("segments");
    expect(text).toContain("The active model no longer has this segment.");
    expect(html).toContain('href="segment?id=paying"');
  });
});

it("an environment without a model says so", async () => {
  const { status, text } = await browser.get("/console/acme/app/live/segments");
  expect([status, text]).toEqual([200, expect.stringContaining("No model is deployed yet")]);
});
