import { beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { environmentId, snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
let browser: Browser;

const page = (path: string, base = BASE) => browser.get(`${base}/${path}`);
const rowsOf = (html: string) => (html.match(/<tr/g)?.length ?? 0) - 1;
const login = { kind: "event", of: { event: "login" } } as const;

beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      rules: [
        { id: "greet", on: login, once: true, then: { kind: "emit", type: "account.greeted" } },
        {
          id: "choose",
          on: login,
          when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" },
          cooldown: "7d",
          then: { kind: "addToSegment", segment: "chosen" },
        },
        { id: "never", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "account.told" } },
      ],
    }),
  );
  await fixture.batch([
    { customerId: "globex", event: "login", properties: { seats: 1 } },
    { customerId: "globex", event: "login", properties: { seats: 2 } },
    { customerId: "initech", event: "login", properties: { seats: 3 } },
  ]);
  await fixture.evaluate();
  const { sql } = fixture.service.db;
  // A run from an earlier history, long ago, and one that failed.
  await sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, generation
    )
    select ${await environmentId(sql, "app", "test")}, 'globex', 'greet', r.result, 'event:login', '{}', '{}', r.error, now() - r.ago, 'event', r.generation
    from (
      values ('pass', null, interval '1 hour', 1), ('pass', null, '60 days', 0), ('error', 'unknown <i>segment</i>', '1 hour', 0)
    ) as r (result, error, ago, generation)`;
  browser = await browserOf(fixture.service, "owner@acme.example");
});

describe("rules", () => {
  it("are described in words, with how often each acted, failed and was not met", async () => {
    const { status, text } = await page("rules");
    expect(status).toBe(200);
    expect(text).toMatch(/greet 2 1 0 1 On "login" ?: emit "account.greeted" , once for each customer/);
    expect(text).toMatch(
      /choose 0 0 3 0 On "login", if plan is "pro" ?: add to segment "chosen" , then not again for 7d/,
    );
    expect(text).toMatch(/never 0 0 0 0 On traits changed ?: emit "account.told"/);
  });

  it("link each number to that many runs", async () => {
    const { html } = await page("rules?days=90");
    const links = [...html.matchAll(/href="(rule\?[^"]*result=[^"]*)">(\d+)</g)];
    expect(links.map(([, , runs]) => runs)).toEqual(["3", "1", "1", "3"]);
    for (const [, href, runs] of links) {
      expect(rowsOf((await page(href!.replaceAll("&amp;", "&"))).html)).toBe(Number(runs));
    }
  });
});

describe("a rule", () => {
  it("shows its latest runs with the customer and the emission, and errors as such", async () => {
    const { status, text, html } = await page("rule?id=greet");
    expect([status, rowsOf(html)]).toEqual([200, 4]);
    expect(text).toMatch(/globex failed : unknown <i>segment<\/i>/);
    const [, href, emission] = /href="(customer\?id=globex&amp;kind=emission)#(emi_\w+)"/.exec(html)!;
    expect((await page(href!.replaceAll("&amp;", "&"))).html).toContain(`id="${emission}"`);
  });

  it("can be filtered by result, and reports an unknown one", async () => {
    expect(rowsOf((await page("rule?id=greet&result=skip")).html)).toBe(1);
    expect((await page("rule?id=never")).text).toContain("It has no such runs in this period.");
    const wrong = await page("rule?id=greet&result=nope");
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining('role="alert"')]);
  });

  it("that the model does not have links to the others", async () => {
    const { status, text, html } = await page(`rule?${new URLSearchParams({ id: "<script>‮" }).toString()}`);
    expect([status, text]).toEqual([404, expect.stringContaining('no rule " <script>\\u202e "')]);
    expect(html).toContain('href="rules"');
    expect(html).not.toContain("<script");
  });
});

it("an environment without a model says so", async () => {
  const { status, text } = await page("rules", "/console/acme/app/live");
  expect([status, text]).toEqual([200, expect.stringContaining("No model is deployed yet")]);
});
