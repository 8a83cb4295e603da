import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BacktestReport, Estimate, FlagReport } from "../../src/backtest/report-types.js";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser } from "../support/browser.js";
import { JobRunner } from "../tasks/support/recompute.js";
import { foreseeing, pastOf } from "./support/backtest.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app";
const HOSTILE = `<script>alert(1)</script>\u202e${"x".repeat(200)}`;
const ASKED = { outcome: "event:login", within: "30d", every: "7d", customers: "all" };

let owner: Browser;
let viewer: Browser;
let worker: JobRunner;
beforeAll(async () => {
  const { service } = fixture;
  worker = new JobRunner(service.db);
  owner = await browserOf(service, "owner@acme.example");
  await service.member(fixture.owner, "viewer");
  viewer = await browserOf(service, `viewer@${fixture.owner.organizationId}.example`);
});
afterAll(() => worker.end());

const open = (page: string, browser = owner) => browser.get(`${BASE}/test/${page}`);

/** Sends the form of a page; returns the page of the backtest that it starts. */
async function begin(page: string, fields: Readonly<Record<string, string>> = ASKED): Promise<string> {
  const answer = await owner.submit(await owner.get(`${BASE}/test/${page}`), fields, "backtest");
  expect([answer.status, answer.html]).toEqual([303, ""]);
  return answer.location!.slice(`${BASE}/test/`.length);
}

it("before the first deploy no page offers backtests", async () => {
  const { status, html } = await open("model");
  expect(status).toBe(200);
  expect(html).not.toContain("acktest");
});

