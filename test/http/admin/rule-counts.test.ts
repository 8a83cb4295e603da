import { beforeAll, describe, expect, it } from "vitest";

import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";

const fixture = useSpec();
const path = "/projects/app/rule-executions/counts";
const get = async (query: string) => (await fixture.admin("GET", `${path}?${query}`)).body as object;
const NONE = { pass: 0, fail: 0, skip: 0, error: 0, more: [] };

beforeAll(async () => {
  const { sql } = fixture.service.db;
  const on = { kind: "event", of: { event: "login" } } as const;
  const then = { kind: "emit", type: "account.nudged" } as const;
  await fixture.deploy(snapshot({ rules: ["nudge", "greet", "often"].map((id) => ({ id, on, then })) }));
  const id = await environmentId(sql, "app", "test");
  await sql`insert into svc.customers (environment_id, customer_id, created_at, generation) values (${id}, 'ann', now(), 0), (${id}, 'bob', now(), 1)`;
  await sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, generation
    )
    select ${id}, r.customer, r.rule, r.result, 'event:login', '{}', '{}', case when r.result = 'error' then 'no' end, r.at::timestamptz, 'event', r.generation
    from (
      values
        ('ann', 'nudge', 'pass', '2026-03-02Z', 0), ('ann', 'nudge', 'pass', '2026-02-01Z', 0), ('bob', 'nudge', 'pass', '2026-03-03Z', 1),
        ('bob', 'nudge', 'pass', '2026-03-03Z', 0), ('bob', 'nudge', 'error', '2026-03-03Z', 1), ('ann', 'gone', 'pass', '2026-03-03Z', 0)
    ) as r (customer, rule, result, at, generation)`;
  await sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type
    )
    select ${id}, 'ann', 'often', 'fail', 'event:login', '{}', '{}', '2026-03-04Z'::timestamptz + n * interval '1 second', 'event'
    from generate_series(1, 801) as n`;
});

describe("GET /projects/:project/rule-executions/counts", () => {
  it("counts the executions of the present histories since an instant, by rule and result", async () => {
    expect(await get("since=2026-03-01")).toEqual({
      since: "2026-03-01T00:00:00.000Z",
      rules: [
        { ruleId: "nudge", ...NONE, pass: 2, error: 1 },
        { ruleId: "greet", ...NONE },
        { ruleId: "often", ...NONE, fail: 800, more: ["fail"] },
      ],
    });
    expect(await get("since=2026-01-01")).toMatchObject({ rules: [{ pass: 3 }, {}, {}] });
  });

  it("reports a missing model and an invalid `since`", async () => {
    expect(await get("env=live")).toMatchObject({ rules: [] });
    expect(await get("since=soon")).toMatchObject({ error: { code: "VALIDATION_ERROR", field: "since" } });
  });
});