describe("with a history", () => {
  beforeAll(async () => {
    await fixture.deploy(foreseeing(HOSTILE, 1));
    await fixture.deploy(foreseeing(HOSTILE, 0));
    await fixture.batch(pastOf(Date.now()));
    await fixture.evaluate();
  });

  it("the form offers the states, segments and events of the model, and escapes hostile names", async () => {
    const { html, text } = await open("model");
    expect(html).toMatch(/<optgroup label="Enters the state"><option value="state:new">new<\/option>/);
    expect(html).toMatch(/<optgroup label="Enters the segment"><option value="segment:quiet">/);
    expect(html).toMatch(/<optgroup label="Sends the event"><option value="event:/);
    expect(html).not.toContain("<script>");
    expect(text).toContain("There are no backtests yet.");
    const page = await begin("model", { ...ASKED, outcome: `event:${HOSTILE}`, customers: "2000" });
    const shown = await open(page);
    expect(shown.html).not.toContain("<script>");
    expect(shown.html).not.toContain("\u202e");
    expect(shown.text).toMatch(
      /Does v2 predict event:<script>.*about 2,000 customers, a sample .*waiting for its turn/,
    );
    await worker.runNext();
    expect((await open(page)).text).toContain("The outcome came after no sample");
    expect((await open("model")).html).not.toContain("<script>");
  });

  it("a backtest of the active version starts, reloads its page while it runs, and then shows a report", async () => {
    const page = await begin("model");
    const waiting = await owner.get(`${BASE}/test/${page}`);
    expect(waiting.headers.get("refresh")).toBe("5");
    expect(waiting.text).toMatch(
      /Model v2 Outcome event:login, within 30d after a look Looks every 7d from .* waiting for its turn .*The report appears once/,
    );
    await worker.runNext();
    const { html, headers, text } = await owner.get(`${BASE}/test/${page}`);
    expect(headers.get("refresh")).toBeNull();
    expect(text).toMatch(/Customers 30; \d+ had the outcome .*Base rate \d+\.\d % .*completed in/);
    expect(text).toMatch(/After \d+\.\d % of the samples the outcome came within 30d\./);
    expect(text).toMatch(/In \d+ of 100 pairs .*\(95 %: \d+ to \d+\)/);
    expect(text).toMatch(/How often the outcome occurred, by score .*The figures .*The effect of a threshold/);
    expect(text).toMatch(/States .*Bands .*Segments .*Signals .*Components of the score/);
    expect(text).toMatch(/Component Weight AUC alone .*recency 3 0\.\d\d \(.*volume 0 .*unclear/);
    expect(text).toMatch(/Before you believe it .*This is association in one history, not cause/);
    for (const link of [
      "segment?id=quiet",
      "signals?signal=call",
      "customers?lifecycle=active",
      "customers?health=bad",
    ])
      expect(html).toContain(`<a href="${link}">`);
    expect(html.match(/<svg class="chart" viewBox="0 0 800 240" role="img"/g)).toHaveLength(2);
    expect(html).not.toContain("NaN");
    expect((await open("model")).text).toMatch(
      /owner@acme\.example event:login 30d v2 completed in .*0\.\d\d \(0\.\d\d to/,
    );
  });

  it("a backtest of another version compares it with the active one", async () => {
    const page = await begin("version?id=v1");
    await worker.runNext();
    const { text } = await open(page);
    expect(text).toMatch(/Model v1 compared with v2/);
    expect(text).toMatch(
      /v1 compared with v2 Model AUC of the score .*first minus second [+-]?\d\.\d{3} \([+-]?\d\.\d{3} to /,
    );
    expect(text).toMatch(/Where they differ .*band good \d+ \d+ /);
    expect(text).toMatch(/What v1 said .*What v2 said/);
  });

  it.each(["model", "version?id=v1"])(
    "a missing or invalid choice is refused on %s, which keeps the others",
    async (page) => {
      const chosen = { within: "90d", every: "28d", customers: "all" };
      for (const wrong of [{ outcome: "" }, { outcome: "state:nobody" }, { outcome: "event:login", within: "soon" }]) {
        const { status, html } = await owner.submit(await open(page), { ...chosen, ...wrong }, "backtest");
        expect(status).toBe(400);
        expect(html).toMatch(
          /<div class="error" tabindex="-1" autofocus>.*<\/div><form [^>]*action="(model|version\?id=v1)"/,
        );
        for (const kept of ["28d", "all"]) expect(html).toContain(`<option value="${kept}" selected>`);
        expect(html.includes('<option value="event:login" selected>')).toBe(wrong.outcome === "event:login");
      }
    },
  );

  it("a viewer sees backtests but cannot start one, not even by sending the form", async () => {
    const { html, text } = await open("model", viewer);
    expect(text).toMatch(/Backtests .*event:login/);
    expect(html).not.toContain('name="outcome"');
    expect((await open("version?id=v1", viewer)).html).not.toContain('name="outcome"');
    expect((await open(/href="(backtest\?id=\w+)"/.exec(html)![1]!, viewer)).text).toContain("Result");
    const form_token = await viewer.formToken(`${BASE}/test/recomputes`);
    const form = { ...ASKED, as: "backtest", version: "v2", form_token };
    expect((await viewer.post(`${BASE}/test/model`, form)).status).toBe(403);
  });

  it("the list has its own pages", async () => {
    for (let more = 0; more < 9; more++) {
      const body = { ...ASKED, customers: 100 };
      expect((await fixture.admin("POST", "/projects/app/backtests?env=test", { body })).status).toBe(202);
      await worker.runNext();
    }
    const { html } = await open("model");
    const next = /<a href="(model\?backtests=[^"]+)">Next page/.exec(html)![1]!;
    const second = await open(next);
    expect(second.html.match(/href="backtest\?/g)).toHaveLength(2);
    expect(second.html).toContain("First page");
  });
});

describe("a report", () => {
  const flag: FlagReport = {
    ...{ id: HOSTILE, flagged: 0, customers: 0, caught: 0, precision: null, recall: null },
    ...{ lift: null, medianLeadDays: null, falseAlarmsPerWeek: 0 },
  };
  const unsure: Estimate = { value: 0.5, low: null, high: null };
  const none = { name: "v1", states: [], bands: [], segments: [], signals: [], health: null };
  const base: BacktestReport = {
    ...{ outcome: "state:active", within: "60d", every: "7d" },
    ...{ from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", end: "2026-04-01T00:00:00Z" },
    instants: { used: 0, empty: 0, censored: 0 },
    customers: { looked: 0, withOutcome: 0 },
    samples: { used: 0, withOutcome: 0, alreadyThere: 0, censored: 0 },
    ...{ baseRate: null, models: [none], difference: null, notes: [] },
  };

  /** The page of a backtest with this report. */
  async function pageOf(report: BacktestReport) {
    const { body } = await fixture.admin("POST", "/projects/app/backtests?env=test", {
      body: { ...ASKED, customers: 9 },
    });
    const { id } = body as { id: string };
    await worker.runNext(id);
    await fixture.service.db
      .sql`update svc.recomputes set report = ${JSON.stringify(report)}::text::json where recompute_id = ${id}`;
    const page = await open(`backtest?id=${id}`);
    expect(page.status).toBe(200);
    for (const wrong of ["NaN", "null", "undefined", "<script>", "\u202e"]) expect(page.html).not.toContain(wrong);
    return page;
  }

  it("says so if it has no sample or score", async () => {
    const { text, html } = await pageOf(base);
    expect(text).toContain("There were no samples, so there is no result.");
    expect(text).toMatch(/Base rate –/);
    expect(html).not.toContain('role="img"');
  });

  it("shows a small share with two significant digits instead of zero", async () => {
    const baseRate: Estimate = { value: 13 / 400_000, low: 0.000_019, high: 0.000_056 };
    expect((await pageOf({ ...base, baseRate })).text).toContain("Base rate 0.0032 % (0.0019 to 0.0056)");
  });

  it("shows figures that could not be computed as such, and escapes hostile names", async () => {
    const component = { id: HOSTILE, weight: 1, alone: null, without: null, gain: null };
    const threshold = { score: 0, flagged: 0, precision: null, recall: null, falseAlarmsPerWeek: 0 };
    const health = {
      ...{ samples: 0, direction: "higher" as const, auc: null, calibration: [], components: [component] },
      thresholds: [threshold, { ...threshold, score: 5 }],
    };
    const empty = { ...none, name: "local", states: [flag], bands: [flag], segments: [flag], signals: [flag], health };
    const { text } = await pageOf({ ...base, baseRate: unsure, models: [empty, none], notes: [HOSTILE] });
    expect(text).toMatch(/local – 0 v1 – 0 first minus second – /);
    expect(text).toMatch(/segment <script>.* 0 not in it – – – –/);
    expect(text).toMatch(/What local said .*scores of at least a threshold/);
    expect(text).toMatch(/Components of the score .*– – – unclear/);
  });
});
